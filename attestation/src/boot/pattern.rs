//! Patterns for texts that a boot loader measures, such as the command line of a kernel.

use std::fmt;

use globset::{GlobBuilder, GlobMatcher};

use super::policy::BootPolicyError;

/// Stands for any words, also none.
const ANY_WORDS: &str = "**";

/// A pattern for a text, word by word.
///
/// `*` stays within a word: what it stands for adds no further parameter to a command line. `**` as a word of its own stands
/// for any words.
#[derive(Clone, Debug)]
pub struct TextPattern {
    words: Vec<Word>,
}

#[derive(Clone, Debug)]
enum Word {
    Any,
    One { text: String, glob: GlobMatcher },
}

impl PartialEq for TextPattern {
    fn eq(&self, other: &Self) -> bool {
        self.words
            .iter()
            .map(Word::text)
            .eq(other.words.iter().map(Word::text))
    }
}

impl Word {
    fn parse(text: &str) -> Result<Self, globset::Error> {
        if text == ANY_WORDS {
            return Ok(Word::Any);
        }
        let glob = GlobBuilder::new(text)
            .literal_separator(false)
            .backslash_escape(true)
            .build()?;
        Ok(Word::One {
            text: text.to_owned(),
            glob: glob.compile_matcher(),
        })
    }

    fn text(&self) -> &str {
        match self {
            Word::Any => ANY_WORDS,
            Word::One { text, .. } => text,
        }
    }
}

impl fmt::Display for TextPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.words.iter().map(Word::text).collect();
        f.write_str(&words.join(" "))
    }
}

impl TextPattern {
    /// From its text.
    pub fn parse(pattern: &str) -> Result<Self, BootPolicyError> {
        let words: Result<Vec<Word>, _> = pattern.split(' ').map(Word::parse).collect();
        Ok(TextPattern {
            words: words.map_err(|error| BootPolicyError::Pattern {
                pattern: pattern.to_owned(),
                reason: error.kind().to_string(),
            })?,
        })
    }

    /// Whether a text is of this form.
    pub fn is_match(&self, text: &str) -> bool {
        let words: Vec<&str> = text.split(' ').collect();
        // Where to go on if the words after the last `**` do not fit: it takes one more.
        let mut again = None;
        let (mut at, mut next) = (0, 0);
        while let Some(word) = words.get(at) {
            match self.words.get(next) {
                Some(Word::Any) => {
                    next += 1;
                    again = Some((at, next));
                }
                Some(Word::One { text, glob }) if is_one(text, glob, word) => {
                    at += 1;
                    next += 1;
                }
                _ => {
                    let Some((taken, after)) = again else {
                        return false;
                    };
                    (at, next) = (taken + 1, after);
                    again = Some((at, after));
                }
            }
        }
        let mut rest = self.words.iter().skip(next);
        rest.all(|word| matches!(word, Word::Any))
    }
}

/// Bytes beyond ASCII count as they are written or not at all: one of them is a blank to the kernel.
fn is_one(text: &str, glob: &GlobMatcher, word: &str) -> bool {
    text == word || (word.is_ascii() && glob.is_match(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, text: &str) -> bool {
        TextPattern::parse(pattern).unwrap().is_match(text)
    }

    #[test]
    fn a_star_adds_no_parameter() {
        let pattern = "/vmlinuz-6.1.0-*-amd64 root=/dev/vda1 ro";
        assert!(fits(pattern, "/vmlinuz-6.1.0-49-amd64 root=/dev/vda1 ro"));
        for added in [
            "/vmlinuz-6.1.0-1-amd64 init=/bin/sh x-amd64 root=/dev/vda1 ro",
            "/vmlinuz-6.1.0-1 ima_policy=none -amd64 root=/dev/vda1 ro",
            // A no-break space separates parameters, too.
            "/vmlinuz-6.1.0-1\u{a0}single\u{a0}-amd64 root=/dev/vda1 ro",
            "/vmlinuz-6.1.0-49-amd64 root=/dev/vda1 ro single",
            "single /vmlinuz-6.1.0-49-amd64 root=/dev/vda1 ro",
            "/vmlinuz-6.1.0-49-amd64 root=/dev/vda1",
            "/vmlinuz-6.1.0-49-amd64  root=/dev/vda1 ro",
        ] {
            assert!(!fits(pattern, added), "{added}");
        }
        assert!(fits("größe *", "größe a/b"), "as it is written");
    }

    #[test]
    fn two_stars_stand_for_any_words() {
        for text in ["a b", "a x b", "a x y b", "a b b", "a b x b"] {
            assert!(fits("a ** b", text), "{text}");
        }
        for text in ["a", "b", "a b c", "a x", "x a b", "ab"] {
            assert!(!fits("a ** b", text), "{text}");
        }
        assert!(fits("**", "anything at all") && fits("**", ""));
        assert!(fits("a **", "a") && fits("a **", "a b c"));
        assert!(fits("** root=* **", "ro root=/dev/vda quiet"));
        assert!(!fits("** root=* **", "ro quiet"));
    }

    #[test]
    fn a_pattern_that_is_none_is_refused() {
        assert!(TextPattern::parse("[a").is_err());
        assert!(TextPattern::parse("").unwrap().is_match(""));
    }
}
