//! The functions themselves, on values that are known far enough; `None` when they are not.

use locus_core::value::{Field, Item, Value, ValueType, field};
use sha2::Digest as _;

use super::text::{json, plain};

/// Results larger than this stay symbolic: no template means them.
const MAX_RESULT: usize = 10_000;

/// The type of a function's result, for when the result is not known.
pub(super) fn result_type(variant: &str) -> ValueType {
    match variant {
        "Replace"
        | "ReplaceJson"
        | "ReplaceJsonStrict"
        | "ReplaceJsonVeryStrict"
        | "Join"
        | "JoinMultiple"
        | "Digest"
        | "Base64"
        | "MakeURL" => ValueType::String,
        "StrSplit" | "Split" | "Filter" | "ListConcat" | "ListConcatUnique" | "GetAZs" => {
            ValueType::List
        }
        "MapMerge" | "MapReplace" | "MemberListToMap" => ValueType::Map,
        _ => ValueType::Any,
    }
}

/// Applies a function to its evaluated argument.
pub(super) fn apply(variant: &str, arg: &Item) -> Option<Value> {
    match variant {
        "Replace" => replace(arg, false),
        "ReplaceJson" | "ReplaceJsonStrict" | "ReplaceJsonVeryStrict" => replace(arg, true),
        "Join" => join(arg),
        "JoinMultiple" => join(arg),
        "StrSplit" => str_split(arg),
        "Split" => str_split(arg),
        "Select" => select(arg),
        "Base64" => match &arg.value {
            // Heat's own function gives its argument back: Nova encodes it.
            Value::Str(_) => Some(arg.value.clone()),
            _ => None,
        },
        "Digest" => digest(arg),
        "MapMerge" => map_merge(arg),
        "MapReplace" => map_replace(arg),
        "ListConcat" => list_concat(arg, false),
        "ListConcatUnique" => list_concat(arg, true),
        "Filter" => filter(arg),
        "MakeURL" => make_url(arg),
        "MemberListToMap" => member_list(arg),
        "Equals" => equals(arg),
        "Contains" => contains(arg),
        _ => None,
    }
}

fn list(value: &Value) -> Option<&[Item]> {
    match value {
        Value::List(items) => Some(items),
        _ => None,
    }
}

fn map(value: &Value) -> Option<&[Field]> {
    match value {
        Value::Map(fields) => Some(fields),
        _ => None,
    }
}

/// One step of a path: a key of a map or an index of a list.
pub(super) fn step(value: &Value, step: &Value) -> Option<Item> {
    match value {
        Value::Map(fields) => {
            let key = match step {
                Value::Str(text) => text.to_string(),
                Value::Int(n) => n.to_string(),
                _ => return None,
            };
            field(fields, &key).cloned()
        }
        Value::List(items) => {
            let index = match step {
                Value::Int(n) => n.to_i64()?,
                Value::Str(text) => text.parse().ok()?,
                _ => return None,
            };
            let index = if index < 0 {
                index.checked_add(i64::try_from(items.len()).ok()?)?
            } else {
                index
            };
            items.get(usize::try_from(index).ok()?).cloned()
        }
        _ => None,
    }
}

fn replace(arg: &Item, collections: bool) -> Option<Value> {
    let (template, params) = match &arg.value {
        // The CFN style: `[{name: value}, text]`.
        Value::List(items) => (items.get(1)?, items.first()?),
        other => (
            field(map(other)?, "template")?,
            field(map(other)?, "params")?,
        ),
    };
    let template = plain(&template.value)?;
    let mut pairs = Vec::new();
    for param in map(&params.value)? {
        let value = &param.item.value;
        if !collections && matches!(value, Value::List(_) | Value::Map(_)) {
            return None;
        }
        pairs.push((param.name.to_string(), plain(value)?));
    }
    Some(Value::str(replace_all(&template, pairs)))
}

