//! Who can talk to whom, as text, JSON, Graphviz and SVG.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use locus_core::graph::RoleKind;
use locus_core::{Location, LocationGraph, Sources, Span};
use locus_frontends::language::reach::{PeerKind, Reason, Relation};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::picture;

/// The pairs that are asked about.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The sources; all without a set.
    pub from: Option<BTreeSet<usize>>,
    /// The destinations.
    pub to: Option<BTreeSet<usize>>,
}

impl Asked {
    fn is_from(&self, peer: usize) -> bool {
        self.from.as_ref().is_none_or(|set| set.contains(&peer))
    }

    fn is_to(&self, peer: usize) -> bool {
        self.to.as_ref().is_none_or(|set| set.contains(&peer))
    }
}

/// Ends that can talk.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Link {
    from: usize,
    to: usize,
    connections: Arc<str>,
}

fn links<'r>(relation: &'r dyn Relation, asked: &'r Asked) -> impl Iterator<Item = Link> + 'r {
    let sources = (0..relation.peers().len()).filter(|from| asked.is_from(*from));
    sources.flat_map(move |from| {
        let reached = relation.reached(from).into_iter();
        let reached = reached.filter(|(to, _)| asked.is_to(*to));
        reached.map(move |(to, connections)| Link {
            from,
            to,
            connections,
        })
    })
}

fn name(relation: &dyn Relation, peer: usize) -> &str {
    relation.peers().get(peer).map_or("", |peer| &peer.text)
}

/// A line for each pair that can talk.
pub fn to_text(relation: &dyn Relation, asked: &Asked) -> String {
    let mut out = String::new();
    for link in links(relation, asked) {
        let (from, to) = (name(relation, link.from), name(relation, link.to));
        for part in [from, " => ", to, " : ", &link.connections, "\n"] {
            out.push_str(part);
        }
    }
    out
}

/// A pair, as JSON.
#[derive(Debug, Serialize)]
struct Pair<'r> {
    src: &'r str,
    dst: &'r str,
    conn: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasons: Option<Vec<Why>>,
}

/// Why some connections are allowed or not, as JSON.
#[derive(Debug, Serialize)]
struct Why {
    side: &'static str,
    allowed: bool,
    conn: String,
    why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
}

impl Why {
    fn of(reason: Reason, place: Place<'_>) -> Why {
        let at = reason.span.map(place);
        let (file, line) = at.unzip();
        Why {
            side: reason.side,
            allowed: reason.allowed,
            conn: reason.connections,
            why: reason.why,
            file,
            line,
        }
    }
}

/// The file and line of a place.
pub type Place<'p> = &'p mut dyn FnMut(Span) -> (String, usize);

/// An object for each pair that can talk, in an array.
pub fn to_json(relation: &dyn Relation, asked: &Asked) -> String {
    let links: Vec<Link> = links(relation, asked).collect();
    let pairs: Vec<Pair<'_>> = links
        .iter()
        .map(|link| Pair {
            src: name(relation, link.from),
            dst: name(relation, link.to),
            conn: &link.connections,
            reasons: None,
        })
        .collect();
    json(&pairs)
}

fn json<T: Serialize>(value: &T) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// Every pair that is asked about, with what it can talk, and why.
fn explained<'r>(
    relation: &'r dyn Relation,
    asked: &'r Asked,
) -> impl Iterator<Item = (Link, Vec<Reason>)> + 'r {
    let peers = relation.peers().len();
    let sources = (0..peers).filter(|from| asked.is_from(*from));
    sources.flat_map(move |from| {
        let known: FxHashMap<usize, Arc<str>> = relation.reached(from).into_iter().collect();
        let targets = (0..peers).filter(move |to| asked.is_to(*to) && relation.is_pair(from, *to));
        targets.map(move |to| {
            let connections = known.get(&to).cloned();
            let connections = connections.unwrap_or_else(|| "No Connections".into());
            let link = Link {
                from,
                to,
                connections,
            };
            (link, relation.reasons(from, to))
        })
    })
}

/// Every pair, with the lines that allow or deny it.
pub fn to_explained_text(relation: &dyn Relation, asked: &Asked, place: Place<'_>) -> String {
    let mut out = String::new();
    for (link, reasons) in explained(relation, asked) {
        let (from, to) = (name(relation, link.from), name(relation, link.to));
        let _ = writeln!(out, "{from} => {to} : {}", link.connections);
        for reason in reasons {
            let verdict = if reason.allowed { "allowed" } else { "denied" };
            let at = reason.span.map_or_else(String::new, |span| {
                let (file, line) = place(span);
                format!(" ({file}:{line})")
            });
            let _ = writeln!(
                out,
                "  {} {verdict}: {} {}{at}",
                reason.side, reason.connections, reason.why
            );
        }
    }
    out
}

