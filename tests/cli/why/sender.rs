//! Requests as several providers send them, and how one is given to `hookgate verify`.

use std::fs;

use ring::signature::{Ed25519KeyPair, KeyPair as _};

use crate::cli::{Run, hookgate};

pub(super) const AT: i64 = 1_790_000_100;
pub(super) const URL: &str = "https://hooks.example.com/in/acme?b=2&a=1";
/// A secret of the plain kind, which is also base64 text that is not used as such.
pub(super) const PLAIN: &str = "Zm9vYmFyMDEyMzQ1Njc4OWFiY2RlZg==";

/// One provider's way of sending.
pub(super) struct Sender {
    pub(super) provider: &'static str,
    pub(super) secret: &'static str,
    /// The header with the signature, and what stands before the signature there.
    pub(super) header: &'static str,
    pub(super) prefix: &'static str,
    /// Another header that is signed.
    pub(super) beside: Option<&'static str>,
    pub(super) hex: bool,
    pub(super) signs_url: bool,
    pub(super) form: bool,
}

const BASE: Sender = Sender {
    provider: "",
    secret: PLAIN,
    header: "",
    prefix: "",
    beside: None,
    hex: true,
    signs_url: false,
    form: false,
};

pub(super) const SENDERS: &[Sender] = &[
    Sender { provider: "stripe", header: "stripe-signature", prefix: "v1=", ..BASE },
    Sender { provider: "github", header: "x-hub-signature-256", prefix: "sha256=", ..BASE },
    Sender { provider: "shopify", header: "x-shopify-hmac-sha256", hex: false, ..BASE },
    Sender {
        provider: "twilio",
        header: "x-twilio-signature",
        hex: false,
        signs_url: true,
        form: true,
        ..BASE
    },
    Sender {
        provider: "slack_events",
        header: "x-slack-signature",
        prefix: "v0=",
        beside: Some("x-slack-request-timestamp"),
        ..BASE
    },
    Sender {
        provider: "standard_webhooks",
        secret: "whsec_aG9va2dhdGUgdGVzdCBzZWNyZXQgb2YgMzIgYnl0ZXM=",
        header: "webhook-signature",
        prefix: "v1,",
        beside: Some("webhook-timestamp"),
        hex: false,
        ..BASE
    },
    Sender {
        provider: "square",
        header: "x-square-hmacsha256-signature",
        hex: false,
        signs_url: true,
        ..BASE
    },
    Sender {
        provider: "discord_interactions",
        secret: "",
        header: "x-signature-ed25519",
        beside: Some("x-signature-timestamp"),
        ..BASE
    },
];

/// A captured request with the keys to judge it by.
#[derive(Clone)]
pub(super) struct Capture {
    pub(super) provider: &'static str,
    pub(super) secret: String,
    pub(super) settings: Vec<String>,
    pub(super) url: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) signature: String,
}

impl Sender {
    /// `discord` has a public key, and all others share a secret.
    pub(super) fn is_symmetric(&self) -> bool {
        !self.secret.is_empty()
    }

    /// Whether a time is part of what is signed.
    pub(super) fn signs_time(&self) -> bool {
        self.provider == "stripe" || self.beside.is_some()
    }

    /// Whether the secret's text is the key.
    pub(super) fn takes_any_secret(&self) -> bool {
        self.secret == PLAIN
    }

    pub(super) fn body(&self) -> String {
        let json = r#"{"id":"evt_1","type":"a.b","event_id":"e","data":{"name":"MARK","n":[1,2]}}"#;
        if self.form { "Body=MARK+x%2Fy&MessageSid=SM1".to_owned() } else { json.to_owned() }
    }

    pub(super) fn genuine(&self) -> Capture {
        self.signed(self.body().as_bytes())
    }

    pub(super) fn signed(&self, body: &[u8]) -> Capture {
        self.signed_with(body, self.secret, AT, &[])
    }

