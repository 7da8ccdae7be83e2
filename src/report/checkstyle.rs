//! Checkstyle XML: findings by file.

use std::fmt::Write;

use locus_core::{Diagnostic, FileId, Severity};
use rustc_hash::FxHashMap;

use super::place::{Place, first_file, path};
use super::xml::escape;
use crate::session::Batch;

/// Renders what came of a check. Readers look for errors within files only, so that a finding without a place is given to the
/// first file, on the line 0 with which Checkstyle means a whole file.
pub fn render(batch: &Batch) -> String {
    let mut index: FxHashMap<Option<FileId>, usize> = FxHashMap::default();
    let mut files: Vec<(String, Vec<(&Diagnostic, bool)>)> = Vec::new();
    let found = batch.findings.iter().map(|finding| (finding, false));
    let unchecked = batch.unchecked.iter().map(|finding| (finding, true));
    for (finding, unchecked) in found.chain(unchecked) {
        let file = finding.primary().map(|span| span.file);
        let file = file.or_else(|| batch.sources.files().next());
        let at = *index.entry(file).or_insert_with(|| {
            let name = file.map(|file| path(batch.sources.name(file)));
            let name = name.unwrap_or_else(|| first_file(&batch.sources));
            files.push((name, Vec::new()));
            files.len() - 1
        });
        if let Some((_, findings)) = files.get_mut(at) {
            findings.push((finding, unchecked));
        }
    }
    let mut out =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"4.3\">\n".to_owned();
    for (name, findings) in files {
        let _ = writeln!(out, "  <file name=\"{}\">", escape(&name));
        for (finding, unchecked) in findings {
            out.push_str("    <error");
            let _ = match Place::primary(finding, &batch.sources) {
                Some(Place { start, .. }) => {
                    write!(out, " line=\"{}\" column=\"{}\"", start.line, start.column)
                }
                None => write!(out, " line=\"0\""),
            };
            let severity = match finding.severity {
                _ if unchecked => "error",
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info => "info",
            };
            let message = escape(&super::said(finding, unchecked));
            let code = escape(&finding.code);
            let _ = writeln!(
                out,
                " severity=\"{severity}\" message=\"{message}\" source=\"locus.{code}\"/>"
            );
        }
        out.push_str("  </file>\n");
    }
    out.push_str("</checkstyle>\n");
    out
}
