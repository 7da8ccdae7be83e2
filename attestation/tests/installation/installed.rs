//! A real API server takes the installation, gives agents their certificates for their tokens, and is left as it was.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};

use control_plane::{Part, User};
use serde_json::Value;

use crate::world::{World, digest, image};

/// A gate that ends with its test, also with one that fails.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Everything in the cluster that is not written by the cluster itself all the time.
fn everything(world: &World) -> BTreeSet<String> {
    let listed = world.kubectl(&["api-resources", "--verbs=list", "-o", "name"]);
    let kinds: Vec<&str> = listed
        .lines()
        .filter(|kind| !kind.starts_with("events") && !kind.contains("metrics"))
        .collect();
    let all = world.get(&["-A", &kinds.join(",")]);
    let items = all["items"].as_array().unwrap();
    items
        .iter()
        .map(|item| {
            let part = |key: &str| {
                item["metadata"][key]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            };
            let kind = item["kind"].as_str().unwrap();
            format!("{kind} {} {}", part("namespace"), part("name"))
        })
        .collect()
}

/// Everything, once the cluster itself makes no more of it: its controllers' accounts come one by one.
fn settled(world: &World) -> BTreeSet<String> {
    let mut before = everything(world);
    let mut same = 0;
    world.until("the cluster has all that it makes itself", || {
        std::thread::sleep(std::time::Duration::from_secs(1));
        let now = everything(world);
        same = if now == before { same + 1 } else { 0 };
        before = now;
        let spaces: Vec<_> = before
            .iter()
            .filter(|one| one.starts_with("Namespace "))
            .collect();
        let accounts = before
            .iter()
            .filter(|one| one.starts_with("ServiceAccount ") && one.ends_with(" default"));
        same >= 4 && spaces.len() == accounts.count()
    });
    before
}

#[test]
fn all_of_it_is_taken_and_nothing_is_left_behind() {
    let Some(world) = World::start(&[Part::Etcd, Part::ApiServer, Part::ControllerManager]) else {
        return;
    };
    world.cluster.wait_namespace("default").unwrap();
    let node = r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-1"},
        "spec": {"taints": [{"key": "mine", "effect": "NoSchedule"}, {"key": "locus.dev/untrusted", "effect": "NoSchedule"}]}}"#;
    world.send(&["create"], node).unwrap();
    let before = settled(&world);
    let (gate, agent) = (image("gate", 'a'), image("agent", 'b'));
    let arguments = ["--image", &gate, "--agent-image", &agent];
    let install = |more: &[&str]| {
        let mut all = vec!["install", "made"];
        all.extend(arguments);
        all.extend(more);
        world.does(&all)
    };
    // What is printed is what a server takes, field by field.
    let printed = install(&[]);
    let definitions = install(&["--only", "definitions"]);
    assert!(printed.starts_with(&definitions));
    world
        .send(
            &["apply", "--server-side", "--validate=strict"],
            &definitions,
        )
        .unwrap();
    world.kubectl(&[
        "wait",
        "--for=condition=Established",
        "crd",
        "--all",
        "--timeout=180s",
    ]);
    let first = install(&["--apply", "--no-webhook"]);
    let again = install(&["--apply"]);
    assert!(
        again.len() > first.len(),
        "the webhook configurations come on top"
    );
    let taken = world.send(
        &[
            "apply",
            "--dry-run=server",
            "--server-side",
            "--force-conflicts",
            "--validate=strict",
        ],
        &printed,
    );
    taken.unwrap();
    // The same folder has the same keys, and the authority's stays in it.
    let secret = world.get(&["secret", "-n", "locus-system", "locus-gate"]);
    let data = secret["data"].as_object().unwrap();
    assert!(data.contains_key("gate.key") && data.contains_key("agents-ca.key"));
    assert!(!data.contains_key("ca.key") && !printed.contains("ca.key:\n"));
    assert_eq!(install(&[]), printed);
    // With the webhook there and nobody to answer, nothing gets in but the gate itself.
    let pod = |space: &str, image: &str, more: &str| {
        format!(
            r#"{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "p", "namespace": "{space}"}}, "spec": {{
            "securityContext": {{"runAsNonRoot": true, "runAsUser": 1, "seccompProfile": {{"type": "RuntimeDefault"}}}},
            "containers": [{{"name": "c", "image": "{image}", "securityContext": {{"allowPrivilegeEscalation": false,
            "capabilities": {{"drop": ["ALL"]}}}}}}{more}]}}}}"#
        )
    };
    let refused = world
        .send(&["create"], &pod("default", &gate, ""))
        .unwrap_err();
    assert!(refused.contains("failed calling webhook"), "{refused}");
    world
        .send(&["create"], &pod("locus-system", &gate, ""))
        .unwrap();
    for other in [
        pod("locus-system", &image("other", 'c'), ""),
        pod(
            "locus-system",
            &gate,
            r#", {"name": "d", "image": "other"}"#,
        ),
    ] {
        let refused = world
            .send(&["create", "--dry-run=server"], &other)
            .unwrap_err();
        assert!(refused.contains("failed calling webhook"), "{refused}");
    }
    // The controllers of the cluster make the gate's own pods meanwhile.
    world.until("the pod of the gate", || {
        let pods = world.get(&["pods", "-n", "locus-system"]);
        let items = pods["items"].as_array().unwrap();
        items
            .iter()
            .any(|pod| pod["metadata"]["name"] == "locus-gate-0")
    });
    let removed = world.does(&["uninstall"]);
    assert!(removed.contains("taint taken away"), "{removed}");
    let left: Vec<String> = everything(&world).difference(&before).cloned().collect();
    assert_eq!(left, Vec::<String>::new());
    // A node that nobody answers for gets taints of the cluster, too.
    let taints = world.get(&["node", "worker-1"])["spec"]["taints"].clone();
    let has = |key: &str| {
        taints
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["key"] == key)
    };
    assert!(has("mine") && !has("locus.dev/untrusted"), "{taints}");
    // Once more finds nothing to do.
    assert_eq!(world.does(&["uninstall"]), "");
}

