//! The guard at work: names that resolve to where nobody may go.

use hookgate::egress::Network;

use super::fixture::{
    Names, Server, destination, dispatcher, ending, forward, network, now, private, status,
};

#[tokio::test]
async fn a_name_that_resolves_to_an_inner_address_is_not_connected_to() {
    let server = Server::start(status(200, "")).await;
    for inner in [
        "127.0.0.1",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "::1",
        "fd00::1",
        "fe80::1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "224.0.0.1",
    ] {
        let destination = destination(&format!("http://crm.test:{}/", server.address.port()));
        let dispatcher = dispatcher(&network(Names::of("crm.test", &[&[inner]])), &destination);
        let attempt = dispatcher.send(&destination, &forward("{}", &[]), 1, now()).await;
        assert_eq!(ending(&attempt), ("failed", Some("blocked_address"), None), "{inner}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn allow_private_opens_inner_addresses_and_keeps_the_name_in_the_request() {
    let server = Server::start(status(200, "")).await;
    let host = format!("crm.test:{}", server.address.port());
    let destination = private(&format!("http://{host}/"));
    let names = Names::of("crm.test", &[&["169.254.169.254", "127.0.0.1"]]);
    let attempt =
        dispatcher(&network(names), &destination).send(&destination, &forward("{}", &[]), 1, now()).await;
    assert_eq!(ending(&attempt), ("succeeded", None, Some(200)));
    assert_eq!(server.requests()[0].header("host"), Some(host.as_str()));
}

#[tokio::test]
async fn a_metadata_address_is_refused_even_with_allow_private() {
    for inner in ["169.254.169.254", "100.100.100.200", "fd00:ec2::254", "::ffff:169.254.169.254"] {
        let destination = private("http://crm.test/");
        let dispatcher = dispatcher(&network(Names::of("crm.test", &[&[inner]])), &destination);
        let attempt = dispatcher.send(&destination, &forward("{}", &[]), 1, now()).await;
        assert_eq!(ending(&attempt), ("failed", Some("blocked_address"), None), "{inner}");
    }
}

#[tokio::test]
async fn each_connection_is_made_to_the_address_that_was_checked_for_it() {
    let server = Server::start(status(200, "connection: close\r\n")).await;
    let destination = private(&format!("http://crm.test:{}/", server.address.port()));
    let names = Names::of("crm.test", &[&["127.0.0.1"], &["169.254.169.254"]]);
    let dispatcher = dispatcher(&network(names), &destination);
    let message = forward("{}", &[]);
    let before = dispatcher.send(&destination, &message, 1, now()).await;
    let after = dispatcher.send(&destination, &message, 2, now()).await;
    assert_eq!(ending(&before), ("succeeded", None, Some(200)));
    assert_eq!(
        ending(&after),
        ("failed", Some("blocked_address"), None),
        "the name now means something else"
    );
}

#[tokio::test]
async fn localhost_means_this_machine_and_nothing_else() {
    let server = Server::start(status(200, "")).await;
    for (answer, expected) in [
        (&["127.0.0.1"], ("succeeded", None, Some(200))),
        (&["10.0.0.1"], ("failed", Some("blocked_address"), None)),
    ] {
        let destination = destination(&format!("http://localhost:{}/", server.address.port()));
        let dispatcher = dispatcher(&network(Names::of("localhost", &[answer])), &destination);
        let attempt = dispatcher.send(&destination, &forward("{}", &[]), 1, now()).await;
        assert_eq!(ending(&attempt), expected, "{answer:?}");
    }
}

#[tokio::test]
async fn the_systems_resolver_is_asked_by_default() {
    let server = Server::start(status(200, "")).await;
    let destination = destination(&format!("http://localhost:{}/", server.address.port()));
    let attempt =
        dispatcher(&Network::default(), &destination).send(&destination, &forward("{}", &[]), 1, now()).await;
    assert_eq!(ending(&attempt), ("succeeded", None, Some(200)));
}

#[tokio::test]
async fn a_name_without_addresses_or_that_is_unknown_is_a_dns_failure() {
    let destination = destination("http://crm.test/");
    for names in [Names::of("crm.test", &[&[]]), Names::of("other.test", &[&["127.0.0.1"]])] {
        let attempt =
            dispatcher(&network(names), &destination).send(&destination, &forward("{}", &[]), 1, now()).await;
        assert_eq!(ending(&attempt), ("failed", Some("dns"), None));
    }
}
