//! A signature for every resource type, and for every map within its properties.
//!
//! The type `OS::Neutron::Port` is the signature `OS_Neutron_Port`, its property `network` the field
//! `prop_network`; the items of `fixed_ips` are atoms of `OS_Neutron_Port_fixed_ips`, which has
//! fields of its own. A property that must name a resource leads to the resource.

use std::sync::{Arc, LazyLock};

use locus_core::int::Int;
use locus_core::value::Value;
use locus_core::vocabulary::lg::LOCATION;
use locus_core::vocabulary::{
    Content, Field, GraphSet, Members, Multiplicity, Sig, Text, Types, identifier,
};
use rustc_hash::FxHashMap;

use crate::hot::data::{
    CustomKind, PropertySchema, PropertyType, ResourceType, catalogue, language,
};

/// What exists before the deployment: named by a parameter, or with an `external_id`.
const EXISTING: &str = "Existing";

/// What the names of fields start with that are properties.
const PROPERTY: &str = "prop_";

/// The types that Heat knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Catalogued;

/// The signatures of all types, with the types.
static TYPES: LazyLock<FxHashMap<String, &'static str>> = LazyLock::new(|| {
    let names = catalogue().names();
    names.map(|name| (identifier(name), name)).collect()
});

impl Types for Catalogued {
    fn sig(&self, name: &str) -> Option<Sig> {
        if name == EXISTING {
            return Some(Sig {
                name: EXISTING.into(),
                parent: Some(LOCATION.into()),
                subset: false,
                doc: "what exists before the deployment, named by a parameter or an `external_id`"
                    .into(),
                fields: Vec::new(),
                members: Members::Graph(GraphSet::Existing),
            });
        }
        if let Some(&ty) = TYPES.get(name) {
            return signatures(&*catalogue().get(ty)?).into_iter().next();
        }
        // The name of a map is made from that of its type, so no other type needs to be described.
        let mut types = TYPES
            .iter()
            .filter(|(sig, _)| name.starts_with(sig.as_str()));
        types.find_map(|(_, &ty)| {
            let all = signatures(&*catalogue().get(ty)?);
            all.into_iter().find(|sig| sig.name == name)
        })
    }

    fn names(&self) -> Vec<String> {
        let mut types: Vec<&str> = catalogue().names().collect();
        types.sort_unstable();
        let types = types.into_iter().filter_map(|ty| catalogue().get(ty));
        let sigs = types.flat_map(|ty| signatures(&ty));
        let names = sigs.map(|sig| sig.name.into_owned());
        std::iter::once(EXISTING.to_owned()).chain(names).collect()
    }
}

type Entries = FxHashMap<Arc<str>, PropertySchema>;

/// The entries of a map, or of the maps in a list.
fn entries(schema: &PropertySchema) -> Option<&Entries> {
    match (&schema.entries, &schema.items) {
        (Some(entries), _) => Some(entries),
        (None, Some(items)) => items.entries.as_ref(),
        (None, None) => None,
    }
}

/// The signature of a type, and after it those of the maps within its properties.
pub(in crate::hot) fn signatures(ty: &ResourceType) -> Vec<Sig> {
    let top = identifier(&ty.name);
    let mut sigs = vec![Sig {
        fields: fields(&top, &ty.properties),
        parent: Some("Resource".into()),
        subset: false,
        doc: format!("a resource of type `{}`; the span is its name", ty.name).into(),
        members: Members::Sort(ty.name.clone()),
        name: top.clone().into(),
    }];
    maps(&ty.name, &top, &[], &ty.properties, &mut sigs);
    sigs
}

/// The signatures of the maps within properties.
fn maps(
    sort: &Arc<str>,
    owner: &str,
    path: &[Arc<str>],
    properties: &Entries,
    sigs: &mut Vec<Sig>,
) {
    let mut inner: Vec<(&Arc<str>, &Entries)> = properties
        .iter()
        .filter_map(|(name, schema)| Some((name, entries(schema)?)))
        .collect();
    inner.sort_unstable_by_key(|(name, _)| *name);
    for (name, properties) in inner {
        let own = format!("{owner}_{}", identifier(name));
        let path: Vec<Arc<str>> = path.iter().chain([name]).cloned().collect();
        sigs.push(Sig {
            fields: fields(&own, properties),
            parent: None,
            subset: false,
            doc: format!(
                "a map in `{}` of `{sort}`; the span is the map",
                path.join(".")
            )
            .into(),
            members: Members::Maps {
                sort: sort.clone(),
                path: path.clone(),
            },
            name: own.clone().into(),
        });
        maps(sort, &own, &path, properties, sigs);
    }
}

