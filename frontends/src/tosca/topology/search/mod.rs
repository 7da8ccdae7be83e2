//! Requirements without a target: which nodes can meet them, alone and together.
//!
//! A node can be the target when it fulfils every condition of the requirement; what is not known does not stand in its way. How
//! many relationships a capability takes, and what is allocated of it, is shared by all requirements, so they are assigned
//! together: this is a matching problem, and where it has no solution, a smallest set of requirements is the reason.

mod allocate;
mod filter;
mod matching;

use std::rc::Rc;
use std::sync::Arc;

use locus_core::Span;
use rustc_hash::FxHashMap;

pub(crate) use allocate::Over;
use filter::{Clause, clauses};
use matching::Problem;

use super::{Assignment, Target, Topology};
use crate::tosca::model::{Allowed, Capability};
use crate::tosca::names::TypeId;
use crate::tosca::value::shown;
use crate::yaml::Node;

/// A node, and the capability of it that would be used.
#[derive(Clone, Debug)]
pub(crate) struct Pair<'a> {
    /// The node.
    pub node: usize,
    /// The capability; none of a node that has none, or whose capabilities are not all known.
    pub capability: Option<Rc<Capability<'a>>>,
}

/// A requirement without a target.
#[derive(Debug)]
pub(crate) struct Open<'a> {
    /// The node that has it.
    pub node: usize,
    /// Its number among the assignments of the node.
    pub number: usize,
    /// Whether it must be met within the topology.
    pub internal: bool,
    /// Whether it may stay open.
    pub optional: bool,
    /// What can meet it.
    pub fits: Vec<Pair<'a>>,
    /// When nothing can: the fewest conditions that rule out every node.
    pub because: Vec<(Span, String)>,
}

/// Requirements that cannot be met together.
#[derive(Debug)]
pub(crate) struct Shortage {
    /// The requirements, by their place in [`Search::opens`].
    pub members: Vec<usize>,
    /// How many relationships they need.
    pub wanted: u64,
    /// How many the nodes that fit can take; none when it is an allocation that is too small.
    pub places: Option<u64>,
    /// Whether they must be met within the topology.
    pub internal: bool,
}

/// What the search found.
#[derive(Debug, Default)]
pub(crate) struct Search<'a> {
    /// The open requirements.
    pub opens: Vec<Open<'a>>,
    /// Those that cannot be met together.
    pub shortages: Vec<Shortage>,
    /// Allocations of more than there is.
    pub over: Vec<Over>,
    /// Whether the search for allocations gave up.
    pub gave_up: bool,
    /// For each open requirement, the nodes that it has in some way to meet all of them.
    pub choices: Vec<Vec<usize>>,
}

