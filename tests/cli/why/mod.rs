//! `hookgate verify` says what probably went wrong: every usual mistake, made with several providers.

mod address;
mod body;
mod header;
mod secret;
mod sender;
mod time;

use sender::{Capture, SENDERS, Sender};

/// A mistake: what it makes of a genuine request (nothing, where it cannot happen with that sender), and words of the
/// sentence that names it.
struct Mistake {
    name: &'static str,
    says: &'static str,
    make: fn(&Sender) -> Option<Capture>,
}

/// Makes each mistake with each sender. One that happens with none would test nothing.
#[track_caller]
fn each_is_named(mistakes: &[Mistake]) {
    for mistake in mistakes {
        let made: Vec<_> = SENDERS.iter().filter_map(|it| Some((it.provider, (mistake.make)(it)?))).collect();
        assert!(!made.is_empty(), "{}: happens with no sender", mistake.name);
        for (provider, capture) in made {
            let case = format!("{}, {provider}", mistake.name);
            let run = capture.verify();
            assert_eq!(
                run.code, 1,
                "{case}: a hint must not change the decision: {}{}",
                run.stdout, run.stderr
            );
            let hints = run.json()["hints"].clone();
            let [hint] = hints.as_array().expect("hints").as_slice() else { panic!("{case}: {hints}") };
            let hint = hint.as_str().expect("a sentence");
            assert!(hint.contains(mistake.says), "{case}: `{}` is not in `{hint}`", mistake.says);
            assert!(!hint.contains('\n') && !hint.ends_with('.'), "{case}: one sentence for a log: {hint}");
            for hidden in capture.hidden() {
                assert!(!hint.contains(&hidden), "{case}: `{hidden}` is in `{hint}`");
            }
        }
    }
}

#[test]
fn the_senders_requests_are_genuine_before_a_mistake_is_made() {
    for sender in SENDERS {
        let run = sender.genuine().verify();
        assert_eq!(run.code, 0, "{}: {}{}", sender.provider, run.stdout, run.stderr);
    }
}

#[test]
fn a_forged_request_gets_no_other_hint_than_to_compare_the_secret() {
    for sender in SENDERS {
        let mut capture = sender.genuine();
        capture.body = sender.body().replace("MARK", "FORGED").into_bytes();
        let run = capture.verify();
        assert_eq!(run.code, 1, "{}: {}", sender.provider, run.stdout);
        let hint = run.json()["hints"][0].as_str().unwrap_or_default().to_owned();
        assert!(hint.contains("none of the usual mistakes"), "{}: {hint}", sender.provider);
    }
}
