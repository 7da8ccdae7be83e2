//! Properties compared with what their type declares.

use std::sync::Arc;

use locus_core::Span;
use locus_core::facts::AtomId;
use locus_core::graph::RoleKind;
use locus_core::value::{Field, Item, Value, field};
use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use super::constraint::{fits, number, words};
use super::data::{
    CustomKind, PropertySchema, PropertyType, ResourceType, StatusKind, catalogue, language,
};
use super::engine::{Engine, ExternalKey, Resolved, Stack};
use super::eval::push_step;
use super::nested::is_stack;
use super::resource::Building;
use super::text::plain;
use super::vocabulary::{field, sig, subset};

/// The property that a comparison is about.
struct Place<'p> {
    /// The path from the resource, as in `networks.0.port`.
    path: &'p str,
    key: Span,
    /// The atom of the property, made when there is something to say.
    atom: Option<AtomId>,
}

impl Engine<'_> {
    /// Gives a location its properties, compared with its type; groups and nested templates expand.
    pub(super) fn type_properties(
        &mut self,
        stack: &mut Stack,
        building: &mut Building<'_>,
        resolved: &Resolved,
        mut fields: Vec<Field>,
    ) {
        match resolved {
            Resolved::Type(ty) => {
                if !ty.open {
                    self.compare(building, ty, &mut fields);
                } else {
                    self.bind_all(building, &fields);
                }
                self.set_properties(building, fields);
                if is_stack(&ty.name) {
                    self.expand_stack(stack, building);
                } else if ty.nested_stack {
                    self.expand_group(stack, building, ty);
                }
            }
            Resolved::Template(file) => {
                self.bind_all(building, &fields);
                let given = fields.clone();
                self.set_properties(building, fields);
                self.expand_template(stack, building, *file, given);
            }
            Resolved::Opaque | Resolved::Unknown => {
                self.bind_all(building, &fields);
                self.set_properties(building, fields);
            }
        }
    }

    fn set_properties(&mut self, building: &Building<'_>, fields: Vec<Field>) {
        self.graph.location_mut(building.location).properties = fields;
    }

    /// Binds a location to everything that its values refer to, without a schema.
    fn bind_all(&mut self, building: &mut Building<'_>, fields: &[Field]) {
        for field in fields {
            let mut targets = Vec::new();
            field.item.value.visit(&mut |leaf| {
                if let Value::Location(target) = leaf {
                    targets.push(*target);
                }
            });
            for target in targets {
                self.bind_reference(building, target, &field.name, field.item.span);
            }
        }
    }

    fn bind_reference(
        &mut self,
        building: &mut Building<'_>,
        target: locus_core::LocationId,
        label: &str,
        span: Span,
    ) {
        if target == building.location {
            if building.bound.insert(target) {
                self.facts.tuple(
                    field!("Resource", "requires"),
                    &[building.atom, building.atom],
                );
            }
            return;
        }
        self.bind(target, building.location, RoleKind::Reference, label, span);
        if building.bound.insert(target) {
            self.requires(building.atom, target);
        }
    }

    fn compare(
        &mut self,
        building: &mut Building<'_>,
        ty: &Arc<ResourceType>,
        fields: &mut Vec<Field>,
    ) {
        self.translate(building, ty, fields);
        let mut path = String::new();
        self.compare_map(building, &ty.properties, fields, &mut path, building.span);
        self.plugin_checks(building, ty, fields);
    }

    fn compare_map(
        &mut self,
        building: &mut Building<'_>,
        schemas: &FxHashMap<Arc<str>, PropertySchema>,
        fields: &mut [Field],
        path: &mut String,
        span: Span,
    ) {
        let length = path.len();
        for one in fields.iter_mut() {
            push_step(path, &one.name);
            match schemas.get(&one.name) {
                Some(schema) => self.compare_field(building, schema, one, path),
                None => {
                    let mut place = Place {
                        path: path.as_str(),
                        key: one.key,
                        atom: None,
                    };
                    let atom = self.property_use(building, &mut place);
                    let names = schemas.keys().map(|name| &**name);
                    self.suggest(field!("PropertyUse", "meant"), atom, &one.name, names);
                    let mut targets = Vec::new();
                    one.item.value.visit(&mut |leaf| {
                        if let Value::Location(target) = leaf {
                            targets.push(*target);
                        }
                    });
                    let label = path.clone();
                    for target in targets {
                        self.bind_reference(building, target, &label, one.item.span);
                    }
                }
            }
            path.truncate(length);
        }
        for (name, schema) in schemas {
            if schema.required && field(fields, name).is_none() {
                let mut full = path.clone();
                push_step(&mut full, name);
                let declaration = self.word(sig!("Declaration"), &full, span);
                self.facts
                    .tuple(field!("Resource", "lacks"), &[building.atom, declaration]);
            }
        }
    }

    /// The atom of a property about which there is something to say.
    fn property_use(&mut self, building: &Building<'_>, place: &mut Place<'_>) -> AtomId {
        if let Some(atom) = place.atom {
            return atom;
        }
        let atom = self.facts.atom(sig!("PropertyUse"), place.path, place.key);
        self.facts
            .tuple(field!("Resource", "properties"), &[building.atom, atom]);
        place.atom = Some(atom);
        atom
    }

    fn declared_use(&mut self, building: &Building<'_>, place: &mut Place<'_>) -> AtomId {
        let fresh = place.atom.is_none();
        let atom = self.property_use(building, place);
        if fresh {
            let declaration = self.word(sig!("Declaration"), place.path, building.span);
            self.facts
                .tuple(field!("PropertyUse", "declared"), &[atom, declaration]);
        }
        atom
    }

    fn compare_field(
        &mut self,
        building: &mut Building<'_>,
        schema: &PropertySchema,
        one: &mut Field,
        path: &mut String,
    ) {
        {
            let mut place = Place {
                path: path.as_str(),
                key: one.key,
                atom: None,
            };
            if schema.status.kind != StatusKind::Supported {
                let atom = self.declared_use(building, &mut place);
                let successor = schema.status.substitute.as_deref();
                let successor = successor.unwrap_or(schema.status.kind.as_str());
                let successor = self.word(sig!("Successor"), successor, one.key);
                self.facts
                    .tuple(field!("PropertyUse", "outdated"), &[atom, successor]);
            }
            if schema.implemented == Some(false) {
                let atom = self.declared_use(building, &mut place);
                self.facts.mark(atom, subset!("UnimplementedProperty"));
            }
        }
        self.compare_value(building, schema, &mut one.item, one.key, path);
    }

    fn compare_value(
        &mut self,
        building: &mut Building<'_>,
        schema: &PropertySchema,
        item: &mut Item,
        key: Span,
        path: &mut String,
    ) {
        if !fits(schema.ty, &item.value) {
            // A mistyped function has been noticed as such.
            if let Value::Map(fields) = &item.value
                && matches!(fields.as_slice(), [one] if self.said.contains(&(one.key, "call")))
            {
                return;
            }
            let mut place = Place {
                path: path.as_str(),
                key,
                atom: None,
            };
            let atom = self.declared_use(building, &mut place);
            let expected = self.word(sig!("ExpectedType"), schema.ty.as_str(), item.span);
            self.facts
                .tuple(field!("PropertyUse", "mistyped"), &[atom, expected]);
            return;
        }
        let mut reference: Option<&Arc<str>> = schema.resolves.as_ref();
        for constraint in schema.limits() {
            if self.breaks(constraint, &item.value, item.span) {
                let mut place = Place {
                    path: path.as_str(),
                    key,
                    atom: None,
                };
                let atom = self.declared_use(building, &mut place);
                let text = words(constraint);
                let constraint = self.word(sig!("SchemaConstraint"), &text, item.span);
                self.facts
                    .tuple(field!("PropertyUse", "violates"), &[atom, constraint]);
            }
        }
        for name in schema.custom_constraints() {
            let custom = language().custom_constraints.get(&**name);
            if custom.is_some_and(|custom| custom.kind == CustomKind::Reference) {
                reference = Some(name);
            }
        }
        if let Some(value) = normalised(schema.ty, &item.value) {
            item.value = value;
        }
        match &mut item.value {
            Value::Map(fields) => {
                if let Some(entries) = &schema.entries {
                    let span = item.span;
                    self.compare_map(building, entries, fields, path, span);
                } else {
                    let fields = fields.clone();
                    self.bind_all(building, &fields);
                }
            }
            Value::List(items) => {
                let length = path.len();
                for (index, item) in items.iter_mut().enumerate() {
                    push_step(path, &index.to_string());
                    match &schema.items {
                        Some(schema) => {
                            let key = item.span;
                            self.compare_value(building, schema, item, key, path);
                        }
                        None => {
                            let mut targets = Vec::new();
                            item.value.visit(&mut |leaf| {
                                if let Value::Location(target) = leaf {
                                    targets.push(*target);
                                }
                            });
                            for target in targets {
                                self.bind_reference(building, target, path, item.span);
                            }
                        }
                    }
                    path.truncate(length);
                }
            }
            Value::Location(target) => {
                let target = *target;
                if let Some(constraint) = reference {
                    self.target_type(building, constraint, target, key, path);
                }
                self.bind_reference(building, target, path, item.span);
            }
            Value::Str(text) if !text.is_empty() => {
                if let Some(constraint) = reference {
                    let name = ExternalKey::Name(text.clone());
                    let target = self.external(constraint, name, &item.clone());
                    self.bind_reference(building, target, path, item.span);
                    item.value = Value::Location(target);
                }
            }
            Value::Symbolic(symbol) => {
                // An attribute is not a name that someone gave: it stays what it is.
                let symbol = *symbol;
                let parameter = matches!(
                    self.graph.symbol(symbol).kind,
                    locus_core::value::SymbolKind::Parameter
                );
                if let (Some(constraint), true) = (reference, parameter) {
                    let name = ExternalKey::Symbol(symbol);
                    let target = self.external(constraint, name, &item.clone());
                    self.bind_reference(building, target, path, item.span);
                    item.value = Value::Location(target);
                }
            }
            _ => {}
        }
    }

    /// Whether what a property refers to is of a type that its constraint accepts.
    fn target_type(
        &mut self,
        building: &Building<'_>,
        constraint: &Arc<str>,
        target: locus_core::LocationId,
        key: Span,
        path: &str,
    ) {
        let Some(custom) = language().custom_constraints.get(&**constraint) else {
            return;
        };
        let location = self.graph.location(target);
        let sort = &location.sort;
        let Some(ty) = catalogue().get(sort) else {
            return;
        };
        if custom.resource_types.is_empty()
            || ty.nested_stack
            || custom.resource_types.contains(sort)
            || also_accepts(constraint, sort)
        {
            return;
        }
        let Some(target) = self.resource_atom(target) else {
            return;
        };
        let mut place = Place {
            path,
            key,
            atom: None,
        };
        let atom = self.declared_use(building, &mut place);
        self.facts
            .tuple(field!("PropertyUse", "wrongTarget"), &[atom, target]);
    }

    /// Applies the rewriting of old names, so that rules see one name only.
    fn translate(&mut self, building: &Building<'_>, ty: &ResourceType, fields: &mut Vec<Field>) {
        for rule in &ty.translations {
            if &*rule.rule != "replace" || rule.custom_value_path.is_some() {
                continue;
            }
            let (holder, to) = match rule.path.split_last() {
                Some((to, holder)) => (holder, to),
                None => continue,
            };
            let from = match (&rule.value_name, &rule.value_path) {
                (Some(name), _) => name,
                (None, Some(path)) => match path.split_last() {
                    Some((name, within)) if within == holder => name,
                    _ => continue,
                },
                (None, None) => continue,
            };
            let schema = ty.properties.get(rule.path.first().unwrap_or(to));
            for map in holders(fields, holder) {
                let Some(old) = map.iter().position(|one| one.name == *from) else {
                    continue;
                };
                let new = map.iter().position(|one| one.name == *to);
                match new {
                    Some(new) => {
                        let both = map.get(new).zip(map.get(old));
                        let known = both.is_some_and(|(new, old)| {
                            !matches!(new.item.value, Value::Null)
                                && !matches!(old.item.value, Value::Null)
                        });
                        if let (Some((new, old)), true) = (both, known) {
                            let old_atom =
                                self.facts
                                    .atom(sig!("PropertyUse"), old.name.clone(), old.key);
                            let new_atom =
                                self.facts
                                    .atom(sig!("PropertyUse"), new.name.clone(), new.key);
                            for (atom, name) in [(old_atom, &old.name), (new_atom, &new.name)] {
                                self.facts.tuple(
                                    field!("Resource", "properties"),
                                    &[building.atom, atom],
                                );
                                let declared = self.word(sig!("Declaration"), name, building.span);
                                self.facts
                                    .tuple(field!("PropertyUse", "declared"), &[atom, declared]);
                            }
                            self.facts
                                .tuple(field!("PropertyUse", "replacedBy"), &[old_atom, new_atom]);
                        }
                    }
                    None => {
                        let Some(one) = map.get_mut(old) else {
                            continue;
                        };
                        // The old name is gone from the graph, so what it says is said here.
                        let status = schema_of(ty, holder, from).map(|schema| &schema.status);
                        if let Some(status) = status.filter(|s| s.kind != StatusKind::Supported) {
                            let atom =
                                self.facts
                                    .atom(sig!("PropertyUse"), one.name.clone(), one.key);
                            let declared = self.word(sig!("Declaration"), &one.name, building.span);
                            self.facts
                                .tuple(field!("Resource", "properties"), &[building.atom, atom]);
                            self.facts
                                .tuple(field!("PropertyUse", "declared"), &[atom, declared]);
                            let successor = status.substitute.as_deref().unwrap_or(to);
                            let successor = self.word(sig!("Successor"), successor, one.key);
                            self.facts
                                .tuple(field!("PropertyUse", "outdated"), &[atom, successor]);
                        }
                        if schema.is_some() {
                            one.name = to.clone();
                        }
                    }
                }
            }
        }
    }

    /// What Heat's plugin for the type refuses: combinations of properties.
    fn plugin_checks(&mut self, building: &Building<'_>, ty: &ResourceType, fields: &[Field]) {
        let given =
            |name: &str| field(fields, name).is_some_and(|item| !matches!(item.value, Value::Null));
        // The condition around a rule is not part of the data: only rules that hold without one.
        for rule in &ty.checks.rules {
            let names = |key: &str| -> Vec<&str> {
                let list = rule.get(key).and_then(Json::as_array);
                list.map_or_else(Vec::new, |list| {
                    list.iter().filter_map(Json::as_str).collect()
                })
            };
            let text = if let [a, b] = names("conflict").as_slice() {
                let plain = ty.properties.contains_key(*a) && ty.properties.contains_key(*b);
                let both = given(a) && given(b) && plain && unconditional(&ty.name, a, b);
                both.then(|| format!("`{a}` and `{b}` exclude each other"))
            } else if rule.get("one_required").is_some() {
                let wanted = names("one_required");
                let none = !wanted.is_empty() && !wanted.iter().any(|name| given(name));
                let declared = wanted.iter().all(|name| ty.properties.contains_key(*name));
                (none && declared && unconditional_choice(&ty.name))
                    .then(|| format!("one of `{}` is needed", wanted.join("`, `")))
            } else {
                None
            };
            if let Some(text) = text {
                let check = self.word(sig!("PluginCheck"), &text, building.span);
                self.facts
                    .tuple(field!("Resource", "conflicts"), &[building.atom, check]);
            }
        }
    }
}

