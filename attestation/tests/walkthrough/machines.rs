//! Three machines: each with name spaces of its own for mounts, host name and network, and a software TPM.
//!
//! What a test cannot have is played here: the service manager, the copying between machines, the reboot, and the
//! kernel, which measures a program that is started by its path. Everything else is run as the document has it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::ima::{BootAggregate, LogWriter};

use crate::services::Service;

/// How long a machine may take to come up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

/// What a machine has for itself: everything that the document writes to. `/etc` starts as a copy.
const OWN: [&str; 4] = ["root", "srv", "var", "security"];

/// The container runtime, and what the container runs.
const RUNC: &[u8] = b"the container runtime";
const REDIS: &[u8] = b"the server of the container";

/// How a machine's TPM is reached from inside of it.
const TPM: &str = "swtpm:host=127.0.0.1,port=2321";

/// A machine.
pub(crate) struct Machine {
    pub(crate) name: String,
    /// The process that holds its name spaces.
    holder: Program,
    folder: PathBuf,
    tpm_state: PathBuf,
    tpm: Option<Program>,
    kernel: LogWriter,
    services: Vec<Service>,
}

/// A process that ends with its owner.
pub(crate) struct Program(pub(crate) Child);

impl Drop for Program {
    fn drop(&mut self) {
        // Only this process, by its handle; if it ended by itself there is nothing to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) success: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

fn tool(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

impl Machine {
    /// A machine with the TPM whose state is in a folder; it is off.
    pub(crate) fn new(folder: &Path, name: &str, tpm_state: PathBuf) -> Self {
        let folder = folder.join(name);
        for own in OWN {
            fs::create_dir_all(folder.join(own)).unwrap();
        }
        fs::create_dir_all(folder.join("var/lib")).unwrap();
        fs::create_dir_all(folder.join("security/ima")).unwrap();
        tool(Command::new("cp").args(["-a", "/etc"]).arg(&folder));
        let hosts: String = (1..=3).map(|n| format!("192.0.2.{n} node-{n}\n")).collect();
        fs::write(
            folder.join("etc/hosts"),
            format!("127.0.0.1 localhost\n{hosts}"),
        )
        .unwrap();
        fs::create_dir_all(folder.join("etc/default")).unwrap();
        // The one thing that is not as on a real machine: where its TPM is.
        fs::write(
            folder.join("etc/default/locus-agent"),
            format!("LOCUS_AGENT_OPTIONS=--tpm {TPM}\n"),
        )
        .unwrap();
        let at = folder.display();
        let script = format!(
            "mount --make-rprivate / && hostname {name} && mount --bind {at}/etc /etc && mount --bind {at}/root /root \
             && mount --bind {at}/srv /srv && mount --bind {at}/var/lib /var/lib && mount -t tmpfs tmp /run \
             && mount -t sysfs -o ro sys /sys && mount --bind {at}/security /sys/kernel/security \
             && ip link set lo up && touch {at}/ready && exec sleep infinity"
        );
        let holder = Command::new("unshare")
            .args(["--mount", "--net", "--uts", "sh", "-c", &script])
            .stdin(Stdio::null())
            .spawn();
        let mut holder = Program(holder.expect("util-linux is installed"));
        let begun = Instant::now();
        while !folder.join("ready").exists() {
            assert!(
                holder.0.try_wait().unwrap().is_none(),
                "{name} has no name spaces"
            );
            assert!(begun.elapsed() < PATIENCE, "{name} does not come up");
            std::thread::sleep(Duration::from_millis(20));
        }
        Machine {
            name: name.to_owned(),
            holder,
            folder,
            tpm_state,
            tpm: None,
            kernel: LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1, HashAlg::Sha256]),
            services: Vec::new(),
        }
    }

    /// The process whose name spaces these are.
    fn inside(&self) -> u32 {
        self.holder.0.id()
    }

    /// A command inside of the machine.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        let beside = Path::new(env!("CARGO_BIN_EXE_locus-agent"))
            .parent()
            .unwrap();
        command
            .args([
                "-t",
                &self.inside().to_string(),
                "--mount",
                "--net",
                "--uts",
                "--wdns=/root",
                "--",
            ])
            .arg(program)
            .env(
                "PATH",
                format!(
                    "{}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                    beside.display()
                ),
            )
            .env("HOME", "/root")
            .env("TPM2TOOLS_TCTI", TPM)
            .stdin(Stdio::null());
        command
    }

    /// Where a file of the machine is for everybody else.
    pub(crate) fn path(&self, inside: &str) -> PathBuf {
        self.folder.join(inside.trim_start_matches('/'))
    }

