//! A policy that changes while evidence is on its way: nothing is trusted by the old one.

use crate::gate_program::GateProgram;
use crate::pause::Pause;
use crate::world::{World, ask, content};
use hyper::{Method, StatusCode};
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
}
