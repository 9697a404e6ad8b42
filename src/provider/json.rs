//! Reading a few values out of a JSON text without building it: bounded depth, no numbers parsed, the last of
//! two equal keys wins (as in `jsonb`). What is not asked for is only skipped, however deep it is nested.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// JSON pointers prepared for one pass over a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Picker {
    pointers: Vec<String>,
    root: Node,
}

#[derive(Clone, Debug, Default)]
struct Node {
    leaf: Option<usize>,
    children: Vec<(String, Node)>,
}

/// What a [`Picker`] found: slices of the text.
#[derive(Debug)]
pub(crate) struct Picked<'a> {
    pointers: Cow<'a, [String]>,
    found: Vec<Option<&'a str>>,
}

impl<'a> Picked<'a> {
    /// The position of a pointer among the picker's.
    pub(crate) fn position(&self, pointer: &str) -> Option<usize> {
        self.pointers.iter().position(|known| known == pointer)
    }

    /// The JSON text that the pointer at this position shows.
    pub(crate) fn raw(&self, position: usize) -> Option<&'a str> {
        self.found.get(position).copied().flatten()
    }
}

impl Picker {
    /// Prepares pointers (RFC 6901).
    pub(crate) fn new(pointers: Vec<String>) -> Self {
        let mut root = Node::default();
        for (leaf, pointer) in pointers.iter().enumerate() {
            let mut node = &mut root;
            for segment in pointer.split('/').skip(1) {
                let segment = segment.replace("~1", "/").replace("~0", "~");
                let at = node.children.iter().position(|(name, _)| *name == segment).unwrap_or_else(|| {
                    node.children.push((segment, Node::default()));
                    node.children.len() - 1
                });
                node = &mut node.children[at].1;
            }
            // A pointer given twice is read by its first position.
            node.leaf.get_or_insert(leaf);
        }
        Self { pointers, root }
    }

    /// Reads one text.
    ///
    /// # Errors
    /// Why it is not JSON, without a piece of it.
    pub(crate) fn pick<'a>(&'a self, text: &'a [u8]) -> Result<Picked<'a>, String> {
        let mut found = vec![None; self.pointers.len()];
        walk(&self.root, utf8(text)?, &mut found)?;
        Ok(Picked { pointers: Cow::Borrowed(&self.pointers), found })
    }
}

/// The JSON text at one pointer.
pub(crate) fn raw<'a>(text: &'a [u8], pointer: &str) -> Result<Option<&'a str>, String> {
    let picker = Picker::new(vec![pointer.to_owned()]);
    let mut found = vec![None];
    walk(&picker.root, utf8(text)?, &mut found)?;
    Ok(found[0])
}

/// The scalar at one pointer, as text; see [`scalar`].
pub(crate) fn text<'a>(text: &'a [u8], pointer: &str) -> Result<Option<Cow<'a, str>>, String> {
    raw(text, pointer)?.map_or(Ok(None), scalar)
}

/// A JSON scalar as text: strings unescaped, numbers and booleans as they are written; null, objects and arrays
/// are absent.
pub(crate) fn scalar(raw: &str) -> Result<Option<Cow<'_, str>>, String> {
    match raw.as_bytes().first() {
        Some(b'"') if !raw.contains('\\') => Ok(raw.get(1..raw.len() - 1).map(Cow::Borrowed)),
        Some(b'"') => serde_json::from_str(raw)
            .map(|text: String| Some(Cow::Owned(text)))
            .map_err(|_| "is not a valid JSON string".into()),
        Some(b'{' | b'[' | b'n') | None => Ok(None),
        Some(_) => Ok(Some(Cow::Borrowed(raw))),
    }
}

/// JSON is UTF-8; one byte order mark is skipped.
pub(crate) fn utf8(text: &[u8]) -> Result<&str, String> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    std::str::from_utf8(text).map_err(|error| format!("is not UTF-8 from byte {} on", error.valid_up_to()))
}

fn walk<'a>(root: &Node, text: &'a str, found: &mut [Option<&'a str>]) -> Result<(), String> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let whole: &RawValue = match serde::Deserialize::deserialize(&mut deserializer) {
        Ok(whole) => whole,
        Err(error) => return Err(not_json(text, &error)),
    };
    deserializer.end().map_err(|error| not_json(text, &error))?;
    descend(root, whole.get(), found).map_err(|error| not_json(text, &error))
}

fn not_json(text: &str, error: &serde_json::Error) -> String {
    if text.trim_ascii().is_empty() {
        return "is empty where JSON was expected".into();
    }
    format!("is not valid JSON (line {}, column {})", error.line(), error.column())
}

/// Takes what `node` wants from `text`, which is one JSON value.
fn descend<'a>(node: &Node, text: &'a str, found: &mut [Option<&'a str>]) -> serde_json::Result<()> {
    clear(node, found);
    if let Some(leaf) = node.leaf {
        found[leaf] = Some(text);
    }
    if node.children.is_empty() || !text.starts_with(['{', '[']) {
        return Ok(());
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.deserialize_any(Inside { node, found })
}

fn clear(node: &Node, found: &mut [Option<&str>]) {
    if let Some(leaf) = node.leaf {
        found[leaf] = None;
    }
    for (_, child) in &node.children {
        clear(child, found);
    }
}

struct Inside<'n, 'f, 'a> {
    node: &'n Node,
    found: &'f mut [Option<&'a str>],
}

impl<'a> Visitor<'a> for Inside<'_, '_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(child) = map.next_key_seed(Key(self.node))? {
            match child {
                None => drop(map.next_value::<IgnoredAny>()?),
                Some(child) => take(child, map.next_value()?, self.found)?,
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut index = 0_usize;
        while let Some(element) = seq.next_element::<&RawValue>()? {
            let name = index.to_string();
            if let Some((_, child)) = self.node.children.iter().find(|(known, _)| *known == name) {
                take(child, element, self.found)?;
            }
            index += 1;
        }
        Ok(())
    }
}

fn take<'a, E: serde::de::Error>(
    child: &Node,
    value: &'a RawValue,
    found: &mut [Option<&'a str>],
) -> Result<(), E> {
    descend(child, value.get(), found).map_err(E::custom)
}

/// Reads a key and finds the child of that name.
struct Key<'n>(&'n Node);

impl<'a, 'n> DeserializeSeed<'a> for Key<'n> {
    type Value = Option<&'n Node>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'n> Visitor<'_> for Key<'n> {
    type Value = Option<&'n Node>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.children.iter().find(|(known, _)| known == name).map(|(_, child)| child))
    }
}
