//! What the gate costs a deployment: the time until all its pods are ready, with and without it, in one cluster.
//!
//! API server, scheduler and controllers are real, as is the attestation; a stand-in says what a kubelet says, every 200 ms, so
//! that no image is fetched and no program starts: what is compared is what the gate adds, and little else.

use std::time::{Duration, Instant};

use control_plane::Part;
use serde_json::{Value, json};

use super::Report;
use crate::town::{Town, is_there, spec};

/// How many pods, and how often.
const SIZES: [(usize, usize); 3] = [(1, 5), (20, 3), (110, 1)];

fn deployment(pods: usize) -> Value {
    let mut spec = spec();
    // All of them fit on one node.
    spec["containers"][0]["resources"]["requests"] = json!({"cpu": "10m", "memory": "16Mi"});
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "replicas": pods, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec},
        },
    })
}

/// From when it is asked for until all of it is ready.
async fn deployed(town: &mut Town, pods: usize) -> Duration {
    let begun = Instant::now();
    town.apply(&deployment(pods));
    town.until(&format!("{pods} are ready"), async |town| {
        let path = "/apis/apps/v1/namespaces/shop/deployments/web";
        let status = town.get(path).await?["status"].clone();
        match status["readyReplicas"].as_u64() == Some(pods as u64) {
            true => Ok(()),
            false => Err(status.to_string()),
        }
    })
    .await;
    let took = begun.elapsed();
    town.must(&["delete", "deployment", "web", "-n", "shop"]);
    town.until("they are gone", async |town| {
        let left = town.list("/api/v1/namespaces/shop/pods").await?;
        match left.len() {
            0 => Ok(()),
            more => Err(format!("{more} are left")),
        }
    })
    .await;
    took
}

/// The median for each size.
async fn all(town: &mut Town) -> Vec<Duration> {
    let mut medians = Vec::new();
    for (pods, times) in SIZES {
        let mut taken = Vec::new();
        for _ in 0..times {
            taken.push(deployed(town, pods).await);
        }
        taken.sort();
        medians.push(taken[times / 2]);
    }
    medians
}

async fn measure(report: &mut Report) {
    let mut town = Town::new(&Part::ALL).await;
    town.join("worker-1").await;
    town.trusts("worker-1", "Trusted").await;
    // Rules are compiled for the first of all.
    deployed(&mut town, 1).await;
    let gated = all(&mut town).await;
    town.gate.take().unwrap().stop().await;
    for kind in [
        "mutatingwebhookconfiguration",
        "validatingwebhookconfiguration",
    ] {
        town.must(&["delete", kind, "locus-gate"]);
    }
    let plain = all(&mut town).await;
    for (((pods, _), gated), plain) in SIZES.iter().zip(gated).zip(plain) {
        report.time(&format!("a deployment of {pods}, plain"), plain, None);
        report.time(&format!("a deployment of {pods}, gated"), gated, None);
        let ratio = gated.as_secs_f64() / plain.as_secs_f64();
        println!("{:<74} {ratio:>10.2}", "  ... to the plain one");
    }
    town.end().await;
}

pub(crate) fn run(report: &mut Report) {
    if !is_there() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build();
    runtime.unwrap().block_on(measure(report));
}
