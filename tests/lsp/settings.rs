//! `locus.toml` in an editor.

use serde_json::Value;

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