/// Longer keys first, and what a key was replaced by is not replaced again.
fn replace_all(template: &str, mut pairs: Vec<(String, String)>) -> String {
    pairs.retain(|(key, _)| !key.is_empty());
    pairs.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    // Pieces of the text; those that are final are replacements.
    let mut pieces = vec![(template.to_owned(), false)];
    for (key, value) in &pairs {
        let mut next = Vec::with_capacity(pieces.len());
        for (text, done) in pieces {
            if done || !text.contains(key.as_str()) {
                next.push((text, done));
                continue;
            }
            for (index, part) in text.split(key.as_str()).enumerate() {
                if index > 0 {
                    next.push((value.clone(), true));
                }
                next.push((part.to_owned(), false));
            }
        }
        pieces = next;
    }
    pieces.into_iter().map(|(text, _)| text).collect()
}

fn join(arg: &Item) -> Option<Value> {
    let (delimiter, lists) = list(&arg.value)?.split_first()?;
    let delimiter = plain(&delimiter.value)?;
    let mut parts = Vec::new();
    for one in lists {
        if matches!(one.value, Value::Null) {
            continue;
        }
        for item in list(&one.value)? {
            parts.push(match &item.value {
                Value::List(_) | Value::Map(_) => json(&item.value)?,
                other => plain(other)?,
            });
        }
    }
    Some(Value::str(parts.join(&delimiter)))
}

fn str_split(arg: &Item) -> Option<Value> {
    let items = list(&arg.value)?;
    let (delimiter, text) = (items.first()?, items.get(1)?);
    let (delimiter, text) = (delimiter.value.as_str()?, text.value.as_str()?);
    if delimiter.is_empty() {
        return None;
    }
    let parts: Vec<Item> = text
        .split(delimiter)
        .map(|part| Item::new(Value::str(part), arg.span))
        .collect();
    let parts = Value::List(parts);
    match items.get(2) {
        None => Some(parts),
        Some(index) => step(&parts, &index.value).map(|item| item.value),
    }
}

fn select(arg: &Item) -> Option<Value> {
    let items = list(&arg.value)?;
    let (index, from) = (items.first()?, items.get(1)?);
    match &from.value {
        // JSON text is taken for what it says.
        Value::Str(text) => {
            let parsed = serde_json::from_str(text).ok()?;
            let value = super::constraint::of_json(&parsed, from.span);
            step(&value, &index.value).map(|item| item.value)
        }
        other => step(other, &index.value).map(|item| item.value),
    }
}

/// Algorithms of Python's `hashlib` on common systems, apart from those that are computed here.
const OTHER_DIGESTS: &[&str] = &[
    "blake2b",
    "blake2s",
    "md4",
    "md5-sha1",
    "ripemd160",
    "sha3_224",
    "sha3_256",
    "sha3_384",
    "sha3_512",
    "sha512_224",
    "sha512_256",
    "shake_128",
    "shake_256",
    "sm3",
    "whirlpool",
];

/// What Heat refuses about an argument that is known, though it is of the right shape.
pub(super) fn refusal(variant: &str, arg: &Item) -> Option<String> {
    match variant {
        "ReplaceJsonStrict" | "ReplaceJsonVeryStrict" => {
            let parts = map(&arg.value)?;
            let template = plain(&field(parts, "template")?.value)?;
            let params = map(&field(parts, "params")?.value)?;
            let unused = params.iter().find(|param| !template.contains(&*param.name));
            let empty = params.iter().find(|param| match &param.item.value {
                Value::Null => true,
                Value::Str(text) => text.is_empty(),
                _ => false,
            });
            match (unused, empty) {
                (Some(param), _) => Some(format!("`{}` is not in the text", param.name)),
                (None, Some(param)) if variant == "ReplaceJsonVeryStrict" => {
                    Some(format!("`{}` has no value", param.name))
                }
                _ => None,
            }
        }
        "Digest" => {
            let algorithm = list(&arg.value)?.first()?.value.as_str()?;
            let known = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"];
            let lower = algorithm.to_lowercase();
            let known = known.iter().chain(OTHER_DIGESTS).any(|name| *name == lower);
            (!known).then(|| format!("there is no algorithm `{algorithm}`"))
        }
        _ => None,
    }
}

