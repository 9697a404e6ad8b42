//! Which routes want an event: by endpoint, and by globs over the event's type.
//!
//! Who acts: `process` asks once for each event, asks the filters of the routes that answer (`jq`), and runs what is left
//! in the order of the config, or the first of it where the endpoint says so.
//! What holds: an endpoint's routes are found by one map look-up, whatever the number of endpoints; matching takes
//! time linear in the type's length for each glob with one `*`.
//! What is absent: the event's content, the store, the handlers.

mod glob;
mod router;

pub use glob::TypeGlob;
pub use router::{Router, Rule};
