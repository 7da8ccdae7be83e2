//! Allocations: what requirements take of the properties of a capability, and whether that much is there.

use std::cell::Cell;
use std::sync::Arc;

use super::super::{Assignment, Here, Target, Topology};
use super::{Open, Search};
use crate::tosca::model::{Capability, Schema, find};
use crate::tosca::text::Call;
use crate::tosca::value::Val;
use crate::tosca::value::exact::Exact;
use crate::yaml::{Node, Schema as Yaml, Typed};

/// How often the search may try something before it gives up.
const STEPS: u32 = 200_000;

/// More is allocated than there is.
#[derive(Debug)]
pub(crate) struct Over {
    /// The node.
    pub node: usize,
    /// The capability.
    pub capability: Arc<str>,
    /// The property.
    pub property: Arc<str>,
    /// How much is there, as it is written.
    pub there: String,
    /// The requirements that allocate it: nodes and numbers of their assignments.
    pub by: Vec<(usize, usize)>,
}

/// An amount of a property that is taken.
pub(super) type Amount = (Arc<str>, Exact);

fn exact(value: &Val) -> Option<Exact> {
    match value {
        Val::Int(int) => Exact::parse(&int.to_string()),
        Val::Float(float) => Exact::parse(&float.to_string()),
        Val::Scalar(amount, _, _) => Some(*amount),
        _ => None,
    }
}

impl<'a> Topology<'_, 'a> {
    /// What an assignment takes of a capability, as far as it is known.
    pub(super) fn amounts(&self, assignment: &Assignment<'a>, of: &Capability<'a>) -> Vec<Amount> {
        let map = assignment.node.get("allocation").and_then(Node::as_mapping);
        let mut amounts = Vec::new();
        for (name, entry) in map.into_iter().flat_map(|map| map.named()) {
            let Some(property) = find(&of.properties, name) else {
                continue;
            };
            let refer = |call: &Call<'a>| self.refer(Here::Nowhere, call);
            let bare = Schema {
                clauses: Vec::new(),
                ..(*property.schema).clone()
            };
            let value = self
                .checker(&refer)
                .quietly()
                .read(&entry.value, &bare, name);
            let count = Exact::whole(i128::from(assignment.count.unwrap_or(1)));
            if let Some(amount) = exact(&value).and_then(|amount| amount.times(count)) {
                amounts.push((name.clone(), amount));
            }
        }
        amounts
    }

    /// How much a capability of a node has of a property; none when it is not known, or there are several such nodes.
    fn there(&self, node: usize, of: &Capability<'a>, property: &str) -> Option<(Exact, String)> {
        let count = self.nodes.get(node)?.node.get("count");
        let single = match count.map(|count| count.typed(Yaml::Core)) {
            None => true,
            Some(Some(Typed::Int(int))) => int.to_i64() == Some(1),
            Some(_) => false,
        };
        let property = find(&of.properties, property).filter(|_| single)?;
        let value = self.capability_value(node, of, property);
        Some((exact(&value)?, value.to_string()))
    }

    /// What is left of a property after the requirements that name their target.
    fn left(&self, node: usize, of: &Capability<'a>, property: &str) -> Option<Exact> {
        let (there, _) = self.there(node, of, property)?;
        let mut left = there;
        for (_, _, assignment) in self.bound_to(node, of) {
            let amounts = self.amounts(assignment, of);
            for (_, amount) in amounts.iter().filter(|(name, _)| &**name == property) {
                left = left.minus(*amount)?;
            }
        }
        Some(left)
    }

    fn bound_to<'s>(
        &'s self,
        node: usize,
        of: &'s Capability<'a>,
    ) -> impl Iterator<Item = (usize, usize, &'s Assignment<'a>)> {
        let all = self.nodes.iter().enumerate().flat_map(|(owner, template)| {
            let assignments = template.assignments.iter().enumerate();
            assignments.map(move |(number, assignment)| (owner, number, assignment))
        });
        all.filter(move |(_, _, assignment)| {
            let capability = assignment.capability.as_ref();
            assignment.target == Target::Node(node)
                && capability.is_some_and(|known| known.name == of.name)
        })
    }

    /// Where the requirements that name their target take more than there is.
    pub(super) fn over_allocated(&self) -> Vec<Over> {
        let mut over = Vec::new();
        let mut all = self.nodes.iter().flat_map(|node| &node.assignments);
        if !all.any(|assignment| assignment.node.get("allocation").is_some()) {
            return over;
        }
        for (index, template) in self.nodes.iter().enumerate() {
            for capability in &template.flat.capabilities {
                let users: Vec<_> = self.bound_to(index, capability).collect();
                let users = users
                    .into_iter()
                    .filter(|(_, _, user)| user.node.get("allocation").is_some());
                let users: Vec<_> = users.collect();
                let mut names: Vec<Arc<str>> = Vec::new();
                for (_, _, user) in &users {
                    for (name, _) in self.amounts(user, capability) {
                        if !names.contains(&name) {
                            names.push(name);
                        }
                    }
                }
                for name in names {
                    let Some((_, there)) = self.there(index, capability, &name) else {
                        continue;
                    };
                    let left = self.left(index, capability, &name);
                    if left.is_some_and(|left| left.compare(Exact::whole(0)).is_lt()) {
                        let takes = |user: &Assignment<'a>| {
                            let amounts = self.amounts(user, capability);
                            amounts.iter().any(|(known, _)| *known == name)
                        };
                        let by = users.iter().filter(|(_, _, user)| takes(user));
                        over.push(Over {
                            node: index,
                            capability: capability.name.clone(),
                            by: by.map(|(owner, number, _)| (*owner, *number)).collect(),
                            property: name,
                            there,
                        });
                    }
                }
            }
        }
        over
    }

    /// A smallest set of open requirements whose allocations cannot be met together; an error when the search gives up.
    pub(super) fn cannot_be_packed(
        &self,
        search: &Search<'a>,
        items: &[usize],
    ) -> Result<Option<Vec<usize>>, ()> {
        let taking = |open: &Open<'a>| {
            let assignment = self.nodes.get(open.node)?.assignments.get(open.number)?;
            assignment.node.get("allocation").map(|_| assignment)
        };
        let mut bins: Vec<(usize, Arc<str>, Vec<Amount>)> = Vec::new();
        let mut takers = Vec::new();
        for &item in items {
            let Some(open) = search.opens.get(item) else {
                continue;
            };
            let Some(assignment) = taking(open) else {
                continue;
            };
            let mut fits = Vec::new();
            for pair in &open.fits {
                let Some(capability) = &pair.capability else {
                    fits.clear();
                    break;
                };
                let amounts = self.amounts(assignment, capability);
                let known = bins
                    .iter()
                    .position(|(node, name, _)| (*node, name) == (pair.node, &capability.name));
                let bin = known.unwrap_or_else(|| {
                    bins.push((pair.node, capability.name.clone(), Vec::new()));
                    bins.len() - 1
                });
                let mut needed = Vec::new();
                for (name, amount) in amounts {
                    let Some(left) = self.left(pair.node, capability, &name) else {
                        continue;
                    };
                    if let Some((.., held)) = bins.get_mut(bin)
                        && !held.iter().any(|(known, _)| *known == name)
                    {
                        held.push((name.clone(), left));
                    }
                    needed.push((name, amount));
                }
                fits.push((bin, needed));
            }
            // One that may be met by something that is not known can be met.
            if !fits.is_empty() {
                takers.push((item, fits));
            }
        }
        let start: Vec<Vec<Amount>> = bins.into_iter().map(|(.., held)| held).collect();
        let steps = Cell::new(STEPS);
        if pack(&takers.iter().collect::<Vec<_>>(), &start, &steps)? {
            return Ok(None);
        }
        let mut core: Vec<&(usize, Fits)> = takers.iter().collect();
        let mut at = 0;
        while at < core.len() {
            let mut without = core.clone();
            without.remove(at);
            steps.set(STEPS);
            if pack(&without, &start, &steps)? {
                at += 1;
            } else {
                core = without;
            }
        }
        Ok(Some(core.into_iter().map(|(item, _)| *item).collect()))
    }
}

