//! A topology as a location graph and facts.

pub(super) mod domain;
mod graph;
mod mentions;
mod search;
mod signatures;

use std::rc::Rc;
use std::sync::Arc;

use locus_core::facts::{AtomId, Facts};
use locus_core::vocabulary::FieldId;
use locus_core::{Diagnostic, Int, Span, Value};
use rustc_hash::FxHashMap;

use super::grammar::TypeKind;
use super::model::{Allowed, Capability, Requirement};
use super::names::TypeId;
use super::topology::{Assignment, Group, NodeTemplate, Target, Topology};
use super::vocabulary::{field, sig_id};
use super::{Options, Service};
use search::choices;
pub(super) use signatures::signature;

/// Says what a topology describes.
pub(super) fn build(
    topology: &Topology<'_, '_>,
    prefix: &str,
    options: &Options,
    service: &mut Service,
) {
    let mut builder = Builder {
        topology,
        options,
        facts: &mut service.facts,
        texts: FxHashMap::default(),
        numbers: FxHashMap::default(),
        truths: [None; 2],
        types: FxHashMap::default(),
        by_name: FxHashMap::default(),
        nodes: Vec::new(),
        capabilities: FxHashMap::default(),
        assigned: FxHashMap::default(),
        incoming: topology.incoming(),
    };
    builder.nodes();
    builder.assignments();
    let search = topology.search(options.closed, options.all_bindings);
    builder.found(&search);
    builder.rest();
    builder.definitions();
    builder.workflows();
    builder.signatures(&options.mentioned, &mut service.declared);
    if options.all_bindings {
        service.diagnostics.extend(choices(topology, &search));
    }
    if search.gave_up {
        let message =
            "there are too many ways to meet the open requirements and what they allocate";
        let diagnostic = Diagnostic::warning("unchecked", message);
        service.unchecked.push(diagnostic.at(topology.node.span));
    }
    let nodes = builder.nodes;
    graph::build(topology, prefix, &nodes, service);
}

struct Builder<'b, 't, 'a> {
    topology: &'b Topology<'t, 'a>,
    options: &'b Options,
    facts: &'b mut Facts,
    texts: FxHashMap<Arc<str>, AtomId>,
    numbers: FxHashMap<u64, AtomId>,
    truths: [Option<AtomId>; 2],
    types: FxHashMap<TypeId, AtomId>,
    by_name: FxHashMap<(TypeKind, &'a str), AtomId>,
    nodes: Vec<AtomId>,
    capabilities: FxHashMap<(usize, Arc<str>), AtomId>,
    assigned: FxHashMap<(usize, usize), AtomId>,
    incoming: FxHashMap<(usize, Arc<str>), u64>,
}

impl<'a> Builder<'_, '_, 'a> {
    fn text(&mut self, text: &str, span: Span) -> AtomId {
        if let Some(&atom) = self.texts.get(text) {
            return atom;
        }
        let text: Arc<str> = text.into();
        let value = Value::Str(text.clone());
        let atom = self
            .facts
            .valued(sig_id!("Text"), text.clone(), span, value);
        self.texts.insert(text, atom);
        atom
    }

    fn number(&mut self, number: u64, span: Span) -> AtomId {
        if let Some(&atom) = self.numbers.get(&number) {
            return atom;
        }
        let int = Int::parse(&number.to_string(), 10).unwrap_or(Int::Small(i64::MAX));
        let name = number.to_string();
        let atom = self
            .facts
            .valued(sig_id!("Number"), name, span, Value::Int(int));
        self.numbers.insert(number, atom);
        atom
    }

    fn truth(&mut self, truth: bool, span: Span) -> AtomId {
        let slot = usize::from(truth);
        if let Some(atom) = self.truths.get(slot).copied().flatten() {
            return atom;
        }
        let (sig, name) = if truth {
            (sig_id!("True"), "true")
        } else {
            (sig_id!("False"), "false")
        };
        let atom = self.facts.valued(sig, name, span, Value::Bool(truth));
        if let Some(slot) = self.truths.get_mut(slot) {
            *slot = Some(atom);
        }
        atom
    }

    fn say_text(&mut self, field: FieldId<2>, owner: AtomId, text: &str, span: Span) {
        let atom = self.text(text, span);
        self.facts.tuple_at(field, &[owner, atom], span);
    }

    fn say_number(&mut self, field: FieldId<2>, owner: AtomId, number: u64, span: Span) {
        let atom = self.number(number, span);
        self.facts.tuple_at(field, &[owner, atom], span);
    }

