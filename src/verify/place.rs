//! Finding the signatures in a request: where they stand, in what shape, within bounds.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::model::{Reason, Rejection, Request};
use crate::provider::{Algorithm, Grammar, Scope, Signature, Source, Trouble, Variant, json_items};

/// A longer value is no signature.
const MAX_LENGTH: usize = 16 * 1024;
/// A token carries its payload with it: those of Apple hold two more tokens, each with its certificates.
const MAX_TOKEN: usize = 128 * 1024;
/// Entries or pairs in one value.
const MAX_ENTRIES: usize = 64;
/// Signatures in one request: each costs a comparison, and a provider sends one per live secret.
const MAX_SIGNATURES: usize = 16;

/// Signatures that belong to the same parts.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// What stands beside the signature, such as `t` of a list.
    pub(super) parts: Vec<(String, String)>,
    /// The decoded signatures.
    pub(super) signatures: Vec<Vec<u8>>,
}

/// The variant that a request claims to be: the first whose condition holds. There is no second choice, so that
/// leaving out or breaking the strong one of two signatures never leads to the weaker one being tried.
pub(super) fn choose<'a>(variants: &[&'a Variant], request: &Request) -> Option<&'a Variant> {
    let claimed = |variant: &&&Variant| {
        if variant.when.is_empty() {
            // Where nothing is proved there is no shape to know it by: its operator named it.
            variant.algorithm == Algorithm::None
                || in_first_item(variant, request, |scope| has_shape(&variant.signature, &scope))
        } else {
            let scope = Scope::new(request);
            variant.when.iter().all(|condition| condition.holds(&scope))
        }
    };
    let garbled = |variant: &&&Variant| {
        variant.when.is_empty()
            && in_first_item(variant, request, |scope| is_there(&variant.signature, &scope))
    };
    variants.iter().find(claimed).or_else(|| variants.iter().find(garbled)).copied()
}

/// Calls `look` with the request, or with its first item where every item is proved by itself.
pub(super) fn in_first_item<T>(variant: &Variant, request: &Request, look: impl FnOnce(Scope<'_>) -> T) -> T {
    let Some(each) = &variant.each else { return look(Scope::new(request)) };
    let items = json_items(&request.body, &each.items).unwrap_or_default();
    match items.first() {
        Some(item) => look(Scope::of_item(request, item, 0)),
        None => look(Scope::new(request)),
    }
}

/// Whether something stands where the signature should, whatever it is.
fn is_there(signature: &Signature, scope: &Scope<'_>) -> bool {
    signature.from.iter().any(|from| !matches!(from.render(scope), Err(Trouble::Absent(_))))
}

/// Whether an entry there has the signature's shape.
fn has_shape(signature: &Signature, scope: &Scope<'_>) -> bool {
    values(signature, scope).into_iter().filter_map(Result::ok).any(|value| {
        let fits = |entry: &str| match &signature.grammar {
            Grammar::Pattern(pattern) => pattern.read(entry).is_some(),
            Grammar::Pairs { separator, take } => entry
                .split(separator.as_str())
                .take(MAX_ENTRIES)
                .any(|pair| pair.trim().split_once('=').is_some_and(|(name, _)| name == take)),
        };
        match &signature.split {
            Some(split) => value.split(split.as_str()).take(MAX_ENTRIES).any(fits),
            None => fits(&value),
        }
    })
}

/// What stands at each of the places.
fn values<'a>(signature: &'a Signature, scope: &Scope<'a>) -> SmallVec<[Result<Cow<'a, str>, Trouble>; 2]> {
    let mut out = SmallVec::new();
    for from in &signature.from {
        match from.sole().map(|value| &value.source) {
            Some(source @ Source::Header(name))
                if signature.repeated && scope.every(name).nth(1).is_some() =>
            {
                // One more than is read, so that too many are noticed.
                out.extend(scope.every(name).take(MAX_SIGNATURES + 1).map(|value| {
                    let unreadable = |_| Trouble::Unreadable(source.to_string(), "is not UTF-8".into());
                    std::str::from_utf8(value).map(Cow::Borrowed).map_err(unreadable)
                }));
            }
            _ => out.push(from.lent_text(scope)),
        }
    }
    out
}

/// All signatures of a request, at least one.
pub(super) fn find(signature: &Signature, scope: &Scope<'_>) -> Result<Vec<Group>, Rejection> {
    let mut gathered = Gathered::default();
    let mut missing = None;
    for value in values(signature, scope) {
        match value {
            Ok(value) => gathered.value(signature, &value, &place(signature))?,
            Err(Trouble::Absent(what)) => missing = Some(what),
            Err(trouble) => return Err(malformed(trouble.to_string())),
        }
    }
    gathered.finish(signature, missing)
}

