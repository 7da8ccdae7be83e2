//! Comments that ignore a rule where it is broken on purpose: `# locus: ignore HOT221 -- both are the same machine`.
//!
//! A comment at the end of a line is about that line. A comment on a line of its own is about the block that comes next: the
//! next line, and all below it that is indented more; at the head of a document that starts with `---`, about the document. A reason is required, and a comment that ignores nothing is reported:
//! it would hide what comes next.

use locus_core::{Diagnostic, FileId, Sources, Span};
use locus_frontends::yaml::{self, Kind, Node, Style};

use crate::catalogue;

/// What a comment to this program starts with.
const SIGN: &str = "locus:";
/// What it says.
const IGNORE: &str = "ignore";
/// Words of other programs for the same.
const ALIKE: &[&str] = &[
    "allow", "disable", "noqa", "nolint", "off", "skip", "suppress",
];

/// A comment, and what it ignores.
#[derive(Clone, Debug)]
pub(super) struct Ignore {
    /// Where it stands.
    span: Span,
    /// The rules, by identifier, each with its place.
    rules: Vec<(String, Span)>,
    /// Why.
    reason: String,
    /// The first and the last line that it is about, from 1.
    lines: (usize, usize),
}

/// The comment that ignores a rule in the line of a place, and the byte where it is inserted as a line of its own; none for
/// what cannot be ignored. The reason is for the user to write.
pub fn comment_for(text: &str, offset: usize, rule: &str) -> Option<(usize, String)> {
    catalogue::find(rule, std::iter::once(rule).filter(|_| is_own(rule))).ok()?;
    let start = text.get(..offset)?.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(start..)?.lines().next()?;
    let indent = line.get(..line.len() - line.trim_start_matches(' ').len())?;
    Some((
        start,
        format!("{indent}# {SIGN} {IGNORE} {rule} -- why it is all right here\n"),
    ))
}

/// Whether a code can only be that of a rule of the user's own.
fn is_own(rule: &str) -> bool {
    catalogue::documentation(rule).is_none()
}

/// The comments of some sources, and what is wrong with them.
pub(super) fn read<'a>(
    sources: &Sources,
    own: impl Iterator<Item = &'a str> + Clone,
) -> (Vec<Ignore>, Vec<Diagnostic>) {
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for file in sources.files() {
        if sources.text(file).contains(SIGN) {
            read_file(file, sources, own.clone(), &mut found, &mut wrong);
        }
    }
    (found, wrong)
}

fn read_file<'a>(
    file: FileId,
    sources: &Sources,
    own: impl Iterator<Item = &'a str> + Clone,
    found: &mut Vec<Ignore>,
    wrong: &mut Vec<Diagnostic>,
) {
    let text = sources.text(file);
    let scalars = scalars(file, text);
    let lines: Vec<&str> = text.split('\n').collect();
    let mut start = 0;
    for (index, line) in lines.iter().enumerate() {
        let from = start;
        start += line.len() + 1;
        let Some((at, rest)) = comment(line) else {
            continue;
        };
        let begin = from + at;
        // What looks like a comment within a text is text.
        if scalars
            .iter()
            .any(|&(start, end)| start <= begin && begin < end)
        {
            continue;
        }
        let whole = line.trim_end();
        let span = Span::new(file, begin, from + whole.len());
        let word = rest.split([' ', '\t']).next().unwrap_or_default();
        let Some(rest) = rest.strip_prefix(IGNORE).filter(|_| word == IGNORE) else {
            let is_alike = ALIKE.contains(&word)
                || locus_core::suggest::did_you_mean(word, [IGNORE]).is_some();
            // Other words are prose.
            if is_alike {
                let start = from + whole.len() - rest.len();
                let place = Span::new(file, start, start + word.len());
                let message = format!("a comment cannot say `{word}`, and ignores nothing");
                let help = format!("`# {SIGN} {IGNORE} RULE -- why it is all right here`");
                wrong.push(Diagnostic::error("ignore", message).at(place).help(help));
            }
            continue;
        };
        let rest_at = from + whole.len() - rest.len();
        let (names, reason) = match rest.split_once("--") {
            Some((names, reason)) => (names, reason.trim()),
            None => (rest, ""),
        };
        if reason.is_empty() {
            let message = "a comment that ignores a rule needs a reason".to_owned();
            let help = format!("`# {SIGN} {IGNORE} RULE -- why it is all right here`");
            wrong.push(Diagnostic::error("ignore", message).at(span).help(help));
            continue;
        }
        let mut rules = Vec::new();
        if names.trim_matches(is_between).is_empty() {
            let message = "a comment that ignores a rule names it".to_owned();
            wrong.push(Diagnostic::error("ignore", message).at(span));
            continue;
        }
        let mut offset = rest_at;
        for name in names.split(is_between) {
            let name_at = offset;
            offset += name.len() + 1;
            if name.is_empty() {
                continue;
            }
            let place = Span::new(file, name_at, name_at + name.len());
            match catalogue::find(name, own.clone()) {
                Ok(id) => rules.push((id, place)),
                Err(refused) => {
                    let diagnostic = Diagnostic::error("ignore", refused.message);
                    wrong.push(diagnostic.at(place).maybe_help(refused.help));
                }
            }
        }
        let about = if line.trim_start().starts_with('#') {
            block(&lines, index)
        } else {
            (index + 1, index + 1)
        };
        found.push(Ignore {
            span,
            rules,
            reason: reason.to_owned(),
            lines: about,
        });
    }
}

