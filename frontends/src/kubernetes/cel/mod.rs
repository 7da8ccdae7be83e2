//! Rules in CEL (`x-kubernetes-validations`) of custom resource definitions, and expressions of policies.
//!
//! The language is read and evaluated as the server does it, with the libraries that it adds. What fails on the server (a field
//! that is not there, a text that is no quantity) fails here, and the rule does not hold; what is not known here is never
//! guessed: it is said.

pub(super) mod address;
pub(super) mod bytes;
pub(super) mod compile;
mod evaluate;
mod fault;
mod format;
mod functions;
mod parse;
mod quantity;
mod semver;
pub(super) mod signatures;
mod texts;
mod time;
mod tokens;
mod url;
mod value;

use super::access::Access as _;
use crate::yaml::Node;

use evaluate::Scope;
use fault::Fault;
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
    let Ok(expression) = parse::parse(text) else {
        return Outcome::Unknown;
    };
    let Some(value) = Value::of(schema, node) else {
        return Outcome::Unknown;
    };
    let mut names = vec![("self".into(), value)];
    if expression.mentions("oldSelf") {
        // A rule about the change of an object is not asked when the object is created.
        if rule.bool_of("optionalOldSelf") != Some(true) {
            return Outcome::Holds;
        }
        names.push(("oldSelf".into(), Value::Optional(None)));
    }
    let mut scope = Scope::new(names);
    match scope.evaluate(&expression) {
        Ok(Value::Bool(true)) => Outcome::Holds,
        Ok(Value::Bool(false)) => Outcome::Broken(message(rule, text, &mut scope)),
        Err(Fault::Fails(why)) => Outcome::Broken(format!("the rule cannot be evaluated: {why}")),
        Ok(_) | Err(Fault::Unknown) => Outcome::Unknown,
    }
}

/// What a rule says when it does not hold.
fn message(rule: &Node, text: &str, scope: &mut Scope) -> String {
    let expression = rule.str_of("messageExpression");
    let expression = expression.and_then(|text| parse::parse(text).ok());
    let said = expression.map(|expression| scope.evaluate(&expression));
    match (said, rule.str_of("message")) {
        (Some(Ok(Value::Text(said))), _) if !said.trim().is_empty() => said.to_string(),
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
    fn the_libraries_of_the_server_are_known() {
        let value = "{n: 5, s: 1500m, t: \"2020-02-29T12:34:56Z\", l: [3, 1, 2], m: {a: x}}";
        for (rule, expected) in [
            (
                "quantity(self.s).isGreaterThan(quantity('1')) && !quantity('1500m').isInteger()",
                true,
            ),
            (
                "quantity('50k').add(20) == quantity('50020') && sign(quantity('-1')) == -1",
                true,
            ),
            ("isQuantity('1.5Gi') && !isQuantity('5mi')", true),
            ("quantity('200M').compareTo(quantity('0.2G')) == 0", true),
            (
                "isIP('::1') && !isIP('01.2.3.4') && ip('10.0.0.1').family() == 4",
                true,
            ),
            ("cidr('10.0.0.0/8').containsIP('11.0.0.1')", false),
            ("cidr('10.1.2.3/16').masked() == cidr('10.1.0.0/16')", true),
            (
                "url('https://[::1]:80/a b?x=1&x=2').getHostname() == '::1'",
                true,
            ),
            (
                "url('https://a/p?x=1&x=2').getQuery()['x'] == ['1', '2']",
                true,
            ),
            (
                "semver('1.2.3').isGreaterThan(semver('1.2.3-rc.1')) && isSemver('v1.2', true)",
                true,
            ),
            ("format.dns1123Label().validate('My').hasValue()", true),
            (
                "duration('1h30m') == duration('90m') && duration('90s').getMinutes() == 1",
                true,
            ),
            (
                "self.t.getFullYear() == 2020 && self.t.getHours('America/New_York') == 7",
                true,
            ),
            (
                "self.t + duration('1h') > timestamp('2020-02-29T13:00:00Z')",
                true,
            ),
            (
                "'a1b22'.findAll('[0-9]+') == ['1', '22'] && 'abc'.substring(1, 2) == 'b'",
                true,
            ),
            ("sets.contains([1, 2], [1]) && self.l.indexOf(2) == 2", true),
            ("self.l.transformList(i, v, v > 1, v + i) == [3, 4]", true),
            (
                "self.m.all(k, v, k < v) && self.?n.optMap(x, x + 1).orValue(0) == 6",
                true,
            ),
            (
                "b'a' + b'b' == b'ab' && 5u - 3u == 2u && type(self.n) == int",
                true,
            ),
            // What fails on the server does not hold.
            ("self.missing == 1", false),
            ("self.l[7] == 1", false),
            ("1 / 0 == 1", false),
            ("9223372036854775807 + 1 > 0", false),
            ("quantity('x') == quantity('1')", false),
            ("self.l.exists(x, 1 / (x - 3) < -5 || x == 1)", true),
        ] {
            assert_eq!(holds(rule, value), Some(expected), "{rule}");
        }
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        for rule in [
            "string(self.t) == 'x'",
            "self.n",
            "self.n == ",
            "self.n == 5)",
            "self.s.matches('(')",
            "self.n && true",
            "no_such_function(self.n)",
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

    #[test]
    fn what_cannot_be_compiled_is_said() {
        use compile::{Type, fault};
        use signatures::Kind;
        let names = vec![("object", Type::Dyn), ("n", Type::Plain(Kind::Int))];
        for wrong in [
            "object.",
            "object.a == ",
            "objct.a == 1",
            "object.a.startWith('x')",
            "n.startsWith('x')",
            "n + 'x' == 'y'",
            "n == 'x'",
            "n",
            "object.a",
            "1 == 1.0",
            "[1, 'a'].size() == 2",
            "has(n)",
            "object.l.all(1, true)",
            "object.l.all(x, x + 1 == y)",
            "duration('1d') == duration('24h')",
            "n ? true : false",
            "'abc' in 'abc'",
            "quantity('1') < quantity('2')",
            "object.a == 'x",
            "if(n)",
        ] {
            assert!(fault(wrong, &names, Kind::Bool).is_some(), "{wrong}");
        }
        for right in [
            "object.spec.replicas <= 5",
            "has(object.a) && object.a.b[0].c.startsWith('x')",
            "object.l.all(x, x.y == n) || n in object.l",
            "size(object.l) > 0 && object.s.size() > 0",
            "object.m.exists(k, v, k == 'a' && v > 1)",
            "type(object.x) == string ? object.x == 'a' : object.x > 1",
            "n > 1.5 && 2u < n",
            "object.?a.?b.orValue('x') == 'y'",
            "quantity(object.q).isLessThan(quantity('1Gi'))",
            "string(n) == '5' && timestamp(object.t) < timestamp('2020-01-01T00:00:00Z')",
            "[1, 2].map(x, x * 2).sum() == 6",
            "object.a == null",
        ] {
            assert_eq!(fault(right, &names, Kind::Bool), None, "{right}");
        }
    }
}
