//! Who may ask, and for what.

use http::Method;

use super::rig::Rig;
use crate::support::http::{Answer, raw, raw_status, request};

async fn ask(rig: &Rig, method: Method, path: &str, headers: &[(&str, &[u8])]) -> Answer {
    request(method, rig.address, path, headers, "").await.unwrap()
}

async fn status_under(rig: &Rig, host: &str, path: &str) -> u16 {
    let request = format!("GET {path} HTTP/1.1\r\n{host}Connection: close\r\n\r\n");
    raw_status(&raw(rig.address, request.as_bytes()).await)
}

#[tokio::test]
async fn on_loopback_only_loopback_names_are_served() {
    let rig = Rig::on_loopback().await;
    for host in ["localhost", "LOCALHOST:8081", "127.0.0.1", "127.0.0.1:8081", "[::1]:8081"] {
        assert_eq!(status_under(&rig, &format!("Host: {host}\r\n"), "/healthz").await, 200, "{host}");
    }
    for host in
        ["evil.test", "evil.test:8081", "localhost.evil.test", "127.0.0.1.evil.test", "10.0.0.1", "", "a b"]
    {
        for path in ["/healthz", "/metrics", "/nothing"] {
            assert_eq!(status_under(&rig, &format!("Host: {host}\r\n"), path).await, 421, "{host} {path}");
        }
    }
    assert_eq!(status_under(&rig, "Host: localhost\r\nHost: evil.test\r\n", "/healthz").await, 421);
    let absolute = b"GET http://evil.test/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(raw_status(&raw(rig.address, absolute).await), 421);
}

#[tokio::test]
async fn elsewhere_any_name_is_served_but_metrics_need_the_token() {
    let rig = Rig::elsewhere(Some("metrics-token-of-this-test")).await;
    assert_eq!(status_under(&rig, "Host: gateway.internal\r\n", "/healthz").await, 200);
    assert_ne!(ask(&rig, Method::GET, "/readyz", &[]).await.status, 401, "readiness needs no token");
    let metrics = async |value: &'static [u8]| {
        let headers: &[(&str, &[u8])] = &[("authorization", value)];
        ask(&rig, Method::GET, "/metrics", if value.is_empty() { &[] } else { headers }).await
    };
    for wrong in
        [b"".as_slice(), b"Bearer", b"Bearer ", b"Bearer metrics", b"Basic metrics-token-of-this-test"]
    {
        let refused = metrics(wrong).await;
        assert_eq!(refused.status, 401, "{}", String::from_utf8_lossy(wrong));
        assert!(!refused.text().contains("hookgate_"));
    }
    assert_eq!(metrics(b"Bearer metrics-token-of-this-test").await.status, 200);
    assert_eq!(metrics(b"bearer metrics-token-of-this-test").await.status, 200);
}

#[tokio::test]
async fn elsewhere_without_a_token_there_are_no_metrics() {
    let rig = Rig::elsewhere(None).await;
    let refused = ask(&rig, Method::GET, "/metrics", &[("authorization", b"Bearer ")]).await;
    assert_eq!(refused.status, 403);
    assert!(refused.text().contains("admin.metrics_token"));
}

#[tokio::test]
async fn pages_are_only_read_and_unknown_ones_are_problems() {
    let rig = Rig::on_loopback().await;
    for path in ["/healthz", "/readyz", "/metrics"] {
        for method in [Method::POST, Method::PUT, Method::DELETE] {
            assert_eq!(ask(&rig, method.clone(), path, &[]).await.status, 405, "{method} {path}");
        }
        let head = ask(&rig, Method::HEAD, path, &[]).await;
        assert!(head.body.is_empty());
    }
    for path in ["/", "/healthz/", "//healthz", "/api/v1/events"] {
        let missing = ask(&rig, Method::GET, path, &[]).await;
        assert_eq!(missing.status, 404, "{path}");
        assert_eq!(missing.headers["content-type"], "application/problem+json");
    }
}

#[tokio::test]
async fn no_page_may_be_kept_or_guessed_at() {
    let rig = Rig::on_loopback().await;
    for path in ["/healthz", "/readyz", "/metrics", "/nothing"] {
        let page = ask(&rig, Method::GET, path, &[]).await;
        assert_eq!(page.headers["cache-control"], "no-store", "{path}");
        assert_eq!(page.headers["x-content-type-options"], "nosniff", "{path}");
    }
}
