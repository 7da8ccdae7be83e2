//! What can be written at a place, also in a file that is only half typed.

use std::sync::Arc;

use locus_core::Sources;
use locus_frontends::language::{FileText, Follows, Language, NameAt, Place, Suggestion};
use locus_frontends::yaml::{self, Kind, Node};

use super::Snapshot;

/// What can be written at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The word that is being written, in bytes.
    pub word: std::ops::Range<usize>,
    /// Whether a key is written, which a colon is to follow.
    pub is_key: bool,
    /// Whether the word is in quotes already.
    pub is_quoted: bool,
    /// How far the line is indented, for what goes below it.
    pub indent: usize,
    /// The suggestions, the best first.
    pub suggestions: Vec<Suggestion>,
}

/// What a language says about a key or value that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// What it says.
    pub about: Suggestion,
}

impl Snapshot {
    /// What can be written at a place of a text in a language; the other files are those that share their names with it.
    pub fn complete(
        &self,
        language: &dyn Language,
        text: &str,
        offset: usize,
        others: &[Arc<str>],
    ) -> Completion {
        let half = Half::of(text, offset);
        let starts_item = half.starts_item;
        let completion = self.complete_half(language, half, others);
        if !starts_item || !completion.suggestions.is_empty() {
            return completion;
        }
        // Where no value can stand, an item is a map, and its first key is written.
        self.complete_half(language, Half::with(text, offset, true), others)
    }

    fn complete_half(
        &self,
        language: &dyn Language,
        half: Half,
        others: &[Arc<str>],
    ) -> Completion {
        let mut sources = Sources::new();
        let file = sources.add("", half.text.as_str());
        let parsed = yaml::parse(&sources, file, &yaml::Limits::default());
        let mut completion = Completion {
            word: half.word.clone(),
            is_key: half.is_key,
            is_quoted: half.is_quoted,
            indent: half.indent,
            suggestions: Vec::new(),
        };
        let parsed_others = parse_all(others, file);
        let others_of = |own: Option<&Node>| -> Vec<&Node> {
            let documents = parsed.documents.iter();
            let documents =
                documents.chain(parsed_others.iter().flat_map(|(_, one)| &one.documents));
            let roots = documents.map(|document| &document.root);
            roots
                .filter(|root| own.is_none_or(|own| !std::ptr::eq(*root, own)))
                .collect()
        };
        let at = u32::try_from(half.word.start).unwrap_or(u32::MAX);
        let holds = |node: &&Node| node.span.start <= at && at <= node.span.end;
        let mut roots = parsed.documents.iter().map(|document| &document.root);
        let Some(root) = roots.find(holds) else {
            // In an empty file, the first key is written.
            if parsed
                .documents
                .iter()
                .all(|one| one.root.as_mapping().is_none())
                && half.is_key
            {
                let empty = Node::new(
                    Kind::Mapping(yaml::Mapping::default()),
                    locus_core::Span::start_of(file),
                );
                let place = Place {
                    root: &empty,
                    path: &[],
                    is_key: true,
                    around: &[&empty],
                    others: &others_of(None),
                };
                completion.suggestions = language.suggest(&place);
            }
            return completion;
        };
        let mut path: Vec<&str> = Vec::new();
        let mut siblings: Vec<&str> = Vec::new();
        let mut around: Vec<&Node> = vec![root];
        descend(root, at, half.is_key, &mut path, &mut siblings, &mut around);
        let others = others_of(Some(root));
        let place = Place {
            root,
            path: &path,
            is_key: half.is_key,
            around: &around,
            others: &others,
        };
        let mut all = language.suggest(&place);
        if half.is_key {
            // A function is the only key of its map.
            let is_alone = siblings.is_empty();
            all.retain(|one| {
                !siblings.contains(&one.text.as_str())
                    && (is_alone || one.detail != "function" || !language.is_function(&one.text))
            });
        }
        let mut names = names_for(
            language,
            &place,
            &half.text,
            parsed.documents.iter(),
            &parsed_others,
        );
        all.retain(|one| !names.iter().any(|name| name.text == one.text));
        names.append(&mut all);
        completion.suggestions = names;
        completion
    }

