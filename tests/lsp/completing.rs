//! What can be written where, class by class: what is expected first of all that is offered, and how it is inserted.

use locus_core::Sources;
use locus_frontends::yaml;
use serde_json::json;

use crate::client::{complete, complete_with, labels, position, start, uri};

const DEFINITION: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: shops.example.org }
spec:
  group: example.org
  scope: Namespaced
  names: { plural: shops, kind: Shop }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [size, owner]
              properties:
                size: { type: string, enum: [small, large], description: How large it is. }
                owner:
                  type: object
                  required: [name]
                  properties: { name: { type: string }, open: { type: boolean, default: false } }
                doors: { type: array, items: { type: object, properties: { width: { type: integer } } } }
";

const SHOP: &str = "apiVersion: example.org/v1\nkind: Shop\nmetadata: { name: a }\nspec:\n";

/// Checks that these come first, in this order.
fn first(name: &str, marked: &str, others: &[(&str, &str)], wanted: &[&str]) {
    let found = complete_with(name, marked, others);
    let found = labels(&found);
    assert!(found.starts_with(wanted), "{marked}\n{found:?}");
}

/// Checks that these are among what is offered.
fn among(name: &str, marked: &str, wanted: &[&str]) {
    let found = complete(name, marked);
    let found = labels(&found);
    for word in wanted {
        assert!(found.contains(word), "{marked}\n{word}: {found:?}");
    }
}

/// What is inserted for one of what is offered.
fn inserted(name: &str, marked: &str, label: &str) -> String {
    let found = complete(name, marked);
    let one = found.iter().find(|one| one["label"] == label);
    let one = one.unwrap_or_else(|| panic!("{marked}: {found:?}"));
    one["textEdit"]["newText"].as_str().unwrap().to_owned()
}

#[test]
fn custom_resources_have_the_fields_of_their_definition() {
    let crd = [("crd.yaml", DEFINITION)];
    let shop = |rest: &str| format!("{SHOP}{rest}");
    for (marked, wanted) in [
        (shop("  |\n"), ["owner", "size", "doors"].as_slice()),
        (shop("  size: |\n"), &["small", "large"]),
        (shop("  owner:\n    |\n"), &["name", "open"]),
        (shop("  owner: { open: | }\n"), &["true", "false"]),
        (shop("  doors:\n    - |\n"), &["width"]),
        (
            "apiVersion: |\nkind: Shop\n".to_owned(),
            &["example.org/v1"],
        ),
        (
            "apiVersion: example.org/v1\nkind: |\n".to_owned(),
            &["Shop"],
        ),
        (
            format!("{}|\n", SHOP.trim_end_matches("spec:\n")),
            &["spec"],
        ),
    ] {
        first("x.yaml", &marked, &crd, wanted);
    }
    // The definition may stand in the same file.
    first(
        "x.yaml",
        &format!("{DEFINITION}---\n{SHOP}  size: |\n"),
        &[],
        &["small", "large"],
    );
    // Metadata are known of kinds that are not.
    among(
        "x.yaml",
        "apiVersion: a.org/v1\nkind: A\nmetadata:\n  |\n",
        &["name", "labels"],
    );
}

