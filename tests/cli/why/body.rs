//! Mistakes with the body: what frameworks, proxies, editors and copies make of it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::sender::{Capture, Sender};
use super::{Mistake, each_is_named};

/// A JSON body was `sent` and another one came. Twilio's is a form.
fn came(sender: &Sender, sent: &str, came: impl Into<Vec<u8>>) -> Option<Capture> {
    (!sender.form).then(|| sender.signed(sent.as_bytes()).with_body(came))
}

/// The same with a form, where its bytes are what is signed.
fn form(sender: &Sender, sent: &str, came: &str) -> Option<Capture> {
    let signs_bytes = !sender.form;
    signs_bytes.then(|| sender.signed(sent.as_bytes()).with_body(came))
}

const COMPACT: &str = r#"{"id":"evt_1","type":"a.b","data":{"name":"MARK","list":[1,2,{}],"none":[]}}"#;
const PYTHON: &str =
    r#"{"id": "evt_1", "type": "a.b", "data": {"name": "MARK", "list": [1, 2, {}], "none": []}}"#;
const SORTED: &str = r#"{"data":{"list":[1,2,{}],"name":"MARK","none":[]},"id":"evt_1","type":"a.b"}"#;
const INDENTED: &str = r#"{
  "id": "evt_1",
  "type": "a.b",
  "data": {
    "name": "MARK",
    "list": [
      1,
      2,
      {}
    ],
    "none": []
  }
}"#;

#[test]
fn json_that_was_read_and_written_again_is_named() {
    each_is_named(&[
        Mistake {
            name: "indented",
            says: "written as compact JSON:",
            make: |it| came(it, COMPACT, INDENTED),
        },
        Mistake { name: "spaced", says: "written as compact JSON:", make: |it| came(it, COMPACT, PYTHON) },
        Mistake { name: "compacted", says: "as Python writes it:", make: |it| came(it, PYTHON, COMPACT) },
        Mistake {
            name: "compacted from two blanks",
            says: "indented by two blanks:",
            make: |it| came(it, INDENTED, COMPACT),
        },
        Mistake {
            name: "compacted from four blanks",
            says: "indented by four blanks:",
            make: |it| came(it, &INDENTED.replace("  ", "    "), COMPACT),
        },
        Mistake {
            name: "compacted from tabs",
            says: "indented by tabs:",
            make: |it| came(it, &INDENTED.replace("  ", "\t"), COMPACT),
        },
        Mistake {
            name: "compacted from a file",
            says: "indented by two blanks, with a line break at its end:",
            make: |it| came(it, &format!("{INDENTED}\n"), COMPACT),
        },
        Mistake {
            name: "keys in another order",
            says: "compact JSON, its keys sorted:",
            make: |it| came(it, SORTED, COMPACT),
        },
        Mistake {
            name: "escapes undone",
            says: "with `\\uXXXX` for all but ASCII:",
            make: |it| {
                let sent = COMPACT.replace("MARK", "MARK \\u00e4\\u4e16 \\ud83d\\ude00");
                came(it, &sent, COMPACT.replace("MARK", "MARK ä世 😀"))
            },
        },
        Mistake {
            name: "escapes undone and compacted",
            says: "as Python writes it:",
            make: |it| {
                let sent = PYTHON.replace("MARK", "MARK \\u00e4");
                came(it, &sent, COMPACT.replace("MARK", "MARK ä"))
            },
        },
        Mistake {
            name: "escapes put in",
            says: "written as compact JSON:",
            make: |it| {
                let sent = COMPACT.replace("MARK", "MARK ☃");
                came(it, &sent, COMPACT.replace("MARK", "MARK \\u2603"))
            },
        },
        Mistake {
            name: "slashes no longer escaped",
            says: "as PHP writes it:",
            make: |it| came(it, &COMPACT.replace("MARK", "MARK\\/a"), COMPACT.replace("MARK", "MARK/a")),
        },
        Mistake {
            name: "brackets no longer escaped",
            says: "as Go or Rails writes it",
            make: |it| {
                let sent = COMPACT.replace("MARK", "\\u003cMARK\\u003e\\u0026");
                came(it, &sent, COMPACT.replace("MARK", "<MARK>&"))
            },
        },
    ]);
}

