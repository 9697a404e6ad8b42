//! `hookgate prune`: retention, now.

use std::process::ExitCode;

use super::{Shell, out};
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
    out(format_args!("webhook_inbox: {} rows deleted, {} payloads emptied", total.deleted, total.emptied))?;
    ended?;
    Ok(ExitCode::SUCCESS)
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
