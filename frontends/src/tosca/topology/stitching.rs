//! Substitution mappings of 2.0: properties by paths, attributes by outputs, requirements one by one (15.2 to 15.5).

use std::collections::BTreeMap;
use std::rc::Rc;

use locus_core::{Diagnostic, suggest};

use super::mapping::Mapping;
use super::{Target, Topology};
use crate::tosca::model::members_role::Role;
use crate::tosca::model::{Flat, Requirement, Schema, entries, find};
use crate::yaml::{Entry, Node, Schema as Yaml, Typed};

/// Requirements that are mapped by one entry, at most.
const MOST: u64 = 10_000;

/// An entry of the mapped requirements.
struct Mapped<'a> {
    /// The requirement of the type.
    requirement: Rc<Requirement<'a>>,
    /// Its text.
    entry: &'a Entry,
    /// How many requirements it is for; none for all that are left.
    count: Option<u64>,
    /// What they lead to.
    ends: Vec<End<'a>>,
}

/// What a mapping leads to.
enum End<'a> {
    /// A requirement of a node template.
    Requirement(usize, &'a Node),
    /// A node template that is selected: what is outside stands for it.
    Selected,
}

impl<'a> Topology<'_, 'a> {
    /// What an entry of mapped properties or attributes is about: a name, or a path to one in a capability or a relationship.
    fn outer(
        &self,
        key: &'a Node,
        flat: &Flat<'a>,
        ty: &str,
        what: &str,
    ) -> Option<Rc<Schema<'a>>> {
        let of = |flat: &Flat<'a>, open: bool, owner: &str, name: &'a Node| {
            let list = match what {
                "property" => &flat.properties,
                _ => &flat.attributes,
            };
            let word = name.as_str().unwrap_or_default();
            let found = find(list, word);
            if found.is_none() && !open {
                let names = list.iter().map(|known| &*known.name);
                let message = format!("`{owner}` has no {what} `{word}`");
                let diagnostic = Diagnostic::error("tosca-mapping", message)
                    .maybe_help(suggest::did_you_mean(word, names));
                self.report(diagnostic.at(name.used_at()));
            }
            found.map(|found| found.schema.clone())
        };
        let Some(path) = key.as_sequence() else {
            return of(flat, flat.open, ty, key);
        };
        match path {
            [step, name, last] if step.as_str() == Some("CAPABILITY") => {
                let word = name.as_str().unwrap_or_default();
                let Some(capability) = find(&flat.capabilities, word) else {
                    let names = flat.capabilities.iter().map(|known| &*known.name);
                    self.no_part(
                        name,
                        flat,
                        ty,
                        "capability",
                        suggest::did_you_mean(word, names),
                    );
                    return None;
                };
                let held = Flat {
                    properties: capability.properties.clone(),
                    attributes: capability.attributes.clone(),
                    ..Flat::default()
                };
                let open = capability.ty.is_none_or(|ty| !self.model.is_closed(ty));
                of(&held, open, word, last)
            }
            [step, name, rest @ ..] if step.as_str() == Some("RELATIONSHIP") => {
                let word = name.as_str().unwrap_or_default();
                let Some(requirement) = find(&flat.requirements, word) else {
                    let names = flat.requirements.iter().map(|known| &*known.name);
                    self.no_part(
                        name,
                        flat,
                        ty,
                        "requirement",
                        suggest::did_you_mean(word, names),
                    );
                    return None;
                };
                let (all, last) = match rest {
                    [last] => (false, last),
                    [at, last] => (at.as_str() == Some("ALL"), last),
                    _ => return None,
                };
                let relationship = self.flat(requirement.relationship);
                let schema = of(&relationship, relationship.open, word, last);
                schema.filter(|_| !all)
            }
            _ => {
                let message = format!(
                    "a path to a {what} is `[CAPABILITY, name, {what}]` or `[RELATIONSHIP, name, index, {what}]`"
                );
                let diagnostic = Diagnostic::error("tosca-mapping", message);
                self.report(diagnostic.at(key.used_at()));
                None
            }
        }
    }

    fn no_part(&self, name: &Node, flat: &Flat<'a>, ty: &str, what: &str, near: Option<String>) {
        if flat.open {
            return;
        }
        let word = name.as_str().unwrap_or_default();
        let message = format!("`{ty}` has no {what} `{word}`");
        let diagnostic = Diagnostic::error("tosca-mapping", message).maybe_help(near);
        self.report(diagnostic.at(name.used_at()));
    }

    /// Properties become inputs; an input that must have a value is mapped, or has a default.
    pub(super) fn stitch_properties(&self, node: &'a Node, flat: &Flat<'a>, mapping: &Mapping<'a>) {
        let ty = self.model.name(mapping.ty);
        let mut fed: Vec<&str> = Vec::new();
        for entry in entries_of(node.get("properties")) {
            let outer = self.outer(&entry.key, flat, ty, "property");
            let word = entry
                .value
                .as_str()
                .or_else(|| match entry.value.as_sequence() {
                    Some([one]) => one.as_str(),
                    _ => None,
                });
            let name = shown(&entry.key);
            self.mapped_property(&entry.value, &name, outer.as_deref());
            fed.extend(word);
        }
        for input in &self.inputs {
            let property = &input.property;
            let free = property.required && property.default.is_none() && property.value.is_none();
            if free && !flat.open && !fed.contains(&&*property.name) {
                let message = format!(
                    "the input `{}` has no default, and no property of `{ty}` is mapped to it",
                    property.name
                );
                let diagnostic = Diagnostic::warning("tosca-mapping", message)
                    .help(
                        "map a property to it in the `substitution_mappings`, or give it a default",
                    )
                    .related(mapping.span, "this node has no value for it");
                self.report(diagnostic.at(property.span));
            }
        }
    }

    /// Outputs become attributes.
    pub(super) fn stitch_attributes(&self, node: &'a Node, flat: &Flat<'a>, mapping: &Mapping<'a>) {
        let ty = self.model.name(mapping.ty);
        let mut outputs = Vec::new();
        let written = self.node.get("outputs");
        let names: Vec<&str> = entries(written).map(|(name, _)| &**name).collect();
        for entry in entries_of(node.get("attributes")) {
            let outer = self.outer(&entry.key, flat, ty, "attribute");
            let Some(Typed::Str(word)) = entry.value.typed(Yaml::Core) else {
                let message = "an attribute is mapped to an output of this template";
                let diagnostic = Diagnostic::error("tosca-mapping", message)
                    .help("add an output whose value is what is meant, and name it here");
                self.report(diagnostic.at(entry.value.used_at()));
                continue;
            };
            if !self.known_word(&entry.value, names.iter().copied(), "output") {
                continue;
            }
            if outputs.is_empty() {
                self.model
                    .define(&mut outputs, written, self.file, Role::Parameter);
            }
            let output = find(&outputs, &word);
            if let (Some(outer), Some(output)) = (outer, output)
                && !self.model.assignable(&output.schema, &outer)
            {
                let (is, needed) = (
                    self.model.describe(&output.schema),
                    self.model.describe(&outer),
                );
                let name = shown(&entry.key);
                let message = format!(
                    "the attribute `{name}` is {needed}, and the output that it is mapped to is {is}"
                );
                let diagnostic = Diagnostic::error("tosca-mapping", message);
                self.report(diagnostic.at(entry.value.used_at()));
            }
        }
    }

    /// Requirements of the type become those of nodes here that are open.
    pub(super) fn stitch_requirements(
        &self,
        node: &'a Node,
        flat: &Flat<'a>,
        mapping: &mut Mapping<'a>,
    ) {
        let ty = self.model.name(mapping.ty).clone();
        let items = node.get("requirements").and_then(Node::as_sequence);
        let mut all: Vec<Mapped<'a>> = Vec::new();
        for item in items.unwrap_or_default() {
            let Some([entry]) = item.as_mapping().map(|map| map.entries.as_slice()) else {
                let message = "an item of `requirements` of a substitution mapping is a name with what it is mapped to";
                let diagnostic = Diagnostic::error("tosca-shape", message)
                    .help("write `- name: [template, requirement]`");
                self.report(diagnostic.at(item.used_at()));
                continue;
            };
            let (name, count) = match entry.key.as_sequence() {
                Some([name, count]) => (name, count.as_str().and_then(|text| text.parse().ok())),
                _ => (&entry.key, Some(1)),
            };
            let word = name.as_str().unwrap_or_default();
            let ends = self.ends(&entry.value, word, flat);
            let Some(requirement) = find(&flat.requirements, word) else {
                let names = flat.requirements.iter().map(|known| &*known.name);
                self.no_part(
                    name,
                    flat,
                    &ty,
                    "requirement",
                    suggest::did_you_mean(word, names),
                );
                continue;
            };
            let Some(name) = name.text() else { continue };
            if ends.is_empty() {
                mapping.requirements.push((name, None, None));
            }
            for end in &ends {
                mapping.requirements.push(match end {
                    End::Requirement(index, word) => (name, Some(*index), word.as_str()),
                    End::Selected => (name, None, None),
                });
            }
            all.push(Mapped {
                requirement: requirement.clone(),
                entry,
                count,
                ends,
            });
        }
        self.counts(&all);
    }

    /// What an entry maps to: a requirement or a selected node, or a list of them.
    fn ends(&self, value: &'a Node, name: &str, flat: &Flat<'a>) -> Vec<End<'a>> {
        let is_text = |node: &Node| matches!(node.typed(Yaml::Core), Some(Typed::Str(_)));
        let items = match value.as_sequence() {
            Some([first, second]) if is_text(first) && is_text(second) => {
                let both_selected = [first, second].iter().all(|node| {
                    let at = self.find(node.as_str().unwrap_or_default());
                    at.is_some_and(|at| self.is_selected(at))
                });
                if both_selected {
                    [first, second]
                        .map(|node| self.end(node, name, flat))
                        .into()
                } else {
                    vec![self.end(value, name, flat)]
                }
            }
            Some(items) => items
                .iter()
                .map(|item| self.end(item, name, flat))
                .collect(),
            None => vec![self.end(value, name, flat)],
        };
        items.into_iter().flatten().collect()
    }

    fn end(&self, node: &'a Node, name: &str, flat: &Flat<'a>) -> Option<End<'a>> {
        if let Some(Typed::Str(word)) = node.typed(Yaml::Core) {
            let nodes = self.nodes.iter().map(|node| &**node.name);
            if self.known_word(node, nodes, "node template")
                && self.find(&word).is_some_and(|at| !self.is_selected(at))
            {
                let message = format!(
                    "`{word}` is named without a requirement, and is not a node that is selected"
                );
                let help =
                    "write `[template, requirement]`, or give the template the directive `select`";
                let diagnostic = Diagnostic::error("tosca-mapping", message).help(help);
                self.report(diagnostic.at(node.used_at()));
            }
            return Some(End::Selected);
        }
        let (index, word) = self.mapped(node)?;
        let template = self.nodes.get(index)?;
        let inner = find(
            &template.flat.requirements,
            word.as_str().unwrap_or_default(),
        );
        if inner.is_none() {
            let names = template.flat.requirements.iter().map(|known| &*known.name);
            let near = suggest::did_you_mean(word.as_str().unwrap_or_default(), names);
            self.no_part(word, &template.flat, template.name, "requirement", near);
        }
        self.same_need(flat, name, template, word);
        let mut own = template
            .assignments
            .iter()
            .filter(|known| Some(&**known.name) == word.as_str())
            .peekable();
        if let Some(first) = own.peek().map(|first| first.target_span)
            && own.all(|known| matches!(known.target, Target::Node(_)))
        {
            let message = format!(
                "the requirement `{}` of `{}` has a target here, and only open ones can be mapped",
                word.as_str().unwrap_or_default(),
                template.name
            );
            let diagnostic = Diagnostic::error("tosca-mapping", message);
            self.report(diagnostic.related(first, "its target").at(word.used_at()));
        }
        Some(End::Requirement(index, word))
    }

    /// How many requirements are mapped is within what the type has of them (15.5.4).
    fn counts(&self, all: &[Mapped<'a>]) {
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, mapped) in all.iter().enumerate() {
            by_name
                .entry(&mapped.requirement.name)
                .or_default()
                .push(at);
        }
        // How many open requirements must be met, by node and name.
        let mut left: BTreeMap<(usize, &str), u64> = BTreeMap::new();
        for mapped in all {
            for end in &mapped.ends {
                if let End::Requirement(index, word) = end
                    && let Some(word) = word.as_str()
                {
                    left.insert((*index, word), self.must_be_met(*index, word));
                }
            }
        }
        for group in by_name.values() {
            let held: Vec<_> = group.iter().filter_map(|&at| all.get(at)).collect();
            let [first, ..] = held.as_slice() else {
                continue;
            };
            let (requirement, first) = (&first.requirement, first.entry);
            let range = requirement.count;
            let name = &requirement.name;
            let mut mandatory = 0_u64;
            for mapped in &held {
                let keys: Vec<(usize, &str)> = mapped
                    .ends
                    .iter()
                    .filter_map(|end| match end {
                        End::Requirement(index, word) => Some((*index, word.as_str()?)),
                        End::Selected => None,
                    })
                    .collect();
                // The only entry, and one without a limit, are for all requirements of the name.
                let times = match (held.len(), mapped.count) {
                    (2.., Some(count)) => count.min(MOST),
                    _ => keys
                        .iter()
                        .filter_map(|key| left.get(key))
                        .copied()
                        .max()
                        .unwrap_or(0)
                        .min(MOST),
                };
                for _ in 0..times {
                    let mut one = false;
                    for key in &keys {
                        if let Some(units) = left.get_mut(key).filter(|units| **units > 0) {
                            *units -= 1;
                            one = true;
                        }
                    }
                    mandatory += u64::from(one);
                }
            }
            if mandatory > range.least {
                let message = format!(
                    "{mandatory} requirements that must be met are mapped to `{name}`, of which there may be only {}",
                    range.least
                );
                // A rule of 15.5.4 that OASIS's own tests break.
                let diagnostic = Diagnostic::warning("tosca-mapping", message)
                    .help("make some of them `optional`, or demand more in the `count_range` of the type")
                    .related(requirement.span, "the requirement of the type");
                self.report(diagnostic.at(first.key.used_at()));
            }
            let counts: Option<Vec<u64>> = held.iter().map(|mapped| mapped.count).collect();
            let total: u64 = counts.map_or(0, |counts| {
                counts
                    .iter()
                    .fold(0, |sum, &count| sum.saturating_add(count))
            });
            if held.len() > 1 && range.most.is_some_and(|most| total > most) {
                let message = format!(
                    "`{name}` is mapped {total} times, and there are at most {}",
                    range.most.unwrap_or_default()
                );
                let diagnostic = Diagnostic::warning("tosca-mapping", message)
                    .related(requirement.span, "the requirement of the type");
                self.report(diagnostic.at(first.key.used_at()));
            }
        }
    }

    /// How many relationships of a requirement that is open here must be made.
    fn must_be_met(&self, index: usize, word: &str) -> u64 {
        let Some(template) = self.nodes.get(index) else {
            return 0;
        };
        let mut own = template
            .assignments
            .iter()
            .filter(|known| **known.name == *word)
            .peekable();
        if own.peek().is_none() {
            let defined = find(&template.flat.requirements, word);
            return defined.map_or(0, |defined| defined.count.least);
        }
        own.filter(|known| !known.optional && matches!(known.target, Target::Open(_)))
            .filter_map(|known| known.count)
            .fold(0, u64::saturating_add)
    }
}

/// All entries of a map, also those whose key is a list.
fn entries_of(node: Option<&Node>) -> &[Entry] {
    node.and_then(Node::as_mapping)
        .map_or(&[], |map| map.entries.as_slice())
}

/// A key as it is written.
fn shown(key: &Node) -> String {
    crate::tosca::value::shown(key)
}
