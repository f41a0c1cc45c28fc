//! Tells public network addresses from all others.
//!
//! Only addresses that are known to be public count as such. All others are private: those of this machine,
//! of its local network, of a cloud's own services, and every IPv6 spelling of an IPv4 address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns whether an address belongs to the public network.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let is_special = match (first, second, third) {
        // In this order: this network, private, loopback, multicast and reserved; carriers, and some
        // clouds' own services; link-local, which is where clouds hand out credentials; private;
        // protocols and documentation; old relays; benchmarks; documentation.
        (0 | 10 | 127 | 224.., _, _)
        | (100, 64..=127, _)
        | (169, 254, _)
        | (172, 16..=31, _)
        | (192, 168, _)
        | (192, 0, 0 | 2)
        | (192, 88, 99)
        | (198, 18 | 19, _)
        | (198, 51, 100)
        | (203, 0, 113) => true,
        _ => false,
    };
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        // A translator's form of an IPv4 address.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        // IPv4 addresses in IPv6 form, and tunnels to them; documentation.
        [0x2002, ..] | [0x2001, 0xdb8, ..] => false,
        // Tunnels and protocols; documentation.
        [0x2001, second, ..] if second < 0x200 => false,
        [0x3fff, second, ..] if second < 0x1000 => false,
        // The range from which all global addresses come.
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_network_and_nothing_else() {
        for text in ["1.1.1.1", "8.8.8.8", "100.63.0.1", "172.32.0.1", "192.0.1.1", "223.255.255.1"]
        {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
        for text in ["2606:4700::1111", "2a00:1450:4001::1", "64:ff9b::808:808", "2001:4860::8888"]
        {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "192.0.0.192",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "3fff::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "100::1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
    }
}
