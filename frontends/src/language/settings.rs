//! The section of a language in the settings of a project.
//!
//! Settings are [`Field`]s with spans, whatever file they come from. A section holds the inputs that the language
//! declares, under the keys it gives them, and what the language reads itself ([`Language::settings`]).

use std::any::Any;
use std::sync::Arc;

use locus_core::value::{Field, Item, Value};
use locus_core::{Diagnostic, Span, suggest};

use super::{Input, InputKind, InputValue, Inputs, Language};
use crate::loader::join;

/// A key in the section of a language that the language reads itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingKey {
    /// The key.
    pub name: &'static str,
    /// What it is for, one line without a full stop.
    pub help: &'static str,
    /// The type of its value, as JSON Schema calls it.
    pub json_type: &'static str,
}

/// What a language made of the keys it reads itself; only the language knows what is inside.
#[derive(Clone, Debug)]
pub struct OwnSettings(Arc<dyn Any + Send + Sync>);

impl OwnSettings {
    /// Settings of a type that the language knows.
    pub fn new<T: Send + Sync + 'static>(settings: T) -> Self {
        OwnSettings(Arc::new(settings))
    }

    /// The settings, when they are of this type.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

/// The settings of a project for one language.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The inputs it gives.
    pub inputs: Inputs,
    /// What the language reads itself.
    pub own: Option<OwnSettings>,
}

/// Reads the section of a language. Keys that are common to all languages are read by the caller, who lists them;
/// paths are relative to a folder. What is wrong is told where it is written, all of it.
pub fn read(
    language: &dyn Language,
    fields: &[Field],
    common: &[&str],
    folder: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Section {
    let mut section = Section::default();
    let mut own = Vec::new();
    for field in fields {
        let key = &*field.name;
        let inputs = language.inputs().iter();
        if common.contains(&key) {
            continue;
        } else if let Some(input) = inputs.clone().find(|input| input.setting == Some(key)) {
            give(&mut section.inputs, input, &field.item, folder, diagnostics);
        } else if language
            .setting_keys()
            .iter()
            .any(|known| known.name == key)
        {
            own.push(field.clone());
        } else {
            let known = inputs.filter_map(|input| input.setting);
            let known = known.chain(language.setting_keys().iter().map(|known| known.name));
            let help = suggest::did_you_mean(key, known.chain(common.iter().copied()));
            let message = format!("`{key}` is not a setting of `[{}]`", language.section());
            diagnostics.push(error(message, field.key).maybe_help(help));
        }
    }
    if !own.is_empty() {
        section.own = language.settings(&own, diagnostics);
    }
    section
}

fn error(message: String, span: Span) -> Diagnostic {
    Diagnostic::error("settings", message).at(span)
}

/// Adds the values that a setting gives for an input.
fn give(
    inputs: &mut Inputs,
    input: &Input,
    item: &Item,
    folder: &str,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let name = input.setting.unwrap_or(input.name);
    let one = |item: &Item| -> Result<InputValue, String> {
        match (&item.value, input.kind) {
            (Value::Str(text), InputKind::Path | InputKind::Project) => {
                Ok(InputValue::Text(join(folder, text)))
            }
            (Value::Int(_), InputKind::Number) => input.parse(&item.value.to_string()),
            (Value::Str(text), InputKind::Text | InputKind::Word(_)) => input.parse(text),
            _ => Err(format!("`{name}` takes {}", takes(input))),
        }
    };
    match (&item.value, input.kind) {
        (Value::Bool(on), InputKind::Switch) => {
            if *on {
                inputs.add(input, InputValue::On, Some(item.span));
            }
        }
        (Value::Map(fields), InputKind::Pair) => {
            for field in fields {
                match &field.item.value {
                    Value::Str(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_) => {
                        let text = field.item.value.to_string();
                        let pair = InputValue::Pair(field.name.to_string(), text);
                        inputs.add(input, pair, Some(field.item.span));
                    }
                    _ => diagnostics.push(error(
                        format!("`{name}.{}` takes a string or a number", field.name),
                        field.item.span,
                    )),
                }
            }
        }
        (Value::List(items), _) if input.repeatable => {
            for item in items {
                match one(item) {
                    Ok(value) => inputs.add(input, value, Some(item.span)),
                    Err(message) => diagnostics.push(error(message, item.span)),
                }
            }
        }
        _ => match one(item) {
            Ok(value) => inputs.add(input, value, Some(item.span)),
            Err(message) => diagnostics.push(error(message, item.span)),
        },
    }
}

/// What a setting for an input must be, in words.
fn takes(input: &Input) -> &'static str {
    match (input.kind, input.repeatable) {
        (InputKind::Path | InputKind::Project, true) => "a list of paths",
        (InputKind::Path | InputKind::Project, false) => "a path",
        (InputKind::Pair, _) => "a table of names and values",
        (InputKind::Text | InputKind::Word(_), true) => "a list of strings",
        (InputKind::Text | InputKind::Word(_), false) => "a string",
        (InputKind::Number, _) => "a whole number",
        (InputKind::Switch, _) => "`true` or `false`",
    }
}
