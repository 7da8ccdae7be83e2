//! Ways round the gate, each named after what somebody wanted, and what is let in.

use serde_json::{Value, json};

mod handed;
mod later;

use super::*;
use crate::cluster::known::{Tenant, WATCHED};
use crate::cluster::names::{READINESS_GATE, SCHEDULING_GATE, SIGNATURE, TENANT};
use crate::cluster::object::WORKLOADS;
use crate::evidence::Nonce;
use crate::evidence::jws::TokenKey;

const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);
const GATE: &str = "system:serviceaccount:locus-system:locus-gate";
const KNOWN: &str = "sha256:9341b6548cc35b64a6de0085555264336e2f570e17ecff20190bf62222f2bd64";
const EXEMPT: &str = "sha256:1111111111111111111111111111111111111111111111111111111111111111";
const OTHER: &str = "sha256:2222222222222222222222222222222222222222222222222222222222222222";

fn set(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "locus.dev/v1alpha1", "kind": "InvariantSet", "metadata": {"name": name}, "spec": spec})
}

/// A cluster with the enrolled namespaces `shop` and `signed`, and `trial`, where findings are only reported.
fn cluster() -> Known {
    let mut known = Known::new(GATE);
    for kind in WATCHED {
        known.replace(kind.kind, []);
    }
    known.replace(
        "InvariantSet",
        [
            set("shop", json!({"namespaces": ["shop"]})),
            set(
                "signed",
                json!({"namespaces": ["signed"], "tenants": ["acme"]}),
            ),
            set("trial", json!({"namespaces": ["trial"], "mode": "Audit"})),
        ],
    );
    let image = |name: &str, digest: &str| json!({"metadata": {"name": name}, "spec": {"image": name, "manifest": digest}});
    let mut exempt = image("pause", EXEMPT);
    exempt["spec"]["exempt"] = json!({"reason": "part of the node"});
    known.replace("ReferenceImage", [image("redis", KNOWN), exempt]);
    let agent =
        |name: &str, trust: &str| json!({"metadata": {"name": name}, "status": {"trust": trust}});
    known.replace(
        "Agent",
        [
            agent("good", "Trusted"),
            agent("bad", "Untrusted"),
            agent("new", "Unknown"),
        ],
    );
    known
}

fn pod_spec(digest: &str) -> Value {
    json!({
        "automountServiceAccountToken": false,
        "securityContext": {"runAsNonRoot": true, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{
            "name": "redis", "image": format!("registry.example/redis@{digest}"),
            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "1", "memory": "64Mi"}},
            "securityContext": {
                "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]},
            },
        }],
    })
}

fn pod(namespace: &str, digest: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "redis", "namespace": namespace, "labels": {"app": "redis"}},
        "spec": pod_spec(digest),
    })
}

fn workload(kind: &str, namespace: &str, digest: &str) -> Value {
    let known = WORKLOADS.iter().find(|one| one.kind == kind).unwrap();
    let version = if known.group.is_empty() {
        "v1".to_owned()
    } else {
        format!("{}/v1", known.group)
    };
    let template = json!({"metadata": {"labels": {"app": "redis"}}, "spec": pod_spec(digest)});
    let selector = json!({"matchLabels": {"app": "redis"}});
    let mut object = json!({
        "apiVersion": version, "kind": kind,
        "metadata": {"name": "redis", "namespace": namespace, "labels": {"app": "redis"}},
    });
    let mut finished = template.clone();
    finished["spec"]["restartPolicy"] = json!("Never");
    match kind {
        "Pod" => return pod(namespace, digest),
        "PodTemplate" => object["template"] = template,
        "Job" => object["spec"] = json!({"template": finished}),
        "CronJob" => {
            object["spec"] =
                json!({"schedule": "0 4 * * *", "jobTemplate": {"spec": {"template": finished}}});
        }
        "ReplicationController" => {
            object["spec"] =
                json!({"replicas": 1, "selector": {"app": "redis"}, "template": template});
        }
        "DaemonSet" => object["spec"] = json!({"selector": selector, "template": template}),
        "StatefulSet" => {
            object["spec"] = json!({"replicas": 1, "serviceName": "redis", "selector": selector, "template": template});
        }
        _ => object["spec"] = json!({"replicas": 1, "selector": selector, "template": template}),
    }
    object
}

