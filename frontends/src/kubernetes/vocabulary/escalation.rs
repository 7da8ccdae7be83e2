//! What accounts can come to hold.

use locus_core::vocabulary::SigDecl;
use locus_core::vocabulary::declare::{lone, one, set, sig};

use super::NUMBER;

pub(super) const ESCALATION: SigDecl = sig(
    "Escalation",
    None,
    "A way from pods to everything in the cluster; its span is the name of their account, or their template.",
    &[
        one(
            "escalates",
            &["Workload"],
            "The workload whose pods it starts at.",
        ),
        set("way", &["AccessStep"], "Its steps."),
        one("first_step", &["AccessStep"], "The first of them."),
        one("step_count", NUMBER, "How many there are."),
    ],
);

pub(super) const STEP: SigDecl = sig(
    "AccessStep",
    None,
    "A right and what follows from it; its span is the rule of the role, or the binding of a role that every cluster has.",
    &[lone("next_step", &["AccessStep"], "The step after it.")],
);
