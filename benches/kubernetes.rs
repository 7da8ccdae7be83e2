//! Kubernetes: all rules about a large folder beside other checkers, placements, and who can talk to whom in a large cluster.
//!
//! ```sh
//! KUBE_LINTER=... KUBE_SCORE=... KUBECONFORM=... KUBECONFORM_SCHEMAS=... CHECKOV=... cargo bench --bench kubernetes
//! ```
//!
//! Other checkers are named by these variables and left out when they are not; `KUBECONFORM_SCHEMAS` is where kubeconform finds its
//! schemas, as in `FOLDER/{{ .ResourceKind }}{{ .KindSuffix }}.json`. All run on the same folder, in turns.
//!
//! Times are the best of several, as a machine can only be too slow. Each figure has its limit beside it, and one that is over
//! it makes the run fail.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a benchmark fails by panicking"
)]

#[path = "kubernetes/folder.rs"]
mod folder;
#[path = "kubernetes/placements.rs"]
mod placements;
#[path = "kubernetes/tight.rs"]
mod tight;

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use locus::report::reach::{self, Asked};
use locus_core::Sources;
use locus_frontends::kubernetes::Kubernetes;
use locus_frontends::language::{Language as _, Reach, Request};
use locus_frontends::loader::MemoryLoader;

/// As in the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A figure, and what it may be at most.
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    pub(crate) limit: f64,
}

fn main() -> ExitCode {
    let mut figures = Vec::new();
    folder::measure(&mut figures);
    placements::measure(&mut figures);
    reachability(&mut figures);
    let mut over = false;
    for figure in &figures {
        let verdict = if figure.value > figure.limit {
            "OVER"
        } else {
            "ok"
        };
        over |= figure.value > figure.limit;
        println!(
            "{:<60} {:>9.3} {} (limit {}) {verdict}",
            figure.name, figure.value, figure.unit, figure.limit
        );
    }
    ExitCode::from(u8::from(over))
}

/// The shortest of some runs.
pub(crate) fn best<T>(runs: usize, mut run: impl FnMut() -> T) -> (Duration, T) {
    let mut all = (0..runs).map(|_| {
        let start = Instant::now();
        let result = run();
        (start.elapsed(), result)
    });
    let first = all.next().expect("at least one run");
    all.fold(
        first,
        |best, next| if next.0 < best.0 { next } else { best },
    )
}

/// So many bare pods in 100 namespaces, each with labels of its own, under so many policies: of each namespace one that denies
/// everything, and then some with named ports, other namespaces and blocks of addresses.
fn cluster(pods: usize, policies: usize) -> String {
    let namespaces = 100;
    let mut out = String::new();
    for at in 0..namespaces {
        let _ = writeln!(
            out,
            "---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: n{at}\n  labels: {{tier: t{}}}",
            at % 7
        );
    }
    for at in 0..pods {
        let _ = writeln!(
            out,
            "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: p{at}\n  namespace: n{}\n  labels: {{app: a{}, id: i{at}}}\n\
             spec:\n  containers:\n  - name: c\n    image: example/c:1\n    ports:\n    - {{name: http, containerPort: {}}}",
            at % namespaces,
            at / namespaces % 20,
            8000 + at % 3
        );
    }
    for at in 0..policies {
        let (namespace, round) = (at % namespaces, at / namespaces);
        let _ = writeln!(
            out,
            "---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: x{at}\n  namespace: n{namespace}\nspec:"
        );
        let _ = match round {
            0 => writeln!(out, "  podSelector: {{}}\n  policyTypes: [Ingress, Egress]"),
            _ => writeln!(
                out,
                "  podSelector:\n    matchLabels: {{app: a{}}}\n  policyTypes: [Ingress, Egress]\n  ingress:\n  - from:\n    \
                 - namespaceSelector:\n        matchLabels: {{tier: t{}}}\n      podSelector:\n        matchLabels: {{app: a{}}}\n    \
                 ports:\n    - port: http\n  egress:\n  - to:\n    - namespaceSelector: {{}}\n  - to:\n    - ipBlock:\n        \
                 cidr: 10.{}.0.0/16\n    ports:\n    - {{port: 443, endPort: 445}}",
                (namespace + round * 3) % 20,
                at % 7,
                at % 20,
                at % 250
            ),
        };
    }
    out
}

fn reachability(figures: &mut Vec<Figure>) {
    let measure = |pods: usize, policies: usize| {
        let text = cluster(pods, policies);
        let loader = MemoryLoader::new().with("all.yaml", &*text);
        let request = Request::of(["all.yaml"]);
        best(5, || {
            let mut sources = Sources::new();
            let reach: Reach = Kubernetes.reach(&request, &loader, &mut sources).unwrap();
            let relation = reach.relation.expect("the policies have no errors");
            reach::to_text(&*relation, &Asked::default())
                .lines()
                .count()
        })
    };
    let (time, lines) = measure(2_000, 500);
    figures.push(Figure {
        name: format!("2,000 pods under 500 policies, read and printed ({lines} lines)"),
        value: time.as_secs_f64(),
        unit: "s",
        limit: 1.0,
    });
    // Half the pods under half the policies: who can talk to whom grows with the square of the pods, and may not grow faster.
    let (half, _) = measure(1_000, 250);
    figures.push(Figure {
        name: "the same with half of both, times".to_owned(),
        value: time.as_secs_f64() / half.as_secs_f64(),
        unit: "x",
        limit: 6.0,
    });
}
