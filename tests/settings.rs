//! `locus.toml`, as a project writes it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// A project: the files of a folder.
fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// What is found as `rule severity message`, and the exit code.
fn check(folder: &Path, arguments: &[&str]) -> (Vec<String>, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(["check", "--format", "json"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the binary starts");
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let text = |found: &Value, key: &str| found[key].as_str().unwrap_or_default().to_owned();
    let said = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| {
            format!(
                "{} {} {}",
                text(f, "rule"),
                text(f, "severity"),
                text(f, "message")
            )
        })
        .collect();
    (said, output.status.code().expect("it ends by itself"))
}

const SECRET: &str = "heat_template_version: rocky
parameters:
  password: { type: string, default: x }
resources:
  a: { type: OS::Heat::Value, properties: { value: { get_param: password } } }
";

#[test]
fn a_rule_is_turned_off_or_made_worse() {
    let plain = project(&[("a.yaml", SECRET)]);
    let (said, code) = check(plain.path(), &["a.yaml"]);
    assert_eq!(code, 0);
    assert!(
        said.iter().any(|one| one.starts_with("HOT020 warning")),
        "{said:?}"
    );
    let off = project(&[
        ("sub/a.yaml", SECRET),
        ("locus.toml", "[rules]\nHOT020 = \"off\"\n"),
    ]);
    assert_eq!(check(off.path(), &["sub/a.yaml"]), (Vec::new(), 0));
    let worse = project(&[
        ("a.yaml", SECRET),
        ("locus.toml", "rules.HOT020 = \"error\"\n"),
    ]);
    let (said, code) = check(worse.path(), &["a.yaml"]);
    assert_eq!(code, 1);
    assert!(
        said.iter().all(|one| one.starts_with("HOT020 error")),
        "{said:?}"
    );
}

/// What breaks a rule for some inputs only is a warning, however bad a violation is.
#[test]
fn a_rule_made_worse_is_still_no_error_where_it_holds() {
    let template = "heat_template_version: rocky
parameters:
  most: { type: number, default: 3, constraints: [{ allowed_values: [1, 3] }] }
resources:
  group:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 2
      max_size: { get_param: most }
      resource: { type: OS::Cinder::Volume, properties: { size: 1 } }
";
    let worse = project(&[
        ("a.yaml", template),
        ("locus.toml", "rules.HOT239 = \"error\"\n"),
    ]);
    let (said, code) = check(worse.path(), &["--all-inputs", "a.yaml"]);
    let [one] = said.as_slice() else {
        panic!("{said:?}");
    };
    assert!(one.starts_with("HOT239 warning"), "{one}");
    assert!(!one.contains("``"), "a hole is empty: {one}");
    assert_eq!(code, 0);
    let (said, code) = check(worse.path(), &["--param", "most=1", "a.yaml"]);
    assert!(said.iter().all(|one| one.starts_with("HOT239 error")));
    assert_eq!((said.len(), code), (1, 1), "{said:?}");
}

/// A rule about locations and roles is written once and checked in every language; it sees roles, sorts and containment.
#[test]
fn a_rule_about_the_graph_is_checked_in_every_language() {
    let rule = "module lg/own
open lg/vocabulary

/** ACME001 much-needed warning: too much depends on one location
 * message: `{l}` is needed by more than two others
 * at: l
 * help: split it
 * why: It is hard to replace.
 * source: our guidelines
 */
assert NothingIsNeededByMany { all l: Location | #depends.l < 3 }

/** ACME002 role-shape error: a role has no two ends
 * message: `{l}` requires `{r}`, which nothing provides
 * at: r
 * help: provide it
 * why: It is not there.
 * source: our guidelines
 */
assert WhatIsRequiredIsBound { all l: Location, r: l.required | r in l.bound and some r.kind and l.sort != \"none\" }
";
    let heat = "heat_template_version: rocky
resources:
  net: { type: OS::Neutron::Net }
  a: { type: OS::Neutron::Port, properties: { network: { get_resource: net } } }
  b: { type: OS::Neutron::Port, properties: { network: { get_resource: net } } }
  c: { type: OS::Neutron::Port, properties: { network: { get_resource: net } } }
";
    let compose = "services:
  web: { image: \"nginx:1.27\", networks: [front] }
  app: { image: \"nginx:1.27\", networks: [front] }
  api: { image: \"nginx:1.27\", networks: [front] }
networks: { front: {} }
";
    let graph = "location_graph: 1
locations:
  - { name: lonely, sort: Server, required: [nothing] }
";
    let project = project(&[
        ("a.yaml", heat),
        ("compose.yaml", compose),
        ("graph.yaml", graph),
        ("own.als", rule),
        ("locus.toml", "[lg]\nrules = [\"own.als\"]\n"),
    ]);
    let own = |file: &str| -> Vec<String> {
        let (said, _) = check(project.path(), &[file]);
        said.into_iter()
            .filter(|one| one.starts_with("ACME"))
            .collect()
    };
    let needed = |name: &str| {
        [format!(
            "ACME001 warning `{name}` is needed by more than two others"
        )]
    };
    assert_eq!(own("a.yaml"), needed("net"));
    assert_eq!(own("compose.yaml"), needed("front"));
    let unbound = "ACME002 error `lonely` requires `nothing`, which nothing provides";
    assert_eq!(own("graph.yaml"), [unbound]);
}

#[test]
fn a_mistake_in_a_rule_about_the_graph_is_told() {
    let rule = "module lg/own
open lg/vocabulary
/** ACME001 x error: y
 * message: `{l}`
 * at: l
 * why: Z.
 * source: us
 */
assert A { all l: Location | no l.prvided }
";
    let heat = "heat_template_version: rocky\nresources:\n  a: { type: OS::Heat::None }\n";
    let project = project(&[
        ("a.yaml", heat),
        ("own.als", rule),
        ("locus.toml", "[lg]\nrules = [\"own.als\"]\n"),
    ]);
    let (said, code) = check(project.path(), &["a.yaml"]);
    assert_eq!(code, 1, "{said:?}");
    assert!(said.iter().any(|one| one.contains("prvided")), "{said:?}");
    assert_eq!(said.len(), 1, "only the cause is told: {said:?}");
}

#[test]
fn a_type_of_the_projects_own_is_checked_like_any_other() {
    let template = "heat_template_version: rocky
resources:
  one: { type: Acme::Server, properties: { size: 3 } }
  two: { type: Acme::Server, properties: { sise: 3 } }
  any: { type: Acme::Thing, properties: { what: ever } }
";
    let plain = project(&[("a.yaml", template)]);
    let (said, code) = check(plain.path(), &["a.yaml"]);
    assert_eq!((said.len(), code), (3, 1), "{said:?}");
    let settings = "[heat.types.\"Acme::Server\".properties]
size = { type = \"integer\", required = true }
[heat.types.\"Acme::Thing\"]
";
    let known = project(&[("a.yaml", template), ("locus.toml", settings)]);
    // That `two` lacks `size` would be an echo of the typo.
    let (said, code) = check(known.path(), &["a.yaml"]);
    assert_eq!(said, ["HOT014 error `Acme::Server` has no property `sise`"]);
    assert_eq!(code, 1);
}

#[test]
fn a_rule_of_the_projects_own_sees_the_same_relations() {
    let rule = "module hot/naming
open hot/vocabulary

/** ACME001 port-security-off warning: a network turns port security off
 * message: `{n}` turns port security off
 * at: n.prop_port_security_enabled
 * why: our policy.
 * source: policy 7
 */
assert PortSecurity { all n: OS_Neutron_Net | n.prop_port_security_enabled != False }
";
    let template = "heat_template_version: rocky
resources:
  one: { type: OS::Neutron::Net, properties: { port_security_enabled: false } }
  two: { type: OS::Neutron::Net }
";
    let settings = "[heat]\nrules = [\"rules/naming.als\"]\n[rules]\nACME001 = \"error\"\n";
    let files = [
        ("a.yaml", template),
        ("locus.toml", settings),
        ("rules/naming.als", rule),
    ];
    let folder = project(&files);
    let (said, code) = check(folder.path(), &["a.yaml"]);
    assert_eq!(said, ["ACME001 error `one` turns port security off"]);
    assert_eq!(code, 1);
}

/// A project whose environment maps types to a template, to a type of Heat's, and to a template that is not used.
fn acme(template: &str, rule: &str) -> tempfile::TempDir {
    let environment = "resource_registry:
  Acme::Web::Server: lib/web.yaml
  Acme::Small: OS::Nova::Server
  Acme::Unused: lib/unused.yaml
  Acme::Gone: lib/gone.yaml
";
    let web = "heat_template_version: rocky
parameters:
  size: { type: number, default: 1 }
  zone-name: { type: string }
  network: { type: string, default: a, constraints: [{ custom_constraint: neutron.network }] }
resources:
  inner: { type: OS::Heat::Value, properties: { value: { get_param: zone-name } } }
  where: { type: OS::Heat::Value, properties: { value: { get_param: network } } }
  much: { type: OS::Heat::Value, properties: { value: { get_param: size } } }
";
    let rule = format!("module hot/acme\nopen hot/vocabulary\nopen values\n{rule}");
    project(&[
        ("a.yaml", template),
        (
            "locus.toml",
            "[heat]\nenvironments = [\"env.yaml\"]\nrules = [\"acme.als\"]\n",
        ),
        ("env.yaml", environment),
        ("lib/web.yaml", web),
        (
            "lib/unused.yaml",
            "heat_template_version: rocky\nparameters: { width: { type: number } }\n",
        ),
        ("acme.als", &rule),
    ])
}

const ACME: &str = "heat_template_version: rocky
parameters: { here: { type: string, default: x } }
conditions: { never: { equals: [a, b] } }
resources:
  net: { type: OS::Neutron::Net }
  big: { type: Acme::Web::Server, properties: { size: 8, zone-name: z, network: { get_resource: net } } }
  usual: { type: Acme::Web::Server, properties: { zone-name: { get_param: here } } }
  none: { type: Acme::Web::Server, condition: never, properties: { size: 9, zone-name: z } }
  group:
    type: OS::Heat::ResourceGroup
    properties:
      count: 1
      resource_def: { type: Acme::Web::Server, properties: { size: 7, zone-name: z } }
  small: { type: Acme::Small, properties: { flavor: m1, image: debian } }
  other: { type: OS::Nova::Server, properties: { flavor: m1, image: debian } }
";

fn doc(id: &str, at: &str) -> String {
    format!(
        "/** {id} acme-{} warning: not as we do it\n * message: `{{s}}`\n * at: {at}\n * why: policy.\n * source: ours\n */\n",
        id.to_lowercase()
    )
}

/// What a rule of the user's own says about the project.
fn told(body: &str, at: &str) -> Vec<String> {
    let folder = acme(
        ACME,
        &format!("{}assert A {{ {body} }}\n", doc("ACME001", at)),
    );
    let (said, _) = check(folder.path(), &["a.yaml"]);
    said.into_iter()
        .filter(|one| !one.starts_with("HOT"))
        .collect()
}

#[test]
fn a_type_that_an_environment_maps_is_a_signature_with_its_properties_as_fields() {
    assert_eq!(
        told(
            "all s: Acme_Web_Server | less[s.prop_size, 5]",
            "s.prop_size"
        ),
        ["ACME001 warning `big`", "ACME001 warning `group[0]`"]
    );
    // What is not given is the default, and a property may have a name that is not an identifier.
    assert_eq!(
        told("no s: Acme_Web_Server | s.prop_size = 1", "s"),
        ["ACME001 warning `usual`"]
    );
    assert_eq!(
        told("all s: Acme_Web_Server | s.prop_zone_name != \"x\"", "s"),
        ["ACME001 warning `usual`"]
    );
    // A parameter that must name a network leads to it.
    assert_eq!(
        told(
            "no s: Acme_Web_Server | s.prop_network in OS_Neutron_Net",
            "s"
        ),
        ["ACME001 warning `big`"]
    );
}

#[test]
fn a_type_that_stands_for_another_extends_it() {
    let both = ["ACME001 warning `small`", "ACME001 warning `other`"];
    assert_eq!(told("no s: OS_Nova_Server | some s.prop_flavor", "s"), both);
    assert_eq!(
        told("no s: Acme_Small | some s.prop_flavor", "s"),
        ["ACME001 warning `small`"]
    );
    assert_eq!(
        told("no s: OS_Nova_Server | s in Acme_Small", "s"),
        ["ACME001 warning `small`"]
    );
    assert_eq!(
        told("no s: Resource | s in Acme_Small + Acme_Web_Server", "s").len(),
        4
    );
}

#[test]
fn a_type_that_nobody_uses_has_a_signature_too() {
    let none: [&str; 0] = [];
    assert_eq!(told("no s: Acme_Unused | some s.prop_width", "s"), none);
    // Its template cannot be read: that is for whoever uses it.
    assert_eq!(told("no s: Acme_Gone | some s", "s"), none);
    let [wrong] = &told("no s: Acme_Unused | some s.prop_depth", "s")[..] else {
        panic!("one mistake");
    };
    assert!(wrong.contains("prop_depth"), "{wrong}");
    let [wrong] = &told("no s: Acme_Nothing | some s", "s")[..] else {
        panic!("one mistake");
    };
    assert!(wrong.contains("Acme_Nothing"), "{wrong}");
}

#[test]
fn a_signature_that_no_configuration_fills_is_a_mistake() {
    let rule = format!(
        "sig Mine {{}}\n{}assert A {{ no s: Mine | some s }}\n",
        doc("ACME001", "s")
    );
    let (said, code) = check(acme(ACME, &rule).path(), &["a.yaml"]);
    assert!(
        said.iter()
            .any(|one| one.starts_with("rule error no configuration has `Mine`")),
        "{said:?}"
    );
    assert_eq!(code, 1);
}

#[test]
fn two_types_of_one_name_cannot_be_told_apart() {
    let settings = "[heat]\nrules = [\"acme.als\"]\n[heat.types.\"A::B\"]\n[heat.types.\"A_B\"]\n";
    let rule = format!(
        "module hot/acme\nopen hot/vocabulary\n{}assert A {{ no s: A_B | some s }}\n",
        doc("ACME001", "s")
    );
    let folder = project(&[
        ("a.yaml", "heat_template_version: rocky\nresources: {}\n"),
        ("locus.toml", settings),
        ("acme.als", &rule),
    ]);
    let (said, _) = check(folder.path(), &["a.yaml"]);
    assert!(
        said.iter()
            .any(|one| one.contains("`A_B` is the name of two types")),
        "{said:?}"
    );
}

#[test]
fn what_is_wrong_with_the_settings_is_said() {
    for (settings, message) in [
        ("[rules]\nHOT999 = \"off\"\n", "there is no rule `HOT999`"),
        ("[rules]\nHOT020 = \"loud\"\n", "`loud` is not one of"),
        ("[heat]\nrule = []\n", "`rule` is not a setting of `[heat]`"),
        ("[heat]\nrules = [\"gone.als\"]\n", "cannot read `"),
        (
            "[heat.types.\"A::B\"]\nprops = {}\n",
            "a resource type has no `props`",
        ),
        ("[rules\n", "unclosed"),
    ] {
        let folder = project(&[("a.yaml", SECRET), ("locus.toml", settings)]);
        let (said, code) = check(folder.path(), &["a.yaml"]);
        let told = said
            .iter()
            .any(|one| one.starts_with("settings error") && one.contains(message));
        assert!(told, "{settings}: {said:?}");
        assert_eq!(code, 1, "{settings}");
    }
}

/// The fenced block of a page in one language.
fn block(page: &str, language: &str) -> String {
    let start = format!("```{language}\n");
    let (_, rest) = page.split_once(&start).expect("there is a block");
    rest.split_once("```").expect("the block ends").0.to_owned()
}

#[test]
fn the_examples_of_the_page_work_together() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/settings.md");
    let page = std::fs::read_to_string(page).unwrap();
    let template = "heat_template_version: rocky
resources:
  good: { type: OS::Neutron::Net, properties: { name: acme-one } }
  bad: { type: OS::Neutron::Net, properties: { name: two } }
  server: { type: Acme::Server, properties: { size: 65, image: debian } }
outputs:
  address: { value: { get_attr: [server, address] } }
";
    let folder = project(&[
        ("a.yaml", template),
        ("locus.toml", &block(&page, "toml")),
        ("rules/naming.als", &block(&page, "als")),
        ("environments/production.yaml", "parameter_defaults: {}\n"),
    ]);
    let (said, code) = check(folder.path(), &["a.yaml"]);
    let [first, second] = said.as_slice() else {
        panic!("{said:?}")
    };
    assert_eq!(
        first,
        "ACME001 warning the name of network `bad` does not start with `acme-`"
    );
    assert!(second.starts_with("HOT014 error "), "{second}");
    assert_eq!(code, 1);
}
