//! The gate's command line: `locus gate init`, `enrol`, `serve`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::GateError;
use super::keep::KeepArgs;
use super::rotation::rotate_key;
use super::serve::{COMPONENTS, GateConfig, ROTATION, credentials_name, start};
use super::store_args::StoreArgs;
use crate::clock::{Clock, SystemClock};
use crate::logs::{LogFormat, shown};
use crate::net::pki::names_in;
use crate::net::tls::Credentials;
use crate::net::{Authority, Role};
use crate::policy;

/// What the gate can be asked to do.
#[derive(Subcommand, Clone, Debug)]
pub enum GateCommand {
    /// Make an installation: its authority, and keys and certificates for its components.
    Init(InitArgs),
    /// Issue a certificate for an agent, an operator or a tenant.
    Enrol(EnrolArgs),
    /// Renew the components' certificates, which run out after 90 days; their keys stay.
    Renew(InitArgs),
    /// Give the verifier a new key; agents follow it by themselves, as the old key signs what follows it.
    RotateKey(FolderArgs),
    /// Check a policy before the gate is started with it.
    CheckPolicy(PolicyArgs),
    /// Run the gate, or some of its components; several gates can share a PostgreSQL.
    Serve(Box<ServeArgs>),
}

/// Where an installation is.
#[derive(Args, Clone, Debug)]
pub struct InitArgs {
    /// The installation's folder.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// A host name or an address by which the gate is reached, for its certificates; may be given more than once.
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,
}

