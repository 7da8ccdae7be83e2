//! Values of a configuration: known, or symbolic with a domain.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use crate::graph::LocationId;
use crate::int::Int;
use crate::source::Span;

/// The identity of a [`Symbol`] within its graph.
///
/// Two uses of one parameter have one symbol, and so are one variable to the solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(pub(crate) u32);

impl SymbolId {
    /// Position in the graph's list of symbols.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a property holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing, said explicitly.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number of any size.
    Int(Int),
    /// Any other number.
    Float(f64),
    /// Text.
    Str(Arc<str>),
    /// A list.
    List(Vec<Item>),
    /// Names and values, in the order they were written.
    Map(Vec<Field>),
    /// A reference to a location.
    Location(LocationId),
    /// Not known before deployment, or not given.
    Symbolic(SymbolId),
}

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The value.
    pub value: Value,
    /// Where it is used: what an editor underlines.
    pub span: Span,
    /// Where it was written, when that is elsewhere: the default of a parameter, an environment.
    pub from: Option<Span>,
}

/// A named value within a map, or a property of a location.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The name.
    pub name: Arc<str>,
    /// Where the name is written.
    pub key: Span,
    /// The value.
    pub item: Item,
}

impl Item {
    /// A value that is written where it is used.
    pub fn new(value: Value, span: Span) -> Self {
        Item {
            value,
            span,
            from: None,
        }
    }

    /// The value under a name, when this is a map that has it.
    pub fn get(&self, name: &str) -> Option<&Item> {
        match &self.value {
            Value::Map(fields) => field(fields, name),
            _ => None,
        }
    }
}

/// The value under a name; of a repeated name the last.
pub fn field<'a>(fields: &'a [Field], name: &str) -> Option<&'a Item> {
    fields
        .iter()
        .rev()
        .find(|field| &*field.name == name)
        .map(|field| &field.item)
}

impl Value {
    /// Text as a value.
    pub fn str(text: impl Into<Arc<str>>) -> Value {
        Value::Str(text.into())
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// What it is, in words for messages.
    pub fn describe(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a number",
            Value::Str(_) => "a string",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
            Value::Location(_) => "a reference",
            Value::Symbolic(_) => "a value not known yet",
        }
    }

    /// Whether neither the value nor anything in it is symbolic or a reference.
    pub fn is_known(&self) -> bool {
        match self {
            Value::Location(_) | Value::Symbolic(_) => false,
            Value::List(items) => items.iter().all(|item| item.value.is_known()),
            Value::Map(fields) => fields.iter().all(|field| field.item.value.is_known()),
            _ => true,
        }
    }

    /// Calls a function for each symbol and each location within.
    pub fn visit(&self, leaf: &mut impl FnMut(&Value)) {
        match self {
            Value::List(items) => items.iter().for_each(|item| item.value.visit(leaf)),
            Value::Map(fields) => {
                fields.iter().for_each(|field| field.item.value.visit(leaf));
            }
            Value::Location(_) | Value::Symbolic(_) => leaf(self),
            _ => {}
        }
    }

    /// Whether two values are the same apart from where they were written; the order of names in a
    /// map does not count, nor whether `1` is written `1.0`.
    pub fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::List(a), Value::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.value.same(&b.value))
            }
            (Value::Map(a), Value::Map(b)) => {
                let within = |a: &[Field], b: &[Field]| {
                    a.iter().all(|one| {
                        field(b, &one.name).is_some_and(|item| item.value.same(&one.item.value))
                    })
                };
                within(a, b) && within(b, a)
            }
            #[expect(clippy::float_cmp, reason = "two texts for one number give one float")]
            (Value::Int(n), Value::Float(f)) | (Value::Float(f), Value::Int(n)) => n.to_f64() == *f,
            (a, b) => a == b,
        }
    }
}

/// Compact JSON-like text, for messages and labels; references show as `@n` and symbols as `?n`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(n) => write!(f, "{n}"),
            Value::Float(n) => write!(f, "{n}"),
            Value::Str(text) => f.write_str(text),
            Value::List(items) => {
                f.write_char('[')?;
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{}", item.value)?;
                }
                f.write_char(']')
            }
            Value::Map(fields) => {
                f.write_char('{')?;
                for (index, field) in fields.iter().enumerate() {
                    if index > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{}: {}", field.name, field.item.value)?;
                }
                f.write_char('}')
            }
            Value::Location(id) => write!(f, "@{}", id.index()),
            Value::Symbolic(id) => write!(f, "?{}", id.index()),
        }
    }
}

