//! What is written for the author: definitions that are missing, constraints, and what inputs stand for.

use super::super::grammar::TypeKind;
use super::types::{builtin, members};
use super::{INPUT, NODE, version};
use crate::language::{FileText, NameAt, Names, editing};
use crate::yaml::{Kind, Node, edit};

/// The key that topologies stand under.
fn top(root: &Node) -> &'static str {
    match version(root).is_simple() {
        true => "topology_template",
        false => "service_template",
    }
}

/// What to write so that a name is defined: a type of its own section, an input or a node template.
pub(in crate::tosca) fn create(
    table: &[Names],
    file: &FileText<'_>,
    name: &NameAt,
) -> Option<(usize, String)> {
    let entry = match name.kind {
        INPUT => format!("inputs.{}: {{ type: string }}", name.name),
        NODE => format!("node_templates.{}: {{ type: tosca.nodes.Root }}", name.name),
        _ => return editing::create(table, file, name),
    };
    // A key that holds dots says more than one key.
    if name.name.contains('.') {
        return None;
    }
    let root = file.roots.first()?;
    let topology = root.as_mapping()?.entry(top(root))?;
    let change = edit::add(file.text, root, topology.key.span, &entry)?;
    Some((change.span.start as usize, change.text))
}

/// The defaults of inputs, where they are used.
pub(in crate::tosca) fn hints(root: &Node) -> Vec<(usize, String)> {
    let inputs = root.get(top(root)).and_then(|top| top.get("inputs"));
    let mut all = Vec::new();
    visit(root, &mut |key, value| {
        let default = value
            .as_str()
            .filter(|_| matches!(key, "get_input" | "$get_input"))
            .and_then(|name| inputs?.get(name)?.get("default")?.as_str());
        if let Some(default) = default
            && let Some(text) = editing::shown_value(default)
        {
            all.push((value.span.end as usize, text));
        }
    });
    all
}

/// What the properties that take an input demand of it, as clauses of the input.
pub(in crate::tosca) fn constrain(
    files: &[FileText<'_>],
    name: &NameAt,
) -> Vec<(String, usize, String)> {
    let Some((file, root)) = files
        .first()
        .and_then(|file| Some((file, *file.roots.first()?)))
    else {
        return Vec::new();
    };
    if name.kind != INPUT || !version(root).is_simple() {
        return Vec::new();
    }
    let mut documents: Vec<&Node> = files.iter().flat_map(|file| file.roots.clone()).collect();
    documents.push(builtin(version(root)));
    let topology = root.get(top(root));
    let section = |key: &str| topology.and_then(|top| top.get(key)?.as_mapping());
    let Some(input) = section("inputs").and_then(|inputs| inputs.entry(&name.name)) else {
        return Vec::new();
    };
    let mut clauses: Vec<String> = Vec::new();
    let mut take = |kind: TypeKind, ty: &str, properties: Option<&Node>| {
        let known = members(&documents, kind, ty, "properties");
        let given = properties.and_then(Node::as_mapping).into_iter();
        for (property, entry) in given.flat_map(|given| given.named()) {
            let used = entry.value.get("get_input").and_then(Node::as_str);
            let definition = known.iter().find(|(own, _)| *own == &**property);
            if let (true, Some((_, node))) = (used == Some(name.name.as_str()), definition) {
                let own = node.get("constraints").and_then(Node::as_sequence);
                let written = own.unwrap_or_default().iter().filter_map(clause);
                clauses.extend(written);
            }
        }
    };
    for (_, entry) in section("node_templates")
        .into_iter()
        .flat_map(|all| all.named())
    {
        let Some(ty) = entry.value.get("type").and_then(Node::as_str) else {
            continue;
        };
        take(TypeKind::Node, ty, entry.value.get("properties"));
        let held = members(&documents, TypeKind::Node, ty, "capabilities");
        let given = entry.value.get("capabilities").and_then(Node::as_mapping);
        for (capability, entry) in given.into_iter().flat_map(|given| given.named()) {
            let own = held.iter().find(|(own, _)| *own == &**capability);
            let own =
                own.and_then(|(_, node)| node.as_str().or_else(|| node.get("type")?.as_str()));
            if let Some(own) = own {
                take(TypeKind::Capability, own, entry.value.get("properties"));
            }
        }
    }
    clauses.sort_unstable();
    clauses.dedup();
    let written = clauses.into_iter().filter_map(|clause| {
        let entry = format!("constraints: [{{ {clause} }}]");
        let change = edit::add(file.text, root, input.key.span, &entry)?;
        Some((clause, change.span.start as usize, change.text))
    });
    written.collect()
}

/// A clause as it can be written in a line.
fn clause(node: &Node) -> Option<String> {
    let (name, entry) = node.as_mapping()?.named().next()?;
    let value = match &entry.value.kind {
        Kind::Scalar(_) => editing::plain_value(entry.value.as_str()?),
        Kind::Sequence(items) => {
            let items: Option<Vec<String>> = items
                .iter()
                .map(|item| item.as_str().map(editing::plain_value))
                .collect();
            format!("[ {} ]", items?.join(", "))
        }
        Kind::Mapping(_) => return None,
    };
    Some(format!("{name}: {value}"))
}

/// Calls a function for each key with its value.
fn visit<'n>(node: &'n Node, call: &mut impl FnMut(&'n str, &'n Node)) {
    if node.alias().is_some() {
        return;
    }
    if let Some(mapping) = node.as_mapping() {
        for (name, entry) in mapping.named() {
            call(name, &entry.value);
            visit(&entry.value, call);
        }
    }
    for item in node.as_sequence().unwrap_or_default() {
        visit(item, call);
    }
}
