//! The main path on a node that is one: a real kubelet, containerd and runc run pods of images made here.
//!
//! What the kernel would measure is read here from the processes that run, and is extended into the TPM: which files, in which
//! containers of which pods, is what the runtime says and `/proc` shows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;

use control_plane::{NODE, Node, Part, Runtime, SANDBOX};
use hyper::Method;
use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::reference::{ImageOptions, PathText, from_image};
use serde_json::{Value, json};

use crate::images::{Image, UNKNOWN};
use crate::town::{Town, apart, is, is_there, pod};
use crate::world::{SHIM, WorkerBox};

/// A node whose processes are measured.
pub(crate) struct Real {
    node: Node,
    /// What is still the runtime on its way into a container.
    runc: Digest,
    /// The pods of containers.
    pods: BTreeMap<String, String>,
    /// What was measured: container, device and number of the file.
    seen: BTreeSet<(String, u64, u64)>,
}

impl Real {
    /// Measures what runs in containers and was not measured yet.
    pub(crate) fn measure(&mut self, worker: &mut WorkerBox) {
        for container in self.node.containers().unwrap() {
            if !self.pods.contains_key(&container) {
                // One that is gone meanwhile runs nothing.
                let Ok(pod) = self.node.pod_of(&container) else {
                    continue;
                };
                self.pods.insert(container.clone(), pod);
            }
            for process in self.node.processes(&container) {
                let file = format!("/proc/{process}/exe");
                let (Ok(path), Ok(known)) = (fs::read_link(&file), fs::metadata(&file)) else {
                    continue;
                };
                let path = path.to_str().unwrap().to_owned();
                let seen = (container.clone(), known.dev(), known.ino());
                if self.seen.contains(&seen) {
                    continue;
                }
                let Ok(bytes) = fs::read(&file) else {
                    continue;
                };
                let digest = HashAlg::Sha256.hash(&[&bytes]);
                if digest == self.runc {
                    continue;
                }
                self.seen.insert(seen);
                let group = format!(
                    "/kubepods/burstable/pod{}/{container}",
                    self.pods[&container]
                );
                worker.measure(&format!("{path}:{SHIM}:swapper/0"), &group, digest, &path);
            }
        }
    }
}

/// The programs of a real node, if one can run here. Where they are named, they have to be there.
fn runtime() -> Option<Runtime> {
    let found = Runtime::find();
    assert!(
        found.is_ok() || std::env::var_os("LOCUS_CONTAINERD").is_none(),
        "{found:?}"
    );
    let runtime = found.and_then(|runtime| runtime.possible().map(|()| runtime));
    match runtime {
        Ok(runtime) => Some(runtime),
        Err(why) => {
            // Not by a macro, whose words a test that passes keeps for itself.
            let said = format!("NOT TESTED with a real kubelet: {why}\n");
            std::io::stderr().write_all(said.as_bytes()).unwrap();
            None
        }
    }
}

/// A pod that breaks no rule and runs an image that is there.
fn runs(name: &str, image: &Image) -> Value {
    let mut pod = pod(name);
    on_node(&mut pod["spec"], image);
    pod
}

fn on_node(spec: &mut Value, image: &Image) {
    spec["terminationGracePeriodSeconds"] = json!(0);
    spec["containers"][0]["image"] = json!(image.reference);
    spec["containers"][0]["imagePullPolicy"] = json!("Never");
}

