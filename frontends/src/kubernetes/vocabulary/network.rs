//! Services, ingresses, network policies and selectors.

use locus_core::vocabulary::SigDecl;
use locus_core::vocabulary::declare::{lone, one, set, sig};

use super::{BOOL, NUMBER, TEXT};

pub(super) const SERVICE: SigDecl = sig(
    "Service",
    super::OBJECT,
    "A Service.",
    &[
        one(
            "type",
            TEXT,
            "`ClusterIP`, `NodePort`, `LoadBalancer` or `ExternalName`.",
        ),
        one("headless", BOOL, "Whether it has no address of its own."),
        set("service_ports", &["ServicePort"], "Its ports."),
        one(
            "cut_off",
            BOOL,
            "Whether policies let nobody talk to its pods on the ports that it leads to.",
        ),
    ],
);

pub(super) const SERVICE_PORT: SigDecl = sig(
    "ServicePort",
    None,
    "A port of a Service; its span is `targetPort`, or `port` without one.",
    &[
        one("service", &["Service"], "Its Service."),
        lone("port_name", TEXT, "Its name."),
        one("number", NUMBER, "Its number."),
        one("protocol", TEXT, "Its protocol."),
        one(
            "target_port",
            &["Text + Number"],
            "The name or number of the port of containers that it leads to.",
        ),
        set(
            "opened",
            &["ContainerPort"],
            "The ports of selected containers that have that name or number, and protocol.",
        ),
    ],
);

pub(super) const NETWORK_POLICY: SigDecl = sig(
    "NetworkPolicy",
    super::OBJECT,
    "A NetworkPolicy.",
    &[lone(
        "allows",
        BOOL,
        "Whether some rule of it allows something; none when it has no rules, or selects no pods.",
    )],
);

pub(super) const POLICY_RULE: SigDecl = sig(
    "TrafficRule",
    None,
    "A rule of a policy of the network; its span is where it starts.",
    &[
        one("policy", &["Object"], "Its policy."),
        one("side", TEXT, "`ingress` or `egress`."),
        one(
            "tier",
            TEXT,
            "`admin`, `network` or `baseline`: when its policy is asked.",
        ),
        one(
            "counts",
            BOOL,
            "Whether it decides about something that no other rule decides before it or allows as well.",
        ),
        lone(
            "covered_by",
            &["TrafficRule"],
            "A single rule that decides all of it, when there is one.",
        ),
    ],
);

pub(super) const POLICY_PEER: SigDecl = sig(
    "TrafficPeer",
    None,
    "Pods that a rule of a policy names by labels; its span is where they are named.",
    &[
        one("peer_of", &["Object"], "Its policy."),
        one(
            "elsewhere",
            BOOL,
            "Whether it has a selector of namespaces, as opposed to being about the policy's own.",
        ),
        one("matches", BOOL, "Whether some pods among the files match."),
    ],
);

pub(super) const POLICY_PORT: SigDecl = sig(
    "TrafficPort",
    None,
    "A port that a rule of a policy names; its span is where the rule starts.",
    &[
        one("port_of", &["Object"], "Its policy."),
        one(
            "listed",
            BOOL,
            "Whether a container that the rule is about lists a port of that name and protocol.",
        ),
    ],
);

pub(super) const POLICY_TIE: SigDecl = sig(
    "PolicyTie",
    None,
    "Two policies of one tier with the same priority; its span is the name of the second.",
    &[
        one("tied", &["Object"], "The second."),
        one("tied_with", &["Object"], "The first."),
    ],
);

pub(super) const IDLE: SigDecl = sig(
    "IdlePolicy",
    None,
    "A policy of the admin or baseline tier whose subject is no pods; its span is the subject.",
    &[one("idle", &["Object"], "The policy.")],
);

pub(super) const FORWARD: SigDecl = sig(
    "Forward",
    None,
    "A Service that an Ingress or route leads to from outside; its span is its name there.",
    &[
        one("forwarded_by", &["Object"], "The Ingress or route."),
        one(
            "blocked",
            BOOL,
            "Whether policies let nothing of it through to the pods.",
        ),
        set("blockers", &["Object"], "The policies about these pods."),
    ],
);

pub(super) const INGRESS: SigDecl = sig(
    "Ingress",
    super::OBJECT,
    "An Ingress.",
    &[set("routes", &["Route"], "Its paths.")],
);

pub(super) const ROUTE: SigDecl = sig(
    "Route",
    None,
    "A path of an Ingress; its span is the path.",
    &[
        one("ingress", &["Ingress"], "Its Ingress."),
        one(
            "claim",
            TEXT,
            "Class, host, path and type of path, which are claimed together.",
        ),
    ],
);

pub(super) const SELECTOR: SigDecl = sig(
    "Selector",
    None,
    "A selector of pods by labels; its span is its labels.",
    &[
        one("owner", &["Object"], "The object it belongs to."),
        one("empty", BOOL, "Whether it matches everything."),
        set(
            "selected",
            &["Workload"],
            "The workloads whose pods it matches.",
        ),
    ],
);

pub(super) const SERVICE_SELECTOR: SigDecl = sig(
    "ServiceSelector",
    super::SELECTOR,
    "The selector of a Service.",
    &[lone(
        "twin_of",
        &["ServiceSelector"],
        "That of the first other Service with an address of the cluster that leads to the same ports of the same workloads.",
    )],
);

/// A kind of selector.
pub(super) const fn selector(name: &'static str, doc: &'static str) -> SigDecl {
    sig(name, super::SELECTOR, doc, &[])
}
