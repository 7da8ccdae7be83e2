//! Functions: those that compute, and those that refer to something else.

use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use locus_core::int::Int;
use locus_core::values::pattern;
use locus_core::{Diagnostic, suggest};

use super::arithmetic::arithmetic;
use super::{Checker, Referred, Val, all, any};
use crate::tosca::model::{DataType, Primitive, Schema};
use crate::tosca::text::{self, Call};
use crate::yaml::{Node, Schema as Yaml, Typed};

/// The functions of 2.0.
pub const FUNCTIONS: &[&str] = &[
    "get_input",
    "get_property",
    "get_attribute",
    "get_artifact",
    "value",
    "node_index",
    "relationship_index",
    "available_allocation",
    "and",
    "or",
    "not",
    "xor",
    "equal",
    "greater_than",
    "greater_or_equal",
    "less_than",
    "less_or_equal",
    "valid_values",
    "matches",
    "has_suffix",
    "has_prefix",
    "contains",
    "has_entry",
    "has_key",
    "has_all_entries",
    "has_all_keys",
    "has_any_entry",
    "has_any_key",
    "length",
    "concat",
    "join",
    "token",
    "union",
    "intersection",
    "sum",
    "difference",
    "product",
    "quotient",
    "remainder",
    "round",
    "floor",
    "ceil",
];

/// Constraints of 1.x that are no functions of 2.0, and what says the same.
const FORMER: &[(&str, &str)] = &[
    (
        "in_range",
        "`$and` with `$greater_or_equal` and `$less_or_equal`",
    ),
    ("min_length", "`$greater_or_equal` with `$length`"),
    ("max_length", "`$less_or_equal` with `$length`"),
    ("pattern", "`$matches`"),
];

