//! What front-ends report themselves, whatever the language: files that cannot be read or understood.

use locus_core::catalogue::Code;

/// The codes of files and YAML.
pub static COMMON: &[Code] = &[
    Code::error(
        "duplicate-key",
        "a key is written twice in one map",
        "YAML forbids it; programs that accept it keep one of the two values and drop the other silently.",
    ),
    Code::error(
        "empty",
        "the file holds no document",
        "There is nothing to deploy.",
    ),
    Code::error(
        "encoding",
        "the file is not text",
        "Configurations are UTF-8, or UTF-16 with a byte order mark.",
    ),
    Code::error(
        "include-cycle",
        "files include each other in a circle",
        "Whoever deploys them would never come to an end.",
    ),
    Code::error(
        "io",
        "a file cannot be read",
        "What is in it was not checked.",
    ),
    Code::error(
        "shape",
        "a part of the file does not have the form it must have",
        "For example a list where a map is needed. What is inside was not checked.",
    ),
    Code::error(
        "syntax",
        "the file is not well-formed",
        "What follows the mistake may have been misunderstood, so fix this first.",
    ),
    Code::error(
        "too-large",
        "the file is larger or more deeply nested than is read",
        "Limits keep a hostile file from exhausting the machine.",
    ),
    Code::error(
        "unchecked",
        "something could not be checked",
        "The message says what and why; nothing is known about it.",
    )
    .as_warning(),
];
