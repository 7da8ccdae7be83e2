/** Rules about privileges, and about what should not be in a file. */
module compose/security

open compose/vocabulary
open compose/project
open values

/** COMPOSE080 privileged warning: a service is privileged
 * message: service `{s}` is privileged
 * at: s.privileged "full access to the host"
 * help: grant only what it needs with `cap_add` and `devices`
 * fix: unsafe remove s.privileged
 * why: A privileged container has every capability and every device: anyone who breaks into it controls the host.
 * source: Docker, runtime privilege; CIS Docker Benchmark 5.4
 */
assert ServicesAreNotPrivileged { all s: Service | s.active = True implies s.privileged != True }

/** COMPOSE081 docker-socket warning: a service mounts the Docker socket
 * message: service `{s}` mounts the Docker socket
 * at: m "controls Docker"
 * help: use a proxy that only allows the requests it needs
 * why: Anyone who can write to the socket can start a privileged container and control the host. Mounting it read-only does not help.
 * source: CIS Docker Benchmark 5.31
 */
assert DockerSocketIsNotMounted {
  all s: Service, m: s.mounts & BindMount |
    s.active = True implies not finds[m.host_path, "^((/var)?/run/(docker|containerd/containerd|podman/podman)\\.sock)$"]
}

/** COMPOSE082 host-namespace warning: a service uses the host network
 * message: service `{s}` uses the host network
 * at: s.network_mode "no isolation"
 * help: publish the ports it needs with `ports`
 * fix: unsafe remove s.network_mode
 * why: The service can reach everything that listens only on the host, and its own ports are exposed.
 * source: CIS Docker Benchmark 5.9
 */
assert NetworkIsNotTheHosts { all s: Service | s.active = True implies s.network_mode != "host" }

/** COMPOSE082 host-namespace warning: a service uses the host's process namespace
 * message: service `{s}` uses the host's process namespace
 * at: s.pid "no isolation"
 * help: remove `pid`
 * fix: unsafe remove s.pid
 * why: The service can see and signal the processes of the host.
 * source: CIS Docker Benchmark 5.15
 */
assert ProcessesAreNotTheHosts { all s: Service | s.active = True implies s.pid != "host" }

/** COMPOSE082 host-namespace warning: a service uses the host's IPC namespace
 * message: service `{s}` uses the host's IPC namespace
 * at: s.ipc "no isolation"
 * help: remove `ipc`
 * fix: unsafe remove s.ipc
 * why: The service can read and write the shared memory of every program on the host.
 * source: CIS Docker Benchmark 5.16
 */
assert MemoryIsNotTheHosts { all s: Service | s.active = True implies s.ipc != "host" }

/** COMPOSE082 host-namespace warning: a service uses another host namespace
 * message: service `{s}` uses a namespace of the host
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

/** COMPOSE083 added-capability warning: a service is granted a dangerous capability
 * message: service `{s}` is granted the capability `{c}`
 * at: s.cap_add "added here"
 * help: remove it unless the service needs it
 * why: With this capability, anyone who breaks into the container can do more to the host than Docker allows by default.
 * source: CIS Docker Benchmark 5.3
 */
assert CapabilitiesAreUsual {
  all s: Service, c: s.cap_add | s.active = True implies
    finds[c, "^((?i)(CAP_)?(CHOWN|DAC_OVERRIDE|FSETID|FOWNER|MKNOD|NET_RAW|SETGID|SETUID|SETFCAP|SETPCAP|NET_BIND_SERVICE|SYS_CHROOT|KILL|AUDIT_WRITE))$"]
}

/** COMPOSE084 unpinned-image warning: an image has no tag
 * message: the image of service `{s}` has no tag
 * at: s.image "any version"
 * help: pin the version you tested, as in `{s.image}:1.2`
 * why: Without a tag Docker uses `latest`: what runs depends on when the image was pulled.
 * source: Compose specification, `image`
 */
assert ImagesHaveATag {
  all s: Service | (s.active = True and some s.image and no s.build_context)
    implies some s.image_tag + s.image_digest
}

/** COMPOSE084 unpinned-image warning: an image uses the tag `latest`
 * message: the image of service `{s}` uses the tag `latest`
 * at: s.image_tag "any version"
 * help: pin the version you tested
 * why: What runs depends on when the image was pulled.
 * source: Compose specification, `image`
 */
assert TagsAreVersions {
  all s: Service | (s.active = True and no s.build_context and no s.image_digest) implies s.image_tag != "latest"
}

/** COMPOSE085 secret-in-environment warning: a secret is written in plain text
 * message: the variable `{e}` of service `{s}` looks like a secret in plain text
 * at: e "plain text"
 * help: use `secrets`, or a variable that is set outside the file
 * why: Anyone who can read the file, or the environment of the container, can read the secret.
 * source: Compose specification, `secrets`; CIS Docker Benchmark 4.10
 */
assert SecretsAreNotWritten {
  all s: Service, e: s.environment | not (s.active = True
    and finds[e.key, "^((?i)(.*[_-])?(password|passwd|passphrase|secret|secret_key|token|api_?key|access_key|private_key|pwd)([_-]?[0-9])?)$"]
    and e.templated = False and no e.file and not empty_text[e.value]
    and not finds[e.value, "^((?i)/.*|true|false|yes|no|[0-9])$"])
}

/** COMPOSE086 writable-system-mount warning: a service can write to a system directory of the host
 * message: service `{s}` can write to `{m.host_path}` on the host
 * at: m "not read-only"
 * help: add `:ro`, or mount only what is needed
 * why: Anyone who breaks into the container can change the host system.
 * source: CIS Docker Benchmark 5.5
 */
assert SystemIsReadOnly {
  all s: Service, m: s.mounts & BindMount |
    (s.active = True and m.read_only = False) implies
      not finds[m.host_path, "^(/|/(bin|boot|dev|etc|home|lib|lib32|lib64|opt|proc|root|run|sbin|srv|sys|usr|var)|/etc/.*|/(boot|proc|sys|root)/.*|/var/(lib|run)|/var/lib/docker(/.*)?)$"]
}

/** COMPOSE087 runs-as-root warning: a service runs as root
 * message: service `{s}` runs as `{s.user}`
 * at: s.user "root"
 * help: use another user, and give it access to the files it needs
 * why: Anyone who breaks into the container is root there, and on the host's files too when something is mounted.
 * source: CIS Docker Benchmark 4.1
 */
assert UsersAreNotRoot { all s: Service | s.active = True implies not finds[s.user, "^((root|0)(:.*)?)$"] }

/** COMPOSE088 unconfined warning: the confinement of a service is turned off
 * message: the confinement of service `{s}` is turned off: `{o}`
 * at: s.security_opt "turned off"
 * help: remove it, or use a custom profile
 * why: System call filters, AppArmor and SELinux are what separates the container from the host.
 * source: CIS Docker Benchmark 5.1, 5.2, 5.21
 */
assert ServicesAreConfined {
  all s: Service, o: s.security_opt | s.active = True implies
    not finds[o, "^((seccomp|apparmor|systempaths)[:=]unconfined|label[:=]disable)$"]
}
