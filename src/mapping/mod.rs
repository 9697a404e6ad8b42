//! A genuine request becomes the events it holds: id, type, time, account, ordering key.
//!
//! Takes a [`Verified`] and nothing else, so unverified bytes cannot be mapped. Reads the body without building a
//! tree; the event keeps its own bytes. Anything the provider's definition cannot read is a [`Rejection`].

mod fields;
mod same;

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

pub use same::same_event;

use crate::model::{BatchRequest, EventKey, Headers, NewEvent, Reason, Rejection, Reply, Request};
use crate::provider::{Around, Batch, Format, Item, Provider, Scope, Token, json_items, json_raw};
use crate::verify::{self, Verified};
use fields::read;

/// What stands in place of a stored secret.
const REMOVED: &[u8] = b"[removed]";

/// The events of one request, in their order; none for an empty batch.
///
/// `expect` are the endpoint's JSON pointers and the values they must have, else `wrong_environment`.
///
/// # Errors
/// Genuine but unusable: `malformed_body`, `no_event_id`, `wrong_environment`.
pub fn map(
    verified: &Verified,
    provider: &Provider,
    endpoint: &Arc<str>,
    expect: &[(String, serde_json::Value)],
    request_id: Uuid,
) -> Result<Vec<NewEvent>, Rejection> {
    let request = verified.request();
    let recipe = provider.recipe();
    let root = document(request, (verified.token(), verified.fetched()), provider);
    let format = recipe.format;
    if !expect.is_empty() && format != Format::JsonLines {
        guard(&format.as_json(&root, request).unwrap_or(Cow::Borrowed(&*root)), expect, format)?;
    }
    let headers = Arc::new(storable_headers(request, provider));
    let content_type = request.headers.text("content-type").map(str::to_owned);
    let kept = recipe.batch.is_some().then(|| {
        let (headers, body) = (Arc::clone(&headers), request.body.clone());
        Arc::new(BatchRequest { id: request_id, endpoint: Arc::clone(endpoint), headers, body })
    });
    let around = Around::default();
    let build = |index: usize, item: Option<&Item<'_>>| {
        if format == Format::JsonLines {
            guard(item.map_or(&root, |item| item.text.as_bytes()), expect, format)?;
        }
        let fields = read(recipe, verified, &root, index, item, request_id, &around)?;
        let body = match item {
            Some(item) => slice(&request.body, item.text.as_bytes()),
            None => request.body.clone(),
        };
        // The whole as the only item has all bytes itself.
        let is_part = item.is_some_and(|item| !std::ptr::eq(item.text, item.parent));
        Ok(NewEvent {
            key: EventKey {
                provider: Arc::clone(provider.id()),
                endpoint: Arc::clone(endpoint),
                event_id: fields.id,
            },
            event_type: fields.event_type,
            occurred_at: fields.occurred_at,
            account: fields.account,
            ordered: recipe.ordered && fields.ordering_key.is_some(),
            ordering_key: fields.ordering_key,
            version: fields.version,
            content_type: content_type.clone(),
            headers: Arc::clone(&headers),
            body_sha256: sha256(&body),
            body,
            request_id,
            // Bounded by the number of items in a batch.
            item_index: if is_part { i32::try_from(index + 1).unwrap_or(i32::MAX) } else { 0 },
            request: kept.clone().filter(|_| is_part),
            // The gateway continues a trace only where a listed proxy started it, which mapping cannot know.
            trace_context: None,
        })
    };
    let scope = Scope::new(request);
    let is_batch = |batch: &&Batch| batch.when.iter().all(|condition| condition.holds(&scope));
    let Some(batch) = recipe.batch.as_ref().filter(is_batch) else { return Ok(vec![build(0, None)?]) };
    let items = json_items(&root, &batch.items).map_err(|why| malformed(&format!("the body {why}")))?;
    items.iter().enumerate().map(|(index, item)| build(index, Some(item))).collect()
}

