/** Rules about names and selectors: what an object refers to is there. */
module kubernetes/references

open kubernetes/vocabulary
open kubernetes/cluster
open values

/** K8S001 service-without-pods warning: a Service selects no pods
 * message: no pods in the namespace match the selector of Service `{s}`
 * at: x "matches nothing"
 * help: compare the labels with those of the pod template it is meant for
 * why: The Service has no endpoints: connections to it are refused.
 * source: kube-linter, dangling-service
 */
assert ServicesSelectPods {
  all s: Service, x: owner.s | complete implies some x.selected
}

/** K8S002 missing-backend warning: an Ingress sends requests to a Service that is not there
 * message: Ingress `{i}` sends requests to Service `{r}`, which is not among the files
 * at: r "no such Service"
 * help: {suggest r from Service}
 * help: add the Service, or correct its name
 * why: The ingress controller answers such requests with an error.
 * source: kube-linter, dangling-ingress
 */
assert BackendsAreThere {
  all i: Ingress, r: by.i & ServiceUse | must_exist[r] implies some r.target
}

/** K8S003 missing-service-port error: an Ingress names a port that its Service does not have
 * message: Service `{s}` has no port `{p}`
 * at: r.used_port "no such port"
 * also: s "the Service"
 * help: use a port of the Service, by its name or its number
 * fix: unsafe replace r.used_port with `{s.service_ports.number}`
 * why: The ingress controller answers requests with an error. A port is meant by the name or number that the Service gives it, not by that of the containers.
 * source: kube-linter, dangling-ingress
 */
assert BackendPortsAreThere {
  all s: Service, r: target.s & ServiceUse, p: r.used_port | p in s.service_ports.(port_name + number)
}

/** K8S004 missing-config warning: pods use a ConfigMap that is not there
 * message: `{w}` uses ConfigMap `{r}`, which is not among the files
 * at: r "no such ConfigMap"
 * help: {suggest r from ConfigMap}
 * help: add the ConfigMap, correct its name, or set `optional: true`
 * why: The pods do not start while the ConfigMap is missing in their namespace.
 * source: kube-linter, env-value-from
 */
assert ConfigMapsAreThere {
  all w: Workload, r: by.w & ConfigMapUse |
    (must_exist[r] and not finds[r.word, Policy.ignored_config_maps]) implies some r.target
}

/** K8S004 missing-config warning: pods use a Secret that is not there
 * message: `{w}` uses Secret `{r}`, which is not among the files
 * at: r "no such Secret"
 * help: {suggest r from Secret}
 * help: add the Secret, correct its name, or set `optional: true`
 * why: The pods do not start while the Secret is missing in their namespace. One that is created by other means is named in `ignored-secrets` of `[kubernetes.policy]`.
 * source: kube-linter, env-value-from
 */
assert SecretsAreThere {
  all w: Workload, r: by.w & SecretUse |
    (must_exist[r] and not finds[r.word, Policy.ignored_secrets]) implies some r.target
}

/** K8S005 missing-key error: pods use a key that a ConfigMap or Secret does not have
 * message: `{d}` has no key `{k}`
 * at: r.used_key "no such key"
 * also: d "has other keys"
 * help: add the key, or correct its name
 * why: The pods do not start while the key is missing.
 * source: kube-linter, env-value-from
 */
assert KeysAreThere {
  all r: DataUse, d: r.target & DataObject, k: r.used_key | r.optional = False implies k in d.keys
}

/** K8S006 missing-claim warning: pods mount a claim that is not there
 * message: `{w}` mounts PersistentVolumeClaim `{r}`, which is not among the files
 * at: r "no such claim"
 * help: {suggest r from PersistentVolumeClaim}
 * help: add the claim, or correct its name
 * why: The pods stay pending while the claim is missing in their namespace.
 * source: Kubernetes documentation, persistent volumes
 */
assert ClaimsAreThere {
  all w: Workload, r: by.w & ClaimUse | must_exist[r] implies some r.target
}

/** K8S007 missing-account warning: pods run as a service account that is not there
 * message: `{w}` runs as ServiceAccount `{r}`, which is not among the files
 * at: r "no such ServiceAccount"
 * help: {suggest r from ServiceAccount}
 * help: add the ServiceAccount, or correct its name
 * why: No pods are created while the account is missing in their namespace.
 * source: kube-linter, non-existent-service-account
 */
