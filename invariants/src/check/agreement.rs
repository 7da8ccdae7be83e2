//! The query engine against the solver's evaluator, which knows nothing of plans and indexes.

use std::collections::BTreeSet;

use locus_core::Sources;
use locus_frontends::language::{Registry, Request};
use locus_frontends::loader::MemoryLoader;
use locus_solver::evaluate::Evaluator as Judge;
use locus_solver::search::Instance;
use proptest::prelude::*;

use super::populate::populate;
use super::problem::translate;
use super::run::Checker;
use super::run::Configuration;
use crate::engine::{Evaluator, Search, Shared, Slots, Tri};
use crate::library;

/// Compares the verdicts on all rules that `wanted` chooses; returns those that were compared.
fn agree(language: &str, text: &str, wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let mut sources = Sources::new();
    let request = Request {
        files: vec!["stack.yaml".to_owned()],
        ..Request::default()
    };
    let loader = MemoryLoader::new().with("stack.yaml", text);
    let front_end = Registry::builtin().named(language).expect("a language");
    let loaded = front_end.load(&request, &loader, &mut sources);
    let program = Checker::builtin(language).expect("rules").program();
    let database = populate(program, Configuration::of(&loaded), false);
    let slots = Slots::new(&program.terms);
    let shared = Shared::new(&slots);
    let mut compared = BTreeSet::new();
    for rule in program.rules.iter().filter(|rule| wanted(&rule.rule.id)) {
        let Some(query) = rule.query else { continue };
        let Ok(translation) = translate(&program.terms, &database, query, &[]) else {
            continue;
        };
        let relations = translation.problem.relations.iter();
        let exact = relations
            .clone()
            .all(|relation| relation.lower == relation.upper);
        if !exact {
            continue;
        }
        let instance = Instance {
            relations: relations.map(|relation| relation.lower.clone()).collect(),
            skolems: Vec::new(),
        };
        let mut judge = Judge::new(&translation.problem, &instance);
        let Ok(expected) = judge.formula(translation.broken) else {
            continue;
        };
        let mut evaluator = Evaluator::new(
            &program.terms,
            &program.plans,
            &database,
            &shared,
            50_000_000,
        );
        let mut found = Tri::False;
        let run = evaluator.run(query, Search::Certain, &mut |_, tri| {
            found = found.or(tri);
            Ok(std::ops::ControlFlow::Continue(()))
        });
        assert!(run.is_ok(), "{}", rule.rule.assertion);
        assert_eq!(
            found,
            Tri::from(expected),
            "{} on\n{text}",
            rule.rule.assertion
        );
        compared.insert(rule.rule.id.clone());
    }
    compared
}

#[test]
fn examples_are_judged_alike() {
    let mut compared = BTreeSet::new();
    for example in library::examples() {
        let id = example.name.split('.').next().unwrap_or("");
        compared.extend(agree(example.language, example.text, |other| other == id));
    }
    let rules = library::builtin().rules().iter();
    let left_out: BTreeSet<&str> = rules
        .map(|rule| rule.id.as_str())
        .filter(|&id| !compared.contains(id))
        .collect();
    // Values of these examples are not known, or the evaluator does not take what the rule asks.
    let known = [
        "COMPOSE014",
        "COMPOSE018",
        "COMPOSE046",
        "HOT011",
        "HOT227",
        "HOT233",
        "HOT238",
        "HOT302",
        "K8S062",
        "K8S063",
    ];
    assert_eq!(
        left_out,
        BTreeSet::from(known),
        "left out by the comparison"
    );
}

/// A network with subnets, ports and servers whose few addresses and references often collide.
fn template() -> impl Strategy<Value = String> {
    let subnet = (0..2usize, 0..3u8, prop::option::of(0..4u8));
    let port = (
        0..2usize,
        0..3usize,
        prop::option::of(0..4u8),
        prop::option::of(0..2u8),
    );
    let server = prop::collection::vec(0..4usize, 0..3);
    let all = (
        prop::collection::vec(subnet, 0..4),
        prop::collection::vec(port, 0..4),
        prop::collection::vec(server, 0..3),
    );
    all.prop_map(|(subnets, ports, servers)| {
        let mut out = String::from("heat_template_version: 2021-04-16\nresources:\n");
        for net in 0..2 {
            out += &format!("  net{net}: {{ type: OS::Neutron::Net }}\n");
        }
        for (at, (net, block, gateway)) in subnets.iter().enumerate() {
            out += &format!("  subnet{at}:\n    type: OS::Neutron::Subnet\n    properties:\n      network: {{ get_resource: net{net} }}\n      cidr: 10.0.{block}.0/24\n");
            if let Some(host) = gateway {
                out += &format!("      gateway_ip: 10.0.1.{host}\n");
                out += "      allocation_pools: [{ start: 10.0.1.1, end: 10.0.1.2 }]\n";
            }
        }
        for (at, (net, subnet, address, mac)) in ports.iter().enumerate() {
            out += &format!("  port{at}:\n    type: OS::Neutron::Port\n    properties:\n      network: {{ get_resource: net{net} }}\n");
            if *subnet < subnets.len() {
                out += &format!("      fixed_ips:\n        - subnet: {{ get_resource: subnet{subnet} }}\n");
                if let Some(host) = address {
                    out += &format!("          ip_address: 10.0.1.{host}\n");
                }
            }
            if let Some(mac) = mac {
                out += &format!("      mac_address: \"fa:16:3e:00:00:0{mac}\"\n");
            }
        }
        for (at, used) in servers.iter().enumerate() {
            out += &format!("  server{at}:\n    type: OS::Nova::Server\n    properties:\n");
            let used: Vec<String> = used
                .iter()
                .filter(|&&port| port < ports.len())
                .map(|port| format!("{{ port: {{ get_resource: port{port} }} }}"))
                .collect();
            out += &format!("      networks: [{}]\n", used.join(", "));
        }
        out
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn random_networks_are_judged_alike(text in template()) {
        let ids = ["HOT202", "HOT203", "HOT204", "HOT208", "HOT209", "HOT216", "HOT217", "HOT218", "HOT219", "HOT221", "HOT230", "HOT302"];
        let known = Registry::builtin().by_first_line(&text);
        let language = known.expect("the first line tells the language").language.name();
        let compared = agree(language, &text, |id| ids.contains(&id));
        for id in ids {
            prop_assert!(compared.contains(id), "nothing was compared for {} on\n{}", id, text);
        }
    }
}
