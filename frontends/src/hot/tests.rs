//! The front-end from end to end: text in, graph and facts out.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use locus_core::facts::AtomId;
use locus_core::graph::{Presence, View};
use locus_core::{Span, Value};
use proptest::prelude::*;

use super::*;

mod laws;
mod nesting;
mod shapes;

/// Several files, the first of which is the template; those that end in `env.yaml` are environments.
struct Case {
    sources: Sources,
    loaded: Loaded,
}

fn load_files(files: &[(&str, &str)], adjust: impl FnOnce(&mut Request, &mut Sources)) -> Case {
    let mut sources = Sources::new();
    let (name, text) = files[0];
    let template = sources.add(name, text);
    let mut request = Request::new(template);
    let mut others = FxHashMap::default();
    for (name, text) in &files[1..] {
        if name.ends_with("env.yaml") {
            request.environments.push(sources.add(*name, *text));
        } else {
            others.insert((*name).to_owned(), (*text).to_owned());
        }
    }
    adjust(&mut request, &mut sources);
    let loaded = load(&mut sources, &others, &request);
    Case { sources, loaded }
}

fn load_text(text: &str) -> Case {
    load_files(&[("stack.yaml", text)], |_, _| {})
}

/// A template with these resources and nothing else.
fn resources(body: &str) -> String {
    format!("heat_template_version: 2018-08-31\nresources:\n{body}")
}

impl Case {
    fn at(&self, span: Span) -> String {
        let position = self.sources.start(span);
        format!("{}:{}", position.line, position.column)
    }

    /// The value of a property by the location's name and the property's path.
    fn property(&self, location: &str, path: &str) -> Option<String> {
        let graph = &self.loaded.graph;
        let location = graph.location(graph.find(location)?);
        let mut steps = path.split('.');
        let mut item = location.property(steps.next()?)?;
        for step in steps {
            item = match &item.value {
                Value::List(items) => items.get(step.parse::<usize>().ok()?)?,
                _ => item.get(step)?,
            };
        }
        Some(self.show(&item.value))
    }

    fn show(&self, value: &Value) -> String {
        match value {
            Value::Location(id) => format!("@{}", self.loaded.graph.location(*id).name),
            Value::Symbolic(id) => format!("?{}", self.loaded.graph.symbol(*id).name),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(|i| self.show(&i.value)).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Map(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|f| format!("{}: {}", f.name, self.show(&f.item.value)))
                    .collect();
                format!("{{{}}}", fields.join(", "))
            }
            other => other.to_string(),
        }
    }

    /// `owner -> related` for each tuple of a field, with the owner's place.
    fn tuples(&self, sig: &str, field: &str) -> Vec<String> {
        let facts = &self.loaded.facts;
        let name = |id: AtomId| facts.get(id).name.to_string();
        let relation = facts.relation(sig, field);
        let mut found: Vec<String> = relation
            .into_iter()
            .flat_map(|relation| relation.tuples())
            .map(|t| {
                format!(
                    "{} -> {} @{}",
                    name(t[0]),
                    name(t[1]),
                    self.at(facts.get(t[0]).span)
                )
            })
            .collect();
        found.sort();
        found
    }

    /// `name @place` for each atom of a signature.
    fn atoms(&self, sig: &str) -> Vec<String> {
        let facts = &self.loaded.facts;
        facts
            .of(sig)
            .into_iter()
            .map(|id| format!("{} @{}", facts.get(id).name, self.at(facts.get(id).span)))
            .collect()
    }

    /// The atoms of a signature that a field relates to nothing.
    fn without(&self, sig: &str, field_sig: &str, field: &str) -> Vec<String> {
        let facts = &self.loaded.facts;
        let related: BTreeSet<AtomId> = facts
            .relation(field_sig, field)
            .into_iter()
            .flat_map(|relation| relation.tuples().map(|tuple| tuple[0]).collect::<Vec<_>>())
            .collect();
        facts
            .of(sig)
            .into_iter()
            .filter(|id| !related.contains(id))
            .map(|id| format!("{} @{}", facts.get(id).name, self.at(facts.get(id).span)))
            .collect()
    }

    fn diagnostics(&self) -> Vec<String> {
        self.loaded
            .diagnostics
            .iter()
            .map(|d| {
                let at = d.primary().map(|span| self.at(span)).unwrap_or_default();
                format!("{at}: {}: {}", d.code, d.message)
            })
            .collect()
    }

    /// Locations, bindings and symbols, one per line.
    fn outline(&self) -> String {
        let graph = &self.loaded.graph;
        let mut out = String::new();
        for (_, location) in graph.locations() {
            let _ = write!(out, "{}: {}", location.name, location.sort);
            if location.external {
                out.push_str(" (external)");
            }
            match location.presence {
                Presence::Present => {}
                Presence::Absent => out.push_str(" (absent)"),
                Presence::When(symbol) => {
                    let _ = write!(out, " (when {})", graph.symbol(symbol).name);
                }
            }
            let chain: Vec<String> = location.origin.chain().map(|span| self.at(span)).collect();
            if !chain.is_empty() {
                let _ = write!(out, " from {}", chain.join(", "));
            }
            out.push('\n');
            for field in &location.properties {
                let _ = writeln!(out, "  {} = {}", field.name, self.show(&field.item.value));
            }
        }
        for binding in graph.bindings() {
            let role = graph.role(binding.role);
            let name = |id| &graph.location(id).name;
            let _ = writeln!(
                out,
                "{} --{} {}--> {}",
                name(binding.requirer),
                role.kind.as_str(),
                role.label,
                name(binding.provider)
            );
        }
        out
    }
}

