//! Conditions on values: the constraint clauses of 1.x and the validation clauses of 2.0.

use locus_core::int::Int;
use locus_core::values::pattern;
use locus_core::{Diagnostic, Span, suggest};

use super::{Checker, Val, all, any, shown};
use crate::tosca::model::data::Clause;
use crate::tosca::model::{DataType, Primitive, Schema};
use crate::tosca::text::{self, call};
use crate::yaml::{Kind, Node, Schema as Yaml, Typed};

/// The operators of 1.x.
pub const OPERATORS: &[&str] = &[
    "equal",
    "greater_than",
    "greater_or_equal",
    "less_than",
    "less_or_equal",
    "in_range",
    "valid_values",
    "length",
    "min_length",
    "max_length",
    "pattern",
    "schema",
];

impl<'a> Checker<'_, 'a> {
    /// Tells which conditions of a schema and its type a value does not fulfil.
    pub(super) fn conditions(
        &self,
        value: &Val,
        schema: &Schema<'a>,
        what: &str,
        span: Span,
        text: impl Fn() -> String,
    ) {
        let mut clauses = Vec::new();
        if let DataType::Type(id) = schema.ty {
            for at in self.model.ancestors(id) {
                let ty = self.model.names.get(at);
                if let Some(map) = ty.node.as_mapping() {
                    self.model.clauses(map, ty.file, &mut clauses);
                }
            }
        }
        clauses.extend(schema.clauses.iter().copied());
        for clause in clauses {
            if self.fulfils(value, &clause, schema) == Some(false) {
                let message = format!("`{what}` is `{}`, which is not allowed", text());
                let diagnostic = Diagnostic::error("tosca-constraint", message)
                    .help(format!("it must fulfil `{}`", shown(clause.node)))
                    .related(clause.node.span, "the condition");
                self.report(diagnostic.at(span));
            }
        }
    }

    /// Whether a value fulfils a condition; none when that is not known.
    pub fn fulfils(&self, value: &Val, clause: &Clause<'a>, schema: &Schema<'a>) -> Option<bool> {
        let inner = Checker {
            model: self.model,
            file: clause.file,
            refer: self.refer,
            value: Some(value.clone()),
            diagnostics: self.diagnostics,
        };
        if self.model.version(clause.file).is_simple() {
            return inner.constraint(value, clause.node, schema);
        }
        match inner.literal(clause.node) {
            Val::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    /// A constraint clause of 1.x.
    pub fn constraint(&self, value: &Val, node: &'a Node, schema: &Schema<'a>) -> Option<bool> {
        let operand = |node: &'a Node| self.quietly().operand(node, schema);
        let Some([entry]) = node.as_mapping().map(|map| map.entries.as_slice()) else {
            // A value alone means that it is equal.
            return value.equals(&operand(node));
        };
        let argument = &entry.value;
        let order = || value.compare(&operand(argument));
        let length = || match value {
            Val::Str(text) => Some(text.chars().count()),
            Val::List(items) => Some(items.len()),
            Val::Map(fields) => Some(fields.len()),
            _ => None,
        };
        let number = || match argument.typed(Yaml::Core)? {
            Typed::Int(Int::Small(n)) => usize::try_from(n).ok(),
            _ => None,
        };
        match &**entry.name()? {
            "equal" => value.equals(&operand(argument)),
            "greater_than" => Some(order()?.is_gt()),
            "greater_or_equal" => Some(order()?.is_ge()),
            "less_than" => Some(order()?.is_lt()),
            "less_or_equal" => Some(order()?.is_le()),
            "in_range" => {
                let [least, most] = argument.as_sequence()? else {
                    return None;
                };
                let bound = |node: &'a Node, below: bool| {
                    if node.as_str() == Some("UNBOUNDED") {
                        return Some(true);
                    }
                    // A range lies within when both of its ends do.
                    if let Val::List(ends) = value {
                        let limit = self.literal(node);
                        let inside = ends.iter().map(|end| {
                            let order = end.compare(&limit)?;
                            Some(if below { order.is_ge() } else { order.is_le() })
                        });
                        return all(inside);
                    }
                    let order = value.compare(&operand(node))?;
                    Some(if below { order.is_ge() } else { order.is_le() })
                };
                all([bound(least, true), bound(most, false)])
            }
            "valid_values" => {
                let choices = argument.as_sequence()?;
                any(choices.iter().map(|choice| value.equals(&operand(choice))))
            }
            "length" => Some(length()? == number()?),
            "min_length" => Some(length()? >= number()?),
            "max_length" => Some(length()? <= number()?),
            "pattern" => pattern::matches(argument.as_str()?, value.as_str()?),
            _ => None,
        }
    }

    /// Tells what is wrong with the text of a condition.
    pub fn check_clause(&self, clause: &Clause<'a>, schema: &Schema<'a>) {
        let version = self.model.version(clause.file);
        let node = clause.node;
        if !version.is_simple() {
            let boolean = matches!(node.typed(Yaml::Core), Some(Typed::Bool(_)));
            if call(node, version).is_none() && !boolean {
                let is = node.describe(Yaml::Core);
                let message =
                    format!("a validation is a call of a function that gives a boolean, not {is}");
                let diagnostic = Diagnostic::error("tosca-clause", message)
                    .help("for example `{$greater_than: [$value, 0]}`");
                self.report(diagnostic.at(node.used_at()));
            }
            self.check_calls(node);
            return;
        }
        let Some([entry]) = node.as_mapping().map(|map| map.entries.as_slice()) else {
            return;
        };
        let name = entry.key.as_str().unwrap_or_default();
        if !OPERATORS.contains(&name) {
            let message = format!("there is no constraint `{name}`");
            let diagnostic = Diagnostic::error("tosca-clause", message)
                .maybe_help(suggest::did_you_mean(name, OPERATORS.iter().copied()));
            self.report(diagnostic.at(entry.key.span));
            return;
        }
        let base = self.model.primitive(schema.ty);
        let argument = &entry.value;
        let fits = match name {
            "in_range" => argument.as_sequence().is_some_and(|items| items.len() == 2),
            "valid_values" => argument.as_sequence().is_some(),
            "length" | "min_length" | "max_length" => {
                matches!(argument.typed(Yaml::Core), Some(Typed::Int(_)))
            }
            "pattern" => argument.as_str().is_some(),
            _ => true,
        };
        if !fits {
            let needed = match name {
                "in_range" => "a list of two bounds",
                "valid_values" => "a list",
                "pattern" => "a regular expression",
                _ => "a whole number",
            };
            let message = format!(
                "`{name}` takes {needed}, not {}",
                argument.describe(Yaml::Core)
            );
            let diagnostic = Diagnostic::error("tosca-clause", message);
            self.report(diagnostic.at(argument.used_at()));
            return;
        }
        if let ("in_range", Some([least, most])) = (name, argument.as_sequence()) {
            let quiet = self.quietly();
            let (a, b) = (quiet.operand(least, schema), quiet.operand(most, schema));
            if a.compare(&b).is_some_and(std::cmp::Ordering::is_gt) {
                let message = format!("no value is in a range from `{a}` to `{b}`");
                let diagnostic = Diagnostic::error("tosca-clause", message);
                self.report(
                    diagnostic
                        .help("write the lower bound first")
                        .at(argument.used_at()),
                );
            }
        }
        if let ("pattern", Some(text)) = (name, argument.as_str())
            && pattern::matches(text, "").is_none()
        {
            let message =
                format!("the pattern `{text}` cannot be read, so no value is compared with it");
            let diagnostic = Diagnostic::warning("tosca-clause", message);
            self.report(diagnostic.at(argument.used_at()));
        }
        let wrong_type = match (name, base) {
            (_, None) => None,
            ("pattern", Some(Primitive::String)) => None,
            ("pattern", Some(_)) => Some("strings"),
            (
                "length" | "min_length" | "max_length",
                Some(Primitive::String | Primitive::List | Primitive::Map),
            ) => None,
            ("length" | "min_length" | "max_length", Some(_)) => Some("strings, lists and maps"),
            (
                "greater_than" | "greater_or_equal" | "less_than" | "less_or_equal" | "in_range",
                Some(Primitive::Boolean | Primitive::List | Primitive::Map),
            ) => Some("values that have an order"),
            _ => None,
        };
        if let Some(only) = wrong_type {
            let message = format!("`{name}` is for {only}");
            let diagnostic = Diagnostic::error("tosca-clause", message);
            self.report(diagnostic.at(entry.key.span));
            return;
        }
        // The operands must be values of the type themselves.
        let operands: Vec<&'a Node> = match (name, &argument.kind) {
            ("in_range" | "valid_values", Kind::Sequence(items)) => items.iter().collect(),
            ("equal" | "greater_than" | "greater_or_equal" | "less_than" | "less_or_equal", _) => {
                vec![argument]
            }
            _ => Vec::new(),
        };
        if matches!(
            base,
            Some(Primitive::Range | Primitive::List | Primitive::Map)
        ) {
            return;
        }
        let bare = Schema {
            clauses: Vec::new(),
            ..schema.clone()
        };
        let bare = Schema {
            ty: base.map_or(bare.ty, |base| match base {
                Primitive::Scalar => bare.ty,
                base => DataType::Primitive(base),
            }),
            ..bare
        };
        for operand in operands {
            if operand.as_str() != Some("UNBOUNDED") {
                self.read(operand, &bare, name);
            }
        }
    }

    /// Tells which functions of 2.0 are called that are not known.
    pub fn check_calls(&self, node: &'a Node) {
        let version = self.model.version(self.file);
        if let Some(call) = text::call(node, version) {
            self.check_known(&call);
            for argument in call.list() {
                self.check_calls(argument);
            }
            return;
        }
        match &node.kind {
            Kind::Sequence(items) => items.iter().for_each(|item| self.check_calls(item)),
            Kind::Mapping(map) => map
                .entries
                .iter()
                .for_each(|entry| self.check_calls(&entry.value)),
            Kind::Scalar(_) => {}
        }
    }
}

impl<'a> Checker<'_, 'a> {
    /// Tells which conditions a value does not fulfil that was given from outside.
    pub fn check_given(&self, value: &Val, schema: &Schema<'a>, what: &str, span: Span) {
        let text = || match value {
            Val::Str(text) | Val::Scalar(_, _, text) | Val::Version(_, text) => text.to_string(),
            Val::Int(int) => int.to_string(),
            Val::Bool(truth) => truth.to_string(),
            Val::Float(float) => float.to_string(),
            _ => "this".to_owned(),
        };
        self.conditions(value, schema, what, span, text);
    }
}
