//! What is reported about TOSCA files before rules are asked.

use locus_core::catalogue::Code;

/// The codes of TOSCA files.
pub(super) static CODES: &[Code] = &[
    Code::error(
        "tosca-anchor",
        "an entry of `dsl_definitions` has no anchor",
        "Nothing in the file can use it.",
    ),
    Code::error(
        "tosca-archive",
        "a CSAR archive is not sound",
        "Programs differ in how they read it, or do not find the service in it.",
    ),
    Code::error(
        "tosca-artifact",
        "an artifact is not in the archive, or not the one that is meant",
        "What is deployed needs a file that is not there, or another one.",
    ),
    Code::error(
        "tosca-choice",
        "an open requirement can be met by these nodes",
        "Told with `--all-bindings`: each of them is the target in some way to meet all requirements.",
    )
    .as_info(),
    Code::error(
        "tosca-clause",
        "a constraint or validation cannot be evaluated",
        "It does not fit the type it is about, or is not one at all.",
    ),
    Code::error(
        "tosca-collision",
        "a type has the name of one that is imported",
        "The name can mean one of them only.",
    )
    .as_warning(),
    Code::error(
        "tosca-constraint",
        "a value does not fulfil a condition of its type",
        "The condition is in the definition of the property or in its data type.",
    ),
    Code::error(
        "tosca-default",
        "a property is not required and has a default",
        "TOSCA 2.0 forbids it, as the property always has a value.",
    )
    .as_warning(),
    Code::error(
        "tosca-derivation",
        "a type cannot derive from what it names",
        "For example from itself.",
    ),
    Code::error(
        "tosca-dialect",
        "the file is in a language that grew out of TOSCA",
        "Its grammar differs, so nothing is said of it.",
    )
    .as_warning(),
    Code::error(
        "tosca-empty",
        "a section is empty",
        "TOSCA 2.0 has no empty sections; leave the key out.",
    ),
    Code::error(
        "tosca-filter",
        "a node filter is not one",
        "It has no effect, or is not a condition.",
    ),
    Code::error(
        "tosca-function",
        "a function call is wrong",
        "The function does not exist, or takes other arguments.",
    ),
    Code::error(
        "tosca-import",
        "an import cannot be followed",
        "What it defines is missing.",
    ),
    Code::error(
        "tosca-lifecycle",
        "the lifecycles of nodes are not sound, or cannot end together",
        "A policy of type `locus.policies.Lifecycle` gives a node its states and what is active in them.",
    ),
    Code::error(
        "tosca-mapping",
        "a substitution mapping names something that is not there",
        "The topology cannot stand for its node type.",
    ),
    Code::error(
        "tosca-missing-key",
        "a key that is required is missing",
        "The grammar of the version demands it.",
    ),
    Code::error(
        "tosca-missing-property",
        "a required property has no value",
        "Neither the template nor the type gives one.",
    ),
    Code::error(
        "tosca-name",
        "a name is not a string, or is empty",
        "Nothing could refer to it.",
    ),
    Code::error(
        "tosca-occi",
        "a topology has no OCCI configuration",
        "A requirement without a target has no link, and two things of one name no identifiers.",
    ),
    Code::error(
        "tosca-operation",
        "an operation is not one of its interface, or is implemented where it cannot be",
        "It would never be called.",
    ),
    Code::error(
        "tosca-profile",
        "a profile has a service template",
        "A file is one or the other.",
    ),
    Code::error(
        "tosca-redundant",
        "a type says what follows from other types",
        "Told with `--hints`: without it, no topology would be allowed that is not.",
    )
    .as_info(),
    Code::error(
        "tosca-reference",
        "something is named that is not there",
        "An input, a template, a property, a step, a repository.",
    ),
    Code::error(
        "tosca-refinement",
        "a derived type changes what it may not",
        "A refinement may narrow what is inherited, and nothing else.",
    ),
    Code::error(
        "tosca-requirement",
        "a requirement definition leaves out what TOSCA 2.0 demands",
        "`capability` and `relationship` are mandatory.",
    )
    .as_warning(),
    Code::error(
        "tosca-scalar",
        "the units of a scalar type are not sound",
        "Values could not be compared.",
    ),
    Code::error(
        "tosca-schema",
        "a schema does not say what it must",
        "For example a list without the type of its items.",
    ),
    Code::error(
        "tosca-shape",
        "a part of the file does not have the form it must have",
        "For example a list where a map is needed.",
    ),
    Code::error(
        "tosca-type-kind",
        "a type of one kind is named where another kind is needed",
        "For example a capability type as a node type.",
    ),
    Code::error(
        "tosca-unknown-capability",
        "a capability is assigned that the type does not have",
        "It has no effect.",
    ),
    Code::error(
        "tosca-unknown-interface",
        "an interface is assigned that the type does not have",
        "It would never be called.",
    ),
    Code::error(
        "tosca-unknown-key",
        "a key is not known",
        "The grammar of the version does not have it.",
    ),
    Code::error(
        "tosca-unknown-property",
        "a property is assigned that the type does not have",
        "It has no effect, or was meant to be another.",
    ),
    Code::error(
        "tosca-unknown-requirement",
        "a requirement is assigned that the type does not define",
        "Nothing says what it needs.",
    ),
    Code::error(
        "tosca-unknown-type",
        "a type is named that is not defined",
        "It may be missing an import or a namespace.",
    ),
    Code::error(
        "tosca-value",
        "a value is not one of its type",
        "The definition of the property says what it must be.",
    ),
    Code::error(
        "tosca-version",
        "the version of the file is missing or not known",
        "Without it, the grammar is not known.",
    ),
];
