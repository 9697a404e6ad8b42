//! The kinds of event that a story is made of.

use rand::RngExt as _;
use rand::rngs::StdRng;

use super::history::Due;

/// What is odd about an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing. Forwarded to `crm`.
    Plain,
    /// Its destination often answers after our patience, so that copies are sent.
    Late,
    /// Its destination is a black hole for most of the time.
    Hole,
    /// Its handler is slow.
    Slow,
    /// Its handler fails whenever it runs.
    Doomed,
    /// Its handlers end the process whenever they run.
    Poison,
}

/// The event type at which a gateway of a story ends itself.
pub const POISON: &str = "chaos.poison";

impl Kind {
    /// One of those that come by chance.
    pub fn any(random: &mut StdRng) -> Self {
        match random.random_range(0..100) {
            0..70 => Self::Plain,
            70..82 => Self::Late,
            82..92 => Self::Hole,
            92..99 => Self::Slow,
            _ => Self::Doomed,
        }
    }

    /// As the event names it.
    pub fn event_type(self) -> &'static str {
        match self {
            Self::Plain => "chaos.plain",
            Self::Late => "chaos.late",
            Self::Hole => "chaos.hole",
            Self::Slow => "chaos.slow",
            Self::Doomed => "chaos.doomed",
            Self::Poison => POISON,
        }
    }

    /// What is to become of it, by the routes of [`super::setting`].
    pub fn due(self) -> Due {
        let forwards: &[&str] = match self {
            Self::Plain => &["crm"],
            Self::Late => &["late"],
            Self::Hole => &["crm", "hole"],
            Self::Slow | Self::Doomed | Self::Poison => &[],
        };
        Due {
            forwards: forwards.iter().map(|name| (*name).to_owned()).collect(),
            hopeless: self.needs_a_worker(),
        }
    }

    /// Hopeless work is for `async` endpoints: a `sync` one tells the provider of it and keeps nothing.
    pub fn needs_a_worker(self) -> bool {
        matches!(self, Self::Doomed | Self::Poison)
    }
}
