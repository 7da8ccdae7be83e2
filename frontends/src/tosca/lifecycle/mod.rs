//! Lifecycles: whether all nodes can be in a final state of their automata at once.
//!
//! A policy of type `locus.policies.Lifecycle` gives its targets an automaton: states, transitions, and for each state the
//! capabilities that are provided and the requirements that must be bound in it. A node without one has the standard lifecycle:
//! started in the end, with its capabilities there and its requirements bound. Whether that state can be reached is asked of each
//! automaton alone; in what order is for whoever plans the deployment.

mod machine;

use std::cell::Cell;

use locus_core::{Diagnostic, Span, suggest};

use super::model::ordered;
use super::topology::{Member, Target, Topology};
use machine::{Activation, Machine, Port};

/// The policy type that gives an automaton.
const POLICY: &str = "locus.policies.Lifecycle";
/// How often the search may try something before it gives up.
const STEPS: u32 = 200_000;

/// Checks the lifecycles that policies give; an error when the search gave up.
pub(super) fn check(
    topology: &Topology<'_, '_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<(), Span> {
    let mut machines: Vec<Option<(Machine, Span)>> = vec![None; topology.nodes.len()];
    let mut any = None;
    for (policy, (_, entry)) in topology
        .policies
        .iter()
        .zip(ordered(topology.node.get("policies")))
    {
        let model = topology.model;
        let is_one = policy
            .ty
            .is_some_and(|ty| model.ancestors(ty).any(|at| &**model.name(at) == POLICY));
        if !is_one {
            continue;
        }
        any = Some(policy.span);
        let Some(properties) = entry.value.get("properties") else {
            continue;
        };
        let Some(machine) = Machine::read(properties, diagnostics) else {
            return Ok(());
        };
        for &(member, span) in &policy.members {
            for node in nodes_of(topology, member) {
                ports_exist(topology, node, &machine, diagnostics);
                match machines.get_mut(node) {
                    Some(Some((_, other))) => {
                        let message = "this node has a lifecycle already";
                        let diagnostic = Diagnostic::error("tosca-lifecycle", message);
                        diagnostics.push(diagnostic.related(*other, "the other one").at(span));
                    }
                    Some(slot) => *slot = Some((machine.clone(), policy.span)),
                    None => {}
                }
            }
        }
    }
    let Some(span) = any else { return Ok(()) };
    let ends: Vec<Vec<Activation>> = machines
        .iter()
        .enumerate()
        .map(|(node, machine)| match machine {
            Some((machine, _)) => machine.ends(),
            None => vec![standard(topology, node)],
        })
        .collect();
    let problem = Problem {
        conditions: conditions(topology, &ends),
        topology,
        ends,
    };
    match problem.core() {
        Ok(None) => Ok(()),
        Ok(Some(core)) => {
            diagnostics.push(problem.told(&core));
            Ok(())
        }
        Err(()) => Err(span),
    }
}

fn nodes_of(topology: &Topology<'_, '_>, member: Member) -> Vec<usize> {
    match member {
        Member::Node(node) => vec![node],
        Member::Group(group) => {
            let members = topology
                .groups
                .get(group)
                .map_or(&[][..], |group| &group.members);
            let nodes = members.iter().filter_map(|(member, _)| match member {
                Member::Node(node) => Some(*node),
                Member::Group(_) => None,
            });
            nodes.collect()
        }
    }
}

/// The ports of an automaton are capabilities and requirements of its node.
fn ports_exist(
    topology: &Topology<'_, '_>,
    node: usize,
    machine: &Machine,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Some(template) = topology
        .nodes
        .get(node)
        .filter(|template| !template.flat.open)
    else {
        return;
    };
    let capabilities: Vec<&str> = template
        .flat
        .capabilities
        .iter()
        .map(|known| &*known.name)
        .collect();
    let requirements: Vec<&str> = template
        .flat
        .requirements
        .iter()
        .map(|known| &*known.name)
        .collect();
    for activation in &machine.activations {
        let provided = activation
            .provides
            .iter()
            .map(|port| (port, &capabilities, "capability"));
        let required = activation
            .requires
            .iter()
            .map(|port| (port, &requirements, "requirement"));
        for (port, known, what) in provided.chain(required) {
            // What is required zero times must not be there, and need not be known.
            let conflict = what == "requirement" && port.number == 0;
            if !conflict && !known.contains(&port.name.as_str()) {
                let message = format!("`{}` has no {what} `{}`", template.name, port.name);
                let near = suggest::did_you_mean(&port.name, known.iter().copied());
                let diagnostic = Diagnostic::error("tosca-lifecycle", message);
                diagnostics.push(diagnostic.maybe_help(near).at(port.span));
            }
        }
    }
}

/// What is active at the end of the standard lifecycle.
fn standard(topology: &Topology<'_, '_>, node: usize) -> Activation {
    let mut end = Activation {
        state: "started".to_owned(),
        ..Activation::default()
    };
    let Some(template) = topology.nodes.get(node) else {
        return end;
    };
    end.provides = template
        .flat
        .capabilities
        .iter()
        .map(|capability| Port {
            name: capability.name.to_string(),
            number: capability.occurrences.most.unwrap_or(0),
            span: template.span,
        })
        .collect();
    for assignment in &template.assignments {
        if !matches!(assignment.target, Target::Node(target) if target != node) {
            continue;
        }
        let known = end
            .requires
            .iter_mut()
            .find(|port| port.name == **assignment.name);
        match known {
            Some(port) => port.number += 1,
            None => end.requires.push(Port {
                name: assignment.name.to_string(),
                number: 1,
                span: assignment.span,
            }),
        }
    }
    // Two assignments to one node are one binding partner.
    for port in &mut end.requires {
        port.number = port
            .number
            .min(targets(topology, node, &port.name).len() as u64);
    }
    end
}

/// The distinct nodes that a requirement leads to, with the capabilities used.
fn targets(
    topology: &Topology<'_, '_>,
    node: usize,
    requirement: &str,
) -> Vec<(usize, Option<String>)> {
    let mut targets: Vec<(usize, Option<String>)> = Vec::new();
    let assignments = topology
        .nodes
        .get(node)
        .map_or(&[][..], |node| &node.assignments);
    for assignment in assignments
        .iter()
        .filter(|known| &**known.name == requirement)
    {
        if let Target::Node(target) = assignment.target
            && target != node
            && !targets.iter().any(|(known, _)| *known == target)
        {
            let capability = assignment
                .capability
                .as_ref()
                .map(|known| known.name.to_string());
            targets.push((target, capability));
        }
    }
    targets
}

/// Something that must hold when a node is in one of its final states.
struct Condition {
    node: usize,
    end: usize,
    port: Port,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// At least so many partners that provide it.
    Needs,
    /// Nobody else may provide it.
    Conflict,
    /// At most so many partners that use it.
    Serves,
}

fn conditions(topology: &Topology<'_, '_>, ends: &[Vec<Activation>]) -> Vec<Condition> {
    let mut conditions = Vec::new();
    for (node, ends) in ends.iter().enumerate() {
        // What is behind a type that is not known is not known either.
        if topology
            .nodes
            .get(node)
            .is_none_or(|template| template.flat.open)
        {
            continue;
        }
        for (end, activation) in ends.iter().enumerate() {
            let required = activation.requires.iter().map(|port| {
                let kind = if port.number == 0 {
                    Kind::Conflict
                } else {
                    Kind::Needs
                };
                (port, kind)
            });
            let limited = activation.provides.iter().filter(|port| port.number > 0);
            let limited = limited.map(|port| (port, Kind::Serves));
            conditions.extend(required.chain(limited).map(|(port, kind)| Condition {
                node,
                end,
                port: port.clone(),
                kind,
            }));
        }
    }
    conditions
}

struct Problem<'p, 't, 'a> {
    topology: &'p Topology<'t, 'a>,
    ends: Vec<Vec<Activation>>,
    conditions: Vec<Condition>,
}

