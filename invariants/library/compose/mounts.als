/** Rules about what is mounted in services. */
module compose/mounts

open compose/vocabulary
open compose/project
open values

/** Some path is that of a file, by its name. */
pred file_name[path: set univ] {
  finds[path, "^(.*[^/]\\.(conf|cfg|cnf|ini|env|ya?ml|json|toml|xml|properties|sql|sh|py|js|lua|html|txt|pem|crt|key|md))$"]
}

/** COMPOSE050 mount-conflict error: two mounts use the same path
 * message: service `{s}` mounts two things at `{m.path}`
 * at: n "mounted again here"
 * also: m "first mounted here"
 * help: mount one of them elsewhere
 * why: Docker refuses the container, or silently drops the first mount.
 * source: Compose specification, `volumes`
 */
assert PathsAreMountedOnce {
  all s: Service, disj m, n: s.mounts | s.active = True implies no m.path & n.path
}

/** COMPOSE051 mount-below-file error: a mount is below a file
 * message: service `{s}` mounts `{n}` below `{m}`, which is a file
 * at: n "below a file"
 * also: m "this is a file"
 * help: mount the directory that contains the file, or mount `{n}` elsewhere
 * why: The container does not start: a file cannot contain other files.
 * source: Compose specification, `volumes`
 */
assert NothingIsMountedBelowAFile {
  all s: Service, n: s.mounts, m: n.within | s.active = True implies m.shape != "file"
}

/** COMPOSE052 shared-volume-writers info: two services write to one volume
 * message: volume `{v}` is written by both `{s}` and `{t}`
 * at: n "written here too"
 * also: m "first written here"
 * help: mount it with `:ro` where it is only read, or use separate volumes
 * why: Unless the programs coordinate their access, they overwrite each other's files.
 * source: ours
 */
assert VolumesHaveOneWriter {
  all disj s, t: Service, m: s.mounts, v: m.use.target & Volume, n: t.mounts & use.(target.v) |
    (written_before[m, n] and plain and s.active = True and t.active = True and no v.driver - "local")
      implies (m.read_only = True or n.read_only = True)
}

/** COMPOSE052 shared-volume-writers warning: services of a swarm write to one local volume
 * message: local volume `{v}` is written by both `{s}` and `{t}`
 * at: n "written here too"
 * also: m "first written here"
 * help: use a `driver` whose volumes are shared by all nodes, or place the services on one node
 * why: Each node of a swarm has its own local volume of that name: one service does not see what the other writes.
 * source: Compose specification, `volumes`
 */
assert SwarmVolumesAreShared {
  all disj s, t: Service, m: s.mounts, v: m.use.target & Volume, n: t.mounts & use.(target.v) |
    (written_before[m, n] and swarm and v.external = False and no v.driver - "local" and no v.driver_options)
      implies (m.read_only = True or n.read_only = True or some s.placement & t.placement)
}

/** COMPOSE053 volume-mounted-twice info: a service mounts a volume twice
 * message: service `{s}` mounts volume `{v}` at both `{m}` and `{n}`
 * at: n "mounted here too"
 * also: m "first mounted here"
 * help: use one path, or a volume for each path
 * why: Both paths show the same files. If each should show its own part, use `subpath`.
 * source: RR-9317, section 6.2, volume_roles_are_attached_to_disjoint_volumes; `VolumesAreMountedOnce` of the model `compose`
 */
assert VolumesAreDisjoint {
  all s: Service, disj m, n: s.mounts, v: m.use.target |
    (s.active = True and v in n.use.target) implies some m.path & n.path
}

/** COMPOSE054 wrong-mount-source warning: a mounted file does not exist
 * message: service `{s}` mounts `{m.host_path}` at `{m}`, but the file does not exist
 * at: m "Docker creates a directory here"
 * help: check the path: it is relative to the Compose file
 * why: Docker creates an empty directory in its place, and the program finds a directory where it expects a file.
 * source: Compose specification, `volumes`
 */
assert MountedFilesAreThere {
  all s: Service, m: s.mounts & shape.("missing") | s.active = True implies not file_name[m.path]
}

/** COMPOSE054 wrong-mount-source warning: a directory is mounted where a file is expected
 * message: service `{s}` mounts the directory `{m.host_path}` at `{m}`, which looks like a file
 * at: m "a directory"
 * help: mount the file itself
 * why: The program finds a directory where it expects a file.
 * source: Compose specification, `volumes`
 */
assert DirectoriesAreNotFiles {
  all s: Service, m: s.mounts & BindMount & shape.("directory") | s.active = True implies not file_name[m.path]
}
