//! Uses of objects by name.

use locus_core::vocabulary::SigDecl;
use locus_core::vocabulary::declare::{lone, one, sig};

use super::{BOOL, TEXT};

pub(super) const REFERENCE: SigDecl = sig(
    "Reference",
    None,
    "A use of an object by its name; its span is that name.",
    &[
        one("by", &["Object"], "The object that uses it."),
        one("word", TEXT, "The name that is written."),
        one("optional", BOOL, "Whether it may be missing."),
        one(
            "known",
            BOOL,
            "Whether it must be among the files: false for what every cluster has, and when a file could not be read.",
        ),
        lone(
            "target",
            &["Object"],
            "What has that name; none when nothing has.",
        ),
    ],
);

/// A use without fields of its own.
pub(super) const fn use_of(name: &'static str, doc: &'static str) -> SigDecl {
    sig(name, super::REFERENCE, doc, &[])
}

pub(super) const DATA_USE: SigDecl = sig(
    "DataUse",
    super::REFERENCE,
    "A ConfigMap or Secret that pods are given.",
    &[lone(
        "used_key",
        TEXT,
        "The key that is used; none when all are.",
    )],
);

pub(super) const SERVICE_USE: SigDecl = sig(
    "ServiceUse",
    super::REFERENCE,
    "A Service that an Ingress or a route of a Gateway sends requests to.",
    &[lone(
        "used_port",
        &["Text + Number"],
        "The name or number of its port.",
    )],
);