#[test]
fn hover_tells_what_a_definition_says() {
    let text =
        format!("{DEFINITION}---\n{SHOP}  size: small\n  owner:\n    name: a\n    open: true\n");
    let (folder, mut client) = start(&[("x.yaml", &text)]);
    let file = uri(&folder.path().join("x.yaml"));
    let size = client.hover(&file, &position(&text, "kind: Shop\nmetadata", "size"));
    for part in ["string", "Required", "`small`, `large`", "How large it is."] {
        assert!(size.contains(part), "{size}");
    }
    let open = client.hover(&file, &position(&text, "    name: a", "open"));
    assert!(
        open.contains("boolean") && open.contains("Default: `false`"),
        "{open}"
    );
    // A kind leads to its definition.
    let found = client.definition(&file, &position(&text, "example.org/v1\nkind", "Shop"));
    assert_eq!(found, [("x.yaml".to_owned(), 6)]);
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn rules_of_access_are_completed() {
    let of = |kind: &str, rest: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{ name: a }}\n{rest}"
        )
    };
    let binding = |rest: &str| of("RoleBinding", rest);
    let role = |rest: &str| of("Role", &format!("rules:\n  - {rest}"));
    first(
        "r.yaml",
        &binding("roleRef:\n  kind: |\n"),
        &[],
        &["Role", "ClusterRole"],
    );
    first(
        "r.yaml",
        &of("ClusterRoleBinding", "roleRef:\n  kind: |\n"),
        &[],
        &["ClusterRole"],
    );
    among(
        "r.yaml",
        &binding("roleRef: { kind: ClusterRole, name: | }\n"),
        &["cluster-admin", "view"],
    );
    among(
        "r.yaml",
        &binding("subjects:\n  - kind: |\n"),
        &["ServiceAccount", "User", "Group"],
    );
    among(
        "r.yaml",
        &role("verbs: [|]\n"),
        &["get", "list", "deletecollection"],
    );
    among(
        "r.yaml",
        &role("apiGroups: [|]\n"),
        &["\"\"", "apps", "batch"],
    );
    among(
        "r.yaml",
        &role("apiGroups: [apps]\n    resources: [|]\n"),
        &["deployments", "deployments/scale", "statefulsets"],
    );
    let found = complete("r.yaml", &role("apiGroups: [apps]\n    resources: [|]\n"));
    assert!(!labels(&found).contains(&"pods"), "{found:?}");
    // What YAML would not take as this text is put into quotes, unless it is in them.
    assert_eq!(inserted("r.yaml", &role("verbs: [|]\n"), "*"), "\"*\"");
    assert_eq!(inserted("r.yaml", &role("verbs: ['|']\n"), "*"), "*");
    assert_eq!(
        inserted("r.yaml", &role("apiGroups: [|]\n"), "\"\""),
        "\"\""
    );
    // A role of either kind may be meant.
    let defined = of("Role", "rules: []\n").replace("name: a", "name: reader");
    first(
        "r.yaml",
        &binding("roleRef:\n  name: |\n"),
        &[("role.yaml", &defined)],
        &["reader"],
    );
}

#[test]
fn words_of_manifests_that_the_schema_lacks_are_completed() {
    let pod =
        |rest: &str| format!("apiVersion: v1\nkind: Pod\nmetadata: {{ name: a }}\nspec:\n{rest}");
    let container = |rest: &str| pod(&format!("  containers:\n    - name: a\n{rest}"));
    for (marked, wanted) in [
        (container("      resources:\n        limits:\n          |\n"), ["cpu", "memory"].as_slice()),
        (container("      securityContext: { capabilities: { drop: [|] } }\n"), &["ALL", "NET_RAW"]),
        (
            container("      ports: [{ containerPort: 8080 }]\n      livenessProbe: { httpGet: { port: | } }\n"),
            &["8080"],
        ),
        (pod("  nodeSelector:\n    |\n"), &["kubernetes.io/os"]),
        (pod("  nodeSelector:\n    kubernetes.io/os: |\n"), &["linux", "windows"]),
        (
            "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nspec:\n  scaleTargetRef:\n    kind: |\n".to_owned(),
            &["Deployment", "StatefulSet"],
        ),
        (
            "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nspec:\n  metrics:\n    - type: |\n".to_owned(),
            &["Resource", "Pods"],
        ),
        ("apiVersion: v1\nkind: Secret\ntype: |\n".to_owned(), &["Opaque", "kubernetes.io/tls"]),
        ("apiVersion: v1\nkind: ResourceQuota\nspec:\n  hard:\n    |\n".to_owned(), &["requests.cpu", "pods"]),
        ("apiVersion: v1\nkind: Namespace\nmetadata:\n  labels:\n    |\n".to_owned(), &["pod-security.kubernetes.io/enforce"]),
    ] {
        among("x.yaml", &marked, wanted);
    }
}

