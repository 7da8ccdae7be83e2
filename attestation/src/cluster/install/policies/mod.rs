//! The second line: what of the gate's rules CEL can say, as `ValidatingAdmissionPolicy` objects, which the API server asks itself.
//!
//! Their parameters are the InvariantSets: a policy is about the namespaces that a set names, and follows a set that changes.
//! They refuse what breaks them also when no webhook is there.

mod standards;

use serde_json::{Value, json};

pub use standards::{Said, Standard, said};

use super::{AGENTS, Choice, Component, NAMESPACE, PART_OF};
use crate::cluster::admission::{CONTROLLERS, Verb};
use crate::cluster::covered::{Covered, covered};
use crate::cluster::names::{
    KUBELET, MIRROR, PREFIX, READINESS_GATE, SCHEDULING_GATE, SIGNATURE, TAINT, TENANT, TOPOLOGY,
};
use crate::cluster::webhooks::annotated;

/// The policies and what binds them.
pub fn objects(choice: &Choice) -> Vec<Value> {
    let policies = [
        workloads(choice),
        pods(choice),
        guarded(),
        status(),
        owners(),
        revisions(),
        bindings(),
        nodes(),
    ];
    policies
        .into_iter()
        .flat_map(|policy| {
            let binding = binding(&policy);
            [policy, binding]
        })
        .collect()
}

/// Whether a pod runs what needs no check: the gate itself where it belongs, or what was chosen.
fn exempt(choice: &Choice, spec: &str) -> String {
    let own = is_own(choice, spec);
    let own = format!("request.namespace in ['{NAMESPACE}', '{AGENTS}'] && {own}");
    if choice.exempt.is_empty() {
        return own;
    }
    let all = choice.exempt.iter().map(|digest| format!("'{digest}'"));
    let all = format!("[{}]", all.collect::<Vec<_>>().join(", "));
    format!("{own} || {}", is_one_of(&all, spec))
}

/// Whether all that a pod runs or mounts has one of some digests.
fn is_one_of(digests: &str, spec: &str) -> String {
    let known = |image: &str| format!("{digests}.exists(d, {image}.endsWith('@' + d))");
    let list = |name: &str| {
        let image = known("c.image");
        format!("(!has({spec}.{name}) || {spec}.{name}.all(c, has(c.image) && {image}))")
    };
    let volumes = known("v.image.reference");
    format!(
        "({} && {} && {} && (!has({spec}.volumes) || {spec}.volumes.all(v, !has(v.image) || has(v.image.reference) && {volumes})))",
        list("containers"),
        list("initContainers"),
        list("ephemeralContainers"),
    )
}

/// Whether a pod is a part of the gate itself.
pub(super) fn is_own(choice: &Choice, spec: &str) -> String {
    let own = format!("['{}', '{}']", choice.gate_digest, choice.agent_digest);
    is_one_of(&own, spec)
}

struct Policy<'a> {
    name: &'a str,
    /// Whether it is about the namespaces that InvariantSets name, as opposed to the whole cluster.
    enrolled: bool,
    conditions: Vec<(&'a str, String)>,
    variables: Vec<(&'a str, String)>,
    validations: Vec<(String, String)>,
}

impl Policy<'_> {
    fn object(self, asked: impl Fn(&Covered) -> bool) -> Value {
        let all = covered().into_iter();
        let rules: Vec<Value> = all.filter(asked).map(|one| one.rule()).collect();
        self.about(rules)
    }

    fn about(self, rules: Vec<Value>) -> Value {
        let conditions = self.conditions.iter();
        let conditions = conditions.map(|(name, test)| json!({"name": name, "expression": test}));
        let mut conditions: Vec<Value> = conditions.collect();
        if self.enrolled {
            conditions.insert(0, json!({"name": "enrolled", "expression": enrolled()}));
        }
        let variables = self.variables.iter();
        let variables = variables.map(|(name, value)| json!({"name": name, "expression": value}));
        let validations = self.validations.iter();
        let validations = validations.map(|(message, test)| {
            json!({"expression": test, "message": message, "reason": "Forbidden"})
        });
        let mut spec = json!({
            "failurePolicy": "Fail",
            "matchConstraints": {"matchPolicy": "Equivalent", "resourceRules": rules},
            "matchConditions": conditions,
            "variables": variables.collect::<Vec<_>>(),
            "validations": validations.collect::<Vec<_>>(),
        });
        if self.enrolled {
            spec["paramKind"] = json!({"apiVersion": "locus.dev/v1alpha1", "kind": "InvariantSet"});
        }
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": self.name, "labels": {PART_OF: "locus"}},
            "spec": spec,
        })
    }
}

