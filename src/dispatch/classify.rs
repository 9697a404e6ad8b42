//! What an answer, or the lack of one, means for the message.

use http::StatusCode;

use crate::model::AttemptOutcome;

/// The rule for statuses:
/// - 2xx: taken.
/// - 5xx: the destination's trouble, which passes.
/// - 408, 409, 421, 423, 425, 429: "not now". 409 is what a receiver answers while it still works on the same
///   idempotency key.
/// - 302, 303, 307: temporary redirects. They are not followed, and they are temporary: another try.
/// - all else, above all 410, other 4xx, and 301 and 308: the request or the URL is wrong, and will be wrong again. A
///   person must look.
pub(super) fn outcome(status: StatusCode) -> AttemptOutcome {
    match status.as_u16() {
        200..=299 => AttemptOutcome::Succeeded,
        500..=599 | 408 | 409 | 421 | 423 | 425 | 429 | 302 | 303 | 307 => AttemptOutcome::Failed,
        _ => AttemptOutcome::Rejected,
    }
}
