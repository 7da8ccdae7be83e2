//! Configurations made to mislead: conditions on conditions, computed texts, names that two inputs share.

use std::path::Path;
use std::process::Command;

use super::{Case, Compared, Domain, compare};

/// An input, and the values it is given in turn; `-` is that it is not given.
fn input(name: &str, values: &[&str]) -> Domain {
    let values = values.iter().map(|&value| match value {
        "-" => None,
        value => Some(value.to_owned()),
    });
    (name.to_owned(), values.collect())
}

pub(super) fn heat(text: &str, inputs: &[(&str, &[&str])], free: bool) -> Case {
    case("hot", "stack.yaml", text, inputs, free)
}

pub(super) fn compose(text: &str, inputs: &[(&str, &[&str])]) -> Case {
    let free = inputs.iter().any(|(name, _)| !name.starts_with("profile "));
    case("compose", "compose.yaml", text, inputs, free)
}

pub(super) fn case(
    language: &'static str,
    file: &'static str,
    text: &str,
    inputs: &[(&str, &[&str])],
    free: bool,
) -> Case {
    Case {
        language,
        file,
        text: text.to_owned(),
        inputs: inputs
            .iter()
            .map(|(name, values)| input(name, values))
            .collect(),
        free,
    }
}

/// Compares a case with every assignment; what is shown is shown again by the files that the command writes. The rules
/// that some assignment breaks.
pub(super) fn attack(case: &Case) -> Vec<String> {
    let mut compared = Compared::default();
    compare(case, &mut compared);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(case.file), &case.text).unwrap();
    for (name, text) in [
        ("child.yaml", super::heat::CHILD),
        ("middle.yaml", super::heat::MIDDLE),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    replay(folder.path(), &[case.file]);
    compared.rules.into_keys().collect()
}

/// Calls the command that each witness file names, and looks for the rule at its line.
pub(super) fn replay(folder: &Path, files: &[&str]) {
    replay_with(folder, files);
}

/// The same with other arguments of the command; how many there were.
pub(super) fn replay_with(folder: &Path, files: &[&str]) -> usize {
    let locus = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_locus"))
            .args(arguments)
            .current_dir(folder)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let mut arguments = vec!["check", "--all-inputs", "--witness", "w"];
    arguments.extend(["--format", "json"]);
    arguments.extend(files);
    let all = locus(&arguments);
    let shown = all.matches("\"verdict\": \"violable\"").count()
        + all.matches("\"verdict\":\"violable\"").count();
    let Ok(witnesses) = std::fs::read_dir(folder.join("w")) else {
        assert_eq!(shown, 0, "no witness of\n{all}");
        return 0;
    };
    let mut count = 0;
    for witness in witnesses {
        let name = witness.unwrap().file_name().into_string().unwrap();
        let text = std::fs::read_to_string(folder.join("w").join(&name)).unwrap();
        let mut lines = text.lines();
        let first = lines.next().unwrap().trim_start_matches("# Shows ");
        let (code, rest) = first.split_once(" in ").unwrap();
        let line = rest.rsplit_once("line ").unwrap().1.trim_end_matches(':');
        let command = lines.next().unwrap().trim_start_matches("# locus ");
        // The command is called by a shell, as it is.
        let output = Command::new("sh")
            .args(["-c", &format!("\"$LOCUS\" {command} --format compact")])
            .env("LOCUS", env!("CARGO_BIN_EXE_locus"))
            .current_dir(folder)
            .output()
            .unwrap();
        let found = String::from_utf8(output.stdout).unwrap();
        let is_it = |said: &str| said.contains(code) && said.contains(&format!(":{line}:"));
        assert!(
            found.lines().any(is_it),
            "{code} is not at line {line} with\n{text}\n{found}"
        );
        count += 1;
    }
    assert_eq!(count > 0, shown > 0, "{all}");
    count
}

