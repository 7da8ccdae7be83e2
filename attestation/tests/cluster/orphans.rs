//! Orphans that come of lost answers: all are found, and nothing else is taken for one.
//!
//! Somebody asks for pods past the gate. When an answer is lost, it asks for another one, and never hears of the first; when it
//! wants to be rid of its pods, some requests are lost, and it never looks again.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use control_plane::User;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, DeleteParams, PostParams};
use locus_attestation::cluster::control::OnOrphans;
use serde_json::{Value, json};

use crate::lossy::Lossy;
use crate::town::{Town, pod};

/// How many pods are lost when they are made, and when they are deleted.
const LOST: (usize, usize) = (150, 50);

/// The UIDs of the pods of a namespace.
async fn uids(town: &Town, namespace: &str) -> Result<BTreeSet<String>, String> {
    let path = format!("/api/v1/namespaces/{namespace}/pods");
    let pods = town.list(&path).await?;
    let uid = |pod: &Value| pod["metadata"]["uid"].as_str().unwrap().to_owned();
    Ok(pods.iter().map(uid).collect())
}

fn enrolled(name: &str, mode: &str) -> Value {
    json!({
        "apiVersion": "locus.dev/v1alpha1", "kind": "InvariantSet", "metadata": {"name": name},
        "spec": {"namespaces": [name], "mode": mode},
    })
}

/// A pod that gets its name from the server.
fn some(namespace: &str) -> Value {
    let mut pod = pod("some");
    pod["metadata"] = json!({"generateName": "some-", "namespace": namespace});
    pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("10m");
    pod
}

/// Makes the orphans; nobody knows any pod of the namespace afterwards. Their UIDs.
async fn lose(town: &mut Town, namespace: &str) -> BTreeSet<String> {
    let lossy = Lossy::new(17, 0, 50);
    let client = lossy.client(&town.cluster.kubeconfig(User::Admin)).await;
    let pods: Api<Pod> = Api::namespaced(client, namespace);
    let wanted: Pod = serde_json::from_value(some(namespace)).unwrap();
    let mut heard = Vec::new();
    let (made, deleted) = LOST;
    while lossy.lost.load(Ordering::SeqCst) < made {
        if let Ok(pod) = pods.create(&PostParams::default(), &wanted).await {
            heard.push(pod.metadata.name.unwrap());
        }
    }
    assert!(heard.len() > 2 * deleted, "{}", heard.len());
    lossy.answers.store(0, Ordering::SeqCst);
    lossy.requests.store(50, Ordering::SeqCst);
    for name in heard {
        let enough = lossy.lost.load(Ordering::SeqCst) >= made + deleted;
        if enough {
            lossy.requests.store(0, Ordering::SeqCst);
        }
        // Whoever hears that it is refused asks again; of what is lost, it hears nothing.
        for _ in 0..50 {
            match pods.delete(&name, &DeleteParams::default()).await {
                Err(kube::Error::Api(_)) => tokio::time::sleep(Duration::from_millis(100)).await,
                _ => break,
            }
        }
    }
    let mut left = BTreeSet::new();
    town.until("those that were lost are left, and run", async |town| {
        let path = format!("/api/v1/namespaces/{namespace}/pods");
        let pods = town.list(&path).await?;
        let running = pods.iter().filter(|pod| {
            pod["status"]["phase"] == "Running" && pod["metadata"]["deletionTimestamp"].is_null()
        });
        left = uids(town, namespace).await?;
        match (running.count(), left.len()) {
            (running, all) if running == all && all == made + deleted => Ok(()),
            (running, all) => Err(format!("{running} of {all} run")),
        }
    })
    .await;
    left
}

/// The UIDs of pods of which events say that they are orphans.
async fn found(town: &Town) -> Result<BTreeSet<String>, String> {
    let events = town.list("/apis/events.k8s.io/v1/events").await?;
    let orphans = events.iter().filter(|event| event["reason"] == "Orphan");
    let uid = |event: &Value| event["regarding"]["uid"].as_str().unwrap().to_owned();
    Ok(orphans.map(uid).collect())
}

/// Restarts the gate to do something about orphans; from now on it loses some of what it sends and is answered.
async fn restart(town: &mut Town, what: OnOrphans) {
    town.settings.orphans = what;
    town.settings.orphan_grace = 1;
    if let Some(gate) = town.gate.take() {
        gate.stop().await;
    }
    town.lossy = Some(Lossy::new(4, 10, 10));
    town.start_gate().await;
}

/// All orphans are found and removed, and none is taken for one, whatever of the gate's own requests and answers gets lost.
pub(crate) async fn all_are_found(town: &mut Town) {
    for name in ["trial", "watched"] {
        town.cluster.create_namespace(name).unwrap();
        town.apply(&enrolled(name, "Audit"));
    }
    town.until("what is only watched gets in", async |town| {
        let said = town.kubectl(&[
            "run",
            "first",
            "-n",
            "trial",
            "--image=x",
            "--dry-run=server",
        ]);
        match said.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&said.stderr).into_owned()),
        }
    })
    .await;
    let mut other = some("watched");
    other["metadata"] = json!({"name": "other", "namespace": "watched"});
    town.apply(&other);
    let orphans = lose(town, "trial").await;
    assert_eq!(orphans.len(), LOST.0 + LOST.1);
    let mut kept = uids(town, "shop").await.unwrap();
    assert!(kept.len() >= 4, "{kept:?}");
    kept.extend(uids(town, "watched").await.unwrap());

    restart(town, OnOrphans::Report).await;
    town.apply(&enrolled("trial", "Enforce"));
    // What is let in from now on is none.
    town.until("pods are let in again", async |town| {
        let mut late = some("trial");
        late["metadata"] = json!({"name": "late", "namespace": "trial"});
        let said = town.try_apply(&late);
        let late = town.get("/api/v1/namespaces/trial/pods/late").await?;
        match late["spec"]["readinessGates"].is_array() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&said.stderr).into_owned()),
        }
    })
    .await;
    town.until("all orphans are reported", async |town| {
        let found = found(town).await?;
        match orphans.difference(&found).count() {
            0 => Ok(()),
            more => Err(format!("{more} are not")),
        }
    })
    .await;
    let said = found(town).await.unwrap();
    assert_eq!(said, orphans, "and nothing else");

    // In the middle of it, the gate is killed.
    restart(town, OnOrphans::Remove).await;
    town.until("some are removed", async |town| {
        let left = uids(town, "trial").await?;
        match left.intersection(&orphans).count() < orphans.len() {
            true => Ok(()),
            false => Err("none".to_owned()),
        }
    })
    .await;
    town.gate.take().unwrap().kill().await;
    restart(town, OnOrphans::Remove).await;
    town.until("all orphans are gone", async |town| {
        let left = uids(town, "trial").await?;
        match left.intersection(&orphans).count() {
            0 => Ok(()),
            more => Err(format!("{more} are left")),
        }
    })
    .await;
    town.ready_in("trial", "late").await;
    let lossy = town.lossy.take().unwrap();
    assert!(lossy.lost.load(Ordering::SeqCst) > 10, "something was lost");
    town.gate.take().unwrap().stop().await;
    town.start_gate().await;
    let mut left = uids(town, "shop").await.unwrap();
    left.extend(uids(town, "watched").await.unwrap());
    assert_eq!(left, kept, "none was removed that is none");
}
