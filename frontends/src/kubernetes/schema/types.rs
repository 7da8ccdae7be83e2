//! The schema as it is stored: definitions with their fields, and the kinds that releases serve.

use serde::{Deserialize, Serialize};

/// All definitions and kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Schema {
    /// The definitions; others refer to them by position.
    pub definitions: Vec<Definition>,
    /// The kinds, sorted by version of the interface and name.
    pub kinds: Vec<Served>,
}

/// An object with known fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// The group it is part of, as in `core`.
    pub group: &'static str,
    /// Its name, as in `Container`.
    pub name: &'static str,
    /// Its fields, sorted by name.
    pub fields: Vec<Field>,
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Whether it must be given.
    pub required: bool,
    /// What it holds.
    pub shape: Shape,
}

/// What a value may be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub enum Shape {
    /// Anything.
    Any,
    /// A map with any content.
    Open,
    /// An object with the fields of a definition.
    Object(u16),
    /// Text.
    Text,
    /// One of some words.
    Word(Vec<&'static str>),
    /// A whole number of 32 bits.
    Int32,
    /// A whole number of 64 bits.
    Int64,
    /// Any number.
    Number,
    /// A truth value.
    Bool,
    /// Base64.
    Bytes,
    /// A whole number or text.
    IntOrText,
    /// An amount of a resource.
    Quantity,
    /// A point in time.
    Time,
    /// A list.
    List(Box<Shape>),
    /// A map from names to values of one shape.
    Map(Box<Shape>),
}

/// A kind, and the releases that serve it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// `apiVersion` of its objects, as in `apps/v1`.
    pub api_version: &'static str,
    /// `kind` of its objects.
    pub kind: &'static str,
    /// The first release that serves it, of those that are known: 25 for 1.25.
    pub first: u8,
    /// The last one.
    pub last: u8,
    /// Its definition; none when the newest release does not serve it any more.
    pub definition: Option<u16>,
}

impl Definition {
    /// A field by name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        let at = self.fields.binary_search_by(|field| field.name.cmp(name));
        self.fields.get(at.ok()?)
    }
}

impl Schema {
    /// A definition by its position.
    pub fn definition(&self, at: u16) -> Option<&Definition> {
        self.definitions.get(usize::from(at))
    }

    /// A kind by `apiVersion` and `kind`.
    pub fn kind(&self, api_version: &str, kind: &str) -> Option<&Served> {
        let key = |served: &Served| (served.api_version, served.kind).cmp(&(api_version, kind));
        let at = self.kinds.binary_search_by(key).ok()?;
        self.kinds.get(at)
    }

    /// The kinds of a version of the interface.
    pub fn kinds_of(&self, api_version: &str) -> impl Iterator<Item = &Served> {
        let from = self
            .kinds
            .partition_point(|served| served.api_version < api_version);
        let kinds = self.kinds.get(from..).unwrap_or_default().iter();
        kinds.take_while(move |served| served.api_version == api_version)
    }
}
