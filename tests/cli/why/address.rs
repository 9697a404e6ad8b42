//! Mistakes with the public URL, where it is signed.

use super::sender::{Capture, Sender, URL};
use super::{Mistake, each_is_named};

/// The operator has `url` where the provider calls [`URL`].
fn believed(sender: &Sender, url: &str) -> Option<Capture> {
    if !sender.signs_url {
        return None;
    }
    let mut capture = sender.genuine();
    if sender.provider == "square" {
        capture.settings = vec![format!("url={url}")];
    } else {
        capture.url = Some(url.to_owned());
    }
    Some(capture)
}

#[test]
fn a_wrong_public_url_is_named() {
    each_is_named(&[
        Mistake {
            name: "http for https",
            says: "with the scheme `https`",
            make: |it| believed(it, &URL.replace("https:", "http:")),
        },
        Mistake {
            name: "a port too many",
            says: "without its port",
            make: |it| believed(it, &URL.replace(".com", ".com:8443")),
        },
        Mistake {
            name: "scheme and port of what stands behind the proxy",
            says: "without its port and the scheme `https`",
            make: |it| believed(it, "http://hooks.example.com:8080/in/acme?b=2&a=1"),
        },
        Mistake {
            name: "a slash too many",
            says: "without the slash at its end",
            make: |it| believed(it, &URL.replace("/acme", "/acme/")),
        },
        Mistake {
            name: "the host of what stands behind the proxy",
            says: "with the host `hooks.example.com`",
            make: |it| {
                let capture = believed(it, "https://10.0.0.7/in/acme?b=2&a=1")?;
                Some(capture.with("x-forwarded-host", "hooks.example.com"))
            },
        },
        Mistake {
            name: "the host and scheme of what stands behind the proxy",
            says: "with the host `hooks.example.com` and the scheme `https`",
            make: |it| {
                Some(believed(it, "http://backend/in/acme?b=2&a=1")?.with("host", "hooks.example.com"))
            },
        },
        Mistake {
            name: "a path that a proxy rewrote",
            says: "with the path that a proxy says it had",
            make: |it| {
                let capture = believed(it, "https://hooks.example.com/acme?b=2&a=1")?;
                // A setting is compared with the path of the request as well.
                (it.provider != "square").then(|| capture.with("x-original-uri", "/in/acme?b=2&a=1"))
            },
        },
        Mistake {
            name: "a path prefix that a proxy cut off",
            says: "the path prefix that a proxy says it cut off",
            make: |it| {
                let capture = believed(it, "https://hooks.example.com/acme?b=2&a=1")?;
                (it.provider != "square").then(|| capture.with("x-forwarded-prefix", "/in"))
            },
        },
        Mistake {
            name: "the setting has another path than is called",
            says: "with the path and query of the request",
            make: |it| (it.provider == "square").then(|| believed(it, "https://hooks.example.com/other"))?,
        },
        Mistake {
            name: "a path prefix too many",
            says: "without the first part of its path",
            make: |it| {
                let url = URL.replace("/in/", "/gateway/in/");
                (it.provider != "square").then(|| believed(it, &url))?
            },
        },
        Mistake {
            name: "a query too many",
            says: "without its query",
            make: |it| {
                let mut sent = it.signs_url.then(|| it.called_at("https://hooks.example.com/in/acme"))?;
                sent.url = Some(URL.to_owned());
                if it.provider == "square" {
                    sent.settings = vec![format!("url={URL}")];
                }
                Some(sent)
            },
        },
        Mistake {
            name: "the order of the query",
            says: "with the parameters of its query sorted",
            make: |it| {
                let mut sent =
                    it.signs_url.then(|| it.called_at("https://hooks.example.com/in/acme?a=1&b=2"))?;
                sent.url = Some(URL.to_owned());
                if it.provider == "square" {
                    sent.settings = vec![format!("url={URL}")];
                }
                Some(sent)
            },
        },
        Mistake {
            name: "no public URL is set",
            says: "`https://hooks.example.com` with the request's path",
            make: |it| {
                let mut capture =
                    (it.provider == "twilio").then(|| it.called_at("https://hooks.example.com/"))?;
                capture.url = None;
                Some(capture.with("host", "hooks.example.com"))
            },
        },
    ]);
}
