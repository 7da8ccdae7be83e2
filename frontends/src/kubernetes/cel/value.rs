//! Values of expressions, and those of objects with the defaults of their schema.

use std::cmp::Ordering;
use std::net::IpAddr;
use std::sync::Arc;

use jiff::Timestamp;
use locus_core::Int;

use super::format::Format;
use super::quantity::Quantity;
use super::semver::Version;
use super::url::Url;
use super::{bytes, time};

use crate::kubernetes::access::Access as _;
use crate::yaml::{Kind, Node, Schema, Typed};

/// Objects deeper than this are not read.
const DEPTH: usize = 64;

/// A value; copies of lists and maps share their content.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Arc<str>),
    Bytes(Arc<[u8]>),
    List(Arc<Vec<Value>>),
    /// Keys and values, in their order.
    Map(Arc<Vec<(Value, Value)>>),
    /// A field that may be missing.
    Optional(Option<Box<Value>>),
    Time(Timestamp),
    /// In nanoseconds.
    Duration(i64),
    Quantity(Quantity),
    Ip(IpAddr),
    /// An address with the number of its bits that count.
    Cidr(IpAddr, u8),
    Url(Arc<Url>),
    Version(Arc<Version>),
    Format(Format),
    /// The name of a type.
    Type(&'static str),
    /// A value that is not known here.
    Opaque,
}

impl Value {
    /// The value of a part of an object, with the defaults that the server fills in; none when it cannot be told.
    pub(super) fn of(schema: &Node, node: &Node) -> Option<Value> {
        read(Some(schema), node, 0)
    }

    pub(super) fn list(items: Vec<Value>) -> Value {
        Value::List(Arc::new(items))
    }

    pub(super) fn map(entries: Vec<(Value, Value)>) -> Value {
        Value::Map(Arc::new(entries))
    }

    pub(super) fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    /// The name of the type of a value; none for one that is rarely asked for.
    pub(super) fn type_name(&self) -> Option<&'static str> {
        Some(match self {
            Value::Null => "null_type",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Uint(_) => "uint",
            Value::Double(_) => "double",
            Value::Text(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::List(_) => "list",
            _ => return None,
        })
    }

    /// Whether two values are of plain types that have no order with each other.
    pub(super) fn is_other_kind(&self, other: &Value) -> bool {
        let kind = |value: &Value| match value {
            Value::Bool(_) => Some(0),
            Value::Int(_) | Value::Uint(_) | Value::Double(_) => Some(1),
            Value::Text(_) => Some(2),
            Value::Bytes(_) => Some(3),
            Value::Time(_) => Some(4),
            Value::Duration(_) => Some(5),
            _ => None,
        };
        kind(self)
            .zip(kind(other))
            .is_some_and(|(own, other)| own != other)
    }

