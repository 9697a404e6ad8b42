//! Mistakes with the signed time.

use super::sender::{AT, Capture, Sender};
use super::{Mistake, each_is_named};

fn signed_at(sender: &Sender, at: i64) -> Option<Capture> {
    sender.signs_time().then(|| sender.signed_with(sender.body().as_bytes(), sender.secret, at, &[]))
}

#[test]
fn a_signed_time_that_is_off_is_explained() {
    each_is_named(&[
        Mistake { name: "a clock ahead", says: "clock is 700 s ahead", make: |it| signed_at(it, AT - 700) },
        Mistake { name: "a clock behind", says: "clock is 700 s behind", make: |it| signed_at(it, AT + 700) },
        Mistake { name: "a time zone", says: "off by 2 h", make: |it| signed_at(it, AT - 7_203) },
        Mistake {
            name: "an old request",
            says: "an old request is sent again",
            make: |it| signed_at(it, AT - 500_000),
        },
        Mistake {
            name: "milliseconds for seconds",
            says: "written in milliseconds, and read in seconds",
            make: |it| signed_at(it, AT * 1000 + 123),
        },
        Mistake {
            name: "the header was cut to seconds",
            says: "is a time in seconds, and was signed in milliseconds",
            make: |it| {
                let header = it.beside?;
                Some(signed_at(it, AT * 1000)?.map(header, |value| value.trim_end_matches("000").to_owned()))
            },
        },
        Mistake {
            name: "the header has got a fraction",
            says: "is a time with a fraction",
            make: |it| Some(it.genuine().map(it.beside?, |value| format!("{value}.25"))),
        },
    ]);
}