fn binding(policy: &Value) -> Value {
    let name = &policy["metadata"]["name"];
    let mut spec = json!({"policyName": name, "validationActions": ["Deny"]});
    if !policy["spec"]["paramKind"].is_null() {
        // Every set is asked; where there is none, no namespace is enrolled.
        spec["paramRef"] = json!({"selector": {}, "parameterNotFoundAction": "Allow"});
    }
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name, "labels": {PART_OF: "locus"}},
        "spec": spec,
    })
}

/// A set that enforces names the namespace.
fn enrolled() -> String {
    "(!has(params.spec.mode) || params.spec.mode == 'Enforce') && params.spec.namespaces.exists(n, n == request.namespace || \
     n.endsWith('*') && request.namespace.startsWith(n.substring(0, n.size() - 1)))"
        .to_owned()
}

fn the_gate() -> String {
    Component::Gate.user()
}

/// What pods there are, in whatever makes them.
fn variables(choice: &Choice) -> Vec<(&'static str, String)> {
    let list =
        |name: &str| format!("(has(variables.spec.{name}) ? dyn(variables.spec.{name}) : dyn([]))");
    vec![
        (
            "pod",
            "object.kind == 'Pod' ? dyn(object) : object.kind == 'CronJob' ? dyn(object.spec.jobTemplate.spec.template) : \
             object.kind == 'PodTemplate' ? dyn(object.template) : dyn(object.spec.template)"
                .to_owned(),
        ),
        ("spec", "variables.pod.spec".to_owned()),
        (
            "annotations",
            "has(variables.pod.metadata) && has(variables.pod.metadata.annotations) ? variables.pod.metadata.annotations : {}"
                .to_owned(),
        ),
        (
            "containers",
            format!(
                "{} + {} + {}",
                list("containers"),
                list("initContainers"),
                list("ephemeralContainers")
            ),
        ),
        ("volumes", list("volumes")),
        (
            "images",
            "variables.containers.map(c, has(c.image) ? c.image : '') + variables.volumes.filter(v, has(v.image)).map(v, \
             has(v.image.reference) ? v.image.reference : '')"
                .to_owned(),
        ),
        (
            "exempt",
            exempt(choice, "variables.spec"),
        ),
        (
            "mirror",
            format!("object.kind == 'Pod' && '{MIRROR}' in variables.annotations"),
        ),
        (
            "standard",
            "has(params.spec.podSecurity) ? params.spec.podSecurity : 'baseline'".to_owned(),
        ),
        ("baseline", "variables.standard != 'privileged'".to_owned()),
        ("restricted", "variables.standard == 'restricted'".to_owned()),
    ]
}

/// Images by digest, and the Pod Security Standards, for pods and whatever makes them.
fn workloads(choice: &Choice) -> Value {
    let let_off = "variables.exempt || ";
    let mut validations = vec![
        (
            "image-digest: an image is not named by its digest; write `NAME@sha256:...`".to_owned(),
            format!("{let_off}variables.images.all(i, i.matches('^[^@]+@sha256:[0-9a-f]{{64}}$'))"),
        ),
        (
            "node-name: the pods choose their node themselves; use `nodeSelector` or `affinity`"
                .to_owned(),
            format!(
                "{let_off}variables.mirror || object.kind == 'Pod' && request.operation == 'UPDATE' || \
                 !has(variables.spec.nodeName) || variables.spec.nodeName == ''"
            ),
        ),
    ];
    for rule in said() {
        let Said { id, expression, .. } = &rule;
        let asked = match rule.standard {
            Standard::Baseline => "variables.baseline",
            Standard::Restricted => "variables.restricted",
        };
        let level = format!(
            "has(params.spec.rules) && '{id}' in params.spec.rules && params.spec.rules['{id}'] != 'error'"
        );
        validations.push((
            format!("{id}: {}", rule.message),
            format!("{let_off}variables.mirror || !{asked} || {level} || ({expression})"),
        ));
    }
    let unchanged = "request.operation == 'CREATE' || object.kind == 'PodTemplate' || object.spec != oldObject.spec";
    // The gate lets a pod go that was checked when it came.
    let opened = format!(
        "!(request.operation == 'UPDATE' && request.userInfo.username == '{}' && object.kind == 'Pod' && \
         object.spec.containers == oldObject.spec.containers)",
        the_gate()
    );
    let policy = Policy {
        name: "locus-workloads",
        enrolled: true,
        conditions: vec![("changed", unchanged.to_owned()), ("not-opened", opened)],
        variables: variables(choice),
        validations,
    };
    policy.object(|one| {
        let whole = matches!(one.subresource, "" | "ephemeralcontainers" | "resize");
        one.validated
            && whole
            && !matches!(one.resource, "nodes" | "bindings" | "controllerrevisions")
    })
}

