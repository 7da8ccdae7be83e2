//! Facts: what a template says compared with what is declared.

use super::*;

#[test]
fn types_and_properties_are_compared_with_their_declarations() {
    let case = load_text(&resources(
        "  server:
    type: OS::Nova::Server
    properties:
      flavr: small
      networks:
        - network: a
          fixed_ip: 10.0.0.300
          speed: 5
      security_groups: default
      config_drive: maybe
      user_data_format: PLAIN
      metadata: {anything: [goes]}
      admin_user: root
  typo:
    type: OS::Nova::Servr
  port:
    type: OS::Neutron::Port
    properties:
      network: {get_resource: server}
      network_id: other
      mac_address: null
",
    ));
    assert_eq!(case.diagnostics(), [] as [&str; 0]);
    assert_eq!(
        case.without("PropertyUse", "PropertyUse", "declared"),
        ["flavr @6:7", "networks.0.speed @10:11"]
    );
    assert_eq!(case.tuples("Resource", "lacks"), ["server -> flavor @3:3"]);
    assert_eq!(
        case.tuples("PropertyUse", "meant"),
        ["flavr -> flavor @6:7"]
    );
    assert_eq!(
        case.tuples("TypeName", "meant"),
        ["OS::Nova::Servr -> OS::Nova::Server @17:11"]
    );
    assert_eq!(
        case.tuples("PropertyUse", "mistyped"),
        [
            "config_drive -> boolean @12:7",
            "security_groups -> list @11:7"
        ]
    );
    assert_eq!(
        case.tuples("PropertyUse", "violates"),
        [
            "networks.0.fixed_ip -> an IP address @9:11",
            "user_data_format -> one of `HEAT_CFNTOOLS`, `RAW`, `SOFTWARE_CONFIG` @13:7",
        ]
    );
    assert_eq!(
        case.tuples("PropertyUse", "wrongTarget"),
        ["network -> server @21:7"]
    );
    assert_eq!(
        case.tuples("PropertyUse", "replacedBy"),
        ["network_id -> network @22:7"]
    );
    let known: BTreeSet<String> = case.atoms("KnownType").into_iter().collect();
    let unknown: Vec<String> = case
        .atoms("TypeName")
        .into_iter()
        .filter(|t| !known.contains(t))
        .collect();
    assert_eq!(unknown, ["OS::Nova::Servr @17:11"]);
    assert!(
        case.tuples("PropertyUse", "outdated")
            .iter()
            .any(|t| t.starts_with("admin_user"))
    );
}

#[test]
fn what_heat_accepts_by_design_is_accepted() {
    let case = load_text(&resources(
        "  port:
    type: OS::Neutron::Port
    properties:
      name: 12345
      network_id: net
      security_groups: null
      admin_state_up: 'True'
  volume:
    type: OS::Cinder::Volume
    properties: {size: '10', description: true}
  subnet:
    type: OS::Neutron::Subnet
    properties: {network: null, ip_version: 4.0, cidr: 10.0.0.0/24}
  existing:
    type: OS::Neutron::Port
    external_id: 4b8d
    properties: {no_such: thing}
  old:
    type: OS::Quantum::Net
  alarm:
    type: AWS::CloudWatch::Alarm
    properties: {Whatever: 1}
",
    ));
    for (sig, field) in [
        ("PropertyUse", "mistyped"),
        ("PropertyUse", "violates"),
        ("Resource", "lacks"),
        ("Resource", "conflicts"),
    ] {
        assert_eq!(case.tuples(sig, field), [] as [&str; 0], "{sig}.{field}");
    }
    assert_eq!(
        case.without("PropertyUse", "PropertyUse", "declared"),
        [] as [&str; 0]
    );
    assert_eq!(case.atoms("KnownType").len(), case.atoms("TypeName").len());
    assert_eq!(case.atoms("ExternalResource"), ["existing @16:3"]);
    let graph = &case.loaded.graph;
    let raw = |location: &str, name: &str| {
        let location = graph.location(graph.find(location).unwrap());
        location.property(name).unwrap().value.clone()
    };
    assert_eq!(raw("port", "name"), Value::str("12345"));
    assert_eq!(raw("port", "admin_state_up"), Value::Bool(true));
    assert_eq!(raw("volume", "size"), Value::Int(10_i64.into()));
    assert_eq!(raw("volume", "description"), Value::str("True"));
    let graph = &case.loaded.graph;
    assert_eq!(
        &*graph.location(graph.find("old").unwrap()).sort,
        "OS::Neutron::Net"
    );
}

