//! The library that comes with the language: `util/ordering` and the others.

/// The modules and their texts.
const MODULES: [(&str, &str); 11] = [
    ("util/boolean", include_str!("../library/util/boolean.als")),
    ("util/graph", include_str!("../library/util/graph.als")),
    ("util/integer", include_str!("../library/util/integer.als")),
    ("util/natural", include_str!("../library/util/natural.als")),
    (
        "util/ordering",
        include_str!("../library/util/ordering.als"),
    ),
    (
        "util/relation",
        include_str!("../library/util/relation.als"),
    ),
    ("util/seqrel", include_str!("../library/util/seqrel.als")),
    (
        "util/sequence",
        include_str!("../library/util/sequence.als"),
    ),
    ("util/sequniv", include_str!("../library/util/sequniv.als")),
    ("util/ternary", include_str!("../library/util/ternary.als")),
    ("util/time", include_str!("../library/util/time.als")),
];

/// The text of a module of the library.
pub fn source(name: &str) -> Option<&'static str> {
    MODULES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}

/// The names of all modules of the library.
pub fn names() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|(name, _)| *name)
}

/// Whether a path is that of a module of the library.
pub(crate) fn is_library_path(path: &str) -> bool {
    path.strip_suffix(".als")
        .is_some_and(|name| source(name).is_some())
}
