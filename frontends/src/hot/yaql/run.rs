//! Expression trees to values.

use std::cmp::Ordering;

use locus_core::value::{Field, Item, Value};
use locus_core::{Int, Span};

use super::parse::{Expr, Op};
use crate::hot::constraint::number;
use crate::hot::functions::step;
use crate::hot::text::plain;

/// The value that `$` stands for.
#[derive(Clone, Copy)]
pub(super) struct Scope<'v> {
    this: &'v Value,
    span: Span,
}

impl<'v> Scope<'v> {
    pub(super) fn new(this: &'v Value, span: Span) -> Self {
        Scope { this, span }
    }

    /// The value of an expression; `None` when it is not known.
    pub(super) fn run(&self, expr: &Expr) -> Option<Value> {
        Some(match expr {
            Expr::This => self.this.clone(),
            Expr::Null => Value::Null,
            Expr::Bool(flag) => Value::Bool(*flag),
            Expr::Int(n) => Value::Int(Int::from(*n)),
            Expr::Float(f) => Value::Float(*f),
            Expr::Str(text) | Expr::Word(text) => Value::str(text.as_str()),
            Expr::List(items) => {
                let items = items.iter().map(|item| self.run(item));
                self.list(items.collect::<Option<Vec<Value>>>()?)
            }
            Expr::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, value)| Some((self.run(key)?, self.run(value)?)));
                self.map(entries.collect::<Option<Vec<_>>>()?)?
            }
            Expr::Member(of, name) => self.member(&self.run(of)?, name)?,
            Expr::Index(of, index) => step(&self.run(of)?, &self.run(index)?)?.value,
            Expr::Unary('-', of) => negate(&self.run(of)?)?,
            Expr::Unary(_, of) => Value::Bool(!truthy(&self.run(of)?)?),
            Expr::Binary(op, left, right) => self.binary(*op, left, right)?,
            Expr::Call(of, name, args) => {
                let of = match of {
                    Some(of) => Some(self.run(of)?),
                    None => None,
                };
                self.call(of, name, args)?
            }
        })
    }

    fn item(&self, value: Value) -> Item {
        Item::new(value, self.span)
    }

    fn list(&self, values: Vec<Value>) -> Value {
        Value::List(values.into_iter().map(|value| self.item(value)).collect())
    }

    fn map(&self, entries: Vec<(Value, Value)>) -> Option<Value> {
        let mut fields: Vec<Field> = Vec::new();
        for (key, value) in entries {
            let field = Field {
                name: plain(&key)?.into(),
                key: self.span,
                item: self.item(value),
            };
            match fields.iter_mut().find(|old| old.name == field.name) {
                Some(old) => *old = field,
                None => fields.push(field),
            }
        }
        Some(Value::Map(fields))
    }

    /// A key of a map; of a list, that key of each item.
    fn member(&self, of: &Value, name: &str) -> Option<Value> {
        match of {
            Value::Map(fields) => Some(
                locus_core::value::field(fields, name).map_or(Value::Null, |i| i.value.clone()),
            ),
            Value::List(items) => {
                let values = items.iter().map(|item| self.member(&item.value, name));
                Some(self.list(values.collect::<Option<_>>()?))
            }
            _ => None,
        }
    }

    /// An expression for each item of a list.
    fn each(&self, items: &[Item], expr: &Expr) -> Option<Vec<Value>> {
        items
            .iter()
            .map(|item| Scope::new(&item.value, self.span).run(expr))
            .collect()
    }

    fn binary(&self, op: Op, left: &Expr, right: &Expr) -> Option<Value> {
        let a = self.run(left)?;
        // The right side is not asked when the left decides.
        match (op, truthy(&a)) {
            (Op::Or, Some(true)) => return Some(a),
            (Op::And, Some(false)) => return Some(a),
            _ => {}
        }
        let b = self.run(right)?;
        let known = a.is_known() && b.is_known();
        Some(match op {
            Op::Or | Op::And => {
                truthy(&a)?;
                b
            }
            Op::Equal if known => Value::Bool(a.same(&b)),
            Op::NotEqual if known => Value::Bool(!a.same(&b)),
            Op::In if known => Value::Bool(match &b {
                Value::List(items) => items.iter().any(|item| item.value.same(&a)),
                Value::Str(text) => text.contains(a.as_str()?),
                Value::Map(fields) => fields.iter().any(|f| Some(&*f.name) == a.as_str()),
                _ => return None,
            }),
            Op::Less => Value::Bool(order(&a, &b)?.is_lt()),
            Op::LessEqual => Value::Bool(order(&a, &b)?.is_le()),
            Op::Greater => Value::Bool(order(&a, &b)?.is_gt()),
            Op::GreaterEqual => Value::Bool(order(&a, &b)?.is_ge()),
            Op::Add => match (&a, &b) {
                (Value::Str(a), Value::Str(b)) => Value::str(format!("{a}{b}")),
                (Value::List(a), Value::List(b)) => {
                    Value::List(a.iter().chain(b).cloned().collect())
                }
                _ => arithmetic(op, &a, &b)?,
            },
            Op::Subtract | Op::Multiply | Op::Divide | Op::Modulo => arithmetic(op, &a, &b)?,
            _ => return None,
        })
    }

    fn call(&self, of: Option<Value>, name: &str, args: &[Expr]) -> Option<Value> {
        // `f(x, ...)` is `x.f(...)`.
        let (of, args) = match (of, name) {
            (None, "coalesce") => {
                for arg in args {
                    let value = self.run(arg)?;
                    if value != Value::Null {
                        return Some(value);
                    }
                }
                return Some(Value::Null);
            }
            (None, "list") => {
                let values = args.iter().map(|arg| self.run(arg));
                return Some(self.list(values.collect::<Option<_>>()?));
            }
            (Some(of), _) => (of, args),
            (None, _) => {
                let (first, rest) = args.split_first()?;
                (self.run(first)?, rest)
            }
        };
        if let Some(value) = self.on_text(&of, name, args) {
            return Some(value);
        }
        match &of {
            Value::List(items) => self.on_list(items, name, args),
            Value::Map(fields) => self.on_map(fields, name, args),
            _ => None,
        }
    }

    fn on_text(&self, of: &Value, name: &str, args: &[Expr]) -> Option<Value> {
        let text_arg = |index: usize| {
            let value = self.run(args.get(index)?)?;
            value.as_str().map(str::to_owned)
        };
        match (name, of) {
            ("int", _) => match number(of)? {
                Value::Int(n) => Some(Value::Int(n)),
                _ => None,
            },
            ("float", _) => match number(of)? {
                Value::Int(n) => Some(Value::Float(n.to_f64())),
                other => Some(other),
            },
            ("str", _) => plain(of).map(Value::str),
            ("bool", _) => truthy(of).map(Value::Bool),
            ("len", Value::Str(text)) => Some(Value::Int(Int::from(text.chars().count()))),
            ("toLower", Value::Str(text)) => Some(Value::str(text.to_lowercase())),
            ("toUpper", Value::Str(text)) => Some(Value::str(text.to_uppercase())),
            ("trim", Value::Str(text)) => Some(Value::str(text.trim())),
            ("startsWith", Value::Str(text)) => Some(Value::Bool(text.starts_with(&*text_arg(0)?))),
            ("endsWith", Value::Str(text)) => Some(Value::Bool(text.ends_with(&*text_arg(0)?))),
            ("replace", Value::Str(text)) => {
                Some(Value::str(text.replace(&*text_arg(0)?, &text_arg(1)?)))
            }
            ("split", Value::Str(text)) => {
                let separator = text_arg(0)?;
                if separator.is_empty() {
                    return None;
                }
                Some(self.list(text.split(&*separator).map(Value::str).collect()))
            }
            _ => None,
        }
    }

    fn on_map(&self, fields: &[Field], name: &str, args: &[Expr]) -> Option<Value> {
        match name {
            "keys" => Some(self.list(fields.iter().map(|f| Value::Str(f.name.clone())).collect())),
            "values" => Some(Value::List(fields.iter().map(|f| f.item.clone()).collect())),
            "items" => Some(
                self.list(
                    fields
                        .iter()
                        .map(|f| self.list(vec![Value::Str(f.name.clone()), f.item.value.clone()]))
                        .collect(),
                ),
            ),
            "len" => Some(Value::Int(Int::from(fields.len()))),
            "get" => {
                let key = plain(&self.run(args.first()?)?)?;
                match locus_core::value::field(fields, &key) {
                    Some(item) => Some(item.value.clone()),
                    None => match args.get(1) {
                        Some(default) => self.run(default),
                        None => Some(Value::Null),
                    },
                }
            }
            "containsKey" => {
                let key = plain(&self.run(args.first()?)?)?;
                Some(Value::Bool(fields.iter().any(|f| *f.name == *key)))
            }
            "set" => {
                let key = plain(&self.run(args.first()?)?)?;
                let value = self.run(args.get(1)?)?;
                let mut fields: Vec<Field> =
                    fields.iter().filter(|f| *f.name != *key).cloned().collect();
                fields.push(Field {
                    name: key.into(),
                    key: self.span,
                    item: self.item(value),
                });
                Some(Value::Map(fields))
            }
            _ => None,
        }
    }

    fn on_list(&self, items: &[Item], name: &str, args: &[Expr]) -> Option<Value> {
        let known = items.iter().all(|item| item.value.is_known());
        let count = |expr: &Expr| match self.run(expr)? {
            Value::Int(n) => usize::try_from(n.to_i64()?).ok(),
            _ => None,
        };
        Some(match (name, args) {
            ("len" | "count", []) => Value::Int(Int::from(items.len())),
            ("where", [test]) => {
                let tests = self.each(items, test)?;
                let mut kept = Vec::new();
                for (item, test) in items.iter().zip(&tests) {
                    if truthy(test)? {
                        kept.push(item.clone());
                    }
                }
                Value::List(kept)
            }
            ("select", [expr]) => self.list(self.each(items, expr)?),
            ("selectMany", [expr]) => {
                let lists = self.each(items, expr)?;
                self.list(flatten(&lists))
            }
            ("any", []) => Value::Bool(!items.is_empty()),
            ("any" | "all", [test]) => {
                let tests = self.each(items, test)?;
                let tests: Option<Vec<bool>> = tests.iter().map(truthy).collect();
                let tests = tests?;
                Value::Bool(if name == "any" {
                    tests.contains(&true)
                } else {
                    !tests.contains(&false)
                })
            }
            ("first", []) => items.first()?.value.clone(),
            ("first", [default]) => match items.first() {
                Some(item) => item.value.clone(),
                None => self.run(default)?,
            },
            ("last", []) => items.last()?.value.clone(),
            ("sum", _) => {
                let mut total = match args {
                    [start] => self.run(start)?,
                    _ => Value::Int(Int::from(0_i64)),
                };
                for item in items {
                    total = arithmetic(Op::Add, &total, &item.value)?;
                }
                total
            }
            ("max" | "min", []) => {
                let mut best = items.first()?.value.clone();
                for item in items {
                    let better = match order(&item.value, &best)? {
                        Ordering::Less => name == "min",
                        Ordering::Greater => name == "max",
                        Ordering::Equal => false,
                    };
                    if better {
                        best = item.value.clone();
                    }
                }
                best
            }
            ("distinct", []) if known => {
                let mut seen: Vec<Item> = Vec::new();
                for item in items {
                    if !seen.iter().any(|old| old.value.same(&item.value)) {
                        seen.push(item.clone());
                    }
                }
                Value::List(seen)
            }
            ("orderBy" | "orderByDescending", [key]) => {
                let keys = self.each(items, key)?;
                // All keys must compare, or there is no order.
                for pair in keys.windows(2) {
                    if let [a, b] = pair {
                        order(a, b)?;
                    }
                }
                let mut rows: Vec<(&Value, &Item)> = keys.iter().zip(items).collect();
                rows.sort_by(|(a, _), (b, _)| order(a, b).unwrap_or(Ordering::Equal));
                if name == "orderByDescending" {
                    rows.reverse();
                }
                Value::List(rows.into_iter().map(|(_, item)| item.clone()).collect())
            }
            ("reverse", []) => Value::List(items.iter().rev().cloned().collect()),
            ("flatten", []) => {
                let values: Vec<Value> = items.iter().map(|item| item.value.clone()).collect();
                self.list(flatten(&values))
            }
            ("toList", []) => Value::List(items.to_vec()),
            ("take" | "limit", [n]) => Value::List(items.iter().take(count(n)?).cloned().collect()),
            ("skip", [n]) => Value::List(items.iter().skip(count(n)?).cloned().collect()),
            ("indexOf", [what]) if known => {
                let what = self.run(what)?;
                let at = items.iter().position(|item| item.value.same(&what));
                Value::Int(at.map_or(Int::from(-1_i64), Int::from))
            }
            ("contains", [what]) if known => {
                let what = self.run(what)?;
                Value::Bool(items.iter().any(|item| item.value.same(&what)))
            }
            ("append", values) => {
                let mut all = items.to_vec();
                for value in values {
                    all.push(self.item(self.run(value)?));
                }
                Value::List(all)
            }
            ("join", [separator]) => {
                let separator = plain(&self.run(separator)?)?;
                let parts = items.iter().map(|item| plain(&item.value));
                Value::str(parts.collect::<Option<Vec<String>>>()?.join(&separator))
            }
            ("dict" | "toDict", []) => {
                let pairs = items.iter().map(|item| match &item.value {
                    Value::List(pair) => match pair.as_slice() {
                        [key, value] => Some((key.value.clone(), value.value.clone())),
                        _ => None,
                    },
                    _ => None,
                });
                self.map(pairs.collect::<Option<_>>()?)?
            }
            ("toDict", [key, value]) => {
                let keys = self.each(items, key)?;
                self.map(keys.into_iter().zip(self.each(items, value)?).collect())?
            }
            _ => return None,
        })
    }
}