fn ask(object: Value) -> Ask {
    let kind = text(&object, &["kind"]);
    let known = WORKLOADS.iter().find(|one| one.kind == kind).unwrap();
    Ask {
        uid: "request".to_owned(),
        verb: Verb::Create,
        group: known.group.to_owned(),
        resource: known.resource.to_owned(),
        subresource: String::new(),
        namespace: crate::cluster::object::namespace(&object).to_owned(),
        name: name(&object).to_owned(),
        user: "alice".to_owned(),
        dry_run: false,
        object,
        old: Value::Null,
    }
}

fn update(old: &Value, object: &Value, subresource: &str) -> Ask {
    Ask {
        verb: Verb::Update,
        subresource: subresource.to_owned(),
        old: old.clone(),
        ..ask(object.clone())
    }
}

/// As the server does: the first question, the changes, the second question.
fn admit(keeper: &Gatekeeper, mut ask: Ask, known: &Known) -> (Value, Decision) {
    if ask.resource == "pods" && ask.verb == Verb::Create && ask.subresource.is_empty() {
        let first = keeper.mutate(&ask, known);
        if !first.allowed() {
            return (ask.object, first);
        }
        json_patch::patch(&mut ask.object, &first.patch).unwrap();
    }
    let decision = keeper.validate(&ask, known, NOW);
    (ask.object, decision)
}

fn codes(decision: &Decision) -> Vec<&str> {
    decision
        .refused
        .iter()
        .map(|problem| problem.code.as_str())
        .collect()
}

#[track_caller]
fn refused(ask: Ask, known: &Known, code: &str) -> String {
    let (_, decision) = admit(&Gatekeeper::new(NOW), ask.clone(), known);
    assert!(
        codes(&decision).contains(&code),
        "{code}: {}",
        decision.message(&ask)
    );
    decision.message(&ask)
}

#[track_caller]
fn allowed(ask: Ask, known: &Known) -> Value {
    let (object, decision) = admit(&Gatekeeper::new(NOW), ask.clone(), known);
    assert!(decision.allowed(), "{}", decision.message(&ask));
    object
}

#[test]
fn a_good_pod_is_gated() {
    let pod = allowed(ask(pod("shop", KNOWN)), &cluster());
    assert_eq!(
        pod["spec"]["schedulingGates"],
        json!([{"name": SCHEDULING_GATE}])
    );
    assert_eq!(
        pod["spec"]["readinessGates"],
        json!([{"conditionType": READINESS_GATE}])
    );
}

#[test]
fn gates_of_others_stay_and_ours_are_not_added_twice() {
    let mut own = pod("shop", KNOWN);
    own["spec"]["schedulingGates"] =
        json!([{"name": "quota.example/wait"}, {"name": SCHEDULING_GATE}]);
    own["spec"]["readinessGates"] = json!([{"conditionType": "lb.example/target"}]);
    let pod = allowed(ask(own), &cluster());
    assert_eq!(items(&pod["spec"]["schedulingGates"]).len(), 2);
    assert_eq!(
        pod["spec"]["readinessGates"],
        json!([{"conditionType": "lb.example/target"}, {"conditionType": READINESS_GATE}])
    );
}

#[test]
fn every_kind_of_workload_is_checked() {
    let known = cluster();
    for one in WORKLOADS {
        allowed(ask(workload(one.kind, "shop", KNOWN)), &known);
        let message = refused(
            ask(workload(one.kind, "shop", OTHER)),
            &known,
            "image-unknown",
        );
        assert!(
            message.contains(&format!("{}.containers[0].image", one.spec_path())),
            "{message}"
        );
        // A rule: the Pod Security Standard of the set.
        let mut privileged = workload(one.kind, "shop", KNOWN);
        let spec = format!(
            "/{}/containers/0/securityContext",
            one.spec_path().replace('.', "/")
        );
        *privileged.pointer_mut(&spec).unwrap() = json!({"privileged": true});
        let message = refused_by_rule(ask(privileged), &known);
        assert!(message.contains("privileged"), "{message}");
    }
}

