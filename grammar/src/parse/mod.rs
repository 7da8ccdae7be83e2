//! Text to syntax tree.
//!
//! The file is first cut into paragraphs by a scan that only knows words, brackets, strings and
//! comments ([`scan`]); each paragraph is then parsed on its own by the grammar in `alloy.pest`.
//! So a mistake costs the paragraph it is in, and every other paragraph is still read.

mod commands;
mod expressions;
mod operators;
mod paragraphs;
mod report;
mod scan;

use locus_core::{Diagnostic, FileId, Span};
use pest::Parser as _;

use crate::ast::{Module, Unread};

mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "alloy.pest"]
    pub(super) struct AlloyParser;
}

use grammar::{AlloyParser, Rule};
pub(crate) use scan::{Token, TokenKind, tokens};

type Pair<'a> = pest::iterators::Pair<'a, Rule>;

/// How deep brackets may nest.
pub(crate) const MAX_BRACKETS: usize = 150;

/// How deep an expression may nest; what comes after the parser recurses over the tree.
pub(crate) const MAX_DEPTH: u32 = 300;

/// Reads one file: what was understood of it, and everything that is wrong with it.
pub fn parse(file: FileId, text: &str) -> (Module, Vec<Diagnostic>) {
    let scanned = scan::scan(file, text);
    let mut diagnostics = scanned.diagnostics;
    let mut paragraphs = Vec::with_capacity(scanned.chunks.len());
    let mut unread: Vec<Unread> = Vec::new();
    for chunk in scanned.chunks {
        let Some(source) = text.get(chunk.start..chunk.end) else {
            continue;
        };
        if chunk.is_bad {
            unread.push(scan::unread(source));
            continue;
        }
        match AlloyParser::parse(Rule::file_paragraph, source) {
            Ok(pairs) => {
                let builder = Builder {
                    file,
                    offset: chunk.start,
                };
                match builder.paragraph(pairs, chunk.doc) {
                    Ok(paragraph) => paragraphs.push(paragraph),
                    Err(diagnostic) => {
                        unread.push(scan::unread(source));
                        diagnostics.push(*diagnostic);
                    }
                }
            }
            Err(error) => {
                unread.push(scan::unread(source));
                diagnostics.push(report::syntax(file, source, chunk.start, &error));
            }
        }
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary().map(|span| span.start));
    let module = Module {
        file,
        paragraphs,
        unread,
    };
    (module, diagnostics)
}

/// What building the tree gives: errors are boxed because they are rare and large.
type Built<T> = Result<T, Box<Diagnostic>>;

/// Turns the pairs of one paragraph into a tree.
#[derive(Clone, Copy)]
struct Builder {
    file: FileId,
    /// Where the paragraph starts in the file.
    offset: usize,
}

impl Builder {
    fn span(&self, pair: &Pair<'_>) -> Span {
        let span = pair.as_span();
        Span::new(
            self.file,
            self.offset + span.start(),
            self.offset + span.end(),
        )
    }
}

fn error<T>(span: Span, message: impl Into<String>) -> Built<T> {
    Err(Box::new(Diagnostic::error("syntax", message).at(span)))
}

fn error_with_help<T>(span: Span, message: impl Into<String>, help: impl Into<String>) -> Built<T> {
    Err(Box::new(
        Diagnostic::error("syntax", message).at(span).help(help),
    ))
}

/// The grammar and this builder disagree; reported instead of panicking.
fn unexpected<T>(builder: &Builder, pair: &Pair<'_>) -> Built<T> {
    error(
        builder.span(pair),
        format!("cannot make sense of `{}` here", shorten(pair.as_str())),
    )
}

/// At most the first line and forty characters of a piece of text.
fn shorten(text: &str) -> String {
    let line = text.lines().next().unwrap_or("");
    if line.chars().count() > 40 || line.len() < text.trim_end().len() {
        let start: String = line.chars().take(40).collect();
        format!("{}..", start.trim_end())
    } else {
        line.to_owned()
    }
}
