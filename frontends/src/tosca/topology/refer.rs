//! What calls refer to: inputs, properties and attributes of templates, by the paths of 1.x and of 2.0.

use std::rc::Rc;

use locus_core::{Diagnostic, suggest};

use super::{Here, Target, Topology};
use crate::tosca::grammar::TypeKind;
use crate::tosca::model::{Capability, Flat, Property, find};
use crate::tosca::names::{Meaning, TypeId};
use crate::tosca::text::Call;
use crate::tosca::value::{Checker, Referred, Val};
use crate::tosca::version::Version;
use crate::yaml::{Node, Schema as Yaml, Typed};

/// Calls that lead to calls, at most.
const DEPTH: u32 = 32;

/// What a path has reached.
enum At<'a> {
    Node(usize),
    NodeType(TypeId),
    Capability(Rc<Capability<'a>>, Option<usize>),
    CapabilityType(TypeId),
    Relationship(Option<TypeId>, Box<At<'a>>, Box<At<'a>>),
    Unknown,
}

impl<'a> Topology<'_, 'a> {
    /// What a call refers to.
    pub fn refer(&self, here: Here<'_, 'a>, call: &Call<'a>) -> Referred<'a> {
        if self.depth.get() >= DEPTH {
            return Referred::unknown();
        }
        self.depth.set(self.depth.get() + 1);
        let referred = match call.name {
            "get_input" => self.input(here, call),
            "get_property" => self.property(here, call, false),
            "get_attribute" => self.property(here, call, true),
            "get_artifact" => self.artifact(here, call),
            "get_operation_output" => self.operation(here, call),
            "get_nodes_of_type" => self.of_type_named(call),
            "available_allocation" => self.owner(here, call),
            _ => Referred::unknown(),
        };
        self.depth.set(self.depth.get() - 1);
        referred
    }

    pub(super) fn wrong(message: String, at: &Node, help: Option<String>) -> Referred<'a> {
        let diagnostic = Diagnostic::error("tosca-reference", message).maybe_help(help);
        Referred {
            error: Some(Box::new(diagnostic.at(at.used_at()))),
            ..Referred::unknown()
        }
    }

    fn input(&self, here: Here<'_, 'a>, call: &Call<'a>) -> Referred<'a> {
        let [first, path @ ..] = call.list() else {
            return Self::wrong("`get_input` names no input".to_owned(), call.node, None);
        };
        let Some(name) = first.as_str() else {
            return Referred::unknown();
        };
        let mut names: Vec<String> = Vec::new();
        let mut found: Option<(Rc<Property<'a>>, Val)> = None;
        if let Here::Workflow(inputs) = here {
            names.extend(inputs.iter().map(|input| input.name.to_string()));
            found = find(inputs, name).map(|input| (input.clone(), Val::Unknown));
        }
        if found.is_none() {
            names.extend(
                self.inputs
                    .iter()
                    .map(|input| input.property.name.to_string()),
            );
            let mut inputs = self.inputs.iter();
            found = inputs
                .find(|input| &*input.property.name == name)
                .map(|input| {
                    input.used.set(true);
                    (input.property.clone(), input.value.clone())
                });
        }
        let Some((property, value)) = found else {
            let near = suggest::did_you_mean(name, names.iter().map(String::as_str));
            return Self::wrong(format!("there is no input `{name}`"), first, near);
        };
        if let [further, ..] = path {
            if matches!(
                self.version(),
                Version::V1_0 | Version::V1_1 | Version::V1_2
            ) {
                let message = "`get_input` takes the name of an input alone";
                let help = "a path into an input needs TOSCA 1.3".to_owned();
                return Self::wrong(message.to_owned(), further, Some(help));
            }
            return match self.lies_in(&property.schema, path) {
                Ok(schema) => Referred {
                    schema,
                    ..Referred::unknown()
                },
                Err(wrong) => *wrong,
            };
        }
        Referred {
            value,
            schema: Some(property.schema.clone()),
            optional: !property.required && property.default.is_none() && property.value.is_none(),
            error: None,
        }
    }

    /// Checks the first word of a path alone.
    fn owner(&self, here: Here<'_, 'a>, call: &Call<'a>) -> Referred<'a> {
        match call
            .list()
            .first()
            .map(|first| (first, self.start(here, first)))
        {
            Some((first, Err(help))) => {
                let word = first.as_str().unwrap_or_default();
                Self::wrong(format!("there is no template `{word}`"), first, help)
            }
            _ => Referred::unknown(),
        }
    }

    /// An artifact of a node: of its template or its type.
    fn artifact(&self, here: Here<'_, 'a>, call: &Call<'a>) -> Referred<'a> {
        let [first, named, ..] = call.list() else {
            return self.owner(here, call);
        };
        let (Ok(At::Node(index)), Some(word)) = (self.start(here, first), named.as_str()) else {
            return self.owner(here, call);
        };
        let Some(template) = self.nodes.get(index).filter(|node| !node.flat.open) else {
            return Referred::unknown();
        };
        let own = self.section(index, "artifacts");
        let own = own.iter().map(|(name, _)| &***name);
        let names = own.chain(template.flat.artifacts.iter().map(|name| &**name));
        let names: Vec<&str> = names.collect();
        if names.contains(&word) {
            return Referred::unknown();
        }
        let near = suggest::did_you_mean(word, names);
        Self::wrong(
            format!("`{}` has no artifact `{word}`", template.name),
            named,
            near,
        )
    }

    /// An output of an operation: the interface and the operation must be there.
    fn operation(&self, here: Here<'_, 'a>, call: &Call<'a>) -> Referred<'a> {
        let [first, interface, operation, ..] = call.list() else {
            return self.owner(here, call);
        };
        let (Ok(At::Node(index)), Some(word), Some(name)) = (
            self.start(here, first),
            interface.as_str(),
            operation.as_str(),
        ) else {
            return self.owner(here, call);
        };
        let Some(template) = self.nodes.get(index).filter(|node| !node.flat.open) else {
            return Referred::unknown();
        };
        let named = |known: &&Rc<crate::tosca::model::Interface<'a>>| {
            let ty = known.ty.map(|ty| self.model.name(ty));
            *known.name == *word || ty.is_some_and(|ty| **ty == *word)
        };
        let Some(known) = template.flat.interfaces.iter().find(named) else {
            let names = template.flat.interfaces.iter().map(|known| &*known.name);
            let near = suggest::did_you_mean(word, names);
            let message = format!("`{}` has no interface `{word}`", template.name);
            return Self::wrong(message, interface, near);
        };
        let closed = known.ty.is_some_and(|ty| self.model.is_closed(ty));
        if !closed || find(&known.operations, name).is_some() {
            return Referred::unknown();
        }
        let near = suggest::did_you_mean(name, known.operations.iter().map(|known| &*known.name));
        Self::wrong(
            format!("the interface `{word}` has no operation `{name}`"),
            operation,
            near,
        )
    }

    /// `get_nodes_of_type` names a node type.
    fn of_type_named(&self, call: &Call<'a>) -> Referred<'a> {
        let named = call.list().first();
        if let Some((node, word)) = named.and_then(|node| Some((node, node.as_str()?)))
            && self.model.names.lookup(self.file, TypeKind::Node, word) == Meaning::Nothing
        {
            let told = self
                .model
                .names
                .unknown(self.file, TypeKind::Node, word, node.used_at());
            return Referred {
                error: Some(Box::new(told)),
                ..Referred::unknown()
            };
        }
        Referred::unknown()
    }

    fn start(&self, here: Here<'_, 'a>, first: &Node) -> Result<At<'a>, Option<String>> {
        let Some(word) = first.as_str() else {
            return Ok(At::Unknown);
        };
        match (word, here) {
            ("SELF", Here::Node(index)) => Ok(At::Node(index)),
            ("SELF", Here::Relationship(ty, capability, node)) => {
                let target = node.map_or(At::Unknown, At::NodeType);
                let capability = capability.map_or(At::Unknown, At::CapabilityType);
                Ok(At::Relationship(ty, Box::new(capability), Box::new(target)))
            }
            ("SELF", Here::Bound(ty, _, target, capability)) => {
                let capability = capability.map_or(At::Unknown, |capability| {
                    At::Capability(capability.clone(), Some(target))
                });
                Ok(At::Relationship(
                    ty,
                    Box::new(capability),
                    Box::new(At::Node(target)),
                ))
            }
            ("SOURCE", Here::Bound(_, source, _, _)) => Ok(At::Node(source)),
            ("TARGET", Here::Bound(_, _, target, _)) => Ok(At::Node(target)),
            ("SELF" | "SOURCE" | "TARGET", _) => Ok(At::Unknown),
            // 2.0 has none of these (10.3).
            ("HOST" | "R_TARGET" | "ORCHESTRATOR", _) if self.version().is_simple() => {
                Ok(At::Unknown)
            }
            _ => {
                if let Some(index) = self.find(word) {
                    return Ok(At::Node(index));
                }
                let relationship = self
                    .relationships
                    .iter()
                    .find(|known| &**known.name == word);
                if let Some(relationship) = relationship {
                    let unknown = || Box::new(At::Unknown);
                    return Ok(At::Relationship(relationship.ty, unknown(), unknown()));
                }
                if self.groups.iter().any(|group| &**group.name == word) {
                    return Ok(At::Unknown);
                }
                let names = self.nodes.iter().map(|node| &**node.name);
                let words = ["SELF", "SOURCE", "TARGET"];
                Err(suggest::did_you_mean(word, names.chain(words)))
            }
        }
    }

    fn property(&self, here: Here<'_, 'a>, call: &Call<'a>, attribute: bool) -> Referred<'a> {
        let arguments = call.list();
        let [first, rest @ ..] = arguments else {
            return Self::wrong(format!("`{}` names nothing", call.name), call.node, None);
        };
        let at = match self.start(here, first) {
            Ok(at) => at,
            Err(help) => {
                let word = first.as_str().unwrap_or_default();
                return Self::wrong(format!("there is no template `{word}`"), first, help);
            }
        };
        if let (At::Unknown, Here::Node(index), Some("HOST")) = (&at, here, first.as_str()) {
            return self.of_hosts(index, call.node, rest);
        }
        if self.version().is_simple() {
            self.simple_path(at, rest, attribute)
        } else {
            self.path(at, rest, attribute)
        }
    }

    /// A path of 2.0.
    fn path(&self, mut at: At<'a>, mut rest: &'a [Node], attribute: bool) -> Referred<'a> {
        let is_index = |node: &Node| matches!(node.typed(Yaml::Core), Some(Typed::Int(_)));
        // Only the name that a path starts with is followed by an index.
        let mut by_name = true;
        while let [step, more @ ..] = rest {
            let word = step.as_str().unwrap_or_default();
            let next = match (&at, word) {
                (At::Unknown, _) => return Referred::unknown(),
                // `[node, 0, ...]`: one of the nodes that are made of a template, or all of them.
                (At::Node(_), "ALL") if by_name => return Referred::unknown(),
                (At::Node(index), _) if by_name && is_index(step) => {
                    by_name = false;
                    at = At::Node(*index);
                    rest = more;
                    continue;
                }
                (At::Capability(..) | At::CapabilityType(_), "RELATIONSHIP") => {
                    return Referred::unknown();
                }
                (At::Node(index), "RELATIONSHIP") => {
                    let [name, after @ ..] = more else {
                        return Self::wrong(
                            "`RELATIONSHIP` names no requirement".to_owned(),
                            step,
                            None,
                        );
                    };
                    rest = after;
                    let numbered = |node: &Node| {
                        matches!(node.typed(Yaml::Core), Some(Typed::Int(_)))
                            || node.as_str() == Some("ALL")
                    };
                    let index_given = rest.first().is_some_and(numbered);
                    if index_given {
                        rest = rest.get(1..).unwrap_or_default();
                    }
                    let all = index_given && more.get(1).and_then(Node::as_str) == Some("ALL");
                    match self.relationship(*index, name) {
                        Ok(_) if all => return Referred::unknown(),
                        Ok(next) => {
                            at = next;
                            continue;
                        }
                        Err(wrong) => return *wrong,
                    }
                }
                (At::Node(_) | At::NodeType(_), "CAPABILITY") => {
                    let [name, after @ ..] = more else {
                        return Self::wrong(
                            "`CAPABILITY` names no capability".to_owned(),
                            step,
                            None,
                        );
                    };
                    rest = after;
                    let (flat, owner) = self.of_node(&at);
                    let Some(flat) = flat else {
                        return Referred::unknown();
                    };
                    match self.capability_named(&flat, name, owner) {
                        Ok(next) => {
                            at = next;
                            // The relationships that lead to a capability are not known by number.
                            if rest.first().and_then(Node::as_str) == Some("RELATIONSHIP") {
                                return Referred::unknown();
                            }
                            continue;
                        }
                        Err(wrong) => return *wrong,
                    }
                }
                (At::Relationship(..), "CAPABILITY" | "TARGET" | "SOURCE") => {
                    let At::Relationship(_, capability, target) = at else {
                        return Referred::unknown();
                    };
                    match word {
                        "CAPABILITY" => *capability,
                        "TARGET" => *target,
                        _ => At::Unknown,
                    }
                }
                _ => break,
            };
            at = next;
            rest = more;
            by_name = false;
        }
        self.held(&at, rest, attribute)
    }

    /// A path of 1.x: a template, possibly one of its requirements or capabilities, a property.
    fn simple_path(&self, at: At<'a>, rest: &'a [Node], attribute: bool) -> Referred<'a> {
        let [first, more @ ..] = rest else {
            return Referred::unknown();
        };
        let (Some(flat), owner) = self.of_node(&at) else {
            return match at {
                At::Relationship(..) => self.held(&at, rest, attribute),
                _ => Referred::unknown(),
            };
        };
        let word = first.as_str().unwrap_or_default();
        let direct = find(&flat.properties, word).is_some()
            || attribute && find(&flat.attributes, word).is_some();
        if direct || flat.open {
            return self.held(&at, rest, attribute);
        }
        let required = find(&flat.requirements, word).is_some() && !more.is_empty();
        if find(&flat.capabilities, word).is_some() && !more.is_empty() {
            return match self.capability_named(&flat, first, owner) {
                Ok(at) => {
                    let held = self.held(&at, more, attribute);
                    // One name may be that of a capability and of a requirement, and either is meant.
                    match &held.error {
                        Some(_) if required => self.of_requirement(owner, first, more, attribute),
                        _ => held,
                    }
                }
                Err(wrong) => *wrong,
            };
        }
        if required {
            return self.of_requirement(owner, first, more, attribute);
        }
        self.held(&at, rest, attribute)
    }

    /// What a path of 1.x names behind a requirement: something of the node that it leads to, of a capability of that, or of the
    /// relationship.
    fn of_requirement(
        &self,
        owner: Option<usize>,
        requirement: &'a Node,
        rest: &'a [Node],
        attribute: bool,
    ) -> Referred<'a> {
        let (Some(owner), Some(name)) = (owner, rest.first()) else {
            return Referred::unknown();
        };
        // Which of several of the requirement is meant, as some parsers let one say.
        if matches!(name.typed(Yaml::Core), Some(Typed::Int(_))) {
            return Referred::unknown();
        }
        let Ok(At::Relationship(ty, capability, target)) = self.relationship(owner, requirement)
        else {
            return Referred::unknown();
        };
        let At::Node(index) = *target else {
            return Referred::unknown();
        };
        let word = name.as_str().unwrap_or_default();
        let Some(node) = self.nodes.get(index).filter(|node| !node.flat.open) else {
            return Referred::unknown();
        };
        if find(&node.flat.capabilities, word).is_some() {
            return Referred::unknown();
        }
        let places = [
            *capability,
            At::Node(index),
            At::Relationship(ty, Box::new(At::Unknown), Box::new(At::Unknown)),
        ];
        let mut found: Vec<Referred<'a>> = places
            .iter()
            .map(|at| self.held(at, rest, attribute))
            .filter(|referred| referred.error.is_none())
            .collect();
        match (found.pop(), found.is_empty()) {
            (Some(only), true) => only,
            (Some(_), false) => Referred::unknown(),
            (None, _) => {
                let message = format!(
                    "neither `{}`, nor the capability of it that is used, nor the relationship has a property{} `{word}`",
                    node.name,
                    if attribute { " or attribute" } else { "" }
                );
                Self::wrong(message, name, None)
            }
        }
    }

    fn of_node(&self, at: &At<'a>) -> (Option<Rc<Flat<'a>>>, Option<usize>) {
        match at {
            At::Node(index) => {
                let node = self.nodes.get(*index);
                (node.map(|node| node.flat.clone()), Some(*index))
            }
            At::NodeType(id) => (Some(self.model.flat(*id)), None),
            _ => (None, None),
        }
    }

    fn relationship(&self, index: usize, name: &'a Node) -> Result<At<'a>, Box<Referred<'a>>> {
        let word = name.as_str().unwrap_or_default();
        let Some(node) = self.nodes.get(index) else {
            return Ok(At::Unknown);
        };
        let definition = find(&node.flat.requirements, word);
        if definition.is_none() && !node.flat.open {
            let names = node.flat.requirements.iter().map(|known| &*known.name);
            let near = suggest::did_you_mean(word, names);
            let message = format!("`{}` has no requirement `{word}`", node.name);
            return Err(Box::new(Self::wrong(message, name, near)));
        }
        let mut assigned = node
            .assignments
            .iter()
            .filter(|known| &**known.name == word);
        let assignment = assigned.next();
        let single = assigned.next().is_none();
        let ty = assignment
            .and_then(|assignment| assignment.relationship)
            .or_else(|| definition.and_then(|definition| definition.relationship));
        let target = match assignment.map(|assignment| assignment.target) {
            Some(Target::Node(target)) if single => At::Node(target),
            _ => definition
                .and_then(|definition| definition.node)
                .map_or(At::Unknown, At::NodeType),
        };
        let capability = match assignment.and_then(|assignment| assignment.capability.clone()) {
            Some(capability) if single => {
                let owner = match target {
                    At::Node(target) => Some(target),
                    _ => None,
                };
                At::Capability(capability, owner)
            }
            _ => definition
                .and_then(|definition| definition.capability)
                .map_or(At::Unknown, At::CapabilityType),
        };
        Ok(At::Relationship(ty, Box::new(capability), Box::new(target)))
    }

    fn capability_named(
        &self,
        flat: &Flat<'a>,
        name: &'a Node,
        owner: Option<usize>,
    ) -> Result<At<'a>, Box<Referred<'a>>> {
        let word = name.as_str().unwrap_or_default();
        match find(&flat.capabilities, word) {
            Some(capability) => Ok(At::Capability(capability.clone(), owner)),
            None if flat.open => Ok(At::Unknown),
            None => {
                let names = flat.capabilities.iter().map(|known| &*known.name);
                let near = suggest::did_you_mean(word, names);
                let message = format!("there is no capability `{word}` here");
                Err(Box::new(Self::wrong(message, name, near)))
            }
        }
    }

    /// A property or attribute of what a path has reached.
    fn held(&self, at: &At<'a>, rest: &'a [Node], attribute: bool) -> Referred<'a> {
        let [name, nested @ ..] = rest else {
            return Referred::unknown();
        };
        let Some(word) = name.as_str() else {
            return Referred::unknown();
        };
        let flat;
        let (properties, attributes, open, what) = match at {
            At::Node(index) => {
                let Some(node) = self.nodes.get(*index) else {
                    return Referred::unknown();
                };
                flat = node.flat.clone();
                (
                    &flat.properties,
                    &flat.attributes,
                    flat.open,
                    node.name.to_string(),
                )
            }
            At::NodeType(id) | At::CapabilityType(id) | At::Relationship(Some(id), _, _) => {
                flat = self.model.flat(*id);
                (
                    &flat.properties,
                    &flat.attributes,
                    flat.open,
                    self.model.name(*id).to_string(),
                )
            }
            At::Capability(capability, _) => {
                let open = capability.ty.is_none_or(|ty| !self.model.is_closed(ty));
                (
                    &capability.properties,
                    &capability.attributes,
                    open,
                    capability.name.to_string(),
                )
            }
            At::Relationship(None, _, _) | At::Unknown => return Referred::unknown(),
        };
        let property = find(properties, word);
        if let Some(property) = property {
            let value = if nested.is_empty() {
                self.value_of(at, property)
            } else {
                Val::Unknown
            };
            let schema = match self.lies_in(&property.schema, nested) {
                Ok(schema) => schema,
                Err(wrong) => return *wrong,
            };
            return Referred {
                value: if attribute { Val::Unknown } else { value },
                schema,
                optional: !property.required
                    && property.default.is_none()
                    && property.value.is_none(),
                error: None,
            };
        }
        if let Some(known) = find(attributes, word) {
            if !attribute {
                let message =
                    format!("`{word}` is an attribute of `{what}`, which `get_attribute` reads");
                return Self::wrong(message, name, None);
            }
            return match self.lies_in(&known.schema, nested) {
                Ok(schema) => Referred {
                    schema,
                    ..Referred::unknown()
                },
                Err(wrong) => *wrong,
            };
        }
        if open {
            return Referred::unknown();
        }
        let kind = if attribute {
            "property or attribute"
        } else {
            "property"
        };
        let known = properties
            .iter()
            .chain(attributes.iter().filter(|_| attribute));
        let near = suggest::did_you_mean(word, known.map(|known| &*known.name));
        Self::wrong(format!("`{what}` has no {kind} `{word}`"), name, near)
    }

    /// The value that a property of a node has.
    pub(super) fn node_value(&self, node: usize, property: &Property<'a>) -> Val {
        self.value_of(&At::Node(node), property)
    }

    /// The value that a property of a capability of a node has.
    pub(super) fn capability_value(
        &self,
        node: usize,
        capability: &Capability<'a>,
        property: &Property<'a>,
    ) -> Val {
        let at = At::Capability(Rc::new(capability.clone()), Some(node));
        self.value_of(&at, property)
    }

    /// The value that a property has in a template.
    fn value_of(&self, at: &At<'a>, property: &Property<'a>) -> Val {
        let (index, section) = match at {
            At::Node(index) => (*index, self.section(*index, "properties")),
            At::Capability(capability, Some(index)) => {
                let section = self.of_capability(*index, &capability.name, "properties");
                (*index, section)
            }
            _ => return Val::Unknown,
        };
        // One that is chosen among those that are there has values of its own.
        if self.is_selected(index) {
            return Val::Unknown;
        }
        let assigned = section.iter().find(|(name, _)| **name == property.name);
        let (node, file) = match assigned {
            Some((_, entry)) => (&entry.value, self.file),
            None => match property.value.or(property.default) {
                Some(node) => (node, property.file),
                None => return Val::Unknown,
            },
        };
        let refer = |call: &Call<'a>| self.refer(Here::Node(index), call);
        let held = std::cell::RefCell::default();
        let checker = Checker {
            model: self.model,
            file,
            refer: &refer,
            value: None,
            diagnostics: &held,
        };
        checker.read(node, &property.schema, &property.name)
    }
}
