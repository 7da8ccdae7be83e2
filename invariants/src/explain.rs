//! The page of a rule: what it says, why, and two examples.

use std::fmt::Write as _;

use crate::rules::{Library, Rule};

/// The page of the rule with an identifier or alias, in Markdown; none when there is no such rule.
pub fn explain(id: &str) -> Option<String> {
    page(Library::builtin(), id)
}

/// The page of a rule of a library.
pub fn page(library: &Library, id: &str) -> Option<String> {
    let parts = library.find(id);
    let first = parts.first()?;
    let mut out = format!("# {}: {}\n", first.id, first.title);
    if !first.id.eq_ignore_ascii_case(id) {
        let _ = write!(
            out,
            "\n`{}` is another name of this rule.\n",
            id.to_uppercase()
        );
    }
    for part in &parts {
        if parts.len() > 1 {
            let _ = write!(out, "\n## {}\n", capitalized(&part.title));
        }
        let _ = write!(
            out,
            "\nSeverity: {}. Source: {}.\n\n{}\n",
            part.severity, part.source, part.why
        );
        let _ = write!(out, "\n```alloy\n{}\n```\n", part.text);
    }
    for (kind, title) in [("breaks", "Breaks it"), ("holds", "Holds")] {
        for example in Library::examples(&first.id) {
            if example.name.ends_with(&format!(".{kind}.yaml")) {
                let _ = write!(out, "\n## {title}\n\n```yaml\n{}```\n", example.text);
            }
        }
    }
    Some(out)
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

/// The table of all rules, in Markdown.
pub fn table(library: &Library) -> String {
    let mut out = String::from(
        "# Rules\n\nEach rule is an assertion in `invariants/library/`, with its page generated from it \
         (`cargo run -p locus-invariants --example rule-pages`).\n\n| rule | severity | what must hold |\n|---|---|---|\n",
    );
    for rule in library.rules() {
        let Rule {
            id,
            severity,
            title,
            ..
        } = rule;
        let _ = writeln!(out, "| [{id}](rules/{id}.md) | {severity} | {title} |");
    }
    out
}

/// The identifiers of all rules of a library, each once.
pub fn identifiers(library: &Library) -> Vec<&str> {
    let mut ids: Vec<&str> = library
        .rules()
        .iter()
        .map(|rule| rule.id.as_str())
        .collect();
    ids.dedup();
    ids
}
