/** Rules about updates, probes and disruptions. */
module kubernetes/rollout

open kubernetes/vocabulary
open kubernetes/cluster
open values

/** K8S360 stuck-rollout error: a rolling update has no room for its first pod
 * message: a rolling update of `{p.placed}` cannot start: there is no place for one pod more
 * each: p.unplaceable
 * help: allow it to take a pod away first with `maxUnavailable: 1`, or change any one of these lines
 * why: The update may take no pod away before a new one is ready, and the new one stays pending for ever.
 * source: Kubernetes documentation, Deployments, max surge
 */
assert UpdatesHavePlaces {
  all p: SurgePlacement | p.impossible != True
}

/** K8S361 liveness-kills-start warning: a container is killed before its readiness probe is asked
 * message: container `{s}` of `{s.starting}` is killed {s.killed_after} seconds after it started, before its readiness probe is asked after {r}
 * at: s "kills a slow start"
 * help: add a `startupProbe`, or raise `failureThreshold` or `initialDelaySeconds` of the liveness probe
 * why: Whoever delays the readiness probe expects a slow start. Until then the liveness probe fails, and the container is started again and again.
 * source: Kubernetes documentation, container probes
 */
assert LivenessWaitsForReadiness {
  all s: StartWindow, r: s.asked_after |
    s.guarded = False implies not less[s.killed_after, r]
}

/** K8S362 rollout-given-up error: a rollout is given up before a pod can be available
 * message: no pod of `{c.clock_of}` can be available before {c.available_after} seconds, but its rollout counts as failed after {d}
 * at: c "too early"
 * help: raise `progressDeadlineSeconds`, or lower `minReadySeconds` or `initialDelaySeconds`
 * why: Every rollout counts as failed, also one that works, and tools that wait for it stop.
 * source: Kubernetes documentation, Deployments, progress deadline
 */
assert RolloutsHaveTheirTime {
  all c: RolloutClock, d: c.given_up_after | less[c.available_after, d]
}

/** K8S363 two-budgets error: two PodDisruptionBudgets select the same pods
 * message: `{x.owner}` and `{y.owner}` both select the pods of `{w}`
 * at: y "selects them again"
 * also: x "selects them"
 * help: let one budget select them
 * why: The server refuses to evict pods that have two budgets, so nodes with them cannot be drained.
 * source: Kubernetes documentation, API-initiated eviction
 */
assert PodsHaveOneBudget {
  all w: Workload, x, y: selected.w & BudgetSelector |
    not (x != y and written_before[x, y])
}

/** K8S364 quota-exceeded error: the objects of a namespace take more than its quota allows
 * message: `{q.quota}` allows {h} of `{q}`, and the objects of its namespace take {u}
 * at: q "not enough"
 * help: raise the quota, or lower the requests or the number of pods
 * why: The server refuses what is beyond the quota: some of the pods are never created.
 * source: Kubernetes documentation, resource quotas
 */
assert QuotasAreKept {
  all q: QuotaLine, h: q.hard, u: q.used | not less_quantity[h, u]
}

/** K8S365 quota-below-autoscaler warning: autoscalers can ask for more than a quota allows
 * message: `{q.quota}` allows {h} of `{q}`, and with as many pods as autoscalers may ask for the namespace takes {m}
 * at: q "not enough under load"
 * help: raise the quota, or lower `maxReplicas`
 * why: Under load, when the pods are needed, the server refuses them.
 * source: Kubernetes documentation, resource quotas
 */
assert QuotasAreKeptUnderLoad {
  all q: QuotaLine, h: q.hard, m: q.most_used |
    not less_quantity[h, q.used] implies not less_quantity[h, m]
}

/** K8S366 amount-missing-for-quota error: a container leaves out an amount that a quota is about
 * message: a container of `{g.lacking}` does not say its `{g}`, which `{g.demanded_by}` is about
 * at: g "amount missing"
 * also: g.demanded_by "the quota"
 * help: add it under `resources`, or a default in a LimitRange
 * why: The server refuses pods whose containers leave it out.
 * source: Kubernetes documentation, resource quotas
 */
assert QuotasFindTheirAmounts {
  all g: QuotaGap | no g.demanded_by
}

/** K8S367 amount-out-of-range error: a container may use more than a LimitRange allows
 * message: container `{c}` may use {l} of {m}, more than the {x} that `{o}` allows
 * at: m.limit "too much"
 * also: r "the most"
 * help: lower the limit, or raise the range
 * why: The server refuses the pods.
 * source: Kubernetes documentation, limit ranges
 */
assert LimitsAreInRange {
  all r: RangeLine, o: r.range, x: r.range_most, w: Workload & namespace.(o.namespace),
      c: w.containers, m: c.amounts & resource.(r.range_resource), l: m.limit |
    not less_quantity[x, l]
}

/** K8S367 amount-out-of-range error: a container asks for less than a LimitRange allows
 * message: container `{c}` asks for {a} of {m}, less than the {x} that `{o}` allows
 * at: m.request "too little"
 * also: r "the least"
 * help: raise the request, or lower the range
 * why: The server refuses the pods.
 * source: Kubernetes documentation, limit ranges
 */
assert RequestsAreInRange {
  all r: RangeLine, o: r.range, x: r.range_least, w: Workload & namespace.(o.namespace),
      c: w.containers, m: c.amounts & resource.(r.range_resource), a: m.request |
    not less_quantity[a, x]
}
