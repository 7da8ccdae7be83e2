//! The values that inputs are tried with.

use std::collections::BTreeSet;

use locus_core::Int;
use locus_core::value::{Constraint, Item, Value, ValueType};
use locus_core::values::Number;
use locus_frontends::language::{Language, OpenInput};

use super::pattern;

/// Numbers of a range that are all tried.
const RANGE: i64 = 512;

/// Lists of listed items that are all tried.
const LISTS: usize = 64;

/// Values that rules and conditions compare with, at most.
const HINTS: usize = 12;

/// Values that nothing is compared with, where only equality matters.
const FRESH: usize = 3;

/// Items of a list that is tried, at most.
const LONGEST: usize = 64;

/// An input and the values it is tried with.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    /// The input.
    pub(super) input: OpenInput,
    /// The values; the first is that it is not given.
    pub(super) values: Vec<Option<Value>>,
    /// Whether these are all that it may be given.
    pub(super) exact: bool,
    /// Whether it is tried with everything that it is compared with and may be.
    pub(super) covered: bool,
    /// The texts of the values that nothing is compared with.
    pub(super) fresh: BTreeSet<String>,
    /// Whether it matters and is tried with nothing, as it cannot be told what its constraints allow.
    pub(super) beyond: bool,
}

/// What rules and conditions look at of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Asked {
    /// Nothing.
    #[default]
    Nothing,
    /// What it is equal to.
    Equality,
    /// More: its text, its size.
    Content,
}

impl Tried {
    /// The first value that counts: not giving the input is none where it has no default.
    pub(super) fn first(&self) -> usize {
        usize::from(!self.input.optional && self.values.len() > 1)
    }

    /// Whether it is tried with a value, or has it when it is not given.
    pub(super) fn has(&self, value: &Value) -> bool {
        let text = value.to_string();
        let given = self.values.iter().flatten();
        let default = self.input.default.iter().filter(|_| self.input.optional);
        given.chain(default).any(|own| own.to_string() == text)
    }

    /// What it is when it is tried with a value, where that is known.
    pub(super) fn value(&self, at: usize) -> Option<&Value> {
        match self.values.get(at) {
            Some(Some(value)) => Some(value),
            _ => self.input.default.as_ref(),
        }
    }
}

/// Texts that are well or badly formed in the ways that matter to configurations: names, numbers, addresses.
const TEXTS: [&str; 11] = [
    "x",
    "10.0.0.5",
    "10.0.0.0/24",
    "2001:db8::/64",
    "",
    "0",
    "-1",
    "70000",
    "10.0.0.0/33",
    "a b",
    "00:11:22:33:44:55",
];

/// The values to try an input with.
pub(super) fn tried(
    language: &dyn Language,
    input: OpenInput,
    hints: &[Value],
    near: &[Value],
    asked: Asked,
) -> Tried {
    let domain = &input.domain;
    let beyond = !language.tells(domain);
    let allowed = |value: &Value| !beyond && language.admits(domain, value) != Some(false);
    let (mut list, exact) = match all(&input) {
        Some(list) => (list, !beyond),
        None => (some(&input, hints), false),
    };
    if !exact && matches!(domain.ty, ValueType::String | ValueType::Any) {
        list.extend(near.iter().cloned());
    }
    list.retain(allowed);
    let compared: BTreeSet<String> = hints.iter().map(Value::to_string).collect();
    let mut values: Vec<Option<Value>> = vec![None];
    let mut fresh = BTreeSet::new();
    for value in list {
        let same = |other: &Value| other.same(&value);
        let known = values.iter().flatten().any(same);
        let default = input.optional && input.default.as_ref().is_some_and(same);
        if known || default {
            continue;
        }
        let text = value.to_string();
        if !compared.contains(&text) {
            // Where only equality matters, few values that are equal to nothing will do; where nothing does, one.
            let enough = match asked {
                Asked::Nothing => 1,
                Asked::Equality => FRESH,
                Asked::Content => usize::MAX,
            };
            if !exact && fresh.len() >= enough {
                continue;
            }
            fresh.insert(text);
        }
        values.push(Some(value));
    }
    let mut tried = Tried {
        input,
        values,
        exact,
        covered: true,
        fresh,
        beyond: beyond && asked != Asked::Nothing,
    };
    tried.covered = exact || hints.iter().all(|hint| tried.is_tried_with(language, hint));
    tried
}

