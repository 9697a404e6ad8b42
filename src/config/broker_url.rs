//! The URL of a broker, which may hold a password.

use http::Uri;
use percent_encoding::percent_decode_str;

use crate::model::Secret;

/// Scheme, user, password, host, port and what follows. `Debug` shows none of it.
#[derive(Clone, Debug)]
pub struct BrokerUrl {
    text: Secret,
    uri: Secret,
    user: Option<Secret>,
    password: Option<Secret>,
    local: bool,
    scheme: String,
}

impl BrokerUrl {
    /// Reads one. The error does not repeat the text.
    ///
    /// # Errors
    /// A sentence: why it is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let uri = text.parse::<Uri>().map_err(|error| error.to_string())?;
        let (Some(scheme), Some(host)) = (uri.scheme_str(), uri.host().filter(|host| !host.is_empty()))
        else {
            return Err("it has no scheme or no host".to_owned());
        };
        let authority = uri.authority().map(http::uri::Authority::as_str).unwrap_or_default();
        let (user, place) =
            authority.rsplit_once('@').map_or((None, authority), |(user, place)| (Some(user), place));
        let (user, password) = match user.map(|user| user.split_once(':').ok_or(user)) {
            None => (None, None),
            Some(Err(user)) => (Some(user), None),
            Some(Ok((user, password))) => (Some(user), Some(password)),
        };
        let plain = |text: &str| Secret::new(percent_decode_str(text).collect::<Vec<u8>>());
        let rest = uri.path_and_query().map(http::uri::PathAndQuery::as_str).unwrap_or_default();
        Ok(Self {
            text: Secret::new(text),
            uri: Secret::new(format!("{scheme}://{place}{}", if rest == "/" { "" } else { rest })),
            user: user.map(plain),
            password: password.map(plain),
            local: Self::stays_here(host),
            scheme: scheme.to_owned(),
        })
    }

    /// Whether a host is this machine.
    pub(super) fn stays_here(host: &str) -> bool {
        host == "localhost" || host.starts_with("127.") || host == "[::1]"
    }

    /// All of it. Whoever calls this answers for where it goes.
    #[must_use]
    pub fn expose(&self) -> String {
        text(&self.text)
    }

    /// All but user and password.
    #[must_use]
    pub fn without_user(&self) -> String {
        text(&self.uri)
    }

    /// The user, with what was percent-encoded in plain.
    #[must_use]
    pub fn user(&self) -> Option<String> {
        self.user.as_ref().map(text)
    }

    /// The password, in the same way.
    #[must_use]
    pub fn password(&self) -> Option<String> {
        self.password.as_ref().map(text)
    }

    pub(super) fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Whether it stays on this machine.
    pub(super) fn is_local(&self) -> bool {
        self.local
    }
}

fn text(secret: &Secret) -> String {
    String::from_utf8_lossy(secret.expose()).into_owned()
}
