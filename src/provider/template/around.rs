//! What stands around the items of a batch.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;

/// Values of what stands around the items of a batch: read once, not for every item anew.
#[derive(Default)]
pub(crate) struct Around(RefCell<Vec<Known>>);

/// Where a value stands, and what it is.
type Known = (Range<*const u8>, String, Result<Option<Vec<u8>>, String>);

impl Around {
    /// The most that are known at once: an element around some items is not asked for again after them.
    const MOST: usize = 16;

    pub(super) fn value<'a>(
        &self,
        document: &[u8],
        at: &str,
        read: impl FnOnce() -> Result<Option<Cow<'a, [u8]>>, String>,
    ) -> Result<Option<Cow<'a, [u8]>>, String> {
        let place = document.as_ptr_range();
        let known = self.0.borrow().iter().find(|known| known.0 == place && known.1 == at).cloned();
        let value = known.map_or_else(
            || {
                let value = read().map(|value| value.map(Cow::into_owned));
                let mut all = self.0.borrow_mut();
                if all.len() >= Self::MOST {
                    drop(all.remove(0));
                }
                all.push((place, at.to_owned(), value.clone()));
                value
            },
            |(_, _, value)| value,
        );
        Ok(value?.map(Cow::Owned))
    }
}
