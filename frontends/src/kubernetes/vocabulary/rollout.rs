//! Updates, probes, quotas and ranges.

use locus_core::vocabulary::SigDecl;
use locus_core::vocabulary::declare::{lone, one, sig};

use super::{BOOL, NUMBER, TEXT};

pub(super) const START: SigDecl = sig(
    "StartWindow",
    None,
    "How long a container with a liveness probe has to start; its span is the key of that probe.",
    &[
        one("starting", &["Workload"], "Its workload."),
        one("started", TEXT, "The name of the container."),
        one(
            "killed_after",
            NUMBER,
            "Seconds after which it is killed when the liveness probe always fails.",
        ),
        lone(
            "asked_after",
            NUMBER,
            "Seconds after which the readiness probe is asked first.",
        ),
        one(
            "guarded",
            BOOL,
            "Whether a startup probe holds the others back.",
        ),
    ],
);

pub(super) const CLOCK: SigDecl = sig(
    "RolloutClock",
    None,
    "How long a rollout may take; its span is `progressDeadlineSeconds`, or the name.",
    &[
        one("clock_of", &["Workload"], "Its workload."),
        one(
            "available_after",
            NUMBER,
            "Seconds before which no new pod can count as available.",
        ),
        one(
            "given_up_after",
            NUMBER,
            "Seconds after which the rollout counts as failed.",
        ),
    ],
);

pub(super) const QUOTA: SigDecl = sig(
    "QuotaLine",
    None,
    "What a ResourceQuota allows of something; its span is the amount.",
    &[
        one("quota", &["Object"], "The ResourceQuota."),
        one(
            "quota_resource",
            TEXT,
            "What it is about, as in `requests.cpu`.",
        ),
        one("hard", TEXT, "How much it allows."),
        one("used", TEXT, "How much the objects of its namespace take."),
        lone(
            "most_used",
            TEXT,
            "How much they take when autoscalers ask for the most; none when there are none.",
        ),
    ],
);

pub(super) const GAP: SigDecl = sig(
    "QuotaGap",
    None,
    "An amount that a container leaves out though a quota is about it; its span is the container.",
    &[
        one("lacking", &["Workload"], "The workload."),
        one("lacked", TEXT, "The amount, as in `requests.cpu`."),
        one("demanded_by", &["Object"], "The ResourceQuota."),
    ],
);

pub(super) const RANGE: SigDecl = sig(
    "RangeLine",
    None,
    "What a LimitRange allows containers of a resource; its span is where it is written.",
    &[
        one("range", &["Object"], "The LimitRange."),
        one("range_resource", TEXT, "The resource."),
        lone("range_least", TEXT, "The least they may ask for."),
        lone("range_most", TEXT, "The most they may use."),
    ],
);
