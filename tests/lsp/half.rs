//! Half-typed files: one thing is said, where it is, and not its echoes.

use serde_json::Value;

use crate::client::{start, uri};

/// What is said about a text: line, columns and the first line of the message.
fn said(name: &str, text: &str) -> Vec<String> {
    let (folder, mut client) = start(&[(name, text)]);
    let file = uri(&folder.path().join(name));
    let all = client.diagnostics(&file, Some(1));
    assert_eq!(client.stop(), Some(0));
    let one = |said: &Value| {
        let (start, end) = (&said["range"]["start"], &said["range"]["end"]);
        let message = said["message"].as_str().unwrap().lines().next().unwrap();
        format!(
            "{}:{}-{}: {message}",
            start["line"], start["character"], end["character"]
        )
    };
    all.iter().map(one).collect()
}

#[test]
fn a_half_typed_resource_is_all_that_is_told() {
    let head = "heat_template_version: rocky\nresources:\n";
    for (rest, wanted) in [
        (
            "  vm:\n    typ",
            "3:4-7: the resource `vm` is a map with a `type`, but this is a string",
        ),
        (
            "  vm",
            "2:2-4: the section `resources` is a map from names, but this is a string",
        ),
        (
            "  vm:\n    type: ",
            "3:8-8: the type of a resource is a string, but this is null",
        ),
    ] {
        assert_eq!(said("a.yaml", &format!("{head}{rest}")), [wanted], "{rest}");
    }
    // A template that is whole and has none is told so.
    assert_eq!(
        said("a.yaml", head),
        ["0:23-28: the template has no resources"]
    );
}

#[test]
fn a_key_without_its_colon_is_pointed_at() {
    let head = "tosca_definitions_version: tosca_simple_yaml_1_3\n";
    let found = said("a.yaml", &format!("{head}topology_templ"));
    assert_eq!(found, ["1:0-14: this key lacks its `:`"]);
    let found = said("a.yaml", &format!("{head}metadata\nimports: []\n"));
    assert_eq!(found, ["1:0-8: this key lacks its `:`"]);
}
