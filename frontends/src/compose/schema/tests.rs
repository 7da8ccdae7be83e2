//! The walker against an independent validator, and what it says.

use std::sync::LazyLock;

use jsonschema::Validator;
use locus_core::{Int, Sources, Span};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::check;
use crate::compose::tree::{Kind, Pair, Tree};

static DATA: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../data/compose-spec.json")).unwrap()
});
static PEER: LazyLock<Validator> = LazyLock::new(|| jsonschema::validator_for(&DATA).unwrap());

fn span() -> Span {
    Span::start_of(Sources::new().add("f", ""))
}

fn tree(json: &Value) -> Tree {
    let kind = match json {
        Value::Null => Kind::Null,
        Value::Bool(b) => Kind::Bool(*b),
        Value::Number(n) => match n.as_i64() {
            Some(n) => Kind::Int(Int::from(n)),
            None => Kind::Float(n.as_f64().unwrap()),
        },
        Value::String(text) => Kind::Str(text.as_str().into()),
        Value::Array(items) => Kind::List(items.iter().map(tree).collect()),
        Value::Object(map) => Kind::Map(
            map.iter()
                .map(|(key, value)| Pair {
                    key: key.as_str().into(),
                    key_span: span(),
                    value: tree(value),
                })
                .collect(),
        ),
    };
    Tree::new(kind, span())
}

fn messages(json: &Value) -> Vec<String> {
    let tree = tree(json);
    let mut diagnostics = Vec::new();
    check(&tree, &mut diagnostics);
    diagnostics
        .into_iter()
        .map(|d| format!("{} ({})", d.message, d.help.unwrap_or_default()))
        .collect()
}

/// A small random number generator, so that one number decides a whole document.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (sides.max(1) as u64)).unwrap()
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.roll(100) < percent
    }

    fn pick<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.roll(values.len())]
    }
}

fn anything(dice: &mut Dice) -> Value {
    match dice.roll(9) {
        0 => Value::Null,
        1 => json!(dice.chance(50)),
        2 => json!(dice.roll(2000) as i64 - 1000),
        3 => json!(1.5),
        4 => json!(["a", "a"]),
        5 => json!({"a": 1}),
        6 => json!([]),
        7 => json!(dice.pick(&["", "a", "all", "x y", "start-first", "daily", "é"])),
        _ => json!({"x-a": null}),
    }
}

/// A document of a schema, mostly as it wants it.
fn document(schema: &Value, dice: &mut Dice, depth: usize) -> Value {
    if dice.chance(2) || depth > 8 {
        return anything(dice);
    }
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let name = reference.trim_start_matches("#/$defs/");
        return document(&DATA["$defs"][name], dice, depth);
    }
    if let Some(choices) = schema.get("oneOf").and_then(Value::as_array) {
        return document(dice.pick(choices), dice, depth);
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return dice.pick(choices).clone();
    }
    let ty = match schema.get("type") {
        Some(Value::Array(types)) => dice.pick(types).as_str().unwrap(),
        Some(Value::String(ty)) => ty,
        _ if schema.get("properties").is_some() => "object",
        _ => return anything(dice),
    };
    match ty {
        "null" => Value::Null,
        "boolean" => json!(dice.chance(50)),
        "integer" => json!(dice.roll(200) as i64 - 20),
        "number" => json!(dice.roll(100) as f64 / 4.0),
        "string" => json!(dice.pick(&["a", "b", "web", "10s", "always", "every_2h", ""])),
        "array" => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            let count = dice.roll(4);
            Value::Array(
                (0..count)
                    .map(|_| document(items, dice, depth + 1))
                    .collect(),
            )
        }
        _ => map(schema, dice, depth),
    }
}

