use proptest::prelude::*;

use super::*;

fn read(text: &str) -> (Sources, Parsed) {
    let mut sources = Sources::new();
    let file = sources.add("test.yaml", text);
    let parsed = parse(&sources, file, &Limits::default());
    (sources, parsed)
}

/// The tree as one line per node: what its span covers.
fn spans(text: &str) -> String {
    fn walk(sources: &Sources, node: &Node, depth: usize, out: &mut String) {
        let kind = match &node.kind {
            Kind::Scalar(_) => "scalar",
            Kind::Sequence(_) => "list",
            Kind::Mapping(_) => "map",
        };
        let snippet = sources.snippet(node.span);
        out.push_str(&format!("{}{kind} {snippet:?}", "  ".repeat(depth)));
        for (name, value) in [("tag", node.tag()), ("anchor", node.anchor())] {
            if let Some(value) = value {
                out.push_str(&format!(" {name}={value}"));
            }
        }
        if let Some(alias) = node.alias() {
            out.push_str(&format!(" alias={:?}", sources.snippet(alias)));
        }
        out.push('\n');
        match &node.kind {
            Kind::Scalar(_) => {}
            Kind::Sequence(items) => {
                for item in items {
                    walk(sources, item, depth + 1, out);
                }
            }
            Kind::Mapping(mapping) => {
                for entry in &mapping.entries {
                    walk(sources, &entry.key, depth + 1, out);
                    walk(sources, &entry.value, depth + 2, out);
                }
            }
        }
    }
    let (sources, parsed) = read(text);
    assert_eq!(parsed.diagnostics, []);
    let mut out = String::new();
    for document in &parsed.documents {
        walk(&sources, &document.root, 0, &mut out);
    }
    out
}

/// The errors as `line:column: message`.
fn errors(text: &str) -> Vec<String> {
    let (sources, parsed) = read(text);
    parsed
        .diagnostics
        .iter()
        .map(|diagnostic| {
            let at = sources.start(diagnostic.primary().unwrap());
            format!("{}:{}: {}", at.line, at.column, diagnostic.message)
        })
        .collect()
}

#[test]
fn spans_cover_what_an_editor_underlines() {
    let text = "a: é b   # c\nlist:\n  - \"x\\\"é\"   # c\n  - 'it''s' # c\n  - plain text  \n  \
                - &a {k: v, l: [1,2]} # c\n  - *a\nlit: |\n  line1\n  line2\n\nnul:\nfold: &f >-\n  \
                foo\n  bar\nmulti: a\n  b\n!!str t: !foo bar\nnested:\n  x:\n    y: 1\n\n# end\n";
    insta::assert_snapshot!(spans(text));
    let crlf = text.replace('\n', "\r\n");
    let without_breaks = |s: String| s.replace("\\r", "");
    assert_eq!(without_breaks(spans(&crlf)), spans(text));
}

#[test]
fn merge_keys_merge_and_what_is_written_wins() {
    let (_, parsed) = read(
        "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc:\n  <<: [*a, *b]\n  x: 3\nd:\n  <<: *b\n  w: 0\n",
    );
    let root = &parsed.documents[0].root;
    let value = |map: &str, key: &str| {
        let map = root.get(map).unwrap();
        map.get(key).and_then(Node::as_str).map(str::to_owned)
    };
    assert_eq!(value("c", "x").as_deref(), Some("3"));
    assert_eq!(value("c", "y").as_deref(), Some("1"));
    assert_eq!(value("c", "z").as_deref(), Some("2"));
    assert_eq!(value("d", "y").as_deref(), Some("2"));
    assert_eq!(root.get("c").unwrap().as_mapping().unwrap().len(), 3);
    assert!(parsed.duplicates.is_empty());
}

#[test]
fn repeated_keys_are_found_with_both_places() {
    let mut text = String::from("a:\n  b: 1\n  c: 2\n  b: 3\n");
    for n in 0..20 {
        text.push_str(&format!("k{n}: {n}\n"));
    }
    text.push_str("k7: again\n");
    let (sources, parsed) = read(&text);
    let found: Vec<_> = parsed
        .duplicates
        .iter()
        .map(|d| {
            let line = |span| sources.start(span).line;
            (&*d.name, line(d.first), line(d.again), d.path.len())
        })
        .collect();
    assert_eq!(found, [("b", 2, 4, 1), ("k7", 12, 25, 0)]);
    let root = &parsed.documents[0].root;
    assert_eq!(
        root.get("k7").and_then(Node::as_str),
        Some("again"),
        "the last one counts"
    );
}

