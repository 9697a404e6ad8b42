//! Which addresses a request may go to, and which hosts a URL may name.
//!
//! The IANA registries of special addresses are the source:
//! <https://www.iana.org/assignments/iana-ipv4-special-registry>,
//! <https://www.iana.org/assignments/iana-ipv6-special-registry>.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Uri;

/// How far an address reaches, as far as the guard cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// A global unicast address.
    Public,
    /// Of this machine, this network, a special purpose, or an IPv6 address that wraps an IPv4 one: reached only if
    /// the operator said so.
    Private,
    /// Never reached, whatever the config says: metadata services of clouds, link-local, multicast, unspecified.
    Forbidden,
}

/// Judges one address.
#[must_use]
pub fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(v4) => reach_v4(v4),
        IpAddr::V6(v6) => reach_v6(v6),
    }
}

/// What a name may resolve to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Public addresses only.
    Public,
    /// Private ones too (`allow_private`).
    AlsoPrivate,
    /// This machine only: the name is `localhost`.
    Loopback,
}

impl Rule {
    pub(crate) fn admits(self, address: IpAddr) -> bool {
        match (self, reach(address)) {
            (_, Reach::Forbidden) | (Self::Public, Reach::Private) => false,
            (Self::Loopback, _) => address.is_loopback(),
            _ => true,
        }
    }
}

/// The host of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Host {
    /// A literal address: the operator's own word.
    Literal(IpAddr),
    /// `localhost`: as good as a literal one.
    Localhost,
    /// Any other name.
    Name,
}

/// Reads a host as it stands in a URL. Only the one usual form of an address is taken: the many others that system
/// resolvers understand (`2130706433`, `0x7f.1`, `127.1`) serve to hide where a request goes.
fn parse_host(host: &str) -> Result<Host, &'static str> {
    if let Some(inner) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let address: Ipv6Addr =
            inner.parse().map_err(|_| "is no IPv6 address (a zone such as %eth0 is not possible here)")?;
        return literal(address.into());
    }
    if let Ok(address) = host.parse::<Ipv4Addr>() {
        return literal(address.into());
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    if ends_in_number(name) {
        return Err("looks like an IPv4 address in an unusual form: write it as four decimal numbers");
    }
    if !is_name(name) {
        return Err("is not a host name: labels of letters, digits, - and _ between dots");
    }
    let lower = name.to_ascii_lowercase();
    Ok(if lower == "localhost" || lower.ends_with(".localhost") { Host::Localhost } else { Host::Name })
}

/// Judges the URL, and says what its host may resolve to.
pub(crate) fn rule(url: &Uri, allow_private: bool) -> Result<Rule, String> {
    let (Some(scheme), Some(authority)) = (url.scheme_str(), url.authority()) else {
        return Err("expected a whole URL such as https://crm.example.com/hooks".into());
    };
    if scheme != "http" && scheme != "https" {
        return Err(format!("expected http or https, found {scheme}"));
    }
    if authority.as_str().contains('@') {
        return Err("a URL may not carry a user or password: put them into `headers`".into());
    }
    let host = authority.host();
    let port = authority.port().map(|port| format!(":{port}")).unwrap_or_default();
    if authority.as_str() != format!("{host}{port}") || authority.port_u16() == Some(0) {
        return Err(format!("after the host {host} expected nothing or a port such as :8443"));
    }
    match parse_host(host).map_err(|problem| format!("the host {host} {problem}"))? {
        Host::Localhost => Ok(Rule::Loopback),
        Host::Name if !allow_private => Ok(Rule::Public),
        Host::Literal(_) | Host::Name => Ok(Rule::AlsoPrivate),
    }
}

fn literal(address: IpAddr) -> Result<Host, &'static str> {
    match reach(address) {
        Reach::Forbidden => {
            Err("is an address that no delivery may go to (link-local, metadata, multicast or none)")
        }
        Reach::Public | Reach::Private => Ok(Host::Literal(address)),
    }
}

/// The WHATWG rule for "this was meant as an IPv4 address": <https://url.spec.whatwg.org/#ends-in-a-number-checker>.
fn ends_in_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let hex =
        last.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    hex || (!last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_name(name: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    name.len() <= 253 && name.split('.').all(label)
}

/// Metadata services outside the link-local range: Alibaba Cloud, Oracle Cloud classic, Azure's host agent.
const METADATA_V4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(192, 0, 0, 192), Ipv4Addr::new(168, 63, 129, 16)];

/// The same for IPv6: AWS, Google Cloud.
const METADATA_V6: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254),
    Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254),
];

fn reach_v4(address: Ipv4Addr) -> Reach {
    let forbidden =
        METADATA_V4.contains(&address) || matches!(address.octets(), [0 | 224..=255, ..] | [169, 254, ..]);
    let private = matches!(
        address.octets(),
        [10 | 127, ..]
            | [100, 64..=127, ..]
            | [172, 16..=31, ..]
            | [192, 168, ..]
            | [192, 0, 0 | 2, _]
            | [192, 88, 99, _]
            | [198, 18 | 19, ..]
            | [198, 51, 100, _]
            | [203, 0, 113, _]
    );
    match (forbidden, private) {
        (true, _) => Reach::Forbidden,
        (false, true) => Reach::Private,
        (false, false) => Reach::Public,
    }
}

fn reach_v6(address: Ipv6Addr) -> Reach {
    if METADATA_V6.contains(&address) || address.is_multicast() || address.is_unspecified() {
        return Reach::Forbidden;
    }
    if let Some(inner) = wrapped(address) {
        // Who wraps an address hides it: the inner one is never more than private, and may be worse.
        return if reach_v4(inner) == Reach::Forbidden { Reach::Forbidden } else { Reach::Private };
    }
    match address.segments() {
        // fe80::/10 link-local, fec0::/10 its abandoned neighbour
        [0xfe80..=0xfeff, ..] => Reach::Forbidden,
        // documentation (2001:db8::/32, 3fff::/20) and protocol assignments (2001::/23)
        [0x2001, 0x0db8 | 0..=0x01ff, ..] | [0x3fff, 0..=0x0fff, ..] => Reach::Private,
        [0x2000..=0x3fff, ..] => Reach::Public,
        // outside 2000::/3 nothing is global unicast: loopback, fc00::/7, discard, …
        _ => Reach::Private,
    }
}

/// The IPv4 address inside an IPv6 one: mapped, compatible, translated, 6to4, NAT64 (both prefixes), Teredo.
fn wrapped(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let join = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x0064, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x0064, 0xff9b, 1, _, _, _, high, low]
        | [0x2002, high, low, ..] => Some(join(high, low)),
        [0x2001, 0, .., high, low] => Some(join(!high, !low)),
        _ => None,
    }
}
