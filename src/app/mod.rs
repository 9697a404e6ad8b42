//! The composition root: builds every part, connects them, and ends them in the right order.
//!
//! Who acts: `cli::serve` and `cli::demo`, or a program of your own that registers its handlers with a [`Builder`].
//! What holds: a [`Gateway`] that has started serves; one that could not start leaves nothing running; on the way
//! down each part ends only after the ones that feed it.

mod courier;
mod error;
mod gateway;
mod parts;
mod pruner;
pub mod sender;
mod signals;
mod sweeper;

pub use error::StartError;
pub use gateway::{Builder, Gateway};
pub use parts::prepare;
pub use pruner::Pruner;
