//! `locus deploy` against the real controllers: what the exit code says, signed workloads, and tenants that share a cluster.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use hyper::Method;
use locus_attestation::evidence::jws::{TokenKey, public_key_to_pem};
use locus_attestation::net::Role;
use serde_json::{Value, json};

use crate::town::{Town, apart, spec};
use crate::world::content;

fn deployment(namespace: &str, name: &str, replicas: i64) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": spec()},
        },
    })
}

/// Deploys an object; the exit code, and what was said.
async fn deploy(town: &mut Town, object: &Value, more: &[&str]) -> (i32, String) {
    let folder = town.world.folder.path().to_owned();
    let (file, told) = (folder.join("deployed.json"), folder.join("deployed.log"));
    fs::write(&file, object.to_string()).unwrap();
    let settings = folder.join("locus.toml");
    fs::write(&settings, "[kubernetes]\npod-security = \"baseline\"\n").unwrap();
    let log = File::create(&told).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_locus-gate"))
        .arg("deploy")
        .arg(&file)
        .args(more)
        .args([Path::new("--config"), &settings])
        .arg("--kubeconfig")
        .arg(town.admin_kubeconfig())
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap();
    let mut ended = None;
    let name = object["metadata"]["name"].as_str().unwrap();
    town.until(&format!("{name} is deployed, or not"), async |_| {
        ended = child.try_wait().unwrap();
        match ended {
            Some(_) => Ok(()),
            None => Err(fs::read_to_string(&told).unwrap()),
        }
    })
    .await;
    let code = ended.unwrap().code().unwrap();
    (code, fs::read_to_string(&told).unwrap())
}

/// The exit code says which of the two verdicts failed.
pub(crate) async fn the_exit_code_says_which_verdict_failed(town: &mut Town) {
    let (code, told) = deploy(town, &deployment("shop", "fine", 2), &[]).await;
    assert_eq!(code, 0, "{told}");
    let passed = [
        "model check: passed, 1 object applied",
        "attestation: passed, 2 of 2 pods attested, all ready",
    ];
    assert!(passed.iter().all(|words| told.contains(words)), "{told}");

    let mut wrong = deployment("shop", "wrong", 1);
    wrong["spec"]["template"]["spec"]["hostNetwork"] = json!(true);
    let (code, told) = deploy(town, &wrong, &[]).await;
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("nothing was sent to the cluster"), "{told}");

    let mut unknown = deployment("shop", "unknown", 1);
    let image = format!("registry.example/x@{}", content("unknown"));
    unknown["spec"]["template"]["spec"]["containers"][0]["image"] = json!(image);
    let (code, told) = deploy(town, &unknown, &[]).await;
    assert_eq!(code, 1, "{told}");
    assert!(
        told.contains("model check: failed in the cluster") && told.contains("image-unknown"),
        "{told}"
    );

    let mut evil = deployment("shop", "evil", 1);
    evil["spec"]["template"]["metadata"]["annotations"] = json!({"runs": "miner"});
    let (code, told) = deploy(town, &evil, &[]).await;
    assert_eq!(code, 4, "{told}");
    assert!(
        told.contains("attestation: failed") && told.contains("/usr/bin/miner"),
        "{told}"
    );
    let all = ["delete", "deployments", "fine", "evil", "-n", "shop"];
    town.must(&all);
}

/// A tenant with a namespace of its own.
struct Tenant {
    name: &'static str,
    id: String,
    key: PathBuf,
    credentials: PathBuf,
}

