//! Checking Heat templates: against the cost of parsing them, against their size, against Heat itself.
//!
//! ```sh
//! cargo bench --bench heat
//! HEAT_PYTHON=venv/bin/python cargo bench --bench heat -- TEMPLATES   # also against Heat's own validation
//! ```
//!
//! Every figure is a ratio within one run, or a count; times are the best of several, as a machine can only
//! be too slow. `HEAT_PYTHON` is a Python with `openstack-heat`; `TEMPLATES` is a folder of templates.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a benchmark fails by panicking"
)]

#[path = "heat/template.rs"]
mod template;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use locus_core::Sources;
use locus_frontends::language::{Registry, Request};
use locus_frontends::loader::MemoryLoader;
use locus_frontends::yaml;
use locus_invariants::{Options, Report, check_loaded};
use rayon::prelude::*;
use template::template;

/// As in the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The best time of several calls.
fn best<T>(times: usize, mut call: impl FnMut() -> T) -> (Duration, T) {
    let mut run = || {
        let start = Instant::now();
        let result = call();
        (start.elapsed(), result)
    };
    let mut least = run();
    for _ in 1..times {
        let next = run();
        if next.0 < least.0 {
            least = next;
        }
    }
    least
}

fn parse(text: &str) -> usize {
    let mut sources = Sources::new();
    let file = sources.add("t.yaml", text);
    yaml::parse(&sources, file, &yaml::Limits::default())
        .documents
        .len()
}

/// Reads a template and checks all rules, as `locus check` does within its process.
fn check(files: &[(&str, &str)], environments: &[&str]) -> Report {
    let mut loader = MemoryLoader::default();
    for (name, text) in files {
        loader.insert(name, *text);
    }
    let mut request = Request {
        files: vec![files[0].0.to_owned()],
        ..Request::default()
    };
    let mut sources = Sources::new();
    let language = Registry::builtin().named("hot").expect("Heat is known");
    let inputs = language.inputs().iter();
    for input in inputs.filter(|input| input.name == "environment") {
        for path in environments {
            request.inputs.give(input, path).expect("a path");
        }
    }
    let loaded = language.load(&request, &loader, &mut sources);
    let report = check_loaded(&loaded, &Options::default());
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    report
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    two_machines(root);
    sizes();
    let folder = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with("--"));
    match (std::env::var_os("HEAT_PYTHON"), folder) {
        (Some(python), Some(folder)) => {
            against_heat(root, Path::new(&python), Path::new(&folder));
        }
        _ => println!("Heat itself: not measured; set HEAT_PYTHON and name a folder of templates"),
    }
}

/// The example of the README: variables, time within the process, time of the whole command.
fn two_machines(root: &Path) {
    let read = |name: &str| std::fs::read_to_string(root.join("examples/heat").join(name)).unwrap();
    let (template, environment) = (read("two-vms.yaml"), read("two-vms.env.yaml"));
    let files = [("t.yaml", template.as_str()), ("e.yaml", &environment)];
    let (first, _) = best(1, || check(&files, &["e.yaml"]));
    let (time, report) = best(50, || check(&files, &["e.yaml"]));
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let (cold, _) = best(20, || {
        let output = Command::new(env!("CARGO_BIN_EXE_locus"))
            .args(["check", "examples/heat/two-vms.yaml", "-e"])
            .arg("examples/heat/two-vms.env.yaml")
            .current_dir(root)
            .output()
            .expect("the binary starts");
        assert!(output.status.success(), "{output:?}");
    });
    println!(
        "two machines: {} variables (limit 100), {:.2} ms in process (limit 5; {:.1} the first time), \
         {:.1} ms for the command (limit 30)",
        report.stats.variables,
        ms(time),
        ms(first),
        ms(cold)
    );
}