/// The token of a pod, as a kubelet asks for it.
fn token(world: &World, space: &str, account: &str, pod: Option<&str>, audience: &str) -> String {
    let mut all = vec![
        "create",
        "token",
        account,
        "-n",
        space,
        "--audience",
        audience,
    ];
    if let Some(pod) = pod {
        all.extend(["--bound-object-kind", "Pod", "--bound-object-name", pod]);
    }
    world.kubectl(&all).trim().to_owned()
}

#[test]
fn an_agent_gets_a_certificate_for_the_node_of_its_token_alone() {
    let Some(world) = World::start(&Part::SERVER) else {
        return;
    };
    let gate = image("gate", 'a');
    world.does(&[
        "install",
        "made",
        "--image",
        &gate,
        "--apply",
        "--no-webhook",
    ]);
    let tainted = r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-1"},
        "spec": {"taints": [{"key": "locus.dev/untrusted", "effect": "NoSchedule"}]}}"#;
    world.send(&["create"], tainted).unwrap();
    for (space, account) in [("locus-agents", "locus-agent"), ("default", "locus-agent")] {
        let made = format!(
            r#"{{"apiVersion": "v1", "kind": "List", "items": [
            {{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {{"name": "{account}", "namespace": "{space}"}}}},
            {{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "p", "namespace": "{space}"}},
            "spec": {{"nodeName": "worker-1", "serviceAccountName": "{account}", "automountServiceAccountToken": false,
            "containers": [{{"name": "c", "image": "x@{}"}}]}}}}]}}"#,
            digest('c')
        );
        world.send(&["apply"], &made).unwrap();
    }
    // The gate as it runs in the cluster, with the rights that it has there.
    let account = token(
        &world,
        "locus-system",
        "locus-gate",
        None,
        &world.cluster.url(),
    );
    let config = own_kubeconfig(&world, &account);
    let (listen, health) = (free(), free());
    let served = Command::new(env!("CARGO_BIN_EXE_locus-gate"))
        .args([
            "serve", "made", "--data", ".", "--listen", &listen, "--health", &health, "--join",
        ])
        .env("KUBECONFIG", &config)
        .current_dir(world.folder.path())
        .stdin(Stdio::null())
        .spawn()
        .map(Served)
        .unwrap();
    let join = |name: &str, shown: &str, patience: &str| {
        let shown = world.write("shown", shown);
        Command::new(env!("CARGO_BIN_EXE_locus-gate"))
            .args([
                "join",
                &health,
                "--authority",
                "made/ca.pem",
                "--token",
                &shown,
            ])
            .args(["--out", name, "--patience", patience])
            .current_dir(world.folder.path())
            .output()
            .unwrap()
    };
    let own = token(
        &world,
        "locus-agents",
        "locus-agent",
        Some("p"),
        "locus-gate",
    );
    let early = join("early", &own, "0");
    assert_eq!(early.status.code(), Some(2), "the pod has no address yet");
    let addressed = r#"{"status": {"podIP": "10.244.0.9", "podIPs": [{"ip": "10.244.0.9"}]}}"#;
    let patch = [
        "patch",
        "pod",
        "p",
        "-n",
        "locus-agents",
        "--subresource=status",
        "--type=merge",
        "-p",
        addressed,
    ];
    world.kubectl(&patch);
    let joined = join("one", &own, "180");
    let said = String::from_utf8_lossy(&joined.stderr).into_owned();
    assert!(joined.status.success(), "{said}");
    assert!(said.contains("joined as `worker-1`"), "{said}");
    let made = std::fs::read_to_string(world.folder.path().join("one/agent.pem")).unwrap();
    // The authority for agents comes after it.
    let (first, _) = made.split_once("-----END CERTIFICATE-----").unwrap();
    let first = format!("{first}-----END CERTIFICATE-----\n");
    let names = locus_attestation::net::pki::names_in(&first).unwrap();
    assert_eq!(names, ["worker-1"]);
    // It is asked where its pod is.
    let node = world.get(&["node", "worker-1"]);
    assert_eq!(
        node["metadata"]["annotations"]["locus.dev/agent-address"],
        "10.244.0.9:31000"
    );
    // Who wants to be an agent without being one.
    for (name, token) in [
        (
            "audience",
            token(&world, "locus-agents", "locus-agent", Some("p"), "another"),
        ),
        (
            "account",
            token(&world, "default", "locus-agent", Some("p"), "locus-gate"),
        ),
        (
            "unbound",
            token(&world, "locus-agents", "locus-agent", None, "locus-gate"),
        ),
        ("nothing", "no token".to_owned()),
    ] {
        let refused = join(name, &token, "0");
        assert_eq!(refused.status.code(), Some(2), "{name}");
        assert!(!world.folder.path().join(name).join("agent.key").exists());
    }
    // The databases are where they were said to be.
    assert!(world.folder.path().join("verifier.db").exists());
    assert!(!world.folder.path().join("made/verifier.db").exists());
    drop(served);
}

