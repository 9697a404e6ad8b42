//! The kinds of destination: where each one's messages go, and which keys it has.

use http::Uri;

use super::Context;
use crate::config::DestinationKind;
use crate::config::key::Key;
use crate::config::raw::{RawDestination, RawDestinationType as Type};

/// The kind with its own settings.
pub(super) fn kind(key: &Key, raw: &RawDestination, context: &mut Context<'_>) -> Option<DestinationKind> {
    let fits = only_own_keys(key, raw, context);
    let kind = match raw.kind {
        Type::Http => {
            let url = needed("url", raw.url.as_ref(), key, context);
            let url = url.and_then(|text| url_of_http(&key.child("url"), text, context));
            DestinationKind::Http { url: url?, allow_private: raw.allow_private }
        }
        Type::Stdout => DestinationKind::Stdout,
    };
    fits.then_some(kind)
}

/// A key that says nothing for this kind would be believed to do something.
fn only_own_keys(key: &Key, raw: &RawDestination, context: &mut Context<'_>) -> bool {
    let rules: [(&str, bool, &[Type]); 2] =
        [("url", raw.url.is_some(), &[Type::Http]), ("allow_private", raw.allow_private, &[Type::Http])];
    let mut fits = true;
    for (name, _, _) in rules.iter().filter(|(_, written, kinds)| *written && !kinds.contains(&raw.kind)) {
        context.report.error_help(
            &key.child(name),
            "this kind of destination has no such key",
            "leave it out",
        );
        fits = false;
    }
    fits
}

fn needed<'a, T>(name: &str, value: Option<&'a T>, key: &Key, context: &mut Context<'_>) -> Option<&'a T> {
    if value.is_none() {
        context.report.error_help(&key.child(name), "is missing", "this kind of destination needs it");
    }
    value
}

fn url_of_http(key: &Key, text: &str, context: &mut Context<'_>) -> Option<Uri> {
    // The text is never repeated: it may hold a password or a token.
    let what = match text.parse::<Uri>() {
        Err(error) => format!("expected a URL: {error}"),
        Ok(uri) if !matches!(uri.scheme_str(), Some("http" | "https")) => {
            "expected a URL that begins with https:// or http://".to_owned()
        }
        Ok(uri) if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) => {
            "expected no user or password in the URL; use headers".to_owned()
        }
        Ok(_) if text.contains('#') => "expected no fragment (`#`) in the URL".to_owned(),
        Ok(uri) => {
            let host = uri.host().unwrap_or_default();
            let local = host == "localhost" || host.starts_with("127.") || host == "[::1]";
            if uri.scheme_str() == Some("http") && !local {
                context.report.warn(key, "events travel unencrypted", "use https://");
            }
            return Some(uri);
        }
    };
    context.report.error_help(key, what, "for example \"https://crm.example.com/hooks\"");
    None
}
