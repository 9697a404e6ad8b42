//! Networks that an address may be in.

use std::net::IpAddr;

use ipnet::IpNet;

/// Networks and single addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(Vec<IpNet>);

impl Networks {
    /// Reads networks (`192.0.2.0/24`, `2001:db8::/32`) and addresses, with spaces between.
    ///
    /// # Errors
    /// Which one is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let network = |text: &str| {
            let address = || text.parse().map(|address: IpAddr| IpNet::from(address.to_canonical()));
            text.parse()
                .or_else(|_| address())
                .map_err(|_| format!("`{text}` is no network, for example 192.0.2.0/24 or 2001:db8::/32"))
        };
        text.split_whitespace().map(network).collect::<Result<_, _>>().map(Self)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an address is in one of them; `None` if the text is no address.
    #[must_use]
    pub fn hold(&self, address: &[u8]) -> Option<bool> {
        let address: IpAddr = std::str::from_utf8(address).ok()?.parse().ok()?;
        Some(self.contain(address))
    }

    /// Whether an address is in one of them. An IPv4 address written as an IPv6 one is itself.
    #[must_use]
    pub fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}
