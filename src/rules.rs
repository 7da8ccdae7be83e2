//! `locus rules` and `locus explain`: what is checked, and why.

use locus_invariants::Library;

use crate::Exit;
use crate::run::print;

/// Lists all rules, each once.
pub(crate) fn list() -> Exit {
    let mut seen = std::collections::BTreeMap::new();
    for rule in locus_invariants::rules() {
        seen.entry(rule.id.as_str()).or_insert(rule);
    }
    for rule in seen.values() {
        print(&format!(
            "{:<8} {:<8} {}\n",
            rule.id, rule.severity, rule.title
        ));
    }
    Exit::Clean
}

/// Prints the page of a rule.
pub(crate) fn explain(id: &str) -> Exit {
    if let Some(page) = locus_invariants::explain(id) {
        print(&page);
        return Exit::Clean;
    }
    let ids = locus_invariants::explain::identifiers(Library::builtin());
    let help = locus_core::suggest::did_you_mean(id, ids);
    let help = help.map_or_else(String::new, |help| format!("{help} "));
    eprintln!("error: there is no rule `{id}`; {help}`locus rules` lists all");
    Exit::Usage
}
