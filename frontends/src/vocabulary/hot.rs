//! Heat templates: the facts of the front-end, and a signature for every resource type.
//!
//! The type `OS::Neutron::Port` is the signature `OS_Neutron_Port`, its property `network` the field
//! `prop_network`; the items of `fixed_ips` are atoms of `OS_Neutron_Port_fixed_ips`, which has
//! fields of its own. A property that must name a resource leads to the resource.

use std::collections::BTreeMap;
use std::sync::{LazyLock, RwLock};

use crate::hot::data::{CustomKind, PropertySchema, PropertyType, catalogue, language};
use crate::hot::facts::VOCABULARY;
use locus_core::int::Int;
use locus_core::value::Value;
use rustc_hash::FxHashMap;

use super::{EXISTING, Field, Members, PROPERTY, Sig, Vocabulary, from_facts, mangle};

/// The vocabulary of Heat templates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hot;

/// Signature names of all types, with the types.
static TYPES: LazyLock<BTreeMap<String, &'static str>> = LazyLock::new(|| {
    let names = catalogue().names();
    names.map(|name| (mangle(name), name)).collect()
});

/// A signature of a resource type or of a map within its properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeSig {
    /// The type.
    pub ty: &'static str,
    /// The properties that lead to the map; empty for the type itself.
    pub path: Vec<String>,
}

/// The nested maps that were looked for; rules ask for the same ones with every configuration.
static NESTED: LazyLock<RwLock<FxHashMap<Box<str>, Option<TypeSig>>>> =
    LazyLock::new(RwLock::default);

/// The type and path that a signature name stands for.
pub fn resolve(name: &str) -> Option<TypeSig> {
    if let Some(&ty) = TYPES.get(name) {
        return Some(TypeSig {
            ty,
            path: Vec::new(),
        });
    }
    if let Ok(known) = NESTED.read()
        && let Some(found) = known.get(name)
    {
        return found.clone();
    }
    let found = nested(name);
    if let Ok(mut known) = NESTED.write() {
        known.insert(name.into(), found.clone());
    }
    found
}

fn nested(name: &str) -> Option<TypeSig> {
    // The longest type name that is a prefix: `OS_Nova_Server_networks` is no type.
    let candidates = TYPES.range(..name.to_owned()).rev();
    let first = name.split('_').next().unwrap_or("");
    candidates
        .take_while(|(sig, _)| sig.starts_with(first))
        .filter_map(|(sig, &ty)| Some((ty, name.strip_prefix(sig.as_str())?.strip_prefix('_')?)))
        .find_map(|(ty, rest)| {
            let resource = catalogue().get(ty)?;
            let path = resource
                .properties
                .iter()
                .find_map(|(property, schema)| descend(property, schema, rest))?;
            Some(TypeSig { ty, path })
        })
}

fn descend(property: &str, schema: &PropertySchema, rest: &str) -> Option<Vec<String>> {
    let rest = rest.strip_prefix(&mangle(property))?;
    let entries = entries(schema)?;
    if rest.is_empty() {
        return Some(vec![property.to_owned()]);
    }
    let rest = rest.strip_prefix('_')?;
    let mut path = entries
        .iter()
        .find_map(|(property, schema)| descend(property, schema, rest))?;
    path.insert(0, property.to_owned());
    Some(path)
}

type Entries = FxHashMap<std::sync::Arc<str>, PropertySchema>;

/// The entries of a map, or of the maps in a list.
fn entries(schema: &PropertySchema) -> Option<&Entries> {
    match (&schema.entries, &schema.items) {
        (Some(entries), _) => Some(entries),
        (None, Some(items)) => items.entries.as_ref(),
        (None, None) => None,
    }
}

/// What a property can hold.
fn column(owner: &str, property: &str, schema: &PropertySchema) -> Vec<String> {
    if entries(schema).is_some() {
        return vec![format!("{owner}_{}", mangle(property))];
    }
    let leaf = schema.items.as_deref().unwrap_or(schema);
    let mut sigs: Vec<String> = Vec::new();
    for name in leaf.custom_constraints() {
        if let Some(custom) = language().custom_constraints.get(name.as_ref())
            && custom.kind == CustomKind::Reference
        {
            sigs.extend(custom.resource_types.iter().map(|name| mangle(name)));
        }
    }
    if !sigs.is_empty() {
        sigs.push(EXISTING.to_owned());
    }
    sigs
}

