//! What a front-end accepts, a rule can read.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use locus_core::value::Value;
use locus_core::values::{Duration, Size, pattern};
use locus_core::{Diagnostic, Sources};
use locus_frontends::compose::units;
use locus_frontends::language::{Registry, Request};
use locus_frontends::loader::MemoryLoader;
use locus_frontends::{hot, yaml};
use locus_invariants::engine::Builtin;
use proptest::prelude::*;

/// What Heat accepts is in a relation of rules, and what it refuses has no spelling.
fn readable(constraint: &str, text: &str, relation: Builtin) -> Result<(), TestCaseError> {
    let value = Value::str(text);
    let read = relation.holds(&[&value]) == Some(true) || relation.result(&value).is_some();
    if hot::accepts(constraint, text) == Some(true) {
        prop_assert!(read, "{constraint} accepts {text:?}");
    }
    Ok(())
}

/// What the front-end of the language that a text is in refuses about it.
fn refused(text: &str) -> Vec<Diagnostic> {
    let mut sources = Sources::new();
    let file = sources.add("a.yaml", text);
    let documents = yaml::parse(&sources, file, &yaml::Limits::default()).documents;
    let known = Registry::builtin().by_content(&documents).unwrap();
    let loader = MemoryLoader::new().with("a.yaml", text);
    let loaded = known
        .language
        .load(&Request::of(["a.yaml"]), &loader, &mut Sources::new());
    loaded.diagnostics
}

fn manifest(memory: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{ name: a }}\nspec:\n  containers:\n  - name: a\n    \
         image: \"x:1\"\n    resources: {{ limits: {{ memory: \"{memory}\" }} }}\n"
    )
}

#[test]
fn some_quantities_are_accepted() {
    assert_eq!(refused(&manifest("64Mi")), []);
    assert_ne!(refused(&manifest("64 apples")), []);
}

proptest! {
    #[test]
    fn hardware_addresses(text in "[0-9a-fA-F]{1,2}([:.-][0-9a-f]{1,4}){1,5}|[0-9a-f]{10,13}|[0-9a-f]{5,6}[:-][0-9a-f]{5,6}") {
        readable("mac_addr", &text, Builtin::MacOf)?;
        // Nothing else is a hardware address to a rule.
        if Builtin::MacOf.result(&Value::str(text.as_str())).is_some() {
            prop_assert_eq!(hot::accepts("mac_addr", &text), Some(true));
        }
    }

    #[test]
    fn addresses(text in "[0-9]{1,3}(\\.[0-9]{1,3}){2,4}|[0-9a-f:]{2,20}") {
        readable("ip_addr", &text, Builtin::IsAddress)?;
        readable("ip_addr", &text, Builtin::AddressOf)?;
    }

    #[test]
    fn blocks(text in "[0-9]{1,3}(\\.[0-9]{1,3}){3}/[0-9]{1,3}|[0-9a-f:]{2,20}/([0-9]{1,3}|[f:]{2,9})") {
        readable("net_cidr", &text, Builtin::IsCidr)?;
        readable("net_cidr", &text, Builtin::BlockOf)?;
    }

    #[test]
    fn numbers(text in "[-+ ]?[0-9._]{1,30}([eE][-+]?[0-9]{1,3})?|inf|nan") {
        let template = format!(
            "heat_template_version: 2021-04-16\nparameters:\n  n: {{ type: number, default: \"{text}\" }}\n\
             resources: {{ v: {{ type: OS::Heat::Value, properties: {{ value: {{ get_param: n }} }} }} }}\n"
        );
        let mut sources = locus_core::Sources::new();
        let file = sources.add("t.yaml", template);
        let loaded = hot::load(&mut sources, &hot::NoFiles, &hot::Request::new(file));
        let mistyped = loaded.facts.relation("ParameterValue", "mistyped");
        let accepted = mistyped.is_none_or(|relation| relation.placed().next().is_none());
        let value = Value::str(text.as_str());
        prop_assert_eq!(accepted, Builtin::IsNumber.holds(&[&value]) == Some(true), "{}", text);
    }

    #[test]
    fn byte_sizes(text in "[0-9]{1,6}(\\.[0-9]{1,3})? ?[bkmgtpKMGiB]{0,3}") {
        let value = Value::str(text.as_str());
        let read = Builtin::LessBytes.holds(&[&value, &Value::str("9999999999p")]) == Some(true);
        prop_assert_eq!(units::bytes(&text).is_ok(), read, "{}", text);
        if let Ok(bytes) = units::bytes(&text) {
            prop_assert_eq!(Size::parse(&text).unwrap().bytes(), bytes);
        }
    }

    #[test]
    fn quantities(text in "[+-]?[0-9]{1,5}(\\.[0-9]{0,3})?(m|k|M|G|E|Ki|Mi|Gi|n|u|e3|E2|E-2|x|i|mi)?") {
        let value = Value::str(text.as_str());
        if refused(&manifest(&text)).is_empty() {
            prop_assert_eq!(Builtin::SameQuantity.holds(&[&value, &value]), Some(true), "{}", text);
        }
    }

    #[test]
    fn durations(text in "-?([0-9]{1,4}(\\.[0-9]{1,3})?(h|m|s|ms|us|ns|d|x)?){1,3}") {
        let value = Value::str(text.as_str());
        let read = Builtin::LessDuration.holds(&[&value, &Value::str("9223372036854775807ns")]) == Some(true);
        prop_assert_eq!(units::duration(&text).is_ok(), read, "{}", text);
        if let Ok(nanoseconds) = units::duration(&text) {
            prop_assert_eq!(Duration::parse(&text).unwrap().nanoseconds(), nanoseconds);
        }
    }

    #[test]
    fn patterns(pattern in "[ab|()*?$^.\\[\\]\\\\Zdw{}0-2,-]{0,10}", text in "[ab01]{0,5}") {
        let (value, regex) = (Value::str(text.as_str()), Value::str(pattern.as_str()));
        prop_assert_eq!(Builtin::Matches.holds(&[&value, &regex]), pattern::matches(&pattern, &text));
    }

    #[test]
    fn tags_that_are_versions(text in "v?[0-9]{1,2}(\\.[0-9]{1,2}){0,2}(-[a-z]{1,3}(\\.[0-9])?)?") {
        let (value, last) = (Value::str(text.as_str()), Value::str("9999.0.0"));
        prop_assert_eq!(Builtin::Older.holds(&[&value, &last]), Some(true), "{}", text);
    }
}
