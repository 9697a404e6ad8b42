//! Conditions over a request: `A == B`, `A != B`, `A in B`, `A` (is there), `!A` (is not there), A and B being templates;
//! several with ` or ` between them.

use serde_json::value::RawValue;
use subtle::ConstantTimeEq as _;

use super::{Scope, Template, Trouble};
use crate::provider::json;

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// Both sides are there and equal.
    Equal(Template, Template),
    /// The left side is absent, or the two differ.
    Different(Template, Template),
    /// The right side is JSON: a scalar that equals the left side, or an array with such a one.
    Among(Template, Template),
    /// It is there and not empty.
    Present(Template),
    /// It is not there, or empty.
    Absent(Template),
    /// One of these holds.
    Any(Vec<Condition>),
}

impl Condition {
    /// Reads a condition, its templates by `template`. It is taken apart first, so that a setting's value cannot
    /// change its meaning.
    ///
    /// # Errors
    /// What is wrong with one of its templates.
    pub(crate) fn parse(
        text: &str,
        template: impl Fn(&str) -> Result<Template, String>,
    ) -> Result<Self, String> {
        let choices = text.split(" or ").map(|text| Self::one(text, &template));
        let mut choices: Vec<Self> = choices.collect::<Result<_, _>>()?;
        Ok(if choices.len() == 1 { choices.remove(0) } else { Self::Any(choices) })
    }

    fn one(text: &str, template: &impl Fn(&str) -> Result<Template, String>) -> Result<Self, String> {
        if let Some((left, right)) = text.split_once(" == ") {
            return Ok(Self::Equal(template(left)?, template(right)?));
        }
        if let Some((left, right)) = text.split_once(" != ") {
            return Ok(Self::Different(template(left)?, template(right)?));
        }
        if let Some((left, right)) = text.split_once(" in ") {
            return Ok(Self::Among(template(left)?, template(right)?));
        }
        let sole = text.strip_prefix('!').unwrap_or(text);
        if !is_one_value(sole) {
            return Err(format!(
                "`{text}` is no condition: it is `A == B`, `A != B`, `A in B`, or one value alone, such as \
                 {{header:x-signature}}, perhaps with `!` before it"
            ));
        }
        match text.strip_prefix('!') {
            Some(rest) => Ok(Self::Absent(template(rest)?)),
            None => Ok(Self::Present(template(text)?)),
        }
    }

    /// Whether it holds. What cannot be read does not hold.
    pub(crate) fn holds(&self, scope: &Scope<'_>) -> bool {
        match self {
            Self::Equal(left, right) => equal(left, right, scope).unwrap_or(false),
            Self::Different(left, right) => match equal(left, right, scope) {
                Ok(equal) => !equal,
                Err(trouble) => matches!(trouble, Trouble::Absent(_)),
            },
            Self::Among(left, right) => among(left, right, scope).unwrap_or(false),
            Self::Any(choices) => choices.iter().any(|condition| condition.holds(scope)),
            Self::Present(it) => it.render(scope).is_ok_and(|value| !value.is_empty()),
            Self::Absent(it) => match it.render(scope) {
                Ok(value) => value.is_empty(),
                Err(trouble) => matches!(trouble, Trouble::Absent(_)),
            },
        }
    }

    /// The templates in it.
    pub(crate) fn templates(&self) -> Vec<&Template> {
        match self {
            Self::Equal(left, right) | Self::Different(left, right) | Self::Among(left, right) => {
                vec![left, right]
            }
            Self::Present(it) | Self::Absent(it) => vec![it],
            Self::Any(choices) => choices.iter().flat_map(Self::templates).collect(),
        }
    }
}

fn among(left: &Template, right: &Template, scope: &Scope<'_>) -> Option<bool> {
    let (left, right) = (left.render(scope).ok()?, right.render(scope).ok()?);
    let elements: Vec<&RawValue> = match serde_json::from_slice(&right) {
        Ok(elements) => elements,
        Err(_) => vec![serde_json::from_slice(&right).ok()?],
    };
    let equal = |element: &&RawValue| {
        let scalar = json::scalar(element.get()).ok().flatten();
        scalar.is_some_and(|scalar| scalar.as_bytes() == &*left)
    };
    Some(elements.iter().any(equal))
}

/// Whether a text is one `{value}` or `${setting}` and nothing else: any fixed text beside it would always be there.
fn is_one_value(text: &str) -> bool {
    let value = text.strip_prefix('$').unwrap_or(text);
    let mut depth = 0_usize;
    // A setting may name what the value is: `{header:${name}}`.
    let closes_at = value.char_indices().find_map(|(at, char)| {
        match char {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0).then_some(at)
    });
    value.starts_with('{') && closes_at.is_some_and(|at| at + 1 == value.len())
}

/// In constant time, since a side may be a token that the operator keeps secret.
fn equal(left: &Template, right: &Template, scope: &Scope<'_>) -> Result<bool, Trouble> {
    Ok(left.render(scope)?.ct_eq(&right.render(scope)?).into())
}
