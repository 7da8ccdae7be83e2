//! Small changes of YAML text that keep its layout: an entry taken out, a value replaced, an entry added.
//!
//! Each function gives the bytes to replace and the text to put there, or nothing when the change cannot be made without
//! touching more: an anchor that is used elsewhere, an entry that was merged in, the only entry of a map.

use locus_core::Span;

use super::node::{Entry, Kind, Node, Style};

/// Bytes of a file, and what stands there instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What is replaced; empty where text is inserted.
    pub span: Span,
    /// What stands there instead.
    pub text: String,
}

/// Takes out the entry or item at a place: where its key, its value or all of it is written.
pub fn remove(text: &str, root: &Node, at: Span) -> Option<Change> {
    let (parent, place) = find(root, at)?;
    let (parts, own): (Vec<Span>, &Node) = match &parent.kind {
        Kind::Mapping(mapping) => (
            mapping.entries.iter().map(written).collect(),
            &mapping.entries.get(place)?.value,
        ),
        Kind::Sequence(items) => (items.iter().map(Node::used_at).collect(), items.get(place)?),
        Kind::Scalar(_) => return None,
    };
    let &span = parts.get(place)?;
    // Merged entries are written elsewhere; who uses an anchor needs it.
    let inside = |part: &Span| is_within(*part, parent.span);
    if parts.len() < 2 || !parts.iter().all(inside) || has_anchor(own) {
        return None;
    }
    let (from, to) = if is_flow(text, parent) {
        match (parts.get(place + 1), place.checked_sub(1)) {
            (Some(next), _) => (start(span), start(*next)),
            (None, Some(before)) => (end(*parts.get(before)?), end(span)),
            (None, None) => return None,
        }
    } else {
        let to = line_end(text, end(span))?;
        let before = text.get(line_start(text, start(span))..start(span))?;
        let is_item = matches!(parent.kind, Kind::Sequence(_));
        let lead = if is_item {
            before.strip_suffix(' ').map(str::trim_end)
        } else {
            Some(before)
        };
        let lead = match lead {
            Some(lead) if is_item => lead.strip_suffix('-'),
            lead => lead,
        };
        match (lead, parts.get(place + 1)) {
            (Some(lead), _) if lead.trim().is_empty() => (line_start(text, start(span)), to),
            // The first key of an item stands behind the dash, where the next one goes.
            (_, Some(next)) if !is_item && place == 0 => (start(span), start(*next)),
            _ => return None,
        }
    };
    Some(Change {
        span: Span::new(span.file, from, to),
        text: String::new(),
    })
}

/// Puts a text where a scalar is written, or where a name is written within it.
pub fn replace(text: &str, root: &Node, at: Span, old: &str, new: &str) -> Option<Change> {
    let node = scalar(root, at)?;
    let Kind::Scalar(scalar) = &node.kind else {
        return None;
    };
    if node.anchor().is_some() || matches!(scalar.style, Style::Literal | Style::Folded) {
        return None;
    }
    let written = text.get(start(at)..end(at))?;
    let mut places = written.match_indices(old);
    let first = places.next().filter(|_| !old.is_empty());
    let quoted = scalar.style != Style::Plain;
    let span = match (first, places.next()) {
        // The name is a part of the text, as in `data:/var/lib`.
        (Some((place, _)), None) if *scalar.text != *old => {
            let from = start(at) + place;
            Span::new(at.file, from, from + old.len())
        }
        (_, Some(_)) if *scalar.text != *old => return None,
        _ if quoted => Span::new(at.file, start(at) + 1, end(at).checked_sub(1)?),
        _ => at,
    };
    if quoted {
        // What needs an escape is left to the user.
        let plain = |c: char| c != '"' && c != '\'' && c != '\\' && !c.is_control();
        return new.chars().all(plain).then(|| Change {
            span,
            text: new.to_owned(),
        });
    }
    is_plain(new).then(|| Change {
        span,
        text: new.to_owned(),
    })
}

