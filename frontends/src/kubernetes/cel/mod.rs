//! Rules in CEL (`x-kubernetes-validations`) of custom resource definitions, as far as they can be evaluated.
//!
//! What is here is the part of the language that definitions use most: fields, comparisons, arithmetic, texts, lists, maps, the
//! macros over them, and optional fields. Times, durations, quantities, addresses, URLs and bytes are not; neither is a rule that
//! fails to give a value, as on a field that is not there. What cannot be evaluated is never guessed: it is said.

mod evaluate;
mod parse;
mod value;

use super::access::Access as _;
use crate::yaml::Node;

use evaluate::Scope;
use value::Value;

/// What came of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It holds, or is only about changes of an object that is there.
    Holds,
    /// It does not hold; what it says about that.
    Broken(String),
    /// It could not be evaluated.
    Unknown,
}

/// Evaluates a rule of a schema about a value.
pub(crate) fn evaluate(rule: &Node, schema: &Node, node: &Node) -> Outcome {
    let Some(text) = rule.str_of("rule") else {
        return Outcome::Unknown;
    };
    let Some(expression) = parse::parse(text) else {
        return Outcome::Unknown;
    };
    if expression.mentions("oldSelf") {
        // A rule about the change of an object is not asked when the object is created.
        return match rule.bool_of("optionalOldSelf") {
            Some(true) => Outcome::Unknown,
            _ => Outcome::Holds,
        };
    }
    let Some(value) = Value::of(schema, node) else {
        return Outcome::Unknown;
    };
    let mut scope = Scope::new(value);
    match scope.evaluate(&expression) {
        Some(Value::Bool(true)) => Outcome::Holds,
        Some(Value::Bool(false)) => Outcome::Broken(message(rule, text, &mut scope)),
        _ => Outcome::Unknown,
    }
}

/// What a rule says when it does not hold.
fn message(rule: &Node, text: &str, scope: &mut Scope) -> String {
    let expression = rule.str_of("messageExpression").and_then(parse::parse);
    let said = expression.and_then(|expression| scope.evaluate(&expression));
    match (said, rule.str_of("message")) {
        (Some(Value::Text(said)), _) if !said.trim().is_empty() => said.to_string(),
        (_, Some(said)) => said.to_owned(),
        _ => format!("the rule `{}` does not hold", text.trim()),
    }
}

#[cfg(test)]
mod tests {
    use locus_core::Sources;

    use super::*;
    use crate::yaml;

    /// What a rule says of a value, under a schema of objects with these properties.
    fn ask(rule: &str, properties: &str, value: &str) -> Outcome {
        let text = format!(
            "rule: {}\nschema: {{type: object, properties: {properties}}}\nvalue: {value}\n",
            serde_json::to_string(rule).expect("a text")
        );
        let mut sources = Sources::new();
        let file = sources.add("a.yaml", text);
        let parsed = yaml::parse(&sources, file, &yaml::Limits::default());
        let root = &parsed.documents.first().expect("a document").root;
        let (schema, value) = (root.get("schema"), root.get("value"));
        evaluate(root, schema.expect("a schema"), value.expect("a value"))
    }

    fn holds(rule: &str, value: &str) -> Option<bool> {
        let properties = "{n: {type: integer}, d: {type: integer, default: 3}, s: {type: string}, t: {type: string, format: date-time}, l: {type: array, items: {type: integer}}, m: {type: object, additionalProperties: {type: string}}, f: {type: number}, namespace: {type: string}, a-b: {type: string}}";
        match ask(rule, properties, value) {
            Outcome::Holds => Some(true),
            Outcome::Broken(_) => Some(false),
            Outcome::Unknown => None,
        }
    }