/// The same as JSON.
pub fn to_explained_json(relation: &dyn Relation, asked: &Asked, place: Place<'_>) -> String {
    let all: Vec<(Link, Vec<Reason>)> = explained(relation, asked).collect();
    let pairs: Vec<Pair<'_>> = all
        .iter()
        .map(|(link, reasons)| {
            let reasons = reasons.iter().cloned();
            Pair {
                src: name(relation, link.from),
                dst: name(relation, link.to),
                conn: &link.connections,
                reasons: Some(reasons.map(|reason| Why::of(reason, place)).collect()),
            }
        })
        .collect();
    json(&pairs)
}

/// A text in quotes for Graphviz.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A graph for Graphviz, with what belongs together in frames.
pub fn to_dot(relation: &dyn Relation, asked: &Asked) -> String {
    let links: Vec<Link> = links(relation, asked).collect();
    let shown = shown(relation, asked, &links);
    let mut out = String::from("digraph {\n");
    let groups: BTreeSet<&str> = shown
        .iter()
        .filter_map(|peer| relation.peers().get(*peer)?.group.as_deref())
        .collect();
    for group in groups {
        let _ = writeln!(out, "  subgraph {} {{", quoted(&format!("cluster_{group}")));
        let _ = writeln!(out, "    label={}", quoted(group));
        for &peer in &shown {
            let Some(peer) = relation.peers().get(peer) else {
                continue;
            };
            if peer.group.as_deref() == Some(group) {
                let label = peer.text.strip_prefix(group).unwrap_or(&peer.text);
                let label = label.strip_prefix('/').unwrap_or(label);
                let _ = writeln!(
                    out,
                    "    {} [label={} color=\"#0072B2\"]",
                    quoted(&peer.text),
                    quoted(label)
                );
            }
        }
        out.push_str("  }\n");
    }
    let mut told = BTreeSet::new();
    for &peer in &shown {
        let Some(peer) = relation.peers().get(peer) else {
            continue;
        };
        if peer.group.is_none() && told.insert(&peer.text) {
            let _ = writeln!(out, "  {} [color=\"#D55E00\"]", quoted(&peer.text));
        }
    }
    for link in &links {
        let (from, to) = (name(relation, link.from), name(relation, link.to));
        let _ = writeln!(
            out,
            "  {} -> {} [label={}]",
            quoted(from),
            quoted(to),
            quoted(&link.connections)
        );
    }
    out.push_str("}\n");
    out
}

/// The ends that are drawn: all workloads that are asked about, and what else talks to them.
fn shown(relation: &dyn Relation, asked: &Asked, links: &[Link]) -> BTreeSet<usize> {
    let all = asked.from.is_none() && asked.to.is_none();
    let numbered = relation.peers().iter().enumerate();
    let workloads = numbered.filter(|(_, peer)| all && peer.kind == PeerKind::Workload);
    let workloads = workloads.map(|(at, _)| at);
    let linked = links.iter().flat_map(|link| [link.from, link.to]);
    workloads.chain(linked).collect()
}

/// A drawing, without any other program.
pub fn to_svg(relation: &dyn Relation, asked: &Asked) -> String {
    let links: Vec<Link> = links(relation, asked).collect();
    let mut graph = LocationGraph::new();
    let mut sources = Sources::new();
    let nowhere = Span::start_of(sources.add("", ""));
    let mut groups = FxHashMap::default();
    let mut known = FxHashMap::default();
    let mut by_text = FxHashMap::default();
    for peer in shown(relation, asked, &links) {
        let Some(end) = relation.peers().get(peer) else {
            continue;
        };
        let parent = end.group.as_deref().map(|group| {
            *groups
                .entry(group)
                .or_insert_with(|| graph.add_location(Location::new(group, "namespace", nowhere)))
        });
        // A range that connections come from and go to is one box.
        let location = *by_text.entry(end.text.as_str()).or_insert_with(|| {
            let sort = match end.kind {
                PeerKind::Workload => "workload",
                PeerKind::Outside { .. } => "outside",
                PeerKind::Forwarder => "forwards from outside",
                PeerKind::Host => "node",
            };
            let mut location = Location::new(end.text.as_str(), sort, nowhere);
            location.parent = parent;
            location.external = !matches!(end.kind, PeerKind::Workload);
            graph.add_location(location)
        });
        known.insert(peer, location);
    }
    for link in &links {
        if let (Some(&from), Some(&to)) = (known.get(&link.from), known.get(&link.to)) {
            let label: &str = &link.connections;
            graph.bind(to, from, RoleKind::Connection, label, nowhere);
        }
    }
    picture::to_svg(&graph)
}

