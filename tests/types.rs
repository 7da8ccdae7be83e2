//! `--types`: types of TOSCA that no file imports, where a repository has them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::path::Path;
use std::process::Command;

fn check(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_locus"))
        .arg("check")
        .args(arguments)
        .args(["--format", "compact"])
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), said)
}

/// A repository as that of Winery: a folder for each type, named after its namespace and its name.
fn repository(folder: &Path) {
    let head = "tosca_definitions_version: tosca_simple_yaml_1_3\n";
    let files = [
        (
            "nodetypes/my.nodes.abstract/App/NodeType.tosca",
            "node_types:
  my.nodes.abstract.App:
    derived_from: my.nodes.Base
    requirements:
      - endpoint: { capability: my.capabilities.Callable, relationship: my.relationships.Calls }
",
        ),
        (
            "nodetypes/my.nodes/Base/NodeType.tosca",
            "node_types:
  my.nodes.Base:
    derived_from: tosca.nodes.Root
    properties: { size: { type: my.datatypes.Size } }
    capabilities: { called: { type: my.capabilities.Callable } }
",
        ),
        (
            "datatypes/my.datatypes/Size/DataType.tosca",
            "data_types:
  my.datatypes.Size:
    derived_from: integer
    constraints: [{ in_range: [1, 4] }]
",
        ),
        (
            "capabilitytypes/my.capabilities/Callable/CapabilityType.tosca",
            "capability_types:
  my.capabilities.Callable: { derived_from: tosca.capabilities.Root }
",
        ),
        (
            "relationshiptypes/my.relationships/Calls/RelationshipType.tosca",
            "relationship_types:
  my.relationships.Calls: { derived_from: tosca.relationships.Root }
",
        ),
    ];
    for (path, text) in files {
        let path = folder.join("repository").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{head}{text}")).unwrap();
    }
}

fn service(size: u32) -> String {
    format!(
        "tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    one:
      type: my.nodes.Base
      properties: {{ size: 2 }}
    two:
      type: my.nodes.abstract.App
      properties: {{ size: {size} }}
      requirements: [{{ endpoint: one }}]
"
    )
}

#[test]
fn types_are_found_in_a_repository_without_imports() {
    let folder = tempfile::tempdir().unwrap();
    repository(folder.path());
    let write = |text: String| std::fs::write(folder.path().join("service.yaml"), text).unwrap();
    write(service(3));
    let (code, said) = check(folder.path(), &["service.yaml"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("no node type `my.nodes.Base`"), "{said}");
    let with = ["--types", "repository", "service.yaml"];
    let (code, said) = check(folder.path(), &with);
    assert_eq!(code, Some(0), "{said}");
    // They are known as well as types that are imported.
    write(service(5));
    let (code, said) = check(folder.path(), &with);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("service.yaml:9:"), "{said}");
    let app = "repository/nodetypes/my.nodes.abstract/App/NodeType.tosca";
    let (code, said) = check(folder.path(), &["--types", "repository", app]);
    assert_eq!(code, Some(0), "{said}");
    let (code, _) = check(folder.path(), &[app]);
    assert_eq!(code, Some(1));
}
