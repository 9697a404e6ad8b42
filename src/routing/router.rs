//! The routes of each endpoint, ready to be asked.

use std::collections::HashMap;
use std::sync::Arc;

use super::TypeGlob;

/// What the router must know of a route. The config's routes are rules; so is anything that is made from them.
pub trait Rule {
    /// The endpoints it is for.
    fn endpoints(&self) -> &[Arc<str>];
    /// Its patterns over the event type, see [`TypeGlob`]; one that matches is enough, and none matches nothing.
    fn types(&self) -> &[String];
}

/// All routes, by endpoint.
#[derive(Debug)]
pub struct Router<R> {
    routes: Vec<R>,
    by_endpoint: HashMap<Arc<str>, Vec<Entry>>,
}

/// One route of one endpoint.
#[derive(Debug)]
struct Entry {
    route: usize,
    types: Arc<[TypeGlob]>,
}

impl<R: Rule + Clone> Router<R> {
    /// Compiles the routes, which keep their order.
    #[must_use]
    pub fn new(routes: &[R]) -> Self {
        let mut by_endpoint: HashMap<Arc<str>, Vec<Entry>> = HashMap::new();
        for (route, rule) in routes.iter().enumerate() {
            let types: Arc<[TypeGlob]> = rule.types().iter().map(|pattern| TypeGlob::new(pattern)).collect();
            for endpoint in rule.endpoints() {
                let entries = by_endpoint.entry(Arc::clone(endpoint)).or_default();
                // An endpoint that a route names twice still gets its events once.
                if entries.last().is_none_or(|last| last.route != route) {
                    entries.push(Entry { route, types: Arc::clone(&types) });
                }
            }
        }
        Self { routes: routes.to_vec(), by_endpoint }
    }
}

impl<R> Router<R> {
    /// The routes that want an event of this type at this endpoint, in the order of the config.
    pub fn routes<'a>(&'a self, endpoint: &str, event_type: &'a str) -> impl Iterator<Item = &'a R> + use<'a, R> {
        self.by_endpoint
            .get(endpoint)
            .into_iter()
            .flatten()
            .filter(move |entry| entry.types.iter().any(|glob| glob.matches(event_type)))
            .filter_map(|entry| self.routes.get(entry.route))
    }
}
