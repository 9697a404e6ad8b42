//! Arbitrary bodies that are genuine: the decoders, identities and batches of every provider of the catalogue.

#![no_main]

use hookgate_fuzz::{Wild, candidates, judge, signed};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, Wild<'_>)| {
    let (index, wild) = input;
    let candidates = candidates();
    let candidate = &candidates[usize::from(index) % candidates.len()];
    if let Some(request) = signed(wild.request(&candidate.provider), candidate) {
        judge(&request, candidate);
    }
});
