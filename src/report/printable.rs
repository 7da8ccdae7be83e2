//! Text of others on a terminal.
//!
//! A configuration may hold characters that a terminal obeys instead of showing them: sequences that colour, move
//! or erase, and marks that turn the direction of the text. Who reads a report must see what is there.

use std::borrow::Cow;
use std::sync::Arc;

/// What is shown in place of a character that must not reach a terminal; as many bytes, so that spans stay right.
fn shown(c: char) -> char {
    match c {
        '\t' | '\n' | '\r' => c,
        '\0'..='\x1f' | '\x7f' => '?',
        '\u{80}'..='\u{9f}' => '\u{b7}',
        // Directions: embeddings, overrides and isolates, and the marks between lines.
        '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c => c,
    }
}

/// The text as it may be printed.
pub fn printable(text: &str) -> Cow<'_, str> {
    // Bytes are quicker to look at than characters; two of them may begin one that is not shown.
    let suspect = |byte: u8| {
        (byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r'))
            || matches!(byte, 0x7f | 0xc2 | 0xe2)
    };
    if !text.bytes().any(suspect) || text.chars().all(|c| shown(c) == c) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(shown).collect())
}

/// As [`printable`], for a text that is shared.
pub fn printable_source(text: Arc<str>) -> Arc<str> {
    match printable(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(changed) => changed.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_printed() {
        let text = "a\x1b[2Jb\u{9b}31mc\u{202e}d\x07\x7f\0";
        let safe = printable(text);
        assert_eq!(safe, "a?[2Jb\u{b7}31mc\u{fffd}d???");
        assert_eq!(safe.len(), text.len());
        for (at, _) in text.char_indices() {
            assert!(safe.is_char_boundary(at));
        }
    }

    #[test]
    fn other_text_stays_as_it_is() {
        let text: Arc<str> = "a\tb\r\nc é 漢 🙂".into();
        assert!(matches!(printable(&text), Cow::Borrowed(_)));
        assert!(Arc::ptr_eq(&printable_source(text.clone()), &text));
    }
}
