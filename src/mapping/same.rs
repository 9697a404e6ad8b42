//! Whether two bodies under one event id are the same event.

use serde_json::Value;

use crate::provider::{Provider, json_raw};

/// Whether they are equal but for what the provider declares volatile.
///
/// Redeliveries are nearly always the same text around the volatile values, so those are cut out and the rest is
/// compared byte by byte; only where that differs is the JSON read and compared as values.
pub fn same_event(first: &[u8], second: &[u8], provider: &Provider) -> bool {
    if first == second {
        return true;
    }
    if !super::reads_json(provider) {
        return false;
    }
    let volatile = provider.volatile();
    match (without(first, volatile), without(second, volatile)) {
        (Some(first), Some(second)) if first == second => true,
        _ => equal_values(first, second, volatile),
    }
}

/// The text's pieces around the volatile values, joined.
fn without(text: &[u8], volatile: &[String]) -> Option<Vec<u8>> {
    let mut cuts: Vec<(usize, usize)> = Vec::new();
    for pointer in volatile {
        if let Some(raw) = json_raw(text, pointer).ok()? {
            let start = raw.as_ptr() as usize - text.as_ptr() as usize;
            cuts.push((start, start + raw.len()));
        }
    }
    cuts.sort_unstable();
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    for (start, end) in cuts {
        out.extend_from_slice(text.get(at..start)?);
        at = end;
    }
    out.extend_from_slice(text.get(at..)?);
    Some(out)
}

fn equal_values(first: &[u8], second: &[u8], volatile: &[String]) -> bool {
    let read = |text: &[u8]| {
        let mut value: Value = serde_json::from_slice(text).ok()?;
        for pointer in volatile {
            if let Some((parent, key)) = pointer.rsplit_once('/')
                && let Some(Value::Object(object)) = value.pointer_mut(parent)
            {
                object.remove(key);
            }
        }
        Some(value)
    };
    match (read(first), read(second)) {
        (Some(first), Some(second)) => first == second,
        _ => false,
    }
}
