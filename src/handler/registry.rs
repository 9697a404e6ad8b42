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
        let mut files: BTreeMap<&str, &SqlModule> = BTreeMap::new();
        let mut resolved = Vec::new();
        let mut errors = Vec::new();
        for route in routes {
            let found = match &route.action {
                Action::Forward => Ok(None),
                Action::Handler(name) => self.named(name).map(Some),
                Action::Sql(module) => {
                    let namesake = *files.entry(&module.name).or_insert(module);
                    self.module(module, namesake, &route.origin, dialect).map(Some)
                }
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

    /// `namesake` is the first module of this name, most often the module itself.
    fn module(
        &self,
        module: &SqlModule,
        namesake: &SqlModule,
        origin: &str,
        dialect: Dialect,
    ) -> Result<Resolved, SetupError> {
        let name = &module.name;
        let taken = if self.handlers.contains_key(name) {
            Some(format!("the SQL module `{name}` has the name of another handler"))
        } else if namesake.path != module.path {
            Some(format!("{} and {} are both named `{name}`", namesake.path.display(), module.path.display()))
        } else {
            None
        };
        if let Some(why) = taken {
            return Err(SetupError::new(format!(
                "{why}, and logs and metrics could not tell them apart; rename the file"
            )));
        }
        let handler = SqlHandler::new(module, origin, dialect)?;
        Ok(Resolved { name: name.as_str().into(), handler: Arc::new(handler) })
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

impl fmt::Display for NameTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is already a handler named `{}`", self.0)
    }
}

impl std::error::Error for NameTaken {}
