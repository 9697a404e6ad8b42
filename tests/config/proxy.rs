//! Endpoints whose destination answers for them.

use hookgate::config::Mode;

use super::{Case, ENDPOINT};

const CRM: &str = "[destinations.crm]\ntype = \"http\"\nurl = \"https://crm.example.com/\"\n";

/// The endpoint with these lines, a destination, and more.
fn proxy(lines: &str, more: &str) -> Case {
    Case::new(&format!("{ENDPOINT}{lines}\n{CRM}{more}"))
}

const PROXY: &str = "mode = \"proxy\"\nproxy = \"crm\"";

#[test]
fn a_proxy_has_a_destination_that_answers_and_no_route() {
    let loaded = proxy(PROXY, "").load();
    let endpoint = &loaded.config.endpoints["billing"];
    assert_eq!(endpoint.mode, Mode::Proxy { destination: "crm".into() });
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert!(!warnings.iter().any(|text| text.contains("route")), "nothing is missing: {warnings:?}");
}

#[test]
fn what_cannot_be_a_proxy_is_refused_with_its_place() {
    for (lines, more, expected) in [
        ("mode = \"proxy\"", "", "endpoints.billing.mode: a proxy needs the destination that answers for it"),
        ("proxy = \"crm\"", "", "endpoints.billing.proxy: belongs to mode = \"proxy\""),
        (
            "mode = \"proxy\"\nproxy = \"crn\"",
            "",
            "there is no destination \"crn\"\n  help: did you mean `crm`?",
        ),
        (
            PROXY,
            "[[routes]]\nendpoint = \"billing\"\nforward = [\"crm\"]\n",
            "routes[0].endpoint: the endpoint \"billing\" is a proxy",
        ),
        (
            PROXY,
            "[[routes]]\nendpoints = [\"billing\"]\nhandler = \"stripe_billing\"\n",
            "routes[0].endpoints: the endpoint \"billing\" is a proxy",
        ),
        (
            PROXY,
            "[[routes]]\nprovider = \"stripe\"\nhandler = \"stripe_billing\"\n",
            "can never match: no endpoint that takes routes has the provider \"stripe\"",
        ),
    ] {
        let error = proxy(lines, more).error();
        assert!(error.contains(expected), "{lines} {more}: {error}");
    }
}

#[test]
fn a_provider_that_sends_batches_cannot_have_a_proxy() {
    let toml =
        "[endpoints.billing]\nprovider = \"hubspot\"\npaths = [\"/hubspot\"]\nsecrets = [\"env:BILLING\"]\n";
    let error = Case::new(&format!("{toml}{PROXY}\n{CRM}")).error();
    assert!(error.contains("sends several events in one request"), "{error}");
}

#[test]
fn a_route_for_all_endpoints_leaves_proxies_out() {
    let other =
        ENDPOINT.replace("billing", "other").replace("/stripe", "/other").replace("env:BILLING", "env:OTHER");
    let route = "[[routes]]\nendpoint = \"*\"\nhandler = \"stripe_billing\"\n";
    let case = proxy(PROXY, &format!("{other}{route}")).variable("OTHER", "another-secret-long-enough");
    let config = case.load().config;
    let names: Vec<&str> = config.routes[0].endpoints.iter().map(AsRef::as_ref).collect();
    assert_eq!(names, ["other"]);
}
