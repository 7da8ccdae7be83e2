//! `locus attest demo`: two workers, three pods, three verdicts, on software TPMs.

#[cfg(feature = "kubernetes")]
mod cluster;
mod kernel;
mod swtpm;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use hyper::{Method, StatusCode};
use locus_attestation::agent::args::operating_system;
use locus_attestation::clock::SystemClock;
use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::evidence::jws;
use locus_attestation::gate::args::{enrol, init};
use locus_attestation::gate::{GateConfig, GateError, RunningGate, start};
use locus_attestation::ima::{BootAggregate, PodUid};
use locus_attestation::net::tls::{Credentials, TlsError};
use locus_attestation::net::{Client, ClientError, PkiError, Role};
use serde_json::{Value, json};
use uuid::Uuid;

use kernel::{Kernel, cgroup_of};
use swtpm::{Manufacturer, SoftwareTpm, SwtpmError};

const SHIM: &str = "/usr/bin/containerd-shim-runc-v2";
/// How long an agent may take to listen.
const START: Duration = Duration::from_secs(20);

/// Show the three verdicts of pod attestation on software TPMs.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct DemoArgs {
    /// The agent's program; looked for beside this one and on the search path if absent.
    #[arg(long, value_name = "FILE")]
    pub(crate) agent: Option<PathBuf>,
}

/// Why the demonstration could not be shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DemoError {
    /// A software TPM.
    #[error(transparent)]
    Swtpm(#[from] SwtpmError),
    /// The gate.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// Keys.
    #[error(transparent)]
    Pki(#[from] PkiError),
    /// TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A connection.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Files.
    #[error("demonstration: {0}")]
    Io(#[from] std::io::Error),
    /// The agent's program.
    #[error(
        "`locus-agent` is not there: {0}; build it with `cargo build -p locus-attestation --features tpm`"
    )]
    Agent(String),
    /// The gate refused what it should not.
    #[error("{0}")]
    Refused(String),
}

/// What came of one pod.
struct Verdict {
    /// The case of the document.
    case: &'static str,
    /// The pod.
    pod: String,
    /// The verdict in words.
    verdict: String,
    /// Why.
    reason: String,
    /// How long it took.
    took: Duration,
}

/// One worker: its TPM, its kernel and its agent; the agent ends with it.
struct Worker {
    name: &'static str,
    tpm: SoftwareTpm,
    kernel: Kernel,
    agent: Child,
    address: String,
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Only this process, by its handle; if it ended by itself there is nothing to do.
        let _ = self.agent.kill();
        let _ = self.agent.wait();
    }
}

fn content(text: &str) -> Digest {
    HashAlg::Sha256.hash(&[text.as_bytes()])
}

impl DemoArgs {
    /// Shows the demonstration and prints it to standard output.
    pub(crate) fn run(self) -> Result<(), DemoError> {
        let runtime = tokio::runtime::Runtime::new()?;
        let verdicts = runtime.block_on(self.show(&mut |line| println!("{line}")))?;
        let as_expected = verdicts.iter().map(|verdict| verdict.verdict.as_str());
        if as_expected.eq(["trusted", "pod untrusted", "worker untrusted"]) {
            Ok(())
        } else {
            Err(DemoError::Refused(
                "a verdict is not the expected one".to_owned(),
            ))
        }
    }

    /// Shows the demonstration line by line and returns the verdicts.
    async fn show(&self, say: &mut dyn FnMut(String)) -> Result<Vec<Verdict>, DemoError> {
        let agent = self.find_agent()?;
        let folder = tempfile::tempdir()?;
        let installation = folder.path().join("gate");
        init(&installation, &SystemClock)?;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let gate = start(
            GateConfig::all_in(&installation),
            listener,
            Arc::new(SystemClock),
        )
        .await?;
        let shown = show_with(&gate, folder.path(), &agent, say).await;
        gate.stop().await;
        shown
    }

    fn find_agent(&self) -> Result<PathBuf, DemoError> {
        if let Some(agent) = &self.agent {
            return Ok(agent.clone());
        }
        find_agent()
    }
}

/// The agent's program: beside this one, or on the search path.
fn find_agent() -> Result<PathBuf, DemoError> {
    let beside = std::env::current_exe()?.with_file_name("locus-agent");
    if beside.is_file() {
        return Ok(beside);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join("locus-agent"))
        .find(|candidate| candidate.is_file())
        .ok_or_else(|| DemoError::Agent("neither beside `locus-gate` nor on the path".to_owned()))
}

