//! TLS of a destination: authorities of its own, and a certificate of ours.

use std::sync::Arc;

use super::Context;
use crate::config::key::Key;
use crate::config::raw::RawDestination;
use crate::egress::Credentials;

/// Read and checked here, so that a wrong file stops the start and not the first delivery. The answer is `None` after an
/// error, and `Some(None)` where nothing is asked for.
#[expect(clippy::option_option, reason = "wrong, absent and present are three things")]
pub(super) fn credentials(
    key: &Key,
    raw: &RawDestination,
    context: &mut Context<'_>,
) -> Option<Option<Arc<Credentials>>> {
    if raw.client_cert.is_none() && raw.client_key.is_none() && raw.ca.is_none() {
        return Some(None);
    }
    if !raw.url.as_deref().is_some_and(|url| url.starts_with("https://")) {
        let help = "begin the URL with https://, or leave `client_cert`, `client_key` and `ca` out";
        context.report.error_help(&key.child("url"), "there is no TLS to use the certificates for", help);
        return None;
    }
    let mut credentials = Credentials::default();
    let trusted = trust(&mut credentials, key, raw, context);
    let presented = present(&mut credentials, key, raw, context);
    (trusted && presented).then(|| Some(Arc::new(credentials)))
}

fn trust(credentials: &mut Credentials, key: &Key, raw: &RawDestination, context: &mut Context<'_>) -> bool {
    let Some(text) = &raw.ca else { return true };
    let key = key.child("ca");
    let Some((pem, reference)) = context.resolve(&key, &text.0) else { return false };
    let trusted = credentials.trust(pem.expose());
    report(trusted, &key, &reference.describe(), context)
}

fn present(
    credentials: &mut Credentials,
    key: &Key,
    raw: &RawDestination,
    context: &mut Context<'_>,
) -> bool {
    let (chain, secret) = match (&raw.client_cert, &raw.client_key) {
        (None, None) => return true,
        (Some(chain), Some(secret)) => (chain, secret),
        (chain, _) => {
            let (there, missing) =
                if chain.is_some() { ("client_cert", "client_key") } else { ("client_key", "client_cert") };
            let what = format!("it is of no use without `{missing}`");
            context.report.error_help(&key.child(there), what, format!("add `{missing}`"));
            return false;
        }
    };
    let (cert_key, secret_key) = (key.child("client_cert"), key.child("client_key"));
    let chain = context.resolve(&cert_key, &chain.0);
    let secret = context.resolve(&secret_key, &secret.0);
    let (Some((chain, reference)), Some((secret, _))) = (chain, secret) else { return false };
    let presented = credentials.present(chain.expose(), secret.expose());
    report(presented, &cert_key, &reference.describe(), context)
}

fn report(done: Result<(), String>, key: &Key, reference: &str, context: &mut Context<'_>) -> bool {
    let Err(problem) = done else { return true };
    let help = "PEM, as in `-----BEGIN CERTIFICATE-----`";
    context.report.error_help(key, format!("{reference}: {problem}"), help);
    false
}
