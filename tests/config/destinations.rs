//! The kinds of destination, and what each of them may say.

use std::time::Duration;

use hookgate::config::{OnDead, Rate};
use hookgate::model::Circuit;
use rcgen::{CertificateParams, KeyPair};

use super::Case;

fn destination(kind: &str, keys: &str) -> Case {
    Case::new(&format!("[destinations.a]\ntype = \"{kind}\"\n{keys}\n"))
}

#[test]
fn a_key_that_a_kind_does_not_have_is_refused() {
    for (kind, key) in [
        ("stdout", "url = \"https://crm.example.com/\""),
        ("stdout", "allow_private = true"),
        ("nats", "stream = \"hooks\""),
        ("redis", "routing_key = \"hooks\""),
        ("amqp", "subject = \"hooks\""),
        ("sqs", "url = \"https://sqs.example.com/1/hooks\""),
        ("kafka", "queue_url = \"https://sqs.example.com/1/hooks\""),
        ("http", "sasl = { mechanism = \"PLAIN\", username = \"env:A\", password = \"env:B\" }"),
    ] {
        let name = key.split(' ').next().expect("a name");
        let expected = format!("destinations.a.{name}: this kind of destination has no such key");
        let errors = destination(kind, key).errors();
        assert!(
            errors.iter().any(|error| error.starts_with("main.toml:3:") && error.contains(&expected)),
            "{errors:?}"
        );
    }
}

#[test]
fn a_key_that_a_kind_needs_is_missed() {
    for (kind, name) in [
        ("http", "url"),
        ("nats", "subject"),
        ("redis", "stream"),
        ("amqp", "routing_key"),
        ("sqs", "queue_url"),
        ("kafka", "topic"),
    ] {
        let errors = destination(kind, "").errors();
        let expected = format!("destinations.a.{name}: is missing");
        assert!(errors.iter().any(|error| error.contains(&expected)), "{errors:?}");
    }
}

#[test]
fn standard_output_needs_nothing_but_its_kind() {
    destination("stdout", "").load();
}

#[cfg(not(feature = "nats"))]
#[test]
fn a_kind_that_is_not_built_in_says_how_to_get_it() {
    let error = destination("nats", "url = \"tls://nats.example.com\"\nsubject = \"hooks\"").error();
    assert!(error.contains("destinations.a.type: this hookgate was built without nats"), "{error}");
    assert!(error.contains("--features nats"), "{error}");
}

#[cfg(feature = "full")]
mod brokers {
    use super::destination;

    const PASSWORD: &str = "s3cret-and-l0ng-enough";

    #[test]
    fn a_password_in_a_url_is_shown_nowhere_and_named_in_a_warning() {
        let case =
            destination("redis", &format!("url = \"redis://:{PASSWORD}@redis.example.com\"\nstream = \"a\""));
        let loaded = case.load();
        let texts: Vec<_> = loaded.warnings.iter().map(|warning| warning.what.as_str()).collect();
        assert!(texts.contains(&"the broker's credentials are written here"), "{texts:?}");
        assert!(texts.contains(&"events travel unencrypted"), "{texts:?}");
        let shown = format!("{:?} {:?}", loaded.config.destinations, loaded.warnings);
        assert!(!shown.contains(PASSWORD), "{shown}");
        let listing = hookgate::config::merge(&case.sources()).expect("good").show();
        assert!(!listing.contains(PASSWORD) && listing.contains("redis.example.com"), "{listing}");
    }

    #[test]
    fn a_url_may_stand_in_a_variable() {
        let case = destination("amqp", "url = \"env:RABBIT\"\nrouting_key = \"hooks\"");
        let case = case.variable("RABBIT", &format!("amqps://hook:{PASSWORD}@rabbit.example.com/%2f"));
        let loaded = case.load();
        assert!(loaded.warnings.iter().all(|warning| !warning.what.contains("written here")));
        let listing = hookgate::config::merge(&case.sources()).expect("good").show();
        assert!(listing.contains("url = \"env:RABBIT\"") && !listing.contains(PASSWORD), "{listing}");
    }

    #[test]
    fn what_is_no_address_of_a_broker_is_refused_without_being_shown() {
        for (kind, keys, problem) in [
            ("nats", "url = \"http://x:{P}@nats\"\nsubject = \"a\"", "begins with nats:// or tls://"),
            ("nats", "url = \"{P}\"\nsubject = \"a\"", "expected a URL"),
            ("nats", "url = \"tls://nats\"\nsubject = \"a.*\"", "without wildcards"),
            ("redis", "url = \"rediss:// {P}\"\nstream = \"a\"", "expected a URL"),
            ("redis", "url = \"rediss://redis\"\nstream = \"\"", "is empty"),
            ("sqs", "queue_url = \"hooks\"", "expected the URL of a queue"),
            ("sqs", "queue_url = \"https://sqs.example.com/1/a\"", "destinations.a.region: is missing"),
            ("kafka", "brokers = [\"kafka\"]\ntopic = \"a\"", "expected host:port"),
            ("kafka", "brokers = []\ntopic = \"a\"", "the list is empty"),
        ] {
            let error = destination(kind, &keys.replace("{P}", PASSWORD)).error();
            assert!(error.contains(problem) && !error.contains(PASSWORD), "{keys}: {error}");
        }
    }

