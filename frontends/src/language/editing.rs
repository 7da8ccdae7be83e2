//! What a language tells an editor: which names it has, and what may be written at a place.

use crate::yaml::{Kind as NodeKind, Node};
use locus_core::Span;

/// A kind of name: where it is defined and where it is used.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// What such a name is called: `parameter`.
    pub what: &'static str,
    /// What sort of thing it is the name of.
    pub sort: NameSort,
    /// The keys that lead to the definitions, which are keys themselves: `["parameters", "*"]`.
    pub defined: &'static [&'static str],
    /// The places where such a name is used.
    pub used: &'static [NameUse],
    /// What stands after the colon of a new definition; lines below it are indented by four.
    pub body: &'static str,
}

/// What sort of thing has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameSort {
    /// What is chosen from outside.
    Input,
    /// What is deployed.
    Location,
    /// What others are of.
    Type,
    /// What is a part of another, or decides about it.
    Part,
    /// What others are found by; no outline lists it.
    Label,
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
    /// What stands before the first colon of a text or of each text of a list, unless that is a path.
    BeforeColon,
    /// What follows this in a text, or after the sign of a text such as `name=value`.
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
    /// All of what it is the name of, if it is defined here.
    pub defines: Option<Span>,
    /// What it is a name in: a namespace, a pod, a file. Names of one kind in different scopes are different.
    pub scope: String,
}

impl NameAt {
    /// Whether it is defined here.
    pub fn is_definition(&self) -> bool {
        self.defines.is_some()
    }
}

/// A file of a project, as an editor has it.
#[derive(Clone, Debug)]
pub struct FileText<'a> {
    /// The path, where it is known.
    pub path: &'a str,
    /// The text.
    pub text: &'a str,
    /// Its documents.
    pub roots: Vec<&'a Node>,
}

/// All names of a document, as a table tells them. Text is what spans point into, with the document in it.
pub fn names_in(table: &[Names], text: &str, root: &Node) -> Vec<NameAt> {
    let mut found = Vec::new();
    if table.is_empty() {
        return found;
    }
    let mut path = Vec::new();
    walk(table, text, root, &mut path, &mut found);
    found.sort_by_key(|name| (name.span.start, name.kind, !name.is_definition()));
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
                        push(text, &entry.key, name, kind, Some(entry.span()), found);
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
            // A path is no name.
            NamePart::BeforeColon if value.starts_with(['.', '/', '~']) => return,
            NamePart::BeforeColon => value.split(':').next().unwrap_or(value),
            NamePart::After(before) => {
                let assigned = value.split_once('=').map_or(value, |(_, after)| after);
                let name = value.strip_prefix(before);
                if let Some(name) = name.or_else(|| assigned.strip_prefix(before)) {
                    push_last(text, node, name, kind, None, found);
                }
                return;
            }
        };
        push(text, node, name, kind, None, found);
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

/// Adds a name that a node starts with, if it is written there as it is, and all of what it is the name of if it defines that.
pub(crate) fn push(
    text: &str,
    node: &Node,
    name: &str,
    kind: usize,
    defines: Option<Span>,
    found: &mut Vec<NameAt>,
) {
    let at = written(text, node).find(name);
    push_at(node, name, at, kind, defines, found);
}

/// The same for a name that a node ends with.
pub(crate) fn push_last(
    text: &str,
    node: &Node,
    name: &str,
    kind: usize,
    defines: Option<Span>,
    found: &mut Vec<NameAt>,
) {
    let at = written(text, node).rfind(name);
    push_at(node, name, at, kind, defines, found);
}

/// The text of a node.
fn written<'t>(text: &'t str, node: &Node) -> &'t str {
    let (start, end) = (node.span.start as usize, node.span.end as usize);
    text.get(start..end).unwrap_or_default()
}

/// Adds a name at a place within a node.
fn push_at(
    node: &Node,
    name: &str,
    at: Option<usize>,
    kind: usize,
    defines: Option<Span>,
    found: &mut Vec<NameAt>,
) {
    if name.is_empty() || name.contains(['\n', '$', '{']) {
        return;
    }
    if let Some(at) = at {
        let start = node.span.start as usize + at;
        found.push(NameAt {
            name: name.to_owned(),
            span: Span::new(node.span.file, start, start + name.len()),
            kind,
            defines,
            scope: String::new(),
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
    /// Whether it is text, whatever YAML makes of it: one that would be something else is written in quotes.
    pub is_text: bool,
    /// Lines that what is suggested cannot be without, to be written below it, each indented from the first. A line that ends
    /// with a colon is completed by those below it; another is a key that lacks its value.
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
    /// The nodes on the way, the document first: one more than there are keys.
    pub around: &'a [&'a Node],
    /// The documents of the other files that share their names with this one.
    pub others: &'a [&'a Node],
}

impl<'a> Place<'a> {
    /// The innermost map that the place is in.
    pub fn map(&self) -> Option<&'a Node> {
        let mut around = self.around.iter().rev();
        around.find(|node| node.as_mapping().is_some()).copied()
    }

    /// The innermost list that the place is in.
    pub fn list(&self) -> Option<&'a [Node]> {
        let mut around = self.around.iter().rev();
        around.find_map(|node| node.as_sequence())
    }

    /// The node under some keys.
    pub fn get(&self, path: &[&str]) -> Option<&'a Node> {
        path.iter().try_fold(self.root, |node, key| node.get(key))
    }
}

