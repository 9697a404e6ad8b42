//! Why a request got no answer.

use std::error::Error;
use std::io;

use hyper_util::client::legacy;

use super::http::ConnectTimeout;
use super::resolve::ResolveError;

/// Why no answer came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// For `last_error` and metrics, a closed set: `dns`, `blocked_address`, `connect`, `connect.timeout`, `tls`,
    /// `timeout`, `closed`, `protocol`.
    pub(crate) code: &'static str,
    /// For the log.
    pub(crate) detail: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.detail)
    }
}

/// Names a failure of the exchange by the first cause that says something definite.
pub(crate) fn fault(error: &legacy::Error) -> Fault {
    let code = causes(error).find_map(code).unwrap_or(if error.is_connect() { "connect" } else { "closed" });
    let detail = causes(error).last().map(ToString::to_string).unwrap_or_default();
    Fault { code, detail }
}

fn code(cause: &(dyn Error + 'static)) -> Option<&'static str> {
    if let Some(error) = cause.downcast_ref::<ResolveError>() {
        return Some(match error {
            ResolveError::Blocked(_) => "blocked_address",
            ResolveError::Nothing | ResolveError::Failed(_) => "dns",
        });
    }
    if cause.is::<ConnectTimeout>() {
        return Some("connect.timeout");
    }
    if cause.is::<rustls::Error>() {
        return Some("tls");
    }
    cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse).then_some("protocol")
}

/// An error and all that stands behind it. `io::Error::source` skips the error it wraps, so that one is taken out by
/// hand.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| {
        let error: &'a (dyn Error + 'static) = *error;
        match error.downcast_ref::<io::Error>() {
            Some(io) => io.get_ref().map(|inner| inner as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}
