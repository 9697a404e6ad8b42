//! Which rows an operator means.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;

/// Conditions, all of which must hold. One that a table has no column for does not narrow it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// The provider's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The endpoint's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The event's type; `*` stands for any text.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    /// Where the row stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// Received (messages: written) at this moment or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Received (messages: written) before this moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The event's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The message's destination; of events: those that have a message for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination: Option<String>,
    /// Of requests in quarantine: why they are there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Where a row stands, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Waits for its first or next attempt.
    Pending,
    /// A worker has it in hand.
    Leased,
    /// Done; of a message: taken by its destination.
    Processed,
    /// Done: nobody wanted it.
    Ignored,
    /// Done: a newer event of the same key was there before.
    Superseded,
    /// Done, and a person must look.
    Flagged,
    /// Not done, and not tried again before a person looks.
    Dead,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::Leased,
        Self::Processed,
        Self::Ignored,
        Self::Superseded,
        Self::Flagged,
        Self::Dead,
    ];

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Leased => "leased",
            Self::Processed => "processed",
            Self::Ignored => "ignored",
            Self::Superseded => "superseded",
            Self::Flagged => "flagged",
            Self::Dead => "dead",
        }
    }
}

impl FromStr for State {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|state| state.as_str() == word).ok_or_else(|| {
            let words = Self::ALL.map(Self::as_str).join(", ");
            format!("no such state; expected one of {words}")
        })
    }
}

/// The two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum QueueName {
    /// Events.
    Inbox,
    /// Messages.
    Outbox,
}

impl QueueName {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inbox => "inbox",
            Self::Outbox => "outbox",
        }
    }
}

/// A part of a list.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Go on behind this row.
    pub after: Option<Cursor>,
    /// Rows at most.
    pub limit: u32,
}

/// Rows of a list, and where it goes on, if it does.
#[derive(Clone, Debug)]
pub struct Listed<T> {
    /// In the list's order.
    pub rows: Vec<T>,
    /// For [`Page::after`].
    pub next: Option<Cursor>,
}

/// A place in a list: its order's columns, so that going on costs the same however far the list has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The moment, in microseconds; zero where the list is in the order of numbers.
    pub(super) at: i64,
    /// 1 in the inbox, 0 elsewhere: orders rows of two tables and of one moment.
    pub(super) rank: i64,
    /// The row's own number.
    pub(super) number: i64,
}

impl Cursor {
    pub(super) fn new(at: Timestamp, rank: i64, number: i64) -> Self {
        Self { at: at.timestamp_micros(), rank, number }
    }

    pub(super) fn time(self) -> Timestamp {
        Timestamp::from_timestamp_micros(self.at).unwrap_or_default()
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.at, self.rank, self.number)
    }
}

impl FromStr for Cursor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Option<Vec<i64>> = text.split('.').map(|part| part.parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[at, rank, number]) => Ok(Self { at, rank, number }),
            _ => Err("expected what a list printed as where it goes on".into()),
        }
    }
}
