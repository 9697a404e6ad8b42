//! Reading an event's fields, each within the bounds of its column.

use uuid::Uuid;

use crate::clock::Timestamp;
use crate::model::{Reason, Rejection};
use crate::provider::{Around, FirstOf, Format, Item, Recipe, Scope, Trouble};
use crate::verify::{Verified, moment};

/// Ids are part of a primary key and of `webhook-id`: a longer one is no id.
const MAX_ID: usize = 255;
/// The longest event type, account or ordering key.
const MAX_TEXT: usize = 255;

/// What an event's row says besides its bytes.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) id: String,
    pub(super) event_type: String,
    pub(super) occurred_at: Option<Timestamp>,
    pub(super) account: Option<String>,
    pub(super) ordering_key: Option<String>,
    pub(super) version: Option<i64>,
}

/// Reads one event: an item of a batch, or all of the document. `request_id`: for `{unique}`; `around`: for all
/// items of one batch.
pub(super) fn read(
    recipe: &Recipe,
    verified: &Verified,
    root: &[u8],
    index: usize,
    item: Option<&Item<'_>>,
    request_id: Uuid,
    around: &Around,
) -> Result<Fields, Rejection> {
    let document = item.map_or(root, |item| item.text.as_bytes());
    let mut scope = Scope::new(verified.request());
    scope.token = verified.token().cloned();
    scope.fetched = verified.fetched();
    scope.document = document;
    scope.root = root;
    scope.parent = item.map_or(root, |item| item.parent.as_bytes());
    scope.index = index;
    scope.arrival = Some((request_id, verified.received_at()));
    scope.around = Some(around);
    scope.is_xml = recipe.format == Format::Xml;
    let picked = if recipe.format.is_json() { recipe.picker.pick(document).ok() } else { None };
    scope.picked = picked.as_ref();
    let text = |name: &'static str, first: &FirstOf| optional(name, first, &scope);
    Ok(Fields {
        id: id(&recipe.id, &scope)?,
        event_type: text("type", &recipe.event_type)?.unwrap_or_default(),
        occurred_at: recipe.occurred_at.as_ref().and_then(|(value, units)| {
            // Only shown, never relied on: a moment that cannot be read is no reason to turn an event away.
            let values = value.iter().filter_map(|template| template.text(&scope).ok());
            moment::read_any(&values.into_iter().find(|value| !value.is_empty())?, units).ok()
        }),
        account: text("account", &recipe.account)?,
        ordering_key: text("ordering key", &recipe.ordering_key)?,
        version: recipe.version.iter().find_map(|template| whole(&template.text(&scope).ok()?)),
    })
}

/// The first value that is there; a value that cannot be read is the reason only if no other is there.
fn id(first: &FirstOf, scope: &Scope<'_>) -> Result<String, Rejection> {
    let mut reason = None;
    for template in first {
        match template.text(scope) {
            Ok(value) if value.is_empty() => {}
            Ok(value) => return bounded("id", value, MAX_ID),
            Err(trouble) => {
                let worse = !matches!(trouble, Trouble::Absent(_));
                if reason.is_none() || worse {
                    reason = Some(trouble);
                }
            }
        }
    }
    Err(match reason {
        Some(trouble @ Trouble::Unreadable(..)) => {
            Rejection::new(Reason::MalformedBody, format!("genuine, but {trouble}"))
        }
        Some(trouble) => Rejection::new(Reason::NoEventId, format!("genuine, but {trouble}")),
        None => Rejection::new(Reason::NoEventId, "genuine, but the event's id is empty"),
    })
}

/// A version: a whole number, or a time to the microsecond. What is neither guards nothing.
fn whole(text: &str) -> Option<i64> {
    let time = || text.parse::<Timestamp>().ok().map(|time| time.timestamp_micros());
    text.parse().ok().or_else(time)
}

fn optional(name: &'static str, first: &FirstOf, scope: &Scope<'_>) -> Result<Option<String>, Rejection> {
    let value = first.iter().filter_map(|template| template.text(scope).ok()).find(|value| !value.is_empty());
    value.map(|value| bounded(name, value, MAX_TEXT)).transpose()
}

/// Text that a column, a header and a log line can hold.
fn bounded(name: &'static str, value: String, max: usize) -> Result<String, Rejection> {
    let reason = if name == "id" { Reason::NoEventId } else { Reason::MalformedBody };
    if value.len() > max {
        let detail = format!(
            "genuine, but the event's {name} is {} bytes long; at most {max} can be kept",
            value.len()
        );
        return Err(Rejection::new(reason, detail));
    }
    if value.chars().any(char::is_control) {
        return Err(Rejection::new(
            reason,
            format!("genuine, but the event's {name} holds a control character"),
        ));
    }
    Ok(value)
}
