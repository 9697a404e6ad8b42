//! Places where a test may end the process, to prove what a crash exactly there leaves behind.
//!
//! A debug build that finds `HOOKGATE_CRASH_AT=process.before_commit` in its environment aborts when it comes to that
//! place: no destructor runs, nothing is flushed, no connection is closed politely. `process.before_commit:3` aborts
//! at the third passing. A release build has none of this: [`reach`] is empty there.
//!
//! The names in use are the arguments of the calls; `tests/end_to_end` goes through all of them.

/// Ends the process if the environment asks for it here.
#[inline]
pub fn reach(place: &'static str) {
    #[cfg(debug_assertions)]
    armed::reach(place);
    #[cfg(not(debug_assertions))]
    let _ = place;
}

#[cfg(debug_assertions)]
mod armed {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    struct Armed {
        place: String,
        passings_left: AtomicU32,
    }

    static ARMED: OnceLock<Option<Armed>> = OnceLock::new();

    pub(super) fn reach(place: &'static str) {
        let Some(armed) = ARMED.get_or_init(read) else { return };
        if armed.place == place && armed.passings_left.fetch_sub(1, Ordering::SeqCst) == 1 {
            std::process::abort();
        }
    }

    fn read() -> Option<Armed> {
        let text = std::env::var("HOOKGATE_CRASH_AT").ok()?;
        let (place, passing) = text.split_once(':').unwrap_or((&text, "1"));
        Some(Armed { place: place.to_owned(), passings_left: AtomicU32::new(passing.parse().unwrap_or(1)) })
    }
}