    /// Whether two values are equal; none when that is not known.
    pub(super) fn equals(&self, other: &Value) -> Option<bool> {
        Some(match (self, other) {
            (Value::Opaque, _) | (_, Value::Opaque) => return None,
            (Value::Optional(None), Value::Optional(None)) => true,
            (Value::Optional(Some(a)), Value::Optional(Some(b))) => return a.equals(b),
            (Value::Quantity(a), Value::Quantity(b)) => return Some(a.compare(b)?.is_eq()),
            (Value::Ip(a), Value::Ip(b)) => a == b,
            (Value::Cidr(a, n), Value::Cidr(b, m)) => a == b && n == m,
            (Value::Url(a), Value::Url(b)) => a == b,
            (Value::Version(a), Value::Version(b)) => a.compare(b).is_eq(),
            (Value::Format(_), Value::Format(_)) => return None,
            (Value::Type(a), Value::Type(b)) => a == b,
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::List(a), Value::List(b)) => {
                if a.len() != b.len() {
                    return Some(false);
                }
                let mut all = a.iter().zip(b.iter()).map(|(a, b)| a.equals(b));
                return all.try_fold(true, |so_far, equal| Some(so_far && equal?));
            }
            (Value::Map(a), Value::Map(b)) => {
                if a.len() != b.len() {
                    return Some(false);
                }
                for (key, value) in a.iter() {
                    match find(b, key)? {
                        None => return Some(false),
                        Some(other) if !value.equals(other)? => return Some(false),
                        Some(_) => {}
                    }
                }
                true
            }
            _ => match self.compare(other) {
                Some(order) => order == Ordering::Equal,
                None => false,
            },
        })
    }

    /// The order of two values of one kind; none when they have none.
    pub(super) fn compare(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
            (Value::Uint(a), Value::Uint(b)) => Some(a.cmp(b)),
            (Value::Int(a), Value::Uint(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
            (Value::Uint(a), Value::Int(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
            (Value::Bytes(a), Value::Bytes(b)) => Some(a.cmp(b)),
            (Value::Time(a), Value::Time(b)) => Some(a.cmp(b)),
            (Value::Duration(a), Value::Duration(b)) => Some(a.cmp(b)),
            (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
            (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
            _ => self.number()?.partial_cmp(&other.number()?),
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "numbers of different types are compared as the language does, unless they are too large to be exact"
    )]
    fn number(&self) -> Option<f64> {
        match self {
            Value::Int(n) if n.unsigned_abs() < 1 << 53 => Some(*n as f64),
            Value::Uint(n) if *n < 1 << 53 => Some(*n as f64),
            Value::Double(n) => Some(*n),
            _ => None,
        }
    }
}

/// The value of a key of a map; none at the outside when it is not known whether it is there.
pub(super) fn find<'m>(map: &'m [(Value, Value)], key: &Value) -> Option<Option<&'m Value>> {
    for (known, value) in map {
        if known.equals(key)? {
            return Some(Some(value));
        }
    }
    Some(None)
}

fn read(schema: Option<&Node>, node: &Node, depth: usize) -> Option<Value> {
    if depth > DEPTH {
        return None;
    }
    let format = schema.and_then(|schema| schema.str_of("format"));
    let kind = schema.and_then(|schema| schema.str_of("type"));
    if kind == Some("string")
        && let Some(format @ ("date-time" | "date" | "duration" | "byte")) = format
    {
        let Typed::Str(text) = node.typed(Schema::GoYaml2)? else {
            return None;
        };
        let value = match format {
            "date-time" => time::instant(&text).map(Value::Time),
            "date" => time::instant(&format!("{text}T00:00:00Z")).map(Value::Time),
            "duration" => time::duration(&text).map(Value::Duration),
            _ => bytes::decoded(&text).map(|bytes| Value::Bytes(bytes.into())),
        };
        return Some(value.unwrap_or(Value::Opaque));
    }
    match &node.kind {
        Kind::Sequence(items) => {
            let below = schema.and_then(|schema| schema.some("items"));
            let items = items.iter().map(|item| read(below, item, depth + 1));
            Some(Value::list(items.collect::<Option<_>>()?))
        }
        Kind::Mapping(mapping) => {
            let properties = schema.and_then(|schema| schema.some("properties"));
            let more = schema.and_then(|schema| schema.some("additionalProperties"));
            let more = more.filter(|more| more.as_mapping().is_some());
            let mut map = Vec::new();
            for (name, entry) in mapping.named() {
                let below = properties.and_then(|properties| properties.get(name));
                let below = below.or(more);
                if entry.value.is_null(Schema::GoYaml2) {
                    let nullable = below.and_then(|below| below.bool_of("nullable"));
                    if nullable == Some(true) {
                        map.push((Value::text(name), Value::Null));
                    }
                    continue;
                }
                map.push((Value::text(name), read(below, &entry.value, depth + 1)?));
            }
            for property in properties.map_or(&[][..], Node::entries) {
                let (Some(name), Some(default)) = (property.name(), property.value.some("default"))
                else {
                    continue;
                };
                let key = Value::text(name);
                if find(&map, &key)?.is_none() {
                    let value = read(Some(&property.value), default, depth + 1)?;
                    map.push((key, value));
                }
            }
            Some(Value::map(map))
        }
        Kind::Scalar(_) => Some(match node.typed(Schema::GoYaml2)? {
            Typed::Null => Value::Null,
            Typed::Bool(truth) => Value::Bool(truth),
            Typed::Int(Int::Small(n)) if kind == Some("number") => whole(n)?,
            Typed::Int(Int::Small(n)) => Value::Int(n),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a number without a fraction that is small enough to be exact"
            )]
            Typed::Float(n) if kind == Some("integer") && n.fract() == 0.0 && n.abs() < 1e15 => {
                Value::Int(n as i64)
            }
            Typed::Float(n) => Value::Double(n),
            Typed::Str(text) => Value::Text(text),
            _ => return None,
        }),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "larger numbers, which would lose digits, are not taken"
)]
fn whole(n: i64) -> Option<Value> {
    (n.unsigned_abs() < 1 << 53).then_some(Value::Double(n as f64))
}
