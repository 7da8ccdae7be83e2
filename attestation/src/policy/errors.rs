//! Everything that is wrong with a policy, each with the place in the file.

use std::fmt;
use std::ops::Range;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource};

/// What is wrong with a policy: all of it, not only the first.
#[derive(Clone, Debug)]
pub struct PolicyErrors {
    name: String,
    text: String,
    all: Vec<Finding>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Where, in bytes.
    pub span: Range<usize>,
    /// What.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl PolicyErrors {
    pub(super) fn new(name: &str, text: &str, mut all: Vec<Finding>) -> Self {
        all.sort_by_key(|finding| finding.span.start);
        PolicyErrors {
            name: name.to_owned(),
            text: text.to_owned(),
            all,
        }
    }

    pub(super) fn unreadable(name: &str, why: &str) -> Self {
        let finding = Finding {
            span: 0..0,
            message: format!("cannot read `{name}`: {why}"),
            help: None,
        };
        PolicyErrors::new(name, "", vec![finding])
    }

    /// Each of them, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Finding> {
        self.all.iter()
    }
}

impl fmt::Display for PolicyErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
            .with_width(100)
            .with_links(false);
        write!(f, "the policy is not accepted")?;
        for finding in &self.all {
            let mut diagnostic = MietteDiagnostic::new(&finding.message);
            if let Some(help) = &finding.help {
                diagnostic = diagnostic.with_help(help);
            }
            if !self.text.is_empty() {
                let label = LabeledSpan::new_with_span(None, finding.span.clone());
                diagnostic = diagnostic.with_label(label);
            }
            let source = NamedSource::new(&self.name, self.text.clone());
            let report = miette::Report::new(diagnostic).with_source_code(source);
            let mut shown = String::new();
            handler.render_report(&mut shown, report.as_ref())?;
            write!(f, "\n{}", shown.trim_end())?;
        }
        Ok(())
    }
}

impl std::error::Error for PolicyErrors {}
