//! The project's own resource types as signatures that rules can name.
//!
//! A type is the project's own when its settings declare it, when an environment maps it to a template or to another type,
//! or when it is a template. Only those that rules mention are described, so that no template is read for nothing.

use std::sync::Arc;

use locus_core::facts::AtomId;
use locus_core::value::{Constraint, Value};
use locus_core::vocabulary::{Members, Sig, Types as _, identifier};

use super::data::{ResourceType, catalogue};
use super::engine::{Engine, Resolved, is_template_name};
use super::parameter::{self, Parameter, ParameterType};
use super::template;
use super::vocabulary::types::{Catalogued, Property, properties_as_fields, referred, signatures};

impl Engine<'_> {
    /// Puts a resource into the signature of its type, if that is one of the project's own.
    pub(super) fn mark_type(&mut self, resource: AtomId, name: &Arc<str>, resolved: &Resolved) {
        if self.request.mentioned.is_empty()
            || matches!(resolved, Resolved::Unknown)
            || self.request.types.contains_key(name)
            || !self.is_mentioned(name)
        {
            return;
        }
        let subset = self.facts.declare(name);
        self.facts.mark(resource, subset);
        if !self.own_types.iter().any(|(known, _)| known == name) {
            self.own_types.push((name.clone(), resolved.clone()));
        }
    }

    /// Whether rules mention the signature of a type that Heat does not know itself.
    fn is_mentioned(&self, name: &str) -> bool {
        let sig = identifier(name);
        catalogue().get(name).is_none() && self.request.mentioned.contains(&sig)
    }

    /// The project's own types that rules mention.
    pub(super) fn declared_types(&mut self) -> Vec<Sig> {
        let mut sigs = Vec::new();
        if self.request.mentioned.is_empty() {
            return sigs;
        }
        let request = self.request;
        for ty in request.types.values() {
            self.declare_type(ty, &mut sigs);
        }
        let mut own = std::mem::take(&mut self.own_types);
        // A type that is mapped and not used has a signature too, without atoms.
        let mapped = self.environment.registry.iter().map(|mapped| &mapped.from);
        let mapped: Vec<Arc<str>> = mapped
            .filter(|from| !from.ends_with('*'))
            .cloned()
            .collect();
        for name in mapped {
            let known = own.iter().any(|(known, _)| *known == name);
            if !known && !request.types.contains_key(&name) && self.is_mentioned(&name) {
                let resolved = self.mapped_type(&name);
                own.push((name, resolved));
            }
        }
        own.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (name, resolved) in own {
            let (parent, fields, doc) = match &resolved {
                Resolved::Type(ty) => {
                    self.declare_type(ty, &mut sigs);
                    (identifier(&ty.name), Vec::new(), format!("`{}`", ty.name))
                }
                Resolved::Template(file) => {
                    let fields = self.parameters_of(*file).map(|all| self.fields(&all));
                    let fields = fields.unwrap_or_default();
                    let name = self.sources.name(*file).to_owned();
                    (
                        "Resource".to_owned(),
                        fields,
                        format!("the template `{name}`"),
                    )
                }
                Resolved::Opaque | Resolved::Unknown => {
                    let doc = "something that is not known".to_owned();
                    ("Resource".to_owned(), Vec::new(), doc)
                }
            };
            sigs.push(Sig {
                name: identifier(&name).into(),
                parent: Some(parent.into()),
                subset: false,
                doc: format!("a resource of type `{name}`, which stands for {doc}").into(),
                fields,
                members: Members::Marked(self.facts.declare(&name)),
            });
        }
        sigs
    }

    /// Describes a type of the settings, once.
    fn declare_type(&self, ty: &ResourceType, sigs: &mut Vec<Sig>) {
        let known = catalogue().get(&ty.name).is_some()
            || Catalogued.sig(&identifier(&ty.name)).is_some()
            || sigs
                .iter()
                .any(|sig| sig.members == Members::Sort(ty.name.clone()));
        if !known {
            sigs.extend(signatures(ty));
        }
    }

    /// What the registry maps a type to that no resource has. Nothing is reported of it.
    fn mapped_type(&mut self, name: &Arc<str>) -> Resolved {
        let mut name = name.clone();
        for _ in 0..8 {
            if let Some(ty) = self.request.types.get(&name).cloned() {
                return Resolved::Type(ty);
            }
            if let Some(ty) = catalogue().get(&name) {
                return Resolved::Type(ty);
            }
            let Some((mapped, to)) = self.environment.lookup(&name, "") else {
                break;
            };
            let file = mapped.file;
            if is_template_name(&to) {
                let reported = self.diagnostics.len();
                let found = self.file(&to, file);
                self.diagnostics.truncate(reported);
                return found.map_or(Resolved::Opaque, Resolved::Template);
            }
            if to == name {
                break;
            }
            name = to;
        }
        Resolved::Opaque
    }

    /// The parameters of a template, which are the properties of a type that stands for it.
    fn parameters_of(&mut self, file: locus_core::FileId) -> Option<Vec<Parameter>> {
        if let Some(known) = self.prepared(file) {
            return Some(known.parameters.clone());
        }
        let mut ignored = Vec::new();
        let limits = &self.request.limits;
        let mut template = template::read(self.sources, file, limits, &mut ignored)?;
        let section = std::mem::take(&mut template.parameters);
        let mut keys = Vec::new();
        let (dialect, info) = (template.dialect, template.info);
        Some(parameter::read(
            &section,
            dialect,
            info,
            &mut keys,
            &mut ignored,
        ))
    }

    fn fields(&self, parameters: &[Parameter]) -> Vec<locus_core::vocabulary::Field> {
        let all = parameters.iter().map(|parameter| {
            let named = parameter
                .constraints
                .iter()
                .filter_map(|one| match &one.meaning {
                    Some(Constraint::Named(name)) => Some(&**name),
                    _ => None,
                });
            let general = self.environment.defaults.iter().rev();
            let general = general.map(|given| (&given.name, &given.item));
            let general = general.filter(|(name, _)| **name == parameter.name);
            let own = parameter
                .default
                .as_ref()
                .map(|item| (&parameter.name, item));
            let default = general
                .chain(own)
                .next()
                .map(|(_, item)| item.value.clone());
            let required = if default.is_none() { ", required" } else { "" };
            Property {
                name: &parameter.name,
                doc: format!("`{}`: {}{required}", parameter.name, parameter.ty.as_str()),
                default: default.filter(is_plain),
                maps: None,
                sigs: referred(named),
                many: parameter.ty == ParameterType::List,
            }
        });
        properties_as_fields(all)
    }
}

fn is_plain(value: &Value) -> bool {
    matches!(value, Value::Bool(_) | Value::Int(_) | Value::Str(_))
}
