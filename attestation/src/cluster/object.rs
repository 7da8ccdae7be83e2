//! Objects as the API server gives them: JSON, of which fields that are newer than this program are kept.

use serde_json::{Map, Value};

/// A kind of workload: something that has pods, or is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Its group.
    pub group: &'static str,
    /// Its kind.
    pub kind: &'static str,
    /// Its resource.
    pub resource: &'static str,
    /// The way to the template of its pods; empty for a pod.
    pub template: &'static [&'static str],
    /// Whether it has a number of replicas, which is a resource of its own.
    pub scales: bool,
    /// Whether its status is a resource of its own, by which its metadata can be changed.
    pub has_status: bool,
}

const TEMPLATE: &[&str] = &["spec", "template"];

/// Every kind of workload that an API server has by itself.
pub const WORKLOADS: &[Workload] = &[
    workload("", "Pod", "pods", &[], false),
    workload("", "PodTemplate", "podtemplates", &["template"], false),
    workload(
        "",
        "ReplicationController",
        "replicationcontrollers",
        TEMPLATE,
        true,
    ),
    workload("apps", "DaemonSet", "daemonsets", TEMPLATE, false),
    workload("apps", "Deployment", "deployments", TEMPLATE, true),
    workload("apps", "ReplicaSet", "replicasets", TEMPLATE, true),
    workload("apps", "StatefulSet", "statefulsets", TEMPLATE, true),
    workload(
        "batch",
        "CronJob",
        "cronjobs",
        &["spec", "jobTemplate", "spec", "template"],
        false,
    ),
    workload("batch", "Job", "jobs", TEMPLATE, false),
];

const fn workload(
    group: &'static str,
    kind: &'static str,
    resource: &'static str,
    template: &'static [&'static str],
    scales: bool,
) -> Workload {
    Workload {
        group,
        kind,
        resource,
        template,
        scales,
        // That of a pod is a kubelet's, and has a row of its own; a PodTemplate has none.
        has_status: template.len() > 1,
    }
}

impl Workload {
    /// The workload with a group and a resource.
    pub fn of_resource(group: &str, resource: &str) -> Option<&'static Workload> {
        let mut all = WORKLOADS.iter();
        all.find(|known| known.group == group && known.resource == resource)
    }

    /// The workload of a kind.
    pub fn of_kind(group: &str, kind: &str) -> Option<&'static Workload> {
        let mut all = WORKLOADS.iter();
        all.find(|known| known.group == group && known.kind == kind)
    }

    /// The template of its pods, or the pod itself.
    pub fn pod<'v>(&self, object: &'v Value) -> &'v Value {
        self.template.iter().fold(object, |at, key| field(at, key))
    }

    /// The way to the specification of its pods, as it is written in messages.
    pub fn spec_path(&self) -> String {
        let mut path = self.template.to_vec();
        path.push("spec");
        path.join(".")
    }
}

/// A field of an object; null if there is none.
pub fn field<'v>(object: &'v Value, name: &str) -> &'v Value {
    object.get(name).unwrap_or(&Value::Null)
}

/// A field some way down; null if there is none.
pub fn at<'v>(object: &'v Value, path: &[&str]) -> &'v Value {
    path.iter().fold(object, |at, key| field(at, key))
}

/// Puts a value some way down; what stands on the way and is no map becomes one.
pub fn put(object: &mut Value, path: &[&str], value: Value) {
    let mut here = object;
    for key in path {
        if !here.is_object() {
            *here = Value::Object(serde_json::Map::new());
        }
        let Some(fields) = here.as_object_mut() else {
            return;
        };
        here = fields.entry(*key).or_insert(Value::Null);
    }
    *here = value;
}

/// A text some way down; empty if there is none.
pub fn text<'v>(object: &'v Value, path: &[&str]) -> &'v str {
    at(object, path).as_str().unwrap_or("")
}

/// The items of a list; none if it is none.
pub fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The name of an object.
pub fn name(object: &Value) -> &str {
    text(object, &["metadata", "name"])
}

/// The namespace of an object; empty if it has none.
pub fn namespace(object: &Value) -> &str {
    text(object, &["metadata", "namespace"])
}

/// The UID of an object.
pub fn uid(object: &Value) -> &str {
    text(object, &["metadata", "uid"])
}

/// An annotation of an object.
pub fn annotation<'v>(object: &'v Value, name: &str) -> Option<&'v str> {
    at(object, &["metadata", "annotations", name]).as_str()
}

/// The group of an `apiVersion`; empty for the core.
pub fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// The reference to the controller of an object.
pub fn controller(object: &Value) -> Option<&Value> {
    let mut owners = items(at(object, &["metadata", "ownerReferences"])).iter();
    owners.find(|owner| field(owner, "controller").as_bool() == Some(true))
}

/// The UID of the controller of an object; empty if it has none.
pub fn owner(object: &Value) -> &str {
    controller(object).map_or("", |reference| text(reference, &["uid"]))
}

/// What an object is called in messages: kind, namespace and name.
pub fn label(object: &Value) -> String {
    let kind = text(object, &["kind"]);
    let own = name(object);
    let generated = text(object, &["metadata", "generateName"]);
    let own = if own.is_empty() {
        format!("{generated}*")
    } else {
        own.to_owned()
    };
    match namespace(object) {
        "" => format!("{kind} `{own}`"),
        space => format!("{kind} `{space}/{own}`"),
    }
}

/// Whether labels are selected by `matchLabels` and `matchExpressions`. What is not understood selects.
pub fn selects(selector: &Value, labels: &Value) -> bool {
    let has = |key: &str| field(labels, key).as_str();
    let equal = match field(selector, "matchLabels").as_object() {
        Some(wanted) => chosen(wanted, labels),
        None => true,
    };
    let mut expressions = items(field(selector, "matchExpressions")).iter();
    equal
        && expressions.all(|expression| {
            let value = has(text(expression, &["key"]));
            let listed = items(field(expression, "values"));
            let listed = listed.iter().any(|one| one.as_str() == value);
            match text(expression, &["operator"]) {
                "In" => value.is_some() && listed,
                "NotIn" => value.is_none() || !listed,
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                _ => true,
            }
        })
}

/// Whether labels have all that a map wants.
pub fn chosen(wanted: &Map<String, Value>, labels: &Value) -> bool {
    wanted
        .iter()
        .all(|(key, value)| field(labels, key) == value)
}

/// An object without what the server keeps about it.
pub fn stripped(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for key in [
            "managedFields",
            "creationTimestamp",
            "resourceVersion",
            "generation",
            "selfLink",
            "uid",
        ] {
            metadata.remove(key);
        }
        if let Some(annotations) = metadata
            .get_mut("annotations")
            .and_then(Value::as_object_mut)
        {
            annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_no_map_on_the_way_becomes_one() {
        let path = ["metadata", "annotations", "a"];
        for metadata in [
            json!(null),
            json!("text"),
            json!({"annotations": []}),
            json!({"annotations": {"b": 1}}),
        ] {
            let mut object = json!({"metadata": metadata});
            put(&mut object, &path, json!("x"));
            assert_eq!(at(&object, &path), "x");
        }
        let mut object = json!({"metadata": {"annotations": {"b": 1}}});
        put(&mut object, &path, json!("x"));
        assert_eq!(object["metadata"]["annotations"]["b"], 1);
    }
}
