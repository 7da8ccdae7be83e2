//! Parameters: their types, constraints, and the values they are given.

use std::sync::Arc;

use locus_core::value::{Constraint, Domain, Field, Item, Value, ValueType};
use locus_core::{Diagnostic, Int, Span};
use serde_json::Value as Json;

use super::constraint::{number, of_json};
use super::data::VersionInfo;
use super::literal::literal;
use super::template::{Dialect, Named, SCHEMA, Text, WrittenKey};
use crate::yaml::{Mapping, Node, Typed};

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParameterType {
    /// Text.
    String,
    /// A number, or text that is one.
    Number,
    /// A list, or text with commas.
    List,
    /// A map or a list, or JSON text.
    Json,
    /// A truth value, or one of the words for it.
    Boolean,
}

impl ParameterType {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "string" | "String" => ParameterType::String,
            "number" | "Number" => ParameterType::Number,
            "comma_delimited_list" | "CommaDelimitedList" => ParameterType::List,
            "json" | "Json" => ParameterType::Json,
            "boolean" | "Boolean" => ParameterType::Boolean,
            _ => return None,
        })
    }

    /// Its name in HOT.
    pub fn as_str(self) -> &'static str {
        match self {
            ParameterType::String => "string",
            ParameterType::Number => "number",
            ParameterType::List => "comma_delimited_list",
            ParameterType::Json => "json",
            ParameterType::Boolean => "boolean",
        }
    }

    /// The type with values of this type.
    pub(super) fn of_value(ty: ValueType) -> Self {
        match ty {
            ValueType::Int | ValueType::Number => ParameterType::Number,
            ValueType::List => ParameterType::List,
            ValueType::Map => ParameterType::Json,
            ValueType::Bool => ParameterType::Boolean,
            ValueType::String | ValueType::Any => ParameterType::String,
        }
    }

    /// The type of its values.
    pub fn value_type(self) -> ValueType {
        match self {
            ParameterType::String => ValueType::String,
            ParameterType::Number => ValueType::Number,
            ParameterType::List => ValueType::List,
            ParameterType::Json => ValueType::Map,
            ParameterType::Boolean => ValueType::Bool,
        }
    }
}

/// A number in a constraint, as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// `min`, `max`, `step` or `offset`.
    pub name: &'static str,
    /// What is written.
    pub item: Item,
}

/// A constraint of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterConstraint {
    /// Its kind.
    pub kind: Text,
    /// Whether Heat knows the kind.
    pub known: bool,
    /// Whether the kind fits the parameter's type.
    pub fits: bool,
    /// The numbers in it.
    pub bounds: Vec<Bound>,
    /// What it means, when it means something.
    pub meaning: Option<Constraint>,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: Arc<str>,
    /// Where the name is.
    pub span: Span,
    /// The type as written.
    pub written_type: Option<Text>,
    /// The type it has; text when it claims none that is known.
    pub ty: ParameterType,
    /// Whether the claimed type is one that the version allows.
    pub type_known: bool,
    /// Its default.
    pub default: Option<Item>,
    /// Whether its value is not to be shown.
    pub hidden: bool,
    /// Its constraints.
    pub constraints: Vec<ParameterConstraint>,
}

impl Parameter {
    /// The values it may take.
    pub fn domain(&self) -> Domain {
        Domain {
            ty: self.ty.value_type(),
            constraints: self
                .constraints
                .iter()
                .filter_map(|constraint| constraint.meaning.clone())
                .collect(),
        }
    }
}

const CONSTRAINTS: [&str; 6] = [
    "length",
    "range",
    "modulo",
    "allowed_values",
    "allowed_pattern",
    "custom_constraint",
];

