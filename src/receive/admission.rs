//! How many rejected requests are looked at, before anything is done for one: a flood costs a look into a map.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The rate is counted in windows of this length.
const WINDOW: Duration = Duration::from_mins(1);
/// For so long nothing is looked at once an endpoint has no room left.
const FULL: Duration = Duration::from_secs(10);

/// The rate of each endpoint. Of a window's places one reason may take half, one network a quarter.
pub(super) struct Admission {
    per_minute: u32,
    endpoints: Mutex<HashMap<Arc<str>, Window>>,
}

struct Window {
    began: Instant,
    all: u32,
    reasons: HashMap<&'static str, u32>,
    networks: HashMap<String, u32>,
    full_until: Option<Instant>,
}

impl Admission {
    pub(super) fn new(per_minute: u32) -> Self {
        Self { per_minute, endpoints: Mutex::default() }
    }

    /// Whether one more may be looked at. What is counted is bounded: a place was taken for each name.
    pub(super) fn admits(
        &self,
        endpoint: &Arc<str>,
        reason: &'static str,
        network: &str,
        now: Instant,
    ) -> bool {
        let mut endpoints = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        let window = endpoints.entry(Arc::clone(endpoint)).or_insert_with(|| Window::new(now));
        if window.full_until.is_some_and(|until| now < until) {
            return false;
        }
        if now.duration_since(window.began) >= WINDOW {
            *window = Window::new(now);
        }
        window.take(self.per_minute, reason, network)
    }

    /// There is no room for this endpoint's requests.
    pub(super) fn full(&self, endpoint: &Arc<str>, now: Instant) {
        let mut endpoints = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        endpoints.entry(Arc::clone(endpoint)).or_insert_with(|| Window::new(now)).full_until =
            Some(now + FULL);
    }
}

impl Window {
    fn new(began: Instant) -> Self {
        let (reasons, networks) = (HashMap::new(), HashMap::new());
        Self { began, all: 0, reasons, networks, full_until: None }
    }

    fn take(&mut self, limit: u32, reason: &'static str, network: &str) -> bool {
        let of_reason = self.reasons.get(reason).copied().unwrap_or(0);
        let of_network = self.networks.get(network).copied().unwrap_or(0);
        if self.all >= limit || of_reason >= limit.div_ceil(2) || of_network >= limit.div_ceil(4) {
            return false;
        }
        self.all += 1;
        self.reasons.insert(reason, of_reason + 1);
        self.networks.insert(network.to_owned(), of_network + 1);
        true
    }
}

/// The network that a peer is counted by: a /24, or a /48, which is what one customer gets.
pub(super) fn network(peer: Option<IpAddr>) -> String {
    match peer {
        Some(IpAddr::V4(address)) => {
            let [a, b, c, _] = address.octets();
            format!("{a}.{b}.{c}.0/24")
        }
        Some(IpAddr::V6(address)) => {
            let [a, b, c, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}::/48")
        }
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(admission: &Admission, now: Instant, sent: &[(&'static str, &str)]) -> Vec<bool> {
        let endpoint: Arc<str> = "billing".into();
        sent.iter().map(|(reason, network)| admission.admits(&endpoint, reason, network, now)).collect()
    }

    #[test]
    fn a_network_gets_a_quarter_and_a_reason_half_of_a_minute() {
        let (admission, now) = (Admission::new(8), Instant::now());
        let sent =
            [("a", "1"), ("a", "1"), ("a", "1"), ("a", "2"), ("a", "2"), ("a", "3"), ("b", "3"), ("b", "4")];
        let answers = [true, true, false, true, true, false, true, true];
        assert_eq!(admitted(&admission, now, &sent), answers);
        assert_eq!(admitted(&admission, now + WINDOW, &sent), answers, "a new minute");
    }

    #[test]
    fn an_endpoint_without_room_is_left_alone_for_a_while_and_others_are_not() {
        let (admission, now) = (Admission::new(8), Instant::now());
        admission.full(&"billing".into(), now);
        assert_eq!(admitted(&admission, now, &[("a", "1")]), [false]);
        assert!(admission.admits(&"shop".into(), "a", "1", now));
        assert_eq!(admitted(&admission, now + FULL, &[("a", "1")]), [true]);
    }

    #[test]
    fn peers_of_one_network_count_together() {
        let of = |address: &str| network(Some(address.parse().unwrap()));
        assert_eq!(of("203.0.113.7"), of("203.0.113.200"));
        assert_ne!(of("203.0.113.7"), of("203.0.112.7"));
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:ffff::2"));
        assert_ne!(of("2001:db8:1::1"), of("2001:db8:2::1"));
    }
}
