//! Variants of what languages let inputs decide: nested templates behind patterns, profiles of extended services, types of TOSCA
//! with conditions on their values.

use super::attacks::{attack, breaks, case, compose, heat, replay};
use super::{Compared, compare};

#[test]
fn a_pattern_decides_what_a_nested_template_is_given() {
    let text = "heat_template_version: 2021-04-16
parameters:
  tier: { type: string, default: small-1, constraints: [{ allowed_pattern: '(small|large)-[1-3]' }] }
  wanted: { type: boolean, default: true }
conditions:
  large: { or: [{ equals: [{ get_param: tier }, large-2] }, { equals: [{ get_param: tier }, large-3] }] }
  large_and_wanted: { and: [large, { get_param: wanted }] }
resources:
  child:
    type: child.yaml
    condition: { get_param: wanted }
    properties:
      block: { if: [large_and_wanted, 10.0.0.0/33, 10.0.0.0/24] }
      wanted: { get_param: wanted }
      size: { if: [{ equals: [{ get_param: tier }, small-3] }, 4, 2] }
";
    let tiers = ["-", "small-2", "small-3", "large-1", "large-2", "large-3"];
    let case = heat(
        text,
        &[("tier", &tiers), ("wanted", &["-", "false"])],
        false,
    );
    breaks(&case, &["HOT009"]);
}

/// What a property takes as it is need not be tried; what lies behind it must be.
#[test]
fn texts_that_properties_take_as_they_are_may_matter_elsewhere() {
    let text = "heat_template_version: 2021-04-16
parameters:
  label: { type: string, default: web }
  where: { type: string, default: 10.0.0.0/24 }
  count: { type: number, default: 0, constraints: [{ range: { min: 0, max: 2 } }] }
resources:
  note: { type: OS::Heat::Value, properties: { value: { get_param: where } } }
  net: { type: OS::Neutron::Net, properties: { name: { list_join: ['-', [net, { get_param: label }]] } } }
  subnet: { type: OS::Neutron::Subnet, properties: { network: { get_resource: net }, cidr: { get_attr: [note, value] } } }
  group:
    type: OS::Heat::ResourceGroup
    properties:
      count: { get_param: count }
      resource_def:
        type: OS::Neutron::Port
        properties: { network: { get_resource: net }, fixed_ips: [{ ip_address: { get_param: label } }] }
";
    let labels = ["-", "10.0.0.9", "a b", "10.0.0.0/33"];
    let blocks = ["-", "10.0.0.0/33", "x"];
    let counts = ["-", "1", "2"];
    let case = heat(
        text,
        &[("label", &labels), ("where", &blocks), ("count", &counts)],
        true,
    );
    breaks(&case, &["HOT014"]);
}

#[test]
fn free_names_of_keys_and_images_are_compared_with_what_is_there() {
    let text = "heat_template_version: 2021-04-16
parameters:
  key: { type: string }
  image: { type: string, default: cirros }
  zone: { type: string, default: nova }
conditions:
  own: { equals: [{ get_param: key }, mine] }
resources:
  pair: { type: OS::Nova::KeyPair, condition: own, properties: { name: { get_param: key } } }
  one: { type: OS::Nova::Server, properties: { flavor: m1, image: { get_param: image }, key_name: { get_param: key }, user_data: { get_param: zone } } }
  two: { type: OS::Cinder::Volume, properties: { size: { if: [own, 0, 1] }, availability_zone: { get_param: zone } } }
";
    let keys = ["-", "mine", "x", ""];
    let case = heat(
        text,
        &[
            ("key", &keys),
            ("image", &["-", "x"]),
            ("zone", &["-", "a b"]),
        ],
        true,
    );
    breaks(&case, &["HOT014"]);
}

#[test]
fn a_service_extends_another_that_a_profile_hides() {
    let text = "services:
  base:
    image: nginx:1.27
    profiles: [one]
    ports: ['8080:80']
    depends_on: [store]
  web:
    extends: { service: base }
    profiles: [two]
    ports: ['${PORT:-8081}:80']
  store:
    image: redis:7
    profiles: [three]
";
    let profile = |name: &str| format!("profile {name}");
    let (one, two, three) = (profile("one"), profile("two"), profile("three"));
    let on = ["-", "true"];
    let case = compose(
        text,
        &[
            (one.as_str(), &on),
            (two.as_str(), &on),
            (three.as_str(), &on),
            ("PORT", &["-", "8080", "8082"]),
        ],
    );
    attack(&case);
}

/// Compares a service with every assignment: some break a condition on values.
fn tosca(text: &str, inputs: &[(&str, &[&str])]) {
    let case = case("tosca", "service.yaml", text, inputs, false);
    let mut compared = Compared::default();
    compare(&case, &mut compared);
    assert!(compared.rules.contains_key("tosca-constraint"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(case.file), &case.text).unwrap();
    replay(folder.path(), &[case.file]);
}

#[test]
fn values_of_tosca_inputs_meet_the_conditions_of_types() {
    let text = "tosca_definitions_version: tosca_simple_yaml_1_3
data_types:
  Port: { derived_from: integer, constraints: [{ in_range: [1024, 1030] }] }
node_types:
  App:
    derived_from: tosca.nodes.SoftwareComponent
    properties:
      port: { type: Port }
      peer: { type: Port, required: false }
      name: { type: string, constraints: [{ pattern: '[ab]-[0-9]' }] }
topology_template:
  inputs:
    port: { type: integer, default: 1025, constraints: [{ in_range: [1023, 1026] }] }
    letter: { type: string, default: a, constraints: [{ valid_values: [a, b, c] }] }
    digit: { type: string, default: '1', constraints: [{ pattern: '[0-2]|x' }] }
  node_templates:
    machine: { type: tosca.nodes.Compute }
    one:
      type: App
      properties:
        port: { get_input: port }
        name: { concat: [{ get_input: letter }, '-', { get_input: digit }] }
      requirements: [{ host: machine }]
    two:
      type: App
      properties:
        port: 1024
        peer: { get_property: [one, port] }
        name: a-1
      requirements: [{ host: machine }]
";
    tosca(
        text,
        &[
            ("port", &["-", "1023", "1024", "1026"]),
            ("letter", &["-", "b", "c"]),
            ("digit", &["-", "'0'", "'2'", "x"]),
        ],
    );
}

#[test]
fn conditions_of_tosca_2_compare_two_inputs() {
    let text = "tosca_definitions_version: tosca_2_0
node_types:
  N:
    properties:
      low: { type: integer }
      high: { type: integer, validation: { $greater_than: [$value, 2] } }
      all: { type: list, entry_schema: integer, validation: { $less_or_equal: [{ $length: [$value] }, 2] } }
service_template:
  inputs:
    low: { type: integer, default: 1, validation: { $valid_values: [$value, [1, 2, 3]] } }
    high: { type: integer, default: 3, validation: { $and: [{ $greater_or_equal: [$value, 1] }, { $less_or_equal: [$value, 4] }] } }
  node_templates:
    n:
      type: N
      properties:
        low: { $get_input: low }
        high: { $sum: [{ $get_input: high }, { $difference: [{ $get_input: low }, 1] }] }
        all: [{ $get_input: low }]
";
    tosca(
        text,
        &[("low", &["-", "2", "3"]), ("high", &["-", "1", "2", "4"])],
    );
}
