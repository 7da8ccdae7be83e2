//! Facts about the text of a template, stated once however often it is used.

use std::sync::Arc;

use locus_core::facts::AtomId;
use locus_core::value::{Constraint, Value};
use locus_core::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use super::constraint::{is_beyond, words};
use super::data::language;
use super::engine::{Engine, Prepared, TemplateAtoms};
use super::parameter::{Parameter, convert};
use super::vocabulary::{field, sig, subset};
use crate::yaml::Node;

/// Names that show that a value is secret.
const SECRET_NAMES: [&str; 7] = [
    "password",
    "passwd",
    "secret",
    "private_key",
    "api_key",
    "apikey",
    "token",
];

/// Whether a name is one that secrets have.
pub(super) fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase();
    // A length of a password or the name of a secret is none itself.
    let about = [
        "_length", "_name", "_id", "_url", "_type", "_policy", "_ref", "_file", "_path",
    ];
    !about.iter().any(|end| name.ends_with(end))
        && SECRET_NAMES.iter().any(|word| name.contains(word))
}

/// The name of what a line of a script or of a configuration sets to a secret in plain text.
fn secret_assignment(line: &str, placeholders: &[&str]) -> Option<String> {
    let line = line.trim();
    let (name, value) = line.split_once(['=', ':'])?;
    let name = name
        .trim()
        .rsplit([' ', '\t'])
        .next()?
        .trim_matches(['"', '\'']);
    let value = value.trim().trim_matches(['"', '\'']);
    let computed = value.is_empty()
        || value.starts_with(['$', '{', '<', '%', '`', '*', '&', '|', '>', '/', '='])
        || matches!(value, "true" | "false" | "True" | "False")
        || placeholders.iter().any(|known| value.contains(known));
    let comment = line.starts_with('#');
    (!computed && !comment && is_secret_name(name)).then(|| name.to_owned())
}

