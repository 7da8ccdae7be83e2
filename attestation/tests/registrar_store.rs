//! The registrar's database: what it keeps, what it refuses, and that a crash loses nothing.
#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

use locus_attestation::clock::Timestamp;
use locus_attestation::evidence::jws::{TokenKey, public_key_to_pem};
use locus_attestation::registrar::api::status_of;
use locus_attestation::registrar::{CaKind, NewWorker, Registrar, RegistrarError};
use uuid::Uuid;

const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);

fn pem() -> String {
    public_key_to_pem(&TokenKey::generate().unwrap().public()).unwrap()
}

fn worker(name: &str, number: u8) -> NewWorker {
    NewWorker {
        name: name.to_owned(),
        ak_public: vec![number; 40],
        ek_public: vec![number; 50],
        ek_certificate: vec![number; 60],
        ek_others: Vec::new(),
        ek_listed: false,
        tls_key: None,
        os: "debian-12".to_owned(),
        address: "127.0.0.1:9000".to_owned(),
        templates: Some(vec!["ima-ng".to_owned()]),
    }
}

#[test]
fn tenants_have_one_name_and_one_key() {
    let registrar = Registrar::in_memory().unwrap();
    let key = pem();
    let tenant = registrar.create_tenant("shop", &key, NOW).unwrap();
    assert_eq!(
        registrar.tenant_by_name("shop").unwrap(),
        Some(tenant.clone())
    );
    assert_eq!(registrar.tenant(tenant.id).unwrap(), Some(tenant.clone()));
    for (name, key) in [("shop", pem()), ("other", key)] {
        let error = registrar.create_tenant(name, &key, NOW).unwrap_err();
        assert!(matches!(error, RegistrarError::Exists { kind: "tenant" }));
        assert_eq!(status_of(&error), 409);
    }
    assert!(matches!(
        registrar.create_tenant("x", "no key", NOW),
        Err(RegistrarError::Key)
    ));
    assert!(registrar.create_tenant("", &pem(), NOW).is_err());
    assert_eq!(registrar.tenants().unwrap(), std::slice::from_ref(&tenant));
    registrar.delete_tenant(tenant.id).unwrap();
    assert_eq!(
        status_of(&registrar.delete_tenant(tenant.id).unwrap_err()),
        404
    );
}

#[test]
fn a_worker_is_its_tpm() {
    let registrar = Registrar::in_memory().unwrap();
    let id = Uuid::new_v4();
    registrar.put_worker(id, worker("w1", 1), NOW).unwrap();
    // It comes back with a new attestation key.
    let mut again = worker("w1", 1);
    again.ak_public = vec![9; 40];
    registrar.put_worker(id, again.clone(), NOW).unwrap();
    assert_eq!(registrar.worker_by_name("w1").unwrap().unwrap().with, again);
    // Another TPM takes its name, its identifier, or its attestation key; its TPM takes another name.
    let mut stolen_key = worker("w2", 2);
    stolen_key.ak_public = again.ak_public.clone();
    let mut renamed = worker("w1", 1);
    renamed.name = "w3".to_owned();
    for (id, worker) in [
        (Uuid::new_v4(), worker("w1", 2)),
        (id, worker("w2", 2)),
        (id, worker("w1", 2)),
        (Uuid::new_v4(), stolen_key),
        (Uuid::new_v4(), renamed),
        (Uuid::new_v4(), worker("w1", 1)),
    ] {
        assert!(matches!(
            registrar.put_worker(id, worker, NOW),
            Err(RegistrarError::Exists { kind: "worker" })
        ));
    }
    assert_eq!(registrar.workers().unwrap().len(), 1);
    let found = registrar.worker(id).unwrap().unwrap();
    assert_eq!(found.with, again);
    let json = serde_json::to_string(&found).unwrap();
    assert_eq!(
        serde_json::from_str::<locus_attestation::registrar::Worker>(&json).unwrap(),
        found
    );
    registrar.delete_worker(id).unwrap();
    assert_eq!(registrar.worker(id).unwrap(), None);
}

#[test]
fn certificates_belong_to_a_known_manufacturer() {
    let registrar = Registrar::in_memory().unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(Vec::new()).unwrap();
    let der = params.self_signed(&key).unwrap().der().to_vec();
    assert!(matches!(
        registrar.add_certificate("id:1", CaKind::Root, &der),
        Err(RegistrarError::NotFound { .. })
    ));
    registrar
        .create_manufacturer("ID:49465800", "Infineon")
        .unwrap();
    let stored = registrar
        .add_certificate("id:49465800", CaKind::Root, &der)
        .unwrap();
    assert!(matches!(
        registrar.add_certificate("id:49465800", CaKind::Root, &der),
        Err(RegistrarError::Exists { .. })
    ));
    assert!(
        registrar
            .add_certificate("id:49465800", CaKind::Root, b"x")
            .is_err()
    );
    let listed = registrar.certificates("ID:49465800").unwrap();
    assert_eq!(listed, std::slice::from_ref(&stored));
    assert!(matches!(
        registrar.certificates("id:1"),
        Err(RegistrarError::NotFound { .. })
    ));
    registrar.delete_certificate(&stored.digest).unwrap();
    assert!(registrar.certificates("id:49465800").unwrap().is_empty());
    let stored = registrar
        .add_certificate("id:49465800", CaKind::Root, &der)
        .unwrap();
    registrar.delete_manufacturer("id:49465800").unwrap();
    assert!(registrar.manufacturers().unwrap().is_empty());
    assert!(
        registrar.delete_certificate(&stored.digest).is_err(),
        "they went with their manufacturer"
    );
}

