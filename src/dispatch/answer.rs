//! The head of a destination's answer, as a provider may get it and as it is recorded.

use http::HeaderMap;
use http::header::CONNECTION;

use super::headers::HOP_BY_HOP;
use crate::model::Headers;

/// What speaks of the host that answered, and would be believed of the gateway's: cookies (which are credentials too
/// and would not come back), what binds a browser to a host, other ways to reach it, and when it answered. And what the
/// gateway says itself.
const OF_THE_HOST: [&str; 12] = [
    "age",
    "alt-svc",
    "clear-site-data",
    "date",
    "nel",
    "public-key-pins",
    "report-to",
    "server",
    "set-cookie",
    "set-cookie2",
    "strict-transport-security",
    "x-request-id",
];

/// The headers that go on: all but those of the connection, of the host, and our own.
pub(super) fn headers(map: &HeaderMap) -> Headers {
    let named: Vec<String> = map
        .get_all(CONNECTION)
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(|name| String::from_utf8_lossy(name).trim().to_ascii_lowercase())
        .collect();
    let mut headers = Headers::new();
    for (name, value) in map {
        let name = name.as_str();
        let stays = HOP_BY_HOP.contains(&name)
            || OF_THE_HOST.contains(&name)
            || name.starts_with("x-hookgate-")
            || named.iter().any(|hop| hop == name);
        if !stays {
            headers.push(name, value.as_bytes());
        }
    }
    headers
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn what_is_of_the_connection_or_the_host_stays_behind() {
        let mut map = HeaderMap::new();
        for (name, value) in [
            ("content-type", "text/xml"),
            ("content-length", "3"),
            ("transfer-encoding", "chunked"),
            ("connection", "x-private, Keep-Alive"),
            ("keep-alive", "timeout=5"),
            ("x-private", "1"),
            ("set-cookie", "session=secret"),
            ("strict-transport-security", "max-age=1"),
            ("x-hookgate-outcome", "processed"),
            ("x-slack-no-retry", "1"),
            ("vary", "accept"),
            ("vary", "accept-encoding"),
        ] {
            map.append(name, HeaderValue::from_static(value));
        }
        map.append("x-odd", HeaderValue::from_bytes(b"\xff").unwrap());
        let kept: Vec<(String, Vec<u8>)> =
            headers(&map).iter().map(|(name, value)| (name.to_owned(), value.to_vec())).collect();
        let expected = [
            ("content-type", b"text/xml".to_vec()),
            ("x-slack-no-retry", b"1".to_vec()),
            ("vary", b"accept".to_vec()),
            ("vary", b"accept-encoding".to_vec()),
            ("x-odd", b"\xff".to_vec()),
        ];
        for (name, value) in &expected {
            assert!(kept.contains(&((*name).to_owned(), value.clone())), "{name} goes on");
        }
        assert_eq!(kept.len(), expected.len(), "{kept:?}");
    }
}
