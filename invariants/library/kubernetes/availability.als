/** Rules about what keeps a service up: amounts, replicas, probes, updates, budgets. Most are a matter of policy. */
module kubernetes/availability

open kubernetes/vocabulary
open kubernetes/cluster
open values

/** K8S075 no-cpu-requirements info: a container has no CPU request
 * message: container `{c}` has no CPU request
 * at: c "asks for nothing"
 * help: set `resources.requests.cpu`, or a limit: it is the request where there is none
 * fix: unsafe add `resources.requests.cpu: 100m` to c
 * default: off
 * why: The scheduler does not know how much room the pod needs.
 * source: kube-linter, unset-cpu-requirements
 */
assert CpuIsRequested {
  all c: Container |
    "request" in Policy.cpu_requirements implies
      (some a: c.amounts | a.resource = "cpu" and some a.(request + limit))
}

/** K8S075 no-cpu-requirements info: a container has no CPU limit
 * message: container `{c}` has no CPU limit
 * at: c "no limit"
 * help: set `resources.limits.cpu`
 * fix: unsafe add `resources.limits.cpu: 1` to c
 * default: off
 * why: A container that takes more and more takes it from the others on the node.
 * source: kube-linter, unset-cpu-requirements
 */
assert CpuIsLimited {
  all c: Container |
    "limit" in Policy.cpu_requirements implies
      (some a: c.amounts | a.resource = "cpu" and some a.limit)
}

/** K8S075 no-cpu-requirements info: a container asks for too little or too much CPU
 * message: container `{c}` asks for {q} of CPU, which is not within the limits of the project
 * at: a "out of bounds"
 * help: change it, or `cpu-least` and `cpu-most` in `[kubernetes.policy]`
 * default: off
 * why: The project says how much a container may ask for.
 * source: kube-linter, unset-cpu-requirements
 */
assert CpuIsWithinBounds {
  all c: Container, a: c.amounts, q: a.(request + limit) | a.resource = "cpu" implies
    not less_quantity[q, Policy.least_cpu] and not less_quantity[Policy.most_cpu, q]
}

/** K8S076 no-memory-requirements info: a container has no memory request
 * message: container `{c}` has no memory request
 * at: c "asks for nothing"
 * help: set `resources.requests.memory`, or a limit: it is the request where there is none
 * fix: unsafe add `resources.requests.memory: 128Mi` to c
 * default: off
 * why: The scheduler does not know how much room the pod needs.
 * source: kube-linter, unset-memory-requirements
 */
assert MemoryIsRequested {
  all c: Container |
    "request" in Policy.memory_requirements implies
      (some a: c.amounts | a.resource = "memory" and some a.(request + limit))
}

/** K8S076 no-memory-requirements info: a container has no memory limit
 * message: container `{c}` has no memory limit
 * at: c "no limit"
 * help: set `resources.limits.memory`
 * fix: unsafe add `resources.limits.memory: 256Mi` to c
 * default: off
 * why: A container that takes more and more takes it from the others on the node.
 * source: kube-linter, unset-memory-requirements
 */
assert MemoryIsLimited {
  all c: Container |
    "limit" in Policy.memory_requirements implies
      (some a: c.amounts | a.resource = "memory" and some a.limit)
}

/** K8S076 no-memory-requirements info: a container asks for too little or too much memory
 * message: container `{c}` asks for {q} of memory, which is not within the limits of the project
 * at: a "out of bounds"
 * help: change it, or `memory-least` and `memory-most` in `[kubernetes.policy]`
 * default: off
 * why: The project says how much a container may ask for.
 * source: kube-linter, unset-memory-requirements
 */
assert MemoryIsWithinBounds {
  all c: Container, a: c.amounts, q: a.(request + limit) | a.resource = "memory" implies
    not less_quantity[q, Policy.least_memory] and not less_quantity[Policy.most_memory, q]
}

/** K8S077 few-replicas info: a workload has few replicas
 * message: `{w}` has {r} replicas; the project asks for {n}
 * at: w.replicas "few"
 * help: raise `replicas`
 * default: off
 * why: With few replicas, the loss of a node is the loss of much or all of the service.
 * source: kube-linter, minimum-three-replicas
 */
