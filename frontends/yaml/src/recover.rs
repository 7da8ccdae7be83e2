//! More than the first syntax error: set the broken block aside and read again.

use locus_core::{Diagnostic, FileId, Span};

use super::build::{BREAK, Built, Failure, NOTHING, Problem, build, quoted_length};
use super::{Limits, Parsed};

/// Text above this size is read again only a few times, so that a broken large file stays quick.
const LARGE: usize = 1 << 20;

/// Quoted scalars of one file whose lines are joined.
const MAX_JOINS: usize = 200;

pub(super) fn parse(text: &str, file: FileId, limits: &Limits) -> Parsed {
    let mut parsed = Parsed::default();
    let mut current: Option<String> = None;
    let mut previous: Option<usize> = None;
    let mut widen = 0;
    let mut attempts = if text.len() > LARGE {
        4
    } else {
        3 * limits.errors
    };
    let mut lenient: Option<Joined> = None;
    let mut joins = 0;
    while attempts > 0 {
        let failure = match build(current.as_deref().unwrap_or(text), file, limits) {
            Ok(Built {
                documents,
                duplicates,
            }) => {
                parsed.documents = documents;
                parsed.duplicates = duplicates;
                return parsed;
            }
            Err(failure) => failure,
        };
        // Quoted text and lists in brackets whose lines are not indented: wrong by the book, and read by every parser in use.
        match lenient
            .take()
            .filter(|joined| failure.at <= joined.line_end)
        {
            // Joining did not help: the quote is not closed where it seems to be.
            Some(joined) if !(limits.lenient && failure.is_escape()) => {
                current = Some(joined.before);
            }
            _ => {
                let read = current.as_deref().unwrap_or(text);
                let joined = join_quoted(read, &failure)
                    .or_else(|| join_flow(read, &failure, limits.lenient))
                    .or_else(|| unescape(read, &failure).filter(|_| limits.lenient))
                    .or_else(|| pair_surrogates(read, &failure));
                if let Some(joined) = joined.filter(|_| joins < MAX_JOINS) {
                    current = Some(joined.after.clone());
                    lenient = Some(joined);
                    joins += 1;
                    continue;
                }
            }
        }
        attempts -= 1;
        let read = current.as_deref().unwrap_or(text);
        let report = Report::new(read, &failure);
        // The same place again: what was set aside was too little.
        let stuck = previous.is_some_and(|at| report.block_line(read) <= at);
        if stuck {
            widen += 1;
        } else if report.closes_what_was_set_aside && !parsed.diagnostics.is_empty() {
            widen = 0;
        } else {
            widen = 0;
            parsed.diagnostics.push(report.diagnostic(file));
        }
        if report.fatal || parsed.diagnostics.len() >= limits.errors {
            parsed.broken.push(Span::new(file, 0, text.len()));
            return parsed;
        }
        let block = block_around(read, report.blank_from, widen);
        previous = Some(block.start.max(previous.unwrap_or(0)));
        if block.is_empty() {
            break;
        }
        parsed.broken.push(Span::new(file, block.start, block.end));
        let blanked = current.get_or_insert_with(|| text.to_owned());
        blank(blanked, block);
    }
    parsed.broken.push(Span::new(file, 0, text.len()));
    parsed
}

impl Failure {
    /// Whether it is about an escape that is not known.
    fn is_escape(&self) -> bool {
        matches!(&self.problem, Problem::Syntax(info) if info.contains("escape"))
    }
}

/// A text in which the lines of one quoted scalar have been joined.
struct Joined {
    before: String,
    after: String,
    /// The end of the line on which the scalar ends.
    line_end: usize,
}

