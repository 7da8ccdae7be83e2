//! The files of a project as entries that can be left out, and the texts of what is left.
//!
//! A text is written anew from its entries, so that any set of them can be left out: aliases and merge keys are written
//! where they are used, comments are gone. Each node remembers where it stands in the file.

use locus_core::{FileId, Sources, Span};
use locus_frontends::yaml::{self, Kind, Limits, Node, Style};

/// An entry of a map, an item of a list or a line that can be left out.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// What it is a part of.
    pub(super) parent: Option<usize>,
    /// One past its last part.
    pub(super) end: usize,
    /// Where its key is written; none for an item or a line.
    pub(super) key: Option<Span>,
    /// Where its value is written.
    pub(super) value: Span,
}

impl Unit {
    /// Where it is written, as far as its first line goes.
    pub(super) fn span(&self, sources: &Sources) -> Span {
        let whole = match self.key {
            Some(key) if key.file == self.value.file && key.start <= self.value.start => {
                key.to(self.value)
            }
            Some(key) => key,
            None => self.value,
        };
        let text = sources.snippet(whole);
        let line = text.split(['\n', '\r']).next().unwrap_or("").trim_end();
        let start = whole.start as usize;
        Span::new(whole.file, start, start + line.len())
    }
}

/// A file whose entries can be left out.
enum Content {
    Yaml(Vec<Node>),
    Lines(Vec<Span>),
}

struct File {
    id: FileId,
    content: Content,
    /// The first of its units.
    first: usize,
}

/// A node of a text that was written anew, and where it stands in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    start: usize,
    end: usize,
    old: Span,
    used: Span,
}

/// A text that was written anew.
pub(super) struct Written {
    /// The file it stands for.
    pub(super) file: FileId,
    /// The text.
    pub(super) text: String,
    placed: Vec<Placed>,
}

impl Written {
    /// Calls a function for each node with where it is written, and used, in the file.
    pub(super) fn each(&self, call: &mut impl FnMut(Span, Span)) {
        for one in &self.placed {
            call(one.old, one.used);
        }
    }

    /// The smallest node that holds a place, by where it stands in the file.
    pub(super) fn node_at(&self, span: Span) -> Option<(Span, Span)> {
        let (start, end) = (span.start as usize, span.end as usize);
        let holding = self
            .placed
            .iter()
            .filter(|one| one.start <= start && end <= one.end);
        let least = holding.min_by_key(|one| one.end - one.start)?;
        Some((least.old, least.used))
    }
}

/// The files of a project as entries.
pub(super) struct Entries {
    files: Vec<File>,
    pub(super) units: Vec<Unit>,
}

impl Entries {
    /// The entries of those files that can be read; the others stay as they are.
    pub(super) fn of(sources: &Sources) -> Entries {
        let mut entries = Entries {
            files: Vec::new(),
            units: Vec::new(),
        };
        for id in sources.files() {
            let name = sources.name(id);
            let extension = name.rsplit('.').next().unwrap_or("");
            let first = entries.units.len();
            let content = match extension {
                "als" => continue,
                "env" | "toml" => entries.lines(id, sources),
                _ => {
                    let parsed = yaml::parse(sources, id, &Limits::default());
                    let plain = parsed.is_complete();
                    let documents: Vec<Node> =
                        parsed.documents.into_iter().map(|one| one.root).collect();
                    if !plain || !documents.iter().all(can_be_written) {
                        continue;
                    }
                    for root in &documents {
                        entries.parts(root, None, sources);
                    }
                    Content::Yaml(documents)
                }
            };
            if entries.units.len() > first {
                entries.files.push(File { id, content, first });
            }
        }
        entries
    }

    /// One unit for each line that says something.
    fn lines(&mut self, id: FileId, sources: &Sources) -> Content {
        let mut at = 0;
        let mut lines = Vec::new();
        for line in sources.text(id).split_inclusive('\n') {
            let said = line.trim();
            let span = Span::new(id, at, at + line.trim_end().len());
            at += line.len();
            lines.push(span);
            let is_said = !said.is_empty() && !said.starts_with(['#', '[']);
            let index = self.units.len();
            if is_said {
                self.units.push(Unit {
                    parent: None,
                    end: index + 1,
                    key: None,
                    value: span,
                });
            }
        }
        Content::Lines(lines)
    }

    fn parts(&mut self, node: &Node, parent: Option<usize>, sources: &Sources) {
        match &node.kind {
            Kind::Scalar(_) => {}
            Kind::Sequence(items) => {
                for item in items {
                    self.unit(None, item, parent, sources);
                }
            }
            Kind::Mapping(map) => {
                for entry in &map.entries {
                    self.unit(Some(entry.key.span), &entry.value, parent, sources);
                }
            }
        }
    }