    #[test]
    fn the_region_is_read_from_the_queues_url() {
        let case = destination("sqs", "queue_url = \"https://sqs.eu-central-1.amazonaws.com/1/a\"");
        let shown = format!("{:?}", case.load().config.destinations["a"].kind);
        assert!(shown.contains("eu-central-1\""), "{shown}");
    }
}

const HTTP: &str = "[destinations.a]\ntype = \"http\"\nurl = \"https://crm.example.com/hooks\"\n";

#[test]
fn flow_has_defaults_and_says_what_is_wrong_with_it() {
    let flow = |rest: &str| Case::new(&format!("{HTTP}{rest}")).load().config.destinations["a"].flow.clone();
    let usual = flow("");
    assert_eq!((usual.rate, usual.order), (None, None));
    assert_eq!(usual.circuit, Some(Circuit { failures: 10, open: Duration::from_secs(30) }));
    assert_eq!(flow("circuit = true").circuit, usual.circuit);
    assert_eq!(flow("circuit = false").circuit, None);
    let own = flow("circuit = { failures = 3 }").circuit;
    assert_eq!(own, Some(Circuit { failures: 3, open: Duration::from_secs(30) }));
    assert_eq!(flow("rate = \"30/m\"").rate, Some(Rate { count: 30, per: Duration::from_mins(1) }));
    assert_eq!(flow("ordered = true").order, Some(OnDead::Block));
    assert_eq!(flow("ordered = true\non_dead = \"skip\"").order, Some(OnDead::Skip));
    for (line, expected) in [
        ("rate = \"0/s\"", "destinations.a.rate: found \"0/s\", expected a rate such as"),
        ("rate = \"5\"", "destinations.a.rate: found \"5\", expected a rate such as"),
        ("rate = \"5/d\"", "destinations.a.rate: found"),
        ("rate = \"900000/s\"", "at most 100000/s"),
        ("circuit = { failures = 0 }", "destinations.a.circuit.failures: found 0"),
        ("circuit = { open = \"1ms\" }", "destinations.a.circuit.open: found \"1ms\", expected 1s to 1day"),
        ("on_dead = \"skip\"", "destinations.a.on_dead: without `ordered = true` no message waits"),
        ("backoff = []", "destinations.a.backoff: the list is empty"),
        ("backoff = [\"5s\"]\nbackoff_cap = \"1m\"", "`backoff` and `backoff_cap` exclude each other"),
        ("backoff = [\"5s\", \"5\"]", "destinations.a.backoff[1]: found \"5\""),
    ] {
        let error = Case::new(&format!("{HTTP}{line}\n")).error();
        assert!(error.contains(expected), "{line}: {error}");
    }
}

#[test]
fn a_curve_is_not_cut_short_by_the_usual_cap() {
    let loaded = Case::new(&format!("{HTTP}backoff = [\"5s\", \"10h\"]")).load();
    let queue = &loaded.config.destinations["a"].queue;
    assert_eq!(*queue.backoff, [Duration::from_secs(5), Duration::from_hours(10)]);
    assert_eq!(queue.backoff_cap, Duration::from_hours(10));
}

#[test]
fn certificates_are_read_and_checked_at_load() {
    let identity = || {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["gateway".to_owned()]).unwrap();
        (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
    };
    let ((certificate, key), (_, other)) = (identity(), identity());
    let case = |rest: &str| {
        Case::new(&format!("{HTTP}{rest}\n"))
            .file("good.pem", &certificate)
            .file("good.key", &key)
            .file("other.key", &other)
            .file("none.pem", "nothing of the kind")
    };
    let pair = |key: &str| format!("client_cert = \"file:good.pem\"\nclient_key = \"file:{key}\"");
    case(&format!("{}\nca = \"file:good.pem\"", pair("good.key"))).load();
    for (rest, expected) in [
        (
            pair("other.key"),
            "destinations.a.client_cert: file:good.pem: certificate and key do not go together",
        ),
        (pair("none.pem"), "no private key in PEM form"),
        (pair("gone.key"), "destinations.a.client_key: cannot read the secret file"),
        ("client_cert = \"file:good.pem\"".to_owned(), "client_cert: it is of no use without `client_key`"),
        ("client_key = \"file:good.key\"".to_owned(), "client_key: it is of no use without `client_cert`"),
        ("ca = \"file:none.pem\"".to_owned(), "destinations.a.ca: file:none.pem: no certificate in PEM form"),
    ] {
        let error = case(&rest).error();
        assert!(error.contains(expected), "{rest}: {error}");
        assert!(!error.contains("BEGIN PRIVATE"), "{error}");
    }
    let plain = "[destinations.a]\ntype = \"http\"\nurl = \"http://127.0.0.1/\"\nca = \"file:good.pem\"\n";
    assert!(Case::new(plain).error().contains("there is no TLS to use the certificates for"));
}