/// Joins the lines of the quoted scalar at which reading failed, byte for byte: the break becomes a
/// space, or the marks that [`super::build`] turns back into line breaks and nothing.
fn join_quoted(text: &str, failure: &Failure) -> Option<Joined> {
    let Problem::Syntax(info) = &failure.problem else {
        return None;
    };
    if !info.contains("indentation in quoted scalar") {
        return None;
    }
    let written = text.get(failure.at..)?;
    let length = quoted_length(written)?;
    let end = failure.at + length;
    let mut after = String::with_capacity(text.len());
    after.push_str(text.get(..failure.at)?);
    let mut rest = text.get(failure.at..end)?;
    while let Some(newline) = rest.find('\n') {
        let before = rest.get(..newline)?;
        let kept = before.trim_end_matches([' ', '\t', '\r']);
        let tail = rest.get(newline..)?;
        let next = tail.trim_start_matches([' ', '\t', '\r', '\n']);
        let gap = rest.get(kept.len()..rest.len() - next.len())?;
        let breaks = gap.matches('\n').count();
        after.push_str(kept);
        if breaks == 1 {
            after.push(' ');
        } else {
            after.extend(std::iter::repeat_n(BREAK, breaks - 1));
            after.push(NOTHING);
        }
        let written = if breaks == 1 { 1 } else { breaks };
        after.extend(std::iter::repeat_n(NOTHING, gap.len() - written));
        rest = next;
    }
    after.push_str(rest);
    after.push_str(text.get(end..)?);
    (after.len() == text.len()).then(|| Joined {
        before: text.to_owned(),
        after,
        line_end: line_end(text, end),
    })
}

/// Takes the backslash away before single quotes in the double-quoted text at which reading failed.
fn unescape(text: &str, failure: &Failure) -> Option<Joined> {
    if !failure.is_escape() {
        return None;
    }
    let before = text.get(..=failure.at)?;
    let mut quotes = before.rmatch_indices('"').map(|(at, _)| at);
    let start = quotes.find(|&at| !before.get(..at).is_some_and(|text| text.ends_with('\\')))?;
    let length = quoted_length(text.get(start..)?)?;
    let end = start + length;
    let mut after = String::with_capacity(text.len());
    after.push_str(text.get(..start)?);
    let mut rest = text.get(start..end)?;
    while let Some(at) = rest.find('\\') {
        after.push_str(rest.get(..at)?);
        let escaped = rest.get(at + 1..)?.chars().next()?;
        after.push(if escaped == '\'' { NOTHING } else { '\\' });
        after.push(escaped);
        rest = rest.get(at + 1 + escaped.len_utf8()..)?;
    }
    after.push_str(rest);
    after.push_str(text.get(end..)?);
    (after != text).then(|| Joined {
        before: text.to_owned(),
        after,
        line_end: line_end(text, end),
    })
}

/// The bytes of half of a character beyond the first 65,536, as JSON writes it: `\ud83d`.
const SURROGATE: usize = 6;

/// JSON writes such a character as two halves, which YAML does not know: byte for byte, each pair becomes one escape that YAML
/// has. Only where the file is JSON, as whoever reads YAML refuses them.
fn pair_surrogates(text: &str, failure: &Failure) -> Option<Joined> {
    if !failure.is_escape() || !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let mut after = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.find('\\') {
        after.push_str(rest.get(..next)?);
        let escape = rest.get(next..)?;
        let halves = (half_of(escape), escape.get(SURROGATE..).and_then(half_of));
        let pair = match halves {
            (Some(high), Some(low)) => char::decode_utf16([high, low]).next()?.ok(),
            _ => None,
        };
        let length = match pair {
            Some(character) => {
                after.push_str(&format!("\\U{:08X}", u32::from(character)));
                after.extend([NOTHING, NOTHING]);
                2 * SURROGATE
            }
            None => {
                let length = 1 + escape.chars().nth(1)?.len_utf8();
                after.push_str(escape.get(..length)?);
                length
            }
        };
        rest = escape.get(length..)?;
    }
    after.push_str(rest);
    (after.len() == text.len() && after != text).then(|| Joined {
        before: text.to_owned(),
        after,
        // What fails next has another cause, wherever it is.
        line_end: 0,
    })
}

/// The number of an escape of four hexadecimal digits.
fn half_of(escape: &str) -> Option<u16> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    let all = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    all.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
}

