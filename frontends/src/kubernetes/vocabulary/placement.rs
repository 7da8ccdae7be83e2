//! Whether pods fit on nodes.

use locus_core::vocabulary::SigDecl;
use locus_core::vocabulary::declare::{lone, set, sig};

use super::{BOOL, TEXT};

pub(super) const QUESTION: SigDecl = sig(
    "PlacementQuestion",
    None,
    "Whether pods fit on nodes; its span is the workload it is about, or the first one.",
    &[
        set(
            "unplaceable",
            &["PlacementLine"],
            "When they do not: lines that cannot all stay as they are.",
        ),
        lone(
            "impossible",
            BOOL,
            "Whether they do not; nothing while it is not asked, or could not be decided.",
        ),
        lone("about", TEXT, "What is lost, in words."),
        lone("placed", &["Workload"], "The workload it is about."),
    ],
);

/// A kind of question.
pub(super) const fn question(name: &'static str, doc: &'static str) -> SigDecl {
    sig(name, Some("PlacementQuestion"), doc, &[])
}

pub(super) const LINE: SigDecl = sig(
    "PlacementLine",
    None,
    "A line that decides where pods fit: a request, a selector, the capacity of nodes.",
    &[],
);
