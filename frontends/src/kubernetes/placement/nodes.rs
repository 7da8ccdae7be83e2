//! The nodes that pods are placed on: shapes of the settings, and Node objects among the files.

use std::collections::BTreeMap;
use std::sync::Arc;

use locus_core::value::{Field, Item, Value};
use locus_core::values::Quantity;
use locus_core::{Diagnostic, FileId, Span};

use crate::kubernetes::access::Access as _;
use crate::kubernetes::object::Object;
use crate::yaml::Node;

/// A taint of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taint {
    /// Its key.
    pub key: Arc<str>,
    /// Its value, or nothing.
    pub value: Arc<str>,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: Arc<str>,
    /// Where it is written.
    pub span: Span,
}

/// Nodes that are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeShape {
    /// What they are called.
    pub name: Arc<str>,
    /// The name of the only one, when it has one.
    pub node: Option<Arc<str>>,
    /// How many there are.
    pub count: usize,
    /// What each has of each resource, in thousandths, with where that is written.
    pub capacity: BTreeMap<Arc<str>, (u64, Span)>,
    /// Their labels.
    pub labels: BTreeMap<Arc<str>, Arc<str>>,
    /// Their taints.
    pub taints: Vec<Taint>,
    /// Where they are written.
    pub span: Span,
}

/// An amount in thousandths, rounded up.
pub fn thousandths(text: &str) -> Option<u64> {
    u64::try_from(Quantity::parse(text)?.thousandths()).ok()
}

impl NodeShape {
    /// The same, written in another file.
    pub(crate) fn move_to(&mut self, file: FileId) {
        let here = |span: &mut Span| span.file = file;
        here(&mut self.span);
        self.taints
            .iter_mut()
            .for_each(|taint| here(&mut taint.span));
        self.capacity.values_mut().for_each(|(_, span)| here(span));
    }

    /// Reads a Node object.
    pub(crate) fn of(object: &Object) -> NodeShape {
        let status = object.node.some("status");
        let amounts = status.and_then(|status| {
            let allocatable = status.some("allocatable");
            allocatable.or_else(|| status.some("capacity"))
        });
        let mut capacity = BTreeMap::new();
        for entry in amounts.map_or(&[][..], Node::entries) {
            if let (Some(name), Some(text)) = (entry.name(), entry.value.text())
                && let Some(amount) = thousandths(text)
            {
                capacity.insert(name.clone(), (amount, entry.value.used_at()));
            }
        }
        let mut taints = Vec::new();
        let spec = object.spec();
        for node in spec.map_or(&[][..], |spec| spec.items("taints")) {
            let text = |key: &str| node.text_of(key).map(|text| text.text);
            if let (Some(key), Some(effect)) = (text("key"), text("effect")) {
                taints.push(Taint {
                    key,
                    value: text("value").unwrap_or_default(),
                    effect,
                    span: node.span_of("key"),
                });
            }
        }
        if let Some(spec) = spec
            && spec.bool_of("unschedulable") == Some(true)
        {
            taints.push(Taint {
                key: "node.kubernetes.io/unschedulable".into(),
                value: "".into(),
                effect: "NoSchedule".into(),
                span: spec.span_of("unschedulable"),
            });
        }
        let labels = object.labels.iter();
        let labels = labels.map(|label| (label.key.text.clone(), label.value.text.clone()));
        NodeShape {
            name: object.called().into(),
            node: Some(object.called().into()),
            count: 1,
            capacity,
            labels: labels.collect(),
            taints,
            span: object.span(),
        }
        .finish()
    }

    /// Adds the labels that nodes have without anybody writing them.
    fn finish(mut self) -> Self {
        for (key, value) in [
            ("kubernetes.io/os", "linux"),
            ("kubernetes.io/arch", "amd64"),
        ] {
            self.labels
                .entry(key.into())
                .or_insert_with(|| value.into());
        }
        if let Some(name) = &self.node {
            let key = "kubernetes.io/hostname".into();
            self.labels.entry(key).or_insert_with(|| name.clone());
        }
        self
    }
}

