//! Edits that mend what a rule reports.

use std::sync::{Arc, Mutex};

use locus_core::diagnostic::{Applicability, Edit, Fix};
use locus_core::{FileId, Sources, Span};
use locus_frontends::yaml::{self, Document, Limits, edit};
use rustc_hash::FxHashMap;

use super::report::{Binding, Reporter};
use crate::rules::{self, Change, Piece, Template};

/// The texts that edits are made for; each is parsed when an edit of it is first asked for.
pub(super) struct Texts<'a> {
    sources: &'a Sources,
    parsed: Mutex<FxHashMap<FileId, Arc<[Document]>>>,
}

impl<'a> Texts<'a> {
    pub(super) fn new(sources: &'a Sources) -> Self {
        Texts {
            sources,
            parsed: Mutex::default(),
        }
    }

    fn documents(&self, file: FileId) -> Option<Arc<[Document]>> {
        let mut parsed = self.parsed.lock().ok()?;
        let documents = parsed.entry(file).or_insert_with(|| {
            let parsed = yaml::parse(self.sources, file, &Limits::default());
            parsed.documents.into()
        });
        Some(documents.clone())
    }

    /// The first change that one of the documents of a file allows.
    fn change(
        &self,
        at: Span,
        make: impl Fn(&str, &yaml::Node) -> Option<edit::Change>,
    ) -> Option<Edit> {
        let documents = self.documents(at.file)?;
        let text = self.sources.text(at.file);
        let change = documents.iter().find_map(|one| make(text, &one.root))?;
        Some(Edit {
            span: change.span,
            text: change.text,
        })
    }

    /// What is written at a place, on its first line.
    fn written(&self, span: Span) -> &str {
        let text = self.sources.snippet(span).trim();
        text.lines().next().unwrap_or("").trim_end_matches(',')
    }
}

impl Reporter<'_> {
    /// The fixes of a rule that can be made here.
    pub(super) fn fixes(&self, all: &[rules::Fix], binding: &Binding) -> Vec<Fix> {
        let Some(texts) = self.texts else {
            return Vec::new();
        };
        all.iter()
            .filter_map(|fix| self.fix(fix, binding, texts))
            .collect()
    }

    fn fix(&self, fix: &rules::Fix, binding: &Binding, texts: &Texts<'_>) -> Option<Fix> {
        let mut edits: Vec<Edit> = Vec::new();
        let mut titles = Vec::new();
        for change in &fix.changes {
            let (edit, title) = self.change(change, binding, texts)?;
            let apart = |other: &Edit| {
                let (a, b) = (other.span, edit.span);
                a.file != b.file || a.end <= b.start || b.end <= a.start
            };
            if !edits.iter().all(apart) {
                return None;
            }
            edits.push(edit);
            titles.push(title);
        }
        Some(Fix {
            title: titles.join(" and "),
            applicability: match fix.safe {
                true => Applicability::Safe,
                false => Applicability::Unsafe,
            },
            edits,
        })
    }

    fn change(
        &self,
        change: &Change,
        binding: &Binding,
        texts: &Texts<'_>,
    ) -> Option<(Edit, String)> {
        let (at, atom) = self.place(change.place(), binding, true)?;
        // Who includes a template does not want it changed.
        if !self.database.atom(atom).included_by.is_empty() {
            return None;
        }
        match change {
            Change::Remove(_) => {
                let edit = texts.change(at, |text, root| edit::remove(text, root, at))?;
                let title = format!("remove `{}`", texts.written(edit.span));
                Some((edit, title))
            }
            Change::Replace(_, template) => {
                let names = self.names(change.place(), binding);
                let [old] = names.as_slice() else {
                    return None;
                };
                let new = self.filled(template, binding)?;
                let edit =
                    texts.change(at, |text, root| edit::replace(text, root, at, old, &new))?;
                let title = format!("replace `{}` with `{new}`", texts.written(edit.span));
                Some((edit, title))
            }
            Change::Add(template, _) => {
                let entry = self.filled(template, binding)?;
                let edit = texts.change(at, |text, root| edit::add(text, root, at, &entry))?;
                let shown = entry.trim_start_matches('^');
                Some((edit, format!("add `{shown}`")))
            }
        }
    }

    /// A text whose holes all have one name.
    fn filled(&self, template: &Template, binding: &Binding) -> Option<String> {
        for piece in &template.pieces {
            let one = match piece {
                Piece::Text(_) => true,
                Piece::Names(path) => self.names(path, binding).len() == 1,
                Piece::Nearest(..) => {
                    let alone = Template {
                        pieces: vec![piece.clone()],
                    };
                    !self.fill(&alone, binding).is_empty()
                }
                Piece::Chain(..) | Piece::Suggest(..) => false,
            };
            if !one {
                return None;
            }
        }
        Some(self.fill(template, binding))
    }
}