const TWO_VMS: &str = "\
heat_template_version: 2018-08-31

parameters:
  public_net:
    type: string
    constraints:
      - custom_constraint: neutron.network
  image: {type: string}
  flavor: {type: string, default: m1.small}
  cidr: {type: string, default: 10.10.0.0/24}

resources:
  net:
    type: OS::Neutron::Net
  subnet:
    type: OS::Neutron::Subnet
    properties:
      network: {get_resource: net}
      cidr: {get_param: cidr}
  router:
    type: OS::Neutron::Router
    properties:
      external_gateway_info: {network: {get_param: public_net}}
  interface:
    type: OS::Neutron::RouterInterface
    properties:
      router: {get_resource: router}
      subnet: {get_resource: subnet}
  port:
    type: OS::Neutron::Port
    properties:
      network_id: {get_resource: net}
      fixed_ips: [{subnet_id: {get_resource: subnet}, ip_address: 10.10.0.10}]
  address:
    type: OS::Neutron::FloatingIP
    depends_on: interface
    properties:
      floating_network: {get_param: public_net}
      port_id: {get_resource: port}
  server:
    type: OS::Nova::Server
    properties:
      image: {get_param: image}
      flavor: {get_param: flavor}
      networks: [{port: {get_resource: port}}]
      user_data:
        str_replace:
          template: |
            echo $address $net
          params: {$address: {get_attr: [address, floating_ip_address]}, $net: {get_param: cidr}}

outputs:
  address: {value: {get_attr: [address, floating_ip_address]}}
";

#[test]
fn a_template_becomes_a_graph() {
    let case = load_files(
        &[
            ("two-vms.yaml", TWO_VMS),
            (
                "env.yaml",
                "parameters: {public_net: public, image: cirros}\n",
            ),
        ],
        |_, _| {},
    );
    assert_eq!(case.diagnostics(), [] as [&str; 0]);
    insta::assert_snapshot!(case.outline());
    assert_eq!(View::dependencies(&case.loaded.graph).cycles(), []);
    assert_eq!(
        case.without("Reference", "Reference", "target"),
        [] as [&str; 0]
    );
    assert_eq!(
        case.tuples("PropertyUse", "outdated"),
        ["network_id -> network @32:7", "subnet_id -> subnet @33:20"]
    );
}

