//! The second line: without any webhook, a real API server refuses what CEL can say of the gate's rules.

use std::fs;
use std::path::PathBuf;

use control_plane::{Part, User};
use locus_attestation::cluster::install::policies::{Standard, said};
use serde_json::{Value, json};

use crate::world::{World, digest, image};

const GATE: &str = "--as=system:serviceaccount:locus-system:locus-gate";

fn start() -> Option<World> {
    let world = World::start(&[Part::Etcd, Part::ApiServer, Part::ControllerManager])?;
    world.does(&[
        "install",
        "made",
        "--image",
        &image("gate", 'a'),
        "--apply",
        "--no-webhook",
    ]);
    for space in ["shop", "strict", "audited", "signed", "other"] {
        world.cluster.create_namespace(space).unwrap();
    }
    let set = |name: &str, space: &str, more: Value| {
        let mut spec = json!({"namespaces": [space]});
        spec.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        json!({"apiVersion": "locus.dev/v1alpha1", "kind": "InvariantSet", "metadata": {"name": name}, "spec": spec})
    };
    for one in [
        set("shop", "sho*", json!({})),
        set("strict", "strict", json!({"podSecurity": "restricted"})),
        set("audited", "audited", json!({"mode": "Audit"})),
        set("signed", "signed", json!({"tenants": ["acme"]})),
    ] {
        world.send(&["create"], &one.to_string()).unwrap();
    }
    // Each policy is in force a moment after it is written, and follows each set a moment after that.
    let mut privileged = pod("strict", &good());
    privileged["spec"]["securityContext"]["runAsNonRoot"] = Value::Null;
    let binding = json!({
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "x", "namespace": "shop", "labels": {"a": "b"}},
        "target": {"kind": "Node", "name": "x"},
    });
    let ungated = with(pod("shop", &good()), "/spec/schedulingGates", json!([]));
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "x"}});
    for (policy, object) in [
        ("locus-workloads", &pod("shop", "x")),
        ("locus-workloads", &privileged),
        ("locus-pods", &ungated),
        ("locus-bindings", &binding),
        ("locus-nodes", &node),
    ] {
        world.until(&format!("{policy} is in force"), || {
            let told = world.send(&["create", "--dry-run=server"], &object.to_string());
            told.is_err_and(|why| why.contains(&format!("'{policy}'")))
        });
    }
    Some(world)
}

fn good() -> String {
    format!("registry.example/web@{}", digest('c'))
}

/// A pod as the webhook or `locus deploy` leaves it, but for its image.
fn pod(space: &str, image: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": space},
        "spec": {
            "schedulingGates": [{"name": "locus.dev/attestation"}],
            "readinessGates": [{"conditionType": "locus.dev/attested"}],
            "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{"name": "web", "image": image, "securityContext": {
                "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]},
            }}],
        },
    })
}

fn with(mut object: Value, path: &str, value: Value) -> Value {
    let (parent, key) = path.rsplit_once('/').unwrap();
    let at = object
        .pointer_mut(parent)
        .unwrap_or_else(|| panic!("{path}"));
    match at {
        Value::Array(list) => list.push(value),
        at => at[key] = value,
    }
    object
}

