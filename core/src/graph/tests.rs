use super::*;
use crate::int::Int;
use crate::source::Sources;
use crate::value::{Domain, SymbolKind, Value, ValueType};

/// A net, a subnet on it, and a server on both, with one symbolic and one nested value.
fn sample() -> (Sources, LocationGraph) {
    let mut sources = Sources::new();
    let file = sources.add("stack.yaml", "net\nsubnet: net\nserver\n");
    let span = |start, end| Span::new(file, start, end);
    let mut graph = LocationGraph::new();
    let net = graph.add_location(Location::new("net", "OS::Neutron::Net", span(0, 3)));
    let subnet = graph.add_location(Location::new("subnet", "OS::Neutron::Subnet", span(4, 10)));
    let server = graph.add_location(Location::new(
        "group/0/server \"a\"",
        "Server",
        span(16, 22),
    ));
    let image = graph.add_location(Location {
        external: true,
        process: Process::existing(),
        ..Location::new("cirros", "OS::Glance::Image", span(16, 22))
    });
    graph.bind(net, subnet, RoleKind::Reference, "network", span(12, 15));
    graph.bind(
        net,
        server,
        RoleKind::Reference,
        "networks.0.network",
        span(16, 22),
    );
    graph.bind(image, server, RoleKind::Reference, "image", span(16, 22));
    graph.bind(
        subnet,
        server,
        RoleKind::Dependency,
        "depends_on",
        span(16, 22),
    );
    let symbol = graph.add_symbol(Symbol {
        name: "enable_dhcp".into(),
        kind: SymbolKind::Parameter,
        domain: Domain::of(ValueType::Bool),
        span: span(4, 10),
        default: Some(Item::new(Value::Bool(true), span(4, 10))),
        depends: Vec::new(),
    });
    let item = |value| Item::new(value, span(4, 10));
    let property = |name: &str, value| Field {
        name: name.into(),
        key: span(4, 10),
        item: item(value),
    };
    graph.location_mut(subnet).properties = vec![
        property("network", Value::Location(net)),
        property("enable_dhcp", Value::Symbolic(symbol)),
        property("cidr", Value::str("10.0.0.0/24")),
        property(
            "dns",
            Value::List(vec![item(Value::Int(Int::from(8_i64))), item(Value::Null)]),
        ),
    ];
    graph.location_mut(server).origin.included_by = Some(Arc::new(Origin::new(span(0, 3))));
    (sources, graph)
}

const SEMANTICS: &str = "\
module static
open vocabulary
pred WellFormedLocationSet[c: set Location] { no disj l, h: c | l.name = h.name }
pred DisjointRoles[c: set Location] { no l: c | some l.provided & l.required }
";

#[test]
fn roles_bind_locations() {
    let (_, graph) = sample();
    assert_eq!(graph.bindings().len(), 4);
    assert_eq!(graph.find("net").map(LocationId::index), Some(0));
}

#[test]
fn cycles_are_given_edge_by_edge() {
    let (_, mut graph) = sample();
    assert_eq!(View::dependencies(&graph).cycles(), []);
    let (net, server) = (LocationId(0), LocationId(2));
    let span = graph.location(net).origin.span;
    graph.bind(server, net, RoleKind::Attribute, "name", span);
    let image = LocationId(3);
    graph.bind(image, image, RoleKind::Dependency, "self", span);
    let cycles = View::dependencies(&graph).cycles();
    let ends: Vec<Vec<(usize, usize)>> = cycles
        .iter()
        .map(|cycle| {
            let edge = |b: &Binding| (b.requirer.index(), b.provider.index());
            cycle.bindings.iter().map(edge).collect()
        })
        .collect();
    assert_eq!(ends, [vec![(0, 2), (2, 0)], vec![(3, 3)]]);
}

#[test]
fn reachability_goes_both_ways() {
    let (_, graph) = sample();
    let view = View::dependencies(&graph);
    let index = |ids: Vec<LocationId>| ids.iter().map(|id| id.index()).collect::<Vec<_>>();
    assert_eq!(index(view.reachable_from(LocationId(1))), [0, 1]);
    assert_eq!(index(view.reaching(LocationId(0))), [0, 1, 2]);
    assert_eq!(view.layers(), [0, 1, 2, 0]);
}

#[test]
fn exports_say_all_there_is() {
    let (sources, graph) = sample();
    insta::assert_snapshot!("dot", to_dot(&graph));
    insta::assert_snapshot!("als", to_als(&graph, SEMANTICS));
    let json = serde_json::to_string_pretty(&to_json(&graph, &sources)).unwrap();
    insta::assert_snapshot!("json", json);
}

#[test]
fn the_empty_graph_can_be_exported() {
    let graph = LocationGraph::new();
    assert!(to_dot(&graph).starts_with("digraph"));
    insta::assert_snapshot!("empty_als", to_als(&graph, SEMANTICS));
}
