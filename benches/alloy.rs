//! Locus against the Alloy Analyzer with SAT4J, on the same commands in the same run.
//!
//! ```sh
//! ALLOY_JAR=org.alloytools.alloy.dist.jar cargo bench --bench alloy [-- MODELS...]
//! ```
//!
//! `MODELS` are files or folders; the examples without any. For each command both tools give their
//! verdict and the time of translation and solving: CPU time of the solving thread for Alloy (its
//! parsing and the start of the Java machine are not counted), wall time for Locus. The last lines are
//! the geometric mean of the ratios and what Locus answers more slowly.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a benchmark fails by panicking"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Seconds per command.
const LIMIT: &str = "60";
/// Below this many milliseconds being slower is noise of the clock and the scheduler.
const NOISE_MS: f64 = 50.0;

type Key = (String, i64);

struct Answer {
    verdict: String,
    ms: f64,
}

fn main() {
    let Some(jar) = std::env::var_os("ALLOY_JAR") else {
        println!(
            "set ALLOY_JAR to the Alloy Analyzer's jar to compare with it; nothing was measured"
        );
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for arg in std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with("--"))
    {
        collect(Path::new(&arg), &mut files);
    }
    if files.is_empty() {
        collect(&root.join("examples/alloy"), &mut files);
    }
    files.sort();
    let alloy = alloy(
        Path::new(&jar),
        &root.join("benches/alloy/AlloyTimes.java"),
        &files,
    );
    let locus = locus(&files);
    print(&alloy, &locus);
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("the folder can be read") {
            collect(&entry.expect("the entry can be read").path(), files);
        }
    } else if path.extension().is_some_and(|extension| extension == "als") {
        files.push(path.to_owned());
    }
}

fn alloy(jar: &Path, driver: &Path, files: &[PathBuf]) -> BTreeMap<Key, Answer> {
    let output = Command::new("java")
        .args(["-Xss512m", "-cp"])
        .args([jar, driver])
        .arg(LIMIT)
        .args(files)
        .output()
        .expect("java starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            let [file, index, verdict, cpu, _wall] = cells.as_slice() else {
                return None;
            };
            let answer = Answer {
                verdict: (*verdict).to_owned(),
                ms: cpu.parse().ok()?,
            };
            Some((((*file).to_owned(), index.parse().ok()?), answer))
        })
        .collect()
}

fn locus(files: &[PathBuf]) -> BTreeMap<Key, Answer> {
    let mut answers = BTreeMap::new();
    for file in files {
        let output = Command::new(env!("CARGO_BIN_EXE_locus"))
            .args(["run", "--format", "json", "--jobs", "1", "--timeout", LIMIT])
            .arg(file)
            .output()
            .expect("locus starts");
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let value: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
            let key = (file.display().to_string(), value["index"].as_i64().unwrap());
            let answer = Answer {
                verdict: value["verdict"].as_str().unwrap().to_owned(),
                ms: value["total_ms"].as_f64().unwrap(),
            };
            answers.insert(key, answer);
        }
    }
    answers
}

fn print(alloy: &BTreeMap<Key, Answer>, locus: &BTreeMap<Key, Answer>) {
    println!(
        "{:>10} {:>10} {:>8}  command",
        "Alloy ms", "Locus ms", "ratio"
    );
    let mut logs = Vec::new();
    let mut slower = 0;
    let mut differ = 0;
    let mut beyond = 0;
    for (key, theirs) in alloy {
        let Some(ours) = locus.get(key) else { continue };
        let decided = |answer: &Answer| answer.verdict == "sat" || answer.verdict == "unsat";
        if theirs.verdict == "timeout" && decided(ours) {
            beyond += 1;
        }
        if !decided(theirs) || !decided(ours) {
            continue;
        }
        let ratio = theirs.ms / ours.ms.max(0.05);
        logs.push(ratio.ln());
        let mut note = String::new();
        if theirs.verdict != ours.verdict {
            differ += 1;
            note = format!(
                "  DIFFERS: Alloy {}, Locus {}",
                theirs.verdict, ours.verdict
            );
        } else if ours.ms > NOISE_MS && ratio < 1.0 / 1.5 {
            slower += 1;
            note = "  SLOWER".to_owned();
        }
        println!(
            "{:>10.1} {:>10.1} {:>8.1}  {}#{}{note}",
            theirs.ms, ours.ms, ratio, key.0, key.1
        );
    }
    let mean = (logs.iter().sum::<f64>() / (logs.len().max(1) as f64)).exp();
    println!(
        "{} commands answered by both, {differ} verdicts differ; Locus is {mean:.1} times as fast \
         (geometric mean), slower by more than half in {slower}, and answers {beyond} where Alloy \
         reaches {LIMIT} s",
        logs.len()
    );
}