impl Problem<'_, '_, '_> {
    fn end(&self, chosen: &[usize], node: usize) -> Option<&Activation> {
        self.ends.get(node)?.get(*chosen.get(node)?)
    }

    fn provides(&self, chosen: &[usize], node: usize, capability: &str) -> bool {
        let open = self
            .topology
            .nodes
            .get(node)
            .is_none_or(|template| template.flat.open);
        let end = self.end(chosen, node);
        open || end.is_some_and(|end| end.provides.iter().any(|port| port.name == capability))
    }

    /// Whether a condition holds when every node is in the final state that was chosen for it.
    fn holds(&self, condition: &Condition, chosen: &[usize]) -> bool {
        let Condition {
            node,
            end,
            port,
            kind,
        } = condition;
        if chosen.get(*node) != Some(end) {
            return true;
        }
        match kind {
            Kind::Needs => {
                let partners = targets(self.topology, *node, &port.name);
                let serving = partners
                    .iter()
                    .filter(|(target, capability)| match capability {
                        Some(capability) => self.provides(chosen, *target, capability),
                        None => true,
                    });
                serving.count() as u64 >= port.number || self.is_open(*node, &port.name)
            }
            Kind::Conflict => (0..self.ends.len()).all(|other| {
                let end = self.end(chosen, other);
                other == *node
                    || end
                        .is_none_or(|end| end.provides.iter().all(|known| known.name != port.name))
            }),
            Kind::Serves => {
                let mut users = 0_u64;
                for (other, template) in self.topology.nodes.iter().enumerate() {
                    let Some(end) = self.end(chosen, other) else {
                        continue;
                    };
                    let uses = template.assignments.iter().any(|assignment| {
                        let capability = assignment.capability.as_ref();
                        assignment.target == Target::Node(*node)
                            && capability.is_some_and(|known| *known.name == *port.name)
                            && end
                                .requires
                                .iter()
                                .any(|known| known.name == **assignment.name)
                    });
                    users += u64::from(uses && other != *node);
                }
                users <= port.number
            }
        }
    }

    /// Whether a requirement may be met by what is not known, or outside.
    fn is_open(&self, node: usize, requirement: &str) -> bool {
        let assignments = self
            .topology
            .nodes
            .get(node)
            .map_or(&[][..], |node| &node.assignments);
        let mut own = assignments
            .iter()
            .filter(|known| &**known.name == requirement);
        own.any(|known| !matches!(known.target, Target::Node(_)))
    }

    /// Whether final states can be chosen such that some conditions hold; an error when too much was tried.
    fn possible(&self, conditions: &[&Condition]) -> Result<bool, ()> {
        let steps = Cell::new(STEPS);
        let mut chosen = vec![0; self.ends.len()];
        let free: Vec<usize> = (0..self.ends.len())
            .filter(|&node| self.ends.get(node).is_some_and(|ends| ends.len() > 1))
            .collect();
        self.choose(&free, &mut chosen, conditions, &steps)
    }

    fn choose(
        &self,
        free: &[usize],
        chosen: &mut [usize],
        conditions: &[&Condition],
        steps: &Cell<u32>,
    ) -> Result<bool, ()> {
        steps.set(steps.get().checked_sub(1).ok_or(())?);
        let Some((&node, rest)) = free.split_first() else {
            return Ok(conditions
                .iter()
                .all(|condition| self.holds(condition, chosen)));
        };
        for end in 0..self.ends.get(node).map_or(0, Vec::len) {
            if let Some(slot) = chosen.get_mut(node) {
                *slot = end;
            }
            if self.choose(rest, chosen, conditions, steps)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The fewest conditions that cannot hold together.
    fn core(&self) -> Result<Option<Vec<&Condition>>, ()> {
        let mut core: Vec<&Condition> = self.conditions.iter().collect();
        if self.possible(&core)? {
            return Ok(None);
        }
        let mut at = 0;
        while at < core.len() {
            let mut without = core.clone();
            without.remove(at);
            if self.possible(&without)? {
                at += 1;
            } else {
                core = without;
            }
        }
        Ok(Some(core))
    }

    /// What makes a condition hard to hold: who uses a capability, who provides it, or who does not.
    fn against(&self, condition: &Condition) -> Vec<(Span, String)> {
        let Condition {
            node, port, kind, ..
        } = condition;
        let nodes = self.topology.nodes.iter().enumerate();
        match kind {
            Kind::Serves => nodes
                .filter(|(other, _)| other != node)
                .flat_map(|(_, template)| {
                    let uses = template.assignments.iter().filter(|assignment| {
                        let capability = assignment.capability.as_ref();
                        assignment.target == Target::Node(*node)
                            && capability.is_some_and(|known| *known.name == *port.name)
                    });
                    let text = format!("`{}` uses it", template.name);
                    uses.map(move |assignment| (assignment.span, text.clone()))
                })
                .collect(),
            Kind::Conflict => nodes
                .filter(|(other, _)| other != node)
                .filter_map(|(other, template)| {
                    let mut ends = self.ends.get(other)?.iter();
                    let provided = ends.find_map(|end| {
                        let mut provides = end.provides.iter();
                        provides.find(|known| known.name == port.name)
                    })?;
                    let text = format!("`{}` provides `{}`", template.name, port.name);
                    Some((provided.span, text))
                })
                .collect(),
            Kind::Needs => targets(self.topology, *node, &port.name)
                .into_iter()
                .filter_map(|(target, capability)| {
                    let capability = capability?;
                    let template = self.topology.nodes.get(target)?;
                    let mut ends = self.ends.get(target)?.iter();
                    let lacks = ends.any(|end| {
                        let mut provides = end.provides.iter();
                        provides.all(|known| known.name != capability)
                    });
                    let text = format!(
                        "`{}` does not provide `{capability}` in every final state",
                        template.name
                    );
                    lacks.then_some((template.span, text))
                })
                .collect(),
        }
    }

    fn told(&self, core: &[&Condition]) -> Diagnostic {
        let name = |node: usize| {
            self.topology
                .nodes
                .get(node)
                .map_or("", |template| template.name)
        };
        let mut names: Vec<String> = core
            .iter()
            .map(|one| format!("`{}`", name(one.node)))
            .collect();
        names.dedup();
        let message = format!(
            "the nodes cannot all be in a final state: what {} {} cannot hold",
            names.join(", "),
            if names.len() == 1 {
                "needs"
            } else {
                "need together"
            }
        );
        let mut diagnostic = Diagnostic::error("tosca-lifecycle", message);
        for condition in core {
            let Condition {
                node,
                end,
                port,
                kind,
            } = condition;
            let state = self.ends.get(*node).and_then(|ends| ends.get(*end));
            let state = state.map_or("", |state| state.state.as_str());
            let text = match kind {
                Kind::Needs => format!(
                    "`{}` needs {} of `{}` in `{state}`",
                    name(*node),
                    port.number,
                    port.name
                ),
                Kind::Conflict => format!(
                    "`{}` allows nobody else to provide `{}` in `{state}`",
                    name(*node),
                    port.name
                ),
                Kind::Serves => format!(
                    "`{}` serves at most {} by `{}` in `{state}`",
                    name(*node),
                    port.number,
                    port.name
                ),
            };
            diagnostic = shown(diagnostic, port.span, text);
        }
        // What stands against them, where it is written.
        let mut told: Vec<Span> = core.iter().map(|condition| condition.port.span).collect();
        for condition in core {
            for (span, text) in self.against(condition) {
                if !told.contains(&span) {
                    told.push(span);
                    diagnostic = shown(diagnostic, span, text);
                }
            }
        }
        diagnostic.help("change what is active in a final state, or the nodes that are bound")
    }
}

/// Adds what is written somewhere to a message: beside its first place, or where another file has it.
fn shown(diagnostic: Diagnostic, span: Span, text: String) -> Diagnostic {
    match diagnostic.primary() {
        Some(first) if first.file != span.file => diagnostic.related(span, text),
        _ => diagnostic.label(span, text),
    }
}
