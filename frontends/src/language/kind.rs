//! The kinds of files that a language knows, and how sure it is of a file.

use std::fmt;

/// A kind of file, owned by the language that recognises it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// What messages call such a file, without an article: `Heat template`.
    pub name: &'static str,
    /// What such a file is to the check.
    pub role: KindRole,
    /// How a reader tells one, as the end of a sentence about it: ``starts with `heat_template_version` ``. Shown when
    /// nothing tells what a file is.
    pub sign: Option<&'static str>,
}

/// What a file of a kind is to the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KindRole {
    /// It is a configuration, by itself or with others.
    Configuration,
    /// It is a part of configurations that name it or are given it, and is not checked by itself.
    Part {
        /// What it is checked with, as the end of a sentence: `checked with its template`.
        with: &'static str,
        /// How to have it checked; `{name}` stands for the file.
        help: &'static str,
    },
    /// Another program makes configurations of it, which can be checked.
    Source {
        /// How to have them checked; `{folder}` stands for the folder of the file.
        help: &'static str,
    },
    /// It is recognised, but cannot be checked yet.
    Unsupported,
}

impl Kind {
    /// Whether files of this kind are configurations.
    pub fn is_configuration(&self) -> bool {
        self.role == KindRole::Configuration
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// How sure a language is that a file is one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// Something in it is used by this language, and by others too.
    Possible,
    /// It has the shape of such a file.
    Likely,
    /// It says so itself.
    Certain,
}