fn flatten(values: &[Value]) -> Vec<Value> {
    let mut flat = Vec::new();
    for value in values {
        match value {
            Value::List(items) => {
                let inner: Vec<Value> = items.iter().map(|item| item.value.clone()).collect();
                flat.extend(flatten(&inner));
            }
            other => flat.push(other.clone()),
        }
    }
    flat
}

/// Whether Python takes a value for true.
fn truthy(value: &Value) -> Option<bool> {
    Some(match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Int(n) => *n != Int::from(0_i64),
        Value::Float(f) => *f != 0.0,
        Value::Str(text) => !text.is_empty(),
        Value::List(items) => !items.is_empty(),
        Value::Map(fields) => !fields.is_empty(),
        Value::Location(_) | Value::Symbolic(_) => return None,
    })
}

fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Str(a), Value::Str(b)) => Some(a.cmp(b)),
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
            float(a)?.partial_cmp(&float(b)?)
        }
        _ => None,
    }
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Int(n) => Some(n.to_f64()),
        Value::Float(f) => Some(*f),
        _ => None,
    }
}

fn negate(value: &Value) -> Option<Value> {
    arithmetic(Op::Subtract, &Value::Int(Int::from(0_i64)), value)
}

fn arithmetic(op: Op, a: &Value, b: &Value) -> Option<Value> {
    if let (Value::Int(a), Value::Int(b)) = (a, b) {
        let (a, b) = (a.to_i64()?, b.to_i64()?);
        let result = match op {
            Op::Add => a.checked_add(b),
            Op::Subtract => a.checked_sub(b),
            Op::Multiply => a.checked_mul(b),
            // Python rounds down.
            Op::Divide => a.checked_div_euclid(b).filter(|_| b > 0),
            Op::Modulo => a.checked_rem_euclid(b).filter(|_| b > 0),
            _ => None,
        };
        return result.map(|n| Value::Int(Int::from(n)));
    }
    let (a, b) = (float(a)?, float(b)?);
    Some(Value::Float(match op {
        Op::Add => a + b,
        Op::Subtract => a - b,
        Op::Multiply => a * b,
        Op::Divide if b != 0.0 => a / b,
        _ => return None,
    }))
}
