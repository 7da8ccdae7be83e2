//! Resource types: their properties, attributes and what their plugins check.

use std::sync::{Arc, LazyLock, OnceLock};

use locus_core::Int;
use locus_core::value::{Constraint, Value};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::Value as Json;

use super::language::language;

static TYPES: &str = include_str!("../../../data/heat-types.jsonl");

/// The type of a property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PropertyType {
    /// Text; booleans and integers are taken as text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A truth value.
    Boolean,
    /// A list.
    List,
    /// A map.
    Map,
    /// Anything.
    #[default]
    Any,
}

impl PropertyType {
    /// Its name, as Heat writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            PropertyType::String => "string",
            PropertyType::Integer => "integer",
            PropertyType::Number => "number",
            PropertyType::Boolean => "boolean",
            PropertyType::List => "list",
            PropertyType::Map => "map",
            PropertyType::Any => "any",
        }
    }
}

/// How well a type, property or attribute is supported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum StatusKind {
    /// It is.
    #[default]
    Supported,
    /// It works and will go.
    Deprecated,
    /// It is kept only so that old stacks can be deleted.
    Hidden,
    /// It is not part of what the service promises.
    Unsupported,
}

impl StatusKind {
    /// Its name in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            StatusKind::Supported => "supported",
            StatusKind::Deprecated => "deprecated",
            StatusKind::Hidden => "hidden",
            StatusKind::Unsupported => "unsupported",
        }
    }
}

/// Support and its history.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Status {
    /// The current state.
    #[serde(rename = "status")]
    pub kind: StatusKind,
    /// The release since which it holds.
    pub version: Option<Arc<str>>,
    /// The type to use instead.
    pub substitute: Option<Arc<str>>,
}

/// A limit on a property's value.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PropertyConstraint {
    /// Number of characters, items or entries.
    Length {
        /// At least.
        min: Option<i64>,
        /// At most.
        max: Option<i64>,
    },
    /// Size of a number.
    Range {
        /// At least.
        min: Option<f64>,
        /// At most.
        max: Option<f64>,
    },
    /// `value % step == offset`.
    Modulo {
        /// The divisor.
        step: i64,
        /// The remainder.
        offset: i64,
    },
    /// One of these.
    AllowedValues(Vec<Json>),
    /// A regular expression for the whole text.
    AllowedPattern(Arc<str>),
    /// A constraint by name.
    CustomConstraint(Arc<str>),
}

impl PropertyConstraint {
    /// The constraint in the terms of the graph.
    fn meaning(&self) -> Constraint {
        match self {
            PropertyConstraint::Length { min, max } => Constraint::Length {
                min: min.map(Int::from),
                max: max.map(Int::from),
            },
            PropertyConstraint::Range { min, max } => Constraint::Range {
                min: min.map(whole_or_float),
                max: max.map(whole_or_float),
            },
            PropertyConstraint::Modulo { step, offset } => Constraint::Modulo {
                step: Int::from(*step),
                offset: Int::from(*offset),
            },
            PropertyConstraint::AllowedValues(values) => {
                Constraint::OneOf(values.iter().filter_map(scalar).collect())
            }
            PropertyConstraint::AllowedPattern(pattern) => Constraint::Pattern(pattern.clone()),
            PropertyConstraint::CustomConstraint(name) => Constraint::Named(name.clone()),
        }
    }
}

fn whole_or_float(n: f64) -> Value {
    let whole = n.fract() == 0.0 && n.abs() < 1e15;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "checked to be a whole number that fits"
    )]
    if whole {
        Value::Int(Int::from(n as i64))
    } else {
        Value::Float(n)
    }
}

/// Allowed values are scalars.
fn scalar(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(n) => match n.as_i64() {
            Some(n) => Value::Int(Int::from(n)),
            None => Value::Float(n.as_f64()?),
        },
        Json::String(text) => Value::str(text.as_str()),
        Json::Array(_) | Json::Object(_) => return None,
    })
}

