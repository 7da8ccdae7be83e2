//! Random manifests with autoscalers.

use std::fmt::Write as _;

use super::random::Random;
use super::{Case, Domain};

/// A random cluster: nodes, and workloads some of which autoscalers scale, with budgets and a quota.
pub(crate) fn manifests(random: &mut Random) -> Case {
    let mut out = String::from("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n");
    if random.once_in(5) {
        out.clear();
    } else {
        for node in 0..1 + random.below(3) {
            let zone = random.pick(&["a", "b"]);
            let cpu = random.pick(&["2", "3", "4", "6"]);
            let pods = random.pick(&["4", "8", "20"]);
            let _ = writeln!(
                out,
                "---\napiVersion: v1\nkind: Node\nmetadata: {{name: n{node}, labels: {{topology.kubernetes.io/zone: {zone}}}}}\n\
                 status: {{allocatable: {{cpu: '{cpu}', memory: 8Gi, pods: '{pods}'}}}}"
            );
        }
    }
    let policy = random.pick(&["PreemptLowerPriority", "Never"]);
    let _ = writeln!(
        out,
        "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: high}}\nvalue: 10\npreemptionPolicy: {policy}"
    );
    let mut inputs: Vec<Domain> = Vec::new();
    for at in 0..1 + random.below(3) {
        workload(random, at, &mut out, &mut inputs);
    }
    if random.once_in(2) {
        let pods = random.pick(&["3", "5", "8", "12"]);
        let cpu = random.pick(&["2", "3500m", "6"]);
        let _ = writeln!(
            out,
            "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: quota, namespace: shop}}\n\
             spec: {{hard: {{pods: '{pods}', requests.cpu: '{cpu}'}}}}"
        );
    }
    for at in 0..random.below(3) {
        let least = random.pick(&["1", "2", "3", "4", "50%", "75%", "90%"]);
        let select = random.pick(&[
            "matchLabels: {app: w0}",
            "matchLabels: {app: w1}",
            "matchLabels: {tier: t}",
        ]);
        let _ = writeln!(
            out,
            "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: b{at}, namespace: shop}}\n\
             spec:\n  minAvailable: {least}\n  selector: {{{select}}}"
        );
    }
    Case {
        language: "kubernetes",
        file: "cluster.yaml",
        text: out,
        inputs,
        free: false,
    }
}

fn workload(random: &mut Random, at: usize, out: &mut String, inputs: &mut Vec<Domain>) {
    let kind = random.pick(&["Deployment", "Deployment", "StatefulSet"]);
    let cpu = random.pick(&["300m", "700m", "1", "1500m"]);
    let mut spec = String::new();
    if random.once_in(2) {
        let _ = writeln!(spec, "  replicas: {}", random.below(6));
    }
    if kind == "StatefulSet" {
        spec += "  serviceName: web\n";
    } else if random.once_in(2) {
        let unavailable = random.pick(&["0", "25%", "34%", "1"]);
        let surge = random.pick(&["1", "50%"]);
        let _ = writeln!(
            spec,
            "  strategy: {{rollingUpdate: {{maxUnavailable: {unavailable}, maxSurge: {surge}}}}}"
        );
    }
    let mut pod = String::new();
    if random.once_in(3) {
        pod += "      priorityClassName: high\n";
    }
    if random.once_in(3) {
        let key = random.pick(&["kubernetes.io/hostname", "topology.kubernetes.io/zone"]);
        let _ = writeln!(
            pod,
            "      affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: {key}, \
             labelSelector: {{matchLabels: {{app: w{at}}}}}}}]}}}}"
        );
    } else if random.once_in(3) {
        let other = random.below(2);
        let _ = writeln!(
            pod,
            "      affinity: {{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: kubernetes.io/hostname, \
             labelSelector: {{matchLabels: {{app: w{other}}}}}}}]}}}}"
        );
    } else if random.once_in(3) {
        let _ = writeln!(
            pod,
            "      topologySpreadConstraints: [{{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, \
             whenUnsatisfiable: DoNotSchedule, labelSelector: {{matchLabels: {{app: w{at}}}}}}}]"
        );
    }
    let _ = writeln!(
        out,
        "---\napiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: w{at}, namespace: shop}}\nspec:\n{spec}  \
         selector: {{matchLabels: {{app: w{at}}}}}\n  template:\n    metadata: {{labels: {{app: w{at}, tier: t}}}}\n    \
         spec:\n{pod}      containers:\n        - name: c\n          image: example/c:1.0\n          \
         resources: {{requests: {{cpu: {cpu}, memory: 64Mi}}, limits: {{memory: 64Mi}}}}"
    );
    if random.once_in(4) {
        return;
    }
    let least = random.below(4);
    let most = least + random.below(5);
    let _ = writeln!(
        out,
        "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{name: h{at}, namespace: shop}}\nspec:\n  \
         scaleTargetRef: {{apiVersion: apps/v1, kind: {kind}, name: w{at}}}\n  minReplicas: {least}\n  maxReplicas: {most}"
    );
    let paused = spec.contains("replicas: 0") && least > 0;
    if most > least && !paused {
        let counts = (least..=most).map(|count| Some(count.to_string()));
        let name = format!("replicas of shop/{kind}/w{at}");
        inputs.push((name, [None].into_iter().chain(counts).collect()));
    }
}
