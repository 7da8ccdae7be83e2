//! Addresses and CIDR blocks of both families, compared exactly.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The family of an address or block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl Family {
    /// Number of bits of an address.
    pub fn bits(self) -> u8 {
        match self {
            Family::V4 => 32,
            Family::V6 => 128,
        }
    }
}

/// An address of either family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// Its family; addresses of different families are never equal and never ordered.
    pub family: Family,
    /// Its bits as a number.
    pub bits: u128,
}

impl Address {
    /// Reads an address as `inet_pton` does: four decimal numbers without leading zeros, or IPv6 text.
    pub fn parse(text: &str) -> Option<Address> {
        // Anything else cannot be an address; most strings of a configuration stop here.
        let first = *text.as_bytes().first()?;
        if !(first.is_ascii_hexdigit() || first == b':') || text.len() > 45 {
            return None;
        }
        match text.parse().ok()? {
            IpAddr::V4(v4) => Some(Address {
                family: Family::V4,
                bits: u128::from(u32::from(v4)),
            }),
            IpAddr::V6(v6) => Some(Address {
                family: Family::V6,
                bits: u128::from(v6),
            }),
        }
    }

    /// The address that stands for all of its family: `0.0.0.0` or `::`.
    pub fn unspecified(family: Family) -> Address {
        Address { family, bits: 0 }
    }

    /// The address that comes `n` later; none beyond the last of its family.
    pub fn plus(self, n: u128) -> Option<Address> {
        let bits = self.bits.checked_add(n)?;
        (bits <= mask(self.family, 0)).then_some(Address { bits, ..self })
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.family {
            Family::V4 => Ipv4Addr::from(u32::try_from(self.bits).unwrap_or(u32::MAX)).fmt(f),
            Family::V6 => Ipv6Addr::from(self.bits).fmt(f),
        }
    }
}

/// All host bits of a prefix of this length.
fn mask(family: Family, prefix: u8) -> u128 {
    let host = u32::from(family.bits().saturating_sub(prefix));
    match host {
        0 => 0,
        _ => u128::MAX >> (128 - host),
    }
}

/// A CIDR block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cidr {
    /// Its first address, the network address.
    pub network: Address,
    /// Length of the prefix.
    pub prefix: u8,
    /// Whether the text named another address of the block than its first.
    pub host_bits: bool,
}

impl Cidr {
    /// Reads `address/length`; for IPv4 also `address/netmask`. The block is that of the address, whether
    /// or not it has host bits set.
    pub fn parse(text: &str) -> Option<Cidr> {
        let (address, length) = text.split_once('/')?;
        let address = Address::parse(address)?;
        let family = address.family;
        let digits = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
        let prefix = if digits {
            length.parse().ok().filter(|&n: &u8| n <= family.bits())?
        } else {
            let mask = Address::parse(length).filter(|mask| mask.family == family)?;
            let host = !mask.bits & self::mask(family, 0);
            // A netmask is ones and then zeros.
            if host & host.wrapping_add(1) != 0 {
                return None;
            }
            family.bits() - u8::try_from(host.count_ones()).unwrap_or(0)
        };
        let bits = address.bits & !mask(family, prefix);
        Some(Cidr {
            network: Address { family, bits },
            prefix,
            host_bits: bits != address.bits,
        })
    }

    /// Its family.
    pub fn family(self) -> Family {
        self.network.family
    }

    /// Its last address; of IPv4 blocks that are not point to point, the broadcast address.
    pub fn last(self) -> Address {
        Address {
            family: self.family(),
            bits: self.network.bits | mask(self.family(), self.prefix),
        }
    }

    /// The broadcast address: only IPv4 has it, and only blocks of more than two addresses.
    pub fn broadcast(self) -> Option<Address> {
        (self.family() == Family::V4 && self.prefix < 31).then(|| self.last())
    }

    /// The network address as far as hosts may not use it: not in blocks of one or two addresses.
    pub fn reserved_network(self) -> Option<Address> {
        (self.prefix + 1 < self.family().bits()).then_some(self.network)
    }

    /// The first address that a host may have, which is where a gateway is put by default.
    pub fn first_host(self) -> Address {
        match self.reserved_network() {
            Some(network) => network.plus(1).unwrap_or(network),
            None => self.network,
        }
    }

    /// Whether an address is in the block.
    pub fn contains(self, address: Address) -> bool {
        self.family() == address.family
            && self.network.bits <= address.bits
            && address.bits <= self.last().bits
    }

