//! Faults in a definition: where, and what is allowed there.

use std::collections::BTreeMap;
use std::fs;

use hookgate::provider::{Catalogue, SettingsError};

const GOOD: &str = r#"id = "acme"
name = "Acme"
confidence = "confirmed"
docs = "https://example.com"
[dashboard]
place = "Settings"
secret = "the secret"
[[verify]]
name = "v1"
algorithm = "hmac-sha256"
text = "{part:t}.{body}"
signature = { from = "{header:x-sign}", pairs = ",", take = "v1", encoding = "hex" }
timestamp = { value = "{part:t}", unit = "seconds", past = "5m", future = "5m" }
[event]
format = "json"
id = "{json:/id}"
"#;

fn errors(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("acme.toml"), text).expect("writes");
    match Catalogue::load(&[folder.path().to_path_buf()]) {
        Ok(_) => Vec::new(),
        Err(errors) => errors
            .iter()
            .map(|error| error.to_string().replace(&folder.path().display().to_string(), ""))
            .collect(),
    }
}

#[test]
fn a_fault_is_named_with_file_line_key_and_what_is_allowed() {
    assert!(errors(GOOD).is_empty(), "{:?}", errors(GOOD));
    let table: &[(&str, &str, &[&str])] = &[
        (
            "name = \"Acme\"",
            "name = \"Acme\"\nnmae = \"x\"",
            &["/acme.toml:3", "nmae", "expected one of", "`aliases`"],
        ),
        ("\"confirmed\"", "\"sure\"", &["/acme.toml:3: `confidence`", "`sure`", "confirmed, unconfirmed"]),
        ("hmac-sha256", "hmac-sha3", &["/acme.toml:10: `verify[0].algorithm`", "hmac-sha512", "ed25519"]),
        (
            "{part:t}.{body}",
            "{part:t}.{boddy}",
            &["/acme.toml:11: `verify[0].text`", "{boddy}", "header:NAME"],
        ),
        ("{part:t}.{body}", "{part:t}.{body", &["/acme.toml:11: `verify[0].text`", "not closed"]),
        ("{part:t}.{body}", "{part:t}.{body|sha3}", &["`verify[0].text`", "`sha3`", "sha256"]),
        ("{part:t}.{body}", "{part:v1}.{part:t}", &["`verify[0]`", "{part:v1}"]),
        ("{part:t}.{body}", "{body}", &["`verify[0].timestamp.value`", "proves nothing"]),
        (
            "encoding = \"hex\"",
            "encoding = \"hexx\"",
            &["/acme.toml:12: `verify[0].signature.encoding`", "base64url-nopad"],
        ),
        (", take = \"v1\"", "", &["`verify[0].signature`", "`take`"]),
        ("unit = \"seconds\"", "unit = \"days\"", &["`verify[0].timestamp.unit`", "milliseconds", "rfc3339"]),
        ("past = \"5m\"", "past = \"five\"", &["`verify[0].timestamp.past`", "300s"]),
        (
            "format = \"json\"",
            "format = \"yaml\"",
            &["/acme.toml:15: `event.format`", "json, json-lines, xml, form, multipart, opaque"],
        ),
        ("{json:/id}", "{json:id}", &["/acme.toml:16: `event.id`", "starts with `/`"]),
        ("{json:/id}", "{secret}", &["`event.id`", "the secret cannot be used here"]),
        ("{json:/id}", "${nothing}", &["`event.id`", "nothing", "settings"]),
        ("{json:/id}", "{json:/id|hmac-sha256|hex}", &["`event.id`", "the answer to a handshake only"]),
        ("{json:/id}", "{challenge}", &["`event.id`", "the challenge cannot be used here"]),
        ("{json:/id}", "push", &["/acme.toml:16: `event.id`", "same id"]),
        ("id = \"{json:/id}\"", "id = [\"{json:/id}\", \"{index}\"]", &["`event.id`", "every request"]),
        (
            "id = \"{json:/id}\"",
            "id = \"{root:/id}\"\n[batch]\nitems = \"/events/*\"",
            &["/acme.toml:16: `event.id`", "all items"],
        ),
        ("{json:/id}", "{received:soon}", &["`event.id`", "such as 60s"]),
        ("{part:t}.{body}", "{unique}{part:t}.{body}", &["`verify[0].text`", "cannot be used here"]),
        (
            "[event]",
            "[batch]\nitems = [\"\", \"/events/*\"]\n[event]",
            &["/acme.toml:15: `batch.items`", "`/events/*`", "the last"],
        ),
        (
            "[event]",
            "[[handshake]]\nname = \"c\"\nsigned = false\nwhen = \"{query:c}\"\nchallenge = \"{query:c}\"\nreply = { status = 200 }\n[event]",
            &["/acme.toml:18: `handshake[0].challenge`", "no {challenge}"],
        ),
        (
            "[event]",
            "[reply]\nrejected_headers = { \"a b\" = \"c\" }\n[event]",
            &["`reply.rejected_headers.a b`", "letters, digits"],
        ),
        (
            "from = \"{header:x-sign}\"",
            "repeated = true, from = \"{query:sign}\"",
            &["/acme.toml:12: `verify[0].signature.repeated`", "{header:x-signature}"],
        ),
        ("id = \"acme\"", "id = \"Acme!\"", &["/acme.toml:1: `id`", "lower-case"]),
        (
            "id = \"acme\"",
            "id = \"acme\"\naliases = [\"stripe\"]",
            &["`aliases`", "already a name of `stripe`"],
        ),
        ("algorithm = \"hmac-sha256\"", "algorithm = \"sha256\"", &["`verify[0].text`", "{secret}"]),
        ("algorithm = \"hmac-sha256\"", "algorithm = \"token\"", &["`verify[0].text`", "signs nothing"]),
    ];
    for (from, to, expected) in table {
        let found = errors(&GOOD.replacen(from, to, 1)).join("\n");
        for part in *expected {
            assert!(found.contains(part), "{to}: `{part}` is not in: {found}");
        }
    }
}

