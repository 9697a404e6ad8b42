//! Handlers: what an event does to the user's own data.
//!
//! Who acts: `process` calls each handler that a route names, with the event and the open transaction of its unit of
//! work. What a handler writes through that transaction, the messages it emits and the inbox row's `processed_at`
//! commit together or not at all, so that the effect happens once, however often the event is delivered.
//! What holds: the event's id is deduplicated before a handler runs, but different events can speak of one thing.
//! The business key (an invoice's id, a checkout session's id) is the handler's own affair, and so is the order:
//! an older event may arrive after a newer one.
//! What is absent: calls to other systems. A handler that wants one emits a message (`Tx::emit`), which leaves when
//! the transaction commits; [`Event::idempotency_key`](crate::model::Event::idempotency_key) names it for the other side.
//!
//! An embedding program writes its own:
//!
//! ```
//! use hookgate::handler::{Handler, HandlerError, Outcome, Payload, async_trait, sqlx};
//! use hookgate::model::Event;
//! use hookgate::store::Tx;
//!
//! struct Greet;
//!
//! #[async_trait]
//! impl Handler for Greet {
//!     async fn handle(&self, tx: &mut Tx, event: &Event) -> Result<Outcome, HandlerError> {
//!         let customer = Payload::of(event)?.text("/data/object/id")?;
//!         let Some(connection) = tx.postgres() else {
//!             return Err(HandlerError::permanent("greet.engine", "this handler needs PostgreSQL"));
//!         };
//!         let new = sqlx::query("INSERT INTO greeted (customer) VALUES ($1) ON CONFLICT DO NOTHING")
//!             .bind(&customer)
//!             .execute(connection)
//!             .await?
//!             .rows_affected();
//!         Ok(if new == 1 { Outcome::Done } else { Outcome::Idempotent { key: customer } })
//!     }
//! }
//! ```

mod contract;
mod error;
mod payload;
mod registry;
pub mod sql;
mod stripe_billing;
mod stripe_checkout;

pub use contract::{Handler, Outcome};
pub use error::{HandlerError, SetupError};
pub use payload::Payload;
pub use registry::{BUILT_IN, NameTaken, Registry, Resolved};
pub use stripe_billing::StripeBilling;
pub use stripe_checkout::StripeCheckout;

/// The versions that [`Handler`] and [`Tx`](crate::store::Tx) speak, so that an embedding program need not guess them.
pub use {async_trait::async_trait, sqlx};
