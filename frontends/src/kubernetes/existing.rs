//! What is in a cluster already: how it is asked for, and what of the answer matters.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::language::Existing;
use crate::language::render::Renderer;

/// Kinds that say nothing of what is wanted: what the cluster notes for itself, and what controllers make of other objects.
const NOTES: &[&str] = &[
    "apiservices",
    "bindings",
    "certificatesigningrequests",
    "componentstatuses",
    "controllerrevisions",
    "csistoragecapacities",
    "endpoints",
    "endpointslices",
    "events",
    "flowschemas",
    "ipaddresses",
    "leases",
    "nodes.metrics.k8s.io",
    "pods.metrics.k8s.io",
    "prioritylevelconfigurations",
    "resourceslices",
    "servicecidrs",
    "volumeattachments",
];

/// How many objects the server is asked for at once.
const PAGE: &str = "--chunk-size=500";

/// What is asked next, given the answers so far: first which kinds there are, then all objects of those that matter.
pub(crate) fn next_question(answers: &[String]) -> Option<Renderer> {
    let arguments: Vec<String> = match answers {
        [] => vec![
            "api-resources".to_owned(),
            "--verbs=list".to_owned(),
            "--output=name".to_owned(),
        ],
        [kinds] => {
            let wanted = kinds.lines().map(str::trim).filter(|kind| {
                let plural = kind.split('.').next().unwrap_or(kind);
                !kind.is_empty() && !NOTES.contains(kind) && !NOTES.contains(&plural)
            });
            let wanted: Vec<&str> = wanted.collect();
            vec![
                "get".to_owned(),
                wanted.join(","),
                "--all-namespaces".to_owned(),
                "--output=json".to_owned(),
                PAGE.to_owned(),
            ]
        }
        _ => return None,
    };
    Some(Renderer {
        program: "kubectl",
        arguments,
        scratch: Vec::new(),
    })
}

/// The answers as lists of objects, without those that a controller made of others, and without what Secrets hold.
pub(crate) fn objects(answers: &[String]) -> Option<Existing> {
    let list: Value = serde_json::from_str(answers.get(1)?).ok()?;
    let items = list.get("items")?.as_array()?;
    let uid = |object: &Value| Some(object.pointer("/metadata/uid")?.as_str()?.to_owned());
    let known: HashSet<String> = items.iter().filter_map(uid).collect();
    let is_made = |object: &&Value| {
        let owners = object.pointer("/metadata/ownerReferences");
        let owners = owners.and_then(Value::as_array);
        let mut owners = owners.into_iter().flatten();
        owners.any(|owner| {
            let controls = owner.get("controller") == Some(&Value::Bool(true));
            let owner = owner.get("uid").and_then(Value::as_str);
            controls && owner.is_some_and(|owner| known.contains(owner))
        })
    };
    let own = items.iter().filter(|object| !is_made(object));
    let own = own.cloned().map(plain);
    let (provided, deployed): (Vec<Value>, Vec<Value>) = own.partition(is_provided);
    let file = |items: Vec<Value>| {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
        serde_json::to_string_pretty(&list).ok()
    };
    Some(Existing {
        deployed: file(deployed)?,
        provided: file(provided)?,
    })
}

/// The label of the roles and bindings that the server makes, and makes again each time that it starts.
const BOOTSTRAPPING: &str = "kubernetes.io/bootstrapping";

/// Whether an object comes with every cluster.
fn is_provided(object: &Value) -> bool {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or("");
    let labels = object.pointer("/metadata/labels");
    let label = labels.and_then(|labels| labels.get(BOOTSTRAPPING));
    let rights = text("apiVersion").starts_with("rbac.authorization.k8s.io/");
    rights && label.and_then(Value::as_str) == Some("rbac-defaults")
}

/// An object without what the server notes of its fields, and without secrets.
fn plain(mut object: Value) -> Value {
    let is_secret = object.get("kind").and_then(Value::as_str) == Some("Secret");
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
        let annotations = metadata.get_mut("annotations");
        if let Some(annotations) = annotations.and_then(Value::as_object_mut) {
            // The text that was applied last, which would be read a second time.
            annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
        }
    }
    if is_secret {
        for key in ["data", "stringData"] {
            let held = object.get_mut(key).and_then(Value::as_object_mut);
            held.map(Map::values_mut)
                .into_iter()
                .flatten()
                .for_each(|value| *value = Value::String(String::new()));
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_asked_for_and_then_their_objects() {
        let first = next_question(&[]).unwrap();
        assert_eq!(first.program, "kubectl");
        let kinds = "pods\nevents\nevents.events.k8s.io\ndeployments.apps\npods.metrics.k8s.io\n";
        let second = next_question(&[kinds.to_owned()]).unwrap();
        assert_eq!(second.arguments[1], "pods,deployments.apps");
        assert_eq!(next_question(&[String::new(), String::new()]), None);
    }

    #[test]
    fn what_controllers_made_and_what_secrets_hold_is_left_out() {
        let list = json!({"items": [
            {"kind": "Deployment", "metadata": {"name": "d", "uid": "1", "managedFields": []}},
            {"kind": "ReplicaSet", "metadata": {"name": "r", "uid": "2",
                "ownerReferences": [{"uid": "1", "controller": true}]}},
            {"kind": "Pod", "metadata": {"name": "p", "uid": "3",
                "ownerReferences": [{"uid": "9", "controller": true}]}},
            {"kind": "Secret", "metadata": {"name": "s"}, "data": {"password": "c2VjcmV0"}},
        ]});
        let found = objects(&[String::new(), list.to_string()]).unwrap();
        let text = found.deployed;
        let read: Value = serde_json::from_str(&text).unwrap();
        let items = read["items"].as_array().unwrap();
        let names: Vec<&str> = items
            .iter()
            .map(|item| item["metadata"]["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["d", "p", "s"], "the owner of `p` is not known");
        assert!(!text.contains("c2VjcmV0") && !text.contains("managedFields"));
        assert_eq!(items[2]["data"]["password"], "");
    }

    #[test]
    fn roles_that_the_server_makes_come_with_the_cluster() {
        let role = |name: &str, labels: Value| {
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                "metadata": {"name": name, "labels": labels}})
        };
        let list = json!({"items": [
            role("system:node", json!({"kubernetes.io/bootstrapping": "rbac-defaults"})),
            role("own", json!({})),
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c",
                "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}}},
        ]});
        let found = objects(&[String::new(), list.to_string()]).unwrap();
        assert!(found.provided.contains("system:node") && !found.provided.contains("own"));
        assert!(found.deployed.contains("own") && found.deployed.contains("ConfigMap"));
        assert!(!found.deployed.contains("system:node"));
    }
}