#[test]
fn what_would_always_hold_is_no_condition_and_what_would_always_vanish_no_group() {
    for condition in ["GET", "{method} = GET", "!x{method}", "{method}{path}"] {
        let text = GOOD.replace("name = \"v1\"", &format!("name = \"v1\"\nrequire = {condition:?}"));
        let refused = errors(&text).iter().any(|it| it.contains("is no condition"));
        assert!(refused, "{condition}: {:?}", errors(&text));
    }
    for condition in ["{method}", "!{header:a}", "{method} == GET", "{header:a|need:x=}"] {
        let text = GOOD.replace("name = \"v1\"", &format!("name = \"v1\"\nrequire = {condition:?}"));
        assert!(errors(&text).is_empty(), "{condition}: {:?}", errors(&text));
    }
    let text = format!("{GOOD}[reply]\nsuccess = {{ status = 202, text = \"[accepted]\" }}\n");
    assert!(errors(&text).iter().any(|it| it.contains("without a {value}")), "{:?}", errors(&text));
}

#[test]
fn no_challenge_is_signed_with_a_secret_that_signs_tokens() {
    let text = GOOD.replace(
        "[event]",
        "[[verify]]\nname = \"token\"\nalgorithm = \"jws\"\nallow = \"HS256\"\n\
             signature = { from = \"{header:x-token}\" }\n[event]",
    );
    assert!(errors(&text).is_empty(), "{:?}", errors(&text));
    let text = format!(
        "{text}[[handshake]]\nname = \"crc\"\nsigned = false\nwhen = \"{{query:crc}}\"\n\
         challenge = \"{{query:crc}}\"\nreply = {{ status = 200, text = \"{{challenge|hmac-sha256|hex}}\" }}\n"
    );
    assert!(errors(&text).iter().any(|it| it.contains("cannot sign challenges")), "{:?}", errors(&text));
}

