//! The texts that are open in the editor.

use std::collections::BTreeMap;
use std::sync::Arc;

use lsp_types::{TextDocumentContentChangeEvent, Uri};

use super::position::{Encoding, Lines};

/// A text that is open.
#[derive(Clone, Debug)]
pub(super) struct Document {
    /// What the editor calls it.
    pub(super) uri: Uri,
    /// The version that the editor gave the text.
    pub(super) version: i32,
    /// The text.
    pub(super) text: Arc<str>,
}

/// The open texts by path. A clone shares them.
#[derive(Clone, Debug, Default)]
pub(super) struct Documents {
    by_path: Arc<BTreeMap<String, Document>>,
}

impl Documents {
    /// The text at a path.
    pub(super) fn get(&self, path: &str) -> Option<&Document> {
        self.by_path.get(path)
    }

    /// The paths of all texts.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.by_path.keys().map(String::as_str)
    }

    /// Opens a text.
    pub(super) fn open(&mut self, path: String, document: Document) {
        Arc::make_mut(&mut self.by_path).insert(path, document);
    }

    /// Closes a text; whether it was open.
    pub(super) fn close(&mut self, path: &str) -> bool {
        Arc::make_mut(&mut self.by_path).remove(path).is_some()
    }

    /// Changes a text, and gives it; none when it is not open.
    pub(super) fn change(
        &mut self,
        path: &str,
        version: i32,
        changes: &[TextDocumentContentChangeEvent],
        encoding: Encoding,
    ) -> Option<Arc<str>> {
        let document = Arc::make_mut(&mut self.by_path).get_mut(path)?;
        document.version = version;
        document.text = apply(&document.text, changes, encoding).into();
        Some(document.text.clone())
    }
}

/// A text after some changes, each made to what the one before left.
pub(super) fn apply(
    text: &str,
    changes: &[TextDocumentContentChangeEvent],
    encoding: Encoding,
) -> String {
    // What comes before the last change of the whole text does not count.
    let whole = changes.iter().rposition(|change| change.range.is_none());
    let (mut text, rest) = match whole.and_then(|at| changes.get(at).map(|change| (at, change))) {
        Some((at, change)) => (change.text.clone(), changes.get(at + 1..)),
        None => (text.to_owned(), Some(changes)),
    };
    for change in rest.unwrap_or_default() {
        if let Some(range) = change.range {
            let bytes = Lines::new(&text, encoding).bytes(range);
            text.replace_range(bytes, &change.text);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use lsp_types::{Position, Range};

    fn change(range: Option<(u32, u32, u32, u32)>, text: &str) -> TextDocumentContentChangeEvent {
        TextDocumentContentChangeEvent {
            range: range.map(|(a, b, c, d)| Range::new(Position::new(a, b), Position::new(c, d))),
            range_length: None,
            text: text.to_owned(),
        }
    }

    #[test]
    fn changes_build_on_each_other() {
        let changes = [
            change(Some((0, 1, 0, 3)), "x"),
            change(Some((1, 0, 9, 9)), "end"),
            change(Some((0, 0, 0, 0)), "😀"),
            change(Some((0, 2, 0, 3)), ""),
        ];
        assert_eq!(apply("abc\ndef\n", &changes, Encoding::Utf16), "😀x\nend");
    }

    #[test]
    fn a_whole_text_replaces_what_came_before() {
        let changes = [
            change(Some((0, 0, 0, 1)), "lost"),
            change(None, "new"),
            change(Some((0, 3, 0, 3)), "!"),
        ];
        assert_eq!(apply("old", &changes, Encoding::Utf8), "new!");
    }
}
