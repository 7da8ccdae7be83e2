//! The topology of a file: its templates, and what they say of each other.

mod activity;
mod check;
mod inherited;
mod inside;
mod interfaces;
mod mapping;
mod refer;
mod requirement;
pub(crate) mod search;
mod stitching;
mod trigger;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use locus_core::{Diagnostic, Span, suggest};
use rustc_hash::FxHashMap;

use super::grammar::TypeKind;
use super::model::members_role::Role;
use super::model::{Capability, Flat, Model, Property, Requirement, entries};
use super::names::TypeId;
use super::value::{Checker, Referred, Val};
use super::version::Version;
use crate::yaml::{Entry, Node, Schema as Yaml, Typed};

pub use activity::Step;
pub use mapping::Mapping as Substitution;

/// A node template.
#[derive(Debug)]
pub struct NodeTemplate<'a> {
    /// Its name.
    pub name: &'a Arc<str>,
    /// Where its name is written.
    pub span: Span,
    /// Its text.
    pub node: &'a Node,
    /// The template that it copies.
    pub copied: Option<&'a Node>,
    /// Its type; none when that is not known.
    pub ty: Option<TypeId>,
    /// What its type has.
    pub flat: Rc<Flat<'a>>,
    /// Its requirements.
    pub assignments: Vec<Assignment<'a>>,
    /// The values of its properties.
    pub values: RefCell<Vec<(Arc<str>, Span, Val)>>,
}

/// A relationship template.
#[derive(Debug)]
pub struct RelationshipTemplate<'a> {
    /// Its name.
    pub name: &'a Arc<str>,
    /// Where its name is written.
    pub span: Span,
    /// Its text.
    pub node: &'a Node,
    /// Its type; none when that is not known.
    pub ty: Option<TypeId>,
    /// What its type has.
    pub flat: Rc<Flat<'a>>,
}

/// A requirement of a node template.
#[derive(Clone, Debug)]
pub struct Assignment<'a> {
    /// Its name.
    pub name: &'a Arc<str>,
    /// Where its name is written.
    pub span: Span,
    /// Its text; none of one that 2.0 makes because the template assigns none (8.5.4).
    pub node: Option<&'a Node>,
    /// The requirement of the type; none when there is no such.
    pub definition: Option<Rc<Requirement<'a>>>,
    /// What it leads to.
    pub target: Target,
    /// Where the target is named.
    pub target_span: Span,
    /// The capability of the target.
    pub capability: Option<Rc<Capability<'a>>>,
    /// The type of capability that is asked for.
    pub capability_type: Option<TypeId>,
    /// The type of the relationship.
    pub relationship: Option<TypeId>,
    /// The relationship template that is used.
    pub template: Option<usize>,
    /// How many relationships it makes; none when that is not known.
    pub count: Option<u64>,
    /// Whether it may be left open.
    pub optional: bool,
    /// Whether it must be met within the topology.
    pub internal: bool,
}

impl<'a> Assignment<'a> {
    /// What its text has under a key.
    pub fn get(&self, key: &str) -> Option<&'a Node> {
        self.node?.get(key)
    }
}

/// What a requirement leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Whatever fits, of a type when one is named.
    Open(Option<TypeId>),
    /// A node template.
    Node(usize),
    /// Something that is not known, or that was told to be wrong.
    Unknown,
}

/// A group.
#[derive(Debug)]
pub struct Group<'a> {
    /// Its name.
    pub name: &'a Arc<str>,
    /// Where its name is written.
    pub span: Span,
    /// Its type.
    pub ty: Option<TypeId>,
    /// Its members, with where they are named.
    pub members: Vec<(Member, Span)>,
}

/// What a group or policy names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// A node template.
    Node(usize),
    /// A group.
    Group(usize),
}

/// An input, and whether it is used.
#[derive(Debug)]
pub struct Input<'a> {
    /// What it is.
    pub property: Rc<Property<'a>>,
    /// Its value, when it is known.
    pub value: Val,
    /// The value that it has when none is given.
    pub default: Option<Val>,
    /// Whether the value was given, and is not the default.
    pub given: bool,
    /// Whether it is used.
    pub used: Cell<bool>,
}

