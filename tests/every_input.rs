//! `--all-inputs` against a plain check for every assignment.
//!
//! `LOCUS_CASES` sets how many random configurations of each language are checked.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "every/attacks.rs"]
mod attacks;
#[path = "every/compose.rs"]
mod compose;
#[path = "every/heat.rs"]
mod heat;
#[path = "every/kubernetes.rs"]
mod kubernetes;
#[path = "every/random.rs"]
mod random;
#[path = "every/tosca.rs"]
mod tosca;
#[path = "every/variants.rs"]
mod variants;
#[path = "every/witnesses.rs"]
mod witnesses;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use locus::session::{Cancel, Given, Project, Report, Session, Snapshot};
use locus_core::Value;
use locus_core::diagnostic::Verdict;
use locus_frontends::language::{Chosen, InputValue, Registry};
use locus_frontends::loader::MemoryLoader;
use random::Random;
use rayon::prelude::*;

/// A rule or code, and where it is reported.
pub(crate) type Place = (String, u32);

/// An input and the values it may be given; none is that it is not given.
pub(crate) type Domain = (String, Vec<Option<String>>);

/// A configuration with finite inputs.
pub(crate) struct Case {
    pub(crate) language: &'static str,
    pub(crate) file: &'static str,
    pub(crate) text: String,
    pub(crate) inputs: Vec<Domain>,
    /// Whether inputs may have other values than these.
    pub(crate) free: bool,
}

/// Checks one configuration, with whatever inputs.
struct Bench<'a> {
    case: &'a Case,
    snapshot: Snapshot,
    project: Project,
}

impl Bench<'_> {
    fn check(&self, chosen: &[(&str, &str)]) -> Arc<Report> {
        let language = self.project.language;
        let mut given = Given::default();
        for (name, value) in chosen {
            let inputs = language.inputs().iter();
            match name.strip_prefix("profile ") {
                Some(profile) => {
                    let input = inputs.clone().find(|input| input.name == "profile");
                    let value = InputValue::Text(profile.to_owned());
                    given.inputs.add(input.unwrap(), value, None);
                }
                None if self.case.language == "kubernetes" => {
                    let workload = name.strip_prefix("replicas of ").unwrap();
                    let input = inputs.clone().find(|input| input.name == "replicas");
                    let value = InputValue::Pair(workload.to_owned(), (*value).to_owned());
                    given.inputs.add(input.unwrap(), value, None);
                }
                None if self.case.language == "compose" => {
                    given
                        .variables
                        .push(((*name).to_owned(), (*value).to_owned()));
                }
                None => {
                    let input = inputs.clone().find(|input| input.name == "param");
                    let value = InputValue::Pair((*name).to_owned(), (*value).to_owned());
                    given.inputs.add(input.unwrap(), value, None);
                }
            }
        }
        self.with(&given)
    }

    /// Every input; few assignments cover them, or all are tried where they are few.
    fn every(&self, covered: bool) -> Arc<Report> {
        self.with(&Given {
            all_inputs: true,
            covered,
            ..Given::default()
        })
    }

    fn with(&self, given: &Given) -> Arc<Report> {
        let cancel = Cancel::default();
        self.snapshot.check(&self.project, given, &cancel).unwrap()
    }
}

