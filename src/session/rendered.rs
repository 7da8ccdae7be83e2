//! What other programs rendered: it is checked in place of its source file, and what is found in it is told where it is from.

use std::collections::HashMap;
use std::sync::Arc;

use locus_core::{Diagnostic, FileId, Sources, Span};
use locus_frontends::language::render::Rendering;

use super::Session;
use super::batch::Batch;
use super::files::Files;

/// The most characters of what was rendered that a label repeats.
const SHOWN: usize = 60;

impl Session {
    /// Puts what a program made of a source file in its place.
    pub fn render(&mut self, path: &str, rendering: Rendering) {
        self.open(path, rendering.text.as_bytes());
        self.now.files.add_rendering(path, rendering);
    }

    /// Says that a source file is rendered with another, and not by itself.
    pub fn render_as_part(&mut self, path: &str) {
        self.now.files.add_rendered_part(path);
        self.now.revision += 1;
    }
}

impl super::Snapshot {
    /// Tells where that is from which is about rendered text: in the files that the user wrote.
    pub fn tell_origins(&self, batch: &mut Batch) {
        let files = &self.files;
        if !files.has_renderings() {
            return;
        }
        let mut origins = Origins::new(files, &mut batch.sources);
        let ignored = batch.ignored.iter_mut().map(|(found, _)| found);
        let all = batch.findings.iter_mut().chain(&mut batch.unchecked);
        for diagnostic in all.chain(&mut batch.undecided).chain(ignored) {
            origins.tell(diagnostic);
        }
        batch.sort();
    }
}

/// Where rendered text is from.
pub struct Origins<'a> {
    files: &'a Files,
    sources: &'a mut Sources,
    /// The rendered files among the sources.
    rendered: HashMap<FileId, Arc<Rendering>>,
    /// The files that it is from, which are added to the sources when they are needed.
    added: HashMap<String, Option<FileId>>,
}

impl<'a> Origins<'a> {
    /// Of the files of a session, for what is about some sources.
    pub fn new(files: &'a Files, sources: &'a mut Sources) -> Self {
        let rendered = sources.files().filter_map(|file| {
            let rendering = files.rendering(sources.name(file))?;
            (rendering.text == sources.text(file)).then_some((file, rendering))
        });
        let rendered = rendered.collect();
        Origins {
            files,
            sources,
            rendered,
            added: HashMap::new(),
        }
    }

    /// Lets a diagnostic point at where things are from.
    pub fn tell(&mut self, diagnostic: &mut Diagnostic) {
        let edits = diagnostic.fixes.iter().flat_map(|fix| &fix.edits);
        let mut edited = edits.map(|edit| edit.span.file);
        // What mends the output does not mend what it was made of.
        if edited.any(|file| self.rendered.contains_key(&file)) {
            diagnostic.fixes.clear();
        }
        let labels = diagnostic.labels.iter_mut();
        let labels = labels.chain(&mut diagnostic.related);
        for label in labels.chain(&mut diagnostic.reasons) {
            let written = self.sources.snippet(label.span).trim().to_owned();
            let Some(there) = self.place(label.span) else {
                continue;
            };
            label.span = there;
            let same = self.sources.snippet(there).contains(&written);
            if !same && written.chars().count() <= SHOWN && !written.contains('\n') {
                let told = std::mem::take(&mut label.message);
                label.message = match told.is_empty() {
                    true => format!("rendered as `{written}`"),
                    false => format!("{told} (rendered as `{written}`)"),
                };
            }
        }
        let steps = diagnostic.flows.iter_mut().flat_map(|flow| &mut flow.steps);
        for member in diagnostic.members.iter_mut().chain(steps) {
            if let Some(span) = &mut member.span {
                *span = self.place(*span).unwrap_or(*span);
            }
        }
    }

    /// A place as users know it: where it is from when it is in rendered text, itself when not.
    pub fn written(&mut self, span: Span) -> Span {
        self.place(span).unwrap_or(span)
    }

    /// The file and line of a place as users know it.
    pub fn line(&mut self, span: Span) -> (String, usize) {
        let span = self.written(span);
        let line = self.sources.start(span).line;
        (self.sources.name(span.file).to_owned(), line)
    }

    /// Where a place in rendered text is from; none for a place in another file.
    pub fn place(&mut self, span: Span) -> Option<Span> {
        let rendering = self.rendered.get(&span.file)?.clone();
        let part = span.start as usize..span.end as usize;
        let (path, place) = rendering.origin(part.clone())?;
        let file = self.file(path)?;
        let place = rendering.narrow(&part, place, self.sources.text(file));
        Some(Span::new(file, place.start, place.end))
    }

    fn file(&mut self, path: &str) -> Option<FileId> {
        if let Some(known) = self.added.get(path) {
            return *known;
        }
        let bytes = self.files.on_disk(path).ok();
        let text = bytes.as_deref().and_then(|bytes| {
            let text = locus_core::decode(bytes).ok()?;
            Some(text.into_owned())
        });
        let file = text.map(|text| self.sources.add(path, text));
        self.added.insert(path.to_owned(), file);
        file
    }
}
