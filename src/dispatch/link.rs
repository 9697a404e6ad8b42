//! The connection to a broker: made when it is first needed, shared, and made anew when it broke.

use std::future::Future;
use std::time::Duration;

use tokio::sync::Mutex;

use super::transport::Reply;
use crate::egress;

/// From the look-up of the name to the end of the broker's own greeting.
pub(super) const CONNECT: Duration = Duration::from_secs(5);

/// At most one connection at a time. Who needs it while it is being made waits for that.
pub(super) struct Link<C>(Mutex<Option<C>>);

impl<C: Clone + Send> Link<C> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The connection, if it is `alive`; else a new one.
    pub(super) async fn get(
        &self,
        alive: impl Fn(&C) -> bool + Send,
        connect: impl Future<Output = Result<C, Reply>> + Send,
    ) -> Result<C, Reply> {
        let mut kept = self.0.lock().await;
        if let Some(connection) = kept.as_ref().filter(|connection| alive(connection)) {
            return Ok(connection.clone());
        }
        *kept = None;
        let made = egress::within(CONNECT, connect).await;
        let made =
            made.ok_or_else(|| Reply::failed("connect", format!("no connection within {CONNECT:?}")))??;
        *kept = Some(made.clone());
        Ok(made)
    }

    /// The next one who needs the connection makes a new one, whatever this one says of itself.
    pub(super) async fn forget(&self) {
        *self.0.lock().await = None;
    }
}
