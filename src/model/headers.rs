//! Request headers in the order of arrival, repeated ones kept, values as bytes.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// A list of headers. Names are lower case. A clone shares the list until one of them is changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(Arc<Vec<(String, Vec<u8>)>>);

impl Headers {
    /// An empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one header at the end; the name is lowered.
    pub fn push(&mut self, name: &str, value: impl Into<Vec<u8>>) {
        Arc::make_mut(&mut self.0).push((name.to_ascii_lowercase(), value.into()));
    }

    /// All values of one header, in order. `name` must be lower case.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.0.iter().filter(move |(n, _)| n == name).map(|(_, v)| v.as_slice())
    }

    /// The first value of one header. `name` must be lower case.
    #[must_use]
    pub fn first(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_slice())
    }

    /// The first value of one header, if it is UTF-8. `name` must be lower case.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.first(name).and_then(|v| std::str::from_utf8(v).ok())
    }

    /// All headers in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(n, v)| (n.as_str(), v.as_slice()))
    }

    /// Replaces every value of one header. `name` must be lower case.
    pub fn replace(&mut self, name: &str, value: &[u8]) {
        if self.first(name).is_none() {
            return; // what is shared stays so
        }
        for (_, v) in Arc::make_mut(&mut self.0).iter_mut().filter(|(n, _)| n == name) {
            *v = value.to_vec();
        }
    }

    /// Replaces the first value of one header that is `old`. `name` must be lower case.
    pub fn replace_next(&mut self, name: &str, old: &[u8], new: &[u8]) {
        if let Some((_, value)) = Arc::make_mut(&mut self.0).iter_mut().find(|(n, v)| n == name && v == old) {
            *value = new.to_vec();
        }
    }

    /// The form in which the store keeps them: `[["name","value"],…]`, a value that is not UTF-8 as
    /// `{"base64":"…"}`. Nothing is lost, and a person can read it.
    #[must_use]
    pub fn to_json(&self) -> String {
        let list: Vec<Value> = self
            .0
            .iter()
            .map(|(name, value)| match std::str::from_utf8(value) {
                Ok(text) => json!([name, text]),
                Err(_) => json!([name, { "base64": STANDARD.encode(value) }]),
            })
            .collect();
        Value::Array(list).to_string()
    }

    /// Reads what [`Headers::to_json`] wrote; `None` if it is anything else.
    #[must_use]
    pub fn from_json(text: &str) -> Option<Self> {
        let list: Vec<(String, Value)> = serde_json::from_str(text).ok()?;
        let mut headers = Self::new();
        for (name, value) in list {
            let bytes = match &value {
                Value::String(text) => text.clone().into_bytes(),
                other => STANDARD.decode(other.get("base64")?.as_str()?).ok()?,
            };
            headers.push(&name, bytes);
        }
        Some(headers)
    }
}
