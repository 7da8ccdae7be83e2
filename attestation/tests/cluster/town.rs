//! A cluster with a gate in it, and workers that are attested.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;
use std::time::{Duration, Instant};

use control_plane::{Cluster, Kubelets, NODE, Part, Programs, Shape, User};
use kube::Client;
use locus_attestation::clock::{Clock, SystemClock};
use locus_attestation::cluster::cli::definitions;
use locus_attestation::cluster::control::Settings;
use locus_attestation::cluster::rights::{cluster_role, lease_role};
use locus_attestation::cluster::serve::{ClusterConfig, RunningCluster, client, start};
use locus_attestation::cluster::webhooks::Place;
use locus_attestation::gate::GateConfig;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, MutexGuard};

use crate::lossy::Lossy;
use crate::real::Real;
use crate::world::{WorkerBox, World, cgroup, content};

/// How long something may take that is sure to come: other tests may run beside this one.
const PATIENCE: Duration = Duration::from_secs(120);
/// One control plane at a time: it takes more of a machine than tests that wait for it.
pub(crate) static ONE: Mutex<()> = Mutex::const_new(());

/// Whether there is a control plane to test with. Where it could be built, it has to be.
pub(crate) fn is_there() -> bool {
    let Err(why) = Programs::find() else {
        return true;
    };
    let go = std::process::Command::new("go").arg("version").output();
    assert!(go.is_err(), "{why}");
    eprintln!("skipped: {why}, for which Go is needed");
    false
}

/// A control plane, a gate, and workers.
pub(crate) struct Town {
    pub(crate) cluster: Cluster,
    pub(crate) world: World,
    pub(crate) gate: Option<RunningCluster>,
    pub(crate) workers: BTreeMap<String, WorkerBox>,
    pub(crate) settings: Settings,
    /// The administrator.
    pub(crate) admin: Client,
    /// Of what the gate sends to the API server and is answered, something gets lost.
    pub(crate) lossy: Option<Lossy>,
    /// Where the gate's webhooks are.
    pub(crate) admission: String,
    kubelets: Vec<Kubelets>,
    /// The node that runs its pods, if there is one.
    pub(crate) real: Option<Real>,
    /// What pods ran already: UID and file.
    ran: BTreeSet<(String, String)>,
    folder: TempDir,
    one: Option<MutexGuard<'static, ()>>,
}

/// Blocks without holding up the gate, which runs in the same process.
pub(crate) fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    tokio::task::block_in_place(|| {
        std::thread::scope(|scope| scope.spawn(work).join()).expect("it does not panic")
    })
}

impl Town {
    /// A cluster with the definitions, the enrolled namespace `shop`, the image `redis`, and a gate.
    pub(crate) async fn new(parts: &[Part]) -> Town {
        // With `RUST_LOG`, what the gate says.
        if std::env::var_os("RUST_LOG").is_some() {
            let filter = tracing_subscriber::EnvFilter::from_default_env();
            let log = tracing_subscriber::fmt().with_env_filter(filter);
            let _ = log.with_writer(std::io::stderr).try_init();
        }
        let one = ONE.lock().await;
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("cluster");
        let cluster = apart(|| Cluster::start(&place, parts)).unwrap();
        let mut world = World::new().await;
        world.gate.take().unwrap().stop().await;
        let admin = client(Some(&cluster.kubeconfig(User::Admin)))
            .await
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut town = Town {
            cluster,
            world,
            gate: None,
            workers: BTreeMap::new(),
            settings: Settings::default(),
            admin,
            lossy: None,
            admission: listener.local_addr().unwrap().to_string(),
            kubelets: Vec::new(),
            real: None,
            ran: BTreeSet::new(),
            folder,
            one: Some(one),
        };
        drop(listener);
        town.apply_text(&definitions().unwrap());
        for name in ["locus-system", "shop"] {
            town.cluster.create_namespace(name).unwrap();
        }
        town.must(&[
            "wait",
            "--for=condition=Established",
            "crd",
            "--all",
            "--timeout=180s",
        ]);
        town.apply(&json!({
            "apiVersion": "locus.dev/v1alpha1", "kind": "InvariantSet", "metadata": {"name": "shop"},
            "spec": {"namespaces": ["shop"]},
        }));
        town.apply(&json!({
            "apiVersion": "locus.dev/v1alpha1", "kind": "ReferenceImage", "metadata": {"name": "redis"},
            "spec": {"image": "redis", "manifest": content("image redis").to_string()},
        }));
        town.must(&[
            "create",
            "serviceaccount",
            "locus-gate",
            "-n",
            "locus-system",
        ]);
        town.apply(&cluster_role());
        town.apply(&lease_role("locus-system"));
        let account = "--serviceaccount=locus-system:locus-gate";
        let bind = ["create", "clusterrolebinding", "locus-gate", account];
        town.must(&[&bind[..], &["--clusterrole=locus-gate"]].concat());
        let bind = ["create", "rolebinding", "locus-gate", account];
        town.must(&[&bind[..], &["--role=locus-gate", "-n", "locus-system"]].concat());
        town.start_gate().await;
        town
    }

