//! The values that an input may be given, from its type and its conditions.

use std::sync::Arc;

use locus_core::Value;
use locus_core::int::Int;
use locus_core::value::{Constraint, Domain, ValueType};
use locus_core::values::pattern;

use crate::tosca::model::data::Clause;
use crate::tosca::model::{DataType, Primitive, Schema};
use crate::tosca::topology::Topology;
use crate::yaml::{Node, Schema as Yaml, Typed};

/// What stands for a condition, or a type, that cannot be told by a value alone.
const OTHER: &str = "another condition";

/// The values that a schema allows.
pub(super) fn of<'a>(topology: &Topology<'_, 'a>, schema: &Schema<'a>) -> Domain {
    let model = topology.model;
    let primitive = model.primitive(schema.ty);
    let ty = match primitive {
        Some(Primitive::String) => ValueType::String,
        Some(Primitive::Integer) => ValueType::Int,
        Some(Primitive::Float) => ValueType::Number,
        Some(Primitive::Boolean) => ValueType::Bool,
        Some(Primitive::List | Primitive::Range) => ValueType::List,
        Some(Primitive::Map) => ValueType::Map,
        _ => ValueType::Any,
    };
    let mut domain = Domain::of(ty);
    let plain = matches!(
        primitive,
        Some(Primitive::String | Primitive::Integer | Primitive::Float | Primitive::Boolean)
    );
    let mut clauses = Vec::new();
    if let DataType::Type(id) = schema.ty {
        for at in model.ancestors(id) {
            let defined = model.names.get(at);
            if let Some(map) = defined.node.as_mapping() {
                model.clauses(map, defined.file, &mut clauses);
            }
        }
    }
    clauses.extend(schema.clauses.iter().copied());
    // Amounts with a unit that are listed are texts to choose from.
    let amount = matches!(
        primitive,
        Some(Primitive::Size | Primitive::Time | Primitive::Frequency | Primitive::Bitrate)
    );
    let listed = amount && !clauses.is_empty() && clauses.iter().all(is_list);
    if !plain && !listed {
        domain.constraints.push(Constraint::Named(OTHER.into()));
    }
    for clause in clauses {
        if model.version(clause.file).is_simple() {
            simple(&clause, &mut domain);
        } else {
            boolean(clause.node, &mut domain);
        }
    }
    domain
}

fn plain(node: &Node) -> Option<Value> {
    match node.typed(Yaml::Core)? {
        Typed::Bool(value) => Some(Value::Bool(value)),
        Typed::Int(value) => Some(Value::Int(value)),
        Typed::Float(value) => Some(Value::Float(value)),
        Typed::Str(text) => Some(Value::Str(text)),
        Typed::Null => None,
    }
}

fn whole(node: &Node) -> Option<Int> {
    match node.typed(Yaml::Core)? {
        Typed::Int(value) => Some(value),
        _ => None,
    }
}

/// Whether a condition of 1.x lists what it allows.
fn is_list(clause: &Clause<'_>) -> bool {
    let entries = clause.node.as_mapping().map(|map| map.entries.as_slice());
    matches!(entries, Some([entry]) if entry.key.as_str() == Some("valid_values"))
}

/// A bound that the value itself may not have, of whole numbers.
fn beyond(node: &Node, by: i64) -> Option<Value> {
    let next = whole(node)?.to_i64()?.checked_add(by)?;
    Some(Value::Int(Int::Small(next)))
}

fn simple(clause: &Clause<'_>, domain: &mut Domain) {
    let constraint = match clause.node.as_mapping().map(|map| map.entries.as_slice()) {
        Some([entry]) => {
            let name = entry.key.as_str().unwrap_or_default();
            operator(name, &entry.value, domain.ty)
        }
        _ => None,
    };
    let other = || Constraint::Named(OTHER.into());
    domain.constraints.push(constraint.unwrap_or_else(other));
}

