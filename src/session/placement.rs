//! Where everything is put.

use locus_core::placement::Question;
use locus_core::{Diagnostic, Sources};

use super::{Given, Project, Snapshot};

/// The questions of a project about places.
#[derive(Debug)]
pub struct Places {
    /// The questions; the first one is about everything as it is.
    pub questions: Vec<Question>,
    /// What questions are called, in their order.
    pub names: Vec<String>,
    /// What lines say and where they are, in the order of the lines.
    pub lines: Vec<Diagnostic>,
    /// What is wrong with the files.
    pub diagnostics: Vec<Diagnostic>,
    /// What could not be checked.
    pub unchecked: Vec<Diagnostic>,
    /// The sources that these are about.
    pub sources: Sources,
}

impl Snapshot {
    /// What a project asks about places.
    pub fn places(&self, project: &Project, given: &Given) -> Places {
        let loading = self.load(project, given);
        let loaded = loading.loaded;
        let facts = &loaded.facts;
        let names = loaded.questions.iter();
        let names = names.map(|question| facts.get(question.asked).name.to_string());
        let names = names.collect();
        let lines = loaded.questions.first().map_or(&[][..], |one| &one.lines);
        let lines = lines.iter().map(|&line| {
            let atom = facts.get(line);
            Diagnostic::error("placement", atom.name.to_string()).at(atom.span)
        });
        Places {
            names,
            lines: lines.collect(),
            diagnostics: loaded.diagnostics,
            unchecked: loaded.unchecked,
            sources: loading.sources,
            questions: loaded.questions,
        }
    }
}
