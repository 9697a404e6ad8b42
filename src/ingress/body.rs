//! Reads a body to its end, within a size and a time.

use std::time::Duration;

use bytes::Bytes;
use http_body::Body;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tower::BoxError;

use super::refusal::Refusal;

/// The whole body as it came over the wire. A declared length above `limit` is refused before a byte is read (and
/// before `100 Continue`); an undeclared one as soon as it is reached.
pub(super) async fn read<B>(body: B, limit: usize, time: Duration) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let too_large = Refusal::TooLarge { limit };
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large);
    }
    #[expect(clippy::disallowed_methods, reason = "reading a body holds nothing that a cut could tear")]
    let read = tokio::time::timeout(time, Limited::new(body, limit).collect()).await;
    match read {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large),
        Ok(Err(_)) => Err(Refusal::BodyBroken),
        Err(_) => Err(Refusal::BodyTimeout),
    }
}