/// The first escape in the double-quoted text at an offset that YAML does not have.
fn wrong_escape(text: &str, quote: usize) -> Option<std::ops::Range<usize>> {
    let mut at = quote + 1;
    loop {
        let rest = text.get(at..)?;
        at += rest.find('\\')?;
        let escape = text.get(at..)?;
        let sign = escape.chars().nth(1)?;
        let digits = match sign {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        let length = 1 + sign.len_utf8();
        let number = escape.get(length..length + digits).filter(|_| digits > 0);
        let number = number.map(|digits| u32::from_str_radix(digits, 16).ok());
        let known = match number {
            Some(number) => number.and_then(char::from_u32).is_some(),
            None => "0abt\tnvfre \"/\\N_LP\n\r".contains(sign) && digits == 0,
        };
        if !known {
            let whole = number.flatten().is_some();
            return Some(at..at + length + if whole { digits } else { 0 });
        }
        at += length + digits;
    }
}

/// Joins the lines of a list or map in brackets of which one is not indented, or with a tab.
fn join_flow(text: &str, failure: &Failure, tabs: bool) -> Option<Joined> {
    let Problem::Syntax(info) = &failure.problem else {
        return None;
    };
    let indentation = info.contains("invalid indentation");
    if !(indentation || tabs && info.contains("tab")) {
        return None;
    }
    let open = failure.open_flows.first().copied();
    let open = open.or_else(|| open_before(text, failure.at).filter(|_| tabs))?;
    let breaks = breaks_within(text.get(open..)?)?;
    if breaks.is_empty() {
        return None;
    }
    let mut after = String::with_capacity(text.len());
    let mut from = 0;
    for at in breaks {
        after.push_str(text.get(from..open + at)?);
        after.push(' ');
        from = open + at + 1;
    }
    after.push_str(text.get(from..)?);
    Some(Joined {
        before: text.to_owned(),
        after,
        line_end: line_end(text, failure.at),
    })
}

/// How many brackets before a place are looked at.
const NEAR: usize = 32;

/// The bracket that is open at the start of the line of a place, where the parser has told of none yet: it may be a key.
fn open_before(text: &str, at: usize) -> Option<usize> {
    let line = text.get(..at)?.rfind('\n')?;
    let before = text.get(..line)?.rmatch_indices(['[', '{']).take(NEAR);
    before.map(|(open, _)| open).find(|&open| {
        let breaks = text.get(open..).and_then(breaks_within);
        breaks.is_some_and(|breaks| breaks.contains(&(line - open)))
    })
}

/// The line breaks up to the bracket that closes the one that a text starts with, but for those in quotes; none if it is not
/// closed, each bracket within by its own, if there are comments, which end with their lines, or if no comma or bracket
/// separates two lines: the second may be another key.
fn breaks_within(text: &str) -> Option<Vec<usize>> {
    let mut due = Vec::new();
    let mut breaks = Vec::new();
    let mut at = 0;
    let mut before = ' ';
    // What the last line with something in it ends with, at the start of the next one.
    let mut ended = None;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let mut length = c.len_utf8();
        if !c.is_whitespace()
            && let Some(last) = ended.take()
            && !matches!(last, ',' | '[' | '{')
            && !matches!(c, ',' | ']' | '}')
        {
            return None;
        }
        match c {
            '[' => due.push(']'),
            '{' => due.push('}'),
            ']' | '}' => {
                if due.pop() != Some(c) {
                    return None;
                }
                if due.is_empty() {
                    return Some(breaks);
                }
            }
            '\n' | '\r' => {
                breaks.push(at);
                if ended.is_none() {
                    ended = text.get(..at)?.trim_end().chars().next_back();
                }
            }
            // A quote within a word is a part of it.
            '"' | '\'' if !before.is_alphanumeric() => {
                length = quoted_length(text.get(at..)?).filter(|quoted| *quoted > 0)?;
            }
            '#' if before.is_whitespace() => return None,
            _ => {}
        }
        before = c;
        at += length;
    }
    None
}

/// One error, in the user's words and at the place that is to blame.
struct Report {
    message: String,
    help: Option<String>,
    start: usize,
    end: usize,
    /// A byte of the line from which to set text aside.
    blank_from: usize,
    fatal: bool,
    /// A closing bracket whose opening one may be in a block set aside: no news then.
    closes_what_was_set_aside: bool,
}