type Fits = Vec<(usize, Vec<Amount>)>;

/// Whether all items find what they take; an error when too much was tried.
fn pack(items: &[&(usize, Fits)], bins: &[Vec<Amount>], steps: &Cell<u32>) -> Result<bool, ()> {
    let Some(((_, fits), rest)) = items.split_first() else {
        return Ok(true);
    };
    let mut tried: Vec<&[Amount]> = Vec::new();
    for (bin, needed) in fits {
        steps.set(steps.get().checked_sub(1).ok_or(())?);
        let Some(held) = bins.get(*bin) else { continue };
        // What is left in another one is the same, and so is who may use it.
        let alike = |other: &&[Amount]| {
            other.len() == held.len()
                && other
                    .iter()
                    .zip(held)
                    .all(|(a, b)| a.0 == b.0 && a.1.compare(b.1).is_eq())
        };
        if tried.iter().any(alike) && interchangeable(items) {
            continue;
        }
        tried.push(held);
        let mut left = held.clone();
        let enough = needed.iter().all(|(name, amount)| {
            let cell = left.iter_mut().find(|(known, _)| known == name);
            cell.is_none_or(|(_, left)| match left.minus(*amount) {
                Some(rest) => {
                    *left = rest;
                    !rest.compare(Exact::whole(0)).is_lt()
                }
                None => true,
            })
        });
        if !enough {
            continue;
        }
        let mut after = bins.to_vec();
        if let Some(cell) = after.get_mut(*bin) {
            *cell = left;
        }
        if pack(rest, &after, steps)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether all items may use the same places and take as much of each, so that places differ by what is left only.
fn interchangeable(items: &[&(usize, Fits)]) -> bool {
    let bins = |fits: &Fits| fits.iter().map(|(bin, _)| *bin).collect::<Vec<_>>();
    let mut all = items.iter().map(|(_, fits)| bins(fits));
    let first = all.next();
    all.all(|other| Some(other) == first)
}
