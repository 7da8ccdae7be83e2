//! The published types to the stored schema.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::types::{Definition, Field, Schema, Served, Shape};

/// Compiles the definitions and the words that fields may be.
///
/// # Errors
/// What in the data is not understood.
pub fn compile(types: &'static str, enums: &'static str) -> Result<Schema, String> {
    let types: &'static Value = Box::leak(Box::new(parse(types)?));
    let enums: &'static Value = Box::leak(Box::new(parse(enums)?));
    let definitions = object(types, "definitions")?;
    let objects = definitions
        .iter()
        .filter(|(name, value)| scalar(name).is_none() && is_object(value));
    let positions: BTreeMap<&str, u16> = objects
        .clone()
        .zip(0..)
        .map(|((name, _), at)| (name.as_str(), at))
        .collect();
    let compiler = Compiler { positions, enums };
    let mut schema = Schema::default();
    let mut kinds: BTreeMap<(String, &str), u16> = BTreeMap::new();
    for ((name, value), at) in objects.zip(0..) {
        schema.definitions.push(compiler.definition(name, value)?);
        let known = value.get("x-kubernetes-group-version-kind");
        for known in known.and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| known.get(key).and_then(Value::as_str).unwrap_or("");
            let kind = known.get("kind").and_then(Value::as_str).unwrap_or("");
            let api_version = match text("group") {
                "" => text("version").to_owned(),
                group => format!("{group}/{}", text("version")),
            };
            kinds.insert((api_version, kind), at);
        }
    }
    for (name, releases) in object(types, "kinds_by_version")? {
        let (api_version, kind) = name.split_once(' ').ok_or_else(|| format!("kind {name}"))?;
        // These are sent to the server in other ways than as objects.
        if matches!(kind, "DeleteOptions" | "WatchEvent" | "Status") {
            continue;
        }
        let release = |at: usize| {
            let text = releases.get(at).and_then(Value::as_str)?;
            text.strip_prefix("v1.")?.parse().ok()
        };
        let (first, last) = release(0)
            .zip(release(1))
            .ok_or_else(|| format!("releases of {name}"))?;
        schema.kinds.push(Served {
            api_version,
            kind,
            first,
            last,
            definition: kinds.get(&(api_version.to_owned(), kind)).copied(),
        });
    }
    schema
        .kinds
        .sort_by_key(|served| (served.api_version, served.kind));
    Ok(schema)
}

fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn object<'v>(value: &'v Value, key: &str) -> Result<&'v Map<String, Value>, String> {
    let found = value.get(key).and_then(Value::as_object);
    found.ok_or_else(|| format!("`{key}` is missing"))
}

fn is_object(value: &Value) -> bool {
    value.get("properties").is_some() || types(value).contains(&"object")
}

/// The types that a schema names, without null: any field may be null, and is then not given.
fn types(value: &Value) -> Vec<&str> {
    let names = match value.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    names.into_iter().filter(|name| *name != "null").collect()
}

/// The shape of a definition that is no object with fields.
fn scalar(name: &str) -> Option<Shape> {
    let short = name.rsplit('.').next().unwrap_or(name);
    Some(match short {
        "IntOrString" => Shape::IntOrText,
        "Quantity" => Shape::Quantity,
        "Time" | "MicroTime" => Shape::Time,
        "RawExtension" | "FieldsV1" | "Patch" => Shape::Open,
        "JSON"
        | "JSONSchemaPropsOrArray"
        | "JSONSchemaPropsOrBool"
        | "JSONSchemaPropsOrStringArray" => Shape::Any,
        _ => return None,
    })
}

struct Compiler {
    positions: BTreeMap<&'static str, u16>,
    enums: &'static Value,
}

impl Compiler {
    fn definition(&self, name: &'static str, value: &'static Value) -> Result<Definition, String> {
        let required: Vec<&str> = strings(value.get("required"));
        let words = self.words(name);
        let mut fields = Vec::new();
        let properties = value.get("properties").and_then(Value::as_object);
        for (field, schema) in properties.into_iter().flatten() {
            let shape = self
                .shape(schema)
                .map_err(|what| format!("{name}.{field}: {what}"))?;
            fields.push(Field {
                name: field,
                required: required.contains(&field.as_str()),
                shape: worded(shape, words.and_then(|words| words.get(field))),
            });
        }
        fields.sort_by_key(|field| field.name);
        let mut parts = name.rsplit('.');
        Ok(Definition {
            name: parts.next().unwrap_or(name),
            group: parts.nth(1).unwrap_or(""),
            fields,
        })
    }

    /// The words of the fields of a definition: `io.k8s.api.apps.v1.X` is `apps/v1/X`, whatever the group is called in full.
    fn words(&self, name: &str) -> Option<&'static Map<String, Value>> {
        let mut parts = name.rsplit('.');
        let (short, version, group) = (parts.next()?, parts.next()?, parts.next()?);
        let found = self.enums.as_object()?.iter().find(|(key, _)| {
            let mut parts = key.rsplit('/');
            let same = parts.next() == Some(short) && parts.next() == Some(version);
            let of = parts
                .next()
                .map_or("core", |g| g.split('.').next().unwrap_or(g));
            same && of == group
        });
        found?.1.as_object()
    }

    fn shape(&self, value: &'static Value) -> Result<Shape, String> {
        if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
            let name = reference.strip_prefix("#/$defs/").unwrap_or(reference);
            if let Some(shape) = scalar(name) {
                return Ok(shape);
            }
            return match self.positions.get(name) {
                Some(&at) => Ok(Shape::Object(at)),
                None => Err(format!("refers to {name}")),
            };
        }
        let format = value.get("format").and_then(Value::as_str);
        Ok(match (types(value).as_slice(), format) {
            (["string"], Some("byte")) => Shape::Bytes,
            (["string"], Some("date-time")) => Shape::Time,
            (["string"], _) => match strings(value.get("enum")) {
                words if words.is_empty() => Shape::Text,
                words => Shape::Word(words),
            },
            (["integer"], Some("int64")) => Shape::Int64,
            (["integer"], _) => Shape::Int32,
            (["number"], _) => Shape::Number,
            (["boolean"], _) => Shape::Bool,
            (["array"], _) => {
                let items = value.get("items").ok_or("a list of what")?;
                Shape::List(Box::new(self.shape(items)?))
            }
            (["object"], _) => match value.get("additionalProperties") {
                Some(values) => Shape::Map(Box::new(self.shape(values)?)),
                None => Shape::Open,
            },
            ([], _) => Shape::Any,
            (types, _) => return Err(format!("has the types {types:?}")),
        })
    }
}

fn strings(value: Option<&'static Value>) -> Vec<&'static str> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).collect()
}

/// A shape whose texts are some words.
fn worded(shape: Shape, words: Option<&'static Value>) -> Shape {
    match (shape, words) {
        (Shape::Text, Some(words @ Value::Array(_))) => Shape::Word(strings(Some(words))),
        (Shape::List(items), Some(Value::Object(words))) if *items == Shape::Text => {
            Shape::List(Box::new(Shape::Word(strings(words.get("items")))))
        }
        (shape, _) => shape,
    }
}