/// The files of an image become reference values, as `docker save` has it: all but one.
async fn enter(town: &Town, name: &str, image: &Image, sandbox: bool) {
    let (_, mut values) = from_image(&image.saved, &ImageOptions::default()).unwrap();
    values.sandbox = sandbox;
    values.files.remove(&PathText::from(UNKNOWN)).unwrap();
    assert_eq!(values.digests.iter().next(), Some(&image.configuration));
    let values = serde_json::to_value(values).unwrap();
    let path = format!("/v1/reference/images/{name}");
    let (status, answer) = town.world.operate(Method::PUT, &path, values).await;
    assert!(status.is_success(), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn pods_of_a_real_kubelet_are_held_back_run_and_evicted() {
    if !is_there() {
        return;
    }
    let Some(runtime) = runtime() else {
        return;
    };
    let settings = [
        "vm/overcommit_memory",
        "kernel/panic",
        "kernel/panic_on_oops",
    ];
    let settings = || settings.map(|name| fs::read_to_string(format!("/proc/sys/{name}")).unwrap());
    let before = settings();
    let mut town = Town::new(&Part::ALL).await;
    let folder = town.cluster.folder().to_owned();
    let sleep = ["/bin/busybox", "sleep", "infinity"];
    let web = Image::make(&folder, "web", None, &sleep);
    let other = Image::make(&folder, "other", None, &sleep);
    let pause = Image::make(&folder, "pause", Some("1"), &["/sleep", "infinity"]);
    assert_eq!(pause.reference, SANDBOX);
    enter(&town, "web", &web, false).await;
    enter(&town, "pause", &pause, true).await;
    town.apply(&json!({
        "apiVersion": "locus.dev/v1alpha1", "kind": "ReferenceImage", "metadata": {"name": "web"},
        "spec": {"image": "web", "manifest": web.manifest, "configuration": web.configuration},
    }));

    // Held back, as long as no worker is trusted.
    town.until("the image is known and the pod gets in", async |town| {
        let said = town.try_apply(&runs("healthy", &web));
        match said.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&said.stderr).into_owned()),
        }
    })
    .await;
    described(
        &mut town,
        "pod",
        "healthy",
        &["Waiting", "no worker is trusted"],
    )
    .await;
    let archives = [&web, &other, &pause].map(|image| image.archive.clone());
    // Its agent does not listen where the node is, so its operator says where it does.
    let worker = town.world.worker(NODE).await;
    town.apply(&json!({
        "apiVersion": "locus.dev/v1alpha1", "kind": "Agent", "metadata": {"name": NODE},
        "spec": {"node": NODE, "address": worker.address()},
    }));
    let runc = fs::read(runtime.program("runc").unwrap()).unwrap();
    let cluster = &town.cluster;
    let node = apart(|| Node::start(cluster, &runtime, &archives)).unwrap();
    town.real = Some(Real {
        node,
        runc: HashAlg::Sha256.hash(&[&runc]),
        pods: BTreeMap::new(),
        seen: BTreeSet::new(),
    });
    town.workers.insert(NODE.to_owned(), worker);
    town.trusts(NODE, "Trusted").await;
    town.ready("healthy").await;

    // The image by the digest of its manifest is the one that was entered by that of its configuration.
    let healthy = town.pod("healthy").await.unwrap();
    let said = &healthy["status"]["containerStatuses"][0];
    assert_eq!(said["imageID"], web.reference);
    let verifier = town.gate.as_ref().unwrap().gate.verifier.clone().unwrap();
    let known = verifier.pods(None).unwrap().items;
    let uid = healthy["metadata"]["uid"].as_str().unwrap();
    let known = known.iter().find(|one| one.pod.uid.to_string() == uid);
    let container = &known.unwrap().pod.containers[0];
    assert_eq!(container.digest, web.configuration);
    let id = said["containerID"].as_str().unwrap();
    assert_eq!(id, format!("containerd://{}", container.id.unwrap()));

    // Refused: by a rule, and for an image that the node has and nobody knows.
    let mut wrong = runs("wrong", &web);
    wrong["spec"]["containers"][0]["securityContext"]["privileged"] = json!(true);
    wrong["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = json!(true);
    let said = town.refuse(&wrong);
    for word in ["is refused by Locus", "privileged", "to fix it"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    let said = town.refuse(&runs("other", &other));
    assert!(said.contains("image-unknown"), "{said}");

    // A pod that runs a file that is not among the reference values of its image.
    let mut miner = runs("miner", &web);
    miner["spec"]["containers"][0]["command"] = json!([UNKNOWN, "sleep", "infinity"]);
    // It does not hear that it is to end, and asks for an hour: it does not stay for that.
    miner["spec"]["terminationGracePeriodSeconds"] = json!(3600);
    town.apply(&miner);
    let mut was_ready = false;
    town.until("the pod with an unknown file is gone", async |town| {
        let all = town.list("/api/v1/namespaces/shop/pods").await?;
        let Some(pod) = all.iter().find(|pod| pod["metadata"]["name"] == "miner") else {
            return Ok(());
        };
        was_ready |= is(pod, "Ready");
        Err(pod["status"].to_string())
    })
    .await;
    assert!(!was_ready, "it was never ready");
    let of_miner = "involvedObject.name=miner";
    let events = ["get", "events", "-n", "shop", "--field-selector", of_miner];
    town.shows(&events, &["Started", "Evicted", UNKNOWN]).await;

    // A deployment becomes available.
    let mut deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "replicas": 2, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": runs("", &web)["spec"]},
        },
    });
    on_node(&mut deployment["spec"]["template"]["spec"], &web);
    town.apply(&deployment);
    town.until("the deployment is available", async |town| {
        let path = "/apis/apps/v1/namespaces/shop/deployments/web";
        let status = town.get(path).await?["status"].clone();
        match status["availableReplicas"] == 2 {
            true => Ok(()),
            false => Err(status.to_string()),
        }
    })
    .await;

    // Every step is there to be read: the gate's, the scheduler's and the kubelet's.
    let steps = [
        "Waiting",
        "Admitted",
        "Scheduled",
        "Pulled",
        "Started",
        "Attested",
        "locus.dev/attested",
    ];
    described(&mut town, "pod", "healthy", &steps).await;
    described(&mut town, "node", NODE, &["WorkerTrusted", "containerd://"]).await;
    described(&mut town, "agent", NODE, &["Trusted", "healthy"]).await;

    // Nothing of it stays: no process, no control group, no mount, and no other setting of the machine.
    town.must(&[
        "delete",
        "deployments,pods",
        "--all",
        "-n",
        "shop",
        "--timeout=180s",
    ]);
    let real = town.real.take().unwrap();
    let own: Vec<String> = real.pods.keys().cloned().collect();
    assert!(own.len() >= 8, "two of each pod: {own:?}");
    apart(|| drop(real));
    town.end().await;
    assert_eq!(settings(), before);
    let folder = folder.to_str().unwrap();
    let mounts = fs::read_to_string("/proc/mounts").unwrap();
    assert!(!mounts.contains(folder), "{mounts}");
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let line = fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
        assert!(!line.contains(folder), "{line}");
        let group = fs::read_to_string(process.path().join("cgroup")).unwrap_or_default();
        assert!(!own.iter().any(|id| group.contains(id)), "{group}");
    }
    for id in own {
        for place in ["/sys/fs/cgroup/k8s.io", "/sys/fs/cgroup/memory/k8s.io"] {
            let group = format!("{place}/{id}");
            assert!(!fs::exists(&group).unwrap(), "{group}");
        }
    }
}

/// Waits until `kubectl describe` shows words.
async fn described(town: &mut Town, kind: &str, name: &str, words: &[&str]) {
    town.shows(&["describe", kind, name, "-n", "shop"], words)
        .await;
}
