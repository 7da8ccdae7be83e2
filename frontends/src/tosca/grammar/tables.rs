//! The keys of every entity, by version.
//!
//! Sections of the standard: 1.3 3.6 to 3.10, 2.0 chapters 6 to 16.

use super::Shape::{
    Any, Count, Either, Entity as Of, Flag, List, Loose, Map, Metadata, Name, Ordered, Range,
    Short, ShortType, Text, Texts, Type, Types, Values, Version as Ver, Words,
};
use super::TypeKind::{Artifact, Capability, Data, Group, Interface, Node, Policy, Relationship};
use super::{Entity, Key, Shape, TypeKind, key};
use crate::tosca::version::Version::{self, V1_1, V1_2, V1_3, V2_0};

const DESCRIPTION: Key = key("description", Text);
const METADATA: Key = key("metadata", Metadata);
static ONE_PROPERTY: Shape = Loose(&PROPERTY);
static ONE_ATTRIBUTE: Shape = Loose(&ATTRIBUTE);
const PROPERTIES: Key = key("properties", Map(&ONE_PROPERTY));
const ATTRIBUTES: Key = key("attributes", Map(&ONE_ATTRIBUTE));
const VALUES: Key = key("properties", Values);
const ATTRIBUTE_VALUES: Key = key("attributes", Values);
const INPUT_VALUES: Key = key("inputs", Values);

const fn entity(name: &'static str, keys: &'static [Key]) -> Entity {
    Entity {
        name,
        keys,
        rest: None,
    }
}

const fn parent(kind: TypeKind) -> Key {
    key("derived_from", Type(kind))
}

const VERSION: Key = key("version", Ver);

/// A file.
pub static FILE: Entity = entity(
    "a TOSCA file",
    &[
        key("tosca_definitions_version", Name).must(),
        key("profile", Name).since(V2_0),
        key("namespace", Name).since(V1_2).until(V1_3),
        METADATA,
        DESCRIPTION,
        key("dsl_definitions", Any),
        key("repositories", Map(&Short(&REPOSITORY))),
        key("imports", List(&Any)),
        key("artifact_types", Map(&Of(&ARTIFACT_TYPE))),
        key("data_types", Map(&Of(&DATA_TYPE))),
        key("capability_types", Map(&Of(&CAPABILITY_TYPE))),
        key("interface_types", Map(&Of(&INTERFACE_TYPE))),
        key("relationship_types", Map(&Of(&RELATIONSHIP_TYPE))),
        key("node_types", Map(&Of(&NODE_TYPE))),
        key("group_types", Map(&Of(&GROUP_TYPE))),
        key("policy_types", Map(&Of(&POLICY_TYPE))),
        key("functions", Map(&Of(&FUNCTION))).since(V2_0),
        key("topology_template", Of(&TOPOLOGY)).until(V1_3),
        key("service_template", Of(&TOPOLOGY)).since(V2_0),
    ],
);

/// An import; its short forms are read where imports are followed.
pub static IMPORT: Entity = entity(
    "an import",
    &[
        key("file", Text).until(V1_3).must(),
        key("url", Text).since(V2_0),
        key("profile", Text).since(V2_0),
        key("repository", Name),
        key("namespace_uri", Text).until(V1_3),
        key("namespace_prefix", Text).until(V1_3),
        key("namespace", Text).since(V2_0),
        DESCRIPTION.since(V2_0),
        METADATA.since(V2_0),
    ],
);

static REPOSITORY: Entity = entity(
    "a repository",
    &[
        key("url", Text).must(),
        DESCRIPTION,
        key("credential", Any).until(V1_3),
        METADATA.since(V2_0),
    ],
);

static ARTIFACT_TYPE: Entity = entity(
    "an artifact type",
    &[
        parent(Artifact),
        VERSION,
        METADATA,
        DESCRIPTION,
        key("mime_type", Text),
        key("file_ext", Texts),
        PROPERTIES,
    ],
);

static DATA_TYPE: Entity = entity(
    "a data type",
    &[
        parent(Data),
        VERSION,
        METADATA,
        DESCRIPTION,
        PROPERTIES,
        key("constraints", List(&Any)).until(V1_3),
        key("validation", Any).since(V2_0),
        key("key_schema", ShortType(Data, &SCHEMA)).since(V1_3),
        key("entry_schema", ShortType(Data, &SCHEMA)).since(V1_3),
        key("data_type", Type(Data)).since(V2_0),
        key("units", Values).since(V2_0),
        key("canonical_unit", Text).since(V2_0),
        key("prefixes", Values).since(V2_0),
    ],
);

