//! Texts that match a regular expression.

use regex_syntax::hir::{Class, Hir, HirKind};

/// Texts that are all listed.
const ALL: usize = 256;

/// Texts that are taken of a pattern that matches more.
const SOME: usize = 6;

/// All texts that match a pattern as a whole, where they are few.
pub(super) fn all(pattern: &str) -> Option<Vec<String>> {
    let hir = regex_syntax::parse(pattern).ok()?;
    let (texts, complete) = texts(&hir, ALL);
    complete.then_some(texts)
}

/// Some texts that match a pattern as a whole; whether they do is not certain.
pub(super) fn some(pattern: &str) -> Vec<String> {
    match regex_syntax::parse(pattern) {
        Ok(hir) => texts(&hir, SOME).0,
        Err(_) => Vec::new(),
    }
}

/// Texts of an expression, at most so many, and whether these are all.
fn texts(hir: &Hir, most: usize) -> (Vec<String>, bool) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => (vec![String::new()], true),
        HirKind::Literal(literal) => (vec![String::from_utf8_lossy(&literal.0).into_owned()], true),
        HirKind::Class(class) => {
            let mut found = Vec::new();
            let mut complete = true;
            let ranges: Vec<(char, char)> = match class {
                Class::Unicode(class) => class
                    .iter()
                    .map(|range| (range.start(), range.end()))
                    .collect(),
                Class::Bytes(class) => class
                    .iter()
                    .map(|range| (char::from(range.start()), char::from(range.end())))
                    .collect(),
            };
            for (start, end) in ranges {
                for letter in start..=end {
                    if found.len() >= most {
                        complete = false;
                        break;
                    }
                    found.push(letter.to_string());
                }
            }
            (found, complete)
        }
        HirKind::Repetition(repetition) => {
            let (one, complete) = texts(&repetition.sub, most);
            let limit = repetition.max.unwrap_or(u32::MAX);
            let mut found: Vec<String> = Vec::new();
            let mut last = vec![String::new()];
            let mut times = 0;
            let mut whole = true;
            loop {
                if times >= repetition.min {
                    found.extend(last.iter().cloned());
                }
                if times >= limit {
                    break;
                }
                if found.len() >= most || times > repetition.min.saturating_add(64) {
                    found.truncate(most);
                    return (found, false);
                }
                let (next, all) = products(&last, &one, most);
                if !all && times >= repetition.min {
                    return (found, false);
                }
                whole &= all;
                last = next;
                times += 1;
            }
            found.sort();
            found.dedup();
            let fits = found.len() <= most;
            found.truncate(most);
            (found, complete && whole && fits)
        }
        HirKind::Capture(capture) => texts(&capture.sub, most),
        HirKind::Concat(parts) => {
            let (mut found, mut complete) = (vec![String::new()], true);
            for part in parts {
                let (next, all) = texts(part, most);
                let (longer, fits) = products(&found, &next, most);
                complete &= all && fits;
                found = longer;
            }
            (found, complete)
        }
        HirKind::Alternation(parts) => {
            let (mut found, mut complete) = (Vec::new(), true);
            for part in parts {
                let (more, all) = texts(part, most);
                complete &= all;
                found.extend(more);
            }
            complete &= found.len() <= most;
            found.truncate(most);
            (found, complete)
        }
    }
}

/// Each of some texts followed by each of others, at most so many, and whether these are all.
fn products(left: &[String], right: &[String], most: usize) -> (Vec<String>, bool) {
    let mut found = Vec::new();
    for a in left {
        for b in right {
            if found.len() >= most {
                return (found, false);
            }
            found.push(format!("{a}{b}"));
        }
    }
    (found, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_texts_are_listed_and_many_are_not() {
        let listed = |pattern| {
            let mut texts = all(pattern)?;
            texts.sort();
            Some(texts.join(" "))
        };
        assert_eq!(
            listed("^(prod|dev)-[12]$").as_deref(),
            Some("dev-1 dev-2 prod-1 prod-2")
        );
        assert_eq!(listed("a{1,3}").as_deref(), Some("a aa aaa"));
        assert_eq!(listed("ab?c").as_deref(), Some("abc ac"));
        assert_eq!(listed("[a-z]+"), None);
        assert_eq!(listed("[0-9]{5}"), None);
        assert!(some("[a-z]+").contains(&"a".to_owned()));
        assert_eq!(some("[0-9]{5}").first().map(String::len), Some(5));
        assert!(all("(").is_none() && some("(").is_empty());
    }
}
