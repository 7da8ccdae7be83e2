//! What can be written at a place.

use locus_frontends::language::{Follows, Suggestion};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionItemTag, CompletionParams, CompletionResponse,
    CompletionTextEdit, Documentation, InsertTextFormat, MarkupContent, MarkupKind, TextEdit,
};

use super::{Failure, settings};
use crate::lsp::checker::is_model;
use crate::lsp::uri;
use crate::lsp::world::World;
use crate::session::{Completion, Member, NameKind, is_plain};

const KEYWORDS: &[&str] = &[
    "abstract", "all", "and", "as", "assert", "but", "check", "disj", "else", "enum", "exactly",
    "expect", "extends", "fact", "for", "fun", "iden", "iff", "implies", "in", "let", "lone",
    "module", "no", "none", "not", "one", "open", "or", "pred", "run", "set", "sig", "some", "sum",
    "this", "univ", "var",
];

/// What can be written at a place.
pub(super) fn completion(
    world: &World,
    params: CompletionParams,
) -> Result<Option<CompletionResponse>, Failure> {
    let at = params.text_document_position;
    let path = uri::to_path(&at.text_document.uri);
    let Some(text) = world.text(&path) else {
        return Ok(None);
    };
    let offset = world.offset(&text, at.position);
    if is_model(&path) {
        let items = match world.snapshot.after_dot(&path, &text, offset) {
            Some(members) => members.into_iter().map(member).collect(),
            None => model(world, &path),
        };
        return Ok(Some(CompletionResponse::Array(items)));
    }
    if settings::is_settings(&path) {
        let items = settings::completion(world, &text, offset);
        return Ok(Some(CompletionResponse::Array(items)));
    }
    let Some(language) = world.language(&path) else {
        return Ok(None);
    };
    let others = world.others(&path)?;
    let found = world.snapshot.complete(language, &text, offset, &others);
    let range = world.lines(&text).range(found.word.clone());
    let items = found.suggestions.iter().enumerate();
    let items = items.map(|(order, one)| item(world, &found, one, order, range));
    Ok(Some(CompletionResponse::Array(items.collect())))
}

fn item(
    world: &World,
    found: &Completion,
    one: &Suggestion,
    order: usize,
    range: lsp_types::Range,
) -> CompletionItem {
    let (new_text, is_snippet) = insert(world.options.snippets, found, one);
    let kind = match (found.is_key, one.detail.as_str()) {
        (true, "function") => CompletionItemKind::FUNCTION,
        (true, _) => CompletionItemKind::PROPERTY,
        (false, "allowed value" | "boolean") => CompletionItemKind::ENUM_MEMBER,
        (false, detail) if detail.ends_with("type") => CompletionItemKind::CLASS,
        (false, _) => CompletionItemKind::REFERENCE,
    };
    let documentation = (!one.documentation.is_empty()).then(|| {
        Documentation::MarkupContent(MarkupContent {
            kind: MarkupKind::Markdown,
            value: one.documentation.clone(),
        })
    });
    CompletionItem {
        label: match one.text.is_empty() {
            true => "\"\"".to_owned(),
            false => one.text.clone(),
        },
        kind: Some(kind),
        detail: (!one.detail.is_empty()).then(|| one.detail.clone()),
        documentation,
        sort_text: Some(format!("{order:05}")),
        filter_text: Some(one.text.clone()),
        tags: one.deprecated.then(|| vec![CompletionItemTag::DEPRECATED]),
        insert_text_format: Some(match is_snippet {
            true => InsertTextFormat::SNIPPET,
            false => InsertTextFormat::PLAIN_TEXT,
        }),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text })),
        ..CompletionItem::default()
    }
}

/// What is inserted for a suggestion, and whether it has places to fill in.
fn insert(snippets: bool, found: &Completion, one: &Suggestion) -> (String, bool) {
    let pad = " ".repeat(found.indent);
    let text = match one.is_text && !found.is_quoted {
        true => written(&one.text),
        false => one.text.clone(),
    };
    let escaped = text.replace('$', "\\$");
    if found.is_key {
        let rest = match one.follows {
            Follows::Value => ": ".to_owned(),
            Follows::Map => format!(":\n{pad}  "),
            Follows::List => format!(":\n{pad}  - "),
        };
        if snippets && !one.block.is_empty() {
            let lines = block(&one.block, &format!("{pad}  "));
            return (format!("{escaped}:{lines}"), true);
        }
        return (format!("{text}{rest}"), false);
    }
    if snippets && !one.block.is_empty() {
        return (format!("{escaped}{}", block(&one.block, &pad)), true);
    }
    (text, false)
}

/// A text as it stands in YAML: in quotes, if it would be something else without them.
fn written(text: &str) -> String {
    match is_plain(text) || text.contains('"') {
        true => text.to_owned(),
        false => format!("\"{text}\""),
    }
}

/// Lines with a place to fill in at each key that lacks its value.
fn block(lines: &[String], pad: &str) -> String {
    let mut text = String::new();
    let mut hole = 0;
    for line in lines {
        text.push_str(&format!("\n{pad}{line}"));
        if !line.ends_with(':') {
            hole += 1;
            text.push_str(&format!(": ${{{hole}}}"));
        }
    }
    text
}

/// What can follow a dot.
fn member(one: Member) -> CompletionItem {
    named(one.name, one.kind, one.shown)
}

fn named(name: String, kind: NameKind, shown: String) -> CompletionItem {
    CompletionItem {
        label: name,
        kind: Some(match kind {
            NameKind::Sig => CompletionItemKind::CLASS,
            NameKind::Field => CompletionItemKind::FIELD,
            NameKind::Var => CompletionItemKind::VARIABLE,
            _ => CompletionItemKind::FUNCTION,
        }),
        detail: Some(shown),
        ..CompletionItem::default()
    }
}

/// The names and the words of a model.
fn model(world: &World, path: &str) -> Vec<CompletionItem> {
    let model = world.snapshot.model(path);
    let names = model
        .names
        .iter()
        .filter(|name| name.kind != NameKind::Command);
    let mut items: Vec<CompletionItem> = Vec::new();
    for name in names {
        if items.iter().any(|known| known.label == name.name) {
            continue;
        }
        items.push(named(name.name.clone(), name.kind, name.shown.clone()));
    }
    items.extend(KEYWORDS.iter().map(|word| CompletionItem {
        label: (*word).to_owned(),
        kind: Some(CompletionItemKind::KEYWORD),
        ..CompletionItem::default()
    }));
    items
}
