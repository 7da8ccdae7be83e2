//! Random Heat templates whose parameters have few values.

use std::fmt::Write as _;

use super::random::Random;
use super::{Case, Domain};

/// What a parameter is for.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Cidr,
    Address,
    Number,
    Port,
    Protocol,
    Name,
    Version,
    Flag,
    List,
    /// A map with the keys `block` and `name`.
    Map,
}

struct Parameter {
    name: String,
    kind: Kind,
}

struct Writer<'r> {
    random: &'r mut Random,
    parameters: Vec<Parameter>,
    conditions: Vec<String>,
    resources: Vec<(String, &'static str)>,
}

const CIDRS: [&str; 7] = [
    "10.0.0.0/24",
    "10.0.0.0/16",
    "10.0.1.0/24",
    "10.0.0.0/33",
    "2001:db8::/64",
    "192.168.0.0/24",
    "x",
];
const ADDRESSES: [&str; 7] = [
    "10.0.0.5",
    "10.0.0.10",
    "10.0.0.200",
    "10.0.1.7",
    "10.0.0.0",
    "2001:db8::5",
    "192.168.0.9",
];
const PROTOCOLS: [&str; 5] = ["tcp", "udp", "icmp", "ah", "tpc"];
const NAMES: [&str; 4] = ["web", "db", "web_1", "a b"];

/// What templates include.
pub(crate) const CHILD: &str = "heat_template_version: 2021-04-16
parameters:
  block: { type: string, constraints: [{ custom_constraint: net_cidr }] }
  wanted: { type: boolean, default: true }
  size: { type: number, default: 1, constraints: [{ range: { min: 1, max: 4 } }] }
conditions:
  wanted: { get_param: wanted }
resources:
  net: { type: OS::Neutron::Net, condition: wanted }
  subnet:
    type: OS::Neutron::Subnet
    condition: wanted
    properties: { network: { get_resource: net }, cidr: { get_param: block } }
  volume: { type: OS::Cinder::Volume, properties: { size: { get_param: size } } }
";

/// What includes that again, for one of its inputs.
pub(crate) const MIDDLE: &str = "heat_template_version: 2021-04-16
parameters:
  label: { type: string, constraints: [{ length: { max: 3 } }] }
  block: { type: string }
  wanted: { type: boolean }
conditions:
  web: { equals: [{ get_param: label }, web] }
  both: { and: [web, { get_param: wanted }] }
resources:
  child: { type: child.yaml, condition: both, properties: { block: { get_param: block }, wanted: { get_param: wanted } } }
  port: { type: OS::Neutron::Port, properties: { network: { get_param: label }, fixed_ips: [{ ip_address: 10.0.0.5 }] } }
";

/// A random template.
pub(crate) fn template(random: &mut Random) -> Case {
    let mut writer = Writer {
        random,
        parameters: Vec::new(),
        conditions: Vec::new(),
        resources: Vec::new(),
    };
    let mut inputs: Vec<Domain> = Vec::new();
    let mut out = String::from("heat_template_version: 2021-04-16\nparameters:\n");
    let count = 2 + writer.random.below(4);
    for at in 0..count {
        let (text, domain) = writer.parameter(at);
        out += &text;
        inputs.push(domain);
    }
    out += &writer.conditions();
    out += "resources:\n";
    let count = 4 + writer.random.below(5);
    for at in 0..count {
        out += &writer.resource(at);
    }
    if writer.random.once_in(3) {
        out += &writer.outputs();
    }
    Case {
        language: "hot",
        file: "stack.yaml",
        text: out,
        inputs,
        free: false,
    }
}

