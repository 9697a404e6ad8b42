//! Reading single values out of an event's JSON.

use std::fmt;

use serde::Deserializer as _;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::HandlerError;
use crate::clock::Timestamp;
use crate::model::Event;

/// An event as JSON, from which single values are read by JSON pointer (RFC 6901).
///
/// Nothing is built but the value asked for, and the rest of the body has no say: a number beyond every range or
/// a hundred levels of nesting elsewhere do no harm. Of repeated keys the last one counts, as in `jsonb`.
#[derive(Clone, Copy)]
pub struct Payload<'a>(&'a RawValue);

impl<'a> Payload<'a> {
    /// The event's JSON, also of one that stands in a form or is XML.
    ///
    /// # Errors
    /// Permanent, `handler.payload`: it is no JSON.
    pub fn of(event: &'a Event) -> Result<Self, HandlerError> {
        Ok(Self(serde_json::from_slice(event.json())?))
    }

    /// The text at `pointer`; `None` if there is nothing or `null`. A text with the character NUL is none, since
    /// PostgreSQL has no room for it.
    ///
    /// # Errors
    /// Permanent, `handler.payload.NAME` with the pointer's last part: there is something else.
    pub fn optional_text(&self, pointer: &str) -> Result<Option<String>, HandlerError> {
        let parse = |raw: &RawValue| {
            serde_json::from_str(raw.get()).ok().filter(|text: &String| !text.contains('\0'))
        };
        self.read(pointer, "a text", parse)
    }

    /// The text at `pointer`.
    ///
    /// # Errors
    /// Permanent, `handler.payload.NAME` with the pointer's last part: there is none.
    pub fn text(&self, pointer: &str) -> Result<String, HandlerError> {
        self.optional_text(pointer)?.ok_or_else(|| missing(pointer, "a text"))
    }

    /// The 64-bit integer at `pointer`.
    ///
    /// # Errors
    /// Permanent, `handler.payload.NAME` with the pointer's last part: there is none.
    pub fn bigint(&self, pointer: &str) -> Result<i64, HandlerError> {
        self.read(pointer, "an integer", |raw| raw.get().parse().ok())?
            .ok_or_else(|| missing(pointer, "an integer"))
    }

    /// The time in Unix seconds at `pointer`; `None` if there is nothing or `null`.
    ///
    /// # Errors
    /// Permanent, `handler.payload.NAME` with the pointer's last part: there is something else.
    pub fn optional_unix_time(&self, pointer: &str) -> Result<Option<Timestamp>, HandlerError> {
        let parse = |raw: &RawValue| Timestamp::from_timestamp(raw.get().parse().ok()?, 0);
        self.read(pointer, "a time in Unix seconds", parse)
    }

    /// The value at `pointer` as it stands in the body; `None` if there is nothing or `null`.
    #[must_use]
    pub fn get(&self, pointer: &str) -> Option<&'a RawValue> {
        let mut at = self.0;
        if !pointer.is_empty() {
            for part in pointer.strip_prefix('/')?.split('/') {
                at = child(at, &part.replace("~1", "/").replace("~0", "~"))?;
            }
        }
        (at.get() != "null").then_some(at)
    }

    fn read<T>(
        &self,
        pointer: &str,
        what: &str,
        parse: impl FnOnce(&RawValue) -> Option<T>,
    ) -> Result<Option<T>, HandlerError> {
        let Some(raw) = self.get(pointer) else { return Ok(None) };
        parse(raw).map(Some).ok_or_else(|| missing(pointer, what))
    }
}

fn missing(pointer: &str, what: &str) -> HandlerError {
    let name = pointer.rsplit('/').next().unwrap_or(pointer);
    HandlerError::permanent(
        format!("handler.payload.{name}"),
        format!("the payload has not {what} at {pointer}"),
    )
}

/// The member or element called `name`.
fn child<'a>(parent: &'a RawValue, name: &str) -> Option<&'a RawValue> {
    let mut json = serde_json::Deserializer::from_str(parent.get());
    json.deserialize_any(Child(name)).ok().flatten()
}

/// Walks over one object or array and keeps the wanted child's bytes.
struct Child<'n>(&'n str);

impl<'de> Visitor<'de> for Child<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(wanted) = map.next_key_seed(Is(self.0))? {
            if wanted {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let wanted = self.0.parse::<usize>().ok().filter(|index| index.to_string() == self.0);
        let mut found = None;
        let mut index = 0;
        while let Some(element) = elements.next_element::<&RawValue>()? {
            if Some(index) == wanted {
                found = Some(element);
            }
            index += 1;
        }
        Ok(found)
    }
}

/// Whether a key is the wanted one, without keeping it.
struct Is<'n>(&'n str);

impl<'de> DeserializeSeed<'de> for Is<'_> {
    type Value = bool;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Is<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.0)
    }
}