/// The kubeconfig of a service account.
fn own_kubeconfig(world: &World, token: &str) -> String {
    let admin = std::fs::read_to_string(world.cluster.kubeconfig(User::Admin)).unwrap();
    let path = world.write("gate.token", token);
    let lines = admin
        .lines()
        .map(|line| match line.split_once("tokenFile:") {
            Some((before, _)) => format!("{before}tokenFile: {path}"),
            None => line.to_owned(),
        });
    world.write("gate.kubeconfig", &lines.collect::<Vec<_>>().join("\n"))
}

fn free() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

#[test]
fn the_rights_are_enough_for_the_gate_and_no_more() {
    let Some(world) = World::start(&Part::SERVER) else {
        return;
    };
    world.does(&[
        "install",
        "made",
        "--image",
        &image("gate", 'a'),
        "--apply",
        "--no-webhook",
    ]);
    let may = |account: &str, verb: &str, resource: &str, space: &str| {
        let user = format!("--as=system:serviceaccount:{account}");
        // With a slash, it is the name of an object.
        let (resource, sub) = resource.split_once(':').unwrap_or((resource, ""));
        let sub = format!("--subresource={sub}");
        let mut all = vec!["auth", "can-i", verb, resource, &user, &sub];
        match space {
            "" => all.push("--all-namespaces"),
            space => all.extend(["-n", space]),
        }
        let output = world.cluster.kubectl(&all).unwrap();
        String::from_utf8_lossy(&output.stdout).trim() == "yes"
    };
    let gate = "locus-system:locus-gate";
    for (verb, resource, space) in [
        ("patch", "pods", ""),
        ("patch", "pods:status", ""),
        ("create", "pods:eviction", ""),
        ("patch", "nodes", ""),
        ("patch", "agents.locus.dev:status", ""),
        ("watch", "deployments.apps", ""),
        ("create", "leases.coordination.k8s.io", "locus-system"),
        ("patch", "mutatingwebhookconfigurations/locus-gate", ""),
    ] {
        assert!(may(gate, verb, resource, space), "{verb} {resource}");
        assert!(
            !may("locus-agents:locus-agent", verb, resource, space),
            "{verb} {resource}"
        );
    }
    for (verb, resource, space) in [
        ("get", "secrets", ""),
        ("get", "secrets", "locus-system"),
        ("create", "pods", ""),
        ("create", "leases.coordination.k8s.io", "default"),
        ("patch", "mutatingwebhookconfigurations/another", ""),
        ("patch", "invariantsets.locus.dev", ""),
        ("create", "clusterrolebindings", ""),
    ] {
        assert!(!may(gate, verb, resource, space), "{verb} {resource}");
    }
    let agents: Value = world.get(&["serviceaccount", "-n", "locus-agents", "locus-agent"]);
    assert_eq!(agents["automountServiceAccountToken"], Value::Bool(false));
}