/// Which installation.
#[derive(Args, Clone, Debug)]
pub struct FolderArgs {
    /// The installation's folder.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Which policy.
#[derive(Args, Clone, Debug)]
pub struct PolicyArgs {
    /// The policy.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Whom to issue a certificate to.
#[derive(Args, Clone, Debug)]
pub struct EnrolArgs {
    /// The installation's folder.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// The role of whoever gets the certificate.
    #[arg(value_enum)]
    role: Role,
    /// The name: for an agent, the worker's host name.
    #[arg(value_name = "NAME")]
    name: String,
    /// The folder to write `ca.pem`, and the certificate and key named after the role, to.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
}

/// What to run, and where.
#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// The installation's folder.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Where databases and locks are kept [default: the installation's folder].
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:30000")]
    listen: SocketAddr,
    /// Also answer for health, and with the keys of results, here: over TLS, but to everybody.
    #[arg(long, value_name = "ADDRESS")]
    health: Option<SocketAddr>,
    /// In a cluster: also give agents their first certificates there, for the tokens of their pods.
    #[cfg(feature = "kubernetes")]
    #[arg(long, requires = "health")]
    join: bool,
    /// Run only this component; may be given more than once.
    #[arg(long = "role", value_enum, value_name = "ROLE")]
    roles: Vec<Role>,
    /// Where the registrar is, if it runs elsewhere.
    #[arg(long, value_name = "ADDRESS")]
    registrar: Option<String>,
    /// Where the reference values are, if they are elsewhere.
    #[arg(long, value_name = "ADDRESS")]
    reference: Option<String>,
    /// Where the verifier is, if it runs elsewhere.
    #[arg(long, value_name = "ADDRESS")]
    verifier: Option<String>,
    /// How often to attest every worker, in seconds; 0 for never.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    interval: u64,
    /// How long a result counts, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    lifetime: i64,
    /// The policy for workers [default: `policy.toml` in the installation's folder, if there is one].
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    #[command(flatten)]
    keep: KeepArgs,
    /// How to write logs.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    log_format: LogFormat,
}

impl GateCommand {
    /// Does what the command line says.
    pub fn run(self) -> Result<(), GateError> {
        match self {
            GateCommand::Init(args) => {
                init_named(&args.folder, &args.names, &SystemClock)?;
                eprintln!("made an installation in `{}`", args.folder.display());
                Ok(())
            }
            GateCommand::Enrol(args) => {
                enrol(&args.folder, args.role, &args.name, &args.out, &SystemClock)
            }
            GateCommand::Renew(args) => {
                renew_named(&args.folder, &args.names, &SystemClock)?;
                eprintln!("renewed the certificates in `{}`", args.folder.display());
                Ok(())
            }
            GateCommand::RotateKey(args) => {
                rotate_key(&args.folder, &SystemClock)?;
                eprintln!(
                    "the verifier of `{}` has a new key; start the gate again",
                    args.folder.display()
                );
                Ok(())
            }
            GateCommand::CheckPolicy(args) => {
                let found = policy::read_file(&args.file)?;
                let groups: Vec<String> = found
                    .groups
                    .iter()
                    .map(|group| format!(", the group `{}`", shown(&group.name)))
                    .collect();
                let file = args.file.display();
                println!("`{file}` has no errors: the defaults{}", groups.concat());
                Ok(())
            }
            GateCommand::Serve(args) => args.run(),
        }
    }
}

fn folder(path: &Path) -> Result<(), GateError> {
    std::fs::create_dir_all(path).map_err(|error| GateError::File {
        path: path.to_owned(),
        error,
    })
}

/// Makes an installation: nothing in it was shipped, everything is generated here.
pub fn init(path: &Path, clock: &dyn Clock) -> Result<(), GateError> {
    init_named(path, &[], clock)
}

/// The same with names or addresses by which the gate is reached.
pub fn init_named(path: &Path, names: &[String], clock: &dyn Clock) -> Result<(), GateError> {
    folder(path)?;
    let now = clock.now();
    let authority = Authority::create(path, now)?;
    for roles in components() {
        let name = credentials_name(&roles);
        let issued = authority.issue_named((&name, names), &roles, now)?;
        Credentials::new(authority.certificate(), issued).write(path, &name)?;
    }
    Ok(())
}

/// Each component alone, and all of them in one process.
fn components() -> impl Iterator<Item = Vec<Role>> {
    let alone = COMPONENTS.iter().map(|role| vec![*role]);
    alone.chain([COMPONENTS.to_vec()])
}

/// Renews the certificates of the components that are in a folder. Their keys stay: agents know the
/// verifier by its key.
pub fn renew(path: &Path, clock: &dyn Clock) -> Result<(), GateError> {
    renew_named(path, &[], clock)
}

/// The same with more names or addresses by which the gate is reached; those that it had stay.
pub fn renew_named(path: &Path, names: &[String], clock: &dyn Clock) -> Result<(), GateError> {
    let authority = Authority::open(path)?;
    for roles in components() {
        let name = credentials_name(&roles);
        if !path.join(format!("{name}.key")).exists() {
            continue;
        }
        let old = Credentials::read(path, &name)?;
        let mut all = names_in(&old.certificate)?;
        all.extend_from_slice(names);
        let issued = authority.issue_for(&old.key, (&name, &all), &roles, clock.now())?;
        Credentials::new(authority.certificate(), issued).write(path, &name)?;
    }
    Ok(())
}

/// Issues a certificate for somebody outside of the gate.
pub fn enrol(
    installation: &Path,
    role: Role,
    name: &str,
    out: &Path,
    clock: &dyn Clock,
) -> Result<(), GateError> {
    folder(out)?;
    let authority = match role {
        Role::Agent => Authority::open_for_agents(installation)?,
        _ => Authority::open(installation)?,
    };
    let issued = authority.issue(name, &[role], clock.now())?;
    Credentials::new(authority.certificate(), issued).write(out, role.name())?;
    Ok(())
}

impl ServeArgs {
    /// The configuration that is meant, and where to listen.
    pub fn config(self) -> Result<(GateConfig, SocketAddr), GateError> {
        crate::logs::log_to_stderr(self.log_format);
        let mut config = GateConfig::all_in(&self.folder);
        if !self.roles.is_empty() {
            config.roles = self.roles;
        }
        config.data = self.data;
        config.store = self.store.location()?;
        #[cfg(feature = "kubernetes")]
        {
            config.join = self.join;
        }
        config.health = self.health;
        config.registrar = self.registrar;
        config.reference = self.reference;
        config.verifier = self.verifier;
        config.interval = Duration::from_secs(self.interval);
        config.rotation = ROTATION;
        config.lifetime = self.lifetime;
        self.keep.apply(&mut config)?;
        config.policy = match &self.policy {
            Some(file) => policy::read_file(file)?,
            None => policy::of_installation(&self.folder)?,
        };
        Ok((config, self.listen))
    }

    fn run(self) -> Result<(), GateError> {
        let (config, listen) = self.config()?;
        let runtime = tokio::runtime::Runtime::new().map_err(GateError::Listen)?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind(listen)
                .await
                .map_err(GateError::Listen)?;
            let running = start(config, listener, Arc::new(SystemClock)).await?;
            tracing::info!(address = %running.address, "the gate listens");
            crate::net::signal::stopped().await;
            running.stop().await;
            Ok(())
        })
    }
}
