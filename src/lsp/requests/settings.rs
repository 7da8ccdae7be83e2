//! `locus.toml`: keys and codes of rules.

use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionTextEdit, InsertTextFormat, TextEdit,
};
use serde_json::Value;

use super::toml::{self, Role};
use crate::catalogue;
use crate::lsp::world::World;

/// Whether a file holds settings.
pub(super) fn is_settings(path: &str) -> bool {
    path.ends_with("/locus.toml")
}

/// The schema of all settings, as it is published.
fn known_schema() -> Value {
    serde_json::from_str(include_str!("../../../docs/schemas/settings-1.json")).unwrap_or_default()
}

/// A part of the schema, with what it refers to in place of the reference.
fn resolve<'s>(schema: &'s Value, at: &'s Value) -> &'s Value {
    let pointer = at.get("$ref").and_then(Value::as_str);
    let pointer = pointer.and_then(|pointer| pointer.strip_prefix('#'));
    pointer
        .and_then(|pointer| schema.pointer(pointer))
        .unwrap_or(at)
}

/// A part of the schema and all that it may be instead; a list may be one of its items.
fn alternatives<'s>(schema: &'s Value, at: &'s Value) -> Vec<&'s Value> {
    let at = resolve(schema, at);
    let ways = ["anyOf", "oneOf"].into_iter();
    let parts = ways.filter_map(|way| at.get(way)?.as_array()).flatten();
    let parts = parts.chain(at.get("items"));
    let mut all = vec![at];
    all.extend(parts.flat_map(|part| alternatives(schema, part)));
    all
}

/// What the schema says of what some keys lead to.
fn schema_at<'s>(schema: &'s Value, path: &[String]) -> Vec<&'s Value> {
    path.iter().fold(vec![schema], |at, key| {
        let parts = at.into_iter().flat_map(|one| alternatives(schema, one));
        let below = parts.filter_map(|part| {
            let own = part.get("properties").and_then(|all| all.get(key));
            own.or_else(|| {
                part.get("additionalProperties")
                    .filter(|more| more.is_object())
            })
        });
        below.collect()
    })
}

/// The keys that a table can have, and what the schema says of each.
fn keys_at<'s>(schema: &'s Value, path: &[String]) -> Vec<(&'s str, &'s Value)> {
    let tables = schema_at(schema, path).into_iter();
    let tables = tables.flat_map(|one| alternatives(schema, one));
    let keys = tables.filter_map(|table| table.get("properties")?.as_object());
    let mut all: Vec<(&str, &Value)> = Vec::new();
    for (key, value) in keys.flatten() {
        // Alternatives may have keys in common.
        if all.iter().all(|(known, _)| known != key) {
            all.push((key, value));
        }
    }
    all
}

fn is_table(schema: &Value, at: &Value) -> bool {
    resolve(schema, at).get("type").and_then(Value::as_str) == Some("object")
}

fn about(schema: &Value, at: &Value) -> Option<String> {
    let own = at.get("description");
    let text = own.or_else(|| resolve(schema, at).get("description"));
    text.and_then(Value::as_str).map(str::to_owned)
}