impl Report {
    fn new(text: &str, failure: &Failure) -> Report {
        let at = failure.at.min(text.len());
        let one = |at: usize| {
            let len = text
                .get(at..)
                .and_then(|rest| rest.chars().next())
                .filter(|c| *c != '\n' && *c != '\r')
                .map_or(0, char::len_utf8);
            (at, at + len)
        };
        let mut report = Report {
            message: String::new(),
            help: None,
            start: one(at).0,
            end: one(at).1,
            blank_from: at,
            fatal: false,
            closes_what_was_set_aside: false,
        };
        if let Some(&outermost) = failure.open_flows.first() {
            report.blank_from = outermost;
        }
        let mut say = |message: &str, help: &str| {
            report.message = message.into();
            report.help = (!help.is_empty()).then(|| help.into());
        };
        let info = match &failure.problem {
            Problem::TooDeep => {
                say(
                    "this file nests maps and lists too deeply to be read",
                    "no configuration needs this: check how the file was made",
                );
                report.fatal = true;
                return report;
            }
            Problem::TooManyAliases => {
                say(
                    "the aliases of this file multiply to more nodes than can be checked",
                    "an alias of a list of aliases grows with every level: write out less",
                );
                report.fatal = true;
                return report;
            }
            Problem::Syntax(info) => info.as_str(),
        };
        let has = |words: &str| info.contains(words);
        let about_a_scalar = [
            "anchor",
            "alias",
            "quoted",
            "escape",
            "unexpected character",
        ]
        .iter()
        .any(|words| has(words));
        if has("recursion limit") {
            say(
                "this file nests maps and lists too deeply to be read",
                "no configuration needs this: check how the file was made",
            );
            report.fatal = true;
        } else if has("tab") && tab_indent(text, at).is_some() {
            say("a tab cannot indent YAML", "replace the tab with spaces");
            if let Some(tab) = tab_indent(text, at) {
                (report.start, report.end) = (tab, tab + 1);
                report.blank_from = tab;
            }
        } else if let Some(&bracket) = failure.open_flows.last().filter(|_| !about_a_scalar) {
            let open = text.get(bracket..=bracket).unwrap_or("[");
            let close = if open == "{" { "}" } else { "]" };
            say(&format!("`{open}` is not closed with `{close}`"), "");
            report.help = Some(format!(
                "the list or map that starts here was still open when this was reached: {}",
                line_of(text, at)
            ));
            (report.start, report.end) = (bracket, bracket + 1);
        } else if has("mapping values are not allowed") || has("illegal placement of ':'") {
            say(
                "a `:` is not allowed here",
                "quote the text if the `:` belongs to it; otherwise a line before this one lacks its \
                 `:`, or is indented differently",
            );
        } else if let Some((start, end)) = has("simple key expect")
            .then(|| half_key(text, at))
            .flatten()
        {
            say(
                "this key lacks its `:`",
                "write `key: value`, with a space after the `:`",
            );
            (report.start, report.end) = (start, end);
            report.blank_from = start;
        } else if has("did not find expected key") || has("did not find expected '-'") {
            say(
                "this line does not fit the indentation of the lines around it",
                "align it with the other keys or items of its block",
            );
        } else if has("unknown anchor") {
            let name = word(text, at);
            say(
                &format!("the alias `{name}` names no anchor"),
                "an anchor `&name` must come before the alias `*name`",
            );
            report.end = at + name.len();
        } else if has("alias to an enclosing node") {
            let name = word(text, at);
            say(
                &format!("the alias `{name}` stands for a node that contains it"),
                "such a value has no end: write the part out",
            );
            report.end = at + name.len();
        } else if has("trailing content") {
            say(
                "text follows a closing quote",
                "a quote within single-quoted text is written twice, within double-quoted text as \\\"",
            );
        } else if has("escape") {
            let escape = wrong_escape(text, at).unwrap_or(at..at + 1);
            let written = text.get(escape.clone()).unwrap_or("");
            if written.len() == SURROGATE {
                say(
                    &format!("`{written}` is half of a character"),
                    "write the character itself, or `\\U` and its eight digits",
                );
            } else {
                say(
                    &format!("`{written}` is not an escape of double-quoted text"),
                    "write a backslash as `\\\\`, or use single quotes",
                );
            }
            (report.start, report.end) = (escape.start, escape.end);
        } else if has("quoted scalar") {
            say(
                "this quoted text is not closed",
                "add the closing quote, or double a quote that belongs to the text",
            );
        } else if has("unexpected character") {
            let (start, end) = one(at);
            let found = text.get(start..end).unwrap_or("");
            say(
                &format!("text cannot start with `{found}`"),
                "put the text in quotes",
            );
        } else if has("misplaced bracket") {
            say(
                "this bracket closes nothing",
                "remove it, or add the opening bracket",
            );
            report.closes_what_was_set_aside = true;
        } else {
            say(&format!("this is not valid YAML: {info}"), "");
        }
        report
    }

