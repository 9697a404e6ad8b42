//! jq expressions over events: routes' filters and transforms.
//!
//! Who acts: `config` compiles them at load, `process` asks them for each event.
//! What holds: an expression is a function of the event. It reads no clock, environment or file, and none can end the
//! process. Its steps, memory, stack, depth and output are counted while it runs, by a value type and a table of our
//! own under jaq's interpreter; a count that runs out unwinds the evaluation, and no `try` of the expression holds it.
//! What cannot be counted is time inside one operation (a regular expression over a long text): then the event goes
//! on without an answer, and the thread keeps its place among the few until it returns.
//! What is absent: routes, the store.

mod arithmetic;
mod expression;
mod library;
mod meter;
mod runner;
mod scan;
mod tree;
mod value;

pub use expression::{EvaluationError, Expression, INPUT, OUTPUT, SyntaxError};
pub use meter::{BYTES, STEPS};
pub use runner::{Answer, Question, RunError, Runner};
pub use scan::NESTING;
