//! What editors ask, a file for each subject.

mod actions;
pub(super) mod commands;
mod completion;
mod diagnostic;
mod format;
mod hints;
mod hover;
mod lens;
mod mend;
mod navigation;
mod rename;
mod settings;
mod structure;
mod symbols;
pub(super) mod tokens;
mod toml;

use lsp_server::Request;
use lsp_types::request::{self as requested, Request as _};

use super::server::Server;
use crate::session::Cancelled;

/// Why a request has no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// The client no longer wants one.
    Cancelled,
    /// What is asked cannot be done, in words for the user.
    Refused(String),
}

impl From<Cancelled> for Failure {
    fn from(_: Cancelled) -> Self {
        Failure::Cancelled
    }
}

/// Has a request answered.
pub(super) fn dispatch(server: &mut Server, request: Request) {
    macro_rules! answer {
        ($($method:ident => $function:path),* $(,)?) => {
            match request.method.as_str() {
                $(requested::$method::METHOD => {
                    server.answer::<requested::$method>(request, $function);
                })*
                _ => server.unknown(request),
            }
        };
    }
    answer! {
        HoverRequest => hover::hover,
        GotoDefinition => navigation::definition,
        References => navigation::references,
        DocumentHighlightRequest => navigation::highlight,
        DocumentSymbolRequest => symbols::document,
        WorkspaceSymbolRequest => symbols::workspace,
        FoldingRangeRequest => structure::folding,
        SelectionRangeRequest => structure::selection,
        DocumentLinkRequest => structure::links,
        Completion => completion::completion,
        PrepareRenameRequest => rename::prepare,
        Rename => rename::rename,
        CodeActionRequest => actions::actions,
        CodeActionResolveRequest => mend::resolve,
        CodeLensRequest => lens::lenses,
        Formatting => format::format,
        InlayHintRequest => hints::hints,
        SemanticTokensFullRequest => tokens::full,
        DocumentDiagnosticRequest => diagnostic::document,
        ExecuteCommand => commands::execute,
    }
}
