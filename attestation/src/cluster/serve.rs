//! The gate of a cluster in one process: all components, admission, and controllers.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use kube::api::{Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::DynamicObject;
use kube::{Api, Client, Config};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::admission::Gatekeeper;
use super::admission::signature::Signed;
use super::certificates::{CertificateError, Certificates, Rotated};
use super::control::Settings;
use super::control::acting::{Actor, told};
use super::control::running::Controllers;
use super::known::{Known, Tenant};
use super::lease::{Election, RENEWED};
use super::names::{MANAGER, WEBHOOKS};
use super::server::{Admission, limits, router};
use super::watch::Watching;
use super::webhooks::{Place, mutating, validating};
use crate::clock::{Clock, Timestamp};
use crate::digest::HashAlg;
use crate::evidence::jws::public_key_from_pem;
use crate::gate::registrar::LocalRegistrar;
use crate::gate::{COMPONENTS, GateConfig, GateError, RunningGate, Verifier};
use crate::net::server::serve_everybody_within;
use crate::net::tls::SharedServerConfig;
use crate::net::{PkiError, pki};

/// How often the API server is told again where the webhooks are and whom to believe.
const TOLD: Duration = Duration::from_secs(20);
/// How often tenants are looked up.
const TENANTS: Duration = Duration::from_secs(1);
/// How long one request about a Lease may take.
const ELECTION: Duration = Duration::from_secs(5);

/// How the gate of a cluster is to be run.
#[derive(Clone, Debug)]
pub struct ClusterConfig {
    /// The gate.
    pub gate: GateConfig,
    /// Where the API server reaches the webhooks.
    pub place: Place,
    /// What the operator decided.
    pub settings: Settings,
    /// The namespace of the Lease.
    pub namespace: String,
}

/// Why the gate of a cluster cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The gate.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// The webhooks' certificates.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// Keys.
    #[error(transparent)]
    Pki(#[from] PkiError),
    /// The API server, or the configuration that leads to it.
    #[error("the API server cannot be asked: {0}")]
    Client(String),
    /// A component that is missing.
    #[error("all components of the gate of a cluster run in one process")]
    Components,
}

/// A gate of a cluster that runs; it stops when told to, or when this is dropped.
pub struct RunningCluster {
    /// The gate.
    pub gate: RunningGate,
    /// What is known of the cluster.
    pub watching: Watching,
    client: Client,
    namespace: String,
    election: Arc<Mutex<Election>>,
    tasks: JoinSet<()>,
}

/// A client of an API server, by a configuration or as a pod.
pub async fn client(kubeconfig: Option<&PathBuf>) -> Result<Client, ClusterError> {
    let wrong = |error: &dyn std::fmt::Display| ClusterError::Client(error.to_string());
    let config = match kubeconfig {
        Some(path) => {
            let read = Kubeconfig::read_from(path).map_err(|error| wrong(&error))?;
            let options = KubeConfigOptions::default();
            let config = Config::from_custom_kubeconfig(read, &options).await;
            config.map_err(|error| wrong(&error))?
        }
        None => Config::incluster().map_err(|error| wrong(&error))?,
    };
    Client::try_from(config).map_err(|error| wrong(&error))
}