/// The keys of `a.b` or `a."b.c"`.
fn dotted(path: &str) -> Option<Vec<&str>> {
    let (mut keys, mut rest) = (Vec::new(), path);
    loop {
        let (key, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
        };
        keys.push(key);
        match after.strip_prefix('.') {
            Some(after) => rest = after,
            None => return after.is_empty().then_some(keys),
        }
    }
}

/// Adds `a.b: value` to the map at a place, where the map or the key before it is written; `a` is added when it is not there. A key
/// with dots in it is written in quotes: `a."b.c": value`. Each `^` before the path is one map farther out.
pub fn add(text: &str, root: &Node, at: Span, entry: &str) -> Option<Change> {
    let (path, value) = entry.split_once(": ")?;
    let inner = path.trim_start_matches('^');
    let mut map = map(root, at)?;
    for _ in inner.len()..path.len() {
        map = around(root, map.span)?;
    }
    let path = inner;
    let mut keys = dotted(path)?;
    let last = keys.pop()?;
    let mut missing = Vec::new();
    for key in keys {
        match map.get(key) {
            Some(inner) if missing.is_empty() => map = inner,
            Some(_) => return None,
            None => missing.push(key),
        }
    }
    let entries = &map.as_mapping()?.entries;
    if missing.is_empty()
        && entries
            .iter()
            .any(|one| one.name().is_some_and(|n| &**n == last))
    {
        return None;
    }
    let wanted = missing.iter().copied().chain([last]);
    if map.alias().is_some() || map.anchor().is_some() {
        return None;
    }
    if is_flow(text, map) {
        let opened: String = missing.iter().map(|key| format!("{key}: {{ ")).collect();
        let closed = " }".repeat(missing.len());
        let closing = end(map.span).checked_sub(1)?;
        let (at, comma) = match entries.last() {
            Some(entry) => (end(written(entry)), ", "),
            None => (closing, ""),
        };
        return Some(Change {
            span: Span::new(map.span.file, at, at),
            text: format!("{comma}{opened}{last}: {value}{closed}"),
        });
    }
    let first = entries.first()?;
    let lines = |entry: &Entry| is_within(written(entry), map.span);
    if !entries.iter().all(lines) {
        return None;
    }
    let column = start(first.key.span) - line_start(text, start(first.key.span));
    let last_end = entries.iter().map(|entry| end(written(entry))).max()?;
    let at = line_end(text, last_end)?;
    let ended = text.get(..at).is_some_and(|before| before.ends_with('\n'));
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut added = String::new();
    if !ended {
        added.push_str(newline);
    }
    let count = wanted.clone().count();
    for (depth, key) in wanted.enumerate() {
        added.push_str(&" ".repeat(column + 2 * depth));
        added.push_str(key);
        added.push(':');
        if depth + 1 == count {
            added.push(' ');
            added.push_str(value);
        }
        if ended || depth + 1 < count {
            added.push_str(newline);
        }
    }
    Some(Change {
        span: Span::new(map.span.file, at, at),
        text: added,
    })
}

/// Adds an item to the list that is written at a place.
pub fn append(text: &str, root: &Node, at: Span, item: &str) -> Option<Change> {
    let list = list(root, at)?;
    let Kind::Sequence(items) = &list.kind else {
        return None;
    };
    let written = items.iter().all(|one| is_within(one.used_at(), list.span));
    if list.alias().is_some() || list.anchor().is_some() || !written {
        return None;
    }
    let last_end = items.iter().map(|one| end(one.used_at())).max()?;
    if is_flow(text, list) {
        return Some(Change {
            span: Span::new(at.file, last_end, last_end),
            text: format!(", {item}"),
        });
    }
    let first = start(items.first()?.used_at());
    let lead = text.get(line_start(text, first)..first)?;
    let indent = lead.strip_suffix(' ')?.trim_end().strip_suffix('-')?;
    if !indent.trim().is_empty() {
        return None;
    }
    let at = line_end(text, last_end)?;
    let ended = text.get(..at).is_some_and(|before| before.ends_with('\n'));
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    Some(Change {
        span: Span::new(list.span.file, at, at),
        text: match ended {
            true => format!("{indent}- {item}{newline}"),
            false => format!("{newline}{indent}- {item}"),
        },
    })
}