    fn unit(&mut self, key: Option<Span>, value: &Node, parent: Option<usize>, sources: &Sources) {
        let index = self.units.len();
        let at = value.used_at();
        let parted = is_parted(key, value, sources);
        self.units.push(Unit {
            parent,
            end: index + 1,
            key,
            value: at,
        });
        if parted {
            self.parts(value, Some(index), sources);
        }
        let end = self.units.len();
        if let Some(unit) = self.units.get_mut(index) {
            unit.end = end;
        }
    }

    /// The texts of the files when only some units are kept.
    pub(super) fn written(&self, kept: &[bool], sources: &Sources) -> Vec<Written> {
        let files = self.files.iter().map(|file| {
            let mut writer = Writer {
                entries: self,
                kept,
                sources,
                next: file.first,
                text: String::new(),
                placed: Vec::new(),
            };
            match &file.content {
                Content::Yaml(documents) => {
                    for (at, root) in documents.iter().enumerate() {
                        if at > 0 {
                            writer.text.push_str("---\n");
                        }
                        writer.document(root);
                    }
                }
                Content::Lines(lines) => writer.lines(lines),
            }
            Written {
                file: file.id,
                text: writer.text,
                placed: writer.placed,
            }
        });
        files.collect()
    }
}

/// Whether a node can be written anew: its keys are texts.
fn can_be_written(node: &Node) -> bool {
    match &node.kind {
        Kind::Scalar(_) => true,
        Kind::Sequence(items) => items.iter().all(can_be_written),
        Kind::Mapping(map) => map
            .entries
            .iter()
            .all(|entry| entry.name().is_some() && can_be_written(&entry.value)),
    }
}

/// Whether the parts of a value are units: it stands on lines of its own.
fn is_parted(key: Option<Span>, value: &Node, sources: &Sources) -> bool {
    let empty = match &value.kind {
        Kind::Scalar(_) => true,
        Kind::Sequence(items) => items.is_empty(),
        Kind::Mapping(map) => map.is_empty(),
    };
    if empty {
        return false;
    }
    let (start, end) = (sources.start(value.span), sources.end(value.span));
    let from = key.map_or(start.line, |key| sources.start(key).line);
    // The entry behind a dash says more than the item.
    let behind_dash = key.is_none() && !sources.snippet(value.span).starts_with(['{', '[']);
    value.alias().is_some() || start.line != end.line || from != start.line || behind_dash
}

struct Writer<'a> {
    entries: &'a Entries,
    kept: &'a [bool],
    sources: &'a Sources,
    /// The unit that is met next.
    next: usize,
    text: String,
    placed: Vec<Placed>,
}

