//! The mirror of the files: what may be written, with the defaults and the bounds of single values.
//!
//! The JSON Schema (`hookgate config schema`) is made from these structs, and the shape of every layer is checked
//! against it. Whatever depends on more than one value, a file or a variable is checked on the way to the real
//! structs, in [`super::build`].

mod destination;
mod endpoint;
mod handler;
mod outbox;
mod route;
mod sections;
mod text;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) use destination::{
    RawCircuit, RawCircuitNumbers, RawDestination, RawDestinationType, RawSasl, RawSaslMechanism, RawSign,
};
pub(super) use endpoint::{
    RawEndpoint, RawKeep, RawMatching, RawMode, RawOnDead, RawOrderingKey, RawSecret, RawSwitch,
};
pub(super) use handler::RawHandler;
pub(super) use outbox::RawOutbox;
pub(super) use route::{RawRoute, RawSqlParam, RawSqlType};
pub(super) use sections::{
    RawAdmin, RawDatabase, RawInbox, RawLog, RawLogFormat, RawQuarantine, RawRetention, RawServer, RawTls,
};
pub(super) use text::{DurationText, SecretText, SizeText};

/// A configuration file of hookgate. Relative paths in it start from its own folder, but for `database.url`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "hookgate.toml")]
pub(super) struct Raw {
    /// Files to read after this one, sorted by name: paths whose last part may hold `*` and `?`.
    /// Only in files that are named on the command line, not in included ones.
    pub(super) include: Vec<String>,
    /// Folders of own provider definitions (`*.toml`), over the embedded ones.
    pub(super) providers_dirs: Vec<String>,
    /// The public listener.
    pub(super) server: RawServer,
    /// The operators' listener: health and metrics.
    pub(super) admin: RawAdmin,
    /// Where events are kept.
    pub(super) database: RawDatabase,
    /// How received events are worked off.
    pub(super) inbox: RawInbox,
    /// How messages are delivered.
    pub(super) outbox: RawOutbox,
    /// How many rejected requests of one endpoint are kept.
    pub(super) quarantine: RawQuarantine,
    /// How long rows are kept.
    pub(super) retention: RawRetention,
    /// Log lines.
    pub(super) log: RawLog,
    /// The inbound identities, by name: lower-case letters, digits, `-` and `_`.
    pub(super) endpoints: BTreeMap<String, RawEndpoint>,
    /// Which events go where. An event takes every route that matches; the entries of all files are appended.
    pub(super) routes: Vec<RawRoute>,
    /// How handlers are used, by name.
    pub(super) handlers: BTreeMap<String, RawHandler>,
    /// Where messages go, by name: lower-case letters, digits, `-` and `_`.
    pub(super) destinations: BTreeMap<String, RawDestination>,
}
