//! What changes while evidence is on its way is not trusted unseen, and not condemned for what it was.

use crate::pause::Pause;
use crate::world::{WorkerBox, World, ask, content};
use hyper::{Method, StatusCode};
use locus_attestation::gate::Asked;
use locus_attestation::verifier::{Pod, PodContainer, Trust};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

type Answer = JoinHandle<(StatusCode, Value)>;

/// A worker with a pod whose evidence was made and has not arrived.
async fn on_its_way(world: &World, worker: &mut WorkerBox) -> (Pod, Pause, Answer) {
    let pod = world.healthy_pod(worker, "redis").await;
    let pause = Pause::before(world, worker).await;
    let asked = attest(world, &pod);
    pause.made().await;
    (pod, pause, asked)
}

fn attest(world: &World, pod: &Pod) -> Answer {
    let (operator, path) = (
        world.operator(),
        format!("/v1/verifier/pods/{}/attest", pod.uid),
    );
    tokio::spawn(async move { ask(&operator, Method::POST, &path, Value::Null).await })
}

fn with_debugger(pod: &Pod) -> Pod {
    let mut more = pod.clone();
    more.containers.push(PodContainer {
        name: "debug".to_owned(),
        image: "evil".to_owned(),
        digest: content("image of nobody"),
        id: Some("aa".repeat(32).parse().unwrap()),
    });
    more
}

async fn remove(world: &World, pod: &Pod) {
    let path = format!("/v1/verifier/pods/{}", pod.uid);
    let (status, answer) = world.operate(Method::DELETE, &path, Value::Null).await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_described_anew_is_not_trusted_for_what_it_was() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let (pod, pause, asked) = on_its_way(&world, &mut worker).await;
    world.declare(&with_debugger(&pod)).await;
    pause.arrive();
    let (status, answer) = asked.await.unwrap();
    assert_eq!(status, StatusCode::CONFLICT, "{answer}");
    assert_eq!(answer["effect"], "inconclusive", "{answer}");
    let now = world.status(&pod);
    assert_eq!(now.trust, Trust::Unknown);
    assert!(now.token.is_empty(), "no signed result for what nobody saw");
    assert_eq!(now.pod.containers.len(), 2);
    // The worker's evidence was good.
    assert_eq!(world.trust("worker"), Trust::Trusted);
    pause.arrive();
    world.refused(&pod, "pod-untrusted").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_removed_and_declared_again_is_another_pod() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let (pod, pause, asked) = on_its_way(&world, &mut worker).await;
    let before = world.status(&pod).generation;
    remove(&world, &pod).await;
    // The same words, to the letter.
    world.declare(&pod).await;
    assert!(world.status(&pod).generation > before);
    pause.arrive();
    let (status, answer) = asked.await.unwrap();
    assert_eq!(status, StatusCode::CONFLICT, "{answer}");
    assert_eq!(world.status(&pod).trust, Trust::Unknown);
}

/// A removal forgets what a pod ran; one that comes back is judged by all that it ever ran.
#[tokio::test(flavor = "multi_thread")]
async fn a_condemned_pod_is_not_washed_clean_by_a_removal() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    worker.run(&pod, content("miner"), "/tmp/miner");
    world.refused(&pod, "pod-untrusted").await;
    remove(&world, &pod).await;
    world.declare(&pod).await;
    worker.run(&pod, content("libc"), "/lib/libc.so");
    let reason = world.refused(&pod, "pod-untrusted").await;
    assert!(reason.contains("/tmp/miner"), "{reason}");
    // An honest one comes back.
    let honest = world.healthy_pod(&mut worker, "honest").await;
    assert_eq!(world.attest(&honest).await.0, StatusCode::OK);
    remove(&world, &honest).await;
    world.declare(&honest).await;
    let (status, answer) = world.attest(&honest).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_removed_is_not_brought_back() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let (pod, pause, asked) = on_its_way(&world, &mut worker).await;
    remove(&world, &pod).await;
    pause.arrive();
    let (status, answer) = asked.await.unwrap();
    assert!(!status.is_success(), "{answer}");
    let path = format!("/v1/verifier/pods/{}", pod.uid);
    let (status, _) = world.operate(Method::GET, &path, Value::Null).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

/// There and back again: the description is what it was, and in between it was something else.
#[tokio::test(flavor = "multi_thread")]
async fn a_description_changed_and_changed_back_was_changed() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let (pod, pause, asked) = on_its_way(&world, &mut worker).await;
    world.declare(&with_debugger(&pod)).await;
    world.declare(&pod).await;
    pause.arrive();
    assert_eq!(asked.await.unwrap().0, StatusCode::CONFLICT);
    assert_eq!(world.status(&pod).trust, Trust::Unknown);
}

