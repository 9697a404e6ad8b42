//! Where a definition lets the gateway go: for keys, for a provider's word, for a confirmation.

use std::time::Duration;

use globset::GlobMatcher;
use http::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use super::chain::Chain;
use super::names::matches_labels;
use super::template::{Condition, Scope, Source, Template, Trouble};

/// The longest URL that is asked.
const MAX_URL: usize = 2048;
/// What a value of a request keeps inside a URL: RFC 3986's unreserved characters.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// The same where `path` judges the whole.
const PATH: &AsciiSet = &VALUE.remove(b'/');

/// A URL that a request may have a say in, and the rules that bound it.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) url: Template,
    /// Host names; `*` is one whole label.
    pub(crate) hosts: Vec<String>,
    /// A glob over the path.
    pub(crate) path: Option<GlobMatcher>,
    /// Private addresses, other ports, and no TLS.
    pub(crate) allow_private: bool,
}

/// Why there is no URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Astray {
    /// A value is missing or cannot be read.
    Trouble(Trouble),
    /// The rules do not let it pass; which one.
    Refused(String),
}

impl std::fmt::Display for Astray {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Trouble(trouble) => trouble.fmt(f),
            Self::Refused(why) => f.write_str(why),
        }
    }
}

impl Target {
    /// The URL for one request, if the rules let it pass.
    pub(crate) fn url(&self, scope: &Scope<'_>) -> Result<String, Astray> {
        let keep = if self.path.is_some() { PATH } else { VALUE };
        let sole = self.url.sole().is_some();
        let url = if sole {
            self.url.text(scope)
        } else {
            self.url.encoded(scope, |it| percent_encode(it, keep).to_string())
        };
        let url = url.map_err(Astray::Trouble)?;
        let may_query = !sole || self.path.is_none();
        self.judge(&url, may_query).map_err(Astray::Refused)?;
        Ok(url)
    }

    /// Whether a URL that was made before still passes.
    pub(crate) fn admits(&self, url: &str) -> bool {
        self.judge(url, true).is_ok()
    }

    fn judge(&self, url: &str, may_query: bool) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_graphic() && !"\\#\"<>^`{|}".contains(c);
        if url.len() > MAX_URL || !url.chars().all(plain) {
            return Err(format!(
                "a URL has at most {MAX_URL} characters, and none that would have to be encoded"
            ));
        }
        let parsed: Uri = url.parse().map_err(|_| "it is no URL".to_owned())?;
        let (Some(scheme), Some(authority)) = (parsed.scheme_str(), parsed.authority()) else {
            return Err("it is no whole URL".into());
        };
        if scheme != "https" && !(self.allow_private && scheme == "http") {
            return Err("host rule: only https is fetched".into());
        }
        let host = authority.host();
        let port = authority.as_str().strip_prefix(host).unwrap_or("@");
        let usual_port = matches!(port, "" | ":443");
        let any_port =
            port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
        if !(usual_port || self.allow_private && any_port) {
            return Err("host rule: a user, a password or another port than 443 stands in it".into());
        }
        if !self.hosts.iter().any(|glob| matches_labels(glob, host)) {
            return Err(format!("host rule: its host is none of {}", self.hosts.join(", ")));
        }
        let path = parsed.path();
        let walks =
            |segment: &str| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
        if path.split('/').any(walks) {
            return Err("path rule: `.` and `..` lead elsewhere".into());
        }
        if self.path.as_ref().is_some_and(|glob| !glob.is_match(path))
            || (!may_query && parsed.query().is_some())
        {
            return Err("path rule: its path is not one of this provider's".into());
        }
        Ok(())
    }
}

/// What is fetched before a request can be judged.
#[derive(Clone, Debug)]
pub(crate) struct Fetch {
    pub(crate) target: Target,
    pub(crate) method: String,
    pub(crate) headers: Vec<(String, Template)>,
    /// A flat JSON object as the body.
    pub(crate) json: Option<Vec<(String, Template)>>,
    /// How the answer becomes keys; all that succeed are tried.
    pub(crate) keys: Vec<Template>,
    /// Which key of a set the request names.
    pub(crate) id: Option<Template>,
    /// Which chains of certificates are believed, where the key comes in one.
    pub(crate) chain: Option<Chain>,
    /// What must hold of the answer.
    pub(crate) require: Vec<Condition>,
    /// For how long a key is kept; `None` where the answer is about one request.
    pub(crate) cache: Option<Duration>,
    pub(crate) oauth: Option<OAuth>,
}

impl Fetch {
    /// Whether the secret is what lets the gateway ask.
    pub(crate) fn uses_secret(&self) -> bool {
        let texts = self.headers.iter().chain(self.json.iter().flatten()).map(|(_, value)| value);
        texts.flat_map(Template::values).any(|value| value.source == Source::Secret)
    }
}

/// Client credentials that the provider wants for it.
#[derive(Clone, Debug)]
pub(crate) struct OAuth {
    pub(crate) url: String,
    pub(crate) client_id: String,
    pub(crate) client_secret: String,
    pub(crate) scope: String,
}
