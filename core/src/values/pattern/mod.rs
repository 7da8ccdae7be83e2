//! Regular expressions as configuration languages use them.
//!
//! Heat's are Python's, and so are those of rules. The engine here is linear in time and has no look-around and no
//! back-references; whether a text matches a pattern that needs them is not known, and is said to be so.

mod python;

use std::sync::{LazyLock, RwLock};

use regex::{Regex, RegexBuilder};
use rustc_hash::FxHashMap;

/// Compiled patterns by their text; `None` for one that cannot be compiled.
type Cache = LazyLock<RwLock<FxHashMap<String, Option<Regex>>>>;

/// The same few patterns are used again and again, and building one takes longer than reading a template.
static ANCHORED: Cache = LazyLock::new(RwLock::default);
static FREE: Cache = LazyLock::new(RwLock::default);

/// Patterns are remembered for the life of the process; one that meets more builds the others anew.
const CACHE_LIMIT: usize = 4096;

fn compile(pattern: &str, anchored: bool) -> Option<Regex> {
    let cache = if anchored { &ANCHORED } else { &FREE };
    if let Ok(known) = cache.read()
        && let Some(compiled) = known.get(pattern)
    {
        return compiled.clone();
    }
    let build = |text: &str| RegexBuilder::new(text).size_limit(1 << 22).build().ok();
    let compiled = python::translate(pattern).and_then(|text| {
        if anchored {
            // The group keeps alternatives together, and the anchor keeps the search linear.
            build(&format!("\\A(?:{text})"))
        } else {
            build(&text)
        }
    });
    if let Ok(mut known) = cache.write()
        && known.len() < CACHE_LIMIT
    {
        known.insert(pattern.to_owned(), compiled.clone());
    }
    compiled
}

/// Whether the pattern matches the whole text as Heat decides it: of the matches at the first character, the one
/// that `re.match` finds must end at the last. So `a|ab` does not match `ab`: Python takes the first alternative
/// that matches, and Heat then finds text left over.
///
/// `None` when the pattern is beyond the engine.
pub fn matches(pattern: &str, text: &str) -> Option<bool> {
    let found = compile(pattern, true)?.find(text);
    Some(found.is_some_and(|found| found.end() == text.len()))
}

/// Whether the pattern matches anywhere in the text. `None` when the pattern is beyond the engine.
pub fn finds(pattern: &str, text: &str) -> Option<bool> {
    Some(compile(pattern, false)?.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_whole_text_is_matched_as_heat_does() {
        // Each answer is that of Python's `re.match(pattern, text)` and `match.end() == len(text)`.
        for (pattern, text, expected) in [
            ("[a-z]+", "abc", true),
            ("[a-z]+", "abc1", false),
            ("[a-z]+", "1abc", false),
            ("^[a-z]+$", "abc", true),
            ("^[a-z]+$", "abc\n", false),
            ("a|ab", "ab", false),
            ("a|ab", "a", true),
            ("ab|a", "ab", true),
            ("(a|ab)$", "ab", true),
            ("a*?", "aa", false),
            ("ab\\Z", "ab", true),
            ("ab\\Z", "abc", false),
            ("", "", true),
            ("", "a", false),
            ("[[:alpha:]]", "a]", true),
            ("[[:alpha:]]", "x]", false),
            ("[a&&b]", "&", true),
            ("[]a]+", "]a", true),
            ("[^]]+", "ab", true),
            ("[a\\]]", "]", true),
            ("x{", "x{", true),
            ("x{,2}", "xx", true),
            ("x{2}", "xx", true),
            ("{}", "{}", true),
            ("\\<\\-\\/", "<-/", true),
            ("\\x41\\101\\u0041", "AAA", true),
            ("[\\w.-]+", "é_1.-", true),
            ("(?P<n>a)(?#note)b", "ab", true),
            ("(?i)AB", "ab", true),
            ("[ #]", "#", true),
        ] {
            assert_eq!(
                matches(pattern, text),
                Some(expected),
                "{pattern:?} {text:?}"
            );
        }
    }

    #[test]
    fn what_the_engine_lacks_is_undecided() {
        for pattern in [
            "(?=a)a", "(a)\\1", "(", "(?<!x)y", "a++", "(?a)\\w", "\\p{L}", "[\\w-z]", "[z-a]",
            "\\",
        ] {
            assert_eq!(matches(pattern, "a"), None, "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn no_pattern_panics(pattern in "\\PC{0,16}", text in "\\PC{0,16}") {
            if matches(&pattern, &text) == Some(true) {
                prop_assert_eq!(finds(&pattern, &text), Some(true));
            }
        }

        #[test]
        fn pattern_like_text_is_read_or_refused(pattern in "[]\\[\\\\wWsSbZA0-3ax{},^$|?*+().&~#-]{0,12}", text in "[ab{}-]{0,6}") {
            if matches(&pattern, &text) == Some(true) {
                prop_assert_eq!(finds(&pattern, &text), Some(true));
            }
        }

        #[test]
        fn a_literal_matches_itself_only(text in "\\PC{0,12}", other in "\\PC{0,12}") {
            let literal: String = text
                .chars()
                .flat_map(|c| (!c.is_alphanumeric()).then_some('\\').into_iter().chain([c]))
                .collect();
            prop_assert_eq!(matches(&literal, &text), Some(true));
            prop_assert_eq!(matches(&literal, &other), Some(text == other));
        }
    }
}
