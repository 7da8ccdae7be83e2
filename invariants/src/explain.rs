//! The page of a rule: what it says, why, and two examples.

use std::fmt::Write as _;

use crate::library;
use crate::rules::{Library, Rule};

/// The page of the rule with an identifier, name or alias, in Markdown; none when there is no such rule.
pub fn explain(wanted: &str) -> Option<String> {
    page(library::builtin(), wanted)
}

/// The page of a rule of a library.
pub fn page(library: &Library, wanted: &str) -> Option<String> {
    let parts = library.find(wanted);
    let first = parts.first()?;
    let mut out = format!("# {} {}\n", first.id, first.name);
    let is_alias = |alias: &&String| alias.eq_ignore_ascii_case(wanted);
    if let Some(alias) = first.aliases.iter().find(is_alias) {
        let _ = write!(out, "\n{alias} is another identifier of this rule.\n");
    }
    for part in &parts {
        let title = capitalized(&part.title);
        let _ = match parts.as_slice() {
            [_] => write!(out, "\n{title}.\n"),
            _ => write!(out, "\n## {title}\n"),
        };
        let default = if part.opt_in { ", off by default" } else { "" };
        let _ = write!(
            out,
            "\nSeverity: {}{default}. Source: {}.\n\n{}\n",
            part.severity, part.source, part.why
        );
        let _ = write!(out, "\n```alloy\n{}\n```\n", part.text);
    }
    for (kind, title) in [("breaks", "Reported"), ("holds", "Not reported")] {
        for example in library::examples_of(&first.id) {
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
        "# Rules\n\nEach rule is an assertion in `invariants/library/`; its page is generated from it (`cargo xtask rules`). \
         Name a rule by its identifier or by its name, on the command line and in `locus.toml`. One that is off is checked when \
         `locus.toml` gives it a severity, with `--only`, or with `--all-rules`.\n\n\
         | rule | name | severity | what is wrong |\n|---|---|---|---|\n",
    );
    for rule in library.rules() {
        let Rule {
            id,
            name,
            severity,
            opt_in,
            title,
            ..
        } = rule;
        let default = if *opt_in { ", off" } else { "" };
        let _ = writeln!(
            out,
            "| [{id}](rules/{id}.md) | {name} | {severity}{default} | {title} |"
        );
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
