//! Limits of inputs with which a finding is made for none of the values that they then allow.

use locus_core::value::{Constraint, Value};
use locus_core::{Sources, Span};
use locus_frontends::language::{LIMITS, Language, Limit, OpenInput};
use locus_frontends::yaml::{self, Kind, Limits, Node, edit};

use super::candidates::Candidate;

/// The edits after which an input can no longer be given a value, the least ones first. What it is declared with is
/// written in one of the files.
pub(super) fn tighter(
    language: &dyn Language,
    sources: &Sources,
    input: &OpenInput,
    declared: Span,
    bad: &Value,
    said: &str,
) -> Vec<Candidate> {
    let parsed = yaml::parse(sources, declared.file, &Limits::default());
    let roots = parsed.documents.iter().map(|one| &one.root);
    let found = roots.filter_map(|root| Some((root, declaration(root, declared)?)));
    let Some((root, (key, map))) = found.into_iter().next() else {
        return Vec::new();
    };
    let text = sources.text(declared.file);
    let constraints = map.get("constraints");
    let mut scalars = Vec::new();
    if let Some(constraints) = constraints {
        leaves(constraints, &mut scalars);
    }
    let written = |value: &str| {
        let mut own = scalars.iter();
        own.find(|node| node.as_str() == Some(value))
            .map(|node| node.span)
    };
    let name = &input.name;
    let mut all = Vec::new();
    let mut push = |title: String, change: Option<edit::Change>| {
        all.extend(change.map(|change| Candidate::one(title, change.span, change.text)));
    };
    // A listed value is taken out of the list.
    let lists = |one: &Constraint| matches!(one, Constraint::OneOf(values) if values.len() > 1);
    let is_listed = input.domain.constraints.iter().any(lists);
    let shown = bad.to_string();
    if is_listed && let Some(at) = written(&shown) {
        push(
            format!("allow no longer `{shown}` for `{name}`"),
            edit::remove(text, root, at),
        );
    }
    for limit in limits(bad, input.default.as_ref(), said) {
        // A limit that is there already is another one then.
        let known = match limit {
            Limit::AtLeast(least) => bound(input, false).map(|old| (old, least)),
            Limit::AtMost(most) => bound(input, true).map(|old| (old, most)),
            _ => None,
        };
        if let Some((old, new)) = known
            && let Some(at) = written(&old)
        {
            push(
                format!("limit `{name}` to `{new}` instead of `{old}`"),
                edit::replace(text, root, at, &old, &new.to_string()),
            );
            continue;
        }
        // A range has two ends.
        let end = match limit {
            Limit::AtLeast(least) => Some(format!("min: {least}")),
            Limit::AtMost(most) => Some(format!("max: {most}")),
            _ => None,
        };
        if let (Some(end), Some(range)) = (end, constraints.and_then(range)) {
            push(
                format!("constrain `{name}` with `{end}`"),
                edit::add(text, root, range, &end),
            );
            continue;
        }
        let Some(item) = language.limit(&limit) else {
            continue;
        };
        let change = match constraints {
            Some(list) => edit::append(text, root, list.span, &format!("{{ {item} }}")),
            None => edit::add(text, root, key, &format!("constraints: [{{ {item} }}]")),
        };
        push(format!("constrain `{name}` with `{item}`"), change);
    }
    all
}

/// Limits that keep a value out and a default in, the least ones first; numbers that are spoken of may be such limits.
fn limits(bad: &Value, good: Option<&Value>, said: &str) -> Vec<Limit> {
    let number = |value: &Value| match value {
        Value::Int(number) => number.to_i64(),
        _ => None,
    };
    let mut all = Vec::new();
    match (number(bad), good.map(number)) {
        (Some(bad), Some(Some(good))) => {
            let (low, high) = (bad.min(good), bad.max(good));
            let mut near: Vec<i64> = spoken(said)
                .flat_map(|number| [number, number.saturating_sub(1), number.saturating_add(1)])
                .chain([bad.saturating_sub((bad > good).into())])
                .chain([bad.saturating_add((bad < good).into()), good])
                .filter(|number| (low..=high).contains(number) && *number != bad)
                .collect();
            near.sort_unstable();
            near.dedup();
            match bad > good {
                true => all.extend(near.into_iter().rev().map(Limit::AtMost)),
                false => all.extend(near.into_iter().map(Limit::AtLeast)),
            }
        }
        (Some(bad), None) => {
            all.extend([
                Limit::AtLeast(bad.saturating_add(1)),
                Limit::AtMost(bad.saturating_sub(1)),
            ]);
        }
        _ => {}
    }
    if let Value::Str(text) = bad {
        all.extend(LIMITS.map(Limit::Named));
        if text.is_empty() {
            all.push(Limit::Something);
        }
    }
    all.extend(good.map(|good| Limit::OneOf(vec![good.clone()])));
    all
}

/// The numbers in a text.
fn spoken(said: &str) -> impl Iterator<Item = i64> {
    let words = said.split(|c: char| !c.is_ascii_digit() && c != '-');
    words.filter_map(|word| word.parse().ok())
}

/// The map of a range that is written under a constraint.
fn range(node: &Node) -> Option<Span> {
    match &node.kind {
        Kind::Scalar(_) => None,
        Kind::Sequence(items) => items.iter().find_map(range),
        Kind::Mapping(map) => match node.get("min").or_else(|| node.get("max")) {
            Some(_) if node.get("range").is_none() => Some(node.span),
            _ => {
                let inner = map
                    .entries
                    .iter()
                    .filter(|entry| entry.key.as_str() == Some("range"));
                inner.filter_map(|entry| range(&entry.value)).next()
            }
        },
    }
}

/// A limit that the declaration of an input has.
fn bound(input: &OpenInput, upper: bool) -> Option<String> {
    input.domain.constraints.iter().find_map(|one| match one {
        Constraint::Range { min, max } => {
            let limit = if upper { max } else { min };
            limit.as_ref().map(Value::to_string)
        }
        _ => None,
    })
}

/// The key and the map of the entry at a place.
fn declaration(node: &Node, at: Span) -> Option<(Span, &Node)> {
    match &node.kind {
        Kind::Scalar(_) => None,
        Kind::Sequence(items) => items.iter().find_map(|item| declaration(item, at)),
        Kind::Mapping(map) => map.entries.iter().find_map(|entry| {
            let (key, value) = (entry.key.span, &entry.value);
            let is = at == key || at == value.span || at == key.to(value.span);
            match is && value.as_mapping().is_some() {
                true => Some((key, value)),
                false => declaration(value, at),
            }
        }),
    }
}

/// The scalars within a node.
fn leaves<'n>(node: &'n Node, out: &mut Vec<&'n Node>) {
    match &node.kind {
        Kind::Scalar(_) => out.push(node),
        Kind::Sequence(items) => items.iter().for_each(|item| leaves(item, out)),
        Kind::Mapping(map) => {
            for entry in &map.entries {
                leaves(&entry.value, out);
            }
        }
    }
}
