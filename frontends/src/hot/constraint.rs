//! Whether a value satisfies a constraint, as Heat decides it.

use std::time::SystemTime;

use jiff::Timestamp;
use locus_core::Int;
use locus_core::value::{Constraint, Value};
use locus_core::values::{Number, pattern};
use serde_json::Value as Json;

use super::data::PropertyType;
use super::format;
use locus_core::Span;
use locus_core::value::{Field, Item};

/// Decides constraints.
#[derive(Debug, Default)]
pub(super) struct Judge {
    now: Option<Timestamp>,
}

/// Whether that a constraint could not be decided is its own fault: the value is known.
pub(super) fn is_beyond(constraint: &Constraint, value: &Value) -> bool {
    match constraint {
        // Look-around and back-references.
        Constraint::Pattern(_) => matches!(
            value,
            Value::Str(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_)
        ),
        Constraint::Modulo { .. } => matches!(value, Value::Int(_)),
        _ => false,
    }
}

impl Judge {
    /// One that takes dates before this time for past.
    pub(super) fn new(now: Option<SystemTime>) -> Self {
        Judge {
            now: now.and_then(|now| Timestamp::try_from(now).ok()),
        }
    }

    /// Whether a value satisfies a constraint; `None` when that is not known.
    pub(super) fn holds(&mut self, constraint: &Constraint, value: &Value) -> Option<bool> {
        if matches!(value, Value::Symbolic(_) | Value::Location(_) | Value::Null) {
            return None;
        }
        match constraint {
            Constraint::Length { min, max } => {
                let length = match value {
                    Value::Str(text) => text.chars().count(),
                    Value::List(items) => items.len(),
                    Value::Map(fields) => fields.len(),
                    other => other.to_string().chars().count(),
                };
                let length = Int::from(length);
                let low = min.as_ref().is_none_or(|min| &length >= min);
                Some(low && max.as_ref().is_none_or(|max| &length <= max))
            }
            Constraint::Range { min, max } => {
                let value = Number::of(value)?;
                let bound = |bound: &Option<Value>| bound.as_ref().and_then(Number::of);
                let low = bound(min).is_none_or(|min| value.compare(&min).is_ge());
                let high = bound(max).is_none_or(|max| value.compare(&max).is_le());
                Some(low && high)
            }
            Constraint::Modulo { step, offset } => {
                let number = Number::of(value)?;
                if matches!(number, Number::Float(_)) {
                    return Some(false);
                }
                let rest = number.modulo(&Number::Int(step.clone()))?;
                Some(rest == Number::Int(offset.clone()))
            }
            Constraint::OneOf(allowed) => {
                let one = |value: &Value| match value {
                    Value::Symbolic(_) | Value::Location(_) => None,
                    value => Some(allowed.iter().any(|other| alike(value, other))),
                };
                match value {
                    Value::List(items) => {
                        let mut all = Some(true);
                        for item in items {
                            match one(&item.value) {
                                Some(true) => {}
                                Some(false) => return Some(false),
                                None => all = None,
                            }
                        }
                        all
                    }
                    value => one(value),
                }
            }
            Constraint::Pattern(pattern) => {
                let text = match value {
                    Value::Str(text) => text.clone(),
                    Value::List(_) | Value::Map(_) => return None,
                    other => other.to_string().into(),
                };
                pattern::matches(pattern, &text)
            }
            Constraint::Named(name) => match value {
                Value::Str(text) => format::accepts(name, text, self.now),
                Value::List(items) => {
                    let mut all = Some(true);
                    for item in items {
                        match self.holds(constraint, &item.value) {
                            Some(false) => return Some(false),
                            Some(true) => {}
                            None => all = None,
                        }
                    }
                    all
                }
                Value::Int(_) | Value::Bool(_) | Value::Float(_) => {
                    format::accepts(name, &value.to_string(), self.now)
                }
                _ => None,
            },
        }
    }
}

/// Equal the way Heat compares allowed values: both as text when either is.
fn alike(a: &Value, b: &Value) -> bool {
    if a.same(b) {
        return true;
    }
    match (a, b) {
        (Value::Str(_), Value::Str(_)) => false,
        (Value::Str(text), Value::Bool(flag)) | (Value::Bool(flag), Value::Str(text)) => {
            text.eq_ignore_ascii_case(if *flag { "true" } else { "false" })
        }
        // Protocols have hundreds of numbers, and mostly go by their names.
        (Value::Str(text), Value::Int(_)) | (Value::Int(_), Value::Str(text))
            if !text.starts_with(|c: char| c.is_ascii_digit() || c == '-') =>
        {
            false
        }
        (Value::Str(text), other) | (other, Value::Str(text)) => {
            !matches!(other, Value::List(_) | Value::Map(_) | Value::Null)
                && **text == other.to_string()
        }
        _ => false,
    }
}

/// A number, or text that is one.
pub(super) fn number(value: &Value) -> Option<Value> {
    Number::of(value).map(Number::value)
}

