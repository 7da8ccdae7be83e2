//! Functions: those that compute, and those that refer to something else.

use std::cmp::Ordering;
use std::sync::Arc;

use locus_core::int::Int;
use locus_core::values::pattern;
use locus_core::{Diagnostic, suggest};

use super::{Checker, Referred, Val, all, any};
use crate::tosca::text::Call;
use crate::yaml::Node;

/// The functions of 2.0.
pub(super) const FUNCTIONS: &[&str] = &[
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
                let arguments: Vec<Val> =
                    call.list().iter().map(|node| self.literal(node)).collect();
                self.check_arguments(call, &arguments);
                compute(call.name, &arguments).unwrap_or(Val::Unknown)
            }
        };
        Referred {
            value,
            ..Referred::unknown()
        }
    }

    /// Tells what a function is given that it cannot take.
    fn check_arguments(&self, call: &Call<'a>, arguments: &[Val]) {
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
        for (value, node) in arguments.iter().zip(call.list()) {
            if let Some(needed) = unfit(name, value) {
                wrong(
                    format!("`{name}` takes {needed}, and this is `{value}`"),
                    node,
                );
            }
        }
        let zero = |value: &Val| match value {
            Val::Int(int) => int.to_i64() == Some(0),
            Val::Float(float) => *float == 0.0,
            _ => false,
        };
        if matches!(name, "quotient" | "remainder")
            && arguments.get(1).is_some_and(zero)
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
        if self.is_defined(self.file, name, &mut Vec::new()) {
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
                let near = suggest::did_you_mean(name, FUNCTIONS.iter().copied());
                Diagnostic::warning("tosca-function", message)
                    .help(near.unwrap_or_else(|| "define it in `functions`".to_owned()))
            }
        };
        self.report(diagnostic.at(call.node.used_at()));
    }

    fn is_defined(&self, file: usize, name: &str, seen: &mut Vec<usize>) -> bool {
        if seen.contains(&file) {
            return false;
        }
        seen.push(file);
        let this = self.model.file(file);
        let has = |node: Option<&Node>| node.is_some_and(|functions| functions.get(name).is_some());
        let template = this.root.get("service_template");
        if has(this.root.get("functions")) || has(template.and_then(|node| node.get("functions"))) {
            return true;
        }
        this.imports.iter().any(|import| {
            let inner = match &import.prefix {
                Some(prefix) => name
                    .strip_prefix(&**prefix)
                    .and_then(|rest| rest.strip_prefix(':')),
                None => Some(name),
            };
            match (inner, import.file) {
                (Some(inner), Some(file)) => self.is_defined(file, inner, seen),
                (Some(_), None) => true,
                (None, _) => false,
            }
        })
    }
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
            // The standard does not say whether a part may match: decided only where both readings agree.
            let whole = pattern::matches(expression, text)?;
            let part = pattern::finds(expression, text)?;
            (whole == part).then_some(Val::Bool(whole))
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
        "concat" | "join" | "token" => text(name, arguments),
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

fn text(name: &str, arguments: &[Val]) -> Option<Val> {
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
            let part = text.split(&**at).nth(index)?;
            Val::Str(part.into())
        }
        _ => return None,
    })
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

fn arithmetic(name: &str, arguments: &[Val]) -> Option<Val> {
    let float = |value: &Val| match value {
        Val::Int(int) => Some(int.to_f64()),
        Val::Float(float) => Some(*float),
        _ => None,
    };
    let whole = |value: &Val| match value {
        Val::Int(int) => int.to_i64(),
        _ => None,
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "checked to be in range before"
    )]
    let rounded = |float: f64| {
        let fits = float.abs() < 9.0e15;
        fits.then(|| Val::Int(Int::from(float as i64)))
    };
    let ints: Option<Vec<i64>> = arguments.iter().map(whole).collect();
    let floats: Option<Vec<f64>> = arguments.iter().map(float).collect();
    match (name, ints.as_deref()) {
        ("sum", Some(ints)) => {
            let sum = ints.iter().try_fold(0_i64, |sum, n| sum.checked_add(*n));
            return sum.map(|sum| Val::Int(sum.into()));
        }
        ("product", Some(ints)) => {
            let product = ints
                .iter()
                .try_fold(1_i64, |product, n| product.checked_mul(*n));
            return product.map(|product| Val::Int(product.into()));
        }
        ("difference", Some([a, b])) => return Some(Val::Int(a.checked_sub(*b)?.into())),
        ("remainder", Some([a, b])) => return Some(Val::Int(a.checked_rem(*b)?.into())),
        ("round" | "floor" | "ceil", Some([a])) => return Some(Val::Int((*a).into())),
        _ => {}
    }
    let floats = floats?;
    match (name, floats.as_slice()) {
        ("sum", all) => Some(Val::Float(all.iter().sum())),
        ("product", all) => Some(Val::Float(all.iter().product())),
        ("difference", [a, b]) => Some(Val::Float(a - b)),
        ("quotient", [a, b]) if *b != 0.0 => Some(Val::Float(a / b)),
        ("round", [a]) => rounded(a.round()),
        ("floor", [a]) => rounded(a.floor()),
        ("ceil", [a]) => rounded(a.ceil()),
        _ => None,
    }
}
