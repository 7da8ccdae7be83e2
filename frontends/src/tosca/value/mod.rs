//! Values: read by their schemas, computed by functions, compared with conditions.

mod arithmetic;
pub mod clause;
pub mod exact;
mod function;
mod read;
pub mod scalar;

pub use clause::OPERATORS as CLAUSES;
pub use function::FUNCTIONS as COMPUTED;

use std::cell::RefCell;
use std::cmp::Ordering;
use std::fmt::{self, Write as _};
use std::rc::Rc;
use std::sync::Arc;

use locus_core::int::Int;
use locus_core::values::number::Number;
use locus_core::{Diagnostic, value as core_value};

use super::model::{Model, Schema};
use super::text::{Call, Version};
use exact::Exact;
use scalar::Units;

/// A value.
#[derive(Clone, Debug)]
pub enum Val {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(Int),
    /// A number.
    Float(f64),
    /// Text.
    Str(Arc<str>),
    /// A list.
    List(Vec<Val>),
    /// Names and values.
    Map(Vec<(Arc<str>, Val)>),
    /// A number with a unit.
    Scalar(Exact, Rc<Units>, Arc<str>),
    /// A version, and how it is written.
    Version(Version, Arc<str>),
    /// A time in seconds, and how it is written.
    Time(Exact, Arc<str>),
    /// It is not known.
    Unknown,
}

/// As a user would write it, on one line.
impl fmt::Display for Val {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Val::Null => f.write_str("null"),
            Val::Bool(value) => write!(f, "{value}"),
            Val::Int(value) => write!(f, "{value}"),
            Val::Float(value) => write!(f, "{value}"),
            Val::Str(text)
            | Val::Scalar(_, _, text)
            | Val::Version(_, text)
            | Val::Time(_, text) => f.write_str(text),
            Val::List(items) => {
                f.write_char('[')?;
                for (at, item) in items.iter().enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    write!(f, "{comma}{item}")?;
                }
                f.write_char(']')
            }
            Val::Map(fields) => {
                f.write_char('{')?;
                for (at, (name, value)) in fields.iter().enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    write!(f, "{comma}{name}: {value}")?;
                }
                f.write_char('}')
            }
            Val::Unknown => f.write_str("a value not known yet"),
        }
    }
}

