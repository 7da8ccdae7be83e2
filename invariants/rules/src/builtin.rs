//! The built-in relations over values, by the names they have in the module `values`.

use std::cmp::Ordering;

use locus_core::value::Value;
use locus_core::values::{
    Address, Cidr, Duration, Family, Mac, Number, Quantity, Size, Version, pattern,
};
use serde::{Deserialize, Serialize};

/// A built-in relation. Those that a value has one result for (a length) are stored when a configuration is
/// read; the others are decided tuple by tuple and never listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Builtin {
    /// Numbers: the first is less.
    Less,
    /// Numbers: the absolute value of the first is less.
    SmallerMagnitude,
    /// A number below zero.
    Negative,
    /// A number, or the text of one.
    IsNumber,
    /// Value, step and offset: the remainder is the offset.
    Modulo,
    /// The text of an address.
    IsAddress,
    /// The text of a CIDR block.
    IsCidr,
    /// A CIDR block whose text has host bits set.
    HostBits,
    /// An address or block of IPv4.
    V4,
    /// An address or block of IPv6.
    V6,
    /// The block has the address, or all of the other block.
    Contains,
    /// Two blocks share an address.
    Overlaps,
    /// Addresses of one family: the first is lower.
    Before,
    /// The network address of the block, when hosts may not use it.
    NetworkAddress,
    /// The broadcast address of the block.
    BroadcastAddress,
    /// The text matches the pattern as a whole.
    Matches,
    /// The text has a part that matches the pattern.
    Finds,
    /// Semantic versions: the first is older.
    Older,
    /// Quantities: the first is less.
    LessQuantity,
    /// Quantities: equal in different units.
    SameQuantity,
    /// Byte sizes: the first is less; a number is one of bytes.
    LessBytes,
    /// Durations: the first is shorter; a number is one of nanoseconds.
    LessDuration,
    /// The first is written before the second.
    WrittenBefore,
    /// The text is empty.
    EmptyText,
    /// The address in one spelling.
    AddressOf,
    /// The hardware address in one spelling.
    MacOf,
    /// The number of characters of a text.
    LengthOf,
    /// The prefix length of a block.
    PrefixLengthOf,
    /// 4 or 6.
    IpVersionOf,
    /// The text in lower case.
    LowerCaseOf,
    /// The block of the address in one spelling.
    BlockOf,
    /// The address where the gateway of a block is put by default.
    FirstHostOf,
    /// What messages call an atom, as a text.
    NameOf,
    /// Map, key and value: the map has the value under the key.
    Entry,
}

/// Every relation with its name and number of columns.
pub const ALL: &[(Builtin, &str, usize)] = &[
    (Builtin::Less, "less", 2),
    (Builtin::SmallerMagnitude, "smaller_magnitude", 2),
    (Builtin::Negative, "negative", 1),
    (Builtin::IsNumber, "number", 1),
    (Builtin::Modulo, "modulo", 3),
    (Builtin::IsAddress, "address", 1),
    (Builtin::IsCidr, "cidr", 1),
    (Builtin::HostBits, "host_bits", 1),
    (Builtin::V4, "v4", 1),
    (Builtin::V6, "v6", 1),
    (Builtin::Contains, "contains", 2),
    (Builtin::Overlaps, "overlaps", 2),
    (Builtin::Before, "precedes", 2),
    (Builtin::NetworkAddress, "network_address", 2),
    (Builtin::BroadcastAddress, "broadcast_address", 2),
    (Builtin::Matches, "matches", 2),
    (Builtin::Finds, "finds", 2),
    (Builtin::Older, "older", 2),
    (Builtin::LessQuantity, "less_quantity", 2),
    (Builtin::SameQuantity, "same_quantity", 2),
    (Builtin::LessBytes, "less_bytes", 2),
    (Builtin::LessDuration, "less_duration", 2),
    (Builtin::WrittenBefore, "written_before", 2),
    (Builtin::EmptyText, "empty_text", 1),
    (Builtin::AddressOf, "address_of", 2),
    (Builtin::MacOf, "mac_of", 2),
    (Builtin::LengthOf, "length_of", 2),
    (Builtin::PrefixLengthOf, "prefix_length_of", 2),
    (Builtin::IpVersionOf, "ip_version_of", 2),
    (Builtin::LowerCaseOf, "lower_case_of", 2),
    (Builtin::BlockOf, "block_of", 2),
    (Builtin::FirstHostOf, "first_host_of", 2),
    (Builtin::NameOf, "name_of", 2),
    (Builtin::Entry, "entry", 3),
];

/// Whether a value says the same as another, as text may say `True` for a truth value.
fn says(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Str(text), Value::Bool(truth)) => text.eq_ignore_ascii_case(&truth.to_string()),
        _ => value.same(wanted),
    }
}

fn text(value: &Value) -> Option<&str> {
    value.as_str()
}

