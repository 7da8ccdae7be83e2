//! `locus gate register`, `remove`, `workers`, `pods`, `attest`, `why`, `trust`, `reset` and `watch`.

use clap::{Args, Subcommand, ValueEnum};
use hyper::Method;

use super::connection::{ClientFault, Connection, block_on, find, segment, tell};
use super::show;
use crate::gate::WorkerReport;
use crate::gate::standing::{PodList, WorkerList};
use crate::gate::workers::{Joined, RegisteredWorker};
use crate::ima::PodUid;
use crate::logs::shown;
use crate::net::{Client, ClientError};
use crate::verifier::{Changes, PodStatus, Trust, WorkerStatus};

/// How long a request for changes waits for one, in seconds.
const WAIT: u64 = 25;

/// How an answer is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people.
    #[default]
    Text,
    /// As the gate answered.
    Json,
}

/// What an operator asks a running gate.
#[derive(Subcommand, Clone, Debug)]
pub enum ClientCommand {
    /// Register a worker whose agent runs
    Register(RegisterArgs),
    /// Remove a worker that left, and its pods
    Remove(WorkerArgs),
    /// List workers and the trust in them
    Workers(ListArgs),
    /// List pods and the trust in them
    Pods(PodsArgs),
    /// Show why a worker or a pod is trusted or not
    Why(WhyArgs),
    /// Print whether a worker or a pod is trusted; exits with 1 if it is not
    Trust(SubjectArgs),
    /// Register a worker anew that was found untrusted, and attest it from the first entry of its log on
    Reset(WorkerArgs),
    /// Print changes of trust as they happen
    Watch(WatchArgs),
}

/// A worker to be registered.
#[derive(Args, Clone, Debug)]
pub struct RegisterArgs {
    /// The worker's host name
    name: String,
    /// Where its agent listens (`host:port`), or `push` if the agent connects to the gate
    address: String,
    #[command(flatten)]
    connection: Connection,
}

/// A worker.
#[derive(Args, Clone, Debug)]
pub struct WorkerArgs {
    /// The worker's host name
    name: String,
    #[command(flatten)]
    connection: Connection,
}

/// How to list.
#[derive(Args, Clone, Debug)]
pub struct ListArgs {
    /// How to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: Format,
    #[command(flatten)]
    connection: Connection,
}

/// Which pods to list.
#[derive(Args, Clone, Debug)]
pub struct PodsArgs {
    /// Only the pods of this worker
    #[arg(long, value_name = "NAME")]
    worker: Option<String>,
    #[command(flatten)]
    list: ListArgs,
}

/// A worker or a pod.
#[derive(Args, Clone, Debug)]
pub struct SubjectArgs {
    /// A worker's host name, or a pod's UID; in a cluster, NAMESPACE/POD
    subject: String,
    #[command(flatten)]
    list: ListArgs,
}

/// A worker or a pod of the gate, or a pod of a cluster.
#[derive(Args, Clone, Debug)]
pub struct WhyArgs {
    #[command(flatten)]
    subject: SubjectArgs,
    #[cfg(feature = "kubernetes")]
    #[command(flatten)]
    reached: crate::cluster::connect::Reached,
}

/// What to attest, where no subcommand says it.
#[derive(Args, Clone, Debug)]
pub struct AttestNowArgs {
    /// A worker's host name, or a pod's UID
    subject: Option<String>,
    #[command(flatten)]
    list: ListArgs,
}

impl AttestNowArgs {
    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.subject.is_none()
    }

    /// Attests a worker with all its pods, or one pod; true if it is not trusted.
    pub fn run(self) -> Result<bool, ClientFault> {
        let subject = SubjectArgs {
            subject: self.subject.unwrap_or_default(),
            list: self.list,
        };
        block_on(subject.attest())
    }
}