/// What to write so that a name of a table is defined: a further key of the section that the table names.
pub fn create(table: &[Names], file: &FileText<'_>, name: &NameAt) -> Option<(usize, String)> {
    let names = table.get(name.kind)?;
    let [section, "*"] = names.defined else {
        return None;
    };
    let root = file.roots.first()?;
    let body = names.body;
    // Before the end of a text that does not end its last line, one is ended.
    let end = |at: usize| match file.text.get(..at).is_some_and(|t| t.ends_with('\n')) {
        true => "",
        false => "\n",
    };
    let Some(entry) = root.as_mapping()?.entry(section) else {
        let at = file.text.len();
        let text = format!("{}{section}:\n  {}:{body}\n", end(at), name.name);
        return Some((at, text));
    };
    let mapping = entry.value.as_mapping();
    let Some(first) = mapping.and_then(|mapping| mapping.entries.first()) else {
        // A section without entries is an empty value, after which one can stand.
        let at = entry.key.span.end as usize;
        let line = file
            .text
            .get(at..)?
            .find('\n')
            .map_or(file.text.len(), |n| at + n + 1);
        let is_empty = file.text.get(at..line)?.trim() == ":";
        return is_empty.then(|| (line, format!("{}  {}:{body}\n", end(line), name.name)));
    };
    let start = first.key.span.start as usize;
    let line = file.text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
    let pad = file.text.get(line..start)?;
    // In braces, a line has no place.
    if !pad.trim().is_empty() {
        return None;
    }
    let body = body.replace("\n    ", &format!("\n{pad}  "));
    Some((line, format!("{pad}{}:{body}\n", name.name)))
}

/// A value as it is shown beside what stands for it; none of one that says nothing in a line.
pub fn shown_value(value: &str) -> Option<String> {
    if value.is_empty() || value.contains('\n') {
        return None;
    }
    let mut shown: String = value.chars().take(40).collect();
    if shown.len() < value.len() {
        shown.push('…');
    }
    Some(format!("= {shown}"))
}

/// A value as it can be written between brackets: in quotes, unless it is a word or a number.
pub fn plain_value(value: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let starts = value
        .chars()
        .next()
        .is_some_and(|c| c.is_alphanumeric() || c == '-');
    match starts && value.chars().all(is_plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', "''")),
    }
}

/// The kinds of names that a table says are defined by a key at a place.
pub fn defined_at(table: &[Names], place: &Place<'_>) -> Vec<usize> {
    let mut path = place.path.to_vec();
    // Any key will do.
    path.push("*");
    let all = table.iter().enumerate();
    let defining = all.filter(|(_, names)| place.is_key && matches(names.defined, &path));
    defining.map(|(kind, _)| kind).collect()
}

/// The kinds of names that a table allows at a place.
pub fn kinds_at(table: &[Names], place: &Place<'_>) -> Vec<usize> {
    let path = place.path;
    // A name in a list stands one step below the key.
    let (key, is_first) = match path {
        [before @ .., ""] => (before, true),
        all => (all, false),
    };
    // Of the items of a list, only the first may be a name.
    let first = place.list().and_then(<[Node]>::first);
    let is_later = place.around.last().zip(first);
    let is_later = is_later.is_some_and(|(here, first)| !std::ptr::eq(*here, first));
    let fits = |used: &NameUse| {
        if used.part == NamePart::First && is_first && is_later {
            return false;
        }
        let whole = matches!(
            used.part,
            NamePart::Each | NamePart::First | NamePart::BeforeColon
        );
        let in_map = place.is_key && used.part == NamePart::Each && matches(used.path, path);
        let in_value = !place.is_key
            && whole
            && (matches(used.path, path) || (is_first && matches(used.path, key)));
        in_map || in_value
    };
    let all = table.iter().enumerate();
    let fitting = all.filter(|(_, names)| names.used.iter().any(fits));
    fitting.map(|(kind, _)| kind).collect()
}

/// The capabilities of Linux, as engines of containers call them.
pub(crate) const CAPABILITIES: &[&str] = &[
    "ALL",
    "AUDIT_CONTROL",
    "AUDIT_READ",
    "AUDIT_WRITE",
    "BLOCK_SUSPEND",
    "BPF",
    "CHECKPOINT_RESTORE",
    "CHOWN",
    "DAC_OVERRIDE",
    "DAC_READ_SEARCH",
    "FOWNER",
    "FSETID",
    "IPC_LOCK",
    "IPC_OWNER",
    "KILL",
    "LEASE",
    "LINUX_IMMUTABLE",
    "MAC_ADMIN",
    "MAC_OVERRIDE",
    "MKNOD",
    "NET_ADMIN",
    "NET_BIND_SERVICE",
    "NET_BROADCAST",
    "NET_RAW",
    "PERFMON",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYSLOG",
    "SYS_ADMIN",
    "SYS_BOOT",
    "SYS_CHROOT",
    "SYS_MODULE",
    "SYS_NICE",
    "SYS_PACCT",
    "SYS_PTRACE",
    "SYS_RAWIO",
    "SYS_RESOURCE",
    "SYS_TIME",
    "SYS_TTY_CONFIG",
    "WAKE_ALARM",
];

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