#[test]
fn documents_are_told_apart() {
    let (_, parsed) = read("a: 1\n---\nb: 2\n---\n...\n");
    assert_eq!(parsed.documents.len(), 3);
    assert!(parsed.documents[2].root.is_null(Schema::Core));
    assert!(read("").1.documents.is_empty());
    assert!(read("# only a comment\n").1.documents.is_empty());
}

#[test]
fn characters_in_two_halves_are_read_in_json_alone() {
    let json = "{\"a\": \"\\u2713 \\ud83d\\ude42 \\\\ud83d\", \"b\": \"\\uD83D\\uDE42\"}";
    let (_, parsed) = read(json);
    assert_eq!(parsed.diagnostics, vec![]);
    let root = &parsed.documents[0].root;
    let text = |key| root.get(key).and_then(|node| node.as_str()).unwrap();
    assert_eq!(text("a"), "\u{2713} \u{1f642} \\ud83d");
    assert_eq!(text("b"), "\u{1f642}");
    for broken in [
        "a: \"\\ud83d\\ude42\"\n",
        "{\"a\": \"\\ud83d\"}",
        "{\"a\": \"\\ude42\\ud83d\"}",
    ] {
        assert!(!read(broken).1.diagnostics.is_empty(), "{broken}");
    }
}

#[test]
fn each_error_is_said_in_plain_words() {
    let cases = [
        (
            "a: 1\nb: \"open\nc: 2\n",
            "2:4: this quoted text is not closed",
        ),
        ("a: 1\n\tb: 2\nc: 3\n", "2:1: a tab cannot indent YAML"),
        (
            "a:\n  b: 1\n\tc: 2\n  e: 3\nd: 4\n",
            "3:1: a tab cannot indent YAML",
        ),
        (
            "a:\n  b: 1\n c: 2\nd: 4\n",
            "3:2: this line does not fit the indentation of the lines around it",
        ),
        ("a: [1, 2\nb: 3\nc: 4\n", "1:4: `[` is not closed with `]`"),
        (
            "a: {x: 1\nb: 2\n}\nd: 4\n",
            "1:4: `{` is not closed with `}`",
        ),
        ("a: b: c\nd: 4\n", "1:5: a `:` is not allowed here"),
        ("a: *nope\nd: 4\n", "1:4: the alias `*nope` names no anchor"),
        (
            "a: &x [*x]\nd: 4\n",
            "1:8: the alias `*x` stands for a node that contains it",
        ),
        ("a: @x\nd: 4\n", "1:4: text cannot start with `@`"),
        (
            "a: \"x\\n \\q\"\nd: 4\n",
            "1:9: `\\q` is not an escape of double-quoted text",
        ),
        (
            "a: \"x\\ud83d\"\nd: 4\n",
            "1:6: `\\ud83d` is half of a character",
        ),
        ("a: 'it's'\nd: 1\n", "1:8: text follows a closing quote"),
        ("x:\n  a\n  b: 1\nd: 2\n", "3:4: a `:` is not allowed here"),
    ];
    for (text, expected) in cases {
        assert_eq!(errors(text), [expected], "{text}");
        let (_, parsed) = read(text);
        assert!(!parsed.is_complete());
        let last = if text.contains("\nd:") { "d" } else { "c" };
        let root = &parsed.documents[0].root;
        assert!(
            root.get(last).is_some(),
            "what follows is still read: {text}"
        );
    }
}

#[test]
fn quoted_text_may_run_on_without_indentation() {
    let text = "a: 'one\ntwo  \n\n  three'\nb: \"x\\\"y\r\nz\" # c\nc: {d: \"p\nq\"}\n";
    let (sources, parsed) = read(text);
    assert_eq!(parsed.diagnostics, []);
    let root = &parsed.documents[0].root;
    assert_eq!(root.get("a").and_then(Node::as_str), Some("one two\nthree"));
    assert_eq!(root.get("b").and_then(Node::as_str), Some("x\"y z"));
    let d = root.get("c").and_then(|c| c.get("d")).unwrap();
    assert_eq!(
        (d.as_str(), sources.snippet(d.span)),
        (Some("p q"), "\"p\nq\"")
    );
}

