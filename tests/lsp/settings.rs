//! `locus.toml` in an editor.

use serde_json::{Value, json};

use crate::client::{complete, labels, position, start, uri};

#[test]
fn wrong_settings_are_told_where_they_are() {
    let text = "[rules]\nHOT221 = \"of\"\n\n[heat]\nnosuch = 1\n";
    let (folder, mut client) = start(&[("locus.toml", text)]);
    let file = uri(&folder.path().join("locus.toml"));
    let said = client.diagnostics(&file, Some(1));
    let starts: Vec<&Value> = said
        .iter()
        .map(|one| &one["range"]["start"]["line"])
        .collect();
    assert!(
        starts.contains(&&Value::from(1)) && starts.contains(&&Value::from(4)),
        "{said:?}"
    );
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn sections_keys_words_and_rules_are_completed() {
    let found = complete("locus.toml", "[|");
    assert!(labels(&found).contains(&"rules"), "{found:?}");
    let found = complete("locus.toml", "[rules]\nHOT2|");
    let rule = found.iter().find(|one| one["label"] == "HOT221");
    assert_eq!(rule.unwrap()["textEdit"]["newText"], "HOT221 = ");
    let found = complete("locus.toml", "[rules]\nHOT221 = |");
    assert!(labels(&found).contains(&"off"), "{found:?}");
    let found = complete("locus.toml", "[heat]\n|");
    assert!(!found.is_empty());
    // An editor that closes quotes by itself, and tables within a line.
    for text in [
        "[rules]\nHOT221 = \"|\"",
        "[rules]\nHOT221 = { severity = \"|\" }",
        "[rules]\nHOT221 = [\n  { paths = [\"a/**\"], severity = \"|\" },\n]\n",
    ] {
        let found = complete("locus.toml", text);
        let off = found.iter().find(|one| one["label"] == "off").expect(text);
        assert_eq!(off["textEdit"]["newText"], "off");
        assert!(!labels(&found).contains(&"HOT221"), "{found:?}");
    }
    let found = complete("locus.toml", "[rules]\nHOT221 = { severity = \"off\", | }");
    assert_eq!(labels(&found), ["paths"]);
    // What is there already is not offered again.
    let found = complete("locus.toml", "[rules]\nHOT221 = \"off\"\n|\n");
    assert!(labels(&found).contains(&"HOT222") && !labels(&found).contains(&"HOT221"));
    let found = complete("locus.toml", "[heat]\n[|]\n");
    assert!(labels(&found).contains(&"compose") && !labels(&found).contains(&"heat"));
    let found = complete("locus.toml", "[kubernetes.policy]\nreplicas = 2\n|\n");
    assert!(labels(&found).contains(&"denied-images") && !labels(&found).contains(&"replicas"));
    let found = complete("locus.toml", "[[kubernetes.nodes]]\ncpu = 4\n|");
    assert!(labels(&found).contains(&"taints") && !labels(&found).contains(&"cpu"));
    let found = complete(
        "locus.toml",
        "[heat.types.\"A::B\".properties]\nx = { type = \"|\" }",
    );
    assert!(labels(&found).contains(&"boolean"), "{found:?}");
    let found = complete("locus.toml", "[kubernetes]\npod-security = |\n");
    assert_eq!(labels(&found), ["privileged", "baseline", "restricted"]);
}

#[test]
fn hover_tells_what_keys_and_rules_mean() {
    let text = "[rules]\nHOT221 = \"off\"\n";
    let (folder, mut client) = start(&[("locus.toml", text)]);
    let file = uri(&folder.path().join("locus.toml"));
    let rule = client.hover(&file, &position(text, "HOT", "HOT221"));
    assert!(rule.starts_with("**HOT221** "), "{rule}");
    let section = client.hover(&file, &position(text, "[", "rules"));
    assert!(section.starts_with("`rules`"), "{section}");
    assert_eq!(client.stop(), Some(0));
}

const SETTINGS: &str = "\
[rules]
HOT221 = \"off\"
HOT222 = { severity = \"off\", paths = [
  \"a/**\",
] }

# Of the templates.
[heat]
environments = [\"a.env.yaml\"]
";

#[test]
fn the_outline_is_a_tree_of_tables_and_keys() {
    let (folder, mut client) = start(&[("locus.toml", SETTINGS)]);
    let file = uri(&folder.path().join("locus.toml"));
    let this = json!({ "textDocument": { "uri": file } });
    let symbols = client.result("textDocument/documentSymbol", this.clone());
    let shown = |one: &Value| {
        let range = &one["range"];
        let (start, end) = (&range["start"]["line"], &range["end"]["line"]);
        format!("{} {start}-{end}", one["name"].as_str().unwrap())
    };
    let mut all = Vec::new();
    for table in symbols.as_array().unwrap() {
        all.push(shown(table));
        let keys = table["children"].as_array().unwrap().iter();
        all.extend(keys.map(|key| format!("  {}", shown(key))));
    }
    let expected = [
        "rules 0-4",
        "  HOT221 1-1",
        "  HOT222 2-4",
        "heat 7-8",
        "  environments 8-8",
    ];
    assert_eq!(all, expected, "{symbols}");
    let folds = client.result("textDocument/foldingRange", this);
    let folds: Vec<(u64, u64)> = folds
        .as_array()
        .unwrap()
        .iter()
        .map(|fold| {
            (
                fold["startLine"].as_u64().unwrap(),
                fold["endLine"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(folds, [(0, 4), (2, 4), (7, 8)]);
    let found = client.result("workspace/symbol", json!({ "query": "environm" }));
    assert_eq!(found[0]["name"], "environments", "{found}");
    let around = client.result(
        "textDocument/selectionRange",
        json!({ "textDocument": { "uri": file }, "positions": [position(SETTINGS, "paths", "a/")] }),
    );
    assert_eq!(
        around[0]["range"]["start"],
        position(SETTINGS, "paths", "a/")
    );
    assert_eq!(
        around[0]["parent"]["range"]["start"],
        position(SETTINGS, "off", "paths")
    );
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn files_that_settings_name_are_links_and_lead_there() {
    let files = [
        ("locus.toml", SETTINGS),
        ("a.env.yaml", "parameters: { a: b }\n"),
    ];
    let (folder, mut client) = start(&files);
    let file = uri(&folder.path().join("locus.toml"));
    let found = client.definition(&file, &position(SETTINGS, "environments", "a.env"));
    assert_eq!(found, [("a.env.yaml".to_owned(), 0)]);
    let this = json!({ "textDocument": { "uri": file } });
    let links = client.result("textDocument/documentLink", this);
    assert_eq!(links.as_array().unwrap().len(), 1, "{links}");
    assert_eq!(client.stop(), Some(0));
}
