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
