//! The Pod Security Standards in CEL, as `invariants/library/kubernetes/pod_security.als` states them for the newest release.

/// From which standard on a rule asks something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// From `baseline` on.
    Baseline,
    /// Of `restricted`.
    Restricted,
}

/// A rule of the library that CEL can say.
#[derive(Clone, Debug)]
pub struct Said {
    /// The rule.
    pub id: &'static str,
    /// Which standard asks for it.
    pub standard: Standard,
    /// What is refused, in words.
    pub message: &'static str,
    /// What holds of pods that are let in.
    pub expression: String,
}

const WINDOWS: &str = "has(variables.spec.os) && variables.spec.os.name == 'windows'";
const USERS: &str = "has(variables.spec.hostUsers) && !variables.spec.hostUsers";
const ADDED: &str = "['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE', \
                     'SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT']";
const SYSCTLS: &str = "['kernel.shm_rmid_forced', 'net.ipv4.ip_local_port_range', 'net.ipv4.tcp_syncookies', \
                       'net.ipv4.ping_group_range', 'net.ipv4.ip_unprivileged_port_start', \
                       'net.ipv4.ip_local_reserved_ports', 'net.ipv4.tcp_keepalive_time', 'net.ipv4.tcp_fin_timeout', \
                       'net.ipv4.tcp_keepalive_intvl', 'net.ipv4.tcp_keepalive_probes', 'net.ipv4.tcp_rmem', \
                       'net.ipv4.tcp_wmem']";
const CONFINED: &str = "['RuntimeDefault', 'Localhost']";
const VOLUMES: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

/// Something of every container, whose name is `c`.
fn every(test: &str) -> String {
    format!("variables.containers.all(c, {test})")
}

/// A field of a security context is not set, or passes a test, in which it is `X`.
fn context(of: &str, name: &str, test: &str) -> String {
    let test = test.replace('X', &format!("{of}.securityContext.{name}"));
    format!("(!has({of}.securityContext) || !has({of}.securityContext.{name}) || {test})")
}

fn own(name: &str, test: &str) -> String {
    context("c", name, test)
}

fn pod(name: &str, test: &str) -> String {
    context("variables.spec", name, test)
}

/// A field of a security context is set.
fn set(of: &str, name: &str) -> String {
    format!("(has({of}.securityContext) && has({of}.securityContext.{name}))")
}

fn absent(name: &str) -> String {
    format!("(!has(variables.spec.{name}) || !variables.spec.{name})")
}

/// A probe or hook asks the pod itself.
fn asks_itself(at: &str) -> String {
    let host = |kind: &str| {
        format!("(!has({at}.{kind}) || !has({at}.{kind}.host) || {at}.{kind}.host == '')")
    };
    format!("({} && {})", host("httpGet"), host("tcpSocket"))
}

fn selinux(of: &str) -> String {
    let none = |name: &str| format!("(!has({of}.{name}) || {of}.{name} == '')");
    format!(
        "({} && {} && (!has({of}.type) || {of}.type in ['', 'container_t', 'container_init_t', 'container_kvm_t', \
         'container_engine_t']))",
        none("user"),
        none("role"),
    )
}

fn hosts() -> String {
    let probes = ["livenessProbe", "readinessProbe", "startupProbe"];
    let mut tests: Vec<String> = probes
        .iter()
        .map(|name| format!("(!has(c.{name}) || {})", asks_itself(&format!("c.{name}"))))
        .collect();
    for hook in ["postStart", "preStop"] {
        let asks = asks_itself(&format!("c.lifecycle.{hook}"));
        tests.push(format!(
            "(!has(c.lifecycle) || !has(c.lifecycle.{hook}) || {asks})"
        ));
    }
    every(&tests.join(" && "))
}

fn apparmor() -> String {
    const KEY: &str = "container.apparmor.security.beta.kubernetes.io/";
    let test = format!("X.type in {CONFINED}");
    let value = "variables.annotations[k]";
    format!(
        "{} && {} && variables.annotations.all(k, !k.startsWith('{KEY}') || {value} in ['', 'runtime/default'] || \
         {value}.startsWith('localhost/'))",
        pod("appArmorProfile", &test),
        every(&own("appArmorProfile", &test)),
    )
}

fn non_root() -> String {
    let (mine, whole) = (
        set("c", "runAsNonRoot"),
        set("variables.spec", "runAsNonRoot"),
    );
    format!(
        "({USERS}) || ({} && {})",
        pod("runAsNonRoot", "X"),
        every(&format!(
            "{mine} ? c.securityContext.runAsNonRoot : {whole}"
        )),
    )
}

