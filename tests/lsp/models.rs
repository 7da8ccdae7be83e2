//! Models in an editor.

use serde_json::json;

use crate::client::{Client, edited, position, uri};
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
