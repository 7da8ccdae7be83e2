//! The values of expressions.

use std::sync::Arc;

use locus_core::values::pattern;

use super::parse::Expression;
use super::value::{Value, find};

/// Steps after which an expression is given up.
const STEPS: usize = 200_000;

/// Texts and lists that grow beyond this are given up.
const LARGE: usize = 1 << 16;

/// Names and their values.
pub(super) struct Scope {
    names: Vec<(Arc<str>, Value)>,
    steps: usize,
}

impl Scope {
    /// A scope in which `self` is a value.
    pub(super) fn new(value: Value) -> Scope {
        Scope {
            names: vec![("self".into(), value)],
            steps: 0,
        }
    }

    /// The value of an expression; none when it has none, or is not known here.
    pub(super) fn evaluate(&mut self, expression: &Expression) -> Option<Value> {
        self.steps += 1;
        if self.steps > STEPS {
            return None;
        }
        match expression {
            Expression::Literal(value) => Some(value.clone()),
            Expression::Name(name) => {
                let mut names = self.names.iter().rev();
                names
                    .find(|(known, _)| known == name)
                    .map(|(_, value)| value.clone())
            }
            Expression::Field(of, name, optional) => self.field(of, name, *optional),
            Expression::Index(of, index) => {
                let (of, index) = (self.evaluate(of)?, self.evaluate(index)?);
                match (&of, &index) {
                    (Value::List(items), Value::Int(at)) => {
                        items.get(usize::try_from(*at).ok()?).cloned()
                    }
                    (Value::Map(map), _) => find(map, &index)?.cloned(),
                    _ => None,
                }
            }
            Expression::List(items) => {
                let items = items.iter().map(|item| self.evaluate(item));
                Some(Value::list(items.collect::<Option<_>>()?))
            }
            Expression::Map(entries) => {
                let mut map = Vec::new();
                for (key, value) in entries {
                    map.push((self.evaluate(key)?, self.evaluate(value)?));
                }
                Some(Value::map(map))
            }
            Expression::Call(of, name, arguments) => self.call(of.as_deref(), name, arguments),
            Expression::Not(of) => match self.evaluate(of)? {
                Value::Bool(truth) => Some(Value::Bool(!truth)),
                _ => None,
            },
            Expression::Negative(of) => match self.evaluate(of)? {
                Value::Int(n) => Some(Value::Int(n.checked_neg()?)),
                Value::Double(n) => Some(Value::Double(-n)),
                _ => None,
            },
            Expression::Binary(operator, left, right) => self.binary(operator, left, right),
            Expression::If(condition, yes, no) => match self.evaluate(condition)? {
                Value::Bool(true) => self.evaluate(yes),
                Value::Bool(false) => self.evaluate(no),
                _ => None,
            },
        }
    }