#[test]
fn what_breaks_the_gates_own_rules_is_refused_without_the_webhook() {
    let Some(world) = start() else {
        return;
    };
    let good = good();
    let create = |object: &Value| world.send(&["create", "--dry-run=server"], &object.to_string());
    let fine = pod("shop", &good);
    create(&fine).unwrap();
    let none: Value = json!([]);
    for (word, object) in [
        ("image-digest", pod("shop", "web:1")),
        ("image-digest", pod("shop", &format!("{good}0"))),
        (
            "image-digest",
            with(
                fine.clone(),
                "/spec/initContainers",
                json!([{"name": "i", "image": "init:1"}]),
            ),
        ),
        (
            "image-digest",
            with(
                fine.clone(),
                "/spec/volumes",
                json!([{"name": "v", "image": {"reference": "files:1"}}]),
            ),
        ),
        (
            "gates",
            with(fine.clone(), "/spec/schedulingGates", none.clone()),
        ),
        ("gates", with(fine.clone(), "/spec/readinessGates", none)),
    ] {
        let refused = create(&object).unwrap_err();
        assert!(refused.contains(word), "{word}: {refused}");
        assert!(
            refused.contains("ValidatingAdmissionPolicy 'locus-"),
            "{refused}"
        );
        // Elsewhere, and where a set only audits, this is nobody's business.
        for space in ["other", "audited"] {
            let elsewhere = with(object.clone(), "/metadata/namespace", json!(space));
            create(&elsewhere).unwrap();
        }
    }
    // The server itself refuses a node's name beside a gate; a workload's template may have one.
    let template = |spec: &Value| {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}, "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec},
        }})
    };
    let free = json!({"containers": [{"name": "c", "image": good}]});
    create(&template(&free)).unwrap();
    let chosen = with(
        template(&free),
        "/spec/template/spec/nodeName",
        json!("worker-1"),
    );
    assert!(create(&chosen).unwrap_err().contains("node-name"));
    for kind in [
        "CronJob",
        "Job",
        "DaemonSet",
        "StatefulSet",
        "ReplicationController",
        "PodTemplate",
    ] {
        let bad = json!({"containers": [{"name": "c", "image": "web:1"}], "restartPolicy": if kind.ends_with("ob") { "Never" } else { "Always" }});
        let inner = json!({"metadata": {"labels": {"app": "web"}}, "spec": bad});
        let (version, spec) = match kind {
            "CronJob" => (
                "batch/v1",
                json!({"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": inner}}}),
            ),
            "Job" => ("batch/v1", json!({"template": inner})),
            "ReplicationController" => {
                ("v1", json!({"selector": {"app": "web"}, "template": inner}))
            }
            "PodTemplate" => ("v1", Value::Null),
            "StatefulSet" => (
                "apps/v1",
                json!({"serviceName": "web", "selector": {"matchLabels": {"app": "web"}}, "template": inner}),
            ),
            _ => (
                "apps/v1",
                json!({"selector": {"matchLabels": {"app": "web"}}, "template": inner}),
            ),
        };
        let mut object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": "web", "namespace": "shop"}});
        match kind {
            "PodTemplate" => object["template"] = inner.clone(),
            _ => object["spec"] = spec,
        }
        let refused = create(&object).unwrap_err();
        assert!(refused.contains("image-digest"), "{kind}: {refused}");
        let text = object.to_string().replace("web:1", &good);
        world.send(&["create", "--dry-run=server"], &text).unwrap();
    }
    // What is exempt where it belongs is an image like any other elsewhere.
    let own = image("gate", 'a');
    create(&pod("shop", &own)).unwrap();
    let shell = with(pod("shop", &own), "/spec/hostNetwork", json!(true));
    assert!(create(&shell).unwrap_err().contains("'locus-workloads'"));
    mirrors(&world, &fine);
    guarded(&world, &fine);
    smuggled(&world);
    nodes(&world);
}

