//! An endpoint's own constants in a definition.

use std::collections::BTreeMap;

use super::raw;

/// A setting that a definition takes, such as a webhook id or a header's name.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its name in `settings = { … }` and `--set`.
    pub name: String,
    /// What it is, for people.
    pub description: String,
    /// Its value where an endpoint does not say; a setting without one is required.
    pub default: Option<String>,
    /// What a required one may look like, for people and tests; never used as a value.
    pub example: Option<String>,
    /// Whether it must not be shown.
    pub secret: bool,
}

/// Settings or secrets of an endpoint that do not fit the provider. Never holds a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The definition has no such setting.
    #[error("unknown setting `{name}`: this provider takes {}", list(allowed))]
    Unknown {
        /// What was given.
        name: String,
        /// What the definition takes.
        allowed: Vec<String>,
    },
    /// A required one is not there.
    #[error("setting `{name}` is missing: {description}")]
    Missing {
        /// Which one.
        name: String,
        /// What it is.
        description: String,
    },
    /// A value that cannot be used in its place.
    #[error("setting `{name}` cannot be used: {problem}")]
    Invalid {
        /// Which one.
        name: String,
        /// Where it comes in, and why it cannot stand there.
        problem: String,
    },
    /// The definition has no such variant.
    #[error("unknown variant `{name}`: this provider has {}", list(allowed))]
    Variant {
        /// What was given.
        name: String,
        /// What the definition has.
        allowed: Vec<String>,
    },
    /// A secret that is not in the provider's form.
    #[error("secret {position} cannot be used: {problem}")]
    Secret {
        /// Its position, from 1.
        position: usize,
        /// Why not, without the value.
        problem: String,
    },
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// The values that replace `${name}` in a definition.
#[derive(Debug, Default)]
pub(crate) struct Values(BTreeMap<String, (String, bool)>);

impl Values {
    /// An endpoint's values over the defaults. A required setting that is not given has its example, so that the
    /// definition can be compiled and looked at; the keyring says so.
    pub(crate) fn new(settings: &BTreeMap<String, raw::Setting>, given: &BTreeMap<String, String>) -> Self {
        let value = |name: &String, setting: &raw::Setting| {
            let text = given.get(name).or(setting.default.as_ref()).or(setting.example.as_ref());
            (text.cloned().unwrap_or_default(), setting.template)
        };
        Self(settings.iter().map(|(name, setting)| (name.clone(), value(name, setting))).collect())
    }

    /// Replaces `${name}` where the text is used as it is.
    pub(crate) fn plain(&self, text: &str) -> Result<String, String> {
        self.replace(text, |value, _| value.to_owned())
    }

    /// Replaces `${name}` in a template: a setting's text is literal, unless the setting is a template itself.
    pub(crate) fn template(&self, text: &str) -> Result<String, String> {
        self.replace(text, |value, template| if template { value.to_owned() } else { escape(value) })
    }

    /// Like [`Values::template`], but `${name}` of these names stays as it is, for later.
    pub(crate) fn with(&self, later: &[&str], text: &str) -> Result<String, String> {
        let mut known = Self(self.0.clone());
        for name in later {
            known.0.insert((*name).to_owned(), (format!("${{{name}}}"), true));
        }
        known.template(text)
    }

    fn replace(&self, text: &str, write: impl Fn(&str, bool) -> String) -> Result<String, String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let (name, tail) = after.split_once('}').ok_or("a `${` is not closed")?;
            let (value, template) = self.0.get(name).ok_or_else(|| {
                let known: Vec<String> = self.0.keys().cloned().collect();
                format!("`${{{name}}}` is not among the definition's settings ({})", list(&known))
            })?;
            out.push_str(before);
            out.push_str(&write(value, *template));
            rest = tail;
        }
        out.push_str(rest);
        Ok(out)
    }
}

fn escape(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, char| {
        if matches!(char, '{' | '}' | '[' | ']') {
            out.push(char);
        }
        out.push(char);
        out
    })
}
