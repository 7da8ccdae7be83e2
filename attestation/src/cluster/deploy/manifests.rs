//! The objects in files, in an order in which a server takes them.

use serde_json::Value;

use crate::cluster::object::{Workload, field, group, items, text};
use crate::logs::shown;

/// Reads the objects of files: what others need comes first, workloads come last.
///
/// # Errors
/// Which file cannot be read, and why.
pub(super) fn read(files: &[String]) -> Result<Vec<Value>, String> {
    let mut all = Vec::new();
    for file in files {
        let told = |why: &dyn std::fmt::Display| format!("`{}`: {why}", shown(file));
        let text = std::fs::read_to_string(file).map_err(|error| told(&error))?;
        let documents: Vec<Value> =
            serde_saphyr::from_multiple(&text).map_err(|error| told(&error))?;
        for document in documents {
            flatten(document, &mut all);
        }
    }
    for object in &all {
        let named = !text(object, &["metadata", "name"]).is_empty();
        if !named || text(object, &["kind"]).is_empty() {
            let kind = shown(text(object, &["kind"]));
            return Err(format!(
                "an object (kind `{kind}`) has no name: what is applied has one"
            ));
        }
    }
    all.sort_by_key(rank);
    Ok(all)
}

fn flatten(document: Value, all: &mut Vec<Value>) {
    if document.is_null() {
        return;
    }
    if text(&document, &["kind"]).ends_with("List") && document.get("items").is_some() {
        for item in items(field(&document, "items")) {
            flatten(item.clone(), all);
        }
        return;
    }
    all.push(document);
}

/// The kind of workload that an object is.
pub(super) fn workload(object: &Value) -> Option<&'static Workload> {
    let of = group(text(object, &["apiVersion"]));
    Workload::of_kind(of, text(object, &["kind"]))
}

/// What a server wants before what.
fn rank(object: &Value) -> u8 {
    match text(object, &["kind"]) {
        "Namespace" => 0,
        "CustomResourceDefinition" | "PriorityClass" | "RuntimeClass" | "StorageClass" => 1,
        "ServiceAccount" | "ConfigMap" | "Secret" | "LimitRange" | "ResourceQuota" => 2,
        _ if workload(object).is_some() => 4,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_need_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.yaml");
        let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n---\napiVersion: v1\nkind: List\nitems:\n\
                    - {apiVersion: v1, kind: Service, metadata: {name: s}}\n- {apiVersion: v1, kind: Namespace, metadata: {name: space}}\n---\n\
                    # nothing\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a}\n";
        std::fs::write(&path, text).unwrap();
        let read = read(&[path.display().to_string()]).unwrap();
        let kinds: Vec<&str> = read.iter().map(|one| text_of(one)).collect();
        assert_eq!(kinds, ["Namespace", "ServiceAccount", "Service", "Pod"]);
    }

    fn text_of(object: &Value) -> &str {
        text(object, &["kind"])
    }

    #[test]
    fn what_has_no_name_cannot_be_applied() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.yaml");
        std::fs::write(
            &path,
            "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p}\n",
        )
        .unwrap();
        let error = read(&[path.display().to_string()]).unwrap_err();
        assert!(error.contains("has no name"), "{error}");
    }
}
