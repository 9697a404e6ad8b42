//! Order, versions, and how many events are worked on at once.

use hookgate::config::OnDead;

use super::{Case, ENDPOINT};

fn with(lines: &str) -> Case {
    Case::new(&format!("{ENDPOINT}{lines}\n"))
}

#[test]
fn the_definitions_key_or_a_template_orders_events() {
    for key in ["true", "\"{json:/data/object/customer}\""] {
        let config = with(&format!("ordering_key = {key}\nversion = \"{{json:/created}}\"")).load().config;
        assert_eq!(config.endpoints["billing"].ordered, Some(OnDead::Block));
    }
    let config = with("ordering_key = true\non_dead = \"skip\"\nconcurrency = 3").load().config;
    assert_eq!(config.endpoints["billing"].ordered, Some(OnDead::Skip));
    assert_eq!(config.endpoints["billing"].concurrency, Some(3));
    assert_eq!(with("ordering_key = false").load().config.endpoints["billing"].ordered, None);
}

#[test]
fn order_and_concurrency_are_for_async_endpoints() {
    for line in ["ordering_key = true", "concurrency = 2"] {
        let error = with(&format!("mode = \"sync\"\n{line}")).error();
        assert!(error.contains("needs mode = \"async\""), "{error}");
    }
}

#[test]
fn what_is_about_a_key_needs_one() {
    for line in ["version = \"{json:/created}\"", "on_dead = \"skip\""] {
        let error = with(line).error();
        assert!(error.contains("needs an ordering_key"), "{error}");
    }
}

#[test]
fn a_template_that_cannot_be_read_is_named() {
    let error = with("ordering_key = \"{nonsense}\"").error();
    assert!(error.contains("endpoints.billing.ordering_key: "), "{error}");
    let error = with("ordering_key = true\nversion = \"{nonsense}\"").error();
    assert!(error.contains("endpoints.billing.version: "), "{error}");
}

#[test]
fn a_handler_with_hands_of_its_own_must_be_in_a_route() {
    let route = "[[routes]]\nendpoint = \"billing\"\nhandler = \"stripe_billing\"\n";
    let config = with(&format!("{route}[handlers.stripe_billing]\nconcurrency = 2")).load().config;
    assert_eq!(config.handlers["stripe_billing"], 2);
    let error = with(&format!("{route}[handlers.stripe_biling]\nconcurrency = 2")).error();
    assert!(error.contains("did you mean `stripe_billing`?"), "{error}");
}
