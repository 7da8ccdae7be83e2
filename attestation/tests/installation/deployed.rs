//! `locus deploy`, `locus gate status` and `locus gate why` with a real API server. The gate's controllers are played by the test, with
//! the rights that the installation gives them.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use control_plane::{Kubelets, Part, Shape, User};
use serde_json::{Value, json};

use crate::world::{World, digest, image};

const GATE: &str = "--as=system:serviceaccount:locus-system:locus-gate";
const SETTINGS: &str = "[kubernetes]\npod-security = \"baseline\"\n";

struct Deployed {
    world: World,
    _kubelets: Kubelets,
}

impl Deployed {
    fn start() -> Option<Self> {
        let world = World::start(&Part::ALL)?;
        let kubelets = Kubelets::start(&world.cluster, &[Shape::usual("worker-1")]).unwrap();
        world.does(&[
            "install",
            "made",
            "--image",
            &image("gate", 'a'),
            "--apply",
            "--no-webhook",
        ]);
        world.cluster.create_namespace("shop").unwrap();
        for object in [
            json!({"apiVersion": "locus.dev/v1alpha1", "kind": "InvariantSet", "metadata": {"name": "shop"}, "spec": {"namespaces": ["shop"]}}),
            json!({"apiVersion": "locus.dev/v1alpha1", "kind": "ReferenceImage", "metadata": {"name": "web"}, "spec": {"image": "web", "manifest": digest('c')}}),
            json!({"apiVersion": "locus.dev/v1alpha1", "kind": "Agent", "metadata": {"name": "worker-1"}, "spec": {"node": "worker-1", "address": "worker-1:31000"}}),
        ] {
            world.send(&["create"], &object.to_string()).unwrap();
        }
        world.write("locus.toml", SETTINGS);
        let deployed = Deployed {
            world,
            _kubelets: kubelets,
        };
        deployed.agent("Trusted", &json!([]));
        let bad = deployed.deployment("probe", "web:1", 1);
        deployed.world.until("the policies are in force", || {
            deployed
                .world
                .send(&["create", "--dry-run=server"], &bad)
                .is_err()
        });
        Some(deployed)
    }