/// The map around a map or list.
fn around(node: &Node, inner: Span) -> Option<&Node> {
    if node.alias().is_some() || node.span == inner || !is_within(inner, node.span) {
        return None;
    }
    match &node.kind {
        Kind::Scalar(_) => None,
        Kind::Sequence(items) => items.iter().find_map(|item| around(item, inner)),
        Kind::Mapping(mapping) => {
            let mut entries = mapping.entries.iter();
            let closer = entries.find_map(|entry| around(&entry.value, inner));
            closer.or(Some(node))
        }
    }
}

/// The list at a place.
fn list(node: &Node, at: Span) -> Option<&Node> {
    if node.alias().is_some() {
        return None;
    }
    match &node.kind {
        Kind::Scalar(_) => None,
        Kind::Sequence(_) if node.span == at => Some(node),
        Kind::Sequence(items) => items.iter().find_map(|item| list(item, at)),
        Kind::Mapping(mapping) => mapping.entries.iter().find_map(|one| list(&one.value, at)),
    }
}

/// From the key to the end of the value as it is used here.
fn written(entry: &Entry) -> Span {
    entry.key.span.to(entry.value.used_at())
}

/// Whether a place is that of an entry: its key, its value or both.
fn is_entry(entry: &Entry, at: Span) -> bool {
    entry.key.span == at || entry.value.used_at() == at || written(entry) == at
}

/// The outermost collection with an entry or item at a place, and which it is.
fn find(node: &Node, at: Span) -> Option<(&Node, usize)> {
    if node.alias().is_some() || !is_within(at, node.span) {
        return None;
    }
    match &node.kind {
        Kind::Scalar(_) => None,
        Kind::Sequence(items) => {
            let own = items.iter().position(|item| item.used_at() == at);
            own.map(|place| (node, place))
                .or_else(|| items.iter().find_map(|item| find(item, at)))
        }
        Kind::Mapping(mapping) => {
            let own = mapping.entries.iter().position(|entry| is_entry(entry, at));
            own.map(|place| (node, place)).or_else(|| {
                mapping
                    .entries
                    .iter()
                    .find_map(|entry| find(&entry.value, at))
            })
        }
    }
}

/// The scalar that is written at a place, as a key, a value or an item.
fn scalar(node: &Node, at: Span) -> Option<&Node> {
    if node.alias().is_some() {
        return None;
    }
    match &node.kind {
        Kind::Scalar(_) => (node.span == at).then_some(node),
        Kind::Sequence(items) => items.iter().find_map(|item| scalar(item, at)),
        Kind::Mapping(mapping) => mapping
            .entries
            .iter()
            .find_map(|entry| scalar(&entry.key, at).or_else(|| scalar(&entry.value, at))),
    }
}

/// The map at a place, that of the key at a place, or the one that has the name at a place.
fn map(node: &Node, at: Span) -> Option<&Node> {
    if node.alias().is_some() {
        return None;
    }
    match &node.kind {
        Kind::Scalar(_) => None,
        Kind::Mapping(_) if node.span == at => Some(node),
        Kind::Sequence(items) => items.iter().find_map(|item| map(item, at)),
        Kind::Mapping(mapping) => mapping.entries.iter().find_map(|entry| {
            if is_entry(entry, at) && entry.value.alias().is_none() {
                let is_name = entry.key.as_str() == Some("name");
                return match &entry.value.kind {
                    Kind::Scalar(_) if is_name => Some(node),
                    _ => entry.value.as_mapping().map(|_| &entry.value),
                };
            }
            map(&entry.value, at)
        }),
    }
}

fn has_anchor(node: &Node) -> bool {
    node.anchor().is_some()
        || match &node.kind {
            Kind::Scalar(_) => false,
            Kind::Sequence(items) => items.iter().any(has_anchor),
            Kind::Mapping(mapping) => mapping.entries.iter().any(|entry| has_anchor(&entry.value)),
        }
}

