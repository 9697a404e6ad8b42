//! Arbitrary templates, conditions and patterns in a definition, over an arbitrary body.

#![no_main]

use arbitrary::Arbitrary;
use hookgate::model::{Headers, Request};
use hookgate::provider::Provider;
use hookgate_fuzz::{candidate, judge, signed};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Parts<'a> {
    text: &'a str,
    pattern: &'a str,
    condition: &'a str,
    id: &'a str,
    header: &'a [u8],
    form: bool,
    body: &'a [u8],
}

fuzz_target!(|parts: Parts<'_>| {
    let quoted = |text: &str| format!("{text:?}").replace("\\'", "'");
    let text = format!(
        r#"
id = "acme"
name = "Acme"
confidence = "confirmed"
docs = "https://example.com"
[dashboard]
place = "Settings"
secret = "the secret"
[[verify]]
name = "v1"
algorithm = "hmac-sha256"
text = {}
signature = {{ from = "{{header:x-signature}}", pattern = {}, encoding = "hex" }}
require = {}
[event]
format = "json"
id = {}
"#,
        quoted(parts.text),
        quoted(parts.pattern),
        quoted(parts.condition),
        quoted(parts.id),
    );
    let Ok(provider) = Provider::read("fuzz.toml", &text) else { return };
    let Some(candidate) = candidate(&provider) else { return };
    let mut headers = Headers::new();
    if parts.form {
        headers.push("content-type", "application/x-www-form-urlencoded");
    }
    let plain = Request {
        method: "POST".into(),
        path: "/hooks".into(),
        query: Some("a=b&a=c".into()),
        origin: Some("https://hooks.example.com".into()),
        ..Request::bare(headers, parts.body.to_vec().into())
    };
    let mut wild = plain.clone();
    wild.headers.push("x-signature", parts.header);
    judge(&wild, &candidate);
    if let Some(request) = signed(plain, &candidate) {
        judge(&request, &candidate);
    }
});
