//! Where a delivery may go: every form in which an inner address can be written or hidden.

use std::net::IpAddr;

use hookgate::egress::{self, Reach};
use http::Uri;

use super::fixture::{destination, private};

fn reach(address: &str) -> Reach {
    egress::reach(address.parse::<IpAddr>().unwrap_or_else(|_| panic!("{address}")))
}

#[test]
fn public_addresses_are_public_up_to_the_edges_of_the_special_ranges() {
    for address in [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.0.3.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2606:4700::1111",
        "2a00:1450:4001::1",
        "2001:200::1",
        "2003::1",
        "2400::1",
    ] {
        assert_eq!(reach(address), Reach::Public, "{address}");
    }
}

#[test]
fn addresses_of_this_machine_and_its_networks_are_private() {
    for address in [
        "127.0.0.1",
        "127.255.255.255",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "172.16.0.0",
        "172.31.255.255",
        "192.168.0.0",
        "192.168.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "::1",
        "fc00::1",
        "fd12:3456::1",
        "2001:db8::1",
        "3fff::1",
        "100::1",
        "2001:2::1",
    ] {
        assert_eq!(reach(address), Reach::Private, "{address}");
    }
}

#[test]
fn an_ipv4_address_wrapped_in_ipv6_is_never_public() {
    for address in [
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "::8.8.8.8",
        "::127.0.0.1",
        "::ffff:0:10.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b::8.8.8.8",
        "64:ff9b:1::10.0.0.1",
        "2002:0a00:0001::1",
        "2002:0808:0808::1",
        "2001:0:4136:e378:8000:63bf:f5ff:fffe",
    ] {
        assert_eq!(reach(address), Reach::Private, "{address}");
    }
}

#[test]
fn metadata_link_local_multicast_and_unspecified_addresses_are_forbidden() {
    for address in [
        "0.0.0.0",
        "0.1.2.3",
        "169.254.169.254",
        "169.254.0.1",
        "169.254.170.2",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "ff02::1",
        "fd00:ec2::254",
        "fd20:ce::254",
        "::ffff:169.254.169.254",
        "::ffff:0.0.0.0",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::169.254.169.254",
        "2002:a9fe:a9fe::1",
        "::169.254.169.254",
        "::ffff:0:169.254.169.254",
        "2001:0:4136:e378:8000:63bf:5601:5601",
    ] {
        assert_eq!(reach(address), Reach::Forbidden, "{address}");
    }
}

#[test]
fn a_literal_inner_address_or_localhost_is_the_operators_own_word() {
    for host in [
        "127.0.0.1",
        "127.0.0.1:9000",
        "10.1.2.3",
        "192.168.0.7:8443",
        "100.64.0.1",
        "[::1]",
        "[::1]:9000",
        "[fd12::7]",
        "[::ffff:10.0.0.1]",
        "localhost",
        "LOCALHOST:9000",
        "crm.localhost",
        "localhost.",
        "crm.example.com",
        "crm.example.com.",
        "crm",
        "my_service",
        "8.8.8.8",
        "xn--bcher-kva.example",
        "1password.com",
    ] {
        assert_eq!(
            hookgate::dispatch::check(&destination(&format!("http://{host}/hooks"))),
            Ok(()),
            "{host}"
        );
    }
}

#[test]
fn hidden_and_forbidden_hosts_are_refused_when_the_config_is_read_and_allow_private_does_not_help() {
    for host in [
        // decimal, octal, hex, short, mixed, with a dot at the end
        "2130706433",
        "2852039166",
        "017700000001",
        "0x7f000001",
        "0x7F000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "127.1",
        "127.0.1",
        "10.1",
        "0",
        "127.0.0.1.",
        "127.0.0.01",
        "0x0",
        "0x",
        "169.254.43518",
        "0xa9fea9fe",
        "1.2.3.4.5",
        "256.0.0.1",
        "127.0.0.0x1",
        "foo.0x7f",
        "foo.1",
        "2130706433.",
        "00000.0",
        "4294967296",
        // brackets: zones, not an address, no address that may be reached
        "[fe80::1]",
        "[::]",
        "[ff02::1]",
        "[fd00:ec2::254]",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:a9fe:a9fe::]",
        "[0:0:0:0:0:0:0:0]",
        // plain forbidden ones
        "0.0.0.0",
        "0.0.0.0:80",
        "169.254.169.254",
        "169.254.169.254:80",
        "169.254.170.2",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
        "224.0.0.1",
        "255.255.255.255",
        // users, ports
        "user:secret@crm.example.com",
        "crm.example.com@127.0.0.1",
        "crm.example.com:0",
        "crm.example.com:",
        // no names
        "a..b",
        "crm!.example.com",
        ".crm.example.com",
        "crm.example.com..",
        "a~b",
        "a$b",
    ] {
        let url = format!("http://{host}/hooks");
        let error = hookgate::dispatch::check(&private(&url)).expect_err(host).to_string();
        assert!(error.starts_with("destinations.crm.url: "), "{host}: {error}");
        assert!(!error.contains("secret"), "{host}: {error}");
    }
}

#[test]
fn what_is_no_url_at_all_does_not_get_this_far() {
    for host in [
        "１２７.0.0.1",
        "127。0。0。1",
        "[::1%25lo]",
        "[fe80::1%eth0]",
        "[127.0.0.1",
        "::1",
        "%31%32%37.0.0.1",
        "127.0.0.1\\@crm",
        "crm\r\nx: y",
        "crm example",
        "crm\t",
        "①②⑦.0.0.1",
        "[::1]x",
        "",
    ] {
        let Ok(uri) = format!("http://{host}/hooks").parse::<Uri>() else { continue };
        hookgate::dispatch::check(&private(&uri.to_string())).expect_err(host);
    }
}

#[test]
fn only_http_and_https_are_urls_of_a_destination() {
    for url in ["ftp://crm.example.com/", "file:///etc/passwd", "/hooks", "crm.example.com", "unix://x/y"] {
        let Ok(_) = url.parse::<Uri>() else { continue };
        hookgate::dispatch::check(&destination(url)).expect_err(url);
    }
}
