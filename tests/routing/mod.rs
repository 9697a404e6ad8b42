//! Which routes want which events.

use std::sync::Arc;

use hookgate::routing::{Router, Rule, TypeGlob};
use proptest::prelude::*;

struct Route {
    name: &'static str,
    endpoints: Vec<Arc<str>>,
    types: Vec<String>,
}

impl Rule for Route {
    fn endpoints(&self) -> &[Arc<str>] {
        &self.endpoints
    }

    fn types(&self) -> &[String] {
        &self.types
    }
}

fn route(name: &'static str, endpoints: &[&str], types: &[&str]) -> Route {
    Route {
        name,
        endpoints: endpoints.iter().map(|&endpoint| endpoint.into()).collect(),
        types: types.iter().map(|&pattern| pattern.into()).collect(),
    }
}

fn wanted(routes: &[Route], endpoint: &str, event_type: &str) -> Vec<&'static str> {
    Router::new(routes).matching(endpoint, event_type).map(|at| routes[at].name).collect()
}

#[test]
fn a_star_stands_for_any_text_with_dots_and_without() {
    for (pattern, event_type, matches) in [
        ("invoice.*", "invoice.paid", true),
        ("invoice.*", "invoice.payment_failed", true),
        ("invoice.*", "invoice.line.x", true),
        ("invoice.*", "invoice.", true),
        ("invoice.*", "invoice", false),
        ("invoice.*", "invoiceitem.created", false),
        ("*", "invoice.paid", true),
        ("*", "", true),
        ("", "", true),
        ("", "x", false),
        ("*.updated", "customer.subscription.updated", true),
        ("*.updated", "customer.updated.twice", false),
        ("customer.*.updated", "customer.subscription.updated", true),
        ("customer.*.updated", "customer.updated", false),
        ("customer.**", "customer.x", true),
        ("*sub*dat*", "customer.subscription.updated", true),
        ("aa*aa", "aaa", false),
        ("aa*aa", "aaaa", true),
        ("a*b*b", "ab", false),
        ("orders/*", "orders/create", true),
        ("Invoice.paid", "invoice.paid", false),
        ("[x]?{a,b}.*", "[x]?{a,b}.c", true),
        ("[x]", "x", false),
        ("ключ.*", "ключ.é", true),
    ] {
        assert_eq!(TypeGlob::new(pattern).matches(event_type), matches, "{pattern:?} over {event_type:?}");
    }
}

#[test]
fn an_event_gets_all_routes_that_want_it_in_the_order_of_the_config() {
    let routes = [
        route("forward all", &["billing", "shop"], &["*"]),
        route("invoices", &["billing"], &["invoice.*"]),
        route("payments", &["billing"], &["charge.*", "invoice.paid"]),
        route("shop only", &["shop"], &["invoice.*"]),
        route("nothing", &["billing"], &[]),
    ];
    assert_eq!(wanted(&routes, "billing", "invoice.paid"), ["forward all", "invoices", "payments"]);
    assert_eq!(wanted(&routes, "billing", "invoice.created"), ["forward all", "invoices"]);
    assert_eq!(wanted(&routes, "shop", "charge.refunded"), ["forward all"]);
    assert_eq!(wanted(&routes, "elsewhere", "invoice.paid"), [""; 0]);
}

#[test]
fn an_event_gets_a_route_once_however_often_the_route_names_its_endpoint_or_type() {
    let routes = [route("twice", &["billing", "billing"], &["invoice.*", "invoice.paid", "*"])];
    assert_eq!(wanted(&routes, "billing", "invoice.paid"), ["twice"]);
}

/// The plainest matcher there is, as a second opinion.
fn matches_by_definition(pattern: &[u8], text: &[u8]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((b'*', rest)) => (0..=text.len()).any(|skipped| matches_by_definition(rest, &text[skipped..])),
        Some((letter, rest)) => text.first() == Some(letter) && matches_by_definition(rest, &text[1..]),
    }
}

proptest! {
    #[test]
    fn globs_match_what_the_definition_of_a_star_says(pattern in "[ab.*]{0,8}", text in "[ab.]{0,10}") {
        prop_assert_eq!(
            TypeGlob::new(&pattern).matches(&text),
            matches_by_definition(pattern.as_bytes(), text.as_bytes())
        );
    }
}
