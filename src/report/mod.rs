//! Diagnostics in the formats people and programs read; one file per format.

pub mod baseline;
pub mod checkstyle;
pub mod compact;
pub mod fingerprint;
pub mod frame;
pub mod github;
pub mod gitlab;
pub mod html;
pub mod instance;
pub mod json;
pub mod jsonl;
pub mod junit;
pub mod markdown;
pub mod picture;
mod place;
pub mod printable;
pub mod reach;
pub mod sarif;
pub mod text;
mod xml;

use std::borrow::Cow;
use std::time::Duration;

use locus_core::Diagnostic;

use crate::session::Batch;

/// How wide text is when it goes to no terminal.
pub const WIDTH: usize = 100;

/// How a report is rendered.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether text has colours.
    pub colour: bool,
    /// Whether files that were passed over are listed, not only counted, and like findings are not folded.
    pub verbose: bool,
    /// Whether what could not be decided is listed, not only counted.
    pub undecided: bool,
    /// How long the check took.
    pub time: Duration,
    /// How many columns there are.
    pub width: usize,
    /// Whether the terminal shows links.
    pub links: bool,
}

impl Default for Style {
    fn default() -> Self {
        Style {
            colour: false,
            verbose: false,
            undecided: false,
            time: Duration::ZERO,
            width: WIDTH,
            links: false,
        }
    }
}

/// A format of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Annotated source, for people.
    Text,
    /// A line for each finding, for `grep` and screen readers.
    Compact,
    /// One JSON object.
    Json,
    /// A JSON object for each finding.
    Jsonl,
    /// SARIF 2.1.0.
    Sarif,
    /// JUnit XML.
    Junit,
    /// Annotations of GitHub workflows.
    Github,
    /// GitLab's code quality report.
    Gitlab,
    /// Checkstyle XML.
    Checkstyle,
    /// A comment for a merge request.
    Markdown,
    /// One page with findings and graph.
    Html,
}

impl Format {
    /// All formats, with a line about each.
    pub const ALL: [(Format, &'static str, &'static str); 11] = [
        (Format::Text, "text", "For people"),
        (
            Format::Compact,
            "compact",
            "One line per finding, for `grep` and screen readers",
        ),
        (Format::Json, "json", "One JSON object"),
        (Format::Jsonl, "jsonl", "One JSON object per finding"),
        (
            Format::Sarif,
            "sarif",
            "SARIF 2.1.0, for code scanning and editors",
        ),
        (Format::Junit, "junit", "JUnit XML, for Jenkins and GitLab"),
        (Format::Github, "github", "Annotations of a GitHub workflow"),
        (Format::Gitlab, "gitlab", "GitLab code quality report"),
        (Format::Checkstyle, "checkstyle", "Checkstyle XML"),
        (Format::Markdown, "markdown", "Comment for a merge request"),
        (
            Format::Html,
            "html",
            "One page for reviewers, with the graph",
        ),
    ];

    /// The format with a name.
    pub fn named(name: &str) -> Option<Format> {
        let mut all = Format::ALL.iter();
        all.find(|(_, known, _)| *known == name)
            .map(|found| found.0)
    }

    /// Renders what came of a check.
    pub fn render(self, batch: &Batch, style: &Style) -> String {
        match self {
            Format::Text => text::render(batch, style),
            Format::Compact => compact::render(batch, style),
            Format::Json => json::render(batch, style),
            Format::Jsonl => jsonl::render(batch),
            Format::Sarif => sarif::render(batch),
            Format::Junit => junit::render(batch, style),
            Format::Github => github::render(batch),
            Format::Gitlab => gitlab::render(batch),
            Format::Checkstyle => checkstyle::render(batch),
            Format::Markdown => markdown::render(batch, style),
            Format::Html => html::render(batch, style),
        }
    }

    /// Renders what came of a check piece by piece, where a report is long and its pieces stand by themselves.
    pub fn write(self, batch: &Batch, style: &Style, put: &mut dyn FnMut(&str)) {
        match self {
            Format::Text => text::write(batch, style, put),
            _ => put(&self.render(batch, style)),
        }
    }
}

/// What a finding says, where a format has one list for what is wrong and for what could not be checked: the second must not pass
/// for a finding that one may leave.
fn said(finding: &Diagnostic, unchecked: bool) -> Cow<'_, str> {
    match unchecked {
        true => format!("not checked: {}", finding.message).into(),
        false => finding.message.as_str().into(),
    }
}
