//! Templates within templates, and groups.

use super::*;
use crate::hot::vocabulary::field;

const MEMBER: &str = "\
heat_template_version: 2018-08-31
parameters:
  name: {type: string}
  net: {type: string}
  extra: {type: string, default: x}
resources:
  port:
    type: OS::Neutron::Port
    properties: {network: {get_param: net}, name: {get_param: name}}
outputs:
  port: {value: {get_resource: port}}
";

#[test]
fn nested_templates_expand_with_the_chain_of_places() {
    let case = load_files(
        &[
            (
                "dir/stack.yaml",
                "\
heat_template_version: 2018-08-31
resources:
  net: {type: OS::Neutron::Net}
  one:
    type: member.yaml
    properties: {name: a, net: {get_resource: net}, wrong: 1}
  two:
    type: My::Member
    properties: {net: {get_resource: net}}
  v:
    type: OS::Heat::Value
    properties: {value: [{get_attr: [one, port]}, {get_attr: [one, prt]}]}
",
            ),
            ("dir/member.yaml", MEMBER),
            (
                "dir/sub/env.yaml",
                "resource_registry: {'My::*': ../member.yaml}\n",
            ),
        ],
        |_, _| {},
    );
    assert_eq!(case.diagnostics(), [] as [&str; 0]);
    insta::assert_snapshot!(case.outline());
    // Nobody sets it: an input, like a parameter of the root.
    assert_eq!(case.atoms("UnsetParameter"), ["name @3:3"]);
    assert_eq!(
        case.without("NestedInput", "NestedInput", "parameter"),
        ["wrong @6:53"]
    );
    assert_eq!(case.atoms("KnownAttribute"), ["port @12:43"]);
    assert_eq!(case.loaded.files.len(), 3, "template, environment, member");
    assert_eq!(
        case.atoms("Template").len(),
        2,
        "the text of a template is stated once"
    );
}

#[test]
fn groups_expand_into_members() {
    let case = load_files(
        &[
            (
                "stack.yaml",
                "\
heat_template_version: 2018-08-31
resources:
  net: {type: OS::Neutron::Net}
  group:
    type: OS::Heat::ResourceGroup
    properties:
      count: 2
      resource_def:
        type: member.yaml
        properties: {name: 'n-%index%', net: {get_resource: net}}
  scaled:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 0
      max_size: 3
      resource:
        type: OS::Neutron::Port
        properties: {network: {get_resource: net}, nme: x}
  none:
    type: OS::Heat::ResourceGroup
    properties: {count: 0, resource_def: {type: OS::Heat::None}}
",
            ),
            ("member.yaml", MEMBER),
        ],
        |_, _| {},
    );
    assert_eq!(case.diagnostics(), [] as [&str; 0]);
    insta::assert_snapshot!(case.outline());
    assert_eq!(
        case.without("PropertyUse", "PropertyUse", "declared"),
        ["nme @18:52"],
        "members are compared with their type"
    );
    assert_eq!(
        case.without("Resource", "Resource", "type"),
        [] as [&str; 0],
        "every member has a type that messages can name"
    );
}

#[test]
fn instance_groups_take_their_members_from_the_launch_configuration() {
    let case = load_text(
        "\
HeatTemplateFormatVersion: '2012-12-12'
Resources:
  Group:
    Type: AWS::AutoScaling::AutoScalingGroup
    Properties:
      AvailabilityZones: [nova]
      LaunchConfigurationName: {Ref: Config}
      MinSize: '2'
      MaxSize: '3'
  Config:
    Type: AWS::AutoScaling::LaunchConfiguration
    Properties: {ImageId: img, InstanceType: m1.small}
",
    );
    let graph = &case.loaded.graph;
    let member = graph.location(graph.find("Group/1").unwrap());
    assert_eq!(&*member.sort, "AWS::EC2::Instance");
    assert!(member.property("ImageId").is_some());
    assert!(graph.find("Group/2").is_none());
}

