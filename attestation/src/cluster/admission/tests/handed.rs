//! Whose a pod is: ways to have it taken for another tenant's, each named after what somebody wanted.

use super::*;

const REPLICAS: &str = "system:serviceaccount:kube-system:replicaset-controller";
const STATEFUL: &str = "system:serviceaccount:kube-system:statefulset-controller";

/// Two tenants of the namespace `signed`.
struct Two {
    keys: [TokenKey; 2],
    known: Known,
}

const ACME: usize = 0;
const UMBRELLA: usize = 1;
const IDS: [&str; 2] = ["id-acme", "id-umbrella"];

fn by(user: &str, ask: Ask) -> Ask {
    let user = user.to_owned();
    Ask { user, ..ask }
}

/// With a controller.
fn owned(mut object: Value, owner: &Value) -> Value {
    object["metadata"]["ownerReferences"] = json!([{
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"], "controller": true,
    }]);
    object
}

fn named(kind: &str, name: &str) -> Value {
    let mut object = workload(kind, "signed", KNOWN);
    object["metadata"]["name"] = json!(name);
    object["metadata"]["uid"] = json!(format!("uid-of-{name}"));
    object
}

impl Two {
    fn new() -> Self {
        let keys = [TokenKey::generate().unwrap(), TokenKey::generate().unwrap()];
        let mut known = cluster();
        known.put(
            "InvariantSet",
            set(
                "signed",
                json!({"namespaces": ["signed"], "tenants": ["acme", "umbrella"]}),
            ),
        );
        let tenant = |of: usize| Tenant {
            id: IDS[of].to_owned(),
            name: IDS[of].trim_start_matches("id-").to_owned(),
            key: keys[of].public(),
        };
        known.tenants = Some(vec![tenant(ACME), tenant(UMBRELLA)]);
        Two { keys, known }
    }

    fn token(&self, of: usize, object: &Value) -> String {
        let kind = text(object, &["kind"]).to_owned();
        let workload = WORKLOADS.iter().find(|one| one.kind == kind).unwrap();
        let nonce = Nonce::random().unwrap();
        let signed = signature::sign(&self.keys[of], IDS[of], (workload, object), nonce, NOW);
        signed.unwrap()
    }

    fn signed(&self, of: usize, mut object: Value) -> Value {
        let token = self.token(of, &object);
        object["metadata"]["annotations"] = json!({SIGNATURE: token});
        object
    }

    /// Puts an object into the cluster.
    fn put(&mut self, object: &Value) {
        let kind = text(object, &["kind"]).to_owned();
        let kind = WORKLOADS.iter().find(|one| one.kind == kind).unwrap().kind;
        self.known.put(kind, object.clone());
    }

    /// The tenant of a pod that a controller makes for its owner, and why there is none.
    fn tenant(&self, owner: &Value) -> Result<String, String> {
        let child = owned(pod("signed", KNOWN), owner);
        let asked = by(REPLICAS, ask(child));
        let (object, decision) = admit(&Gatekeeper::new(NOW), asked.clone(), &self.known);
        let tenant = annotation(&object, TENANT).unwrap_or_default().to_owned();
        match decision.allowed() {
            true => Ok(tenant),
            false => Err(decision.message(&asked)),
        }
    }
}

#[test]
fn to_have_ones_pods_taken_for_anothers_by_naming_its_workload_as_the_owner() {
    let mut two = Two::new();
    let theirs = two.signed(ACME, named("Deployment", "theirs"));
    two.put(&theirs);
    // Signed by oneself, and said to belong to the other: what is signed nearest counts.
    let mine = two.signed(UMBRELLA, owned(named("ReplicaSet", "mine"), &theirs));
    allowed(ask(mine.clone()), &two.known);
    two.put(&mine);
    assert_eq!(two.tenant(&mine), Ok(IDS[UMBRELLA].to_owned()));
    // Unsigned, it does not get in.
    let unsigned = owned(named("ReplicaSet", "unsigned"), &theirs);
    refused(ask(unsigned), &two.known, "signature");
}

