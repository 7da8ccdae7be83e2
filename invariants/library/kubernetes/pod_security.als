/**
 * The Pod Security Standards: what `baseline` and `restricted` ask of pods, in the form of each release.
 *
 * A standard is asked for with `--pod-security`, in the settings, or by a label of a namespace. What several standards of the
 * same pods forbid is told once, for the first of them; what a namespace only warns of or audits is a warning.
 */
module kubernetes/pod_security

open kubernetes/vocabulary
open values

/** The form of the standard is that of a release, or a later one. */
pred as_of[s: Standard, release: set univ] { not less[s.standard_release, release] }

/** The form of the standard lets pods on Windows off, and these are. */
pred let_off_windows[s: Standard, w: Workload] { as_of[s, 25] and w.os = "windows" }

/** The form of the standard lets pods in a user namespace of their own off, and these are. */
pred let_off_users[s: Standard, w: Workload] { as_of[s, 35] and w.host_users = False }

/** K8S100 pod-security-privileged error: a standard forbids privileged containers
 * message: container `{c}` is privileged, which the Pod Security Standard `{s}` forbids
 * at: c.privileged "has all rights of the node"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: remove `privileged`, and add the capabilities that are needed
 * why: A privileged container can do everything that the node can.
 * source: Pod Security Standards, baseline, Privileged Containers
 */
assert PrivilegedIsForbidden {
  all w: Workload, s: w.standards, c: w.containers | (no s.ahead) implies c.privileged != True
}

/** K8S101 pod-security-host-namespaces error: a standard forbids the network of the node
 * message: the pods of `{w}` use the network of the node, which the Pod Security Standard `{s}` forbids
 * at: w.host_network "the network of the node"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: remove `hostNetwork`
 * why: The pods reach what listens on the node alone.
 * source: Pod Security Standards, baseline, Host Namespaces
 */
assert HostNetworkIsForbidden {
  all w: Workload, s: w.standards | (no s.ahead) implies w.host_network = False
}

/** K8S101 pod-security-host-namespaces error: a standard forbids the processes of the node
 * message: the pods of `{w}` see the processes of the node, which the Pod Security Standard `{s}` forbids
 * at: w.host_pid "the processes of the node"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: remove `hostPID`
 * why: The pods see all processes of the node, and can signal them.
 * source: Pod Security Standards, baseline, Host Namespaces
 */
assert HostProcessesAreForbidden {
  all w: Workload, s: w.standards | (no s.ahead) implies w.host_pid = False
}

/** K8S101 pod-security-host-namespaces error: a standard forbids the shared memory of the node
 * message: the pods of `{w}` share memory with the node, which the Pod Security Standard `{s}` forbids
 * at: w.host_ipc "the shared memory of the node"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: remove `hostIPC`
 * why: The pods can read and change the shared memory of the node.
 * source: Pod Security Standards, baseline, Host Namespaces
 */
assert HostMemoryIsForbidden {
  all w: Workload, s: w.standards | (no s.ahead) implies w.host_ipc = False
}

/** The standard forbids volumes of the node, and says nothing of other volumes. */
pred forbids_host_paths[s: Standard, v: Volume] { s.level = "baseline" and v.source = "hostPath" }

/** K8S102 pod-security-host-path error: a standard forbids volumes of the node
 * message: volume `{v}` is a path of the node, which the Pod Security Standard `{s}` forbids
 * at: v.source "a path of the node"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: use another kind of volume, such as `emptyDir` or `persistentVolumeClaim`
 * why: The files of the node let a container take it over.
 * source: Pod Security Standards, baseline, HostPath Volumes
 */
assert HostPathsAreForbidden {
  all w: Workload, s: w.standards, v: w.volumes |
    forbids_host_paths[s, v] implies (some t: s.ahead | forbids_host_paths[t, v] or forbids_volume[t, v])
}