/// What a property may hold.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PropertySchema {
    /// Its type.
    #[serde(rename = "type")]
    pub ty: PropertyType,
    /// Whether it must be given.
    pub required: bool,
    /// The value when it is not given.
    pub default: Option<Json>,
    /// Limits on its value.
    pub constraints: Vec<PropertyConstraint>,
    /// The schema of a list's items; anything without.
    pub items: Option<Box<PropertySchema>>,
    /// The schemas of a map's entries; anything without.
    #[serde(rename = "schema")]
    pub entries: Option<FxHashMap<Arc<str>, PropertySchema>>,
    /// `false` when using it is an error.
    pub implemented: Option<bool>,
    /// Whether it can be changed later.
    pub update_allowed: bool,
    /// Whether it can never be changed.
    pub immutable: bool,
    /// Whether text is converted to a list or a map.
    pub allow_conversion: bool,
    /// How well it is supported.
    pub status: Status,
    /// The custom constraint that the property has in effect, because Heat looks the name up.
    #[serde(skip)]
    pub resolves: Option<Arc<str>>,
    /// The constraints in the terms of the graph, made when they are first asked for.
    #[serde(skip)]
    limits: OnceLock<Vec<Constraint>>,
}

impl PropertySchema {
    /// The constraints in the terms of the graph.
    pub fn limits(&self) -> &[Constraint] {
        self.limits.get_or_init(|| {
            self.constraints
                .iter()
                .map(PropertyConstraint::meaning)
                .collect()
        })
    }

    /// The custom constraints that apply, by name.
    pub fn custom_constraints(&self) -> impl Iterator<Item = &Arc<str>> {
        self.constraints
            .iter()
            .filter_map(|constraint| match constraint {
                PropertyConstraint::CustomConstraint(name) => Some(name),
                _ => None,
            })
    }
}

/// Something a resource has once it exists.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Attribute {
    /// Its type, when known.
    #[serde(rename = "type")]
    pub ty: Option<PropertyType>,
    /// How well it is supported.
    pub status: Status,
}

/// A rewriting of properties before they are validated.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Translation {
    /// `add`, `replace`, `delete` or `resolve`.
    pub rule: Arc<str>,
    /// The property that is written.
    pub path: Vec<Arc<str>>,
    /// The sibling that supplies it.
    pub value_name: Option<Arc<str>>,
    /// The property that supplies it.
    pub value_path: Option<Vec<Arc<str>>>,
    /// The path within what supplies it.
    pub custom_value_path: Option<Vec<Arc<str>>>,
    /// The service's collection that a name is looked up in.
    pub entity: Option<Arc<str>>,
}

/// What a plugin's own validation can refuse.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Checks {
    /// The rules, each an object with one key.
    pub rules: Vec<Json>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct LastReal {
    properties: FxHashMap<Arc<str>, PropertySchema>,
    attributes: FxHashMap<Arc<str>, Attribute>,
}

/// A resource type.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ResourceType {
    /// Its name.
    #[serde(rename = "type")]
    pub name: Arc<str>,
    /// How well it is supported.
    pub status: Status,
    /// Whether this release only keeps the name: it accepts anything and does nothing.
    pub placeholder: bool,
    /// Whether it is implemented as a nested stack.
    pub nested_stack: bool,
    /// Its properties.
    pub properties: FxHashMap<Arc<str>, PropertySchema>,
    /// Its attributes.
    pub attributes: FxHashMap<Arc<str>, Attribute>,
    /// The schema of its update policy.
    pub update_policy: Option<FxHashMap<Arc<str>, PropertySchema>>,
    /// How its properties are rewritten.
    pub translations: Vec<Translation>,
    /// What its plugin checks.
    pub checks: Checks,
    last_real: Option<LastReal>,
    /// Whether any property and attribute is accepted, because nothing is known about them.
    #[serde(skip)]
    pub open: bool,
}

impl ResourceType {
    /// Reads the description of a type: a JSON object with the keys of the data files.
    ///
    /// # Errors
    /// When the object is not of that form.
    pub fn from_json(json: Json) -> Result<Self, serde_json::Error> {
        serde_json::from_value::<ResourceType>(json).map(ResourceType::finish)
    }

