//! The open store, as operators' commands use it.

use std::sync::Arc;

use super::Shell;
use super::shown::Mask;
use crate::config::Config;
use crate::store::{self, Learned, Operations, Pause, Store};

/// An open store and what must not be shown of it.
pub(in crate::cli) struct Desk {
    pub(in crate::cli) config: Config,
    pub(in crate::cli) operations: Arc<dyn Operations>,
    store: Store,
}

impl Desk {
    /// Opens the configured store, whose schema must be current.
    pub(in crate::cli) async fn open(shell: &Shell) -> anyhow::Result<Self> {
        let config = shell.load(Vec::new())?.config;
        let store = store::connect(&config.database).await?;
        if let Err(error) = store.ledger.ready().await {
            store.close().await;
            return Err(error.into());
        }
        Ok(Self { operations: Arc::clone(&store.operations), config, store })
    }

    /// What is held back.
    pub(in crate::cli) async fn pauses(&self) -> anyhow::Result<Vec<Pause>> {
        Ok(self.store.ledger.pauses().await?)
    }

    /// Secrets that providers handed over in band.
    pub(in crate::cli) fn learned(&self) -> Arc<dyn Learned> {
        Arc::clone(&self.store.learned)
    }

    /// What no command shows.
    pub(in crate::cli) fn mask(&self) -> Mask {
        Mask::new(&self.config)
    }

    /// Ends it, whatever came of the command.
    pub(in crate::cli) async fn close<T>(self, ended: anyhow::Result<T>) -> anyhow::Result<T> {
        self.store.close().await;
        ended
    }
}
