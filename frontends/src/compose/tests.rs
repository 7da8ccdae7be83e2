//! Whole projects: what is understood of them, and what is reported.

mod facts;
mod projects;
mod voting_app;

use locus_core::{Severity, Sources};

use super::{Composition, Options, load};
use crate::loader::MemoryLoader;

/// A project of files in memory; the first is the one that is named.
pub(super) fn project(files: &[(&str, &str)]) -> (Composition, Sources) {
    with_options(files, Options::default())
}

pub(super) fn with_options(files: &[(&str, &str)], mut options: Options) -> (Composition, Sources) {
    let mut loader = MemoryLoader::new();
    for (path, text) in files {
        loader.insert(path, text);
    }
    if options.files.is_empty() {
        options
            .files
            .extend(files.first().map(|(path, _)| (*path).to_owned()));
    }
    let mut sources = Sources::new();
    let composition = load(&options, &loader, &mut sources);
    (composition, sources)
}

/// The diagnostics, one a line: place, severity, message, help, and the text pointed at.
pub(super) fn report(composition: &Composition, sources: &Sources) -> String {
    let mut out = String::new();
    for diagnostic in &composition.diagnostics {
        let span = diagnostic.primary().expect("every diagnostic has a place");
        let at = sources.start(span);
        let word = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        };
        out.push_str(&format!(
            "{}:{}:{}: {word} {}: {} [{}] ({})\n",
            sources.name(span.file),
            at.line,
            at.column,
            diagnostic.code,
            diagnostic.message,
            sources.snippet(span),
            diagnostic.help.as_deref().unwrap_or("-"),
        ));
    }
    out
}

/// The tuples of a field, as `owner -> value`, sorted.
pub(super) fn relation(composition: &Composition, sig: &str, field: &str) -> Vec<String> {
    let facts = &composition.facts;
    let mut out: Vec<String> = facts
        .relation(sig, field)
        .into_iter()
        .flat_map(|relation| relation.tuples())
        .map(|tuple| {
            let names: Vec<&str> = tuple.iter().map(|&atom| &*facts.get(atom).name).collect();
            names.join(" -> ")
        })
        .collect();
    out.sort();
    out
}