fn quantity(value: &Value) -> Option<Quantity> {
    match value {
        Value::Int(int) => Quantity::parse(&int.to_string()),
        Value::Float(float) => Quantity::parse(&float.to_string()),
        Value::Str(text) => Quantity::parse(text),
        _ => None,
    }
}

fn size(value: &Value) -> Option<Size> {
    match value {
        Value::Int(int) => Size::parse(&int.to_string()).ok(),
        Value::Str(text) => Size::parse(text).ok(),
        _ => None,
    }
}

fn duration(value: &Value) -> Option<Duration> {
    match value {
        Value::Int(int) => Duration::parse(&format!("{int}ns")).ok(),
        Value::Str(text) => Duration::parse(text).ok(),
        _ => None,
    }
}

fn address(value: &Value) -> Option<Address> {
    text(value).and_then(Address::parse)
}

fn cidr(value: &Value) -> Option<Cidr> {
    text(value).and_then(Cidr::parse)
}

fn family(value: &Value) -> Option<Family> {
    address(value)
        .map(|address| address.family)
        .or_else(|| cidr(value).map(Cidr::family))
}

/// Compares two values of a kind; two that are not of the kind are not in the relation.
fn ordered<T>(
    a: &Value,
    b: &Value,
    read: impl Fn(&Value) -> Option<T>,
    holds: impl Fn(&T, &T) -> bool,
) -> bool {
    match (read(a), read(b)) {
        (Some(a), Some(b)) => holds(&a, &b),
        _ => false,
    }
}

impl Builtin {
    /// The relation of this name.
    pub fn named(name: &str) -> Option<(Builtin, usize)> {
        ALL.iter()
            .find(|(_, other, _)| *other == name)
            .map(|&(builtin, _, arity)| (builtin, arity))
    }

    /// Whether each value has at most one result, which is stored.
    pub fn is_function(self) -> bool {
        matches!(
            self,
            Builtin::AddressOf
                | Builtin::MacOf
                | Builtin::LengthOf
                | Builtin::PrefixLengthOf
                | Builtin::IpVersionOf
                | Builtin::LowerCaseOf
                | Builtin::BlockOf
                | Builtin::FirstHostOf
                | Builtin::NameOf
        )
    }

    /// The result that a value has, of a relation that is a function.
    pub fn result(self, value: &Value) -> Option<Value> {
        let int = |n: usize| Some(Value::Int(n.into()));
        match self {
            Builtin::AddressOf => address(value).map(|a| Value::str(a.to_string())),
            Builtin::MacOf => {
                let mac = text(value).and_then(Mac::parse)?;
                Some(Value::str(mac.to_string()))
            }
            Builtin::LengthOf => match value {
                Value::Str(text) => int(text.chars().count()),
                Value::List(items) => int(items.len()),
                Value::Map(fields) => int(fields.len()),
                _ => None,
            },
            Builtin::PrefixLengthOf => int(usize::from(cidr(value)?.prefix)),
            Builtin::IpVersionOf => int(match family(value)? {
                Family::V4 => 4,
                Family::V6 => 6,
            }),
            Builtin::LowerCaseOf => text(value).map(|text| Value::str(text.to_lowercase())),
            Builtin::BlockOf => cidr(value).map(|c| Value::str(c.to_string())),
            Builtin::FirstHostOf => cidr(value).map(|c| Value::str(c.first_host().to_string())),
            // The database gives the name in place of the value.
            Builtin::NameOf => Some(value.clone()),
            _ => None,
        }
    }

