//! Every allowed input: against a plain check for each assignment, and against one plain check.
//!
//! ```sh
//! cargo bench --bench inputs                  # prints the figures
//! cargo bench --bench inputs -- --picture     # also draws docs/inputs.svg
//! cargo bench --bench inputs -- TEMPLATES     # also a folder of templates
//! ```
//!
//! Times are the best of several, as a machine can only be too slow.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a benchmark fails by panicking"
)]

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use locus::session::{Cancel, Given, Report, Session};
use locus_frontends::language::{InputValue, Registry};
use locus_frontends::loader::MemoryLoader;

/// As in the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A template of sixty resources, with a flag and a condition for each of so many choices; each condition but the
/// first depends on the one before.
fn conditions(count: usize) -> String {
    let mut out = String::from("heat_template_version: 2021-04-16\nparameters:\n");
    for at in 0..count {
        let _ = writeln!(out, "  flag{at}: {{ type: boolean, default: false }}");
    }
    out += "conditions:\n";
    for at in 0..count {
        let before = at.saturating_sub(1);
        let _ = match at % 4 {
            _ if at == 0 => writeln!(out, "  c0: {{ get_param: flag0 }}"),
            1 => writeln!(
                out,
                "  c{at}: {{ and: [{{ get_param: flag{at} }}, {{ not: c{before} }}] }}"
            ),
            2 => writeln!(
                out,
                "  c{at}: {{ or: [{{ get_param: flag{at} }}, c{before}] }}"
            ),
            3 => writeln!(
                out,
                "  c{at}: {{ equals: [{{ get_param: flag{at} }}, true] }}"
            ),
            _ => writeln!(
                out,
                "  c{at}: {{ and: [{{ get_param: flag{at} }}, c{before}] }}"
            ),
        };
    }
    out += "resources:\n  net: { type: OS::Neutron::Net }\n";
    for at in 0..59 {
        let condition = at % count;
        let _ = writeln!(
            out,
            "  port{at}:\n    type: OS::Neutron::Port\n    condition: c{condition}\n    properties:\n      \
             network: {{ get_resource: net }}\n      fixed_ips: [{{ ip_address: 10.0.0.{} }}]",
            10 + at % 50
        );
    }
    out
}

/// A template of so many resources whose properties are given by thirty parameters.
fn parameters(resources: usize) -> String {
    let mut out = String::from("heat_template_version: 2021-04-16\nparameters:\n");
    for at in 0..10 {
        let _ = writeln!(
            out,
            "  size{at}: {{ type: number, default: 1, constraints: [{{ allowed_values: [1, 2, 3] }}] }}"
        );
        let _ = writeln!(out, "  shared{at}: {{ type: boolean, default: false }}");
        let _ = writeln!(
            out,
            "  protocol{at}: {{ type: string, default: tcp, constraints: [{{ allowed_values: [tcp, udp, icmp] }}] }}"
        );
    }
    out += "resources:\n";
    for at in 0..resources / 5 {
        let by = at % 10;
        let block = format!("10.{}.{}", at / 250, at % 250);
        let _ = write!(
            out,
            "  net{at}: {{ type: OS::Neutron::Net, properties: {{ shared: {{ get_param: shared{by} }} }} }}
  subnet{at}: {{ type: OS::Neutron::Subnet, properties: {{ network: {{ get_resource: net{at} }}, cidr: {block}.0/24 }} }}
  port{at}: {{ type: OS::Neutron::Port, properties: {{ network: {{ get_resource: net{at} }}, fixed_ips: [{{ ip_address: {block}.9 }}] }} }}
  volume{at}: {{ type: OS::Cinder::Volume, properties: {{ size: {{ get_param: size{by} }} }} }}
  group{at}: {{ type: OS::Neutron::SecurityGroup, properties: {{ rules: [{{ protocol: {{ get_param: protocol{by} }} }}] }} }}
"
        );
    }
    out
}

fn check(text: &str, given: &Given) -> Arc<Report> {
    let disk = MemoryLoader::new().with("stack.yaml", text);
    let session = Session::over(Arc::new(disk), Registry::builtin()).forgetful();
    let snapshot = session.snapshot();
    let project = snapshot.project_of("stack.yaml").expect("a template");
    snapshot.check(&project, given, &Cancel::default()).unwrap()
}

fn best(times: usize, mut run: impl FnMut()) -> Duration {
    let one = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..times).map(|_| one(&mut run)).min().unwrap_or_default()
}

fn all_inputs() -> Given {
    Given {
        all_inputs: true,
        ..Given::default()
    }
}