    /// What a language says about the key or value at a place of a text.
    pub fn written(
        &self,
        language: &dyn Language,
        text: &str,
        offset: usize,
        others: &[Arc<str>],
    ) -> Option<Written> {
        let mut sources = Sources::new();
        let file = sources.add("", text);
        let parsed = yaml::parse(&sources, file, &yaml::Limits::default());
        let at = u32::try_from(offset).unwrap_or(u32::MAX);
        let holds = |node: &&Node| node.span.start <= at && at <= node.span.end;
        let mut roots = parsed.documents.iter().map(|document| &document.root);
        let root = roots.find(holds)?;
        let (mut path, mut siblings, mut around) = (Vec::new(), Vec::new(), vec![root]);
        descend(root, at, true, &mut path, &mut siblings, &mut around);
        // What is no key is a value: the way to it is longer.
        let map = around.last().and_then(|node| node.as_mapping());
        let key = map.and_then(|map| {
            let mut entries = map.entries.iter();
            entries.find(|entry| entry.key.span.start <= at && at <= entry.key.span.end)
        });
        let parsed_others = parse_all(others, file);
        let documents = parsed.documents.iter();
        let documents = documents.chain(parsed_others.iter().flat_map(|(_, one)| &one.documents));
        let others = documents.map(|document| &document.root);
        let others: Vec<&Node> = others.filter(|one| !std::ptr::eq(*one, root)).collect();
        let value = around.last().and_then(|node| node.as_str());
        let ask = |path: &[&str], is_key: bool, around: &[&Node], wanted: &str| {
            let place = Place {
                root,
                path,
                is_key,
                around,
                others: &others,
            };
            language.about(&place, wanted)
        };
        let about = match key {
            Some(entry) => ask(&path, true, &around, entry.key.as_str()?),
            // Of a value that is one of many, there is to know what its key is.
            None => ask(&path, false, &around, value?).or_else(|| {
                let steps = path.iter().rposition(|key| !key.is_empty())?;
                let (above, key) = (path.get(..steps)?, path.get(steps)?);
                ask(above, true, around.get(..=steps)?, key)
            }),
        };
        about.map(|about| Written { about })
    }
}

/// Other files, with their texts.
fn parse_all(texts: &[Arc<str>], file: locus_core::FileId) -> Vec<(Arc<str>, yaml::Parsed)> {
    let limits = yaml::Limits::default();
    let all = texts.iter();
    all.map(|text| (text.clone(), yaml::parse_text(text, file, &limits)))
        .collect()
}

/// The names that are defined and can be used at a place.
fn names_for<'d>(
    language: &dyn Language,
    place: &Place<'_>,
    text: &str,
    documents: impl Iterator<Item = &'d yaml::Document>,
    others: &'d [(Arc<str>, yaml::Parsed)],
) -> Vec<Suggestion> {
    let kinds = language.names_for(place);
    let defines = language.names_defined(place);
    let mut suggestions: Vec<Suggestion> = Vec::new();
    if kinds.is_empty() && defines.is_empty() {
        return suggestions;
    }
    // The document of the place comes first: scopes count documents.
    let mut roots: Vec<&Node> = documents.map(|document| &document.root).collect();
    roots.sort_by_key(|root| !std::ptr::eq(*root, place.root));
    let mut files = vec![FileText {
        path: "",
        text,
        roots,
    }];
    files.extend(others.iter().map(|(text, one)| {
        FileText {
            path: "",
            text,
            roots: one
                .documents
                .iter()
                .map(|document| &document.root)
                .collect(),
        }
    }));
    let found: Vec<NameAt> = language.find_names(&files).into_iter().flatten().collect();
    for name in &found {
        let fits = |(kind, scope): &&(usize, Option<String>)| {
            *kind == name.kind && scope.as_ref().is_none_or(|scope| *scope == name.scope)
        };
        // What is used and defined nowhere may be what is being defined.
        let is_missing = || {
            let same = |other: &&NameAt| {
                (other.kind, &other.name, &other.scope) == (name.kind, &name.name, &name.scope)
            };
            !found.iter().filter(same).any(NameAt::is_definition)
        };
        let is_wanted =
            !name.is_definition() && defines.iter().any(|one| fits(&one)) && is_missing();
        let is_known = || name.is_definition() && kinds.iter().any(|one| fits(&one));
        if !(is_wanted || is_known()) {
            continue;
        }
        let body = language
            .names()
            .get(name.kind)
            .map_or("", |names| names.body);
        let what = language.called(name);
        let one = Suggestion {
            detail: match is_wanted {
                true => format!("{what} that is not defined yet"),
                false => what,
            },
            text: name.name.clone(),
            follows: match is_wanted && body.starts_with('\n') {
                true => Follows::Map,
                false => Follows::Value,
            },
            is_text: true,
            ..Suggestion::default()
        };
        if !suggestions.contains(&one) {
            suggestions.push(one);
        }
    }
    suggestions
}

