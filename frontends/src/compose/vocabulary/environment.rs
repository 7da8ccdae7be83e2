//! The variables of containers, and where they come from.

use locus_core::vocabulary::SigDecl;
use locus_core::vocabulary::declare::{lone, one, sig};

use super::{BOOL, NUMBER, TEXT};

pub(super) const ENVIRONMENT_ENTRY: SigDecl = sig(
    "EnvironmentEntry",
    None,
    "A variable of a container; its span is where its value is written.",
    &[
        one("key", TEXT, "Its name."),
        lone(
            "value",
            TEXT,
            "Its value; none when it is taken from the shell.",
        ),
        lone("file", &["EnvFile"], "The file it comes from."),
        one(
            "templated",
            BOOL,
            "Whether its value holds variables that are replaced, given or not.",
        ),
    ],
);

pub(super) const ENV_FILE: SigDecl = sig(
    "EnvFile",
    None,
    "An item of `env_file`.",
    &[
        one("path", TEXT, "Its path from the project directory."),
        one("found", BOOL, "Whether it is there."),
        one("required", BOOL, "Whether it must be."),
    ],
);

pub(super) const MENTION: SigDecl = sig(
    "Mention",
    None,
    "A service named in the value of a variable, as in `tcp://db:5432`.",
    &[
        one("entry", &["EnvironmentEntry"], "The variable."),
        one("host", TEXT, "The name."),
        one("service", &["Service"], "The service with that name."),
        lone("port", NUMBER, "The port."),
    ],
);
