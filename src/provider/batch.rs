//! The items of a batch: slices of the text that holds them.

use serde_json::value::RawValue;

use super::json::{raw, utf8};
use super::plan::Items;
use super::xml;

/// A batch with more items is refused.
const MAX_ITEMS: usize = 10_000;

/// An item of a batch.
#[derive(Debug)]
pub(crate) struct Item<'a> {
    /// Its text.
    pub(crate) text: &'a str,
    /// The text of the element that holds its array, or of the whole.
    pub(crate) parent: &'a str,
}

/// The items of a batch, in their order.
///
/// # Errors
/// Why the document is no such batch.
pub(crate) fn items<'a>(document: &'a [u8], which: &Items) -> Result<Vec<Item<'a>>, String> {
    let text = utf8(document)?;
    match which {
        Items::Arrays(paths) => arrays(text, paths),
        Items::Elements(paths) => elements(text, paths),
        Items::Lines => lines(text),
    }
}

/// In order of `paths`: pointers in which `*` stands for every element of an array. Of several paths those that are
/// there count; the empty path at the end is the whole, where none is there.
fn arrays<'a>(text: &'a str, paths: &[String]) -> Result<Vec<Item<'a>>, String> {
    let mut items = Vec::new();
    if let [path] = paths {
        let Some(()) = collect(text, path, true, &mut items)? else { return Err(absent(path)) };
        return Ok(items);
    }
    let mut there = false;
    for path in paths.iter().filter(|path| !path.is_empty()) {
        there |= collect(text, path, false, &mut items)?.is_some();
    }
    let whole = paths.last().is_some_and(String::is_empty);
    match (items.is_empty(), there) {
        (true, false) if whole => items.push(Item { text, parent: text }),
        (true, false) => return Err(format!("holds none of the arrays {}", paths.join(", "))),
        _ => {}
    }
    Ok(items)
}

/// The elements at the paths, in order of the paths; the empty path is as with arrays. A list in XML that is empty
/// cannot be told from one that is not there.
fn elements<'a>(text: &'a str, paths: &[String]) -> Result<Vec<Item<'a>>, String> {
    let mut items = Vec::new();
    for path in paths.iter().filter(|path| !path.is_empty()) {
        let found = xml::elements(text, path, MAX_ITEMS - items.len())?;
        items.extend(found.into_iter().map(|(text, parent)| Item { text, parent }));
    }
    if items.is_empty() {
        if !paths.last().is_some_and(String::is_empty) {
            return Err(format!("holds no element at {}", paths.join(" or ")));
        }
        items.push(Item { text, parent: text });
    }
    Ok(items)
}

/// The lines that hold something.
fn lines(text: &str) -> Result<Vec<Item<'_>>, String> {
    let mut items = Vec::new();
    for (number, line) in text.split('\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        if items.len() >= MAX_ITEMS {
            return Err(format!("holds more than {MAX_ITEMS} items"));
        }
        let is_json = serde_json::from_str::<&RawValue>(line).is_ok();
        if !is_json {
            return Err(format!("is not valid JSON in line {}", number + 1));
        }
        items.push(Item { text: line, parent: text });
    }
    Ok(items)
}

fn absent(path: &str) -> String {
    let (head, _) = path.split_once("/*").unwrap_or((path, ""));
    format!("holds no array at `{head}`")
}

/// Adds the items of one path; `None` where its array is not there. `all`: an array that is missing further in is an
/// error.
fn collect<'a>(text: &'a str, path: &str, all: bool, out: &mut Vec<Item<'a>>) -> Result<Option<()>, String> {
    let (head, tail) = path.split_once("/*").unwrap_or((path, ""));
    let Some(array) = raw(text.as_bytes(), head)?.filter(|raw| raw.starts_with('[')) else { return Ok(None) };
    let elements: Vec<&RawValue> = serde_json::from_str(array).map_err(|_| absent(path))?;
    let mut found = elements.is_empty().then_some(());
    for element in elements {
        if out.len() >= MAX_ITEMS {
            return Err(format!("holds more than {MAX_ITEMS} items"));
        }
        let element = element.get();
        if tail.is_empty() {
            out.push(Item { text: element, parent: text });
            found = Some(());
        } else {
            match collect(element, tail, all, out)? {
                None if all => return Err(absent(tail)),
                inner => found = found.or(inner),
            }
        }
    }
    Ok(found)
}
