//! Names and all that uses them: each is marked with `«»`, in every language, and a rename changes these places alone.

use serde_json::{Value, json};

use crate::client::{at, edited, labels, start, uri};

/// A text without its marks, and the places of what was marked.
fn unmarked(marked: &str) -> (String, Vec<usize>) {
    let (mut text, mut places) = (String::new(), Vec::new());
    for (number, part) in marked.split('«').enumerate() {
        if number > 0 {
            places.push(text.len());
        }
        text.push_str(&part.replacen('»', "", 1));
    }
    (text, places)
}

fn position(text: &str, offset: usize) -> Value {
    let line = text[..offset].matches('\n').count();
    let column = text[..offset].rsplit('\n').next().unwrap();
    json!({ "line": line, "character": column.encode_utf16().count() })
}

/// Renames what is marked, from each of its places.
fn check(name: &str, marked: &str, new: &str) {
    let (text, places) = unmarked(marked);
    let expected: String = marked
        .split('«')
        .enumerate()
        .map(|(number, part)| match part.split_once('»') {
            Some((_, rest)) if number > 0 => format!("{new}{rest}"),
            _ => part.to_owned(),
        })
        .collect();
    let (folder, mut client) = start(&[(name, &text)]);
    let file = uri(&folder.path().join(name));
    for place in places {
        let mut params = at(&file, &position(&text, place));
        params["newName"] = json!(new);
        let answer = client.request("textDocument/rename", params);
        let edits = answer["result"]["changes"][&file].as_array();
        let edits = edits.unwrap_or_else(|| panic!("{marked}\n{answer}"));
        assert_eq!(edited(&text, edits), expected, "from {place}");
    }
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn services_are_named_in_many_ways() {
    check(
        "compose.yaml",
        "\
services:
  «s»:
    image: a:1
  w:
    extends: «s»
    depends_on: [&x «s»]
    volumes_from: ['«s»:ro']
    links: [«s»:alias]
  q:
    extends: { service: «s» }
    image: s:1
    network_mode: \"service:«s»\"
    pid: service:«s»
  b:
    build:
      context: ./s
      additional_contexts:
        - s=service:«s»
  c:
    build:
      context: ./s
      additional_contexts: { s: 'service:«s»' }
",
        "2nd",
    );
    check(
        "compose.yaml",
        "\
services:
  w:
    image: a:1
    volumes:
      - «data»:/data
      - ./data:/d
      - { type: bind, source: ./data, target: /e }
      - { type: volume, source: «data», target: /f }
    models: [m]
volumes:
  «data»: {}
models:
  m: { model: ai/m }
",
        "files",
    );
}

#[test]
fn conditions_decide_about_each_other() {
    check(
        "a.yaml",
        "\
heat_template_version: 2021-04-16
parameters:
  env: { type: string, default: prod }
conditions:
  «prod»: { equals: [{ get_param: env }, prod] }
  test: { not: «prod» }
  any: { or: [test, «prod»] }
  all: { and: [{ not: test }, «prod»] }
resources:
  net:
    type: OS::Neutron::Net
    condition: «prod»
    properties: { name: { if: [«prod», prod, other] } }
",
        "live",
    );
}

#[test]
fn policies_and_access_name_ports_and_objects() {
    let pod = "\
apiVersion: v1
kind: Pod
metadata: { name: web, labels: { app: web } }
spec: { containers: [{ name: a, image: 'b:1', ports: [{ name: «http», containerPort: 80 }] }] }
";
    check(
        "a.yaml",
        &format!(
            "{pod}---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{ name: in }}
spec:
  podSelector: {{}}
  ingress: [{{ ports: [{{ port: «http» }}] }}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{ name: out }}
spec:
  podSelector: {{ matchLabels: {{ app: other }} }}
  policyTypes: [Egress]
  egress: [{{ to: [{{ podSelector: {{ matchLabels: {{ app: web }} }} }}], ports: [{{ port: «http» }}, {{ port: 53 }}] }}]
"
        ),
        "web",
    );
    check(
        "a.yaml",
        "\
apiVersion: v1
kind: ConfigMap
metadata: { name: «settings» }
data: { a: b }
---
apiVersion: v1
kind: Secret
metadata: { name: settings }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: reader }
rules:
  - { apiGroups: [''], resources: [configmaps], resourceNames: [«settings»], verbs: [get] }
  - { apiGroups: [''], resources: [secrets], resourceNames: [settings], verbs: [get] }
",
        "options",
    );
}

