//! What the files of a project say of themselves: the composition, files, definitions, variables, profiles.

use locus_core::vocabulary::SigDecl;
use locus_core::vocabulary::declare::{lone, one, set, sig};

use super::{BOOL, TEXT};

pub(super) const COMPOSITION: SigDecl = sig(
    "Composition",
    None,
    "The project; its span is the start of its first file.",
    &[
        one("name", TEXT, "Its name."),
        one(
            "mode",
            TEXT,
            "What it is deployed with: `compose` or `swarm`.",
        ),
        lone(
            "version",
            TEXT,
            "The `version` that is written, which Compose ignores.",
        ),
        one(
            "complete",
            BOOL,
            "Whether every file could be read as a whole.",
        ),
    ],
);

pub(super) const FILE: SigDecl = sig(
    "File",
    None,
    "A Compose file that was read; its span is its start.",
    &[set("includes", &["File"], "The files that it includes.")],
);

pub(super) const DEFINITION: SigDecl = sig(
    "Definition",
    None,
    "A service as one file defines it, where `extends` is involved; its span is its name, or where it is named.",
    &[
        one(
            "defined",
            BOOL,
            "Whether the file defines it, as far as it could be read.",
        ),
        lone("base", &["Definition"], "What it extends."),
    ],
);

pub(super) const VARIABLE: SigDecl = sig(
    "Variable",
    None,
    "A variable that the files use; its span is its first use.",
    &[
        one("name", TEXT, "Its name."),
        lone("value", TEXT, "The value given for it."),
        lone(
            "fallback",
            TEXT,
            "The default of its first use that has one.",
        ),
        lone(
            "demand",
            TEXT,
            "The message of a use that refuses to go on without a value.",
        ),
    ],
);

pub(super) const PROFILE: SigDecl = sig(
    "Profile",
    None,
    "A profile that a service names; its span is the first.",
    &[
        one("name", TEXT, "Its name."),
        one(
            "enabled",
            BOOL,
            "Whether it is; symbolic unless it was asked for.",
        ),
        one("asked", BOOL, "Whether it was asked for."),
    ],
);