#[track_caller]
fn refused_by_rule(ask: Ask, known: &Known) -> String {
    let (_, decision) = admit(&Gatekeeper::new(NOW), ask.clone(), known);
    let message = decision.message(&ask);
    assert!(
        decision
            .refused
            .iter()
            .any(|one| one.code.starts_with("K8S")),
        "{message}"
    );
    message
}

#[test]
fn a_refusal_says_rule_line_and_fix() {
    let mut object = pod("shop", KNOWN);
    object["spec"]["hostNetwork"] = json!(true);
    object["spec"]["containers"][0]["image"] = json!("redis:7");
    let ask = ask(object);
    let (_, decision) = admit(&Gatekeeper::new(NOW), ask.clone(), &cluster());
    let message = decision.message(&ask);
    assert!(
        message.starts_with("Pod `shop/redis` is refused by Locus: "),
        "{message}"
    );
    let image =
        "image-digest at spec.containers[0].image: the image `redis:7` is not named by its digest";
    assert!(message.contains(image), "{message}");
    let rule = message
        .lines()
        .find(|line| line.starts_with("- K8S"))
        .unwrap_or_default();
    assert!(rule.contains("at spec.hostNetwork (line "), "{message}");
    assert!(rule.contains("; to fix it: "), "{message}");
}

#[test]
fn a_comment_or_annotation_ignores_nothing() {
    let known = cluster();
    for note in [
        json!({"locus.dev/ignore": "K8S201"}),
        json!({"kubectl.kubernetes.io/last-applied-configuration": "# locus: ignore K8S201 -- mine"}),
        json!({"ignore-check.kube-linter.io/host-network": "mine"}),
        json!({"a": "x\n# locus: ignore K8S201 -- mine\n"}),
    ] {
        let mut object = pod("shop", KNOWN);
        object["metadata"]["annotations"] = note;
        object["spec"]["hostNetwork"] = json!(true);
        refused_by_rule(ask(object), &known);
    }
}

#[test]
fn a_namespace_that_nobody_named_is_closed() {
    let known = cluster();
    for namespace in ["default", "kube-system", "shop2", "sho"] {
        refused(ask(pod(namespace, KNOWN)), &known, "namespace");
        refused(
            ask(workload("Deployment", namespace, KNOWN)),
            &known,
            "namespace",
        );
    }
}

#[test]
fn labels_of_a_namespace_change_nothing() {
    let mut known = cluster();
    let labels = json!({"locus.dev/ignore": "true", "control-plane": "true"});
    known.put(
        "Namespace",
        json!({"metadata": {"name": "shop", "labels": labels}}),
    );
    refused(ask(pod("shop", OTHER)), &known, "image-unknown");
}

#[test]
fn exempt_by_digest_in_every_namespace_and_by_nothing_else() {
    let known = cluster();
    let object = allowed(ask(pod("kube-system", EXEMPT)), &known);
    assert!(object["spec"].get("schedulingGates").is_none());
    // One container more that is not exempt, of each kind.
    for list in ["containers", "initContainers"] {
        let mut object = pod("kube-system", EXEMPT);
        let other = json!({"name": "other", "image": format!("x@{KNOWN}")});
        match object["spec"].get_mut(list).and_then(Value::as_array_mut) {
            Some(list) => list.push(other),
            None => object["spec"][list] = json!([other]),
        }
        refused(ask(object), &known, "namespace");
    }
    // The name of an exempt image, with a tag.
    let mut object = pod("kube-system", EXEMPT);
    object["spec"]["containers"][0]["image"] = json!("registry.example/pause:3.9");
    refused(ask(object), &known, "namespace");
}

#[test]
fn a_pod_that_chooses_its_node_is_refused() {
    let mut object = pod("shop", KNOWN);
    object["spec"]["nodeName"] = json!("bad");
    refused(ask(object), &cluster(), "node-name");
}

#[test]
fn gates_that_another_webhook_removes_are_missed() {
    let known = cluster();
    let keeper = Gatekeeper::new(NOW);
    let decision = keeper.validate(&ask(pod("shop", KNOWN)), &known, NOW);
    assert_eq!(codes(&decision), ["gates"]);
}

