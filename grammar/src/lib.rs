//! Text of a model to a resolved, typed model.
//!
//! This crate knows nothing of SAT and does no input or output: other files are asked for through
//! [`Loader`].

pub mod ast;
mod format;
pub mod library;
mod markdown;
pub mod model;
mod parse;
mod precedence;
pub mod print;
mod resolve;
mod types;

use locus_core::{Diagnostic, Sources};

pub use format::format;
pub use markdown::model_text;
pub use parse::parse;

/// Where the text of opened modules comes from.
pub trait Loader {
    /// The text of the file at this path; `None` when there is no such file.
    fn load(&self, path: &str) -> Option<String>;
}

/// No files at all: only the library can be opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Loader for NoFiles {
    fn load(&self, _path: &str) -> Option<String> {
        None
    }
}

/// What came of reading a model.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The model; present when there is no error.
    pub model: Option<model::Model>,
    /// Errors and warnings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// The text of a file laid out anew: all of a model, the models of a Markdown document.
pub fn format_file(path: &str, text: &str) -> String {
    if markdown::is_document(path, text) {
        markdown::format(text, format)
    } else {
        format(text)
    }
}

/// Reads a model: the text of the root file, and what it opens.
///
/// The path is where the text comes from; opened modules are looked for relative to it.
pub fn read(path: &str, text: &str, sources: &mut Sources, loader: &dyn Loader) -> Reading {
    resolve::read(path, text, sources, loader)
}