#[test]
fn to_give_a_controllers_replicas_to_anothers_workload() {
    let mut two = Two::new();
    let (theirs, own) = (
        two.signed(ACME, named("Deployment", "theirs")),
        two.signed(UMBRELLA, named("Deployment", "own")),
    );
    two.put(&theirs);
    two.put(&own);
    // As the controller makes it, with the annotations of its Deployment.
    let mut replicas = owned(named("ReplicaSet", "replicas"), &own);
    replicas["metadata"]["annotations"] = own["metadata"]["annotations"].clone();
    two.put(&replicas);
    assert_eq!(two.tenant(&replicas), Ok(IDS[UMBRELLA].to_owned()));
    let mut given = owned(replicas.clone(), &theirs);
    refused(update(&replicas, &given, ""), &two.known, "signature");
    refused(update(&replicas, &given, "status"), &two.known, "status");
    // Taken from its owner, as a deletion that leaves it does, it is nobody's; one that is adopted keeps its mark.
    let mut left = replicas.clone();
    left["metadata"]["ownerReferences"] = json!([]);
    allowed(update(&replicas, &left, ""), &two.known);
    two.put(&left);
    assert!(two.tenant(&left).is_err());
    allowed(
        by(
            "system:serviceaccount:kube-system:deployment-controller",
            update(&left, &given, ""),
        ),
        &two.known,
    );
    two.put(&given);
    let why = two.tenant(&given).unwrap_err();
    assert!(why.contains("what another signed"), "{why}");
    // The mark is not taken away either.
    given["metadata"]["annotations"] = Value::Null;
    refused(update(&replicas, &given, ""), &two.known, "signature");
    let mut unmarked = replicas.clone();
    unmarked["metadata"]["annotations"] = Value::Null;
    refused(update(&replicas, &unmarked, ""), &two.known, "signature");
    refused(update(&replicas, &unmarked, "status"), &two.known, "status");
}

#[test]
fn to_have_a_controller_make_pods_of_what_a_workload_never_was() {
    let mut two = Two::new();
    let theirs = two.signed(ACME, named("StatefulSet", "theirs"));
    two.put(&theirs);
    let revision = |data: Value| {
        let object = json!({
            "apiVersion": "apps/v1", "kind": "ControllerRevision",
            "metadata": {"name": "theirs-1", "namespace": "signed", "labels": {"app": "redis"}},
            "data": data, "revision": 1,
        });
        owned(object, &theirs)
    };
    let asked = |object: Value, old: Value| Ask {
        group: "apps".to_owned(),
        resource: "controllerrevisions".to_owned(),
        verb: if old.is_null() {
            Verb::Create
        } else {
            Verb::Update
        },
        object,
        old,
        ..ask(named("Pod", "x"))
    };
    let (good, evil) = (revision(json!({"a": 1})), revision(json!({"a": 2})));
    refused(asked(evil.clone(), Value::Null), &two.known, "revision");
    refused(asked(evil.clone(), good.clone()), &two.known, "revision");
    let mut labelled = good.clone();
    labelled["metadata"]["labels"]["app"] = json!("other");
    refused(asked(labelled, good.clone()), &two.known, "revision");
    allowed(by(STATEFUL, asked(good.clone(), Value::Null)), &two.known);
    // Its number, and an owner that is taken away, are no news; where nobody signs, pods are checked like any others.
    let mut left = good.clone();
    left["metadata"]["ownerReferences"] = json!([]);
    left["revision"] = json!(2);
    allowed(asked(left, good), &two.known);
    let elsewhere = Ask {
        namespace: "shop".to_owned(),
        ..asked(evil, Value::Null)
    };
    allowed(elsewhere, &two.known);
}

