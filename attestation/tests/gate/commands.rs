//! The operator's commands, each as the program that is typed: with a good answer, with a wrong question, and with the
//! gate away.

use std::path::{Path, PathBuf};

use crate::gate_program::{Ended, locus_gate};
use crate::world::{World, content};
use locus_attestation::digest::HashAlg;
use locus_attestation::ima::LogWriter;
use locus_attestation::net::Role;

/// How a world's gate is reached.
struct Desk {
    gate: String,
    credentials: PathBuf,
}

impl Desk {
    fn of(world: &World) -> Self {
        // The folder is made with the client.
        drop(world.operator());
        Desk {
            gate: world.gate_address.clone(),
            credentials: world.folder.path().join("client-operator-root"),
        }
    }

    /// Types a command.
    fn types(&self, words: &[&str]) -> Ended {
        let credentials = self.credentials.to_str().unwrap();
        let mut words = words.to_vec();
        words.extend(["--gate", &self.gate, "--credentials", credentials]);
        locus_gate(&words)
    }

    /// Types a command that must end with a code; standard output, or standard error where nothing was answered.
    fn ends(&self, words: &[&str], code: i32) -> String {
        let ended = self.types(words);
        assert_eq!(ended.code, code, "{words:?}: {ended:?}");
        // Answers go to standard output, everything else to standard error.
        match code {
            2 => {
                assert_eq!(ended.stdout, "", "{words:?}");
                assert!(ended.stderr.starts_with("error: "), "{ended:?}");
                ended.stderr
            }
            _ => {
                assert_eq!(ended.stderr, "", "{words:?}");
                ended.stdout
            }
        }
    }
}