fn is_flow(text: &str, node: &Node) -> bool {
    let start = text.get(start(node.span)..).unwrap_or("");
    match node.kind {
        Kind::Mapping(_) => start.starts_with('{'),
        Kind::Sequence(_) => start.starts_with('['),
        Kind::Scalar(_) => false,
    }
}

fn line_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or("");
    before.rfind('\n').map_or(0, |newline| newline + 1)
}

/// The start of the next line, when nothing but a comment follows on this one.
fn line_end(text: &str, at: usize) -> Option<usize> {
    let after = text.get(at..)?;
    // A block scalar ends with its last newline.
    if text.get(..at)?.ends_with('\n') {
        return Some(at);
    }
    let rest = after.split('\n').next()?;
    let blank = rest.trim();
    let length = rest.len() + usize::from(after.len() > rest.len());
    (blank.is_empty() || blank.starts_with('#')).then_some(at + length)
}

/// Whether a text can be written without quotes and stands for itself.
fn is_plain(text: &str) -> bool {
    let first = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/');
    text.starts_with(first)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text
            .chars()
            .any(|c| c.is_control() || matches!(c, ',' | '[' | ']' | '{' | '}'))
}

fn start(span: Span) -> usize {
    span.start as usize
}

fn end(span: Span) -> usize {
    span.end as usize
}

fn is_within(part: Span, whole: Span) -> bool {
    part.file == whole.file && part.start >= whole.start && part.end <= whole.end
}

#[cfg(test)]
mod tests {
    use locus_core::Sources;

    use super::super::{Limits, parse};
    use super::*;

    /// The text after a change at the first place where `what` is written.
    fn changed(
        text: &str,
        what: &str,
        change: impl Fn(&str, &Node, Span) -> Option<Change>,
    ) -> Option<String> {
        let mut sources = Sources::new();
        let file = sources.add("a.yaml", text);
        let parsed = parse(&sources, file, &Limits::default());
        let place = text.find(what).unwrap();
        let at = Span::new(file, place, place + what.len());
        let change = change(text, &parsed.documents[0].root, at)?;
        let mut out = text.to_owned();
        out.replace_range(start(change.span)..end(change.span), &change.text);
        let file = sources.add("b.yaml", out.as_str());
        let again = parse(&sources, file, &Limits::default());
        assert!(again.diagnostics.is_empty(), "{out}");
        Some(out)
    }

