//! Checks the target of a request and of each redirect. The name is resolved here and nowhere else, so the address that was
//! checked is the one that is connected to.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    sync::Arc,
    time::Duration,
};

use ureq::{
    Error, Timeout,
    config::Config,
    http::Uri,
    unversioned::{
        resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver},
        transport::NextTimeout,
    },
};

/// Internal addresses that may be reached nevertheless.
pub type AddressAllowlist = Arc<dyn Fn(IpAddr) -> bool + Send + Sync>;

/// Internal places that may be reached nevertheless, by the name of the request and the address behind it.
pub type PlaceAllowlist = Arc<dyn Fn(&str, SocketAddr) -> bool + Send + Sync>;

/// Well-known ports below are refused: servers of other protocols may act on what looks like an HTTP request.
const FIRST_OF_PEOPLE: u16 = 1024;

/// Reasons for which the guard refused a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub(crate) enum Refusal {
    Scheme,
    Person,
    Port,
    Host,
}

impl Refusal {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Scheme => "only http and https are allowed",
            Self::Person => "the address must not hold a name and password",
            Self::Port => "the port is not allowed",
            Self::Host => "the host is not allowed",
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Other(Box::new(refusal))
    }
}

pub(crate) struct Guard {
    lookup: DefaultResolver,
    allowlist: PlaceAllowlist,
}

impl Guard {
    pub(crate) fn new(allowlist: PlaceAllowlist) -> Self {
        Self { lookup: DefaultResolver::default(), allowlist }
    }

    fn check(&self, host: &str, address: SocketAddr) -> Result<(), Refusal> {
        let canonical = SocketAddr::new(address.ip().to_canonical(), address.port());
        let is_reachable = is_outside(address) || (self.allowlist)(host, canonical);
        if is_reachable { Ok(()) } else { Err(Refusal::Host) }
    }
}

impl Guard {
    /// The addresses of a target, each of them judged.
    pub(crate) fn addresses(&self, uri: &Uri, time: Duration) -> Result<Vec<SocketAddr>, Error> {
        let timeout = NextTimeout {
            after: time.into(),
            reason: Timeout::Resolve,
            per_read: None,
            per_write: None,
        };
        Ok(self.resolve(uri, &Config::default(), timeout)?.to_vec())
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guard")
    }
}

impl Resolver for Guard {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        check_uri(uri)?;
        let found = self.lookup.resolve(uri, config, timeout)?;
        // A name that leads inside with any of its addresses is meant to.
        let host = uri.host().unwrap_or_default();
        found.iter().try_for_each(|address| self.check(host, *address))?;
        Ok(found)
    }
}

/// Checks scheme, host and port before the name is resolved.
pub(crate) fn check_uri(uri: &Uri) -> Result<(), Refusal> {
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(Refusal::Scheme);
    }
    let authority = uri.authority().ok_or(Refusal::Host)?;
    if authority.as_str().contains('@') {
        return Err(Refusal::Person);
    }
    match authority.port_u16() {
        None if authority.port().is_some() => Err(Refusal::Port),
        Some(port) if port < FIRST_OF_PEOPLE && ![80, 443].contains(&port) => Err(Refusal::Port),
        _ if authority.host().is_empty() => Err(Refusal::Host),
        _ => Ok(()),
    }
}

/// Whether an address is publicly routable and not one of this machine.
fn is_outside(address: SocketAddr) -> bool {
    crate::is_open(address.ip()) && !is_own(address)
}

/// A connection to this machine has the same source and target address. No packet is sent to find out.
fn is_own(address: SocketAddr) -> bool {
    let any = match address.ip() {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    let from = || {
        let socket = UdpSocket::bind((any, 0)).ok()?;
        socket.connect(address).ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    from() == Some(address.ip())
}

#[cfg(test)]
mod tests {
    use super::{Refusal, check_uri};

    #[test]
    fn only_plain_addresses_of_the_web_are_gone_to() {
        for (address, refusal) in [
            ("http://example.com/ci.yml", None),
            ("https://example.com:8443/ci.yml", None),
            ("http://example.com:80/", None),
            ("ftp://example.com/", Some(Refusal::Scheme)),
            ("gopher://example.com:70/", Some(Refusal::Scheme)),
            ("/etc/passwd", Some(Refusal::Scheme)),
            ("http://user@example.com/", Some(Refusal::Person)),
            ("http://user:word@example.com/", Some(Refusal::Person)),
            ("http://example.com:22/", Some(Refusal::Port)),
            ("http://example.com:25/", Some(Refusal::Port)),
            ("https://example.com:0/", Some(Refusal::Port)),
        ] {
            assert_eq!(check_uri(&address.parse().unwrap()).err(), refusal, "{address}");
        }
    }
}
