//! Lines and columns as editors count them.

use std::ops::Range;

use lsp_types::{Position, PositionEncodingKind, Range as LspRange};

/// What columns count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// Code units of UTF-16, which every client knows.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// The encoding that a client offers and that costs the least to convert.
    pub fn negotiate(offered: &[PositionEncodingKind]) -> Self {
        let ours = [
            (PositionEncodingKind::UTF8, Encoding::Utf8),
            (PositionEncodingKind::UTF32, Encoding::Utf32),
        ];
        let found = ours.into_iter().find(|(kind, _)| offered.contains(kind));
        found.map_or(Encoding::Utf16, |(_, encoding)| encoding)
    }

    /// Its name in the protocol.
    pub fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn width(self, c: char) -> usize {
        match self {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16 => c.len_utf16(),
            Encoding::Utf32 => 1,
        }
    }
}

/// Where the lines of a text start. `\n`, `\r\n` and a lone `\r` end a line, as in the protocol.
#[derive(Clone, Debug)]
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    encoding: Encoding,
}

impl<'t> Lines<'t> {
    /// The lines of a text.
    pub fn new(text: &'t str, encoding: Encoding) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            let ends = match byte {
                b'\n' => true,
                b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            if ends {
                starts.push(at + 1);
            }
        }
        Lines {
            text,
            starts,
            encoding,
        }
    }

    /// The text of a line without what ends it, and where it starts.
    fn line(&self, line: usize) -> Option<(usize, &'t str)> {
        let start = *self.starts.get(line)?;
        let end = self
            .starts
            .get(line + 1)
            .copied()
            .unwrap_or(self.text.len());
        let text = self.text.get(start..end)?;
        Some((start, text.trim_end_matches(['\r', '\n'])))
    }

    /// The position of a byte; inside a character it is that of the character, past the end that of the end.
    pub fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|&start| start <= offset).max(1) - 1;
        let (start, text) = self.line(line).unwrap_or((0, ""));
        let before = text
            .char_indices()
            .take_while(|(at, c)| start + at + c.len_utf8() <= offset);
        let column: usize = before.map(|(_, c)| self.encoding.width(c)).sum();
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Position::new(clamp(line), clamp(column))
    }

    /// The byte of a position; past the end of a line it is that of its end, inside a character that of its start.
    pub fn offset(&self, position: Position) -> usize {
        let Some((start, text)) = self.line(position.line as usize) else {
            return self.text.len();
        };
        let wanted = position.character as usize;
        let mut column = 0;
        for (at, c) in text.char_indices() {
            column += self.encoding.width(c);
            if column > wanted {
                return start + at;
            }
        }
        start + text.len()
    }

    /// The range of some bytes.
    pub fn range(&self, bytes: Range<usize>) -> LspRange {
        LspRange::new(self.position(bytes.start), self.position(bytes.end))
    }

    /// The bytes of a range; of one that ends before it starts, none.
    pub fn bytes(&self, range: LspRange) -> Range<usize> {
        let start = self.offset(range.start);
        start..self.offset(range.end).max(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a😀é\r\nb\rc\n\n€x";

    #[test]
    fn columns_count_what_was_agreed_on() {
        for (encoding, columns) in [
            (Encoding::Utf8, [0, 1, 5, 7]),
            (Encoding::Utf16, [0, 1, 3, 4]),
            (Encoding::Utf32, [0, 1, 2, 3]),
        ] {
            let lines = Lines::new(TEXT, encoding);
            for (offset, column) in [0, 1, 5, 7].into_iter().zip(columns) {
                let position = Position::new(0, column);
                assert_eq!(lines.position(offset), position, "{encoding:?}");
                assert_eq!(lines.offset(position), offset, "{encoding:?}");
            }
        }
    }

    #[test]
    fn each_line_end_of_the_protocol_ends_a_line() {
        let lines = Lines::new(TEXT, Encoding::Utf16);
        let starts: Vec<u32> = (0..TEXT.len())
            .filter(|&at| TEXT.is_char_boundary(at))
            .map(|at| lines.position(at).line)
            .collect();
        assert_eq!(starts, [0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 4, 4]);
    }

    #[test]
    fn what_is_nowhere_is_at_the_nearest_place() {
        let lines = Lines::new(TEXT, Encoding::Utf16);
        assert_eq!(lines.offset(Position::new(0, 2)), 1, "inside a character");
        assert_eq!(lines.offset(Position::new(0, 99)), 7, "past a line");
        assert_eq!(
            lines.offset(Position::new(99, 0)),
            TEXT.len(),
            "past the text"
        );
        assert_eq!(lines.position(3), Position::new(0, 1), "inside a character");
        assert_eq!(lines.position(9999), lines.position(TEXT.len()));
        let backwards = LspRange::new(Position::new(2, 0), Position::new(0, 0));
        assert!(lines.bytes(backwards).is_empty());
    }

    #[test]
    fn the_cheapest_encoding_is_taken() {
        let utf16 = PositionEncodingKind::UTF16;
        let negotiate = |offered: &[PositionEncodingKind]| Encoding::negotiate(offered);
        assert_eq!(negotiate(&[]), Encoding::Utf16);
        assert_eq!(
            negotiate(&[utf16.clone(), PositionEncodingKind::UTF8]),
            Encoding::Utf8
        );
        assert_eq!(
            negotiate(&[PositionEncodingKind::new("utf-7"), utf16]),
            Encoding::Utf16
        );
    }
}