    /// The configuration of the administrator.
    pub(crate) fn admin_kubeconfig(&self) -> PathBuf {
        self.cluster.kubeconfig(User::Admin)
    }

    /// The configuration of the gate's own user.
    fn own_kubeconfig(&self) -> PathBuf {
        let path = self.folder.path().join("gate.kubeconfig");
        if !path.exists() {
            let token = self.must(&[
                "create",
                "token",
                "locus-gate",
                "-n",
                "locus-system",
                "--duration=2h",
            ]);
            let admin = fs::read_to_string(self.cluster.kubeconfig(User::Admin)).unwrap();
            let file = admin
                .lines()
                .find(|line| line.contains("tokenFile"))
                .unwrap();
            let own = format!("    token: {}", token.trim());
            fs::write(&path, admin.replace(file, &own)).unwrap();
        }
        path
    }

    /// Starts a gate with an installation of its own, whose webhooks are at an address.
    pub(crate) async fn gate_of(&self, installation: &Path, admission: &str) -> RunningCluster {
        let mut config = GateConfig::all_in(installation);
        config.interval = Duration::from_secs(2);
        let config = ClusterConfig {
            gate: config,
            place: Place::parse(&format!("https://{admission}")).unwrap(),
            settings: self.settings,
            namespace: "locus-system".to_owned(),
        };
        let gate = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let admission = TcpListener::bind(admission).await.unwrap();
        let own = self.own_kubeconfig();
        let client = match &self.lossy {
            Some(lossy) => lossy.client(&own).await,
            None => client(Some(&own)).await.unwrap(),
        };
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        start(config, (gate, admission), client, clock)
            .await
            .unwrap()
    }

    /// Starts the gate, again if need be, and waits until the API server asks it and it knows the cluster.
    pub(crate) async fn start_gate(&mut self) {
        let installation = self.world.folder.path().join("gate");
        let running = self.gate_of(&installation, &self.admission).await;
        self.world.gate_address = running.gate.address.to_string();
        self.gate = Some(running);
        self.until("the gate answers", async |town| {
            let asked = town.ask(&json!({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe", "namespace": "shop"},
                "spec": {"containers": [{"name": "a", "image": "a"}]},
            }));
            let said = String::from_utf8_lossy(&asked.stderr).into_owned();
            match said.contains("image-digest") {
                true => Ok(()),
                false => Err(said),
            }
        })
        .await;
    }

    /// A worker with its node; it is registered and attested by the gate.
    pub(crate) async fn join(&mut self, name: &str) {
        let worker = self.world.worker(name).await;
        self.join_as(worker).await;
    }

    /// The same with a worker that is there.
    pub(crate) async fn join_as(&mut self, worker: WorkerBox) {
        let name = worker.name.clone();
        let cluster = &self.cluster;
        let shape = [Shape {
            pods: 500,
            ..Shape::usual(name.clone())
        }];
        let kubelets = apart(|| Kubelets::start(cluster, &shape)).unwrap();
        self.kubelets.push(kubelets);
        let address = format!("locus.dev/agent-address={}", worker.address());
        self.must(&["annotate", "node", &name, &address]);
        self.workers.insert(name, worker);
    }

