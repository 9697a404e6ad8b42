//! Mistakes with headers and the text form of the signature.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use super::sender::{Capture, Sender};
use super::{Mistake, each_is_named};

/// The signature in another text form.
fn written(sender: &Sender, write: impl Fn(&[u8]) -> String) -> Capture {
    let genuine = sender.genuine();
    let (own, other) = (genuine.signature.clone(), write(&sender.signature_bytes(&genuine)));
    let mut capture = genuine.map(sender.header, |value| value.replace(&own, &other));
    capture.signature = other;
    capture
}

/// All headers that the scheme reads, under other names.
fn renamed(sender: &Sender, rename: impl Fn(&str) -> String) -> Capture {
    let mut capture = sender.genuine();
    for (name, _) in &mut capture.headers {
        if *name == sender.header || Some(name.as_str()) == sender.beside {
            *name = rename(name);
        }
    }
    capture
}

#[test]
fn a_signature_in_another_text_form_is_named() {
    each_is_named(&[
        Mistake {
            name: "upper-case hex",
            says: "written as upper-case hex",
            make: |it| it.hex.then(|| written(it, |bytes| hex::encode_upper(bytes))),
        },
        Mistake {
            name: "base64 for hex",
            says: "written as base64,",
            make: |it| it.hex.then(|| written(it, |bytes| STANDARD.encode(bytes))),
        },
        Mistake {
            name: "hex for base64",
            says: "written as lower-case hex",
            make: |it| (!it.hex).then(|| written(it, |bytes| hex::encode(bytes))),
        },
        Mistake {
            name: "base64url for base64",
            says: "written as base64url",
            make: |it| {
                // Only a signature with one of the two characters tells them apart.
                let body = (0..200).map(|n| format!("Body=MARK{n}&a=b").into_bytes());
                let mut captures = body.map(|body| it.signed(&body));
                let capture =
                    if it.hex { None } else { captures.find(|c| c.signature.contains(['+', '/'])) }?;
                let other = URL_SAFE.encode(it.signature_bytes(&capture));
                let own = capture.signature.clone();
                Some(capture.map(it.header, |value| value.replace(&own, &other)))
            },
        },
        Mistake {
            name: "base64 of the hex text",
            says: "written as base64 of hex",
            make: |it| (!it.hex).then(|| written(it, |bytes| STANDARD.encode(hex::encode(bytes)))),
        },
        Mistake {
            name: "without its prefix",
            says: "not what should stand around it",
            make: |it| {
                let whole = !it.prefix.is_empty() && it.provider != "stripe";
                whole.then(|| it.genuine().map(it.header, |value| value.replacen(it.prefix, "", 1)))
            },
        },
        Mistake {
            name: "after another prefix",
            says: "not what should stand around it",
            make: |it| {
                (it.provider == "github")
                    .then(|| it.genuine().map(it.header, |value| value.replace("sha256=", "sha256:")))
            },
        },
    ]);
}

#[test]
fn a_header_that_was_changed_on_the_way_is_named() {
    each_is_named(&[
        Mistake {
            name: "renamed with x-original-",
            says: "` came as `x-original-",
            make: |it| Some(renamed(it, |name| format!("x-original-{}", name.trim_start_matches("x-")))),
        },
        Mistake {
            name: "renamed with x-amzn-remapped-",
            says: "` came as `x-amzn-remapped-",
            make: |it| Some(renamed(it, |name| format!("x-amzn-remapped-{name}"))),
        },
        Mistake {
            name: "renamed as CGI does",
            says: "` came as `http_",
            make: |it| Some(renamed(it, |name| format!("http_{}", name.replace('-', "_")))),
        },
        Mistake {
            name: "came twice",
            says: "came more than once",
            make: |it| {
                let genuine = it.genuine();
                let value = genuine.value(it.header).to_owned();
                Some(genuine.with(it.header, &value))
            },
        },
        Mistake {
            name: "another value was added",
            says: "came more than once",
            make: |it| Some(it.genuine().with(it.header, "none")),
        },
        Mistake {
            name: "doubled and joined",
            says: "something in front joins doubled headers",
            make: |it| {
                // Where several signatures may stand in one value, one of them fits in any case.
                let one = it.provider != "standard_webhooks";
                one.then(|| it.genuine().map(it.header, |value| format!("{value}, {value}")))
            },
        },
        Mistake {
            name: "doubled and joined without a blank",
            says: "something in front joins doubled headers",
            make: |it| Some(it.genuine().map(it.header, |value| format!("{value},{value}"))),
        },
        Mistake {
            name: "in quotes",
            says: "stands in quotes",
            make: |it| Some(it.genuine().map(it.header, |value| format!("\"{value}\""))),
        },
        Mistake {
            name: "percent-encoded",
            says: "is percent-encoded",
            make: |it| {
                let encoded = |value: &str| value.replace('=', "%3D").replace(',', "%2C").replace('+', "%2B");
                let genuine = it.genuine();
                (encoded(genuine.value(it.header)) != genuine.value(it.header))
                    .then(|| genuine.map(it.header, encoded))
            },
        },
        Mistake {
            name: "not handed on",
            says: "does every proxy in front hand the header on?",
            make: |it| Some(renamed(it, |_| "x-something-else".into())),
        },
    ]);
}
