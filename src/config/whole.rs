//! The whole, as the gateway uses it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Admin, Database, Destination, Endpoint, Log, Quarantine, Queue, Retention, Route, Server};

/// The whole configuration.
#[derive(Debug)]
pub struct Config {
    /// `[server]`
    pub server: Server,
    /// `[admin]`
    pub admin: Admin,
    /// `[database]`
    pub database: Database,
    /// `[inbox]`
    pub inbox: Queue,
    /// `[outbox]`
    pub outbox: Queue,
    /// `[quarantine]`
    pub quarantine: Quarantine,
    /// `[retention]`
    pub retention: Retention,
    /// `[log]`
    pub log: Log,
    /// `[endpoints.NAME]`, by name.
    pub endpoints: BTreeMap<String, Arc<Endpoint>>,
    /// `[[routes]]` of all files, in file order.
    pub routes: Vec<Route>,
    /// `[handlers.NAME]`: events that each of these works on at once in this process.
    pub handlers: BTreeMap<String, usize>,
    /// `[destinations.NAME]`, by name.
    pub destinations: BTreeMap<String, Arc<Destination>>,
}
