//! Random TOSCA service templates whose inputs have few values.

use std::fmt::Write as _;

use super::random::Random;
use super::{Case, Domain};

/// The types of the nodes: what their properties accept is less than what inputs may be.
const TYPES: &str = "tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Worker:
    derived_from: tosca.nodes.Root
    properties:
      count: { type: integer, required: false, constraints: [{ in_range: [1, 4] }] }
      limit: { type: integer, required: false, constraints: [{ less_than: 6 }] }
      name: { type: string, required: false, constraints: [{ pattern: '[a-z]+' }] }
      label: { type: string, required: false, constraints: [{ min_length: 2 }, { max_length: 4 }] }
      mode: { type: string, required: false, constraints: [{ valid_values: [fast, slow] }] }
      debug: { type: boolean, required: false }
      all: { type: list, required: false, entry_schema: { type: integer, constraints: [{ less_or_equal: 4 }] }, constraints: [{ max_length: 2 }] }
      sizes: { type: map, required: false, entry_schema: { type: integer, constraints: [{ greater_than: 1 }] } }
      space: { type: scalar-unit.size, required: false, constraints: [{ in_range: [1 GB, 3 GB] }] }
";

/// What an input is for.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Number,
    Text,
    Flag,
    Size,
}

struct Input {
    name: String,
    kind: Kind,
}

/// A random template.
pub(crate) fn template(random: &mut Random) -> Case {
    let mut out = String::from(TYPES);
    out += "topology_template:\n  inputs:\n";
    let mut domains: Vec<Domain> = Vec::new();
    let mut inputs: Vec<Input> = Vec::new();
    for at in 0..2 + random.below(3) {
        let name = format!("i{at}");
        let (kind, text, values) = input(random);
        let default = &values[random.below(values.len())];
        let default = match random.once_in(5) {
            true => String::new(),
            false => format!(", default: {default}"),
        };
        let _ = writeln!(out, "    {name}: {{ {text}{default} }}");
        // Without a default, it must be given.
        let unset = if default.is_empty() { None } else { Some(None) };
        let values = values.into_iter().map(|value| match kind {
            Kind::Text => Some(format!("{value:?}")),
            _ => Some(value),
        });
        domains.push((name.clone(), unset.into_iter().chain(values).collect()));
        inputs.push(Input { name, kind });
    }
    out += "  node_templates:\n";
    let machines = 1 + random.below(2);
    for at in 0..machines {
        let cpus = value(random, &inputs, Kind::Number, &["1", "2", "4"]);
        let _ = write!(
            out,
            "    m{at}:\n      type: tosca.nodes.Compute\n      capabilities:\n        host:\n          properties:\n            num_cpus: {cpus}\n"
        );
    }
    for at in 0..1 + random.below(3) {
        let _ = writeln!(out, "    w{at}:\n      type: Worker\n      properties:");
        let mut lines = Vec::new();
        for (name, kind, plain) in [
            ("count", Kind::Number, &["1", "4"][..]),
            ("limit", Kind::Number, &["1", "5"]),
            ("name", Kind::Text, &["web", "db"]),
            ("label", Kind::Text, &["abc", "ab"]),
            ("mode", Kind::Text, &["fast", "slow"]),
            ("debug", Kind::Flag, &["true", "false"]),
        ] {
            if random.once_in(2) {
                lines.push(format!("{name}: {}", value(random, &inputs, kind, plain)));
            }
        }
        if random.once_in(4) {
            let (a, b) = (
                value(random, &inputs, Kind::Number, &["1", "4"]),
                value(random, &inputs, Kind::Number, &["2", "5"]),
            );
            lines.push(format!("all: [{a}, {b}]"));
            lines.push(format!("sizes: {{ a: {b}, b: {a} }}"));
        }
        if random.once_in(4) {
            lines.push(format!(
                "space: {}",
                value(random, &inputs, Kind::Size, &["2 GB", "1 GB"])
            ));
        }
        // What another node has may be what this one has.
        if at > 0 && random.once_in(3) && !lines.iter().any(|line| line.starts_with("limit")) {
            lines.push("limit: { get_property: [w0, count] }".to_owned());
        }
        if lines.is_empty() {
            lines.push("debug: true".to_owned());
        }
        for line in lines {
            let _ = writeln!(out, "        {line}");
        }
    }
    if random.once_in(2) {
        let at = random.below(machines);
        let least = value(random, &inputs, Kind::Number, &["1", "2", "4"]);
        let target = match random.once_in(2) {
            true => format!("m{at}"),
            false => "tosca.nodes.Compute".to_owned(),
        };
        let _ = write!(
            out,
            "    app:\n      type: tosca.nodes.SoftwareComponent\n      requirements:\n        - host:\n            node: {target}\n            node_filter:\n              capabilities:\n                - host:\n                    properties:\n                      - num_cpus: {{ greater_or_equal: {least} }}\n"
        );
    }
    Case {
        language: "tosca",
        file: "service.yaml",
        text: out,
        inputs: domains,
        free: false,
    }
}