/// A topology.
pub struct Topology<'t, 'a> {
    /// The types.
    pub model: &'t Model<'a>,
    /// The file that has it.
    pub file: usize,
    /// Its text.
    pub node: &'a Node,
    /// Its inputs.
    pub inputs: Vec<Input<'a>>,
    /// Its node templates.
    pub nodes: Vec<NodeTemplate<'a>>,
    /// Its relationship templates.
    pub relationships: Vec<RelationshipTemplate<'a>>,
    /// Its groups.
    pub groups: Vec<Group<'a>>,
    /// Its policies.
    pub policies: Vec<Group<'a>>,
    /// The steps of its workflows.
    pub steps: Vec<Step<'a>>,
    /// What it stands for in other topologies.
    pub substitution: Option<Substitution<'a>>,
    /// What is wrong.
    pub diagnostics: RefCell<Vec<Diagnostic>>,
    by_name: FxHashMap<&'a str, usize>,
    depth: Cell<u32>,
}

/// What `SELF` is where a value is written.
#[derive(Clone, Copy, Debug)]
pub enum Here<'h, 'a> {
    /// Nothing.
    Nowhere,
    /// A node.
    Node(usize),
    /// A relationship of a type.
    Relationship(Option<TypeId>, Option<TypeId>, Option<TypeId>),
    /// A relationship of a type from a node to another, which would use a capability of it.
    Bound(Option<TypeId>, usize, usize, Option<&'h Rc<Capability<'a>>>),
    /// A workflow, whose inputs come before those of the topology.
    Workflow(&'h [Rc<Property<'a>>]),
}

impl<'t, 'a> Topology<'t, 'a> {
    /// Reads the topology of a file.
    pub fn read(
        model: &'t Model<'a>,
        file: usize,
        node: &'a Node,
        given: &'a FxHashMap<String, (Node, Span)>,
        all_inputs: bool,
    ) -> Self {
        let mut topology = Topology {
            model,
            file,
            node,
            inputs: Vec::new(),
            nodes: Vec::new(),
            relationships: Vec::new(),
            groups: Vec::new(),
            policies: Vec::new(),
            steps: Vec::new(),
            substitution: None,
            diagnostics: RefCell::default(),
            by_name: FxHashMap::default(),
            depth: Cell::new(0),
        };
        topology.read_inputs(given, all_inputs);
        topology.read_nodes();
        topology.read_relationships();
        for index in 0..topology.nodes.len() {
            let assignments = topology.assignments(index);
            if let Some(node) = topology.nodes.get_mut(index) {
                node.assignments = assignments;
            }
        }
        topology
    }

    /// The version of its file.
    pub fn version(&self) -> Version {
        self.model.version(self.file)
    }

    /// Reports something.
    pub fn report(&self, diagnostic: Diagnostic) {
        self.diagnostics.borrow_mut().push(diagnostic);
    }