#[test]
fn several_errors_are_reported_in_one_run() {
    let text = "resources:\n  one:\n    type: a: b\n  two:\n    list: [1, 2\n  three:\n    name: \
                'it's'\n  four:\n    ok: yes\n   bad: 1\noutputs:\n  x: *missing\n  y: @at\nlast: 1\n";
    insta::assert_snapshot!(errors(text).join("\n"));
    let (_, parsed) = read(text);
    let root = &parsed.documents[0].root;
    assert!(root.get("last").is_some());
    assert!(
        root.get("resources")
            .unwrap()
            .get("four")
            .unwrap()
            .get("ok")
            .is_some()
    );
}

#[test]
fn what_would_cost_too_much_is_refused() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    assert!(errors(&bomb)[0].contains("multiply"), "{:?}", errors(&bomb));
    for deep in [
        "{a: ".repeat(10_000),
        "[".repeat(10_000),
        "- ".repeat(10_000),
    ] {
        assert_eq!(errors(&deep).len(), 1);
        assert!(
            errors(&deep)[0].contains("too deeply"),
            "{:?}",
            errors(&deep)
        );
    }
    let block: String = (0..1000)
        .map(|n| format!("{}a:\n", " ".repeat(n)))
        .collect();
    assert!(
        errors(&block)[0].contains("too deeply"),
        "{:?}",
        errors(&block)
    );
    let large = "a: 1\n".repeat(10 << 20);
    let (_, parsed) = read(&large);
    assert!(parsed.diagnostics[0].message.contains("are refused"));
}

/// Everything a tree says must be inside the text and on character boundaries.
fn in_range(text: &str) {
    let (sources, parsed) = read(text);
    let file = sources.files().next().unwrap();
    let check = |span: Span| {
        let (start, end) = (span.start as usize, span.end as usize);
        assert!(
            sources.text(file).get(start..end).is_some(),
            "{span:?} in {text:?}"
        );
    };
    fn walk(node: &Node, check: &dyn Fn(Span)) {
        check(node.span);
        check(node.used_at());
        match &node.kind {
            Kind::Scalar(_) => {}
            Kind::Sequence(items) => items.iter().for_each(|item| walk(item, check)),
            Kind::Mapping(mapping) => mapping.entries.iter().for_each(|entry| {
                walk(&entry.key, check);
                walk(&entry.value, check);
            }),
        }
    }
    for document in &parsed.documents {
        walk(&document.root, &check);
    }
    for diagnostic in &parsed.diagnostics {
        diagnostic.labels.iter().for_each(|label| check(label.span));
    }
    parsed.broken.iter().copied().for_each(check);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_is_read_without_panic(text in "(?s).{0,80}") {
        in_range(&text);
    }

    #[test]
    fn yaml_like_text_is_read_without_panic(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("a"), Just(": "), Just("- "), Just("\n"), Just("\r\n"), Just("  "), Just("\t"),
                Just("\""), Just("'"), Just("["), Just("]"), Just("{"), Just("}"), Just(", "),
                Just("&x "), Just("*x"), Just("|\n"), Just(">-\n"), Just("#"), Just("é"), Just("!t "),
                Just("---\n"), Just("<<: "), Just("? "), Just("%"), Just("...\n"), Just("\\"),
            ],
            0..60,
        )
    ) {
        in_range(&parts.concat());
    }
}

#[test]
fn lists_in_brackets_may_go_on_without_indentation() {
    let text = "a:\n  b: [ x, \ny,\n\nz ]\n  c: {d: 1,\ne: 2}\n  f: 3\n";
    let (sources, parsed) = read(text);
    assert_eq!(parsed.diagnostics, []);
    let a = parsed.documents[0].root.get("a").unwrap();
    let items = a.get("b").unwrap().as_sequence().unwrap();
    let words: Vec<&str> = items.iter().filter_map(Node::as_str).collect();
    assert_eq!(words, ["x", "y", "z"]);
    // Places are those of the text as it is written.
    assert_eq!(sources.snippet(items[1].span), "y");
    assert_eq!(sources.start(items[1].span).line, 3);
    assert_eq!(a.get("c").unwrap().get("e").unwrap().as_str(), Some("2"));
    assert_eq!(a.get("f").unwrap().as_str(), Some("3"));
    // A bracket that is not closed swallows nothing, and a line that no comma leads to is not joined.
    for text in ["a:\n  b: [x,\n  c: 1\nd: 2\n", "a:\n  b: [x\ny: 1]\n"] {
        assert_ne!(read(text).1.diagnostics, [], "{text}");
    }
}
