//! What the server can do, and what it learns of the client.

use std::time::Duration;

use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CodeLensOptions,
    CompletionOptions, DiagnosticOptions, DiagnosticServerCapabilities, DocumentLinkOptions,
    ExecuteCommandOptions, FoldingRangeProviderCapability, HoverProviderCapability,
    InitializeParams, OneOf, RenameOptions, SaveOptions, SelectionRangeProviderCapability,
    SemanticTokensFullOptions, SemanticTokensOptions, SemanticTokensServerCapabilities,
    ServerCapabilities, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, WorkDoneProgressOptions, WorkspaceFoldersServerCapabilities,
    WorkspaceServerCapabilities,
};
use serde::Deserialize;

use super::position::Encoding;
use super::requests::{commands, tokens};
use super::world::Options;

/// What a client may ask for when it starts the server.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Asked {
    /// What a link to the page of a rule starts with.
    documentation: Option<String>,
    /// Milliseconds without a change before files are checked.
    debounce: Option<u64>,
    /// Whether every allowed input is taken.
    all_inputs: bool,
}

/// The time without a change before files are checked, in milliseconds.
const DEBOUNCE: u64 = 10;

/// What the client can do, and what it asked for.
pub(super) fn options(params: &InitializeParams) -> Options {
    let asked = params.initialization_options.clone();
    let asked: Asked = asked
        .and_then(|asked| serde_json::from_value(asked).ok())
        .unwrap_or_default();
    let capabilities = &params.capabilities;
    let general = capabilities.general.as_ref();
    let offered = general.and_then(|general| general.position_encodings.as_deref());
    let text = capabilities.text_document.as_ref();
    let workspace = capabilities.workspace.as_ref();
    let window = capabilities.window.as_ref();
    let is_set = |flag: Option<bool>| flag == Some(true);
    let completion = text.and_then(|text| text.completion.as_ref());
    let item = completion.and_then(|completion| completion.completion_item.as_ref());
    let symbols = text.and_then(|text| text.document_symbol.as_ref());
    let edits = workspace.and_then(|workspace| workspace.workspace_edit.as_ref());
    let watching = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref());
    let actions = text.and_then(|text| text.code_action.as_ref());
    Options {
        encoding: Encoding::negotiate(offered.unwrap_or_default()),
        pulls: text.is_some_and(|text| text.diagnostic.is_some()),
        lens_refreshes: is_set(
            workspace
                .and_then(|workspace| workspace.code_lens.as_ref())
                .and_then(|lens| lens.refresh_support),
        ),
        snippets: is_set(item.and_then(|item| item.snippet_support)),
        versioned_edits: is_set(edits.and_then(|edits| edits.document_changes)),
        symbol_tree: is_set(
            symbols.and_then(|symbols| symbols.hierarchical_document_symbol_support),
        ),
        watches: is_set(watching.and_then(|watching| watching.dynamic_registration)),
        actions: actions.is_some_and(|actions| actions.code_action_literal_support.is_some()),
        resolves: actions
            .and_then(|actions| actions.resolve_support.as_ref())
            .is_some_and(|known| known.properties.iter().any(|one| one == "edit")),
        progress: is_set(window.and_then(|window| window.work_done_progress)),
        documentation: asked.documentation,
        debounce: Duration::from_millis(asked.debounce.unwrap_or(DEBOUNCE)),
        all_inputs: asked.all_inputs,
        ..Options::default()
    }
}

/// What the server can do.
pub(super) fn server(options: &Options) -> ServerCapabilities {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions {
            include_text: Some(false),
        })),
        ..TextDocumentSyncOptions::default()
    };
    let no_progress = WorkDoneProgressOptions::default();
    let diagnostics = DiagnosticOptions {
        identifier: Some("locus".to_owned()),
        inter_file_dependencies: true,
        workspace_diagnostics: false,
        work_done_progress_options: no_progress,
    };
    let words = |words: &[&str]| Some(words.iter().map(|&word| word.to_owned()).collect());
    ServerCapabilities {
        position_encoding: Some(options.encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        diagnostic_provider: options
            .pulls
            .then_some(DiagnosticServerCapabilities::Options(diagnostics)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        selection_range_provider: Some(SelectionRangeProviderCapability::Simple(true)),
        document_link_provider: Some(DocumentLinkOptions {
            resolve_provider: Some(false),
            work_done_progress_options: no_progress,
        }),
        completion_provider: Some(CompletionOptions {
            trigger_characters: words(&[":", " ", "-", "{", "[", "."]),
            ..CompletionOptions::default()
        }),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: no_progress,
        })),
        code_action_provider: Some(match options.actions {
            true => CodeActionProviderCapability::Options(CodeActionOptions {
                code_action_kinds: Some(vec![
                    CodeActionKind::QUICKFIX,
                    CodeActionKind::SOURCE_FIX_ALL,
                ]),
                resolve_provider: Some(options.resolves),
                work_done_progress_options: no_progress,
            }),
            false => CodeActionProviderCapability::Simple(true),
        }),
        code_lens_provider: Some(CodeLensOptions {
            resolve_provider: Some(false),
        }),
        document_formatting_provider: Some(OneOf::Left(true)),
        inlay_hint_provider: Some(OneOf::Left(true)),
        semantic_tokens_provider: Some(SemanticTokensServerCapabilities::SemanticTokensOptions(
            SemanticTokensOptions {
                legend: tokens::legend(),
                range: Some(false),
                full: Some(SemanticTokensFullOptions::Bool(true)),
                work_done_progress_options: no_progress,
            },
        )),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: commands::ALL.iter().map(|&name| name.to_owned()).collect(),
            work_done_progress_options: WorkDoneProgressOptions {
                work_done_progress: Some(true),
            },
        }),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        ..ServerCapabilities::default()
    }
}
