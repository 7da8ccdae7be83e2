//! The attacks that break the published prototype, against the real agent and the real gate.

use std::sync::Arc;

use crate::rogue::{Forgery, claims, evidence, quoted, rogue};
use crate::world::{World, ask, content};
use hyper::{Method, StatusCode};
use locus_attestation::agent::server::{ACKNOWLEDGE, CHALLENGE, EVIDENCE, IDENTITY};
use locus_attestation::agent::state::StateFolder;
use locus_attestation::digest::HashAlg;
use locus_attestation::evidence::{Evidence, QuotePart};
use locus_attestation::net::Role;
use locus_attestation::tpm::PcrSelection;
use locus_attestation::verifier::{PodContainer, Trust};
use serde_json::{Value, json};

/// 1: the fields of the log are rewritten, its template hashes left as they are.
#[tokio::test(flavor = "multi_thread")]
async fn rewritten_log_fields_are_noticed() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    worker.run(&pod, content("miner"), "/tmp/miner");
    let mut log = worker.kernel.log().to_vec();
    let places: Vec<usize> = log
        .windows(10)
        .enumerate()
        .filter_map(|(at, bytes)| (bytes == b"/tmp/miner").then_some(at))
        .collect();
    assert!(!places.is_empty());
    for at in places {
        log[at..at + 10].copy_from_slice(b"/usr/redis");
    }
    worker.rewrite(&log);
    let reason = world.refused(&pod, "worker-untrusted").await;
    assert!(reason.contains("template hash"), "{reason}");
    assert_eq!(world.trust("worker"), Trust::Untrusted);
    assert_eq!(world.status(&pod).trust, Trust::Untrusted);
    // Once untrusted, a worker is not asked again until it is registered anew.
    worker.rewrite(worker.kernel.log());
    let reason = world.refused(&pod, "worker-untrusted").await;
    assert!(reason.contains("is untrusted"), "{reason}");
}

/// 1, the other way: the template hashes fit the forged fields, and the register does not.
#[tokio::test(flavor = "multi_thread")]
async fn a_consistent_forgery_does_not_lead_to_the_quoted_register() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let honest = worker.kernel.log().to_vec();
    worker.run(&pod, content("miner"), "/tmp/miner");
    // As if the miner had never run.
    worker.rewrite(&honest);
    let reason = world.refused(&pod, "worker-untrusted").await;
    assert!(reason.contains("quoted PCR value"), "{reason}");
}

/// 2: a quote over registers that software can reset, or over a weak bank.
#[tokio::test(flavor = "multi_thread")]
async fn the_attacker_does_not_choose_registers_or_banks() {
    for resettable in [true, false] {
        let world = World::new().await;
        let mut worker = world.registered("worker").await;
        let pod = world.healthy_pod(&mut worker, "redis").await;
        worker.machine.reset(16);
        let log = worker.kernel.log().to_vec();
        let forge: Forgery = Arc::new(move |request, tpm, keys| {
            let selection = if resettable {
                let pcrs = (0..10).chain([16]);
                PcrSelection::of(HashAlg::Sha256, pcrs)
            } else {
                PcrSelection::of(HashAlg::Sha1, 0..=10)
            };
            evidence(request, tpm, keys, &selection, &log)
        });
        let server = rogue(&world, &mut worker, forge).await;
        let reason = world.refused(&pod, "worker-untrusted").await;
        assert!(reason.contains("asked for were"), "{reason}");
        server.abort();
    }
}