/// The meaning of an operator of 1.x; those of 2.0 that have the same name mean the same.
fn operator(name: &str, argument: &Node, ty: ValueType) -> Option<Constraint> {
    let range = |min, max| Some(Constraint::Range { min, max });
    match name {
        "equal" => Some(Constraint::OneOf(vec![plain(argument)?])),
        "valid_values" => {
            let values = argument.as_sequence()?.iter().map(plain);
            Some(Constraint::OneOf(values.collect::<Option<_>>()?))
        }
        "greater_or_equal" => range(Some(plain(argument)?), None),
        "less_or_equal" => range(None, Some(plain(argument)?)),
        "greater_than" if ty == ValueType::Int => range(Some(beyond(argument, 1)?), None),
        "less_than" if ty == ValueType::Int => range(None, Some(beyond(argument, -1)?)),
        "in_range" => {
            let [least, most] = argument.as_sequence()? else {
                return None;
            };
            let bound = |node: &Node| match node.as_str() {
                Some("UNBOUNDED") => Some(None),
                _ => plain(node).map(Some),
            };
            range(bound(least)?, bound(most)?)
        }
        "length" | "min_length" | "max_length" => {
            let bound = Some(whole(argument)?);
            Some(Constraint::Length {
                min: bound.clone().filter(|_| name != "max_length"),
                max: bound.filter(|_| name != "min_length"),
            })
        }
        "pattern" => Some(Constraint::Pattern(Arc::from(argument.as_str()?))),
        _ => None,
    }
}

/// A validation of 2.0, as far as it compares the value itself.
fn boolean(node: &Node, domain: &mut Domain) {
    let call = node.as_mapping().map(|map| map.entries.as_slice());
    if let Some([entry]) = call {
        let name = entry.key.as_str().unwrap_or_default();
        let arguments = entry.value.as_sequence().unwrap_or_default();
        match (name, arguments) {
            ("$and", parts) => {
                parts.iter().for_each(|part| boolean(part, domain));
                return;
            }
            (name, [first, second]) if first.as_str() == Some("$value") => {
                let name = name.trim_start_matches('$');
                // `$matches` may mean a part of the text, which no value alone tells.
                if name != "matches"
                    && let Some(constraint) = operator(name, second, domain.ty)
                {
                    domain.constraints.push(constraint);
                    return;
                }
            }
            _ => {}
        }
    }
    domain.constraints.push(Constraint::Named(OTHER.into()));
}

/// Whether it can be told which values a domain has.
pub(in crate::tosca) fn tells(domain: &Domain) -> bool {
    domain
        .constraints
        .iter()
        .all(|constraint| match constraint {
            Constraint::Pattern(text) => pattern::matches(text, "").is_some(),
            Constraint::Modulo { .. } | Constraint::Named(_) => false,
            Constraint::OneOf(_) | Constraint::Range { .. } | Constraint::Length { .. } => true,
        })
}

/// Whether a domain has a value. What cannot be told is not offered: a value that is refused would say nothing.
pub(in crate::tosca) fn admits(domain: &Domain, value: &Value) -> bool {
    let typed = match (domain.ty, value) {
        (ValueType::Int, value) => matches!(value, Value::Int(_)),
        (ValueType::Number, value) => matches!(value, Value::Int(_) | Value::Float(_)),
        (ValueType::Bool, value) => matches!(value, Value::Bool(_)),
        (ValueType::String, value) => matches!(value, Value::Str(_)),
        _ => true,
    };
    typed
        && domain
            .constraints
            .iter()
            .all(|constraint| holds(constraint, value))
}

fn holds(constraint: &Constraint, value: &Value) -> bool {
    match constraint {
        Constraint::OneOf(values) => values.iter().any(|one| one.same(value)),
        Constraint::Range { min, max } => {
            let order = |bound: &Value| match (value, bound) {
                (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
                (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
                (Value::Int(a), Value::Float(b)) => to_float(a).partial_cmp(b),
                (Value::Float(a), Value::Int(b)) => a.partial_cmp(&to_float(b)),
                (Value::Str(a), Value::Str(b)) => Some(a.cmp(b)),
                _ => None,
            };
            min.as_ref()
                .is_none_or(|min| order(min).is_some_and(std::cmp::Ordering::is_ge))
                && max
                    .as_ref()
                    .is_none_or(|max| order(max).is_some_and(std::cmp::Ordering::is_le))
        }
        Constraint::Length { min, max } => {
            let long = match value {
                Value::Str(text) => text.chars().count(),
                Value::List(items) => items.len(),
                _ => return false,
            };
            let long = Int::Small(i64::try_from(long).unwrap_or(i64::MAX));
            min.as_ref().is_none_or(|min| long >= *min)
                && max.as_ref().is_none_or(|max| long <= *max)
        }
        Constraint::Pattern(text) => match value {
            Value::Str(value) => pattern::matches(text, value) == Some(true),
            _ => false,
        },
        Constraint::Modulo { .. } | Constraint::Named(_) => false,
    }
}

#[expect(clippy::cast_precision_loss, reason = "the nearest float is compared")]
fn to_float(int: &Int) -> f64 {
    int.to_i64().map_or(f64::NAN, |number| number as f64)
}
