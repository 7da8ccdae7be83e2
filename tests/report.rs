//! One set of findings in every format.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::time::Duration;

use locus::report::{Style, json, text};
use locus::session::{Batch, Skip, Skipped, Totals};
use locus_core::diagnostic::{Applicability, Edit, Fix, Flow, FlowKind, Input, Member, Verdict};
use locus_core::{Diagnostic, Sources, Span};

fn batch() -> Batch {
    let mut sources = Sources::new();
    let a = sources.add(
        "stack/a.yaml",
        "first: é😀 one\nsecond: two\nthird: three\n",
    );
    let b = sources.add("stack/b.yaml", "other: four\n");
    let at = |text: &str| {
        let start = sources.text(a).find(text).unwrap();
        Span::new(a, start, start + text.len())
    };
    let member = |text: &str| Member {
        name: text.to_owned(),
        span: Some(at(text)),
    };
    let mut cycle = Diagnostic::error(
        "COMPOSE020",
        "`one` depends on itself: `one` -> `two` -> `one`",
    )
    .label(at("one"), "starts here")
    .related(at("two"), "goes on here")
    .related(Span::new(b, 0, 5), "included here")
    .help("remove one of the dependencies")
    .fix(Fix {
        title: "remove `two`".to_owned(),
        applicability: Applicability::Unsafe,
        edits: vec![Edit {
            span: at("second: two\n"),
            text: String::new(),
        }],
    });
    cycle.members = vec![member("one")];
    cycle.flows = vec![Flow {
        kind: FlowKind::Cycle,
        steps: vec![member("one"), member("two"), member("one")],
    }];
    let mut violable = Diagnostic::warning("HOT239", "with `size` = `3`, `three` is too small");
    violable = violable.at(at("three"));
    violable.verdict = Verdict::Violable {
        inputs: vec![Input {
            name: "size".to_owned(),
            value: Some("3".to_owned()),
        }],
    };
    let mut undecided = Diagnostic::warning("HOT241", "not decided whether a name fits: a limit");
    undecided = undecided.at(at("third"));
    undecided.verdict = Verdict::Undecided {
        why: "a limit".to_owned(),
    };
    let skipped = |path: &str, why| Skipped {
        path: path.to_owned(),
        why,
    };
    Batch {
        findings: vec![cycle, violable],
        unchecked: vec![undecided],
        skipped: vec![
            skipped("play.yaml", Skip::Unknown),
            skipped("role.j2.yaml", Skip::Template),
            skipped("site.yaml", Skip::Unknown),
        ],
        sources,
        totals: Totals {
            files: 2,
            locations: 3,
            rules: [("hot", 80)].into(),
            checked: 2,
            deployable: 1,
            ..Totals::default()
        },
    }
}

fn style(verbose: bool) -> Style {
    Style {
        colour: false,
        verbose,
        time: Duration::from_micros(1234),
    }
}

#[test]
fn as_text() {
    insta::assert_snapshot!(text::render(&batch(), &style(false)));
}

#[test]
fn as_text_with_everything_listed() {
    let text = text::render(&batch(), &style(true));
    let (_, listed) = text.split_once("not checked: ").unwrap();
    insta::assert_snapshot!(listed);
}

#[test]
fn as_json() {
    insta::assert_snapshot!(json::render(&batch(), &style(false)));
}