/// 3: anybody else than the worker handler challenges or acknowledges.
#[tokio::test(flavor = "multi_thread")]
async fn only_the_worker_handler_registers_and_the_verifier_is_not_overwritten() {
    let world = World::new().await;
    let worker = world.registered("worker").await;
    let before = std::fs::read_to_string(worker.state.join("registered.json")).unwrap();
    for role in [Role::Agent, Role::Tenant, Role::Operator, Role::Verifier] {
        let stranger = world.client_to(role, "stranger", &worker.address(), "worker");
        for (method, path) in [
            (Method::GET, IDENTITY),
            (Method::POST, CHALLENGE),
            (Method::POST, ACKNOWLEDGE),
        ] {
            let body = forged_message(path);
            let (status, answer) = ask(&stranger, method, path, body).await;
            assert_eq!(status, StatusCode::FORBIDDEN, "{role:?} {path}: {answer}");
        }
    }
    // Even a handler cannot acknowledge what it did not challenge.
    let handler = world.client_to(
        Role::WorkerHandler,
        "worker-handler",
        &worker.address(),
        "worker",
    );
    let (status, _) = ask(
        &handler,
        Method::POST,
        ACKNOWLEDGE,
        forged_message(ACKNOWLEDGE),
    )
    .await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let after = std::fs::read_to_string(worker.state.join("registered.json")).unwrap();
    assert_eq!(before, after);
}

fn forged_message(path: &str) -> Value {
    let session = uuid::Uuid::new_v4();
    match path {
        CHALLENGE => json!({
            "session": session,
            "credential": { "id_object": "AAAA", "encrypted_seed": "AAAA" },
            "nonce": "AAAA",
            "selection": [],
        }),
        ACKNOWLEDGE => json!({
            "session": session,
            "verifier_key": "sha256:attacker",
            "certificate": "none",
            "mac": "AAAA",
        }),
        _ => Value::Null,
    }
}

/// 3 and "answers only the verifier": evidence is for the one verifier it was registered with.
#[tokio::test(flavor = "multi_thread")]
async fn evidence_is_shown_to_the_registered_verifier_alone() {
    let world = World::new().await;
    let worker = world.registered("worker").await;
    let request = json!({
        "nonce": locus_attestation::evidence::Nonce::random().unwrap(),
        "worker": uuid::Uuid::nil(), "pod": null, "tenant": null, "first_entry": 0,
        "selection": [{ "bank": "sha256", "pcrs": [10] }],
    });
    for role in [Role::WorkerHandler, Role::Operator, Role::Agent] {
        let name = if role == Role::WorkerHandler {
            "worker-handler"
        } else {
            "other"
        };
        let stranger = world.client_to(role, name, &worker.address(), "worker");
        let (status, _) = ask(&stranger, Method::POST, EVIDENCE, request.clone()).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{role:?}");
    }
    let second = world.client_to(Role::Verifier, "verifier", &worker.address(), "worker");
    let (status, answer) = ask(&second, Method::POST, EVIDENCE, request).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    let detail = answer["detail"].as_str().unwrap();
    assert!(detail.contains("not the verifier"), "{detail}");
}

/// 4: every endpoint knows its roles; nothing is served without a certificate or without TLS.
#[tokio::test(flavor = "multi_thread")]
async fn endpoints_are_closed_to_others() {
    let world = World::new().await;
    let (_, document) = world
        .operate(Method::GET, "/openapi.json", Value::Null)
        .await;
    let stranger = world.client(Role::Agent, "stranger");
    let mut closed = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if operation["x-locus-roles"].as_array().unwrap().is_empty() {
                continue;
            }
            let path = path.replace(['{', '}'], "");
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let (status, _) = ask(&stranger, method, &path, Value::Null).await;
            assert_eq!(status, StatusCode::FORBIDDEN, "{path}");
            closed += 1;
        }
    }
    assert!(closed >= 25, "{closed}");
    let mut plain = std::net::TcpStream::connect(&world.gate_address).unwrap();
    plain
        .set_read_timeout(Some(std::time::Duration::from_secs(10)))
        .unwrap();
    std::io::Write::write_all(&mut plain, b"GET /healthz HTTP/1.1\r\nHost: gate\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    // Either an alert or a reset: no answer in HTTP.
    let _ = std::io::Read::read_to_end(&mut plain, &mut answer);
    assert!(!answer.starts_with(b"HTTP"), "plain HTTP was answered");
}

/// 4: a certificate of another authority opens nothing, on either side.
#[tokio::test(flavor = "multi_thread")]
async fn certificates_of_other_installations_are_refused() {
    let (world, other) = (World::new().await, World::new().await);
    let foreign = other.client_to(Role::Operator, "root", &world.gate_address, "gate");
    let refused = foreign
        .exchange(Method::GET, "/healthz", &[], Vec::new())
        .await;
    assert!(refused.is_err(), "{refused:?}");
}

