//! Whatever is killed and started again: it converges, and nothing gets in meanwhile.

use control_plane::Part;
use locus_attestation::cluster::control::OnOrphans;
use serde_json::{Value, json};

use crate::town::{Town, is_there, pod, spec};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whatever_is_killed_it_converges() {
    if !is_there() {
        return;
    }
    let mut town = Town::new(&Part::ALL).await;
    town.join("worker-1").await;
    town.trusts("worker-1", "Trusted").await;
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "replicas": 3, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec()},
        },
    });
    town.apply(&deployment);
    // The gate is killed while pods are on their way.
    town.gate.take().unwrap().kill().await;
    let said = town.refuse(&pod("meanwhile"));
    assert!(said.contains("failed calling webhook"), "{said}");
    town.start_gate().await;
    all_ready(&mut town, 3).await;

    // The API server is killed, and comes back while the gate runs.
    town.restart(Part::ApiServer).await;
    town.until("the gate knows the cluster again", async |town| {
        let said = town.try_apply(&pod("later"));
        match said.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&said.stderr).into_owned()),
        }
    })
    .await;
    town.ready("later").await;
    all_ready(&mut town, 3).await;

    // The store stands still for a while: nothing is lost, and nothing gets in that should not.
    town.cluster.pause(Part::Etcd).unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    town.cluster.resume(Part::Etcd).unwrap();
    let mut miner = pod("miner");
    miner["metadata"]["annotations"] = json!({"runs": "miner"});
    town.until("a pod gets in after that", async |town| {
        let said = town.try_apply(&miner);
        match said.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&said.stderr).into_owned()),
        }
    })
    .await;
    town.gone("miner").await;
    all_ready(&mut town, 3).await;

    // Pods that got in while nobody was asked: all are found, and none is taken for one.
    town.must(&["create", "namespace", "trial"]);
    let trial = |mode: &str| {
        json!({
            "apiVersion": "locus.dev/v1alpha1", "kind": "InvariantSet", "metadata": {"name": "trial"},
            "spec": {"namespaces": ["trial"], "mode": mode},
        })
    };
    town.apply(&trial("Audit"));
    town.cluster.wait_namespace("trial").unwrap();
    let list: Vec<Value> = (0..ORPHANS)
        .map(|number| {
            let mut pod = pod(&format!("orphan-{number}"));
            pod["metadata"]["namespace"] = json!("trial");
            pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("10m");
            pod
        })
        .collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": list});
    town.until("what is only watched gets in", async |town| {
        let said = town.try_apply(&list);
        let pods = town.list("/api/v1/namespaces/trial/pods").await?;
        let running = pods
            .iter()
            .filter(|pod| pod["status"]["phase"] == "Running");
        match running.count() == ORPHANS {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&said.stderr).into_owned()),
        }
    })
    .await;
    town.settings.orphans = OnOrphans::Remove;
    town.settings.orphan_grace = 1;
    town.gate.take().unwrap().stop().await;
    town.start_gate().await;
    town.apply(&trial("Enforce"));
    town.until("all orphans are gone", async |town| {
        let left = town.list("/api/v1/namespaces/trial/pods").await?;
        match left.len() {
            0 => Ok(()),
            more => Err(format!("{more} are left")),
        }
    })
    .await;
    let events = town.must(&[
        "get",
        "events",
        "-n",
        "trial",
        "--field-selector",
        "reason=Orphan",
    ]);
    assert!(events.contains("it was not let in by the gate"), "{events}");
    let events = town.must(&[
        "get",
        "events",
        "-n",
        "shop",
        "--field-selector",
        "reason=Orphan",
    ]);
    assert!(!events.contains("pod/"), "{events}");
    all_ready(&mut town, 3).await;
    town.end().await;
}

/// How many pods come past the gate.
const ORPHANS: usize = 40;

async fn all_ready(town: &mut Town, wanted: i64) {
    town.until("all replicas are ready", async |town| {
        let web = town
            .get("/apis/apps/v1/namespaces/shop/deployments/web")
            .await?;
        match web["status"]["readyReplicas"].as_i64() == Some(wanted) {
            true => Ok(()),
            false => Err(web["status"].to_string()),
        }
    })
    .await;
}
