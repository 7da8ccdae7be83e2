//! How much of a server one peer, one address or a stranger may take.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::identity::{Peer, Role};
use super::rate::{Rate, RateLimit};
use crate::clock::Timestamp;

/// What a server gives to each peer, and how long it waits for one.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How long a TLS handshake may take.
    pub handshake: Duration,
    /// How long the head of a request may take, and how long a connection may stay without one.
    pub head: Duration,
    /// How long the other side may send or take nothing, in the middle of a body.
    pub stall: Duration,
    /// How many bytes a second a body must have on average, beyond the first [`Limits::stall`].
    pub bytes_per_second: u32,
    /// How many handshakes may be under way.
    pub handshakes: usize,
    /// How many of them with one address.
    pub handshakes_per_address: usize,
    /// How many connections may be open.
    pub connections: usize,
    /// How many of them are kept free for [`Limits::reserved_for`].
    pub reserve: usize,
    /// Whose connections are never refused because of others: the roles that run the installation.
    pub reserved_for: &'static [Role],
    /// How many connections a certificate may have; eight times as many if its role is in
    /// [`Limits::reserved_for`].
    pub per_certificate: usize,
    /// How many connections without such a role may come from an address (IPv6: from a network of 64 bits).
    pub per_address: usize,
    /// How often a certificate without such a role may ask.
    pub rate: Rate,
}

/// What a process has files open for beside connections: databases, handshakes, health, agents, receivers of notifications.
const OTHER_FILES: usize = 512;
/// How many connections a gate has at most, and at least.
const CONNECTIONS: (usize, usize) = (256, 2048);

/// How many connections there may be in a process that may open so many files: a place that is kept for somebody is of no
/// use where no connection can be accepted.
fn connections(files: usize) -> usize {
    let (least, most) = CONNECTIONS;
    files.saturating_sub(OTHER_FILES).clamp(least, most)
}

/// How many files this process may open; where that cannot be told, as many as systemd gives to a service.
fn open_files() -> usize {
    const USUAL: usize = 1024;
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits
        .lines()
        .find(|line| line.starts_with("Max open files"));
    match line.and_then(|line| line.split_whitespace().nth(3)) {
        Some("unlimited") => usize::MAX,
        Some(number) => number.parse().unwrap_or(USUAL),
        None => USUAL,
    }
}

impl Limits {
    /// For the gate: its operators and components come first.
    pub fn gate() -> Self {
        Limits {
            handshake: Duration::from_secs(5),
            head: Duration::from_secs(5),
            stall: Duration::from_secs(5),
            bytes_per_second: 32 * 1024,
            handshakes: 256,
            handshakes_per_address: 128,
            connections: connections(open_files()),
            reserve: 128,
            reserved_for: &[
                Role::Operator,
                Role::Registrar,
                Role::Reference,
                Role::Verifier,
                Role::WorkerHandler,
                Role::PodHandler,
            ],
            per_certificate: 32,
            per_address: 1024,
            rate: Rate {
                burst: 200,
                per_second: 50,
            },
        }
    }

    /// For what everybody may ask a gate: it takes no places from the gate itself.
    pub fn everybody() -> Self {
        Limits {
            handshakes: 64,
            handshakes_per_address: 32,
            connections: 128,
            reserve: 0,
            ..Limits::gate()
        }
    }

    /// For an agent: the gate comes first, and nobody else has much to ask.
    pub fn agent() -> Self {
        Limits {
            handshakes: 64,
            handshakes_per_address: 32,
            connections: 64,
            reserve: 48,
            reserved_for: &[Role::Verifier, Role::WorkerHandler],
            per_certificate: 4,
            per_address: 8,
            ..Limits::gate()
        }
    }
}

/// The part of an address that one host cannot choose at will.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let network = v6.to_bits() & !u128::from(u64::MAX);
            IpAddr::V6(std::net::Ipv6Addr::from_bits(network))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

struct Handshake {
    id: u64,
    from: IpAddr,
    /// Dropped to give up on it.
    _waiting: oneshot::Sender<()>,
}

#[derive(Default)]
struct Open {
    total: usize,
    common: usize,
    by_key: HashMap<String, usize>,
    by_address: HashMap<IpAddr, usize>,
}

struct Counts {
    next: u64,
    handshakes: Vec<Handshake>,
    open: Open,
    rates: RateLimit,
}

