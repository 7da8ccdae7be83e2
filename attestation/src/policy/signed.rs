//! Keyrings, and the files that are accepted for the signatures of their keys.

use std::collections::BTreeMap;
use std::path::Path;

use super::read::patterns;
use super::settings::SignedFiles;
use super::table::{Findings, Value};
use crate::ima::Keyring;

/// No file of certificates is longer.
const LONGEST: u64 = 1 << 20;

/// The keyrings of a policy, by name.
pub(super) type Keyrings = BTreeMap<String, Keyring>;

/// `[keyrings]`: names, each with the files of its certificates and public keys.
pub(super) fn keyrings(value: Value<'_>, folder: &Path, findings: &mut Findings) -> Keyrings {
    let mut found = Keyrings::new();
    let Some(table) = findings.table(value) else {
        return found;
    };
    for (name, value) in table.into_entries() {
        let mut keys = Keyring::default();
        let before = findings.0.len();
        if value.get_ref().as_str().is_some() {
            add(value, folder, &mut keys, findings);
        } else {
            findings.list(value, |findings, value| {
                add(value, folder, &mut keys, findings);
                Some(())
            });
        }
        if keys.is_empty() && findings.0.len() == before {
            findings.at(value, "the keyring has no keys");
        }
        // A keyring with a fault is known all the same, so that the fault is reported once.
        found.insert(name.get_ref().to_string(), keys);
    }
    found
}

fn add(value: Value<'_>, folder: &Path, keys: &mut Keyring, findings: &mut Findings) {
    let Some(text) = findings.text(value) else {
        return;
    };
    let path = folder.join(text);
    let long = std::fs::metadata(&path).is_ok_and(|found| found.len() > LONGEST);
    let read = match long {
        true => Err(format!("it is longer than {LONGEST} bytes")),
        false => std::fs::read_to_string(&path).map_err(|error| error.to_string()),
    };
    let added = read.and_then(|pem| keys.add_pem(&pem).map_err(|error| error.to_string()));
    if let Err(reason) = added {
        let help =
            "give certificates or public keys in PEM; paths start at the folder of the policy";
        findings.with_help(
            value,
            format!("the keyring `{text}` cannot be used: {reason}"),
            Some(help.to_owned()),
        );
    }
}

/// `signed`: which files, by the keys of which keyrings.
pub(super) fn signed(
    value: Value<'_>,
    keys: &Keyrings,
    findings: &mut Findings,
) -> Vec<SignedFiles> {
    let rules = findings.list(value, |findings, value| rule(value, keys, findings));
    rules.unwrap_or_default()
}

fn rule(value: Value<'_>, known: &Keyrings, findings: &mut Findings) -> Option<SignedFiles> {
    let mut table = findings.table(value)?;
    let files = match table.take("files") {
        Some(files) => patterns(files, findings),
        None => {
            let help = "give patterns of paths: `files = [\"/opt/site/**\"]`";
            findings.with_help(value, "`files` is missing", Some(help.to_owned()));
            None
        }
    };
    let mut keys = Keyring::default();
    match table.take("keyrings") {
        Some(names) => {
            let before = findings.0.len();
            let named = findings.list(names, |findings, name| keyring(name, known, findings));
            let named = named.unwrap_or_default();
            if named.is_empty() && findings.0.len() == before {
                findings.at(names, "the list is empty");
            }
            named.into_iter().for_each(|named| keys.extend(named));
        }
        None => {
            let help = "name keyrings of `[keyrings]`: `keyrings = [\"site\"]`";
            findings.with_help(value, "`keyrings` is missing", Some(help.to_owned()));
        }
    }
    let required = table
        .take("required")
        .and_then(|required| findings.boolean(required))
        .unwrap_or(false);
    table.finish(findings);
    Some(SignedFiles {
        files: files?,
        keys,
        required,
    })
}