#[test]
fn what_is_not_given_is_symbolic_with_its_domain() {
    let text = "\
heat_template_version: 2018-08-31
parameters:
  size: {type: number, constraints: [{range: {min: 1, max: 8}}]}
  kind: {type: string, default: a, constraints: [{allowed_values: [a, b]}]}
  net: {type: string}
resources:
  volume:
    type: OS::Cinder::Volume
    properties: {size: {get_param: size}, name: {get_param: kind}}
  port:
    type: OS::Neutron::Port
    properties: {network: {get_param: net}}
  port2:
    type: OS::Neutron::Port
    properties: {network: {get_param: net}}
";
    let case = load_text(text);
    assert_eq!(case.property("volume", "size").as_deref(), Some("?size"));
    assert_eq!(case.property("volume", "name").as_deref(), Some("a"));
    assert_eq!(
        case.property("port", "network").as_deref(),
        Some("@neutron.network:?net")
    );
    assert_eq!(
        case.property("port2", "network"),
        case.property("port", "network")
    );
    assert_eq!(case.atoms("UnsetParameter"), ["size @3:3", "net @5:3"]);
    let all = load_files(&[("stack.yaml", text)], |request, _| {
        request.all_inputs = true
    });
    assert_eq!(all.property("volume", "name").as_deref(), Some("?kind"));
    let graph = &all.loaded.graph;
    let kind = graph.symbols().find(|(_, s)| &*s.name == "kind").unwrap().1;
    assert_eq!(
        kind.domain.choices().unwrap(),
        [Value::str("a"), Value::str("b")]
    );
    assert_eq!(kind.default.as_ref().unwrap().value, Value::str("a"));
}

#[test]
fn every_function_is_evaluated_when_its_arguments_are_known() {
    let cases = [
        ("{get_param: [j, list, 1]}", "y"),
        ("{get_param: [j, missing]}", ""),
        ("{get_file: motd.txt}", "hello"),
        (
            "{str_replace: {template: 'a$ab$a', params: {$a: 1, $ab: two}}}",
            "atwo1",
        ),
        (
            "{str_replace_strict: {template: 'x y', params: {x: {k: [1, true]}}}}",
            "{\"k\": [1, true]} y",
        ),
        ("{str_split: [',', 'a,b,c', 1]}", "b"),
        ("{str_split: ['-', 'a-b']}", "[a, b]"),
        (
            "{list_join: [', ', [a, 1], [{b: c}]]}",
            "a, 1, {\"b\": \"c\"}",
        ),
        ("{list_concat: [[a], null, [b, a]]}", "[a, b, a]"),
        ("{list_concat_unique: [[a], [b, a]]}", "[a, b]"),
        ("{map_merge: [{a: 1, b: 1}, {b: 2}]}", "{a: 1, b: 2}"),
        (
            "{map_replace: [{a: x, b: y}, {keys: {a: c}, values: {y: z}}]}",
            "{c: x, b: z}",
        ),
        (
            "{repeat: {for_each: {'%p%': ['1', '2']}, template: {port: 'p%p%'}}}",
            "[{port: p1}, {port: p2}]",
        ),
        (
            "{repeat: {for_each: {a: [1, 2], b: [3, 4]}, template: [a, b], permutations: false}}",
            "[[1, 3], [2, 4]]",
        ),
        ("{filter: [[a], [a, b]]}", "[b]"),
        ("{digest: [md5, hello]}", "5d41402abc4b2a76b9719d911017c592"),
        (
            "{digest: [sha1, hello]}",
            "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d",
        ),
        (
            "{make_url: {scheme: http, host: 'fe80::1', port: 80, path: a b, query: {q: 'x y'}}}",
            "http://[fe80::1]:80/a%20b?q=x+y",
        ),
        ("{contains: [a, [a, b]]}", "true"),
        ("{if: [yes_please, a, b]}", "a"),
        ("{if: [{not: yes_please}, a, b]}", "b"),
        (
            "{if: [{equals: [{get_param: n}, 3]}, {get_param: n}, b]}",
            "3",
        ),
        (
            "{if: [{and: [yes_please, {or: [{not: yes_please}, yes_please]}]}, a, b]}",
            "a",
        ),
        (
            "{yaql: {expression: $.data.a.sum(), data: {a: [1, 2]}}}",
            "3",
        ),
    ];
    for (function, expected) in cases {
        let text = format!(
            "heat_template_version: 2021-04-16
conditions:
  yes_please: {{equals: [{{get_param: n}}, 3]}}
parameters:
  n: {{type: number, default: '3'}}
  j: {{type: json, default: {{list: [x, y]}}}}
resources:
  v:
    type: OS::Heat::Value
    properties:
      value: {function}
"
        );
        let files = [("stack.yaml", text.as_str()), ("motd.txt", "hello")];
        let case = load_files(&files, |_, _| {});
        assert_eq!(
            case.property("v", "value").as_deref(),
            Some(expected),
            "{function}"
        );
        assert_eq!(case.atoms("MalformedCall"), [] as [&str; 0], "{function}");
        assert_eq!(case.diagnostics(), [] as [&str; 0], "{function}");
    }
}

