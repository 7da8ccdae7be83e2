//! What the search for targets found, as facts.

use locus_core::facts::AtomId;
use locus_core::{Diagnostic, Severity, Span};

use super::Builder;
use crate::tosca::grammar::TypeKind;
use crate::tosca::model::{entries, ordered};
use crate::tosca::topology::Topology;
use crate::tosca::topology::search::Search;
use crate::tosca::vocabulary::{field, sig_id};

impl Builder<'_, '_, '_> {
    /// The atom of a condition.
    pub(super) fn reason(&mut self, span: Span, text: &str) -> AtomId {
        let atom = self.facts.atom(sig_id!("Reason"), text, span);
        self.say_text(field!("Reason", "text"), atom, text, span);
        atom
    }

    /// The name of a requirement with that of its node.
    fn full_name(&self, node: usize, number: usize) -> String {
        let Some(template) = self.topology.nodes.get(node) else {
            return String::new();
        };
        let assignment = template.assignments.get(number);
        let name = assignment.map_or("", |assignment| assignment.name);
        format!("{}.{name}", template.name)
    }

    /// Where the target of a requirement is named.
    fn place(&self, node: usize, number: usize) -> Span {
        let template = self.topology.nodes.get(node);
        let assignment = template.and_then(|template| template.assignments.get(number));
        assignment.map_or(self.topology.node.span, |known| known.target_span)
    }

    /// States candidates, reasons and shortages.
    pub(super) fn found(&mut self, search: &Search<'_>) {
        for open in &search.opens {
            let Some(&atom) = self.assigned.get(&(open.node, open.number)) else {
                continue;
            };
            let mut last = None;
            for pair in &open.fits {
                if last == Some(pair.node) {
                    continue;
                }
                last = Some(pair.node);
                if let Some(&node) = self.nodes.get(pair.node) {
                    let field = field!("Assignment", "candidates");
                    self.facts.tuple(field, &[atom, node]);
                }
            }
            let numbered = [
                field!("Assignment", "first_reason"),
                field!("Assignment", "second_reason"),
                field!("Assignment", "third_reason"),
            ];
            for (at, (span, text)) in open.because.iter().enumerate() {
                let reason = self.reason(*span, text);
                let field = field!("Assignment", "reasons");
                self.facts.tuple(field, &[atom, reason]);
                if let Some(&field) = numbered.get(at) {
                    self.facts.tuple_at(field, &[atom, reason], *span);
                }
            }
        }
        for shortage in &search.shortages {
            let members: Vec<_> = shortage
                .members
                .iter()
                .filter_map(|&at| search.opens.get(at))
                .collect();
            let Some(first) = members.first() else {
                continue;
            };
            let span = self.place(first.node, first.number);
            let atom = self.facts.atom(sig_id!("Shortage"), "shortage", span);
            for open in &members {
                if let Some(&member) = self.assigned.get(&(open.node, open.number)) {
                    self.facts
                        .tuple(field!("Shortage", "members"), &[atom, member]);
                }
                let name = self.full_name(open.node, open.number);
                self.say_text(field!("Shortage", "names"), atom, &name, span);
            }
            let mut nodes: Vec<usize> = members
                .iter()
                .flat_map(|open| &open.fits)
                .map(|pair| pair.node)
                .collect();
            nodes.sort_unstable();
            nodes.dedup();
            for node in nodes {
                if let Some(&node) = self.nodes.get(node) {
                    self.facts.tuple(field!("Shortage", "nodes"), &[atom, node]);
                }
            }
            self.say_number(field!("Shortage", "wanted"), atom, shortage.wanted, span);
            if let Some(places) = shortage.places {
                self.say_number(field!("Shortage", "places"), atom, places, span);
            }
            self.say(
                field!("Shortage", "internal"),
                atom,
                shortage.internal,
                span,
            );
        }
        for over in &search.over {
            let capability = (over.node, over.capability.clone());
            let capability = self.capabilities.get(&capability).copied();
            let (Some(&(node, number)), Some(capability)) = (over.by.last(), capability) else {
                continue;
            };
            let span = self.place(node, number);
            let atom = self
                .facts
                .atom(sig_id!("Allocation"), over.property.clone(), span);
            let field = field!("Allocation", "capability");
            self.facts.tuple(field, &[atom, capability]);
            self.say_text(field!("Allocation", "property"), atom, &over.property, span);
            self.say_text(field!("Allocation", "there"), atom, &over.there, span);
            self.say(field!("Allocation", "enough"), atom, false, span);
            for (node, number) in &over.by {
                let name = self.full_name(*node, *number);
                self.say_text(field!("Allocation", "names"), atom, &name, span);
            }
        }
    }

    /// Workflows that stand for standard ones, and the nodes that they reach.
    pub(super) fn workflows(&mut self) {
        let topology = self.topology;
        for (name, entry) in entries(topology.node.get("workflows")) {
            if !matches!(&**name, "deploy" | "undeploy") {
                continue;
            }
            let steps = topology.steps.iter().filter(|step| step.workflow == name);
            let targets: Option<Vec<usize>> = steps.map(|step| step.target).collect();
            // A step about a group, or about something that is not known, may reach any node.
            let Some(targets) = targets.filter(|targets| !targets.is_empty()) else {
                continue;
            };
            let span = entry.key.span;
            let atom = self.facts.atom(sig_id!("Workflow"), name.clone(), span);
            self.say_text(field!("Workflow", "name"), atom, name, span);
            for target in targets {
                if let Some(&node) = self.nodes.get(target) {
                    self.facts
                        .tuple(field!("Workflow", "reaches"), &[atom, node]);
                }
            }
        }
    }

    /// The requirements that the types of these files define, for what is said of them alone.
    pub(super) fn definitions(&mut self) {
        let model = self.topology.model;
        let capabilities: Vec<_> = model
            .names
            .ids()
            .filter(|&id| model.names.get(id).kind == TypeKind::Capability && model.is_closed(id))
            .collect();
        let types: Vec<_> = model
            .names
            .ids()
            .filter(|&id| {
                let ty = model.names.get(id);
                ty.kind == TypeKind::Node && !model.file(ty.file).builtin && model.is_closed(id)
            })
            .collect();
        for id in types {
            let flat = model.flat(id);
            for requirement in &flat.requirements {
                // What is inherited is said of the type that it comes from.
                let written = ordered(model.names.get(id).node.get("requirements"));
                let own = written.iter().any(|(name, entry)| {
                    **name == requirement.name
                        && entry.value.get("capability").is_some()
                        && entry.value.get("relationship").is_some()
                });
                let (Some(wanted), Some(relationship)) =
                    (requirement.capability, requirement.relationship)
                else {
                    continue;
                };
                let admits = model.flat(relationship).valid_capabilities.clone();
                let (Some(admits), true) = (admits.types.filter(|_| !admits.open), own) else {
                    continue;
                };
                let owner = self.ty(id);
                let Some(owner) = owner else { continue };
                let span = requirement.span;
                let atom = self
                    .facts
                    .atom(sig_id!("Definition"), requirement.name.clone(), span);
                self.say_text(field!("Definition", "name"), atom, &requirement.name, span);
                self.facts
                    .tuple(field!("Definition", "owner"), &[atom, owner]);
                self.say_type(field!("Definition", "wanted"), atom, Some(wanted));
                self.say_type(
                    field!("Definition", "relationship"),
                    atom,
                    Some(relationship),
                );
                for &capability in &capabilities {
                    let mut admitted = admits.iter();
                    if !admitted.any(|&from| model.derives(capability, from) == Some(true)) {
                        continue;
                    }
                    self.say_type(field!("Definition", "possible"), atom, Some(capability));
                    if model.derives(capability, wanted) == Some(true) {
                        self.say_type(field!("Definition", "left"), atom, Some(capability));
                    }
                }
            }
        }
    }
}

/// The nodes that each open requirement can be met by, for those who ask.
pub(super) fn choices(topology: &Topology<'_, '_>, search: &Search<'_>) -> Vec<Diagnostic> {
    let mut told = Vec::new();
    for (at, open) in search.opens.iter().enumerate() {
        let Some(template) = topology.nodes.get(open.node) else {
            continue;
        };
        let Some(assignment) = template.assignments.get(open.number) else {
            continue;
        };
        let choices = search.choices.get(at).map_or(&[][..], Vec::as_slice);
        let mut names: Vec<String> = choices
            .iter()
            .filter_map(|&node| Some(format!("`{}`", topology.nodes.get(node)?.name)))
            .collect();
        names.dedup();
        let message = match names.as_slice() {
            [] => continue,
            [one] => format!(
                "`{}.{}` can be met by {one} alone",
                template.name, assignment.name
            ),
            [all @ .., last] => format!(
                "`{}.{}` can be met by {} or {last}",
                template.name,
                assignment.name,
                all.join(", ")
            ),
        };
        let diagnostic = Diagnostic::new(Severity::Info, "tosca-choice", message);
        told.push(diagnostic.at(assignment.target_span));
    }
    told
}
