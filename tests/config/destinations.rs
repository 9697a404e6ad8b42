//! The kinds of destination, and what each of them may say.

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
