//! What the protocol offers beside texts: folders, progress, cancellation, pulling, details of findings.

use serde_json::{Value, json};

use crate::client::{Client, able, at, position, start, uri};
use crate::{folder, write};

const TEMPLATE: &str = "\
heat_template_version: rocky
parameters:
  size: { type: string, default: m1.small }
  old: { type: string, default: x }
resources:
  p:
    type: OS::Neutron::Port
    properties: { network: a }
  vm:
    type: OS::Nova::Server
    properties:
      name: { list_join: ['-', [a, { get_param: size }]] }
      flavor: { get_param: size }
      image: cirros
      networks: [{ port: { get_resource: p } }]
  vm2:
    type: OS::Nova::Server
    properties: { flavor: a, image: cirros, networks: [{ port: { get_resource: p } }] }
outputs:
  a: { value: { get_attr: [vm, first_address] } }
";

#[test]
fn findings_have_tags_pages_and_related_places() {
    let folder = folder(&[("a.yaml", TEMPLATE)]);
    let mut client = Client::start(folder.path());
    let options = json!({ "debounce": 5, "documentation": "https://example.org/rules/" });
    let params = json!({
        "processId": null, "capabilities": able(),
        "rootUri": uri(folder.path()), "initializationOptions": options,
    });
    client.result("initialize", params);
    client.notify("initialized", json!({}));
    let file = uri(&folder.path().join("a.yaml"));
    client.open(&file, 1, TEMPLATE);
    let said = client.diagnostics(&file, Some(1));
    let of = |code: &str| {
        let mut all = said.iter();
        let found = all.find(|one| one["code"] == code);
        found.unwrap_or_else(|| panic!("{code}: {said:?}")).clone()
    };
    let (unused, deprecated, shared) = (of("HOT017"), of("HOT016"), of("HOT221"));
    assert_eq!(unused["tags"], json!([1]), "unnecessary");
    assert_eq!(deprecated["tags"], json!([2]), "deprecated");
    assert_eq!(
        shared["codeDescription"]["href"],
        "https://example.org/rules/HOT221.md"
    );
    let related = &shared["relatedInformation"][0];
    assert_eq!(related["message"], "first attached here");
    assert_eq!(
        related["location"]["range"]["start"],
        position(TEMPLATE, "port: {", "{")
    );
    assert_eq!(shared["source"], "locus");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn hover_gives_the_value_of_an_expression_and_the_reason_of_a_rule() {
    let (folder, mut client) = start(&[("a.yaml", TEMPLATE)]);
    let file = uri(&folder.path().join("a.yaml"));
    let mut hover = |after, word| client.hover(&file, &position(TEMPLATE, after, word));
    let join = hover("name:", "list_join");
    assert!(join.contains("value: `a-m1.small`"), "{join}");
    let old = hover("get_attr", "first_address");
    assert!(
        old.contains("**HOT016**") && old.contains("refuse it"),
        "{old}"
    );
    let ty = hover("vm:", "OS::Nova::Server");
    assert!(ty.contains("Required: ") && ty.contains("`flavor`"), "{ty}");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn defaults_are_shown_where_parameters_are_used() {
    let (folder, mut client) = start(&[("a.yaml", TEMPLATE)]);
    let file = uri(&folder.path().join("a.yaml"));
    let range =
        json!({ "start": { "line": 12, "character": 0 }, "end": { "line": 13, "character": 0 } });
    let hints = client.result(
        "textDocument/inlayHint",
        json!({ "textDocument": { "uri": file }, "range": range }),
    );
    assert_eq!(
        hints.as_array().unwrap().len(),
        1,
        "only those asked for: {hints}"
    );
    assert_eq!(hints[0]["label"], "= m1.small");
    let end = position(TEMPLATE, "flavor: { get_param: size", " }");
    assert_eq!(hints[0]["position"], end);
    assert_eq!(client.stop(), Some(0));
}

/// The words that tokens colour, each with the number of its kind and whether it is declared there.
fn words(text: &str, answer: &Value) -> Vec<(String, u64, bool)> {
    let data: Vec<u64> = answer["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n.as_u64().unwrap())
        .collect();
    let (mut line, mut column) = (0, 0);
    let tokens = data.chunks(5).map(|token| {
        if token[0] > 0 {
            column = 0;
        }
        line += token[0];
        column += token[1];
        let text = text.lines().nth(line as usize).unwrap();
        let word = text.chars().skip(column as usize).take(token[2] as usize);
        (word.collect(), token[3], token[4] == 1)
    });
    tokens.collect()
}

#[test]
fn functions_and_names_are_told_apart() {
    let (folder, mut client) = start(&[("a.yaml", TEMPLATE)]);
    let file = uri(&folder.path().join("a.yaml"));
    let answer = client.result(
        "textDocument/semanticTokens/full",
        json!({ "textDocument": { "uri": file } }),
    );
    let words = words(TEMPLATE, &answer);
    for (word, kind, declared) in [
        ("size", 1, true),
        ("get_param", 0, false),
        ("size", 1, false),
        ("list_join", 0, false),
        ("vm", 1, true),
        ("vm", 1, false),
    ] {
        assert!(
            words.contains(&(word.to_owned(), kind, declared)),
            "{word}: {words:?}"
        );
    }
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_parameter_is_limited_to_what_its_uses_take() {
    let (folder, mut client) = start(&[("a.yaml", TEMPLATE)]);
    let file = uri(&folder.path().join("a.yaml"));
    let here = position(TEMPLATE, "parameters", "size");
    let after = crate::client::acted(&mut client, &file, TEMPLATE, &here, "Constrain `size`");
    let line = "size: { type: string, default: m1.small, constraints: [{ custom_constraint: nova.flavor }] }";
    assert!(after.contains(line), "{after}");
    client.change(&file, 2, &after);
    let said = client.diagnostics(&file, Some(2));
    assert!(
        said.iter()
            .all(|one| one["severity"] != 1 || one["code"] == "HOT221"),
        "{said:?}"
    );
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn all_safe_fixes_are_applied_at_once() {
    let text = "version: '3'\nservices:\n  web:\n    image: nginx:1.27\n";
    let (folder, mut client) = start(&[("compose.yaml", text)]);
    let file = uri(&folder.path().join("compose.yaml"));
    let said = client.said(&file, |said| !said.is_empty());
    let nowhere =
        json!({ "start": { "line": 3, "character": 0 }, "end": { "line": 3, "character": 0 } });
    let actions = client.result(
        "textDocument/codeAction",
        json!({
            "textDocument": { "uri": file }, "range": nowhere,
            "context": { "diagnostics": [], "only": ["source.fixAll"] },
        }),
    );
    assert_eq!(actions.as_array().unwrap().len(), 1, "{actions}");
    let edits = actions[0]["edit"]["changes"][&file].as_array().unwrap();
    let after = crate::client::edited(text, edits);
    assert_eq!(after, text.replace("version: '3'\n", ""), "{said:?}");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn several_folders_are_searched_and_can_come_and_go() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: { name: NAME }\nspec: { containers: [{ name: a, image: 'b:1', envFrom: [{ configMapRef: { name: c } }] }] }\n";
    let (first, second) = (folder(&[]), folder(&[]));
    for (folder, name) in [(&first, "one"), (&second, "two")] {
        write(folder.path(), "pod.yaml", &pod.replace("NAME", name));
    }
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: c }\ndata: { a: b }\n";
    write(second.path(), "map.yaml", map);
    let mut client = Client::open_folder(first.path(), able());
    client.searched();
    let names = |client: &mut Client, wanted: &str| -> Vec<String> {
        let found = client.result("workspace/symbol", json!({ "query": wanted }));
        let found = found.as_array().unwrap().iter();
        found
            .map(|one| one["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&mut client, "one"), ["one"]);
    assert!(names(&mut client, "two").is_empty());
    let change = |event: &str, folder: &std::path::Path| {
        let mut params = json!({ "event": { "added": [], "removed": [] } });
        params["event"][event] = json!([{ "uri": uri(folder), "name": "x" }]);
        params
    };
    let method = "workspace/didChangeWorkspaceFolders";
    client.notify(method, change("added", second.path()));
    client.searched();
    assert_eq!(names(&mut client, "two"), ["two"]);
    // The pod is checked with the config map of its folder.
    let file = uri(&second.path().join("pod.yaml"));
    client.open(&file, 1, &pod.replace("NAME", "two"));
    let said = client.diagnostics(&file, Some(1));
    assert!(said.iter().all(|one| one["code"] != "K8S004"), "{said:?}");
    client.notify(method, change("removed", first.path()));
    client.searched();
    assert!(names(&mut client, "one").is_empty());
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn long_work_is_announced_and_can_be_called_off() {
    let model = "sig A { r: set A }\nrun { some A.r } for 3\nhard: run { #A = 40 and A.^r = A and no iden & ^r } for 60\n";
    let (folder, mut client) = start(&[("m.als", model), ("a.yaml", TEMPLATE)]);
    let (file, template) = (
        uri(&folder.path().join("m.als")),
        uri(&folder.path().join("a.yaml")),
    );
    let command = json!({
        "command": "locus.checkAllInputs", "arguments": [template], "workDoneToken": "mine",
    });
    let answer = client.result("workspace/executeCommand", command);
    assert!(answer["deployable"].is_boolean());
    for kind in ["begin", "end"] {
        client.wait(|message| {
            message["params"]["token"] == "mine" && message["params"]["value"]["kind"] == kind
        });
    }
    let run = json!({ "command": "locus.run", "arguments": [file, 1] });
    let ids: Vec<i64> = (0..6)
        .map(|_| client.ask("workspace/executeCommand", run.clone()))
        .collect();
    // Nobody waits for them.
    let here = at(&template, &position(TEMPLATE, "vm:", "OS::Nova"));
    assert!(client.result("textDocument/hover", here).is_object());
    for id in &ids {
        client.notify("$/cancelRequest", json!({ "id": id }));
    }
    for id in ids {
        let answer = client.answer(&json!(id));
        // One that was done before it was called off has its answer.
        assert!(
            answer["error"]["code"] == -32800 || answer["result"].is_string(),
            "{answer}"
        );
    }
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn diagnostics_are_pulled_and_what_is_the_same_is_not_sent_again() {
    let folder = folder(&[("a.yaml", TEMPLATE)]);
    let pulls = json!({
        "textDocument": { "diagnostic": {} },
        "workspace": { "diagnostics": { "refreshSupport": true } },
    });
    let mut client = Client::start(folder.path());
    let able = client.initialize(folder.path(), pulls);
    assert_eq!(able["diagnosticProvider"]["interFileDependencies"], true);
    let file = uri(&folder.path().join("a.yaml"));
    client.open(&file, 1, TEMPLATE);
    let mut params = json!({ "textDocument": { "uri": file } });
    let first = client.result("textDocument/diagnostic", params.clone());
    assert_eq!(first["kind"], "full");
    assert!(!first["items"].as_array().unwrap().is_empty());
    params["previousResultId"] = first["resultId"].clone();
    let second = client.result("textDocument/diagnostic", params.clone());
    assert_eq!(second["kind"], "unchanged", "{second}");
    client.change(
        &file,
        2,
        &TEMPLATE.replace("OS::Neutron::Port", "OS::Neutron::Prt"),
    );
    let third = client.result("textDocument/diagnostic", params);
    assert_eq!(third["kind"], "full", "{third}");
    // Nothing is pushed to whoever pulls, but it is told when to pull again.
    write(folder.path(), "locus.toml", "[rules]\nHOT221 = \"off\"\n");
    let toml = uri(&folder.path().join("locus.toml"));
    let changed = json!({ "changes": [{ "uri": toml, "type": 2 }] });
    client.notify("workspace/didChangeWatchedFiles", changed);
    client.wait(|message| message["method"] == "workspace/diagnostic/refresh");
    assert!(!client.heard_of(&file));
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn versions_that_make_no_sense_do_no_harm() {
    let (folder, mut client) = start(&[("a.yaml", TEMPLATE)]);
    let file = uri(&folder.path().join("a.yaml"));
    client.diagnostics(&file, Some(1));
    for version in [i32::MAX, 0, -7] {
        client.change(&file, version, &TEMPLATE.replace("Port\n", "Prt\n"));
        let said = client.diagnostics(&file, Some(version));
        let unknown = |one: &Value| one["message"].as_str().unwrap().contains("Neutron::Prt`");
        assert!(said.iter().any(unknown), "{said:?}");
    }
    // A range that is nowhere changes the nearest place.
    let far = json!({ "line": 4_000_000_000_u32, "character": 4_000_000_000_u32 });
    let change = json!({
        "textDocument": { "uri": file, "version": 9 },
        "contentChanges": [{ "range": { "start": far, "end": far }, "text": "  b: 1\n" }],
    });
    client.notify("textDocument/didChange", change);
    client.diagnostics(&file, Some(9));
    // Numbers that are no positions are refused, and the text stays as it was.
    let change = json!({
        "textDocument": { "uri": file, "version": 10 },
        "contentChanges": [{ "range": { "start": { "line": -1, "character": 0 }, "end": far }, "text": "" }],
    });
    client.notify("textDocument/didChange", change);
    let symbols = client.result(
        "textDocument/documentSymbol",
        json!({ "textDocument": { "uri": file } }),
    );
    assert!(!symbols.as_array().unwrap().is_empty());
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn the_outline_has_a_place_for_every_definition() {
    let (folder, mut client) = start(&[("a.yaml", TEMPLATE)]);
    let file = uri(&folder.path().join("a.yaml"));
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
    assert_eq!(names, ["size", "old", "p", "vm", "vm2"]);
    assert_eq!(symbols[3]["range"]["end"]["line"], 14, "{symbols}");
    assert_eq!(symbols[3]["detail"], "resource");
    let prepared = client.result(
        "textDocument/prepareRename",
        at(&file, &position(TEMPLATE, "get_resource", "p }")),
    );
    assert_eq!(prepared["start"], position(TEMPLATE, "get_resource", "p }"));
    let nothing = client.result(
        "textDocument/prepareRename",
        at(&file, &position(TEMPLATE, "image", "cirros")),
    );
    assert_eq!(nothing, Value::Null);
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn files_that_are_named_are_links() {
    let nested = "heat_template_version: rocky\nresources:\n  n: { type: OS::Neutron::Net }\n";
    let template = "heat_template_version: rocky\nresources:\n  a: { type: nested.yaml }\n";
    let (folder, mut client) = start(&[("a.yaml", template), ("nested.yaml", nested)]);
    let file = uri(&folder.path().join("a.yaml"));
    let links = client.result(
        "textDocument/documentLink",
        json!({ "textDocument": { "uri": file } }),
    );
    assert_eq!(
        links[0]["range"]["start"],
        position(template, "type", "nested")
    );
    let target = uri(&folder.path().join("nested.yaml"));
    assert_eq!(links[0]["target"], target.as_str());
    let found = client.definition(&file, &position(template, "type", "nested"));
    assert_eq!(found, [("nested.yaml".to_owned(), 0)]);
    assert_eq!(client.stop(), Some(0));
}
