//! A real Kubernetes control plane on loopback, for tests: etcd, API server, controller manager and scheduler as processes.
//!
//! Everything listens and talks on 127.0.0.1 only, on free ports, and lives in one folder. [`Cluster::start`] waits until the
//! API server is ready; parts can be stopped, killed and started again one by one; all end with the value.

mod binary;
#[cfg(feature = "kubelet")]
mod kubelet;
#[cfg(all(feature = "kubelet", target_os = "linux"))]
mod node;

use std::fs::{self, File};
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

pub use binary::{Helm, Programs, VERSION, build};
#[cfg(feature = "kubelet")]
pub use kubelet::{Kubelets, Shape, container_id};
#[cfg(all(feature = "kubelet", target_os = "linux"))]
pub use node::{NODE, Node, Runtime, SANDBOX};

/// How long a part may take until it answers.
const PATIENCE: Duration = Duration::from_secs(180);

/// A process of the control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// What keeps the objects.
    Etcd,
    /// What everybody talks to.
    ApiServer,
    /// What makes pods of workloads, and service accounts.
    ControllerManager,
    /// What chooses nodes for pods.
    Scheduler,
}

impl Part {
    /// All of them, in the order in which they start.
    pub const ALL: [Part; 4] = [
        Part::Etcd,
        Part::ApiServer,
        Part::ControllerManager,
        Part::Scheduler,
    ];
    /// What answers requests, and runs nothing.
    pub const SERVER: [Part; 2] = [Part::Etcd, Part::ApiServer];

    fn name(self) -> &'static str {
        match self {
            Part::Etcd => "etcd",
            Part::ApiServer => "kube-apiserver",
            Part::ControllerManager => "kube-controller-manager",
            Part::Scheduler => "kube-scheduler",
        }
    }
}

/// Somebody whom the API server knows by a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    /// May do everything.
    Admin,
    /// May do nothing until a role is bound: the user `nobody`.
    Nobody,
    /// The node `localhost`.
    Node,
    /// The controller manager.
    ControllerManager,
    /// The scheduler.
    Scheduler,
}

impl User {
    const ALL: [User; 5] = [
        User::Admin,
        User::Nobody,
        User::Node,
        User::ControllerManager,
        User::Scheduler,
    ];

    /// The name of its files.
    fn file(self) -> &'static str {
        match self {
            User::Admin => "admin",
            User::Nobody => "nobody",
            User::Node => "node",
            User::ControllerManager => "controller-manager",
            User::Scheduler => "scheduler",
        }
    }

    /// Its name and groups in the cluster.
    fn identity(self) -> (&'static str, &'static str) {
        match self {
            User::Admin => ("admin", "system:masters"),
            User::Nobody => ("nobody", ""),
            User::Node => ("system:node:localhost", "system:nodes"),
            User::ControllerManager => ("system:kube-controller-manager", ""),
            User::Scheduler => ("system:kube-scheduler", ""),
        }
    }
}

/// A control plane that runs.
#[derive(Debug)]
pub struct Cluster {
    programs: Programs,
    folder: PathBuf,
    ports: Ports,
    running: Vec<(Part, Child)>,
    /// Further flags, by part.
    flags: Vec<(Part, String)>,
    keep: bool,
}

#[derive(Clone, Copy, Debug)]
struct Ports {
    etcd: u16,
    peer: u16,
    server: u16,
}

impl Cluster {
    /// Starts parts in a folder, which may be empty or that of a cluster that was stopped, and waits until the API server is ready.
    pub fn start(folder: &Path, parts: &[Part]) -> io::Result<Cluster> {
        Self::start_with(folder, parts, &[])
    }

    /// The same, with further flags, such as `--enable-admission-plugins=PodSecurity` of the API server.
    pub fn start_with(
        folder: &Path,
        parts: &[Part],
        flags: &[(Part, &str)],
    ) -> io::Result<Cluster> {
        let programs = Programs::find().map_err(io::Error::other)?;
        fs::create_dir_all(folder).map_err(about(folder))?;
        let folder = folder.canonicalize().map_err(about(folder))?;
        let flags = flags.iter().map(|(part, flag)| (*part, (*flag).to_owned()));
        let mut cluster = Cluster {
            programs,
            ports: Ports::free()?,
            running: Vec::new(),
            flags: flags.collect(),
            keep: false,
            folder,
        };
        cluster.prepare()?;
        for part in parts {
            cluster.start_part(*part)?;
        }
        Ok(cluster)
    }