#[test]
fn to_give_a_pod_to_another_tenant_by_its_binding() {
    let mut known = cluster();
    known.put("Pod", pod("shop", KNOWN));
    for (place, key) in [
        ("annotations", TENANT),
        ("annotations", SIGNATURE),
        ("annotations", MIRROR),
        ("annotations", "kubernetes.io/config.hash"),
        // What selects it: the server writes the labels of a binding over those of the pod.
        ("labels", "app"),
    ] {
        for (resource, subresource) in [("pods", "binding"), ("bindings", "")] {
            let mut asked = binding(resource, subresource, "good");
            asked.object["metadata"][place] = json!({key: "id-umbrella"});
            for user in ["alice", "system:kube-scheduler"] {
                refused(by(user, asked.clone()), &known, "binding");
            }
        }
    }
    // What the server itself adds to it, and what a scheduler may say.
    let mut asked = binding("pods", "binding", "good");
    asked.object["metadata"]["labels"] =
        json!({"topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "b"});
    asked.object["metadata"]["annotations"] = json!({"scheduler.example/score": "7"});
    allowed(asked, &known);
    // Also of a pod whose images are exempt.
    known.put("Pod", pod("shop", EXEMPT));
    let mut asked = binding("pods", "binding", "good");
    asked.object["metadata"]["annotations"] = json!({TENANT: "id-umbrella"});
    refused(asked, &known, "binding");
}

#[test]
fn to_give_a_pod_to_another_tenant_by_its_status() {
    let known = cluster();
    let held = allowed(ask(pod("shop", KNOWN)), &known);
    let changes: [(fn(&mut Value), &str); 4] = [
        (
            |pod| pod["metadata"]["annotations"] = json!({TENANT: "id-umbrella"}),
            "tenant",
        ),
        (
            |pod| pod["metadata"]["annotations"] = json!({MIRROR: "x"}),
            "tenant",
        ),
        (
            |pod| pod["metadata"]["labels"]["app"] = json!("other"),
            "status",
        ),
        (|pod| pod["metadata"]["labels"] = Value::Null, "status"),
    ];
    for (change, code) in changes {
        let mut changed = held.clone();
        change(&mut changed);
        for user in ["alice", "system:node:good"] {
            let asked = by(user, update(&held, &changed, "status"));
            refused(asked, &known, code);
        }
    }
}

#[test]
fn to_be_another_tenant_where_nothing_is_held_back() {
    let two = Two::new();
    let claim = |mut object: Value| {
        object["metadata"]["annotations"][TENANT] = json!(IDS[ACME]);
        object
    };
    // An exempt image, and a namespace where findings are only reported.
    for object in [
        pod("kube-system", EXEMPT),
        pod("signed", EXEMPT),
        pod("trial", KNOWN),
    ] {
        let admitted = allowed(ask(claim(object.clone())), &two.known);
        assert_eq!(annotation(&admitted, TENANT), None, "{admitted}");
        // Written by a webhook that comes after the gate's.
        let late = Gatekeeper::new(NOW).validate(&ask(claim(object)), &two.known, NOW);
        assert_eq!(codes(&late), ["tenant"]);
    }
    // A static pod: whatever its manifest on the node says.
    let mut object = claim(pod("signed", KNOWN));
    object["metadata"]["annotations"][MIRROR] = json!("x");
    object["spec"]["nodeName"] = json!("good");
    let admitted = allowed(by("system:node:good", ask(object)), &two.known);
    assert_eq!(annotation(&admitted, TENANT), None, "{admitted}");
    assert_eq!(annotation(&admitted, MIRROR), Some("x"));
}

#[test]
fn to_be_nobodys_tenant_where_another_set_only_reports() {
    let mut two = Two::new();
    // Its name comes first, and it is for other tenants.
    let other = json!({"namespaces": ["signed"], "mode": "Audit", "tenants": ["someone"]});
    two.known.put("InvariantSet", set("a", other));
    let admitted = allowed(ask(two.signed(ACME, pod("signed", KNOWN))), &two.known);
    assert_eq!(annotation(&admitted, TENANT), Some(IDS[ACME]));
}
