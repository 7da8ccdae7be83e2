//! Diagnostics as annotated source for a terminal.

use std::fmt;
use std::io::IsTerminal;
use std::sync::Arc;

use locus_core::{Diagnostic, FileId, Label, Severity, Sources};
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    NamedSource, SourceCode, SourceSpan, SpanContents,
};

use super::printable::{printable, printable_source};

/// How wide text is when it goes to no terminal.
const WIDTH: usize = 100;

/// Renders a diagnostic with the source lines it is about.
pub fn render(diagnostic: &Diagnostic, sources: &Sources, colour: bool) -> String {
    let theme = if colour {
        GraphicalTheme::unicode()
    } else {
        GraphicalTheme::unicode_nocolor()
    };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(WIDTH)
        .with_links(false);
    let mut out = String::new();
    let report = Report::new(diagnostic, sources);
    // Writing to a string does not fail; what was written so far is the best there is.
    let _ = handler.render_report(&mut out, &report);
    out
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
struct Report {
    severity: miette::Severity,
    code: Option<String>,
    message: String,
    help: Option<String>,
    source: Option<NamedSource<Text>>,
    labels: Vec<LabeledSpan>,
    related: Vec<Report>,
}

impl Report {
    fn new(diagnostic: &Diagnostic, sources: &Sources) -> Self {
        let file = diagnostic.primary().map(|span| span.file);
        let mut report = Report {
            severity: match diagnostic.severity {
                Severity::Error => miette::Severity::Error,
                Severity::Warning => miette::Severity::Warning,
                Severity::Info => miette::Severity::Advice,
            },
            code: Some(diagnostic.code.clone()),
            message: printable(&diagnostic.message).into_owned(),
            help: diagnostic
                .help
                .as_deref()
                .map(|help| printable(help).into_owned()),
            source: file.map(|file| named(file, sources)),
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
                    message: if label.message.is_empty() {
                        "see also".to_owned()
                    } else {
                        printable(&label.message).into_owned()
                    },
                    help: None,
                    source: Some(named(label.span.file, sources)),
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

/// Text whose columns count characters, as everywhere else; the library counts bytes.
#[derive(Debug)]
struct Text(Arc<str>);

impl SourceCode for Text {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let read = self.0.as_ref().read_span(span, before, after)?;
        let end = read.span().offset();
        let line = end.saturating_sub(read.column())..end;
        let column = self
            .0
            .get(line)
            .map_or(read.column(), |text| text.chars().count());
        let (data, lines) = (read.data(), read.line_count());
        let contents = MietteSpanContents::new(data, *read.span(), read.line(), column, lines);
        Ok(Box::new(contents))
    }
}

fn named(file: FileId, sources: &Sources) -> NamedSource<Text> {
    let name = printable(sources.name(file));
    NamedSource::new(name, Text(printable_source(sources.shared_text(file))))
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

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Report {}

impl miette::Diagnostic for Report {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.code
            .as_ref()
            .map(|code| Box::new(code) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity)
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