#[track_caller]
pub(super) fn breaks(case: &Case, expected: &[&str]) {
    let rules = attack(case);
    for rule in expected {
        assert!(rules.iter().any(|known| known == rule), "{rules:?}");
    }
}

#[test]
fn conditions_on_conditions_over_steps() {
    let text = "heat_template_version: 2021-04-16
parameters:
  n: { type: number, default: 1, constraints: [{ range: { min: 0, max: 12 } }, { modulo: { step: 3, offset: 1 } }] }
  m: { type: number, default: 6, constraints: [{ range: { min: 0, max: 6 } }] }
conditions:
  a: { equals: [{ get_param: n }, 4] }
  b: { and: [a, { not: c }] }
  c: { equals: [{ get_param: m }, 2] }
  d: { or: [b, { equals: [{ get_param: n }, { get_param: m }] }, { not: { or: [a, c] } }] }
resources:
  group:
    type: OS::Heat::AutoScalingGroup
    condition: d
    properties:
      min_size: { get_param: n }
      max_size: { if: [b, 3, { if: [{ and: [c, { not: a }] }, 0, { get_param: m }] }] }
      resource: { type: OS::Cinder::Volume, properties: { size: { if: [d, 1, 0] } } }
";
    let m = ["-", "0", "1", "2", "3", "4", "5"];
    let case = heat(text, &[("n", &["-", "4", "7", "10"]), ("m", &m)], false);
    breaks(&case, &["HOT239"]);
}

#[test]
fn patterns_with_alternatives_are_addresses() {
    let text = "heat_template_version: 2021-04-16
parameters:
  block: { type: string, default: 192.0.0.0/24, constraints: [{ allowed_pattern: '(10|192)[.]0[.][01][.]0/2[45]' }] }
  host: { type: string, default: '9', constraints: [{ allowed_pattern: '9|1[34]0|200' }] }
resources:
  net: { type: OS::Neutron::Net }
  one: { type: OS::Neutron::Subnet, properties: { network: { get_resource: net }, cidr: 10.0.0.0/24 } }
  two: { type: OS::Neutron::Subnet, properties: { network: { get_resource: net }, cidr: { get_param: block } } }
  port:
    type: OS::Neutron::Port
    properties:
      network: { get_resource: net }
      fixed_ips: [{ subnet: { get_resource: two }, ip_address: { list_join: [., [192, 0, 0, { get_param: host }]] } }]
";
    let blocks = [
        "-",
        "192.0.0.0/25",
        "192.0.1.0/24",
        "192.0.1.0/25",
        "10.0.0.0/24",
        "10.0.0.0/25",
        "10.0.1.0/24",
        "10.0.1.0/25",
    ];
    let case = heat(
        text,
        &[("block", &blocks), ("host", &["-", "130", "140", "200"])],
        false,
    );
    breaks(&case, &["HOT208", "HOT209"]);
}

#[test]
fn texts_made_of_two_inputs_meet() {
    let text = "heat_template_version: 2021-04-16
parameters:
  a: { type: string, default: x1, constraints: [{ allowed_values: [x1, x, xy] }] }
  b: { type: string, default: y, constraints: [{ allowed_values: [y, 1y, ''] }] }
resources:
  net: { type: OS::Neutron::Net }
  one:
    type: OS::Neutron::Port
    properties:
      network: { str_replace: { template: AB, params: { A: { get_param: a }, B: { get_param: b } } } }
      fixed_ips: [{ ip_address: 10.0.0.9 }]
  two:
    type: OS::Neutron::Port
    properties: { network: x1y, fixed_ips: [{ ip_address: 10.0.0.9 }] }
  three:
    type: OS::Neutron::Port
    properties: { network: { list_join: ['', [{ get_param: a }, { get_param: b }]] }, fixed_ips: [{ ip_address: 10.0.0.8 }] }
";
    let case = heat(
        text,
        &[("a", &["-", "x", "xy"]), ("b", &["-", "1y", ""])],
        false,
    );
    attack(&case);
}

