//! `locus lsp`: serves an editor on standard input and output.

use crate::lsp::{End, serve};

use super::Exit;

/// Serves until the editor ends the conversation.
pub(crate) fn lsp() -> Exit {
    match serve(std::io::stdin(), std::io::stdout()) {
        End::Asked => Exit::Clean,
        End::Gone => Exit::Findings,
    }
}