/// The gate as the installation starts it, with the rights that it has there.
#[test]
fn the_gate_that_is_installed_needs_no_more_rights() {
    let Some(world) = World::start(&[Part::Etcd, Part::ApiServer, Part::ControllerManager]) else {
        return;
    };
    let gate = image("gate", 'a');
    world.does(&[
        "install",
        "made",
        "--image",
        &gate,
        "--apply",
        "--no-webhook",
    ]);
    let (listen, health, admission) = (free(), free(), free());
    let printed = world.does(&["install", "made", "--image", &gate, "--only", "objects"]);
    for document in printed
        .split("---\n")
        .filter(|one| one.contains("WebhookConfiguration"))
    {
        // No service of the cluster leads to a process beside it.
        let mut object: Value = serde_saphyr::from_str(document).unwrap();
        for webhook in object["webhooks"].as_array_mut().unwrap() {
            let path = webhook["clientConfig"]["service"]["path"].as_str().unwrap();
            let url = format!("https://{admission}{path}");
            webhook["clientConfig"] = serde_json::json!({"url": url});
        }
        let applied = ["apply", "--server-side", "--field-manager=locus-install"];
        world.send(&applied, &object.to_string()).unwrap();
    }
    let account = token(
        &world,
        "locus-system",
        "locus-gate",
        None,
        &world.cluster.url(),
    );
    let config = own_kubeconfig(&world, &account);
    let log = world.folder.path().join("gate.log");
    let served = Command::new(env!("CARGO_BIN_EXE_locus-gate"))
        .args([
            "cluster", "made", "--data", ".", "--listen", &listen, "--health", &health, "--join",
        ])
        .args([
            "--admission",
            &format!("https://{admission}"),
            "--admission-listen",
            &admission,
        ])
        .args(["--namespace", "locus-system", "--kubeconfig", &config])
        .env("KUBECONFIG", &config)
        .current_dir(world.folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .map(Served)
        .unwrap();
    world.cluster.create_namespace("shop").unwrap();
    let set = r#"{"apiVersion": "locus.dev/v1alpha1", "kind": "InvariantSet", "metadata": {"name": "shop"}, "spec": {"namespaces": ["shop"]}}"#;
    world.send(&["create"], set).unwrap();
    let known = digest('c');
    let reference = format!(
        r#"{{"apiVersion": "locus.dev/v1alpha1", "kind": "ReferenceImage", "metadata": {{"name": "web"}}, "spec": {{"image": "web", "manifest": "{known}"}}}}"#
    );
    world.send(&["create"], &reference).unwrap();
    let account = r#"{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "web", "namespace": "shop"}}"#;
    world.send(&["apply"], account).unwrap();
    let pod = |image: &str| {
        serde_json::json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"serviceAccountName": "web", "containers": [{"name": "c", "image": image}]},
        })
        .to_string()
    };
    let good = format!("registry.example/web@{known}");
    world.until("the gate answers for admission", || {
        world
            .send(&["create", "--dry-run=server"], &pod(&good))
            .is_ok()
    });
    // Whatever the gate does about nodes and pods, it may do.
    let node = r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-1", "annotations": {"locus.dev/agent-address": "127.0.0.1:1"}}}"#;
    world.send(&["create"], node).unwrap();
    world.send(&["create"], &pod(&good)).unwrap();
    let made = world.get(&["pod", "-n", "shop", "web"]);
    assert_eq!(
        made["spec"]["schedulingGates"][0]["name"],
        "locus.dev/attestation"
    );
    let taints = world.get(&["node", "worker-1"])["spec"]["taints"].to_string();
    assert!(taints.contains("locus.dev/untrusted"), "{taints}");
    world.until("an Agent speaks of the node", || {
        let agents = world.get(&["agents"]);
        !agents["items"].as_array().unwrap().is_empty()
    });
    let unknown = world.send(&["create", "--dry-run=server"], &pod(&image("evil", 'd')));
    assert!(unknown.unwrap_err().contains("image-unknown"));
    let told = world.gate(&["status"]);
    assert_eq!(told.status.code(), Some(1));
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(
        told.contains("worker-1") && told.contains("shop/web"),
        "{told}"
    );
    let told = world.does(&["why", "shop/web"]);
    assert!(told.contains("held back by the scheduling gate"), "{told}");
    std::thread::sleep(std::time::Duration::from_secs(3));
    let said = std::fs::read_to_string(&log).unwrap();
    assert!(!said.to_lowercase().contains("forbidden"), "{said}");
    // The condition of whoever installed it is still there, beside what the gate wrote.
    let written = world.get(&["mutatingwebhookconfiguration", "locus-gate"]);
    let webhook = &written["webhooks"][0];
    assert!(
        webhook["clientConfig"]["caBundle"].is_string(),
        "{written:#}"
    );
    assert!(
        webhook["matchConditions"]
            .to_string()
            .contains("no-part-of-locus-itself"),
        "{written:#}"
    );
    signed(&world, &listen, &good);
    drop(served);
    let refused = world
        .send(&["create", "--dry-run=server"], &pod(&good))
        .unwrap_err();
    assert!(refused.contains("failed calling webhook"), "{refused}");
    world.does(&["uninstall"]);
    let released = world.get(&["pod", "-n", "shop", "web"]);
    assert!(
        released["spec"].get("schedulingGates").is_none(),
        "{released:#}"
    );
}