async fn show_with(
    gate: &RunningGate,
    folder: &Path,
    agent: &Path,
    say: &mut dyn FnMut(String),
) -> Result<Vec<Verdict>, DemoError> {
    let operator = operator(gate, folder)?;
    let begun = Instant::now();
    let manufacturer = Manufacturer::new(&folder.join("tpms"))?;
    let mut first = worker("worker-1", &manufacturer, folder, agent)?;
    let mut second = worker("worker-2", &manufacturer, folder, agent)?;
    say(format!(
        "two software TPMs and agents      {:>8.1?}",
        begun.elapsed()
    ));
    let tenant = prepare(&operator, &manufacturer).await?;
    for worker in [&first, &second] {
        let begun = Instant::now();
        let joined = json!({ "name": worker.name, "address": worker.address });
        must(&operator, Method::POST, "/v1/registrations", joined).await?;
        say(format!(
            "{} registered               {:>8.1?}",
            worker.name,
            begun.elapsed()
        ));
    }
    let healthy = pod(&operator, &mut first, "healthy", tenant).await?;
    let unknown = pod(&operator, &mut first, "unknown-file", tenant).await?;
    let tampered = pod(&operator, &mut second, "tampered-log", tenant).await?;
    run_file(&mut first, &unknown, "miner", "/tmp/miner")?;
    run_file(&mut second, &tampered, "miner", "/tmp/miner")?;
    second.kernel.tamper("/tmp/miner", "/bin/redis")?;
    let cases = [
        ("1 trusted worker and pod", healthy),
        ("2 untrusted pod", unknown),
        ("3 untrusted worker", tampered),
    ];
    let mut verdicts = Vec::new();
    for (case, pod) in cases {
        let verdict = attest(&operator, case, &pod).await?;
        say(format!(
            "case {:<25} {:<22} {:<17} {:>8.1?}",
            verdict.case, verdict.pod, verdict.verdict, verdict.took
        ));
        if !verdict.reason.is_empty() {
            say(format!("     {}", verdict.reason));
        }
        verdicts.push(verdict);
    }
    Ok(verdicts)
}

fn operator(gate: &RunningGate, folder: &Path) -> Result<Client, DemoError> {
    let out = folder.join("operator");
    enrol(
        &folder.join("gate"),
        Role::Operator,
        "demo",
        &out,
        &SystemClock,
    )?;
    let credentials = Credentials::read(&out, Role::Operator.name())?;
    let address = gate.address.to_string();
    Ok(Client::new(credentials.client()?, &address, "gate"))
}

fn worker(
    name: &'static str,
    manufacturer: &Manufacturer,
    folder: &Path,
    agent: &Path,
) -> Result<Worker, DemoError> {
    let base = folder.join(name);
    let (state, credentials) = (base.join("state"), base.join("credentials"));
    std::fs::create_dir_all(&state)?;
    enrol(
        &folder.join("gate"),
        Role::Agent,
        name,
        &credentials,
        &SystemClock,
    )?;
    let tpm = manufacturer.make(name)?;
    let mut kernel = Kernel::new(&base.join("log"))?;
    kernel.measure(
        &tpm,
        "swapper/0:swapper/0",
        "/",
        boot_aggregate()?,
        "boot_aggregate",
    )?;
    let group = "/system.slice/containerd.service";
    let dependencies = format!("{SHIM}:/usr/lib/systemd/systemd:swapper/0");
    kernel.measure(&tpm, &dependencies, group, content("shim"), SHIM)?;
    let address_file = base.join("address");
    let mut agent = Command::new(agent)
        .args([
            "--listen",
            "127.0.0.1:0",
            "--keep-privileges",
            "--name",
            name,
        ])
        .args(["--tpm", &tpm.transport()])
        .arg("--credentials")
        .arg(&credentials)
        .arg("--state")
        .arg(&state)
        .arg("--log")
        .arg(kernel.path())
        .arg("--address-file")
        .arg(&address_file)
        .env("RUST_LOG", "error")
        .env("TSS2_LOG", "all+none")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| DemoError::Agent(error.to_string()))?;
    let address = wait_for(&mut agent, &address_file)?;
    Ok(Worker {
        name,
        tpm,
        kernel,
        agent,
        address,
    })
}

