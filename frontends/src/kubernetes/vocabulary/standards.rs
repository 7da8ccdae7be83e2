//! Pod Security Standards that pods must meet.

use locus_core::vocabulary::SigDecl;
use locus_core::vocabulary::declare::{lone, one, set, sig};

use super::{NUMBER, TEXT};

pub(super) const STANDARD: SigDecl = sig(
    "Standard",
    None,
    "A Pod Security Standard that pods must meet; its span is the label that says so, or their template.",
    &[
        one("level", TEXT, "`baseline` or `restricted`."),
        one(
            "standard_release",
            NUMBER,
            "The release whose form of the standard holds: 37 for 1.37.",
        ),
        one(
            "standard_mode",
            TEXT,
            "`enforce` when pods that do not meet it are refused; `audit` or `warn` when they are let in.",
        ),
        lone(
            "advisory",
            TEXT,
            "The mode, when pods that do not meet it are let in.",
        ),
        lone(
            "standard_label",
            TEXT,
            "The label of the namespace that asks for it.",
        ),
        set(
            "ahead",
            &["Standard"],
            "The standards of the same pods that are told before this one.",
        ),
    ],
);
