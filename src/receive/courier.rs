//! The port through which a destination is asked: `dispatch` stands below this module, `app` puts it in.

use std::time::Duration;

use async_trait::async_trait;

use crate::model::{Asked, Message};

/// Asks destinations while providers wait.
#[async_trait]
pub trait Courier: Send + Sync {
    /// Sends a message to its destination once and waits for the answer, at most for `limit` and for the destination's own
    /// `timeout`. `attempt` counts from 1. It never fails: what went wrong stands in the answer.
    async fn ask(&self, message: &Message, attempt: i32, limit: Duration) -> Asked;
}