/// Who has which places of a server.
#[derive(Clone)]
pub(super) struct Places {
    limits: Arc<Limits>,
    counts: Arc<Mutex<Counts>>,
    begun: Instant,
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoPlace {
    #[error("too many connections are open with this certificate")]
    Certificate,
    #[error("too many connections are open from this address")]
    Address,
    #[error("too many connections are open")]
    Server,
}

impl Places {
    pub(super) fn new(limits: Limits) -> Self {
        let rates = RateLimit::new(limits.rate);
        Places {
            limits: Arc::new(limits),
            counts: Arc::new(Mutex::new(Counts {
                next: 0,
                handshakes: Vec::new(),
                open: Open::default(),
                rates,
            })),
            begun: Instant::now(),
        }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a handshake. Nobody is known by a handshake that goes on and on, so that the oldest makes
    /// room: an honest one takes a moment, and that is not when it is the oldest of so many.
    pub(super) fn shake_hands(&self, from: IpAddr) -> (Shaking, oneshot::Receiver<()>) {
        let from = network(from);
        let (waiting, given_up) = oneshot::channel();
        let mut counts = self.counts();
        let id = counts.next;
        counts.next = counts.next.wrapping_add(1);
        let known = counts.handshakes.iter();
        let same = known.filter(|other| other.from == from).count();
        let evicted = if same >= self.limits.handshakes_per_address {
            Some(from)
        } else if counts.handshakes.len() >= self.limits.handshakes {
            busiest(&counts.handshakes)
        } else {
            None
        };
        if let Some(evicted) = evicted {
            let oldest = counts
                .handshakes
                .iter()
                .position(|other| other.from == evicted);
            if let Some(oldest) = oldest {
                counts.handshakes.remove(oldest);
            }
        }
        counts.handshakes.push(Handshake {
            id,
            from,
            _waiting: waiting,
        });
        drop(counts);
        (Shaking(self.clone(), id), given_up)
    }

    fn is_reserved(&self, peer: &Peer) -> bool {
        peer.has_any(self.limits.reserved_for)
    }

    /// A place for a connection of a peer.
    pub(super) fn open(&self, peer: &Peer, from: IpAddr) -> Result<Place, NoPlace> {
        let from = network(from);
        let limits = &self.limits;
        let reserved = self.is_reserved(peer);
        let mut counts = self.counts();
        let open = &mut counts.open;
        let own = open.by_key.get(&peer.key).copied().unwrap_or(0);
        let most = limits.per_certificate * if reserved { 8 } else { 1 };
        if own >= most {
            return Err(NoPlace::Certificate);
        }
        if open.total >= limits.connections {
            return Err(NoPlace::Server);
        }
        if !reserved {
            let here = open.by_address.get(&from).copied().unwrap_or(0);
            if here >= limits.per_address {
                return Err(NoPlace::Address);
            }
            if open.common >= limits.connections.saturating_sub(limits.reserve) {
                return Err(NoPlace::Server);
            }
            open.common += 1;
            *open.by_address.entry(from).or_default() += 1;
        }
        open.total += 1;
        *open.by_key.entry(peer.key.clone()).or_default() += 1;
        drop(counts);
        Ok(Place {
            places: self.clone(),
            key: peer.key.clone(),
            common: (!reserved).then_some(from),
        })
    }

    /// Whether a peer may ask once more now.
    pub(super) fn may_ask(&self, peer: &Peer) -> bool {
        if self.is_reserved(peer) {
            return true;
        }
        let millis = i64::try_from(self.begun.elapsed().as_millis()).unwrap_or(i64::MAX);
        let now = Timestamp::from_millis(millis);
        self.counts().rates.allow(&peer.key, now)
    }
}

/// The address with the most handshakes.
fn busiest(handshakes: &[Handshake]) -> Option<IpAddr> {
    let mut count: HashMap<IpAddr, usize> = HashMap::new();
    for handshake in handshakes {
        *count.entry(handshake.from).or_default() += 1;
    }
    let most = count.into_iter().max_by_key(|(_, number)| *number);
    most.map(|(address, _)| address)
}

/// A handshake that is under way.
pub(super) struct Shaking(Places, u64);

impl Drop for Shaking {
    fn drop(&mut self) {
        self.0.counts().handshakes.retain(|one| one.id != self.1);
    }
}

/// The place of an open connection.
pub(super) struct Place {
    places: Places,
    key: String,
    common: Option<IpAddr>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.places.counts();
        let open = &mut counts.open;
        open.total = open.total.saturating_sub(1);
        less(&mut open.by_key, &self.key);
        if let Some(address) = &self.common {
            open.common = open.common.saturating_sub(1);
            less(&mut open.by_address, address);
        }
    }
}

fn less<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(key: &str, role: Role) -> Peer {
        Peer {
            key: key.to_owned(),
            roles: [role].into(),
            ..Peer::default()
        }
    }

