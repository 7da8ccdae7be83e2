//! Identifiers of signatures and fields, found by the compiler.

/// A signature of the facts, found by the compiler.
macro_rules! sig {
    ($name:literal) => {
        locus_core::sig_of!(crate::compose::vocabulary::DECLARATIONS, $name)
    };
}

/// A field of the facts, found by the compiler.
macro_rules! field {
    ($sig:literal, $name:literal) => {
        locus_core::field_of!(crate::compose::vocabulary::DECLARATIONS, $sig, $name)
    };
}

/// Keys with the fields of the same names.
macro_rules! keyed {
    ($sig:literal: $($key:literal),+ $(,)?) => {
        [$(($key, $crate::compose::vocabulary::field!($sig, $key))),+]
    };
}

pub(crate) use {field, keyed, sig};