impl Tried {
    /// Whether a value that it is compared with is one that it is tried with, or cannot be given.
    pub(super) fn is_tried_with(&self, language: &dyn Language, value: &Value) -> bool {
        let given = match (self.input.domain.ty, value) {
            // Of what is in a list or a map, equality is not all that matters.
            (ValueType::List | ValueType::Map, _) => return false,
            (_, Value::List(_) | Value::Map(_) | Value::Null | Value::Location(_)) => return true,
            (_, Value::Symbolic(_)) => return false,
            (ValueType::Bool, _) => return true,
            (ValueType::Int | ValueType::Number, value) => match Number::of(value) {
                Some(number) => number.value(),
                None => return true,
            },
            (ValueType::String | ValueType::Any, value) => Value::str(value.to_string()),
        };
        self.has(&given) || language.admits(&self.input.domain, &given) == Some(false)
    }
}

/// All values of an input, where they are few.
fn all(input: &OpenInput) -> Option<Vec<Value>> {
    let constraints = &input.domain.constraints;
    let listed = constraints.iter().find_map(|constraint| match constraint {
        Constraint::OneOf(values) => Some(values.clone()),
        _ => None,
    });
    match input.domain.ty {
        ValueType::Bool => Some(vec![Value::Bool(false), Value::Bool(true)]),
        ValueType::List => lists(input, &listed?),
        _ if listed.is_some() => listed,
        ValueType::Map => None,
        ValueType::Int | ValueType::Number => {
            let (low, high) = range(constraints);
            let (low, high) = (low?, high?);
            let few = high.checked_sub(low).is_some_and(|width| width < RANGE);
            let number = |number| Value::Int(Int::Small(number));
            few.then(|| (low..=high).map(number).collect())
        }
        ValueType::String | ValueType::Any => {
            let mut found = constraints
                .iter()
                .filter_map(|constraint| match constraint {
                    Constraint::Pattern(pattern) => pattern::all(pattern),
                    _ => None,
                });
            let texts = found.next()?;
            Some(texts.into_iter().map(Value::str).collect())
        }
    }
}

/// The whole numbers between which an input lies.
fn range(constraints: &[Constraint]) -> (Option<i64>, Option<i64>) {
    let (mut low, mut high) = (None, None);
    let whole = |value: &Option<Value>| match value {
        Some(Value::Int(number)) => number.to_i64(),
        _ => None,
    };
    for constraint in constraints {
        if let Constraint::Range { min, max } = constraint {
            low = low.max(whole(min));
            high = match (high, whole(max)) {
                (Some(a), Some(b)) => Some(i64::min(a, b)),
                (a, b) => a.or(b),
            };
        }
    }
    (low, high)
}

/// All lists of listed items, where their length is limited and they are few.
fn lists(input: &OpenInput, items: &[Value]) -> Option<Vec<Value>> {
    let most = input.domain.constraints.iter().find_map(|one| match one {
        Constraint::Length { max: Some(max), .. } => usize::try_from(max.to_i64()?).ok(),
        _ => None,
    })?;
    let item = |value: &Value| {
        let text = match value {
            Value::Str(_) => value.clone(),
            other => Value::str(other.to_string()),
        };
        Item::new(text, input.span)
    };
    let mut found: Vec<Vec<Item>> = vec![Vec::new()];
    let mut last = found.clone();
    for _ in 0..most {
        let mut next = Vec::new();
        for list in &last {
            for value in items {
                let mut longer = list.clone();
                longer.push(item(value));
                next.push(longer);
            }
        }
        found.extend(next.iter().cloned());
        if found.len() > LISTS {
            return None;
        }
        last = next;
    }
    Some(found.into_iter().map(Value::List).collect())
}

/// Numbers about limits that are no whole numbers, and about those that it is compared with.
fn fractions(constraints: &[Constraint], hints: &[Value]) -> Vec<f64> {
    let mut found = Vec::new();
    let mut limit = |value: &Value| {
        if let Value::Float(limit) = value {
            found.extend([*limit, limit + 0.5, limit - 0.5]);
        }
    };
    for constraint in constraints {
        if let Constraint::Range { min, max } = constraint {
            min.iter().chain(max).for_each(&mut limit);
        }
    }
    hints.iter().take(HINTS).for_each(&mut limit);
    found
}