/// New pods have both gates.
fn pods(choice: &Choice) -> Value {
    let gates = format!(
        "variables.exempt || variables.mirror || has(object.spec.schedulingGates) && \
         object.spec.schedulingGates.exists(g, g.name == '{SCHEDULING_GATE}') && has(object.spec.readinessGates) && \
         object.spec.readinessGates.exists(g, g.conditionType == '{READINESS_GATE}')"
    );
    let mirror = "!variables.mirror || has(object.spec.nodeName) && request.userInfo.username == 'system:node:' + \
                  object.spec.nodeName";
    let policy = Policy {
        name: "locus-pods",
        enrolled: true,
        conditions: Vec::new(),
        variables: variables(choice)
            .into_iter()
            .filter(|(name, _)| matches!(*name, "pod" | "spec" | "annotations" | "exempt" | "mirror"))
            .collect(),
        validations: vec![
            (
                "gates: the gates of Locus are not there: the webhook adds them, and so does `locus deploy`"
                    .to_owned(),
                gates,
            ),
            (
                "mirror: only a node makes the stand-ins of its static pods".to_owned(),
                mirror.to_owned(),
            ),
        ],
    };
    let rule = Covered {
        group: "",
        resource: "pods",
        subresource: "",
        verbs: &[Verb::Create],
        mutated: false,
        validated: true,
    };
    policy.about(vec![rule.rule()])
}

/// What only the gate may change in a pod, wherever it is.
fn guarded() -> Value {
    let gates = |of: &str, list: &str, key: &str, name: &str| {
        format!("has({of}.spec.{list}) && {of}.spec.{list}.exists(g, g.{key} == '{name}')")
    };
    let kept = |list: &str, key: &str, name: &str| {
        format!(
            "!({}) || {}",
            gates("oldObject", list, key, name),
            gates("object", list, key, name)
        )
    };
    let policy = Policy {
        name: "locus-pods-guarded",
        enrolled: false,
        conditions: vec![(
            "not-the-gate",
            format!("request.userInfo.username != '{}'", the_gate()),
        )],
        variables: Vec::new(),
        validations: vec![
            (
                format!("gates: only the gate takes away the scheduling gate `{SCHEDULING_GATE}`"),
                kept("schedulingGates", "name", SCHEDULING_GATE),
            ),
            (
                format!("gates: nobody takes away the readiness gate `{READINESS_GATE}`"),
                kept("readinessGates", "conditionType", READINESS_GATE),
            ),
            kept_annotation(TENANT),
            kept_annotation(MIRROR),
        ],
    };
    let rules = ["", "ephemeralcontainers", "resize"].map(|subresource| {
        let one = Covered {
            group: "",
            resource: "pods",
            subresource,
            verbs: &[Verb::Update],
            mutated: false,
            validated: true,
        };
        one.rule()
    });
    policy.about(rules.to_vec())
}

/// An annotation that does not change.
fn kept_annotation(name: &str) -> (String, String) {
    let (new, old) = (annotated("object", name), annotated("oldObject", name));
    (
        format!("tenant: the annotation `{name}` does not change"),
        format!("{new} == {old}"),
    )
}

/// Labels that do not change: they are no status.
fn kept_labels() -> (String, String) {
    let labels = |of: &str| format!("(has({of}.metadata.labels) ? {of}.metadata.labels : {{}})");
    (
        "status: labels are not changed by way of the status".to_owned(),
        format!("{} == {}", labels("object"), labels("oldObject")),
    )
}

/// Whose a workload is and what selects it, changed by way of its status.
fn owners() -> Value {
    let owner = |of: &str| {
        format!(
            "(has({of}.metadata.ownerReferences) ? {of}.metadata.ownerReferences.filter(o, has(o.controller) && \
             o.controller).map(o, o.uid) : [])"
        )
    };
    let policy = Policy {
        name: "locus-workloads-status",
        enrolled: true,
        conditions: Vec::new(),
        variables: Vec::new(),
        validations: vec![
            (
                "status: owners are not changed by way of the status".to_owned(),
                format!("{} == {}", owner("object"), owner("oldObject")),
            ),
            kept_labels(),
            kept_annotation(SIGNATURE),
        ],
    };
    policy.object(|one| one.subresource == "status" && one.resource != "pods")
}

/// Of what signed workloads were, pods are made again.
fn revisions() -> Value {
    let users = CONTROLLERS.map(|name| format!("'system:serviceaccount:kube-system:{name}'"));
    let users = format!("['system:kube-controller-manager', {}]", users.join(", "));
    let policy = Policy {
        name: "locus-revisions",
        enrolled: true,
        conditions: vec![
            (
                "signed",
                "has(params.spec.tenants) && params.spec.tenants.size() > 0".to_owned(),
            ),
            (
                "no-controller",
                format!("!(request.userInfo.username in {users})"),
            ),
        ],
        variables: Vec::new(),
        validations: vec![(
            "revision: only the controllers of the cluster write what signed workloads were"
                .to_owned(),
            "request.operation == 'UPDATE'".to_owned(),
        )],
    };
    policy.object(|one| one.resource == "controllerrevisions")
}