    /// The node template with a name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    fn read_inputs(&mut self, given: &'a FxHashMap<String, (Node, Span)>, all_inputs: bool) {
        let model = self.model;
        let mut inputs = Vec::new();
        model.define(
            &mut inputs,
            self.node.get("inputs"),
            self.file,
            Role::Parameter,
        );
        for property in inputs {
            let refer = |_: &super::text::Call<'a>| Referred::unknown();
            let checker = Checker {
                model,
                file: self.file,
                refer: &refer,
                value: None,
                diagnostics: &self.diagnostics,
            };
            let default = property.value.or(property.default);
            let default = default.map(|node| checker.read(node, &property.schema, &property.name));
            let given = given.get(&*property.name);
            let value = match given {
                Some((node, span)) => super::given::read(&checker, node, &property, *span),
                None if all_inputs && property.value.is_none() => Val::Unknown,
                None => default.clone().unwrap_or(Val::Unknown),
            };
            self.inputs.push(Input {
                value,
                default,
                given: given.is_some(),
                used: Cell::new(false),
                property,
            });
        }
        let known: Vec<&str> = self
            .inputs
            .iter()
            .map(|input| &*input.property.name)
            .collect();
        let mut names: Vec<_> = given.iter().collect();
        names.sort_by_key(|(name, _)| name.as_str());
        for (name, (_, span)) in names {
            if !known.contains(&name.as_str()) {
                let message = format!("there is no input `{name}`");
                let diagnostic = Diagnostic::error("tosca-reference", message)
                    .maybe_help(suggest::did_you_mean(name, known.iter().copied()));
                self.diagnostics.borrow_mut().push(diagnostic.at(*span));
            }
        }
    }

    fn read_nodes(&mut self) {
        let templates = self.node.get("node_templates");
        for (name, entry) in entries(templates) {
            let node = &entry.value;
            let copied = match node.get("copy").and_then(Node::as_str) {
                Some(word) => self.copied(word, node, templates),
                None => None,
            };
            let typed = node.get("type").or_else(|| copied?.get("type"));
            let ty = self.model.named(self.file, TypeKind::Node, typed);
            self.by_name.insert(name, self.nodes.len());
            self.nodes.push(NodeTemplate {
                name,
                span: entry.key.span,
                node,
                copied,
                ty,
                flat: self.flat(ty),
                assignments: Vec::new(),
                values: RefCell::default(),
            });
        }
    }

    /// What a type has; one that is not known may have anything.
    fn flat(&self, ty: Option<TypeId>) -> Rc<Flat<'a>> {
        match ty {
            Some(ty) => self.model.flat(ty),
            None => Rc::new(Flat {
                open: true,
                ..Flat::default()
            }),
        }
    }

    fn copied(&self, word: &str, node: &Node, all: Option<&'a Node>) -> Option<&'a Node> {
        let at = node.get("copy").map_or(node.span, Node::used_at);
        let found = all.and_then(|all| all.get(word));
        match found {
            None => {
                let names = entries(all).map(|(name, _)| &**name);
                let message = format!("there is no template `{word}` to copy");
                let diagnostic = Diagnostic::error("tosca-reference", message)
                    .maybe_help(suggest::did_you_mean(word, names));
                self.report(diagnostic.at(at));
                None
            }
            Some(source) if source.get("copy").is_some() => {
                let message = format!("`{word}` is a copy itself and cannot be copied");
                self.report(Diagnostic::error("tosca-reference", message).at(at));
                None
            }
            found => found,
        }
    }

    fn read_relationships(&mut self) {
        let templates = self.node.get("relationship_templates");
        for (name, entry) in entries(templates) {
            let node = &entry.value;
            let copied = match node.get("copy").and_then(Node::as_str) {
                Some(word) => self.copied(word, node, templates),
                None => None,
            };
            let typed = node.get("type").or_else(|| copied?.get("type"));
            let ty = self.model.named(self.file, TypeKind::Relationship, typed);
            self.relationships.push(RelationshipTemplate {
                name,
                span: entry.key.span,
                node,
                ty,
                flat: self.flat(ty),
            });
        }
    }

    /// The entries of a section of a node template, with those that it copies.
    pub fn section(&self, index: usize, key: &str) -> Vec<(&'a Arc<str>, &'a Entry)> {
        let Some(template) = self.nodes.get(index) else {
            return Vec::new();
        };
        let mut all: Vec<_> = entries(template.node.get(key)).collect();
        if let Some(copied) = template.copied {
            for (name, entry) in entries(copied.get(key)) {
                if !all.iter().any(|(known, _)| *known == name) {
                    all.push((name, entry));
                }
            }
        }
        all
    }

    /// What a capability of a node template has under a key, with what it copies.
    pub fn of_capability(
        &self,
        index: usize,
        name: &str,
        key: &str,
    ) -> Vec<(&'a Arc<str>, &'a Entry)> {
        let Some(template) = self.nodes.get(index) else {
            return Vec::new();
        };
        let under = |node: &'a Node| node.get("capabilities")?.get(name)?.get(key);
        let mut all: Vec<_> = entries(under(template.node)).collect();
        for (name, entry) in entries(template.copied.and_then(under)) {
            if !all.iter().any(|(known, _)| *known == name) {
                all.push((name, entry));
            }
        }
        all
    }

    /// The words of a list.
    pub fn words(node: Option<&Node>) -> impl Iterator<Item = &str> {
        let items = node.and_then(Node::as_sequence).unwrap_or_default();
        items.iter().filter_map(Node::as_str)
    }

    /// Whether a node is chosen among those that are there already.
    pub fn is_selected(&self, index: usize) -> bool {
        let mut words = Self::words(self.directives(index));
        words.any(|word| matches!(word, "select" | "selectable"))
    }

    /// Whether what a node requires may be left to whatever stands for it: one that is chosen, and in 1.x one that another
    /// topology substitutes, as in the standard's own example of a database without a host (2.10).
    pub fn brings_its_own(&self, index: usize) -> bool {
        let mut words = Self::words(self.directives(index));
        let simple = self.version().is_simple();
        self.is_selected(index)
            || simple && words.any(|word| matches!(word, "substitute" | "substitutable"))
    }

    fn directives(&self, index: usize) -> Option<&'a Node> {
        let template = self.nodes.get(index)?;
        let own = template.node.get("directives");
        own.or_else(|| template.copied?.get("directives"))
    }
}

/// A whole number that a node is.
fn whole(node: &Node) -> Option<u64> {
    match node.typed(Yaml::Core)? {
        Typed::Int(int) => int.to_i64().and_then(|n| u64::try_from(n).ok()),
        _ => None,
    }
}