#[test]
fn functions_of_what_is_not_known_are_symbolic() {
    let case = load_text(&resources(
        "  a:\n    type: OS::Nova::Server\n    properties:\n      flavor: f\n  v:\n    type: OS::Heat::Value\n    \
         properties:\n      value:\n        list_join: ['-', [{get_attr: [a, name]}, x]]\n  w:\n    type: \
         OS::Heat::Value\n    properties:\n      value: {list_concat: [[{get_resource: a}], [{get_attr: [a, \
         name]}]]}\n  u:\n    type: OS::Heat::Value\n    properties: {value: {get_attr: [w, value, 1]}}\n",
    ));
    assert_eq!(case.property("v", "value").as_deref(), Some("?list_join"));
    assert_eq!(
        case.property("w", "value").as_deref(),
        Some("[@a, ?a.name]")
    );
    assert_eq!(
        case.property("u", "value").as_deref(),
        Some("?a.name"),
        "held values are seen through"
    );
    assert!(
        case.outline().contains("v --attribute value.1.0--> a"),
        "{}",
        case.outline()
    );
}

#[test]
fn conditions_decide_what_is_present() {
    let text = "\
heat_template_version: 2021-04-16
parameters:
  prod: {type: boolean, default: false}
  unset: {type: boolean}
conditions:
  is_prod: {equals: [{get_param: prod}, true]}
  open: {get_param: unset}
resources:
  net: {type: OS::Neutron::Net, condition: is_prod}
  maybe: {type: OS::Neutron::Net, condition: open}
  port:
    type: OS::Neutron::Port
    depends_on: net
    properties:
      network: {get_resource: net}
      name: {if: [is_prod, a]}
";
    let case = load_text(text);
    let outline = case.outline();
    assert!(
        outline.contains("net: OS::Neutron::Net (absent)"),
        "{outline}"
    );
    assert!(
        outline.contains("maybe: OS::Neutron::Net (when unset)"),
        "{outline}"
    );
    assert_eq!(
        case.property("port", "name"),
        None,
        "left out by the condition"
    );
    assert_eq!(case.atoms("AbsentTarget"), ["net @15:31"]);
    let prod = load_files(&[("stack.yaml", text)], |request, sources| {
        request.parameter(sources, "prod", "yes");
    });
    assert_eq!(prod.atoms("AbsentTarget"), [] as [&str; 0]);
    assert_eq!(prod.property("port", "name").as_deref(), Some("a"));
}

#[test]
fn cfn_style_templates_are_understood() {
    let case = load_text(
        "\
AWSTemplateFormatVersion: '2010-09-09'
Parameters:
  Key: {Type: String, Default: k, NoEcho: true}
  Arch: {Type: String, Default: big, AllowedValues: [big, small]}
Mappings:
  Sizes: {big: {Type: m1.large}, small: {Type: m1.small}}
Resources:
  Server:
    Type: AWS::EC2::Instance
    Properties:
      ImageId: {'Fn::Join': ['-', [a, {Ref: 'AWS::Region'}]]}
      InstanceType: {'Fn::FindInMap': [Sizes, {Ref: Arch}, Type]}
      KeyName: {Ref: Key}
      UserData: {'Fn::Base64': {'Fn::Join': ['', [echo, ' ', {'Fn::Select': ['1', [a, b]]}]]}}
  Address:
    Type: AWS::EC2::EIP
    Properties: {InstanceId: {Ref: Server}}
Outputs:
  Ip: {Value: {'Fn::GetAtt': [Server, PublicIp]}}
",
    );
    assert_eq!(case.diagnostics(), [] as [&str; 0]);
    assert_eq!(
        case.property("Server", "InstanceType").as_deref(),
        Some("@nova.flavor:m1.large")
    );
    assert_eq!(
        case.property("Server", "UserData").as_deref(),
        Some("echo b")
    );
    assert_eq!(
        case.property("Server", "KeyName").as_deref(),
        Some("@nova.keypair:k")
    );
    assert_eq!(
        case.property("Address", "InstanceId").as_deref(),
        Some("@Server")
    );
    assert_eq!(case.atoms("HiddenParameter"), ["Key @3:3"]);
    assert_eq!(
        case.without("Reference", "Reference", "target"),
        ["AWS::Region @11:45"]
    );
    assert_eq!(case.atoms("PseudoReference"), ["AWS::Region @11:45"]);
}