    #[test]
    fn rules_are_evaluated_as_the_server_does() {
        let value =
            "{n: 5, s: héllo, l: [1, 2, 3], m: {a: x, b: z}, f: 2, namespace: ns, a-b: dash}";
        for (rule, expected) in [
            ("self.n == 5", true),
            ("self.n > 5", false),
            ("self.n >= 5 && self.n <= 5", true),
            ("self.n + 2 * 3 == 11", true),
            ("(self.n + 2) * 3 == 21", true),
            ("-self.n == -5", true),
            ("7 / 2 == 3 && 7 % 2 == 1 && -7 / 2 == -3", true),
            ("self.f == 2.0 && self.f < 3", true),
            ("self.d == 3", true),
            ("has(self.n) && !has(self.t)", true),
            ("has(self.t) ? self.t == 'x' : true", true),
            ("self.s.startsWith('hé') && self.s.endsWith(\"lo\")", true),
            ("self.s.size() == 5 && size(self.s) == 5", true),
            ("self.s.matches('^h.*o$')", true),
            ("self.s.contains('xx')", false),
            ("self.l.all(x, x > 0)", true),
            ("self.l.exists(x, x > 3)", false),
            ("self.l.exists_one(x, x == 2)", true),
            ("self.l.map(x, x * 2) == [2, 4, 6]", true),
            ("self.l.filter(x, x != 2).size() == 2", true),
            ("2 in self.l && !(9 in self.l)", true),
            ("'a' in self.m && self.m['b'] == 'z'", true),
            ("self.m.all(k, k in ['a', 'b'])", true),
            ("self.l[0] == 1 && self.l[2] == 3", true),
            (
                "self.__namespace__ == 'ns' && self.a__dash__b == 'dash'",
                true,
            ),
            ("self.?s.orValue('none') == 'héllo'", true),
            ("self.?t.hasValue()", false),
            (
                "self.l.sum() == 6 && self.l.max() == 3 && self.l.isSorted()",
                true,
            ),
            (
                "'a,b'.split(',') == ['a', 'b'] && ['a', 'b'].join('-') == 'a-b'",
                true,
            ),
            ("string(self.n) == '5' && int('7') == 7", true),
            ("'Abc'.lowerAscii() == 'abc'", true),
            ("{'k': 1}['k'] == 1", true),
            // What decides the other side makes what fails not matter.
            ("false && self.missing == 1", false),
            ("self.missing == 1 || true", true),
            ("self.n == 5 // a note", true),
            ("oldSelf.n == self.n", true),
        ] {
            assert_eq!(holds(rule, value), Some(expected), "{rule}");
        }
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        for rule in [
            "self.missing == 1",
            "self.l[7] == 1",
            "quantity(self.s).isGreaterThan(quantity('1'))",
            "self.t == 'x'",
            "timestamp('2020-01-01T00:00:00Z') < self.t",
            "1 / 0 == 1",
            "9223372036854775807 + 1 > 0",
            "self.n",
            "self.n == ",
            "self.n == 5)",
            "self.s.matches('(')",
            "isURL(self.s)",
            "self.n && true",
        ] {
            let value = "{n: 5, s: a, l: [1], t: \"2020-01-01T00:00:00Z\"}";
            assert_eq!(holds(rule, value), None, "{rule}");
        }
        // Neither depth nor length makes it fail in another way.
        let deep = format!("{}true{}", "(".repeat(5000), ")".repeat(5000));
        assert_eq!(holds(&deep, "{}"), None);
        let list = vec!["1"; 400].join(", ");
        let wide = format!("{{l: [{list}]}}");
        let slow = "self.l.all(a, self.l.all(b, self.l.all(c, a + b + c > 0)))";
        assert_eq!(holds(slow, &wide), None);
    }

    #[test]
    fn a_rule_says_what_is_wrong() {
        let text =
            "rule: self.n < 3\nmessage: plain\nmessageExpression: \"'n is ' + string(self.n)\"\n";
        let mut sources = Sources::new();
        let file = sources.add(
            "a.yaml",
            format!("{text}schema: {{type: object}}\nvalue: {{n: 5}}\n"),
        );
        let parsed = yaml::parse(&sources, file, &yaml::Limits::default());
        let root = &parsed.documents.first().expect("a document").root;
        let outcome = evaluate(
            root,
            root.get("schema").expect("a schema"),
            root.get("value").expect("a value"),
        );
        assert_eq!(outcome, Outcome::Broken("n is 5".to_owned()));
    }
}
