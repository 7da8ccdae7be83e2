//! Diagnostics that the client asks for.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use lsp_types::{
    DocumentDiagnosticParams, DocumentDiagnosticReport, DocumentDiagnosticReportKind,
    DocumentDiagnosticReportResult, FullDocumentDiagnosticReport,
    RelatedFullDocumentDiagnosticReport, RelatedUnchangedDocumentDiagnosticReport,
    UnchangedDocumentDiagnosticReport,
};

use super::Failure;
use crate::lsp::diagnostics::ByPath;
use crate::lsp::uri;
use crate::lsp::world::World;

/// What is said about a file, and about the others that are checked with it and are not open.
#[expect(
    clippy::mutable_key_type,
    reason = "the protocol's types have URIs as keys, whose cache is no part of their identity"
)]
pub(super) fn document(
    world: &World,
    params: DocumentDiagnosticParams,
) -> Result<DocumentDiagnosticReportResult, Failure> {
    let path = uri::to_path(&params.text_document.uri);
    let mut all = ByPath::new();
    for subject in world.subjects(&path) {
        for (path, said) in world.examine(&subject)?.by_path {
            let known = all.entry(path).or_default();
            for diagnostic in said {
                if !known.contains(&diagnostic) {
                    known.push(diagnostic);
                }
            }
        }
    }
    let items = all.remove(&path).unwrap_or_default();
    let mut related = HashMap::new();
    for (other, said) in all {
        if let Some(uri) = world.uri(&other)
            && world.documents.get(&other).is_none()
        {
            related.insert(
                uri,
                DocumentDiagnosticReportKind::Full(FullDocumentDiagnosticReport {
                    result_id: None,
                    items: said,
                }),
            );
        }
    }
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(&items)
        .unwrap_or_default()
        .hash(&mut hasher);
    let result_id = format!("{:x}", hasher.finish());
    let related_documents = (!related.is_empty()).then_some(related);
    let report = if params.previous_result_id.as_ref() == Some(&result_id) {
        DocumentDiagnosticReport::Unchanged(RelatedUnchangedDocumentDiagnosticReport {
            related_documents,
            unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport { result_id },
        })
    } else {
        DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
            related_documents,
            full_document_diagnostic_report: FullDocumentDiagnosticReport {
                result_id: Some(result_id),
                items,
            },
        })
    };
    Ok(DocumentDiagnosticReportResult::Report(report))
}
