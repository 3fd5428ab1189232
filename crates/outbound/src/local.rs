//! The allowlist of requests to local addresses.

use std::net::{IpAddr, SocketAddr};

/// Whether places inside may be reached, or which ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalRequests {
    /// All of them.
    pub allowed: bool,
    /// Names, addresses or networks, each with or without a port.
    pub allowlist: Vec<String>,
}

impl LocalRequests {
    /// Whether a place inside may be reached, by the name that was asked for and where it leads.
    pub fn permit(&self, host: &str, address: SocketAddr) -> bool {
        self.allowed || self.allowlist.iter().any(|entry| is_listed(entry.trim(), host, address))
    }

    /// Whether a request to this URL can be made, as far as its text says: addresses are judged, and the names of this
    /// machine; where other names lead is seen when they are looked up.
    pub fn allows_url(&self, url: &str) -> bool {
        self.allows_url_with(url, |_| false)
    }

    /// As [`allows_url`](Self::allows_url), where some addresses inside are open at any rate.
    pub fn allows_url_with(&self, url: &str, is_open: impl Fn(IpAddr) -> bool) -> bool {
        let Some((scheme, rest)) = url.split_once("://") else { return false };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
        let (host, port) = host_and_port(place);
        let default = if scheme.eq_ignore_ascii_case("https") { 443 } else { 80 };
        let Ok(port) = port.map_or(Ok(default), str::parse) else { return false };
        if port == 0 || (port < 1024 && ![80, 443].contains(&port)) {
            return false;
        }
        let name = host.trim_end_matches('.').to_ascii_lowercase();
        let address = match literal(&name) {
            Some(address) => address,
            None if name == "localhost" || name.ends_with(".localhost") => {
                IpAddr::from([127, 0, 0, 1])
            }
            None => return is_name(&name),
        };
        let address = address.to_canonical();
        crate::is_open(address)
            || is_open(address)
            || self.permit(&name, SocketAddr::new(address, port))
    }
}

/// Whether a host can be a name of the domain name system: anything else could not be sent to, or be read as another one.
fn is_name(host: &str) -> bool {
    let is_label = |label: &str| {
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        (1..=63).contains(&label.len()) && label.bytes().all(is_known)
    };
    host.len() <= 253 && host.split('.').all(is_label)
}

/// An address in any form that the system reads as one: also decimal, hexadecimal, octal and short ones.
fn literal(host: &str) -> Option<IpAddr> {
    if let Ok(address) = host.parse() {
        return Some(address);
    }
    let parts: Vec<u64> = host.split('.').map(number).collect::<Option<_>>()?;
    let (last, first) = parts.split_last()?;
    let places = 4_usize.checked_sub(first.len())?;
    let fits = first.iter().all(|part| *part < 256) && *last < 1 << (8 * places);
    let high = first.iter().enumerate().fold(0, |all, (at, part)| all | part << (8 * (3 - at)));
    fits.then(|| u32::try_from(high | last).ok())
        .flatten()
        .map(|bits| IpAddr::from(bits.to_be_bytes()))
}

fn number(text: &str) -> Option<u64> {
    match (text.strip_prefix("0x"), text.strip_prefix('0')) {
        (Some(hex), _) => u64::from_str_radix(hex, 16).ok(),
        (None, Some(octal)) if !octal.is_empty() => u64::from_str_radix(octal, 8).ok(),
        _ => text.parse().ok(),
    }
}

fn host_and_port(place: &str) -> (&str, Option<&str>) {
    if let Some(rest) = place.strip_prefix('[') {
        let (host, tail) = rest.split_once(']').unwrap_or((rest, ""));
        return (host, tail.strip_prefix(':'));
    }
    match place.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, Some(port)),
        _ => (place, None),
    }
}

fn is_listed(entry: &str, host: &str, address: SocketAddr) -> bool {
    let (place, port) = host_and_port(entry);
    if port.is_some_and(|port| port.parse() != Ok(address.port())) {
        return false;
    }
    match place.split_once('/') {
        Some((network, bits)) => is_in(network, bits, address.ip()),
        None => match place.parse::<IpAddr>() {
            Ok(listed) => listed.to_canonical() == address.ip(),
            Err(_) => place.eq_ignore_ascii_case(host),
        },
    }
}

fn is_in(network: &str, bits: &str, address: IpAddr) -> bool {
    let (Ok(network), Ok(bits)) = (network.parse::<IpAddr>(), bits.parse::<u32>()) else {
        return false;
    };
    match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) if bits <= 32 => {
            let rest = 32 - bits;
            rest == 32 || network.to_bits() >> rest == address.to_bits() >> rest
        }
        (IpAddr::V6(network), IpAddr::V6(address)) if bits <= 128 => {
            let rest = 128 - bits;
            rest == 128 || network.to_bits() >> rest == address.to_bits() >> rest
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::LocalRequests;

    /// Places that nobody outside is to reach, in all the ways in which they are written.
    const HOSTILE: [&str; 29] = [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://0x7f.1/",
        "http://0/",
        "http://localhost/",
        "http://LOCALHOST./",
        "http://a.localhost/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:a9fe:a9fe]/latest/meta-data/",
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://192.168.0.1/",
        "http://172.16.0.1/",
        "http://[fe80::1]/",
        "http://[fd00::1]/",
        "http://0.0.0.0/",
        "http://100.100.100.200/",
        "http://user:word@127.0.0.1/",
        "http://example.com:22/",
        "http://example.com:x/",
        "http://①②⑦.0.0.1/",
        "http://127。0。0。1/",
        "http://%31%32%37.0.0.1/",
        "http://[::1%25lo]/",
        "http://exa mple.com/",
    ];

    #[test]
    fn hostile_addresses_are_refused_in_every_spelling() {
        let closed = LocalRequests::default();
        for url in HOSTILE {
            assert!(!closed.allows_url(url), "{url}");
        }
        assert!(!closed.allows_url(&format!("https://{}.example/", "a".repeat(64))));
        for url in ["https://example.com/x", "http://8.8.8.8:8080/", "http://134744072/"] {
            assert!(closed.allows_url(url), "{url}");
        }
    }

    #[test]
    fn the_allowlist_names_hosts_networks_and_ports() {
        let list = ["localhost:8080", "10.0.0.0/8", "192.168.1.1", "fd00::/8", "ci.local"];
        let open = LocalRequests { allowed: false, allowlist: list.map(str::to_owned).to_vec() };
        for url in [
            "http://localhost:8080/",
            "http://10.9.8.7:3000/",
            "http://192.168.1.1/",
            "http://[fd00::2]/",
        ] {
            assert!(open.allows_url(url), "{url}");
        }
        for url in ["http://localhost:8081/", "http://127.0.0.1:8080/", "http://192.168.1.2/"] {
            assert!(!open.allows_url(url), "{url}");
        }
        assert!(open.permit("ci.local", "10.250.0.1:80".parse().unwrap()));
        assert!(!open.permit("evil.example.com", "127.0.0.1:80".parse().unwrap()));
    }

    #[test]
    fn everything_inside_is_open_where_that_is_set() {
        let open = LocalRequests { allowed: true, allowlist: Vec::new() };
        assert!(open.allows_url("http://127.0.0.1:9999/"));
        assert!(!open.allows_url("http://127.0.0.1:22/"));
    }
}
