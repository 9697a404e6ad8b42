//! The memory that all requests together may take, from their headers to the end of the work on them.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::refusal::Refusal;

/// Memory is counted in units of this many bytes, so that a semaphore can count it.
const UNIT: usize = 1024;

/// What is left for requests.
pub(super) struct Memory(Arc<Semaphore>);

impl Memory {
    /// `bytes` for all requests together.
    pub(super) fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes / UNIT)))
    }

    /// One request's share, which is empty at first.
    pub(super) fn share(&self) -> Share {
        Share { memory: Arc::clone(&self.0), bytes: 0, units: 0 }
    }
}

/// What one request has taken; it is given back when this is dropped.
pub(super) struct Share {
    memory: Arc<Semaphore>,
    bytes: usize,
    units: usize,
}

impl Share {
    /// Takes so many more bytes, or nothing: it does not wait, since whoever waits holds what it has.
    pub(super) fn take(&mut self, bytes: usize) -> Result<(), Refusal> {
        let total = self.bytes.saturating_add(bytes);
        let more = total.div_ceil(UNIT) - self.units;
        let wanted = u32::try_from(more).map_err(|_| Refusal::Overloaded)?;
        self.memory.try_acquire_many(wanted).map_err(|_| Refusal::Overloaded)?.forget();
        self.bytes = total;
        self.units += more;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.memory.add_permits(self.units);
    }
}