    /// Keys, tokens and configurations of clients.
    fn prepare(&self) -> io::Result<()> {
        let key = self.folder.join("sa.key");
        if !key.is_file() {
            let made = Command::new("openssl")
                .args(["genrsa", "-out"])
                .arg(&key)
                .arg("2048")
                .stderr(Stdio::null())
                .status()
                .map_err(|error| {
                    io::Error::new(error.kind(), format!("cannot start `openssl`: {error}"))
                })?;
            if !made.success() {
                return Err(io::Error::other("`openssl genrsa` failed"));
            }
        }
        let mut tokens = String::new();
        for user in User::ALL {
            let path = self.token_path(user);
            let token = match fs::read_to_string(&path) {
                Ok(token) => token,
                Err(_) => random()?,
            };
            fs::write(&path, &token).map_err(about(&path))?;
            let (name, group) = user.identity();
            tokens.push_str(&format!("{token},{name},{},\"{group}\"\n", user.file()));
            let path = self.kubeconfig(user);
            fs::write(&path, self.client(user)).map_err(about(&path))?;
        }
        let path = self.folder.join("tokens.csv");
        fs::write(&path, tokens).map_err(about(&path))
    }

    fn token_path(&self, user: User) -> PathBuf {
        self.folder.join(format!("{}.token", user.file()))
    }