    fn deployment(&self, name: &str, image: &str, replicas: u32) -> String {
        let labels = json!({"app": name});
        let limits = json!({"cpu": "100m", "memory": "64Mi"});
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "shop"},
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "web", "image": image, "resources": {"requests": limits, "limits": limits}}]},
            }},
        })
        .to_string()
    }

    /// What the gate says of the worker.
    fn agent(&self, trust: &str, pods: &Value) {
        let status = json!({"status": {
            "trust": trust, "reason": "everything was proven", "checked": "2026-11-18T19:00:00Z", "podCount": 1, "untrustedPods": 0, "pods": pods,
        }});
        self.as_gate(&[
            "patch",
            "agent",
            "worker-1",
            "--subresource=status",
            "--type=merge",
            "-p",
            &status.to_string(),
        ]);
    }

    fn as_gate(&self, arguments: &[&str]) {
        let mut all = arguments.to_vec();
        all.push(GATE);
        self.world.kubectl(&all);
    }

    fn begin(&self, arguments: &[&str]) -> Child {
        let program = Path::new(env!("CARGO_BIN_EXE_locus-gate"));
        Command::new(program)
            .arg("deploy")
            .args(arguments)
            .args(["--config", "locus.toml", "--kubeconfig"])
            .arg(self.world.cluster.kubeconfig(User::Admin))
            .current_dir(self.world.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn pods(&self, app: &str) -> Vec<Value> {
        let found = self
            .world
            .get(&["pods", "-n", "shop", "-l", &format!("app={app}")]);
        found["items"].as_array().unwrap().clone()
    }

    /// Does what the controllers do for the pods of a workload: lets them go.
    fn open(&self, app: &str, number: usize) -> Vec<Value> {
        self.world
            .until("pods are there", || self.pods(app).len() == number);
        for pod in self.pods(app) {
            assert_eq!(
                pod["spec"]["schedulingGates"],
                json!([{"name": "locus.dev/attestation"}])
            );
            let name = pod["metadata"]["name"].as_str().unwrap();
            self.as_gate(&[
                "patch",
                "pod",
                name,
                "-n",
                "shop",
                "--type=merge",
                "-p",
                r#"{"spec": {"schedulingGates": null}}"#,
            ]);
        }
        self.world.until("pods run", || {
            self.pods(app)
                .iter()
                .all(|pod| pod["status"]["phase"] == "Running")
        });
        self.pods(app)
    }

    /// Says of pods what the verifier concluded.
    fn conclude(&self, pods: &[Value], trust: &str, reason: &str) {
        let told = pods.iter().map(|pod| {
            json!({
                "uid": pod["metadata"]["uid"], "namespace": "shop", "name": pod["metadata"]["name"], "trust": trust, "reason": reason,
            })
        });
        self.agent("Trusted", &told.collect());
        for pod in pods.iter().filter(|_| trust == "Trusted") {
            let name = pod["metadata"]["name"].as_str().unwrap();
            let said = json!({"status": {"conditions": [{"type": "locus.dev/attested", "status": "True", "reason": "Attested", "message": reason}]}});
            self.as_gate(&[
                "patch",
                "pod",
                name,
                "-n",
                "shop",
                "--subresource=status",
                "--type=strategic",
                "-p",
                &said.to_string(),
            ]);
        }
    }
}

fn ended(child: Child) -> (i32, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (status.code().unwrap(), text(&stdout), text(&stderr))
}

#[test]
fn what_is_deployed_is_checked_applied_and_attested() {
    let Some(deployed) = Deployed::start() else {
        return;
    };
    let world = &deployed.world;
    let good = format!("registry.example/web@{}", digest('c'));
    healthy(&deployed, &good);
    // A manifest that breaks a rule goes nowhere.
    let bad = deployed
        .deployment("bad", &good, 1)
        .replace("\"containers\"", "\"hostNetwork\": true, \"containers\"");
    let file = world.write("bad.json", &bad);
    let (code, told, _) = ended(deployed.begin(&[&file]));
    assert_eq!(code, 1, "{told}");
    assert!(
        told.contains("K8S101") && told.contains("nothing was sent to the cluster"),
        "{told}"
    );
    assert!(deployed.pods("bad").is_empty());
    // One that only the cluster's rules refuse is refused there.
    let tagged = world.write(
        "tagged.json",
        &deployed.deployment("tagged", "registry.example/web:1.2", 1),
    );
    let (code, told, said) = ended(deployed.begin(&[&tagged]));
    assert_eq!(code, 1, "{told}{said}");
    assert!(
        told.contains("model check: failed in the cluster") && told.contains("image-digest"),
        "{told}"
    );
    // A pod that runs what it should not.
    let evil = world.write("evil.json", &deployed.deployment("evil", &good, 1));
    let running = deployed.begin(&[&evil]);
    let pods = deployed.open("evil", 1);
    deployed.conclude(
        &pods,
        "Untrusted",
        "it ran `/miner`, which its images do not contain",
    );
    let (code, told, said) = ended(running);
    assert_eq!(code, 4, "{told}{said}");
    assert!(
        told.contains("attestation: failed") && told.contains("/miner"),
        "{told}"
    );
    why(&deployed, &pods);
    // The gate does not let it go: its event says why, also when the pod is gone.
    let stuck = world.write("stuck.json", &deployed.deployment("stuck", &good, 1));
    let running = deployed.begin(&[&stuck]);
    world.until("the pod is there", || deployed.pods("stuck").len() == 1);
    let pod = &deployed.pods("stuck")[0];
    let event = json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "stuck.1", "namespace": "shop"},
        "eventTime": "2026-11-18T19:00:00.000000Z", "reportingController": "locus.dev/gate", "reportingInstance": "locus-gate",
        "action": "Refused", "reason": "Refused", "note": "K8S035 at spec: more is asked for than may be used", "type": "Warning",
        "regarding": {"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "namespace": "shop", "uid": pod["metadata"]["uid"]},
    });
    world.send(&["create"], &event.to_string()).unwrap();
    let (code, told, said) = ended(running);
    assert_eq!(code, 1, "{told}{said}");
    assert!(told.contains("K8S035"), "{told}");
    // Nobody lets the next one go: there is no verdict in time.
    let late = world.write("late.json", &deployed.deployment("late", &good, 1));
    let (code, told, _) = ended(deployed.begin(&[&late, "--timeout", "15"]));
    assert_eq!(code, 2, "{told}");
    assert!(
        told.contains("no verdict in time") && told.contains("waits for the model check"),
        "{told}"
    );
    // What cannot be done is neither verdict.
    let (code, _, said) = ended(deployed.begin(&["nothing.yaml"]));
    assert_ne!(code, 0, "{said}");
    let (code, _, _) = ended(deployed.begin(&["--key", "k.pem", &late]));
    assert_eq!(code, 3, "a key without a tenant");
}

