//! Ranges of addresses, and the outside split where policies split it.

use std::fmt;

use locus_core::values::{Address, Cidr, Family};

/// The addresses from one to another, of one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Range {
    /// The first.
    pub first: Address,
    /// The last.
    pub last: Address,
}

impl Range {
    /// All addresses of a family.
    pub fn all(family: Family) -> Range {
        let bits = match family {
            Family::V4 => u128::from(u32::MAX),
            Family::V6 => u128::MAX,
        };
        Range {
            first: Address::unspecified(family),
            last: Address { family, bits },
        }
    }

    /// The addresses of a block.
    pub fn of(block: Cidr) -> Range {
        Range {
            first: block.network,
            last: block.last(),
        }
    }

    /// Its family.
    pub fn family(self) -> Family {
        self.first.family
    }

    /// Whether every address of another is in this one.
    pub fn covers(self, other: Range) -> bool {
        self.family() == other.family()
            && self.first.bits <= other.first.bits
            && other.last.bits <= self.last.bits
    }

    /// Whether an address is in both.
    pub fn overlaps(self, other: Range) -> bool {
        self.family() == other.family()
            && self.first.bits <= other.last.bits
            && other.first.bits <= self.last.bits
    }

    /// What is left without another range.
    fn without(self, other: Range) -> Vec<Range> {
        if !self.overlaps(other) {
            return vec![self];
        }
        let mut left = Vec::new();
        let at = |bits| Address {
            family: self.family(),
            bits,
        };
        if self.first.bits < other.first.bits {
            left.push(Range {
                first: self.first,
                last: at(other.first.bits - 1),
            });
        }
        if other.last.bits < self.last.bits {
            left.push(Range {
                first: at(other.last.bits + 1),
                last: self.last,
            });
        }
        left
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.first, self.last)
    }
}

/// The addresses of a block without some others.
pub fn except(block: Cidr, others: &[Cidr]) -> Vec<Range> {
    let mut left = vec![Range::of(block)];
    for other in others {
        left = left
            .into_iter()
            .flat_map(|range| range.without(Range::of(*other)))
            .collect();
    }
    left.sort();
    left
}

/// The addresses of some families, split wherever a range starts or ends.
pub fn split(families: &[Family], ranges: impl Iterator<Item = Range> + Clone) -> Vec<Range> {
    let mut parts = Vec::new();
    for &family in families {
        let whole = Range::all(family);
        let own = ranges.clone().filter(|range| range.family() == family);
        // Each part starts where a range starts, or where one has ended.
        let mut starts: Vec<u128> = own
            .flat_map(|range| [Some(range.first.bits), range.last.bits.checked_add(1)])
            .flatten()
            .chain([0])
            .filter(|start| *start <= whole.last.bits)
            .collect();
        starts.sort_unstable();
        starts.dedup();
        let ends = starts.iter().skip(1).map(|next| next - 1);
        let ends = ends.chain([whole.last.bits]).collect::<Vec<_>>();
        parts.extend(starts.into_iter().zip(ends).map(|(first, last)| Range {
            first: Address {
                family,
                bits: first,
            },
            last: Address { family, bits: last },
        }));
    }
    parts
}

/// Blocks that are not part of the internet: private, shared, local, for documentation and tests, for many receivers.
const RESERVED: [&str; 22] = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "::/128",
    "::1/128",
    "64:ff9b:1::/48",
    "100::/64",
    "2001:db8::/32",
    "fc00::/7",
    "fe80::/10",
    "ff00::/8",
];

/// Whether some address of a range is one of the internet.
pub fn is_public(range: Range) -> bool {
    let mut left = vec![range];
    for block in RESERVED.iter().filter_map(|text| Cidr::parse(text)) {
        left = left
            .into_iter()
            .flat_map(|range| range.without(Range::of(block)))
            .collect();
    }
    !left.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cidr(text: &str) -> Cidr {
        Cidr::parse(text).unwrap()
    }

    fn texts(ranges: &[Range]) -> Vec<String> {
        ranges.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_outside_is_split_where_ranges_start_and_end() {
        let ranges = except(
            cidr("10.0.0.0/8"),
            &[cidr("10.1.0.0/16"), cidr("10.255.0.0/16")],
        );
        let found = split(&[Family::V4], ranges.iter().copied());
        let expected = [
            "0.0.0.0-9.255.255.255",
            "10.0.0.0-10.0.255.255",
            "10.1.0.0-10.1.255.255",
            "10.2.0.0-10.254.255.255",
            "10.255.0.0-255.255.255.255",
        ];
        assert_eq!(texts(&found), expected);
        let all = [Range::all(Family::V4), Range::all(Family::V6)];
        let found = split(&[Family::V4, Family::V6], all.iter().copied());
        assert_eq!(
            texts(&found),
            [
                "0.0.0.0-255.255.255.255",
                "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
            ]
        );
        let last = [Range::of(cidr("ff00::/8"))];
        let found = split(&[Family::V6], last.iter().copied());
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn private_addresses_are_not_the_internet() {
        for (text, public) in [
            ("10.0.0.0/8", false),
            ("10.0.0.0/7", true),
            ("8.8.8.8/32", true),
            ("fd00::/8", false),
            ("::/0", true),
            ("192.168.7.0/24", false),
        ] {
            assert_eq!(is_public(Range::of(cidr(text))), public, "{text}");
        }
    }
}
