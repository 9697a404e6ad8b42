//! `[verify.fetch]`, `confirm` of a handshake

use std::time::Duration;

use globset::{GlobBuilder, GlobMatcher};

use super::Compiler;
use super::check::Place;
use crate::provider::algorithm::Algorithm;
use crate::provider::fetch::{Fetch, OAuth, Target};
use crate::provider::plan::Confirm;
use crate::provider::raw;
use crate::provider::template::Template;
use crate::provider::text::{Text, Texts};

/// How long a key is kept where the definition does not say.
const CACHE: Duration = Duration::from_hours(1);
/// The longest that it may say: a key that was taken back must not live on.
const MAX_CACHE: Duration = Duration::from_hours(24);

impl Compiler<'_> {
    pub(super) fn fetch(&mut self, raw: &raw::Verify, algorithm: Algorithm, key: &str) -> Option<Fetch> {
        let asks = algorithm == Algorithm::FetchBack;
        let problem = match &raw.fetch {
            None if asks => "say what is asked: [verify.fetch] with `url` and `hosts`",
            Some(_) if asks && raw.when.is_empty() => "say which requests are asked about, with `when`",
            Some(_) if !asks && !matches!(algorithm, Algorithm::Public(_) | Algorithm::Jws) => {
                "a secret is not fetched: only public keys are"
            }
            _ => "",
        };
        if !problem.is_empty() {
            self.error(Some(&raw.algorithm), key, problem.into());
        }
        self.fetched(raw.fetch.as_ref()?, asks, key)
    }

    /// `asks`: about one request, instead of getting a key.
    fn fetched(&mut self, raw: &raw::Fetch, asks: bool, key: &str) -> Option<Fetch> {
        let place = if asks { Place::Ask } else { Place::Fetch };
        let target = self.target((&raw.url, &raw.hosts, raw.path.as_ref(), raw.allow_private), key, place)?;
        let method = raw.method.as_ref().map(|text| self.plain(text, &format!("{key}.method")));
        let json = raw.json.as_ref().map(|json| self.named(json, &format!("{key}.json"), place));
        let method = method.unwrap_or_else(|| if json.is_some() { "POST".into() } else { "GET".into() });
        if !matches!(method.as_str(), "GET" | "POST") {
            self.error(raw.method.as_ref(), &format!("{key}.method"), "a fetch is GET or POST".into());
        }
        let headers = self.named(&raw.headers, &format!("{key}.headers"), place);
        let cache = self.cache(raw, asks, key);
        let mut keys = self.templates(&raw.key, &format!("{key}.key"), Place::Fetched);
        if asks && !raw.key.is_empty() {
            let message = "an answer about one request is no key: `require` says what it must be";
            self.error(raw.key.iter().next(), &format!("{key}.key"), message.into());
        }
        if keys.is_empty() && !asks {
            keys.extend(Template::parse("{fetched|public-key}").ok());
        }
        Some(Fetch {
            target,
            method,
            headers: headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect(),
            json,
            keys,
            id: raw.id.as_ref().and_then(|text| self.template(text, &format!("{key}.id"), Place::Fetch)),
            chain: raw.chain.as_ref().map(|chain| self.chain(chain, &format!("{key}.chain"))),
            require: self.conditions(&raw.require, &format!("{key}.require"), Place::Fetched),
            cache,
            oauth: raw.oauth.as_ref().map(|oauth| self.oauth(oauth, &format!("{key}.oauth"))),
        })
    }

    fn cache(&mut self, raw: &raw::Fetch, asks: bool, key: &str) -> Option<Duration> {
        let key = format!("{key}.cache");
        let Some(text) = &raw.cache else { return (!asks).then_some(CACHE) };
        let cache = self.duration(text, &key)?;
        if asks {
            self.error(Some(text), &key, "an answer about one request is not kept".into());
            return None;
        }
        if cache > MAX_CACHE {
            self.error(
                Some(text),
                &key,
                "a key is kept for 24h at most: one that was taken back must go".into(),
            );
        }
        Some(cache)
    }

    fn oauth(&mut self, raw: &raw::OAuth, key: &str) -> OAuth {
        let url = self.plain(&raw.url, &format!("{key}.url"));
        if !url.starts_with("https://") && !url.starts_with("http://127.0.0.1") {
            self.error(Some(&raw.url), &format!("{key}.url"), "a token is had over https only".into());
        }
        OAuth {
            url,
            client_id: self.plain(&raw.client_id, &format!("{key}.client_id")),
            client_secret: self.plain(&raw.client_secret, &format!("{key}.client_secret")),
            scope: raw
                .scope
                .as_ref()
                .map(|text| self.plain(text, &format!("{key}.scope")))
                .unwrap_or_default(),
        }
    }

    pub(super) fn confirm(&mut self, raw: &raw::Handshake, key: &str) -> Option<Confirm> {
        let confirm = raw.confirm.as_ref()?;
        if !raw.signed {
            let message =
                "a stranger must not choose what the gateway calls: only a `signed` handshake is confirmed";
            self.error(Some(&confirm.url), key, message.into());
        }
        let method = confirm.method.as_ref().map(|text| self.plain(text, &format!("{key}.method")));
        let method = method.unwrap_or_else(|| "GET".into());
        if !matches!(method.as_str(), "GET" | "POST") {
            self.error(confirm.method.as_ref(), &format!("{key}.method"), "it is GET or POST".into());
        }
        let rules = (&confirm.url, &confirm.hosts, confirm.path.as_ref(), confirm.allow_private);
        Some(Confirm { target: self.target(rules, key, Place::Request)?, method })
    }

    fn target(
        &mut self,
        (url, hosts, path, allow_private): (&Text, &Texts, Option<&Text>, bool),
        key: &str,
        place: Place,
    ) -> Option<Target> {
        let template = self.template(url, &format!("{key}.url"), place)?;
        let host_key = format!("{key}.hosts");
        let names: Vec<String> = hosts.iter().map(|text| self.plain(text, &host_key)).collect();
        if names.is_empty() {
            self.error(
                Some(url),
                &host_key,
                "say which hosts may be called, for example \"*.example.com\"".into(),
            );
        }
        let label =
            |label: &str| label == "*" || (!label.is_empty() && !label.contains(['*', '/', ':', '@']));
        for (text, name) in hosts.iter().zip(&names) {
            let two_given =
                name.split('.').rev().take(2).filter(|label| !label.contains(['*', '+', '#'])).count() == 2;
            if !name.split('.').all(label) || (!two_given && !allow_private) {
                let message = "a host is labels between dots, `*` being one whole label, `+` letters and `#` digits in one, the last two given";
                self.error(Some(text), &host_key, message.into());
            }
        }
        let path = path.and_then(|text| self.path(text, &format!("{key}.path")));
        Some(Target { url: template, hosts: names, path, allow_private })
    }

    fn path(&mut self, text: &Text, key: &str) -> Option<GlobMatcher> {
        let glob = self.plain(text, key);
        let built = GlobBuilder::new(&glob).literal_separator(false).build();
        self.noted(built.map(|glob| glob.compile_matcher()).map_err(|error| error.to_string()), text, key)
    }
}