/// Some values of an input that has too many: what it is compared with, and what is on either side of a limit.
fn some(input: &OpenInput, hints: &[Value]) -> Vec<Value> {
    let constraints = &input.domain.constraints;
    let mut found: Vec<Value> = Vec::new();
    let text = |text: &str| Value::str(text);
    let item = |text: &str| Item::new(Value::str(text), input.span);
    let listed = |texts: &[&str]| Value::List(texts.iter().map(|text| item(text)).collect());
    match input.domain.ty {
        ValueType::Bool => {}
        ValueType::Int | ValueType::Number => {
            let (low, high) = range(constraints);
            let mut numbers: Vec<i64> = Vec::new();
            let mut limit = |number: i64| {
                numbers.extend([number, number.saturating_add(1), number.saturating_sub(1)]);
            };
            low.into_iter().chain(high).for_each(&mut limit);
            let known = hints.iter().filter_map(|hint| match hint {
                Value::Int(number) => number.to_i64(),
                Value::Str(text) => text.parse().ok(),
                _ => None,
            });
            known.take(HINTS).for_each(&mut limit);
            numbers.extend([0, 1, -1, 2, 70_000]);
            // A step may leave out all of these.
            for constraint in constraints {
                if let Constraint::Modulo { step, offset } = constraint
                    && let (Some(step), Some(offset)) = (step.to_i64(), offset.to_i64())
                    && step != 0
                {
                    let step = step.saturating_abs();
                    let below = |number: i64| {
                        let rest = number.saturating_sub(offset).rem_euclid(step);
                        number.saturating_sub(rest)
                    };
                    let known: Vec<i64> = numbers.drain(..).map(below).collect();
                    for number in known {
                        numbers.extend([number, number.saturating_add(step)]);
                    }
                }
            }
            found.extend(numbers.into_iter().map(|n| Value::Int(Int::Small(n))));
            if input.domain.ty == ValueType::Number {
                found.extend(fractions(constraints, hints).into_iter().map(Value::Float));
            }
        }
        ValueType::List => {
            let items = constraints.iter().find_map(|one| match one {
                Constraint::OneOf(values) => Some(values.clone()),
                _ => None,
            });
            let mut items: Vec<String> = match items {
                Some(items) => items.iter().map(Value::to_string).collect(),
                None => ["x", "y", "10.0.0.0/33"].map(str::to_owned).into(),
            };
            for hint in hints.iter().take(HINTS) {
                let text = hint.to_string();
                let plain = matches!(hint, Value::Str(_) | Value::Int(_));
                if plain && !items.contains(&text) {
                    items.push(text);
                }
            }
            let texts: Vec<&str> = items.iter().map(String::as_str).collect();
            found.push(listed(&[]));
            found.extend(texts.iter().map(|text| listed(&[text])));
            found.push(listed(&texts));
            if let Some(first) = texts.first() {
                found.push(listed(&[first, first]));
            }
            for constraint in constraints {
                if let Constraint::Length { min, max } = constraint {
                    for length in [min, max].into_iter().flatten() {
                        let length = length.to_i64().and_then(|n| usize::try_from(n).ok());
                        if let Some(length) = length.filter(|&length| length <= LONGEST) {
                            let all = texts.iter().cycle().take(length).copied();
                            found.push(listed(&all.collect::<Vec<&str>>()));
                        }
                    }
                }
            }
        }
        ValueType::Map => found.push(Value::Map(Vec::new())),
        ValueType::String | ValueType::Any => {
            for constraint in constraints {
                match constraint {
                    Constraint::Pattern(pattern) => {
                        found.extend(pattern::some(pattern).into_iter().map(Value::str));
                    }
                    Constraint::Length { min, max } => {
                        for length in [min, max].into_iter().flatten() {
                            let length = length.to_i64().and_then(|n| usize::try_from(n).ok());
                            if let Some(length) = length.filter(|&length| length <= 4096) {
                                found.push(Value::str("x".repeat(length)));
                            }
                        }
                    }
                    _ => {}
                }
            }
            found.extend(TEXTS.map(text));
            let hints = hints
                .iter()
                .filter(|hint| matches!(hint, Value::Str(_) | Value::Int(_) | Value::Bool(_)));
            found.extend(hints.take(HINTS).map(|hint| Value::str(hint.to_string())));
        }
    }
    found
}
