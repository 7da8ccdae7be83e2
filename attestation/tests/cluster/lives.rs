//! The life of pods and workers: in, ready, and out.

use control_plane::Part;
use serde_json::json;

use crate::town::{Town, is, is_there, pod};
use crate::world::content;
use crate::{attacks, deploys};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn pods_are_held_back_scheduled_ready_and_evicted() {
    if !is_there() {
        return;
    }
    let mut town = Town::new(&Part::ALL).await;

    // Nothing is trusted yet: a healthy pod waits, and says why.
    town.apply(&pod("healthy"));
    let describe = ["describe", "pod", "healthy", "-n", "shop"];
    town.shows(&describe, &["no worker is trusted"]).await;
    town.join("worker-1").await;
    town.trusts("worker-1", "Trusted").await;
    town.ready("healthy").await;
    // An event is written after what it is about was done.
    let steps = [
        "Waiting",
        "Admitted",
        "Attested",
        "worker-1",
        "locus.dev/attested",
    ];
    town.shows(&describe, &steps).await;
    town.shows(&["get", "agents"], &["Trusted"]).await;

    // A tenant asks about its pod, and has a signed answer.
    let uid = town.pod("healthy").await.unwrap()["metadata"]["uid"].clone();
    town.apply(&json!({
        "apiVersion": "locus.dev/v1alpha1", "kind": "AttestationRequest",
        "metadata": {"name": "ask", "namespace": "shop"}, "spec": {"pod": "healthy", "uid": uid},
    }));
    town.until("the request is answered", async |town| {
        let path = "/apis/locus.dev/v1alpha1/namespaces/shop/attestationrequests/ask";
        let status = town.get(path).await?["status"].clone();
        let token = status["token"].as_str().unwrap_or_default();
        match status["trust"] == "Trusted" && token.matches('.').count() == 2 {
            true => Ok(()),
            false => Err(status.to_string()),
        }
    })
    .await;

    // A pod that runs what its image does not have is never ready, and goes.
    let mut bad = pod("miner");
    bad["metadata"]["annotations"] = json!({"runs": "miner"});
    town.apply(&bad);
    let mut was_ready = false;
    town.until(
        "the pod with an unknown file is gone",
        async |town| match town.pod("miner").await {
            Ok(pod) => {
                was_ready |= is(&pod, "Ready");
                Err(pod["status"].to_string())
            }
            Err(why) if why.contains("not found") => Ok(()),
            Err(why) => Err(why),
        },
    )
    .await;
    assert!(!was_ready, "it was never ready");
    let of_miner = "involvedObject.name=miner";
    let events = ["get", "events", "-n", "shop", "--field-selector", of_miner];
    town.shows(&events, &["Evicted", "/usr/bin/miner"]).await;

    deploys::the_exit_code_says_which_verdict_failed(&mut town).await;
    let asked = deploys::tenants_hear_of_their_own_pods_alone(&mut town).await;
    attacks::a_pod_answers_for_a_namesake(&mut town).await;
    attacks::trust_is_written_by_others(&mut town).await;
    deploys::and_are_told_nothing_of_others(&mut town, &asked).await;

    // A worker with another boot: no pod lands on it.
    let other = town.world.worker("worker-2").await;
    other.machine.extend(0, &[content("another firmware")]);
    town.join_as(other).await;
    town.until("the other boot is reported", async |town| {
        let agent = town.get("/apis/locus.dev/v1alpha1/agents/worker-2").await?;
        let reason = agent["status"]["reason"].as_str().unwrap_or_default();
        match reason.contains("boot") {
            true => Ok(()),
            false => Err(agent["status"].to_string()),
        }
    })
    .await;
    let mut there = pod("there");
    there["spec"]["nodeSelector"] = json!({"kubernetes.io/hostname": "worker-2"});
    there["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
    town.apply(&there);

    // A log that was tampered with: the worker is untrusted, and its pods go.
    town.ready("healthy").await;
    let worker = town.workers.get_mut("worker-1").unwrap();
    worker.hide("/tmp/miner", "/usr/redis");
    town.trusts("worker-1", "Untrusted").await;
    town.gone("healthy").await;
    let there = town.pod("there").await.unwrap();
    assert!(there["spec"]["nodeName"].is_null(), "{there}");
    let words = ["WorkerUntrusted", "locus.dev/untrusted"];
    town.shows(&["describe", "node", "worker-1"], &words).await;
    town.end().await;
}
