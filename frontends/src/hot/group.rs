//! Groups: resources that stand for several of a kind.

use std::sync::Arc;

use locus_core::graph::{Location, Origin, RoleKind};
use locus_core::value::{Field, Item, Value, field};
use locus_core::{Diagnostic, LocationId, Span};
use rustc_hash::FxHashSet;

use super::data::{ResourceType, catalogue, language};
use super::engine::{Engine, Resolved, Stack};
use super::functions::put_index;
use super::resource::Building;
use super::vocabulary::sig;

/// What each member of a group is.
struct Member {
    ty: Arc<str>,
    ty_span: Span,
    properties: Vec<Field>,
}

impl Engine<'_> {
    /// Makes the members of a group.
    pub(super) fn expand_group(
        &mut self,
        stack: &mut Stack,
        building: &Building<'_>,
        ty: &ResourceType,
    ) {
        let fields = self.graph.location(building.location).properties.clone();
        match &*ty.name {
            "OS::Heat::ResourceGroup" => {
                let Some(member) = field(&fields, "resource_def").and_then(definition) else {
                    return;
                };
                let count = self.size(building, &fields, &["count"], 1);
                let variable = field(&fields, "index_var")
                    .and_then(|item| item.value.as_str().map(str::to_owned))
                    .unwrap_or_else(|| "%index%".into());
                for index in 0..count {
                    let index = index.to_string();
                    let put = |value: &Value| put_index(value, &variable, &index);
                    let properties = member
                        .properties
                        .iter()
                        .map(|field| Field {
                            item: Item {
                                value: put(&field.item.value),
                                ..field.item.clone()
                            },
                            ..field.clone()
                        })
                        .collect();
                    self.member(stack, building, &index, &member, properties);
                }
            }
            "OS::Heat::AutoScalingGroup" => {
                let Some(member) = field(&fields, "resource").and_then(definition) else {
                    return;
                };
                // A group that starts empty grows: one member stands for those to come.
                let count = self
                    .size(building, &fields, &["desired_capacity", "min_size"], 1)
                    .max(1);
                for index in 0..count {
                    let properties = member.properties.clone();
                    self.member(stack, building, &index.to_string(), &member, properties);
                }
            }
            "OS::Heat::ResourceChain" => {
                let Some(Value::List(types)) = field(&fields, "resources").map(|item| &item.value)
                else {
                    return;
                };
                let properties = match field(&fields, "resource_properties").map(|item| &item.value)
                {
                    Some(Value::Map(fields)) => fields.clone(),
                    _ => Vec::new(),
                };
                for (index, item) in types.iter().enumerate() {
                    let Some(ty) = item.value.as_str() else {
                        continue;
                    };
                    let member = Member {
                        ty: ty.into(),
                        ty_span: item.span,
                        properties: properties.clone(),
                    };
                    self.member(
                        stack,
                        building,
                        &index.to_string(),
                        &member,
                        properties.clone(),
                    );
                }
            }
            "OS::Heat::InstanceGroup" | "AWS::AutoScaling::AutoScalingGroup" => {
                self.instances(stack, building, &fields);
            }
            _ => {}
        }
    }

    /// How many members there are; `unknown` when that is not known.
    fn size(
        &mut self,
        building: &Building<'_>,
        fields: &[Field],
        names: &[&str],
        unknown: usize,
    ) -> usize {
        let known = names.iter().find_map(|name| field(fields, name));
        let Some(item) = known else { return unknown };
        let wanted = match super::constraint::number(&item.value) {
            Some(Value::Int(n)) => n.to_i64(),
            _ => return unknown,
        };
        let limit = language().max_resources();
        let Some(wanted) = wanted.map(|n| usize::try_from(n.max(0)).unwrap_or(usize::MAX)) else {
            return unknown;
        };
        if wanted > limit {
            if self.said.insert((building.span, "size")) {
                let message = format!(
                    "`{}` has {wanted} members, and the first {limit} were checked: more than {limit} \
                     resources are refused by Heat",
                    building.name
                );
                self.unchecked
                    .push(Diagnostic::warning("unchecked", message).at(item.span));
            }
            return limit;
        }
        wanted
    }

    /// Makes one member of a group and expands it.
    fn member(
        &mut self,
        stack: &mut Stack,
        group: &Building<'_>,
        name: &str,
        member: &Member,
        properties: Vec<Field>,
    ) {
        let file = stack.prepared.template.file;
        let resolved = self.resolve_type(&member.ty, member.ty_span, name, file);
        let sort = match &resolved {
            Resolved::Type(ty) => ty.name.clone(),
            _ => member.ty.clone(),
        };
        let location = self.contained(group.location, name, sort, group.span);
        let shown: Arc<str> = format!("{}[{name}]", group.name).into();
        let atom = self.facts.atom(sig!("Resource"), shown.clone(), group.span);
        self.facts.locate(atom, location);
        self.by_location.insert(location, atom);
        self.type_facts(atom, &member.ty, member.ty_span, &resolved);
        let mut building = Building {
            location,
            atom,
            name: &shown,
            span: group.span,
            bound: FxHashSet::from_iter([location]),
        };
        self.type_properties(stack, &mut building, &resolved, properties);
    }

    fn contained(
        &mut self,
        group: LocationId,
        name: &str,
        sort: Arc<str>,
        span: Span,
    ) -> LocationId {
        let holder = self.graph.location(group);
        let mut location = Location::new(format!("{}/{name}", holder.name), sort, span);
        location.presence = holder.presence.clone();
        location.parent = Some(group);
        location.origin.included_by = Some(Arc::new(Origin {
            span: holder.origin.span,
            included_by: holder.origin.included_by.clone(),
        }));
        let id = self.graph.add_location(location);
        self.bind(group, id, RoleKind::Containment, "member", span);
        id
    }

    /// The servers of an instance group, made from its launch configuration.
    fn instances(&mut self, stack: &mut Stack, building: &Building<'_>, fields: &[Field]) {
        let count = self
            .size(building, fields, &["DesiredCapacity", "Size", "MinSize"], 1)
            .max(1);
        let configuration = match field(fields, "LaunchConfigurationName").map(|item| &item.value) {
            Some(Value::Location(id)) => Some(*id),
            _ => None,
        };
        // The configuration may come later in the template: evaluate it when it has no properties.
        let properties = match configuration {
            Some(id) => self.configuration_of(stack, id),
            None => Vec::new(),
        };
        let instance = catalogue().get("AWS::EC2::Instance");
        for index in 0..count {
            let location = self.contained(
                building.location,
                &index.to_string(),
                "AWS::EC2::Instance".into(),
                building.span,
            );
            let kept = properties.iter().filter(|one| {
                instance
                    .as_ref()
                    .is_some_and(|ty| ty.properties.contains_key(&one.name))
            });
            let kept: Vec<Field> = kept.cloned().collect();
            for one in &kept {
                if let Value::Location(target) = one.item.value {
                    self.bind(
                        target,
                        location,
                        RoleKind::Reference,
                        &one.name,
                        one.item.span,
                    );
                }
            }
            self.graph.location_mut(location).properties = kept;
        }
    }

    fn configuration_of(&mut self, stack: &mut Stack, id: LocationId) -> Vec<Field> {
        let known = &self.graph.location(id).properties;
        if !known.is_empty() {
            return known.clone();
        }
        let prepared = stack.prepared.clone();
        let index = stack.locations.iter().position(|&location| location == id);
        let node = index
            .and_then(|index| prepared.template.resources.get(index))
            .and_then(|resource| resource.properties.as_ref());
        let item = node.and_then(|node| self.eval(stack, node, &mut super::eval::Uses::default()));
        match item.map(|item| item.value) {
            Some(Value::Map(fields)) => fields,
            _ => Vec::new(),
        }
    }
}

/// The type and the properties in a definition of members.
fn definition(item: &Item) -> Option<Member> {
    let ty = item.get("type")?;
    let properties = match item.get("properties").map(|item| &item.value) {
        Some(Value::Map(fields)) => fields.clone(),
        _ => Vec::new(),
    };
    Some(Member {
        ty: ty.value.as_str()?.into(),
        ty_span: ty.from.unwrap_or(ty.span),
        properties,
    })
}