impl Tenant {
    async fn enter(town: &mut Town, name: &'static str) -> Tenant {
        let key = TokenKey::generate().unwrap();
        let path = town.world.folder.path().join(format!("{name}.key"));
        fs::write(&path, key.to_pem().unwrap().as_bytes()).unwrap();
        let public = public_key_to_pem(&key.public()).unwrap();
        let body = json!({"name": name, "public_key": public});
        let entered = town.world.operate(Method::POST, "/v1/tenants", body).await;
        assert!(entered.0.is_success(), "{}", entered.1);
        // Its certificate, which only opens the connection.
        town.world.client(Role::Tenant, name);
        let credentials = town.world.folder.path();
        let credentials = credentials.join(format!("client-tenant-{name}"));
        town.cluster.create_namespace(name).unwrap();
        town.apply(&json!({
            "apiVersion": "locus.dev/v1alpha1", "kind": "InvariantSet", "metadata": {"name": name},
            "spec": {"namespaces": [name], "tenants": [name]},
        }));
        Tenant {
            name,
            id: entered.1["id"].as_str().unwrap().to_owned(),
            key: path,
            credentials,
        }
    }

    /// Deploys a workload in its namespace, signed.
    async fn deploys(&self, town: &mut Town, name: &str) {
        let object = deployment(self.name, name, 1);
        town.until(
            "an unsigned workload is refused for that alone",
            async |town| {
                let said = town.refuse(&object);
                match said.contains("is not signed") {
                    true => Ok(()),
                    false => Err(said),
                }
            },
        )
        .await;
        let key = self.key.to_str().unwrap();
        let signed = ["--key", key, "--tenant", &self.id];
        // Who the tenants are is looked up every second.
        for _ in 0..20 {
            let (code, told) = deploy(town, &object, &signed).await;
            if !told.contains("a key that is not trusted here") {
                assert_eq!(code, 0, "{told}");
                return;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        panic!("the tenant is not known");
    }

    /// The one pod in its namespace.
    async fn pod(&self, town: &Town) -> Value {
        let path = format!("/api/v1/namespaces/{}/pods", self.name);
        let pods = town.list(&path).await.unwrap();
        let [pod] = &pods[..] else {
            panic!("{pods:?}");
        };
        pod.clone()
    }

    /// Asks the gate itself for a pod, signed with its key, as whom it says.
    fn asks(&self, town: &Town, tenant: &str, pod: &Value) -> (Option<i32>, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_locus-gate"))
            .arg("tenant-attest")
            .arg(pod["metadata"]["uid"].as_str().unwrap())
            .args(["--tenant", tenant, "--gate", &town.world.gate_address])
            .args([Path::new("--key"), &self.key])
            .args([Path::new("--credentials"), &self.credentials])
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    }
}

/// Two tenants in one cluster: each hears of its own pods, and of no others. The pods that were asked for; the answer about
/// one that the asker has not takes a while.
pub(crate) async fn tenants_hear_of_their_own_pods_alone(town: &mut Town) -> [Value; 2] {
    let (acme, umbrella) = (
        Tenant::enter(town, "acme").await,
        Tenant::enter(town, "umbrella").await,
    );
    acme.deploys(town, "web").await;
    umbrella.deploys(town, "web").await;
    let pods = [acme.pod(town).await, umbrella.pod(town).await];
    for (pod, tenant) in pods.iter().zip([&acme, &umbrella]) {
        assert_eq!(
            pod["metadata"]["annotations"]["locus.dev/tenant"],
            tenant.id.as_str()
        );
    }

    // Through the API server: a request in one's own namespace is about its pods, whatever UID it names.
    let ask = |name: &str, tenant: &Tenant, pod: &Value| {
        json!({
            "apiVersion": "locus.dev/v1alpha1", "kind": "AttestationRequest",
            "metadata": {"name": name, "namespace": tenant.name},
            "spec": {"pod": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]},
        })
    };
    town.apply(&ask("own", &acme, &pods[0]));
    town.apply(&ask("others", &acme, &pods[1]));

    // At the gate: signed by the pod's tenant, as that tenant.
    let (code, told) = apart(|| acme.asks(town, "acme", &pods[0]));
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("is trusted"), "{told}");
    for (tenant, pod) in [("acme", &pods[1]), ("umbrella", &pods[1])] {
        let (code, told) = apart(|| acme.asks(town, tenant, pod));
        assert_ne!(code, Some(0), "{told}");
        assert!(!told.contains("trusted") && !told.contains("web"), "{told}");
    }

