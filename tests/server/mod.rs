//! Objects that lack something, have too much of it, or have it in the wrong form, one thing each.

fn object(version: &str, kind: &str, rest: &str) -> String {
    format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x}}\n{rest}\n")
}

const C: &str = "name: c, image: 'i:1'";

/// A pod with something in its `spec`, and one container.
fn pod(more: &str) -> String {
    object(
        "v1",
        "Pod",
        &format!("spec: {{{more}, containers: [{{{C}}}]}}"),
    )
}

/// A pod with something in its container, and a volume `v`.
fn container(more: &str) -> String {
    object(
        "v1",
        "Pod",
        &format!("spec: {{volumes: [{{name: v, emptyDir: {{}}}}], containers: [{{{C}, {more}}}]}}"),
    )
}

/// A pod with a volume.
fn volume(source: &str) -> String {
    pod(&format!("volumes: [{{name: v, {source}}}]"))
}

/// A job with something in its `spec`.
fn job(more: &str) -> String {
    let template = format!("template: {{spec: {{restartPolicy: Never, containers: [{{{C}}}]}}}}");
    object("batch/v1", "Job", &format!("spec: {{{more}, {template}}}"))
}

/// A limit for containers.
fn limit(amounts: &str) -> String {
    object(
        "v1",
        "LimitRange",
        &format!("spec: {{limits: [{{type: Container, {amounts}}}]}}"),
    )
}

