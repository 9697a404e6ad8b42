//! Places where a test may end the process, to prove what a crash exactly there leaves behind.
//!
//! A debug build that finds `HOOKGATE_CRASH_AT=process.before_commit` in its environment aborts when it comes to that
//! place: no destructor runs, nothing is flushed, no connection is closed politely. `process.before_commit:3` aborts
//! at the third passing, and `process.handlers=user.deleted` at each passing of an event of that type: the poison event,
//! whose handlers end the process whenever they run. A release build has none of this: both functions are empty there.
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

/// Ends the process if the environment asks for it here and for this event type.
#[inline]
pub fn reach_with(place: &'static str, event_type: &str) {
    #[cfg(debug_assertions)]
    armed::reach_with(place, event_type);
    #[cfg(not(debug_assertions))]
    let _ = (place, event_type);
}

#[cfg(debug_assertions)]
mod armed {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Where, and when there.
    struct Armed {
        place: String,
        when: When,
    }

    enum When {
        PassingsLeft(AtomicU32),
        EventType(String),
    }

    static ARMED: OnceLock<Option<Armed>> = OnceLock::new();

    pub(super) fn reach(place: &'static str) {
        if let Some(When::PassingsLeft(left)) = armed_at(place)
            && left.fetch_sub(1, Ordering::SeqCst) == 1
        {
            std::process::abort();
        }
    }

    pub(super) fn reach_with(place: &'static str, event_type: &str) {
        if let Some(When::EventType(poison)) = armed_at(place)
            && poison == event_type
        {
            std::process::abort();
        }
    }

    fn armed_at(place: &str) -> Option<&'static When> {
        let armed = ARMED.get_or_init(read).as_ref()?;
        (armed.place == place).then_some(&armed.when)
    }

    fn read() -> Option<Armed> {
        let text = std::env::var("HOOKGATE_CRASH_AT").ok()?;
        if let Some((place, event_type)) = text.split_once('=') {
            return Some(Armed { place: place.to_owned(), when: When::EventType(event_type.to_owned()) });
        }
        let (place, passing) = text.split_once(':').unwrap_or((&text, "1"));
        let left = AtomicU32::new(passing.parse().unwrap_or(1));
        Some(Armed { place: place.to_owned(), when: When::PassingsLeft(left) })
    }
}
