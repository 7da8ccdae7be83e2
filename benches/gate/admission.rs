//! Admission under load: fifty who apply a workload of twenty objects each at once, in a cluster of 5,000.
//!
//! The cluster is what the gate's watches hold of one, and nobody is asked over a network: what is measured is the gate's own
//! part of the latency, of each request about an object.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use locus_attestation::clock::Timestamp;
use locus_attestation::cluster::admission::{Ask, Gatekeeper, Verb};
use locus_attestation::cluster::known::{Known, WATCHED};
use serde_json::{Value, json};

use super::Report;

const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);
const DIGEST: &str = "sha256:9341b6548cc35b64a6de0085555264336e2f570e17ecff20190bf62222f2bd64";
const OBJECTS: usize = 5000;
const APPLIES: usize = 50;
const WORKLOAD: usize = 20;
const LIMIT: Duration = Duration::from_millis(100);

fn template(app: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": app}},
        "spec": {
            "automountServiceAccountToken": false,
            "securityContext": {"runAsNonRoot": true, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{
                "name": "main", "image": format!("registry.example/redis@{DIGEST}"),
                "env": [{"name": "NAME", "valueFrom": {"configMapKeyRef": {"name": app, "key": "name"}}}],
                "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "1", "memory": "64Mi"}},
                "securityContext": {
                    "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]},
                },
            }],
        },
    })
}

fn deployment(namespace: &str, app: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": app, "namespace": namespace, "labels": {"app": app}},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": app}}, "template": template(app)},
    })
}

/// Fifty namespaces with a hundred objects each: deployments, and what they refer to and what selects them.
fn cluster() -> Known {
    let mut known = Known::new("the-gate");
    for kind in WATCHED {
        known.replace(kind.kind, []);
    }
    let set = json!({
        "apiVersion": "locus.dev/v1alpha1", "kind": "InvariantSet", "metadata": {"name": "all"},
        "spec": {"namespaces": ["team-*"]},
    });
    known.replace("InvariantSet", [set]);
    let image =
        json!({"metadata": {"name": "redis"}, "spec": {"image": "redis", "manifest": DIGEST}});
    known.replace("ReferenceImage", [image]);
    for number in 0..OBJECTS / 4 {
        let (namespace, app) = (
            format!("team-{}", number % APPLIES),
            format!("app-{number}"),
        );
        let metadata = json!({"name": app, "namespace": namespace, "labels": {"app": app}});
        known.put("Deployment", deployment(&namespace, &app));
        known.put(
            "ConfigMap",
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"name": app}}),
        );
        known.put(
            "Service",
            json!({
                "apiVersion": "v1", "kind": "Service", "metadata": metadata,
                "spec": {"selector": {"app": app}, "ports": [{"port": 80, "targetPort": 8080}]},
            }),
        );
        let mut pod = template(&app);
        pod["apiVersion"] = json!("v1");
        pod["kind"] = json!("Pod");
        pod["metadata"] = metadata;
        known.put("Pod", pod);
    }
    known
}

fn ask(namespace: &str, app: &str) -> Ask {
    Ask {
        uid: app.to_owned(),
        verb: Verb::Create,
        group: "apps".to_owned(),
        resource: "deployments".to_owned(),
        subresource: String::new(),
        namespace: namespace.to_owned(),
        name: app.to_owned(),
        user: "somebody".to_owned(),
        dry_run: false,
        object: deployment(namespace, app),
        old: Value::Null,
    }
}

pub(crate) fn run(report: &mut Report) {
    let known = Arc::new(cluster());
    let keeper = Gatekeeper::new(NOW);
    // Rules are compiled for the first question after a start.
    let begun = Instant::now();
    assert!(
        keeper
            .validate(&ask("team-0", "first"), &known, NOW)
            .allowed()
    );
    report.time(
        "admission, the first request after a start",
        begun.elapsed(),
        None,
    );
    let taken = Mutex::new(Vec::new());
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for apply in 0..APPLIES {
            let (known, keeper, taken) = (&known, &keeper, &taken);
            scope.spawn(move || {
                for number in 0..WORKLOAD {
                    let namespace = format!("team-{apply}");
                    let ask = ask(&namespace, &format!("new-{apply}-{number}"));
                    let begun = Instant::now();
                    let decision = keeper.validate(&ask, known, NOW);
                    let took = begun.elapsed();
                    // A ConfigMap that is not there yet is said, and refuses nothing.
                    assert!(decision.allowed(), "{decision:?}");
                    taken.lock().unwrap().push(took);
                }
            });
        }
    });
    report.time(
        "admission, 50 applies of 20 objects at once, all of it",
        begun.elapsed(),
        None,
    );
    let mut taken = taken.into_inner().unwrap();
    taken.sort();
    let percentile = |part: usize| taken[(taken.len() * part / 100).min(taken.len() - 1)];
    report.time("admission, median", percentile(50), None);
    report.time("admission, 99th percentile", percentile(99), Some(LIMIT));
}