/// The value as Heat converts it to the property's type, so that rules see one form of it.
fn normalised(ty: PropertyType, value: &Value) -> Option<Value> {
    match (ty, value) {
        (PropertyType::Boolean, Value::Str(text)) => {
            Some(Value::Bool(text.eq_ignore_ascii_case("true")))
        }
        (PropertyType::Integer | PropertyType::Number, Value::Str(_)) => number(value),
        (PropertyType::String, Value::Int(_) | Value::Bool(_)) => plain(value).map(Value::str),
        _ => None,
    }
}

/// Types whose identifier is that of another type, which the constraint's own lookup also finds.
fn also_accepts(constraint: &str, sort: &str) -> bool {
    matches!(
        (constraint, sort),
        // The encryption is a part of the volume type and goes by its identifier.
        ("cinder.vtype", "OS::Cinder::EncryptedVolumeType")
    )
}

/// Pairs that exclude each other only under a condition that the data does not record.
fn unconditional(ty: &str, a: &str, b: &str) -> bool {
    let conditional: &[(&str, &str, &str)] = &[
        // `no_fixed_ips: false` goes with fixed ips.
        ("OS::Neutron::Port", "fixed_ips", "no_fixed_ips"),
        // Only `distributed: true` excludes them.
        ("OS::Neutron::Router", "distributed", "l3_agent_id"),
        ("OS::Neutron::Router", "distributed", "l3_agent_ids"),
        (
            "OS::Neutron::Router",
            "distributed",
            "l3_agent_id/l3_agent_ids",
        ),
        ("OS::Neutron::Router", "distributed", "ha"),
        ("OS::Nova::Server", "image", "block_device_mapping_v2"),
    ];
    !conditional
        .iter()
        .any(|&(name, x, y)| name == ty && ((x, y) == (a, b) || (y, x) == (a, b)))
}

