//! Objects and volumes that are referred to and defined nowhere, and what names are called.

use locus_core::Span;

use super::documents::documents;
use super::names::{DATA_KEY, NAMES, OBJECT, VOLUME};
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

/// What to write so that an object or a volume is defined.
pub(in crate::kubernetes) fn create(file: &FileText<'_>, name: &NameAt) -> Option<(usize, String)> {
    match name.kind {
        OBJECT => object(file, name),
        VOLUME => volume(file, name),
        _ => None,
    }
}

/// An empty volume: a further item of `volumes`, or the first one, above what the pod has else.
fn volume(file: &FileText<'_>, name: &NameAt) -> Option<(usize, String)> {
    let documents = documents(std::slice::from_ref(file));
    let is_around = |span: Span| span.start <= name.span.start && name.span.end <= span.end;
    let (_, doc) = documents.iter().find(|(_, doc)| is_around(doc.node.span))?;
    let spec = doc.pod()?.get("spec")?.as_mapping()?;
    // The start of the line that something stands in, and what is before it there.
    let line_of = |span: Span| {
        let at = span.start as usize;
        let line = file.text.get(..at)?.rfind('\n').map_or(0, |at| at + 1);
        Some((line, file.text.get(line..at)?))
    };
    let Some(entry) = spec.entry("volumes") else {
        let (line, pad) = line_of(spec.entries.first()?.key.span)?;
        // Between braces, a line has no place.
        let is_block = pad.trim().is_empty();
        let text = format!(
            "{pad}volumes:\n{pad}  - name: {}\n{pad}    emptyDir: {{}}\n",
            name.name
        );
        return is_block.then_some((line, text));
    };
    let (line, pad) = line_of(entry.value.as_sequence()?.first()?.span)?;
    let before = pad.trim_end().strip_suffix('-')?;
    let text = format!("{pad}name: {}\n{before}  emptyDir: {{}}\n", name.name);
    before.trim().is_empty().then_some((line, text))
}

/// A further document of the file.
fn object(file: &FileText<'_>, name: &NameAt) -> Option<(usize, String)> {
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
