use locus_core::Sources;
use locus_core::graph::{LocationGraph, RoleKind};

use super::Graphs;
use crate::language::{Language as _, Request};
use crate::loader::MemoryLoader;

fn load(text: &str) -> (LocationGraph, Vec<String>) {
    let loader = MemoryLoader::new().with("graph.yaml", text);
    let mut sources = Sources::new();
    let loaded = Graphs.load(&Request::of(["graph.yaml"]), &loader, &mut sources);
    let told = loaded.diagnostics.iter().map(|told| {
        let at = told.primary().map(|span| sources.start(span));
        let at = at.map_or((0, 0), |at| (at.line, at.column));
        format!("{}:{} {}", at.0, at.1, told.message)
    });
    (loaded.graph, told.collect())
}

#[test]
fn a_graph_is_as_it_is_written() {
    let (graph, told) = load("\
location_graph: 1
roles:
  lan: { kind: connection, label: networks.0 }
locations:
  - { name: net, sort: Network, existing: true, provided: [lan] }
  - { name: web, sort: Server, process: started, required: [lan, disk], parent: net, properties: { cpus: 2 } }
");
    assert_eq!(told, Vec::<String>::new());
    let [net, web] = ["net", "web"].map(|name| graph.find(name).unwrap());
    assert_eq!(graph.location(web).parent, Some(net));
    assert_eq!(&*graph.location(net).process, "existing");
    assert_eq!(&*graph.location(web).process, "started");
    assert!(graph.location(web).property("cpus").is_some());
    let [binding] = graph.bindings()[..] else {
        panic!("one role is bound");
    };
    assert_eq!((binding.provider, binding.requirer), (net, web));
    let role = graph.role(binding.role);
    assert_eq!(
        (role.kind, &*role.label),
        (RoleKind::Connection, "networks.0")
    );
}

#[test]
fn all_that_is_wrong_is_told_where_it_is() {
    let (_, told) = load("\
location_graph: 2
location: []
roles: { lan: { kind: conection }, wan: 1 }
locations:
  - 1
  - { name: a }
  - { name: b, sort: S, provided: x, required: [[1]], existing: maybe, parent: c, properties: 1, color: red }
");
    let expected = [
        "2:1 a location graph has no key `location`",
        "1:17 `location_graph` is the version of the format, which is 1",
        "3:23 `conection` is not a kind of roles",
        "3:41 a role is described by a map, not an integer",
        "5:5 a location is a map, not an integer",
        "6:5 a location needs `sort`",
        "7:98 a location has no key `color`",
        "7:65 `existing` is `true` or `false`, not a string",
        "7:95 `properties` is a map, not an integer",
        "7:35 `provided` is a list of roles, not a string",
        "7:49 a role is a string, not a list",
        "7:80 there is no location `c`",
    ];
    assert_eq!(told, expected);
    assert_eq!(load("").1, ["1:1 this file is empty"]);
    assert_eq!(
        load("- a\n").1,
        ["1:1 a location graph is a map, not a list"]
    );
}
