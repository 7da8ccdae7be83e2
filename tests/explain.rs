//! `--explain`: the lines without any one of which a finding is not made.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use locus::session::{Cancel, Explanation, Given, Project, Report, Session, Snapshot};
use locus_core::Diagnostic;
use locus_frontends::language::Registry;
use locus_frontends::loader::MemoryLoader;
use locus_invariants::library;
use rayon::prelude::*;

fn snapshot(files: &[(&str, &str)]) -> Snapshot {
    let mut loader = MemoryLoader::new();
    for (path, text) in files {
        let path = std::path::absolute(path).unwrap().display().to_string();
        loader.insert(&path, text);
    }
    Session::over(Arc::new(Absolute(loader)), Registry::builtin())
        .forgetful()
        .snapshot()
}

/// Files in memory, by their absolute paths.
struct Absolute(MemoryLoader);

impl locus_frontends::loader::Loader for Absolute {
    fn load(&self, path: &str) -> Result<Arc<[u8]>, locus_frontends::loader::LoadError> {
        let path = std::path::absolute(path).unwrap().display().to_string();
        locus_frontends::loader::Loader::load(&self.0, &path)
    }

    fn kind(&self, path: &str) -> Option<locus_frontends::loader::PathKind> {
        let path = std::path::absolute(path).unwrap().display().to_string();
        self.0.kind(&path)
    }
}

fn given(inputs: &[(&str, &str)], project: &Project) -> Given {
    let mut given = Given::default();
    for (name, value) in inputs {
        let mut declared = project.language.inputs().iter();
        let input = declared.find(|input| input.name == *name).unwrap();
        given.inputs.give(input, value).unwrap();
    }
    given
}

/// What is found in files without some reason, or with all of them.
fn found(
    files: &[(String, String)],
    others: &[(&str, &str)],
    project: &Project,
    given: &Given,
) -> Vec<(String, String)> {
    let mut all: BTreeMap<&str, &str> = others.iter().copied().collect();
    all.extend(
        files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str())),
    );
    let all: Vec<(&str, &str)> = all.into_iter().collect();
    let report = snapshot(&all)
        .check(project, given, &Cancel::default())
        .unwrap();
    report
        .findings
        .iter()
        .map(|one| (one.code.clone(), one.message.clone()))
        .collect()
}

/// Explains all findings, and takes each reason away to see that the finding goes.
fn explained(
    files: &[(&str, &str)],
    first: &str,
    inputs: &[(&str, &str)],
) -> Vec<(Diagnostic, Explanation, Arc<Report>)> {
    let snapshot = snapshot(files);
    let mut project = snapshot.project_of(first).expect("a configuration");
    project.files = vec![first.to_owned()];
    let mut given = given(inputs, &project);
    // An example of a rule that is off by default is checked with that rule.
    given.all_rules = true;
    given.ignore = library::builtin().off_for(first);
    let cancel = Cancel::default();
    let report = snapshot.check(&project, &given, &cancel).unwrap();
    let mut all = Vec::new();
    for finding in &report.findings {
        let explain = || {
            snapshot
                .explain(&project, &given, &report, finding, &cancel)
                .unwrap()
        };
        let Some(explanation) = explain() else {
            continue;
        };
        if all.is_empty() {
            let again = explain().unwrap();
            assert_eq!(again.reasons, explanation.reasons, "it is deterministic");
        }
        let key = (finding.code.clone(), finding.message.clone());
        let kept = found(&explanation.reduced, files, &project, &given);
        assert!(kept.contains(&key), "{key:?} stays with all reasons");
        assert_eq!(explanation.without.len(), explanation.reasons.len());
        for (reason, without) in explanation.reasons.iter().zip(&explanation.without) {
            let left = found(without, files, &project, &given);
            let times = |all: &[(String, String)]| all.iter().filter(|one| **one == key).count();
            assert!(
                times(&left) < times(&kept),
                "{key:?} goes without `{}`",
                reason.message
            );
        }
        all.push((finding.clone(), explanation, report.clone()));
    }
    all
}

/// The reasons as `file:line sentence`.
fn lines(explanation: &Explanation, report: &Report) -> Vec<String> {
    let line = |reason: &locus_core::Label| {
        let at = report.sources.start(reason.span);
        let name = report.sources.name(reason.span.file);
        format!("{name}:{} {}", at.line, reason.message)
    };
    explanation.reasons.iter().map(line).collect()
}