assert AccountsAreThere {
  all w: Workload, r: by.w & AccountUse | must_exist[r] implies some r.target
}

/** K8S008 missing-class warning: pods name a class that is not there
 * message: `{w}` names the class `{r}`, which is not among the files
 * at: r "no such class"
 * help: add the PriorityClass or RuntimeClass, or correct its name
 * why: No pods are created while the class is missing.
 * source: Kubernetes documentation, pod priority and runtime classes
 */
assert ClassesAreThere {
  all w: Workload, r: by.w & (PriorityClassUse + RuntimeClassUse) | must_exist[r] implies some r.target
}

/** K8S009 missing-role warning: a binding refers to a role that is not there
 * message: `{b}` binds the role `{r}`, which is not among the files
 * at: r "no such role"
 * help: {suggest r from Role}
 * help: add the role, or correct its kind and name
 * why: The binding grants nothing while the role is missing.
 * source: Kubernetes documentation, RBAC
 */
assert RolesAreThere {
  all b: Binding, r: by.b & RoleUse | must_exist[r] implies some r.target
}

/** K8S009 missing-role warning: a binding names a service account that is not there
 * message: `{b}` grants a role to ServiceAccount `{r}`, which is not among the files
 * at: r "no such ServiceAccount in its namespace"
 * help: {suggest r from ServiceAccount}
 * help: add the ServiceAccount, or correct its name and namespace
 * why: The binding grants nothing while the account is missing; whoever creates one of that name gets the role.
 * source: Kubernetes documentation, RBAC
 */
assert SubjectsAreThere {
  all b: Binding, r: by.b & SubjectUse | must_exist[r] implies some r.target
}

/** K8S010 missing-scale-target warning: an autoscaler scales something that is not there
 * message: HorizontalPodAutoscaler `{h}` scales `{r}`, which is not among the files
 * at: r "not found"
 * help: add it, or correct its kind and name
 * why: Nothing is scaled.
 * source: kube-linter, dangling-horizontalpodautoscaler
 */
assert ScaleTargetsAreThere {
  all h: HorizontalPodAutoscaler, r: by.h & TargetUse | must_exist[r] implies some r.target
}

/** K8S011 policy-without-pods warning: a NetworkPolicy selects no pods
 * message: no pods in the namespace match the selector of NetworkPolicy `{n}`
 * at: x "matches nothing"
 * help: compare the labels with those of the pod template it is meant for
 * why: The policy isolates nothing: what it is meant to protect stays open.
 * source: kube-linter, dangling-networkpolicy
 */
assert PoliciesSelectPods {
  all n: NetworkPolicy, x: owner.n & PolicySelector | (complete and x.empty = False) implies some x.selected
}

/** K8S012 budget-without-pods warning: a PodDisruptionBudget selects no pods
 * message: no pods in the namespace match the selector of PodDisruptionBudget `{b}`
 * at: x "matches nothing"
 * help: compare the labels with those of the pod template it is meant for
 * why: The budget protects nothing when nodes are drained.
 * source: Kubernetes documentation, disruptions
 */
assert BudgetsSelectPods {
  all b: PodDisruptionBudget, x: owner.b | (complete and x.empty = False) implies some x.selected
}

/** K8S013 selector-mismatch error: a selector does not match the pods of its own template
 * message: the selector of `{w}` does not match the labels of its own pods
 * at: x "matches other labels"
 * also: w "its template has other labels"
 * help: give selector and template the same labels
 * why: The API server refuses the object.
 * source: kube-linter, mismatching-selector
 */
assert SelectorsMatchTheirTemplates {
  all w: Workload, x: w.controller_selector | x.empty = False implies w in x.selected
}

/** K8S014 shared-pods warning: two controllers select the same pods
 * message: the selector of `{w}` also matches the pods of `{v}`
 * at: x "matches both"
 * also: v "has the same labels"
 * help: add a label that tells the pods of the two apart
 * why: Each takes the pods of the other for its own, deletes what it thinks is too much, and neither settles.
 * source: Kubernetes documentation, Deployments, label selector updates
 */
