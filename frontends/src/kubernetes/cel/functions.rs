//! The functions of the language and of the libraries that the server adds.

use std::sync::Arc;

use super::fault::{Answer, Fault, fails, or_fails};
use super::format::Format;
use super::quantity::{self, Quantity};
use super::semver::Version;
use super::url::Url;
use super::value::Value;
use super::{address, texts, time};

/// Texts and lists that grow beyond this are given up.
pub(super) const LARGE: usize = 1 << 16;

/// A number of things.
pub(super) fn count(n: usize) -> Answer {
    i64::try_from(n).map(Value::Int).map_err(|_| Fault::Unknown)
}

/// Whether a list has a value.
pub(super) fn contains(items: &[Value], wanted: &Value) -> Result<bool, Fault> {
    for item in items {
        if item.equals(wanted).ok_or(Fault::Unknown)? {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(super) fn arithmetic(operator: &str, left: Value, right: Value) -> Answer {
    use Value::{Bytes, Double, Duration, Int, List, Text, Time, Uint};
    let whole = |n: Option<i64>| or_fails(n.map(Int), "integer overflow");
    let unsigned = |n: Option<u64>| or_fails(n.map(Uint), "unsigned integer overflow");
    let duration = |n: Option<i64>| or_fails(n.map(Duration), "duration overflow");
    match (operator, left, right) {
        ("/", Int(_), Int(0)) | ("/", Uint(_), Uint(0)) => fails("division by zero"),
        ("%", Int(_), Int(0)) | ("%", Uint(_), Uint(0)) => fails("modulus by zero"),
        ("+", Int(a), Int(b)) => whole(a.checked_add(b)),
        ("-", Int(a), Int(b)) => whole(a.checked_sub(b)),
        ("*", Int(a), Int(b)) => whole(a.checked_mul(b)),
        ("/", Int(a), Int(b)) => whole(a.checked_div(b)),
        ("%", Int(a), Int(b)) => whole(a.checked_rem(b)),
        ("+", Uint(a), Uint(b)) => unsigned(a.checked_add(b)),
        ("-", Uint(a), Uint(b)) => unsigned(a.checked_sub(b)),
        ("*", Uint(a), Uint(b)) => unsigned(a.checked_mul(b)),
        ("/", Uint(a), Uint(b)) => unsigned(a.checked_div(b)),
        ("%", Uint(a), Uint(b)) => unsigned(a.checked_rem(b)),
        ("+", Double(a), Double(b)) => Ok(Double(a + b)),
        ("-", Double(a), Double(b)) => Ok(Double(a - b)),
        ("*", Double(a), Double(b)) => Ok(Double(a * b)),
        ("/", Double(a), Double(b)) => Ok(Double(a / b)),
        ("+", Text(a), Text(b)) if a.len() + b.len() <= LARGE => {
            Ok(Value::text(&format!("{a}{b}")))
        }
        ("+", Bytes(a), Bytes(b)) if a.len() + b.len() <= LARGE => {
            Ok(Bytes([&*a, &*b].concat().into()))
        }
        ("+", List(a), List(b)) if a.len() + b.len() <= LARGE => {
            Ok(Value::list(a.iter().chain(b.iter()).cloned().collect()))
        }
        ("+", Time(at), Duration(n)) | ("+", Duration(n), Time(at)) => time::later(at, n),
        ("-", Time(at), Duration(n)) => match n.checked_neg() {
            Some(n) => time::later(at, n),
            None => fails("duration overflow"),
        },
        ("-", Time(a), Time(b)) => time::between(a, b),
        ("+", Duration(a), Duration(b)) => duration(a.checked_add(b)),
        ("-", Duration(a), Duration(b)) => duration(a.checked_sub(b)),
        _ => Err(Fault::Unknown),
    }
}

/// Functions of values; those of a value have it first.
pub(super) fn function(method: bool, name: &str, values: &[Value]) -> Answer {
    match (name, values) {
        ("size", [Value::Text(text)]) => count(text.chars().count()),
        ("size", [Value::Bytes(bytes)]) => count(bytes.len()),
        ("size", [Value::List(items)]) => count(items.len()),
        ("size", [Value::Map(map)]) => count(map.len()),
        ("matches", [Value::Text(text), Value::Text(pattern)]) => {
            let found = crate::kubernetes::regular::finds(pattern, text);
            found.map(Value::Bool).ok_or(Fault::Unknown)
        }
        _ if !method => conversion(name, values),
        (_, [Value::Text(text), rest @ ..]) => texts::of_text(name, text, rest),
        (_, [Value::List(items), rest @ ..]) => of_list(name, items, rest),
        (_, [Value::Optional(inner)]) => match (name, inner) {
            ("hasValue", inner) => Ok(Value::Bool(inner.is_some())),
            ("value", Some(inner)) => Ok((**inner).clone()),
            ("value", None) => fails("optional.none() dereference"),
            _ => Err(Fault::Unknown),
        },
        (_, [Value::Time(at), rest @ ..]) => match rest {
            [] => time::part(name, *at, None),
            [Value::Text(zone)] => time::part(name, *at, Some(zone)),
            _ => Err(Fault::Unknown),
        },
        (_, [Value::Duration(n)]) => time::duration_part(name, *n),
        (_, [Value::Quantity(amount), rest @ ..]) => of_quantity(name, amount, rest),
        (_, [Value::Ip(ip)]) => match name {
            "family" => Ok(Value::Int(if ip.is_ipv4() { 4 } else { 6 })),
            name => address::is(name, *ip)
                .map(Value::Bool)
                .ok_or(Fault::Unknown),
        },
        (_, [Value::Cidr(first, bits), rest @ ..]) => of_block(name, (*first, *bits), rest),
        (_, [Value::Url(url)]) => of_url(name, url),
        (_, [Value::Version(version), rest @ ..]) => of_version(name, version, rest),
        ("validate", [Value::Format(format), Value::Text(text)]) => {
            match format.accepts(text).ok_or(Fault::Unknown)? {
                true => Ok(Value::Optional(None)),
                // What the server says of it is its own affair.
                false => Ok(Value::Optional(Some(
                    Value::list(vec![Value::Opaque]).into(),
                ))),
            }
        }
        _ => Err(Fault::Unknown),
    }
}

/// Functions of no value, most of which make values of one type from another.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "conversions of numbers lose digits on the server too; what is out of range is looked at before"
)]
fn conversion(name: &str, values: &[Value]) -> Answer {
    let text = |text: &str| Ok(Value::text(text));
    match (name, values) {
        ("dyn", [value]) => Ok(value.clone()),
        ("type", [value]) => value.type_name().map(Value::Type).ok_or(Fault::Unknown),
        ("string", [value]) => match value {
            Value::Text(_) => Ok(value.clone()),
            Value::Int(n) => text(&n.to_string()),
            Value::Uint(n) => text(&n.to_string()),
            Value::Bool(truth) => text(&truth.to_string()),
            Value::Double(n) if *n == 0.0 || (1e-4..1e21).contains(&n.abs()) => {
                text(&n.to_string())
            }
            Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(known) => text(known),
                Err(_) => fails("invalid UTF-8 in bytes, cannot convert to string"),
            },
            // The text would have the time zone that it was read with.
            Value::Duration(n) => text(&time::duration_text(*n)),
            Value::Ip(ip) => text(&ip.to_string()),
            Value::Cidr(ip, bits) => text(&format!("{ip}/{bits}")),
            _ => Err(Fault::Unknown),
        },
        ("int", [value]) => match value {
            Value::Int(_) => Ok(value.clone()),
            Value::Uint(n) => or_fails(i64::try_from(*n).ok().map(Value::Int), "integer overflow"),
            Value::Double(n) if n.abs() < 9.2e18 => Ok(Value::Int(*n as i64)),
            Value::Double(_) => fails("integer overflow"),
            Value::Text(text) => or_fails(text.parse().ok().map(Value::Int), "not a number"),
            Value::Time(at) => Ok(Value::Int(
                at.as_nanosecond().div_euclid(1_000_000_000) as i64
            )),
            Value::Duration(n) => Ok(Value::Int(*n)),
            _ => Err(Fault::Unknown),
        },
        ("uint", [value]) => match value {
            Value::Uint(_) => Ok(value.clone()),
            Value::Int(n) => or_fails(
                u64::try_from(*n).ok().map(Value::Uint),
                "unsigned integer overflow",
            ),
            Value::Double(n) if (0.0..1.8e19).contains(n) => Ok(Value::Uint(*n as u64)),
            Value::Text(text) => or_fails(text.parse().ok().map(Value::Uint), "not a number"),
            _ => Err(Fault::Unknown),
        },
        ("double", [value]) => match value {
            Value::Double(_) => Ok(value.clone()),
            Value::Int(n) => Ok(Value::Double(*n as f64)),
            Value::Uint(n) => Ok(Value::Double(*n as f64)),
            Value::Text(text) if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                or_fails(text.parse().ok().map(Value::Double), "not a number")
            }
            _ => Err(Fault::Unknown),
        },
        ("bool", [value]) => match value {
            Value::Bool(_) => Ok(value.clone()),
            Value::Text(text) => match &**text {
                "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
                "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
                _ => fails("not a boolean"),
            },
            _ => Err(Fault::Unknown),
        },
        ("bytes", [Value::Text(text)]) => Ok(Value::Bytes(text.as_bytes().into())),
        ("bytes", [Value::Bytes(_)]) => values.first().cloned().ok_or(Fault::Unknown),
        ("timestamp", [Value::Text(text)]) => {
            or_fails(time::instant(text).map(Value::Time), "not a time")
        }
        ("timestamp", [Value::Int(seconds)]) => time::of_seconds(*seconds),
        ("timestamp", [Value::Time(_)]) | ("duration", [Value::Duration(_)]) => {
            values.first().cloned().ok_or(Fault::Unknown)
        }
        ("duration", [Value::Text(text)]) => {
            or_fails(time::duration(text).map(Value::Duration), "not a duration")
        }
        ("duration", [Value::Int(n)]) => Ok(Value::Duration(*n)),
        ("sign", [Value::Quantity(amount)]) => Ok(Value::Int(amount.sign())),
        ("isQuantity", [Value::Text(text)]) => Ok(Value::Bool(!matches!(
            Quantity::read(text),
            quantity::Read::Wrong
        ))),
        ("quantity", [Value::Text(text)]) => match Quantity::read(text) {
            quantity::Read::Quantity(amount) => Ok(Value::Quantity(amount)),
            quantity::Read::Wrong => fails(format!("`{text}` is not a quantity")),
            quantity::Read::Beyond => Err(Fault::Unknown),
        },
        ("isIP", [Value::Text(text)]) => Ok(Value::Bool(address::ip(text).is_some())),
        ("ip", [Value::Text(text)]) => or_fails(
            address::ip(text).map(Value::Ip),
            &format!("`{text}` is not an IP address"),
        ),
        ("isCIDR", [Value::Text(text)]) => Ok(Value::Bool(address::cidr(text).is_some())),
        ("cidr", [Value::Text(text)]) => or_fails(
            address::cidr(text).map(|(first, bits)| Value::Cidr(first, bits)),
            &format!("`{text}` is not a CIDR"),
        ),
        ("isURL", [Value::Text(text)]) => Ok(Value::Bool(Url::parse(text).is_some())),
        ("url", [Value::Text(text)]) => or_fails(
            Url::parse(text).map(|url| Value::Url(Arc::new(url))),
            &format!("`{text}` is not a URL"),
        ),
        ("isSemver" | "semver", [Value::Text(text), rest @ ..]) => {
            let tolerant = match rest {
                [] => false,
                [Value::Bool(tolerant)] => *tolerant,
                _ => return Err(Fault::Unknown),
            };
            let version = Version::parse(text, tolerant);
            match name {
                "isSemver" => Ok(Value::Bool(version.is_some())),
                _ => or_fails(
                    version.map(|version| Value::Version(Arc::new(version))),
                    &format!("`{text}` is not a version"),
                ),
            }
        }
        _ => Err(Fault::Unknown),
    }
}