    fn say(&mut self, field: FieldId<2>, owner: AtomId, truth: bool, span: Span) {
        let atom = self.truth(truth, span);
        self.facts.tuple_at(field, &[owner, atom], span);
    }

    /// The atom of a type, whose ancestors are all known.
    fn ty(&mut self, id: TypeId) -> Option<AtomId> {
        let model = self.topology.model;
        if let Some(&atom) = self.types.get(&id) {
            return Some(atom);
        }
        if !model.is_closed(id) {
            return None;
        }
        // From the first type down, so that long chains need no deep stack.
        let above: Vec<TypeId> = model.ancestors(id).skip(1).collect();
        for at in above.into_iter().rev() {
            if !self.types.contains_key(&at) {
                self.ty(at);
            }
        }
        let defined = model.names.get(id);
        let global = model.global_name(id);
        if let Some(&atom) = global.and_then(|name| self.by_name.get(&name)) {
            self.types.insert(id, atom);
            for ancestor in model.ancestors(id).skip(1).collect::<Vec<_>>() {
                if let Some(other) = self.ty(ancestor) {
                    self.facts.tuple(field!("Type", "is"), &[atom, other]);
                }
            }
            return Some(atom);
        }
        let atom = self
            .facts
            .atom(sig_id!("Type"), defined.name.clone(), defined.span);
        self.types.insert(id, atom);
        self.by_name.extend(global.map(|name| (name, atom)));
        self.say_text(field!("Type", "name"), atom, defined.name, defined.span);
        for ancestor in model.ancestors(id).collect::<Vec<_>>() {
            if let Some(other) = self.ty(ancestor) {
                self.facts.tuple(field!("Type", "is"), &[atom, other]);
            }
        }
        let flat = model.flat(id);
        self.allowed(field!("Type", "admits"), atom, &flat.valid_capabilities);
        self.allowed(field!("Type", "targets"), atom, &flat.valid_targets);
        self.allowed(field!("Type", "sources"), atom, &flat.valid_sources);
        self.allowed(field!("Type", "members"), atom, &flat.members);
        Some(atom)
    }

    /// Types that are allowed; nothing is said when one of them is not known.
    fn allowed(&mut self, field: FieldId<2>, owner: AtomId, allowed: &Allowed) {
        let Some(types) = allowed.types.as_ref().filter(|_| !allowed.open) else {
            return;
        };
        let atoms: Option<Vec<AtomId>> = types.iter().map(|&ty| self.ty(ty)).collect();
        for atom in atoms.unwrap_or_default() {
            self.facts.tuple(field, &[owner, atom]);
        }
    }

    fn say_type(&mut self, field: FieldId<2>, owner: AtomId, ty: Option<TypeId>) {
        if let Some(atom) = ty.and_then(|ty| self.ty(ty)) {
            self.facts.tuple(field, &[owner, atom]);
        }
    }

    fn nodes(&mut self) {
        let topology = self.topology;
        for template in &topology.nodes {
            let atom = self
                .facts
                .atom(sig_id!("Node"), template.name.clone(), template.span);
            self.nodes.push(atom);
            let span = template.span;
            self.say_text(field!("Node", "name"), atom, template.name, span);
            self.say_type(field!("Node", "type"), atom, template.ty);
            let closed = |ty: Option<TypeId>| ty.is_some_and(|ty| topology.model.is_closed(ty));
            let mut capabilities = template.flat.capabilities.iter();
            let complete = closed(template.ty) && capabilities.all(|known| closed(known.ty));
            self.say(field!("Node", "complete"), atom, complete, span);
        }
        for index in 0..topology.nodes.len() {
            let Some(template) = topology.nodes.get(index) else {
                continue;
            };
            for capability in &template.flat.capabilities {
                self.capability(index, template, capability);
            }
        }
    }

    fn capability(
        &mut self,
        index: usize,
        template: &NodeTemplate<'a>,
        capability: &Rc<Capability<'a>>,
    ) {
        let topology = self.topology;
        let Some(&owner) = self.nodes.get(index) else {
            return;
        };
        let span = template.span;
        let atom = self
            .facts
            .atom(sig_id!("Capability"), capability.name.clone(), span);
        self.capabilities
            .insert((index, capability.name.clone()), atom);
        self.facts
            .tuple(field!("Node", "capabilities"), &[owner, atom]);
        self.facts
            .tuple(field!("Capability", "owner"), &[atom, owner]);
        self.say_text(field!("Capability", "name"), atom, &capability.name, span);
        self.say_type(field!("Capability", "type"), atom, capability.ty);
        self.allowed(field!("Capability", "sources"), atom, &capability.sources);
        let relationships = &capability.relationships;
        self.allowed(field!("Capability", "relationships"), atom, relationships);
        let incoming = self.incoming.get(&(index, capability.name.clone()));
        let incoming = incoming.copied().unwrap_or(0);
        self.say_number(field!("Capability", "incoming"), atom, incoming, span);
        if let Some(most) = topology.most(index, capability) {
            self.say_number(field!("Capability", "most"), atom, most, span);
        }
    }

