//! The client address behind trusted proxies.

use std::net::{IpAddr, SocketAddr};

use actix_web::HttpRequest;
use org::namespace::Networks;

/// The proxies whose word is taken for where a request came from.
#[derive(Clone, Debug, Default)]
pub struct Proxies(Networks);

const FORWARDED: &str = "X-Forwarded-For";

impl Proxies {
    /// Addresses and networks that are joined by commas; nothing when one of them is neither.
    pub fn parse(text: &str) -> Option<Self> {
        if text.trim().is_empty() {
            return Some(Self::default());
        }
        Networks::parse(text).map(Self)
    }

    /// The address that counts: that of the connection, unless a trusted proxy speaks for another one.
    pub fn client(&self, req: &HttpRequest) -> Option<IpAddr> {
        let peer = req.peer_addr()?.ip();
        if self.0.is_empty() || !self.0.hold(peer) {
            return Some(peer.to_canonical());
        }
        let lines = req.headers().get_all(FORWARDED).filter_map(|value| value.to_str().ok());
        let told: Vec<&str> = lines.flat_map(|line| line.split(',')).collect();
        Some(self.nearest_stranger(peer, &told).to_canonical())
    }

    /// Each proxy adds at the end whom it was asked by. From there on backwards, the first who is no proxy of ours is
    /// who asked; what stands before that, anybody could have written.
    fn nearest_stranger(&self, peer: IpAddr, told: &[&str]) -> IpAddr {
        let mut known = peer;
        for text in told.iter().rev() {
            let Some(address) = address(text.trim()) else { return known };
            known = address;
            if !self.0.hold(address) {
                return known;
            }
        }
        known
    }
}

/// An address, as some proxies write it with a port or in brackets.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let plain = bare.parse().ok();
    plain.or_else(|| text.parse().ok().map(|address: SocketAddr| address.ip()))
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::Proxies;

    fn client(proxies: &str, peer: &str, forwarded: &[&str]) -> String {
        let peer = std::net::SocketAddr::new(peer.parse().unwrap(), 1024);
        let mut request = TestRequest::default().peer_addr(peer);
        for line in forwarded {
            request = request.append_header(("X-Forwarded-For", *line));
        }
        let proxies = Proxies::parse(proxies).unwrap();
        proxies.client(&request.to_http_request()).unwrap().to_string()
    }

    #[test]
    fn only_a_trusted_proxy_speaks_for_another_address() {
        assert_eq!(client("", "192.0.2.9", &["198.51.100.7"]), "192.0.2.9");
        assert_eq!(client("10.0.0.0/8", "192.0.2.9", &["198.51.100.7"]), "192.0.2.9");
        assert_eq!(client("10.0.0.0/8", "10.0.0.1", &["198.51.100.7"]), "198.51.100.7");
        assert_eq!(client("10.0.0.0/8", "10.0.0.1", &[]), "10.0.0.1");
    }

    #[test]
    fn what_a_client_writes_itself_is_not_believed() {
        let trusted = "10.0.0.0/8, ::1";
        for (lines, counts) in [
            (&["1.1.1.1, 198.51.100.7"][..], "198.51.100.7"),
            (&["1.1.1.1, 198.51.100.7, 10.0.0.2"], "198.51.100.7"),
            (&["1.1.1.1", "198.51.100.7"], "198.51.100.7"),
            (&["nonsense, 10.0.0.2"], "10.0.0.2"),
            (&["198.51.100.7, nonsense"], "10.0.0.1"),
            (&["[2001:db8::1]:4711"], "2001:db8::1"),
            (&["[2001:db8::2]"], "2001:db8::2"),
            (&["198.51.100.7:4711"], "198.51.100.7"),
            (&["::ffff:198.51.100.7"], "198.51.100.7"),
        ] {
            assert_eq!(client(trusted, "10.0.0.1", lines), counts, "{lines:?}");
        }
    }

    #[test]
    fn a_list_with_something_else_in_it_is_refused() {
        assert!(Proxies::parse("10.0.0.0/8, proxy.example.com").is_none());
        assert!(Proxies::parse(" ").is_some());
    }
}
