//! What attackers wanted of the measurements, and what they get.
//!
//! Each test is named after the wish.

use std::sync::Arc;

use hyper::{Method, StatusCode};
use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::ima::{BootAggregate, LogWriter};
use locus_attestation::policy::Mode;
use locus_attestation::verifier::{Pod, Trust};
use serde_json::{Value, json};

use crate::world::{SHIM, WorkerBox, World, cgroup, content};

/// Longer than any grace time.
pub(crate) const LONG: i64 = 3_600_000;
pub(crate) const WORKER: &str = "/v1/verifier/workers/worker/attest";

/// Changes the head of the entries for which `which` holds: the name of the template and the PCR are in no hash.
fn relabel(
    log: &[u8],
    name: Option<&str>,
    pcr: Option<u32>,
    which: impl Fn(&[u8]) -> bool,
) -> Vec<u8> {
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let sized = |out: &mut Vec<u8>, bytes: &[u8]| {
        out.extend_from_slice(&u32::try_from(bytes.len()).unwrap().to_le_bytes());
        out.extend_from_slice(bytes);
    };
    let mut out = Vec::new();
    let mut rest = log;
    while !rest.is_empty() {
        let name_end = 28 + number(&rest[24..]);
        let data_end = name_end + 4 + number(&rest[name_end..]);
        let data = &rest[name_end + 4..data_end];
        let chosen = which(data);
        match pcr.filter(|_| chosen) {
            Some(pcr) => out.extend_from_slice(&pcr.to_le_bytes()),
            None => out.extend_from_slice(&rest[..4]),
        }
        out.extend_from_slice(&rest[4..24]);
        match name.filter(|_| chosen) {
            Some(name) => sized(&mut out, name.as_bytes()),
            None => sized(&mut out, &rest[28..name_end]),
        }
        sized(&mut out, data);
        rest = &rest[data_end..];
    }
    out
}

fn has(data: &[u8], text: &str) -> bool {
    data.windows(text.len())
        .any(|window| window == text.as_bytes())
}

/// The log is replaced and the agent started again: it has remembered where entries started.
async fn restarted(worker: &mut WorkerBox, log: &[u8]) {
    let address = worker.address();
    worker.agent.take().unwrap().stop().await;
    worker.rewrite(log);
    worker.start_at(&address).await;
}

/// Appends an entry of any template.
pub(crate) fn append(worker: &mut WorkerBox, template: &str, fields: &[&[u8]]) {
    let before = worker.kernel.entries();
    let extended = worker.kernel.append(template, fields).unwrap();
    worker.machine.extend(10, &extended);
    let new = worker.kernel.log_from(before).to_vec();
    worker.append(&new);
}

pub(crate) fn ng(worker: &mut WorkerBox, digest: Digest, path: &str) {
    append(
        worker,
        "ima-ng",
        &[digest.to_string().as_bytes(), path.as_bytes()],
    );
}

/// A worker whose kernel has a template without control groups, as every mainline kernel.
pub(crate) async fn plain_worker(world: &World, template: &str) -> WorkerBox {
    let mut worker = world.worker("worker").await;
    let address = worker.address();
    worker.agent.take().unwrap().stop().await;
    boot_plain(&mut worker, template);
    worker.start_at(&address).await;
    let (status, answer) = world.register(&worker).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    worker
}

pub(crate) fn boot_plain(worker: &mut WorkerBox, template: &str) {
    worker.machine.reboot();
    worker.kernel = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1, HashAlg::Sha256]);
    worker.rewrite(&[]);
    let zeros = vec![Digest::zero(HashAlg::Sha256); 10];
    let aggregate = BootAggregate::over(HashAlg::Sha256, &zeros)
        .unwrap()
        .current;
    plain(worker, template, aggregate, "boot_aggregate");
    plain(worker, template, content("shim"), SHIM);
}

pub(crate) fn plain(worker: &mut WorkerBox, template: &str, digest: Digest, path: &str) {
    let digest = digest.to_string();
    let typed = format!("ima:{digest}");
    match template {
        "ima-ng" => append(worker, template, &[digest.as_bytes(), path.as_bytes()]),
        "ima-ngv2" => append(worker, template, &[typed.as_bytes(), path.as_bytes()]),
        _ => append(worker, template, &[digest.as_bytes(), path.as_bytes(), b""]),
    }
}

pub(crate) async fn image(world: &World, name: &str) {
    let path = format!("/v1/reference/images/{name}");
    let files = json!({ format!("/{name}"): [content(name)] });
    let image = json!({ "digests": [content(&format!("image {name}"))], "files": files });
    let (status, answer) = world.operate(Method::PUT, &path, image).await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
}

