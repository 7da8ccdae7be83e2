//! Claims and volumes.

use locus_core::vocabulary::SigDecl;
use locus_core::vocabulary::declare::{lone, one, sig};

use super::{BOOL, TEXT};

pub(super) const MOUNTED: SigDecl = sig(
    "MountedClaim",
    None,
    "A claim that pods mount and that is among the files; its span is its name there.",
    &[
        one("mounting", &["Workload"], "The workload."),
        one("claimed", &["PersistentVolumeClaim"], "The claim."),
        one(
            "many_pods",
            BOOL,
            "Whether there can be several pods, rolling updates apart.",
        ),
        one(
            "rolling",
            BOOL,
            "Whether an update starts a new pod before the old one is gone.",
        ),
        one(
            "pinned",
            BOOL,
            "Whether something holds its pods on one node.",
        ),
        one(
            "one_node",
            BOOL,
            "Whether one node at a time can use the claim: `ReadWriteOnce`, and no mode for many.",
        ),
        one(
            "one_pod",
            BOOL,
            "Whether one pod at a time can: `ReadWriteOncePod`.",
        ),
    ],
);

pub(super) const MODE: SigDecl = sig(
    "ClaimMode",
    None,
    "An access mode of a claim whose volume or class is known; its span is the mode.",
    &[
        one(
            "mode_of",
            &["Object"],
            "The claim, or the StatefulSet with its template.",
        ),
        one("mode", TEXT, "The mode."),
        one(
            "offered",
            BOOL,
            "Whether the volume or the class offers it.",
        ),
        one("offered_by", TEXT, "What does or does not, in words."),
    ],
);

pub(super) const LEFT: SigDecl = sig(
    "TemplateClaim",
    None,
    "A claim with the name of one of a StatefulSet's template: template, set and number; its span is its name.",
    &[
        one("left_claim", &["PersistentVolumeClaim"], "The claim."),
        one(
            "set_name",
            TEXT,
            "The name of the set, as in the name of the claim.",
        ),
        lone(
            "owning_set",
            &["StatefulSet"],
            "The StatefulSet of that name with such a template.",
        ),
    ],
);