#[test]
fn rules_that_are_repeated_for_the_items_of_a_list() {
    let text = "heat_template_version: 2021-04-16
parameters:
  ports:
    type: comma_delimited_list
    default: '22'
    constraints: [{ allowed_values: ['22', '80', '443'] }, { length: { max: 2 } }]
  most: { type: number, default: 443, constraints: [{ allowed_values: [80, 443] }] }
resources:
  group:
    type: OS::Neutron::SecurityGroup
    properties:
      rules:
        repeat:
          for_each: { '%port%': { get_param: ports } }
          template: { protocol: tcp, port_range_min: '%port%', port_range_max: { get_param: most } }
";
    let lists = [
        "-", "", "80", "443", "22,22", "22,80", "22,443", "80,22", "80,80", "80,443", "443,22",
        "443,80", "443,443",
    ];
    attack(&heat(
        text,
        &[("ports", &lists), ("most", &["-", "80"])],
        false,
    ));
}

#[test]
fn a_digest_is_what_it_is() {
    let text = "heat_template_version: 2021-04-16
parameters:
  word: { type: string, default: api, constraints: [{ allowed_values: [api, web, db] }] }
conditions:
  known: { equals: [{ digest: [md5, { get_param: word }] }, 2567a5ec9705eb7ac2c984033e06189d] }
resources:
  net: { type: OS::Neutron::Net, condition: known }
  port: { type: OS::Neutron::Port, properties: { network: { get_resource: net } } }
  subnet:
    type: OS::Neutron::Subnet
    condition: { not: known }
    properties: { network: { get_resource: net }, cidr: 10.0.0.0/24 }
";
    let case = heat(text, &[("word", &["-", "web", "db"])], false);
    attack(&case);
}

#[test]
fn conditions_over_texts_that_may_be_anything() {
    let text = "heat_template_version: 2021-04-16
parameters:
  stage: { type: string, default: dev }
  other: { type: string, default: test }
conditions:
  prod: { equals: [{ get_param: stage }, prod] }
  same: { equals: [{ get_param: stage }, { get_param: other }] }
  both: { and: [prod, same] }
resources:
  net: { type: OS::Neutron::Net }
  small: { type: OS::Cinder::Volume, properties: { size: { if: [both, 0, 1] } } }
  one:
    type: OS::Neutron::Port
    condition: same
    properties: { network: { get_resource: net }, fixed_ips: [{ ip_address: 10.0.0.9 }] }
  two:
    type: OS::Neutron::Port
    condition: prod
    properties: { network: { get_resource: net }, fixed_ips: [{ ip_address: 10.0.0.9 }] }
";
    let stages = ["-", "prod", "test", "x"];
    let others = ["-", "prod", "dev", "x"];
    let case = heat(text, &[("stage", &stages), ("other", &others)], true);
    breaks(&case, &["HOT216", "HOT014"]);
}

#[test]
fn what_a_template_passes_to_another_depends_on_conditions() {
    let text = "heat_template_version: 2021-04-16
parameters:
  wanted: { type: boolean, default: false }
  wide: { type: boolean, default: false }
  size: { type: number, default: 2, constraints: [{ range: { min: 1, max: 6 } }] }
conditions:
  big: { equals: [{ get_param: size }, 6] }
  big_and_wanted: { and: [big, { get_param: wanted }] }
resources:
  child:
    type: child.yaml
    condition: { not: big_and_wanted }
    properties:
      block: { if: [{ get_param: wide }, 10.0.0.0/33, 10.0.0.0/24] }
      wanted: { get_param: wanted }
      size: { get_param: size }
";
    let case = heat(
        text,
        &[
            ("wanted", &["-", "true"]),
            ("wide", &["-", "true"]),
            ("size", &["-", "1", "3", "4", "5", "6"]),
        ],
        false,
    );
    breaks(&case, &["HOT009"]);
}