    /// The configuration of a client; what it names is beside it.
    fn client(&self, user: User) -> String {
        let name = user.file();
        let server = self.url();
        let authority = self.authority();
        let (authority, token) = (authority.display(), self.token_path(user));
        let token = token.display();
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: {name}\nclusters:\n- name: local\n  cluster:\n    server: {server}\n    \
             certificate-authority: {authority}\nusers:\n- name: {name}\n  user:\n    tokenFile: {token}\ncontexts:\n- name: {name}\n  \
             context:\n    cluster: local\n    user: {name}\n"
        )
    }

    /// Starts a part that does not run, and waits until it answers.
    pub fn start_part(&mut self, part: Part) -> io::Result<()> {
        if self.running.iter().any(|(one, _)| *one == part) {
            return Ok(());
        }
        let log = self.log(part);
        let log = File::options()
            .create(true)
            .append(true)
            .open(&log)
            .map_err(about(&log))?;
        let mut command = self.programs.command(part.name());
        command.args(self.arguments(part));
        let further = self.flags.iter().filter(|(one, _)| *one == part);
        command.args(further.map(|(_, flag)| flag));
        let child = command
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .map_err(|error| {
                io::Error::new(
                    error.kind(),
                    format!("cannot start `{}`: {error}", part.name()),
                )
            })?;
        let pid = self.pid_path(part);
        fs::write(&pid, child.id().to_string()).map_err(about(&pid))?;
        self.running.push((part, child));
        match part {
            Part::ApiServer => self.wait_ready(),
            _ => Ok(()),
        }
    }

    fn arguments(&self, part: Part) -> Vec<String> {
        let Ports { etcd, peer, server } = self.ports;
        let file = |name: &str| self.folder.join(name).display().to_string();
        let key = file("sa.key");
        let config = |user| self.kubeconfig(user).display().to_string();
        let flags: &[(&str, String)] = match part {
            Part::Etcd => &[
                ("data-dir", file("etcd")),
                ("listen-client-urls", format!("http://127.0.0.1:{etcd}")),
                ("advertise-client-urls", format!("http://127.0.0.1:{etcd}")),
                ("listen-peer-urls", format!("http://127.0.0.1:{peer}")),
                (
                    "initial-advertise-peer-urls",
                    format!("http://127.0.0.1:{peer}"),
                ),
                (
                    "initial-cluster",
                    format!("default=http://127.0.0.1:{peer}"),
                ),
                ("unsafe-no-fsync", "true".into()),
                ("log-level", "warn".into()),
            ],
            Part::ApiServer => &[
                ("etcd-servers", format!("http://127.0.0.1:{etcd}")),
                ("bind-address", "127.0.0.1".into()),
                ("advertise-address", "127.0.0.1".into()),
                ("secure-port", server.to_string()),
                ("cert-dir", file("certs")),
                ("token-auth-file", file("tokens.csv")),
                ("authorization-mode", "Node,RBAC".into()),
                ("service-cluster-ip-range", "10.0.0.0/24".into()),
                ("service-account-issuer", self.url()),
                ("service-account-key-file", key.clone()),
                ("service-account-signing-key-file", key),
                ("endpoint-reconciler-type", "none".into()),
                ("allow-privileged", "true".into()),
                ("kubelet-preferred-address-types", "Hostname".into()),
            ],
            Part::ControllerManager => &[
                ("kubeconfig", config(User::ControllerManager)),
                ("service-account-private-key-file", key),
                ("root-ca-file", self.authority().display().to_string()),
                ("use-service-account-credentials", "true".into()),
                ("leader-elect", "false".into()),
                ("bind-address", "127.0.0.1".into()),
                ("secure-port", "0".into()),
            ],
            Part::Scheduler => &[
                ("kubeconfig", config(User::Scheduler)),
                ("leader-elect", "false".into()),
                ("bind-address", "127.0.0.1".into()),
                ("secure-port", "0".into()),
            ],
        };
        let flags = flags.iter();
        flags
            .map(|(name, value)| format!("--{name}={value}"))
            .collect()
    }

    /// Waits until the API server says that it is ready.
    pub fn wait_ready(&mut self) -> io::Result<()> {
        let start = Instant::now();
        loop {
            // Its certificate authority is there when it has made it.
            let ready = self.authority().is_file()
                && self
                    .kubectl(&["get", "--raw", "/readyz"])
                    .is_ok_and(|told| told.status.success());
            if ready {
                return Ok(());
            }
            let ended = self.running.iter_mut().find_map(|(part, child)| {
                let ended = child.try_wait().ok().flatten()?;
                Some((*part, ended))
            });
            if let Some((part, status)) = ended {
                return Err(self.failed(part, &format!("ended with {status}")));
            }
            if start.elapsed() > PATIENCE {
                return Err(self.failed(Part::ApiServer, "is not ready"));
            }
            sleep(Duration::from_millis(200));
        }
    }

    /// Creates a namespace, and waits until pods can be created in it. Needs the controller manager.
    pub fn create_namespace(&self, namespace: &str) -> io::Result<()> {
        let output = self.kubectl(&["create", "namespace", namespace])?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(said.trim().to_owned()));
        }
        self.wait_namespace(namespace)
    }

    /// Waits until pods can be created in a namespace: its default service account is there. Needs the controller manager.
    pub fn wait_namespace(&self, namespace: &str) -> io::Result<()> {
        let arguments = ["get", "serviceaccount", "default", "-n", namespace];
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if self.kubectl(&arguments)?.status.success() {
                return Ok(());
            }
            sleep(Duration::from_millis(200));
        }
        Err(self.failed(
            Part::ControllerManager,
            &format!("made no service account in `{namespace}`"),
        ))
    }

    fn failed(&self, part: Part, what: &str) -> io::Error {
        let log = fs::read_to_string(self.log(part)).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines.split_at(lines.len().saturating_sub(12)).1.join("\n");
        io::Error::other(format!("`{}` {what}\n{last}", part.name()))
    }

    /// Ends a part at once, as a crash would.
    pub fn kill(&mut self, part: Part) {
        let _ = fs::remove_file(self.pid_path(part));
        self.running.retain_mut(|(one, child)| {
            if *one == part {
                let _ = child.kill();
                let _ = child.wait();
            }
            *one != part
        });
    }

    /// Kills a part and starts it again; the API server is ready afterwards.
    pub fn restart(&mut self, part: Part) -> io::Result<()> {
        self.kill(part);
        self.start_part(part)
    }

    /// Holds a part, so that it is there and answers nothing, until [`Cluster::resume`].
    #[cfg(unix)]
    pub fn pause(&self, part: Part) -> io::Result<()> {
        self.signal(part, nix::sys::signal::Signal::SIGSTOP)
    }

    /// Lets a part go on.
    #[cfg(unix)]
    pub fn resume(&self, part: Part) -> io::Result<()> {
        self.signal(part, nix::sys::signal::Signal::SIGCONT)
    }

    #[cfg(unix)]
    fn signal(&self, part: Part, signal: nix::sys::signal::Signal) -> io::Result<()> {
        let running = self.running.iter().find(|(one, _)| *one == part);
        let pid = running.and_then(|(_, child)| i32::try_from(child.id()).ok());
        let pid = pid.ok_or_else(|| io::Error::other(format!("`{}` does not run", part.name())))?;
        Ok(nix::sys::signal::kill(
            nix::unistd::Pid::from_raw(pid),
            signal,
        )?)
    }

    /// Where the API server is.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.ports.server)
    }

    /// The certificate that clients trust.
    pub fn authority(&self) -> PathBuf {
        self.folder.join("certs/apiserver.crt")
    }

    /// The configuration of a client.
    pub fn kubeconfig(&self, user: User) -> PathBuf {
        self.folder.join(format!("{}.kubeconfig", user.file()))
    }

    /// The token of a user.
    pub fn token(&self, user: User) -> io::Result<String> {
        let path = self.token_path(user);
        fs::read_to_string(&path).map_err(about(&path))
    }

    /// The folder of the cluster.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What a part logs.
    pub fn log(&self, part: Part) -> PathBuf {
        self.folder.join(format!("{}.log", part.name()))
    }

    /// `kubectl` as the administrator.
    pub fn kubectl(&self, arguments: &[&str]) -> io::Result<Output> {
        self.kubectl_as(User::Admin).args(arguments).output()
    }

    /// `kubectl` as somebody.
    pub fn kubectl_as(&self, user: User) -> Command {
        let mut command = self.programs.command("kubectl");
        command.arg("--kubeconfig").arg(self.kubeconfig(user));
        // Its cache is that of the cluster.
        command.arg("--cache-dir").arg(self.folder.join("cache"));
        command.stdin(Stdio::null());
        command
    }

    /// Leaves everything running; [`stop`] ends it.
    pub fn leave(mut self) {
        self.keep = true;
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if !self.keep {
            let parts: Vec<Part> = self.running.iter().rev().map(|(part, _)| *part).collect();
            for part in parts {
                self.kill(part);
            }
        }
    }
}

