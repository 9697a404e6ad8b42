//! The composition root: builds every part, connects them, and ends them in the right order.

pub mod sender;