#[test]
fn two_inputs_may_name_one_network() {
    let text = "heat_template_version: 2021-04-16
parameters:
  one: { type: string, default: a, constraints: [{ allowed_values: [a, b] }] }
  two: { type: string, default: c, constraints: [{ allowed_values: [b, c] }] }
  third: { type: string, default: 10.0.0.9, constraints: [{ allowed_values: [10.0.0.9, 10.0.0.8] }] }
resources:
  p: { type: OS::Neutron::Port, properties: { network: { get_param: one }, fixed_ips: [{ ip_address: 10.0.0.9 }] } }
  q: { type: OS::Neutron::Port, properties: { network: { get_param: two }, fixed_ips: [{ ip_address: { get_param: third } }] } }
  r: { type: OS::Neutron::Port, properties: { network: b, fixed_ips: [{ ip_address: 10.0.0.8 }] } }
";
    let case = heat(
        text,
        &[
            ("one", &["-", "b"]),
            ("two", &["-", "b"]),
            ("third", &["-", "10.0.0.8"]),
        ],
        false,
    );
    breaks(&case, &["HOT216"]);
}

#[test]
fn a_variable_that_must_be_given_here_has_a_default_there() {
    let text = "services:
  a:
    image: nginx:1.27
    ports: ['${PORT:?must be given}:80']
    deploy: { replicas: '${COUNT:-1}' }
  b:
    image: nginx:1.27
    ports: ['8080:80', '${OTHER:-9000}:81']
    container_name: ${NAME:-b}
  c:
    image: nginx:1.27
    profiles: [debug]
    container_name: ${NAME:-c}
";
    let case = compose(
        text,
        &[
            ("PORT", &["9000", "8080", "9100-9101"]),
            ("COUNT", &["-", "2"]),
            ("OTHER", &["-", "8080"]),
            ("NAME", &["-", "one"]),
            ("profile debug", &["-", "true"]),
        ],
    );
    breaks(&case, &["COMPOSE030", "COMPOSE033"]);
}

#[test]
fn profiles_of_what_others_depend_on() {
    let text = "services:
  web:
    image: nginx:1.27
    depends_on: [cache]
    profiles: [a, b]
  cache:
    image: nginx:1.27
    profiles: [b, c]
    depends_on: { db: { condition: service_started, required: false } }
    ports: ['8080:80']
  db:
    image: nginx:1.27
    profiles: [c]
    network_mode: service:cache
  admin:
    image: nginx:1.27
    profiles: [a]
    ports: ['8080:80']
";
    let onoff: &[&str] = &["-", "true"];
    let case = compose(
        text,
        &[
            ("profile a", onoff),
            ("profile b", onoff),
            ("profile c", onoff),
        ],
    );
    breaks(&case, &["COMPOSE030"]);
}

/// An environment fixes some inputs, and its defaults of parameters count in nested templates too.
#[test]
fn environments_fix_what_they_give() {
    let folder = tempfile::tempdir().unwrap();
    let text = "heat_template_version: 2021-04-16
parameters:
  least: { type: number, default: 1, constraints: [{ range: { min: 1, max: 5 } }] }
  most: { type: number, default: 5, constraints: [{ range: { min: 1, max: 5 } }] }
resources:
  group:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: { get_param: least }
      max_size: { get_param: most }
      resource: { type: OS::Cinder::Volume, properties: { size: 1 } }
";
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("stack.yaml", text);
    let check = |environment: &str| {
        write("env.yaml", environment);
        let output = Command::new(env!("CARGO_BIN_EXE_locus"))
            .args(["check", "--all-inputs", "-e", "env.yaml", "stack.yaml"])
            .args(["--format", "compact"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let said = check("parameter_defaults: { most: 3 }\n");
    assert!(said.contains("with `least` = `4`, "), "{said}");
    let said = check("parameters: { least: 5 }\n");
    assert!(said.contains("with `most` = "), "{said}");
    let said = check("parameters: { least: 2, most: 2 }\n");
    assert!(!said.contains("HOT239"), "{said}");
}
