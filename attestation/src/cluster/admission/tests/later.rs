//! What is changed after it was let in, and what is let in for another reason, each named after what somebody wanted.

use super::*;

#[test]
fn to_leave_what_selects_a_pod_by_another_label() {
    let mut known = cluster();
    let strict = json!({"namespaces": ["shop"], "rules": {"K8S061": "error"}});
    known.put("InvariantSet", set("shop", strict));
    refused_by_rule(ask(pod("shop", KNOWN)), &known);
    let policy = json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "closed", "namespace": "shop"},
        "spec": {"podSelector": {"matchLabels": {"app": "redis"}}, "policyTypes": ["Ingress", "Egress"]},
    });
    known.put("NetworkPolicy", policy);
    let held = allowed(ask(pod("shop", KNOWN)), &known);
    for labels in [json!({"app": "other"}), json!({}), Value::Null] {
        let mut moved = held.clone();
        moved["metadata"]["labels"] = labels;
        let said = refused(update(&held, &moved, ""), &known, "K8S061");
        assert!(said.contains("K8S061"), "{said}");
    }
    let mut more = held.clone();
    more["metadata"]["labels"]["tier"] = json!("db");
    allowed(update(&held, &more, ""), &known);
}

#[test]
fn to_take_the_place_of_another_tenants_pod_by_its_labels() {
    let acme = Acme::new();
    let admitted = allowed(ask(acme.sign(pod("signed", KNOWN))), &acme.known);
    let mut moved = admitted.clone();
    moved["metadata"]["labels"]["app"] = json!("other");
    refused(update(&admitted, &moved, ""), &acme.known, "signature");
    // What is no label is no news.
    let mut noted = admitted.clone();
    noted["metadata"]["annotations"]["note"] = json!("x");
    noted["metadata"]["finalizers"] = json!(["example.com/x"]);
    allowed(update(&admitted, &noted, ""), &acme.known);
}

#[test]
fn to_run_a_known_image_that_is_neither_held_back_nor_attested() {
    let mut known = cluster();
    let admitted = allowed(ask(pod("shop", EXEMPT)), &known);
    assert!(admitted["spec"].get("readinessGates").is_none());
    let mut swapped = admitted.clone();
    swapped["spec"]["containers"][0]["image"] = json!(format!("redis@{KNOWN}"));
    refused(update(&admitted, &swapped, ""), &known, "gates");
    let mut debugged = admitted.clone();
    debugged["spec"]["ephemeralContainers"] = json!([{
        "name": "debugger", "image": format!("redis@{KNOWN}"),
        "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
    }]);
    let asked = update(&admitted, &debugged, "ephemeralcontainers");
    refused(asked, &known, "gates");
    // A pod of the time when the namespace was only watched goes on, and runs nothing else.
    let watched = allowed(ask(pod("trial", KNOWN)), &known);
    known.put(
        "InvariantSet",
        set("trial", json!({"namespaces": ["trial"]})),
    );
    let mut longer = watched.clone();
    longer["spec"]["activeDeadlineSeconds"] = json!(60);
    allowed(update(&watched, &longer, ""), &known);
    let mut other = watched.clone();
    other["spec"]["containers"][0]["image"] = json!(format!("other@{KNOWN}"));
    refused(update(&watched, &other, ""), &known, "gates");
}

#[test]
fn to_have_a_root_shell_of_the_worker_by_an_image_that_is_exempt_elsewhere() {
    let mut known = cluster();
    let exempt = json!({"reason": "part of the node", "namespaces": ["kube-system"]});
    known.put(
        "ReferenceImage",
        json!({"metadata": {"name": "pause"}, "spec": {"image": "pause", "manifest": EXEMPT, "exempt": exempt}}),
    );
    let shell = |namespace: &str| {
        let mut object = pod(namespace, EXEMPT);
        let container = &mut object["spec"]["containers"][0];
        container["command"] = json!(["/host/bin/sh"]);
        container["securityContext"] = json!({"privileged": true});
        container["volumeMounts"] = json!([{"name": "host", "mountPath": "/host"}]);
        object["spec"]["volumes"] = json!([{"name": "host", "hostPath": {"path": "/"}}]);
        object
    };
    refused_by_rule(ask(shell("shop")), &known);
    refused(ask(shell("default")), &known, "namespace");
    allowed(ask(shell("kube-system")), &known);
    // Where it is not exempt, it is an image like any other.
    let held = allowed(ask(pod("shop", EXEMPT)), &known);
    assert!(held["spec"]["schedulingGates"].is_array());
}

#[test]
fn to_be_ready_by_saying_it_twice() {
    let known = cluster();
    let mut held = allowed(ask(pod("shop", KNOWN)), &known);
    let said = |word: &str| json!({"type": READINESS_GATE, "status": word, "reason": "x"});
    held["status"] = json!({"conditions": [said("False")]});
    let mut twice = held.clone();
    twice["status"]["conditions"] = json!([said("False"), said("True")]);
    refused(update(&held, &twice, "status"), &known, "status");
    // Nor are other words put into the gate's mouth.
    let mut worded = held.clone();
    worded["status"]["conditions"][0]["message"] = json!("all is well");
    refused(update(&held, &worded, "status"), &known, "status");
}