assert ControllersHaveTheirOwnPods {
  all w: Workload, x: w.controller_selector, v: x.selected - w |
    (some v.controller_selector and not (w in v.controller_selector.selected and written_before[v, w])) implies
      v.identity = w.identity
}

/** K8S015 unopened-target-port error: a Service names a port that no container has
 * message: no container behind Service `{s}` has a port called `{t}`
 * at: p.target_port "no such port"
 * help: name one of the container's ports, or use its number
 * why: The Service has no endpoints for this port.
 * source: ours
 */
assert NamedTargetPortsAreListed {
  all s: Service, p: s.service_ports, t: p.target_port & Text |
    some owner.s.selected implies t in p.opened.listed_name
}

/** K8S015 unopened-target-port warning: a Service leads to a port that no container lists
 * message: no container behind Service `{s}` lists the port `{t}`
 * at: p "not listed"
 * help: correct `targetPort`, or list the port under `ports` of the container
 * why: Either the Service leads nowhere, or the container does not say what it opens, which network policies and readers rely on.
 * source: ours
 */
assert TargetPortsAreListed {
  all s: Service, p: s.service_ports, t: p.target_port & Number |
    some owner.s.selected.containers.ports implies t in p.opened.container_port
}

/** K8S016 route-claimed-twice warning: two routes claim the same host and path
 * message: the Ingresses `{i}` and `{j}` both claim `{q}`
 * at: q "claimed again"
 * also: r "first claimed here"
 * help: remove one of them, or change its host or path
 * why: Which of them answers is up to the ingress controller.
 * source: ours
 */
assert RoutesAreClaimedOnce {
  all i, j: Ingress, r: i.routes, q: j.routes |
    (r != q and written_before[r, q]) implies r.claim != q.claim
}

/** K8S017 missing-governing-service warning: a StatefulSet names a Service that is not there
 * message: StatefulSet `{w}` names Service `{r}`, which is not among the files
 * at: r "no such Service"
 * help: {suggest r from Service}
 * help: add a headless Service of that name, or correct it
 * why: The pods get no names of their own in DNS.
 * source: Kubernetes documentation, StatefulSets
 */
assert GoverningServicesAreThere {
  all w: StatefulSet, r: by.w & GoverningUse | must_exist[r] implies some r.target
}

/** K8S018 probe-port error: a probe names a port that its container does not have
 * message: container `{c}` has no port called `{t}` for its {p} probe
 * at: p "no such port"
 * help: name one of the container's ports, or use its number
 * why: The probe never passes: the container is never ready, or is killed again and again.
 * source: kube-linter, liveness-port, readiness-port, startup-port
 */
assert NamedProbePortsAreListed {
  all c: Container, p: c.probes, t: p.probe_port & Text | t in c.ports.listed_name
}

/** K8S018 probe-port warning: a probe asks a port that its container does not list
 * message: container `{c}` does not list the port `{t}` that its {p} probe asks
 * at: p "not listed"
 * help: correct the port, or list it under `ports`
 * why: Either the probe never passes, or the container does not say what it opens.
 * source: kube-linter, liveness-port, readiness-port, startup-port
 */
assert ProbePortsAreListed {
  all c: Container, p: c.probes, t: p.probe_port & Number | t in c.ports.container_port
}

/** K8S019 peer-without-pods warning: a NetworkPolicy lets pods connect that are not there
 * message: no pods in the namespace match a peer of NetworkPolicy `{n}`
 * at: x "matches nothing"
 * help: compare the labels with those of the pods that are meant; pods of another namespace need a `namespaceSelector`
 * default: off
 * why: Those who are meant to connect cannot.
 * source: kube-linter, dangling-networkpolicypeer-podselector
 */
assert PeersSelectPods {
  all n: NetworkPolicy, x: owner.n & PeerSelector | (complete and x.empty = False) implies some x.selected
}

/** K8S020 monitor-without-targets warning: a monitor of Prometheus selects nothing
 * message: {m.kind} `{m}` selects nothing in its namespaces
 * at: m.monitor_selector "matches nothing"
 * help: compare the labels with those of the Services or pods that are meant
 * why: Nothing is measured, and alerts stay silent.
 * source: kube-linter, dangling-servicemonitor
 */