#[test]
fn what_is_used_and_not_defined_is_offered_where_it_is_defined() {
    among(
        "x.yaml",
        "heat_template_version: rocky\nresources:\n  a:\n    type: OS::Nova::Server\n    properties: { flavor: { get_param: size } }\nparameters:\n  |\n",
        &["size"],
    );
    among(
        "compose.yaml",
        "services:\n  a: { image: a, networks: [back] }\nnetworks:\n  |\n",
        &["back"],
    );
    among(
        "x.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: { name: p }\nspec:\n  containers:\n    - name: a\n      envFrom: [{ configMapRef: { name: settings } }]\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: |\n",
        &["settings"],
    );
    among(
        "x.yaml",
        "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n    a: { type: tosca.nodes.Compute, attributes: { x: { get_input: size } } }\n  inputs:\n    |\n",
        &["size"],
    );
}

#[test]
fn templates_are_completed_within_functions_groups_and_constraints() {
    let template = |rest: &str| format!("heat_template_version: 2021-04-16\n{rest}");
    let parameter = |rest: &str| template(&format!("parameters:\n  n:\n    type: number\n{rest}"));
    let resource = |ty: &str, rest: &str| {
        template(&format!(
            "parameters:\n  lan: {{ type: string }}\n  many: {{ type: json }}\nresources:\n  net: {{ type: OS::Neutron::Net }}\n  own:\n    type: {ty}\n    properties:\n{rest}"
        ))
    };
    for (marked, wanted) in [
        (
            parameter("    constraints:\n      - |\n"),
            ["range", "modulo", "allowed_values"].as_slice(),
        ),
        (
            parameter("    constraints:\n      - range: { | }\n"),
            &["min", "max"],
        ),
        (parameter("    hidden: |\n"), &["true", "false"]),
        (
            parameter("    constraints:\n      - allowed_values: [2, 4]\n    default: |\n"),
            &["2", "4"],
        ),
        (
            template("parameter_groups:\n  - |\n"),
            &["parameters", "label"],
        ),
        (
            template("outputs:\n  o:\n    value:\n      str_replace:\n        |\n"),
            &["template", "params"],
        ),
        (
            resource("OS::Neutron::Port", "      network: |\n"),
            &["{ get_resource: net }", "{ get_param: lan }"],
        ),
        (
            resource(
                "OS::Heat::ResourceGroup",
                "      resource_def:\n        type: OS::Nova::Server\n        properties:\n          |\n",
            ),
            &["flavor", "image"],
        ),
        (
            resource(
                "OS::Heat::ResourceGroup",
                "      resource_def:\n        |\n",
            ),
            &["type", "properties"],
        ),
        (
            resource(
                "OS::Heat::ResourceGroup",
                "      resource_def:\n        type: OS::Nova::|\n",
            ),
            &["OS::Nova::Server"],
        ),
        (
            "parameter_defaults: {}\n|\n".to_owned(),
            &["resource_registry", "parameters"],
        ),
    ] {
        among("x.yaml", &marked, wanted);
    }
    let found = complete("x.yaml", &parameter("    constraints:\n      - |\n"));
    assert!(
        !labels(&found).contains(&"allowed_pattern"),
        "not of a number: {found:?}"
    );
    let found = complete(
        "x.yaml",
        &resource("OS::Neutron::Port", "      network: |\n"),
    );
    assert!(
        !labels(&found).contains(&"{ get_param: many }"),
        "not of this type: {found:?}"
    );
    // The first argument is a resource, and the second an attribute of it.
    let attribute = |rest: &str| {
        resource(
            "OS::Nova::Server",
            &format!("      name: {{ get_attr: [{rest}] }}\n"),
        )
    };
    first("x.yaml", &attribute("|, show"), &[], &["net"]);
    let found = complete("x.yaml", &attribute("net, |"));
    assert!(
        !labels(&found).contains(&"net") && labels(&found).contains(&"show"),
        "{found:?}"
    );
}