    /// Whether every address of another block is in this one.
    pub fn covers(self, other: Cidr) -> bool {
        self.contains(other.network) && self.prefix <= other.prefix
    }

    /// Whether two blocks have an address in common, which means that one covers the other.
    pub fn overlaps(self, other: Cidr) -> bool {
        self.covers(other) || other.covers(self)
    }
}

impl std::fmt::Display for Cidr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.network, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ipnet::IpNet;
    use proptest::prelude::*;

    fn cidr(text: &str) -> Cidr {
        Cidr::parse(text).unwrap()
    }

    #[test]
    fn what_is_not_an_address_is_refused() {
        for text in [
            "",
            "10.0.0",
            "10.0.0.256",
            "010.0.0.1",
            "1.2.3.4 ",
            "fe80::1%eth0",
            "::g",
            ":",
            "a",
        ] {
            assert_eq!(Address::parse(text), None, "{text}");
        }
        for text in [
            "10.0.0.0",
            "10.0.0.0/33",
            "10.0.0.0/",
            "10.0.0.0/+8",
            "::/129",
            "10.0.0.0/255.0.255.0",
            "/8",
        ] {
            assert_eq!(Cidr::parse(text), None, "{text}");
        }
    }

    #[test]
    fn netmasks_and_host_bits_are_read() {
        assert_eq!(cidr("10.1.2.3/255.255.0.0").to_string(), "10.1.0.0/16");
        assert!(cidr("10.1.2.3/16").host_bits);
        assert!(!cidr("10.1.0.0/16").host_bits);
        assert_eq!(cidr("0.0.0.0/0").last().to_string(), "255.255.255.255");
        assert_eq!(cidr("::/0").last().bits, u128::MAX);
    }

    #[test]
    fn small_blocks_reserve_nothing() {
        assert_eq!(cidr("10.0.0.0/31").reserved_network(), None);
        assert_eq!(cidr("10.0.0.0/31").broadcast(), None);
        assert_eq!(cidr("10.0.0.4/32").first_host().to_string(), "10.0.0.4");
        assert_eq!(
            cidr("10.0.0.0/30").broadcast().unwrap().to_string(),
            "10.0.0.3"
        );
        assert_eq!(cidr("10.0.0.0/30").first_host().to_string(), "10.0.0.1");
        assert_eq!(cidr("fd00::/64").broadcast(), None);
        assert_eq!(cidr("fd00::/64").first_host().to_string(), "fd00::1");
    }

    /// Blocks that often touch: few distinct high bits, all lengths.
    fn block() -> impl Strategy<Value = String> {
        prop_oneof![
            (0u32..4, any::<u32>(), 0u8..=32).prop_map(|(high, low, length)| {
                let bits = (high << 30) | (low & 0x3f00_00ff);
                format!("{}/{length}", Ipv4Addr::from(bits))
            }),
            (0u128..4, any::<u128>(), 0u8..=128).prop_map(|(high, low, length)| {
                let bits = (high << 126) | (low & 0xff);
                format!("{}/{length}", Ipv6Addr::from(bits))
            }),
        ]
    }

    proptest! {
        #[test]
        fn blocks_agree_with_an_independent_implementation(a in block(), b in block()) {
            let (mine, other): (Cidr, Cidr) = (cidr(&a), cidr(&b));
            let (theirs, second): (IpNet, IpNet) = (a.parse().unwrap(), b.parse().unwrap());
            prop_assert_eq!(mine.network.to_string(), theirs.network().to_string());
            prop_assert_eq!(mine.last().to_string(), theirs.broadcast().to_string());
            prop_assert_eq!(mine.covers(other), theirs.contains(&second));
            let overlap = theirs.contains(&second) || second.contains(&theirs);
            prop_assert_eq!(mine.overlaps(other), overlap);
            prop_assert_eq!(
                mine.contains(other.network),
                theirs.contains(&second.network())
            );
            let hosts = theirs.hosts().next().unwrap();
            prop_assert_eq!(mine.first_host().to_string(), match theirs {
                // The peer counts the network address of an IPv6 block among its hosts.
                IpNet::V6(net) if net.prefix_len() < 127 => {
                    Ipv6Addr::from(u128::from(net.network()) + 1).to_string()
                }
                _ => hosts.to_string(),
            });
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9a-f.:/%]{0,24}") {
            if let Some(address) = Address::parse(&text) {
                prop_assert_eq!(Address::parse(&address.to_string()), Some(address));
            }
            if let Some(block) = Cidr::parse(&text) {
                prop_assert!(block.contains(block.last()));
            }
        }
    }
}