fn digest(arg: &Item) -> Option<Value> {
    let items = list(&arg.value)?;
    let (algorithm, text) = (items.first()?, items.get(1)?);
    let bytes = text.value.as_str()?.as_bytes();
    let hash: Vec<u8> = match &*algorithm.value.as_str()?.to_lowercase() {
        "md5" => md5::Md5::digest(bytes).to_vec(),
        "sha1" => sha1::Sha1::digest(bytes).to_vec(),
        "sha224" => sha2::Sha224::digest(bytes).to_vec(),
        "sha256" => sha2::Sha256::digest(bytes).to_vec(),
        "sha384" => sha2::Sha384::digest(bytes).to_vec(),
        "sha512" => sha2::Sha512::digest(bytes).to_vec(),
        _ => return None,
    };
    let text: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(Value::str(text))
}

fn map_merge(arg: &Item) -> Option<Value> {
    let mut merged: Vec<Field> = Vec::new();
    for item in list(&arg.value)? {
        if matches!(item.value, Value::Null) {
            continue;
        }
        for field in map(&item.value)? {
            match merged.iter_mut().find(|old| old.name == field.name) {
                Some(old) => *old = field.clone(),
                None => merged.push(field.clone()),
            }
        }
    }
    Some(Value::Map(merged))
}

fn map_replace(arg: &Item) -> Option<Value> {
    let items = list(&arg.value)?;
    let base = map(&items.first()?.value)?;
    let rules = map(&items.get(1)?.value)?;
    let part = |name| field(rules, name).map(|item| &item.value);
    let keys = part("keys").and_then(map).unwrap_or(&[]);
    let values = part("values").and_then(map).unwrap_or(&[]);
    let replaced = base
        .iter()
        .map(|old| {
            let name = match field(keys, &old.name).map(|item| &item.value) {
                Some(new) => plain(new)?.into(),
                None => old.name.clone(),
            };
            let known = match &old.item.value {
                Value::List(_) | Value::Map(_) => None,
                Value::Symbolic(_) | Value::Location(_) if !values.is_empty() => return None,
                other => plain(other).and_then(|text| field(values, &text)),
            };
            Some(Field {
                name,
                key: old.key,
                item: known.unwrap_or(&old.item).clone(),
            })
        })
        .collect::<Option<Vec<Field>>>()?;
    Some(Value::Map(replaced))
}

fn list_concat(arg: &Item, unique: bool) -> Option<Value> {
    let mut all: Vec<Item> = Vec::new();
    for one in list(&arg.value)? {
        if matches!(one.value, Value::Null) {
            continue;
        }
        for item in list(&one.value)? {
            if unique && !item.value.is_known() && !matches!(item.value, Value::Location(_)) {
                return None;
            }
            if !unique || !all.iter().any(|old| old.value.same(&item.value)) {
                all.push(item.clone());
            }
        }
    }
    Some(Value::List(all))
}

fn filter(arg: &Item) -> Option<Value> {
    let items = list(&arg.value)?;
    let (drop, from) = (list(&items.first()?.value)?, list(&items.get(1)?.value)?);
    if !items.iter().all(|item| item.value.is_known()) {
        return None;
    }
    let kept = from
        .iter()
        .filter(|item| !drop.iter().any(|gone| gone.value.same(&item.value)))
        .cloned()
        .collect();
    Some(Value::List(kept))
}