fn fields(owner: &str, properties: &Entries) -> Vec<Field> {
    let all = properties.iter().map(|(name, schema)| {
        let sigs = match entries(schema) {
            Some(_) => vec![format!("{owner}_{}", identifier(name)).into()],
            None => {
                let leaf = schema.items.as_deref().unwrap_or(schema);
                referred(leaf.custom_constraints().map(|name| &**name))
            }
        };
        let required = if schema.required { ", required" } else { "" };
        Property {
            name,
            doc: format!("`{name}`: {}{required}", schema.ty.as_str()),
            default: default(schema),
            maps: entries(schema).and(sigs.first().cloned()),
            sigs,
            many: schema.ty == PropertyType::List,
        }
    });
    properties_as_fields(all)
}

/// A property on its way to becoming a field.
pub(in crate::hot) struct Property<'p> {
    pub(in crate::hot) name: &'p Arc<str>,
    pub(in crate::hot) doc: String,
    pub(in crate::hot) default: Option<Value>,
    pub(in crate::hot) maps: Option<Text>,
    /// What it may hold; anything without.
    pub(in crate::hot) sigs: Vec<Text>,
    pub(in crate::hot) many: bool,
}

/// Fields in the order of their names; properties whose names become one identifier share a field.
pub(in crate::hot) fn properties_as_fields<'p>(
    properties: impl Iterator<Item = Property<'p>>,
) -> Vec<Field> {
    let mut fields: Vec<Field> = properties
        .map(|property| Field {
            name: format!("{PROPERTY}{}", identifier(property.name)).into(),
            columns: vec![property.sigs],
            multiplicity: if property.many {
                Multiplicity::Set
            } else {
                Multiplicity::Lone
            },
            doc: property.doc.into(),
            content: Content::Property {
                names: vec![property.name.clone()],
                default: property.default,
                maps: property.maps,
            },
        })
        .collect();
    fields.sort_by(|a, b| a.name.cmp(&b.name));
    fields.dedup_by(|next, kept| {
        let same = next.name == kept.name;
        if let (true, Content::Property { names, .. }, Content::Property { names: more, .. }) =
            (same, &mut kept.content, &next.content)
        {
            names.extend(more.iter().cloned());
            kept.multiplicity = Multiplicity::Set;
        }
        same
    });
    fields
}

/// The signatures of what custom constraints refer to.
pub(in crate::hot) fn referred<'n>(constraints: impl Iterator<Item = &'n str>) -> Vec<Text> {
    let mut sigs: Vec<Text> = Vec::new();
    for name in constraints {
        if let Some(custom) = language().custom_constraints.get(name)
            && custom.kind == CustomKind::Reference
        {
            sigs.extend(
                custom
                    .resource_types
                    .iter()
                    .map(|name| identifier(name).into()),
            );
        }
    }
    if !sigs.is_empty() {
        sigs.push(EXISTING.into());
    }
    sigs
}

/// The value that a property has when it is not given.
fn default(schema: &PropertySchema) -> Option<Value> {
    let text = match schema.default.as_ref()? {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Bool(value) => value.to_string(),
        serde_json::Value::Number(number) => number.to_string(),
        _ => return None,
    };
    Some(match schema.ty {
        PropertyType::Boolean => Value::Bool(text.eq_ignore_ascii_case("true")),
        PropertyType::Integer | PropertyType::Number => Value::Int(Int::parse(&text, 10)?),
        _ => Value::str(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_nested_maps_are_signatures() {
        let port = Catalogued.sig("OS_Neutron_Port").unwrap();
        assert_eq!(port.parent.as_deref(), Some("Resource"));
        let field = |sig: &Sig, name: &str| {
            let field = sig.fields.iter().find(|field| field.name == name);
            field.unwrap().clone()
        };
        let network = field(&port, "prop_network");
        assert!(network.columns[0].contains(&"OS_Neutron_Net".into()));
        assert_eq!(network.doc, "`network`: string, required");
        let fixed = field(&port, "prop_fixed_ips");
        assert_eq!(fixed.columns, [["OS_Neutron_Port_fixed_ips"]]);
        let nested = Catalogued.sig("OS_Neutron_Port_fixed_ips").unwrap();
        field(&nested, "prop_ip_address");
        let deep = "OS_Neutron_Router_external_gateway_info_external_fixed_ips";
        let deep = Catalogued.sig(deep).unwrap();
        field(&deep, "prop_subnet");
        assert_eq!(Catalogued.sig("OS_Neutron_Port_nothing"), None);
        assert_eq!(Catalogued.sig("Nothing"), None);
    }

    #[test]
    fn every_signature_has_a_name_of_its_own_by_which_it_is_found() {
        let names = Catalogued.names();
        let different: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(different.len(), names.len());
        for name in &names {
            let sig = Catalogued.sig(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(sig.name, *name);
        }
    }
}
