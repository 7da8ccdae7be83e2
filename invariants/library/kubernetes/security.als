/**
 * Rules about what pods and accounts may do to the node and the cluster. What a Pod Security Standard that is asked for forbids
 * is told by the rules about standards, and not again here.
 */
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
  all w: Workload, c: w.containers | no w.standards implies c.privileged != True
}

/** K8S051 shared-host-namespace warning: pods share the network of the node
 * message: the pods of `{w}` use the network of the node
 * at: w.host_network "sees all traffic of the node"
 * help: remove `hostNetwork`, and use a Service or a host port
 * why: The pods reach what listens on the node alone, and no network policy holds for them.
 * source: kube-linter, host-network; Pod Security Standards, baseline
 */
assert PodsHaveTheirOwnNetwork { all w: Workload | no w.standards implies w.host_network = False }

/** K8S051 shared-host-namespace warning: pods share the processes of the node
 * message: the pods of `{w}` see the processes of the node
 * at: w.host_pid "sees and can signal all processes"
 * help: remove `hostPID`
 * why: The pods read the environment of other processes, and with enough rights control them.
 * source: kube-linter, host-pid; Pod Security Standards, baseline
 */
assert PodsHaveTheirOwnProcesses { all w: Workload | no w.standards implies w.host_pid = False }

/** K8S051 shared-host-namespace warning: pods share memory with the node
 * message: the pods of `{w}` share memory with the node
 * at: w.host_ipc "reads the memory of others"
 * help: remove `hostIPC`
 * why: The pods read and change the shared memory of other processes.
 * source: kube-linter, host-ipc; Pod Security Standards, baseline
 */
assert PodsHaveTheirOwnMemory { all w: Workload | no w.standards implies w.host_ipc = False }

/** K8S052 container-runtime-socket warning: the socket of the container runtime is mounted
 * message: `{w}` mounts the socket of the container runtime: `{p}`
 * at: v.host_path "controls all containers of the node"
 * help: remove the volume, or use the API of Kubernetes
 * why: Whoever reaches the socket starts privileged containers on the node.
 * source: kube-linter, docker-sock
 */
