//! Values of expressions, and those of objects with the defaults of their schema.

use std::cmp::Ordering;
use std::sync::Arc;

use locus_core::Int;

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
    Double(f64),
    Text(Arc<str>),
    List(Arc<Vec<Value>>),
    /// Keys and values, in their order.
    Map(Arc<Vec<(Value, Value)>>),
    /// A field that may be missing.
    Optional(Option<Box<Value>>),
    /// A value of a type that is not known here, such as a time.
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

    /// Whether two values are equal; none when that is not known.
    pub(super) fn equals(&self, other: &Value) -> Option<bool> {
        Some(match (self, other) {
            (Value::Opaque, _) | (_, Value::Opaque) => return None,
            (Value::Optional(_), _) | (_, Value::Optional(_)) => return None,
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
    if kind == Some("string") && matches!(format, Some("date-time" | "date" | "duration" | "byte"))
    {
        return Some(Value::Opaque);
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