static CAPABILITY_TYPE: Entity = entity(
    "a capability type",
    &[
        parent(Capability),
        VERSION,
        METADATA,
        DESCRIPTION,
        PROPERTIES,
        ATTRIBUTES,
        key("valid_source_types", Types(Node)).until(V1_3),
        key("valid_source_node_types", Types(Node)).since(V2_0),
        key("valid_relationship_types", Types(Relationship)).since(V2_0),
    ],
);

static INTERFACE_TYPE: Entity = Entity {
    name: "an interface type",
    keys: &[
        parent(Interface),
        VERSION,
        METADATA,
        DESCRIPTION,
        key("inputs", Map(&Loose(&PROPERTY))),
        key("operations", Map(&Short(&OPERATION))).since(V1_3),
        key("notifications", Map(&Short(&NOTIFICATION))).since(V1_3),
    ],
    rest: Some((Short(&OPERATION), V1_3)),
};

static RELATIONSHIP_TYPE: Entity = entity(
    "a relationship type",
    &[
        parent(Relationship),
        VERSION,
        METADATA,
        DESCRIPTION,
        PROPERTIES,
        ATTRIBUTES,
        key("interfaces", Map(&ShortType(Interface, &INTERFACE))),
        key("valid_target_types", Types(Capability)).until(V1_3),
        key("valid_capability_types", Types(Capability)).since(V2_0),
        key("valid_target_node_types", Types(Node)).since(V2_0),
        key("valid_source_node_types", Types(Node)).since(V2_0),
    ],
);

static NODE_TYPE: Entity = entity(
    "a node type",
    &[
        parent(Node),
        VERSION,
        METADATA,
        DESCRIPTION,
        PROPERTIES,
        ATTRIBUTES,
        key("capabilities", Map(&ShortType(Capability, &CAPABILITY))),
        key("requirements", Ordered(&Loose(&REQUIREMENT))),
        key("interfaces", Map(&ShortType(Interface, &INTERFACE))),
        key("artifacts", Map(&Short(&ARTIFACT))),
    ],
);

static GROUP_TYPE: Entity = entity(
    "a group type",
    &[
        parent(Group),
        VERSION,
        METADATA,
        DESCRIPTION,
        PROPERTIES,
        ATTRIBUTES.since(V1_2),
        key("members", Types(Node)),
        key("interfaces", Map(&ShortType(Interface, &INTERFACE))).until(V1_3),
    ],
);

static POLICY_TYPE: Entity = entity(
    "a policy type",
    &[
        parent(Policy),
        VERSION,
        METADATA,
        DESCRIPTION,
        PROPERTIES,
        key("targets", Texts),
        key("triggers", Map(&Of(&TRIGGER))).since(V1_1),
    ],
);

static FUNCTION: Entity = entity(
    "a function",
    &[
        key("signatures", List(&Of(&SIGNATURE))).must(),
        DESCRIPTION,
        METADATA,
    ],
);

static SIGNATURE: Entity = entity(
    "a signature",
    &[
        key("arguments", List(&ShortType(Data, &SCHEMA))),
        key("optional_arguments", List(&ShortType(Data, &SCHEMA))),
        key("variadic", Flag),
        key("result", ShortType(Data, &SCHEMA)),
        key("implementation", Any),
        DESCRIPTION,
        METADATA,
    ],
);

static SCHEMA: Entity = entity(
    "a schema",
    &[
        key("type", Type(Data)),
        DESCRIPTION,
        METADATA.since(V2_0),
        key("constraints", List(&Any)).until(V1_3),
        key("validation", Any).since(V2_0),
        key("key_schema", ShortType(Data, &SCHEMA)).since(V1_3),
        key("entry_schema", ShortType(Data, &SCHEMA)),
        key("required", Flag).until(V1_3),
        key("default", Any),
    ],
);

/// A property.
pub static PROPERTY: Entity = entity(
    "a property",
    &[
        key("type", Type(Data)),
        DESCRIPTION,
        METADATA.since(V1_2),
        key("required", Flag),
        key("default", Any),
        key("value", Any).since(V1_3),
        key("status", Words(statuses)),
        key("constraints", List(&Any)).until(V1_3),
        key("validation", Any).since(V2_0),
        key("key_schema", ShortType(Data, &SCHEMA)).since(V1_3),
        key("entry_schema", ShortType(Data, &SCHEMA)),
        key("external-schema", Text).since(V1_3).until(V1_3),
        key("external_schema", Text).since(V1_3).until(V1_3),
    ],
);