    #[test]
    fn an_entry_or_item_is_taken_out() {
        for (text, at, expected) in [
            ("a: 1\nb: 2 # two\nc: 3\n", "b", Some("a: 1\nc: 3\n")),
            ("a: 1\nb: 2", "2", Some("a: 1\n")),
            ("a:\n  b:\n    c: 1\n  d: 2\n", "b", Some("a:\n  d: 2\n")),
            ("a:\n- b: 1\n  c: 2\n", "b", Some("a:\n- c: 2\n")),
            ("a:\n  - b\n  - c\n", "c", Some("a:\n  - b\n")),
            ("a: [b, c, d]\n", "c", Some("a: [b, d]\n")),
            ("a: [b, c, d]\n", "d", Some("a: [b, c]\n")),
            ("x: {b: 1, c: 2}\n", "b", Some("x: {c: 2}\n")),
            ("a: |\n  text\nb: 1\n", "a", Some("b: 1\n")),
            ("a: 1\r\nb: 2\r\n", "a", Some("b: 2\r\n")),
            // The only entry, an anchor that is used, and what was merged in.
            ("x:\n  b: 1\n", "b", None),
            ("b: &n 1\nc: *n\n", "b", None),
            ("base: &n {b: 1}\nc:\n  <<: *n\n  d: 2\n", "d", None),
        ] {
            let found = changed(text, at, remove);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_value_or_a_name_in_it_is_replaced() {
        for (text, at, old, new, expected) in [
            ("a: nam # x\n", "nam", "nam", "name", Some("a: name # x\n")),
            ("a: 'nam'\n", "'nam'", "nam", "name", Some("a: 'name'\n")),
            ("a: dat:/x\n", "dat:/x", "dat", "data", Some("a: data:/x\n")),
            ("a: False\n", "False", "false", "true", Some("a: true\n")),
            ("nam: 1\n", "nam", "nam", "name", Some("name: 1\n")),
            ("a: nam\n", "nam", "nam", "x: y", None),
            ("a: 'nam'\n", "'nam'", "nam", "it's", None),
            ("a: x:x:y\n", "x:x:y", "x", "z", None),
            ("a: {b: 1}\n", "{b: 1}", "b", "z", None),
            ("a: &n nam\nb: *n\n", "nam", "nam", "name", None),
        ] {
            let found = changed(text, at, |text, root, at| replace(text, root, at, old, new));
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn an_entry_is_added_at_the_end_of_a_map() {
        for (text, at, entry, expected) in [
            (
                "r:\n  a: 1\nz: 2\n",
                "r",
                "b: x",
                Some("r:\n  a: 1\n  b: x\nz: 2\n"),
            ),
            ("r:\n  a: 1", "r", "b: x", Some("r:\n  a: 1\n  b: x")),
            (
                "r:\n  p:\n    a: 1 # one\n  z: 2\n",
                "r",
                "p.b: x",
                Some("r:\n  p:\n    a: 1 # one\n    b: x\n  z: 2\n"),
            ),
            (
                "r:\n  t: 1\n",
                "r",
                "p.b: x",
                Some("r:\n  t: 1\n  p:\n    b: x\n"),
            ),
            (
                "r:\n  t: 1\n",
                "r",
                "p.\"b.c/d\": \"\"",
                Some("r:\n  t: 1\n  p:\n    b.c/d: \"\"\n"),
            ),
            ("r:\n  t: 1\n", "r", "p.\"b: x", None),
            ("r: {t: 1}\n", "r", "b: x", Some("r: {t: 1, b: x}\n")),
            (
                "r: {t: 1}\n",
                "r",
                "p.b: x",
                Some("r: {t: 1, p: { b: x }}\n"),
            ),
            (
                "r:\n  a: |\n    t\nz: 1\n",
                "r",
                "b: x",
                Some("r:\n  a: |\n    t\n  b: x\nz: 1\n"),
            ),
            ("r:\n  b: 1\n", "r", "b: x", None),
            ("r: 1\n", "r", "b: x", None),
            ("q: &n {a: 1}\nr: *n\n", "r", "b: x", None),
        ] {
            let found = changed(text, at, |text, root, at| add(text, root, at, entry));
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn an_entry_is_added_beside_a_name_or_farther_out() {
        let pod = "spec:\n  containers:\n    - name: web\n      image: x\n";
        let add =
            |at: &str, entry: &str| changed(pod, at, |text, root, at| add(text, root, at, entry));
        assert_eq!(
            add("web", "a.b: 1").unwrap(),
            format!("{pod}      a:\n        b: 1\n")
        );
        assert_eq!(add("web", "^a: 1").unwrap(), format!("{pod}  a: 1\n"));
        assert_eq!(
            add("web", "^^a: [{ b: 1 }]").unwrap(),
            format!("{pod}a: [{{ b: 1 }}]\n")
        );
        assert_eq!(add("web", "^^^a: 1"), None);
    }

    #[test]
    fn an_item_is_added_at_the_end_of_a_list() {
        for (text, at, expected) in [
            ("a: [b, c] # x\n", "[b, c]", Some("a: [b, c, d: 1] # x\n")),
            (
                "a:\n  - b\n  - c # x\nz: 1\n",
                "- b\n  - c",
                Some("a:\n  - b\n  - c # x\n  - d: 1\nz: 1\n"),
            ),
            (
                "a:\n- b: 1\n  c: 2",
                "- b: 1\n  c: 2",
                Some("a:\n- b: 1\n  c: 2\n- d: 1"),
            ),
            ("a: []\n", "[]", None),
            ("a: b\n", "b", None),
        ] {
            let found = changed(text, at, |text, root, at| {
                let at = match &root.get("a").unwrap().kind {
                    Kind::Sequence(_) => root.get("a").unwrap().span,
                    _ => at,
                };
                append(text, root, at, "d: 1")
            });
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