impl Writer<'_> {
    fn some_of(&mut self, all: &[&str]) -> Vec<String> {
        let count = 1 + self.random.below(3);
        let mut found: Vec<String> = Vec::new();
        for _ in 0..count {
            let one = self.random.pick(all).to_owned();
            if !found.contains(&one) {
                found.push(one);
            }
        }
        found
    }

    fn parameter(&mut self, at: usize) -> (String, Domain) {
        let kinds = [
            Kind::Cidr,
            Kind::Address,
            Kind::Number,
            Kind::Port,
            Kind::Protocol,
            Kind::Name,
            Kind::Version,
            Kind::Flag,
            Kind::Flag,
            Kind::List,
            Kind::Map,
        ];
        let kind = kinds[self.random.below(kinds.len())];
        let name = format!("p{at}");
        let mut constraint = String::new();
        let (ty, values): (&str, Vec<String>) = match kind {
            Kind::Cidr => ("string", self.some_of(&CIDRS)),
            Kind::Address => ("string", self.some_of(&ADDRESSES)),
            Kind::Protocol => ("string", self.some_of(&PROTOCOLS)),
            Kind::Name => match self.random.below(4) {
                0 => {
                    constraint = "allowed_pattern: 'n[12]'".to_owned();
                    ("string", vec!["n1".to_owned(), "n2".to_owned()])
                }
                _ => ("string", self.some_of(&NAMES)),
            },
            Kind::Version => ("number", self.some_of(&["4", "6"])),
            Kind::Flag => ("boolean", vec!["false".to_owned(), "true".to_owned()]),
            Kind::Port => ("number", self.some_of(&["22", "80", "0", "70000", "443"])),
            Kind::Number => match self.random.below(3) {
                0 => ("number", self.some_of(&["0", "1", "2", "3", "5"])),
                step => {
                    let low = self.random.below(3);
                    let high = low + 1 + self.random.below(4);
                    constraint = format!("range: {{ min: {low}, max: {high} }}");
                    let mut values: Vec<usize> = (low..=high).collect();
                    if step == 2 {
                        constraint += " }, { modulo: { step: 2, offset: 1 }";
                        values.retain(|value| value % 2 == 1);
                    }
                    let values = values.into_iter().map(|value| value.to_string());
                    ("number", values.collect())
                }
            },
            Kind::Map => {
                let values = self.some_of(&[
                    "{\"block\": \"10.0.0.0/24\", \"name\": \"web\"}",
                    "{\"block\": \"10.0.1.0/24\", \"name\": \"a b\"}",
                    "{\"block\": \"2001:db8::/64\", \"name\": \"db\"}",
                    "{\"name\": \"web\"}",
                ]);
                constraint = format!("allowed_values: [{}]", values.join(", "));
                ("json", values)
            }
            Kind::List => {
                let items = self.some_of(&["22", "80", "443"]);
                let listed = items.join(", ");
                constraint = format!("allowed_values: [{listed}] }}, {{ length: {{ max: 1 }}");
                let mut values = vec![String::new()];
                values.extend(items);
                ("comma_delimited_list", values)
            }
        };
        let mut values = values;
        let mut all = values.clone();
        // Several constraints allow what all of them allow.
        let mut also = String::new();
        match kind {
            Kind::Cidr if self.random.once_in(3) => {
                values.retain(|value| !matches!(value.as_str(), "10.0.0.0/33" | "x"));
                also = ", { custom_constraint: net_cidr }".to_owned();
            }
            Kind::Address if self.random.once_in(3) => {
                also = ", { custom_constraint: ip_addr }, { length: { min: 9 } }".to_owned();
                values.retain(|value| value.len() >= 9);
            }
            Kind::Name if constraint.is_empty() && self.random.once_in(3) => {
                values.retain(|value| value.len() <= 3 && !value.contains(' '));
                also = ", { length: { max: 3 } }, { allowed_pattern: '[a-z0-9_]*' }".to_owned();
            }
            _ => {}
        }
        if values.is_empty() {
            let kept = match kind {
                Kind::Cidr => "10.0.0.0/24",
                Kind::Address => "10.0.0.10",
                _ => "web",
            };
            values.push(kept.to_owned());
            all.push(kept.to_owned());
        }
        if constraint.is_empty() && kind != Kind::Flag {
            let listed: Vec<String> = all
                .iter()
                .map(|value| match ty {
                    "number" => value.clone(),
                    _ => format!("{value:?}"),
                })
                .collect();
            constraint = format!("allowed_values: [{}] }}", listed.join(", "));
            constraint += also.as_str();
            constraint = constraint.trim_end_matches('}').trim_end().to_owned();
        }
        let mut text = format!("  {name}:\n    type: {ty}\n");
        if !constraint.is_empty() {
            let _ = writeln!(text, "    constraints: [{{ {constraint} }}]");
        }
        let mut domain: Vec<Option<String>> = values.iter().cloned().map(Some).collect();
        // Sometimes without a default: then it must be given.
        if !self.random.once_in(4) {
            let default = &values[self.random.below(values.len())];
            let _ = writeln!(text, "    default: {default:?}");
            domain.retain(|value| value.as_ref() != Some(default));
            domain.insert(0, None);
        }
        self.parameters.push(Parameter {
            name: name.clone(),
            kind,
        });
        (text, (name, domain))
    }

    fn of_kind(&mut self, kind: Kind) -> Option<String> {
        let found: Vec<&str> = self
            .parameters
            .iter()
            .filter(|parameter| parameter.kind == kind)
            .map(|parameter| parameter.name.as_str())
            .collect();
        (!found.is_empty()).then(|| self.random.pick(&found).to_owned())
    }

    fn conditions(&mut self) -> String {
        let count = self.random.below(5);
        let mut out = String::new();
        for at in 0..count {
            let body = self.condition();
            let _ = writeln!(out, "  c{at}: {body}");
            self.conditions.push(format!("c{at}"));
        }
        match out.is_empty() {
            true => out,
            false => format!("conditions:\n{out}"),
        }
    }

    fn condition(&mut self) -> String {
        let known: Vec<String> = self.conditions.clone();
        match self.random.below(6) {
            0 if self.random.once_in(3) => {
                let (a, b) = (self.any_parameter(), self.any_parameter());
                let with = self.random.pick(&["web", "tcp", "80", "true"]);
                format!(
                    "{{ or: [{{ equals: [{{ get_param: {a} }}, {with:?}] }}, {{ not: {{ equals: [{{ get_param: {a} }}, {{ get_param: {b} }}] }} }}] }}"
                )
            }
            0 | 1 if !known.is_empty() => {
                let names: Vec<&str> = known.iter().map(String::as_str).collect();
                let (a, b) = (self.random.pick(&names), self.random.pick(&names));
                match self.random.below(3) {
                    0 => format!("{{ and: [{a}, {b}] }}"),
                    1 => format!("{{ or: [{a}, {{ not: {b} }}] }}"),
                    _ => format!("{{ not: {a} }}"),
                }
            }
            2 => match self.of_kind(Kind::Flag) {
                Some(flag) => format!("{{ get_param: {flag} }}"),
                None => "true".to_owned(),
            },
            3 => {
                let (a, b) = (self.any_parameter(), self.any_parameter());
                format!("{{ equals: [{{ get_param: {a} }}, {{ get_param: {b} }}] }}")
            }
            4 => {
                let a = self.any_parameter();
                format!(
                    "{{ yaql: {{ expression: \"$.data.a = $.data.b\", data: {{ a: {{ get_param: {a} }}, b: 2 }} }} }}"
                )
            }
            _ => {
                let a = self.any_parameter();
                let constants = ["web", "tcp", "10.0.0.0/24", "1", "2", "4", "80"];
                let with = self.random.pick(&constants);
                let with = match with.parse::<u32>() {
                    Ok(_) if self.random.once_in(2) => with.to_owned(),
                    _ => format!("{with:?}"),
                };
                format!("{{ equals: [{{ get_param: {a} }}, {with}] }}")
            }
        }
    }

    fn any_parameter(&mut self) -> String {
        let at = self.random.below(self.parameters.len());
        self.parameters[at].name.clone()
    }

    /// A value of a kind, in one of the many ways to write one.
    fn value(&mut self, kind: Kind) -> String {
        let plain = |writer: &mut Self| -> String {
            let text = match kind {
                Kind::Cidr => writer.random.pick(&CIDRS),
                Kind::Address => writer.random.pick(&ADDRESSES),
                Kind::Protocol => writer.random.pick(&PROTOCOLS),
                Kind::Name => writer.random.pick(&NAMES),
                Kind::Version => writer.random.pick(&["4", "6"]),
                Kind::Port => writer.random.pick(&["22", "80", "443", "65535"]),
                Kind::Number => writer.random.pick(&["0", "1", "2", "3"]),
                Kind::Flag => writer.random.pick(&["true", "false"]),
                Kind::List => return "[\"22\", \"80\"]".to_owned(),
                Kind::Map => return "{ block: 10.0.0.0/24, name: web }".to_owned(),
            };
            format!("{text:?}")
        };
        let own = self.of_kind(kind);
        let map = self.of_kind(Kind::Map);
        match (self.random.below(13), own) {
            (10, _) if map.is_some() && matches!(kind, Kind::Cidr | Kind::Name) => {
                let map = map.unwrap_or_default();
                let key = if kind == Kind::Cidr { "block" } else { "name" };
                format!("{{ get_param: [{map}, {key}] }}")
            }
            (11, _) => {
                // A condition of its own, and a choice within a choice.
                let (inner, outer) = (self.condition(), self.condition());
                let (a, b, c) = (plain(self), plain(self), plain(self));
                format!("{{ if: [{outer}, {a}, {{ if: [{inner}, {b}, {c}] }}] }}")
            }
            (12, Some(own)) if matches!(kind, Kind::Cidr | Kind::Address | Kind::Protocol) => {
                format!(
                    "{{ str_replace: {{ template: 'X', params: {{ X: {{ get_param: {own} }} }} }} }}"
                )
            }
            (0..=4, Some(own)) => format!("{{ get_param: {own} }}"),
            (5, own) if !self.conditions.is_empty() => {
                let names: Vec<String> = self.conditions.clone();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let condition = self.random.pick(&names).to_owned();
                let then = plain(self);
                let otherwise = match own {
                    Some(own) => format!("{{ get_param: {own} }}"),
                    None => plain(self),
                };
                format!("{{ if: [{condition}, {then}, {otherwise}] }}")
            }
            (6, Some(own)) if kind == Kind::Name => format!(
                "{{ str_replace: {{ template: \"NAME-1\", params: {{ NAME: {{ get_param: {own} }} }} }} }}"
            ),
            (7, _) if kind == Kind::Cidr || kind == Kind::Address => {
                match self.of_kind(Kind::Number) {
                    Some(number) => {
                        let end = if kind == Kind::Cidr { ".0/24" } else { ".7" };
                        format!(
                            "{{ list_join: ['', ['10.0.', {{ get_param: {number} }}, '{end}']] }}"
                        )
                    }
                    None => plain(self),
                }
            }
            (8, Some(own)) if kind == Kind::Name => {
                format!("{{ list_join: ['_', [{{ get_param: {own} }}, '1']] }}")
            }
            (_, _) => plain(self),
        }
    }

    fn target(&mut self, ty: &str) -> Option<String> {
        let found: Vec<&str> = self
            .resources
            .iter()
            .filter(|(_, other)| *other == ty)
            .map(|(name, _)| name.as_str())
            .collect();
        (!found.is_empty()).then(|| self.random.pick(&found).to_owned())
    }

    fn resource(&mut self, at: usize) -> String {
        let types = [
            "OS::Neutron::Net",
            "OS::Neutron::Subnet",
            "OS::Neutron::Subnet",
            "OS::Neutron::Port",
            "OS::Neutron::Port",
            "OS::Neutron::SecurityGroup",
            "OS::Nova::Server",
            "OS::Heat::AutoScalingGroup",
            "OS::Cinder::Volume",
            "OS::Heat::ResourceGroup",
            "OS::Neutron::Router",
            "child.yaml",
            "middle.yaml",
            "OS::Heat::Value",
        ];
        let ty = match at {
            0 => "OS::Neutron::Net",
            1 => "OS::Neutron::Subnet",
            _ => types[self.random.below(types.len())],
        };
        let name = format!("r{at}");
        let mut lines: Vec<String> = Vec::new();
        match ty {
            "OS::Neutron::Net" => {
                if self.random.once_in(2) {
                    lines.push(format!("name: {}", self.value(Kind::Name)));
                }
                if self.random.once_in(3) {
                    lines.push(format!("shared: {}", self.value(Kind::Flag)));
                }
            }
            "OS::Neutron::Subnet" => {
                let net = self.target("OS::Neutron::Net").unwrap_or_default();
                lines.push(format!("network: {{ get_resource: {net} }}"));
                let through = self.target("OS::Heat::Value");
                let block = match through {
                    Some(through) if self.random.once_in(2) => {
                        format!("{{ get_attr: [{through}, value] }}")
                    }
                    _ => self.value(Kind::Cidr),
                };
                lines.push(format!("cidr: {block}"));
                if self.random.once_in(2) {
                    lines.push(format!("ip_version: {}", self.value(Kind::Version)));
                }
                if self.random.once_in(2) {
                    lines.push(format!("gateway_ip: {}", self.value(Kind::Address)));
                }
                if self.random.once_in(2) {
                    let (start, end) = (self.value(Kind::Address), self.value(Kind::Address));
                    lines.push(format!(
                        "allocation_pools: [{{ start: {start}, end: {end} }}]"
                    ));
                }
                if self.random.once_in(3) {
                    lines.push(format!("enable_dhcp: {}", self.value(Kind::Flag)));
                }
                if self.random.once_in(3) {
                    let address = self.value(Kind::Address);
                    lines.push(format!("dns_nameservers: [{address}]"));
                }
            }
            "OS::Neutron::Port" => {
                let net = self.target("OS::Neutron::Net").unwrap_or_default();
                // What exists already may be named by several.
                let net = match self.random.once_in(4) {
                    true => self.value(Kind::Name),
                    false => format!("{{ get_resource: {net} }}"),
                };
                lines.push(format!("network: {net}"));
                if self.random.once_in(2) {
                    let address = self.value(Kind::Address);
                    let subnet = self.target("OS::Neutron::Subnet");
                    let subnet = match (subnet, self.random.once_in(2)) {
                        (Some(subnet), true) => format!("subnet: {{ get_resource: {subnet} }}, "),
                        _ => String::new(),
                    };
                    lines.push(format!("fixed_ips: [{{ {subnet}ip_address: {address} }}]"));
                }
                match (
                    self.target("OS::Neutron::SecurityGroup"),
                    self.random.below(3),
                ) {
                    (Some(group), 0) => {
                        lines.push(format!("security_groups: [{{ get_resource: {group} }}]"));
                    }
                    (_, 1) => {
                        lines.push(format!("port_security_enabled: {}", self.value(Kind::Flag)))
                    }
                    _ => {}
                }
            }
            "OS::Neutron::SecurityGroup" => {
                if self.random.once_in(4) && self.of_kind(Kind::List).is_some() {
                    let list = self.of_kind(Kind::List).unwrap_or_default();
                    lines.push(format!(
                        "rules: {{ repeat: {{ for_each: {{ '%port%': {{ get_param: {list} }} }}, template: {{ protocol: {}, port_range_min: '%port%', port_range_max: 80 }} }} }}",
                        self.value(Kind::Protocol)
                    ));
                } else {
                    let mut rules = Vec::new();
                    for _ in 0..1 + self.random.below(2) {
                        let protocol = self.value(Kind::Protocol);
                        let mut rule = format!("protocol: {protocol}");
                        if self.random.once_in(2) {
                            rule += &format!(", port_range_min: {}", self.value(Kind::Port));
                            rule += &format!(", port_range_max: {}", self.value(Kind::Port));
                        }
                        if self.random.once_in(2) {
                            rule += &format!(", remote_ip_prefix: {}", self.value(Kind::Cidr));
                        }
                        let rule = format!("{{ {rule} }}");
                        rules.push(match self.random.once_in(4) {
                            true => format!("{{ if: [{}, {rule}] }}", self.condition()),
                            false => rule,
                        });
                    }
                    lines.push(format!("rules: [{}]", rules.join(", ")));
                }
            }
            "OS::Nova::Server" => {
                lines.push("flavor: m1.small".to_owned());
                lines.push("image: cirros".to_owned());
                if self.random.once_in(4) {
                    // Existing things, which may be the same.
                    let key = self.value(Kind::Name);
                    lines.push(format!("key_name: {key}"));
                }
                if self.random.once_in(2) {
                    lines.push(format!("name: {}", self.value(Kind::Name)));
                }
                match (
                    self.target("OS::Neutron::Port"),
                    self.target("OS::Neutron::Net"),
                ) {
                    (Some(port), _) if self.random.once_in(2) => {
                        lines.push(format!(
                            "networks: [{{ port: {{ get_resource: {port} }} }}]"
                        ));
                    }
                    (_, Some(net)) => {
                        lines.push(format!(
                            "networks: [{{ network: {{ get_resource: {net} }} }}]"
                        ));
                    }
                    _ => {}
                }
            }
            "OS::Heat::AutoScalingGroup" => {
                lines.push(format!("min_size: {}", self.value(Kind::Number)));
                lines.push(format!("max_size: {}", self.value(Kind::Number)));
                if self.random.once_in(2) {
                    lines.push(format!("desired_capacity: {}", self.value(Kind::Number)));
                }
                lines.push(format!(
                    "resource: {{ type: OS::Cinder::Volume, properties: {{ size: {} }} }}",
                    self.value(Kind::Number)
                ));
            }
            "OS::Heat::ResourceGroup" => {
                lines.push(format!("count: {}", self.value(Kind::Number)));
                let net = self.target("OS::Neutron::Net").unwrap_or_default();
                let address = self.value(Kind::Address);
                lines.push(format!(
                    "resource_def: {{ type: OS::Neutron::Port, properties: {{ network: {{ get_resource: {net} }}, fixed_ips: [{{ ip_address: {address} }}] }} }}"
                ));
            }
            "middle.yaml" => {
                lines.push(format!("label: {}", self.value(Kind::Name)));
                lines.push(format!("block: {}", self.value(Kind::Cidr)));
                lines.push(format!("wanted: {}", self.value(Kind::Flag)));
            }
            "OS::Heat::Value" => {
                lines.push(format!("value: {}", self.value(Kind::Cidr)));
            }
            "child.yaml" => {
                lines.push(format!("block: {}", self.value(Kind::Cidr)));
                lines.push(format!("wanted: {}", self.value(Kind::Flag)));
                if self.random.once_in(2) {
                    lines.push(format!("size: {}", self.value(Kind::Number)));
                }
            }
            "OS::Cinder::Volume" => {
                lines.push(format!("size: {}", self.value(Kind::Number)));
                if self.random.once_in(2) {
                    lines.push(format!("name: {}", self.value(Kind::Name)));
                }
            }
            _ => {
                if let Some(subnet) = self.target("OS::Neutron::Subnet") {
                    let address = self.value(Kind::Address);
                    lines.push(format!(
                        "external_gateway_info: {{ network: public, external_fixed_ips: [{{ subnet: {{ get_resource: {subnet} }}, ip_address: {address} }}] }}"
                    ));
                }
            }
        }
        let mut out = format!("  {name}:\n    type: {ty}\n");
        if self.random.once_in(3) && !self.conditions.is_empty() {
            let names: Vec<String> = self.conditions.clone();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let condition = match self.random.once_in(4) {
                true => self.condition(),
                false => self.random.pick(&names).to_owned(),
            };
            let _ = writeln!(out, "    condition: {condition}");
        }
        if at > 2 && self.random.once_in(8) {
            let _ = writeln!(out, "    depends_on: r{}", self.random.below(at + 1));
        }
        if !lines.is_empty() {
            out += "    properties:\n";
            for line in lines {
                let _ = writeln!(out, "      {line}");
            }
        }
        self.resources.push((name, ty));
        out
    }

    fn outputs(&mut self) -> String {
        let at = self.random.below(self.resources.len());
        let (name, _) = &self.resources[at];
        format!("outputs:\n  o:\n    value: {{ get_attr: [{name}, show] }}\n")
    }
}