#[test]
fn only_the_gate_takes_its_scheduling_gate_away() {
    let known = cluster();
    let held = allowed(ask(pod("shop", KNOWN)), &known);
    let mut open = held.clone();
    open["spec"]
        .as_object_mut()
        .unwrap()
        .remove("schedulingGates");
    refused(update(&held, &open, ""), &known, "gates");
    for user in [
        "system:kube-scheduler",
        "system:admin",
        "system:node:good",
        "",
    ] {
        let by = Ask {
            user: user.to_owned(),
            ..update(&held, &open, "")
        };
        refused(by, &known, "gates");
    }
    let by_gate = Ask {
        user: GATE.to_owned(),
        ..update(&held, &open, "")
    };
    allowed(by_gate, &known);
    // Not even the gate takes another image along.
    open["spec"]["containers"][0]["image"] = json!(format!("x@{OTHER}"));
    let by_gate = Ask {
        user: GATE.to_owned(),
        ..update(&held, &open, "")
    };
    refused(by_gate, &known, "image-unknown");
}

#[test]
fn an_image_that_is_changed_later_is_checked_again() {
    let known = cluster();
    let held = allowed(ask(pod("shop", KNOWN)), &known);
    for image in ["redis:latest".to_owned(), format!("redis@{OTHER}")] {
        let mut changed = held.clone();
        changed["spec"]["containers"][0]["image"] = json!(image);
        let (_, decision) = admit(&Gatekeeper::new(NOW), update(&held, &changed, ""), &known);
        assert!(!decision.allowed(), "{image}");
    }
    let mut labelled = held.clone();
    labelled["metadata"]["labels"]["a"] = json!("b");
    allowed(update(&held, &labelled, ""), &known);
}

#[test]
fn debugging_needs_a_known_image() {
    let known = cluster();
    let held = allowed(ask(pod("shop", KNOWN)), &known);
    let with = |image: &str| {
        let mut debugged = held.clone();
        debugged["spec"]["ephemeralContainers"] = json!([{
            "name": "debugger", "image": image,
            "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
        }]);
        debugged
    };
    let sub = "ephemeralcontainers";
    refused(update(&held, &with("busybox"), sub), &known, "image-digest");
    refused(
        update(&held, &with(&format!("b@{OTHER}")), sub),
        &known,
        "image-unknown",
    );
    allowed(update(&held, &with(&format!("b@{KNOWN}")), sub), &known);
}

#[test]
fn only_the_gate_says_that_a_pod_is_attested() {
    let known = cluster();
    let held = allowed(ask(pod("shop", KNOWN)), &known);
    let mut ready = held.clone();
    ready["status"] = json!({"conditions": [{"type": READINESS_GATE, "status": "True"}]});
    for user in ["alice", "system:node:good"] {
        let by = Ask {
            user: user.to_owned(),
            ..update(&held, &ready, "status")
        };
        refused(by, &known, "status");
        // Nor that it is not, nor by taking the word away.
        let by = Ask {
            user: user.to_owned(),
            ..update(&ready, &held, "status")
        };
        refused(by, &known, "status");
    }
    let by_gate = Ask {
        user: GATE.to_owned(),
        ..update(&held, &ready, "status")
    };
    allowed(by_gate, &known);
    // A kubelet writes the rest.
    let mut running = ready.clone();
    running["status"]["phase"] = json!("Running");
    allowed(update(&ready, &running, "status"), &known);
}

fn binding(resource: &str, subresource: &str, node: &str) -> Ask {
    let object = json!({
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "redis", "namespace": "shop"},
        "target": {"kind": "Node", "name": node},
    });
    Ask {
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        object,
        ..ask(pod("shop", KNOWN))
    }
}

#[test]
fn a_pod_is_bound_to_trusted_workers_only() {
    let mut known = cluster();
    for (resource, subresource) in [("pods", "binding"), ("bindings", "")] {
        refused(binding(resource, subresource, "good"), &known, "unknown");
    }
    known.put("Pod", pod("shop", KNOWN));
    for (resource, subresource) in [("pods", "binding"), ("bindings", "")] {
        allowed(binding(resource, subresource, "good"), &known);
        for node in ["bad", "new", "nowhere", ""] {
            refused(binding(resource, subresource, node), &known, "worker");
        }
    }
}

