//! Rules of the user's own, compiled against what a project declares.

use std::sync::{Arc, Mutex, PoisonError};

use locus_core::vocabulary::{Sig, Vocabulary};
use locus_core::{Diagnostic, FileId, Sources};
use locus_frontends::language::Words;
use locus_rules::{Library, Rule, Source};

use crate::check::Checker;
use crate::library;

/// Projects with different declarations whose compiled rules are kept.
const KEPT: usize = 16;

/// The rules about a language in files of the user's, which may open the modules that come with the program.
#[derive(Debug)]
pub struct OwnRules {
    library: Library,
    files: Vec<Source>,
    words: Words,
    compiled: Mutex<Vec<Known>>,
}

/// What a project declares, and the rules compiled for it.
type Known = (Arc<Vec<Sig>>, Arc<Compiled>);

/// The rules as they are for one project.
#[derive(Debug)]
pub struct Compiled {
    /// The rules that can be checked.
    pub checker: Checker,
    /// What is wrong with the others.
    pub wrong: Vec<Diagnostic>,
    /// The files that this is about.
    pub sources: Sources,
}

impl OwnRules {
    /// The rules in some files; and what is wrong with their doc comments, with spans into `sources`.
    pub fn read(files: Vec<Source>, sources: &mut Sources) -> (OwnRules, Vec<Diagnostic>) {
        let mut library = library::builtin().modules();
        let mut wrong = Vec::new();
        for file in &files {
            wrong.extend(library.add(file.clone(), sources));
        }
        let words = files.iter().flat_map(|file| locus_rules::words(&file.text));
        let own = OwnRules {
            words: Arc::new(words.map(str::to_owned).collect()),
            library,
            files,
            compiled: Mutex::default(),
        };
        (own, wrong)
    }

    /// The rules.
    pub fn rules(&self) -> &[Rule] {
        self.library.rules()
    }

    /// The words of the files, among which are the signatures that rules mention.
    pub fn words(&self) -> Words {
        self.words.clone()
    }

    /// The rules for a project that declares some signatures, in a language.
    pub fn compiled(&self, language: &Vocabulary, declared: &Arc<Vec<Sig>>) -> Arc<Compiled> {
        let mut known = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, compiled)) = known.iter().find(|(other, _)| other == declared) {
            return compiled.clone();
        }
        let compiled = Arc::new(self.compile(&language.clone().with(declared.clone())));
        if known.len() == KEPT {
            known.remove(0);
        }
        known.push((declared.clone(), compiled.clone()));
        compiled
    }

    fn compile(&self, vocabulary: &Vocabulary) -> Compiled {
        let mut sources = Sources::new();
        let paths: Vec<FileId> = self
            .files
            .iter()
            .map(|file| sources.add(file.path.clone(), file.text.clone()))
            .collect();
        let checker = Checker::new(&self.library, vocabulary, &mut sources);
        // A module is opened by its name; the user knows it by its path.
        let known = |file: FileId| {
            let name = sources.name(file).strip_suffix(".als");
            let at = self
                .files
                .iter()
                .position(|own| Some(own.module.as_str()) == name);
            at.and_then(|at| paths.get(at).copied()).unwrap_or(file)
        };
        let files: Vec<FileId> = sources.files().map(known).collect();
        let mut wrong = checker.diagnostics().to_vec();
        for diagnostic in &mut wrong {
            diagnostic.move_to(&files);
        }
        Compiled {
            checker,
            wrong,
            sources,
        }
    }
}
