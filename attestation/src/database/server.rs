//! A PostgreSQL of its own for tests and benchmarks: Debian's, in a temporary folder, reached by a socket in there.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, geteuid};
use tempfile::TempDir;

/// How long a server may take to answer.
const START: Duration = Duration::from_secs(60);

/// A PostgreSQL that runs. It ends with this, and everything in it.
#[derive(Debug)]
pub struct PostgresServer {
    folder: TempDir,
    programs: PathBuf,
    user: Option<User>,
    process: Mutex<Option<Child>>,
}

/// The folder with the server's programs, the newest if there are several.
fn programs() -> Result<PathBuf, String> {
    let missing = "PostgreSQL is not installed: apt-get install postgresql";
    let versions = std::fs::read_dir("/usr/lib/postgresql").map_err(|_| missing)?;
    let mut versions: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let number = entry.file_name().to_str()?.parse().ok()?;
            let programs = entry.path().join("bin");
            programs
                .join("postgres")
                .exists()
                .then_some((number, programs))
        })
        .collect();
    versions.sort();
    let newest = versions.pop().ok_or(missing)?;
    Ok(newest.1)
}

impl PostgresServer {
    /// The one that is shared by all who ask in this process at the same time.
    ///
    /// # Errors
    /// Why there is none.
    pub fn shared() -> Result<Arc<Self>, String> {
        static SHARED: Mutex<Weak<PostgresServer>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = shared.upgrade() {
            return Ok(running);
        }
        let started = Arc::new(Self::start()?);
        *shared = Arc::downgrade(&started);
        Ok(started)
    }

    /// Makes one and starts it. Root's is another user's: PostgreSQL refuses to run as root.
    ///
    /// # Errors
    /// Why it did not start.
    pub fn start() -> Result<Self, String> {
        let told = |error: &dyn std::fmt::Display| error.to_string();
        let user = match geteuid().is_root() {
            false => None,
            true => {
                let found = User::from_name("postgres").map_err(|error| told(&error))?;
                Some(found.ok_or("there is no user `postgres`: apt-get install postgresql")?)
            }
        };
        let folder = tempfile::Builder::new()
            .prefix("locus-store-")
            .tempdir()
            .map_err(|error| told(&error))?;
        if let Some(user) = &user {
            let owner = (Some(user.uid.as_raw()), Some(user.gid.as_raw()));
            chown(folder.path(), owner.0, owner.1).map_err(|error| told(&error))?;
        }
        // Sockets are for everybody who finds them: the folder is not.
        let rights = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(folder.path(), rights).map_err(|error| told(&error))?;
        let server = PostgresServer {
            folder,
            programs: programs()?,
            user,
            process: Mutex::new(None),
        };
        let data = server.data();
        let mut made = server.command("initdb");
        made.args([
            "--auth",
            "trust",
            "--username",
            "locus",
            "--encoding",
            "UTF8",
        ])
        .args(["--locale", "C.UTF-8", "--no-sync", "--pgdata"])
        .arg(&data);
        let made = made.output().map_err(|error| told(&error))?;
        if !made.status.success() {
            return Err(String::from_utf8_lossy(&made.stderr).into_owned());
        }
        server.go_on()?;
        Ok(server)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        if let Some(user) = &self.user {
            command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
        }
        command
    }

    /// Starts it again after [`stop`](Self::stop), with everything that was in it.
    ///
    /// # Errors
    /// Why it did not start.
    pub fn go_on(&self) -> Result<(), String> {
        let told = |error: &dyn std::fmt::Display| error.to_string();
        let log = std::fs::File::create(self.log()).map_err(|error| told(&error))?;
        let mut command = self.command("postgres");
        command
            .arg("-D")
            .arg(self.data())
            .arg("-k")
            .arg(self.folder.path())
            .args(["-c", "listen_addresses=", "-c", "max_connections=200"])
            .stdout(Stdio::null())
            .stderr(log);
        let child = command.spawn().map_err(|error| told(&error))?;
        *self.process.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
        let begun = Instant::now();
        while begun.elapsed() < START {
            let mut ready = self.command("pg_isready");
            ready.args(["-q", "-h"]).arg(self.folder.path());
            if ready.status().is_ok_and(|status| status.success()) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(std::fs::read_to_string(self.log()).unwrap_or_default())
    }

    /// Stops it at once, as a loss of power would: what was not acknowledged may be lost, and nothing else.
    pub fn stop(&self) {
        let process = self
            .process
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(mut process) = process {
            if let Ok(id) = i32::try_from(process.id()) {
                // It may have ended by itself.
                let _ = kill(Pid::from_raw(id), Signal::SIGQUIT);
            }
            let _ = process.wait();
        }
    }

    /// A new database in it, as a URL.
    ///
    /// # Errors
    /// Why there is none.
    pub fn database(&self) -> Result<String, String> {
        let name = format!("t{}", uuid::Uuid::new_v4().simple());
        self.ask("postgres", &format!("CREATE DATABASE {name}"))?;
        let folder = self.folder.path().to_string_lossy().replace('/', "%2f");
        Ok(format!("postgres://locus@{folder}/{name}"))
    }

    /// What it answers to a statement, in the words of `psql`.
    ///
    /// # Errors
    /// What it objects.
    pub fn ask(&self, database: &str, statement: &str) -> Result<String, String> {
        let mut asked = self.command("psql");
        asked
            .args([
                "-X",
                "-q",
                "-A",
                "-t",
                "-v",
                "ON_ERROR_STOP=1",
                "-U",
                "locus",
            ])
            .arg("-h")
            .arg(self.folder.path())
            .args(["-d", database, "-c", statement]);
        let asked = asked.output().map_err(|error| error.to_string())?;
        match asked.status.success() {
            true => Ok(String::from_utf8_lossy(&asked.stdout).trim().to_owned()),
            false => Err(String::from_utf8_lossy(&asked.stderr).into_owned()),
        }
    }

    /// The name of the database in a URL of [`database`](Self::database).
    pub fn name_of(url: &str) -> &str {
        url.rsplit('/').next().unwrap_or_default()
    }

    /// Where its socket is.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.stop();
    }
}