    /// Whether known values are in the relation; `None` when that cannot be decided.
    pub fn holds(self, tuple: &[&Value]) -> Option<bool> {
        Some(match (self, tuple) {
            (Builtin::Less, [a, b]) => {
                ordered(a, b, Number::of, |a, b| a.compare(b) == Ordering::Less)
            }
            (Builtin::SmallerMagnitude, [a, b]) => ordered(a, b, Number::of, |a, b| {
                a.magnitude().compare(&b.magnitude()) == Ordering::Less
            }),
            (Builtin::Negative, [a]) => Number::of(a).is_some_and(|n| n.is_negative()),
            (Builtin::IsNumber, [a]) => Number::of(a).is_some(),
            (Builtin::Modulo, [value, step, offset]) => {
                match (Number::of(value), Number::of(step), Number::of(offset)) {
                    (Some(value), Some(step), Some(offset)) => {
                        value.modulo(&step)?.compare(&offset) == Ordering::Equal
                    }
                    _ => false,
                }
            }
            (Builtin::IsAddress, [a]) => address(a).is_some(),
            (Builtin::IsCidr, [a]) => cidr(a).is_some(),
            (Builtin::HostBits, [a]) => cidr(a).is_some_and(|c| c.host_bits),
            (Builtin::V4, [a]) => family(a) == Some(Family::V4),
            (Builtin::V6, [a]) => family(a) == Some(Family::V6),
            (Builtin::Contains, [block, other]) => match (cidr(block), address(other)) {
                (Some(block), Some(address)) => block.contains(address),
                (Some(block), None) => cidr(other).is_some_and(|other| block.covers(other)),
                (None, _) => false,
            },
            (Builtin::Overlaps, [a, b]) => ordered(a, b, cidr, |a, b| a.overlaps(*b)),
            (Builtin::Before, [a, b]) => ordered(a, b, address, |a, b| {
                a.family == b.family && a.bits < b.bits
            }),
            (Builtin::NetworkAddress, [block, a]) => {
                let network = cidr(block).and_then(Cidr::reserved_network);
                network.is_some() && network == address(a)
            }
            (Builtin::BroadcastAddress, [block, a]) => {
                let broadcast = cidr(block).and_then(Cidr::broadcast);
                broadcast.is_some() && broadcast == address(a)
            }
            (Builtin::Matches, [value, regex]) => match (text(value), text(regex)) {
                (Some(value), Some(regex)) => pattern::matches(regex, value)?,
                _ => false,
            },
            (Builtin::Finds, [value, regex]) => match (text(value), text(regex)) {
                (Some(value), Some(regex)) => pattern::finds(regex, value)?,
                _ => false,
            },
            (Builtin::Older, [a, b]) => {
                ordered(a, b, |v| text(v).and_then(Version::parse), |a, b| a < b)
            }
            (Builtin::LessQuantity, [a, b]) => ordered(a, b, quantity, |a, b| a < b),
            (Builtin::SameQuantity, [a, b]) => ordered(a, b, quantity, |a, b| a == b),
            (Builtin::LessBytes, [a, b]) => ordered(a, b, size, |a, b| a < b),
            (Builtin::LessDuration, [a, b]) => ordered(a, b, duration, |a, b| a < b),
            (Builtin::EmptyText, [a]) => text(a) == Some(""),
            (Builtin::Entry, [Value::Map(fields), key, wanted]) => fields
                .iter()
                .any(|field| text(key) == Some(&*field.name) && says(&field.item.value, wanted)),
            (function, [a, b]) if function.is_function() => {
                function.result(a).is_some_and(|result| result.same(b))
            }
            _ => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_relation_has_a_name_of_its_own() {
        let mut names: Vec<&str> = ALL.iter().map(|&(_, name, _)| name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        for &(builtin, name, arity) in ALL {
            assert_eq!(Builtin::named(name), Some((builtin, arity)));
            assert!(arity == 2 || !builtin.is_function(), "{name}");
        }
    }

    #[test]
    fn every_relation_has_a_predicate_that_is_documented() {
        let module = include_str!("../../library/values.als");
        let page = include_str!("../../../docs/language.md");
        for &(_, name, _) in ALL {
            let field = format!("(Computed.rel_{name})");
            let set = format!("& Computed.rel_{name} ");
            assert!(module.contains(&field) || module.contains(&set), "{name}");
            assert!(page.contains(&format!("`{name}[")), "{name}");
        }
    }

    #[test]
    fn values_of_another_kind_are_in_no_relation() {
        let (word, list) = (Value::str("word"), Value::List(Vec::new()));
        for &(builtin, name, arity) in ALL {
            if matches!(builtin, Builtin::Matches | Builtin::Finds | Builtin::NameOf) {
                continue;
            }
            let tuple: Vec<&Value> = [&list, &word, &word].into_iter().take(arity).collect();
            assert_eq!(builtin.holds(&tuple), Some(false), "{name}");
        }
    }

    #[test]
    fn text_of_numbers_and_addresses_is_understood() {
        let s = |text: &str| Value::str(text);
        assert_eq!(
            Builtin::Less.holds(&[&s("5"), &Value::Int(6_i64.into())]),
            Some(true)
        );
        assert_eq!(
            Builtin::Contains.holds(&[&s("10.0.0.0/24"), &s("10.0.0.9")]),
            Some(true)
        );
        assert_eq!(
            Builtin::Contains.holds(&[&s("10.0.0.0/24"), &s("10.0.1.9")]),
            Some(false)
        );
        assert_eq!(
            Builtin::FirstHostOf.result(&s("10.0.0.0/24")),
            Some(s("10.0.0.1"))
        );
        assert_eq!(
            Builtin::LessBytes.holds(&[&Value::Int(1_i64.into()), &s("1k")]),
            Some(true)
        );
        assert_eq!(
            Builtin::LessDuration.holds(&[&Value::Int(1_i64.into()), &s("1s")]),
            Some(true)
        );
        assert_eq!(
            Builtin::MacOf.result(&s("FA-16-3E-00-00-01")),
            Some(s("fa:16:3e:00:00:01"))
        );
        assert_eq!(
            Builtin::AddressOf.result(&s("FD00:0::1")),
            Some(s("fd00::1"))
        );
        assert_eq!(Builtin::Matches.holds(&[&s("a"), &s("(?=a)a")]), None);
    }
}
