//! `locus rules` and `locus explain`: what is checked, and why.

use crate::catalogue;

use super::{Exit, print};

/// Lists all codes, each once.
pub(crate) fn list() -> Exit {
    let entries = catalogue::entries();
    let names = entries.iter().filter_map(|entry| entry.name.as_ref());
    let width = names.map(String::len).max().unwrap_or(0);
    for entry in &entries {
        let name = entry.name.as_deref().unwrap_or("");
        let (id, title) = (&entry.id, &entry.title);
        let severity = match entry.opt_in {
            true => "off",
            false => entry.severity.as_str(),
        };
        let gap = if width == 0 { "" } else { " " };
        print(&format!(
            "{id:<12} {name:<width$}{gap}{severity:<8} {title}\n"
        ));
    }
    Exit::Clean
}

/// Prints the page of a code.
pub(crate) fn explain(word: &str) -> Exit {
    if let Some(page) = catalogue::explain(word) {
        print(&page);
        return Exit::Clean;
    }
    let words = catalogue::words();
    let help = locus_core::suggest::did_you_mean(word, words.iter().map(String::as_str));
    let help = help.map_or_else(String::new, |help| format!("{help} "));
    eprintln!("error: there is no rule `{word}`; {help}`locus rules` lists all");
    Exit::Usage
}