impl Case {
    fn bench(&self) -> Bench<'_> {
        let disk = MemoryLoader::new()
            .with(self.file, self.text.as_str())
            .with("child.yaml", heat::CHILD)
            .with("middle.yaml", heat::MIDDLE);
        let session = Session::over(Arc::new(disk), Registry::builtin()).forgetful();
        let snapshot = session.snapshot();
        let project = snapshot.project_of(self.file).expect("a configuration");
        Bench {
            case: self,
            snapshot,
            project,
        }
    }

    /// How many assignments there are.
    pub(crate) fn assignments(&self) -> usize {
        self.inputs.iter().map(|(_, values)| values.len()).product()
    }

    /// A chosen value as it is given.
    fn given(&self, chosen: &Chosen) -> String {
        match (self.language, &chosen.value) {
            // In quotes, a text is a text, whatever is in it.
            ("tosca", Value::Str(text)) => serde_json::Value::String(text.to_string()).to_string(),
            _ => chosen.text(),
        }
    }

    /// The assignment with a number.
    fn assignment(&self, mut number: usize) -> Vec<(&str, &str)> {
        let mut chosen = Vec::new();
        for (name, values) in &self.inputs {
            if let Some(value) = &values[number % values.len()] {
                chosen.push((name.as_str(), value.as_str()));
            }
            number /= values.len();
        }
        chosen
    }
}

fn places(report: &Report) -> BTreeSet<Place> {
    let findings = report.findings.iter();
    let violated = findings.filter(|finding| finding.verdict == Verdict::Violated);
    violated
        .map(|finding| {
            let start = finding.primary().map_or(0, |span| span.start);
            (finding.code.clone(), start)
        })
        .collect()
}

/// What was compared.
#[derive(Default)]
pub(crate) struct Compared {
    pub(crate) checks: usize,
    pub(crate) violable: usize,
    pub(crate) rules: BTreeMap<String, usize>,
}

/// Compares every verdict with those of a plain check for every assignment.
fn compare(case: &Case, compared: &mut Compared) {
    let bench = case.bench();
    let base = places(&bench.check(&[]));
    let found: Vec<(usize, BTreeSet<Place>)> = (0..case.assignments())
        .into_par_iter()
        .map(|number| {
            let chosen = case.assignment(number);
            (chosen.len(), places(&bench.check(&chosen)))
        })
        .collect();
    compared.checks += found.len();
    let mut expected: BTreeMap<Place, usize> = BTreeMap::new();
    for (given, places) in found {
        for place in places.difference(&base) {
            let fewest = expected.entry(place.clone()).or_insert(usize::MAX);
            *fewest = given.min(*fewest);
        }
    }
    for covered in [false, true] {
        agree(&bench, covered, &base, &expected, compared);
    }
}

fn agree(
    bench: &Bench<'_>,
    covered: bool,
    base: &BTreeSet<Place>,
    expected: &BTreeMap<Place, usize>,
    compared: &mut Compared,
) {
    let case = bench.case;
    let report = bench.every(covered);
    let text = &case.text;
    let found = &report.everything.violable;
    let reported: BTreeSet<Place> = found
        .iter()
        .map(|one| (one.code.clone(), one.start))
        .collect();
    let wanted: BTreeSet<Place> = expected.keys().cloned().collect();
    // Of inputs with any value, what is not seen to break may be undecided, but is not said to hold.
    let open: BTreeSet<Place> = report
        .everything
        .undecided
        .iter()
        .map(|one| (one.code.clone(), one.primary().map_or(0, |span| span.start)))
        .collect();
    let missed = wanted.difference(&reported);
    let missed: Vec<_> = missed
        .filter(|place| !(case.free && open.contains(place)))
        .collect();
    let wrong: Vec<_> = reported.difference(&wanted).collect();
    assert!(
        missed.is_empty() && (wrong.is_empty() || case.free),
        "covered: {covered}, missed {missed:?}, wrong {wrong:?} in\n{text}"
    );
    assert_eq!(&places(&report), base, "{text}");
    let undecided: Vec<&str> = report
        .everything
        .undecided
        .iter()
        .map(|open| open.message.as_str())
        .collect();
    assert!(
        case.free || undecided.is_empty(),
        "covered: {covered}, {undecided:#?} in\n{text}"
    );
    for one in found {
        let chosen: Vec<(String, String)> = one
            .chosen
            .iter()
            .map(|chosen| (chosen.name.to_string(), case.given(chosen)))
            .collect();
        let chosen: Vec<(&str, &str)> = chosen
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let place = (one.code.clone(), one.start);
        assert!(
            places(&bench.check(&chosen)).contains(&place),
            "{place:?} does not happen with {chosen:?} in\n{text}"
        );
        let fewest = expected.get(&place).copied().unwrap_or(usize::MAX);
        assert!(
            chosen.len() <= fewest,
            "covered: {covered}, {place:?} happens with fewer than {chosen:?} in\n{text}"
        );
        *compared.rules.entry(one.code.clone()).or_default() += 1;
    }
    compared.violable += found.len();
}

