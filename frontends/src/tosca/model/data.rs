//! Types of data: those of TOSCA itself, those of files, and schemas made of them.

use std::collections::HashSet;
use std::rc::Rc;

use locus_core::{Diagnostic, Span};

use super::{Model, Parent};
use crate::tosca::grammar::TypeKind;
use crate::tosca::names::{Meaning, TypeId};
use crate::tosca::version::Version;
use crate::yaml::{Node, Schema as Yaml, Typed};

/// A type of data that TOSCA itself has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Float,
    /// A truth value.
    Boolean,
    /// Bytes, in Base64.
    Bytes,
    /// Nothing.
    Nil,
    /// A time.
    Timestamp,
    /// A version.
    Version,
    /// Two whole numbers.
    Range,
    /// A list.
    List,
    /// A map.
    Map,
    /// A number with a unit, whose units a derived type gives.
    Scalar,
    /// A size of 1.x.
    Size,
    /// A duration of 1.x.
    Time,
    /// A frequency of 1.x.
    Frequency,
    /// A bit rate of 1.3.
    Bitrate,
}

impl Primitive {
    /// The type with a name.
    pub fn named(name: &str, version: Version) -> Option<Primitive> {
        let simple = version.is_simple();
        Some(match name {
            "string" => Primitive::String,
            "integer" => Primitive::Integer,
            "float" => Primitive::Float,
            "boolean" => Primitive::Boolean,
            "timestamp" => Primitive::Timestamp,
            "version" => Primitive::Version,
            "list" => Primitive::List,
            "map" => Primitive::Map,
            "bytes" if !simple => Primitive::Bytes,
            "nil" if !simple => Primitive::Nil,
            "scalar" if !simple => Primitive::Scalar,
            "null" if simple => Primitive::Nil,
            "range" if simple => Primitive::Range,
            "scalar-unit.size" if simple => Primitive::Size,
            "scalar-unit.time" if simple => Primitive::Time,
            "scalar-unit.frequency" if simple => Primitive::Frequency,
            "scalar-unit.bitrate" if simple => Primitive::Bitrate,
            _ => return None,
        })
    }

    /// What a value of it is, with an article.
    pub fn describe(self) -> &'static str {
        match self {
            Primitive::String => "a string",
            Primitive::Integer => "an integer",
            Primitive::Float => "a number",
            Primitive::Boolean => "a boolean",
            Primitive::Bytes => "bytes in Base64",
            Primitive::Nil => "null",
            Primitive::Timestamp => "a timestamp, such as `2025-04-12T23:20:50Z`",
            Primitive::Version => "a version, such as `1.2.0`",
            Primitive::Range => "a range, such as `[1, 10]`",
            Primitive::List => "a list",
            Primitive::Map => "a map",
            Primitive::Scalar => "a number with a unit",
            Primitive::Size => "a size, such as `10 GB`",
            Primitive::Time => "a duration, such as `10 s`",
            Primitive::Frequency => "a frequency, such as `2.4 GHz`",
            Primitive::Bitrate => "a bit rate, such as `10 Mbps`",
        }
    }
}

/// The type of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataType {
    /// One of TOSCA itself.
    Primitive(Primitive),
    /// One of a file.
    Type(TypeId),
    /// It is not known.
    Unknown,
}

/// A condition on values.
#[derive(Clone, Copy, Debug)]
pub struct Clause<'a> {
    /// Its text: an item of `constraints`, or a `validation`.
    pub node: &'a Node,
    /// The file that has it.
    pub file: usize,
}

/// What values may be.
#[derive(Clone, Debug)]
pub struct Schema<'a> {
    /// Their type.
    pub ty: DataType,
    /// What the items of a list or the values of a map may be, where the schema itself says so: [`Model::entry`] knows what its type
    /// says, which may be the type again.
    pub entry: Option<Rc<Schema<'a>>>,
    /// What the keys of a map may be, where the schema itself says so; see [`Model::key`].
    pub key: Option<Rc<Schema<'a>>>,
    /// What they must fulfil, beside what their type says.
    pub clauses: Vec<Clause<'a>>,
    /// The file that gives it.
    pub file: usize,
}