/// Starts the gate of a cluster. It refuses everything until it knows the cluster, and does nothing until it holds the Lease.
pub async fn start(
    config: ClusterConfig,
    (listener, admission): (TcpListener, TcpListener),
    client: Client,
    clock: Arc<dyn Clock>,
) -> Result<RunningCluster, ClusterError> {
    let authority = pki::read_file(&config.gate.folder.join("ca.pem"))?;
    if COMPONENTS
        .iter()
        .any(|role| !config.gate.roles.contains(role))
    {
        return Err(ClusterError::Components);
    }
    let gate = crate::gate::start(config.gate.clone(), listener, clock.clone()).await?;
    let parts = &gate.parts;
    let (Some(verifier), Some(workers), Some(registrar), Some(references)) = (
        gate.verifier.clone(),
        parts.workers.clone(),
        parts.registrar.clone(),
        parts.references.clone(),
    ) else {
        return Err(ClusterError::Components);
    };
    let watching = Watching::new(Known::default());
    let gatekeeper = match config.gate.store.is_shared() {
        false => Gatekeeper::new(clock.now()),
        true => {
            let verifier = verifier.clone();
            let elsewhere = move |signed: &Signed, request: &str, now| {
                let key = format!("{}/{}", signed.tenant, signed.nonce);
                let until = Timestamp::from_secs(signed.exp);
                let unused = verifier.is_unused((&key, request), now, until);
                unused.map_err(|problem| problem.detail)
            };
            Gatekeeper::among(clock.now(), Box::new(elsewhere))
        }
    };
    let gatekeeper = Arc::new(gatekeeper);
    let mut tasks = JoinSet::new();

    let admission_address = admission
        .local_addr()
        .map_err(|error| ClusterError::Client(format!("admission has no address: {error}")))?;
    let certificates = Certificates::new(&config.place.names(), clock.now())?;
    let tls = SharedServerConfig::new(certificates.server());
    let app = router(Admission {
        gatekeeper: gatekeeper.clone(),
        watching: watching.clone(),
        verifier: verifier.clone(),
        clock: clock.clone(),
    });
    let shown = tls.clone();
    tasks.spawn(async move {
        let never = std::future::pending();
        let served = serve_everybody_within(limits(), admission, shown, app, never).await;
        if let Err(error) = served {
            tracing::error!(%error, "admission is not served any more: nothing gets in");
        }
    });

    let identity = identity(&authority, admission_address);
    // Of gates that share databases each is another, also after a restart.
    let identity = match verifier.sharing() {
        Some(sharing) => format!("{identity}-{}", sharing.id()),
        None => identity,
    };
    let election = Arc::new(Mutex::new(Election::new(&identity)));
    let leads = Arc::new(AtomicBool::new(false));
    tasks.spawn(elect_forever(
        client.clone(),
        config.namespace.clone(),
        (election.clone(), leads.clone()),
    ));
    let leading = {
        let (election, leads) = (election.clone(), leads);
        move || {
            let election = election.lock().unwrap_or_else(PoisonError::into_inner);
            leads.load(Ordering::SeqCst) && election.leads(Instant::now())
        }
    };
    tasks.spawn(tell_forever(
        client.clone(),
        config.place.clone(),
        (certificates, tls),
        (clock.clone(), verifier.clone()),
        leading.clone(),
    ));
    tasks.spawn(name_forever(client.clone(), watching.clone()));
    tasks.spawn(tenants_forever(registrar.clone(), watching.clone()));
    watching.begin(&client, &mut tasks);
    let actor = Actor::new(
        client.clone(),
        watching.clone(),
        (verifier, workers),
        gatekeeper,
    );
    let controllers = Controllers {
        actor: Arc::new(actor),
        registrar,
        references,
        settings: config.settings,
        clock,
        leads: Box::new(leading),
    };
    tasks.spawn(controllers.run());
    Ok(RunningCluster {
        gate,
        watching,
        client,
        namespace: config.namespace,
        election,
        tasks,
    })
}

/// Who a gate is in the election. The same after a restart, so that it does not wait for itself; another one than every other gate
/// that runs, also of the same installation: on one host, no two listen at one address.
fn identity(authority: &str, admission: SocketAddr) -> String {
    let host = nix::unistd::gethostname().unwrap_or_default();
    let admission = admission.to_string();
    let parts = [
        authority.as_bytes(),
        host.as_encoded_bytes(),
        admission.as_bytes(),
    ];
    // Each part by its own digest: where one ends and the next begins makes a difference.
    let parts = parts.map(|part| HashAlg::Sha256.hash(&[part]).to_hex());
    let identity = HashAlg::Sha256.hash(&[parts.concat().as_bytes()]).to_hex();
    identity.chars().take(16).collect()
}

impl RunningCluster {
    /// Stops it and waits until it has. Nothing gets into the cluster from then on.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
        let mut election = {
            let mut election = self.election.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *election, Election::new(""))
        };
        let given = election.give_back(&self.client, &self.namespace);
        if let Ok(Err(error)) = tokio::time::timeout(ELECTION, given).await {
            tracing::debug!(error = told(&error), "the Lease runs out by itself");
        }
        self.gate.stop().await;
    }

    /// Stops it at once, in the middle of whatever it does, as a kill would.
    pub async fn kill(mut self) {
        self.tasks.shutdown().await;
        self.gate.kill().await;
    }
}

/// Takes part in the election, until dropped.
async fn elect_forever(
    client: Client,
    namespace: String,
    (election, leads): (Arc<Mutex<Election>>, Arc<AtomicBool>),
) {
    let lock = || election.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        // Asked with a copy: who wants to know whether this process leads does not wait for the API server.
        let mut copy = lock().clone();
        let part = tokio::time::timeout(ELECTION, copy.take_part(&client, &namespace)).await;
        match part {
            Ok(Ok(())) => {
                let now = copy.leads(Instant::now());
                *lock() = copy;
                if leads.swap(now, Ordering::SeqCst) != now {
                    tracing::info!(leads = now, "the election was decided");
                }
            }
            Ok(Err(error)) => tracing::warn!(error = told(&error), "the Lease cannot be renewed"),
            Err(_) => tracing::warn!("the Lease cannot be renewed: no answer in time"),
        }
        tokio::time::sleep(RENEWED).await;
    }
}