fn fields(owner: &str, properties: &Entries) -> Vec<Field> {
    let mut fields: Vec<Field> = properties
        .iter()
        .map(|(name, schema)| Field {
            name: format!("{PROPERTY}{}", mangle(name)),
            columns: vec![column(owner, name, schema)],
            multiplicity: match schema.ty {
                PropertyType::List => "set",
                _ => "lone",
            },
        })
        .collect();
    fields.sort_by(|a, b| a.name.cmp(&b.name));
    fields
}

impl Vocabulary for Hot {
    fn language(&self) -> &'static str {
        "hot"
    }

    fn sig(&self, name: &str) -> Option<Sig> {
        if name == EXISTING {
            return Some(Sig {
                name: name.to_owned(),
                parent: None,
                subset: false,
                fields: Vec::new(),
            });
        }
        if let Some(decl) = VOCABULARY.sig(name) {
            return Some(from_facts(decl));
        }
        let found = resolve(name)?;
        let resource = catalogue().get(found.ty)?;
        let mut properties = &resource.properties;
        for step in &found.path {
            properties = entries(properties.get(step.as_str())?)?;
        }
        Some(Sig {
            name: name.to_owned(),
            parent: found.path.is_empty().then(|| "Resource".to_owned()),
            subset: false,
            fields: fields(name, properties),
        })
    }

    fn members(&self, name: &str) -> Option<Members> {
        if name == EXISTING {
            return Some(Members::Existing);
        }
        let TypeSig { ty, path } = resolve(name)?;
        let sort = ty.to_owned();
        Some(if path.is_empty() {
            Members::Sort(sort)
        } else {
            Members::Maps { sort, path }
        })
    }

    fn default(&self, members: &Members, property: &str) -> Option<Value> {
        let (sort, path): (&str, &[String]) = match members {
            Members::Sort(sort) => (sort, &[]),
            Members::Maps { sort, path } => (sort, path),
            Members::Existing => return None,
        };
        let resource = catalogue().get(sort)?;
        let mut properties = &resource.properties;
        for step in path {
            properties = entries(properties.get(step.as_str())?)?;
        }
        let schema = properties.get(property)?;
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_nested_maps_are_signatures() {
        let port = Hot.sig("OS_Neutron_Port").unwrap();
        assert_eq!(port.parent.as_deref(), Some("Resource"));
        let network = port
            .fields
            .iter()
            .find(|f| f.name == "prop_network")
            .unwrap();
        assert!(network.columns[0].contains(&"OS_Neutron_Net".to_owned()));
        let fixed = port
            .fields
            .iter()
            .find(|f| f.name == "prop_fixed_ips")
            .unwrap();
        assert_eq!(fixed.columns, [["OS_Neutron_Port_fixed_ips"]]);
        let nested = Hot.sig("OS_Neutron_Port_fixed_ips").unwrap();
        assert!(nested.fields.iter().any(|f| f.name == "prop_ip_address"));
        let deep = Hot
            .sig("OS_Neutron_Router_external_gateway_info_external_fixed_ips")
            .unwrap();
        assert!(deep.fields.iter().any(|f| f.name == "prop_subnet"));
        assert_eq!(Hot.sig("OS_Neutron_Port_nothing"), None);
        assert_eq!(Hot.sig("Nothing"), None);
    }

    #[test]
    fn every_nested_map_of_every_type_has_a_name_of_its_own() {
        for ty in catalogue().names() {
            let owner = mangle(ty);
            let mut open = vec![(
                owner.clone(),
                catalogue().get(ty).unwrap().properties.clone(),
            )];
            while let Some((sig, properties)) = open.pop() {
                for (name, schema) in &properties {
                    if let Some(inner) = entries(schema) {
                        let nested = format!("{sig}_{}", mangle(name));
                        let found = resolve(&nested).unwrap_or_else(|| panic!("{nested}"));
                        assert_eq!(found.ty, ty, "{nested}");
                        open.push((nested, inner.clone()));
                    }
                }
            }
        }
    }
}
