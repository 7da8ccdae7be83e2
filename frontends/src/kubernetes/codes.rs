//! What is reported about Kubernetes manifests before rules are asked.

use locus_core::catalogue::Code;

const REFUSED: &str = "The API server refuses the object.";

/// The codes of Kubernetes manifests.
pub(super) static CODES: &[Code] = &[
    Code::error(
        "k8s-assertion",
        "an assertion about who can talk to whom does not hold",
        "`[kubernetes] assert` in `locus.toml` says who may and who may not talk to whom; these lines decide otherwise.",
    ),
    Code::error(
        "k8s-crd",
        "a file with definitions of custom resources holds something else",
        "Only CustomResourceDefinitions are read from files that `--crd` names.",
    )
    .as_warning(),
    Code::error(
        "k8s-deprecated-api",
        "a version of the interface will be removed",
        "A newer version serves the same kind; the old one goes away with a later release.",
    )
    .as_warning(),
    Code::error("k8s-document", "a document is not an object", REFUSED),
    Code::error(
        "k8s-fields",
        "fields are given that exclude each other, or need another",
        REFUSED,
    ),
    Code::error("k8s-kind", "there is no such kind", REFUSED),
    Code::error(
        "k8s-label",
        "a label or annotation has characters that are not allowed",
        REFUSED,
    ),
    Code::error("k8s-missing-field", "a required field is missing", REFUSED),
    Code::error(
        "k8s-name",
        "a name has characters that are not allowed",
        REFUSED,
    ),
    Code::error(
        "k8s-namespace",
        "an object that is not in a namespace names one",
        "The namespace has no effect.",
    )
    .as_warning(),
    Code::error(
        "k8s-removed-api",
        "a version of the interface is not served",
        "The release that is deployed to does not serve it any more, or not yet.",
    ),
    Code::error(
        "k8s-replicas",
        "a number of pods is given that a workload cannot have",
        "`--replicas` and `--replicas-file` say how many pods a workload has; an autoscaler keeps to its limits.",
    ),
    Code::error("k8s-type", "a value is of the wrong type", REFUSED),
    Code::error(
        "k8s-unknown-field",
        "a field is not known",
        "The API server refuses the object when it validates strictly, as `kubectl` asks it to, and drops the field otherwise.",
    ),
    Code::error("k8s-value", "a value is not allowed", REFUSED),
];
