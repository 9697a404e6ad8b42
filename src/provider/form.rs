//! The fields of a request's body, where it is a form.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::stream;
use multer::Multipart;

use crate::model::{Headers, Request};

const URL_ENCODED: &str = "application/x-www-form-urlencoded";
const MULTIPART: &str = "multipart/form-data";
/// Fields and files of one form.
const MAX_PARTS: usize = 1000;
/// The longest boundary that RFC 2046 allows.
const MAX_BOUNDARY: usize = 70;

/// What a form holds, decoded once. A field may come several times.
#[derive(Debug, Default)]
pub(crate) struct Form {
    /// Names and values.
    pub(crate) fields: Vec<(String, Vec<u8>)>,
    /// Names and contents of uploaded files.
    pub(crate) files: Vec<(String, Bytes)>,
}

impl Form {
    /// Whether a body with these headers says that it is one.
    pub(crate) fn is_named(headers: &Headers) -> bool {
        let media = media(headers);
        media.eq_ignore_ascii_case(URL_ENCODED) || media.eq_ignore_ascii_case(MULTIPART)
    }

    /// Reads a request's body. What is no form, or a broken one, has no fields.
    ///
    /// The content type is seldom signed, and must not choose how signed bytes are read: what begins like JSON is no
    /// form, and the boundary is the one that the body itself begins with.
    pub(crate) fn of(request: &Request) -> Self {
        let media = media(&request.headers);
        let is_json = matches!(request.body.trim_ascii_start().first(), Some(b'{' | b'['));
        if is_json {
            return Self::default();
        }
        if media.eq_ignore_ascii_case(URL_ENCODED) {
            let pairs: Vec<(String, String)> =
                serde_urlencoded::from_bytes(&request.body).unwrap_or_default();
            let fields = pairs.into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
            return Self { fields, files: Vec::new() };
        }
        if media.eq_ignore_ascii_case(MULTIPART) {
            return multipart(&request.body).unwrap_or_default();
        }
        Self::default()
    }
}

/// The content type without its parameters.
fn media(headers: &Headers) -> &str {
    headers.text("content-type").and_then(|text| text.split(';').next()).unwrap_or_default().trim()
}

/// `None` where it is broken or holds too much.
fn multipart(body: &Bytes) -> Option<Form> {
    let line = body.split(|byte| *byte == b'\r').next()?;
    let boundary = std::str::from_utf8(line.strip_prefix(b"--")?).ok()?;
    if boundary.is_empty() || boundary.len() > MAX_BOUNDARY {
        return None;
    }
    // All of it is there, so nothing is ever waited for.
    let whole = stream::iter([Ok::<_, Infallible>(body.clone())]);
    let mut parts = Multipart::new(whole, boundary);
    let mut form = Form::default();
    for _ in 0..=MAX_PARTS {
        let Some(part) = parts.next_field().now_or_never()?.ok()? else { return Some(form) };
        let Some(name) = part.name().map(str::to_owned) else { continue };
        let is_file = part.file_name().is_some();
        let content = part.bytes().now_or_never()?.ok()?;
        if is_file {
            form.files.push((name, content));
        } else {
            form.fields.push((name, content.into()));
        }
    }
    None
}
