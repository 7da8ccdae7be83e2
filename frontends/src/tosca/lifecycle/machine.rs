//! A deployment automaton, as a policy gives it.

use locus_core::{Diagnostic, Span, suggest};

use crate::yaml::{Node, Schema as Yaml, Typed};

/// A port that is active in a state, how many bindings it needs or takes, and where that is written.
#[derive(Clone, Debug)]
pub(super) struct Port {
    pub name: String,
    pub number: u64,
    pub span: Span,
}

/// What is active in a state.
#[derive(Clone, Debug, Default)]
pub(super) struct Activation {
    pub state: String,
    pub provides: Vec<Port>,
    pub requires: Vec<Port>,
}

/// A deployment automaton.
#[derive(Clone, Debug, Default)]
pub(super) struct Machine {
    states: Vec<String>,
    initial: String,
    finals: Vec<(String, Span)>,
    transitions: Vec<(String, String)>,
    pub activations: Vec<Activation>,
}

impl Machine {
    /// Reads an automaton, and tells what is wrong with it; none when a part of it is not known.
    pub(super) fn read(properties: &Node, diagnostics: &mut Vec<Diagnostic>) -> Option<Self> {
        let texts = |key: &str| -> Option<Vec<(String, Span)>> {
            let items = properties.get(key)?.as_sequence()?.iter();
            items
                .map(|item| Some((item.as_str()?.to_owned(), item.used_at())))
                .collect()
        };
        let states: Vec<String> = texts("states")?.into_iter().map(|(name, _)| name).collect();
        let mut machine = Machine::default();
        let mut sound = true;
        let mut known = |name: &str, span: Span| {
            let found = states.iter().any(|state| state == name);
            if !found {
                let near = suggest::did_you_mean(name, states.iter().map(String::as_str));
                let message = format!("there is no state `{name}`");
                let diagnostic = Diagnostic::error("tosca-lifecycle", message);
                diagnostics.push(diagnostic.maybe_help(near).at(span));
                sound = false;
            }
        };
        let initial = properties.get("initial")?;
        machine.initial = initial.as_str()?.to_owned();
        known(&machine.initial, initial.used_at());
        machine.finals = texts("final")?;
        for (name, span) in &machine.finals {
            known(name, *span);
        }
        let items = |key: &str| {
            properties
                .get(key)
                .and_then(Node::as_sequence)
                .unwrap_or_default()
        };
        for item in items("transitions") {
            let (from, to) = (item.get("from")?, item.get("to")?);
            known(from.as_str()?, from.used_at());
            known(to.as_str()?, to.used_at());
            let pair = (from.as_str()?.to_owned(), to.as_str()?.to_owned());
            machine.transitions.push(pair);
        }
        for item in items("activations") {
            let state = item.get("state")?;
            known(state.as_str()?, state.used_at());
            machine.activations.push(Activation {
                state: state.as_str()?.to_owned(),
                provides: ports(item.get("provides"))?,
                requires: ports(item.get("requires"))?,
            });
        }
        machine.states = states;
        if !sound {
            return None;
        }
        let reached = machine.reached();
        machine.finals.retain(|(name, span)| {
            let found = reached.contains(name);
            if !found {
                let message = format!(
                    "the final state `{name}` cannot be reached from `{}`",
                    machine.initial
                );
                diagnostics.push(Diagnostic::error("tosca-lifecycle", message).at(*span));
            }
            found
        });
        (!machine.finals.is_empty()).then_some(machine)
    }

    /// The states that transitions lead to from the first one.
    fn reached(&self) -> Vec<String> {
        let mut reached = vec![self.initial.clone()];
        let mut at = 0;
        while let Some(state) = reached.get(at).cloned() {
            for (from, to) in &self.transitions {
                if *from == state && !reached.contains(to) {
                    reached.push(to.clone());
                }
            }
            at += 1;
        }
        reached
    }

    /// The states in which it may end, with what is active in each.
    pub(super) fn ends(&self) -> Vec<Activation> {
        let ends = self.finals.iter().map(|(name, _)| {
            let mut end = Activation {
                state: name.clone(),
                ..Activation::default()
            };
            for activation in self.activations.iter().filter(|known| known.state == *name) {
                end.provides.extend(activation.provides.iter().cloned());
                end.requires.extend(activation.requires.iter().cloned());
            }
            end
        });
        ends.collect()
    }
}

fn ports(node: Option<&Node>) -> Option<Vec<Port>> {
    let Some(map) = node.and_then(Node::as_mapping) else {
        return Some(Vec::new());
    };
    let ports = map.named().map(|(name, entry)| {
        let Typed::Int(number) = entry.value.typed(Yaml::Core)? else {
            return None;
        };
        Some(Port {
            name: name.to_string(),
            number: u64::try_from(number.to_i64()?).ok()?,
            span: entry.key.span,
        })
    });
    ports.collect()
}