    fn assignments(&mut self) {
        let topology = self.topology;
        for index in 0..topology.nodes.len() {
            let (Some(template), Some(&owner)) = (topology.nodes.get(index), self.nodes.get(index))
            else {
                continue;
            };
            let mut slots: FxHashMap<Arc<str>, AtomId> = FxHashMap::default();
            for requirement in &template.flat.requirements {
                let slot = self.slot(index, template, owner, requirement);
                slots.insert(requirement.name.clone(), slot);
            }
            for (number, assignment) in template.assignments.iter().enumerate() {
                let slot = slots.get(assignment.name).copied();
                self.assignment((index, number), owner, slot, assignment);
            }
        }
    }

    fn slot(
        &mut self,
        index: usize,
        template: &NodeTemplate<'a>,
        owner: AtomId,
        requirement: &Rc<Requirement<'a>>,
    ) -> AtomId {
        let topology = self.topology;
        let own = || {
            let all = template.assignments.iter();
            all.filter(|assignment| *assignment.name == requirement.name)
        };
        let span = own()
            .next_back()
            .map_or(template.span, |assignment| assignment.span);
        let atom = self
            .facts
            .atom(sig_id!("Slot"), requirement.name.clone(), span);
        self.facts.tuple(field!("Node", "slots"), &[owner, atom]);
        self.facts.tuple(field!("Slot", "owner"), &[atom, owner]);
        self.say_text(field!("Slot", "name"), atom, &requirement.name, span);
        self.say_number(field!("Slot", "least"), atom, requirement.count.least, span);
        if let Some(most) = requirement.count.most {
            self.say_number(field!("Slot", "most"), atom, most, span);
        }
        let count = |optional: bool| {
            let counted = own().filter(|assignment| optional || !assignment.optional);
            let mut counts = counted.map(|assignment| assignment.count);
            counts.try_fold(0_u64, |sum, count| Some(sum.saturating_add(count?)))
        };
        let mapped = topology.is_mapped(index, &requirement.name);
        let none = own().next().is_none();
        // What is mapped is met outside, and a node that is found, or in 1.x substituted, brings what it needs.
        let met = mapped || none && topology.brings_its_own(index);
        if !met {
            if let Some(assigned) = count(true) {
                self.say_number(field!("Slot", "assigned"), atom, assigned, span);
            }
            if let Some(certain) = count(false) {
                self.say_number(field!("Slot", "certain"), atom, certain, span);
            }
        }
        self.say_type(
            field!("Slot", "relationship"),
            atom,
            requirement.relationship,
        );
        atom
    }

    fn assignment(
        &mut self,
        (index, number): (usize, usize),
        owner: AtomId,
        slot: Option<AtomId>,
        assignment: &Assignment<'a>,
    ) {
        let topology = self.topology;
        let span = assignment.target_span;
        let atom = self
            .facts
            .atom(sig_id!("Assignment"), assignment.name.clone(), span);
        self.assigned.insert((index, number), atom);
        for (span, text) in topology.unfulfilled(index, assignment) {
            let reason = self.reason(span, &text);
            let field = field!("Assignment", "unfulfilled");
            self.facts.tuple(field, &[atom, reason]);
        }
        self.facts
            .tuple(field!("Node", "assignments"), &[owner, atom]);
        self.facts
            .tuple(field!("Assignment", "owner"), &[atom, owner]);
        self.say_text(
            field!("Assignment", "name"),
            atom,
            assignment.name,
            assignment.span,
        );
        if let Some(slot) = slot {
            self.facts
                .tuple(field!("Assignment", "slot"), &[atom, slot]);
        }
        let definition = assignment.definition.as_ref();
        self.say_type(
            field!("Assignment", "wanted"),
            atom,
            assignment.capability_type,
        );
        let wanted_node = definition.and_then(|definition| definition.node);
        self.say_type(field!("Assignment", "wanted_node"), atom, wanted_node);
        self.say_type(
            field!("Assignment", "relationship"),
            atom,
            assignment.relationship,
        );
        // What is mapped is met by whoever uses the topology.
        let mapped = topology.is_mapped(index, assignment.name);
        let open = matches!(assignment.target, Target::Open(_)) && !mapped;
        self.say(field!("Assignment", "unbound"), atom, open, span);
        let internal = assignment.internal || self.options.closed;
        self.say(field!("Assignment", "internal"), atom, internal, span);
        self.say(
            field!("Assignment", "optional"),
            atom,
            assignment.optional,
            span,
        );
        if let Target::Node(target) = assignment.target
            && let Some(&node) = self.nodes.get(target)
        {
            self.facts
                .tuple_at(field!("Assignment", "target"), &[atom, node], span);
            if let Some(capability) = &assignment.capability
                && let Some(&capability) = self.capabilities.get(&(target, capability.name.clone()))
            {
                self.facts
                    .tuple(field!("Assignment", "capability"), &[atom, capability]);
            }
            if assignment
                .relationship
                .is_some_and(|ty| is_host(topology, ty))
            {
                self.facts
                    .tuple_at(field!("Node", "hosts"), &[owner, node], span);
            }
        }
    }

