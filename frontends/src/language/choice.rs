//! Inputs that are open, and values that are chosen for them.

use std::sync::Arc;

use locus_core::Span;
use locus_core::value::{Domain, SymbolId, SymbolKind, Value};

use super::Loaded;

/// An input that may be given another value.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenInput {
    /// What users call it.
    pub name: Arc<str>,
    /// The symbol that stands for it.
    pub symbol: SymbolId,
    /// Where it is declared, or first used.
    pub span: Span,
    /// The values it may be given.
    pub domain: Domain,
    /// The value that it has when it is not given; giving this one makes no difference.
    pub default: Option<Value>,
    /// Whether there is a configuration without a value for it.
    pub optional: bool,
}

/// An input and the value chosen for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// What users call the input.
    pub name: Arc<str>,
    /// The value.
    pub value: Value,
}

/// A limit of what an input may be given.
#[derive(Clone, Debug, PartialEq)]
pub enum Limit {
    /// One of these.
    OneOf(Vec<Value>),
    /// A number that is not smaller.
    AtLeast(i64),
    /// A number that is not larger.
    AtMost(i64),
    /// At least one character.
    Something,
    /// A constraint that the language knows by name, if it has it.
    Named(&'static str),
}

/// Names of constraints that languages may know.
pub const LIMITS: [&str; 5] = ["net_cidr", "ip_addr", "mac_addr", "ip_or_cidr", "dns_name"];

/// Values as a list on one line.
pub(crate) fn in_brackets(values: &[Value]) -> String {
    let all: Vec<serde_json::Value> = values.iter().map(to_json).collect();
    let shown: Vec<String> = all.iter().map(ToString::to_string).collect();
    format!("[{}]", shown.join(", "))
}

impl Chosen {
    /// The value as it is given: the items of a list between commas, what is nested as JSON.
    pub fn text(&self) -> String {
        written(&self.value)
    }
}

/// A value as users give it: the items of a list between commas, what is nested as JSON.
pub(crate) fn written(value: &Value) -> String {
    let plain = |value: &Value| !matches!(value, Value::List(_) | Value::Map(_) | Value::Null);
    match value {
        Value::List(items) if items.iter().all(|item| plain(&item.value)) => {
            let items: Vec<String> = items.iter().map(|item| written(&item.value)).collect();
            items.join(",")
        }
        Value::List(_) | Value::Map(_) => to_json(value).to_string(),
        other => other.to_string(),
    }
}

/// A value as JSON; what is not known is null.
pub(crate) fn to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => match value.to_i64() {
            Some(number) => number.into(),
            None => value.to_string().into(),
        },
        Value::Float(value) => (*value).into(),
        Value::Str(text) => (&**text).into(),
        Value::List(items) => items.iter().map(|item| to_json(&item.value)).collect(),
        Value::Map(fields) => fields
            .iter()
            .map(|field| (field.name.to_string(), to_json(&field.item.value)))
            .collect(),
        Value::Null | Value::Location(_) | Value::Symbolic(_) => serde_json::Value::Null,
    }
}

/// A file that gives values to inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// What is to be given before it, as it would not be read otherwise.
    pub beside: Vec<String>,
    /// The flag that takes the file: `-e`.
    pub flag: &'static str,
    /// The extension of its name.
    pub extension: &'static str,
    /// What starts a comment in it.
    pub comment: &'static str,
    /// Its text.
    pub text: String,
}

/// The parameters of a configuration, by the names of their symbols.
pub(crate) fn parameters(loaded: &Loaded) -> Vec<OpenInput> {
    let symbols = loaded.graph.symbols();
    let parameters = symbols.filter(|(_, symbol)| symbol.kind == SymbolKind::Parameter);
    parameters
        .map(|(id, symbol)| OpenInput {
            name: symbol.name.clone(),
            symbol: id,
            span: symbol.span,
            domain: symbol.domain.clone(),
            default: symbol.default.as_ref().map(|item| item.value.clone()),
            optional: symbol.default.is_some(),
        })
        .collect()
}