/// Reads the parameters of a template.
pub(super) fn read(
    section: &[Named],
    dialect: Dialect,
    info: &VersionInfo,
    keys: &mut Vec<WrittenKey>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Parameter> {
    let mut reader = Reader {
        info,
        keys,
        diagnostics,
    };
    section
        .iter()
        .filter_map(|named| match named.node.as_mapping() {
            Some(mapping) => Some(match dialect {
                Dialect::Hot => reader.hot(named, mapping),
                Dialect::Cfn => reader.cfn(named, mapping),
            }),
            None => {
                reader.wrong(
                    &named.node,
                    &format!("the parameter `{}`", named.name),
                    "a map with a `type`",
                );
                None
            }
        })
        .collect()
}

struct Reader<'a> {
    info: &'a VersionInfo,
    keys: &'a mut Vec<WrittenKey>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn wrong(&mut self, node: &Node, what: &str, wanted: &str) {
        self.diagnostics.push(
            Diagnostic::error(
                "shape",
                format!("{what} is {wanted}, but this is {}", node.describe(SCHEMA)),
            )
            .at(node.used_at()),
        );
    }

    fn start(&mut self, named: &Named, mapping: &Mapping, ty: &str, default: &str) -> Parameter {
        for (name, entry) in mapping.named() {
            self.keys.push(WrittenKey {
                name: name.clone(),
                span: entry.key.span,
                place: "parameter",
                allowed: self.info.parameter_keys.iter().any(|key| **key == **name),
            });
        }
        let written_type = mapping.get(ty).and_then(|node| {
            Some(Text {
                text: node.text()?.clone(),
                span: node.span,
            })
        });
        let known = written_type.as_ref().and_then(|text| {
            let allowed = self
                .info
                .parameter_types
                .iter()
                .any(|known| **known == *text.text);
            ParameterType::of(&text.text).filter(|_| allowed)
        });
        Parameter {
            name: named.name.clone(),
            span: named.span,
            type_known: known.is_some(),
            ty: known
                .or_else(|| ParameterType::of(&written_type.as_ref()?.text.to_lowercase()))
                .unwrap_or(ParameterType::String),
            written_type,
            // A default of `null` is no default.
            default: mapping
                .get(default)
                .filter(|node| !node.is_null(SCHEMA))
                .map(literal),
            hidden: false,
            constraints: Vec::new(),
        }
    }

    fn hot(&mut self, named: &Named, mapping: &Mapping) -> Parameter {
        let mut parameter = self.start(named, mapping, "type", "default");
        parameter.hidden = mapping.get("hidden").is_some_and(is_true);
        let Some(node) = mapping.get("constraints") else {
            return parameter;
        };
        if node.is_null(SCHEMA) {
            return parameter;
        }
        let Some(items) = node.as_sequence() else {
            self.wrong(node, "`constraints`", "a list");
            return parameter;
        };
        for item in items {
            let Some(constraint) = item.as_mapping() else {
                self.wrong(item, "a constraint", "a map such as `range: {min: 1}`");
                continue;
            };
            let mut found = false;
            for (name, entry) in constraint.named() {
                if &**name == "description" {
                    continue;
                }
                found = true;
                let kind = Text {
                    text: name.clone(),
                    span: entry.key.span,
                };
                let read = self.constraint(kind, &entry.value, parameter.ty);
                parameter.constraints.push(read);
            }
            if !found {
                self.diagnostics.push(
                    Diagnostic::error("shape", "this constraint says nothing")
                        .at(item.span)
                        .help(format!("add one of {}", CONSTRAINTS.join(", "))),
                );
            }
        }
        parameter
    }

    fn constraint(&mut self, kind: Text, node: &Node, ty: ParameterType) -> ParameterConstraint {
        let known = CONSTRAINTS.contains(&&*kind.text);
        let fits = self
            .info
            .parameter_constraints
            .get(ty.as_str())
            .is_none_or(|kinds| kinds.iter().any(|fitting| **fitting == *kind.text));
        let mut bounds = Vec::new();
        let what = format!("`{}`", kind.text);
        let meaning = match &*kind.text {
            "length" | "range" | "modulo" => match node.as_mapping() {
                Some(mapping) => {
                    for (name, entry) in mapping.named() {
                        let wanted: &[&'static str] = match &*kind.text {
                            "modulo" => &["step", "offset"],
                            _ => &["min", "max"],
                        };
                        let known = wanted.iter().find(|wanted| **wanted == &**name);
                        if let Some(&name) = known {
                            let item = literal(&entry.value);
                            bounds.push(Bound { name, item });
                        }
                        self.keys.push(WrittenKey {
                            name: name.clone(),
                            span: entry.key.span,
                            place: "constraint",
                            allowed: known.is_some(),
                        });
                    }
                    numeric(&kind.text, &bounds)
                }
                None => {
                    self.wrong(node, &what, "a map of numbers");
                    None
                }
            },
            "allowed_values" => match node.as_sequence() {
                Some(items) => Some(Constraint::OneOf(
                    items.iter().map(|item| literal(item).value).collect(),
                )),
                None => {
                    self.wrong(node, &what, "a list");
                    None
                }
            },
            "allowed_pattern" => match node.text() {
                Some(text) => Some(Constraint::Pattern(text.clone())),
                None => {
                    self.wrong(node, &what, "a regular expression");
                    None
                }
            },
            "custom_constraint" => match node.text() {
                Some(text) => Some(Constraint::Named(text.clone())),
                None => {
                    self.wrong(node, &what, "the name of a constraint");
                    None
                }
            },
            _ => None,
        };
        ParameterConstraint {
            kind,
            known,
            fits: fits || !known,
            bounds,
            meaning,
        }
    }

    fn cfn(&mut self, named: &Named, mapping: &Mapping) -> Parameter {
        let mut parameter = self.start(named, mapping, "Type", "Default");
        parameter.hidden = mapping.get("NoEcho").is_some_and(is_true);
        let groups: [(&str, &[(&str, &'static str)]); 2] = [
            ("range", &[("MinValue", "min"), ("MaxValue", "max")]),
            ("length", &[("MinLength", "min"), ("MaxLength", "max")]),
        ];
        for (kind, names) in groups {
            let mut bounds = Vec::new();
            let mut span = None;
            for &(key, name) in names {
                if let Some(entry) = mapping.entry(key) {
                    span = span.or(Some(entry.key.span));
                    let item = literal(&entry.value);
                    bounds.push(Bound { name, item });
                }
            }
            if let Some(span) = span {
                let meaning = numeric(kind, &bounds);
                parameter.constraints.push(ParameterConstraint {
                    kind: Text {
                        text: kind.into(),
                        span,
                    },
                    known: true,
                    fits: true,
                    bounds,
                    meaning,
                });
            }
        }
        for (key, kind) in [
            ("AllowedValues", "allowed_values"),
            ("AllowedPattern", "allowed_pattern"),
        ] {
            if let Some(entry) = mapping.entry(key) {
                let kind = Text {
                    text: kind.into(),
                    span: entry.key.span,
                };
                let mut read = self.constraint(kind, &entry.value, parameter.ty);
                read.fits = true;
                parameter.constraints.push(read);
            }
        }
        parameter
    }
}

fn is_true(node: &Node) -> bool {
    match node.typed(SCHEMA) {
        Some(Typed::Bool(flag)) => flag,
        Some(Typed::Str(text)) => truth(&text) == Some(true),
        _ => false,
    }
}

fn numeric(kind: &str, bounds: &[Bound]) -> Option<Constraint> {
    let get = |name: &str| {
        let bound = bounds.iter().find(|bound| bound.name == name)?;
        number(&bound.item.value)
    };
    let int = |name: &str| match get(name) {
        Some(Value::Int(n)) => Some(n),
        _ => None,
    };
    Some(match kind {
        "length" => Constraint::Length {
            min: int("min"),
            max: int("max"),
        },
        "range" => Constraint::Range {
            min: get("min"),
            max: get("max"),
        },
        _ => Constraint::Modulo {
            step: int("step")?,
            offset: int("offset").unwrap_or(Int::Small(0)),
        },
    })
}

/// The words that Heat takes for a truth value.
pub(super) fn truth(text: &str) -> Option<bool> {
    match &*text.trim().to_lowercase() {
        "t" | "true" | "on" | "y" | "yes" | "1" => Some(true),
        "f" | "false" | "off" | "n" | "no" | "0" => Some(false),
        _ => None,
    }
}

/// The value that a parameter of a type has when it is given this; `None` when it cannot.
pub(super) fn convert(ty: ParameterType, item: &Item) -> Option<Value> {
    let value = &item.value;
    if matches!(value, Value::Symbolic(_) | Value::Location(_)) {
        return Some(value.clone());
    }
    match ty {
        ParameterType::String => match value {
            // Heat writes a collection out; no one means that, and it is still text.
            Value::List(_) | Value::Map(_) => None,
            Value::Str(_) => Some(value.clone()),
            Value::Bool(flag) => Some(Value::str(if *flag { "True" } else { "False" })),
            Value::Null => Some(Value::str("")),
            other => Some(Value::str(other.to_string())),
        },
        ParameterType::Number => match value {
            Value::Null => None,
            other => number(other),
        },
        ParameterType::Boolean => match value {
            Value::Bool(_) => Some(value.clone()),
            Value::Str(text) => truth(text).map(Value::Bool),
            Value::Int(n) => truth(&n.to_string()).map(Value::Bool),
            _ => None,
        },
        ParameterType::List => match value {
            Value::List(_) => Some(value.clone()),
            Value::Null => Some(Value::List(Vec::new())),
            Value::Map(_) | Value::Bool(_) => None,
            other => {
                let text = other.to_string();
                if text.is_empty() {
                    return Some(Value::List(Vec::new()));
                }
                let part = |part: &str| Item {
                    value: Value::str(part.trim()),
                    ..item.clone()
                };
                Some(Value::List(text.split(',').map(part).collect()))
            }
        },
        ParameterType::Json => match value {
            Value::List(_) | Value::Map(_) => Some(value.clone()),
            Value::Null => Some(Value::Map(Vec::new())),
            Value::Str(text) if text.is_empty() => Some(Value::Map(Vec::new())),
            Value::Str(text) => match serde_json::from_str::<Json>(text) {
                Ok(json @ (Json::Object(_) | Json::Array(_))) => Some(of_json(&json, item.span)),
                _ => None,
            },
            _ => None,
        },
    }
}

/// One map laid over another, maps within maps too.
pub(super) fn deep_merge(base: &mut Vec<Field>, over: &[Field]) {
    for field in over {
        match base.iter_mut().find(|old| old.name == field.name) {
            Some(old) => match (&mut old.item.value, &field.item.value) {
                (Value::Map(old), Value::Map(new)) => deep_merge(old, new),
                _ => *old = field.clone(),
            },
            None => base.push(field.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use locus_core::Sources;

    #[test]
    fn values_become_what_the_type_says() {
        let mut sources = Sources::new();
        let span = Span::start_of(sources.add("x", ""));
        let show = |ty, value| convert(ty, &Item::new(value, span)).map(|value| value.to_string());
        let int = Value::Int(Int::from(5_i64));
        assert_eq!(
            show(ParameterType::String, int.clone()).as_deref(),
            Some("5")
        );
        assert_eq!(show(ParameterType::String, Value::List(vec![])), None);
        assert_eq!(
            show(ParameterType::Number, Value::str("1.5")).as_deref(),
            Some("1.5")
        );
        assert_eq!(show(ParameterType::Number, Value::str("five")), None);
        assert_eq!(
            show(ParameterType::Boolean, Value::str("Yes")).as_deref(),
            Some("true")
        );
        assert_eq!(show(ParameterType::Boolean, int), None);
        assert_eq!(
            show(ParameterType::List, Value::str("a, b")).as_deref(),
            Some("[a, b]")
        );
        assert_eq!(
            show(ParameterType::Json, Value::str("{\"a\": 1}")).as_deref(),
            Some("{a: 1}")
        );
        assert_eq!(show(ParameterType::Json, Value::str("{a")), None);
    }
}