/// How a pair differs between two configurations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What happened to it.
    #[serde(rename = "diff")]
    pub kind: ChangeKind,
    /// The source.
    pub src: String,
    /// The destination.
    pub dst: String,
    /// What it could talk before.
    pub before: String,
    /// What it can talk now.
    pub after: String,
    /// The ends that are new or gone.
    pub workloads: Vec<String>,
    #[serde(skip)]
    forwarded: bool,
}

/// What happened to a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It could talk before and can talk differently.
    Changed,
    /// It can talk only now.
    Added,
    /// It could talk only before.
    Removed,
}

impl ChangeKind {
    fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Changed => "changed",
            ChangeKind::Added => "added",
            ChangeKind::Removed => "removed",
        }
    }
}

/// An end that can be compared: its text, or its addresses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Named(String),
    Addresses { bits: u8, first: u128, last: u128 },
}

impl Key {
    fn text(&self) -> String {
        match self {
            Key::Named(text) => text.clone(),
            Key::Addresses { bits, first, last } => {
                use locus_core::values::{Address, Family};
                let family = if *bits == 32 { Family::V4 } else { Family::V6 };
                let at = |bits| Address { family, bits };
                format!("{}-{}[External]", at(*first), at(*last))
            }
        }
    }
}

fn key(relation: &dyn Relation, peer: usize) -> Key {
    let peer = relation.peers().get(peer);
    match peer.map(|peer| peer.kind) {
        Some(PeerKind::Outside { first, last, .. }) => Key::Addresses {
            bits: first.family.bits(),
            first: first.bits,
            last: last.bits,
        },
        _ => Key::Named(peer.map_or_else(String::new, |peer| peer.text.clone())),
    }
}

/// What differs between two configurations, in the order in which it is told.
pub fn changes(
    (before, asked_before): (&dyn Relation, &Asked),
    (after, asked_after): (&dyn Relation, &Asked),
) -> Vec<Change> {
    let read = |relation: &dyn Relation, asked: &Asked| -> Vec<(Key, Key, Arc<str>)> {
        let links = links(relation, asked);
        let keyed = links.map(|link| {
            let (from, to) = (key(relation, link.from), key(relation, link.to));
            (from, to, link.connections)
        });
        keyed.collect()
    };
    let (old, new) = (read(before, asked_before), read(after, asked_after));
    let workloads = |relation: &dyn Relation| -> BTreeSet<String> {
        let peers = relation.peers().iter();
        let workloads = peers.filter(|peer| peer.kind == PeerKind::Workload);
        workloads.map(|peer| peer.text.clone()).collect()
    };
    let known = (workloads(before), workloads(after));
    let cuts = |from: bool| {
        let both = old.iter().chain(&new);
        let keys = both.map(move |(source, target, _)| if from { source } else { target });
        Cuts::of(keys)
    };
    let (source_cuts, target_cuts) = (cuts(true), cuts(false));
    let mut pairs: std::collections::BTreeMap<(Key, Key), [Option<Arc<str>>; 2]> =
        std::collections::BTreeMap::new();
    for (at, links) in [&old, &new].into_iter().enumerate() {
        for (from, to, connections) in links {
            for source in source_cuts.parts(from) {
                for target in target_cuts.parts(to) {
                    let pair = pairs.entry((source.clone(), target)).or_default();
                    if let Some(side) = pair.get_mut(at) {
                        *side = Some(connections.clone());
                    }
                }
            }
        }
    }
    pairs.retain(|_, [old, new]| old != new);
    let mut changes: Vec<Change> = joined(pairs)
        .into_iter()
        .map(|((from, to), [old, new])| change(&from, &to, old, new, &known))
        .collect();
    changes.sort_by_key(|change| (change.forwarded, change.kind, line(change)));
    changes
}

fn change(
    from: &Key,
    to: &Key,
    old: Option<Arc<str>>,
    new: Option<Arc<str>>,
    (before, after): &(BTreeSet<String>, BTreeSet<String>),
) -> Change {
    let kind = match (&old, &new) {
        (None, _) => ChangeKind::Added,
        (_, None) => ChangeKind::Removed,
        _ => ChangeKind::Changed,
    };
    let (src, dst) = (from.text(), to.text());
    let is_new = |text: &&String| match kind {
        ChangeKind::Changed => false,
        _ => before.contains(*text) != after.contains(*text),
    };
    let workloads = [&src, &dst].into_iter().filter(is_new).cloned().collect();
    let text = |side: Option<Arc<str>>| {
        side.map_or_else(|| "No Connections".to_owned(), |text| text.to_string())
    };
    Change {
        kind,
        forwarded: src.starts_with('{'),
        before: text(old),
        after: text(new),
        src,
        dst,
        workloads,
    }
}

