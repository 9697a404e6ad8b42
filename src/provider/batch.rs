//! The items of a batch: slices of the text that holds them.

use serde_json::value::RawValue;

use super::json::{raw, utf8};

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

/// The items of a batch, in order of `paths`: pointers in which `*` stands for every element of an array. Of several
/// paths those that are there count; the empty path at the end is the whole, where none is there.
///
/// # Errors
/// Why the text is no such batch.
pub(crate) fn items<'a>(text: &'a [u8], paths: &[String]) -> Result<Vec<Item<'a>>, String> {
    let text = utf8(text)?;
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