/// 7: a boot that no reference value knows is refused at registration, by name.
#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_boot_is_not_affirmed() {
    let world = World::new().await;
    let worker = world.worker("worker").await;
    worker.machine.extend(0, &[content("another firmware")]);
    let (status, answer) = world.register(&worker).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(answer["effect"], "worker-refused");
    let detail = answer["detail"].as_str().unwrap();
    assert!(detail.contains("boot aggregate"), "{detail}");
    let path = "/v1/workers/worker";
    let (status, _) = world.operate(Method::GET, path, Value::Null).await;
    assert_eq!(
        status,
        StatusCode::NOT_FOUND,
        "a refused worker is not stored"
    );
}

/// 7: a TPM of an unknown manufacturer is refused.
#[tokio::test(flavor = "multi_thread")]
async fn a_tpm_of_an_unknown_manufacturer_is_refused() {
    let world = World::new().await;
    let worker = world.worker("worker").await;
    let id = world.factory.manufacturer();
    let path = format!("/v1/manufacturers/{id}");
    let (status, _) = world.operate(Method::DELETE, &path, Value::Null).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let (status, answer) = world.register(&worker).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let detail = answer["detail"].as_str().unwrap();
    assert!(
        detail.contains("endorsement key is not accepted"),
        "{detail}"
    );
}

/// 8: old evidence is shown again, as it is or with new claims around the old quote.
#[tokio::test(flavor = "multi_thread")]
async fn evidence_cannot_be_replayed() {
    for new_claims in [false, true] {
        let world = World::new().await;
        let mut worker = world.registered("worker").await;
        let pod = world.healthy_pod(&mut worker, "redis").await;
        let log = worker.kernel.log().to_vec();
        let kept = std::sync::Mutex::new(None::<(Vec<u8>, QuotePart)>);
        let forge: Forgery = Arc::new(move |request, tpm, keys| {
            let mut kept = kept.lock().unwrap();
            let first = kept.is_none();
            let (old, part) = kept.get_or_insert_with(|| {
                let part = quoted(request, tpm, keys, &request.selection);
                (claims(request), part)
            });
            // The second time nothing is new.
            let log = if first || !new_claims { &log[..] } else { &[] };
            let new = claims(request);
            Evidence::encode(if new_claims { &new } else { old }, part, Some(log))
        });
        let server = rogue(&world, &mut worker, forge).await;
        assert_eq!(
            world.attest(&pod).await.0,
            StatusCode::OK,
            "the first time it is genuine"
        );
        let reason = world.refused(&pod, "worker-untrusted").await;
        let expected = if new_claims {
            "the quote answers another nonce"
        } else {
            "another nonce"
        };
        assert!(reason.contains(expected), "{reason}");
        server.abort();
    }
}

/// 8: evidence of another worker, quoted by its own genuine TPM.
#[tokio::test(flavor = "multi_thread")]
async fn evidence_of_another_worker_is_refused() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let healthy = world.registered("healthy").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let (machine, log) = (healthy.machine.clone(), healthy.kernel.log().to_vec());
    let theirs = StateFolder::new(&healthy.state).keys().unwrap().unwrap();
    drop(healthy);
    let forge: Forgery = Arc::new(move |request, _, _| {
        let mut tpm = machine.open();
        evidence(request, &mut *tpm, &theirs, &request.selection, &log)
    });
    let server = rogue(&world, &mut worker, forge).await;
    let reason = world.refused(&pod, "worker-untrusted").await;
    assert!(
        reason.contains("not signed by the attestation key"),
        "{reason}"
    );
    server.abort();
}

