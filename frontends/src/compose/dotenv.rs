//! Environment files: `KEY=value` lines with quotes, comments and variables, as Compose reads them.

use std::ops::Range;

/// One line of an environment file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The name.
    pub key: String,
    /// Where the name is.
    pub key_range: Range<usize>,
    /// The value; `None` when only the name is written, and the value is that of the shell.
    pub value: Option<Raw>,
}

/// A value as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raw {
    /// The text, with quotes and escapes undone; a literal `$` is `$$`.
    pub text: String,
    /// Whether variables in it are to be replaced.
    pub interpolate: bool,
    /// Where it is.
    pub range: Range<usize>,
}

/// A line that is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Where.
    pub range: Range<usize>,
    /// Why.
    pub reason: String,
}

/// Reads an environment file: the lines understood, and those that are not.
pub fn parse(text: &str) -> (Vec<Line>, Vec<BadLine>) {
    let mut lines = Vec::new();
    let mut bad = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = text.get(at..).unwrap_or("");
        let end_of_line = at + rest.find('\n').unwrap_or(rest.len());
        let line = text.get(at..end_of_line).unwrap_or("");
        let content = line.trim_start();
        if content.trim_end().is_empty() || content.starts_with('#') {
            at = end_of_line + 1;
            continue;
        }
        let mut start = at + (line.len() - content.len());
        if let Some(after) = content.strip_prefix("export") {
            let name = after.trim_start();
            if name.len() < after.len() && !name.starts_with('=') {
                start = end_of_line - name.len();
            }
        }
        match entry(text, start, end_of_line) {
            Ok((line, next)) => {
                lines.push(line);
                at = next;
            }
            Err(error) => {
                bad.push(error);
                at = end_of_line + 1;
            }
        }
    }
    (lines, bad)
}

/// Reads the entry that starts at `start`: it, and where the next line starts.
fn entry(text: &str, start: usize, end_of_line: usize) -> Result<(Line, usize), BadLine> {
    let line = text.get(start..end_of_line).unwrap_or("");
    let separator = line.find(['=', ':']);
    let name = separator
        .and_then(|at| line.get(..at))
        .unwrap_or(line)
        .trim_end();
    // A name alone may be followed by a comment.
    let name = match (separator, name.find(" #")) {
        (None, Some(at)) => name.get(..at).unwrap_or(name).trim_end(),
        _ => name,
    };
    let key_range = start..start + name.len();
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '[' | ']');
    if let Some((offset, c)) = name.char_indices().find(|&(_, c)| !allowed(c)) {
        return Err(BadLine {
            range: start + offset..start + offset + c.len_utf8(),
            reason: format!("`{c}` cannot be part of a variable name"),
        });
    }
    if name.is_empty() {
        return Err(BadLine {
            range: start..end_of_line.max(start),
            reason: "no variable name stands before the value".into(),
        });
    }
    let line = |value| Line {
        key: name.to_owned(),
        key_range,
        value,
    };
    let Some(separator) = separator else {
        return Ok((line(None), end_of_line + 1));
    };
    let after = start + separator + 1;
    let blank = text
        .get(after..end_of_line)
        .map_or(0, |rest| rest.len() - rest.trim_start().len());
    let from = after + blank;
    match text.as_bytes().get(from) {
        Some(quote @ (b'\'' | b'"')) if from < end_of_line => {
            let (raw, end) = quoted(text, from, char::from(*quote))?;
            let rest = text.get(end..).unwrap_or("");
            let next = end + rest.find('\n').map_or(rest.len(), |at| at + 1);
            Ok((line(Some(raw)), next))
        }
        _ => {
            let value = text.get(from..end_of_line).unwrap_or("");
            let value = match comment(value) {
                Some(at) => value.get(..at).unwrap_or(value),
                None => value,
            }
            .trim_end();
            let raw = Raw {
                text: value.to_owned(),
                interpolate: true,
                range: from..from + value.len(),
            };
            Ok((line(Some(raw)), end_of_line + 1))
        }
    }
}

