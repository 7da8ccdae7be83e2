//! What is refused at the door of a real API server, each named after what somebody wanted.

use std::time::Duration;

use control_plane::Part;
use locus_attestation::cluster::serve::RunningCluster;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::town::{Town, is_there, pod, spec};
use crate::world::content;

fn deployment(name: &str, replicas: i64) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": spec()},
        },
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_gets_in_past_the_gate() {
    if !is_there() {
        return;
    }
    let mut town = Town::new(&Part::ALL).await;

    // A rule that is broken is named, with the place, the line and what to do.
    let mut wrong = pod("privileged");
    wrong["spec"]["containers"][0]["securityContext"]["privileged"] = json!(true);
    wrong["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = json!(true);
    let said = town.refuse(&wrong);
    for word in [
        "is refused by Locus",
        "privileged",
        "spec.containers[0]",
        "line ",
        "to fix it",
    ] {
        assert!(said.contains(word), "{word}: {said}");
    }

    // Images: by tag, unknown, and in every place of a pod.
    let mut tag = pod("tag");
    tag["spec"]["containers"][0]["image"] = json!("registry.example/redis:7");
    assert!(town.refuse(&tag).contains("image-digest"));
    let unknown = format!("registry.example/x@{}", content("unknown"));
    let mut init = pod("init");
    let mut container = init["spec"]["containers"][0].clone();
    container["name"] = json!("setup");
    container["image"] = json!(unknown);
    init["spec"]["initContainers"] = json!([container]);
    let said = town.refuse(&init);
    assert!(
        said.contains("image-unknown") && said.contains("spec.initContainers[0].image"),
        "{said}"
    );
    let mut unknown_deployment = deployment("unknown", 1);
    unknown_deployment["spec"]["template"]["spec"]["containers"][0]["image"] = json!(unknown);
    assert!(town.refuse(&unknown_deployment).contains("image-unknown"));

    // A namespace that nobody enrolled.
    town.cluster.create_namespace("side").unwrap();
    let mut side = pod("side");
    side["metadata"]["namespace"] = json!("side");
    assert!(
        town.refuse(&side)
            .contains("no InvariantSet names the namespace")
    );

    // A pod that chooses its node.
    let mut chosen = pod("chosen");
    chosen["spec"]["nodeName"] = json!("worker-1");
    assert!(town.refuse(&chosen).contains("node-name"));

    // What is let in is held back: its gates are not its maker's to take away.
    town.apply(&pod("held"));
    let held = town.pod("held").await.unwrap();
    assert_eq!(
        held["spec"]["schedulingGates"][0]["name"],
        "locus.dev/attestation"
    );
    assert_eq!(
        held["spec"]["readinessGates"][0]["conditionType"],
        "locus.dev/attested"
    );
    let take = r#"[{"op": "remove", "path": "/spec/schedulingGates/0"}]"#;
    let said = town.refused(&[
        "patch",
        "pod",
        "held",
        "-n",
        "shop",
        "--type=json",
        "-p",
        take,
    ]);
    assert!(said.contains("only the gate takes away"), "{said}");

    // Bound by hand, through both ways that there are.
    let binding = json!({
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "held", "namespace": "shop"},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "worker-1"},
    });
    let path = town.cluster.folder().join("binding.json");
    std::fs::write(&path, binding.to_string()).unwrap();
    let path = path.to_str().unwrap();
    for place in ["pods/held/binding", "bindings"] {
        let raw = format!("/api/v1/namespaces/shop/{place}");
        town.until("the binding is refused for its worker", async |town| {
            let said = town.refused(&["create", "--raw", &raw, "-f", path]);
            match said.contains("not trusted") {
                true => Ok(()),
                false => Err(format!("{place}: {said}")),
            }
        })
        .await;
    }

    smuggled(&town);

    // Readiness that was not earned.
    let forged = r#"{"status": {"conditions": [{"type": "locus.dev/attested", "status": "True", "reason": "Forged"}]}}"#;
    let forge = [
        "patch",
        "pod",
        "held",
        "-n",
        "shop",
        "--subresource=status",
        "-p",
        forged,
    ];
    let said = town.refused(&forge);
    assert!(
        said.contains("only the gate writes the condition"),
        "{said}"
    );
    // Other conditions are the kubelet's.
    let others = r#"{"status": {"conditions": [{"type": "Initialized", "status": "True"}]}}"#;
    town.must(&[
        "patch",
        "pod",
        "held",
        "-n",
        "shop",
        "--subresource=status",
        "-p",
        others,
    ]);

    // A debugging container with an image of one's own.
    let image = format!("--image={unknown}");
    let said = town.refused(&["debug", "held", "-n", "shop", &image, "-c", "debugger"]);
    assert!(said.contains("image-unknown"), "{said}");

    // More replicas of what the rules do not allow any more; fewer are always allowed.
    let mut web = deployment("web", 1);
    web["spec"]["template"]["spec"]["containers"][0]["securityContext"]["capabilities"] =
        Value::Null;
    town.apply(&web);
    let stricter = |level: &str| format!(r#"{{"spec": {{"podSecurity": "{level}"}}}}"#);
    let set = ["patch", "invariantset", "shop", "--type=merge", "-p"];
    town.must(&[&set[..], &[&stricter("restricted")]].concat());
    town.until("stricter rules are in force", async |town| {
        let said = town.kubectl(&["scale", "deployment", "web", "-n", "shop", "--replicas=2"]);
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        match said.contains("refused by Locus") && said.contains("capabilities") {
            true => Ok(()),
            false => {
                town.must(&["scale", "deployment", "web", "-n", "shop", "--replicas=1"]);
                Err(said)
            }
        }
    })
    .await;
    town.must(&["scale", "deployment", "web", "-n", "shop", "--replicas=0"]);
    town.must(&[&set[..], &[&stricter("baseline")]].concat());

    // A node that says that it is trusted.
    town.join("worker-1").await;
    town.trusts("worker-1", "Trusted").await;
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "rogue"}});
    town.apply(&node);
    let taints = town.get("/api/v1/nodes/rogue").await.unwrap()["spec"]["taints"].to_string();
    assert!(taints.contains("locus.dev/untrusted"), "{taints}");
    let said = town.refused(&["taint", "node", "rogue", "locus.dev/untrusted-"]);
    assert!(said.contains("only the gate takes the taint"), "{said}");

    // A mirror pod that no node made.
    let mut mirror = pod("mirror");
    mirror["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "x"});
    mirror["spec"]["nodeName"] = json!("worker-1");
    let said = town.refuse(&mirror);
    assert!(said.contains("only a node makes"), "{said}");

    let second = Second::start(&town).await;
    let before = Second::holder(&town).await.unwrap();
    // Up to now the first one acts.
    assert!(before.2.contains(&town.admission) && !before.0.is_empty());
    let verifier = second.gate.gate.verifier.clone().unwrap();
    assert_eq!(verifier.workers().unwrap().items.len(), 0);

    // The gate is away: nothing gets in, whoever asks.
    town.gate.take().unwrap().kill().await;
    let said = town.refuse(&pod("meanwhile"));
    assert!(said.contains("failed calling webhook"), "{said}");
    let said = town.refused(&[
        "annotate",
        "pod",
        "held",
        "-n",
        "shop",
        "locus.dev/tenant=mine",
    ]);
    assert!(said.contains("failed calling webhook"), "{said}");
    let said = town.refused(&forge);
    assert!(said.contains("failed calling webhook"), "{said}");
    // And kubelets go on saying how their pods are.
    town.must(&[
        "patch",
        "pod",
        "held",
        "-n",
        "shop",
        "--subresource=status",
        "-p",
        others,
    ]);
    second.takes_over(&mut town, before).await;
    town.end().await;
}

