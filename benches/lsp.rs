//! The language server: how soon it answers whoever types, what it needs, and how it compares with another.
//!
//! ```sh
//! cargo bench --bench lsp
//! YAML_LANGUAGE_SERVER=node_modules/.bin/yaml-language-server COMPOSE_SCHEMA=/... KUBERNETES_SCHEMA=/... cargo bench --bench lsp
//! ```
//!
//! `YAML_LANGUAGE_SERVER` is the program of that name (npm), which is left out when it is not given; the schemas are absolute paths
//! of the JSON schemas that it is to check Compose files and manifests with: for manifests also of a folder with a schema of each
//! kind, as in `deployment-apps-v1.json`. Both servers are started in turns on the same files.
//!
//! A figure is a time beside its limit, or a ratio of two measured in turns; one that is over its limit makes the run fail.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a benchmark fails by panicking"
)]

#[path = "lsp/client.rs"]
mod client;
#[path = "heat/template.rs"]
mod template;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use client::{Client, uri};
use serde_json::{Value, json};
use template::template;

/// As in the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Keys that are typed for a figure.
const KEYS: usize = 200;

/// Edits after which memory is looked at, and how many of them there are in all.
const WARM: usize = 2_000;
const EDITS: usize = 10_000;

/// A figure, and what it may be at most.
struct Figure {
    name: &'static str,
    value: f64,
    unit: &'static str,
    limit: f64,
}

fn main() -> ExitCode {
    let folder = tempfile::tempdir().unwrap();
    let mut figures = Vec::new();
    typing(folder.path(), &mut figures);
    starting(folder.path(), &mut figures);
    memory(folder.path(), &mut figures);
    beside(&mut figures);
    let mut over = false;
    for figure in &figures {
        let is_over = figure.value > figure.limit;
        over |= is_over;
        let verdict = if is_over { "OVER" } else { "ok" };
        println!(
            "{:<66} {:>9.3} {} (limit {}) {verdict}",
            figure.name, figure.value, figure.unit, figure.limit
        );
    }
    ExitCode::from(u8::from(over))
}

/// The place right after a word, as a range of nothing.
fn after(text: &str, word: &str) -> Value {
    let offset = text.find(word).unwrap() + word.len();
    let line = text[..offset].matches('\n').count();
    let column = text[..offset].rsplit('\n').next().unwrap().len();
    let at = json!({ "line": line, "character": column });
    json!({ "start": at, "end": at })
}

/// The same place one column further.
fn next(range: &Value) -> Value {
    let mut at = range["start"].clone();
    at["character"] = (at["character"].as_u64().unwrap() + 1).into();
    at
}

fn percentile(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    let at = (times.len() * percent / 100).min(times.len() - 1);
    times[at].as_secs_f64() * 1000.0
}

/// From a key to what is said after it, and from a key to what could follow, in a template of 1,000 resources.
fn typing(folder: &Path, figures: &mut Vec<Figure>) {
    let text = template(1000);
    let file = uri(&folder.join("large.yaml"));
    let mut client = Client::in_process(folder, Value::Null);
    client.open(&file, &text);
    client.diagnostics(&file, Some(1));
    let (mut said, mut offered) = (Vec::new(), Vec::new());
    for key in 0..KEYS {
        // A letter is added to the name of a network, and taken away again.
        let place = after(&text, &format!("{{ name: net{}", key / 2 % 100));
        let range = match key % 2 {
            0 => place.clone(),
            _ => json!({ "start": place["start"], "end": next(&place) }),
        };
        let start = Instant::now();
        let version = client.edit(&file, &range, if key % 2 == 0 { "x" } else { "" });
        client.diagnostics(&file, Some(version));
        said.push(start.elapsed());
    }
    for key in 0..KEYS {
        // A reference is typed anew, while what was typed is still being checked.
        let place = after(&text, &format!("get_resource: subnet{}", key / 2 % 100));
        let range = match key % 2 {
            0 => place.clone(),
            _ => json!({ "start": place["start"], "end": next(&place) }),
        };
        let start = Instant::now();
        client.edit(&file, &range, if key % 2 == 0 { "0" } else { "" });
        let here = json!({ "textDocument": { "uri": file }, "position": place["start"] });
        let answer = client.request("textDocument/completion", here);
        offered.push(start.elapsed());
        assert!(
            answer["result"]
                .as_array()
                .is_some_and(|all| !all.is_empty()),
            "{answer}"
        );
    }
    figures.push(Figure {
        name: "keystroke to diagnostics, 1,000 resources, 95th percentile",
        value: percentile(&mut said, 95),
        unit: "ms",
        limit: 50.0,
    });
    figures.push(Figure {
        name: "keystroke to completion, 1,000 resources, 95th percentile",
        value: percentile(&mut offered, 95),
        unit: "ms",
        limit: 20.0,
    });
}

