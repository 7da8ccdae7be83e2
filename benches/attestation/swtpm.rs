//! The largest test of the source document: 110 pods on one worker, with a real agent, mutual TLS and a
//! software TPM.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hyper::{Method, StatusCode};
use serde_json::Value;

use super::world::{World, content};
use super::{Limit, Report};
use locus_attestation::verifier::Trust;

const PODS: usize = 110;

pub(crate) fn run(report: &mut Report) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(measure(report));
}

async fn measure(report: &mut Report) {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let mut pods = Vec::new();
    for number in 0..PODS {
        let pod = world
            .healthy_pod(&mut worker, &format!("pod-{number}"))
            .await;
        worker.run(&pod, content("libc"), "/lib/libc.so");
        pods.push(pod);
    }
    let path = "/v1/verifier/workers/worker/attest";
    let watch = Stopwatch::start();
    let (status, answer) = world.operate(Method::POST, path, Value::Null).await;
    let took = watch.took();
    assert_eq!(status, StatusCode::OK, "{answer}");
    for pod in &pods {
        assert_eq!(world.status(pod).trust, Trust::Trusted);
    }
    let name = format!("{PODS} pods on one worker, one quote, swtpm, processor seconds");
    report.figure(&name, took.spent.as_secs_f64(), Limit::AtMost(2.0));
    let watch = Stopwatch::start();
    for pod in &pods {
        let (status, answer) = world.attest(pod).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
    }
    let took = watch.took();
    let name = format!("{PODS} pods on one worker, a quote for each, swtpm, processor seconds");
    report.figure(&name, took.spent.as_secs_f64(), Limit::AtMost(2.0));
    report.time(
        "  on the wall, beside what else the machine does",
        took.wall,
    );
}

/// How long something took.
struct Took {
    /// On the wall: with what else the machine does.
    wall: Duration,
    /// Of all processors, for gate, agent and TPM together. One asks the other and waits, so that a machine that does
    /// nothing else takes about as long on the wall.
    spent: Duration,
}

struct Stopwatch {
    begun: Instant,
    spent: Duration,
}

impl Stopwatch {
    fn start() -> Self {
        Stopwatch {
            spent: spent(),
            begun: Instant::now(),
        }
    }

    fn took(&self) -> Took {
        Took {
            wall: self.begun.elapsed(),
            spent: spent().saturating_sub(self.spent),
        }
    }
}

/// What the threads of this process and of its software TPMs have had of the processors.
fn spent() -> Duration {
    let ran = |task: PathBuf| {
        // Time on a processor, time waited for one, how often; a thread that just ended has none.
        let text = fs::read_to_string(task.join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    };
    let processes = listed(Path::new("/proc"))
        .into_iter()
        .filter(|process| is_ours(process));
    let nanos = processes
        .flat_map(|process| listed(&process.join("task")))
        .filter_map(ran)
        .sum();
    Duration::from_nanos(nanos)
}

/// Whether a process is this one, or one that it started.
fn is_ours(process: &Path) -> bool {
    let own = std::process::id();
    if process.ends_with(own.to_string()) {
        return true;
    }
    let text = fs::read_to_string(process.join("stat")).unwrap_or_default();
    // After the name, which may have blanks: the state and the parent.
    let parent = text
        .rsplit(')')
        .next()
        .and_then(|rest| rest.split_whitespace().nth(1));
    parent.is_some_and(|parent| parent == own.to_string())
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.flatten().map(|entry| entry.path()).collect()
}
