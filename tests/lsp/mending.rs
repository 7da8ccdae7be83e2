//! Edits that are looked for once somebody chooses to.

use serde_json::{Value, json};

use crate::client::{Client, able, edited, uri};

const BROKEN: &str = "\
heat_template_version: rocky
resources:
  net: { type: OS::Neutron::Net }
  subnet:
    type: OS::Neutron::Subnet
    properties:
      network: { get_resource: net }
      cidr: 10.0.0.0/24
      gateway_ip: 10.0.0.1
      allocation_pools: [{ start: 10.0.0.1, end: 10.0.0.20 }]
";

fn open(resolves: bool) -> (tempfile::TempDir, Client, String, Value) {
    let folder = crate::folder(&[("a.yaml", BROKEN)]);
    let mut able = able();
    if resolves {
        able["textDocument"]["codeAction"]["resolveSupport"] = json!({ "properties": ["edit"] });
    }
    let mut client = Client::open_folder(folder.path(), able);
    client.searched();
    let file = uri(&folder.path().join("a.yaml"));
    client.open(&file, 1, BROKEN);
    let said = client.said(&file, |said| !said.is_empty());
    let actions = client.result(
        "textDocument/codeAction",
        json!({
            "textDocument": { "uri": file },
            "range": said[0]["range"],
            "context": { "diagnostics": [said[0]] },
        }),
    );
    let mut all = actions.as_array().unwrap().iter();
    let action = all.find(|one| one["title"].as_str().unwrap().starts_with("Look for"));
    let action = action.cloned().unwrap_or_default();
    (folder, client, file, action)
}

#[test]
fn what_has_no_fix_is_mended_by_edits_that_are_looked_for() {
    let (_folder, mut client, file, action) = open(true);
    assert!(
        action["edit"].is_null(),
        "nothing is looked for yet: {action}"
    );
    let resolved = client.result("codeAction/resolve", action);
    let edits = resolved["edit"]["changes"][&file].as_array().unwrap();
    let after = edited(BROKEN, edits);
    assert_ne!(after, BROKEN);
    client.change(&file, 2, &after);
    assert_eq!(
        client.diagnostics(&file, Some(2)),
        Vec::<Value>::new(),
        "{after}"
    );
    // What is right needs no edits, and that is said.
    let answer = client.request(
        "codeAction/resolve",
        json!({ "title": "x", "data": { "mend": file } }),
    );
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("no edits were found"), "{answer}");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn nothing_to_look_for_is_offered_to_who_cannot_ask() {
    let (_folder, client, _, action) = open(false);
    assert_eq!(action, Value::Null);
    assert_eq!(client.stop(), Some(0));
}
