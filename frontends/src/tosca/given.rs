//! Values that are given to inputs from outside of the files: one by one, and in files of their own.

use std::cell::RefCell;

use locus_core::{Diagnostic, Sources, Span};
use rustc_hash::FxHashMap;

use super::model::{Model, Primitive, Property, Schema};
use super::text::Version;
use super::value::{Checker, Val, scalar::Units};
use super::{Options, Service};
use crate::loader::Loader;
use crate::yaml::{self, Limits, Node, Schema as Yaml, Typed};

/// The values that were given, parsed; one that is given by itself replaces what files say.
pub(super) fn all(
    options: &Options,
    loader: &dyn Loader,
    sources: &mut Sources,
    service: &mut Service,
) -> FxHashMap<String, (Node, Span)> {
    let mut given = FxHashMap::default();
    for path in &options.input_files {
        in_file(path, loader, sources, service, &mut given);
    }
    for (name, file) in &options.inputs {
        let parsed = yaml::parse(sources, *file, &Limits::default());
        if let Some(document) = parsed.documents.into_iter().next() {
            let span = document.root.span;
            given.insert(name.clone(), (document.root, span));
        }
    }
    given
}

/// Reads a file with values; a later one replaces what an earlier one says.
fn in_file(
    path: &str,
    loader: &dyn Loader,
    sources: &mut Sources,
    service: &mut Service,
    given: &mut FxHashMap<String, (Node, Span)>,
) {
    let diagnostics = &mut service.diagnostics;
    let bytes = match loader.load(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let message = format!("cannot read `{path}`: {}", error.reason);
            diagnostics.push(Diagnostic::error("io", message));
            return;
        }
    };
    let text = match locus_core::decode(&bytes) {
        Ok(text) => text,
        Err(refused) => {
            let file = sources.add(path, refused.shown.as_str());
            diagnostics.push(refused.diagnostic(file));
            return;
        }
    };
    let file = sources.add(path, &*text);
    let parsed = yaml::parse(sources, file, &Limits::default());
    let whole = parsed.is_complete();
    diagnostics.extend(parsed.diagnostics);
    diagnostics.extend(parsed.duplicates.iter().map(yaml::DuplicateKey::diagnostic));
    let mut documents = parsed.documents.into_iter();
    let Some(first) = documents.next() else {
        if whole {
            diagnostics.push(yaml::empty_file(file));
        }
        return;
    };
    let wrong = |span: Span, message: &str| {
        Diagnostic::error("tosca-value", message)
            .at(span)
            .help("write a line `name: value` for each input")
    };
    diagnostics.extend(documents.map(|other| {
        let message = "a file with inputs has one document, and this is another";
        wrong(other.root.span, message)
    }));
    let Some(map) = first.root.as_mapping() else {
        let message = "a file with inputs is a map from their names to values";
        diagnostics.push(wrong(first.root.span, message));
        return;
    };
    for entry in &map.entries {
        match entry.key.as_str() {
            Some(name) => {
                let value = (entry.value.clone(), entry.value.used_at());
                given.insert(name.to_owned(), value);
            }
            None => diagnostics.push(wrong(entry.key.span, "this is not the name of an input")),
        }
    }
}

/// Reads a value that was given to an input; what is wrong with it is told where it was given.
pub(super) fn read<'a>(
    checker: &Checker<'_, 'a>,
    node: &'a Node,
    property: &Property<'a>,
    span: Span,
) -> Val {
    // What is in a list or a map is written as it is in a file.
    if node.typed(Yaml::Core).is_none() {
        return checker.read(node, &property.schema, &property.name);
    }
    let value = typed(checker.model, node, &property.schema);
    let Some(value) = value else {
        let needed = checker.model.describe(&property.schema);
        let message = format!(
            "the input `{}` must be {needed}, not {}",
            property.name,
            node.describe(Yaml::Core)
        );
        checker.report(Diagnostic::error("tosca-value", message).at(span));
        return Val::Unknown;
    };
    if value.is_known() {
        let held = RefCell::default();
        let inner = Checker {
            diagnostics: &held,
            value: None,
            ..*checker
        };
        inner.check_given(&value, &property.schema, &property.name, span);
        checker.diagnostics.borrow_mut().extend(held.into_inner());
    }
    value
}

fn typed<'a>(model: &Model<'a>, node: &Node, schema: &Schema<'a>) -> Option<Val> {
    let plain = match node.typed(Yaml::Core) {
        Some(Typed::Bool(value)) => Val::Bool(value),
        Some(Typed::Int(value)) => Val::Int(value),
        Some(Typed::Float(value)) => Val::Float(value),
        Some(Typed::Str(text)) => Val::Str(text),
        Some(Typed::Null) => Val::Null,
        None => return None,
    };
    let text = node.text().cloned().unwrap_or_else(|| "".into());
    match model.primitive(schema.ty) {
        None => Some(plain),
        Some(Primitive::String) => Some(Val::Str(text)),
        Some(Primitive::Integer) => matches!(plain, Val::Int(_)).then_some(plain),
        Some(Primitive::Float) => matches!(plain, Val::Int(_) | Val::Float(_)).then_some(plain),
        Some(Primitive::Boolean) => matches!(plain, Val::Bool(_)).then_some(plain),
        Some(Primitive::Nil) => matches!(plain, Val::Null).then_some(plain),
        Some(Primitive::Version) => Some(Val::Version(Version::parse(&text)?, text)),
        Some(Primitive::List | Primitive::Map | Primitive::Range) => None,
        Some(Primitive::Bytes | Primitive::Timestamp) => Some(Val::Str(text)),
        Some(_) => {
            let units: std::rc::Rc<Units> = model.units(schema)?;
            let amount = units.read(&text).ok()?;
            Some(Val::Scalar(amount, units, text))
        }
    }
}