#[test]
fn types_are_named_where_templates_are_too() {
    check(
        "a.yaml",
        "\
tosca_definitions_version: tosca_2_0
capability_types:
  «Place»: {}
relationship_types:
  On: { valid_capability_types: [«Place»] }
node_types:
  Machine: { capabilities: { host: «Place», Place: { type: «Place» } } }
  Software: { requirements: [{ host: { capability: «Place», relationship: On } }] }
service_template:
  node_templates:
    machine: { type: Machine }
    app: { type: Software, requirements: [{ host: { node: machine, capability: host } }] }
",
        "Room",
    );
    check(
        "a.yaml",
        "\
tosca_definitions_version: tosca_2_0
node_types:
  «Server»: {}
  Volume: {}
policy_types:
  Together: { targets: [«Server»] }
service_template:
  node_templates:
    server: { type: «Server» }
  policies:
    - together: { type: Together, targets: [server] }
",
        "Host",
    );
}

#[test]
fn a_template_that_is_missing_is_created_rather_than_a_type() {
    let text = "\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    app:
      type: tosca.nodes.SoftwareComponent
      requirements: [{ host: server }]
";
    let (folder, mut client) = start(&[("a.yaml", text)]);
    let file = uri(&folder.path().join("a.yaml"));
    let here = position(text, text.find("server").unwrap());
    let actions = client.result(
        "textDocument/codeAction",
        json!({
            "textDocument": { "uri": file }, "range": { "start": here, "end": here },
            "context": { "diagnostics": [] },
        }),
    );
    let titles: Vec<&str> = actions
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["title"].as_str().unwrap())
        .collect();
    assert!(
        titles.contains(&"Create the node template `server`"),
        "{titles:?}"
    );
    assert!(
        !titles.iter().any(|title| title.contains("type")),
        "{titles:?}"
    );
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_path_is_no_volume_and_a_number_no_name() {
    let text =
        "services:\n  w:\n    image: a:1\n    volumes: ['./data:/d']\n  v:\n    image: a:1\n";
    let (folder, mut client) = start(&[("compose.yaml", text)]);
    let file = uri(&folder.path().join("compose.yaml"));
    let here = at(&file, &position(text, text.find("./data").unwrap()));
    assert_eq!(
        client.result("textDocument/prepareRename", here),
        Value::Null
    );
    let service = at(&file, &position(text, text.find("w:").unwrap()));
    for (new, is_good) in [
        ("3rd", true),
        ("a.b", true),
        ("1", false),
        ("no", false),
        ("a: b", false),
    ] {
        let mut params = service.clone();
        params["newName"] = json!(new);
        let answer = client.request("textDocument/rename", params);
        assert_eq!(answer.get("error").is_none(), is_good, "{new}: {answer}");
    }
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_rename_that_breaks_who_else_reads_a_file_is_refused() {
    let base = "services:\n  base:\n    image: a:1\n";
    let uses = "services:\n  web:\n    extends: { file: ../common.yaml, service: base }\n";
    let files = [
        ("common.yaml", base),
        ("one/compose.yaml", uses),
        ("two/compose.yaml", uses),
    ];
    let (folder, mut client) = start(&files);
    let one = uri(&folder.path().join("one/compose.yaml"));
    let here = at(&one, &position(uses, uses.find("base").unwrap()));
    let found = client.definition(&one, &here["position"]);
    assert_eq!(found, [("common.yaml".to_owned(), 1)]);
    let mut params = here;
    params["newName"] = json!("root");
    let answer = client.request("textDocument/rename", params);
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("two/compose.yaml"), "{answer}");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn what_is_around_a_place_grows_from_the_inside_out() {
    let text = "a:\n  - b: [x, {y: z}]\n    c: |\n      text\n  - d\nkind: Deployment\nheat_template_version: rocky\nresources:\n  n: { type: OS::Neutron::Net }\n";
    let (folder, mut client) = start(&[("a.yaml", text)]);
    let file = uri(&folder.path().join("a.yaml"));
    let positions: Vec<Value> = (0..text.len())
        .map(|offset| position(text, offset))
        .collect();
    let found = client.result(
        "textDocument/selectionRange",
        json!({ "textDocument": { "uri": file }, "positions": positions }),
    );
    let key = |place: &Value| {
        (
            place["line"].as_u64().unwrap(),
            place["character"].as_u64().unwrap(),
        )
    };
    for (one, position) in found.as_array().unwrap().iter().zip(&positions) {
        let mut inner = one;
        assert!(key(&inner["range"]["start"]) <= key(position), "{inner}");
        assert!(key(position) <= key(&inner["range"]["end"]), "{inner}");
        while inner["parent"].is_object() {
            let outer = &inner["parent"];
            assert!(
                key(&outer["range"]["start"]) <= key(&inner["range"]["start"]),
                "{one}"
            );
            assert!(
                key(&inner["range"]["end"]) <= key(&outer["range"]["end"]),
                "{one}"
            );
            inner = outer;
        }
    }
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn words_that_a_schema_leaves_open_are_offered() {
    for (marked, wanted) in [
        ("services:\n  w:\n    restart: |\n", "unless-stopped"),
        (
            "services:\n  w:\n    network_mode: |\n  v:\n    image: a:1\n",
            "service:v",
        ),
        ("services:\n  w:\n    cap_add: [N|]\n", "NET_ADMIN"),
        (
            "services:\n  w:\n    extends: |\n  v:\n    image: a:1\n",
            "v",
        ),
        (
            "services:\n  w:\n    extends:\n      service: |\n  v:\n    image: a:1\n",
            "v",
        ),
        (
            "services:\n  w:\n    deploy:\n      mode: |\n",
            "replicated",
        ),
        ("networks:\n  w:\n    driver: |\n", "bridge"),
    ] {
        let found = crate::client::complete("compose.yaml", marked);
        assert!(
            labels(&found).contains(&wanted),
            "{marked}: {:?}",
            labels(&found)
        );
    }
    let server = "heat_template_version: 2021-04-16\nresources:\n  p:\n    type: OS::Neutron::Port\n    properties:\n      network: n\n      \
                  fixed_ips:\n        - subnet: a\n          |\n";
    let found = crate::client::complete("a.yaml", server);
    assert!(
        labels(&found).contains(&"ip_address"),
        "{:?}",
        labels(&found)
    );
    assert!(
        !labels(&found).contains(&"get_resource"),
        "{:?}",
        labels(&found)
    );
}

#[test]
fn a_parameter_is_renamed_in_environments_and_where_its_template_is_a_type() {
    let inner = "heat_template_version: rocky\nparameters:\n  size: { type: string }\nresources:\n  vm:\n    type: OS::Nova::Server\n    properties: { flavor: { get_param: size }, image: cirros }\n";
    let outer = "heat_template_version: rocky\nresources:\n  one:\n    type: inner.yaml\n    properties: { size: small }\n  all:\n    type: OS::Heat::ResourceGroup\n    properties: { resource_def: { type: inner.yaml, properties: { size: large } } }\n";
    let files = [("inner.yaml", inner), ("outer.yaml", outer)];
    let (folder, mut client) = start(&files);
    let file = |name: &str| uri(&folder.path().join(name));
    let used = position(outer, outer.find("size: small").unwrap());
    let found = client.definition(&file("outer.yaml"), &used);
    assert_eq!(found, [("inner.yaml".to_owned(), 2)]);
    let defined = position(inner, inner.find("size").unwrap());
    for (name, at) in [("outer.yaml", &used), ("inner.yaml", &defined)] {
        let changes = client.renamed(&file(name), at, "flavor_of_it");
        for (name, text) in files {
            let edits = changes[&file(name)].as_array().unwrap();
            assert_eq!(edited(text, edits), text.replace("size", "flavor_of_it"));
        }
    }
    assert_eq!(client.stop(), Some(0));
    let environment = "parameters:\n  size: m1.small\n";
    let settings = "[heat]\nenvironments = [\"e.yaml\"]\n";
    let files = [
        ("inner.yaml", inner),
        ("e.yaml", environment),
        ("locus.toml", settings),
    ];
    let (folder, mut client) = start(&files);
    let file = |name: &str| uri(&folder.path().join(name));
    let given = position(environment, environment.find("size").unwrap());
    let found = client.definition(&file("e.yaml"), &given);
    assert_eq!(found, [("inner.yaml".to_owned(), 2)]);
    let changes = client.renamed(&file("e.yaml"), &given, "kind");
    let edits = changes[&file("e.yaml")].as_array().unwrap();
    assert_eq!(
        edited(environment, edits),
        environment.replace("size", "kind")
    );
    let edits = changes[&file("inner.yaml")].as_array().unwrap();
    assert_eq!(edited(inner, edits), inner.replace("size", "kind"));
    assert_eq!(client.stop(), Some(0));
}
