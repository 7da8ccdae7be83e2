//! Bytes to text: encodings, byte order marks, and what is not text at all.

use locus_core::{Diagnostic, FileId, Span};

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
pub fn decode(bytes: Vec<u8>) -> Result<String, Undecodable> {
    match bytes.get(..2) {
        Some([0xFF, 0xFE]) => return utf16(&bytes, u16::from_le_bytes),
        Some([0xFE, 0xFF]) => return utf16(&bytes, u16::from_be_bytes),
        _ => {}
    }
    let bytes = match bytes.strip_prefix(b"\xEF\xBB\xBF") {
        Some(rest) => rest.to_vec(),
        None => bytes,
    };
    let is_nul = |&byte: &u8| byte == 0;
    // Mostly there is none, which `contains` tells many bytes at a time.
    let nul = bytes.contains(&0).then(|| bytes.iter().position(is_nul));
    let nul = nul.flatten();
    match String::from_utf8(bytes) {
        Ok(text) => match nul {
            None => Ok(text),
            Some(offset) => Err(binary(text.replace('\0', "\u{FFFD}"), offset)),
        },
        Err(error) => {
            let offset = error.utf8_error().valid_up_to();
            let shown = String::from_utf8_lossy(error.as_bytes()).replace('\0', "\u{FFFD}");
            if let Some(nul) = nul {
                return Err(binary(shown, nul.min(offset)));
            }
            let byte = error.as_bytes().get(offset).copied().unwrap_or(0);
            Err(Undecodable {
                shown,
                offset,
                message: format!("this file is not UTF-8: byte 0x{byte:02X} is not valid here"),
                help: "save the file as UTF-8",
            })
        }
    }
}

fn binary(shown: String, offset: usize) -> Undecodable {
    Undecodable {
        shown,
        offset,
        message: "this is a binary file, not YAML".into(),
        help: "give a text file in UTF-8",
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, Undecodable> {
    let units: Vec<u16> = bytes
        .chunks(2)
        .skip(1)
        .map(|pair| match pair {
            [a, b] => unit([*a, *b]),
            // Half a unit at the end is no character.
            _ => 0xDC00,
        })
        .collect();
    match String::from_utf16(&units) {
        Ok(text) if !text.contains('\0') => Ok(text),
        Ok(text) => {
            let offset = text.find('\0').unwrap_or(0);
            Err(binary(text.replace('\0', "\u{FFFD}"), offset))
        }
        Err(_) => {
            let shown = String::from_utf16_lossy(&units);
            let offset = shown.find('\u{FFFD}').unwrap_or(0);
            Err(Undecodable {
                shown,
                offset,
                message: "this file claims to be UTF-16 and is not".into(),
                help: "save the file as UTF-8",
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_dropped_and_encodings_understood() {
        assert_eq!(decode(b"\xEF\xBB\xBFa: 1".to_vec()).unwrap(), "a: 1");
        assert_eq!(decode(b"\xFF\xFEa\0:\0".to_vec()).unwrap(), "a:");
        assert_eq!(decode(b"\xFE\xFF\0a\0:".to_vec()).unwrap(), "a:");
        assert_eq!(decode(Vec::new()).unwrap(), "");
    }

    #[test]
    fn what_is_not_text_is_said_with_its_place() {
        let binary = decode(b"\x7FELF\0\0".to_vec()).unwrap_err();
        assert_eq!(
            (binary.offset, &*binary.message),
            (4, "this is a binary file, not YAML")
        );
        let latin1 = decode(b"name: caf\xE9\n".to_vec()).unwrap_err();
        assert_eq!(latin1.offset, 9);
        assert!(latin1.message.contains("0xE9"), "{}", latin1.message);
        assert!(decode(b"\xFF\xFEa".to_vec()).is_err());
    }
}