impl Engine<'_> {
    /// Credentials that a start-up script spells out.
    pub(super) fn secret_script(&mut self, key: Option<&Arc<str>>, node: &Node) {
        if !key.is_some_and(|key| matches!(&**key, "user_data" | "UserData")) {
            return;
        }
        // The text itself, or the template of a replacement with its placeholders.
        let call = node
            .as_mapping()
            .and_then(|mapping| match mapping.entries.as_slice() {
                [entry] if entry.name().is_some_and(|n| n.starts_with("str_replace")) => {
                    Some(&entry.value)
                }
                _ => None,
            });
        let text = call.and_then(|arg| arg.get("template")).unwrap_or(node);
        let params = call
            .and_then(|arg| arg.get("params"))
            .and_then(Node::as_mapping);
        let placeholders: Vec<&str> = params
            .into_iter()
            .flat_map(|params| params.named().map(|(name, _)| &**name))
            .collect();
        if text.text().is_none() {
            return;
        }
        let written: Arc<str> = self.sources.snippet(text.span).into();
        let mut at = text.span.start as usize;
        for line in written.split_inclusive('\n') {
            if let Some(name) = secret_assignment(line, &placeholders) {
                let indent = line.len() - line.trim_start().len();
                let end = at + line.trim_end().len();
                let span = Span::new(text.span.file, at + indent, end);
                self.facts.atom(sig!("PlainSecret"), name, span);
            }
            at += line.len();
        }
    }

    /// States what a template says about itself, and gives the atoms of its parts.
    pub(super) fn static_facts(&mut self, prepared: &Arc<Prepared>) -> TemplateAtoms {
        let template = &prepared.template;
        let start = Span::start_of(template.file);
        let span = template
            .version
            .as_ref()
            .map_or(start, |version| version.text.span);
        let name: Arc<str> = self.sources.name(template.file).into();
        let atom = self.facts.atom(sig!("Template"), name, span);
        if template.partial {
            self.facts.mark(atom, subset!("PartialTemplate"));
        }
        if let Some(version) = &template.version {
            let text = &version.text;
            let id = self
                .facts
                .atom(sig!("Version"), text.text.clone(), text.span);
            if version.known {
                self.facts.mark(id, subset!("KnownVersion"));
            } else if language().documented_only(&text.text) {
                self.facts.mark(id, subset!("DocumentedVersion"));
            }
            self.facts.tuple(field!("Template", "version"), &[atom, id]);
        }
        for key in template.keys.iter().filter(|key| !key.allowed) {
            let place = self.place(key.place, key.span);
            let id = self
                .facts
                .atom(sig!("ForeignKey"), key.name.clone(), key.span);
            self.facts
                .tuple(field!("ForeignKey", "place"), &[id, place]);
            let info = template.info;
            let allowed: &[String] = match key.place {
                "template" => &info.sections,
                "resource" => &info.resource_keys,
                "output" => &info.output_keys,
                "parameter" => &info.parameter_keys,
                "parameter group" => &language().parameter_group_keys,
                _ => &[],
            };
            self.suggest(
                field!("ForeignKey", "meant"),
                id,
                &key.name,
                allowed.iter().map(String::as_str),
            );
        }
        self.repeated_keys(prepared);
        let mut atoms = TemplateAtoms {
            template: Some(atom),
            ..TemplateAtoms::default()
        };
        for parameter in &prepared.parameters {
            let id = self.parameter_facts(parameter);
            self.facts
                .tuple(field!("Template", "parameters"), &[atom, id]);
            atoms.parameters.push(id);
        }
        for condition in &template.conditions {
            let id = self
                .facts
                .atom(sig!("Condition"), condition.name.clone(), condition.span);
            self.facts
                .tuple(field!("Template", "conditions"), &[atom, id]);
            atoms.conditions.push(id);
        }
        for output in &template.outputs {
            let id = self
                .facts
                .atom(sig!("Output"), output.name.clone(), output.span);
            self.facts.tuple(field!("Template", "outputs"), &[atom, id]);
            atoms.outputs.push(id);
        }
        self.group_facts(prepared, atom, &atoms);
        atoms
    }

    fn repeated_keys(&mut self, prepared: &Prepared) {
        let keys = prepared.template.dialect.keys();
        for duplicate in &prepared.template.duplicates {
            let again =
                self.facts
                    .atom(sig!("RepeatedKey"), duplicate.name.clone(), duplicate.again);
            let first = self
                .facts
                .atom(sig!("FirstKey"), duplicate.name.clone(), duplicate.first);
            self.facts
                .tuple(field!("RepeatedKey", "first"), &[again, first]);
            if let [section] = duplicate.path.as_slice() {
                let place = match &**section {
                    s if s == keys.resources => "resource",
                    s if s == keys.parameters => "parameter",
                    s if s == keys.outputs => "output",
                    s if s == keys.conditions => "condition",
                    _ => continue,
                };
                let place = self.place(place, duplicate.again);
                self.facts
                    .tuple(field!("RepeatedKey", "names"), &[again, place]);
            }
        }
    }

    fn parameter_facts(&mut self, parameter: &Parameter) -> AtomId {
        let atom = self
            .facts
            .atom(sig!("Parameter"), parameter.name.clone(), parameter.span);
        let (text, span) = match &parameter.written_type {
            Some(text) => (text.text.clone(), text.span),
            None => ("".into(), parameter.span),
        };
        let ty = self.facts.atom(sig!("ParameterType"), text, span);
        self.facts.tuple(field!("Parameter", "type"), &[atom, ty]);
        if parameter.type_known {
            self.facts.mark(ty, subset!("KnownParameterType"));
        }
        if parameter.hidden {
            self.facts.mark(atom, subset!("HiddenParameter"));
        } else if is_secret_name(&parameter.name) {
            self.facts
                .atom(sig!("PlainSecret"), parameter.name.clone(), parameter.span);
        }
        let mut constraints = Vec::with_capacity(parameter.constraints.len());
        for constraint in &parameter.constraints {
            let kind = &constraint.kind;
            let id = self
                .facts
                .atom(sig!("ParameterConstraint"), kind.text.clone(), kind.span);
            self.facts
                .tuple(field!("Parameter", "constraints"), &[atom, id]);
            let kind_atom = self.constraint_kind(&kind.text, kind.span, constraint.known);
            self.facts
                .tuple(field!("ParameterConstraint", "kind"), &[id, kind_atom]);
            if constraint.fits {
                self.facts.mark(id, subset!("FittingConstraint"));
            }
            for bound in &constraint.bounds {
                let value = &bound.item.value;
                let bound_atom = self.facts.valued(
                    sig!("Bound"),
                    value.to_string(),
                    bound.item.span,
                    value.clone(),
                );
                match super::constraint::number(value) {
                    Some(Value::Int(_)) => self.facts.mark(bound_atom, subset!("IntegerBound")),
                    Some(_) => self.facts.mark(bound_atom, subset!("NumberBound")),
                    None => {}
                }
                let field = match bound.name {
                    "min" => field!("ParameterConstraint", "min"),
                    "max" => field!("ParameterConstraint", "max"),
                    "step" => field!("ParameterConstraint", "step"),
                    _ => field!("ParameterConstraint", "offset"),
                };
                self.facts.tuple(field, &[id, bound_atom]);
            }
            constraints.push(id);
        }
        if let Some(default) = &parameter.default {
            let id = self.parameter_value(parameter, default, &constraints, ty);
            self.facts
                .tuple(field!("Parameter", "default"), &[atom, id]);
        }
        atom
    }

    fn constraint_kind(&mut self, kind: &Arc<str>, span: Span, known: bool) -> AtomId {
        // One atom per kind, so that a rule can ask whether two constraints are of one kind.
        let file_start = Span::start_of(span.file);
        let fresh = !self
            .words
            .contains_key(&(sig!("ConstraintKind"), kind.clone(), file_start));
        let atom = self.word(sig!("ConstraintKind"), kind, file_start);
        if fresh && known {
            self.facts.mark(atom, subset!("KnownConstraintKind"));
        }
        atom
    }

    /// Whether a value breaks a constraint; where that cannot be decided, it is said.
    pub(super) fn breaks(&mut self, constraint: &Constraint, value: &Value, span: Span) -> bool {
        let holds = self.judge.holds(constraint, value);
        if holds.is_none() && is_beyond(constraint, value) && self.said.insert((span, "beyond")) {
            let message = format!("not checked whether this is {}", words(constraint));
            let help = "look-around and back-references are not decided here";
            self.unchecked.push(
                Diagnostic::warning("unchecked", message)
                    .at(span)
                    .help(help),
            );
        }
        holds == Some(false)
    }

    /// States a value that a parameter has, and how it compares with type and constraints.
    pub(super) fn parameter_value(
        &mut self,
        parameter: &Parameter,
        item: &locus_core::Item,
        constraints: &[AtomId],
        ty: AtomId,
    ) -> AtomId {
        let shown = if parameter.hidden {
            "(hidden)".to_owned()
        } else {
            item.value.to_string()
        };
        let id = self
            .facts
            .valued(sig!("ParameterValue"), shown, item.span, item.value.clone());
        match convert(parameter.ty, item) {
            None => self
                .facts
                .tuple(field!("ParameterValue", "mistyped"), &[id, ty]),
            Some(value) => {
                for (constraint, &atom) in parameter.constraints.iter().zip(constraints) {
                    let Some(meaning) = &constraint.meaning else {
                        continue;
                    };
                    if constraint.fits && self.breaks(meaning, &value, item.span) {
                        self.facts
                            .tuple(field!("ParameterValue", "violates"), &[id, atom]);
                    }
                }
            }
        }
        id
    }

    fn group_facts(&mut self, prepared: &Prepared, template: AtomId, atoms: &TemplateAtoms) {
        let mut labels: FxHashMap<Arc<str>, AtomId> = FxHashMap::default();
        let mut members: FxHashMap<Arc<str>, AtomId> = FxHashMap::default();
        for group in &prepared.template.groups {
            let label = group.label.as_ref();
            let name = label.map_or_else(|| "".into(), |label| label.text.clone());
            let id = self.facts.atom(sig!("ParameterGroup"), name, group.span);
            self.facts
                .tuple(field!("Template", "groups"), &[template, id]);
            if let Some(label) = label {
                let label_atom = match labels.get(&label.text) {
                    Some(&known) => known,
                    None => {
                        let new = self
                            .facts
                            .atom(sig!("Label"), label.text.clone(), label.span);
                        labels.insert(label.text.clone(), new);
                        new
                    }
                };
                self.facts
                    .tuple(field!("ParameterGroup", "label"), &[id, label_atom]);
            }
            for member in &group.members {
                let member_atom =
                    self.facts
                        .atom(sig!("GroupMember"), member.text.clone(), member.span);
                self.facts
                    .tuple(field!("ParameterGroup", "members"), &[id, member_atom]);
                let parameter = prepared.by_parameter.get(&member.text);
                if let Some(&parameter) = parameter.and_then(|&i| atoms.parameters.get(i)) {
                    self.facts.tuple(
                        field!("GroupMember", "parameter"),
                        &[member_atom, parameter],
                    );
                }
                match members.get(&member.text) {
                    Some(&first) => {
                        self.facts
                            .tuple(field!("GroupMember", "repeats"), &[member_atom, first]);
                    }
                    None => {
                        members.insert(member.text.clone(), member_atom);
                    }
                }
            }
        }
    }

    /// States what the environments say about the deployed template.
    pub(super) fn environment_facts(&mut self, prepared: &Arc<Prepared>) {
        let atoms = self.template_atoms(prepared);
        for given in std::mem::take(&mut self.environment.foreign) {
            let place = self.place("environment", given.span);
            let id = self.facts.atom(sig!("ForeignKey"), given.text, given.span);
            self.facts
                .tuple(field!("ForeignKey", "place"), &[id, place]);
        }
        let given: Vec<(Arc<str>, Span)> = self
            .environment
            .parameters
            .iter()
            .map(|given| (given.name.clone(), given.span))
            .collect();
        for (name, span) in given {
            let id = self
                .facts
                .atom(sig!("EnvironmentParameter"), name.clone(), span);
            let parameter = prepared.by_parameter.get(&name);
            if let Some(&parameter) = parameter.and_then(|&i| atoms.parameters.get(i)) {
                self.facts.tuple(
                    field!("EnvironmentParameter", "parameter"),
                    &[id, parameter],
                );
            }
        }
        let registry: Vec<_> = self.environment.registry.clone();
        for mapped in registry {
            self.facts.atom(
                sig!("RegistryEntry"),
                mapped.to.text.clone(),
                mapped.to.span,
            );
            // A mapping to a file that is not there is wrong even when no resource uses it.
            if super::engine::is_template_name(&mapped.to.text)
                && let Err(why) = self.file(&mapped.to.text, mapped.file)
            {
                self.missing_file(&mapped.to.text, mapped.to.span, &why);
            }
        }
    }
}
