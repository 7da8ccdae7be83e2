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
        set("service_ports", &["ServicePort"], "Its ports."),
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

/// A kind of selector.
pub(super) const fn selector(name: &'static str, doc: &'static str) -> SigDecl {
    sig(name, super::SELECTOR, doc, &[])
}
