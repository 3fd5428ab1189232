//! The check whether an IP address is publicly routable.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Private, documentation and multicast networks (RFC 6890 and later registries).
const CLOSED_V4: [([u8; 4], u32); 16] = [
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 31, 196, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

/// IPv6 assigns only `2000::/3`; excluded from it are tunnels to IPv4 addresses and documentation networks.
const CLOSED_V6: [(u128, u32); 4] =
    [(0x2001 << 112, 23), (0x2001_0db8 << 96, 32), (0x2002 << 112, 16), (0x3fff << 112, 20)];

/// Whether an address is publicly routable.
pub fn is_open(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_open_v4(address),
        IpAddr::V6(address) => is_open_v6(address),
    }
}

fn is_open_v4(address: Ipv4Addr) -> bool {
    let is_in = |(network, bits): &([u8; 4], u32)| {
        (address.to_bits() ^ u32::from_be_bytes(*network)) >> (32 - bits) == 0
    };
    !CLOSED_V4.iter().any(is_in)
}

fn is_open_v6(address: Ipv6Addr) -> bool {
    let address = address.to_bits();
    let is_in = |(network, bits): &(u128, u32)| (address ^ network) >> (128 - bits) == 0;
    address >> 125 == 1 && !CLOSED_V6.iter().any(is_in)
}

#[cfg(test)]
mod tests {
    use super::is_open;

    #[test]
    fn only_the_open_internet_is_open() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "198.17.255.255",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00::1",
            "2001:200::1",
            "::ffff:8.8.8.8",
        ] {
            assert!(is_open(address.parse().unwrap()), "{address}");
        }
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.170",
            "192.168.1.1",
            "198.19.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_open(address.parse().unwrap()), "{address}");
        }
    }
}
