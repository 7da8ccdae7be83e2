//! Whatever is killed, stands still and is started again: it converges, and nothing gets in meanwhile.

use std::time::Duration;

use control_plane::Part;
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

    // The store stands still for a while, and is gone for a minute: nothing is lost, and nothing gets in that should not.
    town.cluster.pause(Part::Etcd).unwrap();
    nothing_gets_in(&mut town);
    tokio::time::sleep(Duration::from_secs(3)).await;
    town.cluster.resume(Part::Etcd).unwrap();
    all_ready(&mut town, 3).await;
    town.cluster.kill(Part::Etcd);
    nothing_gets_in(&mut town);
    town.rest(Duration::from_secs(60), async |town| {
        nothing_gets_in(town);
        town.start(Part::Etcd).await;
    })
    .await;
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
    // What was asked for while the store stood still may be done late; what is wrong, never.
    assert!(
        town.pod("wrong")
            .await
            .is_err_and(|why| why.contains("not found"))
    );
    assert!(town.refuse(&wrong()).contains("refused by Locus"));

    crate::orphans::all_are_found(&mut town).await;
    all_ready(&mut town, 3).await;
    town.end().await;
}

/// A pod that breaks a rule.
fn wrong() -> Value {
    let mut wrong = pod("wrong");
    wrong["spec"]["containers"][0]["securityContext"] =
        json!({"privileged": true, "allowPrivilegeEscalation": true});
    wrong
}

/// Neither what is right nor what is wrong gets in while the store does not answer.
fn nothing_gets_in(town: &mut Town) {
    for object in [pod("right"), wrong()] {
        let path = town.cluster.folder().join("meanwhile.json");
        std::fs::write(&path, object.to_string()).unwrap();
        let path = path.to_str().unwrap();
        town.refused(&["create", "--request-timeout=2s", "-f", path]);
    }
}

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
