//! The narrow waist: every statement that touches the database stands below this module.
//!
//! Two engines, one behaviour: `sqlite` for one machine, `postgres` for many. Each implements the ports below
//! over its own `.sql` files of the same names; `tests/store` runs one conformance suite on both.
//!
//! Who acts: `receive` accepts events, `process` works inside a [`Unit`], `worker` claims from the queues and settles.
//! What holds: all lease and due times are the database's clock; every write that ends a claim carries the lease
//! epoch; a COMMIT that fails is *unknown*, never success and never repeated here.
//! What is absent: HTTP, metrics, signatures.

mod circuit;
mod error;
mod exchange;
mod filter;
mod kept;
mod lock;
mod migrate;
mod open;
mod operate;
mod operations;
mod ports;
mod postgres;
mod records;
mod rows;
mod select;
mod sqlite;
mod turns;
mod twins;
mod tx;
mod unit;
mod value;

pub use error::StoreError;
pub use exchange::{Ending, MAX_KEPT_ANSWER, Opened, Recorded};
pub use filter::{Cursor, Filter, Listed, Page, QueueName, State};
pub use kept::{Kept, Quarantined, Sent};
pub use lock::{ServeLock, lock_for_serving};
pub use migrate::migrate;
pub use open::{Store, connect};
pub use operate::{
    EventCursor, IsConflict, Operations, Passed, ReleaseOrder, Released, Replay, Replays, Upcoming,
};
pub use ports::{Inbox, Learned, Ledger, Outbox, Queue};
pub use records::{
    AttemptRecord, ContentRecord, DeadRecord, DeliveryDetail, DeliveryRecord, EventDetail, EventRecord,
    ExchangeRecord, NewReplay, Pausable, Pause, QuarantineDetail, QuarantineRecord, ReplayRecord, Replayable,
};
pub use rows::{
    BACKLOG_CAP, Backlog, CircuitRecord, Condition, Confirm, Connections, Existing, Finish, InOrder,
    Insertion, Lane, Learner, Lesson, PRUNE_BATCH, Pruned, RowState, SecretMatches, SecretUse, Settled,
    Taker,
};
pub use tx::Tx;
pub use unit::{Emitted, Locked, Unit};
pub use value::{Param, Row, Sql};