#[tokio::test(flavor = "multi_thread")]
async fn values_replaced_meanwhile_are_the_ones_that_count() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let (pod, pause, asked) = on_its_way(&world, &mut worker).await;
    let files = json!(["/usr/bin/redis"]);
    let path = "/v1/reference/images/redis/files";
    let (status, answer) = world.operate(Method::DELETE, path, files).await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
    pause.arrive();
    let (status, answer) = asked.await.unwrap();
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    assert_eq!(answer["effect"], "pod-untrusted", "{answer}");
    assert_eq!(world.status(&pod).trust, Trust::Untrusted);
}

/// The image is withdrawn as a whole, and with it the name it had.
#[tokio::test(flavor = "multi_thread")]
async fn an_image_withdrawn_meanwhile_is_not_known() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let (pod, pause, asked) = on_its_way(&world, &mut worker).await;
    let path = "/v1/reference/images/redis";
    let (status, answer) = world.operate(Method::DELETE, path, Value::Null).await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
    pause.arrive();
    let (status, answer) = asked.await.unwrap();
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    assert_ne!(world.status(&pod).trust, Trust::Trusted);
}

/// Before its first attestation a worker has no cursor, and after a new registration it has none either: only its
/// generation tells the two apart.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_registered_anew_is_not_trusted_for_what_it_was() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let (pod, pause, asked) = on_its_way(&world, &mut worker).await;
    let (status, answer) = world.register(&worker).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    pause.arrive();
    let (status, answer) = asked.await.unwrap();
    assert_eq!(status, StatusCode::CONFLICT, "{answer}");
    assert_eq!(world.trust("worker"), Trust::Unknown);
    assert_eq!(world.status(&pod).trust, Trust::Unknown);
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
}

/// The evidence condemns a worker that is registered anew before it arrives: that one has not been looked at.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_registered_anew_is_not_condemned_for_what_it_was() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let pause = Pause::before(&world, &worker).await;
    // The log lies.
    let log = worker.kernel.log().to_vec();
    worker.rewrite(&log[..log.len() - 200]);
    let asked = attest(&world, &pod);
    pause.made().await;
    worker.rewrite(&log);
    let (status, answer) = world.register(&worker).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    pause.arrive();
    let (status, answer) = asked.await.unwrap();
    assert_eq!(status, StatusCode::CONFLICT, "{answer}");
    assert_eq!(world.trust("worker"), Trust::Unknown);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_removed_is_not_brought_back() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let (_pod, pause, asked) = on_its_way(&world, &mut worker).await;
    let path = "/v1/registrations/worker";
    let (status, answer) = world.operate(Method::DELETE, path, Value::Null).await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
    pause.arrive();
    let (status, answer) = asked.await.unwrap();
    assert!(!status.is_success(), "{answer}");
    for path in ["/v1/workers/worker", "/v1/verifier/workers/worker"] {
        let (status, _) = world.operate(Method::GET, path, Value::Null).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
    }
}

/// However many ask for pods of a worker meanwhile: they share one quote, taken after they asked.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_asks_meanwhile_shares_the_next_quote() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let other = world.healthy_pod(&mut worker, "other").await;
    let (pod, pause, asked) = on_its_way(&world, &mut worker).await;
    let verifier = world.gate.as_ref().unwrap().verifier.clone().unwrap();
    let asked_for = Asked::default();
    let mut waiting: Vec<_> = (0..20)
        .map(|number| if number % 2 == 0 { pod.uid } else { other.uid })
        .map(|uid| Box::pin(verifier.attest_pod(uid, &asked_for)))
        .collect();
    for one in &mut waiting {
        // Once it was looked at, it has asked.
        let early = tokio::time::timeout(std::time::Duration::ZERO, one).await;
        assert!(early.is_err(), "one is on its way");
    }
    // What runs after the first quote is in the second.
    worker.run(&other, content("miner"), "/tmp/miner");
    pause.arrive();
    assert_eq!(asked.await.unwrap().0, StatusCode::OK);
    pause.made().await;
    pause.arrive();
    for (number, answer) in waiting.into_iter().enumerate() {
        match answer.await {
            Ok(known) => assert_eq!((number % 2, known.trust), (0, Trust::Trusted)),
            Err(problem) => assert_eq!((number % 2, problem.status.as_u16()), (1, 422)),
        }
    }
    assert_eq!(pause.quotes(), 2);
}