/// What goes round the pod or the workload itself: bindings, status, and what a workload was.
fn smuggled(world: &World) {
    let create = |object: &Value| world.send(&["create", "--dry-run=server"], &object.to_string());
    for (key, value) in [
        ("locus.dev/tenant", "me"),
        ("kubernetes.io/config.mirror", "x"),
    ] {
        let binding = json!({
            "apiVersion": "v1", "kind": "Binding",
            "metadata": {"name": "web", "namespace": "shop", "annotations": {key: value}},
            "target": {"kind": "Node", "name": "x"},
        });
        let refused = create(&binding).unwrap_err();
        assert!(refused.contains("'locus-bindings'"), "{refused}");
    }
    let revision = |space: &str| {
        json!({
            "apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "web-1", "namespace": space},
            "revision": 1, "data": {"spec": {}},
        })
    };
    create(&revision("shop")).unwrap();
    let refused = create(&revision("signed")).unwrap_err();
    assert!(refused.contains("'locus-revisions'"), "{refused}");
    let replicas = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": good()}]},
        }},
    });
    world.send(&["create"], &replicas.to_string()).unwrap();
    let patch = |more: Value| {
        let more = more.to_string();
        let all = [
            "patch",
            "replicaset",
            "web",
            "-n",
            "shop",
            "--subresource=status",
        ];
        let all = [&all[..], &["--type=merge", "-p", &more]].concat();
        let output = world.cluster.kubectl(&all).unwrap();
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    };
    let owner = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "x", "uid": "x", "controller": true}]);
    for metadata in [
        json!({"labels": {"app": "other"}}),
        json!({"ownerReferences": owner}),
        json!({"annotations": {"locus.dev/signature": "x"}}),
    ] {
        let refused = patch(json!({"metadata": metadata})).unwrap_err();
        assert!(refused.contains("'locus-workloads-status'"), "{refused}");
    }
    patch(json!({"status": {"replicas": 0, "observedGeneration": 1}})).unwrap();
}

/// The stand-ins of static pods are made by their nodes alone, of images that are named by digest.
fn mirrors(world: &World, fine: &Value) {
    let none = json!([]);
    let mut static_pod = with(
        with(fine.clone(), "/spec/schedulingGates", none.clone()),
        "/spec/readinessGates",
        none,
    );
    static_pod["spec"]["nodeName"] = json!("localhost");
    static_pod["spec"]["automountServiceAccountToken"] = json!(false);
    static_pod["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "x"});
    let refused = world.send(&["create", "--dry-run=server"], &static_pod.to_string());
    assert!(refused.unwrap_err().contains("mirror: only a node"));
    let by_node = |pod: &Value| {
        world.send_as(
            User::Node,
            &["create", "--dry-run=server", "--validate=false"],
            &pod.to_string(),
        )
    };
    by_node(&static_pod).unwrap();
    static_pod["spec"]["containers"][0]["image"] = json!("web:1");
    assert!(by_node(&static_pod).unwrap_err().contains("image-digest"));
}

/// What only the gate may change.
fn guarded(world: &World, fine: &Value) {
    world.send(&["create"], &fine.to_string()).unwrap();
    let patch = |more: &[&str], patch: &str| {
        let mut all = vec![
            "patch",
            "pod",
            "web",
            "-n",
            "shop",
            "--type=strategic",
            "-p",
            patch,
        ];
        all.extend(more);
        let output = world.cluster.kubectl(&all).unwrap();
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    };
    let opened = r#"{"spec": {"schedulingGates": null}}"#;
    let refused = patch(&[], opened).unwrap_err();
    assert!(refused.contains("only the gate takes away"), "{refused}");
    let tenant = r#"{"metadata": {"annotations": {"locus.dev/tenant": "me"}}}"#;
    let refused = patch(&[], tenant).unwrap_err();
    assert!(refused.contains("does not change"), "{refused}");
    let image = r#"{"spec": {"containers": [{"name": "web", "image": "web:2"}]}}"#;
    let refused = patch(&[], image).unwrap_err();
    assert!(refused.contains("image-digest"), "{refused}");
    let output = world.cluster.kubectl(&[
        "debug",
        "web",
        "-n",
        "shop",
        "--image=busybox",
        "--profile=general",
    ]);
    let refused = String::from_utf8_lossy(&output.unwrap().stderr).into_owned();
    assert!(refused.contains("image-digest"), "{refused}");
    let attested =
        r#"{"status": {"conditions": [{"type": "locus.dev/attested", "status": "True"}]}}"#;
    let refused = patch(&["--subresource=status"], attested).unwrap_err();
    assert!(refused.contains("only the gate writes"), "{refused}");
    patch(&[], r#"{"metadata": {"labels": {"a": "b"}}}"#).unwrap();
    for metadata in [
        json!({"labels": {"a": "c"}}),
        json!({"annotations": {"locus.dev/tenant": "me"}}),
    ] {
        let metadata = json!({"metadata": metadata}).to_string();
        let refused = patch(&["--subresource=status"], &metadata).unwrap_err();
        assert!(refused.contains("'locus-pods-status'"), "{refused}");
    }
    let phase = r#"{"status": {"phase": "Pending", "message": "so it is"}}"#;
    patch(&["--subresource=status"], phase).unwrap();
    // The gate may, with the rights that the installation gives it.
    patch(&[GATE, "--subresource=status"], attested).unwrap();
    patch(&[GATE], opened).unwrap();
}

fn nodes(world: &World) {
    let node = |taints: Value| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-9"}, "spec": {"taints": taints}}).to_string()
    };
    let taint = json!([{"key": "locus.dev/untrusted", "effect": "NoSchedule"}]);
    let refused = world.send(&["create"], &node(json!([]))).unwrap_err();
    assert!(refused.contains("a new node takes no pods"), "{refused}");
    world.send(&["create"], &node(taint)).unwrap();
    let untaint = ["taint", "node", "worker-9", "locus.dev/untrusted-"];
    let output = world.cluster.kubectl(&untaint).unwrap();
    let refused = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        refused.contains("only the gate takes the taint"),
        "{refused}"
    );
    let mut by_gate = untaint.to_vec();
    by_gate.push(GATE);
    world.kubectl(&by_gate);
}

