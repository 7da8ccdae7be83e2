//! What rules may say about a composition: every signature and field, with its meaning.
//!
//! Equal texts and equal numbers are one atom each, so `a.target = b.target` compares values. What
//! depends on a variable without a value, or on a profile, is an atom whose value is symbolic.

mod components;
mod environment;
mod identifiers;
mod project;
mod service;
mod uses;

use locus_core::vocabulary::declare::{lone, one, set, sig, value};
use locus_core::vocabulary::lg::LOCATION;
use locus_core::vocabulary::{Declarations, Vocabulary};

use components::{CONFIG, NETWORK, SECRET, SUBNET, VOLUME};
use environment::{ENV_FILE, ENVIRONMENT_ENTRY, MENTION};
use project::{COMPOSITION, DEFINITION, FILE, PROFILE, VARIABLE};
use service::{HEALTHCHECK, ROLLOUT, SERVICE};
use uses::{ATTACHMENT, DEPENDENCY, FILE_USE, MOUNT, PUBLICATION};

/// The vocabulary of Docker Compose.
pub fn vocabulary() -> Vocabulary {
    static FACTS: Declarations = DECLARATIONS;
    Vocabulary::of(&FACTS)
}

pub(crate) use identifiers::{field, keyed, sig};

const BOOL: &[&str] = &["Bool"];
const TEXT: &[&str] = &["Text"];
const NUMBER: &[&str] = &["Number"];
const REFERENCE: Option<&str> = Some("Reference");

/// The facts of Docker Compose.
pub const DECLARATIONS: Declarations = Declarations {
    language: "compose",
    sigs: &[
        value("Bool", None, "A truth value."),
        value("True", Some("Bool"), "Yes."),
        value("False", Some("Bool"), "No."),
        value("Text", None, "A text; equal texts are one atom."),
        value(
            "Number",
            None,
            "A whole number of any size; equal numbers are one atom.",
        ),
        COMPOSITION,
        FILE,
        DEFINITION,
        VARIABLE,
        PROFILE,
        sig(
            "Component",
            Some(LOCATION),
            "Something the files define; its span is its name there.",
            &[
                one("name", TEXT, "Its name in the file."),
                one(
                    "actual_name",
                    TEXT,
                    "Its name in Docker: `name`, or that of the project and its own.",
                ),
                one("external", BOOL, "Whether it exists already."),
                lone(
                    "external_name",
                    TEXT,
                    "The name below `external`, an old way to write `name`.",
                ),
                set(
                    "own_keys",
                    TEXT,
                    "Of what exists already, the keys that are written beside `external`.",
                ),
            ],
        ),
        SERVICE,
        sig(
            "Job",
            Some("Service"),
            "A service that runs on a trigger, from `jobs`.",
            &[],
        ),
        NETWORK,
        VOLUME,
        SECRET,
        CONFIG,
        sig(
            "Model",
            Some("Component"),
            "A language model, from `models`.",
            &[],
        ),
        sig(
            "Reference",
            None,
            "A use of something by its name; its span is that name.",
            &[
                one("by", &["Service"], "The service that uses it."),
                one("word", TEXT, "The name that is written."),
                one(
                    "known",
                    BOOL,
                    "Whether it is known what has that name: false when the name depends on a variable, or when nothing has it and a file could not be read.",
                ),
                lone(
                    "target",
                    &["Component"],
                    "What has that name; none when nothing has.",
                ),
            ],
        ),
        ATTACHMENT,
        DEPENDENCY,
        sig(
            "Link",
            REFERENCE,
            "An item of `links`: a service.",
            &[lone("alias", TEXT, "The name given to it.")],
        ),
        sig(
            "VolumesFrom",
            REFERENCE,
            "An item of `volumes_from` that names a service.",
            &[],
        ),
        sig(
            "Namespace",
            REFERENCE,
            "A `service:` in `network_mode`, `ipc` or `pid`.",
            &[one("key", TEXT, "Which of the three.")],
        ),
        sig(
            "VolumeUse",
            REFERENCE,
            "A named volume that is mounted.",
            &[],
        ),
        FILE_USE,
        sig(
            "SecretUse",
            Some("FileUse"),
            "An item of `secrets` of a service.",
            &[],
        ),
        sig(
            "ConfigUse",
            Some("FileUse"),
            "An item of `configs` of a service.",
            &[],
        ),
        sig(
            "BuildSecretUse",
            REFERENCE,
            "An item of `build.secrets`.",
            &[],
        ),
        sig(
            "ContextUse",
            REFERENCE,
            "A `service:` in `build.additional_contexts`.",
            &[],
        ),
        sig(
            "ModelUse",
            REFERENCE,
            "An item of `models` of a service.",
            &[],
        ),
        MOUNT,
        sig("BindMount", Some("Mount"), "A path of the host.", &[]),
        sig("VolumeMount", Some("Mount"), "A volume, named or not.", &[]),
        sig(
            "TmpfsMount",
            Some("Mount"),
            "Memory, from `volumes` or `tmpfs`.",
            &[],
        ),
        sig("FileMount", Some("Mount"), "A secret or config.", &[]),
        PUBLICATION,
        value(
            "HostPort",
            None,
            "Ports of the host with one protocol that every publication takes together or not at all.",
        ),
        value("HostAddress", None, "An address of the host."),
        SUBNET,
        HEALTHCHECK,
        ENVIRONMENT_ENTRY,
        ENV_FILE,
        sig(
            "LabelFile",
            None,
            "An item of `label_file`.",
            &[one("found", BOOL, "Whether it is there.")],
        ),
        MENTION,
        ROLLOUT,
    ],
};