    fn field(&mut self, of: &Expression, name: &str, optional: bool) -> Option<Value> {
        let name = Value::text(&unescaped(name));
        match self.evaluate(of)? {
            Value::Map(map) if optional => {
                let found = find(&map, &name)?.cloned();
                Some(Value::Optional(found.map(Box::new)))
            }
            Value::Map(map) => find(&map, &name)?.cloned(),
            // A field of something that may be missing may be missing.
            Value::Optional(None) => Some(Value::Optional(None)),
            Value::Optional(Some(inner)) => match *inner {
                Value::Map(map) => {
                    let found = find(&map, &name)?.cloned();
                    Some(Value::Optional(found.map(Box::new)))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn truth(&mut self, expression: &Expression) -> Option<bool> {
        match self.evaluate(expression)? {
            Value::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    fn binary(&mut self, operator: &str, left: &Expression, right: &Expression) -> Option<Value> {
        // One side can decide, whatever the other is.
        if operator == "&&" || operator == "||" {
            let decides = operator == "||";
            let first = self.truth(left);
            if first == Some(decides) {
                return Some(Value::Bool(decides));
            }
            let second = self.truth(right);
            if second == Some(decides) {
                return Some(Value::Bool(decides));
            }
            return match (first, second) {
                (Some(_), Some(_)) => Some(Value::Bool(!decides)),
                _ => None,
            };
        }
        let (left, right) = (self.evaluate(left)?, self.evaluate(right)?);
        Some(match operator {
            "==" => Value::Bool(left.equals(&right)?),
            "!=" => Value::Bool(!left.equals(&right)?),
            "<" => Value::Bool(left.compare(&right)?.is_lt()),
            "<=" => Value::Bool(left.compare(&right)?.is_le()),
            ">" => Value::Bool(left.compare(&right)?.is_gt()),
            ">=" => Value::Bool(left.compare(&right)?.is_ge()),
            "in" => match &right {
                Value::List(items) => Value::Bool(contains(items, &left)?),
                Value::Map(map) => Value::Bool(find(map, &left)?.is_some()),
                _ => return None,
            },
            _ => return arithmetic(operator, left, right),
        })
    }

    fn call(
        &mut self,
        of: Option<&Expression>,
        name: &str,
        arguments: &[Expression],
    ) -> Option<Value> {
        match (of, name, arguments) {
            (None, "has", [Expression::Field(of, field, false)]) => {
                let field = Value::text(&unescaped(field));
                match self.evaluate(of)? {
                    Value::Map(map) => Some(Value::Bool(find(&map, &field)?.is_some())),
                    _ => None,
                }
            }
            (
                Some(of),
                "all" | "exists" | "exists_one" | "map" | "filter",
                [Expression::Name(variable), body],
            ) => {
                let items = self.evaluate(of)?;
                self.over(name, items, variable, body)
            }
            _ => {
                let mut values = Vec::new();
                for one in of.into_iter().chain(arguments) {
                    values.push(self.evaluate(one)?);
                }
                function(of.is_some(), name, &values)
            }
        }
    }

    /// The macros over lists, and over the keys of maps.
    fn over(
        &mut self,
        name: &str,
        items: Value,
        variable: &Arc<str>,
        body: &Expression,
    ) -> Option<Value> {
        let items = match items {
            Value::List(items) => items,
            Value::Map(map) => Arc::new(map.iter().map(|(key, _)| key.clone()).collect()),
            _ => return None,
        };
        let (mut found, mut unknown) = (0_usize, false);
        let mut list = Vec::new();
        for item in items.iter() {
            self.names.push((variable.clone(), item.clone()));
            let value = self.evaluate(body);
            self.names.pop();
            match (name, value) {
                ("map", value) => list.push(value?),
                ("filter", Some(Value::Bool(true))) => list.push(item.clone()),
                ("filter", Some(Value::Bool(false))) => {}
                ("filter", _) => return None,
                ("all", Some(Value::Bool(false))) => return Some(Value::Bool(false)),
                ("exists", Some(Value::Bool(true))) => return Some(Value::Bool(true)),
                (_, Some(Value::Bool(truth))) => found += usize::from(truth),
                _ => unknown = true,
            }
        }
        match name {
            "map" | "filter" => Some(Value::list(list)),
            _ if unknown => None,
            "all" => Some(Value::Bool(true)),
            "exists" => Some(Value::Bool(false)),
            _ => Some(Value::Bool(found == 1)),
        }
    }
}

/// Names of fields are escaped where they are no names of the language.
fn unescaped(name: &str) -> String {
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

fn contains(items: &[Value], wanted: &Value) -> Option<bool> {
    for item in items {
        if item.equals(wanted)? {
            return Some(true);
        }
    }
    Some(false)
}

fn arithmetic(operator: &str, left: Value, right: Value) -> Option<Value> {
    Some(match (operator, left, right) {
        ("+", Value::Int(a), Value::Int(b)) => Value::Int(a.checked_add(b)?),
        ("-", Value::Int(a), Value::Int(b)) => Value::Int(a.checked_sub(b)?),
        ("*", Value::Int(a), Value::Int(b)) => Value::Int(a.checked_mul(b)?),
        ("/", Value::Int(a), Value::Int(b)) => Value::Int(a.checked_div(b)?),
        ("%", Value::Int(a), Value::Int(b)) => Value::Int(a.checked_rem(b)?),
        ("+", Value::Double(a), Value::Double(b)) => Value::Double(a + b),
        ("-", Value::Double(a), Value::Double(b)) => Value::Double(a - b),
        ("*", Value::Double(a), Value::Double(b)) => Value::Double(a * b),
        ("/", Value::Double(a), Value::Double(b)) => Value::Double(a / b),
        ("+", Value::Text(a), Value::Text(b)) if a.len() + b.len() <= LARGE => {
            Value::text(&format!("{a}{b}"))
        }
        ("+", Value::List(a), Value::List(b)) if a.len() + b.len() <= LARGE => {
            Value::list(a.iter().chain(b.iter()).cloned().collect())
        }
        _ => return None,
    })
}

fn count(n: usize) -> Option<Value> {
    Some(Value::Int(i64::try_from(n).ok()?))
}

/// Functions of values; those of a value have it first.
fn function(method: bool, name: &str, values: &[Value]) -> Option<Value> {
    match (name, values) {
        ("size", [Value::Text(text)]) => count(text.chars().count()),
        ("size", [Value::List(items)]) => count(items.len()),
        ("size", [Value::Map(map)]) => count(map.len()),
        ("dyn", [value]) if !method => Some(value.clone()),
        ("string", [Value::Int(n)]) if !method => Some(Value::text(&n.to_string())),
        ("string", [Value::Text(_) | Value::Bool(_)]) if !method => match values {
            [Value::Bool(truth)] => Some(Value::text(&truth.to_string())),
            [text] => Some(text.clone()),
            _ => None,
        },
        ("int", [Value::Int(n)]) if !method => Some(Value::Int(*n)),
        ("int", [Value::Text(text)]) if !method => text.parse().ok().map(Value::Int),
        (_, [Value::Text(text), rest @ ..]) if method => of_text(name, text, rest),
        (_, [Value::List(items), rest @ ..]) if method => of_list(name, items, rest),
        (_, [Value::Optional(inner), rest @ ..]) if method => match (name, inner, rest) {
            ("hasValue", inner, []) => Some(Value::Bool(inner.is_some())),
            ("value", Some(inner), []) => Some((**inner).clone()),
            ("orValue", Some(inner), [_]) => Some((**inner).clone()),
            ("orValue", None, [other]) => Some(other.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn of_text(name: &str, text: &str, rest: &[Value]) -> Option<Value> {
    Some(match (name, rest) {
        ("startsWith", [Value::Text(part)]) => Value::Bool(text.starts_with(&**part)),
        ("endsWith", [Value::Text(part)]) => Value::Bool(text.ends_with(&**part)),
        ("contains", [Value::Text(part)]) => Value::Bool(text.contains(&**part)),
        ("matches", [Value::Text(part)]) => Value::Bool(pattern::finds(part, text)?),
        ("lowerAscii", []) => Value::text(&text.to_ascii_lowercase()),
        ("upperAscii", []) => Value::text(&text.to_ascii_uppercase()),
        ("trim", []) => Value::text(text.trim()),
        ("replace", [Value::Text(old), Value::Text(new)]) if !old.is_empty() => {
            let added = text.matches(&**old).count().saturating_mul(new.len());
            if added > LARGE {
                return None;
            }
            Value::text(&text.replace(&**old, new))
        }
        ("split", [Value::Text(at)]) if !at.is_empty() => {
            Value::list(text.split(&**at).map(Value::text).collect())
        }
        _ => return None,
    })
}

fn of_list(name: &str, items: &[Value], rest: &[Value]) -> Option<Value> {
    match (name, rest) {
        ("join", []) | ("join", [Value::Text(_)]) => {
            let between = match rest {
                [Value::Text(text)] => text.to_string(),
                _ => String::new(),
            };
            let texts = items.iter().map(|item| match item {
                Value::Text(text) => Some(text.to_string()),
                _ => None,
            });
            let texts: Vec<String> = texts.collect::<Option<_>>()?;
            let length: usize = texts.iter().map(String::len).sum();
            if length + between.len().saturating_mul(texts.len()) > LARGE {
                return None;
            }
            Some(Value::text(&texts.join(&between)))
        }
        ("isSorted", []) => {
            for pair in items.windows(2) {
                if let [a, b] = pair
                    && a.compare(b)?.is_gt()
                {
                    return Some(Value::Bool(false));
                }
            }
            Some(Value::Bool(true))
        }
        ("sum", []) => {
            let mut sum = 0_i64;
            for item in items {
                match item {
                    Value::Int(n) => sum = sum.checked_add(*n)?,
                    _ => return None,
                }
            }
            Some(Value::Int(sum))
        }
        ("min" | "max", []) => {
            let (first, others) = items.split_first()?;
            let mut best = first;
            for item in others {
                let order = item.compare(best)?;
                if (name == "min" && order.is_lt()) || (name == "max" && order.is_gt()) {
                    best = item;
                }
            }
            Some(best.clone())
        }
        _ => None,
    }
}
