//! One HTTP request and its keys as flags, shared by `verify` and `sign`.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use bytes::Bytes;
use chrono::DateTime;

use crate::clock::{Clock as _, SystemClock, Timestamp};
use crate::config::{Environment, SecretRef};
use crate::model::{Headers, Request, Secret};
use crate::provider::{Catalogue, Provider};

/// The request and the keys.
#[derive(Debug, clap::Args)]
pub struct RequestArgs {
    /// The provider's id
    #[arg(value_name = "PROVIDER")]
    pub provider: String,
    /// The key as the provider shows it: `env:NAME`, `file:PATH` or `literal:VALUE`; may be repeated, positions start at 1
    #[arg(long = "secret", value_name = "REF")]
    pub secrets: Vec<String>,
    /// A constant that the definition takes (`webhook_id`, `client_id`, `url`, …); may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
    /// The request's method
    #[arg(long, value_name = "M", default_value = "POST")]
    pub method: String,
    /// The full public URL that the provider called
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// A header of the request; may be repeated, order and repetition are kept
    #[arg(short = 'H', long = "header", value_name = "Name: value")]
    pub headers: Vec<String>,
    /// The client's address, where the definition asks for it
    #[arg(long, value_name = "IP")]
    pub peer: Option<IpAddr>,
    /// The body's exact bytes; `-` is standard input [default: an empty body]
    #[arg(long, value_name = "F|-")]
    pub body_file: Option<PathBuf>,
    /// The clock: Unix seconds, RFC 3339, or `request` for the request's own signed time [default: now]
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// Which of the provider's variants, where it has several
    #[arg(long, value_name = "V")]
    pub variant: Option<String>,
    /// A folder of own definitions, over the embedded ones; may be repeated
    #[arg(long, value_name = "DIR")]
    pub providers_dir: Vec<PathBuf>,
}

/// What the flags say, read and checked.
#[derive(Debug)]
pub struct Captured {
    /// Configured with `--set` and `--variant`.
    pub provider: Arc<Provider>,
    /// In the order given.
    pub secrets: Vec<Secret>,
    /// The request.
    pub request: Request,
    /// The clock.
    pub at: At,
}

/// What `--at` says.
#[derive(Clone, Copy, Debug)]
pub enum At {
    /// This moment.
    Moment(Timestamp),
    /// The request's own signed time.
    Request,
}

impl RequestArgs {
    /// Reads everything that the flags name.
    pub fn read(&self) -> anyhow::Result<Captured> {
        let catalogue = catalogue(&self.providers_dir)?;
        let Some(known) = catalogue.get(&self.provider) else {
            bail!("there is no provider `{}`; `hookgate providers` lists them", self.provider);
        };
        let mut settings = self.settings()?;
        // The public URL is a setting of the request where the definition has none of that name.
        let has_url = known.settings().iter().any(|setting| setting.name == "url");
        let url = if has_url { None } else { settings.remove("url") };
        Ok(Captured {
            provider: known.configure_variant(&settings, self.variant.as_deref())?,
            secrets: self.secrets.iter().map(|text| secret(text)).collect::<anyhow::Result<_>>()?,
            request: self.request(url.as_deref().or(self.url.as_deref()))?,
            at: self.at()?,
        })
    }

    fn settings(&self) -> anyhow::Result<BTreeMap<String, String>> {
        let pair = |text: &String| {
            let (name, value) =
                text.split_once('=').with_context(|| format!("--set {text}: expected NAME=VALUE"))?;
            Ok((name.to_owned(), value.to_owned()))
        };
        self.settings.iter().map(pair).collect()
    }

    fn request(&self, url: Option<&str>) -> anyhow::Result<Request> {
        let (origin, path, query) = match url {
            Some(url) => split(url)
                .with_context(|| format!("--url {url}: expected https://host/path, or /path?query"))?,
            None => (None, "/".to_owned(), None),
        };
        let mut headers = Headers::new();
        for text in &self.headers {
            let (name, value) = text.split_once(':').context("-H: expected 'Name: value'")?;
            headers.push(name.trim(), value.trim_matches([' ', '\t']).as_bytes());
        }
        let body = self.body_file.as_deref().map_or(Ok(Bytes::new()), body)?;
        Ok(Request {
            method: self.method.to_ascii_uppercase(),
            path,
            query,
            origin,
            headers,
            body,
            peer: self.peer,
            // Whoever captured the request says what its headers are.
            by_proxy: true,
        })
    }

    fn at(&self) -> anyhow::Result<At> {
        let Some(text) = self.at.as_deref() else { return Ok(At::Moment(SystemClock.now())) };
        if text == "request" {
            return Ok(At::Request);
        }
        let seconds = text.parse().ok().and_then(|seconds| DateTime::from_timestamp(seconds, 0));
        let moment =
            seconds.or_else(|| DateTime::parse_from_rfc3339(text).ok().map(|moment| moment.to_utc()));
        moment
            .map(At::Moment)
            .with_context(|| format!("--at {text}: expected Unix seconds, RFC 3339 or `request`"))
    }
}

/// The catalogue with `dirs` over it; all faults of the definitions in one error.
pub(super) fn catalogue(dirs: &[PathBuf]) -> anyhow::Result<Catalogue> {
    Catalogue::load(dirs).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        anyhow::anyhow!("provider definitions:\n{}", lines.join("\n"))
    })
}

/// The secret that a `--secret` names.
pub(super) fn secret(text: &str) -> anyhow::Result<Secret> {
    let reference = SecretRef::parse(text).context("--secret")?;
    reference.resolve(&Environment::of_process(), Path::new("")).context("--secret")
}

fn body(path: &Path) -> anyhow::Result<Bytes> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).context("standard input")?;
        return Ok(bytes.into());
    }
    Ok(std::fs::read(path).with_context(|| path.display().to_string())?.into())
}

/// Origin, path and query, exactly as they are written. Without an origin the public URL is not known.
fn split(url: &str) -> Option<(Option<String>, String, Option<String>)> {
    let url = url.split('#').next()?;
    let (origin, rest) = if url.starts_with(['/', '?']) {
        (None, url)
    } else {
        let after_scheme = url.find("://")? + 3;
        let end = url[after_scheme..].find(['/', '?']).map_or(url.len(), |at| after_scheme + at);
        if end == after_scheme {
            return None;
        }
        let (origin, rest) = url.split_at(end);
        (Some(origin.to_owned()), rest)
    };
    let (path, query) = match rest.split_once('?') {
        Some((path, query)) => (path, Some(query.to_owned())),
        None => (rest, None),
    };
    let path = if path.is_empty() { "/" } else { path };
    Some((origin, path.to_owned(), query))
}
