//! `locus.toml`: keys and codes of rules.

use lsp_types::{CompletionItem, CompletionItemKind, CompletionTextEdit, TextEdit};
use serde_json::Value;

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

/// The section that a place is in, and the line before and after it.
fn around(text: &str, offset: usize) -> (Vec<&str>, &str, &str) {
    let before = text.get(..offset).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.get(start..).unwrap_or_default();
    let after = text.get(offset..).unwrap_or_default();
    let after = after.split(['\n', '\r']).next().unwrap_or_default();
    let above = text.get(..start).unwrap_or_default().lines().rev();
    let header = above.map(str::trim).find(|line| line.starts_with('['));
    let header = header.and_then(|line| line.split(']').next());
    let section = header.map_or("", |line| line.trim_start_matches('['));
    let section = section.split('.').map(|part| part.trim().trim_matches('"'));
    (
        section.filter(|part| !part.is_empty()).collect(),
        line,
        after,
    )
}

/// The part of the schema that describes a section.
fn schema_at<'s>(schema: &'s Value, section: &[&str]) -> Option<&'s Value> {
    section.iter().try_fold(schema, |at, key| {
        let at = resolve(schema, at);
        let at = at.get("items").unwrap_or(at);
        let at = resolve(schema, at);
        let own = at.get("properties").and_then(|all| all.get(*key));
        own.or_else(|| {
            at.get("additionalProperties")
                .filter(|more| more.is_object())
        })
    })
}

/// A part of the schema, with what it refers to in place of the reference.
fn resolve<'s>(schema: &'s Value, at: &'s Value) -> &'s Value {
    let pointer = at.get("$ref").and_then(Value::as_str);
    let pointer = pointer.and_then(|pointer| pointer.strip_prefix('#'));
    pointer
        .and_then(|pointer| schema.pointer(pointer))
        .unwrap_or(at)
}

/// The values that a part of the schema lists: each as it is called and as it is written.
fn allowed(schema: &Value, at: &Value, words: &mut Vec<(String, String)>) {
    let at = resolve(schema, at);
    for word in at
        .get("enum")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if let Some(word) = word.as_str() {
            words.push((word.to_owned(), format!("\"{word}\"")));
        }
    }
    if at.get("type").and_then(Value::as_str) == Some("boolean") {
        words.extend(["true", "false"].map(|word| (word.to_owned(), word.to_owned())));
    }
    for way in ["anyOf", "oneOf"] {
        for part in at.get(way).and_then(Value::as_array).into_iter().flatten() {
            allowed(schema, part, words);
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

/// What can be written at a place of the settings.
pub(super) fn completion(
    world: &World,
    _path: &str,
    text: &str,
    offset: usize,
) -> Vec<CompletionItem> {
    let (section, line, after) = around(text, offset);
    let schema = known_schema();
    let from = line.rfind(|c: char| !is_word(c)).map_or(0, |at| at + 1);
    let word = line.get(from..).unwrap_or_default();
    let tail = after.find(|c: char| !is_word(c)).unwrap_or(after.len());
    let range = offset - word.len()..offset + tail;
    let range = world.lines(text).range(range);
    let item = |label: &str, kind, detail: Option<String>, new: String| CompletionItem {
        label: label.to_owned(),
        kind: Some(kind),
        detail,
        text_edit: Some(CompletionTextEdit::Edit(TextEdit {
            range,
            new_text: new,
        })),
        ..CompletionItem::default()
    };
    let head = line.get(..from).unwrap_or_default();
    let about = |value: &Value| {
        let text = resolve(&schema, value)
            .get("description")
            .or_else(|| value.get("description"));
        text.and_then(Value::as_str).map(str::to_owned)
    };
    let mut all = Vec::new();
    // In quotes, a code of a rule is meant.
    let quotes = head.matches('"').count();
    if quotes % 2 == 1 {
        for entry in catalogue::entries()
            .into_iter()
            .filter(|entry| entry.optional)
        {
            let title = Some(entry.title.clone());
            all.push(item(
                &entry.id,
                CompletionItemKind::CONSTANT,
                title,
                entry.id.clone(),
            ));
        }
        return all;
    }
    if head.trim_start().starts_with('[') {
        let keys = schema.get("properties").and_then(Value::as_object);
        for (key, value) in keys.into_iter().flatten() {
            let is_table =
                resolve(&schema, value).get("type").and_then(Value::as_str) == Some("object");
            if is_table {
                all.push(item(
                    key,
                    CompletionItemKind::MODULE,
                    about(value),
                    key.clone(),
                ));
            }
        }
        return all;
    }
    if head.contains('=') {
        let key = head.split('=').next().unwrap_or_default().trim();
        let mut way = section;
        way.push(key);
        let mut words = Vec::new();
        if let Some(own) = schema_at(&schema, &way) {
            allowed(&schema, own, &mut words);
        }
        for (word, text) in words {
            all.push(item(&word, CompletionItemKind::ENUM_MEMBER, None, text));
        }
        return all;
    }
    let own = schema_at(&schema, &section).map(|own| resolve(&schema, own));
    let keys = own
        .and_then(|own| own.get("properties"))
        .and_then(Value::as_object);
    for (key, value) in keys.into_iter().flatten() {
        let text = format!("{key} = ");
        all.push(item(key, CompletionItemKind::PROPERTY, about(value), text));
    }
    if section.last() == Some(&"rules") || section.last() == Some(&"severity") {
        for entry in catalogue::entries()
            .into_iter()
            .filter(|entry| entry.optional)
        {
            let title = Some(entry.title.clone());
            let text = format!("{} = ", entry.id);
            all.push(item(&entry.id, CompletionItemKind::CONSTANT, title, text));
        }
    }
    all
}

/// What a key or a code of a rule means.
pub(super) fn hover(
    _world: &World,
    _path: &str,
    text: &str,
    offset: usize,
) -> Option<(std::ops::Range<usize>, String)> {
    let (section, line, after) = around(text, offset);
    let from = line.rfind(|c: char| !is_word(c)).map_or(0, |at| at + 1);
    let tail = after.find(|c: char| !is_word(c)).unwrap_or(after.len());
    let range = offset - line.len() + from..offset + tail;
    let word = text.get(range.clone()).filter(|word| !word.is_empty())?;
    // A section may be called as a code is.
    let is_header = line.trim_start().starts_with('[');
    if let Some(entry) = catalogue::entries()
        .into_iter()
        .find(|entry| entry.id == word && !is_header)
    {
        let mut said = format!("**{}** {}", entry.id, entry.title);
        let mut rules = locus_invariants::rules().iter();
        if let Some(rule) = rules.find(|rule| rule.id == word) {
            said.push_str(&format!("\n\n{}", rule.why));
        }
        return Some((range, said));
    }
    let schema = known_schema();
    let mut way = section;
    if is_header {
        way.clear();
    }
    way.push(word);
    let own = schema_at(&schema, &way)?;
    let said = own
        .get("description")
        .or_else(|| resolve(&schema, own).get("description"));
    Some((range, format!("`{word}`\n\n{}", said?.as_str()?)))
}