/// Where a signature is looked for, for messages.
pub(super) fn place(signature: &Signature) -> String {
    let values = signature.from.iter().flat_map(crate::provider::Template::values);
    let places: Vec<String> = values.map(|value| value.source.to_string()).collect();
    places.join(" or ")
}

#[derive(Default)]
struct Gathered {
    groups: Vec<Group>,
    values: usize,
    seen: usize,
}

impl Gathered {
    fn value(&mut self, signature: &Signature, value: &str, place: &str) -> Result<(), Rejection> {
        self.values += 1;
        if value.is_empty() {
            return Err(malformed(format!("{place} is empty")));
        }
        let max = if signature.is_token { MAX_TOKEN } else { MAX_LENGTH };
        if value.len() > max {
            return Err(malformed(format!("{place} is {} bytes long; at most {max} are read", value.len())));
        }
        let Some(split) = &signature.split else { return self.entry(signature, value, place, false) };
        for (count, entry) in value.split(split.as_str()).enumerate() {
            if count >= MAX_ENTRIES {
                return Err(malformed(format!("{place} has more than {MAX_ENTRIES} entries")));
            }
            self.entry(signature, entry, place, true)?;
        }
        Ok(())
    }

    /// Entries of a list that have another shape are another scheme's: they are passed over.
    fn entry(
        &mut self,
        signature: &Signature,
        entry: &str,
        place: &str,
        in_list: bool,
    ) -> Result<(), Rejection> {
        let mut parts = Vec::new();
        let mut texts = Vec::new();
        match &signature.grammar {
            Grammar::Pattern(pattern) => {
                let Some(captures) = pattern.read(entry) else {
                    let form = pattern
                        .write(|name| if name == "signature" { "…".into() } else { format!("<{name}>") });
                    return if in_list {
                        Ok(())
                    } else {
                        Err(malformed(format!("{place} has not the form `{form}`")))
                    };
                };
                for (name, value) in captures {
                    sort(name == "signature", name, value, &mut parts, &mut texts);
                }
            }
            Grammar::Pairs { separator, take } => {
                for (count, pair) in entry.split(separator.as_str()).enumerate() {
                    if count >= MAX_ENTRIES {
                        return Err(malformed(format!("{place} has more than {MAX_ENTRIES} entries")));
                    }
                    if let Some((name, value)) = pair.trim().split_once('=') {
                        sort(name == take, name, value, &mut parts, &mut texts);
                    }
                }
            }
        }
        self.add(signature, parts, &texts, place)
    }

    fn add(
        &mut self,
        signature: &Signature,
        parts: Vec<(String, String)>,
        texts: &[String],
        place: &str,
    ) -> Result<(), Rejection> {
        self.seen += texts.len();
        if self.seen > MAX_SIGNATURES {
            return Err(malformed(format!("{place} has more than {MAX_SIGNATURES} signatures")));
        }
        let mut decoded: Vec<Vec<u8>> = Vec::new();
        for text in texts {
            let readings = signature.encodings.iter().filter_map(|encoding| encoding.decode(text));
            decoded.extend(readings);
        }
        match self.groups.iter_mut().find(|group| group.parts == parts) {
            Some(group) => group.signatures.append(&mut decoded),
            None => self.groups.push(Group { parts, signatures: decoded }),
        }
        Ok(())
    }

    fn finish(mut self, signature: &Signature, missing: Option<String>) -> Result<Vec<Group>, Rejection> {
        if self.values == 0 {
            let what = missing.unwrap_or_else(|| "the signature".into());
            return Err(Rejection::new(Reason::MissingSignature, format!("{what} is missing")));
        }
        self.groups.retain(|group| !group.signatures.is_empty());
        if !self.groups.is_empty() {
            return Ok(self.groups);
        }
        let place = place(signature);
        Err(malformed(if self.seen > 0 {
            let names: Vec<&str> = signature.encodings.iter().map(|encoding| encoding.name()).collect();
            format!("the signature in {place} is not {}", names.join(" or "))
        } else {
            match &signature.grammar {
                Grammar::Pairs { take, .. } => format!("{place} holds no `{take}=…`"),
                Grammar::Pattern(pattern) => format!("{place} holds no `{}`", pattern.write(|_| "…".into())),
            }
        }))
    }
}

fn sort(
    is_signature: bool,
    name: &str,
    value: &str,
    parts: &mut Vec<(String, String)>,
    texts: &mut Vec<String>,
) {
    if is_signature { texts.push(value.to_owned()) } else { parts.push((name.to_owned(), value.to_owned())) }
}

fn malformed(detail: String) -> Rejection {
    Rejection::new(Reason::MalformedSignature, detail)
}