impl<'a> Checker<'_, 'a> {
    /// What a call gives.
    pub fn call(&self, call: &Call<'a>) -> Referred<'a> {
        if !self.model.version(self.file).is_simple() {
            self.check_known(call);
        }
        let value = match call.name {
            "get_input"
            | "get_property"
            | "get_attribute"
            | "get_artifact"
            | "get_operation_output"
            | "get_nodes_of_type"
            | "available_allocation"
            | "node_index"
            | "relationship_index" => {
                let referred = (self.refer)(call);
                if let Some(error) = &referred.error {
                    self.report(Diagnostic::clone(error));
                }
                return referred;
            }
            "value" => self.path(call),
            _ => {
                let arguments: Vec<Referred<'a>> =
                    call.list().iter().map(|node| self.argument(node)).collect();
                self.check_arguments(call, &arguments);
                let custom = self.custom(call, &arguments);
                let arguments: Vec<Val> = arguments.into_iter().map(|held| held.value).collect();
                let value = compute(call.name, &arguments).unwrap_or(Val::Unknown);
                let schema = custom.or_else(|| self.gives(call, &value, &arguments));
                return Referred {
                    value,
                    schema: schema.map(Rc::new),
                    ..Referred::unknown()
                };
            }
        };
        Referred {
            value,
            ..Referred::unknown()
        }
    }

    /// What a function is given: a value, or what a call gives.
    fn argument(&self, node: &'a Node) -> Referred<'a> {
        match text::call(node, self.model.version(self.file)) {
            Some(call) => self.call(&call),
            None => Referred {
                value: self.literal(node),
                ..Referred::unknown()
            },
        }
    }

    /// The type of what a function of 2.0 gives, as far as it is the same whatever it is given; text of 1.x may stand for a number.
    fn gives(&self, call: &Call<'a>, value: &Val, arguments: &[Val]) -> Option<Schema<'a>> {
        if self.model.version(self.file).is_simple() {
            return None;
        }
        let primitive = match (call.name, value) {
            (
                "and" | "or" | "not" | "xor" | "equal" | "greater_than" | "greater_or_equal"
                | "less_than" | "less_or_equal" | "valid_values" | "matches" | "has_suffix"
                | "has_prefix" | "contains" | "has_entry" | "has_key" | "has_all_entries"
                | "has_all_keys" | "has_any_entry" | "has_any_key",
                _,
            ) => Primitive::Boolean,
            ("length" | "round" | "floor" | "ceil", _) => Primitive::Integer,
            ("join" | "token", _) => Primitive::String,
            ("concat", _) if arguments.iter().any(|held| matches!(held, Val::Str(_))) => {
                Primitive::String
            }
            ("union" | "intersection", _) => Primitive::List,
            ("sum" | "difference" | "product" | "quotient" | "remainder", Val::Int(_)) => {
                Primitive::Integer
            }
            ("sum" | "difference" | "product" | "quotient" | "remainder", Val::Float(_)) => {
                Primitive::Float
            }
            _ => return None,
        };
        Some(Schema::of(DataType::Primitive(primitive), self.file))
    }

    /// Tells what a function is given that it cannot take.
    fn check_arguments(&self, call: &Call<'a>, arguments: &[Referred<'a>]) {
        let name = call.name;
        let wrong = |message: String, node: &Node| {
            self.report(Diagnostic::error("tosca-function", message).at(node.used_at()));
        };
        if matches!(name, "concat" | "join" | "token")
            && let Some(node) = call.arguments.filter(|node| node.as_sequence().is_none())
        {
            wrong(format!("`{name}` takes a list"), node);
            return;
        }
        let (least, most) = arity(name);
        if arguments.len() < least || most.is_some_and(|most| arguments.len() > most) {
            let needed = match most {
                Some(1) => "one argument".to_owned(),
                Some(most) if most == least => format!("{most} arguments"),
                Some(most) => format!("{least} to {most} arguments"),
                None => format!("at least {least} arguments"),
            };
            let message = format!(
                "`{name}` takes {needed}, and here it has {}",
                arguments.len()
            );
            wrong(message, call.node);
            return;
        }
        for (held, node) in arguments.iter().zip(call.list()) {
            let value = &held.value;
            let schema = held.schema.as_ref();
            let primitive = schema.and_then(|schema| self.model.primitive(schema.ty));
            if let Some(needed) = unfit(name, value) {
                wrong(
                    format!("`{name}` takes {needed}, and this is `{value}`"),
                    node,
                );
            } else if let (Some(needed), Some(schema)) =
                (primitive.and_then(|given| mistaken(name, given)), schema)
            {
                let is = self.model.describe(schema);
                wrong(
                    format!("`{name}` takes {needed}, and this gives {is}"),
                    node,
                );
            }
        }
        if let ("token", [text, at, index]) = (name, arguments)
            && let (Val::Str(text), Val::Str(at), Val::Int(index)) =
                (&text.value, &at.value, &index.value)
        {
            // No reading of the standard splits into more parts.
            let parts = text.split(|c: char| at.contains(c)).count();
            let within = index
                .to_i64()
                .is_some_and(|index| usize::try_from(index).is_ok_and(|index| index < parts));
            if let (false, Some(node)) = (within, call.list().get(2)) {
                wrong(format!("`{text}` has no part {index} between `{at}`"), node);
            }
        }
        let zero = |value: &Val| match value {
            Val::Int(int) => int.to_i64() == Some(0),
            Val::Float(float) => *float == 0.0,
            _ => false,
        };
        if matches!(name, "quotient" | "remainder")
            && arguments.get(1).is_some_and(|held| zero(&held.value))
            && let Some(node) = call.list().get(1)
        {
            wrong(format!("`{name}` divides by zero"), node);
        }
    }

    /// `$value`, or what lies in it.
    fn path(&self, call: &Call<'a>) -> Val {
        let mut value = self.value.clone().unwrap_or(Val::Unknown);
        for step in call.list() {
            value = match (value, self.literal(step)) {
                (Val::Map(fields), Val::Str(name)) => {
                    let field = fields.into_iter().find(|(key, _)| *key == name);
                    field.map_or(Val::Unknown, |(_, value)| value)
                }
                (Val::List(items), Val::Int(at)) => {
                    let at = at.to_i64().and_then(|at| usize::try_from(at).ok());
                    let item = at.and_then(|at| items.into_iter().nth(at));
                    item.unwrap_or(Val::Unknown)
                }
                _ => Val::Unknown,
            };
        }
        value
    }

    /// A function must be one of TOSCA's own, or one that a file defines.
    pub(super) fn check_known(&self, call: &Call<'a>) {
        if FUNCTIONS.contains(&call.name) {
            return;
        }
        let name = call.name.split('$').next().unwrap_or(call.name);
        if self.defined(self.file, name, &mut Vec::new()).is_some() {
            return;
        }
        let former = FORMER.iter().find(|(former, _)| *former == name);
        let diagnostic = match former {
            Some((_, instead)) => {
                let message =
                    format!("`${name}` is a constraint of TOSCA 1.x and no function of 2.0");
                Diagnostic::error("tosca-function", message).help(format!("use {instead}"))
            }
            None => {
                let message =
                    format!("the function `${name}` is not defined, so what it gives is not known");
                let known: Vec<String> = FUNCTIONS.iter().map(|name| format!("${name}")).collect();
                let known = known.iter().map(String::as_str);
                let near = suggest::did_you_mean(&format!("${name}"), known);
                Diagnostic::warning("tosca-function", message)
                    .help(near.unwrap_or_else(|| "define it in `functions`".to_owned()))
            }
        };
        self.report(diagnostic.at(call.node.used_at()));
    }

    /// The definition of a function; nothing within when it may be in a file that is not here.
    fn defined(
        &self,
        file: usize,
        name: &str,
        seen: &mut Vec<usize>,
    ) -> Option<Option<(&'a Node, usize)>> {
        if seen.contains(&file) {
            return None;
        }
        seen.push(file);
        let this = self.model.file(file);
        let template = this.root.get("service_template");
        // A template may refine what its file says (10.4).
        let sections = [
            template.and_then(|node| node.get("functions")),
            this.root.get("functions"),
        ];
        let own = sections
            .into_iter()
            .flatten()
            .find_map(|node| node.get(name));
        if let Some(own) = own {
            return Some(Some((own, file)));
        }
        this.imports.iter().find_map(|import| {
            let inner = match &import.prefix {
                Some(prefix) => name
                    .strip_prefix(&**prefix)
                    .and_then(|rest| rest.strip_prefix(':')),
                None => Some(name),
            };
            match (inner, import.file) {
                (Some(inner), Some(file)) => self.defined(file, inner, seen),
                (Some(_), None) => Some(None),
                (None, _) => None,
            }
        })
    }

    /// What a function that a file defines gives: the result of the signature that fits; none of several that differ.
    fn custom(&self, call: &Call<'a>, arguments: &[Referred<'a>]) -> Option<Schema<'a>> {
        if self.model.version(self.file).is_simple() || FUNCTIONS.contains(&call.name) {
            return None;
        }
        let name = call.name.split('$').next().unwrap_or(call.name);
        let (node, file) = self.defined(self.file, name, &mut Vec::new())??;
        let signatures = node.get("signatures")?.as_sequence()?;
        let mut fitting = signatures
            .iter()
            .filter(|signature| takes(signature, arguments.len()));
        let Some(first) = fitting.next() else {
            let message = format!(
                "`${name}` does not take {} argument{}",
                arguments.len(),
                if arguments.len() == 1 { "" } else { "s" }
            );
            let diagnostic = Diagnostic::error("tosca-function", message)
                .related(node.span, "it is defined here");
            self.report(diagnostic.at(call.node.used_at()));
            return None;
        };
        if fitting.next().is_some() {
            return None;
        }
        let schemas = |key: &str| {
            let items = first.get(key).and_then(Node::as_sequence);
            items.unwrap_or_default().iter()
        };
        let mut declared: Vec<&'a Node> = schemas("arguments").collect();
        declared.extend(schemas("optional_arguments"));
        for ((held, written), declared) in arguments.iter().zip(call.list()).zip(declared) {
            let wanted = self.model.schema(declared, file, None);
            if text::is_call(written, self.model.version(self.file)) {
                if let Some(given) = &held.schema
                    && !self.model.assignable(given, &wanted)
                {
                    let (is, needed) = (self.model.describe(given), self.model.describe(&wanted));
                    let message = format!("`${name}` takes {needed}, and this gives {is}");
                    let diagnostic = Diagnostic::error("tosca-function", message);
                    self.report(diagnostic.at(written.used_at()));
                }
            } else {
                self.read(written, &wanted, &format!("an argument of ${name}"));
            }
        }
        let result = first.get("result")?;
        Some(self.model.schema(result, file, None))
    }
}

