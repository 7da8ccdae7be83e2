//! Checking TOSCA services: against plain YAML parsing in one process, and cold against other parsers.
//!
//! ```sh
//! TOSCA_PARSER=VENV/bin/tosca-parser PUCCINI_TOSCA=puccini-tosca cargo bench --bench tosca [-- FILES...]
//! ```
//!
//! First a service of 1,000 node templates is loaded and checked with all rules, and its text is parsed as YAML alone. Then 60
//! open requirements look for their targets among 60 nodes, with room for all and with room for all but one. Then the whole command
//! `locus check` is run on an example and on the service of 1,000 node templates beside tosca-parser and puccini, whichever are
//! installed. Of files that are named, those count that both programs accept, and their times are added up. All times are the best of
//! several in the same run, as a machine can only be too slow.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark fails by panicking"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use locus_core::Sources;
use locus_frontends::language::{Registry, Request};
use locus_frontends::loader::MemoryLoader;
use locus_frontends::yaml;
use locus_invariants::{Options, check_loaded};

/// As in the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Node templates of the generated service.
const NODES: usize = 1000;
/// Runs of which the best is taken, of whole commands and in one process.
const RUNS: usize = 15;
const ROUNDS: usize = 40;
/// The same where there are many files.
const FEW_RUNS: usize = 3;

fn main() {
    in_process();
    search();
    cold();
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A service as people write them: machines, software on them, connections, properties and inputs.
fn service() -> String {
    let mut out = String::from(
        "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  example.App:\n    derived_from: \
         tosca.nodes.SoftwareComponent\n    properties:\n      port:\n        type: integer\n        constraints:\n          - \
         in_range: [1, 65535]\n      name:\n        type: string\n    capabilities:\n      api:\n        type: \
         tosca.capabilities.Endpoint\n    requirements:\n      - upstream:\n          capability: \
         tosca.capabilities.Endpoint\n          relationship: tosca.relationships.ConnectsTo\n          occurrences: [0, \
         UNBOUNDED]\ntopology_template:\n  inputs:\n    cpus:\n      type: integer\n      default: 2\n  node_templates:\n",
    );
    for n in 0..NODES / 2 {
        let _ = write!(
            out,
            "    machine{n}:\n      type: tosca.nodes.Compute\n      capabilities:\n        host:\n          properties:\n            \
             num_cpus: {{ get_input: cpus }}\n            mem_size: 4 GB\n            disk_size: 20 GB\n        os:\n          \
             properties:\n            type: linux\n            distribution: debian\n    app{n}:\n      type: example.App\n      \
             properties:\n        port: {}\n        name: app number {n}\n      requirements:\n        - host: machine{n}\n        \
             - upstream: app{}\n      capabilities:\n        api:\n          properties:\n            protocol: http\n            \
             port: {}\n",
            1000 + n,
            n / 2,
            1000 + n,
        );
    }
    out
}

fn tosca() -> &'static dyn locus_frontends::language::Language {
    Registry::builtin()
        .named("tosca")
        .expect("TOSCA is a language")
}

fn in_process() {
    let text = service();
    println!(
        "{NODES} node templates, {:.1} MB of YAML, best of {ROUNDS} runs",
        text.len() as f64 / 1e6
    );
    let loader = MemoryLoader::new().with("service.yaml", &text);
    let request = Request::of(["service.yaml"]);
    let (mut parse, mut load, mut whole) = (Duration::MAX, Duration::MAX, Duration::MAX);
    let mut rules = 0;
    for _ in 0..ROUNDS {
        let mut sources = Sources::new();
        let file = sources.add("service.yaml", text.as_str());
        let start = Instant::now();
        let parsed = yaml::parse(&sources, file, &yaml::Limits::default());
        parse = parse.min(start.elapsed());
        assert_eq!(parsed.documents.len(), 1);
        drop(parsed);

        let mut sources = Sources::new();
        let start = Instant::now();
        let loaded = tosca().load(&request, &loader, &mut sources);
        load = load.min(start.elapsed());
        let report = check_loaded(&loaded, &Options::default());
        whole = whole.min(start.elapsed());
        assert_eq!(loaded.diagnostics, []);
        let told: Vec<&str> = report.findings.iter().map(|f| f.message.as_str()).collect();
        assert_eq!(told, Vec::<&str>::new());
        rules = report.stats.rules;
    }
    println!("  parse the YAML            {:8.1} ms", ms(parse));
    println!("  load the service          {:8.1} ms", ms(load));
    println!(
        "  load, and check {rules} rules  {:8.1} ms: {:.2} times the parsing (limit 4)",
        ms(whole),
        ms(whole) / ms(parse)
    );
}

