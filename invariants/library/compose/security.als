/** Rules about privileges, and about what should not be in a file. */
module compose/security

open compose/vocabulary
open compose/project
open values

/** COMPOSE080 warning: a service is not privileged
 * message: `{s}` is privileged
 * at: s.privileged "all of the host"
 * help: give it the capabilities with `cap_add` and the `devices` that it needs
 * why: A privileged container has every capability and every device: whoever breaks into it has the host.
 * source: Docker, runtime privilege; CIS Docker Benchmark 5.4
 */
assert ServicesAreNotPrivileged { all s: Service | s.active = True implies s.privileged != True }

/** COMPOSE081 warning: a service does not control Docker
 * message: `{s}` mounts the socket of Docker
 * at: m "controls Docker"
 * help: put a proxy between that lets through what is needed only
 * why: Whoever writes to the socket can start a privileged container, and has the host. Mounting it read-only does not help.
 * source: CIS Docker Benchmark 5.31
 */
assert DockerSocketIsNotMounted {
  all s: Service, m: s.mounts & BindMount |
    s.active = True implies not finds[m.host_path, "^((/var)?/run/(docker|containerd/containerd|podman/podman)\\.sock)$"]
}

/** COMPOSE082 warning: a service does not share the network of the host
 * message: `{s}` uses the network of the host
 * at: s.network_mode "no isolation"
 * help: publish the ports that are needed with `ports`
 * why: The service reaches everything that listens on the host only, and other containers see its ports.
 * source: CIS Docker Benchmark 5.9
 */
assert NetworkIsNotTheHosts { all s: Service | s.active = True implies s.network_mode != "host" }

/** COMPOSE082 warning: a service does not share the processes of the host
 * message: `{s}` uses the process table of the host
 * at: s.pid "no isolation"
 * help: remove `pid`
 * why: The service sees and signals the processes of the host.
 * source: CIS Docker Benchmark 5.15
 */
assert ProcessesAreNotTheHosts { all s: Service | s.active = True implies s.pid != "host" }

/** COMPOSE082 warning: a service does not share the memory of the host
 * message: `{s}` uses the shared memory of the host
 * at: s.ipc "no isolation"
 * help: remove `ipc`
 * why: The service reads and writes the shared memory of all programs of the host.
 * source: CIS Docker Benchmark 5.16
 */
assert MemoryIsNotTheHosts { all s: Service | s.active = True implies s.ipc != "host" }

/** COMPOSE082 warning: a service does not share other namespaces of the host
 * message: `{s}` uses a namespace of the host
 * at: s.uts "no isolation"
 * also: s.userns_mode "no isolation"
 * also: s.cgroup "no isolation"
 * help: remove the key
 * why: The service can rename the host, has its users, or sees its control groups.
 * source: CIS Docker Benchmark 5.20, 5.24, 5.30
 */
assert NamespacesAreNotTheHosts {
  all s: Service | s.active = True implies "host" not in s.uts + s.userns_mode + s.cgroup
}

/** COMPOSE083 warning: a service has no more capabilities than usual
 * message: `{s}` is given the capability `{c}`
 * at: s.cap_add "added here"
 * help: remove it, unless the service does not work without
 * why: With it, whoever breaks into the container can do more to the host than Docker lets it by default.
 * source: CIS Docker Benchmark 5.3
 */
assert CapabilitiesAreUsual {
  all s: Service, c: s.cap_add | s.active = True implies
    finds[c, "^((?i)(CAP_)?(CHOWN|DAC_OVERRIDE|FSETID|FOWNER|MKNOD|NET_RAW|SETGID|SETUID|SETFCAP|SETPCAP|NET_BIND_SERVICE|SYS_CHROOT|KILL|AUDIT_WRITE))$"]
}

/** COMPOSE084 warning: an image has a tag
 * message: the image of `{s}` has no tag
 * at: s.image "any version"
 * help: write the version that was tested, as in `{s.image}:1.2`
 * why: Without a tag it is `latest`: what runs depends on when the image was pulled.
 * source: Compose specification, `image`
 */
assert ImagesHaveATag {
  all s: Service | (s.active = True and some s.image and no s.build_context)
    implies some s.image_tag + s.image_digest
}

/** COMPOSE084 warning: the tag of an image is a version
 * message: the image of `{s}` is whatever is `latest`
 * at: s.image_tag "any version"
 * help: write the version that was tested
 * why: What runs depends on when the image was pulled.
 * source: Compose specification, `image`
 */
assert TagsAreVersions {
  all s: Service | (s.active = True and no s.build_context and no s.image_digest) implies s.image_tag != "latest"
}

/** COMPOSE085 warning: secrets are not written in a file
 * message: the variable `{e}` of `{s}` looks like a secret, and is written here
 * at: e "in the open"
 * help: use `secrets`, or a variable that is set outside of the file
 * why: Everyone who reads the file, or the environment of the container, has it.
 * source: Compose specification, `secrets`; CIS Docker Benchmark 4.10
 */
assert SecretsAreNotWritten {
  all s: Service, e: s.environment | not (s.active = True
    and finds[e.key, "^((?i)(.*[_-])?(password|passwd|passphrase|secret|secret_key|token|api_?key|access_key|private_key|pwd)([_-]?[0-9])?)$"]
    and e.templated = False and no e.file and not empty_text[e.value]
    and not finds[e.value, "^((?i)/.*|true|false|yes|no|[0-9])$"])
}

/** COMPOSE086 warning: a service does not write to the system of the host
 * message: `{s}` can write to `{m.host_path}` of the host
 * at: m "not read-only"
 * help: add `:ro`, or mount only what is needed
 * why: Whoever breaks into the container can change the system of the host.
 * source: CIS Docker Benchmark 5.5
 */
assert SystemIsReadOnly {
  all s: Service, m: s.mounts & BindMount |
    (s.active = True and m.read_only = False) implies
      not finds[m.host_path, "^(/|/(bin|boot|dev|etc|home|lib|lib32|lib64|opt|proc|root|run|sbin|srv|sys|usr|var)|/etc/.*|/(boot|proc|sys|root)/.*|/var/(lib|run)|/var/lib/docker(/.*)?)$"]
}

/** COMPOSE087 warning: a service does not run as root
 * message: `{s}` runs as `{s.user}`
 * at: s.user "root"
 * help: use another user, and give it the files that it needs
 * why: Whoever breaks into the container is root there, and on the host too when something is mounted.
 * source: CIS Docker Benchmark 4.1
 */
assert UsersAreNotRoot { all s: Service | s.active = True implies not finds[s.user, "^((root|0)(:.*)?)$"] }

/** COMPOSE088 warning: the confinement of a service is not taken away
 * message: `{s}` is not confined: `{o}`
 * at: s.security_opt "no confinement"
 * help: remove it, or use a profile of its own
 * why: The filters of system calls, AppArmor and SELinux are what stands between the container and the host.
 * source: CIS Docker Benchmark 5.1, 5.2, 5.21
 */
assert ServicesAreConfined {
  all s: Service, o: s.security_opt | s.active = True implies
    not finds[o, "^((seccomp|apparmor|systempaths)[:=]unconfined|label[:=]disable)$"]
}
