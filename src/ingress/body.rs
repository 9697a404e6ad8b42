//! Reads a body to its end, within a size, a time, a pace, and the memory that all requests share.

use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http_body::Body;
use http_body_util::BodyExt as _;
use tokio::time::{Instant, sleep};

use super::limits::Pace;
use super::memory::Share;
use super::refusal::Refusal;

/// What one body may be.
pub(super) struct Bounds {
    /// Its size in bytes.
    pub(super) size: usize,
    /// From the end of the headers to its own end.
    pub(super) time: Duration,
    pub(super) pace: Pace,
}

/// The whole body as it came over the wire. A declared length above the bound is refused before a byte is read (and
/// before `100 Continue`); an undeclared one as soon as it is reached. Memory is taken from `share` for what has come,
/// not for what was announced.
pub(super) async fn read<B>(mut body: B, bounds: &Bounds, share: &mut Share) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes> + Unpin,
{
    let expected = body.size_hint();
    if expected.lower() > bounds.size as u64 {
        return Err(Refusal::TooLarge { limit: bounds.size });
    }
    let most = expected.upper().and_then(|upper| usize::try_from(upper).ok());
    let mut buffer = Buffer { bytes: Vec::new(), most: most.unwrap_or(bounds.size), limit: bounds.size };
    let mut seen = 0;
    let mut late = pin!(sleep(bounds.time));
    let mut look = pin!(sleep(bounds.pace.period));
    loop {
        tokio::select! {
            frame = body.frame() => match frame {
                None => return Ok(buffer.bytes.into()),
                Some(Err(_)) => return Err(Refusal::BodyBroken),
                // What is no data are trailers, which nobody signs.
                Some(Ok(frame)) => if let Ok(data) = frame.into_data() {
                    buffer.append(&data, share)?;
                },
            },
            () = late.as_mut() => return Err(Refusal::BodyTimeout),
            () = look.as_mut() => {
                if buffer.bytes.len() - seen < bounds.pace.bytes {
                    return Err(Refusal::BodyTimeout);
                }
                seen = buffer.bytes.len();
                look.as_mut().reset(Instant::now() + bounds.pace.period);
            }
        }
    }
}

/// What has come. It is copied together at once: a frame of one byte may keep the whole buffer alive that it was read
/// into.
struct Buffer {
    bytes: Vec<u8>,
    /// The size that was announced, else the limit.
    most: usize,
    limit: usize,
}

impl Buffer {
    fn append(&mut self, data: &[u8], share: &mut Share) -> Result<(), Refusal> {
        let (length, capacity) = (self.bytes.len() + data.len(), self.bytes.capacity());
        if length > self.limit {
            return Err(Refusal::TooLarge { limit: self.limit });
        }
        if length > capacity {
            let wanted = (capacity * 2).min(self.most).max(length);
            share.take(wanted - capacity)?;
            self.bytes.reserve_exact(wanted - self.bytes.len());
        }
        self.bytes.extend_from_slice(data);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;
    use http_body::Frame;
    use http_body_util::{Full, StreamBody};

    use super::*;
    use crate::ingress::memory::Memory;

    const KIB: usize = 1024;
    const MINUTE: Duration = Duration::from_mins(1);

    fn bounds(size: usize) -> Bounds {
        Bounds { size, time: MINUTE, pace: Pace { period: MINUTE, bytes: 1 } }
    }

    fn full(size: usize) -> Full<Bytes> {
        Full::new(vec![b'x'; size].into())
    }

    /// A body without a declared length, one byte at a time; it never ends.
    fn dribble(pause: Duration) -> impl Body<Data = Bytes, Error = Infallible> + Unpin {
        StreamBody::new(Box::pin(stream::unfold((), move |()| async move {
            sleep(pause).await;
            Some((Ok(Frame::data(Bytes::from_static(b"x"))), ()))
        })))
    }

    #[tokio::test]
    async fn all_bodies_together_take_no_more_than_the_memory_there_is() {
        let (memory, bounds) = (Memory::new(8 * KIB), bounds(64 * KIB));
        let (mut first, mut second, mut third) = (memory.share(), memory.share(), memory.share());
        assert_eq!(read(full(6 * KIB), &bounds, &mut first).await.unwrap().len(), 6 * KIB);
        assert_eq!(read(full(3 * KIB), &bounds, &mut second).await, Err(Refusal::Overloaded));
        assert_eq!(read(full(2 * KIB), &bounds, &mut second).await.unwrap().len(), 2 * KIB);
        assert_eq!(read(full(1), &bounds, &mut third).await, Err(Refusal::Overloaded));
        drop(first);
        assert_eq!(read(full(6 * KIB), &bounds, &mut third).await.unwrap().len(), 6 * KIB);
    }

    #[tokio::test]
    async fn a_body_takes_memory_for_what_has_come_until_it_is_refused() {
        let (memory, bounds) = (Memory::new(8 * KIB), bounds(64 * KIB));
        let mut share = memory.share();
        assert_eq!(read(dribble(Duration::ZERO), &bounds, &mut share).await, Err(Refusal::Overloaded));
        drop(share);
        assert!(memory.share().take(8 * KIB).is_ok(), "all of it was given back");
    }

    #[tokio::test]
    async fn a_body_that_comes_too_slowly_is_ended_long_before_its_time() {
        let memory = Memory::new(8 * KIB);
        let pace = Pace { period: Duration::from_millis(50), bytes: 1000 };
        let bounds = Bounds { pace, ..bounds(64 * KIB) };
        let read = read(dribble(Duration::from_millis(5)), &bounds, &mut memory.share()).await;
        assert_eq!(read, Err(Refusal::BodyTimeout));
    }
}