/// The document that holds the event or the batch.
fn document<'a>(
    request: &'a Request,
    (token, fetched): (Option<&Arc<Token>>, Option<&'a [u8]>),
    provider: &'a Provider,
) -> Cow<'a, [u8]> {
    let mut scope = Scope::new(request);
    scope.token = token.cloned();
    scope.fetched = fetched;
    let rendered = provider.recipe().document.iter().find_map(|template| template.render(&scope).ok());
    rendered.unwrap_or(Cow::Borrowed(&request.body))
}

/// The success reply to this very request, where the provider wants one with values of it. `None` too where such a
/// value is missing: then the gateway's own reply has to do.
pub fn reply(verified: &Verified, provider: &Provider) -> Option<Reply> {
    let answer = provider.varying_reply()?;
    let request = verified.request();
    let document = document(request, (verified.token(), verified.fetched()), provider);
    let mut scope = Scope::new(request);
    scope.token = verified.token().cloned();
    scope.fetched = verified.fetched();
    scope.document = &document;
    answer.render(&scope).ok()
}

/// The event as JSON for those who read values of it, where its bytes are none: what stands in a field of a form, the
/// form itself, XML. `headers` and `body` are what is stored of it. `None`: its bytes are what there is.
pub fn as_json(provider: &Provider, headers: &Headers, body: &Bytes) -> Option<Bytes> {
    let recipe = provider.recipe();
    if recipe.is_body(headers) {
        return None;
    }
    let request = Request::bare(headers.clone(), body.clone());
    let token = verify::carried_token(&request, provider);
    let document = document(&request, (token.as_ref(), None), provider);
    let json = recipe.format.as_json(&document, &request)?;
    (*json != **body).then(|| json.into_owned().into())
}

/// The endpoint's guard against events of another environment.
fn guard(root: &[u8], expect: &[(String, serde_json::Value)], format: Format) -> Result<(), Rejection> {
    for (pointer, expected) in expect {
        let raw = json_raw(root, pointer).map_err(|why| malformed(&format!("the body {why}")))?;
        let seen = raw.and_then(|raw| serde_json::from_str::<serde_json::Value>(raw).ok());
        // A form and XML hold nothing but texts: `false` there is the text.
        let written = expected.to_string();
        let same_text = |seen: &serde_json::Value| !format.is_json() && seen.as_str() == Some(&*written);
        if seen.as_ref() != Some(expected) && !seen.as_ref().is_some_and(same_text) {
            let seen = if raw.is_some() { "has another value" } else { "is not there" };
            let detail = format!("genuine, but `{pointer}` {seen}; this endpoint expects {expected}");
            return Err(Rejection::new(Reason::WrongEnvironment, detail));
        }
    }
    Ok(())
}

/// The request's headers as they may be stored: those that are themselves a secret say `[removed]`.
pub fn storable_headers(request: &Request, provider: &Provider) -> Headers {
    let mut headers = request.headers.clone();
    for name in provider.credential_headers() {
        headers.replace(name, REMOVED);
    }
    headers
}

/// SHA-256 of a body.
pub fn sha256(body: &[u8]) -> [u8; 32] {
    Sha256::digest(body).into()
}

/// An item's bytes, shared with the body where they stand in it.
fn slice(body: &Bytes, item: &[u8]) -> Bytes {
    let (start, end) = (body.as_ptr_range().start as usize, body.as_ptr_range().end as usize);
    let inside = (start..=end).contains(&(item.as_ptr() as usize));
    if inside { body.slice_ref(item) } else { Bytes::copy_from_slice(item) }
}

fn malformed(detail: &str) -> Rejection {
    Rejection::new(Reason::MalformedBody, detail.to_owned())
}

/// Whether mapping reads JSON at all.
pub(crate) fn reads_json(provider: &Provider) -> bool {
    provider.recipe().format.is_json()
}
