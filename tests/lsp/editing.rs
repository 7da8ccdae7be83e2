//! Definitions, uses, renames, completions and fixes in configurations.

use serde_json::{Value, json};

use crate::client::{at, complete, edited, labels, position, start, uri};

const TEMPLATE: &str = "\
heat_template_version: rocky
parameters:
  size: { type: string, default: m1.small }
resources:
  net: { type: OS::Neutron::Net }
  vm:
    type: OS::Nova::Server
    depends_on: [net]
    properties:
      flavor: { get_param: size }
      image: cirros
      networks: [{ network: { get_resource: net } }]
";

#[test]
fn a_use_leads_to_its_definition_and_back() {
    let (folder, mut client) = start(&[("a.yaml", TEMPLATE)]);
    let file = uri(&folder.path().join("a.yaml"));
    let used = position(TEMPLATE, "get_resource", "net");
    let found = client.result("textDocument/definition", at(&file, &used));
    let start = position(TEMPLATE, "resources", "net");
    assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found[0]["range"]["start"], start);
    let mut params = at(&file, &start);
    params["context"] = json!({ "includeDeclaration": true });
    let found = client.result("textDocument/references", params);
    let lines: Vec<&Value> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|place| &place["range"]["start"]["line"])
        .collect();
    assert_eq!(lines, [4, 7, 11], "{found}");
    let marked = client.result("textDocument/documentHighlight", at(&file, &used));
    assert_eq!(marked.as_array().unwrap().len(), 3);
    let symbols = client.result(
        "textDocument/documentSymbol",
        json!({ "textDocument": { "uri": file } }),
    );
    let names: Vec<&str> = symbols
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["size", "net", "vm"]);
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn hover_tells_types_constraints_and_definitions() {
    let (folder, mut client) = start(&[("a.yaml", TEMPLATE)]);
    let file = uri(&folder.path().join("a.yaml"));
    let mut hover = |after: &str, word: &str| {
        let params = at(&file, &position(TEMPLATE, after, word));
        let found = client.result("textDocument/hover", params);
        let text = found["contents"]["value"].as_str();
        text.unwrap_or_else(|| panic!("{after} {word}: {found}"))
            .to_owned()
    };
    assert!(hover("get_param", "size").contains("default: m1.small"));
    let flavor = hover("properties", "flavor");
    assert!(
        flavor.contains("string") && flavor.contains("Required"),
        "{flavor}"
    );
    assert!(hover("type: OS::Nova", "OS::Nova").contains("resource type"));
}