/// Bytes that stay as they are in a part of a URL.
fn escape(text: &str, safe: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"_.-~".contains(&byte);
        if plain || safe.as_bytes().contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn make_url(arg: &Item) -> Option<Value> {
    let parts = map(&arg.value)?;
    let get = |name: &str| match field(parts, name) {
        Some(item) => plain(&item.value).map(|text| (!text.is_empty()).then_some(text)),
        None => Some(None),
    };
    let mut url = String::new();
    if let Some(scheme) = get("scheme")? {
        url.push_str(&scheme);
        url.push(':');
    }
    if let Some(host) = get("host")? {
        url.push_str("//");
        if let Some(user) = get("username")? {
            url.push_str(&escape(&user, ""));
            if let Some(password) = get("password")? {
                url.push(':');
                url.push_str(&escape(&password, ""));
            }
            url.push('@');
        }
        if host.contains(':') && !host.starts_with('[') {
            url.push_str(&format!("[{host}]"));
        } else {
            url.push_str(&host);
        }
        if let Some(port) = get("port")? {
            url.push(':');
            url.push_str(&port);
        }
    }
    if let Some(path) = get("path")? {
        if !url.is_empty() && !path.starts_with('/') {
            url.push('/');
        }
        url.push_str(&escape(&path, "/"));
    }
    if let Some(query) = field(parts, "query") {
        let pairs = map(&query.value)?
            .iter()
            .map(|pair| {
                let value = plain(&pair.item.value)?;
                let form = |text: &str| escape(text, " ").replace(' ', "+");
                Some(format!("{}={}", form(&pair.name), form(&value)))
            })
            .collect::<Option<Vec<String>>>()?;
        if !pairs.is_empty() {
            url.push('?');
            url.push_str(&pairs.join("&"));
        }
    }
    if let Some(fragment) = get("fragment")? {
        url.push('#');
        url.push_str(&escape(&fragment, ""));
    }
    Some(Value::str(url))
}

/// `['Name', 'Value', ['.member.0.Name=a', '.member.0.Value=b']]`.
fn member_list(arg: &Item) -> Option<Value> {
    let items = list(&arg.value)?;
    let (key, value) = (
        items.first()?.value.as_str()?,
        items.get(1)?.value.as_str()?,
    );
    let mut names: Vec<(String, String)> = Vec::new();
    let mut values: Vec<(String, String)> = Vec::new();
    for item in list(&items.get(2)?.value)? {
        let (left, right) = item.value.as_str()?.split_once('=')?;
        let (index, kind) = left.trim_start_matches(".member.").rsplit_once('.')?;
        let entry = (index.to_owned(), right.to_owned());
        if kind == key {
            names.push(entry);
        } else if kind == value {
            values.push(entry);
        }
    }
    let fields = names
        .into_iter()
        .filter_map(|(index, name)| {
            let (_, value) = values.iter().find(|(other, _)| *other == index)?;
            Some(Field {
                name: name.into(),
                key: arg.span,
                item: Item::new(Value::str(value.as_str()), arg.span),
            })
        })
        .collect();
    Some(Value::Map(fields))
}

/// Whether two values are equal; known also when both are one symbol.
pub(super) fn equals(arg: &Item) -> Option<Value> {
    let items = list(&arg.value)?;
    let (a, b) = (&items.first()?.value, &items.get(1)?.value);
    match (a, b) {
        (Value::Symbolic(a), Value::Symbolic(b)) if a == b => Some(Value::Bool(true)),
        _ if a.is_known() && b.is_known() => Some(Value::Bool(a.same(b))),
        _ => None,
    }
}

pub(super) fn contains(arg: &Item) -> Option<Value> {
    let items = list(&arg.value)?;
    let (what, within) = (&items.first()?.value, &items.get(1)?.value);
    if !what.is_known() || !within.is_known() {
        return None;
    }
    match within {
        Value::List(items) => Some(Value::Bool(items.iter().any(|i| i.value.same(what)))),
        Value::Str(text) => Some(Value::Bool(text.contains(&*plain(what)?))),
        _ => None,
    }
}

/// `repeat`: the template with each combination of the lists put in.
pub(super) fn repeat(loops: &[Field], template: &Item, permutations: bool) -> Option<Vec<Item>> {
    let mut columns: Vec<(&str, Vec<&Item>)> = Vec::new();
    // A map stands for the list of its keys.
    let keys: Vec<Vec<Item>> = loops
        .iter()
        .map(|one| match &one.item.value {
            Value::Map(fields) => fields
                .iter()
                .map(|field| Item::new(Value::Str(field.name.clone()), field.key))
                .collect(),
            _ => Vec::new(),
        })
        .collect();
    for (one, keys) in loops.iter().zip(&keys) {
        let items: Vec<&Item> = match &one.item.value {
            Value::List(items) => items.iter().collect(),
            Value::Map(_) => keys.iter().collect(),
            Value::Null => Vec::new(),
            _ => return None,
        };
        columns.push((&one.name, items));
    }
    let mut rows: Vec<Vec<(&str, &Item)>> = Vec::new();
    if permutations {
        rows.push(Vec::new());
        for (name, items) in &columns {
            if rows.len().saturating_mul(items.len().max(1)) > MAX_RESULT {
                return None;
            }
            rows = rows
                .iter()
                .flat_map(|row| {
                    items.iter().map(move |item| {
                        let mut row = row.clone();
                        row.push((*name, *item));
                        row
                    })
                })
                .collect();
        }
    } else {
        let length = columns.first().map_or(0, |(_, items)| items.len());
        if columns.iter().any(|(_, items)| items.len() != length) || length > MAX_RESULT {
            return None;
        }
        for index in 0..length {
            let row = columns
                .iter()
                .filter_map(|(name, items)| Some((*name, *items.get(index)?)));
            rows.push(row.collect());
        }
    }
    rows.iter().map(|row| substitute(template, row)).collect()
}

/// Puts values in the place of names, in texts and keys; a text that is only the name becomes the
/// value itself.
fn substitute(item: &Item, row: &[(&str, &Item)]) -> Option<Item> {
    let value = match &item.value {
        Value::Str(text) => {
            if let Some((_, whole)) = row.iter().find(|(name, _)| *name == &**text) {
                return Some(Item {
                    span: item.span,
                    from: Some(whole.span),
                    value: whole.value.clone(),
                });
            }
            Value::str(substitute_text(text, row)?)
        }
        Value::List(items) => Value::List(
            items
                .iter()
                .map(|item| substitute(item, row))
                .collect::<Option<_>>()?,
        ),
        Value::Map(fields) => Value::Map(
            fields
                .iter()
                .map(|field| {
                    Some(Field {
                        name: substitute_text(&field.name, row)?.into(),
                        key: field.key,
                        item: substitute(&field.item, row)?,
                    })
                })
                .collect::<Option<_>>()?,
        ),
        other => other.clone(),
    };
    Some(Item {
        value,
        ..item.clone()
    })
}

fn substitute_text(text: &str, row: &[(&str, &Item)]) -> Option<String> {
    let mut pairs = Vec::new();
    for (name, item) in row {
        if text.contains(name) {
            pairs.push(((*name).to_owned(), plain(&item.value)?));
        }
    }
    Some(replace_all(text, pairs))
}

/// Puts an index in the place of a variable, in every text of a value.
pub(super) fn put_index(value: &Value, variable: &str, index: &str) -> Value {
    match value {
        Value::Str(text) if text.contains(variable) => Value::str(text.replace(variable, index)),
        Value::List(items) => Value::List(
            items
                .iter()
                .map(|item| Item {
                    value: put_index(&item.value, variable, index),
                    ..item.clone()
                })
                .collect(),
        ),
        Value::Map(fields) => Value::Map(
            fields
                .iter()
                .map(|field| Field {
                    name: if field.name.contains(variable) {
                        field.name.replace(variable, index).into()
                    } else {
                        field.name.clone()
                    },
                    key: field.key,
                    item: Item {
                        value: put_index(&field.item.value, variable, index),
                        ..field.item.clone()
                    },
                })
                .collect(),
        ),
        other => other.clone(),
    }
}