#[test]
fn text_that_was_changed_on_the_way_is_named() {
    each_is_named(&[
        Mistake {
            name: "an editor's line break",
            says: "without its last line break",
            make: |it| came(it, COMPACT, format!("{COMPACT}\n")),
        },
        Mistake {
            name: "a lost line break",
            says: "with a line break at its end",
            make: |it| came(it, &format!("{COMPACT}\n"), COMPACT),
        },
        Mistake {
            name: "a lost CR LF",
            says: "with CR LF at its end",
            make: |it| came(it, &format!("{COMPACT}\r\n"), COMPACT),
        },
        Mistake {
            name: "trimmed lines",
            says: "without the white space around it",
            make: |it| came(it, COMPACT, format!("\n\n {COMPACT}")),
        },
        Mistake {
            name: "CR LF made LF",
            says: "with CR LF for its line breaks",
            make: |it| came(it, &INDENTED.replace('\n', "\r\n"), INDENTED),
        },
        Mistake {
            name: "LF made CR LF",
            says: "with LF for its line breaks",
            make: |it| came(it, INDENTED, INDENTED.replace('\n', "\r\n")),
        },
        Mistake {
            name: "a byte order mark put in",
            says: "without its byte order mark",
            make: |it| came(it, COMPACT, format!("\u{feff}{COMPACT}")),
        },
        Mistake {
            name: "a byte order mark lost",
            says: "with a byte order mark",
            make: |it| came(it, &format!("\u{feff}{COMPACT}"), COMPACT),
        },
        Mistake {
            name: "turned into Latin-1",
            says: "it came in Latin-1",
            make: |it| {
                let sent = COMPACT.replace("MARK", "MARK ü");
                let latin: Vec<u8> = sent.chars().map(|char| u8::try_from(char).expect("Latin-1")).collect();
                came(it, &sent, latin)
            },
        },
        Mistake {
            name: "encoded twice",
            says: "or twice encoded",
            make: |it| {
                let sent = COMPACT.replace("MARK", "MARK ü☃");
                came(it, &sent, sent.bytes().map(char::from).collect::<String>())
            },
        },
        Mistake {
            name: "base64 of an API gateway",
            says: "once it is decoded from base64",
            make: |it| came(it, COMPACT, STANDARD.encode(COMPACT)),
        },
        Mistake {
            name: "wrapped up by an API gateway",
            says: "in a field `body` or `payload`",
            make: |it| {
                let event = serde_json::json!({ "isBase64Encoded": false, "body": COMPACT });
                came(it, COMPACT, event.to_string())
            },
        },
        Mistake {
            name: "a JSON text of JSON",
            says: "stands in it as a JSON text",
            make: |it| came(it, COMPACT, serde_json::Value::from(COMPACT).to_string()),
        },
    ]);
}

#[test]
fn a_form_that_was_read_and_written_again_is_named() {
    each_is_named(&[
        Mistake {
            name: "plus made %20",
            says: "as a form written by browsers",
            make: |it| form(it, "text=MARK+b*c&x=%7E1", "text=MARK%20b%2Ac&x=~1"),
        },
        Mistake {
            name: "%20 made plus",
            says: "as a form with `%20` for blanks",
            make: |it| form(it, "text=MARK%20b&x=~1", "text=MARK+b&x=%7E1"),
        },
        Mistake {
            name: "escapes in small letters",
            says: "with its `%xx` in the other case",
            make: |it| form(it, "text=MARK%2F%2f", "text=MARK%2f%2F"),
        },
        Mistake {
            name: "fields in another order",
            says: "its fields sorted",
            make: |it| form(it, "a=1&text=MARK", "text=MARK&a=1"),
        },
    ]);
}

#[test]
fn a_body_that_is_lost_or_rewritten_beyond_repair_catches_the_eye() {
    each_is_named(&[
        Mistake { name: "emptied", says: "the body is empty", make: |it| Some(it.genuine().with_body("")) },
        Mistake {
            name: "cut",
            says: "`content-length`",
            make: |it| {
                let (sent, kept) = (COMPACT.len().to_string(), &COMPACT[..40]);
                came(it, COMPACT, kept).map(|capture| capture.with("content-length", &sent))
            },
        },
        Mistake {
            name: "unpacked",
            says: "something in front has unpacked it",
            make: |it| {
                let packed = "\u{1f}\u{8b}packed";
                came(it, packed, COMPACT).map(|capture| capture.with("content-encoding", "gzip"))
            },
        },
        Mistake {
            name: "packed",
            says: "compressed with gzip",
            make: |it| came(it, COMPACT, [&[0x1f, 0x8b][..], b"packed"].concat()),
        },
        Mistake {
            name: "read as text that it was not",
            says: "replacement characters",
            make: |it| came(it, "{\"a\":\"MARK ü\"}", "{\"a\":\"MARK \u{fffd}\u{fffd}\"}"),
        },
    ]);
}
