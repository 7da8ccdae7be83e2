//! A policy that changes: nothing is trusted by the old one, and nobody is condemned for the change.

use crate::gate_program::GateProgram;
use crate::measured::{LONG, ng, plain_worker};
use crate::pause::Pause;
use crate::world::{World, ask, content};
use hyper::{Method, StatusCode};
use locus_attestation::policy::Patterns;
use locus_attestation::verifier::{Pod, Trust};
use serde_json::Value;

const WORKER: &str = "/v1/verifier/workers/worker";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn evidence_that_arrives_after_the_policy_changed_gives_no_trust_by_the_old_one() {
    let mut world = World::new().await;
    let mut worker = world.worker("worker").await;
    worker.measure(
        "/usr/bin/evil:swapper/0",
        "/system.slice/evil.service",
        content("evil"),
        "/usr/bin/evil",
    );
    world.gate.take().unwrap().stop().await;
    let installation = world.folder.path().join("gate");
    let policy = installation.join("policy.toml");
    std::fs::write(&policy, "[defaults]\nhost = \"unjudged\"\n").unwrap();
    let lax = GateProgram::start(&installation, &[]);
    world.gate_address.clone_from(&lax.address);
    let (status, answer) = world.register(&worker).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let pause = Pause::before(&world, &worker).await;
    let operator = world.operator();
    let path = format!("{WORKER}/attest");
    let asked = tokio::spawn(async move {
        let headers = [("content-type", "application/json")];
        operator
            .exchange(Method::POST, &path, &headers, b"null".to_vec())
            .await
    });
    pause.made().await;
    // Evidence is on its way that the old policy would accept.
    std::fs::write(&policy, "[defaults]\nhost = \"judged\"\n").unwrap();
    lax.kill();
    let strict = GateProgram::start(&installation, &[]);
    world.gate_address.clone_from(&strict.address);
    pause.arrive();
    assert!(asked.await.unwrap().is_err(), "whoever was asked is gone");
    let (_, report) = world.operate(Method::GET, WORKER, Value::Null).await;
    assert_eq!(report["worker"]["trust"], "unknown", "{report}");
    pause.arrive();
    let path = format!("{WORKER}/attest");
    let (status, answer) = ask(&world.operator(), Method::POST, &path, Value::Null).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    assert_eq!(answer["effect"], "worker-untrusted", "{answer}");
    // A policy with a mistake is no policy: the gate does not start with the one before it, nor without any.
    drop(strict);
    std::fs::write(&policy, "[defaults]\nhots = \"unjudged\"\n").unwrap();
    let ended = crate::gate_program::locus_gate(&[
        "serve",
        installation.to_str().unwrap(),
        "--listen",
        "127.0.0.1:0",
    ]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("did you mean `host`?"), "{ended:?}");
    // It can be checked before the gate is stopped for it.
    let file = policy.to_str().unwrap();
    let ended = crate::gate_program::locus_gate(&["check-policy", file]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("did you mean `host`?"), "{ended:?}");
    let text = "[[group]]\nname = \"edge\"\nworkers = [\"edge-*\"]\n";
    std::fs::write(&policy, text).unwrap();
    let ended = crate::gate_program::locus_gate(&["check-policy", file]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("the group `edge`"), "{ended:?}");
}

/// Starts the gate again with other files of the host left out.
async fn leave_out(world: &mut World, patterns: &[&str]) {
    world.gate.take().unwrap().stop().await;
    let patterns = Patterns::new(patterns.iter().copied()).unwrap();
    world
        .start_gate_as(|config| {
            config
                .policy
                .each(|policy| policy.exclude = patterns.clone());
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn to_stay_left_out_when_nothing_is_left_out_any_more() {
    let attest = format!("{WORKER}/attest");
    for plain in [true, false] {
        let mut world = World::new().await;
        leave_out(&mut world, &["/opt/cache/**"]).await;
        let (evil, path) = (content("evil"), "/opt/cache/evil");
        let _worker = if plain {
            let mut worker = plain_worker(&world, "ima-ng").await;
            ng(&mut worker, evil, path);
            worker
        } else {
            let mut worker = world.registered("worker").await;
            worker.measure("sh:swapper/0", "/system.slice/a.service", evil, path);
            worker
        };
        let (status, answer) = world.operate(Method::POST, &attest, Value::Null).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        leave_out(&mut world, &[]).await;
        let (_, answer) = world.operate(Method::POST, &attest, Value::Null).await;
        assert_eq!(answer["effect"], "worker-untrusted", "{answer}");
        let reason = answer["detail"].as_str().unwrap();
        assert!(reason.contains(path), "{reason}");
    }
}

async fn remove(world: &World, pod: &Pod) {
    let path = format!("/v1/verifier/pods/{}", pod.uid);
    let (status, answer) = world.operate(Method::DELETE, &path, Value::Null).await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
}

/// The whole log is read again: it still has what ran in pods that are gone for days.
#[tokio::test(flavor = "multi_thread")]
async fn a_policy_that_changes_condemns_nobody_for_pods_that_ended_long_ago() {
    const DAY: i64 = 86_400_000;
    let mut world = World::new().await;
    let mut worker = world.registered("worker").await;
    let stays = world.healthy_pod(&mut worker, "stays").await;
    let first = world.healthy_pod(&mut worker, "first").await;
    let second = world.healthy_pod(&mut worker, "second").await;
    assert_eq!(world.attest(&stays).await.0, StatusCode::OK);
    remove(&world, &first).await;
    world.later(2 * DAY);
    // A removal forgets the details of those that were removed more than a day ago.
    remove(&world, &second).await;
    leave_out(&mut world, &["/opt/cache/**"]).await;
    for _ in 0..3 {
        let (status, answer) = world.attest(&stays).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        assert_eq!(world.trust("worker"), Trust::Trusted);
        world.later(LONG);
    }
    // The same where a pod comes back that was removed.
    world.declare(&second).await;
    for _ in 0..2 {
        for pod in [&stays, &second] {
            let (status, answer) = world.attest(pod).await;
            assert_eq!(status, StatusCode::OK, "{answer}");
        }
        world.later(LONG);
    }
    // Nobody hides where they were.
    worker.run(&first, content("rootkit"), "/tmp/rootkit");
    let (_, answer) = world.attest(&stays).await;
    assert_eq!(world.trust("worker"), Trust::Unknown, "{answer}");
    world.later(LONG);
    world.refused(&stays, "worker-untrusted").await;
}
