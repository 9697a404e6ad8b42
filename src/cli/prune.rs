//! `hookgate prune`: retention, now.

use std::process::ExitCode;

use super::{Shell, out, warn};
use crate::config::Retention;
use crate::store::{self, Ledger, PRUNE_BATCH, Pruned, StoreError};

/// Apply `[retention]` now, until nothing is left to prune; running gateways do so every minute
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Prunes in small batches; safe beside running gateways.
pub async fn run(_: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let config = shell.load(Vec::new())?.config;
    let store = store::connect(&config.database).await?;
    let mut total = Pruned::default();
    let ended = prune(store.ledger.as_ref(), &config.retention, &mut total).await;
    store.close().await;
    report(&total)?;
    ended?;
    Ok(ExitCode::SUCCESS)
}

fn report(total: &Pruned) -> anyhow::Result<()> {
    out(format_args!("webhook_inbox: {} rows deleted, {} payloads emptied", total.deleted, total.emptied))?;
    for (table, rows) in total.tables().into_iter().filter(|(table, _)| !table.starts_with("webhook_inbox")) {
        out(format_args!("{table}: {rows} rows deleted"))?;
    }
    if total.unsent > 0 {
        warn(format_args!(
            "{} messages without a destination went by their age alone: nothing says that your own relay has \
             published them (`published_at` is NULL)",
            total.unsent
        ));
    }
    Ok(())
}

async fn prune(ledger: &dyn Ledger, retention: &Retention, total: &mut Pruned) -> Result<(), StoreError> {
    ledger.ready().await?;
    loop {
        let pruned = ledger.prune(retention, PRUNE_BATCH).await?;
        *total += pruned;
        if !pruned.fills(PRUNE_BATCH) {
            return Ok(());
        }
    }
}
