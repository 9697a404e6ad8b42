//! Reading a few values out of an XML document: no document type, no entities but the five, bounded depth and size.
//!
//! Paths are the local names of elements, `/Envelope/Body/Id`, at the end perhaps `@name` for an attribute. Prefixes
//! are not told apart: a provider may choose others from one day to the next.

use std::borrow::Cow;

use quick_xml::XmlVersion;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

use super::json::utf8;

/// How deep elements may stand in each other.
const MAX_DEPTH: usize = 128;
/// Elements, texts and the like of one document.
const MAX_NODES: usize = 200_000;
/// Attributes of one element that are looked at.
const MAX_ATTRIBUTES: usize = 64;

/// The text of the first element at `path`, or its attribute. An element with others in it is no text: absent.
///
/// # Errors
/// Why the document cannot be read, without a piece of it.
pub(crate) fn text(document: &[u8], path: &str) -> Result<Option<String>, String> {
    let mut found = None;
    let mut capture: Option<Capture> = None;
    let (elements, attribute) = match path.rsplit_once("/@") {
        Some((elements, attribute)) => (elements, Some(attribute)),
        None => (path, None),
    };
    let mut place = Place::new(elements);
    walk(utf8(document)?, |step| {
        match step {
            Step::Open(start, _) => {
                if let Some(capture) = &mut capture {
                    capture.holds_elements = true;
                }
                if place.open(start.local_name().as_ref()) && found.is_none() {
                    match attribute {
                        Some(attribute) => found = value(start, attribute)?,
                        None => capture = capture.take().or(Some(Capture::default())),
                    }
                }
            }
            Step::Text(text) => {
                if let Some(capture) = &mut capture {
                    capture.text.push_str(text);
                }
            }
            Step::Close(_) => {
                if place.close() && found.is_none() {
                    found = capture.take();
                }
            }
        }
        Ok(())
    })?;
    Ok(found.filter(|found| !found.holds_elements).map(|found| found.text))
}

#[derive(Default)]
struct Capture {
    text: String,
    holds_elements: bool,
}

/// An element and the one that holds it, as texts.
pub(crate) type Element<'a> = (&'a str, &'a str);

/// All elements at `path`, at most `max`, in their order.
///
/// # Errors
/// Why the document cannot be read, or that there are more.
pub(crate) fn elements<'a>(document: &'a str, path: &str, max: usize) -> Result<Vec<Element<'a>>, String> {
    // Where each begins and ends, and which of the holders it is in.
    let mut found: Vec<(usize, usize, usize)> = Vec::new();
    let mut holders: Vec<(usize, usize)> = Vec::new();
    let mut place = Place::new(path);
    let mut holder = Place::new(path.rsplit_once('/').map_or("", |(holder, _)| holder));
    walk(document, |step| {
        match step {
            Step::Open(start, at) => {
                let name = start.local_name();
                if holder.open(name.as_ref()) {
                    holders.push((at, document.len()));
                }
                if place.open(name.as_ref()) {
                    if found.len() >= max {
                        return Err(format!("holds more than {max} items"));
                    }
                    found.push((at, at, holders.len()));
                }
            }
            Step::Text(_) => {}
            Step::Close(at) => {
                if place.close()
                    && let Some(last) = found.last_mut()
                {
                    last.1 = at;
                }
                if holder.close()
                    && let Some(last) = holders.last_mut()
                {
                    last.1 = at;
                }
            }
        }
        Ok(())
    })?;
    let slice = |start: usize, end: usize| document.get(start..end).unwrap_or_default();
    let held = |number: usize| number.checked_sub(1).and_then(|at| holders.get(at).copied());
    let element = |(start, end, number)| {
        let (from, to) = held(number).unwrap_or((0, document.len()));
        (slice(start, end), slice(from, to))
    };
    Ok(found.into_iter().map(element).collect())
}

/// How much of a path the open elements are.
struct Place<'p> {
    path: Vec<&'p str>,
    depth: usize,
    matched: usize,
}

impl<'p> Place<'p> {
    fn new(path: &'p str) -> Self {
        Self { path: path.split('/').skip(1).collect(), depth: 0, matched: 0 }
    }

    /// Whether this element is the one that the path shows.
    fn open(&mut self, name: &str) -> bool {
        if self.matched == self.depth && self.path.get(self.depth) == Some(&name) {
            self.matched += 1;
        }
        self.depth += 1;
        self.is_there()
    }

    /// Whether the element that ends is.
    fn close(&mut self) -> bool {
        let there = self.is_there();
        self.depth = self.depth.saturating_sub(1);
        self.matched = self.matched.min(self.depth);
        there
    }