/// An attribute.
pub static ATTRIBUTE: Entity = entity(
    "an attribute",
    &[
        key("type", Type(Data)),
        DESCRIPTION,
        METADATA.since(V1_2),
        key("default", Any),
        key("status", Words(statuses)),
        key("constraints", List(&Any)).since(V1_3).until(V1_3),
        key("validation", Any).since(V2_0),
        key("key_schema", ShortType(Data, &SCHEMA)).since(V1_3),
        key("entry_schema", ShortType(Data, &SCHEMA)),
    ],
);

/// A parameter: an input or output of a topology, an interface, an operation or a workflow.
pub static PARAMETER: Entity = entity(
    "a parameter",
    &[
        key("type", Type(Data)),
        DESCRIPTION,
        METADATA.since(V1_2),
        key("required", Flag),
        key("default", Any),
        key("value", Any),
        key("mapping", Any).since(V2_0),
        key("status", Words(statuses)),
        key("constraints", List(&Any)).until(V1_3),
        key("validation", Any).since(V2_0),
        key("key_schema", ShortType(Data, &SCHEMA)).since(V1_3),
        key("entry_schema", ShortType(Data, &SCHEMA)),
    ],
);

fn statuses(_: Version) -> &'static [&'static str] {
    &["supported", "unsupported", "experimental", "deprecated"]
}

/// A capability of a node type.
pub static CAPABILITY: Entity = entity(
    "a capability definition",
    &[
        key("type", Type(Capability)),
        DESCRIPTION,
        METADATA.since(V2_0),
        PROPERTIES,
        ATTRIBUTES,
        key("valid_source_types", Types(Node)).until(V1_3),
        key("valid_source_node_types", Types(Node)).since(V2_0),
        key("valid_relationship_types", Types(Relationship)).since(V2_0),
        key("occurrences", Range).until(V1_3),
    ],
);

/// A requirement of a node type.
pub static REQUIREMENT: Entity = entity(
    "a requirement definition",
    &[
        key("capability", Name),
        key("node", Type(Node)),
        key(
            "relationship",
            ShortType(Relationship, &DEFINED_RELATIONSHIP),
        ),
        key("node_filter", Any).since(V1_3),
        key("occurrences", Range).until(V1_3),
        key("count_range", Range).since(V2_0),
        key("directives", Texts).since(V2_0),
        DESCRIPTION.since(V1_2),
        METADATA.since(V2_0),
    ],
);

static DEFINED_RELATIONSHIP: Entity = entity(
    "a relationship in a requirement definition",
    &[
        key("type", Type(Relationship)).must(),
        DESCRIPTION.since(V2_0),
        METADATA.since(V2_0),
        key("properties", Map(&Loose(&PROPERTY))).since(V2_0),
        key("attributes", Map(&Loose(&ATTRIBUTE))).since(V2_0),
        key("interfaces", Map(&ShortType(Interface, &INTERFACE))),
    ],
);

/// An interface of a type.
pub static INTERFACE: Entity = Entity {
    name: "an interface definition",
    keys: &[
        key("type", Type(Interface)),
        DESCRIPTION,
        METADATA.since(V2_0),
        key("inputs", Map(&Loose(&PARAMETER))),
        key("operations", Map(&Short(&OPERATION))).since(V1_3),
        key("notifications", Map(&Short(&NOTIFICATION))).since(V1_3),
    ],
    rest: Some((Short(&OPERATION), V1_3)),
};

/// An interface of a template.
static ASSIGNED_INTERFACE: Entity = Entity {
    name: "an interface assignment",
    keys: &[
        key("type", Type(Interface)).until(V1_3),
        DESCRIPTION.until(V1_3),
        INPUT_VALUES,
        key("operations", Map(&Short(&ASSIGNED_OPERATION))).since(V1_3),
        key("notifications", Map(&Short(&ASSIGNED_NOTIFICATION))).since(V1_3),
    ],
    rest: Some((Short(&ASSIGNED_OPERATION), V1_3)),
};

static OPERATION: Entity = entity(
    "an operation",
    &[
        DESCRIPTION,
        METADATA.since(V2_0),
        key("implementation", Short(&IMPLEMENTATION)),
        key("inputs", Map(&Loose(&PARAMETER))),
        key("outputs", Any).since(V1_3),
    ],
);

static ASSIGNED_OPERATION: Entity = entity(
    "an operation assignment",
    &[
        DESCRIPTION.until(V1_3),
        METADATA.since(V2_0),
        key("implementation", Short(&IMPLEMENTATION)),
        INPUT_VALUES,
        key("outputs", Any).since(V1_3),
    ],
);

