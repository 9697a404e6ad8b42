//! A definition compiled into what is done per request.

use std::sync::Arc;
use std::time::Duration;

use super::algorithm::Algorithm;
use super::chain::{Chain, Roots};
use super::encoding::Encoding;
use super::fetch::{Fetch, Target};
use super::form::Form;
use super::json::Picker;
use super::jws::JwsAlgorithm;
use super::template::{Condition, Filter, Pattern, Source, Template};
use crate::model::Headers;

/// One way in which a provider signs.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub(crate) name: Arc<str>,
    /// What must hold for this variant to be the one. Empty: that its signature is there.
    pub(crate) when: Vec<Condition>,
    /// Only used where an operator names it.
    pub(crate) opt_in: bool,
    pub(crate) algorithm: Algorithm,
    /// Where it is a token: which ones are taken.
    pub(crate) token: Option<TokenRules>,
    /// How the secret's text becomes a key; all that succeed are tried.
    pub(crate) keys: Vec<Template>,
    /// Where the key comes in certificates: which are believed.
    pub(crate) chain: Option<Chain>,
    /// What is signed; all that the request allows are tried. None where the secret itself is sent.
    pub(crate) texts: Vec<Template>,
    pub(crate) signature: Signature,
    pub(crate) timestamp: Option<Freshness>,
    /// What must hold besides.
    pub(crate) require: Vec<Condition>,
    /// Where every item of the body is proved by itself.
    pub(crate) each: Option<Each>,
    /// The variant that must hold besides.
    pub(crate) with: Option<Arc<str>>,
    /// What is fetched, where no key is configured.
    pub(crate) fetch: Option<Fetch>,
    /// Whether handshakes have challenges signed with the same secret: then no text that could be one is believed.
    pub(crate) signs_challenges: bool,
}

/// Which tokens a variant takes.
#[derive(Clone, Debug)]
pub(crate) struct TokenRules {
    /// The algorithms that a header may name.
    pub(crate) allow: Vec<JwsAlgorithm>,
    /// How far clocks may differ where `exp` and `nbf` are judged.
    pub(crate) leeway: Duration,
}

impl TokenRules {
    /// Whether one of the algorithms has a shared secret.
    pub(crate) fn takes_shared(&self) -> bool {
        self.allow.iter().any(|allowed| matches!(allowed, JwsAlgorithm::Shared(_)))
    }

    /// Whether one of the algorithms has a public key.
    pub(crate) fn takes_public(&self) -> bool {
        self.allow.iter().any(|allowed| matches!(allowed, JwsAlgorithm::Public(_)))
    }
}

/// The items that are proved one by one.
#[derive(Clone, Debug)]
pub(crate) struct Each {
    /// A path such as `/items/*`.
    pub(crate) path: String,
    /// The same, as items are found.
    pub(crate) items: Items,
    /// What is read of the whole, once and not for every item.
    pub(crate) root: Picker,
}

impl Variant {
    /// Whether whoever verifies can also sign.
    pub(crate) fn is_symmetric(&self) -> bool {
        match (&self.token, self.algorithm) {
            (Some(rules), _) => !rules.takes_public(),
            (None, algorithm) => !matches!(algorithm, Algorithm::Public(_) | Algorithm::FetchBack),
        }
    }

    /// Whether nothing can be proved without a secret from the operator.
    pub(crate) fn needs_secret(&self) -> bool {
        let has_roots = |chain: &Chain| match &chain.roots {
            Roots::Public | Roots::PublicOr(_) => true,
            Roots::These(roots) => !roots.is_empty(),
        };
        if let Some(fetch) = &self.fetch {
            return self.algorithm == Algorithm::FetchBack && fetch.uses_secret();
        }
        self.algorithm != Algorithm::None && !self.chain.as_ref().is_some_and(has_roots)
    }

    /// Whether the place of the signature has a part of this name.
    pub(crate) fn has_part(&self, name: &str) -> bool {
        match &self.signature.grammar {
            Grammar::Pattern(pattern) => name != "signature" && pattern.names().any(|known| known == name),
            Grammar::Pairs { take, .. } => name != take,
        }
    }

    /// Whether a signature cannot be written without the part of this name.
    pub(crate) fn needs_part(&self, name: &str) -> bool {
        let mut signed = self.texts.iter().flat_map(Template::values);
        match &self.signature.grammar {
            Grammar::Pattern(_) => self.has_part(name),
            Grammar::Pairs { .. } => signed.any(|value| value.source == Source::Part(name.to_owned())),
        }
    }
}

/// Where the signature stands and how it is written there.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    /// All that are present are read.
    pub(crate) from: Vec<Template>,
    /// Whether a header there may come several times, each with a signature.
    pub(crate) repeated: bool,
    /// What separates entries of one value.
    pub(crate) split: Option<String>,
    pub(crate) grammar: Grammar,
    /// The forms that its text may have.
    pub(crate) encodings: Vec<Encoding>,
    /// Whether it is a token, which may be long.
    pub(crate) is_token: bool,
}

/// The shape of one entry.
#[derive(Clone, Debug)]
pub(crate) enum Grammar {
    /// Fixed text around captures.
    Pattern(Pattern),
    /// `name=value` pairs between separators, one name being the signature's, the others parts.
    Pairs { separator: String, take: String },
}

/// How old and how new a request may be.
#[derive(Clone, Debug)]
pub(crate) struct Freshness {
    pub(crate) value: Template,
    /// The first that reads it counts.
    pub(crate) units: Vec<Unit>,
    pub(crate) past: Duration,
    pub(crate) future: Duration,
}