    /// As the provider calls `url`.
    pub(super) fn called_at(&self, url: &str) -> Capture {
        self.made(url, self.body().as_bytes(), self.secret, AT, &[])
    }

    /// As the provider sends `body`, signed with `secret` at `at`.
    pub(super) fn signed_with(&self, body: &[u8], secret: &str, at: i64, more: &[&str]) -> Capture {
        self.made(URL, body, secret, at, more)
    }

    fn made(&self, url: &str, body: &[u8], secret: &str, at: i64, more: &[&str]) -> Capture {
        let kind = if self.form { "application/x-www-form-urlencoded" } else { "application/json" };
        let mut capture = Capture {
            provider: self.provider,
            secret: self.secret.to_owned(),
            settings: if self.provider == "square" { vec![format!("url={url}")] } else { Vec::new() },
            url: Some(url.to_owned()),
            headers: vec![("content-type".into(), kind.into())],
            body: body.to_vec(),
            signature: String::new(),
        };
        if self.is_symmetric() {
            let signing = Capture { secret: secret.to_owned(), ..capture.clone() };
            let run = signing.run("sign", at, &[&["--json"], more].concat());
            assert_eq!(run.code, 0, "{}: {}", self.provider, run.stderr);
            let object = run.json();
            for (name, value) in object["headers"].as_object().expect("headers") {
                capture.headers.push((name.clone(), value.as_str().expect("text").to_owned()));
            }
        } else {
            let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("a key");
            capture.secret = hex::encode(pair.public_key().as_ref());
            let signature = pair.sign(&[at.to_string().as_bytes(), body].concat());
            capture.headers.push((self.header.into(), hex::encode(signature.as_ref())));
            capture.headers.push(("x-signature-timestamp".into(), at.to_string()));
        }
        let value = capture.value(self.header);
        let signature = value.split_once(self.prefix).map_or(value, |(_, signature)| signature).to_owned();
        capture.signature = signature;
        capture
    }

    /// The signature's bytes.
    pub(super) fn signature_bytes(&self, capture: &Capture) -> Vec<u8> {
        use base64::Engine as _;
        if self.hex {
            hex::decode(&capture.signature).expect("hex")
        } else {
            base64::engine::general_purpose::STANDARD.decode(&capture.signature).expect("base64")
        }
    }
}

impl Capture {
    pub(super) fn value(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// With every value of a header changed.
    pub(super) fn map(mut self, name: &str, change: impl Fn(&str) -> String) -> Self {
        for (_, value) in self.headers.iter_mut().filter(|(known, _)| known == name) {
            *value = change(value);
        }
        self
    }

    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn with_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub(super) fn with_secret(mut self, secret: impl Into<String>) -> Self {
        self.secret = secret.into();
        self
    }

    /// What no hint may hold.
    pub(super) fn hidden(&self) -> Vec<String> {
        let hidden = [self.secret.trim().to_owned(), self.signature.clone(), "MARK".into()];
        hidden.into_iter().filter(|text| !text.is_empty()).collect()
    }

    pub(super) fn verify(&self) -> Run {
        self.run("verify", AT, &[])
    }

    fn run(&self, command: &str, at: i64, more: &[&str]) -> Run {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("body"), &self.body).expect("write");
        let mut args = vec![command.to_owned(), self.provider.to_owned()];
        args.extend(["--secret".into(), format!("literal:{}", self.secret)]);
        args.extend(["--at".into(), at.to_string(), "--body-file".into(), "body".into()]);
        args.extend(self.url.iter().flat_map(|url| ["--url".to_owned(), url.clone()]));
        args.extend(self.settings.iter().flat_map(|set| ["--set".to_owned(), set.clone()]));
        for (name, value) in &self.headers {
            args.extend(["-H".to_owned(), format!("{name}: {value}")]);
        }
        let args: Vec<&str> = args.iter().map(String::as_str).chain(more.iter().copied()).collect();
        hookgate(folder.path(), &[], &args)
    }
}