#[test]
fn a_resource_is_renamed_with_all_its_uses() {
    let (folder, mut client) = start(&[("a.yaml", TEMPLATE)]);
    let file = uri(&folder.path().join("a.yaml"));
    let mut params = at(&file, &position(TEMPLATE, "get_resource", "net"));
    params["newName"] = json!("lan");
    let renamed = client.result("textDocument/rename", params.clone());
    let edits = renamed["changes"][&file].as_array().unwrap().clone();
    let after = edited(TEMPLATE, &edits);
    let expected = TEMPLATE
        .replace("  net:", "  lan:")
        .replace("[net]", "[lan]")
        .replace("get_resource: net", "get_resource: lan");
    assert_eq!(after, expected);
    // Names that exist, and texts that are no names, are refused.
    for wrong in ["vm", "a b", "", "true", "{x"] {
        params["newName"] = json!(wrong);
        let answer = client.request("textDocument/rename", params.clone());
        assert!(answer["error"]["message"].is_string(), "{wrong}: {answer}");
    }
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_service_is_renamed_in_every_file_of_its_project() {
    let compose =
        "include: [more.yaml]\nservices:\n  web:\n    image: nginx:1.27\n    depends_on: [cache]\n";
    let more = "services:\n  cache:\n    image: redis:7\n";
    let (folder, mut client) = start(&[("compose.yaml", compose), ("more.yaml", more)]);
    let file = uri(&folder.path().join("compose.yaml"));
    let other = uri(&folder.path().join("more.yaml"));
    let here = position(compose, "depends_on", "cache");
    let found = client.result("textDocument/definition", at(&file, &here));
    assert_eq!(found[0]["uri"], other.as_str(), "{found}");
    let mut params = at(&file, &here);
    params["newName"] = json!("store");
    let renamed = client.result("textDocument/rename", params);
    let edits = |uri: &String| renamed["changes"][uri].as_array().unwrap().clone();
    assert_eq!(
        edited(compose, &edits(&file)),
        compose.replace("cache", "store")
    );
    assert_eq!(edited(more, &edits(&other)), more.replace("cache", "store"));
    let included = client.result(
        "textDocument/definition",
        at(&file, &position(compose, "include", "more")),
    );
    assert_eq!(included[0]["uri"], other.as_str(), "a file leads to itself");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn half_typed_templates_are_completed() {
    let head = "heat_template_version: rocky\nparameters:\n  size: { type: string }\nresources:\n  net: { type: OS::Neutron::Net }\n  vm:\n    type: OS::Nova::Server\n";
    let found = complete("a.yaml", &format!("{head}    properties:\n      fl|"));
    assert_eq!(
        labels(&found)[0],
        "flavor",
        "required ones first: {found:?}"
    );
    assert!(
        found[0]["textEdit"]["newText"]
            .as_str()
            .unwrap()
            .starts_with("flavor:")
    );
    let found = complete(
        "a.yaml",
        &format!("{head}    properties:\n      flavor: {{ get_param: |"),
    );
    assert_eq!(labels(&found)[0], "size", "{found:?}");
    let found = complete("a.yaml", &format!("{head}    depends_on: [n|]\n"));
    assert!(labels(&found).contains(&"net"), "{found:?}");
    let found = complete(
        "a.yaml",
        &format!("{head}    prop|\n  other: {{ type: x }}\n"),
    );
    assert!(labels(&found).contains(&"properties"), "{found:?}");
    assert!(
        !labels(&found).contains(&"type"),
        "what is there is not suggested"
    );
    let found = complete(
        "a.yaml",
        "heat_template_version: rocky\nresources:\n  p:\n    type: OS::Neutron::Po|\n",
    );
    let port = found.iter().find(|one| one["label"] == "OS::Neutron::Port");
    let text = port.unwrap()["textEdit"]["newText"].as_str().unwrap();
    assert!(
        text.contains("properties:") && text.contains("network: ${1}"),
        "{text}"
    );
}

#[test]
fn half_typed_compose_files_are_completed() {
    let head = "services:\n  web:\n    image: nginx\n";
    let found = complete("compose.yaml", &format!("{head}    dep|"));
    assert!(labels(&found).contains(&"depends_on"), "{found:?}");
    let found = complete(
        "compose.yaml",
        &format!("{head}    depends_on: [|]\n  db: {{ image: postgres }}\n"),
    );
    assert!(labels(&found).contains(&"db"), "{found:?}");
    let found = complete(
        "compose.yaml",
        &format!("{head}    depends_on:\n      db: {{ condition: |\n  db: {{ image: postgres }}\n"),
    );
    assert!(labels(&found).contains(&"service_healthy"), "{found:?}");
}

#[test]
fn a_fix_mends_what_it_is_offered_for() {
    let text = "heat_template_version: rocky\nresources:\n  vm: { type: OS::Nova::Sever }\n";
    let (folder, mut client) = start(&[("a.yaml", text)]);
    let file = uri(&folder.path().join("a.yaml"));
    let said = client.diagnostics(&file, Some(1));
    let mut mended = 0;
    for finding in &said {
        let actions = client.result(
            "textDocument/codeAction",
            json!({
                "textDocument": { "uri": file },
                "range": finding["range"],
                "context": { "diagnostics": [finding] },
            }),
        );
        for action in actions.as_array().unwrap() {
            let edits = action["edit"]["changes"][&file].as_array().unwrap().clone();
            let after = edited(text, &edits);
            assert_ne!(after, text);
            client.change(&file, 2, &after);
            let now = client.diagnostics(&file, Some(2));
            let still = now
                .iter()
                .any(|one| one["code"] == finding["code"] && one["message"] == finding["message"]);
            assert!(!still, "{action}: {now:?}");
            client.change(&file, 3, text);
            client.diagnostics(&file, Some(3));
            mended += 1;
        }
    }
    assert!(mended > 0, "{said:?}");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn structure_lenses_and_commands_are_given() {
    let (folder, mut client) = start(&[("a.yaml", TEMPLATE)]);
    let file = uri(&folder.path().join("a.yaml"));
    let this = json!({ "textDocument": { "uri": file } });
    let folds = client.result("textDocument/foldingRange", this.clone());
    let vm = |fold: &&Value| fold["startLine"] == 5;
    let fold = folds.as_array().unwrap().iter().find(vm);
    assert_eq!(fold.unwrap()["endLine"], 11, "{folds}");
    let mut params = this.clone();
    params["positions"] = json!([position(TEMPLATE, "get_param", "size")]);
    let around = client.result("textDocument/selectionRange", params);
    let start = position(TEMPLATE, "get_param", "size");
    assert_eq!(around[0]["range"]["start"], start);
    assert!(around[0]["parent"]["parent"]["parent"].is_object());
    let lenses = client.result("textDocument/codeLens", this);
    assert!(
        lenses[0]["command"]["title"]
            .as_str()
            .unwrap()
            .contains("deployable")
    );
    let graph = client.result(
        "workspace/executeCommand",
        json!({ "command": "locus.graph", "arguments": [file] }),
    );
    assert!(graph["svg"].as_str().unwrap().contains("<svg"));
    let all = client.result(
        "workspace/executeCommand",
        json!({ "command": "locus.checkAllInputs", "arguments": [file] }),
    );
    assert!(all["deployable"].is_boolean());
    let found = client.result("workspace/symbol", json!({ "query": "siz" }));
    assert_eq!(found[0]["name"], "size");
    assert_eq!(client.stop(), Some(0));
}
