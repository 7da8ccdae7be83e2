//! Events of the scanner to the tree.

use std::sync::Arc;

use locus_core::{FileId, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use saphyr_parser::{Event, Parser, ScalarStyle, StrInput, Tag};

use super::node::{Entry, Extra, Kind, Mapping, Node, Scalar, Style};
use super::offsets::Offsets;
use super::{Document, DuplicateKey, Limits};

/// Stands for a line break within quoted text whose lines were joined.
pub(super) const BREAK: char = '\u{1E}';
/// Stands for nothing within quoted text whose lines were joined; it keeps offsets what they are.
pub(super) const NOTHING: char = '\u{1F}';

/// Why a file could not be read to its end.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) problem: Problem,
    /// The byte at which it was noticed.
    pub(super) at: usize,
    /// The opening brackets of flow collections that were open then, outermost first.
    pub(super) open_flows: Vec<usize>,
}

#[derive(Debug)]
pub(super) enum Problem {
    /// The scanner's own words.
    Syntax(String),
    TooDeep,
    TooManyAliases,
}

/// The documents of a file, and the keys that are written twice.
#[derive(Debug, Default)]
pub(super) struct Built {
    pub(super) documents: Vec<Document>,
    pub(super) duplicates: Vec<DuplicateKey>,
}

pub(super) fn build(text: &str, file: FileId, limits: &Limits) -> Result<Built, Failure> {
    let mut builder = Builder {
        text,
        file,
        limits,
        offsets: Offsets::new(text),
        stack: Vec::new(),
        nodes: Vec::new(),
        anchors: FxHashMap::default(),
        alias_nodes: 0,
        interned: FxHashSet::default(),
        keys: FxHashMap::default(),
        built: Built::default(),
    };
    let mut parser: Parser<'_, StrInput<'_>> = Parser::new_from_str(text);
    // The character from which on it reads.
    let mut from = 0;
    loop {
        match parser.next_event() {
            None => break,
            Some(Ok((Event::StreamEnd, _))) => break,
            Some(Ok((event, span))) => {
                let start = builder.offsets.byte(from + span.start.index());
                let end = builder.offsets.byte(from + span.end.index()).max(start);
                if let Err(problem) = builder.event(event, start, end) {
                    return Err(builder.failure(problem, start));
                }
            }
            Some(Err(error)) => {
                let index = from + error.marker().index();
                let at = builder.offsets.byte(index);
                let rest = text.get(at..).unwrap_or("");
                if index > from && rest.starts_with('{') && builder.ended_with_json() {
                    // Objects in JSON need nothing between them.
                    from = index;
                    parser = Parser::new_from_str(rest);
                    continue;
                }
                return Err(builder.failure(Problem::Syntax(error.info().to_owned()), at));
            }
        }
    }
    Ok(builder.built)
}

/// A collection that is not closed yet.
struct Open {
    start: usize,
    end: usize,
    flow: bool,
    anchor: usize,
    extra: Option<Box<Extra>>,
    mapping: bool,
    /// Where its children start among the nodes that have no home yet.
    children: usize,
    /// Whether one of its keys is `<<`.
    merges: bool,
    /// Nodes within, counted with what aliases stand for.
    weight: usize,
}

struct Builder<'a> {
    text: &'a str,
    file: FileId,
    limits: &'a Limits,
    offsets: Offsets<'a>,
    stack: Vec<Open>,
    /// Children of the open collections, outermost first: each collection is then made at its exact
    /// size.
    nodes: Vec<Node>,
    anchors: FxHashMap<usize, (Node, usize)>,
    alias_nodes: usize,
    /// Short texts, which a configuration repeats: keys, types, names of functions.
    interned: FxHashSet<Arc<str>>,
    /// Scratch space for finding repeated keys.
    keys: FxHashMap<Arc<str>, Span>,
    built: Built,
}