    /// Waits until something holds; pods run meanwhile what they run.
    pub(crate) async fn until(
        &mut self,
        what: &str,
        mut holds: impl AsyncFnMut(&mut Town) -> Result<(), String>,
    ) {
        let begun = Instant::now();
        loop {
            self.run_pods().await;
            let why = match holds(self).await {
                Ok(()) => break,
                Err(why) => why,
            };
            if begun.elapsed() > PATIENCE {
                let events = self.must(&["get", "events", "-A"]);
                panic!("{what}: {why}\n{events}");
            }
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
        eprintln!("{:>8.1?}  {what}", begun.elapsed());
    }

    /// What pods that were started run: their main file, and what the annotation `runs` names.
    async fn run_pods(&mut self) {
        if self.workers.is_empty() {
            return;
        }
        if let Some(real) = &mut self.real
            && let Some(worker) = self.workers.get_mut(NODE)
        {
            apart(|| real.measure(worker));
        }
        let Ok(pods) = self.list("/api/v1/pods").await else {
            return;
        };
        for pod in pods {
            let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
            let Some(worker) = self.workers.get_mut(node).filter(|_| node != NODE) else {
                continue;
            };
            let id = pod["status"]["containerStatuses"][0]["containerID"].as_str();
            let Some((_, id)) = id.and_then(|id| id.split_once("://")) else {
                continue;
            };
            let uid = pod["metadata"]["uid"].as_str().unwrap().to_owned();
            let more = pod["metadata"]["annotations"]["runs"].as_str();
            let files = ["redis"].into_iter().chain(more);
            for file in files {
                if self.ran.insert((uid.clone(), file.to_owned())) {
                    let group = cgroup(uid.parse().unwrap(), id);
                    let path = format!("/usr/bin/{file}");
                    let shim = crate::world::SHIM;
                    let parents = format!("{path}:{shim}:swapper/0");
                    worker.measure(&parents, &group, content(file), &path);
                }
            }
        }
    }

    /// The objects at a path of the API.
    pub(crate) async fn list(&self, path: &str) -> Result<Vec<Value>, String> {
        let list = self.get(path).await?;
        Ok(list["items"].as_array().cloned().unwrap_or_default())
    }

    /// The object at a path of the API.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, String> {
        let request = axum::http::Request::get(path).body(Vec::new()).unwrap();
        let got = self.admin.request(request).await;
        got.map_err(|error| error.to_string())
    }

    /// A pod of the namespace `shop`.
    pub(crate) async fn pod(&self, name: &str) -> Result<Value, String> {
        self.get(&format!("/api/v1/namespaces/shop/pods/{name}"))
            .await
    }

    /// Waits until the Agent of a node says so.
    pub(crate) async fn trusts(&mut self, node: &str, trust: &str) {
        let what = format!("the worker {node} is {trust}");
        self.until(&what, async |town| {
            let path = format!("/apis/locus.dev/v1alpha1/agents/{node}");
            let agent = town.get(&path).await?;
            let taints = town.get(&format!("/api/v1/nodes/{node}")).await?;
            let taints = taints["spec"]["taints"].to_string();
            let open = !taints.contains("locus.dev/untrusted");
            let said = agent["status"]["trust"] == trust;
            match said && open == (trust == "Trusted") {
                true => Ok(()),
                false => Err(format!("{} {taints}", agent["status"])),
            }
        })
        .await;
    }

    /// Waits until a pod of the namespace `shop` is ready.
    pub(crate) async fn ready(&mut self, name: &str) {
        self.ready_in("shop", name).await;
    }

    /// Waits until a pod is ready.
    pub(crate) async fn ready_in(&mut self, namespace: &str, name: &str) {
        let what = format!("the pod {name} is ready");
        self.until(&what, async |town| {
            let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
            let pod = town.get(&path).await?;
            match is(&pod, "Ready") {
                true => Ok(()),
                false => Err(format!(
                    "{} {}",
                    pod["spec"]["schedulingGates"], pod["status"]
                )),
            }
        })
        .await;
    }

    /// Waits until `kubectl` shows words.
    pub(crate) async fn shows(&mut self, arguments: &[&str], words: &[&str]) {
        let what = format!("{} shows {words:?}", arguments.join(" "));
        self.until(&what, async |town| {
            let told = town.must(arguments);
            match words.iter().find(|word| !told.contains(**word)) {
                None => Ok(()),
                Some(word) => Err(format!("{word}: {told}")),
            }
        })
        .await;
    }

    /// Waits until there is no such pod.
    pub(crate) async fn gone(&mut self, name: &str) {
        let what = format!("the pod {name} is gone");
        self.until(&what, async |town| {
            let path = "/api/v1/namespaces/shop/pods";
            let all = town.list(path).await?;
            let pod = all.into_iter().find(|pod| pod["metadata"]["name"] == name);
            pod.map_or(Ok(()), |pod| Err(pod["status"].to_string()))
        })
        .await;
    }