fn cases() -> u64 {
    let asked = std::env::var("LOCUS_CASES").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(60)
}

fn compare_all(make: impl Fn(&mut Random) -> Case, most: usize) -> Compared {
    compare_some(make, most, cases())
}

fn compare_some(make: impl Fn(&mut Random) -> Case, most: usize, count: u64) -> Compared {
    let from: u64 = std::env::var("LOCUS_FROM")
        .ok()
        .and_then(|t| t.parse().ok())
        .unwrap_or(0);
    let mut compared = Compared::default();
    let mut failed = None;
    for seed in from..from + count {
        let case = make(&mut Random::new(seed));
        if case.assignments() <= most {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                compare(&case, &mut compared);
            }));
            if let Err(why) = result {
                eprintln!("seed {seed}");
                failed.get_or_insert(why);
            }
        }
    }
    eprintln!(
        "{} checks, {} violable, of {} rules: {:?}",
        compared.checks,
        compared.violable,
        compared.rules.len(),
        compared.rules
    );
    if let Some(why) = failed {
        std::panic::resume_unwind(why);
    }
    compared
}

#[test]
fn heat_templates_agree_with_every_assignment() {
    let compared = compare_all(heat::template, 400);
    // Fewer cases than usual need not meet many rules.
    assert!(
        cases() < 60 || compared.rules.len() >= 12,
        "{:?}",
        compared.rules
    );
}

#[test]
fn templates_of_thousands_of_assignments_agree_too() {
    let large = |random: &mut Random| loop {
        let case = heat::template(random);
        if (1_000..=4_096).contains(&case.assignments()) {
            return case;
        }
    };
    let compared = compare_some(large, 4096, cases().div_ceil(60));
    assert!(compared.checks > 0);
}

#[test]
fn tosca_templates_agree_with_every_assignment() {
    let compared = compare_all(tosca::template, 400);
    assert!(
        cases() < 60 || compared.rules.len() >= 2,
        "{:?}",
        compared.rules
    );
}

#[test]
fn manifests_agree_with_every_number_of_pods() {
    let compared = compare_all(kubernetes::manifests, 400);
    for rule in ["K8S084", "K8S300", "K8S360", "K8S364"] {
        assert!(
            cases() < 60 || compared.rules.contains_key(rule),
            "{rule} is not met: {:?}",
            compared.rules
        );
    }
}

#[test]
fn compose_projects_agree_with_every_assignment() {
    let compared = compare_all(compose::project, 400);
    assert!(compared.rules.len() >= 6, "{:?}", compared.rules);
}

#[test]
fn compose_variables_agree_with_the_values_they_are_given() {
    let compared = compare_some(compose::variables, 160, cases());
    assert!(compared.rules.len() >= 4, "{:?}", compared.rules);
}

/// A template with finite or free inputs that is not compared with anything.
fn heat(text: &str) -> Arc<Report> {
    let case = Case {
        language: "hot",
        file: "stack.yaml",
        text: text.to_owned(),
        inputs: Vec::new(),
        free: true,
    };
    case.bench().every(false)
}

fn said(report: &Report) -> Vec<String> {
    let findings = report.findings.iter();
    findings
        .map(|one| format!("{} {} {}", one.severity, one.code, one.message))
        .collect()
}