/** K8S103 pod-security-host-ports error: a standard forbids ports of the node
 * message: container `{c}` takes port {p.host_port} of the node, which the Pod Security Standard `{s}` forbids
 * at: p.host_port "a port of the node"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: remove `hostPort`, and use a Service
 * why: The pods are reached past network policies, and keep others from using the port.
 * source: Pod Security Standards, baseline, Host Ports
 */
assert HostPortsAreForbidden {
  all w: Workload, s: w.standards, c: w.containers, p: c.ports | (no s.ahead) implies no p.host_port
}

/** The standard has a list of capabilities that may be added, and this is not among them. */
pred forbids_capability[s: Standard, a: set univ] {
  (s.level = "baseline" or not as_of[s, 22])
  and a not in "AUDIT_WRITE" + "CHOWN" + "DAC_OVERRIDE" + "FOWNER" + "FSETID" + "KILL" + "MKNOD" + "NET_BIND_SERVICE"
    + "SETFCAP" + "SETGID" + "SETPCAP" + "SETUID" + "SYS_CHROOT"
}

/** K8S104 pod-security-capabilities error: a standard forbids a capability
 * message: container `{c}` is given the capability `{a}`, which the Pod Security Standard `{s}` forbids
 * at: c.added "not among those that may be added"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: remove it
 * why: The capabilities beyond those of every container reach the node.
 * source: Pod Security Standards, baseline, Capabilities
 */
assert CapabilitiesAreLimited {
  all w: Workload, s: w.standards, c: w.containers, a: c.added |
    forbids_capability[s, a] implies (some t: s.ahead | forbids_capability[t, a] or forbids_any_capability[t, w, a])
}

/** The standard asks for the usual masks over `/proc`. */
pred asks_proc_mask[s: Standard, w: Workload] { s.level = "restricted" or not let_off_users[s, w] }

/** K8S105 pod-security-proc-mount error: a standard forbids an unmasked `/proc`
 * message: container `{c}` has `procMount: {m}`, which the Pod Security Standard `{s}` forbids
 * at: c.proc_mount "not `Default`"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: remove `procMount`
 * why: What is masked in `/proc` tells of the node and lets it be changed.
 * source: Pod Security Standards, baseline and restricted, /proc Mount Type
 */
assert ProcIsMasked {
  all w: Workload, s: w.standards, c: w.containers, m: c.proc_mount |
    (m != "Default" and asks_proc_mask[s, w]) implies (some t: s.ahead | asks_proc_mask[t, w])
}

/** The standard asks that seccomp profiles are not `Unconfined`. */
pred asks_seccomp[s: Standard, w: Workload] {
  as_of[s, 19] and (s.level = "baseline" or not let_off_windows[s, w])
}

/** K8S106 pod-security-seccomp error: a standard forbids the seccomp profile of pods
 * message: the pods of `{w}` have the seccomp profile `{p}`, which the Pod Security Standard `{s}` forbids
 * at: w.pod_seccomp "must be `RuntimeDefault` or `Localhost`"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: use `RuntimeDefault`
 * why: Without a profile a container may make every call to the kernel.
 * source: Pod Security Standards, baseline, Seccomp
 */
assert SeccompOfPodsIsConfined {
  all w: Workload, s: w.standards, p: w.pod_seccomp |
    (p not in "RuntimeDefault" + "Localhost" and asks_seccomp[s, w]) implies (some t: s.ahead | asks_seccomp[t, w])
}

/** K8S106 pod-security-seccomp error: a standard forbids the seccomp profile of a container
 * message: container `{c}` has the seccomp profile `{p}`, which the Pod Security Standard `{s}` forbids
 * at: c.own_seccomp "must be `RuntimeDefault` or `Localhost`"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: use `RuntimeDefault`, or leave it out
 * why: Without a profile a container may make every call to the kernel.
 * source: Pod Security Standards, baseline, Seccomp
 */