#[test]
fn a_forged_stand_in_of_a_static_pod_is_refused() {
    let known = cluster();
    let mirror = |node: &str, digest: &str| {
        let mut object = pod("shop", digest);
        object["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "x"});
        object["spec"]["nodeName"] = json!(node);
        ask(object)
    };
    refused(mirror("good", KNOWN), &known, "mirror");
    let by = |user: &str, node: &str, digest: &str| Ask {
        user: user.to_owned(),
        ..mirror(node, digest)
    };
    refused(by("system:node:bad", "good", KNOWN), &known, "mirror");
    refused(by("system:node:", "", KNOWN), &known, "mirror");
    refused(
        by("system:node:good", "good", OTHER),
        &known,
        "image-unknown",
    );
    allowed(by("system:node:good", "good", KNOWN), &known);
    // Made a stand-in later.
    let held = allowed(ask(pod("shop", KNOWN)), &known);
    let mut marked = held.clone();
    marked["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "x"});
    refused(update(&held, &marked, ""), &known, "tenant");
}

#[test]
fn a_node_is_tainted_until_the_gate_trusts_it() {
    let known = cluster();
    let keeper = Gatekeeper::new(NOW);
    let node = |taints: Value| json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "new"}, "spec": {"taints": taints}});
    let new = Ask {
        resource: "nodes".to_owned(),
        object: node(Value::Null),
        ..ask(pod("", KNOWN))
    };
    let mut object = new.object.clone();
    json_patch::patch(&mut object, &keeper.mutate(&new, &known).patch).unwrap();
    assert_eq!(
        object["spec"]["taints"],
        json!([{"key": TAINT, "effect": "NoSchedule"}])
    );
    let freed = |user: &str| Ask {
        user: user.to_owned(),
        verb: Verb::Update,
        old: object.clone(),
        object: node(json!([])),
        ..new.clone()
    };
    refused(freed("system:node:new"), &known, "taint");
    refused(freed("alice"), &known, "taint");
    allowed(freed(GATE), &known);
    // Another effect is another taint.
    let softer = node(json!([{"key": TAINT, "effect": "PreferNoSchedule"}]));
    refused(
        Ask {
            object: softer,
            ..freed("alice")
        },
        &known,
        "taint",
    );
}

#[test]
fn more_replicas_are_checked_and_fewer_are_not() {
    let mut known = cluster();
    known.put("Deployment", workload("Deployment", "shop", OTHER));
    let scale = |name: &str, replicas: i64| Ask {
        verb: Verb::Update,
        subresource: "scale".to_owned(),
        name: name.to_owned(),
        object: json!({"kind": "Scale", "metadata": {"name": name}, "spec": {"replicas": replicas}}),
        ..ask(workload("Deployment", "shop", OTHER))
    };
    allowed(scale("redis", 0), &known);
    allowed(scale("redis", 3), &known);
    refused(scale("unknown", 3), &known, "unknown");
    let mut privileged = workload("Deployment", "shop", KNOWN);
    privileged["spec"]["template"]["spec"]["hostPID"] = json!(true);
    known.put("Deployment", privileged);
    refused_by_rule(scale("redis", 3), &known);
}

#[test]
fn audit_reports_and_lets_in() {
    let known = cluster();
    let mut object = pod("trial", OTHER);
    object["spec"]["hostNetwork"] = json!(true);
    let (object, decision) = admit(&Gatekeeper::new(NOW), ask(object), &known);
    assert!(decision.allowed());
    assert!(object["spec"].get("schedulingGates").is_none());
    let said = decision.warnings.join("\n");
    assert!(
        said.contains("image-unknown") && said.contains("hostNetwork"),
        "{said}"
    );
}

#[test]
fn a_cluster_that_was_not_read_lets_nothing_in() {
    let keeper = Gatekeeper::new(NOW);
    let known = Known::new(GATE);
    let asked = ask(pod("shop", EXEMPT));
    assert_eq!(codes(&keeper.validate(&asked, &known, NOW)), ["starting"]);
    assert_eq!(codes(&keeper.mutate(&asked, &known)), ["starting"]);
}

