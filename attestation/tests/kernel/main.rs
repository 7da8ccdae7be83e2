//! The gate against a worker whose kernel is a real one: a stock Debian kernel with IMA in a virtual machine with a
//! software TPM. The agent's program runs in the guest; the gate reaches it through a forwarded port of the loopback.
//!
//! It takes QEMU, busybox and a kernel package, and is therefore a feature of its own: `.ci/run` installs all three.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests fail as tests do: by panicking"
)]

mod guest;
mod machine;
mod office;
#[allow(dead_code, reason = "the demonstration uses more of it")]
#[path = "../../src/bin/locus_gate/demo/swtpm.rs"]
mod swtpm;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use guest::Guest;
use hyper::StatusCode;
use locus_attestation::boot::{EventLog, learn};
use locus_attestation::digest::HashAlg;
use locus_attestation::policy::{self, PolicySet};
use machine::VirtualMachine;
use office::{Office, WORKER};
use serde_json::Value;
use swtpm::Manufacturer;

const REDIS: &str = "6f1c2a3e-5b7d-4c1e-9a10-0c2d4e6f8a01";
const REDIS_CONTAINER: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f00112233445566778899aabbccddeeff0";
const NGINX: &str = "a2b4c6d8-1e3f-4051-8273-94a5b6c7d8e9";
const NGINX_CONTAINER: &str = "fedcba98765432100123456789abcdeffedcba98765432100123456789abcdef";

/// What the gate thinks of the worker and of its pods, by name.
fn trust(report: &Value) -> Vec<(String, String)> {
    let pods = report["pods"].as_array().unwrap().iter();
    let mut all: Vec<(String, String)> = pods
        .map(|pod| (pod["pod"]["name"].to_string(), pod["trust"].to_string()))
        .collect();
    all.sort();
    all.insert(
        0,
        (WORKER.to_owned(), report["worker"]["trust"].to_string()),
    );
    all.iter()
        .map(|(name, trust)| {
            (
                name.trim_matches('"').to_owned(),
                trust.trim_matches('"').to_owned(),
            )
        })
        .collect()
}

fn all_trusted(report: &Value, pods: &[&str]) {
    let expected: Vec<(String, String)> = std::iter::once(&WORKER)
        .chain(pods)
        .map(|name| ((*name).to_owned(), "trusted".to_owned()))
        .collect();
    assert_eq!(trust(report), expected, "{report:#}");
}

