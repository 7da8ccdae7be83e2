//! Every command of the reference models, against the time that the Alloy Analyzer needs for it.
//!
//! ```sh
//! cargo bench --bench models [-- MODULE...]
//! ```
//!
//! Alloy's times are those of the table "Verdicts and times" in docs/models.md: its slowest commands
//! take ten minutes or do not end, too long to measure each time. To measure them anew, as far as
//! they end: `ALLOY_JAR=... cargo bench --bench alloy -- invariants/library/models`. The rows that are
//! printed are those of that table. A verdict that is not the expected one ends the run.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a benchmark fails by panicking"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Seconds per command.
const LIMIT: &str = "600";

/// The text that marks the table's header in docs/models.md.
const HEADER: &str = "| module | command |";

fn main() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/models.md");
    let alloy = recorded(&std::fs::read_to_string(docs).expect("docs/models.md is there"));
    let mut modules: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with("--"))
        .collect();
    if modules.is_empty() {
        modules = library();
    }
    let mut logs = Vec::new();
    let mut slow = 0;
    println!("| module | command | expect | Alloy s | Locus s | ratio |");
    println!("|---|---|---|---|---|---|");
    for module in &modules {
        for answer in answers(module) {
            let command = answer["command"].as_str().unwrap();
            let verdict = answer["verdict"].as_str().unwrap();
            let expected = ["unsat", "sat"][answer["expect"].as_u64().unwrap_or(1) as usize];
            assert_eq!(verdict, expected, "{module} {command}");
            let seconds = answer["total_ms"].as_f64().unwrap() / 1e3;
            let theirs = alloy.get(&(module.clone(), command.to_owned()));
            let mut ratio = String::new();
            if let Some(theirs) = theirs.and_then(|text| text.parse::<f64>().ok()) {
                let times = theirs.max(0.001) / seconds.max(0.001);
                ratio = format!("{times:.1}");
                logs.push(times.ln());
                // A command of a tenth of a second is not told apart from the start of the machine.
                slow += usize::from(times < 5.0 && theirs > 0.1);
            }
            let theirs = theirs.map_or("", String::as_str);
            println!(
                "| `{module}` | `{command}` | {verdict} | {theirs} | {seconds:.2} | {ratio} |"
            );
        }
    }
    let mean = (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp();
    println!(
        "\n{} commands with a recorded time: {mean:.1} times as fast (geometric mean), {slow} of those \
         over a tenth of a second less than five times",
        logs.len()
    );
}

/// Alloy's times as docs/models.md records them, by module and command.
fn recorded(docs: &str) -> BTreeMap<(String, String), String> {
    let rows = docs.lines().skip_while(|line| !line.starts_with(HEADER));
    rows.take_while(|line| line.starts_with('|'))
        .filter_map(|row| {
            let cells: Vec<&str> = row
                .split('|')
                .map(|cell| cell.trim().trim_matches('`'))
                .collect();
            let [_, module, command, _, _, seconds, ..] = cells.as_slice() else {
                return None;
            };
            Some((
                ((*module).to_owned(), (*command).to_owned()),
                (*seconds).to_owned(),
            ))
        })
        .collect()
}

/// The names of all modules.
fn library() -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(["run", "--library"])
        .output()
        .expect("locus starts");
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect()
}

fn answers(module: &str) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(["run", "--library", module])
        .args(["--format", "json", "--jobs", "1", "--timeout", LIMIT])
        .output()
        .expect("locus starts");
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is JSON"))
        .collect()
}
