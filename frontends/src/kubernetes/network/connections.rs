//! Sets of connections: ports of each protocol, exactly.

use std::fmt;

/// A protocol that policies know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// SCTP.
    Sctp,
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

impl Protocol {
    /// All of them, in the order in which they are written.
    pub const ALL: [Protocol; 3] = [Protocol::Sctp, Protocol::Tcp, Protocol::Udp];

    /// Reads its name, in capitals as in manifests.
    pub fn parse(text: &str) -> Option<Protocol> {
        Protocol::ALL
            .into_iter()
            .find(|protocol| protocol.as_str() == text)
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Protocol::Sctp => "SCTP",
            Protocol::Tcp => "TCP",
            Protocol::Udp => "UDP",
        }
    }
}

/// A set of ports, as ranges that are in order and do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ports(Vec<(u16, u16)>);

impl Ports {
    /// Every port.
    pub fn all() -> Ports {
        Ports(vec![(1, u16::MAX)])
    }

    /// The ports from one to another; none when the last is before the first.
    pub fn range(first: u16, last: u16) -> Ports {
        let first = first.max(1);
        if first > last {
            return Ports::default();
        }
        Ports(vec![(first, last)])
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether every port is in it.
    pub fn is_all(&self) -> bool {
        self.0 == [(1, u16::MAX)]
    }

    /// Whether a port is in it.
    pub fn contains(&self, port: u16) -> bool {
        let mut ranges = self.0.iter();
        ranges.any(|(first, last)| (*first..=*last).contains(&port))
    }

    /// The ranges, in order.
    pub fn ranges(&self) -> &[(u16, u16)] {
        &self.0
    }

    /// The ports of either.
    #[must_use]
    pub fn union(&self, other: &Ports) -> Ports {
        let mut all: Vec<(u16, u16)> = self.0.iter().chain(&other.0).copied().collect();
        all.sort_unstable();
        let mut merged: Vec<(u16, u16)> = Vec::with_capacity(all.len());
        for (first, last) in all {
            match merged.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => {
                    before.1 = before.1.max(last)
                }
                _ => merged.push((first, last)),
            }
        }
        Ports(merged)
    }

    /// The ports of both.
    #[must_use]
    pub fn intersection(&self, other: &Ports) -> Ports {
        let mut common = Vec::new();
        let (mut ours, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(one), Some(two)) = (ours.peek(), theirs.peek()) {
            let (first, last) = (one.0.max(two.0), one.1.min(two.1));
            if first <= last {
                common.push((first, last));
            }
            if one.1 < two.1 {
                ours.next();
            } else {
                theirs.next();
            }
        }
        Ports(common)
    }

    /// The ports of this that are not in another.
    #[must_use]
    pub fn without(&self, other: &Ports) -> Ports {
        self.intersection(&other.complement())
    }

    fn complement(&self) -> Ports {
        let mut rest = Vec::with_capacity(self.0.len() + 1);
        let mut next = Some(1);
        for (first, last) in &self.0 {
            if let Some(start) = next
                && start < *first
            {
                rest.push((start, first - 1));
            }
            next = last.checked_add(1);
        }
        if let Some(start) = next {
            rest.push((start, u16::MAX));
        }
        Ports(rest)
    }
}

impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(",")?;
            }
            match first == last {
                true => write!(f, "{first}")?,
                false => write!(f, "{first}-{last}")?,
            }
        }
        Ok(())
    }
}

/// A set of connections.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Connections {
    sctp: Ports,
    tcp: Ports,
    udp: Ports,
}

impl Connections {
    /// Every connection.
    pub fn all() -> Connections {
        Connections {
            sctp: Ports::all(),
            tcp: Ports::all(),
            udp: Ports::all(),
        }
    }

    /// Those of one protocol.
    pub fn of(protocol: Protocol, ports: Ports) -> Connections {
        let mut set = Connections::default();
        *set.ports_mut(protocol) = ports;
        set
    }