#[test]
fn an_address_outside_its_subnet_is_explained_across_files() {
    let template = "heat_template_version: 2021-04-16
parameters:
  block:
    type: string
    default: 10.0.1.0/24
resources:
  net:
    type: OS::Neutron::Net
  subnet:
    type: OS::Neutron::Subnet
    properties:
      network: { get_resource: net }
      cidr: { get_param: block }
  other:
    type: OS::Neutron::Net
  port:
    type: OS::Neutron::Port
    properties:
      network: { get_resource: net }
      fixed_ips:
        - subnet: { get_resource: subnet }
          ip_address: 10.0.1.5
";
    let environment = "parameters:\n  block: 10.0.0.0/24\n  # nothing else\n";
    let files = [("t.yaml", template), ("env.yaml", environment)];
    let all = explained(&files, "t.yaml", &[("environment", "env.yaml")]);
    let (_, explanation, report) = all
        .iter()
        .find(|(finding, ..)| finding.message.contains("10.0.1.5"))
        .unwrap_or_else(|| {
            panic!(
                "{:?}",
                all.iter().map(|one| &one.0.message).collect::<Vec<_>>()
            )
        });
    let told = lines(explanation, report);
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn two_servers_on_one_port_are_explained_by_two_lines() {
    let template = std::fs::read_to_string("examples/heat/servers-share-port.yaml").unwrap();
    let all = explained(&[("t.yaml", &template)], "t.yaml", &[]);
    let (_, explanation, report) = all.iter().find(|one| one.0.code == "HOT221").unwrap();
    insta::assert_snapshot!(lines(explanation, report).join("\n"));
}

#[test]
fn variables_of_a_compose_project_are_part_of_the_explanation() {
    let compose = "services:
  web:
    image: example/web:1.4
    ports:
      - \"${PORT}:80\"
  admin:
    image: example/admin:1.4
    ports:
      - \"8080:80\"
";
    let files = [
        ("compose.yaml", compose),
        (".env", "# ports\nPORT=8080\nOTHER=1\n"),
    ];
    let all = explained(&files, "compose.yaml", &[]);
    let (_, explanation, report) = all.iter().find(|one| one.0.code == "COMPOSE030").unwrap();
    insta::assert_snapshot!(lines(explanation, report).join("\n"));
}

#[test]
fn a_key_that_is_written_twice_is_explained_by_both() {
    let template = "heat_template_version: 2021-04-16
resources:
  other: { type: OS::Neutron::Net }
  net:
    type: OS::Neutron::Net
    type: OS::Neutron::Net
";
    let all = explained(&[("t.yaml", template)], "t.yaml", &[]);
    let (_, explanation, report) = all.iter().find(|one| one.0.code == "HOT004").unwrap();
    let told = lines(explanation, report);
    let [first, second] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert!(first.starts_with("t.yaml:5 ") && second.starts_with("t.yaml:6 "));
}

#[test]
fn templates_that_include_each_other_are_explained_by_the_lines_that_do() {
    let outer = "heat_template_version: rocky\nresources:\n  a:\n    type: b.yaml\n";
    let inner = "heat_template_version: rocky
resources:
  x: { type: OS::Heat::None }
  b:
    type: a.yaml
";
    let all = explained(&[("a.yaml", outer), ("b.yaml", inner)], "a.yaml", &[]);
    let cycle = all.iter().find(|one| one.0.code == "include-cycle");
    let (_, explanation, report) = cycle.unwrap();
    let told = lines(explanation, report);
    let [first, second] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert!(first.starts_with("a.yaml:4 ") && second.starts_with("b.yaml:5 "));
}

/// Every finding of every breaking example of the library is explained, and the explanation is minimal.
#[test]
fn every_breaking_example_is_explained_minimally() {
    let examples: Vec<_> = library::examples()
        .filter(|example| example.name.contains(".breaks.") && !example.name.contains(".env."))
        .collect();
    assert!(examples.len() > 80);
    let counts: Vec<(usize, usize, String)> = examples
        .par_iter()
        .map(|example| {
            let files: Vec<(&str, &str)> = library::examples()
                .filter(|other| other.language == example.language)
                .map(|other| (other.name, other.text))
                .collect();
            let environment = example.name.replace(".yaml", ".env.yaml");
            let mut inputs = Vec::new();
            if files.iter().any(|(name, _)| *name == environment) {
                inputs.push(("environment", environment.as_str()));
            }
            // Comments say what else an example is checked with.
            let comments = example.text.lines();
            inputs.extend(
                comments.filter_map(|line| line.strip_prefix("# input: ")?.split_once(' ')),
            );
            if example.name.contains(".swarm.") {
                inputs.extend([("target", "swarm"), ("nodes", "2")]);
            }
            for loss in ["node", "zone"] {
                if example.name.contains(&format!(".without-{loss}.")) {
                    inputs.push(("survive", loss));
                }
            }
            let all = explained(&files, example.name, &inputs);
            let told = all.iter().filter(|one| !one.1.reasons.is_empty()).count();
            (told, all.len(), example.name.to_owned())
        })
        .collect();
    let unexplained: Vec<&str> = counts
        .iter()
        .filter(|(told, all, _)| told < all || *all == 0)
        .map(|(.., name)| name.as_str())
        .collect();
    println!("unexplained: {unexplained:?}");
    assert!(unexplained.len() * 20 <= counts.len(), "{unexplained:?}");
}

const SIZES: &str = "heat_template_version: 2021-04-16
description: sizes that may be out of order
parameters:
  least:
    type: number
    default: 2
    constraints: [{ range: { min: 1, max: 8 } }]
  most:
    type: number
    default: 9
    constraints: [{ range: { min: 7, max: 9 } }]
resources:
  other: { type: OS::Neutron::Net }
  group:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: { get_param: least }
      max_size: { get_param: most }
      resource: { type: OS::Cinder::Volume, properties: { size: 1 } }
";

const BLOCKS: &str = "heat_template_version: 2021-04-16
parameters:
  block:
    type: string
    default: 10.0.1.0/24
    constraints: [{ allowed_values: [10.0.1.0/24, 10.0.2.0/24] }]
resources:
  net: { type: OS::Neutron::Net }
  subnet:
    type: OS::Neutron::Subnet
    properties:
      network: { get_resource: net }
      cidr: { get_param: block }
  port:
    type: OS::Neutron::Port
    properties:
      network: { get_resource: net }
      fixed_ips: [{ subnet: { get_resource: subnet }, ip_address: 10.0.1.5 }]
";

const PORTS: &str = "services:
  web:
    image: example/web:1.4
    ports:
      - \"8080:80\"
  admin:
    image: example/admin:1.4
    profiles: [dev]
    ports:
      - \"8080:80\"
  other:
    image: example/other:1.4
";

/// What is found for some inputs is explained by these and the lines that they make wrong, and by no others.
#[test]
fn what_some_inputs_break_is_explained_minimally_too() {
    let files = [
        ("sizes.yaml", SIZES, "HOT239"),
        ("blocks.yaml", BLOCKS, "HOT209"),
        ("compose.yaml", PORTS, "COMPOSE030"),
    ];
    let mut all = Vec::new();
    for (name, text, code) in files {
        let files = [(name, text)];
        let snapshot = snapshot(&files);
        let project = snapshot.project_of(name).expect("a configuration");
        let every = Given {
            all_inputs: true,
            ..Given::default()
        };
        let cancel = Cancel::default();
        let report = snapshot.check(&project, &every, &cancel).unwrap();
        let finding = report.findings.iter().find(|one| one.code == code);
        let finding = finding.unwrap_or_else(|| panic!("{code}: {:?}", report.findings));
        let explain = || {
            let explained = snapshot.explain(&project, &every, &report, finding, &cancel);
            explained.unwrap().expect("it is explained")
        };
        let explanation = explain();
        assert_eq!(
            explain().told(),
            explanation.clone().told(),
            "deterministic"
        );
        let with = |left_out: Option<&str>| {
            let mut given = Given::default();
            let chosen = explanation.inputs.iter().map(|(chosen, _)| chosen);
            for one in chosen.filter(|one| left_out != Some(&*one.name)) {
                let (name, value) = (one.name.to_string(), one.text());
                let mut inputs = project.language.inputs().iter();
                if let Some(profile) = name.strip_prefix("profile ") {
                    let profiles = inputs.find(|input| input.name == "profile").unwrap();
                    given.inputs.give(profiles, profile).unwrap();
                    continue;
                }
                match inputs.find(|input| input.name == "param") {
                    Some(input) => {
                        let pair = locus_frontends::language::InputValue::Pair(name, value);
                        given.inputs.add(input, pair, None);
                    }
                    None => given.variables.push((name, value)),
                }
            }
            given
        };
        let is_found = |texts: &[(String, String)], given: &Given| {
            let found = found(texts, &files, &project, given);
            let mut found = found.iter();
            found.any(|(own, message)| own == code && finding.message.ends_with(message))
        };
        assert!(is_found(&explanation.reduced, &with(None)), "{code} stays");
        assert!(!explanation.inputs.is_empty() && !explanation.reasons.is_empty());
        for (reason, without) in explanation.reasons.iter().zip(&explanation.without) {
            let message = &reason.message;
            assert!(
                !is_found(without, &with(None)),
                "{code} goes without `{message}`"
            );
        }
        for (chosen, _) in &explanation.inputs {
            let whole = [(name.to_owned(), text.to_owned())];
            assert!(
                !is_found(&whole, &with(Some(&chosen.name))),
                "{code} goes without {chosen:?}"
            );
        }
        let told = lines(&explanation, &report);
        let given = explanation
            .inputs
            .iter()
            .map(|(_, label)| label.message.clone());
        all.push(format!(
            "{code}\n{}\n{}",
            given.collect::<Vec<_>>().join("\n"),
            told.join("\n")
        ));
    }
    insta::assert_snapshot!(all.join("\n\n"));
}