/// Goes down to the map or value that a place is in.
fn descend<'n>(
    node: &'n Node,
    at: u32,
    is_key: bool,
    path: &mut Vec<&'n str>,
    siblings: &mut Vec<&'n str>,
    around: &mut Vec<&'n Node>,
) {
    match &node.kind {
        Kind::Mapping(mapping) => {
            let mut entries = mapping.entries.iter();
            let Some(entry) = entries.rfind(|entry| entry.key.span.start <= at) else {
                return;
            };
            if at <= entry.key.span.end && is_key {
                let others = mapping
                    .entries
                    .iter()
                    .filter(|other| other.key.span != entry.key.span);
                siblings.clear();
                siblings.extend(others.filter_map(|other| other.key.as_str()));
                return;
            }
            path.push(entry.key.as_str().unwrap_or_default());
            around.push(&entry.value);
            descend(&entry.value, at, is_key, path, siblings, around);
        }
        Kind::Sequence(items) => {
            path.push("");
            if let Some(item) = items.iter().rfind(|item| item.span.start <= at) {
                around.push(item);
                descend(item, at, is_key, path, siblings, around);
            }
        }
        Kind::Scalar(_) => {}
    }
}

/// A text in which what is being typed is completed just so far that it can be read.
struct Half {
    text: String,
    word: std::ops::Range<usize>,
    is_key: bool,
    indent: usize,
    /// Whether a value is written that is the start of an item of a list.
    starts_item: bool,
    /// Whether the word stands in quotes.
    is_quoted: bool,
}

/// Stands where nothing is typed yet.
const NOTHING: &str = "x";

impl Half {
    fn of(text: &str, offset: usize) -> Self {
        Half::with(text, offset, false)
    }

    /// The same, with the start of an item taken as a key.
    fn with(text: &str, offset: usize, item_is_key: bool) -> Self {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = text.get(..offset).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.get(line_start..).unwrap_or_default();
        let after = text.get(offset..).unwrap_or_default();
        let after_line = after.split(['\n', '\r']).next().unwrap_or_default();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '/' | '$');
        // A colon belongs to a word unless a blank follows it; a dash belongs to one unless it starts an item.
        let mut start = line.len();
        for (at, c) in line.char_indices().rev() {
            let dash = c == '-'
                && line
                    .get(..at)
                    .is_some_and(|l| !l.trim_start().is_empty() && !l.ends_with(' '));
            if !is_part(c) && !dash {
                break;
            }
            start = at;
        }
        let prefix = line.get(..start).unwrap_or_default();
        let tail = after_line
            .find(|c: char| !is_part(c) && c != '-')
            .unwrap_or(after_line.len());
        // Of a key that is written already, the colon is no part.
        let tail_text = after_line.get(..tail).unwrap_or_default();
        let rest_of_word = tail_text.trim_end_matches(':');
        let word = line_start + start..offset + rest_of_word.len();
        let rest = text.get(word.end..).unwrap_or_default();
        let rest_line = rest.split(['\n', '\r']).next().unwrap_or_default();
        let dashes = if item_is_key { [' ', '-'] } else { [' ', ' '] };
        let indent = line.len() - line.trim_start_matches(dashes).len();
        let open = open_brackets(prefix);
        let bare = prefix.trim_start_matches([' ', '-']);
        let is_key = match open.last() {
            Some('{') => prefix.trim_end().ends_with(['{', ',']),
            Some(_) => false,
            None => {
                bare.is_empty() && !prefix.trim_end().ends_with('-')
                    || (bare.is_empty() && rest_line.trim_start().starts_with(':'))
            }
        };
        let starts_item = !is_key && open.is_empty() && bare.is_empty();
        let is_key = is_key || (starts_item && item_is_key);
        let mut mended = String::with_capacity(text.len() + 8);
        mended.push_str(text.get(..word.end).unwrap_or_default());
        // A value that ends with a colon so far would be a key.
        let is_open = !is_key && text.get(..word.end).is_some_and(|text| text.ends_with(':'));
        if word.is_empty() || is_open {
            mended.push_str(NOTHING);
        }
        if is_key && !rest_line.trim_start().starts_with(':') {
            mended.push_str(": ");
        }
        // Brackets that the line leaves open are closed at its end.
        let whole = format!("{prefix}{rest_line}");
        mended.push_str(rest_line);
        for bracket in open_brackets(&whole).iter().rev() {
            mended.push(if *bracket == '{' { '}' } else { ']' });
        }
        mended.push_str(rest.get(rest_line.len()..).unwrap_or_default());
        Half {
            text: mended,
            word,
            is_key,
            indent,
            starts_item: starts_item && !is_key,
            is_quoted: prefix.ends_with(['"', '\'']),
        }
    }
}

/// The brackets that a line opens and does not close, outermost first; those in quotes do not count.
fn open_brackets(line: &str) -> Vec<char> {
    let mut open = Vec::new();
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(q), c) if q == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{' | '[') => open.push(c),
            (None, '}' | ']') => {
                open.pop();
            }
            _ => {}
        }
    }
    open
}
