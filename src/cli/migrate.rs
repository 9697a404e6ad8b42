//! `hookgate migrate`: the schema.

/// Bring the database's schema up to this version
#[derive(Debug, clap::Args)]
pub struct Args {}