impl Writer<'_> {
    fn lines(&mut self, lines: &[Span]) {
        for &span in lines {
            let unit = self.entries.units.get(self.next);
            let is_unit = unit.is_some_and(|unit| unit.value == span);
            let kept = !is_unit || self.kept.get(self.next).copied().unwrap_or(true);
            self.next += usize::from(is_unit);
            if kept {
                let start = self.text.len();
                self.text.push_str(self.sources.snippet(span));
                self.place(start, span, span);
                self.text.push('\n');
            }
        }
    }

    fn place(&mut self, start: usize, old: Span, used: Span) {
        self.placed.push(Placed {
            start,
            end: self.text.len(),
            old,
            used,
        });
    }

    fn document(&mut self, root: &Node) {
        match &root.kind {
            Kind::Scalar(_) => {
                self.scalar(root);
                self.text.push('\n');
            }
            _ => self.parts(root, 0, true),
        }
    }

    /// Writes what a collection holds, a line or more for each part.
    fn parts(&mut self, node: &Node, depth: usize, units: bool) {
        let start = self.text.len();
        let mut any = false;
        match &node.kind {
            Kind::Scalar(_) => {}
            Kind::Sequence(items) => {
                for item in items {
                    if self.skip(units) {
                        continue;
                    }
                    any = true;
                    self.indent(depth);
                    self.text.push('-');
                    self.value(None, item, depth, units);
                }
            }
            Kind::Mapping(map) => {
                for entry in &map.entries {
                    if self.skip(units) {
                        continue;
                    }
                    any = true;
                    self.indent(depth);
                    self.scalar(&entry.key);
                    self.text.push(':');
                    self.value(Some(entry.key.span), &entry.value, depth, units);
                }
            }
        }
        if !any {
            self.indent(depth);
            self.text.push_str(match node.kind {
                Kind::Sequence(_) => "[]\n",
                _ => "{}\n",
            });
        }
        self.place(start, node.span, node.used_at());
    }

    /// Passes a unit that is left out.
    fn skip(&mut self, units: bool) -> bool {
        if !units || self.kept.get(self.next).copied().unwrap_or(true) {
            return false;
        }
        let unit = self.entries.units.get(self.next);
        self.next = unit.map_or(self.next + 1, |unit| unit.end);
        true
    }

    fn value(&mut self, key: Option<Span>, node: &Node, depth: usize, units: bool) {
        let parted = units && is_parted(key, node, self.sources);
        self.next += usize::from(units);
        let is_empty = match &node.kind {
            Kind::Scalar(_) => true,
            Kind::Sequence(items) => items.is_empty(),
            Kind::Mapping(map) => map.is_empty(),
        };
        if is_empty {
            self.text.push(' ');
            self.scalar(node);
            self.text.push('\n');
            return;
        }
        self.tag(node);
        self.text.push('\n');
        self.parts(node, depth + 1, parted);
    }

    fn indent(&mut self, depth: usize) {
        self.text.extend(std::iter::repeat_n("  ", depth));
    }

    fn tag(&mut self, node: &Node) {
        if let Some(tag) = node.tag() {
            self.text.push(' ');
            self.text.push_str(&written_tag(tag));
        }
    }

    /// Writes a scalar or an empty collection on one line.
    fn scalar(&mut self, node: &Node) {
        if let Some(tag) = node.tag() {
            self.text.push_str(&written_tag(tag));
            self.text.push(' ');
        }
        let start = self.text.len();
        match &node.kind {
            Kind::Sequence(_) => self.text.push_str("[]"),
            Kind::Mapping(_) => self.text.push_str("{}"),
            Kind::Scalar(scalar) => match scalar.style {
                Style::Plain => self.text.push_str(&scalar.text),
                _ => self.text.push_str(&quoted(&scalar.text)),
            },
        }
        self.place(start, node.span, node.used_at());
    }
}

fn written_tag(tag: &str) -> String {
    if tag.starts_with('!') {
        tag.to_owned()
    } else {
        format!("!<{tag}>")
    }
}

/// A text in double quotes, as YAML reads it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                out.push_str(&format!("\\U{:08x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of a text without the units whose first line starts like one of these.
    fn without(text: &str, dropped: &[&str]) -> String {
        let mut sources = Sources::new();
        sources.add("a.yaml", text);
        let entries = Entries::of(&sources);
        let kept: Vec<bool> = entries
            .units
            .iter()
            .map(|unit| {
                let line = sources.snippet(unit.span(&sources));
                !dropped.iter().any(|start| line.starts_with(start))
            })
            .collect();
        entries
            .written(&kept, &sources)
            .into_iter()
            .map(|one| one.text)
            .collect()
    }

    #[test]
    fn what_is_written_anew_means_the_same() {
        let text = "a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 'it''s'\nf: |\n  two\n  lines\ng:\n- 1\n- h: \"t\\n\"\n  i: !reset []\n";
        let all = without(text, &[]);
        let parse = |text: &str| {
            let mut sources = Sources::new();
            let file = sources.add("a", text);
            let parsed = yaml::parse(&sources, file, &Limits::default());
            assert!(parsed.is_complete(), "{text}");
            fn shape(node: &Node) -> String {
                match &node.kind {
                    Kind::Scalar(one) => format!("{:?}{:?}", node.tag(), one.text),
                    Kind::Sequence(items) => {
                        format!("{:?}", items.iter().map(shape).collect::<Vec<_>>())
                    }
                    Kind::Mapping(map) => format!(
                        "{:?}",
                        map.entries
                            .iter()
                            .map(|one| (one.name().cloned(), shape(&one.value)))
                            .collect::<Vec<_>>()
                    ),
                }
            }
            parsed
                .documents
                .iter()
                .map(|one| shape(&one.root))
                .collect::<Vec<_>>()
        };
        assert_eq!(parse(text), parse(&all), "{all}");
    }

    #[test]
    fn units_are_left_out() {
        let text = "a:\n  b: 1\n  c: {d: 2}\ne:\n- f\n- g: 1\n  h: 2\n";
        assert_eq!(
            without(text, &["b", "f", "h"]),
            "a:\n  c:\n    d: 2\ne:\n  -\n    g: 1\n"
        );
        assert_eq!(without(text, &["b", "c", "e"]), "a:\n  {}\n");
    }
}