/// A constraint in words.
pub(super) fn words(constraint: &Constraint) -> String {
    let between = |min: Option<String>, max: Option<String>| match (min, max) {
        (Some(min), Some(max)) => format!("between {min} and {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => "anything".into(),
    };
    let show = |value: &Option<Value>| value.as_ref().map(ToString::to_string);
    match constraint {
        Constraint::Length { min, max } => format!(
            "of length {}",
            between(
                min.as_ref().map(ToString::to_string),
                max.as_ref().map(ToString::to_string)
            )
        ),
        Constraint::Range { min, max } => between(show(min), show(max)),
        Constraint::Modulo { step, offset } => format!("{offset} modulo {step}"),
        Constraint::OneOf(values) => {
            let shown: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
            format!("one of {}", shown.join(", "))
        }
        Constraint::Pattern(pattern) => format!("text that matches `{pattern}`"),
        Constraint::Named(name) => match &**name {
            "ip_addr" => "an IP address".into(),
            "net_cidr" => "a CIDR such as 10.0.0.0/24".into(),
            "ip_or_cidr" => "an IP address or a CIDR".into(),
            "mac_addr" => "a MAC address".into(),
            "dns_name" => "a DNS name".into(),
            "dns_domain" => "a DNS name that ends in a dot".into(),
            "rel_dns_name" => "a DNS name that does not end in a dot".into(),
            "cron_expression" => "a cron expression".into(),
            "json_string" => "JSON".into(),
            "iso_8601" => "an ISO 8601 time".into(),
            "expiration" => "an ISO 8601 time in the future".into(),
            "timezone" => "a time zone such as Europe/Paris".into(),
            name => format!("accepted by `{name}`"),
        },
    }
}

/// JSON data as a value; all of it at one place.
pub(super) fn of_json(json: &Json, span: Span) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(n) => match Int::parse(&n.to_string(), 10) {
            Some(n) => Value::Int(n),
            None => Value::Float(n.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(s) => Value::str(s.as_str()),
        Json::Array(items) => Value::List(
            items
                .iter()
                .map(|item| Item::new(of_json(item, span), span))
                .collect(),
        ),
        Json::Object(fields) => Value::Map(
            fields
                .iter()
                .map(|(name, value)| Field {
                    name: name.as_str().into(),
                    key: span,
                    item: Item::new(of_json(value, span), span),
                })
                .collect(),
        ),
    }
}

/// Whether a known value is of a property type, the way Heat converts.
pub(super) fn fits(ty: PropertyType, value: &Value) -> bool {
    match (ty, value) {
        (_, Value::Symbolic(_) | Value::Null) | (PropertyType::Any, _) => true,
        (
            PropertyType::String,
            Value::Str(_) | Value::Int(_) | Value::Bool(_) | Value::Location(_),
        )
        | (PropertyType::List, Value::List(_))
        | (PropertyType::Map, Value::Map(_))
        | (PropertyType::Boolean, Value::Bool(_))
        | (
            PropertyType::Integer | PropertyType::Number,
            Value::Int(_) | Value::Float(_) | Value::Bool(_),
        ) => true,
        (PropertyType::Boolean, Value::Str(text)) => {
            text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")
        }
        (PropertyType::Integer, Value::Str(_)) => matches!(number(value), Some(Value::Int(_))),
        (PropertyType::Number, Value::Str(_)) => number(value).is_some(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_are_decided_as_heat_does() {
        let mut judge = Judge::default();
        let int = |n: i64| Value::Int(Int::from(n));
        let modulo = |step: i64, offset: i64| Constraint::Modulo {
            step: Int::from(step),
            offset: Int::from(offset),
        };
        let cases = [
            (
                Constraint::Pattern("[a-z]+".into()),
                Value::str("abc"),
                Some(true),
            ),
            (
                Constraint::Pattern("[a-z]+".into()),
                Value::str("abc1"),
                Some(false),
            ),
            (Constraint::Pattern("(?<!x)y".into()), Value::str("y"), None),
            (
                Constraint::Pattern("a|ab".into()),
                Value::str("ab"),
                Some(false),
            ),
            (
                Constraint::Pattern("ab\\Z".into()),
                Value::str("ab"),
                Some(true),
            ),
            (Constraint::OneOf(vec![Value::str("1")]), int(1), Some(true)),
            (
                Constraint::OneOf(vec![Value::str("True")]),
                Value::Bool(true),
                Some(true),
            ),
            (Constraint::OneOf(vec![int(1), int(2)]), int(3), Some(false)),
            (modulo(2, 1), int(-3), Some(true)),
            (modulo(-2, -1), int(3), Some(true)),
            (modulo(0, 0), int(3), None),
            (
                Constraint::Range {
                    min: Some(int(1)),
                    max: None,
                },
                Value::str("0"),
                Some(false),
            ),
            (
                Constraint::Length {
                    min: None,
                    max: Some(Int::from(2_i64)),
                },
                Value::str("héé"),
                Some(false),
            ),
        ];
        for (constraint, value, expected) in cases {
            assert_eq!(
                judge.holds(&constraint, &value),
                expected,
                "{constraint:?} {value}"
            );
        }
    }

    #[test]
    fn values_fit_types_the_way_heat_converts_them() {
        let int = Value::Int(Int::from(1_i64));
        let cases = [
            (PropertyType::String, int.clone(), true),
            (PropertyType::String, Value::Float(1.5), false),
            (PropertyType::String, Value::List(vec![]), false),
            (PropertyType::Integer, Value::str("12"), true),
            (PropertyType::Integer, Value::str("1.5"), false),
            (PropertyType::Integer, Value::Float(1.5), true),
            (PropertyType::Number, Value::str("1.5"), true),
            (PropertyType::Number, Value::str("infinity"), false),
            (PropertyType::Boolean, Value::str("TRUE"), true),
            (PropertyType::Boolean, Value::str("yes"), false),
            (PropertyType::Boolean, int, false),
            (PropertyType::List, Value::str("a,b"), false),
            (PropertyType::Map, Value::Null, true),
        ];
        for (ty, value, expected) in cases {
            assert_eq!(fits(ty, &value), expected, "{} {value}", ty.as_str());
        }
    }
}
