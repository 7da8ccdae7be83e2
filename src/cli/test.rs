//! `locus test`: the user's own rules on the user's own examples.

use std::fmt::Write as _;
use std::path::PathBuf;

use locus_frontends::language::Registry;

use crate::report::{frame, printable::printable};
use crate::session::{Cancel, Session, Tried};

use super::flags::TestArgs;
use super::{Exit, print};

/// Tries the rules, and says what is not as the examples say.
pub(crate) fn test(args: &TestArgs) -> Exit {
    let paths = match args.paths.as_slice() {
        [] => vec![PathBuf::from(".")],
        paths => paths.to_vec(),
    };
    let session = Session::new().forgetful();
    let given = args.inputs.given();
    let tried = session
        .snapshot()
        .try_rules(&paths, &given, &Cancel::default());
    // Nobody calls it off: Ctrl-C ends the program.
    let tried = tried.unwrap_or_default();
    for wrong in &tried.wrong {
        frame::print(wrong, &tried.sources);
    }
    print(&shown(&tried));
    let failed = tried.examples.iter().any(|one| !one.differences.is_empty());
    if !tried.wrong.is_empty() {
        Exit::Unanswered
    } else if tried.rules.is_empty() {
        let languages = Registry::builtin();
        let section = languages.languages().next().map_or("", |one| one.section());
        eprintln!(
            "error: there are no rules to test; name files of rules in `locus.toml`, as in\n\n  [{section}]\n  rules = [\"rules/naming.als\"]"
        );
        Exit::Unanswered
    } else if tried.examples.is_empty() {
        eprintln!(
            "error: there are no examples; mark what a rule finds in a configuration, as in\n\n  name: web\n  #     ^ ACME001\n\nor call the file `ACME001.holds.yaml` when nothing is found in it"
        );
        Exit::Unanswered
    } else if failed {
        Exit::Findings
    } else {
        Exit::Clean
    }
}

fn shown(tried: &Tried) -> String {
    let mut out = String::new();
    let mut failed = 0;
    for example in &tried.examples {
        let path = printable(&example.path);
        if example.differences.is_empty() {
            let _ = writeln!(out, "ok   {path}");
            continue;
        }
        failed += 1;
        let _ = writeln!(out, "FAIL {path}");
        for difference in &example.differences {
            let message = printable(&difference.message);
            let _ = match difference.line {
                0 => writeln!(out, "     {message}"),
                line => writeln!(out, "     {line}:{}: {message}", difference.column),
            };
        }
    }
    let untried: Vec<&str> = tried
        .rules
        .iter()
        .filter(|(_, broken)| **broken == 0)
        .map(|(rule, _)| rule.as_str())
        .collect();
    if !tried.examples.is_empty() && !untried.is_empty() {
        let _ = writeln!(out, "no example breaks {}", untried.join(", "));
    }
    if !tried.examples.is_empty() {
        let rules = count(tried.rules.len(), "rule");
        let examples = count(tried.examples.len(), "example");
        let passed = tried.examples.len() - failed;
        let _ = writeln!(out, "{rules}, {examples}: {passed} passed, {failed} failed");
    }
    out
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
