//! How often a verification asks the allocator for memory: a count, so that it is the same on every machine.

use hookgate::model::Request;
use hookgate::provider::Provider;
use hookgate::verify::{self, Decision, Fetched};

use super::support::{NOW, SECRET, at, keyring, provider, request, signed};

/// The most that verifying one request of a provider may allocate. What is left: the copy of the request that the proof
/// keeps, the parts and bytes of signatures, and what says that a challenge's fields are not there.
const MOST: [(&str, u64); 5] =
    [("stripe", 22), ("github", 20), ("shopify", 18), ("slack_events", 33), ("standard_webhooks", 19)];

#[test]
fn verifying_allocates_no_more_than_it_did_and_no_more_for_more_headers_or_bytes() {
    for (id, most) in MOST {
        let provider = provider(id, &[]);
        let small = genuine(&provider, 10, 1);
        let large = genuine(&provider, 100_000, 20);
        let (few, many) = (allocations(&provider, &small), allocations(&provider, &large));
        assert!(few <= most, "{id}: {few}, more than {most}");
        assert_eq!(few, many, "{id}");
    }
}

fn genuine(provider: &Provider, bytes: usize, headers: usize) -> Request {
    let names: Vec<String> = (0..headers).map(|number| format!("x-{number}")).collect();
    let headers: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "value")).collect();
    let body = format!("{{\"a\":\"{}\"}}", "x".repeat(bytes));
    signed(provider, SECRET, &request(&headers, body), at(NOW))
}

fn allocations(provider: &Provider, request: &Request) -> u64 {
    let (keyring, fetched) = (keyring(provider, &[SECRET]), Fetched::nothing());
    let mut decision = None;
    let counted = allocation_counter::measure(|| {
        decision = Some(verify::verify(request, provider, &keyring, &fetched, at(NOW)));
    });
    assert!(matches!(decision, Some(Decision::Verified(_))), "{decision:?}");
    counted.count_total
}
