//! Puts the components of one process together and serves them.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::DefaultBodyLimit;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

use super::GateError;
use super::access::{References, Registrar, VerifierAccess};
use super::agents::GateAgents;
use super::credentials::OwnCredentials;
use super::deny::without_denied;
use super::endpoint::router;
use super::lock::Locks;
use super::mailbox::Mailbox;
use super::metrics::Metrics;
use super::nodes::KEPT;
use super::openapi::openapi;
use super::pods::PodHandler;
use super::registrar::LocalRegistrar;
use super::rotation::{retired, successions};
use super::routes::{self, Gate};
use super::schedule::{attest_forever, expire_forever, rotate_forever, settle_forever};
use super::sharing::{Pace, Sharing, beat_forever, share_forever};
use super::verify::{Verifier, VerifierParts};
use super::webhook::{WebhookConfig, tell_forever};
use super::workers::{WorkerHandler, WorkerHandlerParts};
use crate::clock::Clock;
use crate::database::Location;
use crate::evidence::jws::TokenKey;
use crate::net::identity::key_digest;
use crate::net::pki::{AGENT_DAYS, public_key_of};
use crate::net::tls::SharedServerConfig;
use crate::net::{Authority, Client, Intake, Role, serve, serve_everybody};
use crate::policy::PolicySet;
use crate::protocol::attestation::EVIDENCE_MILLIS;
use crate::reference::ReferenceStore;
use crate::verifier::{AuditStore, Retention, VerifierStore};

/// No request to the gate is longer: the files of a large image.
const MAX_REQUEST: usize = 64 * 1024 * 1024;

/// How long a verifier elsewhere may take: as long as it waits for an agent, and some more to judge.
const VERIFIER_ANSWER: Duration = Duration::from_millis(EVIDENCE_MILLIS.unsigned_abs() + 20_000);

/// How a gate is to be run.
#[derive(Clone, Debug)]
pub struct GateConfig {
    /// The installation's folder.
    pub folder: PathBuf,
    /// Where databases and locks are, if not in the installation's folder.
    pub data: Option<PathBuf>,
    /// Whether databases are files, or shared with other gates.
    pub store: Location,
    /// How fast gates that share their databases notice each other.
    pub pace: Pace,
    /// Whether agents are given their first certificates for the tokens of their pods, where health is answered for.
    pub join: bool,
    /// Which components run in this process.
    pub roles: Vec<Role>,
    /// Where to answer for health to everybody, if anywhere.
    pub health: Option<SocketAddr>,
    /// Where the registrar is, if not here.
    pub registrar: Option<String>,
    /// Where the reference values are, if not here.
    pub reference: Option<String>,
    /// Where the verifier is, if not here.
    pub verifier: Option<String>,
    /// How often workers are attested; never if zero.
    pub interval: Duration,
    /// How often the certificates of agents are renewed; never if zero.
    pub rotation: Duration,
    /// For how many seconds a result counts.
    pub lifetime: i64,
    /// What the verifier insists on.
    pub policy: PolicySet,
    /// How much of what is known of workers is kept in memory, in bytes; the rest is read again when it is needed.
    pub kept: usize,
    /// For how long evidence is kept for audit.
    pub retention: Retention,
    /// Who is told of changes of trust.
    pub webhooks: WebhookConfig,
}

/// Three renewals in the life of an agent's certificate.
pub const ROTATION: Duration = Duration::from_secs(AGENT_DAYS.unsigned_abs() * 86_400 / 4);

impl GateConfig {
    /// Everything in one process, without periodic attestation and rotation.
    pub fn all_in(folder: &Path) -> Self {
        GateConfig {
            folder: folder.to_owned(),
            data: None,
            store: Location::Files,
            pace: Pace::default(),
            join: false,
            roles: COMPONENTS.to_vec(),
            health: None,
            registrar: None,
            reference: None,
            verifier: None,
            interval: Duration::ZERO,
            rotation: Duration::ZERO,
            lifetime: 600,
            policy: PolicySet::default(),
            kept: KEPT,
            retention: Retention::NONE,
            webhooks: WebhookConfig::default(),
        }
    }
}

/// Every component.
pub const COMPONENTS: [Role; 5] = [
    Role::Registrar,
    Role::Reference,
    Role::Verifier,
    Role::WorkerHandler,
    Role::PodHandler,
];

/// The components that run here, beside the verifier.
#[derive(Clone, Default)]
pub struct Parts {
    /// The registrar.
    pub registrar: Option<Arc<LocalRegistrar>>,
    /// The reference values.
    pub references: Option<Arc<ReferenceStore>>,
    /// The worker handler.
    pub workers: Option<Arc<WorkerHandler>>,
}

