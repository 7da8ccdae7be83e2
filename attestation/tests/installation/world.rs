//! A real control plane, and the programs under test.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use control_plane::{Cluster, Part, Programs, User};
use serde_json::Value;
use tempfile::TempDir;

/// A digest that stands for an image.
pub(crate) fn digest(letter: char) -> String {
    format!("sha256:{}", letter.to_string().repeat(64))
}

/// The images of an installation.
pub(crate) fn image(name: &str, letter: char) -> String {
    format!("registry.example/{name}@{}", digest(letter))
}

/// A control plane, until it is dropped.
pub(crate) struct World {
    pub(crate) cluster: Cluster,
    pub(crate) folder: TempDir,
}

impl World {
    /// Starts one; none if there are no programs for it, which is said.
    pub(crate) fn start(parts: &[Part]) -> Option<World> {
        if let Err(why) = Programs::find() {
            eprintln!("not tested with a real API server: {why}");
            return None;
        }
        let folder = TempDir::new().unwrap();
        // Services are looked up by their endpoints: where there are none, nobody is called.
        let flags = [(Part::ApiServer, "--enable-aggregator-routing=true")];
        let cluster = Cluster::start_with(folder.path(), parts, &flags).unwrap();
        Some(World { cluster, folder })
    }

    /// `locus-gate` as the administrator of the cluster.
    pub(crate) fn gate(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_locus-gate"))
            .args(arguments)
            .arg("--kubeconfig")
            .arg(self.cluster.kubeconfig(User::Admin))
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// The same, which must end with 0.
    pub(crate) fn does(&self, arguments: &[&str]) -> String {
        let output = self.gate(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// `kubectl`, which must end with 0.
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> String {
        let output = self.cluster.kubectl(arguments).unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Sends objects; why they were refused.
    pub(crate) fn send(&self, verb: &[&str], objects: &str) -> Result<String, String> {
        self.send_as(User::Admin, verb, objects)
    }

    pub(crate) fn send_as(
        &self,
        user: User,
        verb: &[&str],
        objects: &str,
    ) -> Result<String, String> {
        let mut child = self
            .cluster
            .kubectl_as(user)
            .args(verb)
            .args(["-f", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(objects.as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    pub(crate) fn get(&self, arguments: &[&str]) -> Value {
        let mut all = vec!["get", "-o", "json"];
        all.extend(arguments);
        serde_json::from_str(&self.kubectl(&all)).unwrap()
    }

    /// Waits until something holds.
    pub(crate) fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let start = Instant::now();
        while !holds() {
            assert!(start.elapsed() < Duration::from_secs(120), "never: {what}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

/// What `locus-gate` prints without a cluster.
pub(crate) fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_locus-gate"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
