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

/// Relationships that one assignment makes and that are placed one by one, at most.
const MOST: u64 = 1_000;

/// Relationships that are placed one after the other, at most.
const TAKERS: usize = 2_000;

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
    /// What some relationships of an assignment take of a capability, as far as it is known.
    pub(super) fn amounts(
        &self,
        assignment: &Assignment<'a>,
        of: &Capability<'a>,
        relationships: u64,
    ) -> Vec<Amount> {
        let map = assignment.get("allocation").and_then(Node::as_mapping);
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
            let count = Exact::whole(i128::from(relationships));
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
            let amounts = self.amounts(assignment, of, assignment.count.unwrap_or(1));
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
        if !all.any(|assignment| assignment.get("allocation").is_some()) {
            return over;
        }
        for (index, template) in self.nodes.iter().enumerate() {
            for capability in &template.flat.capabilities {
                let users: Vec<_> = self.bound_to(index, capability).collect();
                let users = users
                    .into_iter()
                    .filter(|(_, _, user)| user.get("allocation").is_some());
                let users: Vec<_> = users.collect();
                let mut names: Vec<Arc<str>> = Vec::new();
                for (_, _, user) in &users {
                    for (name, _) in self.amounts(user, capability, 1) {
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
                            let amounts = self.amounts(user, capability, 1);
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

    /// Open requirements whose allocations cannot be met together, and whether they are a smallest set of such; an error when the
    /// search gives up.
    pub(super) fn cannot_be_packed(
        &self,
        search: &Search<'a>,
        items: &[usize],
    ) -> Result<Option<(Vec<usize>, bool)>, ()> {
        let taking = |open: &Open<'a>| {
            let assignment = self.nodes.get(open.node)?.assignments.get(open.number)?;
            assignment.get("allocation").map(|_| assignment)
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
                let amounts = self.amounts(assignment, capability, 1);
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
            // One that may be met by something that is not known can be met; each of its relationships may lead elsewhere.
            if !fits.is_empty() {
                let count = assignment.count.unwrap_or(0);
                if count > MOST {
                    return Err(());
                }
                takers.extend((0..count).map(|_| (item, fits.clone())));
            }
        }
        if takers.len() > TAKERS {
            return Err(());
        }
        let start: Vec<Vec<Amount>> = bins.into_iter().map(|(.., held)| held).collect();
        // What takes most comes first: it has the fewest places.
        takers.sort_by(|(_, a), (_, b)| largest(b).compare(largest(a)));
        let mut core: Vec<&(usize, Fits)> = takers.iter().collect();
        if pack(&core, &start, &Cell::new(STEPS))? {
            return Ok(None);
        }
        // The smallest are left out first, so that few that take much stay.
        let mut smallest = true;
        for at in (0..core.len()).rev() {
            let mut without = core.clone();
            without.remove(at);
            match pack(&without, &start, &Cell::new(STEPS / 20)) {
                Ok(true) => {}
                Ok(false) => core = without,
                // It may not be needed for the reason, which is one with it too.
                Err(()) => smallest = false,
            }
        }
        let mut core: Vec<usize> = core.into_iter().map(|(item, _)| *item).collect();
        core.sort_unstable();
        core.dedup();
        Ok(Some((core, smallest)))
    }
}

/// The largest amount that one takes of anything.
fn largest(fits: &Fits) -> Exact {
    let amounts = fits.iter().flat_map(|(_, needed)| needed);
    let amounts = amounts.map(|(_, amount)| *amount);
    amounts
        .max_by(|a, b| a.compare(*b))
        .unwrap_or_else(|| Exact::whole(0))
}

/// Whether items that may all use the same places take more than is left there: of some property, all of them together, where what
/// is too little for the smallest of them does not count.
fn exceeds(items: &[&(usize, Fits)], bins: &[Vec<Amount>]) -> Option<bool> {
    let (_, fits) = items.first()?;
    let (_, named) = fits.first()?;
    for (name, _) in named {
        let mut demand = Exact::whole(0);
        let mut least: Option<Exact> = None;
        for (_, fits) in items {
            // The same of each place, as interchangeable items take it.
            let (_, needed) = fits.first()?;
            let (_, amount) = needed.iter().find(|(known, _)| known == name)?;
            demand = demand.plus(*amount)?;
            least = Some(match least {
                Some(least) if least.compare(*amount).is_le() => least,
                _ => *amount,
            });
        }
        let least = least?;
        let mut supply = Exact::whole(0);
        for (bin, _) in fits {
            let held = bins.get(*bin)?;
            let (_, left) = held.iter().find(|(known, _)| known == name)?;
            if left.compare(least).is_ge() {
                supply = supply.plus(*left)?;
            }
        }
        if demand.compare(supply).is_gt() {
            return Some(true);
        }
    }
    Some(false)
}

type Fits = Vec<(usize, Vec<Amount>)>;

/// Whether all items find what they take; an error when too much was tried.
fn pack(items: &[&(usize, Fits)], bins: &[Vec<Amount>], steps: &Cell<u32>) -> Result<bool, ()> {
    place(items, &mut bins.to_vec(), steps, interchangeable(items))
}

fn place(
    items: &[&(usize, Fits)],
    bins: &mut [Vec<Amount>],
    steps: &Cell<u32>,
    same: bool,
) -> Result<bool, ()> {
    let Some(((_, fits), rest)) = items.split_first() else {
        return Ok(true);
    };
    if same && exceeds(items, bins) == Some(true) {
        return Ok(false);
    }
    let mut tried: Vec<Vec<Amount>> = Vec::new();
    // Where least is left comes first, so that what is large stays whole for others.
    let mut order: Vec<&(usize, Vec<Amount>)> = fits.iter().collect();
    let left_of = |fit: &(usize, Vec<Amount>)| {
        let left = bins.get(fit.0).and_then(|held| held.first());
        left.map_or_else(|| Exact::whole(0), |(_, left)| *left)
    };
    order.sort_by(|a, b| left_of(a).compare(left_of(b)));
    for (bin, needed) in order {
        steps.set(steps.get().checked_sub(1).ok_or(())?);
        let Some(held) = bins.get(*bin).cloned() else {
            continue;
        };
        // What is left in another one is the same, and so is who may use it.
        let alike = |other: &Vec<Amount>| {
            other.len() == held.len()
                && other
                    .iter()
                    .zip(&held)
                    .all(|(a, b)| a.0 == b.0 && a.1.compare(b.1).is_eq())
        };
        if same && tried.iter().any(alike) {
            continue;
        }
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
        if enough {
            if let Some(cell) = bins.get_mut(*bin) {
                *cell = left;
            }
            if place(rest, bins, steps, same)? {
                return Ok(true);
            }
            if let Some(cell) = bins.get_mut(*bin) {
                cell.clone_from(&held);
            }
        }
        tried.push(held);
    }
    Ok(false)
}

/// Whether all items may use the same places, and each takes as much of one as of another, so that places differ by what is left
/// only.
fn interchangeable(items: &[&(usize, Fits)]) -> bool {
    let bins = |fits: &Fits| fits.iter().map(|(bin, _)| *bin).collect::<Vec<_>>();
    let alike = |fits: &Fits| {
        let mut needed = fits.iter().map(|(_, needed)| needed);
        let first = needed.next();
        needed.all(|other| {
            first.is_some_and(|first| {
                first.len() == other.len()
                    && first
                        .iter()
                        .zip(other)
                        .all(|(a, b)| a.0 == b.0 && a.1.compare(b.1).is_eq())
            })
        })
    };
    let mut all = items.iter().map(|(_, fits)| bins(fits));
    let first = all.next();
    all.all(|other| Some(other) == first) && items.iter().all(|(_, fits)| alike(fits))
}