assert SeccompOfContainersIsConfined {
  all w: Workload, s: w.standards, c: w.containers, p: c.own_seccomp |
    (p not in "RuntimeDefault" + "Localhost" and asks_seccomp[s, w]) implies (some t: s.ahead | asks_seccomp[t, w])
}

/** K8S106 pod-security-seccomp error: a standard forbids the seccomp profile that an annotation gives
 * message: an annotation gives the pods of `{w}` the seccomp profile `{p}`, which the Pod Security Standard `{s}` forbids
 * at: w.seccomp_annotations "must be `runtime/default`, `docker/default` or `localhost/...`"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: use `runtime/default`
 * why: Before Kubernetes 1.19 seccomp profiles are given by annotations.
 * source: Pod Security Standards before 1.19, baseline, Seccomp
 */
assert SeccompAnnotationsAreConfined {
  all w: Workload, s: w.standards, p: w.seccomp_annotations |
    not as_of[s, 19] implies (p in "runtime/default" + "docker/default" or finds[p, "^localhost/"]
      or (some t: s.ahead | not as_of[t, 19]))
}

/** The standard asks for a seccomp profile. */
pred asks_a_seccomp_profile[s: Standard, w: Workload] {
  s.level = "restricted" and as_of[s, 19] and not let_off_windows[s, w]
}

/** K8S107 pod-security-no-seccomp error: a standard asks for a seccomp profile
 * message: container `{c}` has no seccomp profile, which the Pod Security Standard `{s}` asks for
 * at: c "no profile of its own, and none of the pod"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: set `seccompProfile.type: RuntimeDefault` in `securityContext` of the pod
 * why: Without a profile a container may make every call to the kernel.
 * source: Pod Security Standards, restricted, Seccomp
 */
assert SeccompIsSet {
  all w: Workload, s: w.standards, c: w.containers |
    (asks_a_seccomp_profile[s, w] and no w.pod_seccomp and no c.own_seccomp) implies
      (some t: s.ahead | asks_a_seccomp_profile[t, w])
}

/** The standard forbids an SELinux option. */
pred forbids_selinux[s: Standard, o: Label] {
  o.key in "user" + "role"
  or (o.key = "type" and o.value not in "container_t" + "container_init_t" + "container_kvm_t"
    and not (o.value = "container_engine_t" and as_of[s, 31]))
}

/** K8S108 pod-security-selinux error: a standard forbids SELinux options of pods
 * message: the pods of `{w}` set the SELinux {o} `{o.value}`, which the Pod Security Standard `{s}` forbids
 * at: o "not allowed"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: remove it
 * why: Another type, user or role of SELinux opens the node to the container.
 * source: Pod Security Standards, baseline, SELinux
 */
assert SelinuxOfPodsIsLimited {
  all w: Workload, s: w.standards, o: w.pod_selinux |
    forbids_selinux[s, o] implies (some t: s.ahead | forbids_selinux[t, o])
}

/** K8S108 pod-security-selinux error: a standard forbids SELinux options of a container
 * message: container `{c}` sets the SELinux {o} `{o.value}`, which the Pod Security Standard `{s}` forbids
 * at: o "not allowed"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: remove it
 * why: Another type, user or role of SELinux opens the node to the container.
 * source: Pod Security Standards, baseline, SELinux
 */
assert SelinuxOfContainersIsLimited {
  all w: Workload, s: w.standards, c: w.containers, o: c.own_selinux |
    forbids_selinux[s, o] implies (some t: s.ahead | forbids_selinux[t, o])
}