/// Where ranges of addresses start, so that those of two configurations can be compared.
struct Cuts {
    starts: FxHashMap<u8, Vec<u128>>,
}

impl Cuts {
    fn of<'k>(keys: impl Iterator<Item = &'k Key>) -> Cuts {
        let mut starts: FxHashMap<u8, Vec<u128>> = FxHashMap::default();
        for key in keys {
            if let Key::Addresses { bits, first, last } = key {
                let known = starts.entry(*bits).or_default();
                known.push(*first);
                known.extend(last.checked_add(1));
            }
        }
        for known in starts.values_mut() {
            known.sort_unstable();
            known.dedup();
        }
        Cuts { starts }
    }

    fn parts(&self, key: &Key) -> Vec<Key> {
        let Key::Addresses { bits, first, last } = key else {
            return vec![key.clone()];
        };
        let known = self.starts.get(bits).map_or(&[][..], Vec::as_slice);
        let inside = known.iter().filter(|start| (first..=last).contains(start));
        let starts: Vec<u128> = inside.copied().collect();
        let ends = starts.iter().skip(1).map(|next| next - 1).chain([*last]);
        starts
            .iter()
            .zip(ends)
            .map(|(first, last)| Key::Addresses {
                bits: *bits,
                first: *first,
                last,
            })
            .collect()
    }
}

type Sides = [Option<Arc<str>>; 2];

/// Joins ranges that follow each other and differ alike.
fn joined(pairs: std::collections::BTreeMap<(Key, Key), Sides>) -> Vec<((Key, Key), Sides)> {
    let mut all: Vec<((Key, Key), Sides)> = Vec::new();
    for outside_first in [true, false] {
        let mut open: FxHashMap<(String, bool), usize> = FxHashMap::default();
        for ((from, to), sides) in &pairs {
            let (outer, other) = match (from, to) {
                (Key::Addresses { .. }, _) if outside_first => (from, to),
                (Key::Named(_), Key::Addresses { .. }) if !outside_first => (to, from),
                (Key::Named(_), Key::Named(_)) if outside_first => {
                    all.push(((from.clone(), to.clone()), sides.clone()));
                    continue;
                }
                _ => continue,
            };
            let Key::Addresses { bits, first, last } = outer else {
                continue;
            };
            let slot = (format!("{bits} {}", other.text()), outside_first);
            let before = open.get(&slot).and_then(|at| all.get_mut(*at));
            if let Some((known, known_sides)) = before {
                let known = if outside_first {
                    &mut known.0
                } else {
                    &mut known.1
                };
                if let Key::Addresses { last: end, .. } = known
                    && end.checked_add(1) == Some(*first)
                    && known_sides == sides
                {
                    *end = *last;
                    continue;
                }
            }
            open.insert(slot, all.len());
            all.push(((from.clone(), to.clone()), sides.clone()));
        }
    }
    all
}

fn line(change: &Change) -> String {
    let mut line = format!(
        "diff-type: {}, source: {}, destination: {}, ref1: {}, ref2: {}",
        change.kind.as_str(),
        change.src,
        change.dst,
        change.before,
        change.after
    );
    if !change.workloads.is_empty() {
        let _ = write!(
            line,
            ", workloads-diff-info: workload {} {}",
            change.workloads.join(" and "),
            change.kind.as_str()
        );
    }
    line
}

/// A line for each pair that differs.
pub fn changes_to_text(changes: &[Change]) -> String {
    if changes.is_empty() {
        return String::new();
    }
    let mut out = String::from("Connectivity diff:\n");
    for change in changes {
        out.push_str(&line(change));
        out.push('\n');
    }
    out
}

/// An object for each pair that differs, in an array.
pub fn changes_to_json(changes: &[Change]) -> String {
    json(&changes)
}

/// What differs, for Graphviz.
pub fn changes_to_dot(changes: &[Change]) -> String {
    let mut out = String::from("digraph {\n");
    for change in changes {
        let (colour, label) = match change.kind {
            ChangeKind::Added => ("#009E73", change.after.clone()),
            ChangeKind::Removed => ("#D55E00", change.before.clone()),
            ChangeKind::Changed => (
                "#CC79A7",
                format!("{} (was {})", change.after, change.before),
            ),
        };
        let _ = writeln!(
            out,
            "  {} -> {} [label={} color=\"{colour}\"]",
            quoted(&change.src),
            quoted(&change.dst),
            quoted(&label)
        );
    }
    out.push_str("}\n");
    out
}
