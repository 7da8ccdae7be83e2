//! Small forms that many parts of TOSCA share: versions, ranges, calls of functions.

use std::cmp::Ordering;

use locus_core::int::Int;

use super::version::Version as Tosca;
use crate::yaml::{Node, Schema, Typed};

/// A version as TOSCA writes it: `major.minor[.fix[.qualifier[-build]]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    numbers: [u64; 3],
    qualifier: Option<String>,
    build: u64,
}

impl Version {
    /// Reads a version.
    pub fn parse(text: &str) -> Option<Version> {
        let number = |part: &str| {
            let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| part.parse::<u64>().ok()).flatten()
        };
        let mut parts = text.splitn(4, '.');
        let major = number(parts.next()?)?;
        let minor = number(parts.next()?)?;
        let mut version = Version {
            numbers: [major, minor, 0],
            qualifier: None,
            build: 0,
        };
        let Some(fix) = parts.next() else {
            return Some(version);
        };
        version.numbers = [major, minor, number(fix)?];
        let Some(rest) = parts.next() else {
            return Some(version);
        };
        let (qualifier, build) = match rest.rsplit_once('-') {
            Some((qualifier, build)) if number(build).is_some() => (qualifier, number(build)?),
            _ => (rest, 0),
        };
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if qualifier.is_empty() || !qualifier.chars().all(legal) {
            return None;
        }
        version.qualifier = Some(qualifier.to_owned());
        version.build = build;
        Some(version)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    /// A version with a qualifier comes before the one without; qualifiers compare as text.
    fn cmp(&self, other: &Self) -> Ordering {
        let qualifier = match (&self.qualifier, &other.qualifier) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(a), Some(b)) => a.to_lowercase().cmp(&b.to_lowercase()),
        };
        self.numbers
            .cmp(&other.numbers)
            .then(qualifier)
            .then(self.build.cmp(&other.build))
    }
}

/// How many there may be: a lower bound, and an upper one unless there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// At least so many.
    pub least: u64,
    /// At most so many.
    pub most: Option<u64>,
}

impl Count {
    /// From one number to another.
    pub const fn new(least: u64, most: Option<u64>) -> Count {
        Count { least, most }
    }
}

/// Reads a range of whole numbers that are not negative, such as `[1, UNBOUNDED]`.
pub fn range(node: &Node) -> Option<Count> {
    let [least, most] = node.as_sequence()? else {
        return None;
    };
    let number = |node: &Node| match node.typed(Schema::Core)? {
        Typed::Int(Int::Small(n)) => u64::try_from(n).ok(),
        _ => None,
    };
    let least = number(least)?;
    let most = match most.as_str()? {
        "UNBOUNDED" => None,
        _ => Some(number(most)?),
    };
    most.is_none_or(|most| least <= most)
        .then_some(Count { least, most })
}

/// The functions of 1.x.
pub const SIMPLE: &[&str] = &[
    "concat",
    "join",
    "token",
    "get_input",
    "get_property",
    "get_attribute",
    "get_operation_output",
    "get_nodes_of_type",
    "get_artifact",
];

/// A call of a function.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The name, without the `$` of 2.0.
    pub name: &'a str,
    /// What it is given; none for a call that is just a word.
    pub arguments: Option<&'a Node>,
    /// The call.
    pub node: &'a Node,
}

impl<'a> Call<'a> {
    /// The arguments, one by one.
    pub fn list(&self) -> &'a [Node] {
        match self.arguments {
            None => &[],
            Some(node) => node
                .as_sequence()
                .unwrap_or_else(|| std::slice::from_ref(node)),
        }
    }
}

/// The call that a node is.
pub fn call(node: &Node, version: Tosca) -> Option<Call<'_>> {
    if version.is_simple() {
        let [entry] = node.as_mapping()?.entries.as_slice() else {
            return None;
        };
        let name = &**entry.name()?;
        return SIMPLE.contains(&name).then_some(Call {
            name,
            arguments: Some(&entry.value),
            node,
        });
    }
    if let Some(map) = node.as_mapping() {
        let [entry] = map.entries.as_slice() else {
            return None;
        };
        let name = function_name(entry.name()?)?;
        let call = Call {
            name,
            arguments: Some(&entry.value),
            node,
        };
        return Some(call);
    }
    let name = function_name(node.as_str()?)?;
    Some(Call {
        name,
        arguments: None,
        node,
    })
}

/// The function that a text of 2.0 calls: `$name`; `$$` is a dollar sign.
fn function_name(text: &str) -> Option<&str> {
    let name = text.strip_prefix('$')?;
    (!name.starts_with('$') && !name.is_empty()).then_some(name)
}

/// Whether a node is a call of a function.
pub fn is_call(node: &Node, version: Tosca) -> bool {
    call(node, version).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_ordered() {
        let order = [
            "1.0.0.alpha-1",
            "1.0.0.alpha-10",
            "1.0.0.beta",
            "1.0",
            "1.0.1",
            "2.0.1",
            "10.0",
        ];
        for pair in order.windows(2) {
            let read = |text| Version::parse(text).unwrap();
            assert!(read(pair[0]) < read(pair[1]), "{pair:?}");
        }
        assert_eq!(Version::parse("1.0"), Version::parse("1.0.0"));
        for text in ["", "1", "1..0.abc", "a.b", "1.0.", "my version", "1.0.0."] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }
}