impl Cluster {
    fn pid_path(&self, part: Part) -> PathBuf {
        pid_path(&self.folder, part)
    }
}

fn pid_path(folder: &Path, part: Part) -> PathBuf {
    folder.join(format!("{}.pid", part.name()))
}

/// Ends what [`Cluster::leave`] left running in a folder. A process that is no part of it any more is left alone.
#[cfg(unix)]
pub fn stop(folder: &Path) -> io::Result<()> {
    let folder = folder.canonicalize().map_err(about(folder))?;
    for part in Part::ALL.into_iter().rev() {
        let path = pid_path(&folder, part);
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let own = fs::read(format!("/proc/{}/cmdline", text.trim()));
        let own = own.map(|line| String::from_utf8_lossy(&line).into_owned());
        let own = own.is_ok_and(|line| {
            line.contains(part.name()) && line.contains(&*folder.to_string_lossy())
        });
        if let (true, Ok(pid)) = (own, text.trim().parse()) {
            let pid = nix::unistd::Pid::from_raw(pid);
            nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL)?;
        }
        fs::remove_file(&path).map_err(about(&path))?;
    }
    Ok(())
}

impl Ports {
    /// Ports that are free now.
    fn free() -> io::Result<Ports> {
        let listeners = [listen()?, listen()?, listen()?];
        let [etcd, peer, server] = listeners;
        let port = |listener: TcpListener| Ok::<_, io::Error>(listener.local_addr()?.port());
        Ok(Ports {
            etcd: port(etcd)?,
            peer: port(peer)?,
            server: port(server)?,
        })
    }
}

fn listen() -> io::Result<TcpListener> {
    TcpListener::bind(("127.0.0.1", 0))
}

/// A word that nobody guesses.
fn random() -> io::Result<String> {
    use std::io::Read as _;
    let path = Path::new("/dev/urandom");
    let mut bytes = [0; 16];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(about(path))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// An error that says which file it is about.
pub(crate) fn about(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    let path = path.display().to_string();
    move |error| io::Error::new(error.kind(), format!("{path}: {error}"))
}