assert ReplicasAreMany {
  all w: Workload, r: w.replicas, n: Policy.least_replicas | w.scales = True or not less[r, n]
}

/** K8S078 few-scaled-replicas info: an autoscaler may leave few replicas
 * message: HorizontalPodAutoscaler `{h}` may leave {r} replicas; the project asks for {n}
 * at: h.least "few"
 * help: raise `minReplicas`
 * default: off
 * why: With few replicas, the loss of a node is the loss of much or all of the service.
 * source: kube-linter, hpa-minimum-three-replicas
 */
assert ScaledReplicasAreMany {
  all h: HorizontalPodAutoscaler, r: h.least, n: Policy.least_scaled | not less[r, n]
}

/** K8S079 not-spread info: nothing keeps the pods of a workload apart
 * message: the {r} pods of `{w}` may all run on one node
 * at: w.replicas "nothing keeps them apart"
 * help: add a `podAntiAffinity` or a `topologySpreadConstraints` entry that selects their labels
 * default: off
 * why: The loss of that node is the loss of all of them.
 * source: kube-linter, no-anti-affinity
 */
assert ReplicasAreSpread {
  all w: Workload, r: w.replicas |
    less[r, Policy.spread_from] or finds[w.spread_keys, Policy.spread_over]
}

/** K8S080 no-node-affinity info: a workload does not say on which nodes it runs
 * message: `{w}` has no node affinity
 * at: w "may run on any node"
 * help: add `affinity.nodeAffinity`
 * fix: unsafe add `^affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: [{{ matchExpressions: [{{ key: kubernetes.io/os, operator: In, values: [linux] }] }]` to w.containers
 * default: off
 * why: Some clusters ask that every workload names its nodes.
 * source: kube-linter, no-node-affinity
 */
assert NodesAreNamed {
  all w: Workload | w.node_affinity = True
}

/** K8S081 no-liveness-probe info: a container has no liveness probe
 * message: container `{c}` has no liveness probe
 * at: c "is not asked whether it lives"
 * help: add `livenessProbe`, where a restart helps a container that hangs
 * fix: unsafe add `livenessProbe.tcpSocket.port: {c.ports.container_port}` to c
 * default: off
 * why: A container that hangs is not restarted.
 * source: kube-linter, no-liveness-probe
 */
assert ContainersHaveLivenessProbes {
  all w: Workload - Job - CronJob, c: w.containers | c.role = "main" implies "liveness" in c.probes.probe_kind
}

/** K8S082 no-readiness-probe info: a container has no readiness probe
 * message: container `{c}` has no readiness probe
 * at: c "is not asked whether it is ready"
 * help: add `readinessProbe`
 * fix: unsafe add `readinessProbe.tcpSocket.port: {c.ports.container_port}` to c
 * default: off
 * why: Requests reach the container before it can answer them.
 * source: kube-linter, no-readiness-probe
 */
assert ContainersHaveReadinessProbes {
  all w: Workload - Job - CronJob, c: w.containers | c.role = "main" implies "readiness" in c.probes.probe_kind
}

/** K8S083 update-strategy info: a workload is not updated bit by bit
 * message: `{w}` is updated by `{t}`
 * at: w.strategy "not a rolling update"
 * help: use `RollingUpdate`, or leave the type out
 * default: off
 * why: The service is down while pods are replaced all at once.
 * source: kube-linter, no-rolling-update-strategy
 */
assert UpdatesAreRolling {
  all w: Workload, t: w.strategy | finds[t, Policy.update_strategies]
}

/** K8S084 budget-without-room warning: a PodDisruptionBudget lets no pod go
 * message: PodDisruptionBudget `{b}` lets no pod go
 * at: b.max_unavailable "no pod may be unavailable"
 * help: allow one at least
 * why: No node with one of the pods can be drained.
 * source: kube-linter, pdb-max-unavailable
 */
assert BudgetsLetPodsGo {
  all b: PodDisruptionBudget | no b.max_unavailable & (0 + "0%")
}

/** K8S084 budget-without-room warning: a PodDisruptionBudget keeps every pod of a workload
 * message: PodDisruptionBudget `{k.keeper}` keeps every pod of `{k.kept}`
 * at: k "keeps all of them"
 * also: k.fewest "there may be no more"
 * help: ask for fewer, or raise the replicas
 * why: No node with one of the pods can be drained.
 * source: kube-linter, pdb-min-available
 */