/// A process that dies is a connection that is never closed: what was acknowledged is there, and
/// what was not is not.
#[test]
fn what_was_acknowledged_survives_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("registrar.db");
    let registrar = Registrar::open(&path).unwrap();
    registrar
        .put_worker(Uuid::new_v4(), worker("w1", 1), NOW)
        .unwrap();
    // The files as a power loss would leave them, before any clean shutdown.
    let copy = folder.path().join("after.db");
    for suffix in ["", "-wal"] {
        let from = folder.path().join(format!("registrar.db{suffix}"));
        let to = folder.path().join(format!("after.db{suffix}"));
        std::fs::copy(from, to).unwrap();
    }
    let after = Registrar::open(&copy).unwrap();
    assert_eq!(after.workers().unwrap().len(), 1);
    drop(after);
    // The log cut off at any place: the database opens, with the worker or without, never half.
    let wal = std::fs::read(folder.path().join("registrar.db-wal")).unwrap();
    for cut in (0..wal.len()).step_by(wal.len() / 40 + 1) {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("cut.db");
        std::fs::copy(&path, &copy).unwrap();
        std::fs::write(folder.path().join("cut.db-wal"), &wal[..cut]).unwrap();
        let cut = Registrar::open(&copy).unwrap();
        assert!(cut.workers().unwrap().len() <= 1);
    }
}

/// Registers workers one after the other and says so after each; in a process of its own, until killed.
#[test]
fn registers_until_killed() {
    use std::io::Write as _;
    let own = tempfile::tempdir().unwrap();
    let (folder, most) = match std::env::var_os(DOOMED) {
        Some(folder) => (std::path::PathBuf::from(folder), u32::MAX),
        None => (own.path().to_owned(), 3),
    };
    let registrar = Registrar::open(&folder.join("registrar.db")).unwrap();
    let first = registrar.workers().unwrap().len() as u32;
    for number in (first..).take(most as usize) {
        let mut new = worker(&format!("w{number}"), 0);
        new.ak_public = [vec![1; 4000], number.to_be_bytes().to_vec()].concat();
        new.ek_public = [vec![2; 4000], number.to_be_bytes().to_vec()].concat();
        registrar.put_worker(Uuid::new_v4(), new, NOW).unwrap();
        println!("acknowledged {number}");
        std::io::stdout().flush().unwrap();
    }
    assert_eq!(registrar.workers().unwrap().len(), 3);
}

const DOOMED: &str = "LOCUS_TEST_DOOMED";

#[test]
fn a_registrar_killed_in_a_transaction_loses_nothing_it_acknowledged() {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().unwrap();
    let mut known = 0;
    for round in 0..8_u64 {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "registers_until_killed", "--nocapture"])
            .env(DOOMED, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let acknowledged = |line: &str| line.rsplit_once("acknowledged ")?.1.parse::<usize>().ok();
        let mut last = None;
        while last.is_none_or(|last| last < known + 2) {
            last = acknowledged(&lines.next().unwrap().unwrap()).or(last);
        }
        // Somewhere in the next transactions.
        std::thread::sleep(std::time::Duration::from_micros(round * 700));
        process.kill().unwrap();
        process.wait().unwrap();
        for line in lines.map_while(Result::ok) {
            last = acknowledged(&line).or(last);
        }
        let registrar = Registrar::open(&folder.path().join("registrar.db")).unwrap();
        let workers = registrar.workers().unwrap();
        let numbers: std::collections::BTreeSet<usize> = workers
            .iter()
            .map(|worker| worker.with.name.strip_prefix('w').unwrap().parse().unwrap())
            .collect();
        // All that was acknowledged, and at most the one that was stored and not yet said.
        let said = last.unwrap() + 1;
        assert!((said..=said + 1).contains(&workers.len()), "round {round}");
        assert_eq!(numbers, (0..workers.len()).collect());
        for worker in &workers {
            let number = worker.with.name.strip_prefix('w').unwrap();
            let tail = number.parse::<u32>().unwrap().to_be_bytes();
            assert!(worker.with.ak_public.ends_with(&tail), "half a worker");
        }
        known = workers.len();
    }
}
