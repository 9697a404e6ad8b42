//! Provider definitions: one TOML file says how a provider signs, names its events and wants to be answered.
//!
//! The way from file to use: [`Catalogue::load`] reads the embedded definitions and the operator's folders over
//! them, compiles each and hands out [`Provider`]s. An endpoint takes its provider, gives it the endpoint's own
//! settings with [`Provider::configure`], and keeps the result. Nothing here knows a store or a network, and
//! nothing is read or compiled per request. The language is described in `providers/README.md`.

mod catalogue;
mod definition;
mod error;
mod sample;
mod settings;

pub use catalogue::Catalogue;
pub use definition::{Confidence, Provider};
pub use error::DefinitionError;
pub use sample::{Sample, SampleIds};
pub use settings::{Setting, SettingsError};