/// Whether a signature takes so many arguments.
fn takes(signature: &Node, count: usize) -> bool {
    let length = |key: &str| {
        let items = signature.get(key).and_then(Node::as_sequence);
        items.map_or(0, <[Node]>::len)
    };
    let least = length("arguments");
    let variadic = matches!(
        signature
            .get("variadic")
            .and_then(|node| node.typed(Yaml::Core)),
        Some(Typed::Bool(true))
    );
    count >= least && (variadic || count <= least + length("optional_arguments"))
}

/// How many arguments a function takes: at least, and at most.
fn arity(name: &str) -> (usize, Option<usize>) {
    match name {
        "not" | "length" | "round" | "floor" | "ceil" => (1, Some(1)),
        "xor" | "equal" | "greater_than" | "greater_or_equal" | "less_than" | "less_or_equal"
        | "valid_values" | "matches" | "has_suffix" | "has_prefix" | "contains" | "has_entry"
        | "has_key" | "has_all_entries" | "has_all_keys" | "has_any_entry" | "has_any_key"
        | "difference" | "quotient" | "remainder" => (2, Some(2)),
        "concat" => (1, None),
        "join" => (1, Some(2)),
        "token" => (3, Some(3)),
        _ => (0, None),
    }
}

/// What a function takes instead of a value that it cannot take; text may be a number with a unit, whose type only the user knows.
fn unfit(name: &str, value: &Val) -> Option<&'static str> {
    let amount = |text: &str| {
        text.trim_start()
            .starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
    };
    match name {
        "and" | "or" | "not" | "xor" => {
            let other = matches!(value, Val::Int(_) | Val::Float(_) | Val::Str(_) | Val::Null);
            other.then_some("booleans")
        }
        "sum" | "difference" | "product" | "quotient" | "remainder" | "round" | "floor"
        | "ceil" => {
            let other = match value {
                Val::Str(text) => !amount(text),
                Val::Bool(_) | Val::Null | Val::Map(_) => true,
                _ => false,
            };
            other.then_some("numbers")
        }
        "length" => {
            let other = matches!(
                value,
                Val::Int(_) | Val::Float(_) | Val::Bool(_) | Val::Null
            );
            other.then_some("a string, a list or a map")
        }
        _ => None,
    }
}

