//! Diagnostics as annotated source for a terminal.

use std::fmt;
use std::io::IsTerminal;
use std::sync::Arc;

use locus_core::{Diagnostic, FileId, Label, Severity, Sources};
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    SourceCode, SourceSpan, SpanContents,
};
use rustc_hash::FxHashMap;

use super::Style;
use super::printable::{printable, printable_source};

/// Renders a diagnostic with the source lines it is about.
pub fn render(diagnostic: &Diagnostic, sources: &Sources, colour: bool) -> String {
    let style = Style {
        colour,
        ..Style::default()
    };
    Frames::new(sources, &style).render(diagnostic)
}

/// Renders many diagnostics about the same sources.
pub struct Frames<'a> {
    sources: &'a Sources,
    handler: GraphicalReportHandler,
    links: bool,
    /// The texts as they may be printed.
    texts: FxHashMap<FileId, Arc<str>>,
}

impl<'a> Frames<'a> {
    /// Frames in a style.
    pub fn new(sources: &'a Sources, style: &Style) -> Self {
        let theme = if style.colour {
            GraphicalTheme::unicode()
        } else {
            GraphicalTheme::unicode_nocolor()
        };
        Frames {
            sources,
            handler: GraphicalReportHandler::new_themed(theme)
                .with_width(style.width.max(40))
                .with_links(style.links),
            links: style.links,
            texts: FxHashMap::default(),
        }
    }

    /// A diagnostic with the source lines it is about.
    pub fn render(&mut self, diagnostic: &Diagnostic) -> String {
        let mut out = String::new();
        self.write(diagnostic, &mut out);
        out
    }

    /// The same, after what was written before.
    pub(super) fn write(&mut self, diagnostic: &Diagnostic, out: &mut String) {
        let report = Report::new(diagnostic, self);
        // Writing to a string does not fail; what was written so far is the best there is.
        let _ = self.handler.render_report(out, &report);
    }

    /// What the frames are about.
    pub(super) fn sources(&self) -> &'a Sources {
        self.sources
    }

    fn source(&mut self, file: FileId) -> Text<'a> {
        let text = self.texts.entry(file);
        let text = text.or_insert_with(|| printable_source(self.sources.shared_text(file)));
        Text {
            name: printable(self.sources.name(file)).into_owned(),
            text: text.clone(),
            file,
            sources: self.sources,
        }
    }
}

impl fmt::Debug for Frames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frames").finish_non_exhaustive()
    }
}

/// Prints a diagnostic on standard error.
pub fn print(diagnostic: &Diagnostic, sources: &Sources) {
    eprint!("{}", render(diagnostic, sources, stderr_has_colour()));
}

/// Whether standard error is a terminal that wants colours.
pub fn stderr_has_colour() -> bool {
    wants_colour(std::io::stderr().is_terminal())
}

/// Whether standard output is a terminal that wants colours.
pub fn stdout_has_colour() -> bool {
    wants_colour(std::io::stdout().is_terminal())
}

fn wants_colour(terminal: bool) -> bool {
    terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A diagnostic in miette's terms: one source, and what is in other files as related reports.
#[derive(Debug)]
struct Report<'a> {
    severity: miette::Severity,
    code: Option<String>,
    url: Option<String>,
    message: String,
    help: Option<String>,
    source: Option<Text<'a>>,
    labels: Vec<LabeledSpan>,
    related: Vec<Report<'a>>,
}

