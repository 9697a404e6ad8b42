//! The configuration: layers of files, variables and flags, parsed twice.
//!
//! Who acts: [`load`] reads the layers (embedded defaults < files in order < `HOOKGATE__SECTION__KEY` < flags) into
//! raw structs that mirror the files (`raw`), and makes of them the [`Config`] that the gateway uses (`build`).
//! What holds: a [`Config`] is valid: names are resolved, secrets are there, bounds are kept. All errors are
//! reported, each with file, line and key (or the variable), and none shows a secret. Unknown keys are refused.
//! What is absent: the database and the network; nothing is read that no key, variable or flag names.

mod broker;
mod broker_url;
mod build;
mod destination;
mod endpoint;
mod key;
mod layers;
mod load;
mod problem;
mod raw;
mod route;
mod schema;
mod secret;
mod sections;
mod shape;
mod show;
mod units;
mod whole;

pub use broker::{Broker, Sasl};
pub use broker_url::BrokerUrl;
pub use destination::{Destination, DestinationKind, Flow, Rate};
pub use endpoint::{Endpoint, Matching, Mode, OnDead, SigningSecret};
pub use key::{Key, Place, Places};
pub use load::{DEFAULT_FILE, Flag, Loaded, Merged, Sources, load, merge};
pub(crate) use problem::suggest;
pub use problem::{ConfigError, Problem};
pub use route::{Action, Route, SqlModule, SqlParam, SqlType};
pub use schema::json_schema;
pub use secret::{Environment, MIN_KEY_BYTES, SecretError, SecretRef};
pub use sections::{Admin, Database, DatabaseUrl, Log, LogFormat, Quarantine, Queue, Retention, Server, Tls};
pub use whole::Config;