assert MonitorsSelectSomething {
  all m: Monitor | (complete and some m.monitor_selector) implies some m.monitored
}

/** K8S021 missing-route-backend warning: a route sends requests to a Service that is not there
 * message: {o.kind} `{o}` sends requests to Service `{r}`, which is not among the files
 * at: r "no such Service"
 * help: add the Service, or correct its name and namespace
 * why: The Gateway answers such requests with an error.
 * source: Gateway API, backendRefs
 */
assert RouteBackendsAreThere {
  all o: Object, r: by.o & RouteUse | must_exist[r] implies some r.target
}

/** K8S022 missing-gateway warning: a route belongs to a Gateway that is not there
 * message: {o.kind} `{o}` belongs to Gateway `{r}`, which is not among the files
 * at: r "no such Gateway"
 * help: add the Gateway, or correct its name and namespace
 * why: The route is reached by nobody.
 * source: Gateway API, parentRefs
 */
assert GatewaysAreThere {
  all o: Object, r: by.o & GatewayUse | must_exist[r] implies some r.target
}

/** K8S023 missing-cluster-class warning: an object names a class that is not there
 * message: {o.kind} `{o}` names the class `{r}`, which is not among the files
 * at: r "no such class"
 * help: add the class, or correct its name
 * why: Nothing serves the object while its class is missing. Clusters come with classes of their own: it is only told where the files define classes of that kind.
 * source: Kubernetes documentation, storage, ingress and gateway classes
 */
assert ClusterClassesAreThere {
  all o: Object, r: by.o & (StorageClassUse + IngressClassUse + GatewayClassUse) | must_exist[r] implies some r.target
}

/** K8S024 service-selects-others warning: a Service selects pods that do not listen on its port
 * message: Service `{s}` also selects the pods of `{w}`, which do not open port `{p.target_port}`
 * at: p "opened by others only"
 * also: w "selected too"
 * help: add a label that tells the pods apart to the selector
 * why: Some of the connections are refused.
 * source: ours
 */
assert ServicesSelectPodsThatListen {
  all s: Service, p: s.service_ports, w: owner.s.selected |
    (some p.opened and some w.containers.ports) implies some p.opened & w.containers.ports
}

/** A Service with one address, inside the cluster. */
/** K8S025 same-pods-twice info: two Services lead to the same ports of the same pods
 * message: the Services `{x}` and `{y}` lead to the same ports of the same pods
 * at: y "the same pods"
 * also: x "selects them first"
 * help: remove one of them, or correct its selector
 * why: One of them may be a copy whose selector was not changed.
 * source: ours
 */
assert ServicesHaveTheirOwnPods {
  all y: ServiceSelector, x: y.twin_of |
    x.owner.identity = y.owner.identity
}

/** K8S026 missing-other-secret info: pods pull images with a Secret that is not there
 * message: `{w}` pulls images with Secret `{r}`, which is not among the files
 * at: r "no such Secret"
 * help: {suggest r from Secret}
 * help: add the Secret, or correct its name
 * why: The pods start when the images can be pulled without it, and else wait for them. One that is created by other means is named in `ignored-secrets` of `[kubernetes.policy]`.
 * source: Kubernetes documentation, pull an image from a private registry
 */
assert PullSecretsAreThere {
  all w: Workload, r: by.w & PullSecretUse |
    (r.known = True and not finds[r.word, Policy.ignored_secrets]) implies some r.target
}

/** K8S026 missing-other-secret info: an Ingress names a certificate that is not there
 * message: Ingress `{i}` has its certificate in Secret `{r}`, which is not among the files
 * at: r "no such Secret"
 * help: {suggest r from Secret}
 * help: add the Secret, or correct its name
 * why: Until something makes it, as cert-manager does, most controllers answer with a certificate of their own. One that is created by other means is named in `ignored-secrets` of `[kubernetes.policy]`.
 * source: Kubernetes documentation, Ingress, TLS
 */
assert CertificatesAreThere {
  all i: Ingress, r: by.i & CertificateUse |
    (r.known = True and not finds[r.word, Policy.ignored_secrets]) implies some r.target
}