/// How often it is looked whether there is something to tell.
const LOOK: Duration = Duration::from_millis(250);

/// Tells the API server where the webhooks are and whom to believe, also of those that answer for other gates, and replaces
/// certificates, until dropped.
async fn tell_forever(
    client: Client,
    place: Place,
    (mut certificates, tls): (Certificates, SharedServerConfig),
    (clock, verifier): (Arc<dyn Clock>, Arc<Verifier>),
    leads: impl Fn() -> bool,
) {
    let mut told_last: Option<(Instant, String)> = None;
    let mut heard = false;
    loop {
        let mut wait = LOOK;
        let own = certificates.bundle();
        let bundle = match verifier.sharing() {
            None => own,
            Some(sharing) => {
                sharing.announce(&own);
                sharing.authorities().concat()
            }
        };
        let due = match &told_last {
            Some((at, what)) => *what != bundle || at.elapsed() >= TOLD,
            None => true,
        };
        if !leads() {
            told_last = None;
        } else if due {
            let mut all = Ok(());
            for configuration in [mutating(&place, &bundle), validating(&place, &bundle)] {
                all = all.and(tell(&client, configuration).await);
            }
            match all {
                Ok(()) => {
                    if !heard {
                        tracing::info!("the API server asks this gate");
                    }
                    heard = true;
                    told_last = Some((Instant::now(), bundle));
                }
                Err(error) => {
                    let error = told(&error);
                    tracing::warn!(error, "the API server does not know where the webhooks are");
                    wait = Duration::from_secs(2);
                }
            }
        }
        tokio::time::sleep(wait).await;
        // What was announced was told.
        if heard || !leads() {
            match certificates.rotate(clock.now()) {
                Ok(Rotated::Nothing) => {}
                Ok(Rotated::Announced) => heard = false,
                Ok(Rotated::Shown) => tls.replace(certificates.server()),
                Err(error) => tracing::error!(%error, "there is no new certificate"),
            }
        }
    }
}

async fn tell(client: &Client, configuration: Value) -> Result<(), kube::Error> {
    let kind = super::object::text(&configuration, &["kind"]);
    let of = kube::core::GroupVersionKind::gvk("admissionregistration.k8s.io", "v1", kind);
    let api: Api<DynamicObject> =
        Api::all_with(client.clone(), &kube::api::ApiResource::from_gvk(&of));
    let parameters = PatchParams::apply(MANAGER).force();
    api.patch(WEBHOOKS, &parameters, &Patch::Apply(&configuration))
        .await?;
    Ok(())
}

/// Finds out who this process is to the API server.
async fn name_forever(client: Client, watching: Watching) {
    loop {
        let reviews: Api<SelfSubjectReview> = Api::all(client.clone());
        let asked = reviews
            .create(&PostParams::default(), &SelfSubjectReview::default())
            .await;
        match asked {
            Ok(review) => {
                let user = review.status.and_then(|status| status.user_info);
                if let Some(user) = user.and_then(|user| user.username) {
                    watching.change(|known| known.identity = user);
                    return;
                }
            }
            Err(error) => tracing::warn!(
                error = told(&error),
                "the API server does not say who this is"
            ),
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Keeps who the tenants are, until dropped.
async fn tenants_forever(registrar: Arc<LocalRegistrar>, watching: Watching) {
    let mut before = None;
    loop {
        match registrar.tenants() {
            Ok(records) if before.as_ref() != Some(&records) => {
                let mut tenants = Vec::new();
                for record in &records {
                    match public_key_from_pem(&record.public_key) {
                        Ok(key) => tenants.push(Tenant {
                            id: record.id.to_string(),
                            name: record.name.clone(),
                            key,
                        }),
                        Err(error) => tracing::error!(tenant = record.name, %error, "no key"),
                    }
                }
                watching.change(|known| known.tenants = Some(tenants));
                before = Some(records);
            }
            Ok(_) => {}
            Err(problem) => tracing::error!(%problem, "tenants cannot be listed"),
        }
        tokio::time::sleep(TENANTS).await;
    }
}