/// How a moment is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Unix seconds, digits only.
    Seconds,
    /// Unix milliseconds, digits only.
    Milliseconds,
    /// RFC 3339.
    Rfc3339,
    /// As in HTTP's `Date`.
    HttpDate,
    /// `YYYY-MM-DD HH:MM:SS`, in UTC.
    DateTime,
}

impl Unit {
    /// All names, for messages.
    pub(crate) const NAMES: [&'static str; 5] =
        ["seconds", "milliseconds", "rfc3339", "http-date", "date-time"];

    /// By its name in definitions.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "seconds" => Some(Self::Seconds),
            "milliseconds" => Some(Self::Milliseconds),
            "rfc3339" => Some(Self::Rfc3339),
            "http-date" => Some(Self::HttpDate),
            "date-time" => Some(Self::DateTime),
            _ => None,
        }
    }
}

/// Values of which the first that is there and not empty counts.
pub(crate) type FirstOf = Vec<Template>;

/// How a genuine request becomes events.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    pub(crate) format: Format,
    /// Where the document stands; the body unless said.
    pub(crate) document: FirstOf,
    pub(crate) batch: Option<Batch>,
    pub(crate) id: FirstOf,
    pub(crate) event_type: FirstOf,
    pub(crate) occurred_at: Option<(FirstOf, Vec<Unit>)>,
    pub(crate) account: FirstOf,
    pub(crate) ordering_key: FirstOf,
    /// Whether events with the same key are handled in the order of their arrival.
    pub(crate) ordered: bool,
    pub(crate) version: FirstOf,
    /// All JSON pointers of the above, read in one pass.
    pub(crate) picker: Picker,
    /// Whether the signature covers the id and the type.
    pub(crate) id_signed: bool,
    pub(crate) type_signed: bool,
}

impl Recipe {
    /// Whether the bytes of an event with these headers are the JSON that is read.
    pub(crate) fn is_body(&self, headers: &Headers) -> bool {
        self.format.is_json() && self.document.is_empty() && !Form::is_named(headers)
    }
}

/// A request with several events in it.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    /// What must hold, else the whole is one event.
    pub(crate) when: Vec<Condition>,
    pub(crate) items: Items,
}

/// Where the items of a batch stand.
#[derive(Clone, Debug)]
pub(crate) enum Items {
    /// In arrays of a JSON document, at these paths.
    Arrays(Vec<String>),
    /// Elements of an XML document, at these paths.
    Elements(Vec<String>),
    /// Each line is one.
    Lines,
}

/// How the document is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON
    Json,
    /// JSON values, one in each line.
    JsonLines,
    /// XML
    Xml,
    /// A form: only `{form:…}`.
    Form,
    /// A form of several parts: only `{form:…}` and `{file:…}`.
    Multipart,
    /// Nothing is read from the body.
    Opaque,
}

impl Format {
    /// All names, for messages.
    pub(crate) const NAMES: [&'static str; 6] = ["json", "json-lines", "xml", "form", "multipart", "opaque"];

    /// Whether events, or items of a batch, are JSON.
    pub(crate) fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::JsonLines)
    }

    /// By its name in definitions.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "json" => Some(Self::Json),
            "json-lines" => Some(Self::JsonLines),
            "xml" => Some(Self::Xml),
            "form" => Some(Self::Form),
            "multipart" => Some(Self::Multipart),
            "opaque" => Some(Self::Opaque),
            _ => None,
        }
    }
}

/// A challenge of the provider.
#[derive(Clone, Debug)]
pub(crate) struct Handshake {
    /// For people.
    pub(crate) name: String,
    /// Whether it is answered only after verification.
    pub(crate) signed: bool,
    pub(crate) when: Vec<Condition>,
    /// What must hold, else `handshake_mismatch`.
    pub(crate) require: Vec<Condition>,
    /// What the answer is made from.
    pub(crate) challenge: Option<Template>,
    pub(crate) reply: Answer,
    /// The secret that comes with it.
    pub(crate) learn: Option<Template>,
    /// The call that the provider waits for.
    pub(crate) confirm: Option<Confirm>,
}

/// A call that confirms a subscription.
#[derive(Clone, Debug)]
pub(crate) struct Confirm {
    pub(crate) target: Target,
    pub(crate) method: String,
}

/// A reply with values of the request in it.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    pub(crate) body: AnswerBody,
    pub(crate) headers: Vec<(String, Template)>,
}

impl Answer {
    /// All templates in it.
    pub(crate) fn templates(&self) -> Vec<&Template> {
        let mut out: Vec<&Template> = self.headers.iter().map(|(_, value)| value).collect();
        match &self.body {
            AnswerBody::Empty => {}
            AnswerBody::Text(text) => out.push(text),
            AnswerBody::Json(fields) => out.extend(fields.iter().map(|(_, value)| value)),
        }
        out
    }
}

impl Handshake {
    /// Whether the answer is signed with the endpoint's secret.
    pub(crate) fn signs(&self) -> bool {
        let values = self.reply.templates().into_iter().flat_map(Template::values);
        values.flat_map(|value| &value.filters).any(|filter| matches!(filter, Filter::Hmac(_)))
    }
}

/// The body of an [`Answer`].
#[derive(Clone, Debug)]
pub(crate) enum AnswerBody {
    /// None.
    Empty,
    /// Text.
    Text(Template),
    /// A flat JSON object of strings.
    Json(Vec<(String, Template)>),
}