#[test]
fn lists_of_plain_texts_may_be_a_single_one_too() {
    let text = GOOD
        .replace("name = \"Acme\"", "name = \"Acme\"\naliases = \"acme_inc\"")
        .replace("secret = \"the secret\"", "secret = \"the secret\"\nsteps = \"look for it\"");
    let text = format!("{text}business_keys = \"the order\"\n[retry]\nreconcile = \"list the orders\"\n");
    assert_eq!(errors(&text), Vec::<String>::new());
}

#[test]
fn all_faults_are_told_at_once() {
    let text = GOOD.replace("\"confirmed\"", "\"sure\"").replace("{json:/id}", "{json:id}");
    assert_eq!(errors(&text).len(), 2);
}

#[test]
fn settings_that_do_not_fit_are_named() {
    let generic = Catalogue::load(&[]).expect("loads").get("generic_hmac").expect("there");
    let configure =
        |name: &str, value: &str| generic.configure(&BTreeMap::from([(name.into(), value.into())]));
    assert!(
        matches!(configure("hedaer", "x"), Err(SettingsError::Unknown { name, allowed }) if name == "hedaer" && allowed.contains(&"header".into()))
    );
    assert!(
        matches!(configure("algorithm", "rot13"), Err(SettingsError::Invalid { name, .. }) if name == "algorithm")
    );
    assert!(
        matches!(configure("timestamp", "{header:x-time}"), Err(SettingsError::Invalid { problem, .. }) if problem.contains("proves nothing"))
    );
    assert!(configure("encoding", "base64").is_ok());
}

#[test]
fn a_definition_whose_required_settings_are_missing_cannot_be_used() {
    let text = format!("{GOOD}[settings.account]\ndescription = \"the account's number\"\nexample = \"1\"\n");
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("acme.toml"), text).expect("writes");
    let acme = Catalogue::load(&[folder.path().to_path_buf()]).expect("loads").get("acme").expect("there");
    assert!(
        matches!(acme.configure(&BTreeMap::new()), Err(SettingsError::Missing { name, .. }) if name == "account")
    );
    let secrets = [(hookgate::model::Secret::new("whatever it is"), None)];
    assert!(hookgate::verify::Keyring::new(&acme, secrets).is_err());
}

#[test]
fn tokens_items_and_unproved_variants_are_written_as_they_can_be_judged() {
    const TOKEN: &str =
        "algorithm = \"jws\"\nallow = \"HS256\"\nsignature = { from = \"{header:x-sign}\" }\n";
    let definition = |lines: &str| {
        let (head, tail) = GOOD.split_once("[[verify]]").expect("there");
        let (_, event) = tail.split_once("[event]").expect("there");
        format!("{head}[[verify]]\nname = \"v1\"\n{lines}[event]{event}")
    };
    assert!(errors(&definition(TOKEN)).is_empty(), "{:?}", errors(&definition(TOKEN)));
    let items = "algorithm = \"token\"\nsignature = { from = \"{json:/t}\", encoding = \"plain\" }\n";
    let hmac = "algorithm = \"hmac-sha256\"\ntext = \"{body}\"\nsignature = { from = \"{header:s}\", encoding = \"hex\" }\n";
    let table: &[(String, &str)] = &[
        (TOKEN.replace("allow = \"HS256\"\n", ""), "which algorithms a token may name"),
        (TOKEN.replace("HS256", "none"), "`none` is not known"),
        (format!("{TOKEN}text = \"{{body}}\"\n"), "leave `text` out"),
        (TOKEN.replace("}\n", ", encoding = \"hex\" }\n"), "no encoding"),
        (format!("{TOKEN}leeway = \"long\"\n"), "not a duration"),
        (format!("{TOKEN}chain = {{ roots = \"public\" }}\n"), "certificates hold public keys"),
        (format!("{TOKEN}chain = {{ roots = \"nothing\" }}\n"), "a root is a certificate"),
        (format!("{TOKEN}chain = {{ leaf_oid = \"one.two\" }}\n"), "an object identifier is written"),
        (format!("{hmac}allow = \"HS256\"\n"), "belong to `algorithm = \"jws\"`"),
        (format!("{hmac}chain = {{ roots = \"public\" }}\n"), "with `algorithm = \"jws\"` only"),
        (format!("{hmac}require = \"{{claim:/a}}\"\n"), "with `algorithm = \"jws\"` only"),
        (format!("{hmac}when = \"{{claim:/a}}\"\n"), "cannot be used here"),
        (format!("{hmac}require = \"{{root:/a}}\"\n"), "there is no `each`"),
        (format!("{hmac}each = \"/items/*\"\n"), "every item is proved by itself"),
        (format!("{items}each = \"items\"\n"), "starts with `/` and ends with `/*`"),
        (format!("{items}with = \"other\"\n"), "name another variant"),
        (format!("{items}with = \"v1\"\n"), "name another variant"),
        ("algorithm = \"none\"\n".into(), "`opt_in = true`"),
        (
            "algorithm = \"none\"\nopt_in = true\nsignature = { from = \"{header:x}\" }\n".into(),
            "leave `signature` out",
        ),
        ("algorithm = \"jws\"\nallow = \"HS256\"\n".into(), "say where the signature stands"),
    ];
    for (lines, expected) in table {
        let seen = errors(&definition(lines));
        assert!(
            seen.iter().any(|error| error.contains(expected)),
            "{lines}\nexpected {expected:?} in {seen:#?}"
        );
    }
    let partner = format!("{items}with = \"b\"\n[[verify]]\nname = \"b\"\n{items}");
    assert!(errors(&definition(&partner)).is_empty(), "{:?}", errors(&definition(&partner)));
    let claims = |text: &str| format!("{}[sign]\nclaims = {{ a = \"{text}\" }}\n", definition(TOKEN));
    assert!(errors(&claims("${now}{body|sha256|hex}")).is_empty());
    assert!(errors(&claims("${later}")).iter().any(|error| error.contains("`sign.claims.a`")));
}