/// Every rule that CEL can say.
pub fn said() -> Vec<Said> {
    use Standard::{Baseline, Restricted};
    let both =
        |name: &str, test: &str| format!("{} && {}", pod(name, test), every(&own(name, test)));
    let confined = format!("X.type in {CONFINED}");
    let process = "!has(X.hostProcess) || !X.hostProcess";
    let volume = VOLUMES.map(|kind| format!("has(v.{kind})")).join(" || ");
    let all: Vec<(&'static str, Standard, &'static str, String)> = vec![
        (
            "K8S100",
            Baseline,
            "a container is privileged",
            every(&own("privileged", "!X")),
        ),
        (
            "K8S101",
            Baseline,
            "the pods use the network, the processes or the memory of the node",
            ["hostNetwork", "hostPID", "hostIPC"]
                .map(absent)
                .join(" && "),
        ),
        (
            "K8S102",
            Baseline,
            "a volume is a path of the node",
            "variables.volumes.all(v, !has(v.hostPath))".to_owned(),
        ),
        (
            "K8S103",
            Baseline,
            "a container takes a port of the node",
            every("!has(c.ports) || c.ports.all(p, !has(p.hostPort) || p.hostPort == 0)"),
        ),
        (
            "K8S104",
            Baseline,
            "a container is given a capability that is not among those that may be added",
            every(&own(
                "capabilities",
                &format!("!has(X.add) || X.add.all(a, a in {ADDED})"),
            )),
        ),
        (
            "K8S105",
            Baseline,
            "a container sees all of `/proc`",
            format!(
                "(!variables.restricted && {USERS}) || {}",
                every(&own("procMount", "X == 'Default'"))
            ),
        ),
        (
            "K8S106",
            Baseline,
            "a seccomp profile is neither `RuntimeDefault` nor `Localhost`",
            format!(
                "(variables.restricted && {WINDOWS}) || ({})",
                both("seccompProfile", &confined)
            ),
        ),
        (
            "K8S107",
            Restricted,
            "a container has no seccomp profile",
            format!(
                "({WINDOWS}) || {} || {}",
                set("variables.spec", "seccompProfile"),
                every(&set("c", "seccompProfile"))
            ),
        ),
        (
            "K8S108",
            Baseline,
            "an SELinux option is set that may not be set",
            both("seLinuxOptions", &selinux("X")),
        ),
        (
            "K8S109",
            Baseline,
            "a sysctl is set that is not of the pods alone",
            pod("sysctls", &format!("X.all(s, s.name in {SYSCTLS})")),
        ),
        (
            "K8S110",
            Baseline,
            "an AppArmor profile is neither `RuntimeDefault` nor `Localhost`",
            apparmor(),
        ),
        (
            "K8S111",
            Baseline,
            "the pods are processes of the Windows host",
            both("windowsOptions", process),
        ),
        (
            "K8S112",
            Baseline,
            "a probe or hook asks another host than the pod",
            hosts(),
        ),
        (
            "K8S113",
            Restricted,
            "a volume is of a kind that is not among the allowed ones",
            format!("variables.volumes.all(v, {volume} || v.size() == 1)"),
        ),
        (
            "K8S114",
            Restricted,
            "a container may get more rights than it starts with",
            format!(
                "({WINDOWS}) || {}",
                every(&format!(
                    "{} && !c.securityContext.allowPrivilegeEscalation",
                    set("c", "allowPrivilegeEscalation")
                ))
            ),
        ),
        (
            "K8S115",
            Restricted,
            "a container may run as root",
            non_root(),
        ),
        (
            "K8S116",
            Restricted,
            "a container runs as user 0",
            format!("({USERS}) || ({})", both("runAsUser", "X != 0")),
        ),
        (
            "K8S117",
            Restricted,
            "a container does not drop all capabilities",
            format!(
                "({WINDOWS}) || {}",
                every(&format!(
                    "{} && has(c.securityContext.capabilities.drop) && 'ALL' in c.securityContext.capabilities.drop",
                    set("c", "capabilities")
                ))
            ),
        ),
        (
            "K8S118",
            Restricted,
            "a container is given another capability than `NET_BIND_SERVICE`",
            format!(
                "({WINDOWS}) || {}",
                every(&own(
                    "capabilities",
                    "!has(X.add) || X.add.all(a, a == 'NET_BIND_SERVICE')"
                ))
            ),
        ),
    ];
    let said = all
        .into_iter()
        .map(|(id, standard, message, expression)| Said {
            id,
            standard,
            message,
            expression,
        });
    said.collect()
}