static NOTIFICATION: Entity = entity(
    "a notification",
    &[
        DESCRIPTION,
        METADATA.since(V2_0),
        key("implementation", Short(&IMPLEMENTATION)),
        key("inputs", Map(&Loose(&PARAMETER))).since(V2_0),
        key("outputs", Any),
    ],
);

static ASSIGNED_NOTIFICATION: Entity = entity(
    "a notification assignment",
    &[
        DESCRIPTION.until(V1_3),
        METADATA.since(V2_0),
        key("implementation", Short(&IMPLEMENTATION)),
        INPUT_VALUES.since(V2_0),
        key("outputs", Any),
    ],
);

static IMPLEMENTATION: Entity = Entity {
    name: "an implementation",
    keys: &[
        key("primary", Short(&ARTIFACT)),
        key("dependencies", List(&Short(&ARTIFACT))),
        key("timeout", Count).since(V1_2).until(V1_3),
        key("operation_host", Text).since(V1_2).until(V1_3),
        // An artifact definition may stand here itself.
        key("type", Type(Artifact)).since(V1_3),
        key("file", Text).since(V1_3),
        key("repository", Name).since(V1_3),
        DESCRIPTION.since(V1_3),
        key("deploy_path", Text).since(V1_3).until(V1_3),
        key("artifact_version", Any).since(V1_3),
        key("checksum", Text).since(V1_3),
        key("checksum_algorithm", Text).since(V1_3),
        VALUES.since(V1_3),
    ],
    rest: None,
};

/// An artifact.
static ARTIFACT: Entity = entity(
    "an artifact",
    &[
        key("type", Type(Artifact)).must_since(V2_0),
        key("file", Text).must_since(V2_0),
        key("repository", Name),
        DESCRIPTION,
        METADATA.since(V2_0),
        key("deploy_path", Text).until(V1_3),
        key("artifact_version", Any).since(V1_3),
        key("version", Any).since(V1_2),
        key("checksum", Text).since(V1_2),
        key("checksum_algorithm", Text).since(V1_2),
        VALUES.since(V1_2),
    ],
);

/// A topology template, or service template.
static TOPOLOGY: Entity = entity(
    "a service template",
    &[
        DESCRIPTION,
        METADATA.since(V2_0),
        key("inputs", Map(&Loose(&PARAMETER))),
        key("node_templates", Map(&Of(&NODE_TEMPLATE))).must_since(V2_0),
        key("relationship_templates", Map(&Of(&RELATIONSHIP_TEMPLATE))),
        key("groups", Map(&Of(&GROUP))),
        key("policies", Either(&Of(&POLICY))),
        key("outputs", Map(&Loose(&PARAMETER))),
        key("substitution_mappings", Of(&SUBSTITUTION)),
        key("workflows", Map(&Of(&WORKFLOW))).since(V1_1),
        key("functions", Map(&Of(&FUNCTION))).since(V2_0),
    ],
);

fn directives(version: Version) -> &'static [&'static str] {
    match version {
        V2_0 => &["create", "select", "substitute"],
        V1_3 => &["select", "selectable", "substitute", "substitutable"],
        _ => &["selectable", "substitutable"],
    }
}

fn sides(_: Version) -> &'static [&'static str] {
    &["internal", "external"]
}

static NODE_TEMPLATE: Entity = entity(
    "a node template",
    &[
        key("type", Type(Node)).must(),
        DESCRIPTION,
        METADATA,
        key("directives", Words(directives)),
        VALUES,
        ATTRIBUTE_VALUES,
        key("requirements", Ordered(&Loose(&ASSIGNED_REQUIREMENT))),
        key("capabilities", Map(&Of(&ASSIGNED_CAPABILITY))),
        key("interfaces", Map(&Of(&ASSIGNED_INTERFACE))),
        key("artifacts", Map(&Short(&ARTIFACT))),
        key("node_filter", Any),
        key("copy", Name),
        key("count", Count).since(V2_0),
    ],
);

static RELATIONSHIP_TEMPLATE: Entity = entity(
    "a relationship template",
    &[
        key("type", Type(Relationship)).must(),
        DESCRIPTION,
        METADATA,
        VALUES,
        ATTRIBUTE_VALUES,
        key("interfaces", Map(&Of(&ASSIGNED_INTERFACE))),
        key("copy", Name),
    ],
);

