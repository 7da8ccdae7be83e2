//! The gate's real program, as a process that can be killed, and its commands.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

const GATE: &str = env!("CARGO_BIN_EXE_locus-gate");

/// `locus-gate serve`; it ends with this.
pub(crate) struct GateProgram {
    process: Child,
    /// Where it listens.
    pub(crate) address: String,
}

impl GateProgram {
    /// Starts it on an installation, and waits until it listens.
    pub(crate) fn start(installation: &Path, more: &[&str]) -> Self {
        let mut process = Command::new(GATE)
            .arg("serve")
            .arg(installation)
            .args(["--listen", "127.0.0.1:0", "--log-format", "json"])
            .args(["--interval", "0"])
            .args(more)
            .env("RUST_LOG", "info")
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let (tell, told) = mpsc::channel();
        // Read to the end: a full pipe would stop it.
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let event: Value = serde_json::from_str(&line).unwrap_or_default();
                if event["fields"]["message"] == "the gate listens" {
                    let address = event["fields"]["address"].as_str().unwrap_or_default();
                    let _ = tell.send(address.to_owned());
                }
            }
        });
        match told.recv_timeout(Duration::from_secs(60)) {
            Ok(address) => GateProgram { process, address },
            Err(error) => {
                let _ = process.kill();
                let _ = process.wait();
                panic!("the gate does not listen: {error}");
            }
        }
    }

    /// Ends it as a loss of power would (SIGKILL).
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for GateProgram {
    fn drop(&mut self) {
        // Only this process, by its handle; if it ended by itself there is nothing to do.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// Standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Runs `locus-gate` with arguments.
pub(crate) fn locus_gate(arguments: &[&str]) -> Ended {
    let output = Command::new(GATE)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}
