//! Provider definitions: one TOML file says how a provider signs, names its events and wants to be answered.
//!
//! The way from file to use: [`Catalogue::load`] knows the embedded definitions, which it compiles when they are asked
//! for, and reads the operator's folders over them; it hands out [`Provider`]s. An endpoint takes its provider, gives it
//! the endpoint's own settings with [`Provider::configure`], and keeps the result. Nothing here knows a store or a
//! network, and nothing is read or compiled per request. The language is described in `providers/README.md`.

mod algorithm;
mod answer;
mod batch;
mod catalogue;
mod chain;
mod compile;
mod definition;
mod describe;
mod encoding;
mod error;
mod fetch;
mod form;
mod json;
mod jws;
mod key;
mod names;
mod parts;
mod plan;
mod raw;
mod sample;
mod scheme;
mod settings;
mod template;
mod text;
mod view;
mod xml;

pub use catalogue::Catalogue;
pub use definition::Provider;
pub use error::DefinitionError;
pub use parts::Confidence;
pub use sample::{Sample, SampleIds};
pub use settings::{Setting, SettingsError};

pub(crate) use algorithm::{Algorithm, Hash};
pub(crate) use batch::{Item, items as json_items};
pub(crate) use chain::Chain;
pub(crate) use encoding::Encoding;
pub(crate) use fetch::{Astray, Fetch};
pub(crate) use json::raw as json_raw;
pub(crate) use jws::{JwsAlgorithm, Token, signing_input, with_signature};
pub(crate) use key::{Key, PrivateKey, PublicKey, certificates};
pub(crate) use plan::{
    Batch, Confirm, Each, FirstOf, Format, Freshness, Grammar, Recipe, Signature, TokenRules, Unit, Variant,
};
pub(crate) use sample::fill;
pub(crate) use template::{Around, Pattern, Scope, Source, Template, Trouble, Value, is_challenge};