#[test]
fn a_set_that_cannot_be_read_lets_nothing_in() {
    let mut known = cluster();
    known.put("InvariantSet", set("broken", json!({"namespaces": 3})));
    refused(ask(pod("shop", KNOWN)), &known, "invariants");
    let mut known = cluster();
    let from = json!({"namespace": "locus-system", "name": "rules", "key": "own.als"});
    let own = json!({"namespaces": ["shop"], "ownRules": [{"name": "own", "configMap": from}]});
    known.put("InvariantSet", set("own", own));
    refused(ask(pod("shop", KNOWN)), &known, "invariants");
}

#[test]
fn a_set_with_mistakes_lets_nothing_in() {
    for wrong in [
        json!({"namespaces": ["shop"], "rules": {"K8S999": "error"}}),
        json!({"namespaces": ["shop"], "ownRules": [{"name": "own", "text": "assert {"}]}),
    ] {
        let mut known = cluster();
        known.put("InvariantSet", set("wrong", wrong));
        let asked = ask(pod("shop", KNOWN));
        let (_, decision) = admit(&Gatekeeper::new(NOW), asked.clone(), &known);
        assert!(!decision.allowed(), "{}", decision.message(&asked));
    }
}

#[test]
fn what_is_not_known_is_refused() {
    let known = cluster();
    let keeper = Gatekeeper::new(NOW);
    let strange = [
        Ask {
            resource: "rollouts".to_owned(),
            group: "argoproj.io".to_owned(),
            ..ask(pod("shop", KNOWN))
        },
        Ask {
            subresource: "proxy".to_owned(),
            ..ask(pod("shop", KNOWN))
        },
        Ask {
            verb: Verb::Other,
            ..ask(pod("shop", KNOWN))
        },
        Ask {
            object: json!({"kind": "Pod"}),
            ..ask(pod("shop", KNOWN))
        },
        Ask {
            object: Value::Null,
            ..ask(pod("shop", KNOWN))
        },
        Ask {
            object: workload("Job", "shop", KNOWN),
            ..ask(pod("shop", KNOWN))
        },
    ];
    for asked in strange {
        let decision = keeper.validate(&asked, &known, NOW);
        assert!(!decision.allowed(), "{asked:?}");
    }
}

#[test]
fn a_verdict_is_remembered_by_what_it_depends_on() {
    let mut known = cluster();
    let keeper = Gatekeeper::new(NOW);
    let asked = ask(workload("Deployment", "shop", KNOWN));
    assert!(keeper.validate(&asked, &known, NOW).allowed());
    assert!(keeper.validate(&asked, &known, NOW).allowed());
    assert_eq!(keeper.checker().remembered(), 1);
    // A stricter set is another question.
    known.put(
        "InvariantSet",
        set(
            "shop",
            json!({"namespaces": ["shop"], "rules": {"K8S001": "error"}}),
        ),
    );
    keeper.validate(&asked, &known, NOW);
    assert_eq!(keeper.checker().remembered(), 2);
}

/// A tenant of the namespace `signed`, and its signature.
struct Acme {
    key: TokenKey,
    known: Known,
}

impl Acme {
    fn new() -> Self {
        let key = TokenKey::generate().unwrap();
        let mut known = cluster();
        known.tenants = Some(vec![Tenant {
            id: "id-acme".to_owned(),
            name: "acme".to_owned(),
            key: key.public(),
        }]);
        Acme { key, known }
    }

    fn sign(&self, mut object: Value) -> Value {
        let kind = text(&object, &["kind"]).to_owned();
        let workload = WORKLOADS.iter().find(|one| one.kind == kind).unwrap();
        let nonce = Nonce::random().unwrap();
        let token = signature::sign(&self.key, "id-acme", (workload, &object), nonce, NOW).unwrap();
        object["metadata"]["annotations"] = json!({SIGNATURE: token});
        object
    }
}

