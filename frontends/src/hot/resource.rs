//! Resources to locations: one use of a template at a time.

use std::sync::Arc;

use locus_core::facts::AtomId;
use locus_core::graph::{Location, Origin, Presence, Process, RoleKind};
use locus_core::value::{Field, Item, Symbol, SymbolKind, Value, ValueType};
use locus_core::{FileId, LocationId, Span};
use rustc_hash::FxHashSet;

use super::data::{StatusKind, catalogue};
use super::engine::{Engine, Prepared, Resolved, Stack, Truth};
use super::eval::Uses;
use super::nested::is_stack;
use super::parameter::{Parameter, convert};
use super::template::ResourceDecl;
use super::vocabulary::{field, sig, subset};

/// A resource on its way to becoming a location with properties.
pub(super) struct Building<'b> {
    pub(super) location: LocationId,
    pub(super) atom: AtomId,
    pub(super) name: &'b str,
    pub(super) span: Span,
    /// The locations it is bound to already.
    pub(super) bound: FxHashSet<LocationId>,
}

impl Engine<'_> {
    /// Uses a template: its resources become locations.
    pub(super) fn stack(
        &mut self,
        prepared: &Arc<Prepared>,
        prefix: String,
        origin: Option<Arc<Origin>>,
        parent: Option<LocationId>,
        given: Vec<Field>,
        path: Vec<FileId>,
    ) {
        let atoms = self.template_atoms(prepared);
        let first_use = self.scanned.insert(prepared.template.file);
        let template = &prepared.template;
        let mut stack = Stack {
            prepared: prepared.clone(),
            atoms: atoms.clone(),
            prefix,
            origin,
            parent,
            locations: Vec::with_capacity(template.resources.len()),
            resources: Vec::with_capacity(template.resources.len()),
            present: Vec::with_capacity(template.resources.len()),
            types: Vec::with_capacity(template.resources.len()),
            values: Vec::with_capacity(prepared.parameters.len()),
            conditions: vec![None; template.conditions.len()],
            path,
        };
        self.parameter_values(&mut stack, given);
        for resource in &template.resources {
            self.declare(&mut stack, resource);
        }
        if first_use {
            self.scan(prepared, &atoms, &stack.resources, &stack.types);
            for (name, &index) in &prepared.by_parameter {
                if let Some(&resource) = prepared.by_resource.get(name) {
                    let parameter = atoms.parameters.get(index);
                    let resource = stack.resources.get(resource);
                    if let (Some(&parameter), Some(&resource)) = (parameter, resource) {
                        self.facts
                            .tuple(field!("Parameter", "clashesWith"), &[parameter, resource]);
                    }
                }
            }
        }
        // Nested templates first, so that their outputs are known where they are used.
        let nested: Vec<bool> = stack.types.iter().map(includes_template).collect();
        for first in [true, false] {
            for (index, resource) in template.resources.iter().enumerate() {
                if nested.get(index) == Some(&first) {
                    self.build(&mut stack, index, resource);
                }
            }
        }
        // Outputs are evaluated for what they mention: an absent resource, a missing file.
        for output in &template.outputs {
            let mut uses = Uses::default();
            let wanted = match &output.condition {
                Some(condition) => self.truth(&mut stack, condition, &mut uses),
                None => Truth::Known(true),
            };
            if let (Some(value), false) = (&output.value, wanted == Truth::Known(false)) {
                let item = self.eval(&mut stack, value, &mut uses);
                if let (Some(item), Some(parent), Truth::Known(true)) = (item, parent, wanted) {
                    self.outputs.insert((parent, output.name.clone()), item);
                }
            }
        }
    }

    /// Gives each parameter its value: given, or from the defaults of the environment, or its own.
    fn parameter_values(&mut self, stack: &mut Stack, given: Vec<Field>) {
        let prepared = stack.prepared.clone();
        let atoms = stack.atoms.clone();
        for (index, parameter) in prepared.parameters.iter().enumerate() {
            let named = |field: &&Field| field.name == parameter.name;
            let explicit = given
                .iter()
                .rev()
                .find(named)
                .map(|field| field.item.clone());
            let general = self
                .environment
                .defaults
                .iter()
                .rev()
                .find(|given| given.name == parameter.name)
                .map(|given| given.item.clone());
            let explicit_or_general = explicit.or(general);
            if let (Some(item), Some(&atom)) = (&explicit_or_general, atoms.parameters.get(index)) {
                let constraints: Vec<AtomId> = self
                    .facts
                    .related(field!("Parameter", "constraints"), atom)
                    .collect();
                let ty = self.facts.related(field!("Parameter", "type"), atom).next();
                if let Some(ty) = ty {
                    let value = self.parameter_value(parameter, item, &constraints, ty);
                    self.facts
                        .tuple(field!("Parameter", "value"), &[atom, value]);
                }
            }
            let chosen = match explicit_or_general {
                Some(item) => Some(item),
                None if self.request.all_inputs && stack.parent.is_none() => None,
                None => parameter.default.clone(),
            };
            let item = match chosen {
                Some(item) => match self.usable(parameter, &item) {
                    Some(value) => Item { value, ..item },
                    // That is reported where the value is given; what it should be remains open.
                    None => self.computed(&parameter.name, ValueType::Any, item.span, &[]),
                },
                None => {
                    if let Some(&atom) = atoms.parameters.get(index)
                        && parameter.default.is_none()
                        && self.said.insert((parameter.span, "unset"))
                    {
                        self.facts.mark(atom, subset!("UnsetParameter"));
                    }
                    let symbol = self.graph.add_symbol(Symbol {
                        name: format!("{}{}", stack.prefix, parameter.name).into(),
                        kind: SymbolKind::Parameter,
                        domain: parameter.domain(),
                        span: parameter.span,
                        default: parameter.default.clone(),
                        depends: Vec::new(),
                    });
                    Item::new(Value::Symbolic(symbol), parameter.span)
                }
            };
            stack.values.push(item);
        }
    }

    /// The value that a parameter has when it is given this; none when Heat refuses it.
    fn usable(&mut self, parameter: &Parameter, item: &Item) -> Option<Value> {
        let value = convert(parameter.ty, item)?;
        let refused = parameter.constraints.iter().any(|constraint| {
            let meaning = constraint.meaning.as_ref().filter(|_| constraint.fits);
            meaning.is_some_and(|meaning| self.judge.holds(meaning, &value) == Some(false))
        });
        (!refused).then_some(value)
    }

    /// Makes the location of a resource, so that others can refer to it.
    fn declare(&mut self, stack: &mut Stack, resource: &ResourceDecl) {
        let presence = match &resource.condition {
            Some(condition) => self.truth(stack, condition, &mut Uses::default()),
            None => Truth::Known(true),
        };
        let sort = resource
            .ty
            .as_ref()
            .map_or_else(|| "".into(), |ty| ty.text.clone());
        let name: Arc<str> = if stack.prefix.is_empty() {
            resource.name.clone()
        } else {
            format!("{}{}", stack.prefix, resource.name).into()
        };
        let resolved = match &resource.ty {
            Some(ty) => {
                let file = stack.prepared.template.file;
                self.resolve_type(&ty.text, ty.span, &resource.name, file)
            }
            None => Resolved::Opaque,
        };
        // An alias is the type it stands for.
        let sort = match &resolved {
            Resolved::Type(ty) => ty.name.clone(),
            _ => sort,
        };
        let mut location = Location::new(name, sort, resource.span);
        location.origin.included_by.clone_from(&stack.origin);
        location.parent = stack.parent;
        location.presence = match presence {
            Truth::Known(true) => Presence::Present,
            Truth::Known(false) => Presence::Absent,
            Truth::Symbol(symbol) => Presence::When(symbol),
        };
        if resource.external_id.is_some() {
            location.external = true;
            location.process = Process::existing();
        }
        let id = self.duplicate_safe(location);
        let atom = self
            .facts
            .atom(sig!("Resource"), resource.name.clone(), resource.span);
        self.facts.locate(atom, id);
        self.by_location.insert(id, atom);
        if let Some(template) = stack.atoms.template {
            self.facts
                .tuple(field!("Template", "resources"), &[template, atom]);
        }
        if resource.external_id.is_some() {
            self.facts.mark(atom, subset!("ExternalResource"));
        }
        if presence == Truth::Known(false) {
            self.facts.mark(atom, subset!("AbsentResource"));
        }
        if let Some(parent) = stack.parent {
            self.bind(parent, id, RoleKind::Containment, "member", resource.span);
        }
        if let Some(ty) = &resource.ty {
            self.type_facts(atom, &ty.text, ty.span, &resolved);
        }
        stack.locations.push(id);
        stack.resources.push(atom);
        stack.present.push(presence);
        stack.types.push(resolved);
    }

    /// A repeated resource id is a fact for a rule; the graph still needs distinct names.
    fn duplicate_safe(&mut self, mut location: Location) -> LocationId {
        if self.graph.find(&location.name).is_some() {
            let mut number = 2;
            while self
                .graph
                .find(&format!("{}~{number}", location.name))
                .is_some()
            {
                number += 1;
            }
            location.name = format!("{}~{number}", location.name).into();
        }
        self.graph.add_location(location)
    }

    /// States what is known about the type of a resource.
    pub(super) fn type_facts(
        &mut self,
        resource: AtomId,
        name: &Arc<str>,
        span: Span,
        resolved: &Resolved,
    ) {
        let atom = self.facts.atom(sig!("TypeName"), name.clone(), span);
        self.facts
            .tuple(field!("Resource", "type"), &[resource, atom]);
        if matches!(resolved, Resolved::Unknown) {
            let request = self.request;
            let mut known: Vec<&str> = catalogue().names().collect();
            known.extend(request.types.keys().map(|name| &**name));
            self.suggest(field!("TypeName", "meant"), atom, name, known);
            return;
        }
        self.mark_type(resource, name, resolved);
        self.facts.mark(atom, subset!("KnownType"));
        if let Resolved::Type(ty) = resolved
            && ty.status.kind != StatusKind::Supported
        {
            self.facts.mark(atom, subset!("OutdatedType"));
            if let Some(successor) = &ty.status.substitute {
                let successor = self.word(sig!("Successor"), successor, span);
                self.facts
                    .tuple(field!("TypeName", "successor"), &[atom, successor]);
            }
        }
    }

    /// Evaluates the properties of a resource and binds it to what it needs.
    fn build(&mut self, stack: &mut Stack, index: usize, resource: &ResourceDecl) {
        let (Some(&location), Some(&atom)) =
            (stack.locations.get(index), stack.resources.get(index))
        else {
            return;
        };
        if stack.present.get(index) == Some(&Truth::Known(false)) {
            return;
        }
        let mut uses = Uses::default();
        let fields = match resource
            .properties
            .as_ref()
            .map(|node| self.eval(stack, node, &mut uses))
        {
            Some(Some(Item {
                value: Value::Map(fields),
                ..
            })) => fields,
            _ => Vec::new(),
        };
        if let Some(node) = &resource.metadata {
            uses.path = "metadata".into();
            self.eval(stack, node, &mut uses);
        }
        let mut building = Building {
            location,
            atom,
            name: &resource.name,
            span: resource.span,
            bound: FxHashSet::default(),
        };
        let resolved = stack.types.get(index).cloned().unwrap_or(Resolved::Opaque);
        if let Some(node) = &resource.external_id {
            let mut own = Uses::default();
            if let Some(item) = self.eval(stack, node, &mut own) {
                let key = node.used_at();
                let name = "external_id".into();
                let properties = &mut self.graph.location_mut(location).properties;
                properties.push(Field { name, key, item });
            }
            // Heat ignores the properties of an external resource and what they mention.
            self.graph.location_mut(location).properties.extend(fields);
            return;
        }
        self.type_properties(stack, &mut building, &resolved, fields);
        for dependency in &resource.depends_on {
            let target = stack.prepared.by_resource.get(&dependency.text);
            let Some(&target) = target.and_then(|&index| stack.locations.get(index)) else {
                continue;
            };
            if target == location {
                // A role joins two locations; that a resource waits for itself is a fact.
                self.facts
                    .tuple(field!("Resource", "requires"), &[atom, atom]);
                continue;
            }
            building.bound.insert(target);
            self.bind(
                target,
                location,
                RoleKind::Dependency,
                "depends_on",
                dependency.span,
            );
            self.requires(atom, target);
        }
        for used in uses.list {
            if used.target == location {
                if building.bound.insert(location) {
                    self.facts
                        .tuple(field!("Resource", "requires"), &[atom, atom]);
                }
            } else if building.bound.insert(used.target) {
                self.bind(used.target, location, used.kind, &used.label, used.span);
                self.requires(atom, used.target);
            }
        }
    }

    pub(super) fn requires(&mut self, atom: AtomId, target: LocationId) {
        if let Some(target) = self.resource_atom(target) {
            self.facts
                .tuple(field!("Resource", "requires"), &[atom, target]);
        }
    }
}

/// Whether a resource of this type is a template of its own.
fn includes_template(resolved: &Resolved) -> bool {
    match resolved {
        Resolved::Template(_) => true,
        Resolved::Type(ty) => is_stack(&ty.name),
        Resolved::Opaque | Resolved::Unknown => false,
    }
}
