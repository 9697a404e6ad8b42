//! `[[verify]]`

use std::sync::Arc;

use super::Compiler;
use super::check::{self, Place};
use crate::provider::algorithm::Algorithm;
use crate::provider::encoding::Encoding;
use crate::provider::plan::{Freshness, Grammar, Signature, TokenRules, Unit, Variant};
use crate::provider::raw;
use crate::provider::template::{Pattern, Source, Template};
use crate::provider::text::{Text, Texts};

impl Compiler<'_> {
    pub(super) fn variants(&mut self, raw: &[raw::Verify]) -> Vec<Variant> {
        if raw.is_empty() {
            self.error(None, "verify", "a definition needs at least one [[verify]]".into());
        }
        let variants: Vec<Variant> = raw
            .iter()
            .enumerate()
            .filter_map(|(at, raw)| self.variant(raw, &format!("verify[{at}]")))
            .collect();
        self.partners(raw, &variants);
        variants
    }

    fn variant(&mut self, raw: &raw::Verify, key: &str) -> Option<Variant> {
        let algorithm = self.word(
            &raw.algorithm,
            &format!("{key}.algorithm"),
            &Algorithm::names(),
            Algorithm::from_name,
        )?;
        let text_key = format!("{key}.text");
        let texts = self.templates(&raw.text, &text_key, Place::Signed);
        self.text_fits(raw, algorithm, &texts, &text_key);
        let token = self.token_rules(raw, algorithm, key);
        let mut variant = Variant {
            name: Arc::from(raw.name.as_str()),
            when: self.conditions(&raw.when, &format!("{key}.when"), Place::Request),
            opt_in: raw.opt_in,
            algorithm,
            keys: self.keys(raw, token.as_ref(), key),
            token,
            chain: raw.chain.as_ref().map(|it| self.chain(it, &format!("{key}.chain"))),
            signature: self.signature(raw, algorithm, &format!("{key}.signature"))?,
            timestamp: raw.timestamp.as_ref().and_then(|it| self.freshness(it, &format!("{key}.timestamp"))),
            require: self.conditions(&raw.require, &format!("{key}.require"), Place::Beside),
            each: None,
            with: raw.with.as_ref().map(|name| Arc::from(name.as_str())),
            fetch: self.fetch(raw, algorithm, &format!("{key}.fetch")),
            texts,
            // Said once the handshakes are known.
            signs_challenges: false,
        };
        variant.each = self.each(raw, &variant, key);
        self.parts_exist(raw, &variant, key);
        self.timestamp_is_signed(raw, &variant, key);
        self.token_fits(raw, &variant, key);
        Some(variant)
    }

    fn text_fits(&mut self, raw: &raw::Verify, algorithm: Algorithm, texts: &[Template], key: &str) {
        let at = raw.text.iter().next().unwrap_or(&raw.algorithm);
        let holds_secret = |text: &Template| text.values().iter().any(|v| v.source == Source::Secret);
        let problem = match algorithm {
            Algorithm::Token if !raw.text.is_empty() => "a token signs nothing: leave `text` out",
            Algorithm::Jws if !raw.text.is_empty() => "a token says itself what is signed: leave `text` out",
            Algorithm::None | Algorithm::FetchBack if !raw.text.is_empty() => {
                "nothing is signed: leave `text` out"
            }
            Algorithm::Token | Algorithm::Jws | Algorithm::None | Algorithm::FetchBack => return,
            _ if raw.text.is_empty() => "say what is signed, for example \"{body}\"",
            Algorithm::Digest(_) if !texts.iter().all(holds_secret) => {
                "a plain hash proves nothing unless {secret} is part of the text"
            }
            _ => return,
        };
        self.error(Some(at), key, problem.into());
    }

    fn keys(&mut self, raw: &raw::Verify, token: Option<&TokenRules>, key: &str) -> Vec<Template> {
        let keys = self.templates(&raw.key, &format!("{key}.key"), Place::Key);
        if !keys.is_empty() {
            return keys;
        }
        // A token's key is what it reads as: a public key is never a shared secret too.
        let public = token.is_some_and(TokenRules::takes_public);
        let shared = token.is_none_or(TokenRules::takes_shared);
        let usual = [public.then_some("{secret|public-key}"), shared.then_some("{secret}")];
        usual.into_iter().flatten().filter_map(|text| Template::parse(text).ok()).collect()
    }

    fn signature(&mut self, verify: &raw::Verify, algorithm: Algorithm, key: &str) -> Option<Signature> {
        let raw = &verify.signature;
        let encodings = self.encodings(verify, algorithm, &format!("{key}.encoding"))?;
        if raw.from.is_empty() && algorithm.signs() {
            self.error(
                Some(&verify.algorithm),
                &format!("{key}.from"),
                "say where the signature stands".into(),
            );
        }
        let from = self.templates(&raw.from, &format!("{key}.from"), Place::Request);
        let is_header = |from: &Template| matches!(from.sole(), Some(value) if matches!(value.source, Source::Header(_)) && value.filters.is_empty());
        if raw.repeated && !from.iter().all(is_header) {
            let message =
                "only a header as it is may come several times, for example \"{header:x-signature}\"";
            self.error(raw.from.iter().next(), &format!("{key}.repeated"), message.into());
        }
        Some(Signature {
            from,
            repeated: raw.repeated,
            split: raw.split.as_ref().map(|text| self.plain(text, &format!("{key}.split"))),
            grammar: self.grammar(raw, key)?,
            encodings,
            is_token: algorithm == Algorithm::Jws,
        })
    }

    fn encodings(&mut self, verify: &raw::Verify, algorithm: Algorithm, key: &str) -> Option<Vec<Encoding>> {
        let given = &verify.signature.encoding;
        match (algorithm, given.iter().next()) {
            (Algorithm::Jws | Algorithm::None | Algorithm::FetchBack, None) => Some(vec![Encoding::Plain]),
            (Algorithm::Jws | Algorithm::None | Algorithm::FetchBack, Some(text)) => {
                self.error(Some(text), key, "this algorithm has no encoding of its own to choose".into());
                None
            }
            (_, Some(_)) => {
                let names = Encoding::names().collect::<Vec<_>>().join(", ");
                self.words(given, key, &names, Encoding::from_name)
            }
            (_, None) => {
                self.error(Some(&verify.algorithm), key, "say how the signature is written".into());
                None
            }
        }
    }

    fn grammar(&mut self, raw: &raw::Signature, key: &str) -> Option<Grammar> {
        match (&raw.pattern, &raw.pairs, &raw.take) {
            (None, Some(separator), Some(take)) => Some(Grammar::Pairs {
                separator: self.plain(separator, &format!("{key}.pairs")),
                take: self.plain(take, &format!("{key}.take")),
            }),
            (Some(pattern), None, None) => {
                let filled = self.plain(pattern, &format!("{key}.pattern"));
                let parsed = Pattern::parse(&filled, raw.ignore_case);
                self.noted(parsed, pattern, &format!("{key}.pattern")).map(Grammar::Pattern)
            }
            (None, None, None) => Pattern::parse("{signature}", false).ok().map(Grammar::Pattern),
            (pattern, pairs, take) => {
                let at: Option<&Text> = pattern.as_ref().or(pairs.as_ref()).or(take.as_ref());
                self.error(at, key, "use `pattern`, or `pairs` together with `take`".into());
                None
            }
        }
    }

    fn freshness(&mut self, raw: &raw::Timestamp, key: &str) -> Option<Freshness> {
        let value = self.template(&raw.value, &format!("{key}.value"), Place::Beside)?;
        if value.is_empty() {
            return None;
        }
        Some(Freshness {
            value,
            units: self.units(&raw.unit, &format!("{key}.unit"))?,
            past: self.duration(&raw.past, &format!("{key}.past"))?,
            future: self.duration(&raw.future, &format!("{key}.future"))?,
        })
    }

    pub(super) fn units(&mut self, texts: &Texts, key: &str) -> Option<Vec<Unit>> {
        self.words(texts, key, &Unit::NAMES.join(", "), Unit::from_name)
    }

    /// `{part:…}` names something that the place of the signature has.
    fn parts_exist(&mut self, raw: &raw::Verify, variant: &Variant, key: &str) {
        let timestamp = variant.timestamp.as_ref().map(|freshness| &freshness.value);
        let require = variant.require.iter().flat_map(|condition| condition.templates());
        let used = variant.texts.iter().chain(timestamp).chain(require).flat_map(Template::values);
        for value in used {
            if let Source::Part(name) = &value.source
                && !variant.has_part(name)
            {
                let at = raw.text.iter().next().unwrap_or(&raw.algorithm);
                self.error(Some(at), key, format!("`{{part:{name}}}` is not in the signature's pattern"));
            }
        }
    }

    /// A timestamp that the signature does not cover can be moved by anyone: it would prove nothing.
    fn timestamp_is_signed(&mut self, raw: &raw::Verify, variant: &Variant, key: &str) {
        let (Some(freshness), Some(raw)) = (&variant.timestamp, &raw.timestamp) else { return };
        for value in freshness.value.values() {
            if !check::covers(variant, &value.source) {
                let message = format!("{} is not part of `text`, so its age proves nothing", value.source);
                self.error(Some(&raw.value), &format!("{key}.timestamp.value"), message);
            }
        }
    }
}