    /// The ports of a protocol.
    pub fn ports(&self, protocol: Protocol) -> &Ports {
        match protocol {
            Protocol::Sctp => &self.sctp,
            Protocol::Tcp => &self.tcp,
            Protocol::Udp => &self.udp,
        }
    }

    fn ports_mut(&mut self, protocol: Protocol) -> &mut Ports {
        match protocol {
            Protocol::Sctp => &mut self.sctp,
            Protocol::Tcp => &mut self.tcp,
            Protocol::Udp => &mut self.udp,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.sctp.is_empty() && self.tcp.is_empty() && self.udp.is_empty()
    }

    /// Whether every connection is in it.
    pub fn is_all(&self) -> bool {
        self.sctp.is_all() && self.tcp.is_all() && self.udp.is_all()
    }

    /// Those of either.
    #[must_use]
    pub fn union(&self, other: &Connections) -> Connections {
        self.each(other, Ports::union)
    }

    /// Those of both.
    #[must_use]
    pub fn intersection(&self, other: &Connections) -> Connections {
        self.each(other, Ports::intersection)
    }

    /// Those of this that are not in another.
    #[must_use]
    pub fn without(&self, other: &Connections) -> Connections {
        self.each(other, Ports::without)
    }

    fn each(&self, other: &Connections, join: impl Fn(&Ports, &Ports) -> Ports) -> Connections {
        Connections {
            sctp: join(&self.sctp, &other.sctp),
            tcp: join(&self.tcp, &other.tcp),
            udp: join(&self.udp, &other.udp),
        }
    }
}

impl fmt::Display for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_all() {
            return f.write_str("All Connections");
        }
        if self.is_empty() {
            return f.write_str("No Connections");
        }
        let mut first = true;
        for protocol in Protocol::ALL {
            let ports = self.ports(protocol);
            if ports.is_empty() {
                continue;
            }
            let comma = if first { "" } else { "," };
            write!(f, "{comma}{} {ports}", protocol.as_str())?;
            first = false;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ports() -> impl Strategy<Value = Ports> {
        let range =
            (1..=20u16, 0..=6u16).prop_map(|(first, more)| Ports::range(first, first + more));
        let last = Just(Ports::range(u16::MAX - 1, u16::MAX));
        let some = proptest::collection::vec(prop_oneof![4 => range, 1 => last], 0..4);
        some.prop_map(|some| {
            some.iter()
                .fold(Ports::default(), |all, one| all.union(one))
        })
    }

    proptest! {
        #[test]
        fn sets_are_as_their_members(one in ports(), two in ports()) {
            for port in (1..=30).chain(u16::MAX - 3..=u16::MAX) {
                let (in_one, in_two) = (one.contains(port), two.contains(port));
                prop_assert_eq!(one.union(&two).contains(port), in_one || in_two);
                prop_assert_eq!(one.intersection(&two).contains(port), in_one && in_two);
                prop_assert_eq!(one.without(&two).contains(port), in_one && !in_two);
            }
            // Equal sets are equal values, whatever they were made from.
            prop_assert_eq!(one.without(&two).union(&one.intersection(&two)), one);
        }
    }

    #[test]
    fn sets_are_written_as_people_know_them() {
        let udp = Ports::all().without(&Ports::range(53, 53));
        let set = Connections::of(Protocol::Udp, udp)
            .union(&Connections::of(Protocol::Sctp, Ports::range(9003, 9003)))
            .union(&Connections::of(Protocol::Tcp, Ports::range(8080, 8080)));
        assert_eq!(set.to_string(), "SCTP 9003,TCP 8080,UDP 1-52,54-65535");
        assert_eq!(Connections::all().to_string(), "All Connections");
        assert_eq!(Connections::default().to_string(), "No Connections");
        let tcp = Connections::of(Protocol::Tcp, Ports::all());
        assert_eq!(tcp.to_string(), "TCP 1-65535");
    }
}
