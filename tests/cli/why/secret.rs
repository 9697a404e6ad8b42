//! Mistakes with the secret, the variant and the algorithm.

use super::sender::{Capture, PLAIN, Sender};
use super::{Mistake, each_is_named};

/// The sender signs with a text of this kind and the operator gives `given`.
fn given(sender: &Sender, signs: &str, given: impl Into<String>) -> Option<Capture> {
    let any = sender.takes_any_secret();
    any.then(|| {
        sender.signed_with(sender.body().as_bytes(), signs, super::sender::AT, &[]).with_secret(given)
    })
}

#[test]
fn a_secret_that_is_written_otherwise_than_the_provider_means_it_is_named() {
    each_is_named(&[
        Mistake {
            name: "a line break after it",
            says: "without the white space around it",
            make: |it| given(it, PLAIN, format!("{PLAIN}\n")),
        },
        Mistake {
            name: "blanks around it",
            says: "without the white space around it",
            make: |it| given(it, PLAIN, format!("  {PLAIN} ")),
        },
        Mistake {
            name: "the sender has a line break after it",
            says: "with a line break at its end",
            make: |it| given(it, &format!("{PLAIN}\n"), PLAIN),
        },
        Mistake {
            name: "quotes around it",
            says: "without the quotes around it",
            make: |it| given(it, PLAIN, format!("\"{PLAIN}\"")),
        },
        Mistake {
            name: "a prefix that does not belong to it",
            says: "without the prefix that ends with `_`",
            make: |it| given(it, PLAIN, format!("whsec_{PLAIN}")),
        },
        Mistake {
            name: "its prefix was cut off",
            says: "with `whsec_` before it",
            make: |it| given(it, &format!("whsec_{PLAIN}"), PLAIN),
        },
        Mistake {
            name: "percent-encoded",
            says: "once it is percent-decoded",
            make: |it| given(it, "p@ss+0123456789abcdef", "p%40ss%2B0123456789abcdef"),
        },
        Mistake {
            name: "base64 of the key",
            says: "decoded from base64",
            make: |it| given(it, "foobar0123456789abcdef", PLAIN),
        },
        Mistake {
            name: "base64 of the key, after a prefix",
            says: "decoded from base64 without its prefix",
            make: |it| given(it, "foobar0123456789abcdef", format!("whsec_{PLAIN}")),
        },
        Mistake {
            name: "hex of the key",
            says: "decoded from hex",
            make: |it| given(it, "foobar0123456789", hex::encode("foobar0123456789")),
        },
        Mistake {
            name: "capitals",
            says: "in lower case",
            make: |it| given(it, "0123456789abcdef", "0123456789ABCDEF"),
        },
        Mistake {
            name: "the text is the key where it should be decoded",
            says: "taken as the text that it is",
            make: |it| {
                let text = base64(it.secret);
                let standard = it.provider == "standard_webhooks";
                standard.then(|| it.signed_with(it.body().as_bytes(), &text, super::sender::AT, &[]))
            },
        },
        Mistake {
            name: "the text without its prefix is the key where it should be decoded",
            says: "taken as text without its prefix",
            make: |it| {
                let text = base64(it.secret.trim_start_matches("whsec_"));
                let standard = it.provider == "standard_webhooks";
                standard.then(|| it.signed_with(it.body().as_bytes(), &text, super::sender::AT, &[]))
            },
        },
    ]);
}

#[test]
fn another_way_of_signing_is_named() {
    each_is_named(&[
        Mistake {
            name: "a variant that is off",
            says: "counts only where it is named",
            make: |it| {
                let variant = match it.provider {
                    "github" => "sha1",
                    "square" => "hmac-sha1",
                    _ => return None,
                };
                let args = ["--variant", variant];
                Some(it.signed_with(it.body().as_bytes(), it.secret, super::sender::AT, &args))
            },
        },
        Mistake {
            name: "another hash",
            says: "made with hmac-sha1, not with hmac-sha256",
            make: |it| {
                let args = ["--variant", "sha1"];
                let old = (it.provider == "github")
                    .then(|| it.signed_with(it.body().as_bytes(), it.secret, super::sender::AT, &args))?;
                let value = old.value("x-hub-signature").replace("sha1=", "sha256=");
                let mut capture = it.genuine().map(it.header, |_| value.clone());
                capture.signature = value;
                Some(capture)
            },
        },
        Mistake {
            name: "the body alone is signed",
            says: "over the body alone",
            make: |it| {
                let github = &super::SENDERS[1];
                let alone = github.signed(it.body().as_bytes()).signature;
                let genuine = it.genuine();
                let own = genuine.signature.clone();
                let signs_more = it.hex && it.signs_time() && it.is_symmetric();
                signs_more.then(|| genuine.map(it.header, |value| value.replace(&own, &alone)))
            },
        },
    ]);
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    format!("whsec_{}", base64::engine::general_purpose::STANDARD.encode(text))
}