    // With the rights of somebody who has a namespace: the other's requests, and the Agents, which have all pods, are not shown.
    let role = [
        "create",
        "rolebinding",
        "acme",
        "-n",
        "acme",
        "--clusterrole=admin",
        "--user=nobody",
    ];
    town.must(&role);
    let who = [
        "create",
        "role",
        "requests",
        "-n",
        "acme",
        "--verb=*",
        "--resource=attestationrequests.locus.dev",
    ];
    town.must(&who);
    town.must(&[
        "create",
        "rolebinding",
        "requests",
        "-n",
        "acme",
        "--role=requests",
        "--user=nobody",
    ]);
    town.must(&[
        "get",
        "attestationrequests,events,pods",
        "-n",
        "acme",
        "--as=nobody",
    ]);
    for what in [
        &["get", "attestationrequests", "-n", "umbrella"][..],
        &["get", "events", "-n", "umbrella"],
        &["get", "pods", "-A"],
        &["get", "agents"],
    ] {
        let said = town.refused(&[what, &["--as=nobody"]].concat());
        assert!(said.contains("forbidden"), "{said}");
    }

    // Its pod goes with what is replayed now: it is answered before.
    town.until("the request for its own pod is answered", async |town| {
        let status = asked_for(town, "own").await?;
        match status["trust"].is_string() {
            true => Ok(()),
            false => Err(status.to_string()),
        }
    })
    .await;
    replayed(town, &acme).await;
    pods
}

/// What became of a request of the first tenant.
async fn asked_for(town: &Town, name: &str) -> Result<Value, String> {
    let path = format!("/apis/locus.dev/v1alpha1/namespaces/acme/attestationrequests/{name}");
    let request = town.get(&path).await;
    request.map(|request| request["status"].clone())
}

/// What a tenant is told of its own pod, and of another's.
pub(crate) async fn and_are_told_nothing_of_others(town: &mut Town, pods: &[Value; 2]) {
    let mut answers = Vec::new();
    town.until("both requests are answered", async |town| {
        answers = vec![
            asked_for(town, "own").await?,
            asked_for(town, "others").await?,
        ];
        match answers.iter().all(|answer| answer["trust"].is_string()) {
            true => Ok(()),
            false => Err(format!("{answers:?}")),
        }
    })
    .await;
    assert_eq!(answers[0]["trust"], "Trusted", "{answers:?}");
    assert_eq!(answers[1]["trust"], "Unknown", "{answers:?}");
    assert!(answers[1]["token"].is_null(), "{answers:?}");
    let said = answers[1]["reason"].as_str().unwrap();
    assert!(said.contains("there is no pod"), "{said}");
    let events = town.must(&["get", "events", "-n", "acme", "-o", "json"]);
    let other = pods[1]["metadata"]["uid"].as_str().unwrap();
    assert!(!events.contains(other), "{events}");
}

/// A signature counts once, and for what was signed: whoever has it cannot use it again.
async fn replayed(town: &mut Town, tenant: &Tenant) {
    let path = format!("/apis/apps/v1/namespaces/{}/deployments/web", tenant.name);
    let mut signed = town.get(&path).await.unwrap();
    let metadata = signed["metadata"].as_object_mut().unwrap();
    for written in [
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "generation",
        "managedFields",
    ] {
        metadata.remove(written);
    }
    signed.as_object_mut().unwrap().remove("status");
    assert!(signed["metadata"]["annotations"]["locus.dev/signature"].is_string());
    town.must(&["delete", "deployment", "web", "-n", tenant.name]);
    let said = town.refuse(&signed);
    assert!(said.contains("was sent before"), "{said}");
    signed["metadata"]["name"] = json!("other");
    let said = town.refuse(&signed);
    assert!(
        said.contains("signature") && !said.contains("was sent before"),
        "{said}"
    );
}