/// The agent answers some time after the guest takes orders.
async fn registered(office: &Office, machine: &VirtualMachine) -> Value {
    let mut last = Value::Null;
    for _ in 0..60 {
        let (status, answer) = office.register(&machine.agent).await;
        if status == StatusCode::OK {
            return answer;
        }
        last = answer;
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    panic!("{last:#}\n{}", machine.console());
}

/// The same for an attestation: while the agent does not answer, nothing is concluded.
async fn attested(office: &Office, machine: &VirtualMachine) -> Value {
    let mut last = Value::Null;
    for _ in 0..60 {
        let (status, answer) = office.attest().await;
        if status == StatusCode::OK {
            return answer;
        }
        assert_eq!(
            answer["effect"],
            "inconclusive",
            "{answer:#}\n{}",
            machine.console()
        );
        last = answer;
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    panic!("{last:#}\n{}", machine.console());
}

/// The policy that accepts the boot of an event log, as `locus reference from-event-log` writes it.
fn boot_policy(events: &[u8]) -> PolicySet {
    let log = EventLog::parse(events).unwrap();
    let values = log.replay(HashAlg::Sha256).unwrap();
    let boot = log.explain(HashAlg::Sha256, &values).unwrap();
    policy::parse("policy.toml", &learn(&boot)).unwrap()
}

/// The life of a worker: registered, attested, rebooted, condemned for an unknown file, and back after another boot.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_with_a_stock_kernel_is_registered_attested_condemned_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut office = Office::open(folder.path()).await;
    let maker = Manufacturer::new(&folder.path().join("tpms")).unwrap();
    let tpm = maker.prepare(WORKER).unwrap();
    office.trust(maker.certificates().unwrap()).await;
    let guest = Guest::build(folder.path(), &office.credentials());
    let mut machine = VirtualMachine::start(folder.path(), &guest, &tpm);

    // Reference values: the boot from the kernel's own log, the files from what the guest was made of.
    let first = machine.run("head -n 1 /sys/kernel/security/ima/ascii_runtime_measurements");
    let fields: Vec<&str> = first.split_whitespace().collect();
    assert_eq!(
        (fields[0], fields[2], fields[4]),
        ("10", "ima-ng", "boot_aggregate"),
        "{first}"
    );
    let (status, refused) = {
        office.accept_files(&guest).await;
        // Of a boot that nobody vouched for, a worker is refused.
        loop {
            let (status, answer) = office.register(&machine.agent).await;
            if !answer["detail"].to_string().contains("did not answer") {
                break (status, answer);
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    assert!(!status.is_success(), "{refused}");
    assert!(refused["detail"].to_string().contains("boot"), "{refused}");
    office.accept_boot(fields[3]).await;
    let worker = registered(&office, &machine).await;

    // Pods start, in groups named as containerd names them.
    office
        .declare(REDIS, "redis", "redis", REDIS_CONTAINER)
        .await;
    assert_eq!(
        machine.run(&format!("container {REDIS} {REDIS_CONTAINER} redis")),
        "redis runs\n"
    );
    all_trusted(&attested(&office, &machine).await, &["redis"]);
    // Of a restart the kernel logs nothing new: file and name are the same.
    let entries = "wc -l < /sys/kernel/security/ima/ascii_runtime_measurements";
    let before = machine.run(entries);
    machine.run(&format!("container {REDIS} {REDIS_CONTAINER} redis"));
    assert_eq!(machine.run(entries), before);
    all_trusted(&attested(&office, &machine).await, &["redis"]);

    // An honest reboot costs nothing: the same worker goes on, and so does a pod that starts again.
    machine.reboot();
    machine.run(&format!("container {REDIS} {REDIS_CONTAINER} redis"));
    office
        .declare(NGINX, "nginx", "nginx", NGINX_CONTAINER)
        .await;
    machine.run(&format!("container {NGINX} {NGINX_CONTAINER} nginx"));
    all_trusted(&attested(&office, &machine).await, &["nginx", "redis"]);
    // A pod that is gone leaves its entries in the log; its neighbour and the worker stay trusted.
    office.remove(NGINX).await;
    all_trusted(&attested(&office, &machine).await, &["redis"]);

    // A file that nobody knows.
    machine.run("printf '#!/bin/sh\\ntrue\\n' > /tmp/miner; chmod +x /tmp/miner; /tmp/miner");
    let (status, condemned) = office.attest().await;
    assert!(!status.is_success(), "{condemned:#}");
    assert!(
        condemned["detail"].to_string().contains("/tmp/miner"),
        "{condemned:#}"
    );
    assert_eq!(trust(&office.report().await)[0].1, "untrusted");
    // The log does not forget it before the next boot, whoever registers.
    registered(&office, &machine).await;
    let (status, again) = office.attest().await;
    assert!(!status.is_success(), "{again:#}");
    assert!(
        again["detail"].to_string().contains("/tmp/miner"),
        "{again:#}"
    );

    machine.reboot();
    let back = registered(&office, &machine).await;
    assert_eq!(back["id"], worker["id"], "the same worker");
    office
        .declare(REDIS, "redis", "redis", REDIS_CONTAINER)
        .await;
    machine.run(&format!("container {REDIS} {REDIS_CONTAINER} redis"));
    all_trusted(&attested(&office, &machine).await, &["redis"]);

    // The same boot, judged by what its firmware measured; nobody vouches for its aggregate any more.
    let events = machine.run("base64 /sys/kernel/security/tpm0/binary_bios_measurements");
    let events: String = events.split_whitespace().collect();
    let events = STANDARD.decode(events).unwrap();
    let policy = boot_policy(&events);
    let boot = policy.defaults.boot.clone().unwrap();
    office
        .accept_boot(&format!("sha256:{}", "00".repeat(32)))
        .await;
    let (status, refused) = office.attest().await;
    assert!(!status.is_success(), "{refused:#}");
    office.insist(policy.clone()).await;
    registered(&office, &machine).await;
    all_trusted(&attested(&office, &machine).await, &["redis"]);
    let mut narrow = policy;
    let missing = boot.rules[0].what.clone();
    narrow.defaults.boot.as_mut().unwrap().rules.remove(0);
    office.insist(narrow).await;
    let (status, refused) = office.attest().await;
    assert!(!status.is_success(), "{refused:#}");
    let detail = refused["detail"].to_string();
    assert!(detail.contains("is not accepted"), "{missing}: {detail}");
    office.close().await;
}