    fn rest(&mut self) {
        let topology = self.topology;
        for input in &topology.inputs {
            let (name, span) = (&input.property.name, input.property.span);
            let atom = self.facts.atom(sig_id!("Input"), name.clone(), span);
            self.say_text(field!("Input", "name"), atom, name, span);
            self.say(field!("Input", "used"), atom, input.used.get(), span);
        }
        for group in &topology.groups {
            let atom = self
                .facts
                .atom(sig_id!("Group"), group.name.clone(), group.span);
            self.say_type(field!("Group", "type"), atom, group.ty);
            self.members(atom, group);
        }
        for policy in &topology.policies {
            let atom = self
                .facts
                .atom(sig_id!("Policy"), policy.name.clone(), policy.span);
            self.say_type(field!("Policy", "type"), atom, policy.ty);
            self.members(atom, policy);
        }
        let steps: Vec<AtomId> = topology
            .steps
            .iter()
            .map(|step| {
                self.facts
                    .atom(sig_id!("Step"), step.name.clone(), step.span)
            })
            .collect();
        for (step, &atom) in topology.steps.iter().zip(&steps) {
            self.say_text(field!("Step", "name"), atom, step.name, step.span);
            self.say_text(field!("Step", "workflow"), atom, step.workflow, step.span);
            for next in step.next.iter().filter_map(|&next| steps.get(next)) {
                self.facts.tuple(field!("Step", "next"), &[atom, *next]);
            }
        }
        self.parts();
    }

    fn members(&mut self, whole: AtomId, group: &Group<'a>) {
        for &(member, span) in &group.members {
            let name = match member {
                super::topology::Member::Node(index) => {
                    self.topology.nodes.get(index).map(|node| node.name)
                }
                super::topology::Member::Group(index) => {
                    self.topology.groups.get(index).map(|group| group.name)
                }
            };
            let Some(name) = name else { continue };
            let atom = self.facts.atom(sig_id!("Membership"), name.clone(), span);
            self.facts
                .tuple(field!("Membership", "whole"), &[atom, whole]);
            self.say_text(field!("Membership", "name"), atom, name, span);
            let ty = self.topology.member_type(member);
            self.say_type(field!("Membership", "type"), atom, ty);
        }
    }

    /// What the node type has that the topology stands for.
    fn parts(&mut self) {
        let topology = self.topology;
        let Some(mapping) = &topology.substitution else {
            return;
        };
        let flat = topology.model.flat(mapping.ty);
        let span = mapping.span;
        let mut part = |name: &Arc<str>, kind: &str, mapped: bool| {
            let atom = self.facts.atom(sig_id!("Part"), name.clone(), span);
            self.say_text(field!("Part", "name"), atom, name, span);
            self.say_text(field!("Part", "kind"), atom, kind, span);
            self.say(field!("Part", "mapped"), atom, mapped, span);
        };
        for capability in &flat.capabilities {
            // `feature` is on every node of 1.x, and nobody maps it.
            let mapped =
                mapping.capabilities.contains(&&capability.name) || &*capability.name == "feature";
            part(&capability.name, "capability", mapped);
        }
        for requirement in &flat.requirements {
            let mapped = mapping
                .requirements
                .iter()
                .any(|(name, _, _)| **name == requirement.name);
            part(
                &requirement.name,
                "requirement",
                mapped || requirement.count.least == 0,
            );
        }
    }
}

/// Whether a type of relationships is that of hosting.
pub(super) fn is_host(topology: &Topology<'_, '_>, ty: TypeId) -> bool {
    let model = topology.model;
    model.ancestors(ty).any(|at| {
        let name = model.name(at);
        &**name == "tosca.relationships.HostedOn" || &**name == "HostedOn"
    })
}
