//! The values of expressions.

use std::sync::Arc;

use super::fault::{Answer, Fault, fails, or_fails};
use super::functions;
use super::parse::Expression;
use super::value::{Value, find};

/// Steps after which an expression is given up.
const STEPS: usize = 200_000;

/// Words before the functions of a library, as in `ip.isCanonical(text)`.
const LIBRARIES: [&str; 7] = [
    "optional", "strings", "sets", "ip", "format", "lists", "math",
];

/// Names and their values.
pub(super) struct Scope {
    names: Vec<(Arc<str>, Value)>,
    steps: usize,
}

/// Names of types that are values.
const TYPES: [&str; 9] = [
    "null_type",
    "bool",
    "int",
    "uint",
    "double",
    "string",
    "bytes",
    "list",
    "map",
];

impl Scope {
    /// A scope with some names.
    pub(super) fn new(names: Vec<(Arc<str>, Value)>) -> Scope {
        Scope { names, steps: 0 }
    }

    /// The value of an expression.
    pub(super) fn evaluate(&mut self, expression: &Expression) -> Answer {
        self.steps += 1;
        if self.steps > STEPS {
            return Err(Fault::Unknown);
        }
        match expression {
            Expression::Literal(value) => Ok(value.clone()),
            Expression::Name(name) => match self.named(name) {
                Some(value) => Ok(value),
                None => TYPES
                    .iter()
                    .find(|known| ***known == **name)
                    .map(|name| Value::Type(name))
                    .ok_or(Fault::Unknown),
            },
            Expression::Field(of, name, optional) => {
                let of = self.evaluate(of)?;
                field(of, name, *optional)
            }
            Expression::Index(of, index, optional) => {
                let (of, index) = (self.evaluate(of)?, self.evaluate(index)?);
                item(of, &index, *optional)
            }
            Expression::List(items) => {
                let mut list = Vec::new();
                for item in items {
                    list.extend(self.maybe(item)?);
                }
                Ok(Value::list(list))
            }
            Expression::Map(entries) => {
                let mut map = Vec::new();
                for (key, value) in entries {
                    let key = self.evaluate(key)?;
                    if let Some(value) = self.maybe(value)? {
                        // The last one of a key counts.
                        let at = position(&map, &key)?;
                        at.map(|at| map.swap_remove(at));
                        map.push((key, value));
                    }
                }
                Ok(Value::map(map))
            }
            Expression::Maybe(_) => Err(Fault::Unknown),
            Expression::Call(of, name, arguments) => self.call(of.as_deref(), name, arguments),
            Expression::Not(of) => match self.evaluate(of)? {
                Value::Bool(truth) => Ok(Value::Bool(!truth)),
                _ => Err(Fault::Unknown),
            },
            Expression::Negative(of) => match self.evaluate(of)? {
                Value::Int(n) => or_fails(n.checked_neg().map(Value::Int), "integer overflow"),
                Value::Double(n) => Ok(Value::Double(-n)),
                Value::Duration(n) => {
                    or_fails(n.checked_neg().map(Value::Duration), "duration overflow")
                }
                _ => Err(Fault::Unknown),
            },
            Expression::Binary(operator, left, right) => self.binary(operator, left, right),
            Expression::If(condition, yes, no) => match self.truth(condition)? {
                true => self.evaluate(yes),
                false => self.evaluate(no),
            },
        }
    }

    fn named(&self, name: &str) -> Option<Value> {
        let mut names = self.names.iter().rev();
        let found = names.find(|(known, _)| **known == *name);
        found.map(|(_, value)| value.clone())
    }

    /// An item of a list or the value of a key, which may be left out.
    fn maybe(&mut self, expression: &Expression) -> Result<Option<Value>, Fault> {
        let Expression::Maybe(inner) = expression else {
            return self.evaluate(expression).map(Some);
        };
        match self.evaluate(inner)? {
            Value::Optional(inner) => Ok(inner.map(|inner| *inner)),
            _ => Err(Fault::Unknown),
        }
    }

    fn truth(&mut self, expression: &Expression) -> Result<bool, Fault> {
        match self.evaluate(expression)? {
            Value::Bool(truth) => Ok(truth),
            _ => Err(Fault::Unknown),
        }
    }

    fn binary(&mut self, operator: &str, left: &Expression, right: &Expression) -> Answer {
        // One side can decide, whatever the other is.
        if operator == "&&" || operator == "||" {
            let decides = operator == "||";
            let first = self.truth(left);
            if first == Ok(decides) {
                return Ok(Value::Bool(decides));
            }
            let second = self.truth(right);
            if second == Ok(decides) {
                return Ok(Value::Bool(decides));
            }
            return match (first, second) {
                (Ok(_), Ok(_)) => Ok(Value::Bool(!decides)),
                (Err(Fault::Unknown), _) | (_, Err(Fault::Unknown)) => Err(Fault::Unknown),
                (Err(fault), _) | (_, Err(fault)) => Err(fault),
            };
        }
        let (left, right) = (self.evaluate(left)?, self.evaluate(right)?);
        let equal = || left.equals(&right).ok_or(Fault::Unknown);
        let order = || match left.compare(&right) {
            Some(order) => Ok(order),
            None if left.is_other_kind(&right) => fails("no such overload"),
            None => Err(Fault::Unknown),
        };
        Ok(Value::Bool(match operator {
            "==" => equal()?,
            "!=" => !equal()?,
            "<" => order()?.is_lt(),
            "<=" => order()?.is_le(),
            ">" => order()?.is_gt(),
            ">=" => order()?.is_ge(),
            "in" => match &right {
                Value::List(items) => functions::contains(items, &left)?,
                Value::Map(map) => find(map, &left).ok_or(Fault::Unknown)?.is_some(),
                _ => return Err(Fault::Unknown),
            },
            _ => return functions::arithmetic(operator, left, right),
        }))
    }

