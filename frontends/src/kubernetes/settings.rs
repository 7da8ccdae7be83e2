//! What `[kubernetes]` in `locus.toml` says beyond inputs.

use locus_core::Diagnostic;
use locus_core::value::{Field, Item, Value};

use super::network::assertions::Assertion;
use super::placement::nodes::{self, NodeShape};
use super::policy::Policy;
use serde_json::json;

use crate::language::{OwnSettings, SettingKey};

/// The keys that are read here.
pub(super) static KEYS: &[SettingKey] = &[
    SettingKey {
        name: "assert",
        help: "Assertions about who can talk to whom",
        json_type: "array",
    },
    SettingKey {
        name: "nodes",
        help: "The nodes that pods are placed on",
        json_type: "array",
    },
    SettingKey {
        name: "policy",
        help: "What rules ask of objects, see docs/kubernetes.md",
        json_type: "object",
    },
];

/// What the value of a key may be, as a JSON schema.
pub(super) fn schema(key: &str) -> Option<serde_json::Value> {
    let text = json!({ "type": "string" });
    Some(match key {
        "assert" => json!({ "anyOf": [text, { "type": "array", "items": text }] }),
        "nodes" => {
            let amount = json!({
                "type": ["string", "number"],
                "description": "An amount of a resource, as in `4`, `500m` or `16Gi`",
            });
            json!({
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": { "type": "string", "description": "The name of the node, or of what is alike" },
                        "count": {
                            "type": "integer",
                            "minimum": 0,
                            "maximum": 20_000,
                            "description": "How many nodes are like this",
                        },
                        "labels": {
                            "type": "object",
                            "description": "Labels of the nodes",
                            "additionalProperties": { "type": ["string", "integer", "boolean"] },
                        },
                        "taints": {
                            "type": "array",
                            "description": "Taints, as in `gpu=true:NoSchedule`",
                            "items": text,
                        },
                        "cpu": amount,
                        "memory": amount,
                        "pods": amount,
                    },
                    "additionalProperties": amount,
                },
            })
        }
        "policy" => super::policy::schema(),
        _ => return None,
    })
}

/// What a project says about its cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    /// Assertions about who can talk to whom.
    pub(super) assertions: Vec<Assertion>,
    /// The nodes that pods are placed on.
    pub(super) nodes: Vec<NodeShape>,
    /// What rules ask of objects.
    pub(super) policy: Policy,
}

/// Reads the keys.
pub(super) fn read(fields: &[Field], diagnostics: &mut Vec<Diagnostic>) -> OwnSettings {
    let mut settings = Settings::default();
    for field in fields {
        match (&*field.name, &field.item.value) {
            ("assert", _) => assertions(&field.item, &mut settings, diagnostics),
            ("nodes", _) => settings.nodes.extend(nodes::read(field, diagnostics)),
            ("policy", Value::Map(policy)) => settings.policy = Policy::read(policy, diagnostics),
            ("policy", other) => {
                let message = format!("`policy` is a table, not {}", other.describe());
                diagnostics.push(Diagnostic::error("settings", message).at(field.item.span));
            }
            _ => {}
        }
    }
    OwnSettings::new(settings)
}

fn assertions(item: &Item, settings: &mut Settings, diagnostics: &mut Vec<Diagnostic>) {
    let items = match &item.value {
        Value::List(items) => items.as_slice(),
        Value::Str(_) => std::slice::from_ref(item),
        _ => {
            let message = "`assert` takes a list of strings";
            diagnostics.push(Diagnostic::error("settings", message).at(item.span));
            return;
        }
    };
    for item in items {
        let Value::Str(text) = &item.value else {
            let message = "an assertion is a string";
            diagnostics.push(Diagnostic::error("settings", message).at(item.span));
            continue;
        };
        match Assertion::parse(text, item.span) {
            Ok(assertion) => settings.assertions.push(assertion),
            Err(diagnostic) => diagnostics.push(*diagnostic),
        }
    }
}