/// 9: init, sidecar and ephemeral containers count like the first.
#[tokio::test(flavor = "multi_thread")]
async fn no_container_escapes() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let mut pod = world.pod("worker", "with-sidecar");
    pod.containers.push(PodContainer {
        name: "sidecar".to_owned(),
        image: "unknown".to_owned(),
        digest: content("image of nobody"),
        id: Some(
            HashAlg::Sha256
                .hash(&[b"sidecar"])
                .to_hex()
                .parse()
                .unwrap(),
        ),
    });
    world.declare(&pod).await;
    worker.run(&pod, content("redis"), "/usr/bin/redis");
    let reason = world.refused(&pod, "pod-untrusted").await;
    assert!(reason.contains("unknown@"), "{reason}");

    // A container that the cluster does not know runs in the pod's control group.
    let hidden = world.healthy_pod(&mut worker, "hidden").await;
    let other = HashAlg::Sha256.hash(&[b"ephemeral"]).to_hex();
    let group = crate::world::cgroup(hidden.uid, &other);
    worker.measure("sh:swapper/0", &group, content("miner"), "/tmp/miner");
    let reason = world.refused(&hidden, "pod-untrusted").await;
    assert!(reason.contains("/tmp/miner"), "{reason}");
}

/// 10: a check that fails changes nothing of what is known.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_committed_when_a_check_fails() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let good = world.healthy_pod(&mut worker, "good").await;
    assert_eq!(world.attest(&good).await.0, StatusCode::OK);
    let bad = world.healthy_pod(&mut worker, "bad").await;
    worker.run(&bad, content("miner"), "/tmp/miner");
    let verifier = world.gate.as_ref().unwrap().verifier.clone().unwrap();
    let id = verifier.store().worker("worker").unwrap().id;
    let before = verifier.store().node(id).unwrap();
    world.refused(&bad, "pod-untrusted").await;
    let after = verifier.store().node(id).unwrap();
    assert_eq!(before.cursor, after.cursor);
    assert_eq!(before.ledger, after.ledger);
    assert_eq!(world.attest(&good).await.0, StatusCode::OK);
    let moved = verifier.store().node(id).unwrap();
    assert_ne!(moved.cursor, before.cursor);
}

/// 12: a reboot is noticed; what was trusted before it is not any more.
#[tokio::test(flavor = "multi_thread")]
async fn a_reboot_resets_trust() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let other = world.healthy_pod(&mut worker, "other").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    assert_eq!(world.attest(&other).await.0, StatusCode::OK);
    let address = worker.address();
    worker.agent.take().unwrap().stop().await;
    worker.machine.reboot();
    worker.kernel =
        locus_attestation::ima::LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1, HashAlg::Sha256]);
    worker.rewrite(&[]);
    worker.boot();
    worker.start_at(&address).await;
    worker.run(&pod, content("redis"), "/usr/bin/redis");
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(
        status,
        StatusCode::OK,
        "an honest reboot is verified from entry 0: {answer}"
    );
    assert_eq!(world.status(&other).trust, Trust::Unknown, "booted since");
    // A boot of something else is no boot of a trusted worker.
    worker.machine.extend(0, &[content("another firmware")]);
    let reason = world.refused(&pod, "worker-untrusted").await;
    assert!(reason.contains("boot aggregate"), "{reason}");
    assert_eq!(world.status(&other).trust, Trust::Untrusted);
}

/// 14: a changed dependency of the container runtime is a mismatch, not a success.
#[tokio::test(flavor = "multi_thread")]
async fn a_changed_runtime_condemns_the_worker() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    worker.measure(
        &format!("{}:/usr/lib/systemd/systemd", crate::world::SHIM),
        "/system.slice/containerd.service",
        content("patched runc"),
        "/usr/bin/runc",
    );
    let reason = world.refused(&pod, "worker-untrusted").await;
    assert!(reason.contains("/usr/bin/runc"), "{reason}");
}

/// 15: every installation has keys of its own, readable by their owner alone.
#[tokio::test(flavor = "multi_thread")]
async fn keys_are_made_at_installation() {
    use std::os::unix::fs::PermissionsExt as _;
    let (one, two) = (World::new().await, World::new().await);
    let mut keys = 0;
    for file in std::fs::read_dir(one.folder.path().join("gate")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "key") {
            let other = two
                .folder
                .path()
                .join("gate")
                .join(path.file_name().unwrap());
            assert_ne!(std::fs::read(&path).unwrap(), std::fs::read(other).unwrap());
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{}", path.display());
            keys += 1;
        }
    }
    assert_eq!(keys, 8);
}