/// Open requirements and nodes that have room for one each.
fn open(requirements: usize, nodes: usize) -> String {
    let mut out = String::from(
        "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  M:\n    derived_from: tosca.nodes.Root\n    \
         capabilities:\n      slot: {type: tosca.capabilities.Container, occurrences: [0, 1]}\n  A:\n    derived_from: \
         tosca.nodes.Root\n    requirements:\n      - slot: {capability: tosca.capabilities.Container, node: M, relationship: \
         tosca.relationships.HostedOn}\ntopology_template:\n  node_templates:\n",
    );
    for n in 0..nodes {
        let _ = writeln!(out, "    m{n}: {{type: M}}");
    }
    for n in 0..requirements {
        let _ = writeln!(
            out,
            "    a{n}:\n      type: A\n      requirements: [slot: M]"
        );
    }
    out
}

fn search() {
    for (nodes, findings) in [(60, 0), (59, 1)] {
        let text = open(60, nodes);
        let loader = MemoryLoader::new().with("open.yaml", &text);
        let mut best = Duration::MAX;
        for _ in 0..ROUNDS {
            let mut sources = Sources::new();
            let start = Instant::now();
            let loaded = tosca().load(&Request::of(["open.yaml"]), &loader, &mut sources);
            let report = check_loaded(&loaded, &Options::default());
            best = best.min(start.elapsed());
            assert_eq!(loaded.diagnostics, []);
            assert_eq!(report.findings.len(), findings);
        }
        println!(
            "60 open requirements, {nodes} nodes with room for one: {:.1} ms (limit 1000)",
            ms(best)
        );
    }
}

/// A parser to compare with: its name, how it is called, and what stands before the file.
struct Tool {
    name: &'static str,
    program: PathBuf,
    before: &'static [&'static str],
}

fn cold() {
    let locus = Tool {
        name: "locus check",
        program: env!("CARGO_BIN_EXE_locus").into(),
        before: &["check"],
    };
    let mut others = Vec::new();
    for (name, variable, default, before) in [
        (
            "tosca-parser (Python)",
            "TOSCA_PARSER",
            "tosca-parser",
            &["--template-file"][..],
        ),
        (
            "puccini-tosca (Go)",
            "PUCCINI_TOSCA",
            "puccini-tosca",
            &["parse"][..],
        ),
    ] {
        let program = std::env::var_os(variable).map_or_else(|| default.into(), PathBuf::from);
        let mut call = Command::new(&program);
        call.arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if call.status().is_ok() {
            others.push(Tool {
                name,
                program,
                before,
            });
        } else {
            println!("{name} is not there: set {variable} to compare with it");
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let large = tempfile::NamedTempFile::with_suffix(".yaml").expect("a file can be made");
    std::fs::write(&large, service()).expect("it can be written");
    let two_tier = root.join("examples/tosca/two-tier.yaml");
    for (name, file) in [
        ("examples/tosca/two-tier.yaml", two_tier.as_path()),
        ("1,000 node templates", large.path()),
    ] {
        println!("{name}, whole command, best of {RUNS} runs");
        let ours = time(&locus, file, RUNS).expect("there is nothing wrong with it");
        println!("  {:<32} {:8.1} ms", locus.name, ms(ours));
        for tool in &others {
            match time(tool, file, RUNS) {
                Some(theirs) => println!("  {:<32} {}", tool.name, beside(theirs, ours)),
                None => println!("  {:<32} refuses it", tool.name),
            }
        }
    }
    let files: Vec<PathBuf> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with("--"))
        .map(PathBuf::from)
        .collect();
    for tool in others.iter().filter(|_| !files.is_empty()) {
        let both = files.iter().filter_map(|file| {
            let theirs = time(tool, file, FEW_RUNS)?;
            Some((time(&locus, file, FEW_RUNS)?, theirs))
        });
        let (ours, theirs): (Vec<Duration>, Vec<Duration>) = both.unzip();
        println!(
            "{} of {} files, which both accept, best of {FEW_RUNS} runs each, added up",
            ours.len(),
            files.len()
        );
        let (ours, theirs) = (ours.iter().sum(), theirs.iter().sum());
        println!("  {:<32} {:8.1} ms", locus.name, ms(ours));
        println!("  {:<32} {}", tool.name, beside(theirs, ours));
    }
}

fn beside(theirs: Duration, ours: Duration) -> String {
    let times = theirs.as_secs_f64() / ours.as_secs_f64();
    format!("{:8.1} ms: {times:.1} times as long", ms(theirs))
}

/// How long a tool takes for a file; none when it refuses the file.
fn time(tool: &Tool, file: &Path, runs: usize) -> Option<Duration> {
    let mut best = None;
    for _ in 0..runs {
        let mut call = Command::new(&tool.program);
        call.args(tool.before)
            .arg(file)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let start = Instant::now();
        let accepts = call.status().expect("the tool starts").success();
        let time = start.elapsed();
        if !accepts {
            return None;
        }
        best = Some(best.map_or(time, |best: Duration| best.min(time)));
    }
    best
}