/// Cost over parsing, and growth.
fn sizes() {
    let mut known: Vec<(usize, Duration)> = Vec::new();
    for (size, times) in [(100, 20), (1_000, 10), (10_000, 3)] {
        let text = template(size);
        let (parsing, _) = best(times, || parse(&text));
        let (checking, report) = best(times, || check(&[("t.yaml", &text)], &[]));
        assert!(report.findings.is_empty() && report.unchecked.is_empty());
        let over = checking.as_secs_f64() / parsing.as_secs_f64();
        let (time, plain) = (ms(checking), ms(parsing));
        let limit = if size == 1_000 { " (limit 3)" } else { "" };
        println!("{size} resources: {time:.1} ms, {over:.1} times parsing ({plain:.1} ms){limit}");
        if let Some((before, least)) = known.last() {
            let grown = checking.as_secs_f64() / least.as_secs_f64();
            let exponent = grown.ln() / (size as f64 / *before as f64).ln();
            println!("  growth since {before}: n^{exponent:.2} (limit 1.2)");
        }
        known.push((size, checking));
    }
    // Linux only; elsewhere the figure is left out.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(peak) = status.lines().find_map(|line| line.strip_prefix("VmHWM:")) {
        println!("most memory: {} (limit 1 GiB)", peak.trim());
    }
}

fn templates(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder can be read")
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() {
            templates(&path, out);
        } else if matches!(extension, Some("yaml" | "template")) {
            out.push(path);
        }
    }
}

/// The same files by Heat's own validation, which checks no values, and by all rules.
fn against_heat(root: &Path, python: &Path, folder: &Path) {
    let mut files = Vec::new();
    templates(folder, &mut files);
    let output = Command::new(python)
        .arg(root.join("benches/heat/validate.py"))
        .args(&files)
        .output()
        .expect("Python starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // One line for each file that Heat could be asked about: seconds and path. What it cannot be asked about is left
    // out below, too.
    let lines = String::from_utf8(output.stdout).unwrap();
    let mut theirs = 0.0;
    let mut loaders = Vec::new();
    let mut asked = Vec::new();
    for line in lines.lines() {
        let (seconds, path) = line.split_once(' ').expect("seconds and a path");
        let text = std::fs::read_to_string(path).expect("the file is still there");
        loaders.push(MemoryLoader::new().with("t.yaml", &text));
        asked.push(PathBuf::from(path));
        theirs += seconds.parse::<f64>().expect("seconds");
    }
    let request = Request {
        files: vec!["t.yaml".into()],
        ..Request::default()
    };
    let language = Registry::builtin().named("hot").expect("Heat is known");
    let check = |loader: &MemoryLoader| {
        let loaded = language.load(&request, loader, &mut Sources::new());
        check_loaded(&loaded, &Options::default()).findings.len()
    };
    let alone: f64 = loaders
        .iter()
        .map(|loader| best(3, || check(loader)).0.as_secs_f64())
        .sum();
    let (together, _) = best(5, || loaders.par_iter().map(check).sum::<usize>());
    let (count, cores) = (loaders.len(), rayon::current_num_threads());
    println!(
        "without starting anything: Heat {count} templates in {theirs:.2} s, here one after the other in {alone:.3} s: \
         {:.0} times faster; as `locus check` does, on {cores} cores, in {:.3} s: {:.0} times faster",
        theirs / alone,
        together.as_secs_f64(),
        theirs / together.as_secs_f64(),
    );
    whole_command(
        root,
        python,
        "one template",
        &[root.join("examples/heat/two-vms.yaml")],
    );
    whole_command(root, python, "all templates", &asked);
}

/// What somebody waits for who checks templates: starting Heat's validation or `locus check`, and its answer.
fn whole_command(root: &Path, python: &Path, what: &str, files: &[PathBuf]) {
    let run = |command: &mut Command| {
        let output = command.args(files).output().expect("it starts");
        // With 1 `locus check` says that there are findings.
        assert!(matches!(output.status.code(), Some(0..=2)), "{output:?}");
        assert!(!output.stdout.is_empty(), "{output:?}");
    };
    let (theirs, ()) = best(3, || {
        run(Command::new(python).arg(root.join("benches/heat/validate.py")));
    });
    let (ours, ()) = best(20, || {
        run(Command::new(env!("CARGO_BIN_EXE_locus")).arg("check"));
    });
    println!(
        "the whole command, {what}: Heat {:.0} ms, here {:.1} ms: {:.0} times faster (limit 50)",
        ms(theirs),
        ms(ours),
        theirs.as_secs_f64() / ours.as_secs_f64()
    );
}
