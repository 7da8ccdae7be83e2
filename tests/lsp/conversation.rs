//! Beginning, changing, ending: what is said when, and what is not.

use serde_json::{Value, json};

use crate::client::{Client, uri};
use crate::{folder, write};

const BROKEN: &str =
    "heat_template_version: rocky\nresources:\n  \"é😀\": { type: OS::Nova::Sever }\n";

#[test]
fn a_finding_is_where_it_is_in_every_encoding() {
    for (encoding, start) in [("utf-8", 20), ("utf-16", 17), ("utf-32", 16)] {
        let folder = folder(&[("a.yaml", BROKEN)]);
        let mut client = Client::start(folder.path());
        let general = json!({ "general": { "positionEncodings": [encoding] } });
        let able = client.initialize(folder.path(), general);
        assert_eq!(able["positionEncoding"], encoding);
        let uri = uri(&folder.path().join("a.yaml"));
        client.open(&uri, 1, BROKEN);
        let said = client.diagnostics(&uri, Some(1));
        let at = said
            .iter()
            .find(|said| said["message"].as_str().unwrap().contains("Sever"));
        let range = &at.unwrap_or_else(|| panic!("{said:?}"))["range"];
        assert_eq!(
            range["start"],
            json!({ "line": 2, "character": start }),
            "{encoding}"
        );
        let end = json!({ "line": 2, "character": start + "OS::Nova::Sever".len() });
        assert_eq!(range["end"], end, "{encoding}");
        assert_eq!(client.stop(), Some(0));
    }
}

