//! What an answer means.

use std::time::Duration;

use super::fixture::{Server, destination, ending, forward, send, status};

#[tokio::test]
async fn each_status_means_taken_again_or_never() {
    let taken = [200, 201, 202, 204, 299];
    let again = [302, 303, 307, 408, 409, 421, 423, 425, 429, 500, 501, 502, 503, 504, 507, 599];
    let never =
        [300, 301, 304, 305, 308, 400, 401, 403, 404, 405, 406, 410, 411, 413, 414, 415, 418, 422, 431, 451];
    let all = [(&taken[..], "succeeded"), (&again[..], "failed"), (&never[..], "rejected")];
    for (code, outcome) in
        all.iter().flat_map(|(codes, outcome)| codes.iter().map(move |code| (*code, *outcome)))
    {
        let server = Server::start(status(code, "")).await;
        let attempt = send(&destination(&server.url()), &forward("{}", &[])).await;
        let error = (outcome != "succeeded").then(|| format!("status.{code}"));
        assert_eq!(ending(&attempt), (outcome, error.as_deref(), Some(code)));
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    for code in [301, 302, 303, 307, 308] {
        let elsewhere = Server::start(status(200, "")).await;
        let server = Server::start(status(code, &format!("location: {}\r\n", elsewhere.url()))).await;
        let attempt = send(&destination(&server.url()), &forward("{}", &[])).await;
        assert_eq!(attempt.status, Some(code));
        assert_eq!(server.requests().len(), 1);
        assert_eq!(elsewhere.connections(), 0);
    }
}

#[tokio::test]
async fn what_the_destination_asks_for_with_retry_after_is_passed_on() {
    for (code, header, expected) in [
        (429, "retry-after: 120\r\n", Some(120)),
        (503, "retry-after: Sun, 01 Mar 2026 12:00:30 GMT\r\n", Some(30)),
        (503, "retry-after: Sun, 01 Mar 2026 11:00:00 GMT\r\n", Some(0)),
        (429, "retry-after: soon\r\n", None),
        (429, "", None),
        (200, "retry-after: 120\r\n", None),
    ] {
        let server = Server::start(status(code, header)).await;
        let attempt = send(&destination(&server.url()), &forward("{}", &[])).await;
        assert_eq!(attempt.retry_after, expected.map(Duration::from_secs), "{code} {header}");
    }
}