/// What is shown beside a key or a table: its value, if that fits into a line, or what it is for.
pub(super) fn shown(text: &str, part: &toml::Part) -> String {
    let value = text.get(part.name_at.end..part.whole.end);
    let value = value.and_then(|value| value.trim_start().strip_prefix('='));
    match value.map(str::trim).filter(|_| !part.is_table) {
        Some(value) if !value.contains('\n') && value.len() <= 60 => value.to_owned(),
        _ => {
            let schema = known_schema();
            let own = schema_at(&schema, &part.path).into_iter();
            let about = own.filter_map(|one| about(&schema, one)).next();
            about.unwrap_or_default()
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

/// The word that a place is in.
fn word_at(text: &str, offset: usize) -> std::ops::Range<usize> {
    let before = text.get(..offset).unwrap_or_default();
    let after = text.get(offset..).unwrap_or_default();
    let start = before.trim_end_matches(is_word).len();
    let end = after.find(|c| !is_word(c)).unwrap_or(after.len());
    start..offset + end
}

/// What can be written at a place of the settings.
pub(super) fn completion(world: &World, text: &str, offset: usize) -> Vec<CompletionItem> {
    let mut all = Vec::new();
    let Some(place) = toml::place(text, offset) else {
        return all;
    };
    let schema = known_schema();
    let word = word_at(text, offset);
    let range = world.lines(text).range(word.clone());
    let item = |label: &str, kind, detail: Option<String>, new: String| CompletionItem {
        label: label.to_owned(),
        kind: Some(kind),
        detail,
        insert_text_format: Some(InsertTextFormat::PLAIN_TEXT),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit {
            range,
            new_text: new,
        })),
        ..CompletionItem::default()
    };
    let known = toml::siblings(text, &place, offset);
    let is_new = |key: &str| !known.iter().any(|one| one == key);
    match place.role {
        Role::Header { is_array } => {
            for (key, value) in keys_at(&schema, &place.path) {
                let items = resolve(&schema, value).get("items");
                let fits = match is_array {
                    true => items.is_some_and(|items| is_table(&schema, items)),
                    false => is_table(&schema, value) && is_new(key),
                };
                if fits {
                    let kind = CompletionItemKind::MODULE;
                    all.push(item(key, kind, about(&schema, value), key.to_owned()));
                }
            }
        }
        Role::Key => {
            let after = text.get(word.end..).unwrap_or_default().trim_start();
            let sign = if after.starts_with('=') { "" } else { " = " };
            for (key, value) in keys_at(&schema, &place.path) {
                if is_new(key) {
                    let kind = CompletionItemKind::PROPERTY;
                    all.push(item(
                        key,
                        kind,
                        about(&schema, value),
                        format!("{key}{sign}"),
                    ));
                }
            }
            if place.path == ["rules"] {
                let entries = catalogue::entries().into_iter();
                for entry in entries.filter(|entry| entry.optional && is_new(&entry.id)) {
                    let kind = CompletionItemKind::CONSTANT;
                    let text = format!("{}{sign}", entry.id);
                    all.push(item(&entry.id, kind, Some(entry.title.clone()), text));
                }
            }
        }
        Role::Value { is_quoted } => {
            let kind = CompletionItemKind::ENUM_MEMBER;
            let own = schema_at(&schema, &place.path).into_iter();
            for one in own.flat_map(|one| alternatives(&schema, one)) {
                let words = one.get("enum").and_then(Value::as_array);
                for word in words.into_iter().flatten().filter_map(Value::as_str) {
                    let text = match is_quoted {
                        true => word.to_owned(),
                        false => format!("\"{word}\""),
                    };
                    all.push(item(word, kind, None, text));
                }
                if !is_quoted && one.get("type").and_then(Value::as_str) == Some("boolean") {
                    all.extend(
                        ["true", "false"].map(|word| item(word, kind, None, word.to_owned())),
                    );
                }
            }
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|item| seen.insert(item.label.clone()));
    all
}

/// What a key or a code of a rule means.
pub(super) fn hover(text: &str, offset: usize) -> Option<(std::ops::Range<usize>, String)> {
    let place = toml::place(text, offset)?;
    let range = word_at(text, offset);
    let word = text.get(range.clone()).filter(|word| !word.is_empty())?;
    // A section may be called as a code is.
    if let Some(entry) = catalogue::entries()
        .into_iter()
        .find(|entry| entry.id == word && place.role == Role::Key)
    {
        let mut said = format!("**{}** {}", entry.id, entry.title);
        let mut rules = locus_invariants::rules().iter();
        if let Some(rule) = rules.find(|rule| rule.id == word) {
            said.push_str(&format!("\n\n{}", rule.why));
        }
        return Some((range, said));
    }
    if matches!(place.role, Role::Value { .. }) {
        return None;
    }
    let schema = known_schema();
    let own = keys_at(&schema, &place.path).into_iter();
    let mut own = own.filter(|(key, _)| *key == word);
    let said = own.find_map(|(_, value)| about(&schema, value))?;
    Some((range, format!("`{word}`\n\n{said}")))
}
