//! A module as a handler.

use std::iter;

use async_trait::async_trait;

use super::Dialect;
use super::params::{BUILT_IN_PARAMS, Parameter, own_params};
use super::statement::{Named as _, Statement, statements};
use crate::config::SqlModule;
use crate::handler::{Handler, HandlerError, Outcome, Payload, SetupError};
use crate::model::Event;
use crate::store::{Param, Tx};

/// An SQL handler module.
#[derive(Debug)]
pub struct SqlHandler {
    file: String,
    operation: String,
    params: Vec<Parameter>,
    statements: Vec<Statement>,
}

impl SqlHandler {
    /// Reads a module. `origin` is the place of the route that names it, for messages.
    ///
    /// # Errors
    /// [`SetupError`]: a statement that is not allowed, a parameter that does not exist or is never used, a string
    /// without an end.
    pub fn new(module: &SqlModule, origin: &str, dialect: Dialect) -> Result<Self, SetupError> {
        let file = module.path.display().to_string();
        let of_route = |problem: String| SetupError::new(problem).at(origin);
        let mut params: Vec<_> = BUILT_IN_PARAMS.into_iter().map(Parameter::BuiltIn).collect();
        params.extend(own_params(&module.params).map_err(of_route)?);
        let statements = statements(&module.text, &file, dialect, &params)?;
        let used = |at: &usize| statements.iter().any(|statement| statement.params.contains(at));
        if let Some(unused) = (BUILT_IN_PARAMS.len()..params.len()).find(|at| !used(at)) {
            let name = params[unused].name();
            return Err(of_route(format!(
                "the parameter `{name}` is not used in {file}; write `:{name}` there"
            )));
        }
        Ok(Self { file, operation: module.operation.clone(), params, statements })
    }

    /// The statements' texts as the database gets them, in order.
    pub fn statements(&self) -> impl Iterator<Item = &str> {
        self.statements.iter().map(|statement| statement.text.as_str())
    }

    /// The place of a statement, for errors.
    fn place(&self, at: usize) -> String {
        let line = self.statements.get(at).map_or(0, |statement| statement.line);
        format!("statement {} ({}:{line})", at + 1, self.file)
    }

    /// One value for each parameter that a statement uses; `None` for the others.
    fn values(&self, event: &Event) -> Result<Vec<Option<Param>>, HandlerError> {
        let payload = Payload::of(event).ok();
        let used = |at| self.statements.iter().any(|statement| statement.params.contains(&at));
        iter::zip(0.., &self.params)
            .map(|(at, param)| used(at).then(|| param.value(event, payload, &self.operation)).transpose())
            .collect()
    }
}

#[async_trait]
impl Handler for SqlHandler {
    async fn handle(&self, tx: &mut Tx, event: &Event) -> Result<Outcome, HandlerError> {
        let values = self.values(event)?;
        for (at, statement) in self.statements.iter().enumerate() {
            let params: Vec<Param> =
                statement.params.iter().filter_map(|&at| values.get(at)?.clone()).collect();
            tx.execute_text(&statement.text, &params)
                .await
                .map_err(|error| HandlerError::from(error).at(&self.place(at)))?;
        }
        Ok(Outcome::Done)
    }

    async fn prepare(&self, tx: &mut Tx) -> Result<(), HandlerError> {
        for (at, statement) in self.statements.iter().enumerate() {
            let nulls: Vec<Param> =
                statement.params.iter().filter_map(|&at| self.params.get(at)).map(Parameter::null).collect();
            tx.prepare_text(&statement.text, &nulls)
                .await
                .map_err(|error| HandlerError::of_preparing(error).at(&self.place(at)))?;
        }
        Ok(())
    }
}