/// The type of a value that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// Anything.
    Any,
    /// Text.
    String,
    /// A whole number.
    Int,
    /// A number.
    Number,
    /// A truth value.
    Bool,
    /// A list.
    List,
    /// A map.
    Map,
}

impl ValueType {
    /// Its name in every output.
    pub fn as_str(self) -> &'static str {
        match self {
            ValueType::Any => "any",
            ValueType::String => "string",
            ValueType::Int => "integer",
            ValueType::Number => "number",
            ValueType::Bool => "boolean",
            ValueType::List => "list",
            ValueType::Map => "map",
        }
    }
}

/// What limits a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Constraint {
    /// Number of characters, items or entries.
    Length {
        /// At least so many.
        min: Option<Int>,
        /// At most so many.
        max: Option<Int>,
    },
    /// Size of a number.
    Range {
        /// At least so large.
        min: Option<Value>,
        /// At most so large.
        max: Option<Value>,
    },
    /// `value % step == offset`.
    Modulo {
        /// The divisor.
        step: Int,
        /// The remainder.
        offset: Int,
    },
    /// One of these; for a list, each item is.
    OneOf(Vec<Value>),
    /// A regular expression that the whole text matches.
    Pattern(Arc<str>),
    /// A constraint that the configuration language knows by name, such as `neutron.network`.
    Named(Arc<str>),
}

/// The values that a symbol may take.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Their type.
    pub ty: ValueType,
    /// What all of them satisfy.
    pub constraints: Vec<Constraint>,
}

impl Domain {
    /// Every value of a type.
    pub fn of(ty: ValueType) -> Self {
        Domain {
            ty,
            constraints: Vec::new(),
        }
    }

    /// The values, when they are finitely many and listed.
    pub fn choices(&self) -> Option<Vec<Value>> {
        if self.ty == ValueType::Bool {
            return Some(vec![Value::Bool(false), Value::Bool(true)]);
        }
        if matches!(self.ty, ValueType::List | ValueType::Map) {
            return None;
        }
        self.constraints
            .iter()
            .find_map(|constraint| match constraint {
                Constraint::OneOf(values) => Some(values.clone()),
                _ => None,
            })
    }
}

/// Why a value is not known.
#[derive(Clone, Debug, PartialEq)]
pub enum SymbolKind {
    /// An input of the configuration that has no value, or may have any.
    Parameter,
    /// Something that a location has once it exists: an address, an identifier.
    Attribute {
        /// The location.
        location: LocationId,
        /// The attribute and the path into it.
        path: Vec<Arc<str>>,
    },
    /// A truth value computed from inputs.
    Condition,
    /// One of two values, decided by a condition.
    Choice {
        /// The condition, a symbol of type boolean.
        condition: SymbolId,
        /// The value when it is true.
        then: Box<Item>,
        /// The value when it is false; absent when the property then is.
        otherwise: Option<Box<Item>>,
    },
    /// A truth value that other symbols decide in a way that a solver can follow.
    Logic(Logic),
    /// Computed from other symbols.
    Computed,
}

/// How a truth value depends on other symbols.
#[derive(Clone, Debug, PartialEq)]
pub enum Logic {
    /// True when a symbol is false.
    Not(SymbolId),
    /// True when all symbols are.
    All(Vec<SymbolId>),
    /// True when one of the symbols is.
    Any(Vec<SymbolId>),
    /// True when two values are the same, once the symbols in them are replaced by their values.
    Equal(Box<Value>, Box<Value>),
}

impl Logic {
    /// The symbols that decide it, each once.
    pub fn depends(&self) -> Vec<SymbolId> {
        let mut found: Vec<SymbolId> = Vec::new();
        let mut add = |symbol: SymbolId| {
            if !found.contains(&symbol) {
                found.push(symbol);
            }
        };
        match self {
            Logic::Not(symbol) => add(*symbol),
            Logic::All(symbols) | Logic::Any(symbols) => symbols.iter().copied().for_each(add),
            Logic::Equal(a, b) => {
                for value in [a, b] {
                    value.visit(&mut |leaf| {
                        if let Value::Symbolic(symbol) = leaf {
                            add(*symbol);
                        }
                    });
                }
            }
        }
        found
    }
}

/// A value that is not known, with all that is known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Symbol {
    /// What a user calls it: the parameter's name, `server.first_address`.
    pub name: Arc<str>,
    /// Why it is not known.
    pub kind: SymbolKind,
    /// The values it may take.
    pub domain: Domain,
    /// Where it is introduced.
    pub span: Span,
    /// The value it has unless another is given.
    pub default: Option<Item>,
    /// The symbols it is computed from.
    pub depends: Vec<SymbolId>,
}