/// What somebody wants to write into a pod or a workload by a way that is for something else.
fn smuggled(town: &Town) {
    let path = town.cluster.folder().join("smuggling.json");
    let path = path.to_str().unwrap();
    for (place, key) in [
        ("annotations", "locus.dev/tenant"),
        ("annotations", "kubernetes.io/config.mirror"),
        ("labels", "app"),
    ] {
        let binding = json!({
            "apiVersion": "v1", "kind": "Binding",
            "metadata": {"name": "held", "namespace": "shop", place: {key: "mine"}},
            "target": {"apiVersion": "v1", "kind": "Node", "name": "worker-1"},
        });
        std::fs::write(path, binding.to_string()).unwrap();
        for place in ["pods/held/binding", "bindings"] {
            let raw = format!("/api/v1/namespaces/shop/{place}");
            let said = town.refused(&["create", "--raw", &raw, "-f", path]);
            assert!(said.contains("a binding does not write"), "{place}: {said}");
        }
    }
    let patch = |kind: &str, name: &str, metadata: Value| {
        let metadata = json!({"metadata": metadata}).to_string();
        let all = ["patch", kind, name, "-n", "shop", "--subresource=status"];
        town.refused(&[&all[..], &["--type=merge", "-p", &metadata]].concat())
    };
    let said = patch("pod", "held", json!({"labels": {"app": "other"}}));
    assert!(said.contains("by way of its status"), "{said}");
    let said = patch(
        "pod",
        "held",
        json!({"annotations": {"locus.dev/tenant": "mine"}}),
    );
    assert!(said.contains("does not change"), "{said}");
    let mut none = deployment("none", 0);
    none["kind"] = json!("ReplicaSet");
    town.apply(&none);
    let owner = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "x", "uid": "x", "controller": true}]);
    for metadata in [
        json!({"labels": {"app": "other"}}),
        json!({"ownerReferences": owner}),
        json!({"annotations": {"locus.dev/signature": "x"}}),
    ] {
        let said = patch("replicaset", "none", metadata);
        assert!(said.contains("by way of the status"), "{said}");
    }
}

