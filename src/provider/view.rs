//! Any document as JSON, so that handlers read all of them with the same pointers.
//!
//! A form is an object of texts. An element of XML is its text, or an object where it holds elements or attributes:
//! children by their local names, attributes as `@name`, text beside them as `#text`. What comes several times is an
//! array.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::form::Form;
use super::json::utf8;
use super::plan::Format;
use super::xml::{Step, attributes, walk};
use crate::model::Request;

impl Format {
    /// A document in this format as JSON; `None` where it is none.
    pub(crate) fn as_json<'a>(self, document: &'a [u8], request: &Request) -> Option<Cow<'a, [u8]>> {
        match self {
            // Some providers send forms as well, at times.
            Self::Json | Self::JsonLines
                if Form::is_named(&request.headers) && *document == *request.body =>
            {
                Some(form(request).unwrap_or(Cow::Borrowed(document)))
            }
            Self::Json | Self::JsonLines => Some(Cow::Borrowed(document)),
            Self::Xml => element(document).ok().map(|value| written(&value)),
            Self::Form | Self::Multipart => form(request),
            Self::Opaque => None,
        }
    }
}

/// The fields of a form; `None` where there is none.
fn form<'a>(request: &Request) -> Option<Cow<'a, [u8]>> {
    let mut object = Map::new();
    for (name, value) in &Form::of(request).fields {
        add(&mut object, name, String::from_utf8_lossy(value).into());
    }
    (!object.is_empty()).then(|| written(&Value::Object(object)))
}

fn written<'a>(value: &Value) -> Cow<'a, [u8]> {
    Cow::Owned(value.to_string().into_bytes())
}

/// An element that is open.
#[derive(Default)]
struct Open {
    name: String,
    holds: Map<String, Value>,
    text: String,
}

fn element(document: &[u8]) -> Result<Value, String> {
    let mut stack = vec![Open::default()];
    walk(utf8(document)?, |step| {
        match step {
            Step::Open(start, _) => {
                let mut open = Open { name: start.local_name().as_ref().to_owned(), ..Open::default() };
                for attribute in attributes(start) {
                    let (name, value) = attribute?;
                    add(&mut open.holds, &format!("@{name}"), value.into());
                }
                stack.push(open);
            }
            Step::Text(text) => {
                if let Some(open) = stack.last_mut() {
                    open.text.push_str(text);
                }
            }
            Step::Close(_) => {
                if let (Some(closed), Some(open)) = (stack.pop(), stack.last_mut()) {
                    let (name, value) = closed.value();
                    add(&mut open.holds, &name, value);
                }
            }
        }
        Ok(())
    })?;
    Ok(Value::Object(stack.pop().unwrap_or_default().holds))
}

impl Open {
    fn value(mut self) -> (String, Value) {
        if self.holds.is_empty() {
            return (self.name, self.text.into());
        }
        if !self.text.trim_ascii().is_empty() {
            self.holds.insert("#text".into(), self.text.into());
        }
        (self.name, Value::Object(self.holds))
    }
}

/// A member; one more of the same name makes an array.
fn add(object: &mut Map<String, Value>, name: &str, value: Value) {
    match object.get_mut(name) {
        None => {
            object.insert(name.to_owned(), value);
        }
        Some(Value::Array(values)) => values.push(value),
        Some(first) => *first = Value::Array(vec![first.take(), value]),
    }
}