/// Reads `nodes` of the settings; what is wrong is told where it is written, all of it.
pub(crate) fn read(field: &Field, diagnostics: &mut Vec<Diagnostic>) -> Vec<NodeShape> {
    let Value::List(items) = &field.item.value else {
        wrong(
            field.item.span,
            "`nodes` is a list of tables: write `[[kubernetes.nodes]]`",
            diagnostics,
        );
        return Vec::new();
    };
    let mut shapes = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let Value::Map(fields) = &item.value else {
            wrong(
                item.span,
                "`nodes` is a list of tables: write `[[kubernetes.nodes]]`",
                diagnostics,
            );
            continue;
        };
        shapes.extend(shape(at, fields, field.key, diagnostics));
    }
    shapes
}

fn wrong(span: Span, message: impl Into<String>, diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.push(Diagnostic::error("settings", message.into()).at(span));
}

fn shape(
    at: usize,
    fields: &[Field],
    list: Span,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<NodeShape> {
    let span = fields.first().map_or(list, |field| field.key);
    let mut shape = NodeShape {
        name: format!("nodes {}", at + 1).into(),
        node: None,
        count: 1,
        capacity: BTreeMap::new(),
        labels: BTreeMap::new(),
        taints: Vec::new(),
        span,
    };
    let before = diagnostics.len();
    let mut named = false;
    for field in fields {
        let item = &field.item;
        match (&*field.name, &item.value) {
            ("name", Value::Str(name)) => {
                shape.name = name.clone();
                named = true;
            }
            ("count", Value::Int(count)) => match count.to_string().parse::<usize>() {
                Ok(count) if count <= 20_000 => shape.count = count,
                _ => wrong(
                    item.span,
                    "`count` is a number from 0 to 20000",
                    diagnostics,
                ),
            },
            ("labels", Value::Map(labels)) => {
                for label in labels {
                    let value = match &label.item.value {
                        Value::Str(text) => text.clone(),
                        other @ (Value::Int(_) | Value::Bool(_)) => other.to_string().into(),
                        _ => {
                            wrong(label.item.span, "a label is a string", diagnostics);
                            continue;
                        }
                    };
                    shape.labels.insert(label.name.clone(), value);
                }
            }
            ("taints", Value::List(taints)) => {
                for taint in taints {
                    match read_taint(taint) {
                        Some(taint) => shape.taints.push(taint),
                        None => wrong(
                            taint.span,
                            "a taint is written as in `gpu=true:NoSchedule`; the effects are `NoSchedule`, `PreferNoSchedule` and `NoExecute`",
                            diagnostics,
                        ),
                    }
                }
            }
            (key @ ("name" | "count" | "labels" | "taints"), _) => {
                let takes = match key {
                    "name" => "a string",
                    "count" => "a whole number",
                    "labels" => "a table of labels",
                    _ => "a list of taints, as in `gpu=true:NoSchedule`",
                };
                wrong(item.span, format!("`{key}` takes {takes}"), diagnostics);
            }
            (resource, value) => {
                let amount = match value {
                    Value::Str(_) | Value::Int(_) | Value::Float(_) => {
                        thousandths(&value.to_string())
                    }
                    _ => None,
                };
                match amount {
                    Some(amount) => {
                        shape.capacity.insert(resource.into(), (amount, item.span));
                    }
                    None => wrong(
                        item.span,
                        format!("`{resource}` of nodes is an amount, as in `4`, `500m` or `16Gi`"),
                        diagnostics,
                    ),
                }
            }
        }
    }
    if named && shape.count == 1 {
        shape.node = Some(shape.name.clone());
    }
    (diagnostics.len() == before).then(|| shape.finish())
}

fn read_taint(item: &Item) -> Option<Taint> {
    let Value::Str(text) = &item.value else {
        return None;
    };
    let (pair, effect) = text.rsplit_once(':')?;
    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
    let known = ["NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&effect);
    (known && !key.is_empty()).then(|| Taint {
        key: key.into(),
        value: value.into(),
        effect: effect.into(),
        span: item.span,
    })
}
