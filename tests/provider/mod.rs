//! The definition language: what is accepted, what is refused and how, and that all of it is documented.

mod catalogue;
mod documentation;
mod errors;
