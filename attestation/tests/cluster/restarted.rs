//! Whatever is killed and started again: it converges, and nothing gets in meanwhile.

use control_plane::Part;
use serde_json::{Value, json};

use crate::town::{Town, is_there, pod, spec};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whatever_is_killed_it_converges() {
    if !is_there() {
        return;
    }
    let mut town = Town::new(&Part::ALL).await;
    // Pods of somebody who got in before the gate: orphans.
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
    town.end().await;
}

async fn all_ready(town: &mut Town, wanted: i64) {
    town.until("all replicas are ready", async |town| {
        let web = town
            .get("/apis/apps/v1/namespaces/shop/deployments/web")
            .await?;
        match web["status"]["readyReplicas"] == Value::from(wanted) {
            true => Ok(()),
            false => Err(web["status"].to_string()),
        }
    })
    .await;
}