/// Functions with the name of a library before them.
pub(super) fn of_library(library: &str, name: &str, values: &[Value]) -> Answer {
    match (library, name, values) {
        ("optional", "none", []) => Ok(Value::Optional(None)),
        ("optional", "of", [value]) => Ok(Value::Optional(Some(value.clone().into()))),
        ("optional", "ofNonZeroValue", [value]) => {
            let zero = match value {
                Value::Null
                | Value::Bool(false)
                | Value::Int(0)
                | Value::Uint(0)
                | Value::Duration(0) => true,
                Value::Double(n) => *n == 0.0,
                Value::Text(text) => text.is_empty(),
                Value::Bytes(bytes) => bytes.is_empty(),
                Value::List(items) => items.is_empty(),
                Value::Map(map) => map.is_empty(),
                Value::Bool(true) | Value::Int(_) | Value::Uint(_) | Value::Duration(_) => false,
                _ => return Err(Fault::Unknown),
            };
            let value = (!zero).then(|| value.clone().into());
            Ok(Value::Optional(value))
        }
        ("ip", "isCanonical", [Value::Text(text)]) => match address::ip(text) {
            Some(ip) => Ok(Value::Bool(ip.to_string() == **text)),
            None => fails(format!("`{text}` is not an IP address")),
        },
        ("format", "named", [Value::Text(name)]) => {
            let format = Format::named(name).map(|format| Value::Format(format).into());
            Ok(Value::Optional(format))
        }
        ("format", name, []) => Format::named(name).map(Value::Format).ok_or(Fault::Unknown),
        ("lists", "range", [Value::Int(n)]) if (0..=1 << 12).contains(n) => {
            Ok(Value::list((0..*n).map(Value::Int).collect()))
        }
        ("sets", name, [Value::List(left), Value::List(right)]) => {
            let within = |some: &[Value], all: &[Value]| {
                for item in some {
                    if !contains(all, item)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            };
            Ok(Value::Bool(match name {
                "contains" => within(right, left)?,
                "equivalent" => within(right, left)? && within(left, right)?,
                "intersects" => {
                    let mut any = false;
                    for item in left.iter() {
                        any |= contains(right, item)?;
                    }
                    any
                }
                _ => return Err(Fault::Unknown),
            }))
        }
        _ => Err(Fault::Unknown),
    }
}

fn of_list(name: &str, items: &[Value], rest: &[Value]) -> Answer {
    let order = |a: &Value, b: &Value| a.compare(b).ok_or(Fault::Unknown);
    match (name, rest) {
        ("join", [] | [Value::Text(_)]) => {
            let between = match rest {
                [Value::Text(text)] => text,
                _ => "",
            };
            let text = |item: &Value| match item {
                Value::Text(text) => Ok(text.to_string()),
                _ => Err(Fault::Unknown),
            };
            let texts: Vec<String> = items.iter().map(text).collect::<Result<_, Fault>>()?;
            let length: usize = texts.iter().map(String::len).sum();
            if length + between.len().saturating_mul(texts.len()) > LARGE {
                return Err(Fault::Unknown);
            }
            Ok(Value::text(&texts.join(between)))
        }
        ("isSorted", []) => {
            for pair in items.windows(2) {
                if let [a, b] = pair
                    && order(a, b)?.is_gt()
                {
                    return Ok(Value::Bool(false));
                }
            }
            Ok(Value::Bool(true))
        }
        ("sum", []) => match items.split_first() {
            // What the sum of nothing is depends on the type of the list.
            None => Ok(Value::Int(0)),
            Some((first, others)) => {
                let mut sum = first.clone();
                for item in others {
                    sum = arithmetic("+", sum, item.clone())?;
                }
                Ok(sum)
            }
        },
        ("min" | "max", []) => {
            let Some((first, others)) = items.split_first() else {
                return fails(format!("{name} called on empty list"));
            };
            let mut best = first;
            for item in others {
                let order = order(item, best)?;
                if (name == "min" && order.is_lt()) || (name == "max" && order.is_gt()) {
                    best = item;
                }
            }
            Ok(best.clone())
        }
        ("indexOf" | "lastIndexOf", [wanted]) => {
            let mut at = None;
            for (index, item) in items.iter().enumerate() {
                if item.equals(wanted).ok_or(Fault::Unknown)? {
                    at = Some(index);
                    if name == "indexOf" {
                        break;
                    }
                }
            }
            at.map_or(Ok(Value::Int(-1)), count)
        }
        ("first" | "last", []) => {
            let found = if name == "first" {
                items.first()
            } else {
                items.last()
            };
            Ok(Value::Optional(found.map(|item| item.clone().into())))
        }
        ("reverse", []) => Ok(Value::list(items.iter().rev().cloned().collect())),
        ("distinct", []) => {
            let mut all: Vec<Value> = Vec::new();
            for item in items {
                if !contains(&all, item)? {
                    all.push(item.clone());
                }
            }
            Ok(Value::list(all))
        }
        ("slice", [Value::Int(from), Value::Int(to)]) => {
            let range = usize::try_from(*from).ok().zip(usize::try_from(*to).ok());
            let found = range.and_then(|(from, to)| items.get(from..to));
            or_fails(
                found.map(|found| Value::list(found.to_vec())),
                "index out of range",
            )
        }
        ("flatten", []) => {
            let mut all = Vec::new();
            for item in items {
                match item {
                    Value::List(inner) => all.extend(inner.iter().cloned()),
                    other => all.push(other.clone()),
                }
            }
            Ok(Value::list(all))
        }
        ("sort", []) => {
            let mut all: Vec<Value> = items.to_vec();
            for pair in items.windows(2) {
                if let [a, b] = pair {
                    order(a, b)?;
                }
            }
            all.sort_by(|a, b| a.compare(b).unwrap_or(std::cmp::Ordering::Equal));
            Ok(Value::list(all))
        }
        _ => Err(Fault::Unknown),
    }
}

fn of_quantity(name: &str, amount: &Quantity, rest: &[Value]) -> Answer {
    let order = |other: &Quantity| amount.compare(other).ok_or(Fault::Unknown);
    match (name, rest) {
        ("isInteger", []) => Ok(Value::Bool(amount.whole().is_some())),
        ("asInteger", []) => amount.as_integer().map(Value::Int),
        ("asApproximateFloat", []) => Ok(Value::Double(amount.approximate())),
        ("isGreaterThan", [Value::Quantity(other)]) => Ok(Value::Bool(order(other)?.is_gt())),
        ("isLessThan", [Value::Quantity(other)]) => Ok(Value::Bool(order(other)?.is_lt())),
        ("compareTo", [Value::Quantity(other)]) => Ok(Value::Int(order(other)? as i64)),
        ("add" | "sub", [Value::Quantity(other)]) => {
            amount.plus(other, name == "sub").map(Value::Quantity)
        }
        ("add" | "sub", [Value::Int(n)]) => amount
            .plus(&Quantity::of_int(*n), name == "sub")
            .map(Value::Quantity),
        _ => Err(Fault::Unknown),
    }
}

fn of_block(name: &str, block: (std::net::IpAddr, u8), rest: &[Value]) -> Answer {
    match (name, rest) {
        ("containsIP", [Value::Ip(ip)]) => Ok(Value::Bool(address::contains(block, *ip))),
        ("containsIP", [Value::Text(text)]) => match address::ip(text) {
            Some(ip) => Ok(Value::Bool(address::contains(block, ip))),
            None => fails(format!("`{text}` is not an IP address")),
        },
        ("containsCIDR", [Value::Cidr(first, bits)]) => {
            Ok(Value::Bool(address::covers(block, (*first, *bits))))
        }
        ("containsCIDR", [Value::Text(text)]) => match address::cidr(text) {
            Some(other) => Ok(Value::Bool(address::covers(block, other))),
            None => fails(format!("`{text}` is not a CIDR")),
        },
        ("ip", []) => Ok(Value::Ip(block.0)),
        ("masked", []) => Ok(Value::Cidr(address::masked(block), block.1)),
        ("prefixLength", []) => Ok(Value::Int(block.1.into())),
        _ => Err(Fault::Unknown),
    }
}

fn of_url(name: &str, url: &Url) -> Answer {
    Ok(match name {
        "getScheme" => Value::text(&url.scheme),
        "getHost" => Value::text(&url.host),
        "getHostname" => Value::text(url.name()),
        "getPort" => Value::text(url.port()),
        "getEscapedPath" => Value::text(&url.path),
        "getQuery" => {
            let query = url.query().into_iter().map(|(key, values)| {
                let values = values.iter().map(|value| Value::text(value));
                (Value::text(&key), Value::list(values.collect()))
            });
            Value::map(query.collect())
        }
        _ => return Err(Fault::Unknown),
    })
}

fn of_version(name: &str, version: &Version, rest: &[Value]) -> Answer {
    let [major, minor, patch] = version.numbers;
    let number = |n: u64| i64::try_from(n).map(Value::Int).map_err(|_| Fault::Unknown);
    match (name, rest) {
        ("major", []) => number(major),
        ("minor", []) => number(minor),
        ("patch", []) => number(patch),
        ("isGreaterThan", [Value::Version(other)]) => {
            Ok(Value::Bool(version.compare(other).is_gt()))
        }
        ("isLessThan", [Value::Version(other)]) => Ok(Value::Bool(version.compare(other).is_lt())),
        ("compareTo", [Value::Version(other)]) => Ok(Value::Int(version.compare(other) as i64)),
        _ => Err(Fault::Unknown),
    }
}
