//! After any edits, in any encoding, the server says what a check of the text from scratch says.

use locus::lsp::{Encoding, Lines};
use locus::session::{Cancel, Given, Session};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::client::{Client, uri};
use crate::folder;

/// What is found, by code and place.
type Said = Vec<(String, Value)>;

/// What a check from scratch finds.
fn fresh(path: &str, text: &str, encoding: Encoding) -> Said {
    let mut session = Session::new();
    session.open(path, text.as_bytes());
    let snapshot = session.snapshot();
    let lines = Lines::new(text, encoding);
    let place = |span: Option<locus_core::Span>| {
        let bytes = span.map_or(0..0, |span| span.start as usize..span.end as usize);
        serde_json::to_value(lines.range(bytes)).unwrap()
    };
    let found: Vec<locus_core::Diagnostic> = if path.ends_with(".als") {
        snapshot.model(path).diagnostics
    } else if let Some(project) = snapshot.project_of(path) {
        let report = snapshot.check(&project, &Given::of_process(), &Cancel::default());
        let report = report.unwrap();
        let all = report.findings.iter().chain(&report.unchecked);
        all.cloned().collect()
    } else {
        Vec::new()
    };
    sorted(
        found
            .iter()
            .map(|one| (one.code.clone(), place(one.primary())))
            .collect(),
    )
}

fn sorted(mut all: Said) -> Said {
    all.sort_by_key(|(code, range)| (code.clone(), range.to_string()));
    all.dedup();
    all
}

/// Where to, how much of it to take away, and what to write.
type Edit = (prop::sample::Index, usize, &'static str);

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let piece = prop::sample::select(vec![
        "",
        "",
        "\n",
        "  ",
        "a: 1\n",
        "{",
        "}",
        "😀",
        "é",
        "get_param",
        ": ",
        "- x\n",
        "\t",
        "\r\n",
        "'",
        "#",
        "resources:\n",
        "services:\n",
        "OS::Nova::Server",
        "size",
        "kind: Pod\n",
        "sig A {}\n",
        "---\n",
        "&a ",
        "*a",
        "|\n",
        "some ",
    ]);
    prop::collection::vec((any::<prop::sample::Index>(), 0_usize..6, piece), 1..14)
}

const FILES: &[(&str, &str)] = &[
    (
        "heat.yaml",
        "heat_template_version: rocky\nparameters:\n  size: { type: string }\nresources:\n  é😀: { type: OS::Nova::Server, properties: { flavor: { get_param: size } } }\n  net:\n    type: OS::Neutron::Net\n",
    ),
    (
        "compose.yaml",
        "services:\n  web😀:\n    image: nginx\n  db: { image: é, networks: [n], depends_on: [wb] }\n",
    ),
    (
        "pod.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: { name: é }\nspec:\n  containers:\n    - { name: 😀, image: a, volumeMounts: [{ name: x, mountPath: /x }] }\n",
    ),
    (
        "tosca.yaml",
        "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n    é😀: { type: tosca.nodes.Compte }\n    b: { type: tosca.nodes.Root, requirements: [{ dependency: a }] }\n",
    ),
    (
        "model.als",
        "// 😀\nsig Nod { next: lone Node }\nfact { all n: Nod | n.nxt = n }\nrun {} for 2\n",
    ),
];

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    // An editor never puts its cursor between a return and its line feed.
    if text[..at].ends_with('\r') && text[at..].starts_with('\n') {
        at -= 1;
    }
    at
}

#[test]
fn random_edits_end_where_a_fresh_check_does() {
    for (name, encoding) in [
        ("utf-8", Encoding::Utf8),
        ("utf-16", Encoding::Utf16),
        ("utf-32", Encoding::Utf32),
    ] {
        let folder = folder(&[]);
        let able = json!({
            "textDocument": { "diagnostic": {} },
            "general": { "positionEncodings": [name] },
        });
        let mut client = Client::open_folder(folder.path(), able);
        // Each case goes on with the same server, as an editor does: nothing of the text before may be left.
        let client = std::cell::RefCell::new(&mut client);
        let version = std::cell::Cell::new(0);
        let mut runner = TestRunner::new_with_rng(
            Config {
                cases: 40,
                failure_persistence: None,
                ..Config::default()
            },
            proptest::test_runner::TestRng::deterministic_rng(
                proptest::test_runner::RngAlgorithm::ChaCha,
            ),
        );
        let cases = (prop::sample::select(FILES.to_vec()), edits());
        runner
            .run(&cases, |((file, start), edits)| {
                let mut client = client.borrow_mut();
                let path = folder.path().join(file);
                let (uri, path) = (uri(&path), path.display().to_string());
                let mut text = start.to_owned();
                version.set(version.get() + 1);
                client.open(&uri, version.get(), &text);
                for (at, length, new) in edits {
                    let start = boundary(&text, at.index(text.len() + 1));
                    let end = boundary(&text, (start + length).min(text.len())).max(start);
                    let range = Lines::new(&text, encoding).range(start..end);
                    version.set(version.get() + 1);
                    let change = json!({
                        "textDocument": { "uri": uri, "version": version.get() },
                        "contentChanges": [{ "range": range, "text": new }],
                    });
                    client.notify("textDocument/didChange", change);
                    text.replace_range(start..end, new);
                    let params = json!({ "textDocument": { "uri": uri } });
                    let pulled = client.result("textDocument/diagnostic", params);
                    let items = pulled["items"].as_array().unwrap().iter();
                    let said = items
                        .map(|one| {
                            (
                                one["code"].as_str().unwrap().to_owned(),
                                one["range"].clone(),
                            )
                        })
                        .collect();
                    prop_assert_eq!(sorted(said), fresh(&path, &text, encoding), "{}", &text);
                }
                let closed = json!({ "textDocument": { "uri": uri } });
                client.notify("textDocument/didClose", closed);
                Ok(())
            })
            .unwrap();
    }
}