/// What stands between the rules of a comment.
fn is_between(c: char) -> bool {
    matches!(c, ',' | ' ' | '\t')
}

/// Where the comment of a line starts, if it is one to this program, and what it says.
fn comment(line: &str) -> Option<(usize, &str)> {
    line.match_indices(SIGN).find_map(|(at, _)| {
        let before = line.get(..at)?;
        let hash = before.trim_end();
        // `#` starts a comment only after a space or at the start of a line.
        let hash_at = hash.len().checked_sub(1)?;
        let before = hash.strip_suffix('#')?;
        let said = line.get(at + SIGN.len()..)?.trim();
        (before.is_empty() || before.ends_with([' ', '\t'])).then_some((hash_at, said))
    })
}

/// The lines of the block that comes after a line, from 1.
fn block(lines: &[&str], comment: usize) -> (usize, usize) {
    let is_blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let mut rest = lines.iter().enumerate().skip(comment + 1);
    let Some((first, head)) = rest.find(|(_, line)| !is_blank(line)) else {
        return (comment + 1, comment + 1);
    };
    // At the head of a document that says where it starts, before or after the line that says so.
    let mut before = lines.get(..comment).unwrap_or(&[]).iter().rev();
    let heads = before
        .find(|line| !is_blank(line))
        .is_some_and(|line| is_start(line));
    if heads || is_start(head) {
        let within = rest.take_while(|(_, line)| !is_start(line) && line.trim_end() != "...");
        // A comment at its end is about the next document.
        let last = within.filter(|(_, line)| !is_blank(line)).last();
        return (first + 1, last.map_or(first, |(index, _)| index) + 1);
    }
    let depth = indent(head);
    let is_item = |line: &str| line.trim_start().starts_with("- ") || line.trim() == "-";
    let mut last = first;
    for (index, line) in rest {
        if is_blank(line) {
            continue;
        }
        // The items of a list may stand as far left as the key that they belong to.
        let inside =
            indent(line) > depth || (indent(line) == depth && is_item(line) && !is_item(head));
        if !inside {
            break;
        }
        last = index;
    }
    (first + 1, last + 1)
}

/// Whether a document starts with a line.
fn is_start(line: &str) -> bool {
    let after = line.strip_prefix("---");
    after.is_some_and(|after| after.is_empty() || after.starts_with([' ', '\t', '\r']))
}

/// Where texts stand that may hold anything: quoted and in blocks.
fn scalars(file: FileId, text: &str) -> Vec<(usize, usize)> {
    let parsed = yaml::parse_text(text, file, &yaml::Limits::default());
    let mut found = Vec::new();
    let mut todo: Vec<&Node> = parsed
        .documents
        .iter()
        .map(|document| &document.root)
        .collect();
    while let Some(node) = todo.pop() {
        match &node.kind {
            Kind::Scalar(scalar) if scalar.style != Style::Plain => {
                found.push((node.span.start as usize, node.span.end as usize));
            }
            Kind::Scalar(_) => {}
            Kind::Sequence(items) => todo.extend(items),
            Kind::Mapping(mapping) => {
                todo.extend(
                    mapping
                        .entries
                        .iter()
                        .flat_map(|entry| [&entry.key, &entry.value]),
                );
            }
        }
    }
    found
}

/// What comments made of findings.
pub(super) struct Applied {
    /// What is ignored, with the reason.
    pub(super) ignored: Vec<(Diagnostic, String)>,
    /// The places of the rules in comments that ignored something.
    pub(super) used: Vec<Span>,
    /// What is wrong with the comments; those that ignore nothing included.
    pub(super) wrong: Vec<Diagnostic>,
}

