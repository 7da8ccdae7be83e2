//! Identifiers of signatures and fields, found by the compiler.

/// A signature of the facts, found by the compiler.
macro_rules! sig {
    ($name:literal) => {
        locus_core::sig_of!(crate::kubernetes::vocabulary::DECLARATIONS, $name)
    };
}

/// A field of the facts, found by the compiler.
macro_rules! field {
    ($sig:literal, $name:literal) => {
        locus_core::field_of!(crate::kubernetes::vocabulary::DECLARATIONS, $sig, $name)
    };
}

pub(crate) use {field, sig};
