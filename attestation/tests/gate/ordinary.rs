//! The ordinary life of a cluster, which condemns nobody: boots, restarts, jobs that end, neighbours that misbehave.

use hyper::{Method, StatusCode};
use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::ima::{BootAggregate, LogWriter};
use locus_attestation::policy::Mode;
use locus_attestation::verifier::Trust;
use serde_json::Value;

use crate::measured::{
    LONG, WORKER, append, boot_plain, image, ng, plain, plain_worker, pod_of, with_policy,
};
use crate::world::{SHIM, World, cgroup, content};

#[tokio::test(flavor = "multi_thread")]
async fn a_reboot_after_which_the_log_is_longer_than_before() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    let address = worker.address();
    worker.agent.take().unwrap().stop().await;
    worker.machine.reboot();
    worker.kernel = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1, HashAlg::Sha256]);
    worker.rewrite(&[]);
    worker.boot();
    worker.start_at(&address).await;
    for file in ["redis", "redis", "libc"] {
        let path = if file == "libc" {
            "/lib/libc.so"
        } else {
            "/usr/bin/redis"
        };
        worker.run(&pod, content(file), path);
    }
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(world.trust("worker"), Trust::Trusted);
    // Nor does it wash anything clean.
    worker.run(&pod, content("miner"), "/tmp/miner");
    world.refused(&pod, "pod-untrusted").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_is_restarted() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let mut pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    for restart in ["ef", "0a"] {
        pod.containers[0].id = Some(restart.repeat(32).parse().unwrap());
        worker.run(&pod, content("redis"), "/usr/bin/redis");
        world.declare(&pod).await;
        let (status, answer) = world.attest(&pod).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
    }
    // What the first container runs still counts.
    let first = world.pod("worker", "redis").containers[0]
        .id
        .unwrap()
        .to_string();
    let group = cgroup(pod.uid, &first);
    worker.measure("sh:swapper/0", &group, content("miner"), "/tmp/miner");
    world.refused(&pod, "pod-untrusted").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_is_faster_than_its_description() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let mut pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    let group = cgroup(pod.uid, &"ef".repeat(32));
    let chain = format!("/usr/bin/redis:{SHIM}");
    worker.measure(&chain, &group, content("redis"), "/usr/bin/redis");
    let (status, _) = world.operate(Method::POST, WORKER, Value::Null).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(world.status(&pod).trust, Trust::Trusted, "still");
    pod.containers[0].id = Some("ef".repeat(32).parse().unwrap());
    world.declare(&pod).await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    // One that is never described is refused in the end.
    let group = cgroup(pod.uid, &"0b".repeat(32));
    worker.measure(&chain, &group, content("redis"), "/usr/bin/redis");
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    world.later(LONG);
    let reason = world.refused(&pod, "pod-untrusted").await;
    assert!(reason.contains("0b0b"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_is_declared_a_little_late() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let early = world.healthy_pod(&mut worker, "early").await;
    assert_eq!(world.attest(&early).await.0, StatusCode::OK);
    let late = world.pod("worker", "late");
    worker.run(&late, content("redis"), "/usr/bin/redis");
    let (status, answer) = world.attest(&early).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(world.status(&early).trust, Trust::Trusted);
    world.declare(&late).await;
    assert_eq!(world.attest(&late).await.0, StatusCode::OK);
    world.later(LONG);
    assert_eq!(world.attest(&early).await.0, StatusCode::OK);
    assert_eq!(world.trust("worker"), Trust::Trusted);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_ends_on_a_kernel_without_control_groups_in_its_log() {
    for template in ["ima-ng", "ima-sig", "ima-ngv2"] {
        let world = World::new().await;
        image(&world, "job").await;
        let mut worker = plain_worker(&world, template).await;
        let stays = world.pod("worker", "stays");
        world.declare(&stays).await;
        plain(&mut worker, template, content("redis"), "/usr/bin/redis");
        let job = pod_of(&world, "job").await;
        plain(&mut worker, template, content("job"), "/job");
        assert_eq!(world.attest(&stays).await.0, StatusCode::OK, "{template}");
        assert_eq!(world.attest(&job).await.0, StatusCode::OK);
        // What it was and what it ran stay explained, also when its image is not in use any more.
        let path = format!("/v1/verifier/pods/{}", job.uid);
        world.operate(Method::DELETE, &path, Value::Null).await;
        world
            .operate(Method::DELETE, "/v1/reference/images/job", Value::Null)
            .await;
        for _ in 0..2 {
            let (status, answer) = world.attest(&stays).await;
            assert_eq!(status, StatusCode::OK, "{template}: {answer}");
            world.later(LONG);
        }
        // After a boot it is a stranger, although somebody knows its image.
        image(&world, "job").await;
        let address = worker.address();
        worker.agent.take().unwrap().stop().await;
        boot_plain(&mut worker, template);
        worker.start_at(&address).await;
        plain(&mut worker, template, content("redis"), "/usr/bin/redis");
        assert_eq!(world.attest(&stays).await.0, StatusCode::OK);
        plain(&mut worker, template, content("job"), "/job");
        assert_eq!(
            world.attest(&stays).await.0,
            StatusCode::OK,
            "kept for a while"
        );
        world.later(LONG);
        world.refused(&stays, "worker-untrusted").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_never_ran_is_not_trusted() {
    let world = World::new().await;
    let mut worker = plain_worker(&world, "ima-ng").await;
    let never = world.pod("worker", "never");
    world.declare(&never).await;
    world.refused(&never, "inconclusive").await;
    // Files of the runtime are not the pod's, and neither is a known content in another place.
    ng(&mut worker, content("runc"), "/usr/bin/runc");
    ng(&mut worker, content("redis"), "/somewhere/else");
    world.refused(&never, "inconclusive").await;
    ng(&mut worker, content("redis"), "/usr/bin/redis");
    assert_eq!(world.attest(&never).await.0, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_never_ran_is_not_trusted_for_what_others_ran() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let never = world.pod("worker", "never");
    world.declare(&never).await;
    world.refused(&never, "inconclusive").await;
    worker.measure(
        "kubelet:swapper/0",
        "/kubepods.slice",
        content("shim"),
        SHIM,
    );
    let group = cgroup(never.uid, &never.containers[0].id.unwrap().to_string());
    worker.measure("runc:swapper/0", &group, content("runc"), "/usr/bin/runc");
    world.refused(&never, "inconclusive").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rootkit_on_a_kernel_without_control_groups_in_its_log() {
    let world = World::new().await;
    let mut worker = plain_worker(&world, "ima-ng").await;
    let pod = world.pod("worker", "redis");
    world.declare(&pod).await;
    ng(&mut worker, content("redis"), "/usr/bin/redis");
    ng(&mut worker, content("rootkit"), "/tmp/rootkit");
    let (_, answer) = world.operate(Method::POST, WORKER, Value::Null).await;
    assert_eq!(answer["effect"], "worker-untrusted", "{answer}");
    let reason = world.refused(&pod, "worker-untrusted").await;
    assert!(reason.contains("/tmp/rootkit"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_tenants_file_where_the_host_is_not_judged() {
    let world = with_policy(|policy| policy.host = Mode::Reported).await;
    let mut worker = plain_worker(&world, "ima-ng").await;
    let victim = world.pod("worker", "victim");
    world.declare(&victim).await;
    ng(&mut worker, content("redis"), "/usr/bin/redis");
    ng(&mut worker, content("tool of another tenant"), "/tmp/tool");
    for _ in 0..2 {
        let (status, answer) = world.attest(&victim).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        world.later(LONG);
    }
    ng(&mut worker, content("module"), "/tmp/x.ko");
    let reason = world.refused(&victim, "worker-untrusted").await;
    assert!(reason.contains("x.ko"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn buffers_that_the_kernel_measures() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let mut buffer = |name: &str, data: &[u8]| {
        let digest = HashAlg::Sha256.hash(&[data]).to_string();
        append(
            &mut worker,
            "ima-buf",
            &[digest.as_bytes(), name.as_bytes(), data],
        );
    };
    buffer(".builtin_trusted_keys", b"0\x82 a key");
    buffer("kernel_version", b"6.12");
    buffer("_ses", b"0\x82 a tenant's key");
    // Any user may call a keyring so.
    buffer("kexec-cmdline", b"0\x82 a tenant's key");
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    buffer("kexec-cmdline", b"root=/dev/evil");
    let reason = world.refused(&pod, "worker-untrusted").await;
    assert!(reason.contains("kexec-cmdline"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_with_kexec_needs_a_reboot_and_is_not_an_attack() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    // The next kernel has a log of its own; the registers go on from where they were.
    let address = worker.address();
    worker.agent.take().unwrap().stop().await;
    worker.kernel = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1, HashAlg::Sha256]);
    worker.rewrite(&[]);
    worker.boot();
    worker.start_at(&address).await;
    for path in ["/usr/bin/redis", "/lib/libc.so"] {
        let file = if path.contains("libc") {
            "libc"
        } else {
            "redis"
        };
        worker.run(&pod, content(file), path);
        let reason = world.refused(&pod, "needs-reboot").await;
        assert!(
            reason.contains("kexec") && reason.contains("reboot"),
            "{reason}"
        );
        assert_eq!(world.trust("worker"), Trust::Unknown);
        assert_eq!(world.status(&pod).trust, Trust::Unknown);
    }
    worker.agent.take().unwrap().stop().await;
    worker.machine.reboot();
    worker.kernel = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1, HashAlg::Sha256]);
    worker.rewrite(&[]);
    worker.boot();
    worker.start_at(&address).await;
    worker.run(&pod, content("redis"), "/usr/bin/redis");
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    // A log that was carried over has two boot aggregates.
    let zeros = vec![locus_attestation::digest::Digest::zero(HashAlg::Sha256); 10];
    let aggregate = locus_attestation::ima::BootAggregate::over(HashAlg::Sha256, &zeros).unwrap();
    worker.measure("swapper:swapper", "/", aggregate.current, "boot_aggregate");
    world.refused(&pod, "needs-reboot").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_ended_days_ago_on_a_kernel_that_names_containers_without_their_pods() {
    const DAY: i64 = 86_400_000;
    let world = World::new().await;
    let mut worker = world.worker("worker").await;
    let address = worker.address();
    worker.agent.take().unwrap().stop().await;
    worker.machine.reboot();
    worker.kernel = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1, HashAlg::Sha256]);
    worker.rewrite(&[]);
    let named = |worker: &mut crate::world::WorkerBox, group: &str, digest: Digest, path: &str| {
        let digest = digest.to_string();
        let fields = [
            b"swapper/0",
            group.as_bytes(),
            digest.as_bytes(),
            path.as_bytes(),
        ];
        append(worker, "ima-dep-cgn", &fields);
    };
    let zeros = vec![Digest::zero(HashAlg::Sha256); 10];
    let aggregate = BootAggregate::over(HashAlg::Sha256, &zeros).unwrap();
    named(&mut worker, "/", aggregate.current, "boot_aggregate");
    named(&mut worker, "containerd.service", content("shim"), SHIM);
    worker.start_at(&address).await;
    let (status, answer) = world.register(&worker).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let mut pods = Vec::new();
    for name in ["stays", "job", "other"] {
        let pod = world.pod("worker", name);
        world.declare(&pod).await;
        let group = format!("cri-containerd-{}.scope", pod.containers[0].id.unwrap());
        named(&mut worker, &group, content("redis"), "/usr/bin/redis");
        pods.push(pod);
    }
    assert_eq!(world.attest(&pods[0]).await.0, StatusCode::OK);
    // A removal forgets the details of those that were removed more than a day ago.
    for pod in &pods[1..] {
        let path = format!("/v1/verifier/pods/{}", pod.uid);
        let (status, answer) = world.operate(Method::DELETE, &path, Value::Null).await;
        assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
        world.later(2 * DAY);
    }
    for _ in 0..2 {
        let (status, answer) = world.attest(&pods[0]).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        assert_eq!(world.trust("worker"), Trust::Trusted);
        world.later(LONG);
    }
}
