//! A stand-in for the kubelets of many nodes: it runs nothing, and says what a kubelet says.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config, Resource as _, ResourceExt as _};
use serde_json::{Value, json};

use crate::{Cluster, User};

/// A node loses trust of the cluster 40 seconds after it was last heard of.
const HEARTBEAT: Duration = Duration::from_secs(10);
const PERIOD: Duration = Duration::from_millis(200);
const ANSWER: Duration = Duration::from_secs(5);

/// What a node offers.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Its name.
    pub name: String,
    /// Processors, as a quantity.
    pub cpu: String,
    /// Memory, as a quantity.
    pub memory: String,
    /// How many pods it takes.
    pub pods: usize,
}

impl Shape {
    /// A node with 8 processors, 32 GiB and 110 pods.
    pub fn usual(name: impl Into<String>) -> Shape {
        Shape {
            name: name.into(),
            cpu: "8".into(),
            memory: "32Gi".into(),
            pods: 110,
        }
    }
}

/// Nodes whose pods are said to run, until the value is dropped.
#[derive(Debug)]
pub struct Kubelets {
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Kubelets {
    /// Registers nodes and answers for them.
    pub fn start(cluster: &Cluster, shapes: &[Shape]) -> io::Result<Kubelets> {
        let end = Arc::new(AtomicBool::new(false));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let path = cluster.kubeconfig(User::Admin);
        let client = runtime.block_on(async {
            let read = Kubeconfig::read_from(path).map_err(io::Error::other)?;
            let options = KubeConfigOptions::default();
            let config = Config::from_custom_kubeconfig(read, &options).await;
            let mut config = config.map_err(io::Error::other)?;
            // A server whose store is away lets requests hang: others are waiting.
            config.read_timeout = Some(ANSWER);
            let client = Client::try_from(config);
            let client = client.map_err(io::Error::other)?;
            for shape in shapes {
                register(&client, shape).await.map_err(io::Error::other)?;
            }
            Ok::<_, io::Error>(client)
        })?;
        let shapes = shapes.to_vec();
        let names: Vec<String> = shapes.iter().map(|shape| shape.name.clone()).collect();
        let ended = Arc::clone(&end);
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                let mut heard: Option<Instant> = None;
                while !ended.load(Ordering::Relaxed) {
                    if heard.is_none_or(|heard| heard.elapsed() > HEARTBEAT) {
                        heard = Some(Instant::now());
                        for name in &names {
                            // The server may be away for a while: the next round tells it.
                            if renew(&client, name).await.is_err() {
                                heard = None;
                            }
                        }
                        let _ = recover(&client, &shapes).await;
                    }
                    let _ = round(&client, &names).await;
                    tokio::time::sleep(PERIOD).await;
                }
            });
        });
        Ok(Kubelets {
            end,
            thread: Some(thread),
        })
    }
}

impl Drop for Kubelets {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn apply() -> PatchParams {
    PatchParams::apply("stand-in-kubelet").force()
}

async fn register(client: &Client, shape: &Shape) -> kube::Result<()> {
    let nodes: Api<Node> = Api::all(client.clone());
    let name = &shape.name;
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}});
    nodes.patch(name, &apply(), &Patch::Apply(&node)).await?;
    nodes
        .patch_status(name, &apply(), &Patch::Apply(&ready(shape)))
        .await?;
    // The node controller adds its own until a node is ready; a fresh node is tainted by admission. Others stay.
    let node = serde_json::to_value(nodes.get(name).await?).unwrap_or_default();
    let taints = node.pointer("/spec/taints").and_then(Value::as_array);
    let mut taints = taints.cloned().unwrap_or_default();
    taints.retain(|taint| {
        let key = taint["key"].as_str().unwrap_or_default();
        !key.starts_with("node.kubernetes.io/")
    });
    let untainted = json!({"spec": {"taints": taints}});
    nodes
        .patch(name, &PatchParams::default(), &Patch::Merge(&untainted))
        .await?;
    renew(client, name).await
}

/// The status of a node that takes pods.
fn ready(shape: &Shape) -> Value {
    let offered = json!({"cpu": shape.cpu, "memory": shape.memory, "pods": shape.pods.to_string()});
    json!({"apiVersion": "v1", "kind": "Node", "status": {
        "capacity": offered, "allocatable": offered,
        "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "stand-in"}],
    }})
}

/// Says that nodes are ready of which the cluster had not heard for too long.
async fn recover(client: &Client, shapes: &[Shape]) -> kube::Result<()> {
    let nodes: Api<Node> = Api::all(client.clone());
    for node in nodes.list(&ListParams::default()).await?.items {
        let conditions = node
            .status
            .as_ref()
            .and_then(|status| status.conditions.as_ref());
        let mut conditions = conditions.into_iter().flatten();
        let lost = conditions.any(|one| one.type_ == "Ready" && one.status != "True");
        let name = node.name_any();
        if let Some(shape) = shapes.iter().find(|shape| lost && shape.name == name) {
            nodes
                .patch_status(&name, &apply(), &Patch::Apply(&ready(shape)))
                .await?;
        }
    }
    Ok(())
}

