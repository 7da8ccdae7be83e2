//! Attestation and rotation that nobody asks for.

use std::time::Duration;

use crate::world::{World, content};
use locus_attestation::verifier::Trust;

/// Waits until something is so; a slow machine has time.
async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..6000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never happened: {what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_are_attested_and_certificates_renewed_without_being_asked() {
    let mut world = World::new().await;
    world.gate.take().unwrap().stop().await;
    world
        .start_gate_as(|config| {
            config.interval = Duration::from_millis(300);
            config.rotation = Duration::from_millis(500);
        })
        .await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    until("the pod is trusted", || {
        world.status(&pod).trust == Trust::Trusted
    })
    .await;
    assert_eq!(world.trust("worker"), Trust::Trusted);
    let certificate = || std::fs::read_to_string(worker.state.join("registered.json")).unwrap();
    let before = certificate();
    until("the certificate is renewed", || certificate() != before).await;
    // An agent that is away for a while is asked again when it is back.
    let address = worker.address();
    worker.kill().await;
    worker.run(&pod, content("miner"), "/tmp/miner");
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_ne!(world.trust("worker"), Trust::Untrusted);
    worker.start_at(&address).await;
    until("the miner is noticed", || {
        world.status(&pod).trust == Trust::Untrusted
    })
    .await;
    assert!(world.status(&pod).reason.contains("/tmp/miner"));
    assert_eq!(world.trust("worker"), Trust::Trusted);
}
