//! Replies that a definition spells out, made for one request.

use bytes::Bytes;

use super::plan::{Answer, AnswerBody};
use super::template::{Scope, Template, Trouble};
use crate::model::{Headers, Reply, Request};

impl Answer {
    /// The reply to one request.
    pub(crate) fn render(&self, scope: &Scope<'_>) -> Result<Reply, Trouble> {
        let (content_type, body) = match &self.body {
            AnswerBody::Empty => (None, Bytes::new()),
            AnswerBody::Text(text) => {
                (Some("text/plain; charset=utf-8"), text.render(scope)?.into_owned().into())
            }
            AnswerBody::Json(fields) => (Some("application/json"), json(fields, scope)?.into()),
        };
        let mut headers = Vec::new();
        if let Some(content_type) = self.content_type.as_deref().or(content_type) {
            headers.push(("content-type".to_owned(), content_type.to_owned()));
        }
        for (name, value) in &self.headers {
            headers.push((name.clone(), header_value(value.text(scope)?)?));
        }
        Ok(Reply { status: self.status, headers, body })
    }

    /// The reply where nothing of a request is in it.
    pub(crate) fn fixed(&self) -> Option<Reply> {
        let nothing = Request::bare(Headers::new(), Bytes::new());
        self.render(&Scope::new(&nothing)).ok()
    }
}

fn json(fields: &[(String, Template)], scope: &Scope<'_>) -> Result<String, Trouble> {
    let mut object = serde_json::Map::new();
    for (name, value) in fields {
        object.insert(name.clone(), value.text(scope)?.into());
    }
    Ok(serde_json::Value::Object(object).to_string())
}

/// An echoed value must not become a second header.
fn header_value(text: String) -> Result<String, Trouble> {
    if text.chars().all(|char| char.is_ascii_graphic() || char == ' ') {
        return Ok(text);
    }
    Err(Trouble::Unreadable(
        "a value for a reply header".into(),
        "holds characters that a header cannot".into(),
    ))
}
