//! Arbitrary requests to every provider of the catalogue: headers, queries and bodies that nobody signed.

#![no_main]

use hookgate_fuzz::{Wild, candidates, judge};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, Wild<'_>)| {
    let (index, wild) = input;
    let candidates = candidates();
    let candidate = &candidates[usize::from(index) % candidates.len()];
    judge(&wild.request(&candidate.provider), candidate);
});