/// A pod of an image with one file.
pub(crate) async fn pod_of(world: &World, name: &str) -> Pod {
    let mut pod = world.pod("worker", name);
    pod.containers[0].digest = content(&format!("image {name}"));
    pod.containers[0].image = name.to_owned();
    world.declare(&pod).await;
    pod
}

pub(crate) async fn with_policy(
    change: impl Fn(&mut locus_attestation::policy::WorkerPolicy),
) -> World {
    let mut world = World::new().await;
    world.gate.take().unwrap().stop().await;
    world
        .start_gate_as(|config| config.policy.each(change))
        .await;
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn to_move_a_miner_out_of_its_pod_by_the_name_of_a_template() {
    // Formats of every order, and names that only look alike.
    let names = [
        "cg-path|dep|d-ng|n-ng",
        "dep|n-ng|d-ng|cg-path",
        "n-ng|buf|d-ng|cg-path",
        "dep|cg-path|d-ng|n-ng",
        "ima-cgpath\0",
        "IMA-CGPATH",
        // Names of the table: one with the same fields, one with others.
        "ima-dep-cgn",
        "ima-ng",
        "",
    ];
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    worker.run(&pod, content("miner"), "/tmp/miner");
    let honest = worker.kernel.log().to_vec();
    for name in names {
        let (status, answer) = world.register(&worker).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        let log = relabel(&honest, Some(name), None, |data| has(data, "/tmp/miner"));
        restarted(&mut worker, &log).await;
        let reason = world.refused(&pod, "worker-untrusted").await;
        assert!(reason.contains("template"), "{name}: {reason}");
        restarted(&mut worker, &honest).await;
    }
    world.register(&worker).await;
    let reason = world.refused(&pod, "pod-untrusted").await;
    assert!(reason.contains("/tmp/miner"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn to_have_the_templates_recorded_that_suit_the_attacker() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    worker.run(&pod, content("miner"), "/tmp/miner");
    let honest = worker.kernel.log().to_vec();
    let miner = |data: &[u8]| has(data, "/tmp/miner");
    let first = |data: &[u8]| has(data, "boot_aggregate");
    let lies = [
        relabel(&honest, Some("ima-dep-cgn"), None, miner),
        relabel(&honest, Some("ima-dep-cgn"), None, first),
        relabel(&honest, Some("cg-path|dep|d-ng|n-ng"), None, miner),
        relabel(&honest, Some("d-ng|n-ng"), None, first),
        Vec::new(),
    ];
    for lie in lies {
        restarted(&mut worker, &lie).await;
        let (status, answer) = world.register(&worker).await;
        assert!(!status.is_success(), "{answer}");
        assert_eq!(answer["effect"], "worker-refused", "{answer}");
        let reason = answer["detail"].as_str().unwrap();
        assert!(
            reason.contains("template") || reason.contains("log"),
            "{reason}"
        );
    }
    // What was recorded counts from the first attestation on, and after the next boot.
    restarted(&mut worker, &honest).await;
    let (status, answer) = world.register(&worker).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let renamed = relabel(&honest, Some("ima-dep-cgn"), None, |_| true);
    restarted(&mut worker, &renamed).await;
    let reason = world.refused(&pod, "worker-untrusted").await;
    assert!(reason.contains("`ima-dep-cgn`"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn to_use_another_template_after_a_reboot() {
    let world = World::new().await;
    let mut worker = plain_worker(&world, "ima-sig").await;
    let (status, answer) = world.operate(Method::POST, WORKER, Value::Null).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    for template in ["ima-ng", "ima-ngv2"] {
        let address = worker.address();
        worker.agent.take().unwrap().stop().await;
        boot_plain(&mut worker, template);
        worker.start_at(&address).await;
        let (_, answer) = world.operate(Method::POST, WORKER, Value::Null).await;
        assert_eq!(answer["effect"], "worker-untrusted", "{answer}");
        // An operator who wanted that registers the worker anew.
        let (status, answer) = world.register(&worker).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        let (status, answer) = world.operate(Method::POST, WORKER, Value::Null).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn to_make_a_buffer_of_the_kernel_a_file_where_the_host_is_not_judged() {
    let world = with_policy(|policy| policy.host = Mode::Reported).await;
    let mut worker = plain_worker(&world, "ima-sig").await;
    let line = b"root=/dev/evil";
    let digest = HashAlg::Sha256.hash(&[line]).to_string();
    append(
        &mut worker,
        "ima-buf",
        &[digest.as_bytes(), b"kexec-cmdline", line],
    );
    let log = relabel(worker.kernel.log(), Some("ima-sig"), None, |data| {
        has(data, "kexec-cmdline")
    });
    restarted(&mut worker, &log).await;
    let (_, answer) = world.operate(Method::POST, WORKER, Value::Null).await;
    assert_eq!(answer["effect"], "worker-untrusted", "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn to_rename_entries_from_the_middle_of_a_log_on() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    worker.run(&pod, content("libc"), "/lib/libc.so");
    worker.run(&pod, content("miner"), "/tmp/miner");
    let log = relabel(worker.kernel.log(), Some("ima-dep-cgn"), None, |data| {
        has(data, "/tmp/miner") || has(data, "/lib/libc.so")
    });
    worker.rewrite(&log);
    world.refused(&pod, "worker-untrusted").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn to_make_a_file_the_hosts_on_a_kernel_without_control_groups() {
    let world = with_policy(|policy| policy.host = Mode::Reported).await;
    let mut worker = plain_worker(&world, "ima-ng").await;
    let pod = world.pod("worker", "redis");
    world.declare(&pod).await;
    ng(&mut worker, content("redis"), "/usr/bin/redis");
    ng(&mut worker, content("miner"), "/lib/modules/miner.ko");
    for name in ["d-ng|cg-path", "d-ng|n-ng", "ima", "ima-sig"] {
        let (status, answer) = world.register(&worker).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        let honest = worker.kernel.log().to_vec();
        let log = relabel(&honest, Some(name), None, |data| has(data, "miner.ko"));
        restarted(&mut worker, &log).await;
        world.refused(&pod, "worker-untrusted").await;
        restarted(&mut worker, &honest).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn to_move_a_patched_runtime_to_the_host() {
    let world = with_policy(|policy| policy.host = Mode::Reported).await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    worker.measure(
        &format!("{SHIM}:/usr/lib/systemd/systemd"),
        "/system.slice/containerd.service",
        content("patched runc"),
        "/usr/bin/runc",
    );
    let log = relabel(
        worker.kernel.log(),
        Some("n-ng|buf|d-ng|cg-path"),
        None,
        |data| has(data, "/usr/bin/runc"),
    );
    worker.rewrite(&log);
    world.refused(&pod, "worker-untrusted").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn to_hide_an_entry_in_another_register() {
    for pcr in [11, 14, 16, 23] {
        let world = World::new().await;
        let mut worker = world.registered("worker").await;
        let pod = world.healthy_pod(&mut worker, "redis").await;
        worker.run(&pod, content("miner"), "/tmp/miner");
        let log = relabel(worker.kernel.log(), None, Some(pcr), |data| {
            has(data, "/tmp/miner")
        });
        worker.rewrite(&log);
        let reason = world.refused(&pod, "worker-untrusted").await;
        assert!(reason.contains(&format!("PCR {pcr}")), "{reason}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn to_make_a_file_a_buffer_of_the_kernel() {
    let world = World::new().await;
    let mut worker = plain_worker(&world, "ima-sig").await;
    // A file with a signature, and one without: `ima-buf` has the same fields.
    let digest = content("rootkit").to_string();
    append(
        &mut worker,
        "ima-sig",
        &[digest.as_bytes(), b"kernel_version", b"\x03\x02sig"],
    );
    let digest = content("kit").to_string();
    append(
        &mut worker,
        "ima-sig",
        &[digest.as_bytes(), b"kernel_version", b""],
    );
    // Files whose signature, of any kind that kernels log, is their own content.
    for code in [b"\x03code", b"\x05code", b"\x06code"] {
        let digest = HashAlg::Sha256.hash(&[code]).to_string();
        append(
            &mut worker,
            "ima-sig",
            &[digest.as_bytes(), b"kernel_version", code],
        );
    }
    let log = relabel(worker.kernel.log(), Some("ima-buf"), None, |data| {
        has(data, "kernel_version")
    });
    restarted(&mut worker, &log).await;
    let (_, answer) = world.operate(Method::POST, WORKER, Value::Null).await;
    assert_eq!(answer["effect"], "worker-untrusted", "{answer}");
    assert!(
        answer["detail"]
            .as_str()
            .unwrap()
            .matches("kernel_version")
            .count()
            == 5,
        "{answer}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn to_be_washed_clean_by_an_answer_from_the_start() {
    // With the honest log from its start, and with one that has other names.
    for name in [None, Some("ima-dep-cgn")] {
        let world = World::new().await;
        let mut worker = world.registered("worker").await;
        let pod = world.healthy_pod(&mut worker, "redis").await;
        worker.run(&pod, content("miner"), "/tmp/miner");
        let (status, _) = world.operate(Method::POST, WORKER, Value::Null).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(world.status(&pod).trust, Trust::Untrusted);
        let log = relabel(worker.kernel.log(), name, None, |data| {
            has(data, "/tmp/miner")
        });
        let forge: crate::rogue::Forgery = Arc::new(move |request, tpm, keys| {
            let mut request = request.clone();
            request.first_entry = 0;
            crate::rogue::evidence(&request, tpm, keys, &request.selection, &log)
        });
        let server = crate::rogue::rogue(&world, &mut worker, forge).await;
        let (status, answer) = world.attest(&pod).await;
        assert_ne!(status, StatusCode::OK, "{answer}");
        server.abort();
        assert_eq!(world.status(&pod).trust, Trust::Untrusted);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn to_hide_in_the_group_of_a_pod_that_nobody_declared() {
    let docker = format!("/system.slice/docker-{}.scope", "cd".repeat(32));
    let ghost = "11111111-2222-3333-4444-555555555555".parse().unwrap();
    for group in [cgroup(ghost, &"ab".repeat(32)), docker] {
        let world = World::new().await;
        let mut worker = world.registered("worker").await;
        let pod = world.healthy_pod(&mut worker, "redis").await;
        worker.measure(
            "/bin/bash:swapper/0",
            &group,
            content("rootkit"),
            "/tmp/rootkit",
        );
        let (status, answer) = world.attest(&pod).await;
        assert_eq!(
            (status, &answer["effect"]),
            (StatusCode::CONFLICT, &json!("pending")),
            "{answer}"
        );
        assert_eq!(world.trust("worker"), Trust::Unknown);
        world.later(LONG);
        let reason = world.refused(&pod, "worker-untrusted").await;
        assert!(reason.contains("declared"), "{reason}");
        assert_eq!(world.trust("worker"), Trust::Untrusted);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn to_hide_in_the_group_of_a_pod_that_is_gone() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let stays = world.healthy_pod(&mut worker, "stays").await;
    let gone = world.healthy_pod(&mut worker, "gone").await;
    assert_eq!(world.attest(&stays).await.0, StatusCode::OK);
    let path = format!("/v1/verifier/pods/{}", gone.uid);
    let (status, _) = world.operate(Method::DELETE, &path, Value::Null).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    // While it ends, a tenant's pod condemns nobody.
    worker.run(&gone, content("last words"), "/tmp/last");
    assert_eq!(world.attest(&stays).await.0, StatusCode::OK);
    world.later(LONG);
    assert_eq!(world.attest(&stays).await.0, StatusCode::OK);
    worker.run(&gone, content("rootkit"), "/tmp/rootkit");
    let reason = world.refused(&stays, "worker-untrusted").await;
    assert!(reason.contains("removed"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn to_be_overlooked_as_a_boot_aggregate() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    worker.measure(
        "/bin/bash:swapper/0",
        "/",
        content("rootkit"),
        "boot_aggregate",
    );
    let reason = world.refused(&pod, "worker-untrusted").await;
    assert!(reason.contains("boot_aggregate"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn to_load_a_module_where_the_host_is_not_judged() {
    for path in [
        "/lib/modules/6.12/rootkit.ko",
        "/tmp/k.ko.zst",
        "/boot/vmlinuz-evil",
        "/etc/ima/ima-policy",
    ] {
        let world = with_policy(|policy| policy.host = Mode::Reported).await;
        let mut worker = world.registered("worker").await;
        let pod = world.healthy_pod(&mut worker, "redis").await;
        worker.measure(
            "/bin/bash:swapper/0",
            "/system.slice",
            content("tool"),
            "/opt/tool",
        );
        assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
        worker.measure(
            "/sbin/insmod:swapper/0",
            "/system.slice",
            content("evil"),
            path,
        );
        let reason = world.refused(&pod, "worker-untrusted").await;
        assert!(reason.contains(path), "{reason}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_says_more_than_was_found() {
    let world = with_policy(|policy| policy.host = Mode::Reported).await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    let token = world.status(&pod).token;
    let payload = token.split('.').nth(1).unwrap();
    let payload = locus_attestation::evidence::base64url::from_base64url(payload).unwrap();
    let result: Value = serde_json::from_slice(&payload).unwrap();
    for part in result["submods"].as_object().unwrap().values() {
        let vector = &part["ear.trustworthiness-vector"];
        assert!(vector.get("executables").is_none(), "{part}");
        assert!(vector.get("hardware").is_none(), "{part}");
        assert_eq!(part["locus.reasons"].as_array().unwrap().len(), 2, "{part}");
    }
}
