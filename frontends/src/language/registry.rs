//! The languages that are known, and which of them a file is in.

use std::sync::{PoisonError, RwLock};

use super::{Confidence, Input, InputKind, Kind, Language};
use crate::loader::Loader;
use crate::yaml::Document;

/// Languages, in the order they are asked; further ones can be added at run time.
#[derive(Clone, Debug)]
pub struct Registry {
    languages: Vec<&'static dyn Language>,
}

/// A file that was recognised.
#[derive(Clone, Copy, Debug)]
pub struct Recognised {
    /// The language it is in.
    pub language: &'static dyn Language,
    /// Its kind in that language.
    pub kind: &'static Kind,
}

/// The languages that this process has beside those that come with the program.
static REGISTERED: RwLock<Vec<&'static dyn Language>> = RwLock::new(Vec::new());

/// Makes a language known to the whole process, as if it came with the program; a second one of the same name is not taken.
/// This is the first thing that a process does: the rules are put together when they are first asked for.
pub fn register(language: &'static dyn Language) {
    let mut all = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    let known = super::BUILTIN.iter().chain(all.iter());
    if known
        .map(|known| known.name())
        .all(|name| name != language.name())
    {
        all.push(language);
    }
}

impl Registry {
    /// No language.
    pub fn empty() -> Self {
        Registry {
            languages: Vec::new(),
        }
    }

    /// The languages that come with the program, and those that were [registered](register).
    pub fn builtin() -> Self {
        let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
        let all = super::BUILTIN.iter().chain(registered.iter());
        Registry {
            languages: all.copied().collect(),
        }
    }

    /// These languages and one more; it replaces one of the same name.
    #[must_use]
    pub fn with(mut self, language: &'static dyn Language) -> Self {
        self.languages
            .retain(|known| known.name() != language.name());
        self.languages.push(language);
        self
    }

    /// All languages.
    pub fn languages(&self) -> impl Iterator<Item = &'static dyn Language> {
        self.languages.iter().copied()
    }

    /// The language with a name.
    pub fn named(&self, name: &str) -> Option<&'static dyn Language> {
        self.languages().find(|language| language.name() == name)
    }

    /// The language whose settings are in a section.
    pub fn with_section(&self, section: &str) -> Option<&'static dyn Language> {
        self.languages()
            .find(|language| language.section() == section)
    }

    /// The kinds of files that can be checked.
    pub fn configurations(&self) -> impl Iterator<Item = &'static Kind> {
        let kinds = self.languages().flat_map(|language| language.kinds());
        kinds.filter(|kind| kind.is_configuration())
    }

    /// Whether a file of this name may be one of some language's, so that a folder is searched for it.
    pub fn is_candidate(&self, path: &str) -> bool {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let Some((_, extension)) = name.rsplit_once('.') else {
            return false;
        };
        self.languages()
            .any(|language| language.extensions().contains(&extension))
    }

    /// Whether a file of this name and content is worth being parsed.
    pub fn may_be(&self, path: &str, text: &str) -> bool {
        let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
        let mut languages = self.languages();
        languages.any(|language| {
            language.extensions().contains(&extension) && language.may_be(path, text)
        })
    }

    /// What the place of a file tells of it.
    pub fn by_place(&self, path: &str, loader: &dyn Loader) -> Option<Recognised> {
        self.languages().find_map(|language| {
            let kind = language.by_place(path, loader)?;
            Some(Recognised { language, kind })
        })
    }

    /// What the first bytes of a file that is no text tell of it.
    pub fn by_bytes(&self, bytes: &[u8]) -> Option<Recognised> {
        self.languages().find_map(|language| {
            let kind = language.by_bytes(bytes)?;
            Some(Recognised { language, kind })
        })
    }

    /// What the name of a file tells of it.
    pub fn by_name(&self, path: &str) -> Option<Recognised> {
        self.languages().find_map(|language| {
            let kind = language.by_name(path)?;
            Some(Recognised { language, kind })
        })
    }

    /// What the first line of a file that says something tells of it, without parsing the file.
    pub fn by_first_line(&self, text: &str) -> Option<Recognised> {
        let mut lines = text.lines().map(str::trim_end);
        let first =
            lines.find(|line| !line.is_empty() && !line.starts_with('#') && *line != "---")?;
        self.languages().find_map(|language| {
            let kind = language.by_first_line(first)?;
            Some(Recognised { language, kind })
        })
    }

    /// What the content of a file tells of it: the language that is most sure, of several the first.
    pub fn by_content(&self, documents: &[Document]) -> Option<Recognised> {
        documents.iter().find_map(|document| {
            let root = document.root.as_mapping()?;
            let mut best: Option<(Recognised, Confidence)> = None;
            for language in self.languages() {
                if let Some((kind, confidence)) = language.by_root(root)
                    && best.is_none_or(|(_, other)| other < confidence)
                {
                    best = Some((Recognised { language, kind }, confidence));
                }
            }
            best.map(|(recognised, _)| recognised)
        })
    }

    /// All inputs, each once: languages that declare one of the same name share it.
    pub fn inputs(&self) -> Vec<Input> {
        let mut inputs: Vec<Input> = Vec::new();
        for input in self.languages().flat_map(|language| language.inputs()) {
            if !inputs.iter().any(|known| known.name == input.name) {
                inputs.push(*input);
            }
        }
        inputs
    }

    /// The languages that take an input.
    pub fn taking(&self, input: &str) -> impl Iterator<Item = &'static dyn Language> {
        self.languages().filter(move |language| {
            let mut inputs = language.inputs().iter();
            inputs.any(|known| known.name == input)
        })
    }

    /// What two languages declare in ways that do not fit together, in words; nothing for those that come with the
    /// program.
    pub fn conflicts(&self) -> Vec<String> {
        let mut conflicts = Vec::new();
        let all: Vec<(&'static dyn Language, &Input)> = self
            .languages()
            .flat_map(|language| language.inputs().iter().map(move |input| (language, input)))
            .collect();
        for (at, (language, input)) in all.iter().enumerate() {
            for (other, same) in all.iter().skip(at + 1) {
                let what = if input.name == same.name {
                    let fits = fits(input.kind, same.kind) && input.repeatable == same.repeatable;
                    (!fits || input.short != same.short).then(|| format!("--{}", input.name))
                } else {
                    input
                        .short
                        .filter(|_| input.short == same.short)
                        .map(|short| format!("-{short}"))
                };
                if let Some(flag) = what {
                    conflicts.push(format!(
                        "`{}` and `{}` both declare `{flag}`",
                        language.name(),
                        other.name()
                    ));
                }
            }
        }
        let sections: Vec<&str> = self
            .languages()
            .map(|language| language.section())
            .collect();
        for (at, section) in sections.iter().enumerate() {
            if sections.iter().skip(at + 1).any(|other| other == section) {
                conflicts.push(format!("two languages have the section `[{section}]`"));
            }
        }
        conflicts
    }
}

fn fits(a: InputKind, b: InputKind) -> bool {
    std::mem::discriminant(&a) == std::mem::discriminant(&b)
}

impl Default for Registry {
    fn default() -> Self {
        Registry::builtin()
    }
}
