//! Regular expressions as Kubernetes reads them: those of Go, whose classes know ASCII only.

use std::sync::{LazyLock, RwLock};

use regex::{Regex, RegexBuilder};
use rustc_hash::FxHashMap;

/// Compiled patterns by their text; none for one that cannot be compiled.
static KNOWN: LazyLock<RwLock<FxHashMap<String, Option<Regex>>>> = LazyLock::new(RwLock::default);

/// How many patterns are remembered.
const MOST: usize = 4096;

/// A pattern; none when it is none, or not known here.
pub(super) fn compiled(pattern: &str) -> Option<Regex> {
    if let Ok(known) = KNOWN.read()
        && let Some(found) = known.get(pattern)
    {
        return found.clone();
    }
    let build = |text: String| RegexBuilder::new(&text).size_limit(1 << 22).build().ok();
    let found = translated(pattern).and_then(build);
    if let Ok(mut known) = KNOWN.write()
        && known.len() < MOST
    {
        known.insert(pattern.to_owned(), found.clone());
    }
    found
}

/// Whether a pattern matches anywhere in a text; none when the pattern is not known.
pub(super) fn finds(pattern: &str, text: &str) -> Option<bool> {
    Some(compiled(pattern)?.is_match(text))
}

/// Whether a text is surely no regular expression: groups or classes that do not end.
pub(super) fn is_broken(pattern: &str) -> bool {
    if compiled(pattern).is_some() {
        return false;
    }
    // What the engine here lacks is not looked for: only what is open, or repeats nothing.
    let (mut depth, mut class, mut escaped) = (0_i64, false, false);
    for c in pattern.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ']' if class => class = false,
            '[' => class = true,
            '(' if !class => depth += 1,
            ')' if !class => depth -= 1,
            _ => {}
        }
    }
    let quoted = pattern.contains("\\Q");
    let looks = ["(?=", "(?!", "(?<=", "(?<!"]
        .iter()
        .any(|look| pattern.contains(look));
    !quoted && (depth != 0 || escaped || looks || pattern.starts_with(['*', '+', '?']))
}

/// A pattern as the engine here writes it.
fn translated(pattern: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = pattern.chars().peekable();
    // Whether it is inside of a class, and what came last there.
    let mut class = false;
    let mut last = ' ';
    while let Some(c) = rest.next() {
        let before = std::mem::replace(&mut last, c);
        match c {
            '\\' => {
                let escaped = rest.next()?;
                let ascii = match escaped.to_ascii_lowercase() {
                    'd' => Some("0-9"),
                    'w' => Some("0-9A-Za-z_"),
                    's' => Some("\\t\\n\\x0c\\r "),
                    _ => None,
                };
                match (escaped, ascii) {
                    ('d' | 'w' | 's', Some(ascii)) if class => out.push_str(ascii),
                    ('d' | 'w' | 's', Some(ascii)) => out.push_str(&format!("[{ascii}]")),
                    (_, Some(ascii)) => out.push_str(&format!("[^{ascii}]")),
                    ('b', _) if !class => out.push_str("(?-u:\\b)"),
                    ('A' | 'z', _) if !class => out.extend(['\\', escaped]),
                    ('a' | 'f' | 't' | 'n' | 'r' | 'v' | 'x' | 'p' | 'P', _) => {
                        out.extend(['\\', escaped]);
                        if matches!(escaped, 'x' | 'p' | 'P') && rest.peek() == Some(&'{') {
                            // The braces belong to it.
                            for c in rest.by_ref() {
                                out.push(c);
                                if c == '}' {
                                    break;
                                }
                            }
                        }
                    }
                    (c, _) if c.is_ascii_punctuation() => {
                        out.push_str(&regex::escape(&c.to_string()))
                    }
                    _ => return None,
                }
                last = ' ';
            }
            '[' if class => {
                if rest.peek() == Some(&':') {
                    // The name of a class, as in `[:alpha:]`.
                    out.push('[');
                    let mut named = false;
                    for c in rest.by_ref() {
                        out.push(c);
                        if c == ']' {
                            named = true;
                            break;
                        }
                    }
                    if !named || !out.ends_with(":]") {
                        return None;
                    }
                    last = ' ';
                } else {
                    out.push_str("\\[");
                }
            }
            '[' => {
                class = true;
                out.push('[');
                if rest.peek() == Some(&'^') {
                    rest.next();
                    out.push('^');
                }
                if rest.peek() == Some(&']') {
                    rest.next();
                    out.push_str("\\]");
                }
                last = ' ';
            }
            ']' if class => {
                class = false;
                out.push(']');
            }
            // Signs that join classes in the engine here.
            '&' | '~' if class => out.extend(['\\', c]),
            '-' if class && before == '-' => return None,
            '{' if !class => {
                let ahead: String = rest.clone().take_while(|c| *c != '}').collect();
                let mut bounds = ahead.splitn(2, ',');
                let low = bounds.next().unwrap_or("");
                let high = bounds.next().unwrap_or("");
                let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
                let closed = rest.clone().nth(ahead.chars().count()) == Some('}');
                match closed && !low.is_empty() && digits(low) && digits(high) {
                    true => out.push('{'),
                    false => out.push_str("\\{"),
                }
            }
            '}' if !class => {
                // The end of a repetition, or itself.
                let open = out
                    .rfind('{')
                    .filter(|at| !out.get(..*at).unwrap_or("").ends_with('\\'));
                let inside = open.and_then(|at| out.get(at + 1..));
                let repetition = inside.is_some_and(|inside| {
                    !inside.is_empty() && inside.bytes().all(|b| b.is_ascii_digit() || b == b',')
                });
                out.push_str(if repetition { "}" } else { "\\}" });
            }
            c => out.push(c),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_go() {
        // Each answer is that of Go's `regexp.MatchString`.
        for (pattern, text, expected) in [
            ("^[[:alpha:]]+$", "ab", true),
            ("^[[:alpha:]]+$", "a]", false),
            ("^[^[:space:]]+$", "a b", false),
            ("^\\d+$", "\u{663}", false),
            ("^[\\d.]+$", "1.2", true),
            ("^\\w+$", "\u{e9}", false),
            ("^[\\w-]+$", "a-b_1", true),
            ("^[^\\s/]+$", "a/b", false),
            ("^a{2}$", "aa", true),
            ("^a{2,}$", "aaa", true),
            ("^a{,2}$", "a{,2}", true),
            ("^{x}$", "{x}", true),
            ("^[a&&b]$", "&", true),
            ("^[]a]$", "]", true),
            ("^[[]$", "[", true),
            ("^a\\.b\\-c\\/\\_\\<$", "a.b-c/_<", true),
            ("(?i)^AB$", "ab", true),
            ("^(a|b)?$", "", true),
            ("^.$", "\u{1f642}", true),
            ("^ab$", "ab\n", false),
            ("\\bab\\b", "x ab.", true),
            ("^\\x41\\x{42}\\pL$", "ABc", true),
        ] {
            assert_eq!(finds(pattern, text), Some(expected), "{pattern:?} {text:?}");
        }
        for pattern in ["(?=a)", "(a)\\1", "(", "[a--b]", "\\Q.\\E", "\\"] {
            assert_eq!(finds(pattern, "a"), None, "{pattern}");
        }
    }
}