#[test]
fn references_resolve_or_are_left_without_a_target() {
    let case = load_text(
        "\
heat_template_version: 2018-08-31
parameters:
  used: {type: string, default: a}
  unused: {type: string, default: a}
  clash: {type: string, default: a}
conditions:
  c: {equals: [{get_param: nope}, 1]}
resources:
  clash:
    type: OS::Nova::KeyPair
    depends_on: [missing]
    condition: d
    properties:
      name: {get_param: used}
      public_key: {get_resource: missing2}
  v:
    type: OS::Heat::Value
    properties:
      value: [{get_attr: [clash, no_attr]}, {get_attr: [clash, private_key, 0]}, {get_attr: [gone, x]}]
",
    );
    assert_eq!(
        case.without("Reference", "Reference", "target"),
        [
            "missing2 @15:34",
            "d @12:16",
            "missing @11:18",
            "gone @19:94",
            "nope @7:28"
        ]
    );
    assert_eq!(
        case.tuples("Parameter", "clashesWith"),
        ["clash -> clash @5:3"]
    );
    let known = case.atoms("KnownAttribute");
    assert!(
        known.iter().all(|name| !name.starts_with("no_attr")),
        "{known:?}"
    );
    assert_eq!(
        case.tuples("AttributeReference", "intoText"),
        ["clash -> private_key @19:57"]
    );
    let used = case.tuples("Reference", "target");
    assert!(used.iter().any(|t| t.starts_with("used -> used")));
    assert!(!used.iter().any(|t| t.contains("-> unused")));
}

#[test]
fn calls_are_compared_with_version_and_shape() {
    let case = load_text(
        "\
heat_template_version: 2015-04-30
parameters:
  p: {type: string, default: a}
resources:
  v:
    type: OS::Heat::Value
    condition: x
    properties:
      value:
        - {get_parm: p}
        - {yaql: {expression: a}}
        - {str_replace: {template: a}}
        - {list_join: [a]}
        - {get_resource: [v]}
        - {digest: [md5, x]}
        - {resource_facade: nothing}
        - {contains: fine}
",
    );
    assert_eq!(
        case.tuples("SuspectCall", "meant"),
        ["get_parm -> get_param @10:12"]
    );
    assert_eq!(case.atoms("ForeignCall"), ["yaql @11:12"]);
    assert_eq!(
        case.tuples("MalformedCall", "problem"),
        [
            "get_resource -> it takes a string, but has a list @14:26",
            "list_join -> it takes 2 arguments, but has 1 @13:23",
            "resource_facade -> it takes one of `metadata`, `deletion_policy`, `update_policy` @16:29",
            "str_replace -> it lacks `params` @12:25",
        ]
    );
    assert_eq!(case.atoms("ForeignKey"), ["condition @7:5"]);
}

#[test]
fn parameters_are_compared_with_types_and_constraints() {
    let case = load_files(
        &[
            (
                "stack.yaml",
                "\
heat_template_version: stein
parameters:
  n:
    type: number
    default: ten
    constraints: [{range: {min: 5, max: 1}}, {length: {min: 1}}, {rnge: {min: 1}}]
  s:
    type: string
    default: abc
    constraints: [{allowed_pattern: '[0-9]+'}, {length: {mn: 1}}]
  t: {type: text}
  admin_password: {type: string, default: x}
parameter_groups:
  - label: a
    parameters: [n, n, nope]
  - label: a
    parameters: [s]
resources: {}
",
            ),
            ("env.yaml", "parameters: {n: 0, zzz: 1}\nparametrs: {}\n"),
        ],
        |_, _| {},
    );
    assert_eq!(case.diagnostics(), [] as [&str; 0]);
    assert_eq!(case.atoms("DocumentedVersion"), ["stein @1:24"]);
    assert_eq!(
        case.tuples("ParameterValue", "mistyped"),
        ["ten -> number @5:14"]
    );
    assert_eq!(
        case.tuples("ParameterValue", "violates"),
        ["0 -> range @1:17", "abc -> allowed_pattern @9:14"]
    );
    assert_eq!(case.tuples("GroupMember", "repeats"), ["n -> n @15:21"]);
    assert_eq!(
        case.without("GroupMember", "GroupMember", "parameter"),
        ["nope @15:24"]
    );
    assert_eq!(case.tuples("ParameterGroup", "label").len(), 2);
    assert_eq!(case.atoms("Label").len(), 1, "equal labels are one atom");
    assert_eq!(
        case.without("EnvironmentParameter", "EnvironmentParameter", "parameter"),
        ["zzz @1:20"]
    );
    let foreign = case.atoms("ForeignKey");
    assert_eq!(foreign, ["mn @10:58", "parametrs @2:1"]);
    let fitting = case.atoms("FittingConstraint");
    assert_eq!(
        fitting.len(),
        4,
        "length does not fit a number: {fitting:?}"
    );
    assert_eq!(case.atoms("KnownConstraintKind").len(), 3);
    assert_eq!(case.atoms("PlainSecret"), ["admin_password @12:3"]);
    assert!(case.atoms("KnownParameterType").len() == 3);
}

