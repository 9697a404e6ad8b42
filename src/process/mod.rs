//! The unit of work: one event, all its handlers, its outbox rows and the checked final update, in one transaction.
//!
//! Who acts: `receive` (sync) after it has inserted the row, `worker` (async) after it has locked it. Both hand over the
//! open transaction, and get it back committed, rolled back or closed: there is no fourth way.
//! What holds: handlers run in route order, each under a savepoint; one failure rolls back all of them; the last
//! statement before COMMIT is ours and must touch exactly one row; a future that was cut (deadline, panic) never
//! gives its connection back to the pool.
//! A replay is the same unit of work with another end: the event's row stays as it is, and the replay steps behind it.
//! What is absent: HTTP, leases, retries.

mod deliver;
mod paused;
mod plan;
mod processor;
mod replay;
mod select;

use std::sync::Arc;

pub use deliver::forwarded_id;
pub use processor::{Failed, Processor, Work};
pub use replay::Replaying;
pub use select::{BUSY, Selection};

use crate::handler::Handler;

/// How one handler's run ended, for metrics and logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerRun {
    /// The handler's name.
    pub handler: Arc<str>,
    /// `processed`, `ignored`, `flagged`, `superseded` (it did not run), `failed` or `permanent`.
    pub outcome: &'static str,
}

/// What one route does with an event.
pub enum Step {
    /// Runs a handler; what it emits goes to these destinations.
    Handle {
        /// Its name in logs, metrics and `outbox.route`.
        name: Arc<str>,
        /// The handler.
        handler: Arc<dyn Handler>,
        /// Where its messages go; none: they wait for the user's own relay.
        emit: Vec<Arc<str>>,
    },
    /// Forwards the event as it came, or what the route's transform makes of it.
    Forward {
        /// Where it goes.
        destinations: Vec<Arc<str>>,
    },
}
