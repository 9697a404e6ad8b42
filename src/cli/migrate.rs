//! `hookgate migrate`: the schema.

use std::process::ExitCode;

use super::{Shell, out};
use crate::store;

/// Bring the database's schema up to this version
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Migrates; safe beside running gateways and other migrations.
pub async fn run(_: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let database = shell.load(Vec::new())?.config.database;
    store::migrate(&database).await?;
    out(format_args!("{:?}: the schema is up to date", database.url))?;
    Ok(ExitCode::SUCCESS)
}