    /// Types a command at the machine.
    pub(crate) fn run(&mut self, text: &str) -> Done {
        let output = self.command("bash").args(["-c", text]).output().unwrap();
        if let Some(program) = text
            .split_whitespace()
            .next()
            .filter(|word| word.starts_with('/'))
        {
            let content = self.command("cat").arg(program).output().unwrap().stdout;
            self.measure(HashAlg::Sha256.hash(&[&content]), program);
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Done {
            success: output.status.success(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Puts there what the reader of the document has already: the image that machines are installed from, the
    /// container runtime, and the image of a container.
    pub(crate) fn prepare(&self) {
        for (path, content) in [
            ("debian-12/usr/bin/bash", fs::read("/bin/bash").unwrap()),
            ("runc/usr/bin/runc", RUNC.to_vec()),
            ("redis/usr/bin/redis-server", REDIS.to_vec()),
        ] {
            let path = self.folder.join("srv").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let redis = self.folder.join("srv");
        tool(
            Command::new("tar")
                .arg("-C")
                .arg(redis.join("redis"))
                .arg("-cf")
                .arg(redis.join("redis.tar"))
                .arg("usr"),
        );
    }

    /// A container starts.
    pub(crate) fn start_container(&mut self) {
        self.measure(HashAlg::Sha256.hash(&[REDIS]), "/usr/bin/redis-server");
    }

    /// Switches it on: the TPM starts, the kernel writes the first line of its log, services start.
    pub(crate) fn boot(&mut self) {
        self.services.clear();
        self.tpm = None;
        let tpm = self
            .command("swtpm")
            .args([
                "socket",
                "--tpm2",
                "--flags",
                "not-need-init,startup-clear",
                "--tpmstate",
            ])
            .arg(format!("dir={}", self.tpm_state.display()))
            .args([
                "--server",
                "type=tcp,port=2321",
                "--ctrl",
                "type=tcp,port=2322",
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.tpm = Some(Program(tpm.unwrap()));
        let begun = Instant::now();
        while !self
            .command("tpm2_readclock")
            .output()
            .unwrap()
            .status
            .success()
        {
            assert!(
                begun.elapsed() < PATIENCE,
                "the TPM of {} does not start",
                self.name
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        self.kernel = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1, HashAlg::Sha256]);
        for log in ["binary_runtime_measurements", "ascii_runtime_measurements"] {
            let _ = fs::remove_file(self.folder.join("security/ima").join(log));
        }
        let zeros = vec![Digest::zero(HashAlg::Sha256); 10];
        let aggregate = BootAggregate::over(HashAlg::Sha256, &zeros)
            .unwrap()
            .current;
        self.measure(aggregate, "boot_aggregate");
        self.measure(
            HashAlg::Sha256.hash(&[&fs::read("/bin/bash").unwrap()]),
            "/usr/bin/bash",
        );
        self.measure(HashAlg::Sha256.hash(&[RUNC]), "/usr/bin/runc");
        for unit in Service::enabled(self) {
            self.services.push(Service::start(self, &unit));
        }
    }

    /// Enables a unit and starts it.
    pub(crate) fn enable(&mut self, unit: &str) {
        Service::enable(self, unit);
        let service = Service::start(self, unit);
        self.services.retain(|old| old.unit != unit);
        self.services.push(service);
    }

    /// Stops a unit and starts it again.
    pub(crate) fn restart(&mut self, unit: &str) {
        self.services.retain(|old| old.unit != unit);
        let service = Service::start(self, unit);
        self.services.push(service);
    }

    /// Stops a unit.
    pub(crate) fn stop(&mut self, unit: &str) {
        self.services.retain(|old| old.unit != unit);
    }

    /// What the services wrote, for whoever looks for the reason of a failure.
    pub(crate) fn journal(&self) -> String {
        self.services
            .iter()
            .map(|service| format!("== {}\n{}", service.unit, service.journal()))
            .collect()
    }

    /// The kernel measures a file: the TPM is extended, and the log gets an entry in both of its forms.
    fn measure(&mut self, digest: Digest, path: &str) {
        let before = self.kernel.entries();
        let extended = self.kernel.ng(digest, path).unwrap();
        let values: Vec<String> = extended
            .iter()
            .map(|value| format!("{}={}", value.alg(), value.to_hex()))
            .collect();
        tool(
            self.command("tpm2_pcrextend")
                .arg(format!("10:{}", values.join(","))),
        );
        self.append("binary_runtime_measurements", self.kernel.log_from(before));
        let line = format!("10 {} ima-ng {digest} {path}\n", extended[0].to_hex());
        self.append("ascii_runtime_measurements", line.as_bytes());
    }

    fn append(&self, name: &str, bytes: &[u8]) {
        let path = self.folder.join("security/ima").join(name);
        let file = fs::OpenOptions::new().create(true).append(true).open(path);
        file.unwrap().write_all(bytes).unwrap();
    }
}

/// Connects the machines: the first has the switch.
pub(crate) fn connect(machines: &[Machine]) {
    let ip = |machine: &Machine, text: &str| {
        tool(machine.command("ip").args(text.split_whitespace()));
    };
    let [first, others @ ..] = machines else {
        return;
    };
    ip(first, "link add switch type bridge");
    ip(first, "link set switch up");
    ip(first, "addr add 192.0.2.1/24 dev switch");
    for (number, other) in (2..).zip(others) {
        let inside = other.inside();
        // From outside of both, as the other end goes by a process of this name space.
        let pid = first.inside().to_string();
        let port = format!("link add port-{number} type veth peer name eth0 netns {inside}");
        tool(
            Command::new("nsenter")
                .args(["-t", &pid, "--net", "ip"])
                .args(port.split_whitespace()),
        );
        ip(first, &format!("link set port-{number} master switch up"));
        ip(other, &format!("addr add 192.0.2.{number}/24 dev eth0"));
        ip(other, "link set eth0 up");
    }
}
