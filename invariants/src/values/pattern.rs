//! Regular expressions as configuration languages use them.
//!
//! Heat's are Python's. The engine here is linear in time and has no look-around and no
//! back-references; a pattern that needs them cannot be decided, and is said to be so.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, RwLock};

use regex::Regex;

/// A compiled pattern, or that it cannot be compiled.
type Compiled = Option<Arc<Regex>>;

static CACHE: LazyLock<RwLock<HashMap<String, Compiled>>> = LazyLock::new(RwLock::default);

/// Patterns are remembered for the life of the process; a file with more than this many is served without.
const CACHE_LIMIT: usize = 4096;

/// Python's spelling of what the engine here spells otherwise.
fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('Z') => out.push_str("\\z"),
                Some(next) => {
                    out.push('\\');
                    out.push(next);
                }
                None => out.push('\\'),
            },
            (c, _) => out.push(c),
        }
    }
    out
}

fn compile(pattern: &str) -> Compiled {
    if let Ok(cache) = CACHE.read()
        && let Some(compiled) = cache.get(pattern)
    {
        return compiled.clone();
    }
    // A pattern in braces such as `[[:alpha:]]` or `{` alone reads differently in Python; the builder's
    // octal and class syntax are close enough that what compiles means the same.
    let compiled = regex::RegexBuilder::new(&translate(pattern))
        .size_limit(1 << 22)
        .build()
        .ok()
        .map(Arc::new);
    if let Ok(mut cache) = CACHE.write()
        && cache.len() < CACHE_LIMIT
    {
        cache.insert(pattern.to_owned(), compiled.clone());
    }
    compiled
}

/// Whether the pattern matches the whole text as Heat decides it: the match that starts at the first
/// character and that the order of alternatives prefers must also end at the last. `None` when the pattern
/// is beyond the engine.
pub fn matches(pattern: &str, text: &str) -> Option<bool> {
    // A leading group keeps alternatives together and a start anchor keeps the search linear.
    let regex = compile(&format!("\\A(?:{pattern})"))?;
    Some(
        regex
            .find(text)
            .is_some_and(|found| found.end() == text.len()),
    )
}

/// Whether the pattern matches anywhere in the text. `None` when the pattern is beyond the engine.
pub fn finds(pattern: &str, text: &str) -> Option<bool> {
    Some(compile(pattern)?.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_whole_text_is_matched_as_heat_does() {
        assert_eq!(matches("[a-z]+", "abc"), Some(true));
        assert_eq!(matches("[a-z]+", "abc1"), Some(false));
        assert_eq!(matches("[a-z]+", "1abc"), Some(false));
        assert_eq!(matches("^[a-z]+$", "abc"), Some(true));
        // Python prefers the first alternative and Heat then finds text left over.
        assert_eq!(matches("a|ab", "ab"), Some(false));
        assert_eq!(matches("ab|a", "ab"), Some(true));
        assert_eq!(matches("a\\Z", "a"), Some(true));
        assert_eq!(matches("", ""), Some(true));
    }

    #[test]
    fn what_the_engine_lacks_is_undecided() {
        assert_eq!(matches("(?=a)a", "a"), None);
        assert_eq!(matches("(a)\\1", "aa"), None);
        assert_eq!(matches("(", "a"), None);
        assert_eq!(finds("(?<!x)y", "y"), None);
    }

    proptest! {
        #[test]
        fn no_pattern_panics(pattern in "\\PC{0,16}", text in "\\PC{0,16}") {
            if matches(&pattern, &text) == Some(true) {
                prop_assert_eq!(finds(&format!("\\A(?:{})", pattern), &text), Some(true));
            }
        }

        #[test]
        fn a_literal_matches_itself_only(text in "\\PC{0,12}", other in "\\PC{0,12}") {
            let literal = regex::escape(&text);
            prop_assert_eq!(matches(&literal, &text), Some(true));
            prop_assert_eq!(matches(&literal, &other), Some(text == other));
        }
    }
}