impl Builder<'_> {
    /// Whether everything before was read, the last of it a map in brackets.
    fn ended_with_json(&self) -> bool {
        let last = self.built.documents.last();
        let start = last.map(|last| last.root.span.start as usize);
        let bytes = self.text.as_bytes();
        self.stack.is_empty() && start.and_then(|start| bytes.get(start)) == Some(&b'{')
    }

    fn failure(&self, problem: Problem, at: usize) -> Failure {
        Failure {
            problem,
            at,
            open_flows: self
                .stack
                .iter()
                .filter(|open| open.flow)
                .map(|open| open.start)
                .collect(),
        }
    }

    fn event(&mut self, event: Event<'_>, start: usize, end: usize) -> Result<(), Problem> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let (content, extra) = self.properties(start, anchor, tag.as_deref());
                let (style, content, end) = self.scalar_extent(style, content.min(end), end);
                let quoted = matches!(style, Style::SingleQuoted | Style::DoubleQuoted);
                let text: Arc<str> = if quoted && text.contains([BREAK, NOTHING]) {
                    let unjoined = text.replace(NOTHING, "").replace(BREAK, "\n");
                    unjoined.into()
                } else {
                    self.intern(&text)
                };
                let node = Node {
                    kind: Kind::Scalar(Scalar { text, style }),
                    span: Span::new(self.file, content, end),
                    extra,
                };
                self.define(anchor, &node, 1);
                self.push(node, 1);
            }
            Event::SequenceStart(anchor, tag) => self.open(start, anchor, tag.as_deref(), false)?,
            Event::MappingStart(anchor, tag) => self.open(start, anchor, tag.as_deref(), true)?,
            // The bracket alone: a comment after it is counted in by the scanner.
            Event::SequenceEnd | Event::MappingEnd => self.close((start + 1).min(end)),
            Event::Alias(id) => self.alias(id, start, end)?,
            Event::DocumentStart(_) => self.anchors.clear(),
            Event::DocumentEnd | Event::StreamStart | Event::StreamEnd | Event::Nothing => {}
        }
        Ok(())
    }

    /// One copy of a short text, however often it is written.
    fn intern(&mut self, text: &str) -> Arc<str> {
        if text.len() > 24 {
            return text.into();
        }
        match self.interned.get(text) {
            Some(known) => known.clone(),
            None => {
                let new: Arc<str> = text.into();
                self.interned.insert(new.clone());
                new
            }
        }
    }

    /// Skips a node's tag and anchor: where its content starts, and what they say.
    fn properties(
        &self,
        start: usize,
        anchor: usize,
        tag: Option<&Tag>,
    ) -> (usize, Option<Box<Extra>>) {
        if anchor == 0 && tag.is_none() {
            return (start, None);
        }
        let mut extra = Extra {
            tag: tag.map(|tag| format!("{}{}", tag.handle, tag.suffix).into()),
            ..Extra::default()
        };
        let mut at = start;
        loop {
            let rest = self.text.get(at..).unwrap_or("");
            let word = rest
                .find(|c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}'))
                .unwrap_or(rest.len());
            match rest.as_bytes().first() {
                Some(b'&') if anchor != 0 => {
                    extra.anchor = rest.get(1..word).map(Into::into);
                }
                Some(b'!') if tag.is_some() => {}
                _ => break,
            }
            let after = rest.get(word..).unwrap_or("");
            at += word + (after.len() - after.trim_start().len());
        }
        (at, Some(Box::new(extra)))
    }

    /// The bytes of a scalar that an editor underlines, given what the scanner reports.
    fn scalar_extent(&self, style: ScalarStyle, start: usize, end: usize) -> (Style, usize, usize) {
        let written = self.text.get(start..end).unwrap_or("");
        match style {
            ScalarStyle::Plain => (Style::Plain, start, start + written.trim_end().len()),
            // The scanner counts a comment after the closing quote as part of the scalar.
            ScalarStyle::SingleQuoted => {
                (Style::SingleQuoted, start, start + single_quoted(written))
            }
            ScalarStyle::DoubleQuoted => {
                (Style::DoubleQuoted, start, start + double_quoted(written))
            }
            ScalarStyle::Literal | ScalarStyle::Folded => {
                let header = match written.as_bytes().first() {
                    // A tag or anchor before the `|` makes the reported range start there.
                    Some(b'|' | b'>') => written.find('\n').map_or(written.len(), |at| at + 1),
                    _ => 0,
                };
                let body = written.get(header..).unwrap_or("");
                let indent = body.len() - body.trim_start().len();
                let start = start + header + indent;
                let style = match style {
                    ScalarStyle::Literal => Style::Literal,
                    _ => Style::Folded,
                };
                (style, start, start + body.trim().len())
            }
        }
    }

    fn open(
        &mut self,
        start: usize,
        anchor: usize,
        tag: Option<&Tag>,
        mapping: bool,
    ) -> Result<(), Problem> {
        if self.stack.len() >= self.limits.depth {
            return Err(Problem::TooDeep);
        }
        let (start, extra) = self.properties(start, anchor, tag);
        let flow = matches!(self.text.as_bytes().get(start), Some(b'[' | b'{'));
        self.stack.push(Open {
            start,
            end: start,
            flow,
            anchor,
            extra,
            mapping,
            children: self.nodes.len(),
            merges: false,
            weight: 1,
        });
        Ok(())
    }

    fn close(&mut self, end: usize) {
        let Some(open) = self.stack.pop() else { return };
        // The end event of a block collection is where the next thing starts.
        let end = if open.flow { end } else { open.end };
        let mut children = self.nodes.drain(open.children.min(self.nodes.len())..);
        let kind = if open.mapping {
            let mut entries = Vec::with_capacity(children.len() / 2);
            while let (Some(key), Some(value)) = (children.next(), children.next()) {
                entries.push(Entry { key, value });
            }
            drop(children);
            self.find_duplicates(&entries);
            let entries = if open.merges { merge(entries) } else { entries };
            Kind::Mapping(Mapping { entries })
        } else {
            Kind::Sequence(children.collect())
        };
        let node = Node {
            kind,
            span: Span::new(self.file, open.start, end),
            extra: open.extra,
        };
        self.define(open.anchor, &node, open.weight);
        self.push(node, open.weight);
    }

    fn define(&mut self, anchor: usize, node: &Node, weight: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), weight));
        }
    }

    fn alias(&mut self, id: usize, start: usize, end: usize) -> Result<(), Problem> {
        let Some((node, weight)) = self.anchors.get(&id) else {
            // Only an alias within the node that it names: a tree without end.
            return Err(Problem::Syntax("alias to an enclosing node".into()));
        };
        self.alias_nodes += weight;
        if self.alias_nodes > self.limits.alias_nodes {
            return Err(Problem::TooManyAliases);
        }
        let (mut node, weight) = (node.clone(), *weight);
        let extra = node.extra.get_or_insert_default();
        extra.alias = Some(Span::new(self.file, start, end));
        self.push(node, weight);
        Ok(())
    }

    fn push(&mut self, node: Node, weight: usize) {
        let used = node.used_at();
        let Some(open) = self.stack.last_mut() else {
            self.built.documents.push(Document { root: node });
            return;
        };
        open.weight += weight;
        open.end = open.end.max(used.end as usize);
        let is_key = open.mapping && (self.nodes.len() - open.children).is_multiple_of(2);
        open.merges |= is_key && is_merge(&node);
        self.nodes.push(node);
    }

    /// The key or index under which an open collection holds the next one, whose children start at
    /// `end`.
    fn step(&self, open: &Open, end: usize) -> Option<Arc<str>> {
        if open.mapping {
            self.nodes.get(end.checked_sub(1)?)?.text().cloned()
        } else {
            Some((end - open.children).to_string().into())
        }
    }

    fn find_duplicates(&mut self, entries: &[Entry]) {
        let mut found: Vec<(Arc<str>, Span, Span)> = Vec::new();
        if entries.len() <= 8 {
            for (index, entry) in entries.iter().enumerate() {
                let Some(name) = entry.name() else { continue };
                let before = entries.get(..index).unwrap_or(&[]);
                let earlier = before.iter().find(|other| other.name() == Some(name));
                if let Some(earlier) = earlier {
                    found.push((name.clone(), earlier.key.span, entry.key.used_at()));
                }
            }
        } else {
            self.keys.clear();
            for entry in entries {
                let Some(name) = entry.name() else { continue };
                match self.keys.get(name) {
                    Some(&first) => found.push((name.clone(), first, entry.key.used_at())),
                    None => {
                        self.keys.insert(name.clone(), entry.key.span);
                    }
                }
            }
        }
        if found.is_empty() {
            return;
        }
        let ends = self.stack.iter().skip(1).map(|open| open.children);
        let ends = ends.chain([self.nodes.len()]);
        let path: Vec<Arc<str>> = self
            .stack
            .iter()
            .zip(ends)
            .filter_map(|(open, end)| self.step(open, end))
            .collect();
        self.built
            .duplicates
            .extend(found.into_iter().map(|(name, first, again)| DuplicateKey {
                name,
                first,
                again,
                path: path.clone(),
            }));
    }
}