/// What a binding would write into its pod beside the node.
fn bindings() -> Value {
    let topology = TOPOLOGY.map(|label| format!("'{label}'")).join(", ");
    let policy = Policy {
        name: "locus-bindings",
        enrolled: false,
        conditions: Vec::new(),
        variables: Vec::new(),
        validations: vec![
            (
                "binding: a binding writes no annotation of the gate or the kubelet into its pod"
                    .to_owned(),
                format!(
                    "!has(object.metadata.annotations) || \
                     !object.metadata.annotations.exists(k, k.startsWith('{PREFIX}') || k.startsWith('{KUBELET}'))"
                ),
            ),
            (
                "binding: a binding writes no label into its pod but where its node is".to_owned(),
                format!(
                    "!has(object.metadata.labels) || object.metadata.labels.all(k, k in [{topology}])"
                ),
            ),
        ],
    };
    policy.object(|one| one.path() == "pods/binding" || one.resource == "bindings")
}

/// Only the gate says that a pod is attested.
fn status() -> Value {
    let said = |of: &str| {
        format!(
            "(has({of}.status) && has({of}.status.conditions) ? {of}.status.conditions.filter(c, c.type == \
             '{READINESS_GATE}').map(c, c.status) : [])"
        )
    };
    let policy = Policy {
        name: "locus-pods-status",
        enrolled: false,
        conditions: vec![(
            "not-the-gate",
            format!("request.userInfo.username != '{}'", the_gate()),
        )],
        variables: Vec::new(),
        validations: vec![
            (
                format!("status: only the gate writes the condition `{READINESS_GATE}`"),
                format!("{} == {}", said("object"), said("oldObject")),
            ),
            kept_labels(),
            kept_annotation(TENANT),
            kept_annotation(MIRROR),
        ],
    };
    policy.object(|one| one.resource == "pods" && one.subresource == "status")
}

/// Only the gate trusts a node; a new one takes no pods.
fn nodes() -> Value {
    let tainted = |of: &str| {
        format!(
            "(has({of}.spec.taints) && {of}.spec.taints.exists(t, t.key == '{TAINT}' && t.effect == 'NoSchedule'))"
        )
    };
    let policy = Policy {
        name: "locus-nodes",
        enrolled: false,
        conditions: vec![(
            "not-the-gate",
            format!("request.userInfo.username != '{}'", the_gate()),
        )],
        variables: Vec::new(),
        validations: vec![
            (
                format!(
                    "taint: a new node takes no pods before it is trusted; register it with the taint `{TAINT}:NoSchedule`"
                ),
                format!("request.operation != 'CREATE' || {}", tainted("object")),
            ),
            (
                format!("taint: only the gate takes the taint `{TAINT}` from a node"),
                format!(
                    "request.operation != 'UPDATE' || !{} || {}",
                    tainted("oldObject"),
                    tainted("object")
                ),
            ),
        ],
    };
    policy.object(|one| one.resource == "nodes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_the_standards_is_said_and_is_balanced() {
        let rules = include_str!("../../../../../invariants/library/kubernetes/pod_security.als");
        for rule in said() {
            assert!(rules.contains(&format!("/** {} ", rule.id)), "{rule:?}");
            let count = |one: char| rule.expression.matches(one).count();
            assert_eq!(count('('), count(')'), "{rule:?}");
            assert!(!rule.expression.contains("X."), "{rule:?}");
        }
        for line in rules.lines().filter(|line| line.starts_with("/** K8S")) {
            let id = line.split_whitespace().nth(1).unwrap();
            assert!(said().iter().any(|one| one.id == id), "{line}");
        }
    }

    #[test]
    fn each_policy_is_bound_and_fails_closed() {
        let digest = "a".repeat(64);
        let image = format!("locus@sha256:{digest}");
        let choice = Choice::new(&image, &image).unwrap();
        let all = objects(&choice);
        assert_eq!(all.len(), 16);
        for pair in all.chunks(2) {
            assert_eq!(pair[0]["spec"]["failurePolicy"], "Fail");
            assert_eq!(pair[1]["spec"]["policyName"], pair[0]["metadata"]["name"]);
            let enrolled = !pair[0]["spec"]["paramKind"].is_null();
            assert_eq!(enrolled, !pair[1]["spec"]["paramRef"].is_null());
        }
        assert!(all[0].to_string().contains(&digest));
    }
}
