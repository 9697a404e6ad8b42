//! One question: a message goes to a destination once, while a provider waits, and the answer comes back.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http::response::Parts;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use tokio::sync::Semaphore;

use super::answer;
use super::classify;
use super::dispatcher::log;
use super::http::Http;
use super::letterhead::Letterhead;
use super::open::{DestinationError, Opener};
use crate::clock::Clock;
use crate::config::Config;
use crate::egress::{self, Fault, Network};
use crate::model::{Answer, Asked, Attempt, AttemptOutcome, Message};

/// A longer answer is none. All answers of a destination together take `concurrency` times as much memory.
pub const MAX_ANSWER: usize = 1024 * 1024;

/// From the look-up of the name to the end of the TLS handshake: a destination that is asked while a provider waits is
/// near, and one that is not reached must be told from one that gives no answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Asks the destinations of proxy endpoints.
pub struct Asker {
    lines: HashMap<Arc<str>, Line>,
    /// Names of the headers that carry a provider's signature, by provider.
    signature_headers: HashMap<Arc<str>, Vec<String>>,
    clock: Arc<dyn Clock>,
}

/// One destination, and the hands that are free for questions to it.
struct Line {
    letterhead: Letterhead,
    http: Http,
    hands: Semaphore,
}

impl Asker {
    /// Makes the destinations ready that answer for endpoints of the config.
    ///
    /// # Errors
    /// As [`super::Dispatcher::new`].
    pub fn new(config: &Config, clock: Arc<dyn Clock>) -> Result<Self, DestinationError> {
        let network = Network { connect_timeout: CONNECT_TIMEOUT, ..Network::default() };
        let opener = Opener::new(&network);
        let mut asker = Self { lines: HashMap::new(), signature_headers: HashMap::new(), clock };
        for endpoint in config.endpoints.values() {
            let Some(name) = endpoint.proxied() else { continue };
            let provider = &endpoint.provider;
            asker.signature_headers.insert(Arc::clone(provider.id()), provider.signature_headers().to_vec());
            let Some(destination) = config.destinations.get(&**name) else { continue };
            if !asker.lines.contains_key(name) {
                let (letterhead, http) = (Letterhead::new(destination)?, opener.http(destination)?);
                let hands = Semaphore::new(destination.concurrency);
                asker.lines.insert(Arc::clone(name), Line { letterhead, http, hands });
            }
        }
        Ok(asker)
    }

    /// Makes one request of one message and says how it ended, at most `limit` later. It writes the
    /// `delivery.succeeded` or `delivery.failed` line; nothing is recorded here.
    pub async fn ask(&self, message: &Message, attempt: i32, limit: Duration) -> Asked {
        let now = self.clock.now();
        let started = Instant::now();
        let mut may_have_arrived = false;
        let ending = match self.lines.get(&message.destination) {
            Some(line) => {
                let signature = self.signature_headers.get(&message.key.provider);
                let signature = signature.map(Vec::as_slice).unwrap_or_default();
                let request = line.http.request(&line.letterhead.prepare(message, signature, attempt, now));
                exchange(line, request, limit, &mut may_have_arrived).await
            }
            None => Err(Fault {
                code: "destination.unknown",
                detail: "it is not in this process's config".into(),
            }),
        };
        let (attempt_made, answer, detail) = judge(ending, started.elapsed());
        log(message, attempt, &attempt_made, &detail);
        Asked { attempt: attempt_made, answer, may_have_arrived }
    }
}

/// `may_have_arrived` is set once the request may be on its way, and taken back if it certainly was not.
async fn exchange(
    line: &Line,
    request: Request<Full<Bytes>>,
    limit: Duration,
    may_have_arrived: &mut bool,
) -> Result<(Parts, Bytes), Fault> {
    let limit = limit.min(line.http.timeout);
    let late = || Fault { code: "timeout", detail: format!("no answer within {limit:?}") };
    let deadline = Instant::now() + limit;
    let Some(Ok(_hand)) = egress::within(limit, line.hands.acquire()).await else {
        return Err(Fault { code: "saturated", detail: "all its `concurrency` was in use".into() });
    };
    let left = || deadline.saturating_duration_since(Instant::now());
    *may_have_arrived = true;
    let sent = egress::within(left(), line.http.client.send(request)).await.ok_or_else(late)?;
    let reply = sent.map_err(|error| {
        *may_have_arrived = !error.is_connect();
        egress::fault(&error)
    })?;
    let (head, body) = reply.into_parts();
    if head.status.is_informational() {
        return Err(Fault { code: "protocol", detail: format!("the status {} is no answer", head.status) });
    }
    let body = egress::within(left(), read(body)).await.ok_or_else(late)??;
    Ok((head, body))
}

/// The whole body, or nothing.
async fn read(mut body: Incoming) -> Result<Bytes, Fault> {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Fault { code: "closed", detail: error.to_string() })?;
        let Some(data) = frame.data_ref() else { continue };
        if whole.len() + data.len() > MAX_ANSWER {
            let detail = format!("its body is longer than {MAX_ANSWER} bytes");
            return Err(Fault { code: "answer.too_large", detail });
        }
        whole.extend_from_slice(data);
    }
    Ok(whole.freeze())
}

fn judge(ending: Result<(Parts, Bytes), Fault>, duration: Duration) -> (Attempt, Option<Answer>, String) {
    let attempt = |outcome, status: Option<StatusCode>, error| Attempt {
        outcome,
        status: status.map(|status| status.as_u16()),
        error,
        duration,
        retry_after: None, // nobody but the provider sends it again
    };
    match ending {
        Ok((head, body)) => {
            let outcome = classify::outcome(head.status);
            let failed = outcome != AttemptOutcome::Succeeded;
            let error = failed.then(|| format!("status.{}", head.status.as_u16()));
            let headers = answer::headers(&head.headers);
            let answer = Answer { status: head.status.as_u16(), headers, body };
            (attempt(outcome, Some(head.status), error), Some(answer), String::new())
        }
        Err(Fault { code, detail }) => {
            (attempt(AttemptOutcome::Failed, None, Some(code.into())), None, detail)
        }
    }
}
