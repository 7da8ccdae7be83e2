//! The grammar of TOSCA as tables: the keys of each entity, what each holds, and the versions that have it.
//!
//! [`walk`](walk::walk) compares a file with the tables and tells everything that does not fit.

pub mod tables;
pub mod walk;

use super::version::Version;

/// The kinds of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TypeKind {
    /// Types of artifacts.
    Artifact,
    /// Types of data.
    Data,
    /// Types of capabilities.
    Capability,
    /// Types of interfaces.
    Interface,
    /// Types of relationships.
    Relationship,
    /// Types of nodes.
    Node,
    /// Types of groups.
    Group,
    /// Types of policies.
    Policy,
}

impl TypeKind {
    /// All kinds, in the order of the sections in the standard.
    pub const ALL: [TypeKind; 8] = [
        TypeKind::Artifact,
        TypeKind::Data,
        TypeKind::Capability,
        TypeKind::Interface,
        TypeKind::Relationship,
        TypeKind::Node,
        TypeKind::Group,
        TypeKind::Policy,
    ];

    /// The section that defines them.
    pub fn section(self) -> &'static str {
        match self {
            TypeKind::Artifact => "artifact_types",
            TypeKind::Data => "data_types",
            TypeKind::Capability => "capability_types",
            TypeKind::Interface => "interface_types",
            TypeKind::Relationship => "relationship_types",
            TypeKind::Node => "node_types",
            TypeKind::Group => "group_types",
            TypeKind::Policy => "policy_types",
        }
    }

    /// What such a type is called.
    pub fn word(self) -> &'static str {
        match self {
            TypeKind::Artifact => "artifact type",
            TypeKind::Data => "data type",
            TypeKind::Capability => "capability type",
            TypeKind::Interface => "interface type",
            TypeKind::Relationship => "relationship type",
            TypeKind::Node => "node type",
            TypeKind::Group => "group type",
            TypeKind::Policy => "policy type",
        }
    }

    /// The same with its article.
    pub fn a(self) -> &'static str {
        match self {
            TypeKind::Artifact => "an artifact type",
            TypeKind::Data => "a data type",
            TypeKind::Capability => "a capability type",
            TypeKind::Interface => "an interface type",
            TypeKind::Relationship => "a relationship type",
            TypeKind::Node => "a node type",
            TypeKind::Group => "a group type",
            TypeKind::Policy => "a policy type",
        }
    }
}

/// What a key holds.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Anything; what it must be depends on types, or nothing is said of it.
    Any,
    /// Text.
    Text,
    /// A name of something; checked where it is used.
    Name,
    /// A version.
    Version,
    /// `true` or `false`.
    Flag,
    /// A whole number that is not negative, or a function that gives one.
    Count,
    /// A lower and an upper bound.
    Range,
    /// Some of these words, by version.
    Words(fn(Version) -> &'static [&'static str]),
    /// The name of a type.
    Type(TypeKind),
    /// A list of names of types.
    Types(TypeKind),
    /// A list of texts.
    Texts,
    /// Names and what they stand for.
    Map(&'static Shape),
    /// The same, written as a list of maps with one entry each.
    Ordered(&'static Shape),
    /// Either of the two before.
    Either(&'static Shape),
    /// A list.
    List(&'static Shape),
    /// Keys of an entity.
    Entity(&'static Entity),
    /// A text that abbreviates an entity, or the entity.
    Short(&'static Entity),
    /// The name of a type that abbreviates an entity, or the entity.
    ShortType(TypeKind, &'static Entity),
    /// Any value that abbreviates an entity, or the entity when it has one of its keys.
    Loose(&'static Entity),
    /// Names and values of any kind.
    Values,
    /// Metadata: of 1.x texts, of 2.0 anything.
    Metadata,
}

/// Something that has keys.
#[derive(Debug)]
pub struct Entity {
    /// What it is called, with its article.
    pub name: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
    /// What keys hold that are not listed, and the last version that has them.
    pub rest: Option<(Shape, Version)>,
}

/// A key of an entity.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub shape: Shape,
    /// The first version that has it.
    pub from: Version,
    /// The last version that has it.
    pub to: Version,
    /// The version from which on it must be there.
    pub must: Option<Version>,
}

impl Key {
    const fn since(self, from: Version) -> Key {
        Key { from, ..self }
    }

    const fn until(self, to: Version) -> Key {
        Key { to, ..self }
    }

    const fn must(self) -> Key {
        Key {
            must: Some(Version::V1_0),
            ..self
        }
    }

    const fn must_since(self, version: Version) -> Key {
        Key {
            must: Some(version),
            ..self
        }
    }

    fn is_in(&self, version: Version) -> bool {
        self.from <= version && version <= self.to
    }
}

const fn key(name: &'static str, shape: Shape) -> Key {
    Key {
        name,
        shape,
        from: Version::V1_0,
        to: Version::V2_0,
        must: None,
    }
}
