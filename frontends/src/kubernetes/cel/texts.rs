//! The functions of texts. Places in a text count its characters.

use super::fault::{Answer, Fault, fails};
use super::functions::{LARGE, count};
use super::value::Value;
use crate::kubernetes::regular;

/// A function of a text.
pub(super) fn of_text(name: &str, text: &str, rest: &[Value]) -> Answer {
    let list = |parts: Vec<&str>| Ok(Value::list(parts.into_iter().map(Value::text).collect()));
    match (name, rest) {
        ("startsWith", [Value::Text(part)]) => Ok(Value::Bool(text.starts_with(&**part))),
        ("endsWith", [Value::Text(part)]) => Ok(Value::Bool(text.ends_with(&**part))),
        ("contains", [Value::Text(part)]) => Ok(Value::Bool(text.contains(&**part))),
        ("lowerAscii", []) => Ok(Value::text(&text.to_ascii_lowercase())),
        ("upperAscii", []) => Ok(Value::text(&text.to_ascii_uppercase())),
        ("trim", []) => Ok(Value::text(text.trim())),
        ("charAt", [Value::Int(at)]) => {
            let length = text.chars().count();
            match usize::try_from(*at) {
                Ok(at) if at == length => Ok(Value::text("")),
                Ok(at) if at < length => {
                    let c = text.chars().nth(at).map(String::from);
                    Ok(Value::text(&c.unwrap_or_default()))
                }
                _ => fails("index out of range"),
            }
        }
        ("substring", [Value::Int(from)]) => part(text, *from, None),
        ("substring", [Value::Int(from), Value::Int(to)]) => part(text, *from, Some(*to)),
        ("indexOf" | "lastIndexOf", [Value::Text(wanted)]) => {
            let at = match name {
                "indexOf" => text.find(&**wanted),
                _ => text.rfind(&**wanted),
            };
            place(text, at)
        }
        ("indexOf", [Value::Text(wanted), Value::Int(from)]) => {
            let Some(start) = offset(text, *from) else {
                return match *from < 0 {
                    true => fails("index out of range"),
                    false => Ok(Value::Int(-1)),
                };
            };
            let after = text.get(start..).unwrap_or("");
            place(text, after.find(&**wanted).map(|at| at + start))
        }
        ("lastIndexOf", [Value::Text(wanted), Value::Int(to)]) => {
            let last = offset(text, *to).ok_or(Fault::Unknown)?;
            let found = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            let found = found.filter(|at| *at <= last);
            let mut at = found.filter(|at| {
                text.get(*at..)
                    .is_some_and(|text| text.starts_with(&**wanted))
            });
            place(text, at.next_back())
        }
        ("replace", [Value::Text(old), Value::Text(new), limit @ ..]) if !old.is_empty() => {
            let all = text.matches(&**old).count();
            let times = match limit {
                [] => all,
                [Value::Int(n)] => usize::try_from(*n).unwrap_or(all).min(all),
                _ => return Err(Fault::Unknown),
            };
            if times.saturating_mul(new.len()) > LARGE {
                return Err(Fault::Unknown);
            }
            Ok(Value::text(&text.replacen(&**old, new, times)))
        }
        ("split", [Value::Text(at), limit @ ..]) if !at.is_empty() => match limit {
            [] => list(text.split(&**at).collect()),
            [Value::Int(0)] => list(Vec::new()),
            [Value::Int(n)] => match usize::try_from(*n) {
                Ok(n) => list(text.splitn(n, &**at).collect()),
                Err(_) => list(text.split(&**at).collect()),
            },
            _ => Err(Fault::Unknown),
        },
        ("split", [Value::Text(_)]) => {
            let parts = text.chars().map(|c| Value::text(&c.to_string()));
            Ok(Value::list(parts.collect()))
        }
        ("find", [Value::Text(pattern)]) => {
            let pattern = regular::compiled(pattern).ok_or(Fault::Unknown)?;
            let found = pattern.find(text);
            Ok(Value::text(found.map_or("", |found| found.as_str())))
        }
        ("findAll", [Value::Text(pattern), limit @ ..]) => {
            let pattern = regular::compiled(pattern).ok_or(Fault::Unknown)?;
            let most = match limit {
                [] => usize::MAX,
                [Value::Int(n)] => usize::try_from(*n).unwrap_or(usize::MAX),
                _ => return Err(Fault::Unknown),
            };
            let found = pattern.find_iter(text).take(most);
            list(found.map(|found| found.as_str()).collect())
        }
        ("format", [Value::List(values)]) => formatted(text, values),
        _ => Err(Fault::Unknown),
    }
}

/// Where a character is, in bytes; none beyond the text.
fn offset(text: &str, at: i64) -> Option<usize> {
    let at = usize::try_from(at).ok()?;
    let places = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    places.into_iter().nth(at)
}

/// The number of the character at some byte; -1 where there is none.
fn place(text: &str, at: Option<usize>) -> Answer {
    match at.and_then(|at| text.get(..at)) {
        Some(before) => count(before.chars().count()),
        None => Ok(Value::Int(-1)),
    }
}

fn part(text: &str, from: i64, to: Option<i64>) -> Answer {
    let start = offset(text, from);
    let end = to.map_or(Some(text.len()), |to| offset(text, to));
    match start.zip(end).and_then(|(start, end)| text.get(start..end)) {
        Some(found) => Ok(Value::text(found)),
        None => fails("index out of range"),
    }
}

/// A text with values in the places of `%s` and `%d`; other places are not known here.
fn formatted(text: &str, values: &[Value]) -> Answer {
    let mut out = String::new();
    let mut values = values.iter();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some('%') => out.push('%'),
            Some('s' | 'd') => match values.next() {
                Some(Value::Text(text)) => out.push_str(text),
                Some(Value::Int(n)) => out.push_str(&n.to_string()),
                Some(Value::Bool(truth)) => out.push_str(&truth.to_string()),
                _ => return Err(Fault::Unknown),
            },
            _ => return Err(Fault::Unknown),
        }
        if out.len() > LARGE {
            return Err(Fault::Unknown);
        }
    }
    Ok(Value::text(&out))
}
