//! What an entry says, as one sentence in the words of its file.

use locus_core::graph::Location;
use locus_core::value::{Field, Item, Value};
use locus_core::{LocationGraph, Span};

use super::tree::Unit;
use crate::session::Report;

/// The most characters of a file that a sentence quotes.
const QUOTED: usize = 60;

/// What a unit says.
pub(super) fn sentence(report: &Report, units: &[Unit], at: usize) -> String {
    let Some(unit) = units.get(at) else {
        return String::new();
    };
    let sources = &report.sources;
    let written = quote(sources.snippet(unit.value));
    let Some(key) = unit.key else {
        return item(report, units, unit, &written);
    };
    let key_text = name(sources.snippet(key));
    if let Some(location) = location_at(&report.graph, key) {
        return format!("there is the {}", title(report, location));
    }
    let value = value_at(report, key);
    let shown = match &value {
        Some((_, known)) if *known != written => format!("`{known}`, written `{written}`"),
        _ => format!("`{written}`"),
    };
    if let Some(location) = owner(report, units, unit) {
        let referred = value
            .as_ref()
            .and_then(|(item, _)| referred(&report.graph, item));
        return match referred {
            Some(other) => format!(
                "the `{key_text}` of the {} is the {}",
                title(report, location),
                title(report, other)
            ),
            None => format!(
                "the `{key_text}` of the {} is {shown}",
                title(report, location)
            ),
        };
    }
    let above: Vec<String> = ancestors(units, unit)
        .filter_map(|one| one.key)
        .map(|key| name(sources.snippet(key)))
        .collect();
    match above.as_slice() {
        [] => format!("`{key_text}` is `{written}`"),
        [section] => format!("`{section}` sets `{key_text}` to `{written}`"),
        [of, ..] => format!("the `{key_text}` of `{of}` is `{written}`"),
    }
}

/// Whether the value of a unit is another location.
pub(super) fn is_reference(report: &Report, unit: &Unit) -> bool {
    let item = unit.key.and_then(|key| value_at(report, key));
    item.is_some_and(|(item, _)| referred(&report.graph, item).is_some())
}

/// What an item of a list or a line says.
fn item(report: &Report, units: &[Unit], unit: &Unit, written: &str) -> String {
    let sources = &report.sources;
    let list = ancestors(units, unit).find_map(|one| one.key);
    match (list, owner(report, units, unit)) {
        (Some(list), Some(location)) => {
            let list = name(sources.snippet(list));
            format!(
                "the `{list}` of the {} include `{written}`",
                title(report, location)
            )
        }
        (Some(list), None) => {
            let list = name(sources.snippet(list));
            format!("`{list}` includes `{written}`")
        }
        (None, _) => match written.split_once('=') {
            Some((key, value)) => format!("`{}` is set to `{}`", key.trim(), value.trim()),
            None => format!("`{written}` is written here"),
        },
    }
}

fn ancestors<'a>(units: &'a [Unit], unit: &Unit) -> impl Iterator<Item = &'a Unit> {
    let above = |parent: Option<usize>| parent.and_then(|at| units.get(at));
    std::iter::successors(above(unit.parent), move |one| above(one.parent))
}

/// The location that a unit is part of.
fn owner<'a>(report: &'a Report, units: &[Unit], unit: &Unit) -> Option<&'a Location> {
    ancestors(units, unit).find_map(|one| location_at(&report.graph, one.key?))
}

fn location_at(graph: &LocationGraph, key: Span) -> Option<&Location> {
    let mut all = graph.locations().map(|(_, location)| location);
    all.find(|location| location.origin.span == key && !location.external)
}

/// What a location is called: its kind and its name.
fn title(report: &Report, location: &Location) -> String {
    let sort = location.sort.rsplit([':', '/', '.']).next().unwrap_or("");
    let mut kind = String::new();
    let mut before_lower = false;
    for c in sort.chars() {
        if c.is_uppercase() && before_lower {
            kind.push(' ');
        }
        before_lower = c.is_lowercase();
        kind.extend(c.to_lowercase());
    }
    // As it is written, unless it is a part of something that is named elsewhere.
    let written = name(report.sources.snippet(location.origin.span));
    let known = &*location.name;
    let is_short = !written.is_empty() && known.ends_with(&written) && !known.contains('/');
    format!("{kind} `{}`", if is_short { &written } else { known })
}

/// The value of the property whose key is written at a place, and how it is shown when it is known.
fn value_at(report: &Report, key: Span) -> Option<(&Item, String)> {
    let mut locations = report.graph.locations();
    let item = locations.find_map(|(_, location)| find(&location.properties, key))?;
    let shown = match &item.value {
        Value::Location(_) | Value::Symbolic(_) | Value::List(_) | Value::Map(_) => {
            return Some((item, quote(report.sources.snippet(item.span))));
        }
        value => quote(&value.to_string()),
    };
    Some((item, shown))
}

fn find(fields: &[Field], key: Span) -> Option<&Item> {
    fields.iter().find_map(|field| {
        if field.key == key {
            return Some(&field.item);
        }
        within(&field.item, key)
    })
}

fn within(item: &Item, key: Span) -> Option<&Item> {
    match &item.value {
        Value::Map(fields) => find(fields, key),
        Value::List(items) => items.iter().find_map(|item| within(item, key)),
        _ => None,
    }
}

/// The location that a value is.
fn referred<'a>(graph: &'a LocationGraph, item: &Item) -> Option<&'a Location> {
    match &item.value {
        Value::Location(id) => Some(graph.location(*id)),
        _ => None,
    }
}

/// A text as it is quoted: its first line, without quotes around it, and not too much of it.
fn quote(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or("").trim_end();
    let bare = name(line).replace('`', "'");
    if bare.chars().count() <= QUOTED {
        return bare;
    }
    let mut short: String = bare.chars().take(QUOTED).collect();
    short.push_str("...");
    short
}

/// A text without quotes around it.
fn name(text: &str) -> String {
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or(inner('\'')).unwrap_or(text).to_owned()
}