#[test]
fn a_fetch_says_where_it_may_go_and_a_stranger_has_no_say_in_a_call() {
    let fetch = |algorithm: &str, fetch: &str| {
        let text = GOOD
            .replace("hmac-sha256", algorithm)
            .replace("[event]", &format!("[verify.fetch]\n{fetch}\n[event]"));
        errors(&text).join("\n")
    };
    let good = "url = \"{header:x-url}\"\nhosts = [\"keys.*.example.com\"]";
    assert_eq!(fetch("ed25519", good), "");
    assert!(fetch("hmac-sha256", good).contains("a secret is not fetched"));
    for hosts in [
        "[]",
        "[\"*\"]",
        "[\"*.com\"]",
        "[\"keys.example.*\"]",
        "[\"k*.example.com\"]",
        "[\"https://a.example.com\"]",
    ] {
        let text = good.replace("[\"keys.*.example.com\"]", hosts);
        assert!(fetch("ed25519", &text).contains("verify[0].fetch.hosts"), "{hosts}");
    }
    assert!(fetch("ed25519", &format!("{good}\ncache = \"25h\"")).contains("24h at most"));
    assert!(fetch("ed25519", &format!("{good}\nmethod = \"DELETE\"")).contains("GET or POST"));
    // A key is not had with the endpoint's secret.
    let with_secret = format!("{good}\nheaders = {{ a = \"{{secret}}\" }}");
    assert!(fetch("ed25519", &with_secret).contains("the secret cannot be used here"));
    let handshake = |signed: bool, more: &str| {
        let text = format!(
            "{GOOD}[[handshake]]\nname = \"h\"\nsigned = {signed}\nwhen = \"{{json:/url}}\"\nreply = {{ status = 200 }}\n{more}\n"
        );
        errors(&text).join("\n")
    };
    let confirm = "confirm = { url = \"{json:/url}\", hosts = [\"a.example.com\"] }";
    assert_eq!(handshake(true, confirm), "");
    assert!(handshake(false, confirm).contains("only a `signed` handshake is confirmed"));
    assert_eq!(handshake(false, "learn = \"{json:/token}\""), "");
    assert!(handshake(true, "learn = \"{json:/token}\"").contains("cannot be `signed`"));
}
