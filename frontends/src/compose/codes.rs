//! What is reported about Compose files before rules are asked.

use locus_core::catalogue::Code;

/// The codes of Compose files, most of them from the schema that Compose publishes.
pub(super) static CODES: &[Code] = &[
    Code::error(
        "compose-env-file",
        "a line of an environment file is not `NAME=value`",
        "Compose refuses the file.",
    ),
    Code::error(
        "compose-file",
        "a file that is named cannot be read",
        "Compose refuses the project.",
    ),
    Code::error(
        "compose-include",
        "an included file defines something again, differently",
        "Compose refuses the project; an override file may change what is included.",
    ),
    Code::error(
        "compose-interpolation",
        "a `$` does not start a variable",
        "Write `$$` for a dollar sign.",
    ),
    Code::error(
        "compose-key",
        "a key is not a name",
        "Compose refuses the file.",
    ),
    Code::error(
        "compose-keys",
        "keys are given that exclude each other",
        "Compose refuses the file.",
    ),
    Code::error(
        "compose-merge",
        "files of one project have values of different kinds under one key",
        "They cannot be merged.",
    ),
    Code::error(
        "compose-missing-key",
        "a key that is required is missing",
        "Compose refuses the file.",
    ),
    Code::error(
        "compose-mount",
        "a mount cannot be understood",
        "Compose refuses the file.",
    ),
    Code::error(
        "compose-name",
        "a name has characters that are not allowed",
        "Compose refuses the file.",
    ),
    Code::error(
        "compose-port",
        "a port cannot be understood",
        "Compose refuses the file.",
    ),
    Code::error(
        "compose-repeated",
        "an item is written twice in a list",
        "Compose refuses the file.",
    ),
    Code::error(
        "compose-type",
        "a value is of the wrong type",
        "Compose refuses the file.",
    ),
    Code::error(
        "compose-unknown-key",
        "a key is not known",
        "Compose refuses the file.",
    ),
    Code::error(
        "compose-value",
        "a value is not allowed",
        "Compose refuses the file.",
    ),
];
