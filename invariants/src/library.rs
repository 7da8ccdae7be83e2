//! The rules that come with the program: their texts, their examples, and the programs that the build made of them.

use std::sync::LazyLock;

use locus_core::{Diagnostic, Sources};
use locus_frontends::language::{Language, Registry};
use locus_rules::{Library, Program, Rule, Source};

include!(concat!(env!("OUT_DIR"), "/library.rs"));

static BUILTIN: LazyLock<Library> = LazyLock::new(|| {
    let registry = Registry::builtin();
    let brought = registry.languages().flat_map(|language| language.rules());
    let all = FILES.iter().chain(brought);
    Library::of(all.map(|&(module, text)| source(module, text)))
});

fn source(module: &str, text: &str) -> Source {
    Source {
        module: module.to_owned(),
        path: format!("{module}.als"),
        text: text.to_owned(),
    }
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

/// The library that comes with the program.
pub fn builtin() -> &'static Library {
    &BUILTIN
}

/// The rules that are off by default, by identifier: the build has listed them, so that a check need not read what all rules say.
pub fn off_by_default() -> impl Iterator<Item = &'static str> {
    let ours = OFF.iter().copied();
    let brought = bringing().next().map(|_| builtin().rules());
    let brought = brought.into_iter().flatten();
    let brought = brought.filter(|rule| rule.opt_in && !is_ours(rule));
    ours.chain(brought.map(|rule| &*rule.id))
}

/// Whether a rule is one of the program's, as opposed to one that a registered language brings.
pub fn is_ours(rule: &Rule) -> bool {
    FILES.iter().any(|(module, _)| *module == rule.module)
}

/// The languages that there are rules for.
pub(crate) fn languages() -> Vec<&'static str> {
    let compiled = COMPILED.iter().map(|&(language, _)| language);
    let brought = bringing().map(|language| language.name());
    compiled.chain(brought).collect()
}

/// The languages that bring rules.
fn bringing() -> impl Iterator<Item = &'static dyn Language> {
    let all: Vec<&'static dyn Language> = Registry::builtin().languages().collect();
    all.into_iter()
        .filter(|language| !language.rules().is_empty())
}

/// The rules that a language brings, compiled, and what is wrong with them, in words: nobody but its author can mend them,
/// so they have no place in what is checked.
pub(crate) fn brought(language: &str) -> Option<(Program, Vec<Diagnostic>)> {
    let mut all = bringing();
    let language = all.find(|bringing| bringing.name() == language)?;
    let mut sources = Sources::new();
    let mut alone = Library::default();
    let mut wrong = Vec::new();
    for &(module, text) in language.rules() {
        wrong.extend(alone.add(source(module, text), &mut sources));
    }
    let compiled = Program::compile(builtin(), &language.vocabulary(), &mut sources);
    wrong.extend(compiled.diagnostics);
    let told = |wrong: &Diagnostic| {
        let place = wrong.primary().map(|span| {
            let at = sources.start(span);
            format!("{}:{}:{}: ", sources.name(span.file), at.line, at.column)
        });
        let message = format!("{}{}", place.unwrap_or_default(), wrong.message);
        Diagnostic::error("rule", message)
    };
    Some((compiled.program, wrong.iter().map(told).collect()))
}

/// The compiled rules of a language, as the build stored them.
pub(crate) fn compiled(language: &str) -> Option<&'static [u8]> {
    let stored = COMPILED.iter().find(|(name, _)| *name == language);
    stored.map(|&(_, bytes)| bytes)
}

/// The examples of a rule that comes with the program.
pub fn examples_of(id: &str) -> impl Iterator<Item = Example> {
    examples().filter(move |example| example.name.split('.').next() == Some(id))
}

/// All examples.
pub fn examples() -> impl Iterator<Item = Example> {
    EXAMPLES.iter().map(|&(language, name, text)| Example {
        language,
        name,
        text,
    })
}
