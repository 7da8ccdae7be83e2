//! Models inside Markdown: the blocks fenced as `alloy`, as the Alloy Analyzer reads them.

use std::borrow::Cow;
use std::ops::Range;

/// The line that starts a block of a model.
const FENCE: &str = "```alloy";

/// What ends a block.
const END: &str = "```";

/// The line before and after the front matter of a document.
const FRONT: &str = "---";

/// Whether a file is a document with models in it: by its name, or by front matter and a fenced block.
///
/// Alloy takes any file that starts with the line `---` for a document. That line is a comment of the language
/// as well, and a model of which nothing is read would pass for an empty one.
pub(crate) fn is_document(path: &str, text: &str) -> bool {
    let ending = path.len().checked_sub(3).and_then(|at| path.get(at..));
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case(".md"))
        || (text.lines().next() == Some(FRONT) && !blocks(text).is_empty())
}

/// Where the blocks of a document are, without their fences.
pub(crate) fn blocks(text: &str) -> Vec<Range<usize>> {
    enum At {
        Start,
        Front,
        Prose,
        /// A block of something else, in which a fence is not a fence.
        Other,
        Model(usize),
    }
    let mut found = Vec::new();
    let mut at = At::Start;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end();
        at = match at {
            At::Start if content == FRONT => At::Front,
            At::Front if content == FRONT => At::Prose,
            At::Front => At::Front,
            At::Start | At::Prose if content == FENCE => At::Model(offset + line.len()),
            At::Start | At::Prose if content.starts_with(END) => At::Other,
            At::Start | At::Prose => At::Prose,
            At::Other if content == END => At::Prose,
            At::Other => At::Other,
            At::Model(start) if content.starts_with(END) => {
                found.push(start..offset);
                At::Prose
            }
            At::Model(start) => At::Model(start),
        };
        offset += line.len();
    }
    if let At::Model(start) = at {
        found.push(start..text.len());
    }
    found
}

/// The model in a file: of a document the text of its blocks, each byte where it was, with blanks for the rest.
pub fn model_text<'t>(path: &str, text: &'t str) -> Cow<'t, str> {
    if !is_document(path, text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for block in blocks(text) {
        blank(
            text.get(out.len()..block.start).unwrap_or_default(),
            &mut out,
        );
        out.push_str(text.get(block).unwrap_or_default());
    }
    blank(text.get(out.len()..).unwrap_or_default(), &mut out);
    Cow::Owned(out)
}

/// As many bytes as the prose has, with its line breaks.
fn blank(prose: &str, out: &mut String) {
    out.extend(
        prose
            .bytes()
            .map(|byte| if byte == b'\n' { '\n' } else { ' ' }),
    );
}

/// The text of a file with its models laid out anew, and all else as it was.
pub(crate) fn format(text: &str, layout: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for block in blocks(text) {
        out.push_str(text.get(done..block.start).unwrap_or_default());
        out.push_str(&layout(text.get(block.clone()).unwrap_or_default()));
        done = block.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::{is_document, model_text};

    const DOCUMENT: &str = "---\ntitle: Größe\n---\n# Words\n```alloy\nsig A {}\n```\n\
        ```yaml\n```alloy\nnot: read\n```\nmore\n```alloy\nrun { some A }\n```\nend\n";

    #[test]
    fn blocks_stay_where_they_are() {
        let model = model_text("notes.md", DOCUMENT);
        assert_eq!(model.len(), DOCUMENT.len());
        for code in ["sig A {}", "run { some A }"] {
            assert_eq!(model.find(code), DOCUMENT.find(code));
        }
        assert_eq!(
            model.split_whitespace().collect::<String>(),
            "sigA{}run{someA}"
        );
    }

    #[test]
    fn a_comment_of_dashes_is_no_front_matter() {
        let model = "---\nsig A {}\n---\nrun { some A }\n";
        assert!(!is_document("a.als", model));
        assert_eq!(model_text("a.als", model), model);
        assert!(is_document("a.als", DOCUMENT));
        assert!(is_document("README.MD", ""));
    }

    #[test]
    fn a_block_that_is_not_closed_goes_to_the_end() {
        assert_eq!(
            model_text("a.md", "x\n```alloy\nsig A {}").trim(),
            "sig A {}"
        );
    }

    #[test]
    fn formatting_leaves_the_prose() {
        let text = "Some   words\n```alloy\nsig   A{ }\n```\n  more\n";
        let once = crate::format_file("a.md", text);
        assert_eq!(once, "Some   words\n```alloy\nsig A {}\n```\n  more\n");
        assert_eq!(crate::format_file("a.md", &once), once);
    }
}
