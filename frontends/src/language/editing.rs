//! What a language tells an editor: which names it has, and what may be written at a place.

use crate::yaml::{Kind as NodeKind, Node};
use locus_core::Span;

/// A kind of name: where it is defined and where it is used.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// What such a name is called: `parameter`.
    pub what: &'static str,
    /// The keys that lead to the definitions, which are keys themselves: `["parameters", "*"]`.
    pub defined: &'static [&'static str],
    /// The places where such a name is used.
    pub used: &'static [NameUse],
}

/// A place where names are used.
#[derive(Clone, Copy, Debug)]
pub struct NameUse {
    /// The keys that lead to it; `*` is any key or item, and a first `**` any number of them.
    pub path: &'static [&'static str],
    /// What of the value is the name.
    pub part: NamePart,
}

/// What of a value is a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamePart {
    /// A text, each text of a list, or each key of a map.
    Each,
    /// A text, or the first of a list.
    First,
    /// What stands before the first colon of a text or of each text of a list.
    BeforeColon,
    /// What follows this in a text.
    After(&'static str),
}

/// A name at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameAt {
    /// The name.
    pub name: String,
    /// Where it is written, without quotes.
    pub span: Span,
    /// The position of its kind in the table.
    pub kind: usize,
    /// Whether it is defined here.
    pub is_definition: bool,
}

/// All names of a document, as a table tells them. Text is what spans point into, with the document in it.
pub fn names_in(table: &[Names], text: &str, root: &Node) -> Vec<NameAt> {
    let mut found = Vec::new();
    if table.is_empty() {
        return found;
    }
    let mut path = Vec::new();
    walk(table, text, root, &mut path, &mut found);
    found.sort_by_key(|name| (name.span.start, name.kind, !name.is_definition));
    found.dedup();
    found
}

fn walk<'n>(
    table: &[Names],
    text: &str,
    node: &'n Node,
    path: &mut Vec<&'n str>,
    found: &mut Vec<NameAt>,
) {
    // What an alias stands for is met where its anchor is.
    if node.alias().is_some() {
        return;
    }
    for (kind, names) in table.iter().enumerate() {
        for used in names.used.iter().filter(|used| matches(used.path, path)) {
            take(used.part, text, node, kind, found);
        }
    }
    match &node.kind {
        NodeKind::Mapping(mapping) => {
            for (name, entry) in mapping.named() {
                path.push(name);
                for (kind, names) in table.iter().enumerate() {
                    if matches(names.defined, path) {
                        push(text, &entry.key, name, kind, true, found);
                    }
                }
                walk(table, text, &entry.value, path, found);
                path.pop();
            }
        }
        NodeKind::Sequence(items) => {
            for item in items {
                path.push("");
                walk(table, text, item, path, found);
                path.pop();
            }
        }
        NodeKind::Scalar(_) => {}
    }
}

/// Whether a path is one that a pattern describes.
pub fn matches(pattern: &[&str], path: &[&str]) -> bool {
    let (pattern, path) = match pattern {
        ["**", rest @ ..] => match path.len().checked_sub(rest.len()) {
            Some(start) => (rest, path.get(start..).unwrap_or_default()),
            None => return false,
        },
        all => (all, path),
    };
    let same = |(wanted, key): (&&str, &&str)| *wanted == "*" || wanted == key;
    pattern.len() == path.len() && pattern.iter().zip(path).all(same)
}

fn take(part: NamePart, text: &str, node: &Node, kind: usize, found: &mut Vec<NameAt>) {
    let scalar = |node: &Node, found: &mut Vec<NameAt>| {
        let Some(value) = node.as_str() else { return };
        let name = match part {
            NamePart::Each | NamePart::First => value,
            NamePart::BeforeColon => value.split(':').next().unwrap_or(value),
            NamePart::After(before) => match value.strip_prefix(before) {
                Some(name) => name,
                None => return,
            },
        };
        push(text, node, name, kind, false, found);
    };
    match (&node.kind, part) {
        (NodeKind::Scalar(_), _) => scalar(node, found),
        (NodeKind::Sequence(items), NamePart::First) => {
            if let Some(first) = items.first() {
                scalar(first, found);
            }
        }
        (NodeKind::Sequence(items), NamePart::Each | NamePart::BeforeColon) => {
            items.iter().for_each(|item| scalar(item, found));
        }
        (NodeKind::Mapping(mapping), NamePart::Each) => {
            for (_, entry) in mapping.named() {
                scalar(&entry.key, found);
            }
        }
        _ => {}
    }
}

/// Adds a name that stands in a node, if it is written there as it is.
fn push(
    text: &str,
    node: &Node,
    name: &str,
    kind: usize,
    is_definition: bool,
    found: &mut Vec<NameAt>,
) {
    let (start, end) = (node.span.start as usize, node.span.end as usize);
    let written = text.get(start..end).unwrap_or_default();
    if name.is_empty() || name.contains(['\n', '$', '{']) {
        return;
    }
    if let Some(at) = written.find(name) {
        let start = start + at;
        found.push(NameAt {
            name: name.to_owned(),
            span: Span::new(node.span.file, start, start + name.len()),
            kind,
            is_definition,
        });
    }
}

/// What can be written at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestion {
    /// What is written.
    pub text: String,
    /// What it is, in a few words: a type, a kind of name.
    pub detail: String,
    /// More about it, in Markdown.
    pub documentation: String,
    /// Whether something is missing without it.
    pub required: bool,
    /// Whether it works and will go.
    pub deprecated: bool,
    /// What follows a key.
    pub follows: Follows,
    /// Keys that what is suggested cannot be without, to be written below it.
    pub block: Vec<String>,
}

/// What follows a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Follows {
    /// A value on the same line.
    #[default]
    Value,
    /// Keys on the lines below.
    Map,
    /// Items on the lines below.
    List,
}

/// A place where something can be written.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The document.
    pub root: &'a Node,
    /// The keys that lead to the place; of an item of a list, an empty one. At a key, those that lead to its map.
    pub path: &'a [&'a str],
    /// Whether a key is written, as opposed to a value.
    pub is_key: bool,
}

impl<'a> Place<'a> {
    /// The node under some keys.
    pub fn get(&self, path: &[&str]) -> Option<&'a Node> {
        path.iter().try_fold(self.root, |node, key| node.get(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_paths() {
        assert!(matches(&["a", "*"], &["a", "b"]));
        assert!(!matches(&["a", "*"], &["a"]));
        assert!(matches(&["**", "get"], &["get"]));
        assert!(matches(&["**", "x", "get"], &["a", "b", "x", "get"]));
        assert!(!matches(&["**", "x", "get"], &["get"]));
    }
}
