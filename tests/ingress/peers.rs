//! Whom a request is from, with and without proxies before the gateway.

use crate::support::database::{Database, Engine};
use crate::support::gateway::{Gateway, GatewayConfig};
use crate::support::http;

const TOKEN: &str = "a-token-of-some-length-for-tests";

/// A token from a network, or a client certificate that a proxy has read.
const DEFINITION: &str = r#"id = "office"
name = "Office"
confidence = "confirmed"
docs = "https://example.com"
[dashboard]
place = "Settings"
secret = "the token"
[[verify]]
name = "certificate"
when = "{proxy:x-client-dn}"
algorithm = "token"
signature = { from = "{proxy:x-client-dn}", encoding = "plain" }
[[verify]]
name = "token"
algorithm = "token"
signature = { from = "{header:x-token}", encoding = "plain" }
require = "{peer|within:203.0.113.0/24 2001:db8::/32}"
[event]
format = "json"
id = "{json:/id}"
"#;

async fn gateway(database: &Database, server: &str) -> Gateway {
    let config = GatewayConfig::new(&database.url, "async").server(server).definition("office", DEFINITION);
    config.endpoint("office", TOKEN, "async", "SELECT :v;", r#"{ v = { pointer = "/id" } }"#).start().await
}

async fn status(gateway: &Gateway, headers: &[(&str, &str)]) -> u16 {
    let headers: Vec<(&str, &[u8])> = headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
    let answer = http::post(gateway.ingress, "/office", &headers, r#"{"id":"1"}"#).await.expect("an answer");
    answer.status.as_u16()
}

#[tokio::test]
async fn listed_proxies_say_for_whom_they_speak_and_nothing_before_them_is_believed() {
    let database = Database::new(Engine::Sqlite).await;
    let gateway = gateway(&database, r#"trusted_proxies = ["127.0.0.0/8", "10.1.0.0/16"]"#).await;
    for (chain, expected) in [
        (&["203.0.113.7"][..], 200),
        (&["203.0.113.7, 10.1.2.3"], 200),
        (&["203.0.113.7", "10.1.2.3,127.0.0.1"], 200),
        (&["203.0.113.7:4711"], 200),
        (&["[2001:db8::1]:4711"], 200),
        (&["2001:db8::1"], 200),
        (&["::ffff:203.0.113.7"], 200),
        // Written by the client itself; the proxy appended another address.
        (&["203.0.113.7, 198.51.100.1"], 401),
        (&["203.0.113.7", "198.51.100.1"], 401),
        (&["203.0.113.7, 10.2.0.1"], 401),
        (&["203.0.113.7, "], 401),
        (&["203.0.113.7, unknown"], 401),
        (&["10.1.2.3"], 401),
        (&[""], 401),
        (&[], 401),
    ] {
        let chain_headers = chain.iter().map(|value| ("x-forwarded-for", *value));
        let headers: Vec<(&str, &str)> = [("x-token", TOKEN)].into_iter().chain(chain_headers).collect();
        assert_eq!(status(&gateway, &headers).await, expected, "{chain:?}");
    }
    assert_eq!(status(&gateway, &[("x-client-dn", TOKEN)]).await, 200);
    assert_eq!(status(&gateway, &[("x-client-dn", "CN=other")]).await, 401);
    assert_eq!(status(&gateway, &[("x-client-dn", TOKEN), ("x-client-dn", TOKEN)]).await, 401);
}

#[tokio::test]
async fn without_listed_proxies_only_the_connection_tells_who_it_is() {
    let database = Database::new(Engine::Sqlite).await;
    let gateway = gateway(&database, "").await;
    let headers = [("x-token", TOKEN), ("x-forwarded-for", "203.0.113.7")];
    assert_eq!(status(&gateway, &headers).await, 401);
    assert_eq!(status(&gateway, &[("x-client-dn", TOKEN)]).await, 401);
}
