//! Strings of a definition that know where they stand in their file.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use toml::Spanned;

/// A string with its place.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Text(Spanned<String>);

impl Text {
    /// The string itself.
    pub(crate) fn as_str(&self) -> &str {
        self.0.get_ref()
    }

    /// Bytes from the file's start.
    pub(crate) fn offset(&self) -> usize {
        self.0.span().start
    }
}

/// One string or a list of them, whose places do not matter.
pub(crate) fn strings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let texts = Texts::deserialize(deserializer)?;
    Ok(texts.iter().map(|text| text.as_str().to_owned()).collect())
}

/// One string or a list of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts(Vec<Text>);

impl Texts {
    /// In their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Text> {
        self.0.iter()
    }

    /// One that stands in no file of definitions.
    pub(crate) fn one(text: &str) -> Self {
        Self(vec![Text(Spanned::new(0..0, text.to_owned()))])
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list = Spanned::<OneOrMany>::deserialize(deserializer)?;
        let span = list.span();
        Ok(Self(match list.into_inner() {
            OneOrMany::One(text) => vec![Text(Spanned::new(span, text))],
            OneOrMany::Many(texts) => texts,
        }))
    }
}

enum OneOrMany {
    One(String),
    Many(Vec<Text>),
}

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = OneOrMany;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of strings")
            }

            fn visit_str<E>(self, text: &str) -> Result<OneOrMany, E> {
                Ok(OneOrMany::One(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<OneOrMany, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = seq.next_element()? {
                    texts.push(text);
                }
                Ok(OneOrMany::Many(texts))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for Text {
    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

impl JsonSchema for Texts {
    fn schema_name() -> Cow<'static, str> {
        "Texts".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "array"], "items": { "type": "string" } })
    }
}