impl Val {
    /// Whether it and all within are known.
    pub fn is_known(&self) -> bool {
        match self {
            Val::Unknown => false,
            Val::List(items) => items.iter().all(Val::is_known),
            Val::Map(fields) => fields.iter().all(|(_, value)| value.is_known()),
            _ => true,
        }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Val::Str(text) => Some(text),
            _ => None,
        }
    }

    /// As the value of a location.
    pub fn to_value(
        &self,
        span: locus_core::Span,
        unknown: &mut dyn FnMut() -> core_value::Value,
    ) -> core_value::Value {
        use core_value::{Field, Item, Value};
        match self {
            Val::Null => Value::Null,
            Val::Bool(value) => Value::Bool(*value),
            Val::Int(value) => Value::Int(value.clone()),
            Val::Float(value) => Value::Float(*value),
            Val::Str(text)
            | Val::Scalar(_, _, text)
            | Val::Version(_, text)
            | Val::Time(_, text) => Value::Str(text.clone()),
            Val::List(items) => {
                let items = items
                    .iter()
                    .map(|item| Item::new(item.to_value(span, unknown), span));
                Value::List(items.collect())
            }
            Val::Map(fields) => {
                let fields = fields.iter().map(|(name, value)| Field {
                    name: name.clone(),
                    key: span,
                    item: Item::new(value.to_value(span, unknown), span),
                });
                Value::Map(fields.collect())
            }
            Val::Unknown => unknown(),
        }
    }

    fn number(&self) -> Option<Number> {
        match self {
            Val::Int(int) => Some(Number::Int(int.clone())),
            Val::Float(float) => Number::float(*float),
            _ => None,
        }
    }

    /// The order of two values; none when they cannot be compared, or it is not known.
    pub fn compare(&self, other: &Val) -> Option<Ordering> {
        match (self, other) {
            (Val::Str(a), Val::Str(b)) => Some(a.cmp(b)),
            (Val::Bool(a), Val::Bool(b)) => Some(a.cmp(b)),
            (Val::Scalar(a, units, _), Val::Scalar(b, others, _)) if units.fits(others) => {
                Some(a.compare(*b))
            }
            (Val::Scalar(a, units, _), Val::Str(text)) => Some(a.compare(units.read(text).ok()?)),
            (Val::Str(text), Val::Scalar(b, units, _)) => Some(units.read(text).ok()?.compare(*b)),
            (Val::Version(a, _), Val::Version(b, _)) => Some(a.cmp(b)),
            (Val::Version(a, _), Val::Str(text)) => Some(a.cmp(&Version::parse(text)?)),
            (Val::Str(text), Val::Version(b, _)) => Some(Version::parse(text)?.cmp(b)),
            (Val::Time(a, _), Val::Time(b, _)) => Some(a.compare(*b)),
            (Val::Time(a, _), Val::Str(text)) => Some(a.compare(read::time(text, false)?)),
            (Val::Str(text), Val::Time(b, _)) => Some(read::time(text, false)?.compare(*b)),
            _ => Some(self.number()?.compare(&other.number()?)),
        }
    }

    /// Whether two values are equal; none when that is not known.
    pub fn equals(&self, other: &Val) -> Option<bool> {
        match (self, other) {
            (Val::Unknown, _) | (_, Val::Unknown) => None,
            (Val::Null, Val::Null) => Some(true),
            (Val::List(a), Val::List(b)) => {
                if a.len() != b.len() {
                    return Some(false);
                }
                let pairs = a.iter().zip(b).map(|(a, b)| a.equals(b));
                all(pairs)
            }
            (Val::Map(a), Val::Map(b)) => {
                if a.len() != b.len() {
                    return Some(false);
                }
                let pairs = a.iter().map(|(name, value)| {
                    let other = b.iter().find(|(key, _)| key == name);
                    other.map_or(Some(false), |(_, other)| value.equals(other))
                });
                all(pairs)
            }
            _ => Some(self.compare(other) == Some(Ordering::Equal)),
        }
    }
}

/// The conjunction of some truths.
pub fn all(truths: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let mut known = true;
    for truth in truths {
        match truth {
            Some(false) => return Some(false),
            Some(true) => {}
            None => known = false,
        }
    }
    known.then_some(true)
}

/// The disjunction of some truths.
pub fn any(truths: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let negated = truths.into_iter().map(|truth| truth.map(|truth| !truth));
    all(negated).map(|truth| !truth)
}

/// What a call that refers to something else in the topology gives.
#[derive(Clone, Debug)]
pub struct Referred<'a> {
    /// The value.
    pub value: Val,
    /// What it is an instance of, when that is known.
    pub schema: Option<Rc<Schema<'a>>>,
    /// Whether it may have no value.
    pub optional: bool,
    /// What is wrong with the call.
    pub error: Option<Box<Diagnostic>>,
}

impl Referred<'_> {
    /// Nothing is known.
    pub fn unknown() -> Self {
        Referred {
            value: Val::Unknown,
            schema: None,
            optional: false,
            error: None,
        }
    }
}

/// Finds what calls refer to.
pub type Refer<'r, 'a> = &'r dyn Fn(&Call<'a>) -> Referred<'a>;

/// Reads and checks values.
pub struct Checker<'c, 'a> {
    /// The types.
    pub model: &'c Model<'a>,
    /// The file that the values are written in.
    pub file: usize,
    /// What calls refer to.
    pub refer: Refer<'c, 'a>,
    /// What `$value` is.
    pub value: Option<Val>,
    /// What is wrong.
    pub diagnostics: &'c RefCell<Vec<Diagnostic>>,
}

/// A value as messages show it.
pub fn shown(node: &crate::yaml::Node) -> String {
    use crate::yaml::Kind;
    let mut text = match &node.kind {
        Kind::Scalar(scalar) => scalar.text.to_string(),
        Kind::Sequence(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
        Kind::Mapping(map) => {
            let fields = map.named();
            let fields: Vec<String> = fields
                .map(|(name, entry)| format!("{name}: {}", shown(&entry.value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
    };
    if text.chars().count() > 120 {
        text = text.chars().take(117).collect();
        text.push_str("...");
    }
    text
}
