/** Rules about what pods and accounts may do to the node and the cluster. */
module kubernetes/security

open kubernetes/vocabulary
open kubernetes/cluster
open values

/** K8S050 privileged-container warning: a container is privileged
 * message: container `{c}` of `{w}` is privileged
 * at: c.privileged "has all rights of the node"
 * help: remove `privileged`, and add the capabilities that are needed
 * why: Whoever controls the container controls the node and everything that runs on it.
 * source: kube-linter, privileged-container; Pod Security Standards, baseline
 */
assert ContainersAreNotPrivileged {
  all w: Workload, c: w.containers | c.privileged != True
}

/** K8S051 shared-host-namespace warning: pods share the network of the node
 * message: the pods of `{w}` use the network of the node
 * at: w.host_network "sees all traffic of the node"
 * help: remove `hostNetwork`, and use a Service or a host port
 * why: The pods reach what listens on the node alone, and no network policy holds for them.
 * source: kube-linter, host-network; Pod Security Standards, baseline
 */
assert PodsHaveTheirOwnNetwork { all w: Workload | w.host_network = False }

/** K8S051 shared-host-namespace warning: pods share the processes of the node
 * message: the pods of `{w}` see the processes of the node
 * at: w.host_pid "sees and can signal all processes"
 * help: remove `hostPID`
 * why: The pods read the environment of other processes, and with enough rights control them.
 * source: kube-linter, host-pid; Pod Security Standards, baseline
 */
assert PodsHaveTheirOwnProcesses { all w: Workload | w.host_pid = False }

/** K8S051 shared-host-namespace warning: pods share memory with the node
 * message: the pods of `{w}` share memory with the node
 * at: w.host_ipc "reads the memory of others"
 * help: remove `hostIPC`
 * why: The pods read and change the shared memory of other processes.
 * source: kube-linter, host-ipc; Pod Security Standards, baseline
 */
assert PodsHaveTheirOwnMemory { all w: Workload | w.host_ipc = False }

/** K8S052 container-runtime-socket warning: the socket of the container runtime is mounted
 * message: `{w}` mounts the socket of the container runtime: `{p}`
 * at: v.host_path "controls all containers of the node"
 * help: remove the volume, or use the API of Kubernetes
 * why: Whoever reaches the socket starts privileged containers on the node.
 * source: kube-linter, docker-sock
 */
assert RuntimeSocketsAreNotMounted {
  all w: Workload, v: w.volumes, p: v.host_path | not finds[p, "(docker|containerd|crio)[.]sock$"]
}

/** K8S053 sensitive-host-mount warning: a system directory of the node is mounted
 * message: `{w}` mounts `{p}` of the node
 * at: v.host_path "a system directory"
 * help: mount a directory that is made for it, or use another kind of volume
 * why: What is in system directories lets a container take over the node.
 * source: kube-linter, sensitive-host-mounts
 */
assert SystemDirectoriesAreNotMounted {
  all w: Workload, v: w.volumes, p: v.host_path |
    not finds[p, "^/$|^/(boot|dev|etc|lib|proc|sys|usr)(/|$)"]
}

/** K8S054 deprecated-service-account-field warning: the old name of a field is used
 * message: `{w}` uses `serviceAccount`, the old name of `serviceAccountName`
 * at: w.old_account "deprecated"
 * help: rename it to `serviceAccountName`
 * why: The field is deprecated and only kept for old clients.
 * source: kube-linter, deprecated-service-account-field
 */
assert AccountsAreNamedByTheNewField {
  all w: Workload | some w.old_account implies some w.account
}

/** K8S055 cluster-admin-binding warning: a binding grants all rights of the cluster
 * message: `{b}` grants `cluster-admin`
 * at: b.role_name "all rights on everything"
 * help: bind a role with the rights that are needed
 * why: Whoever uses the subject controls the cluster.
 * source: kube-linter, cluster-admin-role-binding
 */
assert ClusterAdminIsNotBound {
  all b: Binding | b.kind = "ClusterRoleBinding" implies b.role_name != "cluster-admin"
}

/** K8S056 wildcard-rule warning: a role allows everything of a kind
 * message: role `{o}` allows `*`
 * at: r "a wildcard"
 * help: list the verbs and resources that are needed
 * why: The role also allows what a later release or definition adds.
 * source: kube-linter, wildcard-in-rules
 */
assert RolesListWhatTheyAllow {
  all o: Role, r: o.rules | "*" not in r.verbs + r.resources
}

/** K8S057 latest-image warning: an image has no fixed version
 * message: container `{c}` runs `{i}`, whose version is not fixed
 * at: c.image "any version"
 * help: name a tag other than `latest`, or a digest
 * why: Pods that start later run another program than those that started before.
 * source: kube-linter, latest-tag
 */
assert ImagesHaveAVersion {
  all c: Container, i: c.image | not matches[i, ".*:latest"] and finds[i, "@|:[^/]+$"]
}

/** K8S058 secret-in-variable warning: a secret is written into a manifest
 * message: the variable `{v}` of container `{c}` has a secret as plain text
 * at: v.literal "readable for everybody"
 * help: put it into a Secret, and take the variable from there
 * why: Whoever reads the manifest or the object reads the secret.
 * source: kube-linter, env-var-secret
 */
assert SecretsAreNotWrittenDown {
  all c: Container, v: c.variables | matches[v.variable_name, "(?i).*(secret|password|passwd).*"] implies no v.literal
}

/** K8S059 privilege-escalation warning: a container can get more rights than it starts with
 * message: container `{c}` may get more rights than it starts with
 * at: c.allow_escalation "allows it"
 * help: set `allowPrivilegeEscalation: false`
 * why: A program with the set-user-ID bit makes its caller root.
 * source: kube-linter, privilege-escalation-container
 */
assert ContainersDoNotEscalate {
  all c: Container | c.allow_escalation != True
}

/** K8S060 unsafe-sysctl warning: pods set a sysctl that is not theirs alone
 * message: the pods of `{w}` set `{s}`, which is not theirs alone
 * at: w.sysctls "affects the node"
 * help: use a sysctl that is safe, or set it on the node
 * why: The kubelet refuses the pods unless it is told to allow the sysctl.
 * source: kube-linter, unsafe-sysctls; Pod Security Standards, baseline
 */
assert SysctlsAreSafe {
  all w: Workload, s: w.sysctls |
    s in "kernel.shm_rmid_forced" + "net.ipv4.ip_local_port_range" + "net.ipv4.tcp_syncookies"
      + "net.ipv4.ping_group_range" + "net.ipv4.ip_unprivileged_port_start"
      + "net.ipv4.ip_local_reserved_ports" + "net.ipv4.tcp_keepalive_time" + "net.ipv4.tcp_fin_timeout"
      + "net.ipv4.tcp_keepalive_intvl" + "net.ipv4.tcp_keepalive_probes" + "net.ipv4.tcp_rmem" + "net.ipv4.tcp_wmem"
}
