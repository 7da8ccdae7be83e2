//! Published ports: which ports of the host each takes.
//!
//! A range of ports is not one atom for each port, as ranges may be long: the ports are cut where any
//! range starts or ends, so that two publications share a port exactly when they share a piece.

use std::collections::BTreeSet;
use std::sync::Arc;

use locus_core::facts::AtomId;
use locus_core::value::SymbolId;
use locus_core::values::{Address, Family};
use locus_core::vocabulary::FieldId;
use locus_core::{Diagnostic, Span, Value};
use rustc_hash::FxHashMap;

use super::{Builder, Current};
use crate::compose::environment::HOLE;
use crate::compose::ports::{self, Numbers, Port};
use crate::compose::tree::{Kind, Open, Tree};
use crate::compose::vocabulary::{field, sig};

/// A publication whose ports are stated once all are known.
#[derive(Clone, Debug)]
pub(in crate::compose) struct Pending {
    atom: AtomId,
    port: Port,
    published: Numbers,
    open: Option<Box<Open>>,
    span: Span,
}

impl Builder<'_> {
    pub(super) fn ports(&mut self, current: &Current, tree: &Tree) {
        for item in tree.some("ports").map_or(&[][..], Tree::items) {
            let port = match ports::parse(item) {
                Ok(port) => port,
                // The schema has reported what is neither text nor a map.
                Err(_) if matches!(item.kind, Kind::Null | Kind::Bool(_) | Kind::List(_)) => {
                    continue;
                }
                Err(wrong) => {
                    for bad in wrong {
                        let value = bad.key.and_then(|key| item.some(key));
                        let span = value.map_or(item.span, |value| value.span);
                        let diagnostic = Diagnostic::error("compose-port", bad.reason);
                        self.diagnostics.push(diagnostic.at(span).help(bad.help));
                    }
                    continue;
                }
            };
            let Some(published) = port.published else {
                continue;
            };
            self.publication(current, item, port, published);
        }
    }

    fn publication(&mut self, current: &Current, item: &Tree, port: Port, published: Numbers) {
        let published_at = item.some("published").map(|value| value.span);
        let span = published_at.unwrap_or(item.span);
        let name = item
            .shown()
            .or_else(|| item.some("published").and_then(Tree::shown))
            .unwrap_or_default();
        let atom = self.facts.atom(sig!("Publication"), name, span);
        let when = self.may_be_missing(item, published, span);
        let publications = field!("Service", "publications");
        let tuple = [current.component.atom, atom];
        self.facts.tuple_when(publications, &tuple, span, when);
        self.fact(
            field!("Publication", "by"),
            atom,
            current.component.atom,
            span,
        );
        let open = item
            .open()
            .or_else(|| item.some("published").and_then(Tree::open))
            .or_else(|| item.some("host_ip").and_then(Tree::open))
            .map(|open| Box::new(open.clone()));
        // A variable may be a range, of which each container takes one port or all.
        let chooses = match (published, &open) {
            (Numbers::Open, Some(open)) => self.part_of(sig!("Bool"), open, "chooses", span),
            _ => self.truth(port.picks_one(), span),
        };
        self.fact(field!("Publication", "chooses"), atom, chooses, span);
        let texts: [(FieldId<2>, &str); 2] = [
            (field!("Publication", "protocol"), &port.protocol),
            (field!("Publication", "publish_mode"), &port.mode),
        ];
        for (field, text) in texts {
            self.part_fact(field, atom, item, text);
        }
        if let Some(ip) = &port.host_ip {
            let at = item.some("host_ip").unwrap_or(item);
            self.part_fact(field!("Publication", "host_ip"), atom, at, ip);
        }
        let target: Arc<str> = match port.target {
            Numbers::Range(a, b) if a == b => a.to_string().into(),
            Numbers::Range(a, b) => format!("{a}-{b}").into(),
            Numbers::Open => HOLE.to_string().into(),
        };
        self.part_fact(field!("Publication", "container_port"), atom, item, &target);
        let capacity = match (published.count(), &open) {
            (Some(count), _) if port.picks_one() => Some(self.number(i128::from(count), span)),
            (Some(_), _) => Some(self.number(1, span)),
            (None, Some(open)) => Some(self.part_of(sig!("Number"), open, "ports", span)),
            (None, None) => None,
        };
        if let Some(capacity) = capacity {
            self.fact(field!("Publication", "capacity"), atom, capacity, span);
        }
        self.publications.push(Pending {
            atom,
            port,
            published,
            open,
            span,
        });
    }

    /// The variables of a host port that may be empty: without one, nothing is published.
    fn may_be_missing(&mut self, item: &Tree, published: Numbers, span: Span) -> Vec<SymbolId> {
        let open = item.some("published").unwrap_or(item).open();
        let Some(open) = open.filter(|_| self.options.all_inputs) else {
            return Vec::new();
        };
        let never = [":-", ":?"].iter().any(|rule| open.written.contains(rule));
        if published != Numbers::Open || never {
            return Vec::new();
        }
        let variables = open.variables.iter();
        variables.map(|name| self.variable(name, span)).collect()
    }

    /// States the ports and addresses of all publications.
    pub(super) fn publish(&mut self) {
        let pending = std::mem::take(&mut self.publications);
        let mut cuts: FxHashMap<Arc<str>, BTreeSet<u32>> = FxHashMap::default();
        for publication in &pending {
            if let Numbers::Range(first, last) = publication.published {
                let cuts = cuts.entry(publication.port.protocol.clone()).or_default();
                cuts.insert(u32::from(first));
                cuts.insert(u32::from(last) + 1);
            }
        }
        let mut pieces: FxHashMap<(Arc<str>, u32), AtomId> = FxHashMap::default();
        for publication in &pending {
            let Pending { atom, span, .. } = *publication;
            let protocol = &publication.port.protocol;
            match publication.published {
                Numbers::Range(first, last) => {
                    let Some(cuts) = cuts.get(protocol) else {
                        continue;
                    };
                    let end = u32::from(last) + 1;
                    let mut starts = cuts.range(u32::from(first)..=end).copied().peekable();
                    while let Some(start) = starts.next() {
                        let Some(&next) = starts.peek() else { break };
                        let piece = match pieces.get(&(protocol.clone(), start)) {
                            Some(&piece) => piece,
                            None => {
                                let name = if next == start + 1 {
                                    format!("{start}/{protocol}")
                                } else {
                                    format!("{start}-{}/{protocol}", next - 1)
                                };
                                let value = Value::str(name.as_str());
                                let piece = self.facts.valued(sig!("HostPort"), name, span, value);
                                pieces.insert((protocol.clone(), start), piece);
                                piece
                            }
                        };
                        self.fact(field!("Publication", "ports"), atom, piece, span);
                    }
                }
                Numbers::Open => {
                    if let Some(open) = &publication.open {
                        let port = self.open_atom(sig!("HostPort"), open, span);
                        self.fact(field!("Publication", "ports"), atom, port, span);
                    }
                }
            }
        }
        self.host_addresses(&pending);
    }

    fn host_addresses(&mut self, pending: &[Pending]) {
        // Publications share a port when they share an address: one without an address has all of
        // them, and so has one with the address that stands for all of its family.
        let mut known: Vec<(Address, AtomId)> = Vec::new();
        let mut add = |builder: &mut Self, ip: Address, span: Span| {
            if !known.iter().any(|(other, _)| *other == ip) {
                let text = ip.to_string();
                let value = Value::str(text.as_str());
                let atom = builder.facts.valued(sig!("HostAddress"), text, span, value);
                known.push((ip, atom));
            }
        };
        if let Some(first) = pending.first() {
            add(self, Address::unspecified(Family::V4), first.span);
            add(self, Address::unspecified(Family::V6), first.span);
        }
        for publication in pending {
            if let Some(ip) = parsed_address(&publication.port) {
                add(self, ip, publication.span);
            }
        }
        for publication in pending {
            let Pending { atom, span, .. } = *publication;
            let written = parsed_address(&publication.port);
            if written.is_none()
                && let (Some(open), Some(_)) = (&publication.open, &publication.port.host_ip)
            {
                let address = self.open_atom(sig!("HostAddress"), open, span);
                self.fact(field!("Publication", "addresses"), atom, address, span);
                continue;
            }
            for &(ip, address) in &known {
                let taken = match written {
                    None => true,
                    Some(written) => written == ip || written == Address::unspecified(ip.family),
                };
                if taken {
                    self.fact(field!("Publication", "addresses"), atom, address, span);
                }
            }
        }
    }
}

fn parsed_address(port: &Port) -> Option<Address> {
    Address::parse(port.host_ip.as_deref()?)
}
