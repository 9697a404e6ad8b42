//! The routes of each endpoint, ready to be asked.

use std::collections::HashMap;
use std::sync::Arc;

use super::TypeGlob;

/// What the router must know of a route.
pub trait Rule {
    /// The endpoints it is for.
    fn endpoints(&self) -> &[Arc<str>];
    /// Its patterns over the event type, see [`TypeGlob`]; one that matches is enough, and none matches nothing.
    fn types(&self) -> &[String];
}

/// The patterns of all routes, by endpoint.
#[derive(Debug)]
pub struct Router {
    by_endpoint: HashMap<Arc<str>, Vec<Entry>>,
}

/// One route of one endpoint.
#[derive(Debug)]
struct Entry {
    /// Its position in the list that the router was made from.
    route: usize,
    types: Arc<[TypeGlob]>,
}

impl Router {
    /// Compiles the patterns of `routes`.
    #[must_use]
    pub fn new<R: Rule>(routes: &[R]) -> Self {
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
        Self { by_endpoint }
    }

    /// The positions of the routes of this endpoint, whatever types they want; in order, each once.
    pub fn of(&self, endpoint: &str) -> impl Iterator<Item = usize> {
        self.by_endpoint.get(endpoint).into_iter().flatten().map(|entry| entry.route)
    }

    /// The positions, in the list that the router was made from, of the routes that want an event of this type at
    /// this endpoint; in order, each once.
    pub fn matching(&self, endpoint: &str, event_type: &str) -> impl Iterator<Item = usize> {
        self.by_endpoint
            .get(endpoint)
            .into_iter()
            .flatten()
            .filter(move |entry| entry.types.iter().any(|glob| glob.matches(event_type)))
            .map(|entry| entry.route)
    }
}
