//! Compose projects in an editor.

use serde_json::json;

use crate::client::{acted, edited, position, start, uri};

const PROJECT: &str = "\
services:
  web:
    image: ${IMAGE:-nginx}:1.27
    networks: [front]
    volumes: [\"data:/d\"]
    secrets: [key]
    env_file: web.env
networks:
  front: {}
volumes:
  data: {}
secrets:
  key: { file: ./key }
";

const FILES: &[(&str, &str)] = &[
    ("compose.yaml", PROJECT),
    ("web.env", "A=1\n"),
    (".env", "IMAGE=mirror/nginx\n"),
    ("key", "x"),
];

#[test]
fn networks_volumes_secrets_and_files_are_found_and_renamed() {
    let (folder, mut client) = start(&FILES[..1]);
    for (name, text) in &FILES[1..] {
        crate::write(folder.path(), name, text);
    }
    let file = uri(&folder.path().join("compose.yaml"));
    for (after, word, line) in [
        ("networks", "front", 8),
        ("volumes", "data", 10),
        ("secrets", "key", 12),
    ] {
        let here = position(PROJECT, after, word);
        let found = client.definition(&file, &here);
        assert_eq!(found, [("compose.yaml".to_owned(), line)], "{word}");
        let changes = client.renamed(&file, &here, "other");
        let text = edited(PROJECT, changes[&file].as_array().unwrap());
        let expected = PROJECT
            .replace(&format!("[{word}]"), "[other]")
            .replace(&format!("\"{word}:"), "\"other:")
            .replace(&format!("\n  {word}:"), "\n  other:");
        assert_eq!(text, expected);
    }
    let found = client.definition(&file, &position(PROJECT, "env_file", "web.env"));
    assert_eq!(found, [("web.env".to_owned(), 0)]);
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_variable_is_shown_with_the_value_that_it_has() {
    let (folder, mut client) = start(&FILES[..1]);
    for (name, text) in &FILES[1..] {
        crate::write(folder.path(), name, text);
    }
    let file = uri(&folder.path().join("compose.yaml"));
    let image = client.hover(&file, &position(PROJECT, "image", "IMAGE"));
    assert!(image.contains("value: `mirror/nginx:1.27`"), "{image}");
    let range =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let hints = client.result(
        "textDocument/inlayHint",
        json!({ "textDocument": { "uri": file }, "range": range }),
    );
    assert_eq!(hints.as_array().unwrap().len(), 1, "{hints}");
    assert_eq!(hints[0]["label"], "= mirror/nginx:1.27");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_missing_network_is_created_and_a_finding_ignored_with_a_reason() {
    let text = "services:\n  web:\n    image: nginx:1.27\n    networks: [front]\n";
    let (folder, mut client) = start(&[("compose.yaml", text)]);
    let file = uri(&folder.path().join("compose.yaml"));
    let said = client.said(&file, |said| !said.is_empty());
    assert_eq!(said[0]["code"], "COMPOSE002");
    let here = position(text, "networks", "front");
    let after = acted(
        &mut client,
        &file,
        text,
        &here,
        "Create the network `front`",
    );
    assert_eq!(after, format!("{text}networks:\n  front: {{}}\n"));
    let ignored = acted(&mut client, &file, text, &here, "Ignore COMPOSE002");
    assert!(
        ignored.contains("    # locus: ignore COMPOSE002 -- "),
        "{ignored}"
    );
    for (version, mended) in [(2, after), (3, ignored)] {
        client.change(&file, version, &mended);
        let said = client.diagnostics(&file, Some(version));
        assert!(
            said.iter().all(|one| one["code"] != "COMPOSE002"),
            "{said:?}"
        );
    }
    assert_eq!(client.stop(), Some(0));
}
