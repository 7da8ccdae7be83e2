//! JSON, with the place of everything.

use serde_json::{Map, Value as Json, json};

use crate::graph::{LocationGraph, Presence};
use crate::source::{Sources, Span};
use crate::value::{Constraint, Domain, Field, Item, SymbolKind, Value};

/// The graph as JSON; positions are lines and columns from 1.
pub fn to_json(graph: &LocationGraph, sources: &Sources) -> Json {
    let writer = Writer { graph, sources };
    let locations: Vec<Json> = graph
        .locations()
        .map(|(_, location)| {
            let mut out = Map::new();
            out.insert("name".into(), json!(&*location.name));
            out.insert("sort".into(), json!(&*location.sort));
            out.insert("process".into(), json!(&*location.process));
            if location.external {
                out.insert("external".into(), json!(true));
            }
            match location.presence {
                Presence::Present => {}
                Presence::Absent => {
                    out.insert("present".into(), json!(false));
                }
                Presence::When(symbol) => {
                    out.insert("present_when".into(), json!(&*graph.symbol(symbol).name));
                }
            }
            if let Some(parent) = location.parent {
                out.insert("parent".into(), json!(&*graph.location(parent).name));
            }
            out.insert("at".into(), writer.span(location.origin.span));
            let chain: Vec<Json> = location.origin.chain().map(|s| writer.span(s)).collect();
            if !chain.is_empty() {
                out.insert("included_by".into(), Json::Array(chain));
            }
            let roles = |roles: &[crate::graph::RoleId]| -> Vec<usize> {
                roles.iter().map(|role| role.index()).collect()
            };
            out.insert("provided".into(), json!(roles(&location.provided)));
            out.insert("required".into(), json!(roles(&location.required)));
            out.insert("properties".into(), writer.fields(&location.properties));
            Json::Object(out)
        })
        .collect();
    let roles: Vec<Json> = graph
        .roles()
        .map(|(_, role)| {
            let mut out = json!({"kind": role.kind.as_str(), "label": &*role.label, "at": writer.span(role.span)});
            if let (Some(out), false) = (out.as_object_mut(), role.properties.is_empty()) {
                out.insert("properties".into(), writer.fields(&role.properties));
            }
            out
        })
        .collect();
    let bindings: Vec<Json> = graph
        .bindings()
        .iter()
        .map(|binding| {
            json!({
                "role": binding.role.index(),
                "provider": &*graph.location(binding.provider).name,
                "requirer": &*graph.location(binding.requirer).name,
            })
        })
        .collect();
    let symbols: Vec<Json> = graph
        .symbols()
        .map(|(_, symbol)| {
            let kind = match &symbol.kind {
                SymbolKind::Parameter => "parameter",
                SymbolKind::Attribute { .. } => "attribute",
                SymbolKind::Condition | SymbolKind::Logic(_) => "condition",
                SymbolKind::Choice { .. } => "choice",
                SymbolKind::Computed => "computed",
            };
            let mut out = json!({
                "name": &*symbol.name,
                "kind": kind,
                "domain": writer.domain(&symbol.domain),
                "at": writer.span(symbol.span),
            });
            if let (Some(default), Some(out)) = (&symbol.default, out.as_object_mut()) {
                out.insert("default".into(), writer.value(&default.value));
            }
            out
        })
        .collect();
    json!({
        "version": 1,
        "locations": locations,
        "roles": roles,
        "bindings": bindings,
        "symbols": symbols,
    })
}

struct Writer<'a> {
    graph: &'a LocationGraph,
    sources: &'a Sources,
}

impl Writer<'_> {
    fn span(&self, span: Span) -> Json {
        let (start, end) = (self.sources.start(span), self.sources.end(span));
        json!({
            "file": self.sources.name(span.file),
            "line": start.line,
            "column": start.column,
            "end_line": end.line,
            "end_column": end.column,
        })
    }

    fn fields(&self, fields: &[Field]) -> Json {
        Json::Object(
            fields
                .iter()
                .map(|field| (field.name.to_string(), self.item(&field.item)))
                .collect(),
        )
    }

    fn item(&self, item: &Item) -> Json {
        self.value(&item.value)
    }

    fn value(&self, value: &Value) -> Json {
        match value {
            Value::Null => Json::Null,
            Value::Bool(b) => json!(b),
            Value::Int(n) => match n.to_i64() {
                Some(n) => json!(n),
                None => json!({"integer": n.to_string()}),
            },
            Value::Float(f) => json!(f),
            Value::Str(text) => json!(&**text),
            Value::List(items) => Json::Array(items.iter().map(|i| self.item(i)).collect()),
            Value::Map(fields) => self.fields(fields),
            Value::Location(id) => json!({"location": &*self.graph.location(*id).name}),
            Value::Symbolic(id) => json!({"symbol": id.index()}),
        }
    }

    fn domain(&self, domain: &Domain) -> Json {
        let constraints: Vec<Json> = domain
            .constraints
            .iter()
            .map(|constraint| match constraint {
                Constraint::Length { min, max } => json!({"length": {
                    "min": min.as_ref().map(ToString::to_string),
                    "max": max.as_ref().map(ToString::to_string),
                }}),
                Constraint::Range { min, max } => json!({"range": {
                    "min": min.as_ref().map(|v| self.value(v)),
                    "max": max.as_ref().map(|v| self.value(v)),
                }}),
                Constraint::Modulo { step, offset } => {
                    json!({"modulo": {"step": step.to_string(), "offset": offset.to_string()}})
                }
                Constraint::OneOf(values) => {
                    json!({"one_of": values.iter().map(|v| self.value(v)).collect::<Vec<_>>()})
                }
                Constraint::Pattern(pattern) => json!({"pattern": &**pattern}),
                Constraint::Named(name) => json!({"named": &**name}),
            })
            .collect();
        json!({"type": domain.ty.as_str(), "constraints": constraints})
    }
}
