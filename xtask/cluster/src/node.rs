//! A real node: Kubernetes' own kubelet with containerd and runc, in namespaces of its own on this machine.
//!
//! It needs root. Everything of it ends with the value, also when this process is killed: its first process ends with its input,
//! and the kernel ends all others of its PID namespace with it. What it mounts is seen by nobody else, the machine's settings
//! are protected from it, and it pulls no images: pods run those that it is given.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Cluster, PATIENCE, Programs, User, about, listen};

/// The name of the node: the one whose token the API server knows.
pub const NODE: &str = "localhost";
/// The name of the image that pods' sandboxes are made of; it is to be among the images that a node is given.
pub const SANDBOX: &str = "registry.example/pause:1";

const SCRIPT: &str = include_str!("node.sh");
const CNI: &str = include_str!("cni.sh");
/// What pods run by. Debian's packages `containerd` and `runc` have all of it.
const RUNTIME: [&str; 4] = ["containerd", "containerd-shim-runc-v2", "ctr", "runc"];

/// The programs of a container runtime.
#[derive(Clone, Debug)]
pub struct Runtime {
    path: OsString,
}

impl Runtime {
    /// Those in the folder that `LOCUS_CONTAINERD` names, to which Debian's packages were unpacked, or those of the path.
    ///
    /// The error says what is missing. Whether this machine lets a node run is asked by [`Runtime::possible`].
    pub fn find() -> Result<Runtime, String> {
        let own = std::env::var_os("LOCUS_CONTAINERD").map(PathBuf::from);
        let unpacked = own
            .iter()
            .flat_map(|folder| [folder.join("usr/bin"), folder.join("usr/sbin")]);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = unpacked.chain(std::env::split_paths(&path));
        let path = std::env::join_paths(path).map_err(|error| error.to_string())?;
        let runtime = Runtime { path };
        for name in RUNTIME {
            runtime.program(name)?;
        }
        Ok(runtime)
    }

    /// Where one of them is.
    pub fn program(&self, name: &str) -> Result<PathBuf, String> {
        let mut all = std::env::split_paths(&self.path).map(|folder| folder.join(name));
        all.find(|program| program.is_file()).ok_or_else(|| {
            format!(
                "there is no `{name}`: unpack Debian's packages `containerd` and `runc`, and name the folder in `LOCUS_CONTAINERD`"
            )
        })
    }

    /// Whether a node can run here; the error says why not.
    pub fn possible(&self) -> Result<(), String> {
        let tried = unshare().arg("true").output();
        let tried = tried.map_err(|error| format!("cannot start `unshare`: {error}"))?;
        if !tried.status.success() {
            let said = String::from_utf8_lossy(&tried.stderr).trim().to_owned();
            return Err(format!(
                "a node needs namespaces, which root can make: {said}"
            ));
        }
        let groups = hierarchies();
        let Some(first) = groups.first() else {
            return Err("no control groups are mounted".to_owned());
        };
        let tried = first.join(format!("locus-{}", std::process::id()));
        match fs::create_dir(&tried).and_then(|()| fs::remove_dir(&tried)) {
            Ok(()) => Ok(()),
            Err(error) => Err(format!(
                "no control group can be made in `{}`: {error}",
                first.display()
            )),
        }
    }
}

fn unshare() -> Command {
    let mut command = Command::new("unshare");
    command.args([
        "--mount",
        "--propagation",
        "private",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
    ]);
    command
}

/// Where control groups are mounted.
fn hierarchies() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mut found = Vec::new();
    for line in mounts.lines() {
        let mut words = line.split(' ').skip(1);
        if let (Some(place), Some("cgroup" | "cgroup2")) = (words.next(), words.next()) {
            found.push(PathBuf::from(place));
        }
    }
    found
}

/// A node that runs pods, until the value is dropped.
#[derive(Debug)]
pub struct Node {
    first: Child,
    folder: PathBuf,
    runtime: Runtime,
}

impl Node {
    /// Starts a node with images, archives that `ctr images import` takes, and waits until the cluster says that it is ready.
    pub fn start(cluster: &Cluster, runtime: &Runtime, images: &[PathBuf]) -> io::Result<Node> {
        let folder = cluster.folder().join("node");
        for part in ["private", "images", "cni"] {
            let part = folder.join(part);
            fs::create_dir_all(&part).map_err(about(&part))?;
        }
        for (number, image) in images.iter().enumerate() {
            fs::copy(image, folder.join(format!("images/{number}.tar"))).map_err(about(image))?;
        }
        for plugin in ["locus", "loopback"] {
            let path = folder.join("cni").join(plugin);
            write(&path, CNI)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(about(&path))?;
        }
        let network = r#"{"cniVersion": "0.4.0", "name": "locus", "plugins": [{"type": "locus"}]}"#;
        write(&folder.join("cni/locus.conflist"), network)?;
        write(&folder.join("containerd.toml"), &containerd(&folder))?;
        write(&folder.join("kubelet.yaml"), &kubelet(&folder)?)?;
        let config = cluster.kubeconfig(User::Node);
        let own = folder.join("kubelet.kubeconfig");
        fs::copy(&config, &own).map_err(about(&config))?;
        let script = folder.join("node.sh");
        write(&script, SCRIPT)?;

        let program = cluster.programs.command("kubelet");
        if let Programs::Folder(programs) = &cluster.programs
            && !programs.join("kubelet").is_file()
        {
            let programs = programs.display();
            return Err(io::Error::other(format!(
                "there is no `kubelet` in `{programs}`"
            )));
        }
        let log = folder.join("node.log");
        let log = File::create(&log).map_err(about(&log))?;
        let first = unshare()
            .args(["sh"])
            .args([&script, &folder])
            .arg(NODE)
            .arg(program.get_program())
            .args(program.get_args())
            .env("PATH", &runtime.path)
            .stdin(Stdio::piped())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .map_err(|error| {
                io::Error::new(error.kind(), format!("cannot start `unshare`: {error}"))
            })?;
        let mut node = Node {
            first,
            folder,
            runtime: runtime.clone(),
        };
        node.wait_ready(cluster)?;
        Ok(node)
    }

