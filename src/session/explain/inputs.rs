//! What is found for some inputs, as the plain finding that these make.

use locus_core::diagnostic::Verdict;
use locus_core::{Diagnostic, FileId, Sources};

use crate::session::{Report, Violable};

/// The inputs that make a finding of a report; none for a note that is made of several.
pub(super) fn of<'a>(report: &'a Report, finding: &Diagnostic) -> Option<&'a Violable> {
    let Verdict::Violable { inputs } = &finding.verdict else {
        return None;
    };
    let place = finding.primary();
    let mut all = report.everything.violable.iter();
    all.find(|one| {
        let here = place
            .is_some_and(|at| at.start == one.start && *report.sources.name(at.file) == *one.file);
        let same = one.chosen.iter().zip(inputs);
        one.code == finding.code
            && (here || one.in_value)
            && one.chosen.len() == inputs.len()
            && same
                .into_iter()
                .all(|(chosen, input)| *chosen.name == *input.name)
    })
}

/// The file with a name.
pub(super) fn file(sources: &Sources, name: &str) -> Option<FileId> {
    let mut files = sources.files();
    files.find(|&file| sources.name(file) == name)
}

impl Violable {
    /// The finding of a plain check that shows it.
    pub(super) fn made<'a>(&self, report: &'a Report) -> Option<&'a Diagnostic> {
        let mut findings = report.findings.iter();
        findings.find(|one| {
            let here = match one.primary() {
                _ if self.in_value => true,
                Some(at) => at.start == self.start && *report.sources.name(at.file) == *self.file,
                None => false,
            };
            one.code == self.code && here
        })
    }
}
