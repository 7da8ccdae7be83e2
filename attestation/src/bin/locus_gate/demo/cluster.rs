//! `locus gate demo`: a pod's way into a cluster and out of it, on a real API server and software TPMs.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use control_plane::{Cluster, Kubelets, Part, Shape, User};
use locus_attestation::clock::SystemClock;
use locus_attestation::cluster::cli::definitions;
use locus_attestation::cluster::control::Settings;
use locus_attestation::cluster::rights::{cluster_role, lease_role};
use locus_attestation::cluster::serve::{ClusterConfig, RunningCluster, client, start};
use locus_attestation::cluster::webhooks::Place;
use locus_attestation::gate::GateConfig;
use locus_attestation::gate::args::init;
use locus_attestation::ima::PodUid;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::swtpm::Manufacturer;
use super::{DemoArgs, DemoError, DemoPod, Worker, content, operator, prepare, run_file, worker};

/// How long a step may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// The cluster, and the folder that everything is in.
struct Stage<'s> {
    cluster: &'s Cluster,
    folder: &'s Path,
}

impl DemoArgs {
    /// Shows a cluster with a gate, and prints it to standard output.
    pub(crate) fn run_cluster(self) -> Result<(), DemoError> {
        let agent = self.find_agent()?;
        println!("Kubernetes {} ...", control_plane::VERSION);
        control_plane::build()?;
        let runtime = tokio::runtime::Runtime::new()?;
        runtime.block_on(tell(&agent))
    }
}

async fn tell(agent: &Path) -> Result<(), DemoError> {
    let folder = tempfile::tempdir()?;
    let begun = Instant::now();
    let cluster = apart(|| Cluster::start(&folder.path().join("cluster"), &Part::ALL))?;
    let took = begun.elapsed();
    println!("etcd, API server, scheduler and controller manager run {took:>8.1?}");
    let stage = Stage {
        cluster: &cluster,
        folder: folder.path(),
    };
    let running = stage.gate().await?;
    let shown = stage.show(&running, agent).await;
    running.stop().await;
    shown
}

/// Blocks without holding up the gate, which runs in the same process.
fn apart<T: Send>(work: impl FnOnce() -> std::io::Result<T> + Send) -> Result<T, DemoError> {
    let done = tokio::task::block_in_place(|| std::thread::scope(|scope| scope.spawn(work).join()));
    let ended = |_| DemoError::Refused("a step of the demonstration ended early".to_owned());
    Ok(done.map_err(ended)??)
}