/// An input: its kind, its definition but for the default, and its values.
fn input(random: &mut Random) -> (Kind, String, Vec<String>) {
    let numbers = |values: std::ops::RangeInclusive<usize>| -> Vec<String> {
        values.map(|value| value.to_string()).collect()
    };
    let texts =
        |values: &[&str]| -> Vec<String> { values.iter().map(|&value| value.to_owned()).collect() };
    match random.below(8) {
        7 => {
            let values = texts(&["1 GB", "2048 MB", "4 GB", "500 MB"][..1 + random.below(4)]);
            let text = format!(
                "type: scalar-unit.size, constraints: [{{ valid_values: [{}] }}]",
                values.join(", ")
            );
            (Kind::Size, text, values)
        }
        0 => {
            let (low, high) = (random.below(3), 3 + random.below(4));
            let text = format!("type: integer, constraints: [{{ in_range: [{low}, {high}] }}]");
            (Kind::Number, text, numbers(low..=high))
        }
        1 => {
            let low = random.below(4);
            let text = format!(
                "type: integer, constraints: [{{ greater_or_equal: {low} }}, {{ less_than: {} }}]",
                low + 3
            );
            (Kind::Number, text, numbers(low..=low + 2))
        }
        2 => {
            let low = random.below(3);
            let text = format!(
                "type: integer, constraints: [{{ greater_than: {low} }}, {{ less_or_equal: {} }}]",
                low + 4
            );
            (Kind::Number, text, numbers(low + 1..=low + 4))
        }
        3 => {
            let values = texts(&["web", "w", "webserver", "Web"][..1 + random.below(4)]);
            let text = format!(
                "type: string, constraints: [{{ valid_values: [{}] }}]",
                values.join(", ")
            );
            (Kind::Text, text, values)
        }
        4 => (
            Kind::Text,
            "type: string, constraints: [{ pattern: '(fast|slow|odd)[12]?' }]".to_owned(),
            texts(&[
                "fast", "slow", "odd", "fast1", "fast2", "slow1", "slow2", "odd1", "odd2",
            ]),
        ),
        5 => (
            Kind::Text,
            "type: string, constraints: [{ valid_values: [fast, slow, abc, abcde] }, { max_length: 4 }]"
                .to_owned(),
            texts(&["fast", "slow", "abc"]),
        ),
        _ => (
            Kind::Flag,
            "type: boolean".to_owned(),
            texts(&["true", "false"]),
        ),
    }
}

/// A value of a kind: an input, or what is computed from one, or as it is.
fn value(random: &mut Random, inputs: &[Input], kind: Kind, plain: &[&str]) -> String {
    let own: Vec<&str> = inputs
        .iter()
        .filter(|input| input.kind == kind)
        .map(|input| input.name.as_str())
        .collect();
    if own.is_empty() || random.once_in(4) {
        return random.pick(plain).to_owned();
    }
    let input = random.pick(&own);
    match random.below(6) {
        0 if kind == Kind::Text => format!("{{ concat: [{{ get_input: {input} }}, x] }}"),
        1 if kind == Kind::Text => format!("{{ token: [{{ get_input: {input} }}, e, 0] }}"),
        _ => format!("{{ get_input: {input} }}"),
    }
}
