//! The query engine against the solver's evaluator, which knows nothing of plans and indexes.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;

use locus_core::Sources;
use locus_frontends::language::{Registry, Request};
use locus_frontends::loader::MemoryLoader;
use locus_solver::evaluate::Evaluator as Judge;
use locus_solver::problem::{Problem, Relation, TupleSet};
use locus_solver::search::Instance;
use proptest::prelude::*;
use rustc_hash::FxBuildHasher;

use super::populate::populate;
use super::problem::{CHOICE, translate};
use super::run::Checker;
use super::run::Configuration;
use crate::engine::{Evaluator, Search, Shared, Slots, Tri};
use crate::library;

/// How many of the instances that a problem allows are judged, where values are not known.
const SAMPLES: u64 = 24;

/// One of the instances that a problem allows: the one with the least, the one with the most, then any.
fn instance(problem: &Problem, number: u64) -> Instance {
    let roll = |of: &str, index: u64| FxBuildHasher.hash_one((number, of, index)) >> 16;
    let between = |relation: &Relation| {
        let (lower, upper) = (&relation.lower, &relation.upper);
        let base = upper.universe_len();
        let mut kept: Vec<u64> = lower.indices().to_vec();
        if relation.name == CHOICE {
            // Each input has one value.
            let mut values: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
            for &index in upper.indices() {
                values.entry(index / base).or_default().push(index);
            }
            kept.extend(values.iter().filter_map(|(&input, values)| {
                let at = roll(CHOICE, input) % values.len().max(1) as u64;
                values.get(usize::try_from(at).ok()?)
            }));
        } else {
            let free = upper
                .indices()
                .iter()
                .filter(|&&index| !lower.contains_index(index));
            kept.extend(free.filter(|&&index| match number {
                0 => false,
                1 => true,
                _ => roll(&relation.name, index) % 2 == 0,
            }));
        }
        TupleSet::from_unsorted(upper.arity(), base, kept)
    };
    Instance {
        relations: problem.relations.iter().map(between).collect(),
        skolems: Vec::new(),
    }
}

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
        let exact = translation
            .problem
            .relations
            .iter()
            .all(|relation| relation.lower == relation.upper);
        let samples = if exact { 1 } else { SAMPLES };
        let verdicts: Result<BTreeSet<bool>, _> = (0..samples)
            .map(|number| {
                let instance = instance(&translation.problem, number);
                Judge::new(&translation.problem, &instance).formula(translation.broken)
            })
            .collect();
        let Ok(verdicts) = verdicts else {
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
        // What depends on a value that is not known is left open, and on what is known nothing is.
        if found == Tri::Unknown && !exact {
            continue;
        }
        for expected in verdicts {
            assert_eq!(
                found,
                Tri::from(expected),
                "{} on\n{text}",
                rule.rule.assertion
            );
        }
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
