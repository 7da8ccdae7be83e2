//! A template of any size, in which nothing is wrong.

use std::fmt::Write as _;

/// A template of so many resources: private networks with a machine, its volume and its public address each.
pub(crate) fn template(resources: usize) -> String {
    let mut out = String::from("heat_template_version: rocky\nresources:\n");
    for i in 0..resources.div_ceil(10) {
        let block = format!("10.{}.{}", i / 250, i % 250);
        let _ = write!(
            out,
            "  net{i}:
    type: OS::Neutron::Net
    properties: {{ name: net{i} }}
  subnet{i}:
    type: OS::Neutron::Subnet
    properties:
      network: {{ get_resource: net{i} }}
      cidr: {block}.0/24
      allocation_pools:
        - {{ start: {block}.10, end: {block}.200 }}
  router{i}:
    type: OS::Neutron::Router
    properties:
      external_gateway_info: {{ network: public }}
  interface{i}:
    type: OS::Neutron::RouterInterface
    properties:
      router: {{ get_resource: router{i} }}
      subnet: {{ get_resource: subnet{i} }}
  group{i}:
    type: OS::Neutron::SecurityGroup
    properties:
      rules:
        - {{ protocol: tcp, port_range_min: 22, port_range_max: 22 }}
        - {{ protocol: icmp }}
  port{i}:
    type: OS::Neutron::Port
    properties:
      network: {{ get_resource: net{i} }}
      fixed_ips:
        - {{ subnet: {{ get_resource: subnet{i} }}, ip_address: {block}.20 }}
      security_groups: [{{ get_resource: group{i} }}]
  server{i}:
    type: OS::Nova::Server
    properties:
      image: debian
      flavor: m1.small
      networks:
        - port: {{ get_resource: port{i} }}
  address{i}:
    type: OS::Neutron::FloatingIP
    depends_on: interface{i}
    properties:
      floating_network: public
      port_id: {{ get_resource: port{i} }}
  volume{i}:
    type: OS::Cinder::Volume
    properties: {{ size: 10 }}
  attachment{i}:
    type: OS::Cinder::VolumeAttachment
    properties:
      instance_uuid: {{ get_resource: server{i} }}
      volume_id: {{ get_resource: volume{i} }}
"
        );
    }
    out
}
