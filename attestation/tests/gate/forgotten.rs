//! A gate that keeps nothing of its workers in memory comes to the same verdicts as one that keeps everything.

use hyper::{Method, StatusCode};
use locus_attestation::gate::nodes::KEPT;
use locus_attestation::verifier::Pod;
use serde_json::{Value, json};

use crate::measured::{LONG, WORKER};
use crate::world::{World, cgroup, content};

/// What was answered, without what is different in each life.
struct Diary {
    told: Vec<String>,
    names: Vec<(String, String)>,
}

impl Diary {
    fn knows(&mut self, pod: &Pod) {
        self.names.push((pod.uid.to_string(), pod.name.clone()));
    }

    fn note(&mut self, (status, answer): (StatusCode, Value)) {
        let pods = answer["pods"].as_array().cloned().unwrap_or_default();
        let mut pods: Vec<String> = pods
            .iter()
            .map(|pod| format!("{} {} {}", pod["pod"]["name"], pod["trust"], pod["reason"]))
            .collect();
        pods.sort();
        let worker = &answer["worker"];
        let mut text = format!(
            "{status} {} {} {} {} {pods:?}",
            answer["effect"], answer["detail"], worker["trust"], worker["reason"]
        );
        for (uid, name) in &self.names {
            text = text.replace(uid, name);
        }
        self.told.push(text);
    }
}

/// A worker's life with pods that come and go, strangers, new reference values, and a bad end.
async fn life(kept: usize) -> Vec<String> {
    let mut world = World::new().await;
    world.gate.take().unwrap().stop().await;
    world.start_gate_as(|config| config.kept = kept).await;
    let mut diary = Diary {
        told: Vec::new(),
        names: Vec::new(),
    };
    let attest = || world.operate(Method::POST, WORKER, Value::Null);
    let mut worker = world.registered("worker").await;
    let one = world.healthy_pod(&mut worker, "one").await;
    diary.knows(&one);
    for _ in 0..2 {
        diary.note(attest().await);
    }
    worker.run(&one, content("libc"), "/lib/libc.so");
    diary.note(attest().await);
    // Somebody who is declared late.
    let two = world.pod("worker", "two");
    diary.knows(&two);
    worker.run(&two, content("redis"), "/usr/bin/redis");
    diary.note(attest().await);
    world.declare(&two).await;
    diary.note(attest().await);
    // A container that is described late.
    let group = cgroup(one.uid, &"ef".repeat(32));
    worker.measure("sh:swapper/0", &group, content("redis"), "/usr/bin/redis");
    diary.note(attest().await);
    let mut described = one.clone();
    described.containers[0].id = Some("ef".repeat(32).parse().unwrap());
    world.declare(&described).await;
    diary.note(attest().await);
    worker.run(&two, content("miner"), "/tmp/miner");
    diary.note(attest().await);
    let path = format!("/v1/verifier/pods/{}", two.uid);
    let (status, _) = world.operate(Method::DELETE, &path, Value::Null).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    diary.note(attest().await);
    // A file is withdrawn that ran long ago, and comes back.
    for files in [
        json!({ "/usr/bin/redis": [content("redis")] }),
        json!({ "/usr/bin/redis": [content("redis")], "/lib/libc.so": [content("libc")] }),
    ] {
        let image = json!({ "digests": [content("image redis")], "files": files });
        let path = "/v1/reference/images/redis";
        let (status, answer) = world.operate(Method::PUT, path, image).await;
        assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
        diary.note(attest().await);
    }
    // Somebody who is never declared.
    let ghost = "11111111-2222-3333-4444-555555555555".parse().unwrap();
    let group = cgroup(ghost, &"ab".repeat(32));
    worker.measure("sh:swapper/0", &group, content("redis"), "/usr/bin/redis");
    diary.note(attest().await);
    world.later(LONG);
    diary.note(attest().await);
    diary.told
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_not_kept_in_memory_is_judged_the_same() {
    let kept = life(KEPT).await;
    // What the life comes to, so that two lives do not agree on nothing.
    let trusted = kept.iter().filter(|told| told.contains("\"trusted\""));
    assert!(trusted.count() >= 8, "{kept:#?}");
    assert!(kept[3].contains("not explained yet"), "{kept:#?}");
    assert!(kept[7].contains("/tmp/miner"), "{kept:#?}");
    assert!(kept[9].contains("/lib/libc.so"), "{kept:#?}");
    assert!(kept[12].contains("worker-untrusted"), "{kept:#?}");
    assert_eq!(life(0).await, kept);
}

/// What is kept in memory is never older than the database: a pod that is removed while another is attested is forgotten
/// in both, and condemns nobody once its details are forgotten, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_removal_during_an_attestation_leaves_nothing_behind() {
    const DAY: i64 = 86_400_000;
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let stays = world.healthy_pod(&mut worker, "stays").await;
    let jobs: Vec<Pod> = (0..24)
        .map(|n| world.pod("worker", &format!("job-{n}")))
        .collect();
    let verifier = world.gate.as_ref().unwrap().verifier.clone().unwrap();
    for job in &jobs {
        world.declare(job).await;
        worker.run(job, content("redis"), "/usr/bin/redis");
    }
    assert_eq!(world.attest(&stays).await.0, StatusCode::OK);
    let ended = jobs.clone();
    let removals = tokio::task::spawn_blocking(move || {
        for job in &ended {
            verifier.remove_pod(job.uid).unwrap();
            // Now and then none is kept, and an attestation reads it from the database.
            std::thread::sleep(std::time::Duration::from_millis(3));
        }
    });
    loop {
        let last = removals.is_finished();
        let (status, answer) = world.attest(&stays).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        if last {
            break;
        }
    }
    removals.await.unwrap();
    // Any removal forgets the details of those that were removed more than a day ago: here one of another worker.
    world.later(2 * DAY);
    let elsewhere = world.pod("another", "elsewhere");
    world.declare(&elsewhere).await;
    let path = format!("/v1/verifier/pods/{}", elsewhere.uid);
    let (status, answer) = world.operate(Method::DELETE, &path, Value::Null).await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
    for _ in 0..2 {
        let (status, answer) = world.operate(Method::POST, WORKER, Value::Null).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        assert_eq!(answer["worker"]["reason"], "attested", "{answer}");
        world.later(LONG);
    }
}