#[test]
fn unsigned_replayed_and_changed_workloads_are_refused() {
    let acme = Acme::new();
    let plain = workload("Deployment", "signed", KNOWN);
    refused(ask(plain.clone()), &acme.known, "signature");
    let tried = Ask {
        dry_run: true,
        ..ask(plain.clone())
    };
    let (_, decision) = admit(&Gatekeeper::new(NOW), tried, &acme.known);
    assert!(
        decision.allowed(),
        "what is to be signed is seen by a dry run"
    );
    let signed = acme.sign(plain);
    let keeper = Gatekeeper::new(NOW);
    let first = ask(signed.clone());
    let dry = Ask {
        dry_run: true,
        uid: "dry".to_owned(),
        ..first.clone()
    };
    assert!(
        admit(&keeper, dry, &acme.known).1.allowed(),
        "a dry run uses nothing up"
    );
    assert!(admit(&keeper, first.clone(), &acme.known).1.allowed());
    let replayed = Ask {
        uid: "later".to_owned(),
        ..first.clone()
    };
    assert_eq!(
        codes(&admit(&keeper, replayed, &acme.known).1),
        ["signature"]
    );
    // What was admitted stays admitted; what is changed needs another signature.
    let mut scaled = signed.clone();
    scaled["spec"]["replicas"] = json!(2);
    let rescaled = Ask {
        uid: "scaled".to_owned(),
        ..update(&signed, &scaled, "")
    };
    assert!(admit(&keeper, rescaled, &acme.known).1.allowed());
    let mut changed = signed.clone();
    changed["spec"]["template"]["spec"]["containers"][0]["args"] = json!(["--evil"]);
    refused(update(&signed, &changed, ""), &acme.known, "signature");
    // A gate that has just started cannot know what was used before.
    let later = Gatekeeper::new(NOW.plus_secs(10));
    assert_eq!(
        codes(&later.validate(&first, &acme.known, NOW.plus_secs(10))),
        ["signature"]
    );
}

#[test]
fn a_pod_belongs_to_who_signed_its_owner() {
    let mut acme = Acme::new();
    let mut deployment = acme.sign(workload("Deployment", "signed", KNOWN));
    deployment["metadata"]["uid"] = json!("uid-d");
    acme.known.put("Deployment", deployment);
    let owned = |mut object: Value, kind: &str, uid: &str| {
        object["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "apps/v1", "kind": kind, "name": "redis", "uid": uid, "controller": true,
        }]);
        object
    };
    let mut set = owned(
        workload("ReplicaSet", "signed", KNOWN),
        "Deployment",
        "uid-d",
    );
    set["metadata"]["uid"] = json!("uid-r");
    let by = |user: &str, object: &Value| Ask {
        user: user.to_owned(),
        ..ask(object.clone())
    };
    let controller = "system:serviceaccount:kube-system:replicaset-controller";
    allowed(
        by(
            "system:serviceaccount:kube-system:deployment-controller",
            &set,
        ),
        &acme.known,
    );
    acme.known.put("ReplicaSet", set);
    let child = owned(pod("signed", KNOWN), "ReplicaSet", "uid-r");
    let admitted = allowed(by(controller, &child), &acme.known);
    assert_eq!(admitted["metadata"]["annotations"][TENANT], "id-acme");
    // Somebody else says that a pod has this owner.
    refused(by("alice", &child), &acme.known, "signature");
    refused(
        by("system:serviceaccount:signed:replicaset-controller", &child),
        &acme.known,
        "signature",
    );
    // The owner is another one of the same name.
    let namesake = owned(pod("signed", KNOWN), "ReplicaSet", "uid-other");
    refused(by(controller, &namesake), &acme.known, "signature");
    // A pod without an owner that a controller makes needs a signature like any other.
    refused(
        by(controller, &pod("signed", KNOWN)),
        &acme.known,
        "signature",
    );
}

#[test]
fn nobody_gives_a_pod_to_another_tenant() {
    let acme = Acme::new();
    let mut object = acme.sign(pod("signed", KNOWN));
    object["metadata"]["annotations"][TENANT] = json!("id-other");
    let admitted = allowed(ask(object), &acme.known);
    assert_eq!(admitted["metadata"]["annotations"][TENANT], "id-acme");
    let mut moved = admitted.clone();
    moved["metadata"]["annotations"][TENANT] = json!("id-other");
    refused(update(&admitted, &moved, ""), &acme.known, "tenant");
    // Where nobody signs, nobody is a tenant.
    let mut object = pod("shop", KNOWN);
    object["metadata"]["annotations"] = json!({TENANT: "id-acme"});
    let admitted = allowed(ask(object), &acme.known);
    assert!(admitted["metadata"]["annotations"].get(TENANT).is_none());
}
