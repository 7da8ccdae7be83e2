//! Checking Compose projects: against plain YAML parsing in one process, and cold against other tools.
//!
//! ```sh
//! cargo bench --bench compose [-- FILES...]
//! ```
//!
//! First a project of 1,000 services is loaded and checked with all rules, and its text is parsed as YAML alone.
//! Then the whole command `locus check` is run on each file (the example without any) beside
//! `docker-compose config` of Python and the linter `dclint` of npm, whichever are installed: `DOCKER_COMPOSE` and
//! `DCLINT` name them where they are not on the path. All times are the best of several in the same run, as a machine can
//! only be too slow.
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

/// Services of the generated project.
const SERVICES: usize = 1000;
/// Runs of which the best is taken.
const RUNS: usize = 25;
/// The same in one process, where a run is short; parsing and checking take turns, so that both meet the machine as it is.
const ROUNDS: usize = 60;

fn main() {
    in_process();
    cold();
}

fn best(run: impl FnMut() -> Duration) -> Duration {
    let times = std::iter::repeat_with(run).take(RUNS);
    times.min().expect("there are several")
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A project as people write them: services on networks, with volumes, ports, variables and dependencies.
fn project() -> String {
    let mut out = String::from("services:\n");
    for n in 0..SERVICES {
        let _ = write!(
            out,
            "  service{n}:\n    image: registry.example.com/team/service{n}:1.{n}\n    restart: unless-stopped\n    \
             ports:\n      - \"{}:8080\"\n    networks:\n      net{}:\n        aliases:\n          - alias{n}\n    \
             environment:\n      LOG_LEVEL: info\n      UPSTREAM_URL: http://service{}:8080/api\n    volumes:\n      \
             - data{n}:/var/lib/service\n      - ./conf/{n}:/etc/service:ro\n    healthcheck:\n      test: [\"CMD\", \
             \"curl\", \"-f\", \"http://localhost:8080/health\"]\n      interval: 30s\n      timeout: 5s\n      \
             retries: 3\n    deploy:\n      resources:\n        limits:\n          cpus: \"0.5\"\n          memory: \
             256m\n        reservations:\n          memory: 64m\n",
            10_000 + n,
            n / 10,
            n / 10 * 10,
        );
        if n % 10 != 0 {
            let _ = write!(
                out,
                "    depends_on:\n      service{}:\n        condition: service_healthy\n",
                n - 1
            );
        }
    }
    out.push_str("networks:\n");
    for n in 0..SERVICES / 10 {
        let _ = write!(
            out,
            "  net{n}:\n    ipam:\n      config:\n        - subnet: 10.{n}.0.0/16\n"
        );
    }
    out.push_str("volumes:\n");
    for n in 0..SERVICES {
        let _ = writeln!(out, "  data{n}:");
    }
    out
}

fn in_process() {
    let text = project();
    println!(
        "{SERVICES} services, {:.1} MB of YAML, best of {ROUNDS} runs",
        text.len() as f64 / 1e6
    );
    let loader = MemoryLoader::new().with("compose.yaml", &text);
    let request = Request {
        files: vec!["compose.yaml".to_owned()],
        ..Request::default()
    };
    let compose = Registry::builtin()
        .named("compose")
        .expect("Compose is a language");
    let (mut parse, mut load, mut whole) = (Duration::MAX, Duration::MAX, Duration::MAX);
    let mut rules = 0;
    for _ in 0..ROUNDS {
        let mut sources = Sources::new();
        let file = sources.add("compose.yaml", text.as_str());
        let start = Instant::now();
        let parsed = yaml::parse(&sources, file, &yaml::Limits::default());
        parse = parse.min(start.elapsed());
        assert_eq!(parsed.documents.len(), 1);
        drop(parsed);

        let mut sources = Sources::new();
        let start = Instant::now();
        let loaded = compose.load(&request, &loader, &mut sources);
        load = load.min(start.elapsed());
        let report = check_loaded(&loaded, &Options::default());
        whole = whole.min(start.elapsed());
        assert_eq!(loaded.diagnostics, []);
        let told: Vec<&str> = report.findings.iter().map(|f| f.message.as_str()).collect();
        assert_eq!(told, Vec::<&str>::new());
        assert_eq!(report.unchecked, []);
        rules = report.stats.rules;
    }
    println!("  parse the YAML            {:8.1} ms", ms(parse));
    println!("  load the project          {:8.1} ms", ms(load));
    println!(
        "  load, and check {rules} rules  {:8.1} ms: {:.2} times the parsing",
        ms(whole),
        ms(whole) / ms(parse)
    );
}

/// A tool to compare with: its name, how it is called, and with which arguments before the file.
struct Tool {
    name: &'static str,
    program: PathBuf,
    before: &'static [&'static str],
    after: &'static [&'static str],
}

fn cold() {
    let locus = Tool {
        name: "locus check",
        program: env!("CARGO_BIN_EXE_locus").into(),
        before: &["check"],
        after: &[],
    };
    let mut others = Vec::new();
    for (name, variable, default, before, after) in [
        (
            "docker-compose config (Python)",
            "DOCKER_COMPOSE",
            "docker-compose",
            &["-f"][..],
            &["config", "-q"][..],
        ),
        ("dclint (npm)", "DCLINT", "dclint", &[][..], &[][..]),
    ] {
        let program = std::env::var_os(variable).map_or_else(|| default.into(), PathBuf::from);
        if runs(&program) {
            others.push(Tool {
                name,
                program,
                before,
                after,
            });
        } else {
            println!("{name} is not there: set {variable} to compare with it");
        }
    }
    let mut files: Vec<PathBuf> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with("--"))
        .map(PathBuf::from)
        .collect();
    if files.is_empty() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        files.push(root.join("examples/compose/voting-app.yaml"));
    }
    for file in &files {
        println!("{}, whole command, best of {RUNS} runs", file.display());
        let ours = best(|| time(&locus, file));
        println!("  {:<32} {:8.1} ms", locus.name, ms(ours));
        for tool in &others {
            let theirs = best(|| time(tool, file));
            println!(
                "  {:<32} {:8.1} ms: {:.0} times as long",
                tool.name,
                ms(theirs),
                ms(theirs) / ms(ours)
            );
        }
    }
}

fn runs(program: &Path) -> bool {
    let mut call = Command::new(program);
    call.arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    call.status().is_ok()
}

fn time(tool: &Tool, file: &Path) -> Duration {
    let mut call = Command::new(&tool.program);
    call.args(tool.before)
        .arg(file)
        .args(tool.after)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let start = Instant::now();
    call.status().expect("the tool starts");
    start.elapsed()
}