fn map(schema: &Value, dice: &mut Dice, depth: usize) -> Value {
    let mut out = Map::new();
    let mut parts = vec![schema];
    for part in schema
        .get("allOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let name = part["$ref"]
            .as_str()
            .unwrap()
            .trim_start_matches("#/$defs/");
        parts.push(&DATA["$defs"][name]);
    }
    for part in &parts {
        let required: Vec<&str> = part
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let properties = part.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let likely = if required.contains(&name.as_str()) {
                95
            } else {
                12
            };
            if dice.chance(likely) {
                let name = if dice.chance(1) {
                    format!("{name}s")
                } else {
                    name.clone()
                };
                out.insert(name, document(property, dice, depth + 1));
            }
        }
        let patterns = part.get("patternProperties").and_then(Value::as_object);
        for (pattern, property) in patterns.into_iter().flatten() {
            if pattern == "^x-" {
                if dice.chance(10) {
                    out.insert("x-own".into(), anything(dice));
                }
                continue;
            }
            for _ in 0..dice.roll(3) {
                let name = dice.pick(&["a", "b", "web", "db-1", "A.b_c", "x-y", "no way", "é"]);
                out.insert((*name).to_owned(), document(property, dice, depth + 1));
            }
        }
    }
    Value::Object(out)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn the_verdict_is_that_of_an_independent_validator(seed in 1_u64..) {
        let document = document(&DATA, &mut Dice(seed), 0);
        let messages = messages(&document);
        prop_assert_eq!(
            messages.is_empty(),
            PEER.is_valid(&document),
            "{}\n{:?}",
            document,
            messages
        );
    }

    /// Each definition on its own, so that every key is reached often.
    #[test]
    fn services_have_the_verdict_of_an_independent_validator(seed in 1_u64..) {
        let mut dice = Dice(seed);
        let service = document(&DATA["$defs"]["service"], &mut dice, 2);
        let document = json!({"services": {"web": service}});
        let messages = messages(&document);
        prop_assert_eq!(messages.is_empty(), PEER.is_valid(&document), "{}\n{:?}", document, messages);
    }
}

#[test]
fn both_verdicts_are_reached() {
    let verdicts: Vec<bool> = (1..200)
        .map(|seed| PEER.is_valid(&document(&DATA, &mut Dice(seed * 7919), 0)))
        .collect();
    let valid = verdicts.iter().filter(|v| **v).count();
    assert!((20..180).contains(&valid), "{valid} of 199 are valid");
}

#[test]
fn mistakes_are_said_in_the_words_of_the_user() {
    let cases = [
        (
            json!({"services": {"redis": {"image": "redis", "resources": {"limits": {}}}}}),
            "unknown key `resources` in `services.redis` (`resources` belongs under `deploy`)",
        ),
        (
            json!({"services": {"web": {"imgae": "nginx"}}}),
            "unknown key `imgae` in `services.web` (did you mean `image`?)",
        ),
        (
            json!({"services": {"web": {"deploy": {"ports": []}}}}),
            "unknown key `ports` in `services.web.deploy` (`ports` belongs to `services.web`: indent it less)",
        ),
        (
            json!({"web": {"image": "nginx"}}),
            "unknown key `web` at the top of the file (services are written under `services:`; indent it below that)",
        ),
        (
            json!({"services": {"web": {"ports": "80:80"}}}),
            "`services.web.ports` must be a list, not a string (write a list, also for one item: `- 80:80`)",
        ),
        (
            json!({"services": {"web": {"image": 5}}}),
            "`services.web.image` must be a string, not an integer (put it in quotes: `\"5\"`)",
        ),
        (
            json!({"services": {"web": {"environment": null}}}),
            "`services.web.environment` has no value (give it a list or a map, or remove the key)",
        ),
        (
            json!({"services": {"web": {"depends_on": {"db": {"condition": "service_helthy"}}}}}),
            "`services.web.depends_on.db.condition` must be `service_started`, `service_healthy` or `service_completed_successfully`, not `service_helthy` (did you mean `service_healthy`?)",
        ),
        (
            json!({"services": {"web": {"depends_on": {"db": {}}}}}),
            "`services.web.depends_on.db` has no `condition` (add `condition:` below it)",
        ),
        (
            json!({"services": {"my web": {"image": "a"}}}),
            "`my web` is not a valid name in `services` (a name is made of letters, digits, `.`, `_` and `-`)",
        ),
        (
            json!({"services": {"web": {"cpu_percent": 120}}}),
            "`services.web.cpu_percent` must be at most 100 (write a number that is at most 100)",
        ),
        (
            json!({"services": {"web": {"pull_policy": "alway"}}}),
            "`services.web.pull_policy` cannot be `alway` (did you mean `always`?)",
        ),
        (
            json!({"services": {"web": {"net": "host"}}}),
            "unknown key `net` in `services.web` (write `network_mode`)",
        ),
        (
            json!({"services": {"web": {"cap_add": ["A", "A"]}}}),
            "`A` is written twice in `services.web.cap_add` (it has no effect: remove it)",
        ),
    ];
    for (json, expected) in cases {
        assert_eq!(messages(&json), [expected]);
    }
}

#[test]
fn all_mistakes_are_found_at_once() {
    let json = json!({
        "servces": {},
        "services": {"a": {"image": 1, "foo": 1}, "b": {"ports": [{"target": []}]}},
        "networks": {"n": {"ipam": {"config": {}}}},
    });
    assert_eq!(messages(&json).len(), 5);
}