#[test]
fn repeated_names_are_facts_with_both_places() {
    let case = load_text(&resources(
        "  a: {type: OS::Heat::None}\n  b: {type: OS::Heat::None, type: OS::Heat::Value}\n  a: {type: \
         OS::Heat::None}\n",
    ));
    assert_eq!(
        case.tuples("RepeatedKey", "first"),
        ["a -> a @5:3", "type -> type @4:29"]
    );
    assert_eq!(case.tuples("RepeatedKey", "names"), ["a -> resource @5:3"]);
    assert_eq!(
        case.diagnostics(),
        [] as [&str; 0],
        "the graph itself stays sound"
    );
}

#[test]
fn dependencies_of_all_kinds_are_one_relation() {
    let case = load_text(&resources(
        "  a:
    type: OS::Heat::Value
    properties: {value: {get_attr: [b, value]}}
  b:
    type: OS::Heat::Value
    depends_on: c
  c:
    type: OS::Heat::Value
    metadata: {x: {get_resource: a}}
  d:
    type: OS::Heat::Value
    depends_on: d
",
    ));
    assert_eq!(
        case.tuples("Resource", "requires"),
        ["a -> b @3:3", "b -> c @6:3", "c -> a @9:3", "d -> d @12:3"]
    );
    assert_eq!(View::dependencies(&case.loaded.graph).cycles().len(), 1);
    assert_eq!(case.diagnostics(), [] as [&str; 0]);
}

#[test]
fn plain_secrets_are_noticed() {
    let case = load_text(&resources(
        "  u:\n    type: OS::Keystone::User\n    properties: {name: a, password: hunter2}\n  w:\n    type: \
         OS::Keystone::User\n    properties: {name: a, password: {get_param: p}}\n",
    ));
    assert_eq!(case.atoms("PlainSecret"), ["password @5:37"]);
}

#[test]
fn secrets_in_start_up_scripts_are_noticed() {
    let case = load_text(&resources(
        "  s:
    type: OS::Nova::Server
    properties:
      flavor: f
      user_data:
        str_replace:
          template: |
            #cloud-config
            password: hunter2
            db_password: $pw
            export API_KEY=KEY
            export ROOT_PASSWORD=$(pwgen)
            # token: none
            é: token=abc
          params: {KEY: x}
",
    ));
    assert_eq!(case.atoms("PlainSecret"), ["password @11:13"]);
}

#[test]
fn a_pattern_that_cannot_be_decided_is_said() {
    let case = load_text(
        "heat_template_version: rocky
parameters:
  plain: {type: string, default: a, constraints: [{allowed_pattern: 'a+'}]}
  ahead: {type: string, default: a, constraints: [{allowed_pattern: '(?=a)a+'}]}
resources:
  v: {type: OS::Heat::Value, properties: {value: [{get_param: plain}, {get_param: ahead}]}}
",
    );
    let unchecked: Vec<String> = case
        .loaded
        .unchecked
        .iter()
        .map(|one| {
            format!(
                "{} {}",
                one.primary().map(|span| case.at(span)).unwrap_or_default(),
                one.message
            )
        })
        .collect();
    assert_eq!(
        unchecked,
        ["4:34 not checked whether this is text that matches `(?=a)a+`"]
    );
}