    /// `kubectl` as the administrator.
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> Output {
        let cluster = &self.cluster;
        apart(|| cluster.kubectl(arguments)).unwrap()
    }

    /// The same, which must succeed; what it printed.
    pub(crate) fn must(&self, arguments: &[&str]) -> String {
        let output = self.kubectl(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The same, which must be refused; what it said.
    pub(crate) fn refused(&self, arguments: &[&str]) -> String {
        let output = self.kubectl(arguments);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success(), "{arguments:?}: {printed}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Applies what is written down.
    pub(crate) fn apply_text(&self, text: &str) {
        let path = self.folder.path().join("applied.yaml");
        fs::write(&path, text).unwrap();
        self.must(&["apply", "--server-side", "-f", path.to_str().unwrap()]);
    }

    /// Applies an object.
    pub(crate) fn apply(&self, object: &Value) {
        let output = self.try_apply(object);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
    }

    /// Applies an object that must be refused; what was said.
    pub(crate) fn refuse(&self, object: &Value) -> String {
        let output = self.try_apply(object);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success(), "{printed}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Applies an object, or not.
    pub(crate) fn try_apply(&self, object: &Value) -> Output {
        self.send(&["apply"], object)
    }

    /// Asks whether an object would get in; it does not.
    fn ask(&self, object: &Value) -> Output {
        self.send(&["create", "--dry-run=server"], object)
    }

    fn send(&self, how: &[&str], object: &Value) -> Output {
        let path = self.folder.path().join("applied.json");
        fs::write(&path, object.to_string()).unwrap();
        self.kubectl(&[how, &["-f", path.to_str().unwrap()]].concat())
    }

    /// Lets time pass, in which another town may have the machine; something is done before this one has it back.
    pub(crate) async fn rest(&mut self, time: Duration, then: impl AsyncFnOnce(&mut Town)) {
        self.one = None;
        tokio::time::sleep(time).await;
        then(self).await;
        self.one = Some(ONE.lock().await);
    }

    /// Kills a part of the control plane and starts it again.
    pub(crate) async fn restart(&mut self, part: Part) {
        let cluster = &mut self.cluster;
        apart(|| cluster.restart(part)).unwrap();
    }

    /// Starts a part of the control plane that was killed.
    pub(crate) async fn start(&mut self, part: Part) {
        let cluster = &mut self.cluster;
        apart(|| cluster.start_part(part)).unwrap();
    }

    /// Ends everything in order.
    pub(crate) async fn end(mut self) {
        if let Some(gate) = self.gate.take() {
            gate.stop().await;
        }
        let kubelets = std::mem::take(&mut self.kubelets);
        let real = self.real.take();
        apart(move || drop((kubelets, real)));
    }
}

impl WorkerBox {
    /// A file runs on the host, and whoever has the worker writes another name into the log.
    pub(crate) fn hide(&mut self, path: &str, instead: &str) {
        assert_eq!(path.len(), instead.len());
        let before = self.kernel.entries();
        let extended = self.kernel.cgpath("x:swapper/0", "/", content(path), path);
        self.machine.extend(10, &extended.unwrap());
        let mut new = self.kernel.log_from(before).to_vec();
        let length = path.len();
        let places = new.windows(length).enumerate();
        let places = places.filter_map(|(at, bytes)| (bytes == path.as_bytes()).then_some(at));
        let places: Vec<usize> = places.collect();
        assert!(!places.is_empty());
        for at in places {
            new[at..at + length].copy_from_slice(instead.as_bytes());
        }
        self.append(&new);
    }
}

/// Whether a condition of a pod is true.
pub(crate) fn is(pod: &Value, condition: &str) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|one| one["type"] == condition && one["status"] == "True")
}

/// The specification of a pod that breaks no rule.
pub(crate) fn spec() -> Value {
    let image = format!("registry.example/redis@{}", content("image redis"));
    json!({
        "automountServiceAccountToken": false,
        "securityContext": {"runAsNonRoot": true, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{
            "name": "main", "image": image,
            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "1", "memory": "64Mi"}},
            "securityContext": {
                "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]},
            },
        }],
    })
}

/// A pod of the namespace `shop` that breaks no rule.
pub(crate) fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop", "labels": {"app": name}},
        "spec": spec(),
    })
}
