//! `[[verify]]`: tokens, chains of certificates, items proved one by one, and proofs that need another.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use x509_parser::der_parser::oid::Oid;

use super::Compiler;
use crate::provider::algorithm::Algorithm;
use crate::provider::chain::{Chain, Roots};
use crate::provider::json::Picker;
use crate::provider::jws::JwsAlgorithm;
use crate::provider::key::certificates;
use crate::provider::plan::{Each, Items, TokenRules, Variant};
use crate::provider::raw;
use crate::provider::sample;
use crate::provider::template::{Source, Template};
use crate::provider::text::{Text, Texts};

/// How far clocks may differ where a definition does not say.
const LEEWAY: Duration = Duration::from_mins(1);

impl Compiler<'_> {
    /// Which tokens are taken, where the variant takes any.
    pub(super) fn token_rules(
        &mut self,
        raw: &raw::Verify,
        algorithm: Algorithm,
        key: &str,
    ) -> Option<TokenRules> {
        if algorithm != Algorithm::Jws {
            let at = raw.allow.iter().next().or(raw.leeway.as_ref());
            if let Some(at) = at {
                self.error(Some(at), key, "`allow` and `leeway` belong to `algorithm = \"jws\"`".into());
            }
            return None;
        }
        let allow_key = format!("{key}.allow");
        let names = JwsAlgorithm::names();
        let allow: Vec<JwsAlgorithm> = raw
            .allow
            .iter()
            .filter_map(|text| self.word(text, &allow_key, &names, JwsAlgorithm::from_name))
            .collect();
        if raw.allow.is_empty() {
            let message = format!("say which algorithms a token may name, out of {names}");
            self.error(Some(&raw.algorithm), &allow_key, message);
        }
        let leeway = raw.leeway.as_ref().and_then(|text| self.duration(text, &format!("{key}.leeway")));
        Some(TokenRules { allow, leeway: leeway.unwrap_or(LEEWAY) })
    }

    pub(super) fn chain(&mut self, raw: &raw::Chain, key: &str) -> Chain {
        let roots_key = format!("{key}.roots");
        let public = raw.roots.iter().any(|text| text.as_str() == "public");
        let roots = match (public, self.roots(&raw.roots, &roots_key)) {
            (true, own) if own.is_empty() => Roots::Public,
            (true, own) => Roots::PublicOr(own),
            (false, own) => Roots::These(own),
        };
        Chain {
            roots,
            leaf_oid: raw.leaf_oid.as_ref().and_then(|text| self.oid(text, &format!("{key}.leaf_oid"))),
            intermediate_oid: raw
                .intermediate_oid
                .as_ref()
                .and_then(|text| self.oid(text, &format!("{key}.intermediate_oid"))),
            names: raw.names.iter().map(|text| self.plain(text, &format!("{key}.names"))).collect(),
        }
    }

    fn roots(&mut self, raw: &Texts, key: &str) -> Vec<Arc<[u8]>> {
        let mut out = Vec::new();
        for text in raw.iter().filter(|text| text.as_str() != "public") {
            let message = "a root is a certificate as PEM or base64 DER, or the word `public`";
            let read = certificates(text.as_str().as_bytes()).ok_or_else(|| message.to_owned());
            out.extend(self.noted(read, text, key).into_iter().flatten().map(Arc::from));
        }
        out
    }

    fn oid(&mut self, text: &Text, key: &str) -> Option<Oid<'static>> {
        let numbers: Result<Vec<u64>, _> = text.as_str().split('.').map(str::parse).collect();
        let oid = numbers.ok().and_then(|numbers| Oid::from(&numbers).ok());
        let oid = oid.ok_or_else(|| "an object identifier is written like 1.2.840.113635.100.6.11.1".into());
        self.noted(oid, text, key)
    }

    pub(super) fn each(&mut self, raw: &raw::Verify, variant: &Variant, key: &str) -> Option<Each> {
        let sources = read_by(variant);
        let Some(text) = &raw.each else {
            if sources.iter().any(|source| matches!(source, Source::Root(_))) {
                let message = "`{root:…}` is what holds the items of `each`, and there is no `each`";
                self.error(Some(&raw.algorithm), key, message.into());
            }
            return None;
        };
        let key = format!("{key}.each");
        let path = text.as_str();
        if !path.starts_with('/') || !path.ends_with("/*") {
            let message = "a path to items starts with `/` and ends with `/*`, for example `/events/*`";
            self.error(Some(text), &key, message.into());
        }
        if sources.iter().any(|source| matches!(source, Source::Body | Source::Form(_))) {
            let message = "every item is proved by itself: `{raw:}` is its text; `{body}` and `{form:…}` would be read for each";
            self.error(Some(text), &key, message.into());
        }
        let pointers = sources.into_iter().filter_map(|source| match source {
            Source::Root(pointer) => Some(pointer),
            _ => None,
        });
        Some(Each {
            path: path.to_owned(),
            items: Items::Arrays(vec![path.to_owned()]),
            root: Picker::new(pointers.collect()),
        })
    }

    /// What only some algorithms can have.
    pub(super) fn token_fits(&mut self, raw: &raw::Verify, variant: &Variant, key: &str) {
        let is_token = variant.algorithm == Algorithm::Jws;
        let of_token =
            |source: &Source| matches!(source, Source::Claim(_) | Source::ClaimRaw(_) | Source::Jose(_));
        let problem = match variant.algorithm {
            _ if !is_token && read_by(variant).iter().any(of_token) => {
                "{claim:…} and {jose:…} are there with `algorithm = \"jws\"` only"
            }
            _ if !is_token && raw.chain.is_some() => {
                "a chain of certificates comes with `algorithm = \"jws\"` only"
            }
            Algorithm::Jws
                if variant.chain.is_some()
                    && !variant.token.as_ref().is_some_and(TokenRules::takes_public) =>
            {
                "certificates hold public keys: allow algorithms with such"
            }
            Algorithm::None if !raw.opt_in => {
                "`none` proves nothing: an operator has to name such a variant, so it needs `opt_in = true`"
            }
            Algorithm::None if !raw.signature.from.is_empty() => "nothing is signed: leave `signature` out",
            _ => return,
        };
        self.error(Some(&raw.algorithm), key, problem.into());
    }

    /// What a token that is signed here says: templates in which placeholders may stand beside settings.
    pub(super) fn claims(&mut self, raw: &BTreeMap<String, Text>, key: &str) -> Vec<(String, String)> {
        let mut out = Vec::new();
        for (name, text) in raw {
            let key = format!("{key}.{name}");
            // A placeholder is known when it is signed; whatever it becomes has no braces.
            let filled = self.values.with(&sample::PLACEHOLDERS, text.as_str());
            let checked = filled.and_then(|filled| {
                let shown = sample::PLACEHOLDERS
                    .iter()
                    .fold(filled.clone(), |text, name| text.replace(&format!("${{{name}}}"), "0"));
                Template::parse(&shown).map(|_| filled)
            });
            out.extend(self.noted(checked, text, &key).map(|filled| (name.clone(), filled)));
        }
        out
    }

    /// `with` names another variant, which stands on its own.
    pub(super) fn partners(&mut self, raw: &[raw::Verify], variants: &[Variant]) {
        for (at, raw) in raw.iter().enumerate() {
            let Some(name) = &raw.with else { continue };
            let other = variants.iter().find(|variant| *variant.name == *name.as_str());
            let fits = other.is_some_and(|other| other.with.is_none() && *other.name != *raw.name.as_str());
            if !fits {
                let message = "name another variant of this definition that has no `with` itself";
                self.error(Some(name), &format!("verify[{at}].with"), message.into());
            }
        }
    }
}

/// The sources that are read for every signature, and for every item.
fn read_by(variant: &Variant) -> Vec<Source> {
    let timestamp = variant.timestamp.as_ref().map(|freshness| &freshness.value);
    let require = variant.require.iter().flat_map(|condition| condition.templates());
    let templates = variant.texts.iter().chain(&variant.signature.from).chain(timestamp).chain(require);
    templates.flat_map(Template::values).map(|value| value.source.clone()).collect()
}