impl<'a> Schema<'a> {
    /// One that allows anything.
    pub fn unknown(file: usize) -> Self {
        Schema {
            ty: DataType::Unknown,
            entry: None,
            key: None,
            clauses: Vec::new(),
            file,
        }
    }

    /// One of a type without more.
    pub fn of(ty: DataType, file: usize) -> Self {
        Schema {
            ty,
            ..Schema::unknown(file)
        }
    }
}

impl<'a> Model<'a> {
    /// The type that a name means.
    pub fn data_type(&self, file: usize, name: &str) -> DataType {
        if let Some(primitive) = Primitive::named(name, self.version(file)) {
            return DataType::Primitive(primitive);
        }
        match self.names.lookup(file, TypeKind::Data, name) {
            Meaning::Type(id) => DataType::Type(id),
            _ => DataType::Unknown,
        }
    }

    /// The type of TOSCA itself that a type comes down to; none for one with properties, or one that is not known.
    pub fn primitive(&self, ty: DataType) -> Option<Primitive> {
        match ty {
            DataType::Primitive(primitive) => Some(primitive),
            DataType::Unknown => None,
            DataType::Type(id) => {
                let last = self.ancestors(id).last()?;
                match self.parent(last) {
                    Parent::Primitive(primitive) => Some(primitive),
                    _ => None,
                }
            }
        }
    }

