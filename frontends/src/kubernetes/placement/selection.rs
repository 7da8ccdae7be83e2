//! Which nodes a pod may be on: selectors, affinities, names, taints and volumes.

use std::collections::BTreeMap;
use std::sync::Arc;

use locus_core::Span;

use super::nodes::{NodeShape, Taint};
use crate::kubernetes::access::Access as _;
use crate::yaml::Node;

/// What keeps pods off some nodes: where it is written, what it says, and whether each shape is allowed.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    pub(crate) span: Span,
    pub(crate) text: String,
    pub(crate) shapes: Vec<bool>,
}

type Labels = BTreeMap<Arc<str>, Arc<str>>;

/// Whether labels of a node meet an expression of a node selector.
fn meets(expression: &Node, labels: &Labels) -> bool {
    let Some(key) = expression.str_of("key") else {
        return false;
    };
    let value = labels.get(key);
    let values = expression.texts("values");
    let listed = |value: &Arc<str>| values.iter().any(|known| known.text == *value);
    let compare = |less: bool| {
        let own = value.and_then(|value| value.parse::<i64>().ok());
        let than = values
            .first()
            .and_then(|value| value.text.parse::<i64>().ok());
        matches!((own, than), (Some(own), Some(than)) if if less { own < than } else { own > than })
    };
    match expression.str_of("operator") {
        Some("In") => value.is_some_and(listed),
        Some("NotIn") => value.is_none_or(|value| !listed(value)),
        Some("Exists") => value.is_some(),
        Some("DoesNotExist") => value.is_none(),
        Some("Gt") => compare(false),
        Some("Lt") => compare(true),
        _ => false,
    }
}

/// Whether a node meets a term of a node selector; an empty one is met by none.
fn term(node: &Node, shape: &NodeShape) -> bool {
    let expressions = node.items("matchExpressions");
    let fields = node.items("matchFields");
    let mut own = Labels::new();
    if let Some(name) = &shape.node {
        own.insert("metadata.name".into(), name.clone());
    }
    !(expressions.is_empty() && fields.is_empty())
        && expressions.iter().all(|one| meets(one, &shape.labels))
        && fields.iter().all(|one| meets(one, &own))
}

/// Whether a node meets a selector of terms, one of which is enough.
pub(crate) fn any_term(selector: &Node, shape: &NodeShape) -> bool {
    let mut terms = selector.items("nodeSelectorTerms").iter();
    terms.any(|node| term(node, shape))
}

/// What a pod says about nodes.
pub(crate) fn of(spec: &Node, shapes: &[NodeShape]) -> Vec<Selection> {
    let mut all = Vec::new();
    for entry in spec.some("nodeSelector").map_or(&[][..], Node::entries) {
        if let (Some(key), Some(value)) = (entry.name(), entry.value.text_at()) {
            let has = |shape: &NodeShape| shape.labels.get(key) == Some(&value.text);
            all.push(Selection {
                span: value.span,
                text: format!("only nodes with `{key}={}`", value.text),
                shapes: shapes.iter().map(has).collect(),
            });
        }
    }
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let affinity = spec.at(&["affinity", "nodeAffinity"]);
    if let Some(entry) = affinity.and_then(|affinity| affinity.some_entry(required)) {
        let meets = |shape: &NodeShape| any_term(&entry.value, shape);
        all.push(Selection {
            span: entry.key.span,
            text: "only nodes that this affinity selects".to_owned(),
            shapes: shapes.iter().map(meets).collect(),
        });
    }
    if let Some(name) = spec
        .text_of("nodeName")
        .filter(|name| !name.text.is_empty())
        && shapes.iter().any(|shape| shape.node.is_some())
    {
        let is = |shape: &NodeShape| shape.node.as_deref() == Some(&*name.text);
        all.push(Selection {
            span: name.span,
            text: format!("only the node `{}`", name.text),
            shapes: shapes.iter().map(is).collect(),
        });
    }
    all
}

/// Taints that every DaemonSet tolerates.
const DAEMON: [&str; 6] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/unschedulable",
];

fn tolerates(spec: &Node, taint: &Taint, daemon: bool) -> bool {
    if daemon && DAEMON.contains(&&*taint.key) {
        return true;
    }
    spec.items("tolerations").iter().any(|toleration| {
        let effect = toleration.str_of("effect").unwrap_or("");
        let key = toleration.str_of("key").unwrap_or("");
        let exists = toleration.str_of("operator") == Some("Exists");
        let value = toleration.str_of("value").unwrap_or("");
        (effect.is_empty() || effect == &*taint.effect)
            && (if key.is_empty() {
                exists
            } else {
                key == &*taint.key
            })
            && (exists || value == &*taint.value)
    })
}

/// The taints that keep a pod off nodes.
pub(crate) fn taints(spec: &Node, shapes: &[NodeShape], daemon: bool) -> Vec<Selection> {
    let mut all = Vec::new();
    for (at, shape) in shapes.iter().enumerate() {
        for taint in &shape.taints {
            if &*taint.effect == "PreferNoSchedule" || tolerates(spec, taint, daemon) {
                continue;
            }
            let pair = match &*taint.value {
                "" => taint.key.to_string(),
                value => format!("{}={value}", taint.key),
            };
            all.push(Selection {
                span: taint.span,
                text: format!("only pods that tolerate `{pair}:{}`", taint.effect),
                shapes: (0..shapes.len()).map(|other| other != at).collect(),
            });
        }
    }
    all
}