assert BudgetsKeepNotAll {
  all k: KeptWhole | k.whole != True
}

/** K8S084 budget-without-room warning: a PodDisruptionBudget asks for a share of pods without a controller
 * message: PodDisruptionBudget `{b}` lets no pod go: `{b.uncounted}` has no controller
 * at: b.uncounted "a share of none"
 * help: use `minAvailable` with a number of pods, or let a Deployment own them
 * why: No node with one of the pods can be drained: how many there should be is known from their controllers only.
 * source: Kubernetes documentation, specifying a disruption budget, arbitrary workloads and arbitrary selectors
 */
assert BudgetsCanCount {
  all b: PodDisruptionBudget | no b.uncounted
}

/** K8S086 no-eviction-policy info: a PodDisruptionBudget protects pods that are not healthy
 * message: PodDisruptionBudget `{b}` does not say what holds for unhealthy pods
 * at: b "no `unhealthyPodEvictionPolicy`"
 * help: set `spec.unhealthyPodEvictionPolicy: AlwaysAllow`
 * default: off
 * why: By default, a pod that never becomes ready keeps its node from being drained.
 * source: kube-linter, pdb-unhealthy-pod-eviction-policy
 */
assert EvictionPoliciesAreSet {
  all b: PodDisruptionBudget | some b.eviction_policy
}

/** K8S087 restart-policy info: the restart policy of pods is not one of those that the project wants
 * message: the pods of `{w}` have `restartPolicy: {p}`
 * at: w.restart_policy "not wanted"
 * help: use one of those in `restart-policies` of `[kubernetes.policy]`, or leave it out
 * default: off
 * why: A pod that is not restarted stays down.
 * source: kube-linter, restart-policy
 */
assert RestartPoliciesAreWanted {
  all w: Workload, p: w.restart_policy | p in Policy.restart_policies
}

/** K8S088 priority-class info: the priority class of pods is not one of those that the project wants
 * message: the pods of `{w}` are of the priority class `{p}`
 * at: w.priority_class "not wanted"
 * help: use one of those in `priority-classes` of `[kubernetes.policy]`
 * default: off
 * why: Pods of a high class drive others from their nodes.
 * source: kube-linter, priority-class-name
 */
assert PriorityClassesAreWanted {
  all w: Workload, p: w.priority_class | p in Policy.priority_classes
}

/** K8S089 job-ttl info: a finished job is kept for ever
 * message: Job `{j}` is kept for ever when it has finished
 * at: j "no `ttlSecondsAfterFinished`"
 * help: set `ttlSecondsAfterFinished`
 * fix: unsafe add `^spec.ttlSecondsAfterFinished: 86400` to j
 * default: off
 * why: Finished jobs and their pods pile up.
 * source: kube-linter, job-ttl-seconds-after-finished
 */
assert FinishedJobsGo {
  all j: Job | some j.ttl
}

/** K8S089 job-ttl info: the jobs of a CronJob are removed twice
 * message: the jobs of `{j}` are removed after a time, and by the limits of the CronJob
 * at: j.ttl "the stricter of the two counts"
 * help: remove `ttlSecondsAfterFinished`, and set `successfulJobsHistoryLimit` and `failedJobsHistoryLimit`
 * default: off
 * why: Which of the two removes a job is not obvious.
 * source: kube-linter, job-ttl-seconds-after-finished
 */
assert CronJobsRemoveTheirJobsOnce {
  all j: CronJob | no j.ttl
}

/** K8S090 dns-option info: pods do not have a DNS option that the project wants
 * message: the pods of `{w}` do not have the DNS option `{o}` that the project asks for
 * at: w "no such option"
 * help: add it to `dnsConfig.options`
 * fix: unsafe add `^dnsConfig.options: [{{ name: {o.key}, value: "2" }]` to w.containers
 * default: off
 * why: With `ndots: 5`, the default, every name from outside is looked up several times.
 * source: kube-linter, dnsconfig-options
 */
assert DnsOptionsAreSet {
  all w: Workload, o: Policy.needed_dns_options |
    some x: w.dns_options | x.key = o.key and finds[x.value, o.value]
}
