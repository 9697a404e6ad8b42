//! Which handler a route gets.

use std::sync::Arc;

use async_trait::async_trait;
use hookgate::config::{Action, Route, SqlType};
use hookgate::handler::sql::Dialect;
use hookgate::handler::{BUILT_IN, Handler, HandlerError, NameTaken, Outcome, Registry};
use hookgate::model::Event;
use hookgate::store::Tx;

use super::modules::module;

struct Nothing;

#[async_trait]
impl Handler for Nothing {
    async fn handle(&self, _tx: &mut Tx, _event: &Event) -> Result<Outcome, HandlerError> {
        Ok(Outcome::Done)
    }
}

fn route(action: Action, line: usize) -> Route {
    Route {
        endpoints: vec!["billing".into()],
        types: vec!["*".into()],
        filter: None,
        transform: None,
        action,
        destinations: vec![],
        origin: format!("hookgate.toml:{line}"),
    }
}

fn named(name: &str, line: usize) -> Route {
    route(Action::Handler(name.into()), line)
}

fn names(registry: &Registry, routes: &[Route]) -> Vec<Option<String>> {
    let resolved = registry.resolve(routes, Dialect::Sqlite).unwrap();
    resolved.into_iter().map(|found| found.map(|found| found.name.to_string())).collect()
}

fn problems(routes: &[Route]) -> Vec<String> {
    let errors = Registry::new().resolve(routes, Dialect::Sqlite).expect_err("an error");
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn routes_get_built_in_registered_and_sql_handlers_in_their_order() {
    let mut registry = Registry::new();
    registry.register("mine", Arc::new(Nothing)).unwrap();
    let sql = Action::Sql(module("SELECT :event_id", &[]));
    let routes = [
        named("mine", 1),
        route(Action::Forward, 2),
        route(sql, 3),
        named("stripe_billing", 4),
        named("mine", 5),
    ];
    let expected = [Some("mine"), None, Some("grant"), Some("stripe_billing"), Some("mine")];
    assert_eq!(names(&registry, &routes), expected.map(|name| name.map(str::to_owned)));
}

#[test]
fn every_built_in_name_resolves() {
    let routes: Vec<Route> = BUILT_IN.iter().map(|name| named(name, 1)).collect();
    assert_eq!(names(&Registry::new(), &routes).len(), BUILT_IN.len());
}

#[test]
fn a_name_is_given_once() {
    let mut registry = Registry::new();
    assert_eq!(
        registry.register("stripe_billing", Arc::new(Nothing)),
        Err(NameTaken("stripe_billing".into()))
    );
    assert_eq!(registry.register("mine", Arc::new(Nothing)), Ok(()));
    assert_eq!(registry.register("mine", Arc::new(Nothing)), Err(NameTaken("mine".into())));
}

#[test]
fn all_problems_are_reported_at_once_each_with_its_place() {
    let bad = Action::Sql(module("SELECT 1;\nCOMMIT", &[]));
    let unused = Action::Sql(module("SELECT 1", &[("amount", "/amount", SqlType::Bigint)]));
    let problems =
        problems(&[named("stripe_biling", 7), named("stripe_billing", 8), route(bad, 9), route(unused, 10)]);
    assert_eq!(
        problems[0],
        "hookgate.toml:7: no handler is named `stripe_biling`; there are stripe_billing, stripe_checkout"
    );
    assert!(problems[1].starts_with("handlers/grant.sql:2: COMMIT is not allowed"), "{}", problems[1]);
    assert!(
        problems[2].starts_with("hookgate.toml:10: the parameter `amount` is not used"),
        "{}",
        problems[2]
    );
    assert_eq!(problems.len(), 3);
}

#[test]
fn two_handlers_cannot_have_one_name() {
    let first = module("SELECT 1", &[]);
    let mut second = first.clone();
    second.path = "other/grant.sql".into();
    let mut built_in = first.clone();
    built_in.name = "stripe_checkout".into();
    let routes = [first.clone(), first, second, built_in].map(Action::Sql);
    let routes: Vec<Route> = (1..).zip(routes).map(|(line, action)| route(action, line)).collect();
    let problems = problems(&routes);
    assert!(
        problems[0]
            .starts_with("hookgate.toml:3: handlers/grant.sql and other/grant.sql are both named `grant`")
    );
    assert!(
        problems[1]
            .starts_with("hookgate.toml:4: handlers/grant.sql has the name of the handler `stripe_checkout`")
    );
    assert_eq!(problems.len(), 2);
}

#[test]
fn routes_share_a_module_unless_they_give_it_other_parameters() {
    let with = |pointer| Action::Sql(module("SELECT :amount", &[("amount", pointer, SqlType::Bigint)]));
    let routes = [route(with("/a"), 1), route(with("/a"), 2), route(with("/b"), 3)];
    let found = Registry::new().resolve(&routes, Dialect::Sqlite).expect("no errors");
    let handlers: Vec<_> = found.into_iter().map(|found| found.expect("a handler").handler).collect();
    assert!(Arc::ptr_eq(&handlers[0], &handlers[1]));
    assert!(!Arc::ptr_eq(&handlers[0], &handlers[2]));
}
