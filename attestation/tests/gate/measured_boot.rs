//! A worker whose boot is judged by the events of its firmware's log.

use crate::world::{SHIM, WorkerBox, World, content};
use hyper::StatusCode;
use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::ima::{BootAggregate, LogWriter};
use locus_attestation::policy;
use locus_attestation::verifier::{Pod, Trust};

const BANK: HashAlg = HashAlg::Sha256;

/// What firmware and boot loader measure: register, type, and what the digest is of; the log says the same.
type Events<'a> = &'a [(u8, u32, &'a [u8])];

const SEPARATOR: u32 = 4;
const IPL: u32 = 0xd;
const APPLICATION: u32 = 0x8000_0003;

/// The log of some events after the separators of the firmware.
fn log(events: Events<'_>) -> (Vec<u8>, Vec<(u8, Digest)>) {
    let mut bytes = [0_u32, 3].map(u32::to_le_bytes).concat();
    bytes.extend([0; 20]);
    bytes.extend(33_u32.to_le_bytes());
    bytes.extend(b"Spec ID Event03\0\0\0\0\0\0\x02\0\x02\x01\0\0\0\x0b\0\x20\0\0");
    let mut extended = Vec::new();
    let separators = (0..8).map(|pcr| (pcr, SEPARATOR, &[0_u8; 4][..]));
    for (pcr, kind, measured) in separators.chain(events.iter().copied()) {
        let digest = BANK.hash(&[measured]);
        bytes.extend([u32::from(pcr), kind, 1].map(u32::to_le_bytes).concat());
        bytes.extend(BANK.tpm_id().to_le_bytes());
        bytes.extend(digest.as_bytes());
        bytes.extend(u32::try_from(measured.len()).unwrap().to_le_bytes());
        bytes.extend(measured);
        extended.push((pcr, digest));
    }
    (bytes, extended)
}

/// Boots the worker with firmware that measures, and starts its agent.
async fn boot(worker: &mut WorkerBox, events: Events<'_>) {
    let address = worker.address();
    worker.agent.take().unwrap().stop().await;
    worker.machine.reboot();
    worker.kernel = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1, BANK]);
    worker.rewrite(&[]);
    let (bytes, extended) = log(events);
    std::fs::write(worker.event_log(), bytes).unwrap();
    let mut values = vec![Digest::zero(BANK); 10];
    for (pcr, digest) in extended {
        // The other bank is extended with something, too.
        worker
            .machine
            .extend(pcr, &[HashAlg::Sha1.hash(&[digest.as_bytes()]), digest]);
        let value = &mut values[usize::from(pcr)];
        *value = value.extend(digest.as_bytes());
    }
    let aggregate = BootAggregate::over(BANK, &values).unwrap().current;
    worker.measure("swapper/0:swapper/0", "/", aggregate, "boot_aggregate");
    let ancestors = format!("{SHIM}:/usr/lib/systemd/systemd:swapper/0");
    worker.measure(
        &ancestors,
        "/system.slice/containerd.service",
        content("shim"),
        SHIM,
    );
    worker.start_at(&address).await;
}

/// A world whose policy accepts one boot loader and one command line.
async fn world() -> World {
    let mut world = World::new().await;
    world.gate.take().unwrap().stop().await;
    let text = format!(
        "[defaults]\nhost = \"unjudged\"\n[[defaults.boot.event]]\npcr = 4\nwhat = \"GRUB\"\ndigests = [\"{}\"]\n\
         [[defaults.boot.event]]\npcr = 8\ntext = \"root=* ima_template=ima-ng\"\n",
        content("grub")
    );
    let set = policy::parse("policy.toml", &text).unwrap();
    world.start_gate_as(|config| config.policy = set).await;
    world
}

const GOOD: Events<'static> = &[
    (4, APPLICATION, b"grub"),
    (8, IPL, b"root=/dev/vda ima_template=ima-ng"),
];

/// Registers a worker, again if need be, and declares a pod that runs its file.
async fn join(world: &World, worker: &mut WorkerBox, pod: &str) -> Pod {
    let (status, answer) = world.register(worker).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(
        world.trust("worker"),
        Trust::Unknown,
        "registered, and nothing more"
    );
    world.healthy_pod(worker, pod).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_boot_is_accepted_by_its_events_and_by_no_others() {
    let world = world().await;
    let mut worker = world.worker("worker").await;
    boot(&mut worker, GOOD).await;
    let pod = join(&world, &mut worker, "redis").await;
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    // Another root, as the policy allows: the hash over all registers differs, and nobody minds.
    let elsewhere = [GOOD[0], (8, IPL, &b"root=/dev/sdb ima_template=ima-ng"[..])];
    boot(&mut worker, &elsewhere).await;
    let pod = join(&world, &mut worker, "redis-2").await;
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    // Everything that is wrong is said.
    boot(
        &mut worker,
        &[
            (4, APPLICATION, b"bootkit"),
            (8, IPL, b"root=/dev/vda init=/evil"),
        ],
    )
    .await;
    let pod = join(&world, &mut worker, "redis-3").await;
    let reason = world.refused(&pod, "worker-untrusted").await;
    for part in ["PCR 4: event 9", "init=/evil", "GRUB was not measured"] {
        assert!(reason.contains(part), "{reason}");
    }
    assert_eq!(world.trust("worker"), Trust::Untrusted);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_log_of_another_boot_is_noticed() {
    let world = world().await;
    let mut worker = world.worker("worker").await;
    boot(&mut worker, &[(4, APPLICATION, b"bootkit"), GOOD[1]]).await;
    let pod = join(&world, &mut worker, "redis").await;
    // The worker shows the log of a boot that would be accepted.
    std::fs::write(worker.event_log(), log(GOOD).0).unwrap();
    let reason = world.refused(&pod, "worker-untrusted").await;
    assert!(
        reason.contains("does not lead to the quoted value of PCR 4"),
        "{reason}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_without_an_event_log_gains_nothing() {
    let world = world().await;
    let mut worker = world.worker("worker").await;
    boot(&mut worker, GOOD).await;
    let address = worker.address();
    worker.agent.take().unwrap().stop().await;
    std::fs::remove_file(worker.event_log()).unwrap();
    worker.start_at(&address).await;
    let pod = join(&world, &mut worker, "redis").await;
    let reason = world.refused(&pod, "inconclusive").await;
    assert!(reason.contains("event-log"), "{reason}");
    assert_eq!(world.trust("worker"), Trust::Unknown);
}