/// Takes what comments ignore out of the findings. Whether a rule was checked at all decides whether a comment about it can
/// be unused.
pub(super) fn apply<'a>(
    findings: &mut Vec<Diagnostic>,
    sources: &Sources,
    own: impl Iterator<Item = &'a str> + Clone,
    is_checked: impl Fn(&str) -> bool,
) -> Applied {
    let (comments, mut wrong) = read(sources, own);
    let (mut ignored, mut used) = (Vec::new(), Vec::new());
    if !comments.is_empty() {
        findings.retain(|finding| {
            let Some(span) = finding.primary() else {
                return true;
            };
            let line = sources.start(span).line;
            let mut about = comments.iter().filter(|comment| {
                let (first, last) = comment.lines;
                comment.span.file == span.file && (first..=last).contains(&line)
            });
            let hit = about.find_map(|comment| {
                let mut rules = comment.rules.iter();
                let (_, place) = rules.find(|(id, _)| *id == finding.code)?;
                Some((comment, *place))
            });
            let Some((comment, place)) = hit else {
                return true;
            };
            used.push(place);
            ignored.push((finding.clone(), comment.reason.clone()));
            false
        });
    }
    for comment in &comments {
        for (id, place) in &comment.rules {
            if !used.contains(place) && is_checked(id) {
                wrong.push(unused(id, *place));
            }
        }
    }
    Applied {
        ignored,
        used,
        wrong,
    }
}

fn unused(id: &str, place: Span) -> Diagnostic {
    Diagnostic::warning("ignore", format!("nothing here breaks `{id}`"))
        .at(place)
        .help("remove it, or put it on a line of its own above what it is about")
}

/// Whether a diagnostic says that a comment ignores nothing.
pub(super) fn is_unused(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == "ignore" && diagnostic.message.starts_with("nothing here breaks")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> (Vec<(usize, usize)>, Vec<String>) {
        let mut sources = Sources::new();
        sources.add("a.yaml", text);
        let (found, wrong) = read(&sources, std::iter::empty());
        let found = found.iter().map(|ignore| ignore.lines).collect();
        (
            found,
            wrong.into_iter().map(|wrong| wrong.message).collect(),
        )
    }

    #[test]
    fn a_comment_is_about_its_line_or_the_block_below() {
        let text = "a: 1 # locus: ignore HOT221 -- why\n# locus: ignore HOT221 -- why\n# more\nb:\n  c: 1\n\n  d: 2\ne: 3\n";
        assert_eq!(lines(text), (vec![(1, 1), (4, 7)], vec![]));
        let list = "# locus: ignore HOT221 -- why\nb:\n- c\n- d\ne: 1\n";
        assert_eq!(lines(list).0, [(2, 4)]);
        let item = "b:\n# locus: ignore HOT221 -- why\n- c: 1\n  d: 1\n- e: 1\n";
        assert_eq!(lines(item).0, [(3, 4)]);
    }

    #[test]
    fn a_comment_at_the_head_of_a_document_is_about_the_document() {
        let why = "# locus: ignore HOT221 -- why";
        let text = format!(
            "a: 1\nb: 1\n---\n{why}\na: 1\nb: 1\n{why}\n--- # third\na: 1\n\nb: 1\n...\n{why}\na: 1\nb: 1\n"
        );
        assert_eq!(lines(&text).0, [(5, 6), (8, 11), (14, 14)]);
        // Without a mark, it is about the next key, as everywhere.
        assert_eq!(lines(&format!("{why}\na: 1\nb: 1\n")).0, [(2, 2)]);
        // Not the head: something stands before it.
        assert_eq!(
            lines(&format!("---\na: 1\n{why}\nb: 1\nc: 1\n")).0,
            [(4, 4)]
        );
    }

    #[test]
    fn several_rules_are_named_one_by_one() {
        for between in [",", " ", ", ", " ,\t"] {
            let text = format!("a: 1 # locus: ignore HOT221{between}HOT222 -- why\n");
            let mut sources = Sources::new();
            let file = sources.add("a.yaml", text.as_str());
            let (found, wrong) = read(&sources, std::iter::empty());
            assert!(wrong.is_empty(), "{between:?}");
            let named = found[0].rules.iter();
            let named: Vec<&str> = named
                .map(|(_, at)| &sources.text(file)[at.start as usize..at.end as usize])
                .collect();
            assert_eq!(named, ["HOT221", "HOT222"], "{between:?}");
        }
        let (found, wrong) = lines("a: 1 # locus: ignore , -- why\n");
        assert_eq!(
            (found.len(), wrong[0].as_str()),
            (0, "a comment that ignores a rule names it")
        );
    }

    #[test]
    fn text_is_no_comment() {
        let text = "a: |\n  # locus: ignore HOT221 -- why\nb: 'x # locus: ignore HOT221 -- why'\nc: x#locus: ignore HOT221\n";
        assert_eq!(lines(text), (vec![], vec![]));
    }

    #[test]
    fn a_reason_and_a_rule_are_required() {
        let (found, wrong) =
            lines("a: 1 # locus: ignore HOT221\nb: 1 # locus: ignore HOT22l -- why\n");
        assert_eq!(found.len(), 1);
        assert!(wrong[0].contains("needs a reason"), "{wrong:?}");
        assert_eq!(wrong[1], "there is no rule `HOT22l`");
    }
}
