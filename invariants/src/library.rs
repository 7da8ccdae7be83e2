//! The rules that come with the program: their texts, their examples, and the programs that the build made of them.

use std::sync::LazyLock;

use locus_rules::{Library, Source};

include!(concat!(env!("OUT_DIR"), "/library.rs"));

static BUILTIN: LazyLock<Library> = LazyLock::new(|| {
    Library::of(FILES.iter().map(|&(module, text)| Source {
        module: module.to_owned(),
        path: format!("{module}.als"),
        text: text.to_owned(),
    }))
});

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

/// The languages that rules come with the program for.
pub(crate) fn languages() -> impl Iterator<Item = &'static str> {
    COMPILED.iter().map(|&(language, _)| language)
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