fn healthy(deployed: &Deployed, good: &str) {
    let world = &deployed.world;
    let file = world.write("web.json", &deployed.deployment("web", good, 2));
    let running = deployed.begin(&[&file]);
    let pods = deployed.open("web", 2);
    deployed.conclude(&pods, "Trusted", "everything was proven");
    let (code, told, said) = ended(running);
    assert_eq!(code, 0, "{told}{said}");
    assert!(
        told.contains("model check: passed, 1 object applied"),
        "{told}"
    );
    assert!(
        told.contains("attestation: passed, 2 of 2 pods attested, all ready"),
        "{told}"
    );
    // Whether it sees a pod wait for the gate depends on who looks first; below, one waits until the end.
    assert!(said.contains("attested and ready"), "{said}");
    // Once more changes nothing, and is as good.
    let (code, told, said) = ended(deployed.begin(&[&file]));
    assert_eq!(code, 0, "{told}{said}");
    let status = world.gate(&["status"]);
    let told = String::from_utf8_lossy(&status.stdout).into_owned();
    assert_eq!(status.status.code(), Some(0), "{told}");
    assert!(
        told.starts_with("workers: 1 trusted, 0 unknown, 0 untrusted\npods: 2 trusted, 0 not\n"),
        "{told}"
    );
    let name = pods[0]["metadata"]["name"].as_str().unwrap();
    let told = world.does(&["why", &format!("shop/{name}")]);
    assert!(
        told.contains(&format!("pod `shop/{name}` is Trusted")),
        "{told}"
    );
    assert!(!told.contains("FAILS"), "{told}");
}

/// What is said of a pod that failed.
fn why(deployed: &Deployed, pods: &[Value]) {
    let world = &deployed.world;
    let name = pods[0]["metadata"]["name"].as_str().unwrap();
    let subject = format!("shop/{name}");
    let told = world.does(&["why", &subject]);
    for part in [
        "is Untrusted",
        "it fails by: evidence",
        "/miner",
        "InvariantSet `shop` enforces",
        "ReferenceImage `web`",
        "`worker-1` is Trusted",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let told: Value =
        serde_json::from_str(&world.does(&["why", &subject, "--format", "json"])).unwrap();
    assert_eq!(told["failed"], "evidence");
    let about: Vec<&str> = told["chain"]
        .as_array()
        .unwrap()
        .iter()
        .map(|link| link["about"].as_str().unwrap())
        .collect();
    assert_eq!(about, ["rules", "images", "tenant", "worker", "evidence"]);
    let status = world.gate(&["status", "--format", "json"]);
    assert_eq!(status.status.code(), Some(1));
    let told: Value = serde_json::from_slice(&status.stdout).unwrap();
    let lines = told["pods"].as_array().unwrap();
    assert!(
        lines
            .iter()
            .any(|line| line["pod"] == subject.as_str() && line["trust"] == "Untrusted"),
        "{told:#}"
    );
    let missing = world.gate(&["why", "shop/nothing"]);
    assert_eq!(missing.status.code(), Some(2));
}