/// From where to watch.
#[derive(Args, Clone, Debug)]
pub struct WatchArgs {
    /// Begin after this version; with the present if absent
    #[arg(long, value_name = "VERSION")]
    since: Option<u64>,
    /// End after this many changes
    #[arg(long, value_name = "NUMBER")]
    count: Option<usize>,
    #[command(flatten)]
    list: ListArgs,
}

impl ClientCommand {
    /// Does what the command line says; true if the answer is that something is not as it should be.
    pub fn run(self) -> Result<bool, ClientFault> {
        // No worker and no UID has a slash in it.
        #[cfg(feature = "kubernetes")]
        if let ClientCommand::Why(WhyArgs { subject, reached }) = &self
            && subject.subject.contains('/')
        {
            let as_json = subject.list.format == Format::Json;
            let told = crate::cluster::told::why_pod(&subject.subject, reached, as_json);
            return told.map(|()| false).map_err(ClientFault::Local);
        }
        block_on(async {
            match self {
                ClientCommand::Register(args) => args.run().await,
                ClientCommand::Remove(args) => args.remove().await,
                ClientCommand::Workers(args) => args.workers().await,
                ClientCommand::Pods(args) => args.run().await,
                ClientCommand::Why(args) => args.subject.why().await,
                ClientCommand::Trust(args) => args.trust().await,
                ClientCommand::Reset(args) => args.reset().await,
                ClientCommand::Watch(args) => args.run().await,
            }
        })
    }
}

/// What was found wrong is an answer; that nobody answered is none.
fn refused(error: ClientError) -> Result<bool, ClientFault> {
    match error {
        ClientError::Refused { status: 422, .. } => {
            println!("{}", shown(&error.to_string()));
            Ok(true)
        }
        other => Err(other.into()),
    }
}

async fn register(client: &Client, name: &str, address: &str) -> Result<bool, ClientFault> {
    let joined = Joined {
        name: name.to_owned(),
        address: address.to_owned(),
    };
    match client.ask(Method::POST, "/v1/registrations", &joined).await {
        Ok(RegisteredWorker { id, name }) => {
            println!("worker `{}` is registered as {id}", shown(&name));
            Ok(false)
        }
        Err(error) => refused(error),
    }
}

impl RegisterArgs {
    async fn run(self) -> Result<bool, ClientFault> {
        register(&self.connection.open()?, &self.name, &self.address).await
    }
}

impl WorkerArgs {
    async fn remove(self) -> Result<bool, ClientFault> {
        let client = self.connection.open()?;
        let path = format!("/v1/registrations/{}", segment(&self.name));
        tell(&client, Method::DELETE, &path, &()).await?;
        println!("worker `{}` is removed", shown(&self.name));
        Ok(false)
    }

    async fn reset(self) -> Result<bool, ClientFault> {
        let client = self.connection.open()?;
        let path = format!("/v1/verifier/workers/{}", segment(&self.name));
        let report: WorkerReport = client.get(&path).await?;
        if register(&client, &self.name, &report.worker.address).await? {
            return Ok(true);
        }
        attest_worker(&client, &self.name, Format::Text).await
    }
}

impl ListArgs {
    async fn workers(self) -> Result<bool, ClientFault> {
        let list: WorkerList = self.connection.open()?.get("/v1/verifier/workers").await?;
        match self.format {
            Format::Json => show::json(&list)?,
            Format::Text => show::workers(&list.items),
        }
        Ok(false)
    }
}

impl PodsArgs {
    async fn run(self) -> Result<bool, ClientFault> {
        let path = match &self.worker {
            Some(worker) => format!("/v1/verifier/pods?worker={}", segment(worker)),
            None => "/v1/verifier/pods".to_owned(),
        };
        let list: PodList = self.list.connection.open()?.get(&path).await?;
        match self.list.format {
            Format::Json => show::json(&list)?,
            Format::Text => show::pods(&list.items),
        }
        Ok(false)
    }
}

