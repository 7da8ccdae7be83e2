//! YAQL, the query language of the `yaql` function: what templates use of it.
//!
//! An expression that uses more than is known here, or values that are not known, has no value: the
//! result is then symbolic, never wrong.

mod parse;
mod run;
mod syntax;

use locus_core::value::{Field, Item, Value, field};
use locus_core::{Sources, Span};

/// Why Heat refuses the expression of a `yaql` call, and where.
pub(super) fn refusal(arg: &Item, sources: &Sources) -> Option<(Span, String)> {
    let Value::Map(parts) = &arg.value else {
        return None;
    };
    let expression = field(parts, "expression")?;
    let text = expression.value.as_str()?;
    let error = syntax::check(text).err()?;
    let span = expression.span;
    // Where the text is written as it is, the very characters can be shown.
    let span = match sources.snippet(span).find(text) {
        Some(start) if !error.range.is_empty() => {
            let start = span.start as usize + start;
            Span::new(
                span.file,
                start + error.range.start,
                start + error.range.end,
            )
        }
        _ => span,
    };
    Some((span, format!("this is not valid YAQL: {}", error.message)))
}

/// The value of a `yaql` call, given its evaluated argument.
pub(super) fn evaluate(arg: &Item) -> Option<Value> {
    let Value::Map(parts) = &arg.value else {
        return None;
    };
    let expression = field(parts, "expression")?.value.as_str()?;
    let data = match field(parts, "data") {
        Some(item) => item.clone(),
        None => Item::new(Value::Map(Vec::new()), arg.span),
    };
    let key = data.span;
    let root = Value::Map(vec![Field {
        name: "data".into(),
        key,
        item: data,
    }]);
    let parsed = parse::parse(expression)?;
    run::Scope::new(&root, arg.span).run(&parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hot::constraint::of_json;
    use locus_core::{Sources, Span};
    use proptest::prelude::*;

    fn run(expression: &str) -> Option<String> {
        let mut sources = Sources::new();
        let span = Span::start_of(sources.add("x", ""));
        let json = serde_json::json!({
            "expression": expression,
            "data": {
                "n": [3, 1, 2, 1],
                "servers": [{"name": "a", "up": true, "ip": "10.0.0.1"}, {"name": "b", "up": false}],
                "map": {"x": 1, "y": [2]},
                "text": "a,b",
            }
        });
        let arg = Item::new(of_json(&json, span), span);
        evaluate(&arg).map(|value| value.to_string())
    }

    #[test]
    fn what_templates_ask_is_answered() {
        let cases = [
            ("$.data.n.sum()", "7"),
            ("$.data.n.max() + 1", "4"),
            ("$.data.n.distinct().orderBy($)", "[1, 2, 3]"),
            ("$.data.n.where($ > 1).len()", "2"),
            ("len($.data.n)", "4"),
            ("$.data.servers.where($.up).select($.name)", "[a]"),
            ("$.data.servers.name", "[a, b]"),
            ("$.data.servers.select($.get(ip, none)).first()", "10.0.0.1"),
            ("$.data.map.keys()", "[x, y]"),
            ("$.data.map.values().flatten()", "[1, 2]"),
            (
                "$.data.text.split(',').select($.toUpper()).join('-')",
                "A-B",
            ),
            (
                "dict($.data.servers.select([$.name, $.up]))",
                "{a: true, b: false}",
            ),
            ("1 in $.data.n and not (5 in $.data.n)", "true"),
            ("$.data.n[0] * 2 = 6", "true"),
            ("$.data.missing", "null"),
            ("$.data.n.len() > 3 or $.nothing.at.all", "true"),
            ("let(a => 2) -> $a", ""),
            ("coalesce($.data.missing, 'x')", "x"),
        ];
        for (expression, expected) in cases {
            let found = run(expression);
            match expected {
                "" => assert_eq!(found, None, "{expression}"),
                expected => assert_eq!(found.as_deref(), Some(expected), "{expression}"),
            }
        }
    }

    proptest! {
        #[test]
        fn any_expression_is_read_without_panic(text in "[$a-z.()\\[\\]'0-9 =<>+*/,{}-]{0,60}") {
            let _ = run(&text);
        }
    }

    #[test]
    fn deep_expressions_are_refused() {
        assert_eq!(run(&"(".repeat(50_000)), None);
        assert_eq!(run(&"-".repeat(50_000)), None);
        assert_eq!(run(&"not ".repeat(50_000)), None);
    }
}
