//! Attacks that broke the published prototype, at a real API server. That nobody goes round the gate (attack 6) is
//! shown where things are admitted.

use serde_json::{Value, json};

use crate::town::{Town, is, pod};

/// Attack 13: pods looked up by their names, across namespaces. The namesake of a pod that is evicted stays, and a pod that
/// comes later under the same name is another one.
pub(crate) async fn a_pod_answers_for_a_namesake(town: &mut Town) {
    town.cluster.create_namespace("market").unwrap();
    town.apply(&json!({
        "apiVersion": "locus.dev/v1alpha1", "kind": "InvariantSet", "metadata": {"name": "market"},
        "spec": {"namespaces": ["market"]},
    }));
    let mut good = pod("twin");
    good["metadata"]["namespace"] = json!("market");
    town.until("the second namespace is enrolled", async |town| {
        let said = town.try_apply(&good);
        match said.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&said.stderr).into_owned()),
        }
    })
    .await;
    town.ready_in("market", "twin").await;
    let twin = async |town: &Town| {
        town.get("/api/v1/namespaces/market/pods/twin")
            .await
            .unwrap()
    };
    let uid = twin(town).await["metadata"]["uid"].clone();

    let mut evil = pod("twin");
    evil["metadata"]["annotations"] = json!({"runs": "miner"});
    town.apply(&evil);
    let first = town.pod("twin").await.unwrap()["metadata"]["uid"].clone();
    town.gone("twin").await;
    let other = twin(town).await;
    assert_eq!(other["metadata"]["uid"], uid);
    assert!(
        is(&other, "Ready") && other["metadata"]["deletionTimestamp"].is_null(),
        "{other}"
    );

    // Trust of the one that is ready is not that of one that comes under its name, nor the other way round.
    town.apply(&pod("twin"));
    town.ready("twin").await;
    let second = town.pod("twin").await.unwrap()["metadata"]["uid"].clone();
    assert_ne!(first, second);
    // What is said of a worker is written after its pods were judged.
    town.until(
        "the worker has the second and not the first",
        async |town| {
            let agent = town.get("/apis/locus.dev/v1alpha1/agents/worker-1").await?;
            let known = agent["status"]["pods"].as_array().into_iter().flatten();
            let known: Vec<_> = known.collect();
            let of = |uid: &Value| known.iter().filter(|one| one["uid"] == *uid).count();
            match (of(&first), of(&second), of(&uid)) {
                (0, 1, 1) => Ok(()),
                _ => Err(agent["status"].to_string()),
            }
        },
    )
    .await;
    town.must(&["delete", "pod", "twin", "-n", "shop"]);
    town.gone("twin").await;
    assert_eq!(twin(town).await["metadata"]["uid"], uid);
    town.must(&["delete", "namespace", "market", "--wait=false"]);
}

/// Attack 16: state in `.spec`, read and written back. Trust is in `.status`, which only the gate writes; what others write at the
/// same time stays, and what they write over its trust does not.
pub(crate) async fn trust_is_written_by_others(town: &mut Town) {
    let path = "/apis/locus.dev/v1alpha1/agents/worker-1";
    let before = town.get(path).await.unwrap();
    assert_eq!(before["status"]["trust"], "Trusted");
    // Written beside the status, it is no status.
    let forged =
        r#"{"status": {"trust": "Untrusted"}, "metadata": {"annotations": {"note": "mine"}}}"#;
    let patch = ["patch", "agent", "worker-1", "--type=merge", "-p", forged];
    let answer = town.must(&[&patch[..], &["-o", "json"]].concat());
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["metadata"]["annotations"]["note"], "mine");
    assert_eq!(answer["status"]["trust"], "Trusted");
    // Who may change Agents and nothing more may not write their status.
    town.must(&[
        "create",
        "clusterrole",
        "agents",
        "--verb=get,patch,update",
        "--resource=agents.locus.dev",
    ]);
    town.must(&[
        "create",
        "clusterrolebinding",
        "agents",
        "--clusterrole=agents",
        "--user=nobody",
    ]);
    let status = ["--subresource=status", "--as=nobody"];
    let said = town.refused(&[&patch[..], &status].concat());
    assert!(said.contains("forbidden"), "{said}");
    // Whoever may write everything is corrected, and what else was written meanwhile is still there.
    town.must(&[&patch[..], &["--subresource=status"]].concat());
    town.trusts("worker-1", "Trusted").await;
    let after = town.get(path).await.unwrap();
    assert_eq!(after["metadata"]["annotations"]["note"], "mine");
    assert_eq!(after["spec"], before["spec"]);
    let written = after["metadata"]["managedFields"].as_array().unwrap();
    let ours: Vec<_> = written
        .iter()
        .filter(|one| one["subresource"] == "status" && one["operation"] == "Apply")
        .collect();
    assert!(
        ours.len() == 1 && ours[0]["manager"] == "locus-gate",
        "{written:?}"
    );
}