    fn places() -> Places {
        Places::new(Limits {
            connections: 10,
            reserve: 4,
            per_certificate: 2,
            per_address: 4,
            handshakes: 4,
            handshakes_per_address: 3,
            ..Limits::gate()
        })
    }

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn there(number: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, number])
    }

    #[test]
    fn one_certificate_one_address_and_all_together_leave_room_for_the_operator() {
        let places = places();
        let mut held = Vec::new();
        let mut open = |key: &str, role, from| {
            let place = places.open(&peer(key, role), from);
            place.map(|place| held.push(place))
        };
        assert_eq!(open("a", Role::Tenant, HERE), Ok(()));
        assert_eq!(open("a", Role::Tenant, HERE), Ok(()));
        assert_eq!(open("a", Role::Tenant, there(1)), Err(NoPlace::Certificate));
        assert_eq!(open("b", Role::Agent, HERE), Ok(()));
        assert_eq!(open("c", Role::Agent, HERE), Ok(()));
        assert_eq!(open("d", Role::Agent, HERE), Err(NoPlace::Address));
        assert_eq!(open("d", Role::Agent, there(1)), Ok(()));
        assert_eq!(open("e", Role::Agent, there(2)), Ok(()));
        assert_eq!(open("f", Role::Agent, there(3)), Err(NoPlace::Server));
        for _ in 0..4 {
            assert_eq!(open("root", Role::Operator, HERE), Ok(()));
        }
        assert_eq!(open("root", Role::Operator, HERE), Err(NoPlace::Server));
        held.remove(0);
        assert!(
            places.open(&peer("a", Role::Tenant), HERE).is_ok(),
            "who leaves makes room"
        );
        held.clear();
        let counts = places.counts();
        assert_eq!((counts.open.total, counts.open.common), (0, 0));
        assert!(counts.open.by_key.is_empty() && counts.open.by_address.is_empty());
    }

    #[test]
    fn the_oldest_handshake_of_the_busiest_address_makes_room() {
        let places = places();
        let mut shaking: Vec<_> = (0..3).map(|_| places.shake_hands(HERE)).collect();
        shaking.push(places.shake_hands(there(1)));
        let mut given_up = |at: usize| {
            let receiver = &mut shaking[at].1;
            matches!(
                receiver.try_recv(),
                Err(oneshot::error::TryRecvError::Closed)
            )
        };
        assert!(!given_up(0));
        let _operator = places.shake_hands(there(2));
        assert!(given_up(0) && !given_up(1) && !given_up(3));
        let _fourth = places.shake_hands(HERE);
        assert!(given_up(1) && !given_up(3), "full again");
        assert_eq!(places.counts().handshakes.len(), 4);
        drop(shaking);
        assert_eq!(places.counts().handshakes.len(), 2);
    }

    #[test]
    fn there_are_no_more_connections_than_files() {
        let found = [0, 256, 700, 1024, 4096, 1 << 20, usize::MAX].map(connections);
        assert_eq!(found, [256, 256, 256, 512, 2048, 2048, 2048]);
        assert!(open_files() > 0);
        assert!(Limits::gate().connections > Limits::gate().reserve);
    }

    #[test]
    fn a_host_cannot_have_many_addresses_of_one_network() {
        let one: IpAddr = "2001:db8::1".parse().unwrap();
        let two: IpAddr = "2001:db8::ffff:2".parse().unwrap();
        let other: IpAddr = "2001:db8:0:1::1".parse().unwrap();
        assert_eq!(network(one), network(two));
        assert_ne!(network(one), network(other));
        let mapped: IpAddr = "::ffff:10.0.0.1".parse().unwrap();
        assert_eq!(network(mapped), there(1));
        assert_ne!(network(there(1)), network(there(2)));
    }

    #[test]
    fn only_the_installation_itself_asks_as_often_as_it_likes() {
        let mut limits = Limits::gate();
        limits.rate = Rate {
            burst: 2,
            per_second: 0,
        };
        let places = Places::new(limits);
        let (tenant, operator) = (peer("t", Role::Tenant), peer("o", Role::Operator));
        let asked = (0..5).filter(|_| places.may_ask(&tenant)).count();
        assert_eq!(asked, 2);
        assert!((0..5).all(|_| places.may_ask(&operator)));
        assert!(places.may_ask(&peer("u", Role::Tenant)));
    }
}
