//! Routes that name what there is, and can match.

use hookgate::config::{Action, SqlType};

use super::{Case, ENDPOINT, billing};

const CRM: &str = "[destinations.crm]\ntype = \"http\"\nurl = \"https://crm.example.com/\"\n";

fn route(text: &str) -> Case {
    billing(&format!("{CRM}[[routes]]\n{text}\n"))
}

#[test]
fn what_a_route_names_must_exist() {
    for (text, expected) in [
        (
            "endpoint = \"biling\"\nhandler = \"stripe_billing\"",
            "there is no endpoint \"biling\"\n  help: did you mean `billing`?",
        ),
        (
            "endpoints = [\"x\"]\nhandler = \"stripe_billing\"",
            "there is no endpoint \"x\"\n  help: known: billing",
        ),
        (
            "provider = \"strip\"\nhandler = \"stripe_billing\"",
            "there is no provider \"strip\"\n  help: did you mean `stripe`?",
        ),
        (
            "endpoint = \"*\"\nhandler = \"stripe_biling\"",
            "there is no handler \"stripe_biling\"\n  help: did you mean `stripe_billing`?",
        ),
        (
            "endpoint = \"*\"\nforward = [\"crn\"]",
            "there is no destination \"crn\"\n  help: did you mean `crm`?",
        ),
        (
            "endpoint = \"*\"\nhandler = \"stripe_billing\"\nemit = [\"crn\"]",
            "there is no destination \"crn\"",
        ),
        ("endpoint = \"*\"\nsql = \"none.sql\"", "routes[0].sql: cannot read none.sql"),
    ] {
        let error = route(text).error();
        assert!(error.starts_with("main.toml:") && error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn a_route_that_can_never_match_is_an_error() {
    for text in [
        "provider = \"github\"\nhandler = \"stripe_billing\"",
        "endpoint = \"billing\"\ntypes = [\"\"]\nhandler = \"stripe_billing\"",
        "endpoint = \"billing\"\ntypes = [\" invoice.paid\"]\nhandler = \"stripe_billing\"",
    ] {
        assert!(route(text).error().contains("can never match"), "{text}");
    }
    let error = Case::new("[[routes]]\nendpoint = \"*\"\nhandler = \"stripe_billing\"").error();
    assert!(error.contains("can never match: there are no endpoints"), "{error}");
    let error = route("endpoint = \"billing\"\ntypes = []\nhandler = \"stripe_billing\"").error();
    assert!(error.contains("routes[0].types: the list is empty"), "{error}");
}

#[test]
fn a_route_has_one_source_and_one_action() {
    let source = "expected exactly one of `endpoint`, `endpoints` and `provider`";
    let action = "expected exactly one of `handler`, `sql` and `forward`";
    for (text, expected) in [
        ("handler = \"stripe_billing\"", source),
        ("endpoint = \"billing\"\nprovider = \"stripe\"\nhandler = \"stripe_billing\"", source),
        ("endpoint = \"billing\"", action),
        ("endpoint = \"billing\"\nhandler = \"stripe_billing\"\nforward = [\"crm\"]", action),
        ("endpoint = \"billing\"\nforward = []", "routes[0].forward: the list is empty"),
        ("endpoint = \"billing\"\nforward = [\"crm\", \"crm\"]", "forward[1]: \"crm\" is in the list twice"),
        (
            "endpoint = \"billing\"\nforward = [\"crm\"]\nemit = [\"crm\"]",
            "routes[0].emit: belongs to a handler",
        ),
        (
            "endpoint = \"billing\"\nhandler = \"stripe_billing\"\nparams = {}",
            "routes[0].params: belongs to `sql`",
        ),
        (
            "endpoint = \"billing\"\nhandler = \"stripe_billing\"\noperation = \"x\"",
            "routes[0].operation: belongs to `sql`",
        ),
    ] {
        let error = route(text).error();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn two_routes_that_say_the_same_are_an_error() {
    let one = "endpoint = \"billing\"\ntypes = [\"invoice.paid\"]\nhandler = \"stripe_billing\"";
    let error = route(&format!(
        "{one}\n[[routes]]\n{}",
        one.replace("endpoint = \"billing\"", "provider = \"stripe\"")
    ))
    .error();
    assert!(
        error.contains("routes[1]: repeats the route at main.toml:9: the same would be done twice"),
        "{error}"
    );
    route(&format!("{one}\n[[routes]]\n{}", one.replace("paid", "created"))).load();
}

#[test]
fn a_route_of_a_provider_or_of_all_knows_its_endpoints() {
    let other =
        ENDPOINT.replace("billing", "hub").replace("/stripe", "/hub").replace("\"stripe\"", "\"github\"");
    let with = |selector: &str| {
        let case = billing(&format!("{other}[[routes]]\n{selector}\nhandler = \"stripe_billing\"\n"));
        let routes = case.load().config.routes;
        routes[0].endpoints.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(with("endpoint = \"*\""), "billing hub");
    assert_eq!(with("provider = \"github\""), "hub");
    assert_eq!(with("endpoints = [\"hub\", \"billing\"]"), "hub billing");
}

#[test]
fn an_sql_route_has_typed_parameters() {
    let text = "endpoint = \"billing\"\nsql = \"book.sql\"\noperation = \"book-it\"\n\
                params = { amount = { pointer = \"/data/amount\", type = \"bigint\" }, note = { pointer = \"/note\" } }";
    let case = route(text).file("book.sql", "SELECT :amount, :note");
    let loaded = case.load();
    let Action::Sql(module) = &loaded.config.routes[0].action else { panic!("an SQL module") };
    assert_eq!((module.name.as_str(), module.operation.as_str()), ("book", "book-it"));
    assert_eq!(module.params["amount"].kind, SqlType::Bigint);
    assert_eq!(module.params["note"].kind, SqlType::Text);
    let error = route(&text.replace("/note", "note")).file("book.sql", "SELECT 1").error();
    assert!(
        error.contains("routes[0].params.note.pointer: found \"note\", expected a JSON pointer"),
        "{error}"
    );
    let error = route(&text.replace("bigint", "bigin")).file("book.sql", "SELECT 1").error();
    assert!(
        error.contains("found \"bigin\", expected \"text\" or \"bigint\"")
            && error.contains("did you mean `bigint`?"),
        "{error}"
    );
}

#[test]
fn what_no_route_knows_gets_a_warning() {
    let warnings = billing(CRM).warnings();
    assert_eq!(warnings.len(), 2, "{warnings:#?}");
    assert!(
        warnings[0].starts_with("main.toml:2:12: endpoints.billing: no route is for this endpoint"),
        "{warnings:#?}"
    );
    assert!(warnings[1].contains("destinations.crm: no route leads to this destination"), "{warnings:#?}");
}