async fn renew(client: &Client, name: &str) -> kube::Result<()> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), "kube-node-lease");
    let now = k8s_openapi::jiff::Timestamp::now();
    let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}, "spec": {
        "holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": format!("{now:.6}"),
    }});
    leases.patch(name, &apply(), &Patch::Apply(&lease)).await?;
    Ok(())
}

/// Says of each pod on one of the nodes what is due.
async fn round(client: &Client, names: &[String]) -> kube::Result<()> {
    let pods: Api<Pod> = Api::all(client.clone());
    let all = ListParams::default().match_any();
    for (index, pod) in pods.list(&all).await?.items.iter().enumerate() {
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
        if !node.is_some_and(|node| names.iter().any(|name| name == node)) {
            continue;
        }
        let own: Api<Pod> = Api::namespaced(client.clone(), &pod.namespace().unwrap_or_default());
        let name = pod.name_any();
        if pod.meta().deletion_timestamp.is_some() {
            let now = DeleteParams::default().grace_period(0);
            let _ = own.delete(&name, &now).await;
        } else if let Some(status) = status(pod, index) {
            // Another may have changed it: the next round sees it again.
            let _ = own
                .replace_status(&name, &PostParams::default(), &status)
                .await;
        }
    }
    Ok(())
}

/// The identifier of a container of a pod, by its place: 64 hexadecimal digits.
pub fn container_id(uid: &str, index: usize) -> String {
    let digits: String = uid.chars().filter(char::is_ascii_hexdigit).collect();
    format!("{digits:0>32}{index:032x}")
}

/// The pod with the status that a kubelet gives it, if it has another.
fn status(pod: &Pod, index: usize) -> Option<Pod> {
    let mut whole = serde_json::to_value(pod).ok()?;
    let conditions = whole.pointer("/status/conditions").cloned();
    let conditions: Vec<Value> = conditions
        .and_then(|conditions| serde_json::from_value(conditions).ok())
        .unwrap_or_default();
    let is = |kind: &str| {
        let mut conditions = conditions.iter();
        conditions.any(|one| one["type"] == kind && one["status"] == "True")
    };
    let gates = whole.pointer("/spec/readinessGates");
    let gates = gates.and_then(Value::as_array).cloned().unwrap_or_default();
    let ready = gates
        .iter()
        .all(|gate| gate["conditionType"].as_str().is_some_and(is));
    let running = whole.pointer("/status/phase") == Some(&json!("Running"));
    if running && is("ContainersReady") && is("Ready") == ready {
        return None;
    }
    let now = k8s_openapi::jiff::Timestamp::now().to_string();
    let word = |yes: bool| if yes { "True" } else { "False" };
    let own = [
        ("Initialized", true),
        ("ContainersReady", true),
        ("Ready", ready),
    ];
    let mut next: Vec<Value> = conditions.clone();
    next.retain(|one| own.iter().all(|(kind, _)| one["type"] != *kind));
    let own = own
        .iter()
        .map(|(kind, yes)| json!({"type": kind, "status": word(*yes), "lastTransitionTime": now}));
    next.extend(own);
    let containers = whole.pointer("/spec/containers")?.as_array()?.clone();
    let uid = pod.uid().unwrap_or_default();
    let containers: Vec<Value> = containers
        .iter()
        .enumerate()
        .map(|(index, container)| {
            json!({
                "name": container["name"], "image": container["image"], "imageID": container["image"], "ready": true, "started": true,
                "containerID": format!("containerd://{}", container_id(&uid, index)),
                "restartCount": 0, "state": {"running": {"startedAt": now}},
            })
        })
        .collect();
    let address = format!("10.244.{}.{}", index / 250 % 250, index % 250 + 1);
    let address = match whole.pointer("/status/podIP").and_then(Value::as_str) {
        Some(address) => address.to_owned(),
        None => address,
    };
    let started = whole.pointer("/status/startTime").cloned();
    let status = whole.get_mut("status")?.as_object_mut()?;
    status.insert("phase".into(), json!("Running"));
    status.insert("startTime".into(), started.unwrap_or_else(|| json!(now)));
    status.insert("podIPs".into(), json!([{"ip": address}]));
    status.insert("podIP".into(), json!(address));
    status.insert("hostIPs".into(), json!([{"ip": "127.0.0.1"}]));
    status.insert("hostIP".into(), json!("127.0.0.1"));
    status.insert("conditions".into(), json!(next));
    status.insert("containerStatuses".into(), json!(containers));
    serde_json::from_value(whole).ok()
}