    /// What a placeholder does not say comes from the last release in which the type was real.
    fn finish(mut self) -> Self {
        if self.placeholder {
            match self.last_real.take() {
                Some(real) => {
                    self.properties = real.properties;
                    self.attributes = real.attributes;
                }
                None => self.open = true,
            }
        }
        for rule in std::mem::take(&mut self.translations) {
            if let (Some(entity), "resolve") = (&rule.entity, &*rule.rule) {
                let constraint = format!("neutron.{entity}");
                let known = language().custom_constraints.contains_key(&constraint);
                if let Some(schema) = schema_at(&mut self.properties, &rule.path).filter(|_| known)
                {
                    schema.resolves = Some(constraint.into());
                }
            }
            self.translations.push(rule);
        }
        self
    }
}

/// The schema of a property within properties; lists are entered.
fn schema_at<'s>(
    properties: &'s mut FxHashMap<Arc<str>, PropertySchema>,
    path: &[Arc<str>],
) -> Option<&'s mut PropertySchema> {
    let (first, rest) = path.split_first()?;
    let schema = properties.get_mut(first)?;
    let schema = if schema.items.is_some() {
        schema.items.as_deref_mut()?
    } else {
        schema
    };
    if rest.is_empty() {
        return Some(schema);
    }
    schema_at(schema.entries.as_mut()?, rest)
}

struct Entry {
    line: &'static str,
    parsed: OnceLock<Option<Arc<ResourceType>>>,
}

/// All types that a stock installation has.
pub struct Catalogue {
    types: FxHashMap<&'static str, Entry>,
}

/// The catalogue of a stock installation.
pub fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue {
        types: TYPES
            .lines()
            .filter_map(|line| {
                let name = line.strip_prefix("{\"type\":\"")?.split('"').next()?;
                let parsed = OnceLock::new();
                Some((name, Entry { line, parsed }))
            })
            .collect(),
    });
    &CATALOGUE
}

impl Catalogue {
    /// A type by its name, without following aliases.
    pub fn get(&self, name: &str) -> Option<Arc<ResourceType>> {
        let entry = self.types.get(name)?;
        entry
            .parsed
            .get_or_init(|| {
                let parsed: Option<ResourceType> = serde_json::from_str(entry.line).ok();
                parsed.map(|parsed| Arc::new(parsed.finish()))
            })
            .clone()
    }

    /// The names of all types.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.types.keys().copied()
    }

    /// The name that the stock environment gives an alias.
    pub fn alias(&self, name: &str) -> Option<String> {
        language()
            .types
            .aliases
            .iter()
            .find_map(|(from, to)| match from.strip_suffix('*') {
                Some(prefix) => {
                    let rest = name.strip_prefix(prefix)?;
                    Some(format!("{}{rest}", to.trim_end_matches('*')))
                }
                None => (from == name).then(|| to.clone()),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_the_data_is_understood() {
        let mut count = (0, 0);
        for name in catalogue().names() {
            let ty = catalogue().get(name);
            let ty = ty.unwrap_or_else(|| panic!("{name} is not understood"));
            assert_eq!(&*ty.name, name);
            if name.starts_with("OS::") {
                count.0 += 1;
            } else {
                count.1 += 1;
            }
        }
        assert_eq!(count, (178, 23));
    }

    #[test]
    fn nested_schemas_statuses_and_translations_are_there() {
        let server = catalogue().get("OS::Nova::Server").unwrap();
        let networks = server.properties.get("networks").unwrap();
        let entry = networks.items.as_ref().unwrap();
        let uuid = entry.entries.as_ref().unwrap().get("uuid").unwrap();
        assert_eq!(uuid.status.kind, StatusKind::Hidden);
        assert_eq!(
            uuid.custom_constraints().next().map(|s| &**s),
            Some("neutron.network")
        );
        let port = catalogue().get("OS::Neutron::Port").unwrap();
        assert!(port.translations.iter().any(|t| &*t.rule == "replace"));
        assert!(port.properties["network"].required);
    }

    #[test]
    fn aliases_are_followed_by_name_and_by_prefix() {
        let catalogue = catalogue();
        assert_eq!(
            catalogue.alias("OS::Quantum::Net").as_deref(),
            Some("OS::Neutron::Net")
        );
        assert_eq!(
            catalogue.alias("OS::Metering::Alarm").as_deref(),
            Some("OS::Aodh::Alarm")
        );
        assert_eq!(catalogue.alias("OS::Neutron::Net"), None);
    }
}