/** The standard forbids a sysctl. */
pred forbids_sysctl[s: Standard, n: set univ] {
  n not in "kernel.shm_rmid_forced" + "net.ipv4.ip_local_port_range" + "net.ipv4.tcp_syncookies"
    + "net.ipv4.ping_group_range" + "net.ipv4.ip_unprivileged_port_start"
  and not (n = "net.ipv4.ip_local_reserved_ports" and as_of[s, 27])
  and not (n in "net.ipv4.tcp_keepalive_time" + "net.ipv4.tcp_fin_timeout" + "net.ipv4.tcp_keepalive_intvl"
    + "net.ipv4.tcp_keepalive_probes" and as_of[s, 29])
  and not (n in "net.ipv4.tcp_rmem" + "net.ipv4.tcp_wmem" and as_of[s, 32])
  and not (n in "net.ipv4.tcp_slow_start_after_idle" + "net.ipv4.tcp_notsent_lowat" and as_of[s, 37])
}

/** K8S109 pod-security-sysctls error: a standard forbids a sysctl
 * message: the pods of `{w}` set `{n}`, which the Pod Security Standard `{s}` forbids
 * at: w.sysctls "not among the safe ones"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: remove it, or set it on the node
 * why: A sysctl that is not of the pod alone changes the node for all.
 * source: Pod Security Standards, baseline, Sysctls
 */
assert SysctlsAreLimited {
  all w: Workload, s: w.standards, n: w.sysctls |
    forbids_sysctl[s, n] implies (some t: s.ahead | forbids_sysctl[t, n])
}

/** K8S110 pod-security-apparmor error: a standard forbids the AppArmor profile of pods
 * message: the pods of `{w}` have the AppArmor profile `{p}`, which the Pod Security Standard `{s}` forbids
 * at: w.pod_apparmor "must be `RuntimeDefault` or `Localhost`"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: use `RuntimeDefault`, or leave it out
 * why: Without a profile nothing confines the container on nodes with AppArmor.
 * source: Pod Security Standards, baseline, AppArmor
 */
assert AppArmorOfPodsIsConfined {
  all w: Workload, s: w.standards, p: w.pod_apparmor |
    (no s.ahead) implies p in "RuntimeDefault" + "Localhost"
}

/** K8S110 pod-security-apparmor error: a standard forbids the AppArmor profile of a container
 * message: container `{c}` has the AppArmor profile `{p}`, which the Pod Security Standard `{s}` forbids
 * at: c.own_apparmor "must be `RuntimeDefault` or `Localhost`"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: use `RuntimeDefault`, or leave it out
 * why: Without a profile nothing confines the container on nodes with AppArmor.
 * source: Pod Security Standards, baseline, AppArmor
 */
assert AppArmorOfContainersIsConfined {
  all w: Workload, s: w.standards, c: w.containers, p: c.own_apparmor |
    (no s.ahead) implies p in "RuntimeDefault" + "Localhost"
}

/** K8S110 pod-security-apparmor error: a standard forbids the AppArmor profile that an annotation gives
 * message: the annotation `{a}` gives the AppArmor profile `{a.value}`, which the Pod Security Standard `{s}` forbids
 * at: a "must be `runtime/default` or `localhost/...`"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: use `runtime/default`, or leave it out
 * why: Without a profile nothing confines the container on nodes with AppArmor.
 * source: Pod Security Standards, baseline, AppArmor
 */
assert AppArmorAnnotationsAreConfined {
  all w: Workload, s: w.standards, a: w.pod_annotations |
    ((no s.ahead) and finds[a.key, "^container[.]apparmor[.]security[.]beta[.]kubernetes[.]io/"]) implies
      (empty_text[a.value] or a.value = "runtime/default" or finds[a.value, "^localhost/"])
}

/** K8S111 pod-security-host-process error: a standard forbids processes of the Windows host
 * message: the pods of `{w}` run as processes of the Windows host, which the Pod Security Standard `{s}` forbids
 * at: w.pod_host_process "processes of the host"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: remove `hostProcess`
 * why: A process of the host can do everything that the node can.
 * source: Pod Security Standards, baseline, HostProcess
 */
assert HostProcessPodsAreForbidden {
  all w: Workload, s: w.standards | (no s.ahead) implies w.pod_host_process != True
}