static ASSIGNED_CAPABILITY: Entity = entity(
    "a capability assignment",
    &[
        VALUES,
        ATTRIBUTE_VALUES,
        key("occurrences", Range).since(V1_3).until(V1_3),
        key("directives", Words(sides)).since(V2_0),
    ],
);

/// A requirement of a node template.
pub static ASSIGNED_REQUIREMENT: Entity = entity(
    "a requirement assignment",
    &[
        key("capability", Name),
        key("node", Any),
        key("relationship", Short(&ASSIGNED_RELATIONSHIP)),
        key("node_filter", Any),
        key("occurrences", Range).since(V1_3).until(V1_3),
        key("count", Count).since(V2_0),
        key("optional", Flag).since(V2_0),
        key("directives", Words(sides)).since(V2_0),
        key("allocation", Values).since(V2_0),
    ],
);

static ASSIGNED_RELATIONSHIP: Entity = entity(
    "a relationship in a requirement assignment",
    &[
        key("type", Name),
        VALUES,
        ATTRIBUTE_VALUES.since(V2_0),
        key("interfaces", Map(&Of(&ASSIGNED_INTERFACE))),
    ],
);

static GROUP: Entity = entity(
    "a group",
    &[
        key("type", Type(Group)).must(),
        DESCRIPTION,
        METADATA,
        VALUES,
        ATTRIBUTE_VALUES.since(V1_2),
        key("members", Texts),
        key("interfaces", Map(&Of(&ASSIGNED_INTERFACE))).until(V1_3),
    ],
);

static POLICY: Entity = entity(
    "a policy",
    &[
        key("type", Type(Policy)).must(),
        DESCRIPTION,
        METADATA,
        VALUES,
        key("targets", Texts),
        key("triggers", Map(&Of(&TRIGGER))).since(V1_1),
    ],
);

static TRIGGER: Entity = entity(
    "a trigger",
    &[
        DESCRIPTION,
        METADATA.since(V2_0),
        key("event", Any).since(V1_3).must_since(V1_3),
        key("event_type", Any).since(V1_1).until(V1_3),
        key("schedule", Any).until(V1_3),
        key("target_filter", Any).until(V1_3),
        key("condition", Any),
        key("constraint", Any).until(V1_3),
        key("period", Any).until(V1_3),
        key("evaluations", Count).until(V1_3),
        key("method", Text).until(V1_3),
        key("action", Any),
    ],
);

static WORKFLOW: Entity = entity(
    "a workflow",
    &[
        DESCRIPTION,
        METADATA,
        key("inputs", Map(&Loose(&PARAMETER))),
        key("precondition", Any).since(V2_0),
        key("preconditions", List(&Of(&PRECONDITION))).until(V1_3),
        key("steps", Map(&Of(&STEP))),
        key("implementation", Short(&IMPLEMENTATION)).since(V1_3),
        key("outputs", Any).since(V1_3),
    ],
);

static PRECONDITION: Entity = entity(
    "a precondition",
    &[
        key("target", Name).must(),
        key("target_relationship", Name),
        key("condition", List(&Any)),
    ],
);

static STEP: Entity = entity(
    "a workflow step",
    &[
        DESCRIPTION.since(V2_0),
        METADATA.since(V2_0),
        key("target", Name).must(),
        key("target_relationship", Name),
        key("operation_host", Text).until(V1_3),
        key("filter", Any),
        key("activities", List(&Any)).must(),
        key("on_success", Texts),
        key("on_failure", Texts),
    ],
);

static SUBSTITUTION: Entity = entity(
    "a substitution mapping",
    &[
        key("node_type", Type(Node)).must(),
        DESCRIPTION.since(V2_0),
        METADATA.since(V2_0),
        key("properties", Values).since(V1_2),
        key("attributes", Values).since(V1_3),
        key("capabilities", Values),
        key("requirements", Any),
        key("interfaces", Values).since(V1_2),
        key("substitution_filter", Any).since(V1_3),
    ],
);

/// The keys that an activity of a workflow may have, one of them.
pub static ACTIVITIES: &[&str] = &["delegate", "set_state", "call_operation", "inline"];

/// What an activity may be given when it is not just a name.
pub static CALL: Entity = entity(
    "a call of an operation",
    &[key("operation", Name).must(), INPUT_VALUES],
);

/// A workflow that an activity starts.
pub static DELEGATION: Entity = entity(
    "a call of a workflow",
    &[key("workflow", Name).must(), INPUT_VALUES],
);

/// The whole of [`FILE`] as a shape.
pub static FILE_SHAPE: Shape = Of(&FILE);
