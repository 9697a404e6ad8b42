//! Who sent a request, where proxies may stand between.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;

use crate::model::Networks;

/// Where the proxies say for whom they speak, the last one at the end.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// The other end of the connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) IpAddr);

/// The client's address, and whether a listed proxy sent the request.
///
/// Each listed proxy appends the address of whoever spoke to it, so the list is read from its end, and the first
/// address that is no listed proxy's is the client's: what stands before it anybody may have written. A list that is
/// missing or broken there names nobody.
pub(super) fn client(peer: IpAddr, headers: &HeaderMap, proxies: &Networks) -> (Option<IpAddr>, bool) {
    let peer = peer.to_canonical();
    if !proxies.contain(peer) {
        return (Some(peer), false);
    }
    let lists = headers.get_all(FORWARDED_FOR).into_iter().rev();
    let hops = lists.flat_map(|list| list.as_bytes().rsplit(|byte| *byte == b','));
    let mut furthest = None;
    for hop in hops {
        let Some(address) = address(hop) else { return (None, true) };
        furthest = Some(address);
        if !proxies.contain(address) {
            break;
        }
    }
    (furthest, true)
}

/// An address, perhaps with a port or in brackets, as some proxies write it.
fn address(text: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| text.parse().ok().map(|socket: SocketAddr| socket.ip()));
    address.map(|address| address.to_canonical())
}