/// Types for which one of several properties is needed whatever the others are.
fn unconditional_choice(ty: &str) -> bool {
    matches!(
        ty,
        "OS::Cinder::Quota"
            | "OS::Nova::Quota"
            | "OS::Neutron::Quota"
            | "OS::Mistral::CronTrigger"
            | "AWS::EC2::EIPAssociation"
    )
}

/// The maps that a path of a translation leads to; lists are entered.
fn holders<'f>(fields: &'f mut Vec<Field>, path: &[Arc<str>]) -> Vec<&'f mut Vec<Field>> {
    let Some((first, rest)) = path.split_first() else {
        return vec![fields];
    };
    let mut found = Vec::new();
    for one in fields.iter_mut().filter(|one| one.name == *first) {
        match &mut one.item.value {
            Value::Map(inner) => found.extend(holders(inner, rest)),
            Value::List(items) => {
                for item in items {
                    if let Value::Map(inner) = &mut item.value {
                        found.extend(holders(inner, rest));
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// The schema of a property within a property.
fn schema_of<'t>(
    ty: &'t ResourceType,
    holder: &[Arc<str>],
    name: &Arc<str>,
) -> Option<&'t PropertySchema> {
    let mut entries = &ty.properties;
    for step in holder {
        let schema = entries.get(step)?;
        let schema = match schema.ty {
            PropertyType::List => schema.items.as_deref()?,
            _ => schema,
        };
        entries = schema.entries.as_ref()?;
    }
    entries.get(name)
}
