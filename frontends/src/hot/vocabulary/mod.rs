//! What rules about Heat templates can mention: facts about the text, and a signature for every resource type.

pub mod facts;
pub mod types;

use locus_core::vocabulary::Vocabulary;

pub use facts::DECLARATIONS;

/// The vocabulary of Heat templates, without what a project declares.
pub fn vocabulary() -> Vocabulary {
    static FACTS: locus_core::vocabulary::Declarations = DECLARATIONS;
    Vocabulary::of(&FACTS).with_types(&types::Catalogued)
}

/// A signature of the facts, found by the compiler.
macro_rules! sig {
    ($name:literal) => {
        locus_core::sig_of!(crate::hot::vocabulary::DECLARATIONS, $name)
    };
}

/// A subset of the facts, found by the compiler.
macro_rules! subset {
    ($name:literal) => {
        locus_core::subset_of!(crate::hot::vocabulary::DECLARATIONS, $name)
    };
}

/// A field of the facts, found by the compiler.
macro_rules! field {
    ($sig:literal, $name:literal) => {
        locus_core::field_of!(crate::hot::vocabulary::DECLARATIONS, $sig, $name)
    };
}

pub(in crate::hot) use {field, sig, subset};
