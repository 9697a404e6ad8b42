//! From a receipt to the HTTP reply that the provider expects. Every text in it is fixed or the provider's own.

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use http::{HeaderMap, Response, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};
use uuid::Uuid;

use super::refusal::Refusal;
use crate::model::{Answer, Outcome, Reason, Reply};
use crate::provider::Provider;
use crate::receive::{EventReceipt, Fault, Receipt};

/// A reply, complete.
pub(super) type HttpReply = Response<Full<Bytes>>;

/// On every reply, for scripts and dashboards.
const OUTCOME: HeaderName = HeaderName::from_static("x-hookgate-outcome");
/// On every reply. It is `webhook_inbox.request_id`, it stands in the log, and without it the answer is not ours.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// When to come back after a 503, in seconds.
const COME_BACK: HeaderValue = HeaderValue::from_static("5");

/// The reply to a request that the receiver took.
pub(super) fn to_receipt(receipt: &Receipt, provider: &Provider) -> HttpReply {
    if let Some(answer) = &receipt.answer {
        return marked(from_answer(answer), receipt.outcome, receipt.request_id);
    }
    let reply = match receipt.outcome {
        Outcome::Rejected => rejected(receipt, provider),
        Outcome::Error => failed(receipt),
        outcome => receipt
            .reply
            .clone()
            .or_else(|| provider.reply(outcome))
            .map_or_else(|| json_reply(StatusCode::OK, "application/json", &summary(receipt)), from_reply),
    };
    marked(reply, receipt.outcome, receipt.request_id)
}

/// The reply to a request that did not reach the receiver; `receipt` is [`Refusal::receipt`].
pub(super) fn to_refusal(refusal: Refusal, receipt: &Receipt, provider: &Provider) -> HttpReply {
    let detail = refusal.detail();
    let mut reply = problem(refusal.status(), refusal.title(), detail.as_deref());
    if refusal == Refusal::Method {
        let methods = provider.methods().join(", ");
        reply.headers_mut().extend(HeaderValue::try_from(methods).map(|methods| (ALLOW, methods)));
    }
    marked(reply, receipt.outcome, receipt.request_id)
}

/// The reply where there is no endpoint.
pub(super) fn not_found() -> HttpReply {
    marked(problem(StatusCode::NOT_FOUND, "No such path", None), Outcome::Rejected, Uuid::now_v7())
}

/// The reply when the front itself failed.
pub(super) fn crashed() -> HttpReply {
    let refusal = Refusal::Crashed;
    marked(problem(refusal.status(), refusal.title(), None), Outcome::Error, Uuid::now_v7())
}

fn rejected(receipt: &Receipt, provider: &Provider) -> HttpReply {
    let Some(rejection) = &receipt.rejection else {
        return problem(StatusCode::BAD_REQUEST, "The request was not accepted", None);
    };
    let status =
        StatusCode::from_u16(provider.rejection_status(rejection.reason)).unwrap_or(StatusCode::BAD_REQUEST);
    // Whoever cannot sign learns the same from all of these: not which part of the proof was missing.
    let title = match rejection.reason {
        Reason::WrongEnvironment => "The event belongs to another environment than this endpoint",
        Reason::MalformedBody => "The request is genuine, but its body cannot be read",
        Reason::NoEventId => "The request is genuine, but it holds no event id",
        Reason::KeyUnavailable => "The provider's key could not be fetched, please send it again",
        Reason::RateLimited => "Too many rejected requests",
        _ => "The request could not be verified",
    };
    let mut reply = if provider.rejects_without_body() {
        let mut reply = Response::new(Full::default());
        *reply.status_mut() = status;
        reply
    } else {
        problem(status, title, None)
    };
    reply.headers_mut().extend(provider.rejection_headers().iter().cloned());
    reply
}

fn failed(receipt: &Receipt) -> HttpReply {
    match &receipt.fault {
        Some(Fault::Destination { is_repeatable: true, .. }) => problem(
            StatusCode::SERVICE_UNAVAILABLE,
            "The destination could not be reached, please send it again",
            None,
        ),
        Some(Fault::Destination { is_repeatable: false, .. }) => {
            problem(StatusCode::BAD_GATEWAY, "The destination gave no answer, and is not asked again", None)
        }
        Some(Fault::Busy { .. }) => problem(
            StatusCode::SERVICE_UNAVAILABLE,
            "The event could not be stored in time, please send it again",
            None,
        ),
        _ => problem(
            StatusCode::INTERNAL_SERVER_ERROR,
            "The event could not be processed, please send it again",
            None,
        ),
    }
}

fn summary(receipt: &Receipt) -> Value {
    let event = |event: &EventReceipt| json!({ "id": event.event_id, "outcome": event.outcome.as_str() });
    json!({
        "outcome": receipt.outcome.as_str(),
        "events": receipt.events.iter().map(event).collect::<Vec<_>>(),
    })
}

/// RFC 9457. <https://www.rfc-editor.org/rfc/rfc9457>
fn problem(status: StatusCode, title: &'static str, detail: Option<&str>) -> HttpReply {
    let mut problem = json!({ "type": "about:blank", "title": title, "status": status.as_u16() });
    if let Some(detail) = detail {
        problem["detail"] = detail.into();
    }
    let mut reply = json_reply(status, "application/problem+json", &problem);
    if status == StatusCode::SERVICE_UNAVAILABLE {
        reply.headers_mut().insert(RETRY_AFTER, COME_BACK);
    }
    reply
}

fn json_reply(status: StatusCode, content_type: &'static str, value: &Value) -> HttpReply {
    let mut reply = Response::new(Full::new(Bytes::from(value.to_string())));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    reply
}

fn from_reply(reply: Reply) -> HttpReply {
    let mut response = Response::new(Full::new(reply.body));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    *response.headers_mut() = reply
        .headers
        .iter()
        .filter_map(|(name, value)| {
            Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?))
        })
        .collect::<HeaderMap>();
    response
}

/// The destination's answer as the provider gets it.
fn from_answer(answer: &Answer) -> HttpReply {
    let mut response = Response::new(Full::new(answer.body.clone()));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::BAD_GATEWAY);
    for (name, value) in answer.headers.iter() {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_bytes(value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}

fn marked(mut reply: HttpReply, outcome: Outcome, request_id: Uuid) -> HttpReply {
    let headers = reply.headers_mut();
    headers.insert(OUTCOME, HeaderValue::from_static(outcome.as_str()));
    headers.extend(HeaderValue::try_from(request_id.to_string()).map(|id| (REQUEST_ID, id)));
    reply
}
