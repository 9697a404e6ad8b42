//! The signature in another text form, or without what should stand around it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Hint;
use super::search::Search;
use crate::provider::{Encoding, Grammar, Pattern, Variant};
use crate::verify::place::{self, Group};

type Read = fn(&str) -> Option<Vec<u8>>;

/// The text forms that are told apart.
const FORMS: [(&str, Read); 9] = [
    ("lower-case hex", |text| Encoding::Hex.decode(text)),
    ("upper-case hex", |text| Encoding::HexUpper.decode(text)),
    ("hex in mixed case", |text| Encoding::HexAny.decode(text)),
    ("base64", |text| Encoding::Base64.decode(text)),
    ("base64 without padding", |text| Encoding::Base64NoPad.decode(text)),
    ("base64url", |text| Encoding::Base64Url.decode(text)),
    ("base64url without padding", |text| Encoding::Base64UrlNoPad.decode(text)),
    ("base64 of hex", |text| hex::decode(STANDARD.decode(text).ok()?).ok()),
    ("plain text", |text| Some(text.as_bytes().to_vec())),
];

/// The signature is right but not written as this provider writes it.
pub(super) fn of_the_signature(search: &mut Search<'_>) -> Option<Hint> {
    // A token has one form.
    let variant = search.variant.filter(|variant| variant.token.is_none())?;
    let place = place::place(&variant.signature);
    // Its place has the right shape, or what could be a signature is picked out of it.
    let (groups, shaped) = match as_text(variant, variant.signature.grammar.clone(), search) {
        Some(groups) => (groups, true),
        None => (pieces(as_text(variant, Grammar::Pattern(bare()?), search)?), false),
    };
    let right = FORMS.iter().find(|(_, read)| {
        let groups = decoded(&groups, *read);
        search.groups_fit(variant, search.request, &groups, &search.keys(variant))
    });
    let (form, _) = right?;
    Some(Hint::proven(if shaped {
        format!("the signature in {place} fits, but it is written as {form}, not as this provider writes it")
    } else {
        format!("{place} holds a signature that fits ({form}), but not what should stand around it")
    }))
}

/// The signatures as the text that stands there.
fn as_text(variant: &Variant, grammar: Grammar, search: &Search<'_>) -> Option<Vec<Group>> {
    let mut signature = variant.signature.clone();
    signature.encodings = vec![Encoding::Plain];
    signature.grammar = grammar;
    place::in_first_item(variant, search.request, |scope| place::find(&signature, &scope)).ok()
}

fn bare() -> Option<Pattern> {
    Pattern::parse("{signature}", false).ok()
}

/// The longest piece of each value: what stands around a signature is short.
fn pieces(groups: Vec<Group>) -> Vec<Group> {
    let longest = |text: &Vec<u8>| {
        let pieces = text.split(|byte| b", ;:".contains(byte));
        let bare = pieces.map(|piece| match piece.iter().position(|byte| *byte == b'=') {
            // Padding is no separator.
            Some(at) if piece[at..].iter().any(|byte| *byte != b'=') => &piece[at + 1..],
            _ => piece,
        });
        bare.max_by_key(|piece| piece.len()).unwrap_or_default().to_vec()
    };
    let cut = |group: Group| Group {
        signatures: group.signatures.iter().map(longest).collect(),
        parts: group.parts,
    };
    groups.into_iter().map(cut).collect()
}

fn decoded(groups: &[Group], read: Read) -> Vec<Group> {
    let decode = |text: &Vec<u8>| std::str::from_utf8(text).ok().and_then(read);
    let group = |group: &Group| Group {
        signatures: group.signatures.iter().filter_map(decode).collect(),
        parts: group.parts.clone(),
    };
    groups.iter().map(group).filter(|group| !group.signatures.is_empty()).collect()
}