#[test]
fn sizes_with_disjoint_ranges_are_in_order() {
    let text = |low: &str| {
        format!(
            "heat_template_version: 2021-04-16
parameters:
  least: {{ type: number, default: 2, constraints: [{{ range: {{ min: 1, max: {low} }} }}] }}
  most: {{ type: number, default: 9, constraints: [{{ range: {{ min: 7, max: 9 }} }}] }}
resources:
  group:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: {{ get_param: least }}
      max_size: {{ get_param: most }}
      resource: {{ type: OS::Cinder::Volume, properties: {{ size: 1 }} }}
"
        )
    };
    let report = heat(&text("6"));
    assert_eq!(said(&report), [""; 0]);
    assert!(report.everything.undecided.is_empty());
    let report = heat(&text("8"));
    let [only] = report.findings.as_slice() else {
        panic!("{:?}", said(&report));
    };
    assert_eq!(only.code, "HOT239");
    assert!(
        only.message
            .starts_with("with `least` = `8` and `most` = `7`, "),
        "{}",
        only.message
    );
}

#[test]
fn a_value_that_is_known_is_not_taken_for_another() {
    let report = heat(
        "heat_template_version: 2021-04-16
parameters:
  third: { type: number, default: 7, constraints: [{ range: { min: 0, max: 9 } }] }
resources:
  net: { type: OS::Neutron::Net }
  subnet:
    type: OS::Neutron::Subnet
    properties:
      network: { get_resource: net }
      ip_version: 4
      cidr: { list_join: ['', ['10.', { get_param: third }, '.0.0/24']] }
",
    );
    assert_eq!(said(&report), [""; 0]);
}

#[test]
fn an_input_that_accepts_anything_has_one_note() {
    let report = heat(
        "heat_template_version: 2021-04-16
parameters:
  SubnetCidr: { type: string, default: 10.0.0.0/24 }
resources:
  net: { type: OS::Neutron::Net }
  subnet:
    type: OS::Neutron::Subnet
    properties:
      network: { get_resource: net }
      cidr: { get_param: SubnetCidr }
      gateway_ip: 10.0.0.1
",
    );
    let [only] = report.findings.as_slice() else {
        panic!("{:?}", said(&report));
    };
    assert_eq!(only.code, "free-input");
    assert!(
        only.message
            .starts_with("`SubnetCidr` accepts anything: `x` breaks "),
        "{only:?}"
    );
    assert!(only.help.as_ref().unwrap().contains("net_cidr"), "{only:?}");
}

/// What two inputs have in common is found, though neither is listed, and what one has is tried with the other.
#[test]
fn inputs_that_may_be_equal_are_tried_with_what_the_other_may_be() {
    let template = |one: &str, two: &str, network: &str| {
        format!(
            "heat_template_version: 2021-04-16
parameters:
  one: {{ type: string, {one} }}
  two: {{ type: string, {two} }}
resources:
  a:
    type: OS::Neutron::Port
    properties: {{ network: {network}, fixed_ips: [{{ ip_address: 10.0.0.9 }}] }}
  b:
    type: OS::Neutron::Port
    properties: {{ network: {{ get_param: two }}, fixed_ips: [{{ ip_address: 10.0.0.9 }}] }}
  c: {{ type: OS::Neutron::Net, properties: {{ name: {{ get_param: one }} }} }}
"
        )
    };
    let pattern = |pattern: &str, default: &str| {
        format!("default: {default}, constraints: [{{ allowed_pattern: '{pattern}' }}]")
    };
    let listed = "default: web, constraints: [{ allowed_values: [web, db] }]".to_owned();
    let free = "default: api".to_owned();
    let other = "default: web".to_owned();
    let own = "{ get_param: one }";
    let common = [
        (listed.clone(), pattern("[a-z]+", "api"), own),
        (listed, free.clone(), own),
        (pattern("[m-z]+", "mm"), pattern("[a-m]+", "ab"), own),
        (free.clone(), pattern("[a-z]{3}-[0-9]+", "abc-1"), own),
        (free.clone(), other.clone(), own),
        (free.clone(), other, "public"),
        (free.clone(), pattern("p[a-z]*", "pq"), "public"),
    ];
    for (one, two, network) in common {
        let text = template(&one, &two, network);
        let report = heat(&text);
        let found: Vec<&str> = report
            .everything
            .violable
            .iter()
            .map(|one| one.code.as_str())
            .collect();
        assert!(found.contains(&"HOT216"), "{found:?} in\n{text}");
    }
    // Two patterns with nothing in common that is seen: it holds, or it is not known.
    let text = template(
        &pattern("x[0-9]{9}", "x000000000"),
        &pattern("y.*", "y"),
        own,
    );
    let report = heat(&text);
    assert!(report.everything.violable.is_empty(), "{text}");
    let text = template(
        &pattern("[a-z]{9}", "aaaaaaaaa"),
        &pattern("[x-z]{9}", "zzzzzzzzz"),
        own,
    );
    let report = heat(&text);
    let known = report.everything.violable.len() + report.everything.undecided.len();
    assert!(known > 0, "{text}");
}