#[test]
fn compose_files_are_completed_with_words_that_the_schema_lacks() {
    let service = |rest: &str| {
        format!("services:\n  web:\n    image: a\n{rest}  db: {{ image: b, profiles: [debug] }}\n")
    };
    for (marked, wanted) in [
        (service("    platform: |\n"), ["linux/amd64"].as_slice()),
        (
            service("    healthcheck: { test: [|] }\n"),
            &["CMD", "CMD-SHELL"],
        ),
        (service("    profiles: [|]\n"), &["debug"]),
        (
            service("    deploy: { update_config: { order: | } }\n"),
            &["start-first", "stop-first"],
        ),
        (
            service("    develop:\n      watch:\n        - action: |\n"),
            &["sync", "rebuild"],
        ),
    ] {
        among("compose.yaml", &marked, wanted);
    }
    assert_eq!(
        inserted("compose.yaml", &service("    restart: |\n"), "no"),
        "\"no\""
    );
    let found = complete("compose.yaml", &service("    environment:\n      A: |\n"));
    assert!(found.is_empty(), "any text: {found:?}");
}

#[test]
fn service_templates_are_completed_in_workflows_filters_and_interfaces() {
    let top = |rest: &str| {
        format!(
            "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n    m: {{ type: tosca.nodes.Compute }}\n{rest}"
        )
    };
    let step = |rest: &str| {
        top(&format!(
            "  workflows:\n    w:\n      steps:\n        a:\n          target: m\n{rest}        b: {{ target: m }}\n"
        ))
    };
    let node = |ty: &str, rest: &str| top(&format!("    n:\n      type: {ty}\n{rest}"));
    for (marked, wanted) in [
        (step("          activities:\n            - |\n"), ["set_state", "call_operation"].as_slice()),
        (step("          activities:\n            - set_state: |\n"), &["created", "started"]),
        (step("          activities:\n            - call_operation: |\n"), &["Standard.create"]),
        (step("          on_success: [|]\n"), &["b"]),
        (node("tosca.nodes.Compute", "      directives: [|]\n"), &["select", "substitutable"]),
        (node("tosca.nodes.Compute", "      interfaces:\n        |\n"), &["Standard"]),
        (
            node("tosca.nodes.SoftwareComponent", "      requirements:\n        - host:\n            node_filter:\n              capabilities:\n                - |\n"),
            &["host", "os"],
        ),
        (
            node("tosca.nodes.SoftwareComponent", "      requirements:\n        - host:\n            node_filter:\n              capabilities:\n                - host:\n                    properties:\n                      - |\n"),
            &["num_cpus", "mem_size"],
        ),
        (
            node("tosca.nodes.SoftwareComponent", "      requirements:\n        - host:\n            node_filter:\n              capabilities:\n                - host:\n                    properties:\n                      - num_cpus: { | }\n"),
            &["greater_or_equal", "in_range"],
        ),
        (top("  inputs:\n    i:\n      type: integer\n      constraints:\n        - |\n"), &["valid_values", "in_range"]),
        (
            top("  inputs:\n    i:\n      type: string\n      constraints: [{ valid_values: [a, b] }]\n      default: |\n"),
            &["a", "b"],
        ),
        (top("  policies:\n    - p:\n        type: tosca.policies.Scaling\n        |\n"), &["targets", "triggers"]),
        (
            top("  substitution_mappings:\n    node_type: tosca.nodes.Compute\n    capabilities:\n      |\n"),
            &["host", "os"],
        ),
        (
            "tosca_definitions_version: tosca_2_0\nservice_template:\n  node_templates:\n    n:\n      type: T\n      requirements:\n        - host:\n            directives: [|]\n".to_owned(),
            &["internal", "external"],
        ),
        (
            "tosca_definitions_version: tosca_2_0\nnode_types:\n  T:\n    properties:\n      p:\n        type: integer\n        validation: { | }\n".to_owned(),
            &["$greater_or_equal", "$valid_values"],
        ),
    ] {
        among("x.yaml", &marked, wanted);
    }
}