#[test]
fn what_cannot_be_included_is_said() {
    let own = resources("  a:\n    type: stack.yaml\n");
    let case = load_files(&[("stack.yaml", &own)], |_, _| {});
    assert_eq!(
        case.diagnostics(),
        ["3:3: include-cycle: this template includes itself: `stack.yaml` -> `stack.yaml`"]
    );
    let other = resources("  b:\n    type: ../stack.yaml\n");
    let first = resources("  a:\n    type: sub/other.yaml\n");
    let case = load_files(
        &[("stack.yaml", &first), ("sub/other.yaml", &other)],
        |_, _| {},
    );
    assert_eq!(
        case.diagnostics(),
        [
            "3:3: include-cycle: this template includes itself: `stack.yaml` -> `sub/other.yaml` -> \
          `stack.yaml`"
        ]
    );
    let missing = resources(
        "  a:\n    type: gone.yaml\n  b:\n    type: OS::Heat::Value\n    properties: {value: {get_file: \
         gone.sh}}\n",
    );
    let case = load_files(
        &[
            ("stack.yaml", &missing),
            ("env.yaml", "resource_registry: {My::T: gone2.yaml}\n"),
            ("gone.j2.yaml", "{% for role in roles %}{% endfor %}\n"),
        ],
        |_, _| {},
    );
    // Whether a file is there is for a rule to say.
    assert_eq!(case.diagnostics(), [] as [&str; 0]);
    let facts = &case.loaded.facts;
    let missing: Vec<String> = facts
        .atoms()
        .filter(|(_, atom)| facts.sig_name(atom.sig) == "MissingFile")
        .map(|(id, atom)| {
            let reasons = facts.related(field!("MissingFile", "reason"), id);
            let reasons: Vec<&str> = reasons.map(|reason| &*facts.get(reason).name).collect();
            format!(
                "{}: {}: {}",
                case.at(atom.span),
                atom.name,
                reasons.join(", ")
            )
        })
        .collect();
    assert_eq!(
        missing,
        [
            "1:28: gone2.yaml: no such file",
            "4:11: gone.yaml: render the Jinja template `gone.j2.yaml` first",
            "7:36: gone.sh: no such file",
        ]
    );
    let url = resources("  a:\n    type: http://example.org/x.yaml\n");
    let case = load_text(&url);
    assert_eq!(case.diagnostics(), [] as [&str; 0]);
    assert_eq!(case.loaded.unchecked.len(), 1);
    let many = resources(
        "  a:\n    type: OS::Heat::ResourceGroup\n    properties: {count: 999999999, resource_def: {type: \
         OS::Heat::None}}\n",
    );
    let case = load_text(&many);
    assert_eq!(case.loaded.unchecked.len(), 1);
    assert_eq!(case.loaded.graph.len(), 1001);
}

#[test]
fn precedence_is_that_of_heat() {
    let text = "\
heat_template_version: 2018-08-31
parameters:
  a: {type: string, default: template}
  b: {type: string, default: template}
  c: {type: string, default: template}
  d: {type: string, default: template}
resources:
  v:
    type: OS::Heat::Value
    properties: {value: [{get_param: a}, {get_param: b}, {get_param: c}, {get_param: d}]}
";
    let case = load_files(
        &[
            ("stack.yaml", text),
            (
                "env.yaml",
                "parameters: {b: env, c: env}\nparameter_defaults: {a: general, b: general}\n",
            ),
            ("2env.yaml", "parameters: {c: later}\n"),
        ],
        |request, sources| request.parameter(sources, "d", "line"),
    );
    assert_eq!(
        case.property("v", "value").as_deref(),
        Some("[general, env, later, line]")
    );
}

#[test]
fn outputs_of_nested_templates_are_known_where_they_are_used() {
    let inner = "heat_template_version: rocky
parameters:
  block: {type: string}
resources:
  net: {type: OS::Neutron::Net}
outputs:
  network: {value: {get_resource: net}}
  block: {value: {get_param: block}}
";
    let outer = resources(
        "  subnet:
    type: OS::Neutron::Subnet
    properties: {network: {get_attr: [inner, network]}, cidr: {get_attr: [stack, outputs, block]}}
  inner:
    type: inner.yaml
    properties: {block: 10.0.0.0/24}
  stack:
    type: OS::Heat::Stack
    properties:
      template: {get_file: inner.yaml}
      parameters: {block: 10.1.0.0/24}
",
    );
    let case = load_files(&[("stack.yaml", &outer), ("inner.yaml", inner)], |_, _| {});
    assert_eq!(case.diagnostics(), [] as [&str; 0]);
    assert!(case.loaded.unchecked.is_empty());
    let graph = &case.loaded.graph;
    let subnet = graph.location(graph.find("subnet").unwrap());
    let network = subnet.property("network").map(|item| &item.value);
    let net = graph.find("inner/net").unwrap();
    assert_eq!(network, Some(&Value::Location(net)));
    let block = subnet.property("cidr").map(|item| &item.value);
    assert_eq!(block, Some(&Value::str("10.1.0.0/24")));
    assert!(graph.find("stack/net").is_some());
}

#[test]
fn a_stack_whose_template_is_in_no_file_is_not_checked() {
    let case = load_text(&resources(
        "  a:\n    type: OS::Heat::Stack\n    properties: {template: 'heat_template_version: rocky'}\n",
    ));
    let said: Vec<&str> = case
        .loaded
        .unchecked
        .iter()
        .map(|one| one.message.as_str())
        .collect();
    assert_eq!(
        said,
        ["the template of `a` was not checked: it is not in a file"]
    );
}