/// A plain check for each assignment of the flags.
fn brute_force(text: &str, flags: usize) {
    let heat = Registry::builtin().named("hot").expect("Heat");
    let input = heat
        .inputs()
        .iter()
        .find(|input| input.name == "param")
        .expect("param");
    for number in 0_u64..1 << flags {
        let mut given = Given::default();
        for at in 0..flags {
            let value = (number >> at & 1 == 1).to_string();
            let value = InputValue::Pair(format!("flag{at}"), value);
            given.inputs.add(input, value, None);
        }
        check(text, &given);
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let picture = arguments.iter().any(|argument| argument == "--picture");
    let mut curve: Vec<(usize, f64, Option<f64>)> = Vec::new();
    println!("conditions  all inputs  brute force");
    for count in [2, 4, 6, 8, 10, 12, 16, 20, 24, 28, 32, 36, 40] {
        let text = conditions(count);
        let exact = best(3, || {
            check(&text, &all_inputs());
        });
        let brute = (count <= 10).then(|| best(1, || brute_force(&text, count)));
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "{count:10}  {:8.1} ms  {}",
            ms(exact),
            brute.map_or("-".to_owned(), |time| format!("{:8.1} ms", ms(time)))
        );
        curve.push((count, ms(exact), brute.map(ms)));
    }
    if picture {
        std::fs::write("docs/inputs.svg", draw(&curve)).unwrap();
    }
    let text = parameters(500);
    let plain = best(5, || {
        check(&text, &Given::default());
    });
    let all = best(3, || {
        check(&text, &all_inputs());
    });
    let times = |all: Duration, plain: Duration| all.as_secs_f64() / plain.as_secs_f64();
    println!(
        "500 resources, 30 parameters: {:.1} times a plain check",
        times(all, plain)
    );
    let folders = arguments
        .iter()
        .filter(|argument| !argument.starts_with("--"));
    let folders: Vec<PathBuf> = folders.map(PathBuf::from).collect();
    if !folders.is_empty() {
        let run = |given: &Given| {
            let session = Session::new().forgetful();
            session
                .snapshot()
                .check_all(&folders, &[], given, &Cancel::default())
                .unwrap()
        };
        let plain = best(3, || {
            run(&Given::default());
        });
        let all = best(3, || {
            run(&all_inputs());
        });
        println!("templates: {:.1} times a plain check", times(all, plain));
        let batch = run(&all_inputs());
        println!(
            "{} depend on inputs, {} violable, {} undecided",
            batch.totals.dependent,
            batch.violable().count(),
            batch.undecided.len()
        );
    }
}

/// Both curves over the number of conditions, the time on a logarithmic scale.
fn draw(curve: &[(usize, f64, Option<f64>)]) -> String {
    let x = |count: usize| 60.0 + count as f64 * 13.0;
    let y = |ms: f64| 300.0 - ms.max(0.1).log10().clamp(-1.0, 15.0) * 17.0 - 17.0;
    let path = |points: &[(usize, f64)]| {
        let points = points
            .iter()
            .map(|&(count, ms)| format!("{:.1},{:.1}", x(count), y(ms)));
        points.collect::<Vec<_>>().join(" ")
    };
    let exact: Vec<(usize, f64)> = curve.iter().map(|&(count, ms, _)| (count, ms)).collect();
    let measured: Vec<(usize, f64)> = curve
        .iter()
        .filter_map(|&(count, _, ms)| Some((count, ms?)))
        .collect();
    let &(last, ms) = measured.last().unwrap_or(&(2, 1.0));
    let guessed: Vec<(usize, f64)> = [last, 40]
        .iter()
        .map(|&count| (count, ms * 2_f64.powi((count - last) as i32)))
        .collect();
    let mut out = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 340\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"640\" height=\"340\" fill=\"white\"/>\n",
    );
    for (ms, label) in [
        (1.0, "1 ms"),
        (1e3, "1 s"),
        (6e4, "1 min"),
        (3.6e6, "1 h"),
        (8.64e7, "1 day"),
        (3.15e10, "1 year"),
    ] {
        let at = y(ms);
        let _ = writeln!(
            out,
            "<line x1=\"60\" x2=\"600\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/><text x=\"8\" y=\"{:.1}\">{label}</text>",
            at + 4.0
        );
    }
    for count in [2, 10, 20, 30, 40] {
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"322\">{count}</text>",
            x(count) - 6.0
        );
    }
    let _ = writeln!(out, "<text x=\"270\" y=\"337\">conditions</text>");
    for (points, colour, dash) in [
        (&exact, "#06c", ""),
        (&measured, "#c30", ""),
        (&guessed, "#c30", " stroke-dasharray=\"4\""),
    ] {
        let _ = writeln!(
            out,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash} points=\"{}\"/>",
            path(points)
        );
    }
    out += "<text x=\"440\" y=\"232\" fill=\"#06c\">locus check --all-inputs</text>\n\
            <text x=\"250\" y=\"80\" fill=\"#c30\">a plain check for each assignment (dashed: doubled)</text>\n</svg>\n";
    out
}
