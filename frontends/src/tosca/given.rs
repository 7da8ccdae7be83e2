//! Values that are given to inputs from outside of the files.

use std::cell::RefCell;

use locus_core::{Diagnostic, Span};

use super::model::{DataType, Model, Primitive, Property, Schema};
use super::text::Version;
use super::value::{Checker, Val, scalar::Units};
use crate::yaml::{Node, Schema as Yaml, Typed};

/// Reads a value that was given to an input; what is wrong with it is told where it was given.
pub(super) fn read<'a>(
    checker: &Checker<'_, 'a>,
    node: &Node,
    property: &Property<'a>,
    span: Span,
) -> Val {
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
        None => {
            let held = model.entry(schema);
            let entry = |node: &Node| match &held {
                Some(entry) => typed(model, node, entry),
                None => typed(model, node, &Schema::unknown(schema.file)),
            };
            return match (node.as_sequence(), node.as_mapping()) {
                (Some(items), _) => {
                    Some(Val::List(items.iter().map(entry).collect::<Option<_>>()?))
                }
                (None, Some(map)) => {
                    let fields = map
                        .named()
                        .map(|(name, held)| Some((name.clone(), entry(&held.value)?)));
                    let structured = matches!(schema.ty, DataType::Type(_))
                        && model.primitive(schema.ty).is_none();
                    if structured {
                        Some(Val::Unknown)
                    } else {
                        Some(Val::Map(fields.collect::<Option<_>>()?))
                    }
                }
                _ => None,
            };
        }
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
