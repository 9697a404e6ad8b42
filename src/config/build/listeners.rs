//! `[server]` and `[admin]`.

use std::net::SocketAddr;
use std::time::Duration;

use super::Context;
use super::values::{MINUTE, TENTH};
use crate::config::key::Key;
use crate::config::raw::{RawAdmin, RawServer, RawTls};
use crate::config::{Admin, Server, Tls};
use crate::model::Networks;

pub(super) fn server(raw: &RawServer, context: &mut Context<'_>) -> Option<Server> {
    let key = Key::of(&["server"]);
    let upload = TENTH..=5 * MINUTE;
    let listen = address(&key.child("listen"), &raw.listen, context);
    let public_url =
        raw.public_url.as_deref().and_then(|url| public_url(&key.child("public_url"), url, context));
    let tls = raw.tls.as_ref().map(|raw| tls(&key.child("tls"), raw, context));
    let trusted_proxies = proxies(&key.child("trusted_proxies"), &raw.trusted_proxies, context);
    let header_timeout = context.duration(&key.child("header_timeout"), &raw.header_timeout, upload.clone());
    let body_timeout = context.duration(&key.child("body_timeout"), &raw.body_timeout, upload);
    let drain_delay =
        context.duration(&key.child("drain_delay"), &raw.drain_delay, Duration::ZERO..=5 * MINUTE);
    let drain_timeout =
        context.duration(&key.child("drain_timeout"), &raw.drain_timeout, Duration::ZERO..=10 * MINUTE);
    Some(Server {
        listen: listen?,
        public_url,
        tls,
        trusted_proxies,
        max_in_flight: raw.max_in_flight,
        max_connections: raw.max_connections,
        header_timeout: header_timeout?,
        body_timeout: body_timeout?,
        drain_delay: drain_delay?,
        drain_timeout: drain_timeout?,
    })
}

pub(super) fn admin(raw: &RawAdmin, context: &mut Context<'_>) -> Option<Admin> {
    let key = Key::of(&["admin"]);
    let listen = address(&key.child("listen"), &raw.listen, context);
    let token_key = key.child("metrics_token");
    let metrics_token = raw.metrics_token.as_ref().and_then(|text| context.secret(&token_key, text));
    if listen.is_some_and(|listen| !listen.ip().is_loopback()) && raw.metrics_token.is_none() {
        let what = format!("{:?} is not loopback, so that anybody could read the metrics", raw.listen);
        let help = "set admin.metrics_token = \"env:NAME\", or listen on 127.0.0.1";
        context.report.error_help(&key.child("listen"), what, help);
    }
    Some(Admin { listen: listen?, metrics_token: metrics_token.map(|(secret, _)| secret) })
}

fn address(key: &Key, text: &str, context: &mut Context<'_>) -> Option<SocketAddr> {
    let address = text.parse().ok();
    if address.is_none() {
        let what = format!("found {text:?}, expected an IP address and a port");
        context.report.error_help(
            key,
            what,
            "for example \"127.0.0.1:8080\", \"0.0.0.0:8080\" or \"[::]:8080\"",
        );
    }
    address
}

fn proxies(key: &Key, networks: &[String], context: &mut Context<'_>) -> Networks {
    Networks::parse(&networks.join(" ")).unwrap_or_else(|problem| {
        let help = "name your own proxies only: whoever is in these networks is believed";
        context.report.error_help(key, problem, help);
        Networks::default()
    })
}

fn public_url(key: &Key, text: &str, context: &mut Context<'_>) -> Option<String> {
    let url = text.strip_suffix('/').unwrap_or(text);
    let fits = url.parse::<http::Uri>().is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.path() == "/"
            && uri.query().is_none()
            && uri.authority().is_some_and(|authority| !authority.as_str().contains('@'))
    });
    if fits && !url.ends_with('/') && !url.contains('#') {
        return Some(url.to_owned());
    }
    // The text is not repeated: it may hold a password.
    context.report.error_help(
        key,
        "expected scheme, host and port only",
        "for example \"https://hooks.example.com\"; paths belong to endpoints",
    );
    None
}

fn tls(key: &Key, raw: &RawTls, context: &mut Context<'_>) -> Tls {
    let folder = context.report.places.nearest(key).folder();
    let mut file = |name: &str, path: &str| {
        let path = folder.join(path);
        if let Err(error) = std::fs::File::open(&path) {
            context.report.error(&key.child(name), format!("cannot read {}: {error}", path.display()));
        }
        path
    };
    Tls { certificate: file("certificate", &raw.certificate), key: file("key", &raw.key) }
}
