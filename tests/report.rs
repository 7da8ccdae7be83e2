//! One set of findings in every format.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::time::Duration;

use locus::report::{Format, Style, json, text};
use locus::session::{Batch, Compared, Fixed, Skip, Skipped, Totals};
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
    let ignored = Diagnostic::error("HOT221", "the servers `one` and `two` share a port");
    let ignored = ignored.at(at("two"));
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
        ignored: vec![(ignored, "the same machine".to_owned())],
        ..Batch::default()
    }
}

fn style(verbose: bool) -> Style {
    Style {
        undecided: false,
        colour: false,
        verbose,
        time: Duration::from_micros(1234),
        ..Style::default()
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

#[test]
fn in_every_other_format() {
    for (format, name, _) in Format::ALL {
        if matches!(format, Format::Text | Format::Json | Format::Html) {
            continue;
        }
        insta::assert_snapshot!(format!("as_{name}"), format.render(&batch(), &style(false)));
    }
}

#[test]
fn a_comment_for_a_merge_request_says_what_changed() {
    let mut batch = batch();
    batch.compared = Some(Compared {
        base: "main".to_owned(),
        same: 4,
        fixed: vec![Fixed {
            rule: "HOT001".to_owned(),
            message: "`<b>` is wrong".to_owned(),
            file: None,
            line: None,
        }],
    });
    let text = Format::Markdown.render(&batch, &style(false));
    assert!(
        text.contains("1 error, 1 warning new since `main`"),
        "{text}"
    );
    assert!(
        text.contains("1 finding no longer there, 4 as before"),
        "{text}"
    );
    assert!(text.contains("&lt;b&gt;"), "{text}");
}

/// Like findings of one file, one after the other.
fn many(count: usize) -> Batch {
    let mut sources = Sources::new();
    let line = "a: 1\n";
    let file = sources.add("many.yaml", line.repeat(count));
    let findings = (0..count).map(|index| {
        let start = index * line.len();
        Diagnostic::error("HOT221", format!("number {index}")).at(Span::new(file, start, start + 1))
    });
    Batch {
        findings: findings.collect(),
        sources,
        ..Batch::default()
    }
}

#[test]
fn long_runs_of_like_findings_are_folded() {
    let short = text::render(&many(10), &style(false));
    assert!(short.contains("number 9"), "{short}");
    let long = text::render(&many(30), &style(false));
    assert!(
        long.contains("number 2") && !long.contains("number 3"),
        "{long}"
    );
    assert!(
        long.contains("... and 27 more of HOT221 in many.yaml"),
        "{long}"
    );
    let all = text::render(&many(30), &style(true));
    assert!(all.contains("number 29"), "{all}");
}

#[test]
fn a_frame_far_down_has_its_own_lines() {
    let batch = many(5000);
    let text = text::render(&batch, &style(true));
    assert!(
        text.contains("[many.yaml:4321:1]"),
        "lines are counted from the start"
    );
    assert!(text.contains(" 4321 │ a: 1"), "and shown");
}
