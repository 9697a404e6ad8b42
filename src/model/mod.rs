//! The nouns of the gateway and their legal transitions. Nothing here knows a runtime, a database or HTTP.

mod circuit;
mod event;
mod exchange;
mod headers;
mod lease;
mod message;
mod network;
mod outcome;
mod request;
mod secret;

pub use circuit::{Circuit, Health};
pub use event::{BatchRequest, DueEvent, Event, EventKey, NewEvent};
pub use exchange::{Answer, Asked};
pub use headers::Headers;
pub use lease::{Failure, Leased, Next};
pub use message::{Attempt, AttemptOutcome, CONFIRMATIONS, Content, Message, NewMessage, TRANSFORMED};
pub use network::Networks;
pub use outcome::{Outcome, Reason, Rejection, Reply};
pub use request::Request;
pub use secret::{Secret, stretched};
