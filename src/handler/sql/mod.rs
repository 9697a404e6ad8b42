//! SQL handler modules: a file of statements as a handler.
//!
//! The statements run in order in the event's own transaction. They name what they need of the event (`:event_id`,
//! `:payload`, …, see [`BUILT_IN_PARAMS`]) and what the route takes from the payload by JSON pointer:
//!
//! ```toml
//! [[routes]]
//! endpoint = "billing"
//! types = ["invoice.paid"]
//! sql = "handlers/book.sql"
//! params = { amount = { pointer = "/data/object/amount_paid", type = "bigint" } }
//! ```
//!
//! Who acts: a module is read and checked when the configuration is, with file and line in every error; `check`
//! prepares its statements on the database; `process` runs it.
//! What holds: values reach the database as typed parameters, never as text of a statement; nothing there is NULL of
//! its type; what does not fit its type fails for good (`handler.param.NAME`) instead of being bent.
//! What is absent: transaction commands, and whatever changes the connection for other events.

mod handler;
mod params;
mod scan;
mod statement;
mod value;

pub use handler::SqlHandler;
pub use params::BUILT_IN_PARAMS;
pub use scan::{Kind, Piece, Unclosed, scan};

use crate::config::DatabaseUrl;

/// Whose SQL it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Dollar quotes, nested comments, `E'…'`, `?` as an operator, typed parameters.
    Postgres,
    /// `[name]`, `` `name` ``.
    Sqlite,
}

impl From<&DatabaseUrl> for Dialect {
    fn from(url: &DatabaseUrl) -> Self {
        match url {
            DatabaseUrl::Postgres(_) => Self::Postgres,
            DatabaseUrl::Sqlite(_) => Self::Sqlite,
        }
    }
}
