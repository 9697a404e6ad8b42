//! Which handlers there are, by name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::sql::{Dialect, SqlHandler};
use super::{Handler, SetupError, StripeBilling, StripeCheckout};
use crate::config::{Action, Route, SqlModule};

/// The names of the handlers that every gateway has.
pub const BUILT_IN: &[&str] = &["stripe_billing", "stripe_checkout"];

/// All handlers that a route can name: the built-in ones and those that the embedding program adds.
pub struct Registry {
    handlers: BTreeMap<String, Arc<dyn Handler>>,
}

/// A name that is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameTaken(pub String);

/// The handler of one route.
#[derive(Clone)]
pub struct Resolved {
    /// Its name in logs and metrics.
    pub name: Arc<str>,
    /// The handler; routes that name the same one share it.
    pub handler: Arc<dyn Handler>,
}

impl Registry {
    /// The built-in handlers.
    #[must_use]
    pub fn new() -> Self {
        let built_in: [Arc<dyn Handler>; 2] = [Arc::new(StripeBilling), Arc::new(StripeCheckout)];
        Self { handlers: BUILT_IN.iter().map(|&name| name.to_owned()).zip(built_in).collect() }
    }

    /// The names that a route can use, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.handlers.keys().map(String::as_str)
    }

    /// Adds a handler, which routes then name with `handler = "NAME"`.
    ///
    /// # Errors
    /// [`NameTaken`]
    pub fn register(&mut self, name: impl Into<String>, handler: Arc<dyn Handler>) -> Result<(), NameTaken> {
        let name = name.into();
        if self.handlers.contains_key(&name) {
            return Err(NameTaken(name));
        }
        self.handlers.insert(name, handler);
        Ok(())
    }

    /// The handler of each route, in their order; `None` for a route that only forwards. SQL modules are read and
    /// checked here, but not yet against the database: see [`Handler::prepare`].
    ///
    /// # Errors
    /// Everything that is wrong, not only the first thing.
    pub fn resolve(
        &self,
        routes: &[Route],
        dialect: Dialect,
    ) -> Result<Vec<Option<Resolved>>, Vec<SetupError>> {
        let mut modules = Vec::new();
        let mut resolved = Vec::new();
        let mut errors = Vec::new();
        for route in routes {
            let found = match &route.action {
                Action::Forward => Ok(None),
                Action::Handler(name) => self.named(name).map(Some),
                Action::Sql(module) => self.module(module, &mut modules, route, dialect).map(Some),
            };
            match found {
                Ok(handler) => resolved.push(handler),
                Err(problem) => errors.push(problem.at(&route.origin)),
            }
        }
        if errors.is_empty() { Ok(resolved) } else { Err(errors) }
    }

    fn named(&self, name: &str) -> Result<Resolved, SetupError> {
        let Some(handler) = self.handlers.get(name) else {
            let names: Vec<&str> = self.handlers.keys().map(String::as_str).collect();
            return Err(SetupError::new(format!(
                "no handler is named `{name}`; there are {}",
                names.join(", ")
            )));
        };
        Ok(Resolved { name: name.into(), handler: Arc::clone(handler) })
    }

    /// `known` are the modules of the routes before.
    fn module<'a>(
        &self,
        module: &'a SqlModule,
        known: &mut Vec<(&'a SqlModule, Resolved)>,
        route: &Route,
        dialect: Dialect,
    ) -> Result<Resolved, SetupError> {
        let name = &module.name;
        if let Some((_, resolved)) = known.iter().find(|(twin, _)| *twin == module) {
            return Ok(resolved.clone());
        }
        let file = module.path.display();
        let namesake = known.iter().find(|(other, _)| other.name == *name && other.path != module.path);
        let taken = match namesake {
            Some((other, _)) => format!("{} and {file} are both named `{name}`", other.path.display()),
            None if self.handlers.contains_key(name) => {
                format!("{file} has the name of the handler `{name}`")
            }
            None => {
                let handler = SqlHandler::new(module, &route.origin, dialect)?;
                let resolved = Resolved { name: name.as_str().into(), handler: Arc::new(handler) };
                known.push((module, resolved.clone()));
                return Ok(resolved);
            }
        };
        Err(SetupError::new(format!(
            "{taken}, and logs and metrics could not tell them apart; rename the file"
        )))
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.handlers.keys()).finish()
    }
}

impl fmt::Debug for Resolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Resolved").field(&self.name).finish()
    }
}

impl fmt::Display for NameTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is already a handler named `{}`", self.0)
    }
}

impl std::error::Error for NameTaken {}
