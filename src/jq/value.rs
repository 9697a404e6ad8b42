//! jaq's JSON value behind the meter: how large and how deep a value can be at most is known before it is made.

use std::cmp::Ordering;
use std::fmt;
use std::io;

use jaq_core::Error;
use jaq_json::{Map, Num, Rc, Val};

use super::meter::{self, DEPTH, SIZE, Stop, spend};

/// What a value in an array or object takes, in bytes, with its share of the container.
const ENTRY: u64 = 64;

/// A value. `depth` and `size` are upper bounds: a part of a value inherits those of the whole.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) val: Val,
    pub(super) depth: u32,
    pub(super) size: u32,
}

pub(super) type Result<T = Value> = std::result::Result<T, Error<Value>>;

impl Value {
    /// A value of its own, without parts, or one whose size is not known yet.
    pub(super) fn of(val: Val) -> Self {
        Self::bounded(val, u32::MAX, u32::MAX)
    }

    /// A value that was made just now and is, at most, so deep and so large.
    pub(super) fn bounded(val: Val, depth: u32, size: u32) -> Self {
        let (depth, size) = match &val {
            Val::Null | Val::Bool(_) | Val::Num(Num::Int(_) | Num::Float(_)) => (0, 1),
            Val::Num(_) => (0, 4),
            Val::TStr(text) | Val::BStr(text) => (0, weight(text.len())),
            Val::Arr(_) | Val::Obj(_) if depth > DEPTH || size > SIZE => weigh(&val, 0),
            Val::Arr(_) | Val::Obj(_) => (depth, size),
        };
        if size > SIZE {
            meter::stop(Stop::Size);
        }
        Self { val, depth, size }
    }

    /// The bounds alone.
    pub(super) fn outline(&self) -> Self {
        Self { val: Val::Null, ..*self }
    }

    /// A part of this value.
    pub(super) fn part(&self, val: Val) -> Self {
        Self::bounded(val, self.depth.saturating_sub(1), self.size)
    }

    /// A value made of parts of this one and of `other`.
    pub(super) fn joined(val: Val, bounds: (u32, u32), other: (u32, u32)) -> Self {
        Self::bounded(val, bounds.0.max(other.0), bounds.1.saturating_add(other.1))
    }

    pub(super) fn bounds(&self) -> (u32, u32) {
        (self.depth, self.size)
    }

    /// An array of these.
    pub(super) fn array(values: impl IntoIterator<Item = Self>) -> Self {
        let (mut depth, mut size) = (0, 1_u32);
        let mut all = Vec::new();
        for value in values {
            spend(1, ENTRY);
            depth = depth.max(value.depth + 1);
            size = size.saturating_add(value.size);
            all.push(value.val);
        }
        Self::bounded(Val::Arr(Rc::new(all)), depth, size)
    }

    /// An object of these.
    pub(super) fn object(entries: impl IntoIterator<Item = (Self, Self)>) -> Self {
        let (mut depth, mut size) = (0, 1_u32);
        let mut all = Map::default();
        for (key, value) in entries {
            spend(1, 2 * ENTRY);
            depth = depth.max(key.depth + 1).max(value.depth + 1);
            size = size.saturating_add(key.size).saturating_add(value.size);
            all.insert(key.val, value.val);
        }
        Self::bounded(Val::obj(all), depth, size)
    }

    /// Steps and bytes for copying the value's own level, which happens where it is shared.
    pub(super) fn copied(&self) {
        match &self.val {
            Val::Arr(all) => spend(1 + all.len() as u64 / 8, shared(all) * ENTRY * all.len() as u64),
            Val::Obj(all) => spend(1 + all.len() as u64 / 8, shared(all) * 2 * ENTRY * all.len() as u64),
            Val::TStr(text) | Val::BStr(text) => spend(1 + text.len() as u64 / 256, text.len() as u64),
            _ => spend(1, 0),
        }
    }

    /// The kind of value, for messages: they do not hold what the event says.
    pub(super) fn kind(&self) -> &'static str {
        match &self.val {
            Val::Null => "null",
            Val::Bool(_) => "boolean",
            Val::Num(_) => "number",
            Val::BStr(_) | Val::TStr(_) => "string",
            Val::Arr(_) => "array",
            Val::Obj(_) => "object",
        }
    }

    /// As compact JSON, if it is not longer than `limit`.
    pub(super) fn json(&self, limit: usize) -> Option<Vec<u8>> {
        let mut text = Limited { text: Vec::new(), limit };
        jaq_json::write::write(&mut text, &jaq_json::write::Pp::default(), 0, &self.val).ok()?;
        Some(text.text)
    }

    /// As compact JSON, at the expense of the budget.
    pub(super) fn text(&self) -> Vec<u8> {
        let Some(text) = self.json(16 << 20) else { meter::stop(Stop::Bytes) };
        spend(1 + text.len() as u64 / 64, text.len() as u64);
        text
    }
}

/// An error that says kinds instead of values.
pub(super) fn error(text: &str) -> Error<Value> {
    Error::new(Value::of(Val::utf8_str(text.to_owned().into_bytes())))
}

fn shared<T>(all: &Rc<T>) -> u64 {
    u64::from(Rc::strong_count(all) > 1)
}

fn weight(bytes: usize) -> u32 {
    u32::try_from(bytes / 16 + 1).unwrap_or(u32::MAX)
}

/// The real depth and size. A value that is too deep or too large ends the evaluation before the walk is long.
fn weigh(val: &Val, above: u32) -> (u32, u32) {
    let mut whole = (0, 1_u32);
    let mut add = |val: &Val| {
        let (depth, size) = match val {
            Val::Arr(_) | Val::Obj(_) if above >= DEPTH => meter::stop(Stop::Depth),
            Val::Arr(_) | Val::Obj(_) => weigh(val, above + 1),
            Val::TStr(text) | Val::BStr(text) => (0, weight(text.len())),
            _ => (0, 1),
        };
        spend(1, 0);
        whole = (whole.0.max(depth + 1), whole.1.saturating_add(size));
    };
    match val {
        Val::Arr(all) => all.iter().for_each(add),
        Val::Obj(all) => all.iter().for_each(|(key, value)| {
            add(key);
            add(value);
        }),
        _ => {}
    }
    whole
}

struct Limited {
    text: Vec<u8>,
    limit: usize,
}

impl io::Write for Limited {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if more.len() > self.limit - self.text.len() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.text.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.text()))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        meter::step();
        self.val.cmp(&other.val)
    }
}