    /// The schema that a node writes: the name of a type, or a map; what it leaves out is as in the schema it refines.
    pub fn schema(&self, node: &'a Node, file: usize, refined: Option<&Schema<'a>>) -> Schema<'a> {
        let base = || refined.cloned().unwrap_or_else(|| Schema::unknown(file));
        if let Some(Typed::Str(name)) = node.typed(Yaml::Core) {
            let ty = self.data_type(file, &name);
            self.check_use(ty, node.used_at(), file);
            return Schema::of(ty, file);
        }
        let Some(map) = node.as_mapping() else {
            return base();
        };
        let mut schema = match map.get("type").map(|node| (node, node.typed(Yaml::Core))) {
            Some((at, Some(Typed::Str(name)))) => {
                let ty = self.data_type(file, &name);
                self.check_use(ty, at.used_at(), file);
                match refined {
                    Some(refined) => Schema {
                        ty,
                        ..refined.clone()
                    },
                    None => Schema::of(ty, file),
                }
            }
            _ => base(),
        };
        schema.file = file;
        if let Some(node) = map.get("entry_schema") {
            let entry = self.schema(node, file, self.entry(&schema).as_deref());
            schema.entry = Some(Rc::new(entry));
        }
        if let Some(node) = map.get("key_schema") {
            let key = self.schema(node, file, self.key(&schema).as_deref());
            let is_text = self
                .primitive(key.ty)
                .is_none_or(|p| p == Primitive::String);
            if !is_text {
                let message = "the keys of a map are strings, so `key_schema` must be one";
                self.report(
                    file,
                    Diagnostic::error("tosca-schema", message).at(node.used_at()),
                );
            }
            schema.key = Some(Rc::new(key));
        }
        self.clauses(map, file, &mut schema.clauses);
        let is_collection = matches!(
            schema.ty,
            DataType::Primitive(Primitive::List | Primitive::Map)
        );
        if is_collection && schema.entry.is_none() && !self.version(file).is_simple() {
            let at = map.get("type").map_or(node.used_at(), Node::used_at);
            let message = "a list or map must say what it holds";
            let diagnostic =
                Diagnostic::error("tosca-schema", message).help("add an `entry_schema`");
            self.report(file, diagnostic.at(at));
        }
        schema
    }

    /// Adds the conditions that a map states.
    pub fn clauses(
        &self,
        map: &'a crate::yaml::Mapping,
        file: usize,
        clauses: &mut Vec<Clause<'a>>,
    ) {
        let constraints = map.get("constraints").and_then(Node::as_sequence);
        let items = constraints.into_iter().flatten();
        clauses.extend(items.map(|node| Clause { node, file }));
        let validation = map.get("validation");
        clauses.extend(validation.map(|node| Clause { node, file }));
    }

    /// What the items of a list or the values of a map may be, as the schema or its type says.
    pub fn entry(&self, schema: &Schema<'a>) -> Option<Rc<Schema<'a>>> {
        schema
            .entry
            .clone()
            .or_else(|| self.held(schema.ty, "entry_schema"))
    }

    /// What the keys of a map may be, as the schema or its type says.
    pub fn key(&self, schema: &Schema<'a>) -> Option<Rc<Schema<'a>>> {
        schema
            .key
            .clone()
            .or_else(|| self.held(schema.ty, "key_schema"))
    }

    /// What a type of a file says of the entries or the keys of its lists or maps.
    fn held(&self, ty: DataType, key: &'static str) -> Option<Rc<Schema<'a>>> {
        let DataType::Type(id) = ty else {
            return None;
        };
        if let Some(known) = self.held.borrow().get(&(id, key)) {
            return known.clone();
        }
        // A schema that refines itself finds nothing to refine.
        self.held.borrow_mut().insert((id, key), None);
        let found = self.ancestors(id).find_map(|at| {
            let ty = self.names.get(at);
            Some((ty.node.get(key)?, ty.file))
        });
        let schema = found.map(|(node, file)| Rc::new(self.schema(node, file, None)));
        self.held.borrow_mut().insert((id, key), schema.clone());
        schema
    }

    /// A number with a unit needs units.
    fn check_use(&self, ty: DataType, span: Span, file: usize) {
        if ty == DataType::Primitive(Primitive::Scalar) {
            let message = "`scalar` has no units of its own";
            let diagnostic = Diagnostic::error("tosca-schema", message)
                .help("derive a data type from `scalar` that has `units`, and use that");
            self.report(file, diagnostic.at(span));
        }
    }

    /// Whether a value of one schema is one of another, as far as types tell.
    pub fn assignable(&self, from: &Schema<'a>, to: &Schema<'a>) -> bool {
        let (mut from, mut to) = (Rc::new(from.clone()), Rc::new(to.clone()));
        let mut seen = HashSet::new();
        loop {
            if let Some(fits) = self.fits(from.ty, to.ty) {
                return fits;
            }
            let (Some(a), Some(b)) = (self.entry(&from), self.entry(&to)) else {
                return true;
            };
            // Lists may hold lists of their own type, which hold the same again.
            if !seen.insert((Rc::as_ptr(&a), Rc::as_ptr(&b))) {
                return true;
            }
            (from, to) = (a, b);
        }
    }

    /// Whether a value of one type is one of another; none when that depends on what the lists or maps hold.
    fn fits(&self, from: DataType, to: DataType) -> Option<bool> {
        Some(match (from, to) {
            (DataType::Unknown, _) | (_, DataType::Unknown) => true,
            (DataType::Type(a), DataType::Type(b)) if self.derives(a, b) != Some(false) => true,
            (a, b) => match (self.primitive(a), self.primitive(b)) {
                (Some(Primitive::Integer), Some(Primitive::Float)) => true,
                (Some(Primitive::List), Some(Primitive::List))
                | (Some(Primitive::Map), Some(Primitive::Map)) => return None,
                (Some(a), Some(b)) => a == b,
                (None, None) => match (a, b) {
                    // Two types with properties: one must derive from the other, either way round.
                    (DataType::Type(a), DataType::Type(b)) => {
                        self.derives(a, b) != Some(false) || self.derives(b, a) != Some(false)
                    }
                    _ => true,
                },
                // A map literal may become a value of a type with properties.
                (Some(Primitive::Map), None) | (None, Some(Primitive::Map)) => true,
                (Some(_), None) => !matches!(b, DataType::Type(id) if self.is_closed(id)),
                (None, Some(_)) => !matches!(a, DataType::Type(id) if self.is_closed(id)),
            },
        })
    }

    /// What a schema is called in messages.
    pub fn describe(&self, schema: &Schema<'a>) -> String {
        match schema.ty {
            DataType::Primitive(primitive) => primitive.describe().to_owned(),
            DataType::Type(id) => format!("a `{}`", self.name(id)),
            DataType::Unknown => "a value".to_owned(),
        }
    }
}
