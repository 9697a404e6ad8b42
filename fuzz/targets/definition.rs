//! Arbitrary text as a definition: it compiles, or says what is wrong. What compiles can be used.

#![no_main]

use hookgate::model::{Headers, Request};
use hookgate::provider::{Provider, SampleIds};
use hookgate_fuzz::{candidate, judge, now, signed};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(provider) = Provider::read("fuzz.toml", text) else { return };
    let _ = provider.summary();
    let Some(candidate) = candidate(&provider) else { return };
    let ids = SampleIds { event: "a1".into(), object: "b2".into() };
    for sample in candidate.provider.samples() {
        let (headers, body) = sample.render(&ids, now());
        let request = Request {
            method: "POST".into(),
            path: "/hooks".into(),
            query: Some("a=b".into()),
            origin: Some("https://hooks.example.com".into()),
            ..Request::bare(headers.clone(), body)
        };
        judge(&request, &candidate);
        if let Some(request) = signed(request, &candidate) {
            judge(&request, &candidate);
            judge(&Request { headers: Headers::new(), ..request }, &candidate);
        }
    }
});