    fn call(&mut self, of: Option<&Expression>, name: &str, arguments: &[Expression]) -> Answer {
        match (of, name, arguments) {
            (None, "has", [Expression::Field(of, field, false)]) => {
                let field = Value::text(&unescaped(field));
                match self.evaluate(of)? {
                    Value::Map(map) => {
                        let found = find(&map, &field).ok_or(Fault::Unknown)?;
                        Ok(Value::Bool(found.is_some()))
                    }
                    Value::Optional(inner) => match inner.as_deref() {
                        None => Ok(Value::Bool(false)),
                        Some(Value::Map(map)) => {
                            let found = find(map, &field).ok_or(Fault::Unknown)?;
                            Ok(Value::Bool(found.is_some()))
                        }
                        Some(_) => Err(Fault::Unknown),
                    },
                    _ => Err(Fault::Unknown),
                }
            }
            (
                Some(of),
                "all" | "exists" | "exists_one" | "existsOne" | "map" | "filter" | "transformList"
                | "transformMap" | "transformMapEntry",
                [Expression::Name(first), rest @ ..],
            ) if !rest.is_empty() => {
                let items = self.evaluate(of)?;
                self.over(name, items, first, rest)
            }
            (Some(of), "optMap" | "optFlatMap", [Expression::Name(variable), body]) => {
                match self.evaluate(of)? {
                    Value::Optional(None) => Ok(Value::Optional(None)),
                    Value::Optional(Some(inner)) => {
                        let value = self.with(&[(variable, &inner)], body)?;
                        match (name, value) {
                            ("optMap", value) => Ok(Value::Optional(Some(value.into()))),
                            (_, value @ Value::Optional(_)) => Ok(value),
                            _ => Err(Fault::Unknown),
                        }
                    }
                    _ => Err(Fault::Unknown),
                }
            }
            (Some(Expression::Name(library)), _, _)
                if LIBRARIES.contains(&&**library) && self.named(library).is_none() =>
            {
                let values = arguments.iter().map(|one| self.evaluate(one));
                let values: Vec<Value> = values.collect::<Result<_, Fault>>()?;
                functions::of_library(library, name, &values)
            }
            // Only the one that is wanted may fail.
            (Some(of), "orValue" | "or", [other]) => match self.evaluate(of)? {
                Value::Optional(Some(inner)) if name == "orValue" => Ok(*inner),
                Value::Optional(None) => self.evaluate(other),
                found @ Value::Optional(_) => Ok(found),
                _ => Err(Fault::Unknown),
            },
            _ => {
                let mut values = Vec::new();
                for one in of.into_iter().chain(arguments) {
                    values.push(self.evaluate(one)?);
                }
                functions::function(of.is_some(), name, &values)
            }
        }
    }

    /// The value of an expression with some more names.
    fn with(&mut self, names: &[(&Arc<str>, &Value)], body: &Expression) -> Answer {
        let before = self.names.len();
        let added = names
            .iter()
            .map(|(name, value)| ((*name).clone(), (*value).clone()));
        self.names.extend(added);
        let value = self.evaluate(body);
        self.names.truncate(before);
        value
    }