/// Where a comment starts in an unquoted value: at a `#` after a blank, or at once.
fn comment(value: &str) -> Option<usize> {
    value.char_indices().find_map(|(at, c)| {
        let blank = value
            .get(..at)
            .and_then(|before| before.chars().next_back())
            .is_none_or(char::is_whitespace);
        (c == '#' && blank).then_some(at)
    })
}

fn quoted(text: &str, from: usize, quote: char) -> Result<(Raw, usize), BadLine> {
    let body = text.get(from + 1..).unwrap_or("");
    let mut out = String::new();
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == quote {
            let end = from + 1 + at + 1;
            let raw = Raw {
                text: out,
                interpolate: quote == '"',
                range: from..end,
            };
            return Ok((raw, end));
        }
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some((_, escaped)) = chars.next() else {
            break;
        };
        match (quote, escaped) {
            ('"', 'n') => out.push('\n'),
            ('"', 'r') => out.push('\r'),
            ('"', 't') => out.push('\t'),
            ('"', '$') => out.push_str("$$"),
            ('"', '"' | '\\') | ('\'', '\'') => out.push(escaped),
            _ => out.extend(['\\', escaped]),
        }
    }
    let line = body.find('\n').unwrap_or(body.len());
    Err(BadLine {
        range: from..from + 1 + line,
        reason: format!("the closing `{quote}` is missing"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(text: &str) -> Vec<(String, Option<(String, bool)>)> {
        let (lines, bad) = parse(text);
        assert_eq!(bad, [], "{text}");
        lines
            .into_iter()
            .map(|line| {
                let value = line.value.map(|raw| (raw.text, raw.interpolate));
                (line.key, value)
            })
            .collect()
    }

    fn one(text: &str) -> Option<(String, bool)> {
        let mut values = values(text);
        assert_eq!(values.len(), 1, "{text}");
        values.remove(0).1
    }

    #[test]
    fn values_are_read_as_compose_reads_them() {
        let open = |text: &str| Some((text.to_owned(), true));
        let literal = |text: &str| Some((text.to_owned(), false));
        assert_eq!(one("A=b"), open("b"));
        assert_eq!(one("A= b # comment"), open("b"));
        assert_eq!(one("A=b#c"), open("b#c"));
        assert_eq!(one("A=#c"), open(""));
        assert_eq!(one("A="), open(""));
        assert_eq!(one("A"), None);
        assert_eq!(one("A: b"), open("b"), "the form of YAML is accepted");
        assert_eq!(one("export A=b\r\n"), open("b"));
        assert_eq!(one("A='b # c' # d"), literal("b # c"));
        assert_eq!(one("A=\"b\\n\\$c\""), open("b\n$$c"));
        assert_eq!(one("A=\"two\nlines\""), open("two\nlines"));
        assert_eq!(one("A=b=c:d"), open("b=c:d"));
        assert_eq!(
            values("# x\n\nA=1\n  B='2'\nexport=3"),
            [
                ("A".to_owned(), open("1")),
                ("B".to_owned(), literal("2")),
                ("export".to_owned(), open("3")),
            ]
        );
    }

    #[test]
    fn bad_lines_are_reported_and_the_others_read() {
        let (lines, bad) = parse("A%=1\nB=2\n=3\nC='x");
        assert_eq!(lines.len(), 1);
        let ranges: Vec<_> = bad.iter().map(|bad| bad.range.clone()).collect();
        assert_eq!(ranges, [1..2, 9..11, 14..16]);
    }

    proptest! {
        #[test]
        fn ranges_lie_on_characters(text in "[A-C='\"\\\\#é\n $:%]{0,60}") {
            let (lines, bad) = parse(&text);
            for line in lines {
                prop_assert_eq!(text.get(line.key_range), Some(line.key.as_str()));
                if let Some(raw) = line.value {
                    prop_assert!(text.get(raw.range).is_some());
                }
            }
            for line in bad {
                prop_assert!(text.get(line.range).is_some());
            }
        }
    }
}
