//! What is not known before deployment: a rule holds for every input, for none, or for some.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use locus_core::{Severity, Sources};
use locus_frontends::language::{Registry, Request};
use locus_frontends::loader::MemoryLoader;
use locus_invariants::{Options, Report, check_loaded};

fn check(text: &str) -> Report {
    let mut sources = Sources::new();
    let request = Request {
        files: vec!["stack.yaml".to_owned()],
        ..Request::default()
    };
    let loader = MemoryLoader::new().with("stack.yaml", text);
    let known = Registry::builtin().by_first_line(text);
    let language = known.expect("the first line tells the language").language;
    let loaded = language.load(&request, &loader, &mut sources);
    assert_eq!(loaded.diagnostics, []);
    check_loaded(&loaded, &Options::default())
}

fn codes(report: &Report) -> Vec<(&str, Severity)> {
    let findings = report.findings.iter();
    findings
        .map(|finding| (finding.code.as_str(), finding.severity))
        .collect()
}

fn group(parameter: &str) -> String {
    format!(
        "heat_template_version: 2021-04-16
parameters:
  least: {parameter}
resources:
  group:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: {{ get_param: least }}
      max_size: 3
      resource:
        type: OS::Cinder::Volume
        properties: {{ size: 1 }}
"
    )
}

#[test]
fn what_breaks_for_every_input_is_an_error() {
    let text = group("{ type: number, constraints: [{ allowed_values: [5, 7] }] }");
    assert_eq!(codes(&check(&text)), [("HOT239", Severity::Error)]);
}

#[test]
fn what_breaks_for_some_input_is_counted() {
    let text = group("{ type: number, constraints: [{ allowed_values: [2, 7] }] }");
    let report = check(&text);
    assert_eq!(codes(&report), []);
    assert_eq!(report.stats.violable, 1);
    assert_eq!(
        report.unchecked,
        [],
        "values that nothing else has are tried too"
    );
}

#[test]
fn what_breaks_for_no_input_is_silent() {
    let text = group("{ type: number, constraints: [{ allowed_values: [1, 2] }] }");
    let report = check(&text);
    assert_eq!(codes(&report), []);
    assert_eq!(report.stats.violable, 0);
}

#[test]
fn the_value_that_is_given_decides() {
    let text = group("{ type: number, default: 5 }");
    assert_eq!(codes(&check(&text)), [("HOT239", Severity::Error)]);
}

#[test]
fn one_input_used_twice_is_one_value() {
    let text = "heat_template_version: 2021-04-16
parameters:
  address: { type: string }
  other: { type: string }
resources:
  net:
    type: OS::Neutron::Net
  a:
    type: OS::Neutron::Port
    properties:
      network: { get_resource: net }
      mac_address: { get_param: address }
  b:
    type: OS::Neutron::Port
    properties:
      network: { get_resource: net }
      mac_address: { get_param: other }
";
    assert_eq!(codes(&check(text)), [], "two inputs may differ");
    let flavors = "heat_template_version: 2021-04-16
parameters:
  id: { type: string }
resources:
  a:
    type: OS::Nova::Flavor
    properties: { ram: 1, vcpus: 1, flavorid: { get_param: id } }
  b:
    type: OS::Nova::Flavor
    properties: { ram: 1, vcpus: 1, flavorid: { get_param: id } }
";
    let report = check(flavors);
    // Unless the input is `auto`, both have one identifier.
    assert!(report.findings.is_empty());
    assert_eq!(report.stats.violable, 1);
}

#[test]
fn nothing_is_known_of_what_exists_already() {
    let text = "heat_template_version: 2021-04-16
parameters:
  net: { type: string, constraints: [{ custom_constraint: neutron.network }] }
resources:
  port:
    type: OS::Neutron::Port
    properties:
      network: { get_param: net }
      security_groups: [default]
  server:
    type: OS::Nova::Server
    properties:
      flavor: m1.small
      image: cirros
      networks: [{ port: { get_resource: port } }]
  float:
    type: OS::Neutron::FloatingIP
    properties:
      floating_network: public
      port_id: { get_resource: port }
";
    assert_eq!(codes(&check(text)), []);
}

#[test]
fn a_rule_with_too_many_cases_is_not_silently_skipped() {
    // More possible violations of one rule than the solver is asked about.
    let mut text = String::from(
        "heat_template_version: 2021-04-16
parameters:
  least: { type: number, constraints: [{ allowed_values: [2, 7] }] }
resources:
",
    );
    for at in 0..40 {
        text.push_str(&format!(
            "  group{at}:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: {{ get_param: least }}
      max_size: 3
      resource: {{ type: OS::Cinder::Volume, properties: {{ size: 1 }} }}
"
        ));
    }
    let report = check(&text);
    assert_eq!(codes(&report), []);
    let said = report.unchecked.iter().map(|one| one.code.as_str());
    let said: Vec<&str> = said.collect();
    assert!(!said.is_empty());
    assert!(said.iter().all(|&rule| rule == "HOT239"), "{said:?}");
}

#[test]
fn an_input_that_may_equal_a_value_is_not_that_value() {
    let text = "heat_template_version: 2021-04-16
parameters:
  flavor: { type: string }
resources:
  volume: { type: OS::Cinder::Volume, properties: { size: 1, name: { get_param: flavor } } }
  group:
    type: OS::Neutron::SecurityGroup
    properties:
      rules: [{ protocol: tcp, port_range_min: 22, port_range_max: 22 }]
";
    assert_eq!(codes(&check(text)), []);
}