/// From the start of the program to the first diagnostics.
fn starting(folder: &Path, figures: &mut Vec<Figure>) {
    for (name, resources) in [
        ("start to first diagnostic, 10 resources", 10),
        ("start to first diagnostic, 1,000 resources", 1000),
    ] {
        let text = template(resources);
        let file = uri(&folder.join("a.yaml"));
        let times = (0..7).map(|_| {
            let start = Instant::now();
            let mut client = Client::process(&mut locus(), folder, Value::Null);
            client.open(&file, &text);
            client.diagnostics(&file, Some(1));
            start.elapsed()
        });
        figures.push(Figure {
            name,
            value: times.min().unwrap().as_secs_f64() * 1000.0,
            unit: "ms",
            limit: 100.0,
        });
    }
}

fn locus() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_locus"));
    command.arg("lsp");
    command
}

/// Memory after many edits, as a multiple of that after fewer.
fn memory(folder: &Path, figures: &mut Vec<Figure>) {
    let text = template(50);
    let file = uri(&folder.join("memory.yaml"));
    let mut client = Client::process(&mut locus(), folder, json!({ "debounce": 0 }));
    client.open(&file, &text);
    let place = after(&text, "{ name: net0");
    let longer = json!({ "start": place["start"], "end": next(&place) });
    let edit = |client: &mut Client, count: usize| {
        for at in 0..count {
            let (range, new) = match at % 2 {
                0 => (&place, "x"),
                _ => (&longer, ""),
            };
            let version = client.edit(&file, range, new);
            client.diagnostics(&file, Some(version));
        }
        client.memory()
    };
    let warm = edit(&mut client, WARM);
    let after = edit(&mut client, EDITS - WARM);
    println!("memory after {WARM} edits {warm} kB, after {EDITS} edits {after} kB");
    figures.push(Figure {
        name: "memory after 10,000 edits, as a multiple of that after 2,000",
        value: after / warm,
        unit: "x",
        limit: 1.1,
    });
}

/// Files with mistakes that both servers may find.
const COMPOSE: &str = include_str!("lsp/compose.yaml");
const MANIFEST: &str = include_str!("lsp/manifest.yaml");

/// Both servers on the same files: how soon they say something, and what.
fn beside(figures: &mut Vec<Figure>) {
    let Ok(peer) = std::env::var("YAML_LANGUAGE_SERVER") else {
        println!("yaml-language-server is not named: no comparison");
        return;
    };
    for (name, file, text) in [
        (
            "time to first diagnostic, of yaml-language-server's, Compose",
            "compose.yaml",
            COMPOSE,
        ),
        (
            "time to first diagnostic, of yaml-language-server's, Kubernetes",
            "manifest.yaml",
            MANIFEST,
        ),
    ] {
        // Its patterns of files pass over folders whose names begin with a dot.
        let folder = tempfile::Builder::new().prefix("bench").tempdir().unwrap();
        std::fs::write(folder.path().join(file), text).unwrap();
        let other = || {
            let mut command = Command::new(&peer);
            command.arg("--stdio");
            command
        };
        let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
        let (mut we_say, mut they_say) = (Vec::new(), Vec::new());
        for _ in 0..5 {
            for (mut command, best, said) in [
                (locus(), &mut ours, &mut we_say),
                (other(), &mut theirs, &mut they_say),
            ] {
                let start = Instant::now();
                let mut client = Client::process(&mut command, folder.path(), Value::Null);
                let file = uri(&folder.path().join(file));
                client.open(&file, text);
                *said = client.first_finding(&file);
                *best = start.elapsed().min(*best);
            }
        }
        println!("{file}: ours {ours:?}, theirs {theirs:?}");
        for (whose, said) in [("locus", we_say), ("yaml-language-server", they_say)] {
            for one in said {
                let line = one["range"]["start"]["line"].as_u64().unwrap() + 1;
                let message = one["message"].as_str().unwrap_or_default();
                let message = message.lines().next().unwrap_or_default();
                println!("  {whose} {line}: {message}");
            }
        }
        figures.push(Figure {
            name,
            value: ours.as_secs_f64() / theirs.as_secs_f64(),
            unit: "x",
            limit: 0.2,
        });
    }
}
