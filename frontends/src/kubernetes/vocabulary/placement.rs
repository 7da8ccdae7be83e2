//! Whether pods fit on nodes.

use locus_core::vocabulary::SigDecl;
use locus_core::vocabulary::declare::{lone, one, set, sig};

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
        set(
            "pending",
            &["PendingPods"],
            "When they do not and pods have priorities: those that stay pending.",
        ),
        lone(
            "drives_out",
            BOOL,
            "Whether they do only when pods of lower priority go; nothing while it is not asked, or could not be decided.",
        ),
        set("driven_out", &["PendingPods"], "Those pods."),
        lone("about", TEXT, "What is lost, in words."),
        lone("placed", &["Workload"], "The workload it is about."),
    ],
);

/// A kind of question.
pub(super) const fn question(name: &'static str, doc: &'static str) -> SigDecl {
    sig(name, Some("PlacementQuestion"), doc, &[])
}

pub(super) const PENDING: SigDecl = sig(
    "PendingPods",
    None,
    "Pods of a workload that have no place; its span is that of the workload.",
    &[one("pods_of", &["Workload"], "The workload.")],
);

pub(super) const LINE: SigDecl = sig(
    "PlacementLine",
    None,
    "A line that decides where pods fit: a request, a selector, the capacity of nodes.",
    &[],
);
