//! Models in an editor.

use serde_json::json;

use crate::client::{Client, at, complete, edited, labels, position, start, uri};
use crate::folder;

const MODEL: &str = "\
sig Node { next: lone Node }
pred linked[n: Node] { some n.next }
fact { all n: Node | linked[n] }
assert Links { all n: Node | some n.next }
check Links for 3
";

#[test]
fn a_model_is_checked_navigated_renamed_formatted_and_run() {
    let folder = folder(&[("m.als", MODEL)]);
    let mut client = Client::open_folder(folder.path(), json!({}));
    let file = uri(&folder.path().join("m.als"));
    client.open(&file, 1, MODEL);
    assert!(client.diagnostics(&file, Some(1)).is_empty());
    let at = |after: &str, word: &str| json!({ "textDocument": { "uri": file }, "position": position(MODEL, after, word) });
    let found = client.result("textDocument/definition", at("fact", "linked"));
    assert_eq!(
        found[0]["range"]["start"],
        position(MODEL, "pred", "linked")
    );
    let hover = client.result("textDocument/hover", at("some n.", "next"));
    assert!(
        hover["contents"]["value"]
            .as_str()
            .unwrap()
            .contains("Node -> Node")
    );
    let mut params = at("sig", "next");
    params["newName"] = json!("following");
    let renamed = client.result("textDocument/rename", params);
    let edits = renamed["changes"][&file].as_array().unwrap().clone();
    let after = edited(MODEL, &edits);
    assert_eq!(after, MODEL.replace("next", "following"));
    let this = json!({ "textDocument": { "uri": file } });
    let lenses = client.result("textDocument/codeLens", this.clone());
    let command = &lenses[0]["command"];
    let answer = client.result(
        "workspace/executeCommand",
        json!({ "command": command["command"], "arguments": command["arguments"] }),
    );
    assert!(
        answer.as_str().unwrap().contains("no counterexample"),
        "{answer}"
    );
    // The verdict stands in the lens for as long as the model stays as it is.
    let lenses = client.result("textDocument/codeLens", this.clone());
    let title = lenses[0]["command"]["title"].as_str().unwrap();
    assert!(title.contains("Links: no counterexample"), "{title}");
    let broken = MODEL.replace("n.next }\nfact", "n.nxt }\nfact");
    client.change(&file, 2, &broken);
    let said = client.diagnostics(&file, Some(2));
    assert_eq!(
        said[0]["range"]["start"],
        position(&broken, "pred", "nxt"),
        "{said:?}"
    );
    client.change(&file, 3, "sig   A{}\n");
    let mut params = this;
    params["options"] = json!({ "tabSize": 2, "insertSpaces": true });
    let edits = client.result("textDocument/formatting", params);
    let after = edited("sig   A{}\n", edits.as_array().unwrap());
    assert!(after.starts_with("sig A {"), "{after}");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn instances_are_shown_on_request() {
    let model = "sig Node { next: lone Node }\nrun { some Node.next } for 2\nrun { some univ - Node - Int } for 2\n";
    let (folder, mut client) = start(&[("m.als", model)]);
    let file = uri(&folder.path().join("m.als"));
    let this = json!({ "textDocument": { "uri": file } });
    let lenses = client.result("textDocument/codeLens", this.clone());
    let show = lenses[1]["command"].clone();
    assert_eq!(show["title"], "show instances", "{lenses}");
    let answer = client.result(
        "workspace/executeCommand",
        json!({ "command": show["command"], "arguments": show["arguments"] }),
    );
    let page = answer["html"].as_str().unwrap();
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("Node$0"),
        "{page}"
    );
    // A client that can is told to ask for lenses again.
    client.wait(|message| message["method"] == "workspace/codeLens/refresh");
    // What is typed makes a verdict out of date.
    let run = json!({ "command": "locus.run", "arguments": [file, 0] });
    client.result("workspace/executeCommand", run);
    let title = |client: &mut Client| {
        let lenses = client.result("textDocument/codeLens", this.clone());
        lenses[0]["command"]["title"].as_str().unwrap().to_owned()
    };
    assert!(title(&mut client).contains("instance found"));
    client.change(&file, 2, &model.replace("for 2", "for 3"));
    assert!(title(&mut client).starts_with("run "));
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn models_are_completed_outlined_and_coloured() {
    let (folder, mut client) = start(&[("m.als", MODEL)]);
    let file = uri(&folder.path().join("m.als"));
    let found = client.result(
        "textDocument/completion",
        at(&file, &position(MODEL, "fact", "linked")),
    );
    let labels = labels(found.as_array().unwrap());
    for wanted in ["Node", "next", "linked", "Links", "some", "check"] {
        assert!(labels.contains(&wanted), "{wanted}: {labels:?}");
    }
    let this = json!({ "textDocument": { "uri": file } });
    let symbols = client.result("textDocument/documentSymbol", this.clone());
    let names: Vec<&str> = symbols
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    for wanted in ["Node", "next", "linked", "Links"] {
        assert!(names.contains(&wanted), "{wanted}: {names:?}");
    }
    let tokens = client.result("textDocument/semanticTokens/full", this);
    assert!(
        tokens["data"].as_array().unwrap().len() >= 5 * 8,
        "{tokens}"
    );
    // An expression has a type, a name its declaration.
    let hover = client.hover(&file, &position(MODEL, "some n.", "."));
    assert!(hover.contains("Node"), "{hover}");
    assert_eq!(
        client
            .references(&file, &position(MODEL, "sig", "next"))
            .len(),
        3
    );
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn after_a_dot_comes_what_can_be_joined() {
    let declared = "\
abstract sig Place {}
sig Host extends Place { runs: set Pod, address: lone Address }
sig Pod { needs: set Place }
sig Address { }
fun busy[h: Host]: set Pod { h.runs }
";
    for (line, wanted) in [
        (
            "fact { all h: Host { h.| } }",
            &["address", "busy", "runs"][..],
        ),
        (
            "fact { all h: Host { some h.ru| } }",
            &["address", "busy", "runs"],
        ),
        ("fact { some Host.runs.| }", &["needs"]),
        // What a pod needs may be a host.
        (
            "fact { no (Pod - Host.runs).needs.| and some Pod }",
            &["address", "busy", "runs"],
        ),
        ("fact { some Address.| }", &[]),
    ] {
        let marked = format!("{declared}{line}\nrun {{}} for 2\n");
        let found = complete("m.als", &marked);
        let mut labels = labels(&found);
        labels.sort_unstable();
        assert_eq!(labels, wanted, "{line}");
    }
    // Where nothing is known of the type, every name is offered.
    let found = complete(
        "m.als",
        &format!("{declared}fact {{ all h: Hos {{ h.| }} }}\n"),
    );
    assert!(labels(&found).contains(&"runs") && labels(&found).contains(&"some"));
}

#[test]
fn a_model_that_is_opened_is_read_as_it_is_typed() {
    let library = "module library\nsig Thing {}\n";
    let model = "open library\nfact { some Thing }\nrun {} for 2\n";
    let (folder, mut client) = start(&[("library.als", library), ("m.als", model)]);
    let file = uri(&folder.path().join("m.als"));
    let other = uri(&folder.path().join("library.als"));
    assert!(client.diagnostics(&file, Some(1)).is_empty());
    let found = client.definition(&file, &position(model, "some", "Thing"));
    assert_eq!(found, [("library.als".to_owned(), 1)]);
    let changes = client.renamed(&file, &position(model, "some", "Thing"), "Item");
    let texts = [(&file, model), (&other, library)];
    for (uri, text) in texts {
        let after = edited(text, changes[uri].as_array().unwrap());
        assert_eq!(after, text.replace("Thing", "Item"));
    }
    client.change(&other, 2, "module library\nsig Item {}\n");
    let said = client.said(&file, |said| !said.is_empty());
    assert_eq!(said[0]["range"]["start"], position(model, "some", "Thing"));
    assert_eq!(client.stop(), Some(0));
}
