//! Where a fetch may go.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use hookgate::egress::{Network, Resolve};
use hookgate::keys::Keys;
use hookgate::verify::KeyRequest;

use super::server::{Server, ok, with};
use super::{at, body, failure, keys, request};

/// A resolver that knows one thing, and notes what it is asked.
#[derive(Default)]
struct Names {
    known: HashMap<String, IpAddr>,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.lock().unwrap().push(name.to_owned());
        Ok(self.known.get(name).copied().into_iter().collect())
    }
}

fn closed(url: String) -> KeyRequest {
    KeyRequest { allow_private: false, ..request(url) }
}

#[tokio::test]
async fn plain_http_and_addresses_of_this_network_are_refused() {
    let server = Server::start(|_| ok("key")).await;
    for url in [
        server.url("/a"),
        format!("https://{}/a", server.address),
        format!("https://localhost:{}/a", server.address.port()),
        "https://10.0.0.1/a".into(),
        "https://[::1]/a".into(),
        "https://169.254.169.254/latest/meta-data".into(),
        "https://user@keys.example.com/a".into(),
    ] {
        let why = failure(keys().answer("e", &closed(url.clone()), at(0)).await);
        assert!(why.starts_with("blocked_address"), "{url}: {why}");
    }
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn a_public_name_with_a_private_address_is_refused_and_with_the_switch_it_is_not() {
    let (server, roots) = Server::start_tls("keys.example.com", |_| ok("key")).await;
    let known = HashMap::from([("keys.example.com".to_owned(), IpAddr::from([127, 0, 0, 1]))]);
    let names = Arc::new(Names { known, ..Names::default() });
    let keys = Keys::new(&Network { resolver: names.clone(), roots: Some(roots), ..Network::default() });
    let url = format!("https://keys.example.com:{}/a", server.address.port());
    let why = failure(keys.answer("e", &closed(url.clone()), at(0)).await);
    assert!(why.starts_with("blocked_address"), "{why}");
    assert_eq!((server.count(), names.asked.lock().unwrap().len()), (0, 1));
    assert_eq!(body(keys.answer("e", &request(url), at(60)).await), "key");
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_not_believed() {
    let (server, _) = Server::start_tls("localhost", |_| ok("key")).await;
    let url = format!("https://localhost:{}/a", server.address.port());
    let why = failure(keys().answer("e", &request(url), at(0)).await);
    assert!(why.starts_with("tls"), "{why}");
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let other = Server::start(|_| ok("key")).await;
    let location = format!("location: {}\r\n", other.url("/b"));
    let server = Server::start(move |_| with("302 Found", &location, "")).await;
    let why = failure(keys().answer("e", &request(server.url("/a")), at(0)).await);
    assert!(why.contains("redirects are not followed"), "{why}");
    assert_eq!(other.count(), 0);
}