impl Stage<'_> {
    /// `kubectl`: whether it succeeded, and what it said.
    fn kubectl(&self, arguments: &[&str]) -> Result<(bool, String), DemoError> {
        let output = apart(|| self.cluster.kubectl(arguments))?;
        let said = if output.status.success() {
            output.stdout
        } else {
            output.stderr
        };
        let said = String::from_utf8_lossy(&said).trim().to_owned();
        Ok((output.status.success(), said))
    }

    fn must(&self, arguments: &[&str]) -> Result<String, DemoError> {
        match self.kubectl(arguments)? {
            (true, said) => Ok(said),
            (false, said) => Err(DemoError::Refused(said)),
        }
    }

    fn apply(&self, text: &str) -> Result<(bool, String), DemoError> {
        let path = self.folder.join("applied");
        std::fs::write(&path, text)?;
        self.kubectl(&["apply", "--server-side", "-f", &path.display().to_string()])
    }

    fn must_apply(&self, text: &str) -> Result<(), DemoError> {
        match self.apply(text)? {
            (true, _) => Ok(()),
            (false, said) => Err(DemoError::Refused(said)),
        }
    }

    /// Installs what the gate needs, and starts it as a user of its own.
    async fn gate(&self) -> Result<RunningCluster, DemoError> {
        let refused = |error: &dyn std::fmt::Display| DemoError::Refused(error.to_string());
        self.must_apply(&definitions().map_err(DemoError::Refused)?)?;
        for name in ["locus-system", "shop"] {
            apart(|| self.cluster.create_namespace(name))?;
        }
        let wait = [
            "wait",
            "--for=condition=Established",
            "crd",
            "--all",
            "--timeout=60s",
        ];
        self.must(&wait)?;
        let system = ["-n", "locus-system"];
        let account = ["create", "serviceaccount", "locus-gate"];
        self.must(&[&account[..], &system].concat())?;
        self.must_apply(&cluster_role().to_string())?;
        self.must_apply(&lease_role("locus-system").to_string())?;
        let user = "--serviceaccount=locus-system:locus-gate";
        let bind = ["create", "clusterrolebinding", "locus-gate", user];
        self.must(&[&bind[..], &["--clusterrole=locus-gate"]].concat())?;
        let bind = [
            "create",
            "rolebinding",
            "locus-gate",
            user,
            "--role=locus-gate",
        ];
        self.must(&[&bind[..], &system].concat())?;
        let token = ["create", "token", "locus-gate", "--duration=1h"];
        let token = self.must(&[&token[..], &system].concat())?;
        let admin = std::fs::read_to_string(self.cluster.kubeconfig(User::Admin))?;
        let own: Vec<String> = admin
            .lines()
            .map(|line| match line.contains("tokenFile") {
                true => format!("    token: {token}"),
                false => line.to_owned(),
            })
            .collect();
        let kubeconfig = self.folder.join("gate.kubeconfig");
        std::fs::write(&kubeconfig, own.join("\n"))?;
        let shop = json!({
            "apiVersion": "locus.dev/v1alpha1", "kind": "InvariantSet", "metadata": {"name": "shop"},
            "spec": {"namespaces": ["shop"]},
        });
        self.must_apply(&shop.to_string())?;
        let image = json!({
            "apiVersion": "locus.dev/v1alpha1", "kind": "ReferenceImage", "metadata": {"name": "redis"},
            "spec": {"image": "redis", "manifest": content("image").to_string()},
        });
        self.must_apply(&image.to_string())?;
        let installation = self.folder.join("gate");
        init(&installation, &SystemClock)?;
        let mut gate = GateConfig::all_in(&installation);
        gate.interval = Duration::from_secs(2);
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let admission = TcpListener::bind("127.0.0.1:0").await?;
        let place = format!("https://{}", admission.local_addr()?);
        let config = ClusterConfig {
            gate,
            place: Place::parse(&place).map_err(DemoError::Refused)?,
            settings: Settings::default(),
            namespace: "locus-system".to_owned(),
        };
        let client = client(Some(&kubeconfig)).await;
        let client = client.map_err(|error| refused(&error))?;
        let running = start(config, (listener, admission), client, Arc::new(SystemClock)).await;
        running.map_err(|error| refused(&error))
    }

    async fn show(&self, running: &RunningCluster, agent: &Path) -> Result<(), DemoError> {
        let operator = operator(&running.gate, self.folder)?;
        let manufacturer = Manufacturer::new(&self.folder.join("tpms"))?;
        let mut first = worker("worker-1", &manufacturer, self.folder, agent)?;
        prepare(&operator, &manufacturer).await?;
        // The API server was told of the gate when it refuses in the gate's words.
        let mut privileged = pod("privileged");
        set(
            &mut privileged,
            "/spec/containers/0/securityContext",
            json!({"privileged": true}),
        );
        let path = self.folder.join("probe.json");
        std::fs::write(&path, privileged.to_string())?;
        let path = path.display().to_string();
        self.until("the gate answers", || {
            // Nothing stays of it: until the server asks the gate, it would be let in.
            let (_, said) = self.kubectl(&["create", "--dry-run=server", "-f", &path])?;
            Ok(said.contains("K8S100").then_some(()))
        })
        .await?;
        self.refused("a pod that breaks a rule", &privileged)?;
        let mut unknown = pod("unknown");
        let image = format!("registry.example/redis@{}", content("another image"));
        set(&mut unknown, "/spec/containers/0/image", json!(image));
        self.refused("an image that nobody knows", &unknown)?;

        self.must_apply(&pod("healthy").to_string())?;
        println!("pod healthy: admitted, held back until a worker is trusted");
        let begun = Instant::now();
        let shape = [Shape::usual("worker-1")];
        let kubelets = apart(|| Kubelets::start(self.cluster, &shape))?;
        let address = format!("locus.dev/agent-address={}", first.address);
        self.must(&["annotate", "node", "worker-1", &address])?;
        self.until("the worker is trusted", || {
            let path = "jsonpath={.status.trust}";
            let (_, said) = self.kubectl(&["get", "agent", "worker-1", "-o", path])?;
            Ok((said == "Trusted").then_some(()))
        })
        .await?;
        println!(
            "worker-1 joined, registered and trusted  {:>8.1?}",
            begun.elapsed()
        );
        let begun = Instant::now();
        self.run(
            &mut first,
            "healthy",
            &[("redis", "/usr/local/bin/redis-server")],
        )
        .await?;
        self.until("the pod is ready", || {
            let path = "jsonpath={.status.conditions[?(@.type==\"Ready\")].status}";
            let (_, said) = self.kubectl(&["get", "pod", "healthy", "-n", "shop", "-o", path])?;
            Ok((said == "True").then_some(()))
        })
        .await?;
        println!(
            "pod healthy: scheduled, attested, ready  {:>8.1?}",
            begun.elapsed()
        );

        let begun = Instant::now();
        self.must_apply(&pod("miner").to_string())?;
        let files = [
            ("redis", "/usr/local/bin/redis-server"),
            ("miner", "/tmp/miner"),
        ];
        self.run(&mut first, "miner", &files).await?;
        self.gone("miner").await?;
        println!(
            "pod miner: evicted                       {:>8.1?}",
            begun.elapsed()
        );
        println!("     {}", self.event("shop", "miner", "Evicted").await?);

        let begun = Instant::now();
        let measured = (content("miner"), "/tmp/miner");
        first
            .kernel
            .measure(&first.tpm, "sh:swapper/0", "/", measured.0, measured.1)?;
        first.kernel.tamper("/tmp/miner", "/bin/redis")?;
        self.gone("healthy").await?;
        println!(
            "worker-1: its log was changed            {:>8.1?}",
            begun.elapsed()
        );
        println!(
            "     {}",
            self.event("default", "worker-1", "WorkerUntrusted").await?
        );
        println!("     {}", self.event("shop", "healthy", "Evicted").await?);
        println!("\n$ kubectl get agents\n{}", self.must(&["get", "agents"])?);
        apart(move || {
            drop(kubelets);
            Ok(())
        })
    }

    fn refused(&self, what: &str, pod: &Value) -> Result<(), DemoError> {
        let (admitted, said) = self.apply(&pod.to_string())?;
        if admitted {
            return Err(DemoError::Refused(format!("{what} was let in")));
        }
        println!("{what}: refused");
        let first = said.split_once("is refused by Locus: ");
        let problems = first.map_or(said.as_str(), |(_, problems)| problems);
        for line in problems.lines() {
            println!("     {}", line.trim_start_matches("- "));
        }
        Ok(())
    }

    /// What a pod runs, once it has a container.
    async fn run(
        &self,
        worker: &mut Worker,
        name: &str,
        files: &[(&str, &str)],
    ) -> Result<(), DemoError> {
        let path = "jsonpath={.metadata.uid} {.status.containerStatuses[0].containerID}";
        let found = self
            .until("the pod runs", || {
                let (_, said) = self.kubectl(&["get", "pod", name, "-n", "shop", "-o", path])?;
                let found = said.split_once(" containerd://");
                Ok(found.map(|(uid, id)| (uid.to_owned(), id.to_owned())))
            })
            .await?;
        let uid = PodUid::parse(found.0.as_bytes());
        let pod = DemoPod {
            uid: uid.ok_or_else(|| DemoError::Refused("the pod has no UID".to_owned()))?,
            name: name.to_owned(),
            container: found.1,
        };
        for (text, path) in files {
            run_file(worker, &pod, text, path)?;
        }
        Ok(())
    }

    async fn gone(&self, name: &str) -> Result<(), DemoError> {
        self.until("the pod is gone", || {
            let (there, said) = self.kubectl(&["get", "pod", name, "-n", "shop"])?;
            Ok((!there && said.contains("NotFound")).then_some(()))
        })
        .await
    }

    /// An event, which is written after what it is about was done.
    async fn event(&self, space: &str, name: &str, reason: &str) -> Result<String, DemoError> {
        let selector = format!("involvedObject.name={name},reason={reason}");
        let path = "jsonpath={.items[0].type} {.items[0].reason} {.items[0].message}";
        let asked = [
            "get",
            "events",
            "-n",
            space,
            "--field-selector",
            &selector,
            "-o",
            path,
        ];
        self.until("the event", || {
            let (there, said) = self.kubectl(&asked)?;
            Ok(there.then_some(said))
        })
        .await
    }

    async fn until<T>(
        &self,
        what: &str,
        holds: impl Fn() -> Result<Option<T>, DemoError>,
    ) -> Result<T, DemoError> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(found) = holds()? {
                return Ok(found);
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        Err(DemoError::Refused(format!(
            "{what}: not within {PATIENCE:?}"
        )))
    }
}

fn set(object: &mut Value, path: &str, value: Value) {
    if let Some(place) = object.pointer_mut(path) {
        *place = value;
    }
}

/// A pod that breaks no rule.
fn pod(name: &str) -> Value {
    let image = format!("registry.example/redis@{}", content("image"));
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "automountServiceAccountToken": false,
            "securityContext": {"runAsNonRoot": true, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{
                "name": "main", "image": image,
                "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "1", "memory": "64Mi"}},
                "securityContext": {
                    "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]},
                },
            }],
        },
    })
}
