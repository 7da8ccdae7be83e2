//! Service templates in an editor.

use serde_json::json;

use crate::client::{acted, complete, complete_with, edited, labels, position, start, uri};

const TEMPLATE: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
imports:
  - types.yaml
topology_template:
  inputs:
    cpus: { type: integer, default: 4 }
  node_templates:
    server:
      type: tosca.nodes.Compute
      capabilities:
        host:
          properties:
            num_cpus: { get_input: cpus }
    app:
      type: my.App
      properties:
        color: red
      requirements:
        - host: server
    lost:
      type: my.App
      properties: { color: { get_input: shade } }
      requirements:
        - host: nowhere
";

const TYPES: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  my.App:
    derived_from: tosca.nodes.SoftwareComponent
    description: What runs.
    properties:
      color:
        type: string
        constraints: [ { valid_values: [ red, green ] } ]
";

const FILES: &[(&str, &str)] = &[("t.yaml", TEMPLATE), ("types.yaml", TYPES)];

#[test]
fn names_and_imports_lead_to_their_definitions() {
    let (folder, mut client) = start(FILES);
    let file = uri(&folder.path().join("t.yaml"));
    for (after, word, name, line) in [
        ("get_input", "cpus", "t.yaml", 5),
        ("- host", "server", "t.yaml", 7),
        ("app:", "my.App", "types.yaml", 2),
        ("imports", "types", "types.yaml", 0),
    ] {
        let found = client.definition(&file, &position(TEMPLATE, after, word));
        assert_eq!(found, [(name.to_owned(), line)], "{word}");
    }
    let links = client.result(
        "textDocument/documentLink",
        json!({ "textDocument": { "uri": file } }),
    );
    assert!(
        links[0]["target"]
            .as_str()
            .unwrap()
            .ends_with("/types.yaml"),
        "{links}"
    );
    let types = uri(&folder.path().join("types.yaml"));
    let changes = client.renamed(&file, &position(TEMPLATE, "app:", "my.App"), "our.App");
    for (uri, text) in [(&file, TEMPLATE), (&types, TYPES)] {
        let after = edited(text, changes[uri].as_array().unwrap());
        assert_eq!(after, text.replace("my.App", "our.App"));
    }
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn hover_and_hints_tell_types_and_defaults() {
    let (folder, mut client) = start(FILES);
    let file = uri(&folder.path().join("t.yaml"));
    let mut hover = |after, word| client.hover(&file, &position(TEMPLATE, after, word));
    assert!(hover("num_cpus", "num_cpus").contains("integer"));
    assert!(hover("get_input", "cpus").contains("default: 4"));
    assert!(hover("app:", "my.App").contains("What runs."));
    let compute = hover("server:", "tosca.nodes.Compute");
    assert!(
        compute.contains("node type") && !compute.contains("not defined"),
        "{compute}"
    );
    let range =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let hints = client.result(
        "textDocument/inlayHint",
        json!({ "textDocument": { "uri": file }, "range": range }),
    );
    assert_eq!(hints[0]["label"], "= 4", "{hints}");
    assert_eq!(hints[0]["position"]["line"], 12);
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn what_is_missing_is_created_and_inputs_are_constrained() {
    let (folder, mut client) = start(FILES);
    let file = uri(&folder.path().join("t.yaml"));
    let input = position(TEMPLATE, "color: {", "shade");
    let after = acted(
        &mut client,
        &file,
        TEMPLATE,
        &input,
        "Create the input `shade`",
    );
    assert!(
        after.contains("default: 4 }\n    shade: { type: string }\n"),
        "{after}"
    );
    let node = position(TEMPLATE, "host: n", "nowhere");
    let made = acted(
        &mut client,
        &file,
        TEMPLATE,
        &node,
        "Create the node template `nowhere`",
    );
    assert!(
        made.ends_with("\n    nowhere: { type: tosca.nodes.Root }\n"),
        "{made}"
    );
    // What the property takes is what the input may be.
    client.change(&file, 2, &after);
    let input = position(&after, "    shade", "shade");
    let limited = acted(&mut client, &file, &after, &input, "Constrain `shade`");
    assert!(
        limited
            .contains("shade: { type: string, constraints: [{ valid_values: [ red, green ] }] }"),
        "{limited}"
    );
    let cpus = position(&after, "    cpus", "cpus");
    let limited = acted(&mut client, &file, &after, &cpus, "greater_or_equal: 1");
    assert!(
        limited.contains("default: 4, constraints: [{ greater_or_equal: 1 }] }"),
        "{limited}"
    );
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn mistyped_names_are_mended() {
    for (wrong, right, line) in [
        ("tosca.nodes.Compte", "tosca.nodes.Compute", "server:"),
        ("colr", "color", "app:"),
        ("get_inputs", "get_input", "num_cpus"),
        ("num_cpu", "num_cpus", "host:"),
    ] {
        let text = TEMPLATE
            .replacen(right, wrong, 1)
            .replace("      requirements:\n        - host: nowhere\n", "")
            .replace("      properties: { color: { get_input: shade } }\n", "");
        let (folder, mut client) = start(&[("t.yaml", &text), ("types.yaml", TYPES)]);
        let file = uri(&folder.path().join("t.yaml"));
        client.said(&file, |said| !said.is_empty());
        let at = position(&text, line, wrong);
        let title = format!("replace `{wrong}` with `{right}`");
        let mended = acted(&mut client, &file, &text, &at, &title);
        assert_eq!(mended, text.replacen(wrong, right, 1));
        assert_eq!(client.stop(), Some(0));
    }
}

#[test]
fn half_typed_service_templates_are_completed() {
    let head = "tosca_definitions_version: tosca_simple_yaml_1_3\n";
    let found = complete("x.yaml", &format!("{head}topo|"));
    assert!(labels(&found).contains(&"topology_template"), "{found:?}");
    let nodes = format!(
        "{head}topology_template:\n  inputs:\n    size: {{ type: integer }}\n  node_templates:\n    a:\n      type: "
    );
    let found = complete("x.yaml", &format!("{nodes}tosca.nodes.Com|\n"));
    assert!(labels(&found).contains(&"tosca.nodes.Compute"), "{found:?}");
    let compute = format!("{nodes}tosca.nodes.Compute\n");
    let host = format!("{compute}      capabilities:\n        host:\n          properties:\n");
    let found = complete("x.yaml", &format!("{host}            num|\n"));
    assert!(labels(&found).contains(&"num_cpus"), "{found:?}");
    let found = complete(
        "x.yaml",
        &format!("{host}            num_cpus: {{ get_input: |"),
    );
    assert_eq!(labels(&found), ["size"]);
    let app = format!(
        "{compute}    b:\n      type: tosca.nodes.SoftwareComponent\n      requirements:\n        - "
    );
    let found = complete("x.yaml", &format!("{app}host: |\n"));
    assert!(labels(&found).contains(&"a"), "{found:?}");
    let found = complete("x.yaml", &format!("{app}|\n"));
    assert!(labels(&found).contains(&"host"), "{found:?}");
    let typed = TEMPLATE.replace("color: red", "color: |");
    let found = complete_with("x.yaml", &typed, &FILES[1..]);
    assert_eq!(labels(&found), ["green", "red"]);
    let typed = TEMPLATE.replace("color: red", "c|");
    let found = complete_with("x.yaml", &typed, &FILES[1..]);
    assert_eq!(labels(&found)[0], "color", "required ones first: {found:?}");
}