/// What a function takes instead of values of a type that it cannot take.
fn mistaken(name: &str, given: Primitive) -> Option<&'static str> {
    match name {
        "and" | "or" | "not" | "xor" => (given != Primitive::Boolean).then_some("booleans"),
        "sum" | "difference" | "product" | "quotient" | "remainder" | "round" | "floor"
        | "ceil" => {
            let other = matches!(
                given,
                Primitive::String
                    | Primitive::Boolean
                    | Primitive::List
                    | Primitive::Map
                    | Primitive::Timestamp
                    | Primitive::Version
                    | Primitive::Nil
                    | Primitive::Bytes
            );
            other.then_some("numbers")
        }
        "length" => {
            let other = matches!(
                given,
                Primitive::Integer | Primitive::Float | Primitive::Boolean
            );
            other.then_some("a string, a list or a map")
        }
        _ => None,
    }
}

/// What a function that needs nothing but its arguments gives; none when that is not known.
fn compute(name: &str, arguments: &[Val]) -> Option<Val> {
    let truth = |value: &Val| match value {
        Val::Bool(truth) => Some(*truth),
        _ => None,
    };
    let order = || match arguments {
        [a, b] => a.compare(b),
        _ => None,
    };
    let known = |test: fn(Ordering) -> bool| Some(Val::Bool(test(order()?)));
    let truths = || arguments.iter().map(truth);
    match name {
        "and" => all(truths()).map(Val::Bool),
        "or" => any(truths()).map(Val::Bool),
        "not" => Some(Val::Bool(!truth(arguments.first()?)?)),
        "xor" => match arguments {
            [a, b] => Some(Val::Bool(truth(a)? != truth(b)?)),
            _ => None,
        },
        "equal" => match arguments {
            [a, b] => a.equals(b).map(Val::Bool),
            _ => None,
        },
        "greater_than" => known(Ordering::is_gt),
        "greater_or_equal" => known(Ordering::is_ge),
        "less_than" => known(Ordering::is_lt),
        "less_or_equal" => known(Ordering::is_le),
        "valid_values" => match arguments {
            [value, Val::List(choices)] => {
                any(choices.iter().map(|choice| value.equals(choice))).map(Val::Bool)
            }
            _ => None,
        },
        "matches" => {
            let [Val::Str(text), Val::Str(expression)] = arguments else {
                return None;
            };
            // A part may match: who means the whole writes `^` and `$` (10.2.2.2.7).
            pattern::finds(expression, text).map(Val::Bool)
        }
        "has_suffix" | "has_prefix" | "contains" => contained(name, arguments),
        "has_entry" | "has_all_entries" | "has_any_entry" | "has_key" | "has_all_keys"
        | "has_any_key" => member(name, arguments),
        "length" => {
            let length = match arguments.first()? {
                Val::Str(text) => text.chars().count(),
                Val::List(items) => items.len(),
                Val::Map(fields) => fields.len(),
                _ => return None,
            };
            Some(Val::Int(Int::from(length)))
        }
        "concat" | "join" | "token" => joined(name, arguments),
        "union" | "intersection" => sets(name, arguments),
        "sum" | "difference" | "product" | "quotient" | "remainder" | "round" | "floor"
        | "ceil" => arithmetic(name, arguments),
        _ => None,
    }
}

