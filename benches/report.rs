//! Reports, pictures and checks of many files.
//!
//! ```sh
//! cargo bench --bench report
//! ```
//!
//! First 10,000 findings are rendered in every format, then graphs of 500 and of 5,000 locations are drawn, all in this process. Then the
//! command `locus check` is run on 2,000 files of four languages: on one core beside the four parts of them, and on two. All times are
//! the best of several, as a machine can only be too slow. What is over its limit is marked.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "a benchmark fails by panicking"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use locus::report::picture::{LIMIT, to_svg};
use locus::report::{Format, Style};
use locus::session::{Batch, Session, Totals};
use locus_core::diagnostic::{Applicability, Edit, Fix, Member};
use locus_core::graph::RoleKind;
use locus_core::{Diagnostic, Location, LocationGraph, Sources, Span};

/// As in the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const FINDINGS: usize = 10_000;
const FILES: usize = 2_000;
const RUNS: usize = 5;

fn main() {
    formats();
    pictures();
    many_files();
}

fn best(mut run: impl FnMut()) -> Duration {
    let times = (0..RUNS).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().expect("there are several")
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn told(what: &str, value: f64, unit: &str, limit: f64) {
    let over = if value > limit { "  OVER" } else { "" };
    println!("{what:<48} {value:>9.1} {unit} (limit {limit}){over}");
}

/// Findings in 100 files, each with related places, members and a fix.
fn batch() -> Batch {
    let mut sources = Sources::new();
    let mut findings = Vec::new();
    for number in 0..100 {
        let line = "  some_key: some value that is wrong\n";
        let file = sources.add(
            format!("stacks/stack{number}.yaml"),
            line.repeat(FINDINGS / 100),
        );
        for at in 0..FINDINGS / 100 {
            let start = at * line.len();
            let key = Span::new(file, start + 2, start + 10);
            let value = Span::new(file, start + 12, start + 16);
            let mut finding = Diagnostic::error(
                "HOT221",
                format!("the servers `a{at}` and `b{at}` share the port `p{at}`"),
            )
            .label(value, "attached here")
            .related(key, "and here")
            .help("give each server a port of its own")
            .fix(Fix {
                title: "remove it".to_owned(),
                applicability: Applicability::Unsafe,
                edits: vec![Edit {
                    span: value,
                    text: String::new(),
                }],
            });
            finding.members = vec![Member {
                name: format!("a{at}"),
                span: Some(key),
            }];
            findings.push(finding);
        }
    }
    Batch {
        findings,
        sources,
        totals: Totals {
            files: 100,
            checked: 100,
            ..Totals::default()
        },
        ..Batch::default()
    }
}

fn formats() {
    let batch = batch();
    let style = Style {
        verbose: true,
        ..Style::default()
    };
    for (format, name, _) in Format::ALL {
        let mut size = 0;
        let time = best(|| size = format.render(&batch, &style).len());
        told(
            &format!("{FINDINGS} findings as {name}, {} KB", size / 1000),
            ms(time),
            "ms",
            1000.0,
        );
    }
}

/// Servers with ports on networks, and groups of them.
fn graph(count: usize) -> LocationGraph {
    let mut sources = Sources::new();
    let span = Span::start_of(sources.add("a", ""));
    let mut graph = LocationGraph::new();
    let mut ids = Vec::new();
    for index in 0..count {
        let sort = ["OS::Neutron::Net", "OS::Neutron::Port", "OS::Nova::Server"][index % 3];
        let mut location = Location::new(format!("resource{index}"), sort, span);
        if index > 20 && index % 4 == 0 {
            location.parent = Some(ids[index % 20]);
        }
        ids.push(graph.add_location(location));
        if index % 3 > 0 {
            graph.bind(
                ids[index - 1],
                ids[index],
                RoleKind::Reference,
                "needs",
                span,
            );
        }
        if index % 7 == 6 {
            graph.bind(
                ids[index * 31 % index],
                ids[index],
                RoleKind::Dependency,
                "after",
                span,
            );
        }
    }
    graph
}

fn pictures() {
    for (count, limit) in [(LIMIT, 300.0), (5_000, 2_000.0)] {
        let graph = graph(count);
        let time = best(|| assert!(to_svg(&graph).contains("</svg>")));
        told(&format!("SVG of {count} locations"), ms(time), "ms", limit);
    }
}

/// One file of a language, of about ten locations.
fn text(language: &str, number: usize) -> String {
    let mut out = String::new();
    match language {
        "heat" => {
            out.push_str("heat_template_version: 2021-04-16\nresources:\n  net:\n    type: OS::Neutron::Net\n");
            for at in 0..5 {
                let _ = write!(
                    out,
                    "  port{at}:\n    type: OS::Neutron::Port\n    properties:\n      network: {{ get_resource: net }}\n  \
                     vm{at}:\n    type: OS::Nova::Server\n    properties:\n      flavor: m1.small\n      image: cirros{number}\n      \
                     config_drive: true\n      networks: [{{ port: {{ get_resource: port{at} }} }}]\n"
                );
            }
        }
        "compose" => {
            out.push_str("services:\n");
            for at in 0..8 {
                let _ = write!(
                    out,
                    "  s{at}:\n    image: example.org/s{number}:1.{at}\n    networks: [front]\n    volumes: [data:/data]\n"
                );
            }
            out.push_str("networks:\n  front:\nvolumes:\n  data:\n");
        }
        "kubernetes" => {
            for at in 0..4 {
                let _ = write!(
                    out,
                    "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web{number}-{at}, namespace: n{number}}}\nspec:\n  replicas: 2\n  \
                     selector: {{matchLabels: {{app: web{at}}}}}\n  template:\n    metadata: {{labels: {{app: web{at}}}}}\n    spec:\n      \
                     containers:\n      - name: web\n        image: example.org/web:1.{number}\n        ports: [{{name: http, containerPort: 8080}}]\n\
                     ---\napiVersion: v1\nkind: Service\nmetadata: {{name: web{number}-{at}, namespace: n{number}}}\nspec:\n  selector: {{app: web{at}}}\n  \
                     ports: [{{port: 80, targetPort: http}}]\n"
                );
            }
        }
        _ => {
            out.push_str("tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n    vm:\n      type: tosca.nodes.Compute\n");
            for at in 0..8 {
                let _ = write!(
                    out,
                    "    soft{at}:\n      type: tosca.nodes.SoftwareComponent\n      properties: {{component_version: {number}.{at}}}\n      requirements: [host: vm]\n"
                );
            }
        }
    }
    out
}

/// The time of a whole command on some cores.
fn check(folder: &Path, cores: &str) -> Duration {
    best(|| {
        let status = Command::new("taskset")
            .args([
                "-c",
                cores,
                env!("CARGO_BIN_EXE_locus"),
                "check",
                "--format",
                "compact",
            ])
            .arg(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let code = status.expect("taskset is installed").code();
        assert!(matches!(code, Some(0..=2)), "{code:?}");
    })
}

fn many_files() {
    let folder = tempfile::tempdir().unwrap();
    let languages = ["heat", "compose", "kubernetes", "tosca"];
    for language in languages {
        for number in 0..FILES / languages.len() {
            let path = folder.path().join(format!("{language}/{number}"));
            fs::create_dir_all(&path).unwrap();
            let name = if language == "compose" {
                "compose.yaml"
            } else {
                "file.yaml"
            };
            fs::write(path.join(name), text(language, number)).unwrap();
        }
    }
    // What is checked is what was meant.
    let session = Session::new();
    let found = session.snapshot().discover(&[folder.path().to_owned()]);
    println!("{FILES} files in {} projects", found.projects.len());
    let mut parts = Duration::ZERO;
    for language in languages {
        let time = check(&folder.path().join(language), "0");
        println!(
            "{:<48} {:>9.1} ms",
            format!("{} files of {language}, one core", FILES / 4),
            ms(time)
        );
        parts += time;
    }
    let one = check(folder.path(), "0");
    let two = check(folder.path(), "0,1");
    println!("{:<48} {:>9.1} ms", "all of them, one core", ms(one));
    println!("{:<48} {:>9.1} ms", "all of them, two cores", ms(two));
    told(
        "one core, beside the sum of the parts",
        one.as_secs_f64() / parts.as_secs_f64(),
        "times",
        1.5,
    );
    let faster = one.as_secs_f64() / two.as_secs_f64();
    println!(
        "{:<48} {faster:>9.2} times as fast (close to 2 is wanted)",
        "two cores"
    );
}
