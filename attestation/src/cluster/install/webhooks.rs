//! How the API server asks the gate: about what is in the table of what is covered, and never without an answer.

use serde_json::{Value, json};

use super::policies::is_own;
use super::{AGENTS, Choice, Component, NAMESPACE, PART_OF};
use crate::cluster::covered::{self, Covered};
use crate::cluster::names::{READINESS_GATE, TAINT};

/// The name of both configurations.
pub const NAME: &str = "locus-gate";

/// Where each question is asked.
pub const MUTATE: &str = "/mutate";
/// The second question.
pub const VALIDATE: &str = "/validate";

/// The configurations.
pub(super) fn objects(choice: &Choice) -> Vec<Value> {
    let mut gates = webhook(choice, "gates", MUTATE, covered::rules(true));
    // What others add after it is seen too.
    gates["reinvocationPolicy"] = json!("IfNeeded");
    gates["sideEffects"] = json!("None");
    let part = |resource: &str, subresource: &str| {
        let asked = covered::covered().into_iter();
        let asked = asked.filter(|one| one.validated);
        let of = asked.filter(|one| match resource {
            "" => !is_watched_apart(one),
            _ => one.resource == resource && one.subresource == subresource,
        });
        of.map(|one| one.rule()).collect()
    };
    let workloads = webhook(choice, "workloads", VALIDATE, part("", ""));
    // Kubelets write status all the time, also while the gate is away: asked is only about the gate's own condition.
    let condition = |of: &str| {
        format!(
            "(has({of}.status) && has({of}.status.conditions) ? {of}.status.conditions.filter(c, c.type == '{READINESS_GATE}') : [])"
        )
    };
    let mut status = webhook(choice, "status", VALIDATE, part("pods", "status"));
    only_if(&mut status, "attested", &condition);
    let taint = |of: &str| {
        format!("(has({of}.spec.taints) ? {of}.spec.taints.filter(t, t.key == '{TAINT}') : [])")
    };
    let mut nodes = webhook(choice, "nodes", VALIDATE, part("nodes", ""));
    only_if(&mut nodes, "taint", &taint);
    vec![
        configuration("MutatingWebhookConfiguration", &[gates]),
        configuration(
            "ValidatingWebhookConfiguration",
            &[workloads, status, nodes],
        ),
    ]
}

/// What is asked about only where the gate's part of it changes.
fn is_watched_apart(one: &Covered) -> bool {
    one.resource == "nodes" || one.subresource == "status"
}

/// Asks only where something of the object changes.
fn only_if(webhook: &mut Value, name: &str, part: &dyn Fn(&str) -> String) {
    let changed = format!("{} != {}", part("object"), part("oldObject"));
    webhook["matchConditions"] = json!([{"name": name, "expression": changed}]);
}

fn webhook(choice: &Choice, name: &str, path: &str, rules: Vec<Value>) -> Value {
    json!({
        "name": format!("{name}.locus.dev"),
        "admissionReviewVersions": ["v1"],
        // The webhook itself says which certificate it shows; until then nothing is believed, and nothing gets in.
        "clientConfig": {"service": {
            "name": Component::Gate.name(), "namespace": NAMESPACE, "path": path, "port": 443,
        }},
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "matchConditions": [{"name": "no-part-of-locus-itself", "expression": others(choice)}],
        "rules": rules,
        "sideEffects": "NoneOnDryRun",
        "timeoutSeconds": 10,
    })
}

fn configuration(kind: &str, webhooks: &[Value]) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": NAME, "labels": {PART_OF: "locus"}},
        "webhooks": webhooks,
    })
}

/// Whatever is not the gate itself, which must be able to start when it does not run. It is known by the digests of its
/// images, in its own namespaces.
fn others(choice: &Choice) -> String {
    let own = |spec: &str| is_own(choice, spec);
    let resource = "request.resource.resource";
    let sub = "(has(request.subResource) ? request.subResource : '')";
    let kinds = "['daemonsets', 'deployments', 'replicasets', 'statefulsets']";
    format!(
        "!(has(request.namespace) && request.namespace in ['{NAMESPACE}', '{AGENTS}'] && (\
         {resource} == 'pods' && {sub} == '' && {pod} || \
         {resource} in {kinds} && {sub} == '' && {template} || \
         {resource} == 'pods' && {sub} == 'binding' && request.userInfo.username == 'system:kube-scheduler'))",
        pod = own("object.spec"),
        template = own("object.spec.template.spec"),
    )
}