fn keyring<'k>(
    value: Value<'_>,
    known: &'k Keyrings,
    findings: &mut Findings,
) -> Option<&'k Keyring> {
    let name = findings.text(value)?;
    let found = known.get(name);
    if found.is_none() {
        let near = locus_core::suggest::nearest(name, known.keys().map(String::as_str));
        let help = near.map_or_else(
            || format!("name its files under `[keyrings]`: {name} = [\"keys.pem\"]"),
            |near| format!("did you mean `{near}`?"),
        );
        findings.with_help(
            value,
            format!("the keyring `{name}` is not known"),
            Some(help),
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::super::tests::with_keyring;

    const KEY: &str = include_str!("../../tests/data/ima-signature/certificate.pem");

    /// What is wrong with a policy, line by line, where `good.pem` is a keyring.
    fn wrong(text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("good.pem"), KEY).unwrap();
        std::fs::write(folder.path().join("bad.pem"), "no key").unwrap();
        let name = folder.path().join("policy.toml").display().to_string();
        match parse(&name, text) {
            Ok(_) => Vec::new(),
            Err(errors) => errors
                .iter()
                .map(|finding| format!("{}: {}", finding.message, &text[finding.span.clone()]))
                .collect(),
        }
    }

    #[test]
    fn keyrings_are_read_from_the_folder_of_the_policy_and_everything_wrong_is_said() {
        let good = r#"
[keyrings]
site = ["good.pem"]
one = "good.pem"
[[defaults.signed]]
files = ["/opt/**"]
keyrings = ["site", "one"]
[[group]]
name = "edge"
workers = ["edge"]
[[group.signed]]
files = ["/srv/**"]
keyrings = ["one"]
required = true
"#;
        assert_eq!(wrong(good), [""; 0]);
        let bad = r#"
[keyrings]
empty = []
text = "bad.pem"
away = ["away.pem"]
number = 7
[[defaults.signed]]
files = ["[z-a]"]
keyrings = ["emty", "unheard-of"]
required = "yes"
[[defaults.signed]]
file = ["/opt/**"]
[[defaults.signed]]
files = ["/opt/**"]
keyrings = []
"#;
        let found = wrong(bad).join("\n");
        for part in [
            "the keyring has no keys: []",
            "the keyring `bad.pem` cannot be used: there is no certificate",
            "the keyring `away.pem` cannot be used: No such file",
            "expected a list, found integer: 7",
            "`[z-a]` is not a pattern",
            "the keyring `emty` is not known: \"emty\"",
            "the keyring `unheard-of` is not known",
            "expected `true` or `false`, found string: \"yes\"",
            "`files` is missing",
            "`keyrings` is missing",
            "unknown key `file`: file",
            "the list is empty: []",
        ] {
            assert!(found.contains(part), "{part}\n---\n{found}");
        }
    }

    #[test]
    fn the_example_of_the_documentation_is_read() {
        let document = include_str!("../../../docs/attestation.md");
        let (_, after) = document.split_once("```toml\n").unwrap();
        let (example, _) = after.split_once("```").unwrap();
        let set = with_keyring("site-ima.pem", example);
        let rule = set.of("any").signed(b"/opt/site/bin/tool").unwrap();
        assert!(!rule.required && !rule.keys.is_empty());
    }

    #[test]
    fn the_first_rule_that_names_a_file_counts_and_a_group_replaces_the_list() {
        let text = r#"
[keyrings]
site = "good.pem"
[defaults]
exclude = ["/opt/**"]
[[defaults.signed]]
files = ["/opt/a/**"]
keyrings = ["site"]
required = true
[[defaults.signed]]
files = ["/opt/**"]
keyrings = ["site"]
[[group]]
name = "edge"
workers = ["edge"]
signed = []
"#;
        let set = with_keyring("good.pem", text);
        let policy = set.of("rack");
        let required = |path: &[u8]| policy.signed(path).map(|rule| rule.required);
        assert_eq!(required(b"/opt/a/x"), Some(true));
        assert_eq!(required(b"/opt/b/x"), Some(false));
        assert_eq!(required(b"/usr/bin/x"), None);
        assert!(policy.leaves_out(b"/opt/b/x"));
        assert!(!policy.leaves_out(b"/opt/a/x"), "the stricter counts");
        assert!(set.of("edge").signed.is_empty());
        assert!(set.of("edge").leaves_out(b"/opt/a/x"));
    }
}
