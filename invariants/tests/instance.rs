//! Every graph that a front-end builds is an instance of the reference model, by evaluation of the model.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use locus_core::graph::{Location, LocationGraph, RoleKind};
use locus_core::vocabulary::lg;
use locus_core::{Sources, Span};
use locus_frontends::language::{Registry, Request};
use locus_frontends::loader::MemoryLoader;
use locus_invariants::instance::{Judgement, judge};
use locus_invariants::library;
use locus_solver::limits::Limits;

#[test]
fn every_example_of_a_rule_is_an_instance() {
    let mut loader = MemoryLoader::new();
    for example in library::examples() {
        loader.insert(example.name, example.text);
    }
    let mut locations = 0;
    for example in library::examples() {
        if example.name.ends_with(".env.yaml") {
            continue;
        }
        let request = Request {
            files: vec![example.name.to_owned()],
            ..Request::default()
        };
        let language = Registry::builtin().named(example.language).unwrap();
        let loaded = language.load(&request, &loader, &mut Sources::new());
        let judgement = judge(&loaded.graph, &Limits::default());
        // What breaks a rule about every language is no graph.
        let is_graph = example.language != lg::NAME || !example.name.contains(".breaks.");
        let judged = match judgement {
            Judgement::Instance => true,
            Judgement::Broken(_) => false,
            Judgement::Unknown(why) => panic!("{}: {why:?}", example.name),
        };
        assert_eq!(judged, is_graph, "{}", example.name);
        locations += loaded.graph.len();
    }
    assert!(locations > 500, "only {locations} locations were judged");
}

/// What is broken in a graph of two locations after a change.
fn broken(change: impl Fn(&mut LocationGraph, Span)) -> Vec<String> {
    let mut sources = Sources::new();
    let span = Span::start_of(sources.add("a.yaml", ""));
    let mut graph = LocationGraph::new();
    let web = graph.add_location(Location::new("web", "Service", span));
    let net = graph.add_location(Location::new("net", "Network", span));
    graph.bind(net, web, RoleKind::Connection, "networks.0", span);
    change(&mut graph, span);
    match judge(&graph, &Limits::default()) {
        Judgement::Instance => Vec::new(),
        Judgement::Broken(findings) => findings.into_iter().map(|found| found.message).collect(),
        Judgement::Unknown(reason) => panic!("{reason:?}"),
    }
}

#[test]
fn a_graph_that_breaks_the_static_semantics_is_no_instance() {
    assert_eq!(broken(|_, _| {}), Vec::<String>::new());
    let well_formed = "this is not an instance of `lg/location_graphs`: \
                       fact `All_LocationGraph_Are_Well_Formed` does not hold";
    let twice = broken(|graph, span| {
        graph.add_location(Location::new("web", "Volume", span));
    });
    assert_eq!(twice, [well_formed]);
    let shared = broken(|graph, span| {
        let other = graph.add_location(Location::new("other", "Network", span));
        let (role, _) = graph.roles().next().unwrap();
        graph.provide(other, role);
    });
    assert_eq!(shared, [well_formed]);
    let taken = broken(|graph, span| {
        let other = graph.add_location(Location::new("other", "Service", span));
        let (role, _) = graph.roles().next().unwrap();
        graph.require(other, role);
    });
    assert_eq!(taken, [well_formed]);
    let itself = broken(|graph, _| {
        let (web, _) = graph.locations().next().unwrap();
        let (role, _) = graph.roles().next().unwrap();
        graph.provide(web, role);
    });
    assert!(
        itself
            .iter()
            .any(|message| message.contains("fact `NoLocationServesItself`")),
        "{itself:?}"
    );
}

#[test]
fn an_empty_graph_is_an_instance() {
    let judgement = judge(&LocationGraph::new(), &Limits::default());
    assert!(matches!(judgement, Judgement::Instance), "{judgement:?}");
}