assert RuntimeSocketsAreNotMounted {
  all w: Workload, v: w.volumes, p: v.host_path | not finds[p, Policy.runtime_sockets]
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
    not finds[p, Policy.denied_host_paths]
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
 * fix: unsafe replace b.role_name with `view`
 * why: Whoever uses the subject controls the cluster.
 * source: kube-linter, cluster-admin-role-binding
 */
assert ClusterAdminIsNotBound {
  all b: Binding | b.kind = "ClusterRoleBinding" implies b.role_name != "cluster-admin"
}

/** K8S056 wildcard-rule warning: a role allows every verb
 * message: {o.kind} `{o}` allows every verb
 * at: r.verbs "a wildcard"
 * help: list the verbs that are needed
 * why: The role also allows what a later release or definition adds.
 * source: kube-linter, wildcard-in-rules
 */
assert RolesListTheirVerbs {
  all o: Role, r: o.rules, x: r.verbs | x != "*"
}

/** K8S056 wildcard-rule warning: a role is about every resource
 * message: {o.kind} `{o}` is about every resource
 * at: r.resources "a wildcard"
 * help: list the resources that are needed
 * why: The role also allows what a later release or definition adds.
 * source: kube-linter, wildcard-in-rules
 */
assert RolesListTheirResources {
  all o: Role, r: o.rules, x: r.resources | x != "*"
}

/** K8S057 latest-image warning: an image has no fixed version
 * message: container `{c}` runs `{i}`, whose version is not fixed
 * at: c.image "any version"
 * help: name a tag other than `latest`, or a digest
 * why: Pods that start later run another program than those that started before.
 * source: kube-linter, latest-tag
 */
assert ImagesHaveAVersion {
  all c: Container, i: c.image | not finds[i, Policy.denied_images]
    and (some Policy.allowed_images implies finds[i, Policy.allowed_images])
}

/** K8S058 secret-in-variable warning: a secret is written into a manifest
 * message: the variable `{v}` of container `{c}` has a secret as plain text
 * at: v.literal "readable for everybody"
 * help: put it into a Secret, and take the variable from there
 * why: Whoever reads the manifest or the object reads the secret.
 * source: kube-linter, env-var-secret
 */
assert SecretsAreNotWrittenDown {
  all c: Container, v: c.variables | finds[v.variable_name, Policy.secret_variables] implies no v.literal
}

/** K8S059 privilege-escalation warning: a container can get more rights than it starts with
 * message: container `{c}` may get more rights than it starts with
 * at: c.allow_escalation "allows it"
 * also: c.added "allows it"
 * help: set `allowPrivilegeEscalation: false`, and do not add `SYS_ADMIN`
 * why: A program with the set-user-ID bit makes its caller root, and `SYS_ADMIN` is nearly root.
 * source: kube-linter, privilege-escalation-container
 */
assert ContainersDoNotEscalate {
  all c: Container |
    (c.allow_escalation != True or "restricted" in c.workload.standards.level)
    and ("SYS_ADMIN" not in c.added or some c.workload.standards)
}

/** K8S060 unsafe-sysctl warning: pods set a sysctl that is not theirs alone
 * message: the pods of `{w}` set `{s}`, which is not theirs alone
 * at: w.sysctls "affects the node"
 * help: use a sysctl that is safe, or set it on the node
 * why: The kubelet refuses the pods unless it is told to allow the sysctl.
 * source: kube-linter, unsafe-sysctls; Pod Security Standards, baseline
 */
assert SysctlsAreSafe {
  all w: Workload, s: w.sysctls | some w.standards or s in Policy.safe_sysctls or
    s in "kernel.shm_rmid_forced" + "net.ipv4.ip_local_port_range" + "net.ipv4.tcp_syncookies"
      + "net.ipv4.ping_group_range" + "net.ipv4.ip_unprivileged_port_start"
      + "net.ipv4.ip_local_reserved_ports" + "net.ipv4.tcp_keepalive_time" + "net.ipv4.tcp_fin_timeout"
      + "net.ipv4.tcp_keepalive_intvl" + "net.ipv4.tcp_keepalive_probes" + "net.ipv4.tcp_rmem" + "net.ipv4.tcp_wmem"
      + "net.ipv4.tcp_slow_start_after_idle" + "net.ipv4.tcp_notsent_lowat"
}

/** The rules that a binding grants, also through roles that are put together from others. */
fun granted[b: Binding]: set PolicyRule { (role_of[b] + (role_of[b].aggregated & Role)).rules }

/** The role that a binding names. */
fun role_of[b: Binding]: set Role { (by.b & RoleUse).target & Role }

/** K8S061 not-isolated info: pods are not isolated by any NetworkPolicy
 * message: no NetworkPolicy selects the pods of `{w}`
 * at: w "everything may connect to them"
 * help: add a NetworkPolicy that selects them
 * default: off
 * why: Without a policy everything in the cluster may connect to the pods, and they to everything.
 * source: kube-linter, non-isolated-pod
 */
assert PodsAreIsolated {
  all w: Workload | complete implies w.isolated = True
}

/** K8S062 access-to-create-pods warning: a binding lets its subjects create workloads
 * message: `{b}` lets its subjects create `{r.resources}`
 * at: b.role_name "may create workloads"
 * also: r "this rule"
 * help: bind a role without that right, if it is not needed
 * default: off
 * why: Who may create pods may run any program with every service account and Secret of the namespace.
 * source: kube-linter, access-to-create-pods
 */
assert CreatingWorkloadsIsNotGranted {
  all b: Binding, r: granted[b] |
    not ((finds[r.resources, Policy.workload_resources] or "*" in r.resources)
      and (finds[r.verbs, Policy.workload_verbs] or "*" in r.verbs))
}

/** K8S063 access-to-secrets warning: a binding gives its subjects access to Secrets
 * message: `{b}` gives its subjects access to `{r.resources}`: `{r.verbs}`
 * at: b.role_name "has access to secrets"
 * also: r "this rule"
 * help: bind a role without that right, or name the Secrets that are needed with `resourceNames`
 * default: off
 * why: Who reads Secrets holds every credential in them.
 * source: kube-linter, access-to-secrets
 */
assert AccessToSecretsIsNotGranted {
  all b: Binding, r: granted[b] |
    not ((finds[r.resources, Policy.secret_resources] or "*" in r.resources)
      and (finds[r.verbs, Policy.secret_verbs] or "*" in r.verbs))
}

/** K8S064 default-account info: pods run as the default service account
 * message: the pods of `{w}` run as the service account `default`
 * at: w.account "no account of its own"
 * help: give them an account of their own, or set `automountServiceAccountToken: false`
 * fix: unsafe add `^automountServiceAccountToken: false` to w.containers
 * default: off
 * why: What is granted to the default account is granted to every pod that names none.
 * source: kube-linter, default-service-account
 */
assert AccountsAreTheirOwn {
  all w: Workload | w.mounts_token = False
    or (some w.account + w.old_account and not finds[w.account + w.old_account, Policy.default_accounts])
}

/** K8S065 may-run-as-root info: a container may run as root
 * message: container `{c}` may run as root
 * at: c.user "may be root"
 * help: set `runAsNonRoot: true`, or `runAsUser` to a number above 0
 * fix: unsafe add `securityContext.runAsNonRoot: true` to c
 * default: off
 * why: Root in the container is root on the node for whatever escapes. Without either field, the image decides.
 * source: kube-linter, run-as-non-root
 */
assert ContainersAreNotRoot {
  all c: Container | less[0, c.user] or (c.non_root = True and c.user != 0)
}

/** K8S065 may-run-as-root info: a container runs in the group of root
 * message: container `{c}` runs in group 0
 * at: c.user_group "the group of root"
 * help: use another number for `runAsGroup`
 * default: off
 * why: The group of root owns many files.
 * source: kube-linter, run-as-non-root
 */
assert ContainersAreNotInTheGroupOfRoot {
  all c: Container | c.user_group != 0
}

/** K8S066 writable-root info: the root file system of a container can be written
 * message: container `{c}` can write to its root file system
 * at: c.read_only_root "can be written"
 * help: set `readOnlyRootFilesystem: true`, and mount volumes where it writes
 * fix: unsafe add `securityContext.readOnlyRootFilesystem: true` to c
 * default: off
 * why: Whoever takes the container over can change its programs.
 * source: kube-linter, no-read-only-root-fs
 */
assert RootIsReadOnly {
  all c: Container | c.read_only_root = True
}

/** K8S067 undropped-capability info: a container keeps a capability that it should drop
 * message: container `{c}` does not drop `{d}`
 * at: c "keeps it"
 * help: add it, or `ALL`, to `capabilities.drop`
 * fix: unsafe add `securityContext.capabilities.drop: ["{d}"]` to c
 * default: off
 * why: With `NET_RAW`, which every container has by default, it can forge packets of others.
 * source: kube-linter, drop-net-raw-capability
 */
assert CapabilitiesAreGivenUp {
  all c: Container, d: Policy.dropped_capabilities - Policy.capability_exceptions |
    some c.dropped & (d + "ALL" + "all")
}

/** K8S067 undropped-capability info: a container is given a capability that it should not have
 * message: container `{c}` is given `{d}`
 * at: c.added "given"
 * help: remove it from `capabilities.add`
 * default: off
 * why: With `NET_RAW` it can forge packets of others.
 * source: kube-linter, drop-net-raw-capability
 */
assert CapabilitiesAreNotAdded {
  all c: Container, d: c.added & Policy.dropped_capabilities | d in Policy.capability_exceptions
}

/** K8S068 writable-host-mount info: a path of the node is mounted for writing
 * message: container `{c}` can write to `{v.host_path}` of the node
 * at: m "mounted for writing"
 * help: set `readOnly: true`
 * default: off
 * why: What a container writes there changes the node.
 * source: kube-linter, writable-host-mount
 */
assert HostMountsAreReadOnly {
  all c: Container, m: c.mounts, v: m.mounted | v.source = "hostPath" implies m.read_only = True
}

/** K8S069 unmasked-proc warning: a container sees all of `/proc`
 * message: container `{c}` has `procMount: {m}`
 * at: c.proc_mount "nothing of it is masked"
 * help: remove `procMount`
 * why: What is masked in `/proc` tells of the node and lets it be changed.
 * source: kube-linter, unsafe-proc-mount; Pod Security Standards, baseline
 */
assert ProcStaysMasked {
  all w: Workload, c: w.containers, m: c.proc_mount | no w.standards implies m != "Unmasked"
}

/** K8S070 privileged-port info: a container listens on a privileged port
 * message: container `{c}` listens on port {p}
 * at: p "below 1024"
 * help: choose a port from 1024 on, and map it with a Service
 * default: off
 * why: Only root, or a container with `NET_BIND_SERVICE`, may listen on it.
 * source: kube-linter, privileged-ports
 */
assert PortsAreUnprivileged {
  all c: Container, p: c.ports | not less[p.container_port, 1024]
}

/** K8S071 remote-shell warning: a container offers a remote shell
 * message: container `{c}` listens on port {p}, that of SSH
 * at: p "a remote shell"
 * help: remove it; `kubectl exec` opens a shell
 * why: A remote shell is a way in past the API server, its rights and its audit log.
 * source: kube-linter, ssh-port
 */
assert NoRemoteShells {
  all c: Container, p: c.ports | p.port_protocol = "TCP" implies p.container_port not in Policy.shell_ports
}

/** K8S072 variable-from-secret info: a variable holds a Secret
 * message: the variable `{v}` of container `{c}` is taken from a Secret
 * at: v "a Secret in the environment"
 * help: mount the Secret as a volume
 * default: off
 * why: The environment is read by every process of the container, and ends up in logs and crash reports.
 * source: kube-linter, read-secret-from-env-var
 */
assert SecretsAreNotInTheEnvironment {
  all c: Container, v: c.variables | v.from != "secretKeyRef"
}

/** K8S073 privileged-allowed warning: SecurityContextConstraints allow privileged containers
 * message: `{s}` allows privileged containers
 * at: s.allow_privileged "allows them"
 * help: set `allowPrivilegedContainer: false`
 * default: off
 * why: Whoever may use the constraints controls the nodes.
 * source: kube-linter, scc-deny-privileged-container
 */
assert ConstraintsForbidPrivileged {
  all s: SecurityContextConstraints | s.allow_privileged != True
}

/** K8S074 exposed-service info: a Service is reached from outside the cluster
 * message: Service `{s}` is of type `{t}`
 * at: s.type "reached from outside"
 * help: use `ClusterIP`, with an Ingress where it is needed
 * default: off
 * why: What is reached from outside is attacked from outside.
 * source: kube-linter, exposed-services
 */
assert ServicesAreInside {
  all s: Service, t: s.type | t not in Policy.service_types
}

/** K8S150 unneeded-token info: pods are given a token that is of no use
 * message: the pods of `{w}` are given a token of their account, to which no role is granted
 * at: w.mounts_token "given a token"
 * help: set `automountServiceAccountToken: false` for the pods or the account
 * fix: unsafe add `^automountServiceAccountToken: false` to w.containers
 * default: off
 * why: Whoever takes a container over holds the token, and with it what is granted to the account later.
 * source: Kubernetes documentation, service accounts
 */
assert TokensAreNeeded {
  all w: Workload | w.gets_token = True implies some (by.w & AccountUse).target & SubjectUse.target
}

/** K8S151 lasting-token warning: a Secret holds a token that never expires
 * message: Secret `{s}` holds a token of a service account that never expires
 * at: s.secret_type "never expires"
 * help: project a `serviceAccountToken` into the pods that need it, or use `kubectl create token`
 * why: Whoever reads the Secret once holds the token for ever, for every audience.
 * source: Kubernetes documentation, service accounts
 */
assert TokensExpire {
  all s: Secret | s.secret_type != "kubernetes.io/service-account-token"
}

/** K8S152 long-token-lifetime warning: a token lives for long
 * message: a token for the pods of `{w}` lives {n} seconds
 * at: t.lifetime "more than a day"
 * help: ask for less: the kubelet renews it
 * why: A token that leaks can be used until it expires.
 * source: Kubernetes documentation, projected volumes
 */
assert TokensAreShortLived {
  all w: Workload, t: w.tokens, n: t.lifetime | not less[86400, n]
}

/** K8S153 token-for-anybody info: a token is not for one audience
 * message: a token for the pods of `{w}` has no audience
 * at: t "good for the API server"
 * help: name whom it is sent to in `audience`
 * default: off
 * why: Whoever is sent a token without an audience can use it with the API server.
 * source: Kubernetes documentation, projected volumes
 */
assert TokensHaveAnAudience {
  all w: Workload, t: w.tokens | some t.audience
}

/** K8S154 host-path info: pods use files of the node
 * message: volume `{v}` of `{w}` is a path of the node
 * at: v.source "a path of the node"
 * help: use another kind of volume
 * default: off
 * why: What is on the node reaches other pods, and the node itself.
 * source: Pod Security Standards, baseline; Kubernetes documentation, hostPath
 */
assert HostPathsAreNotUsed {
  all w: Workload, v: w.volumes | no w.standards implies v.source != "hostPath"
}