/// The examples of the library's rules: what a rule finds there, CEL refuses, and what holds it lets in.
#[test]
fn policies_agree_with_the_rules_of_the_library_on_their_examples() {
    let Some(world) = start() else {
        return;
    };
    let examples =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../invariants/library/kubernetes/examples");
    // A server says the first of several reasons.
    let (mut broken, mut named, mut held) = (0, 0, 0);
    for rule in said() {
        let space = match rule.standard {
            Standard::Baseline => "shop",
            Standard::Restricted => "strict",
        };
        for ending in ["breaks", "holds"] {
            let path = examples.join(format!("{}.{ending}.yaml", rule.id));
            let text = fs::read_to_string(&path).unwrap();
            for (index, document) in text.split("\n---\n").enumerate() {
                let marked = document.contains(&format!("^ {}", rule.id));
                let Some(object) = adapted(document, space) else {
                    continue;
                };
                // What only old forms of a standard say, the server of today does not know.
                if document.contains("seccomp.security.alpha.kubernetes.io") {
                    continue;
                }
                let told = world.send(&["create", "--dry-run=server"], &object.to_string());
                let what = format!("{} {ending} {index}", rule.id);
                match (marked, told) {
                    (true, Err(refused)) if refused.contains(&format!("{}: ", rule.id)) => {
                        broken += 1;
                        named += 1;
                    }
                    (true, Err(refused)) if refused.contains("'locus-workloads'") => broken += 1,
                    // Some of it the server itself refuses.
                    (true, Err(refused)) if refused.contains("is invalid") => broken += 1,
                    (false, Ok(_)) => held += 1,
                    (false, Err(refused))
                        if ending == "breaks" || !refused.contains(&format!("{}: ", rule.id)) => {}
                    (marked, told) => panic!("{what}: marked {marked}, {told:?}\n{object:#}"),
                }
            }
        }
    }
    assert!(
        broken >= 26 && named >= 23 && held >= 21,
        "{broken} {named} {held}"
    );
}

/// A pod of an example with images by digest and the gates.
fn adapted(document: &str, space: &str) -> Option<Value> {
    let mut object: Value = serde_saphyr::from_str(document).ok()?;
    if object["kind"] != "Pod" {
        return None;
    }
    let image = good();
    for list in ["containers", "initContainers"] {
        let containers = object["spec"][list].as_array_mut();
        for container in containers.into_iter().flatten() {
            container["image"] = json!(image);
        }
    }
    object["metadata"]["namespace"] = json!(space);
    object["spec"]["schedulingGates"] = json!([{"name": "locus.dev/attestation"}]);
    object["spec"]["readinessGates"] = json!([{"conditionType": "locus.dev/attested"}]);
    Some(object)
}