/// A tenant's workload gets in when it is signed, and what controllers make of it is the tenant's.
fn signed(world: &World, gate: &str, image: &str) {
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(world.folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let curve = "ec_paramgen_curve:P-256";
    run(
        "openssl",
        &[
            "genpkey",
            "-algorithm",
            "EC",
            "-pkeyopt",
            curve,
            "-out",
            "acme.key",
        ],
    );
    run(
        "openssl",
        &["pkey", "-in", "acme.key", "-pubout", "-out", "acme.pem"],
    );
    let program = env!("CARGO_BIN_EXE_locus-gate");
    let entered = [
        "enter",
        "tenant",
        "acme",
        "--key",
        "acme.pem",
        "--gate",
        gate,
        "--credentials",
        "made/operator",
    ];
    let tenant = run(program, &entered);
    world.cluster.create_namespace("signed").unwrap();
    let set = r#"{"apiVersion": "locus.dev/v1alpha1", "kind": "InvariantSet", "metadata": {"name": "signed"},
        "spec": {"namespaces": ["signed"], "tenants": ["acme"]}}"#;
    world.send(&["create"], set).unwrap();
    let account = r#"{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "web", "namespace": "signed"}}"#;
    world.send(&["apply"], account).unwrap();
    let deployment = serde_json::json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "signed"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"serviceAccountName": "web", "containers": [{"name": "c", "image": image}]},
        }},
    });
    let file = world.write("signed.json", &deployment.to_string());
    let deploy = |more: &[&str]| {
        let mut all = vec!["deploy", &file, "--no-wait"];
        all.extend(more);
        let output = world.gate(&all);
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), told + &said)
    };
    // The namespace is enrolled and the tenant known a moment after they are written.
    world.until("an unsigned workload is refused for that alone", || {
        let (code, told) = deploy(&[]);
        code == Some(1) && told.contains("the object is not signed")
    });
    let key = ["--key", "acme.key", "--tenant", &tenant];
    world.until("a signed workload gets in", || deploy(&key).0 == Some(0));
    let (code, told) = deploy(&[
        "--key",
        "acme.key",
        "--tenant",
        "6f1c2a3e-5b7d-4c1e-9a10-0c2d4e6f8a01",
    ]);
    assert_eq!(code, Some(1), "{told}");
    world.until("its pod is the tenant's", || {
        let pods = world.get(&["pods", "-n", "signed"]);
        let pods = pods["items"].as_array().unwrap();
        pods.iter()
            .any(|pod| pod["metadata"]["annotations"]["locus.dev/tenant"] == tenant.as_str())
    });
}
