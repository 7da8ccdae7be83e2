//! Kinds of policies and of what leads to pods, each on a small cluster.

use locus_core::Sources;

use crate::kubernetes::Kubernetes;
use crate::language::reach::{Reach, Relation};
use crate::language::{Language as _, Request};
use crate::loader::MemoryLoader;

fn reach(text: &str) -> Reach {
    let loader = MemoryLoader::new().with("all.yaml", text);
    let mut sources = Sources::new();
    let reach = Kubernetes.reach(&Request::of(["all.yaml"]), &loader, &mut sources);
    reach.unwrap()
}

/// What can talk, as it is printed, of ends whose texts start so.
fn lines(text: &str, from: &str, to: &str) -> Vec<String> {
    let reach = reach(text);
    let relation = reach.relation.expect("the policies have no errors");
    let relation: &dyn Relation = &*relation;
    let mut found = Vec::new();
    for (at, source) in relation.peers().iter().enumerate() {
        for (other, connections) in relation.reached(at) {
            let target = &relation.peers()[other].text;
            if source.text.starts_with(from) && target.starts_with(to) {
                found.push(format!("{} => {target} : {connections}", source.text));
            }
        }
    }
    found
}

fn pod(name: &str, namespace: &str, more: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\n  namespace: {namespace}\n  labels: {{app: {name}}}\n{more}spec:\n  containers:\n  - name: c\n    image: i:1\n    ports:\n    - {{name: http, containerPort: 8080}}\n    - {{name: dns, containerPort: 53, protocol: UDP}}\n"
    )
}

fn two_pods() -> String {
    pod("a", "x", "") + &pod("b", "z", "")
}

#[test]
fn cluster_policies_are_asked_by_tier_and_priority() {
    let policy = |name: &str, tier: &str, priority: usize, rules: &str| {
        format!(
            "---\napiVersion: policy.networking.k8s.io/v1alpha2\nkind: ClusterNetworkPolicy\nmetadata: {{name: {name}}}\nspec:\n  tier: {tier}\n  priority: {priority}\n  subject: {{namespaces: {{}}}}\n  egress:\n{rules}"
        )
    };
    let deny = "  - action: Deny\n    to: [{namespaces: {}}]\n";
    let accept = "  - action: Accept\n    to: [{namespaces: {}}]\n    protocols:\n    - tcp: {destinationPort: {number: 80}}\n    - udp: {destinationPort: {range: {start: 50, end: 60}}}\n    - destinationNamedPort: http\n";
    let pass = "  - action: Pass\n    to: [{namespaces: {}}]\n    protocols: [{sctp: {}}]\n";
    let all =
        two_pods() + &policy("deny", "Baseline", 9, deny) + &policy("first", "Admin", 1, accept);
    assert_eq!(
        lines(&all, "x/a", "z/b"),
        ["x/a[Pod] => z/b[Pod] : TCP 80,8080,UDP 50-60"]
    );
    let all = two_pods() + &policy("second", "Admin", 2, deny) + &policy("first", "Admin", 1, pass);
    assert_eq!(
        lines(&all, "x/a", "z/b"),
        ["x/a[Pod] => z/b[Pod] : SCTP 1-65535"]
    );
    // All addresses are those of pods too.
    let networks = "  - action: Deny\n    to: [{networks: [0.0.0.0/0]}]\n";
    let all = two_pods() + &policy("deny", "Admin", 1, networks);
    assert_eq!(lines(&all, "x/a", ""), Vec::<String>::new());
}

#[test]
fn named_ports_are_those_of_the_destination_and_protocol() {
    let policy = "---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: p, namespace: x}\nspec:\n  podSelector: {}\n  egress:\n  - ports:\n    - port: http\n    - port: dns\n    - {port: dns, protocol: UDP}\n";
    let all = two_pods() + policy;
    assert_eq!(
        lines(&all, "x/a", ""),
        ["x/a[Pod] => z/b[Pod] : TCP 8080,UDP 53"]
    );
}

#[test]
fn pods_of_one_owner_are_one_end() {
    let owned = |name: &str| {
        let owner = "  ownerReferences:\n  - {apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u, controller: true}\n";
        pod(name, "x", owner)
    };
    let all = owned("web-1") + &owned("web-2") + &pod("b", "z", "");
    assert_eq!(
        lines(&all, "", "z/"),
        [
            "0.0.0.0-255.255.255.255[External] => z/b[Pod] : All Connections",
            "x/web[ReplicaSet] => z/b[Pod] : All Connections",
        ]
    );
}

#[test]
fn routes_of_a_gateway_lead_to_pods() {
    let service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: b, namespace: z}\nspec:\n  selector: {app: b}\n  ports:\n  - {port: 80, targetPort: http}\n";
    let route = |namespace: &str| {
        format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: r, namespace: {namespace}}}\nspec:\n  parentRefs: [{{name: g}}]\n  rules:\n  - backendRefs:\n    - {{name: b, namespace: z, port: 80}}\n"
        )
    };
    let grant = "---\napiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: z}\nspec:\n  from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: x}]\n  to: [{group: \"\", kind: Service}]\n";
    let forwarded = ["{ingress-controller} => z/b[Pod] : TCP 8080"];
    let base = two_pods() + service;
    assert_eq!(lines(&(base.clone() + &route("z")), "{", ""), forwarded);
    assert!(lines(&(base.clone() + &route("x")), "{", "").is_empty());
    assert_eq!(lines(&(base + &route("x") + grant), "{", ""), forwarded);
}

#[test]
fn nodes_are_ends_when_a_policy_speaks_of_them() {
    let node = "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: w1\n  labels: {role: worker}\nstatus: {addresses: [{type: InternalIP, address: 10.0.0.7}]}\n";
    let policy = "---\napiVersion: policy.networking.k8s.io/v1alpha1\nkind: AdminNetworkPolicy\nmetadata: {name: p}\nspec:\n  priority: 1\n  subject: {namespaces: {}}\n  egress:\n  - action: Deny\n    to: [{nodes: {matchLabels: {role: worker}}}]\n    ports: [{portNumber: {port: 10250}}]\n";
    let all = pod("a", "x", "") + node;
    assert!(lines(&all, "", "w1").is_empty());
    assert_eq!(
        lines(&(all + policy), "", "w1"),
        ["x/a[Pod] => w1[Node] : SCTP 1-65535,TCP 1-10249,10251-65535,UDP 1-65535"]
    );
}

#[test]
fn what_is_not_decided_is_said() {
    let policy = |name: &str, to: &str| {
        format!(
            "---\napiVersion: policy.networking.k8s.io/v1alpha1\nkind: AdminNetworkPolicy\nmetadata: {{name: {name}}}\nspec:\n  priority: 7\n  subject: {{namespaces: {{}}}}\n  egress:\n  - action: Allow\n    to: [{to}]\n"
        )
    };
    let tie = two_pods() + &policy("p", "{namespaces: {}}") + &policy("q", "{namespaces: {}}");
    assert_eq!(reach(&tie).unchecked.len(), 1);
    let domains = two_pods() + &policy("p", "{domainNames: [example.org]}");
    assert_eq!(reach(&domains).unchecked.len(), 1);
    let missing = two_pods() + &policy("p", "{}");
    let refused = reach(&missing);
    assert!(refused.relation.is_none());
    let codes: Vec<&str> = refused.diagnostics.iter().map(|one| &*one.code).collect();
    assert_eq!(codes, ["k8s-fields"]);
}