fn contained(name: &str, arguments: &[Val]) -> Option<Val> {
    let holds = match arguments {
        [Val::Str(text), Val::Str(part)] => match name {
            "has_suffix" => text.ends_with(&**part),
            "has_prefix" => text.starts_with(&**part),
            _ => text.contains(&**part),
        },
        [Val::List(items), Val::List(part)] => {
            let same = |window: &[Val]| all(window.iter().zip(part).map(|(a, b)| a.equals(b)));
            match name {
                _ if part.len() > items.len() => false,
                _ if part.is_empty() => true,
                "has_suffix" => same(items.get(items.len() - part.len()..)?)?,
                "has_prefix" => same(items.get(..part.len())?)?,
                _ => any(items.windows(part.len()).map(same))?,
            }
        }
        _ => return None,
    };
    Some(Val::Bool(holds))
}

fn member(name: &str, arguments: &[Val]) -> Option<Val> {
    let [collection, wanted] = arguments else {
        return None;
    };
    let keys = name.ends_with("key") || name.ends_with("keys");
    let items: Vec<Val> = match collection {
        Val::List(items) if !keys => items.clone(),
        Val::Map(fields) if keys => fields
            .iter()
            .map(|(name, _)| Val::Str(name.clone()))
            .collect(),
        Val::Map(fields) => fields.iter().map(|(_, value)| value.clone()).collect(),
        _ => return None,
    };
    let has = |wanted: &Val| any(items.iter().map(|item| item.equals(wanted)));
    let holds = match (name, wanted) {
        ("has_entry" | "has_key", wanted) => has(wanted)?,
        ("has_all_entries" | "has_all_keys", Val::List(wanted)) => all(wanted.iter().map(has))?,
        (_, Val::List(wanted)) => any(wanted.iter().map(has))?,
        _ => return None,
    };
    Some(Val::Bool(holds))
}

fn joined(name: &str, arguments: &[Val]) -> Option<Val> {
    let texts = |items: &[Val]| -> Option<Vec<Arc<str>>> {
        let text = |item: &Val| match item {
            Val::Str(text) => Some(text.clone()),
            Val::Int(int) => Some(int.to_string().into()),
            _ => None,
        };
        items.iter().map(text).collect()
    };
    Some(match (name, arguments) {
        ("concat", [Val::List(_), ..]) => {
            let mut all = Vec::new();
            for argument in arguments {
                match argument {
                    Val::List(items) => all.extend(items.iter().cloned()),
                    _ => return None,
                }
            }
            Val::List(all)
        }
        ("concat", _) => Val::Str(texts(arguments)?.concat().into()),
        ("join", [Val::List(items)]) => Val::Str(texts(items)?.concat().into()),
        ("join", [Val::List(items), Val::Str(between)]) => {
            Val::Str(texts(items)?.join(&**between).into())
        }
        ("token", [Val::Str(text), Val::Str(at), Val::Int(index)]) => {
            let index = usize::try_from(index.to_i64()?).ok()?;
            Val::Str(token(text, at, index)?.into())
        }
        _ => return None,
    })
}

/// A part of a text between characters that separate parts.
///
/// The standard speaks of characters; parsers split at the whole text, and whether two in a row have an empty part between them is
/// open: known where all readings agree.
fn token<'s>(text: &'s str, at: &str, index: usize) -> Option<&'s str> {
    let any = |c: char| at.contains(c);
    let by_character = text.split(any).nth(index);
    let by_text = if at.is_empty() {
        None
    } else {
        text.split(at).nth(index)
    };
    let filled = text.split(any).filter(|part| !part.is_empty()).nth(index);
    (by_character == by_text && by_character == filled)
        .then_some(by_character)
        .flatten()
}

fn sets(name: &str, arguments: &[Val]) -> Option<Val> {
    let mut lists = arguments.iter().map(|argument| match argument {
        Val::List(items) => Some(items),
        _ => None,
    });
    let mut result: Vec<Val> = Vec::new();
    let first = lists.next()??;
    for item in first {
        if any(result.iter().map(|known| known.equals(item)))? {
            continue;
        }
        result.push(item.clone());
    }
    for list in lists {
        let list = list?;
        if name == "union" {
            for item in list {
                if !any(result.iter().map(|known| known.equals(item)))? {
                    result.push(item.clone());
                }
            }
        } else {
            let mut kept = Vec::new();
            for item in result {
                if any(list.iter().map(|other| other.equals(&item)))? {
                    kept.push(item);
                }
            }
            result = kept;
        }
    }
    Some(Val::List(result))
}