#[test]
fn changes_are_followed_and_the_disk_is_not_asked() {
    let folder = folder(&[("a.yaml", BROKEN)]);
    let mut client = Client::open_folder(folder.path(), json!({}));
    let uri = uri(&folder.path().join("a.yaml"));
    client.open(&uri, 1, BROKEN);
    let before = client.diagnostics(&uri, Some(1));
    let unknown = |said: &Value| said["message"].as_str().unwrap().contains("Nova::Sever`");
    assert!(before.iter().any(unknown), "{before:?}");
    // `Sever` becomes `Server`.
    let start = json!({ "line": 2, "character": 29 });
    let change = json!({
        "textDocument": { "uri": uri, "version": 2 },
        "contentChanges": [{ "range": { "start": start, "end": start }, "text": "r" }],
    });
    client.notify("textDocument/didChange", change);
    let said = client.diagnostics(&uri, Some(2));
    assert!(!said.iter().any(unknown), "{said:?}");
    let required = |said: &Value| said["message"].as_str().unwrap().contains("flavor");
    assert!(said.iter().any(required), "it is a server now: {said:?}");
    client.notify(
        "textDocument/didClose",
        json!({ "textDocument": { "uri": uri } }),
    );
    assert!(
        client.diagnostics(&uri, None).is_empty(),
        "closed is cleared"
    );
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_file_of_no_language_is_left_alone() {
    let folder = folder(&[]);
    let mut client = Client::open_folder(folder.path(), json!({}));
    let other = uri(&folder.path().join("playbook.yaml"));
    client.open(&other, 1, "- name: play\n  hosts: all\n");
    let broken = uri(&folder.path().join("broken.yaml"));
    client.open(&broken, 1, "a: [\n");
    let ours = uri(&folder.path().join("a.yaml"));
    client.open(&ours, 1, BROKEN);
    client.diagnostics(&ours, Some(1));
    assert!(!client.heard_of(&other) && !client.heard_of(&broken));
    let at = json!({ "textDocument": { "uri": other }, "position": { "line": 0, "character": 3 } });
    for method in ["hover", "definition", "completion"] {
        let answer = client.result(&format!("textDocument/{method}"), at.clone());
        assert_eq!(answer, Value::Null, "{method}");
    }
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn text_that_was_never_saved_is_checked() {
    let folder = folder(&[]);
    let mut client = Client::open_folder(folder.path(), json!({}));
    client.open("untitled:Untitled-1", 1, BROKEN);
    assert!(
        !client
            .diagnostics("untitled:Untitled-1", Some(1))
            .is_empty()
    );
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn settings_and_parts_count_as_soon_as_they_change() {
    let template = "heat_template_version: rocky\nresources:\n  a: { type: OS::Nova::Sever }\n";
    let folder = folder(&[("a.yaml", template), ("locus.toml", "")]);
    let mut client = Client::open_folder(folder.path(), json!({}));
    let (file, toml) = (
        uri(&folder.path().join("a.yaml")),
        uri(&folder.path().join("locus.toml")),
    );
    client.open(&file, 1, template);
    let said = client.diagnostics(&file, Some(1));
    let code = said[0]["code"].as_str().unwrap().to_owned();
    write(
        folder.path(),
        "locus.toml",
        &format!("[rules]\n{code} = \"off\"\n"),
    );
    let changed = json!({ "changes": [{ "uri": toml, "type": 2 }] });
    client.notify("workspace/didChangeWatchedFiles", changed);
    let said = client.wait(|message| {
        message["params"]["uri"] == file.as_str()
            && message["params"]["diagnostics"]
                .as_array()
                .is_some_and(|said| said.iter().all(|one| one["code"] != code.as_str()))
    });
    assert_eq!(said["method"], "textDocument/publishDiagnostics");
    // An unsaved mistake in the settings is told where it is.
    client.open(&toml, 1, "[rules]\nNOSUCH = \"off\"\n");
    let said = client.diagnostics(&toml, Some(1));
    assert_eq!(
        said[0]["range"]["start"],
        json!({ "line": 1, "character": 0 })
    );
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn nonsense_is_answered_and_ends_nothing() {
    let folder = folder(&[]);
    let mut client = Client::start(folder.path());
    let early = client.request("textDocument/hover", json!({}));
    assert_eq!(early["error"]["code"], -32002);
    client.initialize(folder.path(), json!({}));
    client.raw(b"Content-Length: 3\r\n\r\n{{{");
    assert_eq!(client.answer(&Value::Null)["error"]["code"], -32700);
    client.raw(b"Content-Length: 10\r\n\r\n{\"id\":\"x\"}");
    assert_eq!(client.answer(&json!("x"))["error"]["code"], -32600);
    assert_eq!(
        client.request("no/method", json!({}))["error"]["code"],
        -32601
    );
    let wrong = client.request("textDocument/hover", json!({ "position": 1 }));
    assert_eq!(wrong["error"]["code"], -32602);
    client.notify("$/whatever", json!([1]));
    client.notify("textDocument/didOpen", json!({ "textDocument": 1 }));
    client.notify(
        "textDocument/didClose",
        json!({ "textDocument": { "uri": "file:///nowhere" } }),
    );
    client.change("file:///not-open.yaml", 7, "a: 1");
    client.notify("$/cancelRequest", json!({ "id": 999 }));
    let hover = json!({
        "textDocument": { "uri": "file:///nowhere/a.yaml" },
        "position": { "line": 9, "character": 9 },
    });
    assert_eq!(client.result("textDocument/hover", hover), Value::Null);
    let twice = client.request("initialize", json!({ "capabilities": {} }));
    assert_eq!(twice["error"]["code"], -32600);
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_client_that_dies_takes_the_server_with_it() {
    let folder = folder(&[]);
    let client = Client::open_folder(folder.path(), json!({}));
    assert_eq!(client.die(), Some(1));
    let mut client = Client::start(folder.path());
    client.raw(b"Content-Length: 100\r\n\r\n{");
    assert_eq!(client.die(), Some(1));
}

#[test]
fn a_large_text_is_taken_and_typing_goes_on() {
    let folder = folder(&[]);
    let mut client = Client::open_folder(folder.path(), json!({}));
    let file = uri(&folder.path().join("large.yaml"));
    let line = "        echo a line of a script that somebody generated\n";
    let script = line.repeat(5_000_000 / line.len() + 1);
    let text = format!(
        "heat_template_version: rocky\nresources:\n  a:\n    type: OS::Nova::Sever\n    properties:\n      user_data: |\n{script}"
    );
    assert!(text.len() > 5_000_000);
    client.open(&file, 1, &text);
    let end = json!({ "line": 3, "character": 14 });
    for version in 2..6 {
        let change = json!({
            "textDocument": { "uri": file, "version": version },
            "contentChanges": [{ "range": { "start": end, "end": end }, "text": "x" }],
        });
        client.notify("textDocument/didChange", change);
    }
    let said = client.diagnostics(&file, Some(5));
    assert!(!said.is_empty());
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn many_files_are_open_and_one_is_deleted() {
    let folder = folder(&[]);
    let mut client = Client::open_folder(folder.path(), json!({}));
    let template = "heat_template_version: rocky\nresources:\n  a: { type: OS::Nova::Sever }\n";
    let all: Vec<String> = (0..500)
        .map(|at| uri(&folder.path().join(format!("t{at}.yaml"))))
        .collect();
    write(folder.path(), "t7.yaml", template);
    for file in &all {
        client.open(file, 1, template);
    }
    for file in &all {
        assert!(!client.diagnostics(file, Some(1)).is_empty(), "{file}");
    }
    // What is open stays, though the file is gone.
    std::fs::remove_file(folder.path().join("t7.yaml")).unwrap();
    let gone = json!({ "changes": [{ "uri": all[7], "type": 3 }] });
    client.notify("workspace/didChangeWatchedFiles", gone);
    client.change(&all[7], 2, template);
    assert!(!client.diagnostics(&all[7], Some(2)).is_empty());
    assert_eq!(client.stop(), Some(0));
}