async fn attest_worker(client: &Client, name: &str, format: Format) -> Result<bool, ClientFault> {
    let path = format!("/v1/verifier/workers/{}/attest", segment(name));
    let report: WorkerReport = match client.ask(Method::POST, &path, &()).await {
        Ok(report) => report,
        Err(error) => return refused(error),
    };
    match format {
        Format::Json => show::json(&report)?,
        Format::Text => {
            show::workers(std::slice::from_ref(&report.worker));
            if !report.pods.is_empty() {
                println!();
                show::pods(&report.pods);
            }
        }
    }
    let untrusted = |pod: &PodStatus| pod.trust == Trust::Untrusted;
    Ok(report.worker.trust != Trust::Trusted || report.pods.iter().any(untrusted))
}

/// What a subject is, as the gate knows it.
enum Found {
    Worker(Box<WorkerReport>),
    Pod(Box<PodStatus>),
}

impl SubjectArgs {
    /// A pod's UID is a pod; everything else is a worker's name.
    fn uid(&self) -> Option<PodUid> {
        PodUid::parse(self.subject.as_bytes())
    }

    async fn attest(self) -> Result<bool, ClientFault> {
        let client = self.list.connection.open()?;
        let Some(uid) = self.uid() else {
            return attest_worker(&client, &self.subject, self.list.format).await;
        };
        let path = format!("/v1/verifier/pods/{uid}/attest");
        let pod: PodStatus = match client.ask(Method::POST, &path, &()).await {
            Ok(pod) => pod,
            Err(error) => return refused(error),
        };
        match self.list.format {
            Format::Json => show::json(&pod)?,
            Format::Text => show::pods(std::slice::from_ref(&pod)),
        }
        Ok(pod.trust != Trust::Trusted)
    }

    async fn found(&self) -> Result<Found, ClientFault> {
        let client = self.list.connection.open()?;
        if let Some(uid) = self.uid()
            && let Some(pod) = find(&client, &format!("/v1/verifier/pods/{uid}")).await?
        {
            return Ok(Found::Pod(Box::new(pod)));
        }
        let path = format!("/v1/verifier/workers/{}", segment(&self.subject));
        let found = find(&client, &path).await?;
        found
            .map(|report| Found::Worker(Box::new(report)))
            .ok_or_else(|| {
                let name = shown(&self.subject);
                ClientFault::Local(format!("the gate does not know a worker or pod `{name}`"))
            })
    }

    async fn why(self) -> Result<bool, ClientFault> {
        match (self.found().await?, self.list.format) {
            (Found::Worker(report), Format::Json) => show::json(&report)?,
            (Found::Worker(report), Format::Text) => show::why_worker(&report),
            (Found::Pod(pod), Format::Json) => show::json(&pod)?,
            (Found::Pod(pod), Format::Text) => show::why_pod(&pod),
        }
        Ok(false)
    }

    async fn trust(self) -> Result<bool, ClientFault> {
        let trust = match self.found().await? {
            Found::Worker(report) => report.worker.trust,
            Found::Pod(pod) => pod.trust,
        };
        match self.list.format {
            Format::Json => show::json(&trust)?,
            Format::Text => println!("{}", trust.name()),
        }
        Ok(trust != Trust::Trusted)
    }
}

impl WatchArgs {
    async fn run(self) -> Result<bool, ClientFault> {
        let client = self.list.connection.open()?;
        let mut since = match self.since {
            Some(since) => since,
            None => {
                let list: WorkerList = client.get("/v1/verifier/workers").await?;
                for WorkerStatus { name, .. } in &list.items {
                    tracing::debug!(worker = name, "watched");
                }
                list.version
            }
        };
        let mut left = self.count.unwrap_or(usize::MAX);
        while left > 0 {
            let path = format!("/v1/verifier/changes?since={since}&wait={WAIT}");
            let found: Changes = client.get(&path).await?;
            for change in found.changes.iter().take(left) {
                match self.list.format {
                    Format::Json => show::json_line(change)?,
                    Format::Text => show::change(change),
                }
            }
            left = left.saturating_sub(found.changes.len());
            since = found.version;
        }
        Ok(false)
    }
}
