//! Source files and the spans that point into them.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::memory::Memory;

/// The identity of one source file within a [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileId(u32);

impl FileId {
    /// Position among the files of its sources.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A byte range of one source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The file that the range is in.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range from `start` up to but not including `end`.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let start = clamp(start);
        Span {
            file,
            start,
            end: clamp(end).max(start),
        }
    }

    /// The empty range at the start of a file, for findings about the file as a whole.
    pub fn start_of(file: FileId) -> Self {
        Span::new(file, 0, 0)
    }

    /// The smallest range that covers both; `self` when they are in different files.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span {
            file: self.file,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// Number of bytes.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether the range holds no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// A line and a column, both counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

#[derive(Clone, Debug)]
struct SourceFile {
    name: String,
    text: Arc<str>,
    /// Byte offset of the start of each line, found out when a position is asked for.
    lines: OnceLock<Vec<u32>>,
}

impl SourceFile {
    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let breaks = self.text.match_indices('\n');
            let starts = breaks.map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX));
            std::iter::once(0).chain(starts).collect()
        })
    }
}

/// The set of files that spans point into.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
    /// Where what is made of them is kept, when others read the same files.
    pub(crate) memory: Option<Arc<Memory>>,
}

impl Sources {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file under the name that diagnostics show.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(SourceFile {
            name: name.into(),
            text: text.into(),
            lines: OnceLock::new(),
        });
        id
    }

    /// Takes over the files of others: for each of them, what its files are here. A file that several have read is
    /// one file.
    pub fn merge(&mut self, others: Vec<Sources>) -> Vec<Vec<FileId>> {
        let mut known: FxHashMap<(String, Arc<str>), FileId> = FxHashMap::default();
        for (id, file) in self.files().zip(&self.files) {
            known.insert((file.name.clone(), file.text.clone()), id);
        }
        let mut take = |file: SourceFile| {
            let next = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
            let entry = known.entry((file.name.clone(), file.text.clone()));
            let id = *entry.or_insert(next);
            if id == next {
                self.files.push(file);
            }
            id
        };
        let others = others.into_iter();
        others
            .map(|other| other.files.into_iter().map(&mut take).collect())
            .collect()
    }

    fn file(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    /// The name that a file was added under.
    pub fn name(&self, id: FileId) -> &str {
        self.file(id).map_or("", |file| &file.name)
    }

    /// The text of a file.
    pub fn text(&self, id: FileId) -> &str {
        self.file(id).map_or("", |file| &file.text)
    }

    /// The text of a file, shared.
    pub fn shared_text(&self, id: FileId) -> Arc<str> {
        self.file(id)
            .map_or_else(|| "".into(), |file| file.text.clone())
    }

    /// All files, in the order they were added.
    pub fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..u32::try_from(self.files.len()).unwrap_or(u32::MAX)).map(FileId)
    }

    /// The text that a span covers.
    pub fn snippet(&self, span: Span) -> &str {
        self.text(span.file)
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    }

    /// Line and column of a byte offset.
    pub fn position(&self, id: FileId, offset: u32) -> Position {
        self.position_in(id, offset, |before| before.chars().count())
    }

    /// Line and column of a byte offset, with the column counted in UTF-16 code units as editors do.
    pub fn position_utf16(&self, id: FileId, offset: u32) -> Position {
        self.position_in(id, offset, |before| before.encode_utf16().count())
    }

    fn position_in(&self, id: FileId, offset: u32, width: impl Fn(&str) -> usize) -> Position {
        let Some(file) = self.file(id) else {
            return Position { line: 1, column: 1 };
        };
        let lines = file.lines();
        let line = lines.partition_point(|&start| start <= offset).max(1);
        let start = lines.get(line - 1).copied().unwrap_or(0);
        let mut end = (offset as usize).min(file.text.len());
        while !file.text.is_char_boundary(end) {
            end -= 1;
        }
        let column = file.text.get(start as usize..end).map_or(0, width);
        Position {
            line,
            column: column + 1,
        }
    }

    /// The byte offset of a line and a column in UTF-16 code units, both from 1. What is past the end of a line or of the
    /// file is its end, and what is inside a character is its start.
    pub fn offset_utf16(&self, id: FileId, at: Position) -> u32 {
        let Some(file) = self.file(id) else {
            return 0;
        };
        let lines = file.lines();
        let Some(&start) = lines.get(at.line.saturating_sub(1)) else {
            return u32::try_from(file.text.len()).unwrap_or(u32::MAX);
        };
        let rest = file.text.get(start as usize..).unwrap_or("");
        let line = rest.split(['\n', '\r']).next().unwrap_or(rest);
        let mut units = 0;
        for (offset, c) in line.char_indices() {
            units += c.len_utf16();
            if units >= at.column {
                return start + u32::try_from(offset).unwrap_or(u32::MAX);
            }
        }
        start + u32::try_from(line.len()).unwrap_or(u32::MAX)
    }

    /// Line and column where a span starts.
    pub fn start(&self, span: Span) -> Position {
        self.position(span.file, span.start)
    }

    /// Line and column just past where a span ends.
    pub fn end(&self, span: Span) -> Position {
        self.position(span.file, span.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let mut sources = Sources::new();
        let file = sources.add("a", "é = 1\r\nb\n");
        let at = |offset| {
            let position = sources.position(file, offset);
            (position.line, position.column)
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(1), (1, 1), "inside a character is that character");
        assert_eq!(at(2), (1, 2));
        assert_eq!(at(8), (2, 1));
        assert_eq!(at(10), (3, 1));
        assert_eq!(at(999), (3, 1), "past the end is the end");
    }

    #[test]
    fn editors_count_code_units() {
        let mut sources = Sources::new();
        let file = sources.add("a", "a😀é\r\nb");
        let text = sources.text(file).to_owned();
        for (offset, line, column) in [(0, 1, 1), (1, 1, 2), (5, 1, 4), (7, 1, 5), (9, 2, 1)] {
            let at = sources.position_utf16(file, offset);
            assert_eq!((at.line, at.column), (line, column), "{offset}");
            assert_eq!(sources.offset_utf16(file, at), offset);
        }
        let offset = |line, column| sources.offset_utf16(file, Position { line, column });
        assert_eq!(offset(1, 3), 1, "inside a character is its start");
        assert_eq!(offset(1, 99), 7, "past the end of a line is its end");
        assert_eq!(
            offset(9, 1) as usize,
            text.len(),
            "past the last line is the end"
        );
    }

    #[test]
    fn merged_sources_have_each_file_once() {
        let of = |files: &[(&str, &str)]| {
            let mut sources = Sources::new();
            for &(name, text) in files {
                sources.add(name, text);
            }
            sources
        };
        let mut all = of(&[("a", "1")]);
        let others = vec![of(&[("b", "2"), ("a", "1")]), of(&[("b", "2"), ("b", "3")])];
        let ids = all.merge(others);
        let shown: Vec<Vec<(&str, &str)>> = ids
            .iter()
            .map(|ids| ids.iter().map(|&id| (all.name(id), all.text(id))).collect())
            .collect();
        assert_eq!(shown[0], [("b", "2"), ("a", "1")]);
        assert_eq!(shown[1], [("b", "2"), ("b", "3")]);
        assert_eq!(all.files().count(), 3);
    }

    #[test]
    fn spans_join_within_a_file_only() {
        let mut sources = Sources::new();
        let a = sources.add("a", "0123456789");
        let b = sources.add("b", "0123456789");
        assert_eq!(
            Span::new(a, 1, 2).to(Span::new(a, 5, 7)),
            Span::new(a, 1, 7)
        );
        assert_eq!(
            Span::new(a, 1, 2).to(Span::new(b, 5, 7)),
            Span::new(a, 1, 2)
        );
        assert_eq!(sources.snippet(Span::new(a, 3, 5)), "34");
    }
}
