//! Objects that are referred to and defined nowhere, and what names are called.

use super::names::{DATA_KEY, NAMES, OBJECT};
use crate::kubernetes::object::Scope;
use crate::kubernetes::release;
use crate::language::{FileText, NameAt};

/// What something with a name is called: of an object its kind, of a key what it is in.
pub(in crate::kubernetes) fn called(name: &NameAt) -> String {
    let what = NAMES.get(name.kind).map_or("name", |names| names.what);
    let kind = name.scope.split('/').next().unwrap_or_default();
    match name.kind {
        OBJECT if !kind.is_empty() => kind.to_owned(),
        DATA_KEY => format!("key of a {kind}"),
        _ => what.to_owned(),
    }
}

/// What follows the metadata of an object so that the server takes it; none of a kind that is not made by hand.
fn body(kind: &str) -> Option<(&'static str, &'static str)> {
    Some(match kind {
        "ConfigMap" => ("v1", "data: {}\n"),
        "Secret" => ("v1", "type: Opaque\nstringData: {}\n"),
        "Service" => (
            "v1",
            "spec:\n  selector:\n    app: NAME\n  ports:\n    - port: 80\n",
        ),
        "ServiceAccount" => ("v1", ""),
        "Namespace" => ("v1", ""),
        "PersistentVolumeClaim" => (
            "v1",
            "spec:\n  accessModes: [ReadWriteOnce]\n  resources:\n    requests:\n      storage: 1Gi\n",
        ),
        "PriorityClass" => ("scheduling.k8s.io/v1", "value: 1000\n"),
        _ => return None,
    })
}

/// What to write so that an object is defined: a further document of the file.
pub(in crate::kubernetes) fn create(file: &FileText<'_>, name: &NameAt) -> Option<(usize, String)> {
    if name.kind != OBJECT {
        return None;
    }
    let (kind, namespace) = name.scope.split_once('/')?;
    let (version, body) = body(kind)?;
    let mut text = String::new();
    if !file.text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!(
        "---\napiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {}\n",
        name.name
    ));
    if release::scope(kind) != Scope::Cluster && namespace != "default" {
        text.push_str(&format!("  namespace: {namespace}\n"));
    }
    text.push_str(&body.replace("NAME", &name.name));
    Some((file.text.len(), text))
}
