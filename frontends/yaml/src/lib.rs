//! YAML with spans: a tree in which every node knows the bytes it came from.
//!
//! [`parse`] never stops at the first error: the block that cannot be read is set aside and the rest
//! is read again, so that one run reports all of them. It refuses what would cost too much (aliases
//! that multiply, deep nesting, huge files) with a diagnostic.

mod build;
pub mod edit;
mod node;
mod offsets;
mod recover;
mod schema;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use locus_core::{Diagnostic, FileId, Sources, Span};

pub use node::{Entry, Extra, Kind, Mapping, Node, Scalar, Style};
pub use schema::{Schema, Typed};

/// What is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file.
    pub bytes: usize,
    /// Collections within collections.
    pub depth: usize,
    /// Nodes that aliases may add beyond those written.
    pub alias_nodes: usize,
    /// Syntax errors reported for one file.
    pub errors: usize,
    /// Whether to take what the parsers of `kubectl` and Compose take and others refuse: tabs before the items of a list in
    /// brackets, and `\'` in double-quoted text.
    pub lenient: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            bytes: 32 << 20,
            depth: 128,
            alias_nodes: 1 << 20,
            errors: 20,
            lenient: false,
        }
    }
}

/// One document of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its content; a null scalar when there is none.
    pub root: Node,
}

/// A key written twice in one mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateKey {
    /// The key.
    pub name: Arc<str>,
    /// Where it is written first.
    pub first: Span,
    /// Where it is written again.
    pub again: Span,
    /// The keys that lead to the mapping, from the root.
    pub path: Vec<Arc<str>>,
}

impl DuplicateKey {
    /// The diagnostic for languages in which a repeated key is an error of the file itself.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::error(
            "duplicate-key",
            format!("the key `{}` is written twice in one map", self.name),
        )
        .label(self.again, "written again here")
        .related(self.first, "first written here")
        .help("only one of them can count: remove or rename the other")
    }
}

/// What was understood of a file, and what was not.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The documents; empty for an empty file.
    pub documents: Vec<Document>,
    /// Syntax errors and refusals.
    pub diagnostics: Vec<Diagnostic>,
    /// Keys written more than once.
    pub duplicates: Vec<DuplicateKey>,
    /// Blocks that could not be read and are missing from the documents. When there are any, what
    /// seems to be absent may merely be unreadable.
    pub broken: Vec<Span>,
}

impl Parsed {
    /// Whether everything was understood.
    pub fn is_complete(&self) -> bool {
        self.broken.is_empty() && self.diagnostics.is_empty()
    }
}

/// Parses the text of a file, which must already be in `sources`; once, when they remember.
pub fn parse(sources: &Sources, file: FileId, limits: &Limits) -> Parsed {
    let read = || parse_text(sources.text(file), file, limits);
    if !sources.remembers() {
        return read();
    }
    let known = sources.once(file, || (*limits, read()));
    match known.0 == *limits {
        true => known.1.clone(),
        false => read(),
    }
}

/// As [`parse`], for a text held elsewhere.
pub fn parse_text(text: &str, file: FileId, limits: &Limits) -> Parsed {
    if text.len() > limits.bytes {
        let diagnostic = Diagnostic::error(
            "too-large",
            format!(
                "this file has {} bytes; more than {} are refused",
                text.len(),
                limits.bytes
            ),
        )
        .at(Span::start_of(file))
        .help("split the file, or check that it is the one you meant");
        return Parsed {
            diagnostics: vec![diagnostic],
            broken: vec![Span::new(file, 0, text.len())],
            ..Parsed::default()
        };
    }
    recover::parse(text, file, limits)
}

/// The diagnostic for a file in which nothing is written.
pub fn empty_file(file: FileId) -> Diagnostic {
    Diagnostic::error("empty", "this file is empty")
        .at(Span::start_of(file))
        .help("nothing was checked: give a file with content, or leave it out")
}