/// The first word of each line under the heading.
fn names(table: &str) -> Vec<&str> {
    table
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_worker_is_registered_listed_attested_explained_and_removed() {
    let world = World::new().await;
    let mut worker = world.worker("worker").await;
    let desk = Desk::of(&world);
    let address = worker.address();
    assert_eq!(names(&desk.ends(&["workers"], 0)), [""; 0]);
    let said = desk.ends(&["register", "worker", &address], 0);
    assert!(
        said.starts_with("worker `worker` is registered as "),
        "{said}"
    );
    assert_eq!(desk.ends(&["trust", "worker"], 1), "unknown\n");
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let uid = pod.uid.to_string();
    let said = desk.ends(&["attest", "worker"], 0);
    assert!(said.contains("worker  trusted"), "{said}");
    assert!(said.contains(&uid), "its pods, too: {said}");
    assert_eq!(names(&desk.ends(&["workers"], 0)), ["worker"]);
    assert_eq!(desk.ends(&["trust", "worker"], 0), "trusted\n");
    assert_eq!(desk.ends(&["trust", &uid], 0), "trusted\n");
    desk.ends(&["attest", &uid], 0);
    let said = desk.ends(&["why", "worker"], 0);
    assert!(said.starts_with("worker `worker` is trusted\n"), "{said}");
    let said = desk.ends(&["why", &uid], 0);
    assert!(said.contains("`default/redis` is trusted"), "{said}");
    // For programs: what the gate answered.
    let listed = desk.types(&["workers", "--format", "json"]).json();
    assert_eq!(listed["items"][0]["name"], "worker");
    assert_eq!(listed["items"][0]["trust"], "trusted");
    let listed = desk
        .types(&["pods", "--worker", "worker", "--format", "json"])
        .json();
    assert_eq!(listed["items"][0]["pod"]["uid"], uid.as_str());
    assert_eq!(
        desk.types(&["trust", &uid, "--format", "json"]).json(),
        "trusted"
    );
    let watched = desk.ends(&["watch", "--since", "0", "--count", "2"], 0);
    assert_eq!(watched.lines().count(), 2, "{watched}");
    // What is found wrong is an answer: 1, with the reason.
    worker.run(&pod, content("miner"), "/tmp/miner");
    let said = desk.ends(&["attest", &uid], 1);
    assert!(said.contains("/tmp/miner"), "{said}");
    assert_eq!(desk.ends(&["trust", &uid], 1), "untrusted\n");
    let said = desk.ends(&["why", &uid], 0);
    assert!(said.contains("/tmp/miner"), "{said}");
    let said = desk.ends(&["pods"], 0);
    assert!(said.contains("untrusted"), "{said}");
    assert_eq!(
        names(&desk.ends(&["pods", "--worker", "nobody"], 0)),
        [""; 0]
    );
    let said = desk.ends(&["remove", "worker"], 0);
    assert_eq!(said, "worker `worker` is removed\n");
    assert_eq!(names(&desk.ends(&["workers"], 0)), [""; 0]);
    assert_eq!(names(&desk.ends(&["pods"], 0)), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_condemned_worker_comes_back_by_reset_only_after_a_boot() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let desk = Desk::of(&world);
    worker.measure(
        "/usr/bin/evil:swapper/0",
        "/system.slice/evil.service",
        content("evil"),
        "/usr/bin/evil",
    );
    let said = desk.ends(&["attest", "worker"], 1);
    assert!(said.contains("/usr/bin/evil"), "{said}");
    assert_eq!(desk.ends(&["trust", "worker"], 1), "untrusted\n");
    let said = desk.ends(&["reset", "worker"], 1);
    assert!(
        said.contains("/usr/bin/evil"),
        "the log does not forget: {said}"
    );
    let address = worker.address();
    worker.agent.take().unwrap().stop().await;
    worker.machine.reboot();
    worker.kernel = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1, HashAlg::Sha256]);
    worker.rewrite(&[]);
    worker.boot();
    worker.start_at(&address).await;
    let said = desk.ends(&["reset", "worker"], 0);
    assert!(said.contains("worker  trusted"), "{said}");
    assert_eq!(desk.ends(&["trust", "worker"], 0), "trusted\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn wrong_questions_are_answered_with_what_is_wrong() {
    let world = World::new().await;
    let worker = world.worker("worker").await;
    let desk = Desk::of(&world);
    let address = worker.address();
    // Somebody else's agent, and nobody's.
    let said = desk.ends(&["register", "other", &address], 1);
    assert!(said.contains("other") || said.contains("worker"), "{said}");
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let away = nobody.local_addr().unwrap().to_string();
    drop(nobody);
    let said = desk.ends(&["register", "worker", &away], 1);
    assert!(said.contains(&away), "{said}");
    let unknown = "00000000-0000-4000-8000-000000000000";
    for words in [
        &["attest", "nobody"][..],
        &["attest", unknown],
        &["why", "nobody"],
        &["why", unknown],
        &["trust", "nobody"],
        &["reset", "nobody"],
        &["watch", "--since", "4711", "--count", "1"],
    ] {
        let said = desk.ends(words, 2);
        assert!(said.len() > "error: ".len() + 10, "{words:?}: {said}");
    }
    // Names are not obeyed by terminals, and not taken for paths.
    let said = desk.ends(&["why", "a/../\u{1b}[2Jb"], 2);
    assert!(!said.contains('\u{1b}'), "{said:?}");
    for words in [
        &["register", "worker"][..],
        &["why"],
        &["attest"],
        &["workers", "--format", "xml"],
        &["unheard-of"],
    ] {
        let ended = desk.types(words);
        assert_eq!(ended.code, 3, "{words:?}: {ended:?}");
        assert_ne!(ended.stderr, "", "{words:?}");
    }
}

/// Every command that asks a gate.
const ASKING: [&[&str]; 11] = [
    &["register", "worker", "127.0.0.1:1"],
    &["remove", "worker"],
    &["workers"],
    &["pods"],
    &["attest", "worker"],
    &["attest", "6f1c2a3e-5b7d-4c1e-9a10-0c2d4e6f8a01"],
    &["why", "worker"],
    &["trust", "worker"],
    &["reset", "worker"],
    &["watch"],
    &["enter", "tenant", "shop", "--key", "/dev/null"],
];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_gate_that_is_away_or_another_is_no_answer() {
    let mut world = World::new().await;
    let desk = Desk::of(&world);
    // Nobody there with these credentials, or none at all.
    let nowhere = Desk {
        gate: desk.gate.clone(),
        credentials: Path::new("/nowhere").to_owned(),
    };
    let tenant = Desk {
        gate: desk.gate.clone(),
        credentials: {
            drop(world.client(Role::Tenant, "shop"));
            world.folder.path().join("client-tenant-shop")
        },
    };
    // Another installation, at the place where this one is expected.
    let other = World::new().await;
    let foreign = Desk {
        gate: other.gate_address.clone(),
        credentials: desk.credentials.clone(),
    };
    for words in ASKING {
        let said = nowhere.ends(words, 2);
        assert!(said.contains("/nowhere"), "{words:?}: {said}");
        let said = tenant.ends(words, 2);
        assert!(said.contains("operator.pem"), "{words:?}: {said}");
        let said = foreign.ends(words, 2);
        assert!(said.contains(&foreign.gate), "{words:?}: {said}");
    }
    world.gate.take().unwrap().stop().await;
    for words in ASKING {
        let said = desk.ends(words, 2);
        assert!(said.contains("cannot be reached"), "{words:?}: {said}");
    }
}