    fn wait_ready(&mut self, cluster: &Cluster) -> io::Result<()> {
        let ready = r#"jsonpath={.status.conditions[?(@.type=="Ready")].status}"#;
        let start = Instant::now();
        loop {
            let told = cluster.kubectl(&["get", "node", NODE, "-o", ready])?;
            if told.stdout == b"True" {
                return Ok(());
            }
            let ended = self.first.try_wait()?;
            if ended.is_some() || start.elapsed() > PATIENCE {
                let what = ended.map_or_else(
                    || "is not ready".to_owned(),
                    |status| format!("ended with {status}"),
                );
                return Err(io::Error::other(format!(
                    "the node {what}\n{}",
                    self.told()
                )));
            }
            sleep(Duration::from_millis(200));
        }
    }

    /// The ends of what its parts logged.
    pub fn told(&self) -> String {
        let mut told = String::new();
        for part in ["node", "images", "containerd", "kubelet"] {
            let log =
                fs::read_to_string(self.folder.join(format!("{part}.log"))).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            let last = lines.split_at(lines.len().saturating_sub(10)).1;
            told.push_str(&format!("{part}:\n{}\n", last.join("\n")));
        }
        told
    }

    fn ctr(&self, arguments: &[&str]) -> io::Result<Vec<u8>> {
        let mut command = Command::new("ctr");
        command.env("PATH", &self.runtime.path);
        command
            .arg("--address")
            .arg(self.folder.join("containerd.sock"));
        let output = command
            .args(["--namespace", "k8s.io"])
            .args(arguments)
            .output()?;
        match output.status.success() {
            true => Ok(output.stdout),
            false => Err(io::Error::other(
                String::from_utf8_lossy(&output.stderr).into_owned(),
            )),
        }
    }

    /// The identifiers of the containers that there are, as the runtime says, sandboxes included.
    pub fn containers(&self) -> io::Result<Vec<String>> {
        let listed = self.ctr(&["containers", "list", "--quiet"])?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        Ok(listed.split_whitespace().map(str::to_owned).collect())
    }

    /// The UID of the pod of a container, as the runtime says.
    pub fn pod_of(&self, container: &str) -> io::Result<String> {
        let told = self.ctr(&["containers", "info", container])?;
        let told: Value = serde_json::from_slice(&told).map_err(io::Error::other)?;
        let uid = told.pointer("/Labels/io.kubernetes.pod.uid");
        let uid = uid.and_then(Value::as_str);
        let uid =
            uid.ok_or_else(|| io::Error::other(format!("`{container}` is no container of a pod")))?;
        Ok(uid.to_owned())
    }

    /// The processes of a container, by their identifiers on this machine.
    pub fn processes(&self, container: &str) -> Vec<u32> {
        let mut found = Vec::new();
        for group in hierarchies() {
            let list = group.join("k8s.io").join(container).join("cgroup.procs");
            let list = fs::read_to_string(list).unwrap_or_default();
            found.extend(list.lines().filter_map(|line| line.parse::<u32>().ok()));
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let own = self.containers().unwrap_or_default();
        drop(self.first.stdin.take());
        // It ended before, or ends now: with it all that it started.
        let _ = self.first.wait();
        for group in hierarchies() {
            let group = group.join("k8s.io");
            for container in &own {
                let _ = fs::remove_dir(group.join(container));
            }
            // Only an empty one goes: another runtime on this machine may use it, too.
            let _ = fs::remove_dir(&group);
        }
    }
}

fn containerd(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        r#"version = 2
root = "{folder}/private/root"
state = "{folder}/private/state"

[grpc]
address = "{folder}/containerd.sock"

[plugins."io.containerd.internal.v1.opt"]
path = "{folder}/private/opt"

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{SANDBOX}"
restrict_oom_score_adj = true

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{folder}/cni"
conf_dir = "{folder}/cni"
"#
    )
}

fn kubelet(folder: &Path) -> io::Result<String> {
    let port = listen()?.local_addr()?.port();
    let folder = folder.display();
    Ok(format!(
        "apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: 127.0.0.1
authentication: {{anonymous: {{enabled: true}}, webhook: {{enabled: false}}}}
authorization: {{mode: AlwaysAllow}}
# The machine's own control groups stay as they are.
cgroupDriver: cgroupfs
cgroupsPerQOS: false
clusterDNS: [10.0.0.10]
containerRuntimeEndpoint: unix://{folder}/containerd.sock
enforceNodeAllocatable: []
# However full the machine is, no pod goes for that.
evictionHard: {{}}
failCgroupV1: false
failSwapOn: false
healthzPort: 0
imageGCHighThresholdPercent: 100
localStorageCapacityIsolation: false
makeIPTablesUtilChains: false
podLogsDir: /var/log/pods
port: {port}
protectKernelDefaults: true
resolvConf: ''
volumePluginDir: {folder}/private/plugins
"
    ))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text).map_err(about(path))
}