/// A condition that a target must fulfil.
enum Condition<'a> {
    Node(TypeId),
    CapabilityName(&'a str),
    CapabilityType(TypeId),
    Relationship(TypeId),
    Source,
    Filter(Clause<'a>),
}

impl<'a> Topology<'_, 'a> {
    /// Whether a requirement of a node is met by whoever uses the topology.
    pub(crate) fn is_mapped(&self, node: usize, requirement: &str) -> bool {
        self.substitution.as_ref().is_some_and(|mapping| {
            let mut mapped = mapping.requirements.iter();
            mapped.any(|(_, at, word)| *at == Some(node) && *word == Some(requirement))
        })
    }

    /// Looks for targets of the requirements that name none; with `closed`, all must be met within the topology.
    pub(crate) fn search(&self, closed: bool, all_choices: bool) -> Search<'a> {
        let mut search = Search {
            over: self.over_allocated(),
            ..Search::default()
        };
        for (node, template) in self.nodes.iter().enumerate() {
            for (number, assignment) in template.assignments.iter().enumerate() {
                if matches!(assignment.target, Target::Open(_))
                    && !self.is_mapped(node, assignment.name)
                {
                    let (fits, because) = self.candidates(node, assignment);
                    search.opens.push(Open {
                        node,
                        number,
                        internal: assignment.internal || closed,
                        optional: assignment.optional,
                        fits,
                        because,
                    });
                }
            }
        }
        self.together(&mut search, all_choices);
        search
    }

    /// What can meet a requirement, or why nothing can.
    fn candidates(
        &self,
        source: usize,
        assignment: &Assignment<'a>,
    ) -> (Vec<Pair<'a>>, Vec<(Span, String)>) {
        let conditions = self.conditions(assignment);
        let mut fits: Vec<Pair<'a>> = Vec::new();
        let mut failing: Vec<Vec<usize>> = Vec::new();
        for (index, template) in self.nodes.iter().enumerate() {
            if index == source {
                continue;
            }
            let mut pairs: Vec<Pair<'a>> = template
                .flat
                .capabilities
                .iter()
                .map(|capability| Pair {
                    node: index,
                    capability: Some(capability.clone()),
                })
                .collect();
            if template.flat.open || pairs.is_empty() {
                pairs.push(Pair {
                    node: index,
                    capability: None,
                });
            }
            for pair in pairs {
                let fails = |(_, _, condition): &(Span, String, Condition<'a>)| {
                    self.holds(condition, source, assignment, &pair) == Some(false)
                };
                let failed: Vec<usize> = (0..conditions.len())
                    .filter(|&at| conditions.get(at).is_some_and(fails))
                    .collect();
                if failed.is_empty() {
                    fits.push(pair);
                } else {
                    failing.push(failed);
                }
            }
        }
        if !fits.is_empty() {
            return (fits, Vec::new());
        }
        // Leave out what is not needed to rule out all of them, the last first, so that types come before filters.
        let mut needed: Vec<usize> = (0..conditions.len()).collect();
        for at in (0..conditions.len()).rev() {
            let others =
                |failed: &Vec<usize>| failed.iter().any(|one| *one != at && needed.contains(one));
            if failing.iter().all(others) {
                needed.retain(|known| *known != at);
            }
        }
        if failing.is_empty() {
            needed.clear();
        }
        let because = needed.into_iter().filter_map(|at| {
            let (span, text, _) = conditions.get(at)?;
            Some((*span, text.clone()))
        });
        (fits, because.collect())
    }

    /// What a target must fulfil, where it is written, and in words.
    fn conditions(&self, assignment: &Assignment<'a>) -> Vec<(Span, String, Condition<'a>)> {
        let mut conditions = Vec::new();
        let definition = assignment.definition.as_ref();
        let defined = definition.map_or(assignment.span, |definition| definition.span);
        let node = definition.and_then(|definition| definition.node);
        if let Target::Open(Some(written)) = assignment.target {
            let text = format!("it must be a `{}`", self.model.name(written));
            let span = if Some(written) == node {
                defined
            } else {
                assignment.target_span
            };
            conditions.push((span, text, Condition::Node(written)));
        }
        if let Some(node) = node.filter(|&node| assignment.target != Target::Open(Some(node))) {
            let text = format!("it must be a `{}`", self.model.name(node));
            conditions.push((defined, text, Condition::Node(node)));
        }
        let name = definition.and_then(|definition| definition.capability_name);
        if let Some(name) = name {
            let text = format!("it must have the capability `{name}`");
            conditions.push((defined, text, Condition::CapabilityName(name)));
        }
        let wanted = definition.and_then(|definition| definition.capability);
        if let Some(ty) = wanted.filter(|&ty| assignment.capability_type != Some(ty)) {
            let text = format!(
                "it must have a capability of type `{}`",
                self.model.name(ty)
            );
            conditions.push((defined, text, Condition::CapabilityType(ty)));
        }
        if let Some(ty) = assignment.capability_type {
            let written = assignment.get("capability");
            let span = written.map_or(defined, crate::yaml::Node::used_at);
            let text = format!(
                "it must have a capability of type `{}`",
                self.model.name(ty)
            );
            conditions.push((span, text, Condition::CapabilityType(ty)));
        }
        if let Some(ty) = assignment.relationship {
            let text = format!(
                "a relationship of type `{}` must be able to lead to it",
                self.model.name(ty)
            );
            conditions.push((defined, text, Condition::Relationship(ty)));
        }
        let text = "its capability must accept nodes of this type".to_owned();
        conditions.push((assignment.span, text, Condition::Source));
        let own = assignment
            .get("node_filter")
            .map(|filter| (filter, self.file));
        let inherited = definition.map_or(&[][..], |definition| &definition.filters);
        for (filter, file) in own.into_iter().chain(inherited.iter().copied()) {
            for clause in clauses(filter, file, self.model.version(file).is_simple()) {
                let text = format!("it must fulfil `{}`", shown(clause.node));
                conditions.push((clause.node.used_at(), text, Condition::Filter(clause)));
            }
        }
        conditions
    }

    fn holds(
        &self,
        condition: &Condition<'a>,
        source: usize,
        assignment: &Assignment<'a>,
        pair: &Pair<'a>,
    ) -> Option<bool> {
        let node = self.nodes.get(pair.node)?;
        let open = node.flat.open;
        match condition {
            Condition::Node(wanted) => self.model.derives(node.ty?, *wanted),
            Condition::CapabilityName(name) => match &pair.capability {
                Some(capability) => Some(&*capability.name == *name),
                None => (!open).then_some(false),
            },
            Condition::CapabilityType(wanted) => match &pair.capability {
                Some(capability) => self.model.derives(capability.ty?, *wanted),
                None => (!open).then_some(false),
            },
            Condition::Relationship(ty) => {
                let flat = self.model.flat(*ty);
                let capability = match &pair.capability {
                    Some(capability) => self.allows(&flat.valid_capabilities, capability.ty),
                    None => None,
                };
                let target = self.allows(&flat.valid_targets, node.ty);
                let source = self.allows(&flat.valid_sources, self.nodes.get(source)?.ty);
                let back = match &pair.capability {
                    Some(capability) => {
                        self.allows(&capability.relationships, assignment.relationship)
                    }
                    None => None,
                };
                crate::tosca::value::all([capability, target, source, back])
            }
            Condition::Source => {
                let capability = pair.capability.as_ref()?;
                self.allows(&capability.sources, self.nodes.get(source)?.ty)
            }
            Condition::Filter(clause) => self.passes(clause, source, assignment.relationship, pair),
        }
    }

    /// Whether a type is among those that are allowed.
    fn allows(&self, allowed: &Allowed, ty: Option<TypeId>) -> Option<bool> {
        let Some(types) = allowed.types.as_ref() else {
            return Some(true);
        };
        let ty = ty?;
        let found =
            crate::tosca::value::any(types.iter().map(|&known| self.model.derives(ty, known)));
        match found {
            Some(false) if allowed.open => None,
            found => found,
        }
    }

    /// Whether all open requirements can be met at once.
    fn together(&self, search: &mut Search<'a>, all_choices: bool) {
        let mut places: Vec<usize> = Vec::new();
        let mut by_key: FxHashMap<(usize, Option<Arc<str>>), usize> = FxHashMap::default();
        let incoming = self.incoming();
        let mut problem = Problem::default();
        for open in &search.opens {
            let assignment = self
                .nodes
                .get(open.node)
                .and_then(|node| node.assignments.get(open.number));
            problem
                .needs
                .push(assignment.and_then(|known| known.count).unwrap_or(0));
            let mut fits = Vec::new();
            for pair in &open.fits {
                let name = pair.capability.as_ref().map(|known| known.name.clone());
                let place = *by_key
                    .entry((pair.node, name))
                    .or_insert_with_key(|(node, name)| {
                        let capability = pair.capability.as_ref();
                        let most = capability.and_then(|known| self.most(*node, known));
                        let key = name.as_ref().map(|name| (*node, name.clone()));
                        let used = key.and_then(|key| incoming.get(&key).copied()).unwrap_or(0);
                        problem
                            .places
                            .push(most.map(|most| most.saturating_sub(used)));
                        places.push(*node);
                        places.len() - 1
                    });
                fits.push(place);
            }
            problem.fits.push(fits);
        }
        let must = |internal_only: bool| -> Vec<usize> {
            let items = search.opens.iter().enumerate().filter(|(_, open)| {
                !open.optional && !open.fits.is_empty() && (open.internal || !internal_only)
            });
            items.map(|(at, _)| at).collect()
        };
        let mut shortages = Vec::new();
        let mut told: Vec<usize> = Vec::new();
        for (internal, mut items) in [(true, must(true)), (false, must(false))] {
            // Each reason is told once: what is in one is left out of the search for the next.
            items.retain(|item| !told.contains(item));
            while let Some(core) = problem.shortage(&items) {
                items.retain(|item| !core.contains(item));
                told.extend(&core);
                let wanted = core
                    .iter()
                    .filter_map(|&item| problem.needs.get(item))
                    .fold(0_u64, |sum, &need| sum.saturating_add(need));
                shortages.push(Shortage {
                    places: problem.supply(&core),
                    wanted,
                    internal,
                    members: core,
                });
            }
            match self.cannot_be_packed(search, &items) {
                Ok(None) => {}
                Ok(Some((core, smallest))) => {
                    search.gave_up |= !smallest;
                    told.extend(&core);
                    let wanted = core
                        .iter()
                        .filter_map(|&item| problem.needs.get(item))
                        .fold(0_u64, |sum, &need| sum.saturating_add(need));
                    shortages.push(Shortage {
                        places: None,
                        wanted,
                        internal,
                        members: core,
                    });
                }
                Err(()) => search.gave_up = true,
            }
        }
        search.shortages = shortages;
        if all_choices {
            let items: Vec<usize> = must(false);
            let choices = problem.choices(&items).into_iter().map(|choice| {
                let mut nodes: Vec<usize> = choice
                    .iter()
                    .filter_map(|&place| places.get(place).copied())
                    .collect();
                nodes.dedup();
                nodes
            });
            search.choices = choices.collect();
        }
    }

    /// How many relationships may lead to a capability of a node, as its type says or, in 1.3, the template.
    pub(crate) fn most(&self, node: usize, capability: &Capability<'a>) -> Option<u64> {
        let template = self.nodes.get(node);
        let own = template.and_then(|template| {
            let written = [Some(template.node), template.copied];
            let mut written = written.into_iter().flatten();
            let own = |node: &'a Node| node.get("capabilities")?.get(&capability.name);
            let range = written.find_map(|node| own(node)?.get("occurrences"));
            crate::tosca::text::range(range?)
        });
        let defined = capability.occurrences.most;
        match own.and_then(|own| own.most) {
            Some(own) => Some(defined.map_or(own, |defined| defined.min(own))),
            None => defined,
        }
    }

    /// How many relationships lead to each capability from requirements that name their target.
    pub(crate) fn incoming(&self) -> FxHashMap<(usize, Arc<str>), u64> {
        let mut incoming: FxHashMap<(usize, Arc<str>), u64> = FxHashMap::default();
        for assignment in self.nodes.iter().flat_map(|node| &node.assignments) {
            if let (Target::Node(target), Some(capability)) =
                (assignment.target, &assignment.capability)
            {
                let count = incoming
                    .entry((target, capability.name.clone()))
                    .or_default();
                *count = count.saturating_add(assignment.count.unwrap_or(0));
            }
        }
        incoming
    }

    /// The conditions of its filters that the target of a requirement does not fulfil.
    pub(crate) fn unfulfilled(
        &self,
        source: usize,
        assignment: &Assignment<'a>,
    ) -> Vec<(Span, String)> {
        let Target::Node(node) = assignment.target else {
            return Vec::new();
        };
        let definition = assignment.definition.as_ref();
        let inherited = definition.is_some_and(|definition| !definition.filters.is_empty());
        if !inherited && assignment.get("node_filter").is_none() {
            return Vec::new();
        }
        let pair = Pair {
            node,
            capability: assignment.capability.clone(),
        };
        let conditions = self.conditions(assignment).into_iter();
        let failed = conditions.filter(|(_, _, condition)| {
            matches!(condition, Condition::Filter(_))
                && self.holds(condition, source, assignment, &pair) == Some(false)
        });
        failed.map(|(span, text, _)| (span, text)).collect()
    }
}