    /// The macros over lists and maps, with one name for the item or key, or two for the place or key and the item or value.
    fn over(&mut self, name: &str, items: Value, first: &Arc<str>, rest: &[Expression]) -> Answer {
        let list = matches!(items, Value::List(_));
        let pairs: Vec<(Value, Value)> = match items {
            Value::List(items) => {
                let items = items.iter().enumerate();
                let items =
                    items.map(|(at, item)| Some((functions::count(at).ok()?, item.clone())));
                items.collect::<Option<_>>().ok_or(Fault::Unknown)?
            }
            Value::Map(map) => map.to_vec(),
            _ => return Err(Fault::Unknown),
        };
        // `map` has a filter where it has three parts; the others have two names then.
        let (second, bodies) = match (name, rest) {
            ("map", _) => (None, rest),
            (
                "transformList" | "transformMap" | "transformMapEntry",
                [Expression::Name(second), bodies @ ..],
            ) => (Some(second), bodies),
            (_, [Expression::Name(second), body]) => (Some(second), std::slice::from_ref(body)),
            _ => (None, rest),
        };
        let (filter, body) = match bodies {
            [body] => (None, body),
            [filter, body] if name == "map" || name.starts_with("transform") => {
                (Some(filter), body)
            }
            _ => return Err(Fault::Unknown),
        };
        let mut all = Vec::new();
        let mut map = Vec::new();
        let (mut found, mut fault) = (0_usize, None);
        for (key, value) in &pairs {
            let item = if list { value } else { key };
            let names: Vec<(&Arc<str>, &Value)> = match second {
                Some(second) => vec![(first, key), (second, value)],
                None => vec![(first, item)],
            };
            if let Some(filter) = filter {
                match self.with(&names, filter)? {
                    Value::Bool(true) => {}
                    Value::Bool(false) => continue,
                    _ => return Err(Fault::Unknown),
                }
            }
            let answer = self.with(&names, body);
            match (name, answer) {
                ("map" | "transformList", answer) => all.push(answer?),
                ("transformMap", answer) => map.push((key.clone(), answer?)),
                ("transformMapEntry", answer) => match answer? {
                    Value::Map(entries) => {
                        for (key, value) in entries.iter() {
                            if find(&map, key).ok_or(Fault::Unknown)?.is_some() {
                                return Err(Fault::Unknown);
                            }
                            map.push((key.clone(), value.clone()));
                        }
                    }
                    _ => return Err(Fault::Unknown),
                },
                ("filter", Ok(Value::Bool(true))) => all.push(item.clone()),
                ("filter", Ok(Value::Bool(false))) => {}
                ("filter", Err(fault)) => return Err(fault),
                ("all", Ok(Value::Bool(false))) => return Ok(Value::Bool(false)),
                ("exists", Ok(Value::Bool(true))) => return Ok(Value::Bool(true)),
                ("exists_one" | "existsOne", Err(fault)) => return Err(fault),
                (_, Ok(Value::Bool(truth))) => found += usize::from(truth),
                // A failure matters unless another item decides.
                (_, Err(Fault::Fails(why))) => {
                    fault = fault.or(Some(Fault::Fails(why)));
                }
                _ => fault = Some(Fault::Unknown),
            }
        }
        match (name, fault) {
            ("map" | "filter" | "transformList", _) => Ok(Value::list(all)),
            ("transformMap" | "transformMapEntry", _) => Ok(Value::map(map)),
            (_, Some(fault)) => Err(fault),
            ("all", None) => Ok(Value::Bool(true)),
            ("exists", None) => Ok(Value::Bool(false)),
            _ => Ok(Value::Bool(found == 1)),
        }
    }
}

/// Where the value of a key is in a map.
fn position(map: &[(Value, Value)], key: &Value) -> Result<Option<usize>, Fault> {
    for (at, (known, _)) in map.iter().enumerate() {
        if known.equals(key).ok_or(Fault::Unknown)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// A field of a value.
fn field(of: Value, name: &str, optional: bool) -> Answer {
    let name = unescaped(name);
    let key = Value::text(&name);
    let may_be = |map: &[(Value, Value)]| {
        let found = find(map, &key).ok_or(Fault::Unknown)?.cloned();
        Ok(Value::Optional(found.map(Box::new)))
    };
    match of {
        Value::Map(map) if optional => may_be(&map),
        Value::Map(map) => {
            let found = find(&map, &key).ok_or(Fault::Unknown)?.cloned();
            or_fails(found, &format!("no such key: {name}"))
        }
        // A field of something that may be missing may be missing.
        Value::Optional(None) => Ok(Value::Optional(None)),
        Value::Optional(Some(inner)) => match *inner {
            Value::Map(map) => may_be(&map),
            _ => Err(Fault::Unknown),
        },
        _ => Err(Fault::Unknown),
    }
}

/// An item of a value.
fn item(of: Value, index: &Value, optional: bool) -> Answer {
    let found = match &of {
        Value::List(items) => match index {
            Value::Int(at) => usize::try_from(*at)
                .ok()
                .and_then(|at| items.get(at).cloned()),
            Value::Uint(at) => usize::try_from(*at)
                .ok()
                .and_then(|at| items.get(at).cloned()),
            _ => return Err(Fault::Unknown),
        },
        Value::Map(map) => find(map, index).ok_or(Fault::Unknown)?.cloned(),
        Value::Optional(None) => return Ok(Value::Optional(None)),
        Value::Optional(Some(inner)) => return item((**inner).clone(), index, true),
        _ => return Err(Fault::Unknown),
    };
    match (optional, of) {
        (true, _) => Ok(Value::Optional(found.map(Box::new))),
        (false, Value::List(_)) => or_fails(found, "index out of bounds"),
        (false, _) => or_fails(found, "no such key"),
    }
}

/// Names of fields are escaped where they are no names of the language.
pub(super) fn unescaped(name: &str) -> String {
    let whole = name
        .strip_prefix("__")
        .and_then(|name| name.strip_suffix("__"));
    if let Some(word) = whole
        && !matches!(word, "dash" | "dot" | "slash" | "underscores")
        && !word.is_empty()
    {
        return word.to_owned();
    }
    name.replace("__dash__", "-")
        .replace("__dot__", ".")
        .replace("__slash__", "/")
        .replace("__underscores__", "__")
}
