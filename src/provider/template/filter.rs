//! What can be done to a value on its way.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose};

use percent_encoding::percent_decode;

use super::params::Params;
use super::{Scope, address, escape, rewrite};
use crate::model::Networks;
use crate::provider::algorithm::Hash;
use crate::provider::{json, key};

const PADDED_OR_NOT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
/// Base64 with or without padding, strict in all else: for keys, whose padding gets lost on the way.
const KEYS: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, PADDED_OR_NOT);
/// The same with `-` and `_`.
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, PADDED_OR_NOT);

const NO_URL: &str = "is no URL";

/// All filters, for error messages and the documentation's test.
pub(crate) const FILTERS: &[&str] = &[
    "md5",
    "sha1",
    "sha256",
    "sha384",
    "sha512",
    "keccak-256",
    "crc32",
    "hex",
    "unhex",
    "base64",
    "unbase64",
    "base64url",
    "unbase64url",
    "urlencode",
    "urldecode",
    "xml",
    "lower",
    "upper",
    "trim",
    "strip:PREFIX",
    "need:PREFIX",
    "before:MARK",
    "after:MARK",
    "first:N",
    "last:N",
    "replace:FROM:TO",
    "json:/POINTER",
    "raw:/POINTER",
    "json_compact",
    "json_sorted",
    "json_ascii",
    "json_slashes",
    "then:TEXT",
    "headers:JOINER",
    "box_escape",
    "php_serialize:EXCEPT",
    "form_concat",
    "join_params:KV:JOINER:EXCEPT:FLAGS",
    "default_port",
    "without_port",
    "origin",
    "host",
    "within:NETWORKS",
    "nfkd",
    "public-key",
    "hmac-sha1",
    "hmac-sha256",
    "hmac-sha384",
    "hmac-sha512",
];

/// One filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    /// Raw digest bytes.
    Hash(Hash),
    /// The CRC-32 of Ethernet and zip, in decimal.
    Crc32,
    /// Bytes as lower-case hex.
    Hex,
    /// Hex as bytes.
    Unhex,
    /// Bytes as padded base64.
    Base64,
    /// Base64, padded or not, as bytes.
    Unbase64,
    /// Bytes as base64url without padding.
    Base64Url,
    /// Base64url, padded or not, as bytes.
    Unbase64Url,
    /// All but letters, digits and `-._~` as `%XX`.
    UrlEncode,
    /// `%XX` as bytes.
    UrlDecode,
    /// What would be markup in XML or HTML as entities.
    Xml,
    /// ASCII letters lowered.
    Lower,
    /// ASCII letters in capitals.
    Upper,
    /// White space around it dropped.
    Trim,
    /// Without this prefix, if it has it.
    Strip(String),
    /// Without this prefix; absent if it does not have it.
    Need(String),
    /// What stands before the first mark; absent if there is none.
    Before(String),
    /// What stands after the first mark; absent if there is none.
    After(String),
    /// The first bytes; absent if there are fewer.
    First(usize),
    /// The last bytes; absent if there are fewer.
    Last(usize),
    /// Every occurrence of the first text as the second.
    Replace(String, String),
    /// The value is JSON: what the pointer shows.
    Json(String),
    /// The value is JSON: the JSON text that the pointer shows.
    Raw(String),
    /// JSON without white space; keys sorted where so said.
    JsonCompact { sorted: bool },
    /// JSON with everything outside ASCII as `\uXXXX`.
    JsonAscii,
    /// JSON with `\/` for `/`, as PHP has it.
    JsonSlashes,
    /// This text instead of the value.
    Then(String),
    /// The value names headers, with spaces between: their values with this between them.
    Headers(String),
    /// As Box writes what it signs.
    BoxEscape,
    /// The value is a form: its fields but this one, as PHP writes an array of texts.
    PhpSerialize(String),
    /// The value is a form: names and values, sorted, without anything between them.
    FormConcat,
    /// The value is a form or a query: its pairs in the order of their names, joined.
    JoinParams(Params),
    /// The value is a URL: its port is written even where it is the scheme's own.
    DefaultPort,
    /// The value is a URL: without a port.
    WithoutPort,
    /// The value is a URL: what stands before its path.
    Origin,
    /// The value is a URL: its host.
    Host,
    /// The value is an IP address in one of these networks; absent if it is in none.
    Within(Networks),
    /// Unicode normalisation form KD.
    Nfkd,
    /// PEM or base64 DER as the key inside.
    PublicKey,
    /// Signed with the endpoint's secret, in answers to handshakes.
    Hmac(Hash),
}

