//! The agent's real program: gives up its privileges, answers, stops, and comes back as the same worker.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::world::{WorkerBox, World, content};
use hyper::{Method, StatusCode};
use locus_attestation::agent::args::operating_system;
use locus_attestation::agent::state::StateFolder;
use serde_json::json;

/// The program; it ends with this.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // Only this process, by its handle; if it ended by itself there is nothing to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command(worker: &WorkerBox, address: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_locus-agent"));
    command
        .args(["--listen", "127.0.0.1:0", "--name", &worker.name])
        .args(["--tpm", &worker.machine.transport(), "--ak", "ecc-p256"])
        .args(["--log-format", "json"])
        .arg("--credentials")
        .arg(&worker.credentials)
        .arg("--state")
        .arg(&worker.state)
        .arg("--log")
        .arg(&worker.log)
        .arg("--address-file")
        .arg(address)
        .stdin(Stdio::null());
    command
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_drops_its_privileges_and_survives_a_restart() {
    let world = World::new().await;
    let mut worker = world.worker("worker").await;
    // Its place is taken by the program, with a state of its own.
    worker.agent.take().unwrap().stop().await;
    for file in ["identity.json", "registered.json"] {
        let _ = fs::remove_file(worker.state.join(file));
    }
    let address_file = worker.state.join("address");
    let refused = command(&worker, &address_file).output().unwrap();
    if !is_root() {
        // Nothing to give up: it serves as it is, and cannot become another.
        let other = command(&worker, &address_file)
            .args(["--user", "nobody"])
            .output()
            .unwrap();
        assert!(!other.status.success());
        return;
    }
    assert!(!refused.status.success(), "as root it insists on a user");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("--user"), "{said}");
    let root = command(&worker, &address_file)
        .args(["--user", "root"])
        .output();
    assert!(!root.unwrap().status.success(), "root is no other user");

    // Another user has to reach the folder of its state.
    fs::set_permissions(world.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut before = None;
    for round in 0..2 {
        let _ = fs::remove_file(&address_file);
        let program = command(&worker, &address_file)
            .args(["--user", "nobody"])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut program = Program(program);
        let mut address = None;
        for _ in 0..3000 {
            address = fs::read_to_string(&address_file).ok();
            if address.is_some() || program.0.try_wait().unwrap().is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let address = address.expect("the program listens");
        let status = fs::read_to_string(format!("/proc/{}/status", program.0.id())).unwrap();
        for line in status.lines() {
            let (name, value) = line.split_once(':').unwrap();
            let numbers: Vec<&str> = value.split_whitespace().collect();
            match name {
                "Uid" | "Gid" | "Groups" => assert!(!numbers.contains(&"0"), "{line}"),
                "CapEff" | "CapPrm" => assert_eq!(numbers, ["0000000000000000"], "{line}"),
                "NoNewPrivs" => assert_eq!(numbers, ["1"], "{line}"),
                _ => {}
            }
        }
        // The program names the machine's own operating system.
        world.accept_os(&operating_system()).await;
        let joined = json!({ "name": worker.name, "address": address });
        let (status, answer) = world
            .operate(Method::POST, "/v1/registrations", joined)
            .await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        let pod = world
            .healthy_pod(&mut worker, &format!("redis-{round}"))
            .await;
        worker.run(&pod, content("libc"), "/lib/libc.so");
        let (status, answer) = world.attest(&pod).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        let ak = StateFolder::new(&worker.state)
            .keys()
            .unwrap()
            .unwrap()
            .ak
            .public;
        assert_eq!(
            *before.get_or_insert(ak.clone()),
            ak,
            "the same attestation key"
        );
        let id = nix::unistd::Pid::from_raw(i32::try_from(program.0.id()).unwrap());
        nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGTERM).unwrap();
        assert!(
            program.0.wait().unwrap().success(),
            "it stops when asked to"
        );
    }
}
