//! Files of rules.

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

/// Rules and the files that state them.
#[derive(Clone, Debug, Default)]
pub struct Library {
    sources: Vec<Source>,
    rules: Vec<Rule>,
}

impl Library {
    /// The modules of this library without its rules, for the rules of others to open.
    pub fn modules(&self) -> Library {
        Library {
            sources: self.sources.clone(),
            rules: Vec::new(),
        }
    }

    /// A library of files whose rules have nothing wrong with them, ordered by their identifiers.
    pub fn of(files: impl IntoIterator<Item = Source>) -> Library {
        let mut sources = Sources::new();
        let mut library = Library::default();
        for source in files {
            let _ = library.add(source, &mut sources);
        }
        library.sort();
        library
    }

    /// Orders the rules by their identifiers.
    pub fn sort(&mut self) {
        self.rules.sort_by(|a, b| a.id.cmp(&b.id));
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
                let message = format!("two rules are called `{}`", rule.assertion);
                diagnostics.push(Diagnostic::error("rule", message).at(rule.span));
            } else if let Some(other) = self.rules.iter().find(|other| other.clashes(&rule)) {
                let message = if other.id == rule.id && other.name == rule.name {
                    format!("only some parts of {} are off by default", rule.id)
                } else if other.id == rule.id {
                    format!(
                        "{} has two names, `{}` and `{}`",
                        rule.id, other.name, rule.name
                    )
                } else {
                    format!("{} and {} have the name `{}`", other.id, rule.id, rule.name)
                };
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

    /// The parts of the rule with an identifier, name or alias.
    pub fn find(&self, wanted: &str) -> Vec<&Rule> {
        let named = |rule: &&Rule| rule.is_called(wanted);
        self.rules.iter().filter(named).collect()
    }

    /// The rules that are off for an example: those that are off by default, but for the one that it is about.
    pub fn off_for(&self, example: &str) -> Vec<String> {
        let about = example.split('.').next();
        let rules = self.rules.iter().filter(|rule| rule.opt_in);
        let mut off: Vec<String> = rules.map(|rule| rule.id.clone()).collect();
        off.retain(|id| Some(id.as_str()) != about);
        off.dedup();
        off
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

    /// The text of the module that a path names.
    pub(super) fn module(&self, path: &str) -> Option<&Source> {
        let path = path.strip_suffix(".als").unwrap_or(path);
        self.sources
            .iter()
            .find(|source| path == source.module || path.ends_with(&format!("/{}", source.module)))
    }
}

/// Whether a module states rules of a language, or is one that any rule may open.
fn is_relevant(module: &str, language: &str) -> bool {
    let folder = module.split_once('/').map(|(folder, _)| folder);
    folder.is_none_or(|folder| folder == language)
}