impl<'a> Report<'a> {
    fn new(diagnostic: &Diagnostic, frames: &mut Frames<'a>) -> Self {
        let file = diagnostic.primary().map(|span| span.file);
        let mut report = Report {
            severity: match diagnostic.severity {
                Severity::Error => miette::Severity::Error,
                Severity::Warning => miette::Severity::Warning,
                Severity::Info => miette::Severity::Advice,
            },
            code: Some(diagnostic.code.clone()),
            url: frames
                .links
                .then(|| crate::catalogue::page(&diagnostic.code))
                .flatten(),
            message: printable(&diagnostic.message).into_owned(),
            help: diagnostic
                .help
                .as_deref()
                .map(|help| printable(help).into_owned()),
            source: file.map(|file| frames.source(file)),
            labels: Vec::new(),
            related: Vec::new(),
        };
        for (index, label) in diagnostic
            .labels
            .iter()
            .chain(&diagnostic.related)
            .enumerate()
        {
            if Some(label.span.file) == file {
                report.labels.push(labeled(label, index == 0));
            } else {
                report.related.push(Report {
                    severity: miette::Severity::Advice,
                    code: None,
                    url: None,
                    message: if label.message.is_empty() {
                        "see also".to_owned()
                    } else {
                        printable(&label.message).into_owned()
                    },
                    help: None,
                    source: Some(frames.source(label.span.file)),
                    labels: vec![labeled(
                        &Label {
                            message: String::new(),
                            ..label.clone()
                        },
                        true,
                    )],
                    related: Vec::new(),
                });
            }
        }
        report
    }
}

/// A file. Only the lines that are shown are looked at, and columns count characters; the library reads from the start of a
/// text and counts bytes.
struct Text<'a> {
    name: String,
    text: Arc<str>,
    file: FileId,
    sources: &'a Sources,
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl SourceCode for Text<'_> {
    fn read_span<'b>(
        &'b self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'b> + 'b>, MietteError> {
        let (start, last) = (span.offset(), span.offset() + span.len());
        let head = self.text.get(..start).ok_or(MietteError::OutOfBounds)?;
        let tail = self.text.get(last..).ok_or(MietteError::OutOfBounds)?;
        // A line more than is asked for on either side: the library decides which of them it shows.
        let breaks = head.rmatch_indices('\n');
        let from = breaks.skip(before + 1).map(|(at, _)| at + 1).next();
        let from = from.unwrap_or(0);
        let breaks = tail.match_indices('\n');
        let to = breaks.skip(after + 2).map(|(at, _)| last + at + 1).next();
        let to = to.unwrap_or(self.text.len());
        let window = self.text.get(from..to).ok_or(MietteError::OutOfBounds)?;
        let read = window.read_span(&(start - from, span.len()).into(), before, after)?;
        let end = read.span().offset();
        let line = end.saturating_sub(read.column())..end;
        let column = window
            .get(line)
            .map_or(read.column(), |text| text.chars().count());
        let first = u32::try_from(from).unwrap_or(u32::MAX);
        let first = self.sources.position(self.file, first).line - 1;
        let contents = MietteSpanContents::new_named(
            self.name.clone(),
            read.data(),
            (from + end, read.span().len()).into(),
            first + read.line(),
            column,
            // The library decides by it which frames are one.
            first + read.line_count(),
        );
        Ok(Box::new(contents))
    }
}

fn labeled(label: &Label, primary: bool) -> LabeledSpan {
    let message = (!label.message.is_empty()).then(|| printable(&label.message).into_owned());
    let span = (label.span.start as usize, label.span.len());
    if primary {
        LabeledSpan::new_primary_with_span(message, span)
    } else {
        LabeledSpan::new_with_span(message, span)
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Report<'_> {}

impl miette::Diagnostic for Report<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.code
            .as_ref()
            .map(|code| Box::new(code) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity)
    }

    fn url<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.url
            .as_ref()
            .map(|url| Box::new(url) as Box<dyn fmt::Display>)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help
            .as_ref()
            .map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.source
            .as_ref()
            .map(|source| source as &dyn miette::SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn miette::Diagnostic> + 'a>> {
        if self.related.is_empty() {
            return None;
        }
        Some(Box::new(
            self.related
                .iter()
                .map(|report| report as &dyn miette::Diagnostic),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use locus_core::Span;

    #[test]
    fn labels_in_other_files_are_shown_with_their_source() {
        let mut sources = Sources::new();
        let a = sources.add("a.als", "sig A {}\nsig A {}\n");
        let b = sources.add("b.als", "open a\n");
        let diagnostic = Diagnostic::error("name", "the signature `A` is declared twice")
            .label(Span::new(a, 13, 14), "again here")
            .related(Span::new(a, 4, 5), "first here")
            .related(Span::new(b, 5, 6), "opened here")
            .help("rename one of them");
        insta::assert_snapshot!(render(&diagnostic, &sources, false));
    }
}
