//! What the tests share: reading a model from text, and showing what came of it.

#![allow(
    dead_code,
    clippy::panic,
    reason = "each test file uses a part of this, and tests fail by panicking"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use locus_core::{Diagnostic, Severity, Sources};
use locus_grammar::model::Model;
use locus_grammar::{Loader, Reading, read};

/// Files that exist only in the test.
#[derive(Default)]
pub(crate) struct Files(pub(crate) BTreeMap<String, String>);

impl Files {
    pub(crate) fn with(mut self, path: &str, text: &str) -> Self {
        self.0.insert(path.to_owned(), text.to_owned());
        self
    }
}

impl Loader for Files {
    fn load(&self, path: &str) -> Option<String> {
        self.0.get(path).cloned()
    }
}

/// Reads a model that opens nothing but the library.
pub(crate) fn reading(text: &str) -> (Reading, Sources) {
    reading_with(text, &Files::default())
}

pub(crate) fn reading_with(text: &str, files: &Files) -> (Reading, Sources) {
    let mut sources = Sources::new();
    let reading = read("model.als", text, &mut sources, files);
    (reading, sources)
}

/// The model of a text that must have no errors.
pub(crate) fn model(text: &str) -> Model {
    let (reading, sources) = reading(text);
    let shown = show(&reading.diagnostics, &sources);
    reading.model.unwrap_or_else(|| panic!("{shown}"))
}

/// Everything that is said about a text, as a user would see it.
pub(crate) fn diagnostics(text: &str) -> String {
    let (reading, sources) = reading(text);
    let has_errors = reading
        .diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == Severity::Error);
    assert_eq!(reading.model.is_none(), has_errors);
    show(&reading.diagnostics, &sources)
}

pub(crate) fn show(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        let place = diagnostic.primary().map_or("-".to_owned(), |span| {
            let at = sources.start(span);
            format!("{}:{}:{}", sources.name(span.file), at.line, at.column)
        });
        let snippet = diagnostic
            .primary()
            .map_or("", |span| sources.snippet(span));
        let _ = writeln!(
            out,
            "{place}: {}[{}]: {}\n  at `{}`",
            diagnostic.severity,
            diagnostic.code,
            diagnostic.message,
            snippet.replace('\n', "\\n")
        );
        for label in diagnostic
            .labels
            .iter()
            .filter(|label| !label.message.is_empty())
        {
            let _ = writeln!(
                out,
                "  `{}`: {}",
                sources.snippet(label.span),
                label.message
            );
        }
        for label in &diagnostic.related {
            let at = sources.start(label.span);
            let _ = writeln!(out, "  see {}:{}: {}", at.line, at.column, label.message);
        }
        if let Some(help) = &diagnostic.help {
            let _ = writeln!(out, "  help: {help}");
        }
    }
    out
}