impl Filter {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (name, argument) =
            text.split_once(':').map_or((text, None), |(name, argument)| (name, Some(argument)));
        Ok(match (name, argument) {
            ("crc32", None) => Self::Crc32,
            ("hex", None) => Self::Hex,
            ("unhex", None) => Self::Unhex,
            ("base64", None) => Self::Base64,
            ("unbase64", None) => Self::Unbase64,
            ("base64url", None) => Self::Base64Url,
            ("unbase64url", None) => Self::Unbase64Url,
            ("urlencode", None) => Self::UrlEncode,
            ("urldecode", None) => Self::UrlDecode,
            ("xml", None) => Self::Xml,
            ("lower", None) => Self::Lower,
            ("upper", None) => Self::Upper,
            ("trim", None) => Self::Trim,
            ("strip", Some(prefix)) => Self::Strip(prefix.to_owned()),
            ("need", Some(prefix)) => Self::Need(prefix.to_owned()),
            ("before", Some(mark)) if !mark.is_empty() => Self::Before(mark.to_owned()),
            ("after", Some(mark)) if !mark.is_empty() => Self::After(mark.to_owned()),
            ("first", Some(count)) => Self::First(number(text, count)?),
            ("last", Some(count)) => Self::Last(number(text, count)?),
            ("json", Some(at)) => Self::Json(super::parse::pointer(at)?),
            ("replace", Some(texts)) => match texts.split_once(':') {
                Some((from, to)) if !from.is_empty() => Self::Replace(from.to_owned(), to.to_owned()),
                _ => return Err(format!("filter `{text}` is written replace:FROM:TO")),
            },
            ("raw", Some(at)) => Self::Raw(super::parse::pointer(at)?),
            ("json_compact", None) => Self::JsonCompact { sorted: false },
            ("json_sorted", None) => Self::JsonCompact { sorted: true },
            ("json_ascii", None) => Self::JsonAscii,
            ("json_slashes", None) => Self::JsonSlashes,
            ("then", Some(text)) => Self::Then(text.to_owned()),
            ("headers", Some(joiner)) => Self::Headers(joiner.to_owned()),
            ("box_escape", None) => Self::BoxEscape,
            ("php_serialize", Some(except)) => Self::PhpSerialize(except.to_owned()),
            ("form_concat", None) => Self::FormConcat,
            ("default_port", None) => Self::DefaultPort,
            ("join_params", Some(how)) => Self::JoinParams(Params::parse(how)?),
            ("without_port", None) => Self::WithoutPort,
            ("origin", None) => Self::Origin,
            ("host", None) => Self::Host,
            ("within", Some(networks)) => Self::Within(Networks::parse(networks)?),
            ("nfkd", None) => Self::Nfkd,
            ("public-key", None) => Self::PublicKey,
            ("hmac-sha1", None) => Self::Hmac(Hash::Sha1),
            ("hmac-sha256", None) => Self::Hmac(Hash::Sha256),
            ("hmac-sha384", None) => Self::Hmac(Hash::Sha384),
            ("hmac-sha512", None) => Self::Hmac(Hash::Sha512),
            (hash, None) if Hash::from_name(hash).is_some() => {
                Self::Hash(Hash::from_name(hash).unwrap_or(Hash::Sha256))
            }
            _ => return Err(format!("filter `{text}` is not known; filters are {}", FILTERS.join(", "))),
        })
    }

    /// The filtered value; `None` where it is absent.
    ///
    /// # Errors
    /// Why the value is not in the form that the filter reads, without the value.
    pub(super) fn apply<'a>(
        &self,
        value: Cow<'a, [u8]>,
        scope: &Scope<'a>,
    ) -> Result<Option<Cow<'a, [u8]>>, String> {
        Ok(Some(match self {
            Self::Hash(hash) => Cow::Owned(hash.digest(&value)),
            Self::Crc32 => Cow::Owned(crc32fast::hash(&value).to_string().into_bytes()),
            Self::Hex => Cow::Owned(hex::encode(&value).into_bytes()),
            Self::Unhex => Cow::Owned(hex::decode(&*value).map_err(|_| "is not hex")?),
            Self::Base64 => Cow::Owned(general_purpose::STANDARD.encode(&value).into_bytes()),
            Self::Unbase64 => Cow::Owned(KEYS.decode(&*value).map_err(|_| "is not base64")?),
            Self::Base64Url => Cow::Owned(general_purpose::URL_SAFE_NO_PAD.encode(&value).into_bytes()),
            Self::Unbase64Url => Cow::Owned(URL_SAFE.decode(&*value).map_err(|_| "is not base64url")?),
            Self::UrlEncode => Cow::Owned(escape::url_encode(&value).into_bytes()),
            Self::UrlDecode => Cow::Owned(percent_decode(&value).collect()),
            Self::Xml => Cow::Owned(escape::for_xml(&value)),
            Self::Lower => Cow::Owned(value.to_ascii_lowercase()),
            Self::Upper => Cow::Owned(value.to_ascii_uppercase()),
            Self::Trim => cut(value, <[u8]>::trim_ascii),
            Self::Strip(prefix) => cut(value, |v| v.strip_prefix(prefix.as_bytes()).unwrap_or(v)),
            Self::Need(prefix) => return Ok(maybe(value, |v| v.strip_prefix(prefix.as_bytes()))),
            Self::Before(mark) => return Ok(maybe(value, |v| find(v, mark).map(|at| &v[..at]))),
            Self::After(mark) => return Ok(maybe(value, |v| find(v, mark).map(|at| &v[at + mark.len()..]))),
            Self::First(count) => return Ok(maybe(value, |v| v.get(..*count))),
            Self::Last(count) => {
                return Ok(maybe(value, |v| v.len().checked_sub(*count).and_then(|at| v.get(at..))));
            }
            Self::Replace(from, to) => Cow::Owned(escape::replace(&value, from, to)),
            Self::JsonCompact { sorted } => Cow::Owned(rewrite::compact(&value, *sorted)?.into_bytes()),
            Self::JsonAscii => Cow::Owned(rewrite::ascii(&value)?.into_bytes()),
            Self::JsonSlashes => Cow::Owned(rewrite::slashes(&value)?.into_bytes()),
            Self::JoinParams(params) => Cow::Owned(params.join(&value)?.into_bytes()),
            Self::WithoutPort => Cow::Owned(address::without_port(&value).ok_or(NO_URL)?.into_bytes()),
            Self::Origin => Cow::Owned(address::origin(&value).ok_or(NO_URL)?.as_bytes().to_vec()),
            Self::Host => Cow::Owned(address::host(&value).ok_or(NO_URL)?.as_bytes().to_vec()),
            Self::Within(networks) => {
                return Ok(networks.hold(&value).ok_or("is no IP address")?.then_some(value));
            }
            Self::Then(text) => Cow::Owned(text.clone().into_bytes()),
            Self::Headers(joiner) => return Ok(scope.headers(&value, joiner)?.map(Cow::Owned)),
            Self::BoxEscape => Cow::Owned(escape::for_box(&value).ok_or("is not UTF-8")?.into_bytes()),
            Self::PhpSerialize(except) => Cow::Owned(escape::for_php(&value, except)?.into_bytes()),
            Self::FormConcat => Cow::Owned(escape::form_concat(&value)?.into_bytes()),
            Self::DefaultPort => Cow::Owned(address::default_port(&value).ok_or(NO_URL)?.into_bytes()),
            Self::Nfkd => Cow::Owned(escape::nfkd(&value).ok_or("is not UTF-8")?.into_bytes()),
            Self::PublicKey => {
                let keys = key::read(&value).ok_or(key::EXPECTED)?;
                Cow::Owned(keys.first().map_or_else(Vec::new, |key| key.bytes().to_vec()))
            }
            Self::Hmac(hash) => Cow::Owned(scope.answer(*hash, &value)?),
            Self::Json(at) => {
                return Ok(json::text(&value, at)?.map(|text| Cow::Owned(text.into_owned().into_bytes())));
            }
            Self::Raw(at) => {
                let raw = json::raw(&value, at)?.filter(|raw| *raw != "null");
                return Ok(raw.map(|raw| Cow::Owned(raw.as_bytes().to_vec())));
            }
        }))
    }
}

fn number(text: &str, count: &str) -> Result<usize, String> {
    count.parse().map_err(|_| format!("filter `{text}` needs a number after the colon"))
}

fn find(value: &[u8], mark: &str) -> Option<usize> {
    value.windows(mark.len()).position(|window| window == mark.as_bytes())
}

fn cut(value: Cow<'_, [u8]>, part: impl Fn(&[u8]) -> &[u8]) -> Cow<'_, [u8]> {
    match value {
        Cow::Borrowed(bytes) => Cow::Borrowed(part(bytes)),
        Cow::Owned(bytes) => Cow::Owned(part(&bytes).to_vec()),
    }
}

fn maybe(value: Cow<'_, [u8]>, part: impl Fn(&[u8]) -> Option<&[u8]>) -> Option<Cow<'_, [u8]>> {
    match value {
        Cow::Borrowed(bytes) => part(bytes).map(Cow::Borrowed),
        Cow::Owned(bytes) => part(&bytes).map(|bytes| Cow::Owned(bytes.to_vec())),
    }
}
