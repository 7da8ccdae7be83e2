//! Bytes to text: encodings, byte order marks, and what is not text at all.
//!
//! Every file that anybody gives is read by [`decode`], so that it is the same text everywhere: recognised, checked,
//! included by another file, edited.

use std::borrow::Cow;

use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Sources, Span};

/// Why bytes are not a text that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecodable {
    /// The text as far as it can be shown, bad bytes replaced.
    pub shown: String,
    offset: usize,
    message: String,
    help: &'static str,
}

impl Undecodable {
    /// The diagnostic, once the shown text has been added to the sources.
    pub fn diagnostic(&self, file: FileId) -> Diagnostic {
        Diagnostic::error("encoding", self.message.clone())
            .at(Span::new(file, self.offset, self.offset))
            .help(self.help)
    }
}

/// The text of a file: UTF-8, or UTF-16 when a byte order mark says so; the mark itself is dropped,
/// so that the first column is the first character.
///
/// # Errors
/// When the bytes are binary or not in the encoding they claim.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, Undecodable> {
    match bytes {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => Err(Undecodable {
            shown: String::new(),
            offset: 0,
            message: "this file is UTF-32, which is not supported".into(),
            help: SAVE,
        }),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes).map(Cow::Owned),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes).map(Cow::Owned),
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest).map(Cow::Borrowed),
        _ => utf8(bytes).map(Cow::Borrowed),
    }
}

impl Sources {
    /// Adds a file by its bytes, as far as they can be shown, and says when they are not text.
    pub fn add_bytes(
        &mut self,
        name: impl Into<String>,
        bytes: &[u8],
    ) -> (FileId, Option<Diagnostic>) {
        match decode(bytes) {
            Ok(text) => (self.add(name, text), None),
            Err(refused) => {
                let file = self.add(name, refused.shown.as_str());
                (file, Some(refused.diagnostic(file)))
            }
        }
    }
}

const SAVE: &str = "save the file as UTF-8";

fn utf8(bytes: &[u8]) -> Result<&str, Undecodable> {
    // `contains` looks at many bytes at a time, and mostly there is none.
    let nul = bytes.contains(&0);
    let error = match std::str::from_utf8(bytes) {
        Ok(text) if nul => return Err(binary(text)),
        Ok(text) => return Ok(text),
        Err(error) => error,
    };
    let shown = String::from_utf8_lossy(bytes);
    if nul {
        return Err(binary(&shown));
    }
    let offset = error.valid_up_to();
    let byte = bytes.get(offset).copied().unwrap_or(0);
    Err(Undecodable {
        shown: shown.into_owned(),
        offset,
        message: format!("this file is not UTF-8: byte 0x{byte:02X} is not valid here"),
        help: SAVE,
    })
}

fn binary(text: &str) -> Undecodable {
    Undecodable {
        shown: text.replace('\0', "\u{FFFD}"),
        offset: text.find(['\0', '\u{FFFD}']).unwrap_or(0),
        message: "this is a binary file, not text".into(),
        help: "give a text file in UTF-8",
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, Undecodable> {
    let units = bytes.chunks(2).map(|pair| match pair {
        [a, b] => unit([*a, *b]),
        // Half a unit at the end is not a character.
        _ => 0xDC00,
    });
    let mut text = String::with_capacity(bytes.len() / 2);
    let mut bad = None;
    for c in char::decode_utf16(units) {
        let at = text.len();
        text.push(c.unwrap_or_else(|_| {
            bad.get_or_insert(at);
            char::REPLACEMENT_CHARACTER
        }));
    }
    match bad {
        _ if text.contains('\0') => Err(binary(&text)),
        None => Ok(text),
        Some(offset) => Err(Undecodable {
            shown: text,
            offset,
            message: "this file has the byte order mark of UTF-16, but is not valid UTF-16".into(),
            help: SAVE,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        let marked = format!("\u{feff}{text}");
        marked.encode_utf16().flat_map(unit).collect()
    }

    #[test]
    fn marks_are_dropped_and_encodings_understood() {
        assert_eq!(decode(b"\xEF\xBB\xBFa: 1").unwrap(), "a: 1");
        assert_eq!(decode(b"\xFF\xFEa\0:\0").unwrap(), "a:");
        assert_eq!(decode(b"\xFE\xFF\0a\0:").unwrap(), "a:");
        assert_eq!(decode(b"").unwrap(), "");
        assert_eq!(decode(b"\xFF\xFE").unwrap(), "");
    }

    #[test]
    fn columns_do_not_depend_on_the_encoding() {
        let text = "é: \u{1F600} x\n";
        let plain = text.as_bytes().to_vec();
        let marked = [b"\xEF\xBB\xBF", text.as_bytes()].concat();
        let utf16 = [
            encoded(text, u16::to_le_bytes),
            encoded(text, u16::to_be_bytes),
        ];
        for bytes in [plain, marked].into_iter().chain(utf16) {
            let mut sources = Sources::new();
            let (file, refused) = sources.add_bytes("f", &bytes);
            assert_eq!(refused, None);
            let at = u32::try_from(sources.text(file).find('x').unwrap()).unwrap();
            assert_eq!(sources.position(file, at).column, 6);
        }
    }

    #[test]
    fn what_is_not_text_is_said_with_its_place() {
        let binary = decode(b"\x7FELF\0\0").unwrap_err();
        assert_eq!(
            (binary.offset, &*binary.message),
            (4, "this is a binary file, not text")
        );
        let latin1 = decode(b"name: caf\xE9\n").unwrap_err();
        assert_eq!(latin1.offset, 9);
        assert!(latin1.message.contains("0xE9"), "{}", latin1.message);
        let half = decode(b"\xFF\xFEa\0b").unwrap_err();
        assert_eq!((half.offset, &*half.shown), (1, "a\u{FFFD}"));
        let utf32 = decode(b"\xFF\xFE\0\0a\0\0\0").unwrap_err();
        assert!(utf32.message.contains("UTF-32"), "{}", utf32.message);
    }

    proptest! {
        #[test]
        fn every_text_is_read_back_from_every_encoding(text in "[^\0\u{feff}]{0,40}") {
            prop_assert_eq!(&decode(text.as_bytes()).unwrap(), &text);
            let marked = format!("\u{feff}{text}");
            prop_assert_eq!(&decode(marked.as_bytes()).unwrap(), &text);
            for unit in [u16::to_le_bytes, u16::to_be_bytes] {
                let bytes = encoded(&text, unit);
                prop_assert_eq!(&decode(&bytes).unwrap(), &text);
            }
        }

        #[test]
        fn any_bytes_are_decoded_or_refused_at_a_character(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            match decode(&bytes) {
                Ok(text) => prop_assert!(!text.contains('\0')),
                Err(refused) => prop_assert!(refused.shown.is_char_boundary(refused.offset)),
            }
        }
    }
}