    fn block_line(&self, text: &str) -> usize {
        line_start(text, self.blank_from)
    }

    fn diagnostic(&self, file: FileId) -> Diagnostic {
        Diagnostic::error("syntax", self.message.clone())
            .at(Span::new(file, self.start, self.end))
            .maybe_help(self.help.clone())
    }
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at)
        .and_then(|before| before.rfind('\n'))
        .map_or(0, |newline| newline + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    text.get(at..)
        .and_then(|rest| rest.find('\n'))
        .map_or(text.len(), |newline| at + newline + 1)
}

/// The last line before a place that is not empty, when it has no `:`.
fn half_key(text: &str, at: usize) -> Option<(usize, usize)> {
    let before = text.get(..at)?.trim_end();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.get(start..)?;
    let indent = line.len() - line.trim_start().len();
    (!line.contains(':')).then_some((start + indent, before.len()))
}

/// The line that holds a byte, for quoting in a message.
fn line_of(text: &str, at: usize) -> String {
    let line = text
        .get(line_start(text, at)..line_end(text, at))
        .unwrap_or("");
    let line = line.trim();
    if line.is_empty() {
        return "the end of the file".into();
    }
    let short: String = line.chars().take(40).collect();
    format!("`{short}`")
}

fn word(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or("");
    let end = rest
        .find(|c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}'))
        .unwrap_or(rest.len());
    rest.get(..end).unwrap_or("")
}

/// The first tab in the indentation of a line, from the line of `at` on.
fn tab_indent(text: &str, at: usize) -> Option<usize> {
    let mut line = line_start(text, at);
    while line < text.len() {
        let rest = text.get(line..)?;
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if let Some(tab) = rest.get(..blank).and_then(|indent| indent.find('\t')) {
            return Some(line + tab);
        }
        line = line_end(text, line);
    }
    None
}

/// The lines to set aside: the line of `at` and what is indented below it, or, `widen` levels up,
/// the block that holds it.
fn block_around(text: &str, at: usize, widen: usize) -> std::ops::Range<usize> {
    let mut start = line_start(text, at);
    // An error at the end of the file, or on a line already set aside, belongs to text before it.
    while start > 0 && is_blank(text, start) {
        start = line_start(text, start - 1);
    }
    let mut indent = indentation(text, start);
    for _ in 0..widen {
        let mut up = start;
        while up > 0 {
            up = line_start(text, up - 1);
            if !is_blank(text, up) && (indentation(text, up) < indent || indent == 0) {
                break;
            }
        }
        start = up;
        indent = indentation(text, start);
    }
    let mut end = line_end(text, start);
    while end < text.len() {
        let deeper = is_blank(text, end) || indentation(text, end) > indent;
        let closes = text
            .get(end..line_end(text, end))
            .is_some_and(|line| line.trim().bytes().all(|b| matches!(b, b']' | b'}' | b',')));
        if !deeper && !closes {
            break;
        }
        end = line_end(text, end);
    }
    if is_blank(text, start) {
        return start..start;
    }
    start..end
}

fn is_blank(text: &str, line: usize) -> bool {
    text.get(line..line_end(text, line))
        .is_none_or(|line| line.trim().is_empty())
}

fn indentation(text: &str, line: usize) -> usize {
    let rest = text.get(line..).unwrap_or("");
    rest.len() - rest.trim_start_matches([' ', '\t']).len()
}

/// Overwrites lines with spaces, so that all later offsets stay what they are.
fn blank(text: &mut String, range: std::ops::Range<usize>) {
    let blanked: String = text
        .get(range.clone())
        .unwrap_or("")
        .bytes()
        .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
        .collect();
    if blanked.len() == range.len() {
        text.replace_range(range, &blanked);
    }
}
