/** Rules about the parts of pods: names that are given once, volumes that exist, amounts that fit together. */
module kubernetes/pods

open kubernetes/vocabulary
open kubernetes/cluster
open values

/** K8S030 duplicate-container error: two containers of a pod have the same name
 * message: two containers of `{w}` are called `{b}`
 * at: b "used again"
 * also: a "first used here"
 * help: rename one of them
 * why: The API server refuses the object. Init containers and containers share their names.
 * source: Kubernetes API, `Container.name`
 */
assert ContainersHaveNamesOfTheirOwn {
  all w: Workload, a, b: w.containers |
    (a != b and written_before[a, b] and some a.container_name) implies a.container_name != b.container_name
}

/** K8S031 duplicate-volume error: two volumes of a pod have the same name
 * message: two volumes of `{w}` are called `{b}`
 * at: b "used again"
 * also: a "first used here"
 * help: rename one of them
 * why: The API server refuses the object.
 * source: Kubernetes API, `Volume.name`
 */
assert VolumesHaveNamesOfTheirOwn {
  all w: Workload, a, b: w.volumes |
    (a != b and written_before[a, b] and some a.declared_name) implies a.declared_name != b.declared_name
}

/** K8S032 duplicate-port-name error: two ports of a container have the same name
 * message: two ports of container `{c}` are called `{n}`
 * at: b.listed_name "used again"
 * also: a.listed_name "first used here"
 * help: rename one of them
 * why: The API server refuses the object.
 * source: Kubernetes API, `ContainerPort.name`
 */
assert PortsHaveNamesOfTheirOwn {
  all c: Container, a, b: c.ports, n: b.listed_name |
    (a != b and written_before[a, b]) implies n not in a.listed_name
}

/** K8S033 undeclared-volume error: a container mounts a volume that the pod does not have
 * message: container `{c}` mounts volume `{m}`, which `{w}` does not have
 * at: m "no such volume"
 * help: add it under `volumes`, or correct its name
 * why: The API server refuses the object.
 * source: Kubernetes API, `VolumeMount.name`
 */
assert MountedVolumesAreDeclared {
  all w: Workload, c: w.containers, m: c.mounts | some m.mounted
}

/** K8S034 duplicate-mount-path error: two volumes are mounted at the same path
 * message: container `{c}` mounts both `{a}` and `{b}` at `{p}`
 * at: b.path "used again"
 * also: a.path "first used here"
 * help: choose another path for one of them
 * why: The API server refuses the object.
 * source: Kubernetes API, `VolumeMount.mountPath`
 */
assert MountPathsAreUsedOnce {
  all c: Container, a, b: c.mounts, p: b.path |
    (a != b and written_before[a, b]) implies p not in a.path
}

/** K8S035 limit-below-request error: a container asks for more than it may use
 * message: container `{c}` asks for {r} of {m}, more than its limit {l}
 * at: m.request "more than the limit"
 * also: m.limit "the limit"
 * help: raise the limit, or lower the request
 * why: The API server refuses the object.
 * source: Kubernetes API, `ResourceRequirements`
 */
assert RequestsAreWithinLimits {
  all c: Container, m: c.amounts, r: m.request, l: m.limit | not less_quantity[l, r]
}

/** K8S036 duplicate-object warning: two objects are the same
 * message: the {b.kind} `{b}` is defined twice
 * at: b "defined again"
 * also: a "first defined here"
 * help: remove one of them, or give it another name or namespace
 * why: The second replaces the first, or the first comes back, whichever is applied last.
 * source: ours
 */
assert ObjectsAreDefinedOnce {
  all a, b: Object, i: a.identity | (a != b and written_before[a, b]) implies i not in b.identity
}

/** K8S037 duplicate-variable warning: a container sets an environment variable twice
 * message: container `{c}` sets `{b}` twice
 * at: b "set again"
 * also: a "first set here"
 * help: remove one of them
 * why: The last one counts; often the first was meant to.
 * source: kube-linter, duplicate-env-var
 */
assert VariablesAreSetOnce {
  all c: Container, a, b: c.variables |
    (a != b and written_before[a, b]) implies a.variable_name != b.variable_name
}

/** K8S038 duplicate-host-port error: two containers of a pod take the same port of the node
 * message: port {h} of the node is taken twice by the pods of `{w}`
 * at: b.host_port "taken again"
 * also: a.host_port "first taken here"
 * help: change one of them, or leave `hostPort` out and use a Service
 * why: The API server refuses the object.
 * source: Kubernetes API, `ContainerPort.hostPort`
 */
assert HostPortsAreTakenOnce {
  all w: Workload, a, b: w.containers.ports, h: b.host_port |
    (a != b and written_before[a, b] and a.port_protocol = b.port_protocol
      and a.listed_by.role = "main" and b.listed_by.role = "main") implies h not in a.host_port
}