/** K8S111 pod-security-host-process error: a standard forbids a process of the Windows host
 * message: container `{c}` runs as a process of the Windows host, which the Pod Security Standard `{s}` forbids
 * at: c.own_host_process "a process of the host"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: remove `hostProcess`
 * why: A process of the host can do everything that the node can.
 * source: Pod Security Standards, baseline, HostProcess
 */
assert HostProcessContainersAreForbidden {
  all w: Workload, s: w.standards, c: w.containers | (no s.ahead) implies c.own_host_process != True
}

/** K8S112 pod-security-probe-host error: a standard forbids a host in a probe or hook
 * message: a probe or hook of container `{c}` asks the host `{h}`, which the Pod Security Standard `{s}` forbids
 * at: c.probe_hosts "not the pod itself"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: remove `host`: the pod itself is asked
 * why: The kubelet asks for the pod, from the node, whatever network policies say.
 * source: Pod Security Standards since 1.34, baseline, Host Probes / Lifecycle Hooks
 */
assert ProbesAskTheirPods {
  all w: Workload, s: w.standards, c: w.containers, h: c.probe_hosts |
    (h in c.probe_hosts and as_of[s, 34]) implies (some t: s.ahead | as_of[t, 34])
}

/** The standard forbids a kind of volume. */
pred forbids_volume[s: Standard, v: Volume] {
  s.level = "restricted"
  and v.source not in "configMap" + "csi" + "downwardAPI" + "emptyDir" + "ephemeral" + "image" + "persistentVolumeClaim"
    + "projected" + "secret" + "claimTemplate"
}

/** K8S113 pod-security-volumes error: a standard forbids a kind of volume
 * message: volume `{v}` is of the kind `{v.source}`, which the Pod Security Standard `{s}` forbids
 * at: v.source "not among the allowed kinds"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: use a `persistentVolumeClaim`, or another of the allowed kinds
 * why: Such a volume reaches past the cluster, or into the node, without anybody having granted it.
 * source: Pod Security Standards, restricted, Volume Types
 */
assert VolumesAreLimited {
  all w: Workload, s: w.standards, v: w.volumes |
    forbids_volume[s, v] implies (some t: s.ahead | forbids_volume[t, v] or forbids_host_paths[t, v])
}

/** The standard asks that containers do not escalate. */
pred asks_no_escalation[s: Standard, w: Workload] {
  s.level = "restricted" and as_of[s, 8] and not let_off_windows[s, w]
}

/** K8S114 pod-security-escalation error: a standard forbids privilege escalation
 * message: container `{c}` may get more rights than it starts with, which the Pod Security Standard `{s}` forbids
 * at: c.allow_escalation "not forbidden"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: set `allowPrivilegeEscalation: false`
 * why: A program with the set-user-ID bit makes its caller root; without the field this is allowed.
 * source: Pod Security Standards, restricted, Privilege Escalation
 */
assert EscalationIsForbidden {
  all w: Workload, s: w.standards, c: w.containers |
    (asks_no_escalation[s, w] and c.allow_escalation != False) implies (some t: s.ahead | asks_no_escalation[t, w])
}

/** The standard asks that containers do not run as root. */
pred asks_non_root[s: Standard, w: Workload] { s.level = "restricted" and not let_off_users[s, w] }

/** K8S115 pod-security-non-root error: a standard forbids that pods may run as root
 * message: the pods of `{w}` may run as root, which the Pod Security Standard `{s}` forbids
 * at: w.pod_non_root "not ruled out"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: set `runAsNonRoot: true`
 * why: Root in the container is root on the node for whatever escapes.
 * source: Pod Security Standards, restricted, Running as Non-root
 */
assert PodsRunAsNonRoot {
  all w: Workload, s: w.standards |
    (asks_non_root[s, w] and w.pod_non_root = False) implies (some t: s.ahead | asks_non_root[t, w])
}