/// The kinds whose `spec` has required fields, with the version of their interface.
const KINDS: &[(&str, &str)] = &[
    ("v1", "Pod"),
    ("v1", "ReplicationController"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "PersistentVolume"),
    ("v1", "Service"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "DaemonSet"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "ReplicaSet"),
    ("batch/v1", "Job"),
    ("batch/v1", "CronJob"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("networking.k8s.io/v1", "Ingress"),
    ("networking.k8s.io/v1", "IngressClass"),
    // These do without.
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("policy/v1", "PodDisruptionBudget"),
    ("v1", "ResourceQuota"),
    ("v1", "Namespace"),
];

/// The objects, by a name for each.
pub(crate) fn cases() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = KINDS
        .iter()
        .map(|(version, kind)| {
            let name = kind.to_lowercase();
            let text = object(version, kind, "").replace("name: x", &format!("name: no-{name}"));
            (format!("no-spec-{name}"), text)
        })
        .collect();
    let single = [
        (
            "null-container",
            object("v1", "Pod", "spec: {containers: [null]}"),
        ),
        ("null-port", container("ports: [null]")),
        ("null-argument", container("args: [null]")),
        (
            "null-name",
            pod("hostNetwork: false").replace("name: x", "name: null"),
        ),
        ("empty-name", container("env: [{name: '', value: a}]")),
        (
            "empty-container",
            object(
                "v1",
                "Pod",
                "spec: {containers: [{name: '', image: 'i:1'}]}",
            ),
        ),
        (
            "empty-header",
            container("livenessProbe: {httpGet: {port: 80, httpHeaders: [{name: A, value: ''}]}}"),
        ),
        (
            "budget-name",
            object("policy/v1", "PodDisruptionBudget", "spec: {}")
                .replace("name: x", "name: My_Budget"),
        ),
        (
            "key-name",
            container("env: [{name: A, valueFrom: {secretKeyRef: {name: A_B, key: k}}}]"),
        ),
        (
            "key-key",
            container("env: [{name: A, valueFrom: {configMapKeyRef: {name: a, key: a/b}}}]"),
        ),
        (
            "key-nameless",
            container("env: [{name: A, valueFrom: {configMapKeyRef: {key: a}}}]"),
        ),
        ("from-nameless", container("envFrom: [{configMapRef: {}}]")),
        (
            "from-name",
            container("envFrom: [{secretRef: {name: a b}}]"),
        ),
        ("volume-secret", volume("secret: {}")),
        ("volume-map", volume("configMap: {items: []}")),
        (
            "volume-mode",
            volume("secret: {secretName: s, defaultMode: 1000}"),
        ),
        (
            "volume-mode-good",
            volume("secret: {secretName: s, defaultMode: 0777}"),
        ),
        (
            "volume-items",
            volume("configMap: {name: a, items: [{key: k, path: p, mode: -1}]}"),
        ),
        ("volume-down", volume("downwardAPI: {items: [{path: p}]}")),
        ("volume-path", volume("hostPath: {path: ''}")),
        ("volume-nfs", volume("nfs: {server: a, path: b}")),
        ("volume-image", volume("image: {}")),
        (
            "sysctls",
            pod(
                "securityContext: {sysctls: [{name: net.a, value: '1'}, {name: net.a, value: '2'}]}",
            ),
        ),
        ("groups", pod("securityContext: {supplementalGroups: [-1]}")),
        ("toleration", pod("tolerations: [{key: a, value: '*'}]")),
        (
            "spread-twice",
            pod(
                "topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]",
            ),
        ),
        (
            "affinity-key",
            pod(
                "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a b}]}}",
            ),
        ),
        (
            "affinity-value",
            pod(
                "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, labelSelector: {matchExpressions: [{key: a, operator: In, values: [a/b]}]}}]}}",
            ),
        ),
        (
            "affinity-terms",
            pod(
                "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}",
            ),
        ),
        (
            "name-servers",
            pod("dnsPolicy: None, dnsConfig: {nameservers: []}"),
        ),
        ("dns-option", pod("dnsConfig: {options: [{value: a}]}")),
        (
            "account",
            job("suspend: false").replace("restartPolicy", "serviceAccount: 0/0, restartPolicy"),
        ),
        (
            "claim-unknown",
            container("resources: {claims: [{name: a}]}"),
        ),
        (
            "claim-good",
            pod("resourceClaims: [{name: a, resourceClaimName: b}]"),
        ),
        ("claim-nothing", pod("resourceClaims: [{name: a}]")),
        (
            "claim-twice",
            pod(
                "resourceClaims: [{name: a, resourceClaimName: b}, {name: a, resourceClaimName: c}]",
            ),
        ),
        (
            "propagation",
            container("volumeMounts: [{name: v, mountPath: /v, mountPropagation: Bidirectional}]"),
        ),
        (
            "propagation-good",
            container(
                "securityContext: {privileged: true}, volumeMounts: [{name: v, mountPath: /v, mountPropagation: Bidirectional}]",
            ),
        ),
        (
            "recursive",
            container(
                "volumeMounts: [{name: v, mountPath: /v, readOnly: true, recursiveReadOnly: Always}]",
            ),
        ),
        (
            "device-request",
            container("resources: {requests: {example.org/gpu: 1}}"),
        ),
        (
            "pages-more",
            container(
                "resources: {requests: {hugepages-2Mi: 2Mi}, limits: {hugepages-2Mi: 4Mi, cpu: 1}}",
            ),
        ),
        (
            "host-port",
            object(
                "v1",
                "Pod",
                &format!(
                    "spec: {{hostNetwork: true, containers: [{{{C}, ports: [{{containerPort: 80, hostPort: 81}}]}}]}}"
                ),
            ),
        ),
        (
            "host-port-good",
            object(
                "v1",
                "Pod",
                &format!(
                    "spec: {{hostNetwork: true, containers: [{{{C}, ports: [{{containerPort: 80, hostPort: 80}}, {{containerPort: 81}}]}}]}}"
                ),
            ),
        ),
        (
            "claim-name",
            object(
                "apps/v1",
                "StatefulSet",
                &format!(
                    "spec: {{selector: {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: [{{{C}}}]}}}}, volumeClaimTemplates: [{{metadata: {{name: A_B}}, spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}}}]}}"
                ),
            ),
        ),
        (
            "pages-alone",
            container("resources: {limits: {hugepages-2Mi: 4Mi}}"),
        ),
        (
            "pages-good",
            container("resources: {limits: {hugepages-2Mi: 4Mi, cpu: 1}}"),
        ),
        (
            "device-limit",
            container("resources: {limits: {example.org/gpu: 1}}"),
        ),
        (
            "device-more",
            container("resources: {requests: {example.org/gpu: 1}, limits: {example.org/gpu: 2}}"),
        ),
        (
            "quantity-space",
            container("resources: {limits: {cpu: '1 '}}"),
        ),
        (
            "template-label",
            job("suspend: false").replace(
                "{spec: {restart",
                "{metadata: {labels: {a: '*'}}, spec: {restart",
            ),
        ),
        (
            "template-empty",
            object(
                "apps/v1",
                "Deployment",
                "spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}}}",
            ),
        ),
        (
            "controller-restart",
            object(
                "v1",
                "ReplicationController",
                &format!(
                    "spec: {{template: {{metadata: {{labels: {{a: b}}}}, spec: {{restartPolicy: Never, containers: [{{{C}}}]}}}}}}"
                ),
            ),
        ),
        (
            "deadline",
            object(
                "apps/v1",
                "Deployment",
                &format!(
                    "spec: {{minReadySeconds: 600, selector: {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: [{{{C}}}]}}}}}}"
                ),
            ),
        ),
        (
            "governing",
            object(
                "apps/v1",
                "StatefulSet",
                &format!(
                    "spec: {{serviceName: a.b, selector: {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: [{{{C}}}]}}}}}}"
                ),
            ),
        ),
        (
            "job-indexes",
            job("completions: 2, completionMode: Indexed, maxFailedIndexes: 1"),
        ),
        (
            "job-more-indexes",
            job(
                "completions: 2, completionMode: Indexed, backoffLimitPerIndex: 1, maxFailedIndexes: 3",
            ),
        ),
        (
            "job-rule",
            job("podFailurePolicy: {rules: [{action: FailJob}]}"),
        ),
        (
            "job-index",
            job(
                "podFailurePolicy: {rules: [{action: FailIndex, onPodConditions: [{type: A, status: 'True'}]}]}",
            ),
        ),
        (
            "job-zero",
            job(
                "podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [0]}}]}",
            ),
        ),
        (
            "job-codes",
            job(
                "podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [1, 1]}}]}",
            ),
        ),
        (
            "job-codes-good",
            job(
                "podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [1, 2]}}]}",
            ),
        ),
        ("job-mode", job("completionMode: ''")),
        (
            "limit-order",
            limit("defaultRequest: {cpu: 2}, default: {cpu: 1}"),
        ),
        (
            "limit-most",
            limit("default: {memory: 2Gi}, max: {memory: 1Gi}"),
        ),
        ("limit-name", limit("default: {cpux: 1}")),
        ("limit-ratio", limit("maxLimitRequestRatio: {cpu: 0}")),
        (
            "limit-good",
            limit(
                "min: {cpu: 1}, defaultRequest: {cpu: 1}, default: {cpu: 2}, max: {cpu: 2}, maxLimitRequestRatio: {cpu: 1}",
            ),
        ),
        (
            "limit-twice",
            object(
                "v1",
                "LimitRange",
                "spec: {limits: [{type: Pod, max: {cpu: 1}}, {type: Pod, max: {memory: 1Gi}}]}",
            ),
        ),
        (
            "quota-negative",
            object("v1", "ResourceQuota", "spec: {hard: {requests.cpu: -2}}"),
        ),
        (
            "quota-part",
            object("v1", "ResourceQuota", "spec: {hard: {pods: '0.5'}}"),
        ),
        (
            "quota-number",
            object("v1", "ResourceQuota", "spec: {hard: {limits.cpux: 2}}"),
        ),
        (
            "quota-scope",
            object(
                "v1",
                "ResourceQuota",
                "spec: {hard: {pods: 2}, scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In}]}}",
            ),
        ),
        (
            "claim-modes",
            object(
                "v1",
                "PersistentVolumeClaim",
                "spec: {accessModes: [''], resources: {requests: {storage: 1Gi}}}",
            ),
        ),
        (
            "ingress-rules",
            object("networking.k8s.io/v1", "Ingress", "spec: {rules: []}"),
        ),
        (
            "class-namespace",
            object(
                "networking.k8s.io/v1",
                "IngressClass",
                "spec: {controller: a.b/c, parameters: {scope: Cluster, kind: A, name: a, namespace: b}}",
            ),
        ),
        (
            "class-scope",
            object(
                "networking.k8s.io/v1",
                "IngressClass",
                "spec: {controller: a.b/c, parameters: {scope: Namespace, kind: A, name: a}}",
            ),
        ),
        (
            "class-parameters-good",
            object(
                "networking.k8s.io/v1",
                "IngressClass",
                "spec: {controller: a.b/c, parameters: {scope: Namespace, kind: A, name: a, namespace: b}}",
            ),
        ),
        (
            "policy-types",
            object(
                "networking.k8s.io/v1",
                "NetworkPolicy",
                "spec: {podSelector: {}, policyTypes: [Ingress, Egress, Ingress]}",
            ),
        ),
        (
            "policy-peer",
            object(
                "networking.k8s.io/v1",
                "NetworkPolicy",
                "spec: {podSelector: {}, ingress: [{from: [null]}]}",
            ),
        ),
        (
            "policy-rule-good",
            object(
                "networking.k8s.io/v1",
                "NetworkPolicy",
                "spec: {podSelector: {}, ingress: [null]}",
            ),
        ),
        (
            "scale-version",
            object(
                "autoscaling/v2",
                "HorizontalPodAutoscaler",
                "spec: {scaleTargetRef: {kind: Deployment, name: d, apiVersion: apps}, maxReplicas: 2}",
            ),
        ),
        (
            "scale-nothing",
            object(
                "autoscaling/v2",
                "HorizontalPodAutoscaler",
                "spec: {scaleTargetRef: {kind: Deployment, name: d, apiVersion: apps/v1}, maxReplicas: 2, metrics: [{type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: 0}}}]}",
            ),
        ),
        (
            "slice-empty",
            object(
                "discovery.k8s.io/v1",
                "EndpointSlice",
                "addressType: IPv4\nendpoints: [{addresses: []}]",
            ),
        ),
        (
            "slice-twice",
            object(
                "discovery.k8s.io/v1",
                "EndpointSlice",
                "addressType: IPv4\nendpoints: []\nports: [{name: a, port: 1}, {name: a, port: 2}]",
            ),
        ),
        (
            "webhook-time",
            object(
                "admissionregistration.k8s.io/v1",
                "ValidatingWebhookConfiguration",
                "webhooks: [{name: a.b.c, timeoutSeconds: 31, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: 'https://a.b/c'}}]",
            ),
        ),
        (
            "webhook-twice",
            object(
                "admissionregistration.k8s.io/v1",
                "ValidatingWebhookConfiguration",
                "webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: 'https://a.b/c'}}, {name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: 'https://a.b/c'}}]",
            ),
        ),
    ];
    all.extend(
        single
            .into_iter()
            .map(|(name, text)| (name.to_owned(), text)),
    );
    all.extend(control_plane().map(|(name, _, text)| (name.to_owned(), format!("{text}\n"))));
    all
}

/// Kinds of the control plane, and expressions: a name, whether Kubernetes 1.36.3 refuses it, and an object in JSON.
fn control_plane() -> impl Iterator<Item = (&'static str, bool, &'static str)> {
    include_str!("control_plane.txt").lines().map(|line| {
        let mut words = line.splitn(3, ' ');
        let mut next = || words.next().expect("a name, a verdict and an object");
        (next(), next() == "refused", next())
    })
}