fn wait_for(agent: &mut Child, file: &Path) -> Result<String, DemoError> {
    let begun = Instant::now();
    while begun.elapsed() < START {
        if let Ok(address) = std::fs::read_to_string(file) {
            return Ok(address);
        }
        if let Some(status) = agent.try_wait()? {
            return Err(DemoError::Agent(format!("it ended with {status}")));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    // It never listened; it must not stay behind.
    let _ = agent.kill();
    agent.wait()?;
    Err(DemoError::Agent("it did not listen in time".to_owned()))
}

/// A software TPM boots with empty registers.
fn boot_aggregate() -> Result<Digest, DemoError> {
    let zeros = vec![Digest::zero(HashAlg::Sha256); 10];
    let aggregate = BootAggregate::over(HashAlg::Sha256, &zeros);
    let aggregate = aggregate.ok_or_else(|| DemoError::Refused("no boot aggregate".to_owned()))?;
    Ok(aggregate.current)
}

async fn send(
    client: &Client,
    method: Method,
    path: &str,
    body: &Value,
) -> Result<(StatusCode, Value), DemoError> {
    let headers = [("content-type", "application/json")];
    let bytes = body.to_string().into_bytes();
    let (status, answer) = client.exchange(method, path, &headers, bytes).await?;
    Ok((
        status,
        serde_json::from_slice(&answer).unwrap_or(Value::Null),
    ))
}

async fn must(
    client: &Client,
    method: Method,
    path: &str,
    body: Value,
) -> Result<Value, DemoError> {
    let (status, answer) = send(client, method, path, &body).await?;
    if status.is_success() {
        return Ok(answer);
    }
    let detail = answer
        .get("detail")
        .and_then(Value::as_str)
        .unwrap_or("refused");
    Err(DemoError::Refused(format!("{path}: {detail}")))
}

/// Manufacturer, reference values and a tenant.
async fn prepare(operator: &Client, manufacturer: &Manufacturer) -> Result<Uuid, DemoError> {
    let id = "id:00001014";
    let new = json!({ "id": id, "name": "swtpm" });
    must(operator, Method::POST, "/v1/manufacturers", new).await?;
    let path = format!("/v1/manufacturers/{id}/certificates");
    for (kind, pem) in ["root", "intermediate"]
        .iter()
        .zip(manufacturer.certificates()?)
    {
        let body = json!({ "kind": kind, "certificate": pem });
        must(operator, Method::POST, &path, body).await?;
    }
    let os: String = operating_system()
        .bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect();
    let boots = json!({ "boot_aggregates": [boot_aggregate()?] });
    must(
        operator,
        Method::PUT,
        &format!("/v1/reference/os/{os}"),
        boots,
    )
    .await?;
    let runtime = json!({ "files": { SHIM: [content("shim")] } });
    must(
        operator,
        Method::PUT,
        "/v1/reference/runtimes/containerd",
        runtime,
    )
    .await?;
    let image = json!({
        "digests": [content("image")],
        "files": { "/usr/local/bin/redis-server": [content("redis")] },
    });
    must(operator, Method::PUT, "/v1/reference/images/redis", image).await?;
    let key = jws::TokenKey::generate().map_err(GateError::from)?;
    let public = jws::public_key_to_pem(&key.public()).map_err(GateError::from)?;
    let tenant = json!({ "name": "tenant", "public_key": public });
    let tenant = must(operator, Method::POST, "/v1/tenants", tenant).await?;
    let id = tenant.get("id").and_then(Value::as_str).unwrap_or_default();
    id.parse()
        .map_err(|_| DemoError::Refused("the tenant has no identifier".to_owned()))
}

struct DemoPod {
    uid: PodUid,
    name: String,
    container: String,
}

async fn pod(
    operator: &Client,
    worker: &mut Worker,
    name: &str,
    tenant: Uuid,
) -> Result<DemoPod, DemoError> {
    let uid = Uuid::new_v4().to_string();
    let container = content(&uid).to_hex();
    let described = json!({
        "uid": uid, "namespace": "default", "name": name, "tenant": tenant, "worker": worker.name,
        "containers": [{
            "name": "main", "image": "redis", "digest": content("image"), "id": container,
        }],
    });
    must(operator, Method::POST, "/v1/verifier/pods", described).await?;
    let pod = DemoPod {
        uid: PodUid::parse(uid.as_bytes())
            .ok_or_else(|| DemoError::Refused("no identifier for a pod".to_owned()))?,
        name: name.to_owned(),
        container,
    };
    run_file(worker, &pod, "redis", "/usr/local/bin/redis-server")?;
    Ok(pod)
}

fn run_file(worker: &mut Worker, pod: &DemoPod, text: &str, path: &str) -> Result<(), DemoError> {
    let group = cgroup_of(pod.uid, &pod.container);
    let dependencies = format!("{path}:{SHIM}:/usr/lib/systemd/systemd:swapper/0");
    worker
        .kernel
        .measure(&worker.tpm, &dependencies, &group, content(text), path)?;
    Ok(())
}

async fn attest(
    operator: &Client,
    case: &'static str,
    pod: &DemoPod,
) -> Result<Verdict, DemoError> {
    let begun = Instant::now();
    let path = format!("/v1/verifier/pods/{}/attest", pod.uid);
    let (status, answer) = send(operator, Method::POST, &path, &Value::Null).await?;
    let word = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or_default();
    let (verdict, reason) = if status.is_success() {
        (word("trust").to_owned(), String::new())
    } else {
        (word("effect").replace('-', " "), word("detail").to_owned())
    };
    Ok(Verdict {
        case,
        pod: format!("default/{}", pod.name),
        verdict,
        reason,
        took: begun.elapsed(),
    })
}