/** K8S115 pod-security-non-root error: a standard forbids that a container may run as root
 * message: container `{c}` may run as root, which the Pod Security Standard `{s}` forbids
 * at: c.own_non_root "not ruled out"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: set `runAsNonRoot: true` for the pod or the container
 * why: Root in the container is root on the node for whatever escapes. Without the field, the image decides.
 * source: Pod Security Standards, restricted, Running as Non-root
 */
assert ContainersRunAsNonRoot {
  all w: Workload, s: w.standards, c: w.containers |
    (asks_non_root[s, w] and (c.own_non_root = False or (no c.own_non_root and no w.pod_non_root))) implies
      (some t: s.ahead | asks_non_root[t, w])
}

/** The standard asks that the user is not 0. */
pred asks_other_user[s: Standard, w: Workload] {
  s.level = "restricted" and as_of[s, 23] and not let_off_users[s, w]
}

/** K8S116 pod-security-root-user error: a standard forbids that pods run as user 0
 * message: the pods of `{w}` run as user 0, which the Pod Security Standard `{s}` forbids
 * at: w.pod_user "root"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: use another number, or leave `runAsUser` out
 * why: User 0 is root.
 * source: Pod Security Standards since 1.23, restricted, Running as Non-root user
 */
assert PodsRunAsAnotherUser {
  all w: Workload, s: w.standards |
    (asks_other_user[s, w] and w.pod_user = 0) implies (some t: s.ahead | asks_other_user[t, w])
}

/** K8S116 pod-security-root-user error: a standard forbids that a container runs as user 0
 * message: container `{c}` runs as user 0, which the Pod Security Standard `{s}` forbids
 * at: c.own_user "root"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: use another number, or leave `runAsUser` out
 * why: User 0 is root.
 * source: Pod Security Standards since 1.23, restricted, Running as Non-root user
 */
assert ContainersRunAsAnotherUser {
  all w: Workload, s: w.standards, c: w.containers |
    (asks_other_user[s, w] and c.own_user = 0) implies (some t: s.ahead | asks_other_user[t, w])
}

/** The standard asks that containers drop all capabilities, and add few. */
pred asks_no_capabilities[s: Standard, w: Workload] {
  s.level = "restricted" and as_of[s, 22] and not let_off_windows[s, w]
}

/** The same, and this capability is not among the few. */
pred forbids_any_capability[s: Standard, w: Workload, a: set univ] {
  asks_no_capabilities[s, w] and a != "NET_BIND_SERVICE"
}

/** K8S117 pod-security-drop-all error: a standard asks containers to drop all capabilities
 * message: container `{c}` does not drop all capabilities, which the Pod Security Standard `{s}` asks for
 * at: c "keeps capabilities"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: set `capabilities.drop: ["ALL"]` in its `securityContext`
 * why: What a container has not, nobody can use who takes it over.
 * source: Pod Security Standards since 1.22, restricted, Capabilities
 */
assert CapabilitiesAreDropped {
  all w: Workload, s: w.standards, c: w.containers |
    (asks_no_capabilities[s, w] and "ALL" not in c.dropped) implies (some t: s.ahead | asks_no_capabilities[t, w])
}

/** K8S118 pod-security-added-capabilities error: a standard lets few capabilities be added
 * message: container `{c}` is given the capability `{a}`; the Pod Security Standard `{s}` allows only `NET_BIND_SERVICE`
 * at: c.added "not `NET_BIND_SERVICE`"
 * also: s.standard_label "asks for `{s}`"
 * softer: s.advisory
 * help: remove it
 * why: What a container has not, nobody can use who takes it over.
 * source: Pod Security Standards since 1.22, restricted, Capabilities
 */
assert FewCapabilitiesAreAdded {
  all w: Workload, s: w.standards, c: w.containers, a: c.added |
    forbids_any_capability[s, w, a] implies
      (some t: s.ahead | forbids_any_capability[t, w, a] or forbids_capability[t, a])
}