/// What decides together with an input is tried, and what is near it.
#[test]
fn a_free_address_is_tried_in_and_beside_the_block_that_it_must_be_in() {
    let text = "services:
  a: { image: 'nginx:1.27', networks: { n: { ipv4_address: '${IP:-172.20.3.9}' } } }
networks:
  n: { ipam: { config: [{ subnet: 172.20.3.0/24, gateway: 172.20.3.77 }] } }
";
    let case = Case {
        language: "compose",
        file: "compose.yaml",
        text: text.to_owned(),
        inputs: Vec::new(),
        free: true,
    };
    let report = case.bench().every(false);
    let found = report.everything.violable.iter();
    let found: BTreeSet<&str> = found.map(|one| one.code.as_str()).collect();
    assert!(
        found.contains("COMPOSE040") && found.contains("COMPOSE042"),
        "{:?}",
        said(&report)
    );
}

/// Which texts a pattern with look-around allows is not known: none is said to be allowed.
#[test]
fn a_pattern_that_cannot_be_decided_gives_no_values() {
    let text = |pattern: &str| {
        format!(
            "heat_template_version: 2021-04-16
parameters:
  block: {{ type: string, default: 10.1.0.0/24, constraints: [{{ allowed_pattern: '{pattern}' }}] }}
resources:
  net: {{ type: OS::Neutron::Net }}
  subnet:
    type: OS::Neutron::Subnet
    properties: {{ network: {{ get_resource: net }}, cidr: {{ get_param: block }} }}
"
        )
    };
    let report = heat(&text("(?!192)[0-9.]+/[0-9]+"));
    assert_eq!(said(&report), [""; 0]);
    let undecided = &report.everything.undecided;
    assert!(
        undecided
            .iter()
            .any(|one| one.message.contains("no value of `block` was tried")),
        "{undecided:?}"
    );
}

/// Of numbers in steps, those beside what they are compared with are tried.
#[test]
fn numbers_in_steps_are_tried_on_either_side_of_limits() {
    let report = heat(
        "heat_template_version: 2021-04-16
parameters:
  least: { type: number, default: 3, constraints: [{ range: { max: 60000 } }, { modulo: { step: 7, offset: 3 } }] }
resources:
  group:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: { get_param: least }
      max_size: 59999
      resource: { type: OS::Cinder::Volume, properties: { size: 1 } }
",
    );
    let found = report.everything.violable.iter();
    let found: Vec<String> = found
        .filter(|one| one.code == "HOT239")
        .map(|one| one.chosen[0].text())
        .collect();
    assert_eq!(found, ["60000"], "{:?}", said(&report));
}