#[test]
fn members_of_templates_lead_to_the_types_that_define_them() {
    let text = "\
tosca_definitions_version: tosca_simple_yaml_1_3
capability_types:
  own.Port: { properties: { number: { type: integer } } }
node_types:
  own.Base:
    properties: { size: { type: integer, description: How large it is. } }
    capabilities: { port: { type: own.Port } }
  own.Node: { derived_from: own.Base }
topology_template:
  node_templates:
    n:
      type: own.Node
      properties: { size: 4 }
      capabilities: { port: { properties: { number: 8 } } }
  workflows:
    w:
      steps:
        a: { target: n, activities: [{ set_state: started }], on_success: [b] }
        b: { target: n, activities: [{ set_state: stopped }] }
";
    let (folder, mut client) = start(&[("x.yaml", text)]);
    let file = uri(&folder.path().join("x.yaml"));
    for (after, word, line) in [
        ("type: own.Node", "size", 5),
        ("type: own.Node", "number", 2),
        ("type: own.Node", "port", 6),
        ("on_success", "b", 18),
    ] {
        let found = client.definition(&file, &position(text, after, word));
        assert_eq!(found, [("x.yaml".to_owned(), line)], "{word}");
    }
    let size = client.hover(&file, &position(text, "type: own.Node", "size"));
    assert!(
        size.contains("integer") && size.contains("How large"),
        "{size}"
    );
    let changes = client.renamed(&file, &position(text, "on_success", "b"), "last");
    assert_eq!(changes[&file].as_array().unwrap().len(), 2, "{changes}");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_value_is_told_of_by_its_key() {
    let text = "services:\n  web:\n    image: nginx:1.27\n    stop_grace_period: 5s\n";
    let (folder, mut client) = start(&[("compose.yaml", text)]);
    let file = uri(&folder.path().join("compose.yaml"));
    let told = client.hover(&file, &position(text, "stop_grace_period", "5s"));
    assert!(told.starts_with("`stop_grace_period`"), "{told}");
    let edits = json!({ "position": position(text, "image", "nginx") });
    let told = client.hover(&file, &edits["position"]);
    assert!(told.starts_with("`image`"), "{told}");
    assert_eq!(client.stop(), Some(0));
}

/// A text with places to fill in filled in.
fn filled(snippet: &str) -> String {
    let mut parts = snippet.split("${");
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        text.push('v');
        text.push_str(part.split_once('}').unwrap().1);
    }
    text.replace("\\$", "$")
}

#[test]
fn whatever_is_inserted_is_a_key_of_its_map() {
    let mut count = 0;
    for (name, marked, path) in [
        (
            "a.yaml",
            "heat_template_version: rocky\nresources:\n  vm:\n    type: OS::Nova::Server\n    properties:\n      image: a\n      |\n",
            "resources/vm/properties",
        ),
        (
            "compose.yaml",
            "services:\n  web:\n    image: a\n    |\n",
            "services/web",
        ),
        (
            "a.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec:\n  containers:\n    - name: a\n      |\n",
            "spec/containers/0",
        ),
        (
            "a.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec:\n  volumes:\n  - name: a\n    |\n",
            "spec/volumes/0",
        ),
        (
            "a.yaml",
            "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n    m:\n      type: tosca.nodes.Compute\n      |\n",
            "topology_template/node_templates/m",
        ),
    ] {
        let offset = marked.find('|').unwrap();
        let text = marked.replacen('|', "", 1);
        for one in complete(name, marked) {
            let label = one["label"].as_str().unwrap();
            let new = filled(one["textEdit"]["newText"].as_str().unwrap());
            let mut after = text.clone();
            after.insert_str(offset, &new);
            let mut sources = Sources::new();
            let file = sources.add("", after.as_str());
            let parsed = yaml::parse(&sources, file, &yaml::Limits::default());
            assert!(parsed.diagnostics.is_empty(), "{label}: {after}");
            let mut node = &parsed.documents[0].root;
            for key in path.split('/') {
                node = match key.parse::<usize>() {
                    Ok(at) => &node.as_sequence().unwrap()[at],
                    Err(_) => node.get(key).unwrap(),
                };
            }
            assert!(node.get(label).is_some(), "{label}: {after}");
            count += 1;
        }
    }
    assert!(count > 150, "{count}");
}