    fn is_there(&self) -> bool {
        self.depth == self.matched && self.matched == self.path.len()
    }
}

/// The value of an attribute by its local name.
fn value(start: &BytesStart<'_>, name: &str) -> Result<Option<Capture>, String> {
    for attribute in attributes(start) {
        let (known, text) = attribute?;
        if known == name {
            return Ok(Some(Capture { text, holds_elements: false }));
        }
    }
    Ok(None)
}

/// The attributes of an element: local names and values, without the declarations of name spaces.
pub(super) fn attributes(start: &BytesStart<'_>) -> impl Iterator<Item = Result<(String, String), String>> {
    start.attributes().take(MAX_ATTRIBUTES + 1).enumerate().filter_map(|(count, attribute)| {
        if count == MAX_ATTRIBUTES {
            return Some(Err(format!("has an element with more than {MAX_ATTRIBUTES} attributes")));
        }
        let Ok(attribute) = attribute else {
            return Some(Err("is not well-formed XML: an attribute is not".into()));
        };
        if attribute.key.as_namespace_binding().is_some() {
            return None;
        }
        let name = attribute.key.local_name().as_ref().to_owned();
        let text = attribute.normalized_value(XmlVersion::Explicit1_0);
        let text = text.map_err(|_| "has an attribute with an entity that XML does not know".to_owned());
        Some(text.map(|text| (name, text.into_owned())))
    })
}

/// One step through a document.
pub(super) enum Step<'s, 'a> {
    /// An element begins, at this byte.
    Open(&'s BytesStart<'a>, usize),
    /// Some of the text in it.
    Text(&'s str),
    /// The innermost element ends, before this byte.
    Close(usize),
}

/// Goes over a whole document, so that nothing is read out of what is none.
pub(super) fn walk<'a>(
    document: &'a str,
    mut visit: impl FnMut(Step<'_, 'a>) -> Result<(), String>,
) -> Result<(), String> {
    let mut reader = Reader::from_str(document);
    let (mut depth, mut nodes, mut roots) = (0_usize, 0_usize, 0_usize);
    loop {
        let start = position(&reader);
        let event = reader.read_event();
        let event = event.map_err(|_| format!("is not well-formed XML from about byte {start} on"))?;
        nodes += 1;
        if nodes > MAX_NODES {
            return Err(format!("has more than {MAX_NODES} elements and texts"));
        }
        match &event {
            Event::Start(element) | Event::Empty(element) => {
                roots += usize::from(depth == 0);
                if depth >= MAX_DEPTH {
                    return Err(format!("is nested more than {MAX_DEPTH} deep"));
                }
                visit(Step::Open(element, start))?;
                if matches!(event, Event::Empty(_)) {
                    visit(Step::Close(position(&reader)))?;
                } else {
                    depth += 1;
                }
            }
            Event::End(_) => {
                visit(Step::Close(position(&reader)))?;
                depth = depth.saturating_sub(1);
            }
            Event::Text(text) if depth > 0 => visit(Step::Text(&text.xml10_content()))?,
            Event::Text(text) if text.trim_ascii().is_empty() => {}
            Event::CData(text) if depth > 0 => visit(Step::Text(&text.xml10_content()))?,
            Event::GeneralRef(reference) if depth > 0 => visit(Step::Text(&entity(reference)?))?,
            Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) => {
                return Err("is not XML: text stands beside its root".into());
            }
            Event::DocType(_) => return Err("has a document type, which is not read".into()),
            Event::Decl(declared) => match declared.encoding() {
                Some(Ok(name)) if !name.eq_ignore_ascii_case("utf-8") => {
                    return Err("says that it is not UTF-8".into());
                }
                _ => {}
            },
            Event::Comment(_) | Event::PI(_) => {}
            Event::Eof => break,
        }
    }
    match (roots, depth) {
        (1, 0) => Ok(()),
        (0, _) => Err("is not XML: no element is there".into()),
        (_, 0) => Err("is not XML: it has several roots".into()),
        _ => Err("is not well-formed XML: an element is not closed".into()),
    }
}

fn position(reader: &Reader<&[u8]>) -> usize {
    usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX)
}

/// One of the five entities, or a character by its number.
fn entity(reference: &BytesRef<'_>) -> Result<Cow<'static, str>, String> {
    let unknown = || "has an entity that XML does not know".to_owned();
    if reference.is_char_ref() {
        let char = reference.resolve_char_ref().ok().flatten().ok_or_else(unknown)?;
        return Ok(Cow::Owned(char.to_string()));
    }
    quick_xml::escape::resolve_predefined_entity(reference).map(Cow::Borrowed).ok_or_else(unknown)
}