/// What refers to something by a name that an input gives is looked at with each name.
#[test]
fn names_that_inputs_give_agree_with_every_assignment() {
    let heat = "heat_template_version: 2021-04-16
parameters:
  which: { type: string, default: two, constraints: [{ allowed_values: [one, two, none] }] }
  address: { type: string, default: 10.0.0.5, constraints: [{ allowed_values: [10.0.0.5, 10.1.0.5] }] }
resources:
  one: { type: OS::Neutron::Net }
  two: { type: OS::Neutron::Net }
  s1:
    type: OS::Neutron::Subnet
    properties: { network: { get_resource: one }, cidr: 10.0.0.0/24 }
  s2:
    type: OS::Neutron::Subnet
    properties: { network: { get_resource: two }, cidr: 10.1.0.0/24 }
  port:
    type: OS::Neutron::Port
    properties:
      network: { get_resource: { get_param: which } }
      fixed_ips: [{ subnet: { get_resource: s2 }, ip_address: { get_param: address } }]
";
    let joined = "services:
  web: { image: 'x:1', networks: ['${A:-front}', '${B:-back}'] }
networks: { front: {}, back: {}, third: { name: p_front } }
";
    let extended = "services:
  base: { image: 'x:1', ports: ['8080:80'] }
  plain: { image: 'x:1' }
  web: { image: 'x:1', ports: ['8080:80'], extends: { service: '${A:-plain}' } }
  other: { image: 'x:1', ports: ['${B:-8081}:80'], extends: '${A:-plain}' }
";
    let modes = "services:
  web: { image: 'x:1', network_mode: '${A:-bridge}', ports: ['8080:80'] }
  api: { image: 'x:1', depends_on: [web], pid: 'service:${B}' }
";
    let parts = "services:
  web: { image: 'x:1', volumes: ['${A:-data}-${B:-one}:/data', 'data-two:/data'] }
volumes: { data-one: {}, data-two: {} }
";
    let hosts = "services:
  web: { image: 'x:1', environment: ['DB_URL=pg://u@${A:-db}:5432/x'], networks: ['${B:-front}'] }
  db: { image: 'x:1', networks: [back] }
networks: { front: {}, back: {} }
";
    let values = |texts: &[&str]| -> Vec<Option<String>> {
        let given = texts.iter().map(|text| Some((*text).to_owned()));
        [None].into_iter().chain(given).collect()
    };
    let cases = [
        (
            "hot",
            heat,
            vec![
                ("which", values(&["one", "two", "none"])),
                ("address", values(&["10.0.0.5", "10.1.0.5"])),
            ],
        ),
        (
            "compose",
            joined,
            vec![
                ("A", values(&["front", "back", "third", "no", ""])),
                ("B", values(&["front", "back", "third", "no"])),
            ],
        ),
        (
            "compose",
            extended,
            vec![
                ("A", values(&["base", "plain", "web", "other", "no"])),
                ("B", values(&["8080", "9000"])),
            ],
        ),
        (
            "compose",
            modes,
            vec![
                (
                    "A",
                    values(&["host", "none", "service:api", "service:no", "service:web"]),
                ),
                ("B", values(&["web", "api", "no"])),
            ],
        ),
        (
            "compose",
            parts,
            vec![
                ("A", values(&["data", "no"])),
                ("B", values(&["one", "two", "no"])),
            ],
        ),
        (
            "compose",
            hosts,
            vec![
                ("A", values(&["db", "web", "no"])),
                ("B", values(&["front", "back", "no"])),
            ],
        ),
    ];
    let mut rules = BTreeSet::new();
    for (language, text, inputs) in cases {
        let mut compared = Compared::default();
        let case = Case {
            language,
            file: match language {
                "hot" => "stack.yaml",
                _ => "compose.yaml",
            },
            text: text.to_owned(),
            inputs: inputs
                .into_iter()
                .map(|(name, values)| (name.to_owned(), values))
                .collect(),
            free: language == "compose",
        };
        compare(&case, &mut compared);
        assert!(compared.violable > 0, "something breaks in\n{text}");
        rules.extend(compared.rules.into_keys());
    }
    assert!(rules.len() >= 8, "{rules:?}");
}
