//! A topology as a configuration of OCCI: nodes are resources, relationships are links.
//!
//! The mapping keeps the structure: as many resources as nodes and links as relationships, with their names as identifiers. Types
//! stay as kinds, properties as attributes.

use std::collections::BTreeMap;

use locus_core::facts::Facts;
use locus_core::graph::LocationId;
use locus_core::{Diagnostic, LocationGraph, Value};
use serde_json::{Map, Value as Json, json};

/// The configuration, or why there is none.
pub(super) fn convert(graph: &LocationGraph, facts: &Facts) -> Result<Json, Vec<Diagnostic>> {
    let nodes: BTreeMap<LocationId, ()> = facts
        .of("Node")
        .into_iter()
        .filter_map(|atom| Some((facts.get(atom).location?, ())))
        .collect();
    let is_node = |id: &LocationId| nodes.contains_key(id);
    let mut providers = BTreeMap::new();
    let mut requirers = BTreeMap::new();
    let mut names: BTreeMap<&str, LocationId> = BTreeMap::new();
    let mut faults = Vec::new();
    for (id, location) in graph.locations() {
        providers.extend(location.provided.iter().map(|role| (*role, id)));
        requirers.extend(location.required.iter().map(|role| (*role, id)));
        if let Some(other) = names.insert(&location.name, id) {
            let message = format!(
                "two things are called `{}`, and identifiers of OCCI are unique",
                location.name
            );
            let diagnostic = Diagnostic::error("tosca-occi", message);
            let other = graph.location(other).origin.span;
            faults.push(
                diagnostic
                    .related(other, "the other one")
                    .at(location.origin.span),
            );
        }
    }
    // A requirement that nothing meets has no link.
    for (role, requirer) in &requirers {
        if !providers.contains_key(role) {
            let held = graph.role(*role);
            let message = format!(
                "`{}` of `{}` has no target, and a link of OCCI leads somewhere",
                held.label,
                graph.location(*requirer).name
            );
            let help = "name a node template as its target; `locus check --all-bindings` lists those that fit";
            faults.push(
                Diagnostic::error("tosca-occi", message)
                    .help(help)
                    .at(held.span),
            );
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut links: BTreeMap<LocationId, Vec<Json>> = BTreeMap::new();
    for (id, location) in graph.locations().filter(|(id, _)| !is_node(id)) {
        let source = location
            .provided
            .first()
            .and_then(|role| requirers.get(role));
        let target = location
            .required
            .first()
            .and_then(|role| providers.get(role));
        let (Some(source), Some(target)) = (source, target) else {
            continue;
        };
        let end = |id: LocationId| {
            let location = graph.location(id);
            json!({"id": &*location.name, "kind": &*location.sort})
        };
        let link = json!({
            "id": &*location.name,
            "kind": &*location.sort,
            "source": end(*source),
            "target": end(*target),
            "attributes": attributes(graph, id),
        });
        links.entry(*source).or_default().push(link);
    }
    let resources: Vec<Json> = graph
        .locations()
        .filter(|(id, _)| is_node(id))
        .map(|(id, location)| {
            json!({
                "id": &*location.name,
                "kind": &*location.sort,
                "attributes": attributes(graph, id),
                "links": links.remove(&id).unwrap_or_default(),
            })
        })
        .collect();
    Ok(json!({ "resources": resources }))
}

fn attributes(graph: &LocationGraph, id: LocationId) -> Json {
    let properties = graph.location(id).properties.iter();
    let known =
        properties.filter_map(|field| Some((field.name.to_string(), plain(&field.item.value)?)));
    Json::Object(known.collect())
}

/// A value that is known.
fn plain(value: &Value) -> Option<Json> {
    Some(match value {
        Value::Null => Json::Null,
        Value::Bool(truth) => json!(truth),
        Value::Int(int) => int
            .to_i64()
            .map_or_else(|| json!(int.to_string()), |int| json!(int)),
        Value::Float(float) => json!(float),
        Value::Str(text) => json!(&**text),
        Value::List(items) => {
            let items = items.iter().map(|item| plain(&item.value));
            Json::Array(items.collect::<Option<_>>()?)
        }
        Value::Map(fields) => {
            let fields = fields
                .iter()
                .map(|field| Some((field.name.to_string(), plain(&field.item.value)?)));
            Json::Object(fields.collect::<Option<Map<_, _>>>()?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loader::MemoryLoader;
    use crate::tosca::{Options, load};
    use locus_core::Sources;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// A topology of nodes, each depending on some others.
    fn text(edges: &[(usize, usize)], nodes: usize) -> String {
        let mut text = "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n".to_owned();
        for node in 0..nodes {
            text += &format!("    n{node}:\n      type: tosca.nodes.Root\n");
            let own: Vec<_> = edges.iter().filter(|(from, _)| *from == node).collect();
            if !own.is_empty() {
                text += "      requirements:\n";
            }
            for (_, to) in own {
                text += &format!("        - dependency: n{to}\n");
            }
        }
        text
    }

    fn occi(text: &str) -> (usize, BTreeSet<String>, Result<Json, Vec<Diagnostic>>) {
        let loader = MemoryLoader::new().with("a.yaml", text);
        let service = load("a.yaml", &Options::default(), &loader, &mut Sources::new());
        assert_eq!(service.diagnostics, []);
        let names = service
            .graph
            .locations()
            .map(|(_, known)| known.name.to_string());
        let names = names.collect();
        (
            service.graph.len(),
            names,
            convert(&service.graph, &service.facts),
        )
    }

    proptest! {
        #[test]
        fn the_mapping_keeps_names_numbers_and_ends(
            nodes in 1..6_usize,
            edges in prop::collection::vec((0..6_usize, 0..6_usize), 0..8),
        ) {
            let edges: Vec<_> = edges.into_iter().filter(|(a, b)| *a < nodes && *b < nodes).collect();
            let text = text(&edges, nodes);
            let (count, names, first) = occi(&text);
            let first = first.unwrap();
            prop_assert_eq!(&first, &occi(&text).2.unwrap());
            let resources = first["resources"].as_array().unwrap();
            let links: Vec<&Json> = resources.iter().flat_map(|one| one["links"].as_array().unwrap()).collect();
            prop_assert_eq!(resources.len(), nodes);
            prop_assert_eq!(links.len(), edges.len());
            prop_assert_eq!(resources.len() + links.len(), count);
            let ids: BTreeSet<String> = resources.iter().chain(links.iter().copied())
                .map(|one| one["id"].as_str().unwrap().to_owned()).collect();
            prop_assert_eq!(ids, names);
            let mut ends: Vec<(String, String)> = links.iter()
                .map(|link| (link["source"]["id"].as_str().unwrap().to_owned(), link["target"]["id"].as_str().unwrap().to_owned()))
                .collect();
            let mut expected: Vec<(String, String)> = edges.iter().map(|(a, b)| (format!("n{a}"), format!("n{b}"))).collect();
            ends.sort();
            expected.sort();
            prop_assert_eq!(ends, expected);
        }
    }

    #[test]
    fn an_open_requirement_has_no_link() {
        let text = "tosca_definitions_version: tosca_2_0\ncapability_types: {C: {}}\nrelationship_types: {R: {}}\nnode_types:\n  N:\n    requirements: [r: {capability: C, relationship: R}]\n    capabilities: {c: C}\nservice_template:\n  node_templates:\n    a:\n      type: N\n      requirements: [r: {}]\n";
        let faults = occi(text).2.unwrap_err();
        assert_eq!(faults.len(), 1);
        assert_eq!(
            faults[0].message,
            "`r` of `a` has no target, and a link of OCCI leads somewhere"
        );
    }
}