fn is_merge(key: &Node) -> bool {
    matches!(&key.kind, Kind::Scalar(scalar) if scalar.style == Style::Plain && &*scalar.text == "<<")
}

/// Merges what `<<` names: what is written in the mapping itself wins, then the first merged.
fn merge(entries: Vec<Entry>) -> Vec<Entry> {
    let mut own: Vec<Entry> = Vec::with_capacity(entries.len());
    let mut sources: Vec<Mapping> = Vec::new();
    for entry in entries {
        if !is_merge(&entry.key) {
            own.push(entry);
            continue;
        }
        match entry.value.kind {
            Kind::Mapping(mapping) => sources.push(mapping),
            Kind::Sequence(items) => {
                sources.extend(items.into_iter().filter_map(|item| match item.kind {
                    Kind::Mapping(mapping) => Some(mapping),
                    _ => None,
                }));
            }
            Kind::Scalar(_) => {}
        }
    }
    let mut seen: rustc_hash::FxHashSet<Arc<str>> = own
        .iter()
        .filter_map(|entry| entry.name().cloned())
        .collect();
    let mut merged = Vec::new();
    for source in sources {
        for entry in source.entries {
            if entry.name().is_none_or(|name| seen.insert(name.clone())) {
                merged.push(entry);
            }
        }
    }
    merged.append(&mut own);
    merged
}

/// Bytes up to and with the closing quote, when there is one.
pub(super) fn quoted_length(written: &str) -> Option<usize> {
    let length = match written.as_bytes().first()? {
        b'\'' => single_quoted(written),
        b'"' => double_quoted(written),
        _ => return None,
    };
    let closed = length > 1 && written.as_bytes().get(length - 1) == written.as_bytes().first();
    closed.then_some(length)
}

/// Bytes up to and with the closing quote.
fn single_quoted(written: &str) -> usize {
    let bytes = written.as_bytes();
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'\'' {
            if bytes.get(at + 1) != Some(&b'\'') {
                return at + 1;
            }
            at += 1;
        }
        at += 1;
    }
    written.trim_end().len()
}

fn double_quoted(written: &str) -> usize {
    let bytes = written.as_bytes();
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' => return at + 1,
            _ => {}
        }
        at += 1;
    }
    written.trim_end().len()
}