/// A second gate of the same installation, with databases of its own. Of the two, one acts.
struct Second {
    gate: RunningCluster,
    admission: String,
    _folder: TempDir,
}

impl Second {
    async fn start(town: &Town) -> Second {
        let folder = tempfile::tempdir().unwrap();
        let first = town.world.folder.path().join("gate");
        for file in std::fs::read_dir(first).unwrap().flatten() {
            let name = file.file_name().into_string().unwrap();
            if name.ends_with(".pem") || name.ends_with(".key") {
                std::fs::copy(file.path(), folder.path().join(name)).unwrap();
            }
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let admission = listener.local_addr().unwrap().to_string();
        drop(listener);
        let gate = town.gate_of(folder.path(), &admission).await;
        Second {
            gate,
            admission,
            _folder: folder,
        }
    }

    /// The holder of the Lease, how often it changed, and where the API server finds the webhooks.
    async fn holder(town: &Town) -> Result<(String, i64, String), String> {
        let lease = "/apis/coordination.k8s.io/v1/namespaces/locus-system/leases/locus-gate";
        let lease = town.get(lease).await?["spec"].clone();
        let webhooks =
            "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/locus-gate";
        let webhooks = town.get(webhooks).await?["webhooks"][0]["clientConfig"]["url"].clone();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let changed = lease["leaseTransitions"].as_i64().unwrap_or_default();
        Ok((text(&lease["holderIdentity"]), changed, text(&webhooks)))
    }

    /// It did nothing as long as the first was there, and does everything when it is gone.
    async fn takes_over(self, town: &mut Town, (first, changed, _): (String, i64, String)) {
        // The Lease has to run out, which takes no processor.
        town.rest(Duration::from_secs(12), async |_| {}).await;
        town.until("the second gate has the Lease", async |town| {
            let (holder, now, url) = Second::holder(town).await?;
            match holder != first && now == changed + 1 && url.contains(&self.admission) {
                true => Ok(()),
                false => Err(format!("{holder} {now} {url}")),
            }
        })
        .await;
        town.until("it answers for what gets in", async |town| {
            let mut tag = pod("tag");
            tag["spec"]["containers"][0]["image"] = json!("registry.example/redis:7");
            let said = town.refuse(&tag);
            match said.contains("image-digest") {
                true => Ok(()),
                false => Err(said),
            }
        })
        .await;
        // What the first one knew of the worker is in its databases.
        town.until("it acts for the workers", async |town| {
            let agent = town.get("/apis/locus.dev/v1alpha1/agents/worker-1").await?;
            let node = town.get("/api/v1/nodes/worker-1").await?;
            let taints = node["spec"]["taints"].to_string();
            match agent["status"]["trust"] == "Unknown" && taints.contains("locus.dev/untrusted") {
                true => Ok(()),
                false => Err(format!("{} {taints}", agent["status"])),
            }
        })
        .await;
        self.gate.stop().await;
    }
}