/// A running gate; it stops when told to, or when this is dropped.
pub struct RunningGate {
    /// Where it listens.
    pub address: SocketAddr,
    /// Where it answers for health to everybody.
    pub health: Option<SocketAddr>,
    /// Its verifier, if it runs here.
    pub verifier: Option<Arc<Verifier>>,
    /// Its other components.
    pub parts: Parts,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<std::io::Result<()>>,
    periodic: JoinSet<()>,
    /// Until everything else has ended.
    _locks: Locks,
}

impl RunningGate {
    /// Stops it and waits until it has.
    pub async fn stop(mut self) {
        self.periodic.abort_all();
        drop(self.stop.take());
        if let Err(error) = (&mut self.task).await {
            tracing::debug!(%error, "the gate's server did not end cleanly");
        }
        self.abort();
        if let Some(verifier) = &self.verifier {
            verifier.leave();
        }
    }

    /// Stops it at once, in the middle of whatever it does, as a kill would.
    pub async fn kill(mut self) {
        self.task.abort();
        // Connections end before what they wait for: nobody is told that the gate stops.
        let _ = (&mut self.task).await;
        self.abort();
    }

    fn abort(&mut self) {
        self.periodic.abort_all();
        if let Some(verifier) = &self.verifier {
            verifier.abort();
        }
        if let Some(workers) = &self.parts.workers {
            workers.abort();
        }
    }
}

/// The name under which the credentials of some roles are stored.
pub fn credentials_name(roles: &[Role]) -> String {
    match roles {
        [role] => role.name().to_owned(),
        _ => "gate".to_owned(),
    }
}

