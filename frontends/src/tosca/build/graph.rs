//! Locations and roles: nodes and relationships are locations, requirements and capabilities are roles.
//!
//! A node requires the role of its requirement, which the relationship provides; the relationship requires the role of the
//! capability, which the target provides. A capability has one role for each relationship that leads to it.

use std::sync::Arc;

use locus_core::facts::AtomId;
use locus_core::graph::{Location, LocationId, RoleKind};
use locus_core::value::{Domain, Field, Item, Symbol, SymbolKind, ValueType};
use locus_core::{LocationGraph, Span, Value};
use rustc_hash::FxHashMap;

use super::mentions::Mentions;
use super::{Service, is_host};
use crate::tosca::names::TypeId;
use crate::tosca::text::call;
use crate::tosca::topology::{Assignment, Input, Target, Topology};
use crate::tosca::value::Val;
use crate::yaml::Node;

/// Builds the graph of a topology.
pub(super) fn build(
    topology: &Topology<'_, '_>,
    prefix: &str,
    atoms: &[AtomId],
    service: &mut Service,
) {
    let mut inputs: FxHashMap<Arc<str>, locus_core::value::SymbolId> = FxHashMap::default();
    for input in &topology.inputs {
        if !input.value.is_known() {
            let symbol = service.graph.add_symbol(Symbol {
                name: input.property.name.clone(),
                kind: SymbolKind::Parameter,
                domain: super::domain::of(topology, &input.property.schema),
                span: input.property.span,
                default: default_of(input),
                depends: Vec::new(),
            });
            inputs.insert(input.property.name.clone(), symbol);
        }
    }
    let mentions = Mentions::new(topology, &inputs);
    let mut locations = Vec::new();
    for (index, template) in topology.nodes.iter().enumerate() {
        let sort = sort(topology, template.ty, template.node);
        let name: Arc<str> = match prefix {
            "" => template.name.clone(),
            prefix => format!("{prefix}{}", template.name).into(),
        };
        let location = Location::new(name, sort, template.span);
        let id = service.graph.add_location(location);
        let sections = topology.section(index, "properties");
        let values = template.values.borrow();
        let properties = values.iter().map(|(name, span, value)| {
            let written = sections.iter().find(|(known, _)| *known == name);
            let node = written.map(|(_, entry)| &entry.value);
            let key = written.map_or(*span, |(_, entry)| entry.key.span);
            let value = known(
                topology,
                &mut service.graph,
                (&inputs, &mentions),
                (name, *span),
                value,
                node,
            );
            Field {
                name: name.clone(),
                key,
                item: Item::new(value, *span),
            }
        });
        let properties: Vec<Field> = properties.collect();
        service.graph.location_mut(id).properties = properties;
        if let Some(&atom) = atoms.get(index) {
            service.facts.locate(atom, id);
        }
        locations.push(id);
    }
    for (index, template) in topology.nodes.iter().enumerate() {
        let Some(&source) = locations.get(index) else {
            continue;
        };
        for (number, assignment) in template.assignments.iter().enumerate() {
            let same = |other: &&Assignment<'_>| other.name == assignment.name;
            let earlier = template
                .assignments
                .iter()
                .take(number)
                .filter(same)
                .count();
            let name = if template.assignments.iter().filter(same).count() > 1 {
                format!("{prefix}{}.{}.{earlier}", template.name, assignment.name)
            } else {
                format!("{prefix}{}.{}", template.name, assignment.name)
            };
            relationship(
                topology,
                &mut service.graph,
                source,
                &locations,
                name,
                assignment,
            );
            mentions.requirement(&mut service.graph, template, assignment);
        }
    }
}

fn relationship(
    topology: &Topology<'_, '_>,
    graph: &mut LocationGraph,
    source: LocationId,
    locations: &[LocationId],
    name: String,
    assignment: &Assignment<'_>,
) {
    let kind = match assignment.relationship {
        Some(ty) if is_host(topology, ty) => RoleKind::Containment,
        Some(ty) if connects(topology, ty) => RoleKind::Connection,
        _ => RoleKind::Dependency,
    };
    let target = match assignment.target {
        Target::Node(target) => locations.get(target).copied(),
        _ => None,
    };
    let Some(target) = target else {
        // Whatever meets it is not known: a role that is required, and provided by nobody yet.
        let role = graph.add_role(kind, assignment.name.clone(), assignment.span);
        graph.require(source, role);
        return;
    };
    let sort = assignment
        .relationship
        .map(|ty| topology.model.name(ty).clone());
    let sort = sort.unwrap_or_else(|| "relationship".into());
    let between = graph.add_location(Location::new(name, sort, assignment.span));
    graph.bind(
        between,
        source,
        kind,
        assignment.name.clone(),
        assignment.span,
    );
    let capability = assignment
        .capability
        .as_ref()
        .map(|capability| capability.name.clone());
    let capability = capability.unwrap_or_else(|| "feature".into());
    graph.bind(target, between, kind, capability, assignment.target_span);
}

fn connects(topology: &Topology<'_, '_>, ty: TypeId) -> bool {
    let model = topology.model;
    model
        .ancestors(ty)
        .any(|at| model.name(at).ends_with("ConnectsTo"))
}

fn sort(topology: &Topology<'_, '_>, ty: Option<TypeId>, node: &Node) -> Arc<str> {
    match ty {
        Some(ty) => topology.model.name(ty).clone(),
        None => node
            .get("type")
            .and_then(Node::text)
            .cloned()
            .unwrap_or_else(|| "unknown".into()),
    }
}

/// The value of a property; what is not known is a symbol, the one of an input where it is that input.
fn known(
    topology: &Topology<'_, '_>,
    graph: &mut LocationGraph,
    (inputs, mentions): (
        &FxHashMap<Arc<str>, locus_core::value::SymbolId>,
        &Mentions<'_, '_, '_>,
    ),
    (name, span): (&Arc<str>, Span),
    value: &Val,
    node: Option<&Node>,
) -> Value {
    if let (Val::Unknown, Some(call)) =
        (value, node.and_then(|node| call(node, topology.version())))
        && let ("get_input", [word]) = (call.name, call.list())
        && let Some(symbol) = word.as_str().and_then(|word| inputs.get(word))
    {
        return Value::Symbolic(*symbol);
    }
    let depends = match value.is_known() {
        true => Vec::new(),
        false => node.map(|node| mentions.of(node)).unwrap_or_default(),
    };
    let mut unknown = || {
        Value::Symbolic(graph.add_symbol(Symbol {
            name: name.clone(),
            kind: SymbolKind::Computed,
            domain: Domain::of(ValueType::Any),
            span,
            default: None,
            depends: depends.clone(),
        }))
    };
    value.to_value(span, &mut unknown)
}

/// The value that an input has when it is not given, where that is known.
fn default_of(input: &Input<'_>) -> Option<Item> {
    let default = input.default.as_ref().filter(|value| value.is_known())?;
    let span = input.property.span;
    let value = default.to_value(span, &mut || Value::Null);
    Some(Item::new(value, span))
}
