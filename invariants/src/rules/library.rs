//! The files of rules: those that come with the program and those a user adds.

use std::sync::LazyLock;

use locus_core::{Diagnostic, Sources};

use super::doc::{self, Rule};

/// A file of a library.
#[derive(Clone, Debug)]
pub struct Source {
    /// The module, as in `hot/neutron`.
    pub module: String,
    /// The name that diagnostics show.
    pub path: String,
    /// The text.
    pub text: String,
}

/// A configuration that shows a rule holding or broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// The language it is in.
    pub language: &'static str,
    /// The file's name, as in `HOT221.breaks.yaml`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// Rules and the files that state them.
#[derive(Clone, Debug, Default)]
pub struct Library {
    sources: Vec<Source>,
    rules: Vec<Rule>,
}

include!(concat!(env!("OUT_DIR"), "/library.rs"));

static BUILTIN: LazyLock<Library> = LazyLock::new(|| {
    let mut sources = Sources::new();
    let mut library = Library::default();
    for &(module, text) in FILES {
        let source = Source {
            module: module.to_owned(),
            path: format!("{module}.als"),
            text: text.to_owned(),
        };
        // What is wrong with these files is found by the tests.
        let _ = library.add(source, &mut sources);
    }
    library.rules.sort_by(|a, b| a.id.cmp(&b.id));
    library
});

impl Library {
    /// The library that comes with the program.
    pub fn builtin() -> &'static Library {
        &BUILTIN
    }

    /// The modules of this library without its rules, for the rules of others to open.
    pub fn modules(&self) -> Library {
        Library {
            sources: self.sources.clone(),
            rules: Vec::new(),
        }
    }

    /// Adds a file; reports what is wrong with the rules in it.
    pub fn add(&mut self, source: Source, sources: &mut Sources) -> Vec<Diagnostic> {
        let language = source.module.split('/').next().unwrap_or("").to_owned();
        let file = sources.add(source.path.clone(), source.text.clone());
        let (rules, errors) = doc::rules(&language, &source.module, file, &source.text);
        let mut diagnostics: Vec<Diagnostic> = errors
            .into_iter()
            .map(|error| Diagnostic::error("rule", error.message).at(error.span))
            .collect();
        for rule in rules {
            // A rule may be stated by several assertions, each with a message of its own.
            let same = self
                .rules
                .iter()
                .find(|other| other.assertion == rule.assertion && other.module == rule.module);
            if same.is_some() {
                let message = format!("there are two rules `{}`", rule.assertion);
                diagnostics.push(Diagnostic::error("rule", message).at(rule.span));
            } else {
                self.rules.push(rule);
            }
        }
        self.sources.push(source);
        diagnostics
    }

    /// All rules; a rule that is stated in parts appears once for each part.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The parts of the rule with an identifier or alias.
    pub fn find(&self, id: &str) -> Vec<&Rule> {
        let named = |rule: &&Rule| {
            rule.id.eq_ignore_ascii_case(id)
                || rule
                    .aliases
                    .iter()
                    .any(|alias| alias.eq_ignore_ascii_case(id))
        };
        self.rules.iter().filter(named).collect()
    }

    /// The files.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The files that the rules of a language are stated in, and those that any rule may open.
    pub(super) fn relevant(&self, language: &str) -> impl Iterator<Item = &Source> {
        let sources = self.sources.iter();
        sources.filter(move |source| is_relevant(&source.module, language))
    }

    /// The compiled rules of a language, as they are stored.
    pub(super) fn compiled(language: &str) -> Option<&'static [u8]> {
        let stored = COMPILED.iter().find(|(name, _)| *name == language);
        stored.map(|&(_, bytes)| bytes)
    }

    /// The texts that the rules of a language are compiled from, as one number.
    pub(super) fn fingerprint(language: &str) -> Option<u64> {
        let found = FINGERPRINTS.iter().find(|(name, _)| *name == language);
        found.map(|&(_, fingerprint)| fingerprint)
    }

    /// The text of the module that a path names.
    pub(super) fn module(&self, path: &str) -> Option<&Source> {
        let path = path.strip_suffix(".als").unwrap_or(path);
        self.sources
            .iter()
            .find(|source| path == source.module || path.ends_with(&format!("/{}", source.module)))
    }

    /// The examples of a rule that comes with the program.
    pub fn examples(id: &str) -> impl Iterator<Item = Example> {
        Self::all_examples().filter(move |example| example.name.split('.').next() == Some(id))
    }

    /// All examples.
    pub fn all_examples() -> impl Iterator<Item = Example> {
        EXAMPLES.iter().map(|&(language, name, text)| Example {
            language,
            name,
            text,
        })
    }
}

/// Whether a module states rules of a language, or is one that any rule may open.
fn is_relevant(module: &str, language: &str) -> bool {
    let folder = module.split_once('/').map(|(folder, _)| folder);
    folder.is_none_or(|folder| folder == language)
}
