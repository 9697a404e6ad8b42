//! What `receive` asks destinations through.

use std::time::Duration;

use async_trait::async_trait;

use crate::dispatch::Asker;
use crate::model::{Asked, Message};
use crate::receive::Courier;

#[async_trait]
impl Courier for Asker {
    async fn ask(&self, message: &Message, attempt: i32, limit: Duration) -> Asked {
        Asker::ask(self, message, attempt, limit).await
    }
}