/// Starts a gate.
pub async fn start(
    config: GateConfig,
    listener: TcpListener,
    clock: Arc<dyn Clock>,
) -> Result<RunningGate, GateError> {
    let has = |role| config.roles.contains(&role);
    let folder = &config.folder;
    let own = OwnCredentials::read(folder, &config.roles)?;
    let successions = successions(folder)?;
    let data = config.data.as_ref().unwrap_or(folder);
    let shared = config.store.is_shared();
    // Who shares a store agrees there on who does what.
    let locks = Locks::take(data, if shared { &[] } else { &config.roles })?;
    let metrics = Arc::new(Metrics::default());
    let mailbox = match shared {
        true => Mailbox::closed(),
        false => Mailbox::default(),
    };
    let intake = Intake::default();
    // Whoever asks another component does so with its own certificate.
    let elsewhere = |address: &Option<String>, asked: Role, asking: Role| {
        let address = address.as_deref().ok_or(GateError::Where(asked.name()))?;
        Ok::<_, GateError>(Client::new(own.client(asking)?, address, asked.name()))
    };

    let local_registrar = if has(Role::Registrar) {
        let registrar = crate::registrar::Registrar::open_at(&config.store, data)?;
        Some(Arc::new(LocalRegistrar::new(registrar, clock.clone())))
    } else {
        None
    };
    let local_references = if has(Role::Reference) {
        Some(Arc::new(ReferenceStore::open_at(&config.store, data)?))
    } else {
        None
    };
    let registrar = |asking| match &local_registrar {
        Some(local) => Ok(Registrar::Local(local.clone())),
        None => elsewhere(&config.registrar, Role::Registrar, asking).map(Registrar::Remote),
    };
    let references = |asking| match &local_references {
        Some(local) => Ok(References::Local(local.clone())),
        None => elsewhere(&config.reference, Role::Reference, asking).map(References::remote),
    };
    let verifier = if has(Role::Verifier) {
        let credentials = own.of(Role::Verifier)?;
        let parts = VerifierParts {
            registrar: registrar(Role::Verifier)?,
            references: references(Role::Verifier)?,
            agents: GateAgents {
                tls: own.client(Role::Verifier)?,
                mailbox: mailbox.clone(),
                intake: intake.clone(),
                successions: successions.clone(),
            },
            agents_key: key_digest(&public_key_of(&credentials.key)?),
            key: TokenKey::from_pem(&credentials.key)?,
            retired: retired(&successions),
            policy: Arc::new(config.policy.clone()),
            lifetime: config.lifetime,
            clock: clock.clone(),
            metrics: metrics.clone(),
            kept: config.kept,
            audit: match config.retention {
                Retention { days: 0, .. } => None,
                kept => {
                    let audit = AuditStore::open_at(&config.store, data, kept)?;
                    Some(Arc::new(audit.into()))
                }
            },
            sharing: shared.then(|| Sharing::new(config.interval, config.pace)),
        };
        let store = VerifierStore::open_at(&config.store, data)?;
        let verifier = Verifier::new(store, parts)?;
        verifier.beat()?;
        Some(verifier)
    } else {
        None
    };
    let verifier_access = |asking| match &verifier {
        Some(local) => Ok(VerifierAccess::Local(local.clone())),
        None => elsewhere(&config.verifier, Role::Verifier, asking)
            .map(|client| VerifierAccess::Remote(client.with_timeout(VERIFIER_ANSWER))),
    };
    let workers = if has(Role::WorkerHandler) {
        Some(Arc::new(WorkerHandler::new(WorkerHandlerParts {
            registrar: registrar(Role::WorkerHandler)?,
            references: references(Role::WorkerHandler)?,
            verifier: verifier_access(Role::WorkerHandler)?,
            authority: Authority::open_for_agents(folder)?,
            agents: GateAgents {
                tls: own.client(Role::WorkerHandler)?,
                mailbox: mailbox.clone(),
                intake: intake.clone(),
                successions: successions.clone(),
            },
            policy: config.policy.clone(),
            clock: clock.clone(),
            metrics: metrics.clone(),
        })))
    } else {
        None
    };
    let pods = if has(Role::PodHandler) {
        Some(PodHandler::new(
            registrar(Role::PodHandler)?,
            verifier_access(Role::PodHandler)?,
            clock.clone(),
        ))
    } else {
        None
    };

    let parts = Parts {
        registrar: local_registrar.clone(),
        references: local_references.clone(),
        workers: workers.clone(),
    };
    let endpoints = routes::endpoints(&config.roles);
    let document = openapi("Locus gate", &endpoints);
    let gate = Arc::new(Gate {
        registrar: local_registrar,
        references: local_references,
        reference_keys: config.folder.join("reference-keys"),
        reference_signer: match own.of(Role::Reference) {
            Ok(credentials) => Some(TokenKey::from_pem(&credentials.key)?),
            Err(_) => None,
        },
        verifier: verifier.clone(),
        workers: workers.clone(),
        pods,
        mailbox,
        intake,
        metrics,
        clock,
        document,
    });
    let open = router(routes::open_endpoints(&config.roles)).with_state(gate.clone());
    #[cfg(feature = "kubernetes")]
    let open = match config.join {
        true => open.merge(joining(folder).await?),
        false => open,
    };
    let app = router(endpoints)
        .layer(DefaultBodyLimit::max(MAX_REQUEST))
        .with_state(gate);
    let app = without_denied(app, &config.policy.keys.denied);
    let mut periodic = JoinSet::new();
    if let Some(verifier) = &verifier {
        periodic.spawn(expire_forever(verifier.clone()));
        for webhook in config.webhooks.open()? {
            periodic.spawn(tell_forever(verifier.clone(), webhook));
        }
        if shared {
            periodic.spawn(beat_forever(verifier.clone()));
        }
        match (config.interval.is_zero(), shared) {
            (true, _) => {}
            (false, false) => {
                periodic.spawn(attest_forever(verifier.clone(), config.interval));
            }
            (false, true) => {
                periodic.spawn(share_forever(verifier.clone()));
            }
        }
    }
    if let Some(workers) = &workers {
        // What a gate before this one began is completed before anybody is served, if that is possible.
        if let Err(problem) = workers.settle(None).await {
            tracing::warn!(%problem, "a registration or a removal is not completed yet");
        }
        periodic.spawn(settle_forever(workers.clone()));
        if !config.rotation.is_zero() {
            periodic.spawn(rotate_forever(
                workers.clone(),
                config.rotation,
                verifier.clone(),
            ));
        }
    }
    let health = match config.health {
        Some(address) => Some(
            TcpListener::bind(address)
                .await
                .map_err(GateError::Listen)?,
        ),
        None => None,
    };
    let health_address = health.as_ref().map(TcpListener::local_addr).transpose();
    if let Some(listener) = health {
        let tls = SharedServerConfig::new(own.open_server()?);
        periodic.spawn(async move {
            let served = serve_everybody(listener, tls, open, std::future::pending()).await;
            if let Err(error) = served {
                tracing::error!(%error, "health is not answered for any more");
            }
        });
    }
    let address = listener.local_addr().map_err(GateError::Listen)?;
    let tls = SharedServerConfig::new(own.server()?);
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(serve(listener, tls, app, async move {
        // Told to stop, or nobody is left to tell.
        let _ = stopped.await;
    }));
    Ok(RunningGate {
        address,
        health: health_address.map_err(GateError::Listen)?,
        verifier,
        parts,
        stop: Some(stop),
        task,
        periodic,
        _locks: locks,
    })
}

/// What gives agents their first certificates.
#[cfg(feature = "kubernetes")]
async fn joining(folder: &Path) -> Result<axum::Router, GateError> {
    let reached = crate::cluster::connect::Reached::default().open().await;
    let (client, _) = reached.map_err(|error| GateError::Cluster(error.to_string()))?;
    let authority = Authority::open_for_agents(folder)?;
    Ok(crate::cluster::join::router(client, authority))
}
