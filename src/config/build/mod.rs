//! From raw to real: references are followed, names resolved, and what depends on more than one value is checked.
//!
//! Everything is looked at even after an error, so that one run shows them all; then the values are placeholders and
//! the caller throws the result away.

mod brokers;
mod destinations;
mod endpoints;
mod expressions;
mod flow;
mod kinds;
mod listeners;
mod log;
mod ordering;
mod proxy;
mod queues;
mod routes;
mod sql;
mod storage;
mod tls;
mod values;
mod whole;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::key::Key;
use super::load::Sources;
use super::problem::Report;
use super::raw::Raw;
use super::{Config, Destination, Endpoint};
use crate::provider::Catalogue;

/// What all parts of the way need.
struct Context<'a> {
    sources: &'a Sources,
    report: &'a mut Report,
    catalogue: &'a Catalogue,
}

/// The real configuration; useless if `report` has errors afterwards.
pub(super) fn build(raw: &Raw, sources: &Sources, report: &mut Report) -> Option<(Config, Catalogue)> {
    let catalogue = catalogue(raw, report);
    let mut context = Context { sources, report, catalogue: &catalogue };
    let context = &mut context;
    let server = listeners::server(&raw.server, context);
    let admin = listeners::admin(&raw.admin, context);
    let database = storage::database(&raw.database, context);
    let inbox = queues::inbox(&raw.inbox, context);
    let outbox = queues::outbox(&raw.outbox, context);
    let retention = storage::retention(&raw.retention, context);
    let quarantine = storage::quarantine(&raw.quarantine, context);
    let log = log::log(&raw.log, context);
    let endpoints: BTreeMap<String, Arc<Endpoint>> = raw
        .endpoints
        .iter()
        .filter_map(|(name, raw)| Some((name.clone(), Arc::new(endpoints::endpoint(name, raw, context)?))))
        .collect();
    endpoints::unique_paths(&raw.endpoints, context);
    let destinations: BTreeMap<String, Arc<Destination>> = raw
        .destinations
        .iter()
        .filter_map(|(name, raw)| {
            let destination = destinations::destination(name, raw, outbox.as_ref()?, context)?;
            Some((name.clone(), Arc::new(destination)))
        })
        .collect();
    proxy::destinations(raw, &destinations, context);
    let routes = routes::routes(raw, &endpoints, context);
    let config = Config {
        server: server?,
        admin: admin?,
        database: database?,
        inbox: inbox?,
        outbox: outbox?,
        quarantine: quarantine?,
        retention: retention?,
        log,
        endpoints,
        routes,
        handlers: ordering::handlers(raw, context),
        destinations,
    };
    whole::check(&config, raw, context);
    Some((config, catalogue))
}

/// The embedded definitions and those of `providers_dirs`, which are relative to the file that names them.
fn catalogue(raw: &Raw, report: &mut Report) -> Catalogue {
    let key = Key::of(&["providers_dirs"]);
    let folder = report.places.nearest(&key).folder();
    let dirs: Vec<_> = raw.providers_dirs.iter().map(|dir| folder.join(dir)).collect();
    for (at, dir) in dirs.iter().enumerate().filter(|(_, dir)| !dir.is_dir()) {
        report.error(&key.index(at), format!("there is no folder {}", dir.display()));
    }
    if !report.errors.is_empty() && dirs.iter().any(|dir| !dir.is_dir()) {
        return Catalogue::load(&[]).unwrap_or_default();
    }
    Catalogue::load(&dirs).unwrap_or_else(|errors| {
        for error in errors {
            report.error(&key, error.to_string());
        }
        Catalogue::load(&[]).unwrap_or_default()
    })
}
