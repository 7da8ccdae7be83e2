//! What can be written in a Compose file, for editors.

use super::schema::{Keys, at_path};
use crate::language::{Follows, NamePart, NameSort, NameUse, Names, Place, Suggestion};

/// A place where names are used.
const fn used(path: &'static [&'static str], part: NamePart) -> NameUse {
    NameUse { path, part }
}

/// The names of a project.
pub(super) static NAMES: &[Names] = &[
    Names {
        what: "service",
        sort: NameSort::Location,
        body: "\n    image: scratch",
        defined: &["services", "*"],
        used: &[
            used(&["services", "*", "depends_on"], NamePart::Each),
            used(&["services", "*", "links"], NamePart::BeforeColon),
            used(
                &["services", "*", "network_mode"],
                NamePart::After("service:"),
            ),
            used(&["services", "*", "ipc"], NamePart::After("service:")),
            used(&["services", "*", "pid"], NamePart::After("service:")),
            used(&["services", "*", "volumes_from"], NamePart::BeforeColon),
        ],
    },
    Names {
        what: "network",
        sort: NameSort::Location,
        body: " {}",
        defined: &["networks", "*"],
        used: &[used(&["services", "*", "networks"], NamePart::Each)],
    },
    Names {
        what: "volume",
        sort: NameSort::Location,
        body: " {}",
        defined: &["volumes", "*"],
        used: &[
            used(&["services", "*", "volumes"], NamePart::BeforeColon),
            used(&["services", "*", "volumes", "*", "source"], NamePart::Each),
        ],
    },
    Names {
        what: "secret",
        sort: NameSort::Location,
        body: "\n    file: ./secret",
        defined: &["secrets", "*"],
        used: &[
            used(&["services", "*", "secrets"], NamePart::Each),
            used(&["services", "*", "secrets", "*", "source"], NamePart::Each),
            used(&["services", "*", "build", "secrets"], NamePart::Each),
        ],
    },
    Names {
        what: "config",
        sort: NameSort::Location,
        body: "\n    file: ./config",
        defined: &["configs", "*"],
        used: &[
            used(&["services", "*", "configs"], NamePart::Each),
            used(&["services", "*", "configs", "*", "source"], NamePart::Each),
        ],
    },
];

/// What can be written at a place of a Compose file.
pub(super) fn suggest(place: &Place<'_>) -> Vec<Suggestion> {
    let Some(Keys { keys, choices }) = at_path(place.path) else {
        return Vec::new();
    };
    let mut all: Vec<Suggestion> = if place.is_key {
        let keys = keys.into_iter().map(|key| Suggestion {
            text: key.name.to_owned(),
            detail: key.types,
            required: key.required,
            follows: match (key.is_map, key.is_list) {
                (_, true) => Follows::List,
                (true, _) => Follows::Map,
                _ => Follows::Value,
            },
            ..Suggestion::default()
        });
        keys.collect()
    } else {
        let choices = choices.into_iter().map(|choice| Suggestion {
            text: choice.to_owned(),
            detail: "allowed value".to_owned(),
            ..Suggestion::default()
        });
        choices.collect()
    };
    all.sort_by(|a, b| {
        b.required
            .cmp(&a.required)
            .then_with(|| a.text.cmp(&b.text))
    });
    all
}
