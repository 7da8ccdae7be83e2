//! The schema of `locus.toml`, for editors: made from what languages declare.

use serde_json::{Map, Value, json};

use super::{Input, InputKind, Language, Registry};

/// The JSON Schema of the settings of a project, as it stands in `docs/schemas/`.
pub fn settings(registry: &Registry) -> Value {
    let mut sections = Map::new();
    sections.insert("rules".to_owned(), levels());
    for language in registry.languages() {
        sections.insert(language.section().to_owned(), section(language));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://locus.invalid/schemas/settings-1.json",
        "title": "locus.toml",
        "type": "object",
        "properties": sections,
        "additionalProperties": false,
        "$defs": {
            "level": { "enum": ["off", "info", "warning", "error"] },
            "level_in_paths": {
                "type": "object",
                "properties": {
                    "severity": { "$ref": "#/$defs/level" },
                    "paths": {
                        "type": "array",
                        "items": { "type": "string" },
                        "description": "Patterns, relative to this file",
                    },
                },
                "required": ["severity"],
                "additionalProperties": false,
            },
        },
    })
}

/// How bad violations of rules are.
fn levels() -> Value {
    json!({
        "type": "object",
        "description": "How bad violations of rules are, by identifier or name",
        "additionalProperties": {
            "anyOf": [
                { "$ref": "#/$defs/level" },
                { "$ref": "#/$defs/level_in_paths" },
                { "type": "array", "items": { "$ref": "#/$defs/level_in_paths" } },
            ],
        },
    })
}

/// The section of a language.
fn section(language: &dyn Language) -> Value {
    let mut keys = Map::new();
    let rules = json!({
        "type": "array",
        "items": { "type": "string" },
        "description": "Files with rules of your own",
    });
    keys.insert("rules".to_owned(), rules);
    for input in language.inputs() {
        if let Some(setting) = input.setting {
            keys.insert(setting.to_owned(), described(takes(input), input.help));
        }
    }
    for key in language.setting_keys() {
        let own = language.setting_schema(key.name);
        let value = own.unwrap_or_else(|| json!({ "type": key.json_type }));
        keys.insert(key.name.to_owned(), described(value, key.help));
    }
    json!({
        "type": "object",
        "description": language.title(),
        "properties": keys,
        "additionalProperties": false,
    })
}

fn described(mut schema: Value, help: &str) -> Value {
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".to_owned(), help.into());
    }
    schema
}

/// What a setting for an input may be; of an input that is repeatable, one value or a list.
fn takes(input: &Input) -> Value {
    let one = match input.kind {
        InputKind::Path | InputKind::Project | InputKind::Text => json!({ "type": "string" }),
        InputKind::Word(words) => {
            let words: Vec<&str> = words.iter().map(|word| word.word).collect();
            json!({ "enum": words })
        }
        InputKind::Number => json!({ "type": "integer", "minimum": 0 }),
        InputKind::Switch => return json!({ "type": "boolean" }),
        InputKind::Pair => {
            let value = json!({ "type": ["string", "number", "boolean"] });
            return json!({ "type": "object", "additionalProperties": value });
        }
    };
    match input.repeatable {
        true => json!({ "anyOf": [one, { "type": "array", "items": one }] }),
        false => one,
    }
}
