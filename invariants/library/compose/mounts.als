/** Rules about what is mounted in services. */
module compose/mounts

open compose/vocabulary
open compose/project
open values

/** Some path is that of a file, by its name. */
pred file_name[path: set univ] {
  finds[path, "^(.*[^/]\\.(conf|cfg|cnf|ini|env|ya?ml|json|toml|xml|properties|sql|sh|py|js|lua|html|txt|pem|crt|key|md))$"]
}

/** COMPOSE050 error: one thing is mounted at a path
 * message: `{s}` mounts two things at `{m.path}`
 * at: n "mounted again here"
 * also: m "mounted here"
 * help: mount one of them elsewhere
 * why: Docker refuses the container, or the first is silently left out.
 * source: Compose specification, `volumes`
 */
assert PathsAreMountedOnce {
  all s: Service, disj m, n: s.mounts | s.active = True implies no m.path & n.path
}

/** COMPOSE051 error: nothing is mounted below a file
 * message: `{s}` mounts `{n}` below `{m}`, which is a file
 * at: n "below a file"
 * also: m "this is a file"
 * help: mount the directory that holds the file, or mount `{n}` elsewhere
 * why: The container is not started: a file is no directory.
 * source: Compose specification, `volumes`
 */
assert NothingIsMountedBelowAFile {
  all s: Service, n: s.mounts, m: n.within | s.active = True implies m.shape != "file"
}

/** COMPOSE052 info: a volume is written by one service
 * message: the volume `{v}` is written by `{s}` and by `{t}`
 * at: n "written here too"
 * also: m "written here"
 * help: mount it with `:ro` where it is only read, or use a volume for each
 * why: Unless the programs agree on how to share files, one overwrites what the other has written.
 * source: ours
 */
assert VolumesHaveOneWriter {
  all disj s, t: Service, m: s.mounts, v: m.use.target & Volume, n: t.mounts & use.(target.v) |
    (written_before[m, n] and plain and s.active = True and t.active = True and no v.driver - "local")
      implies (m.read_only = True or n.read_only = True)
}

/** COMPOSE052 warning: a local volume is not shared across a swarm
 * message: the volume `{v}` is local, and written by `{s}` and by `{t}`
 * at: n "written here too"
 * also: m "written here"
 * help: use a `driver` whose volumes all nodes share, or place the services on one node
 * why: Each node of a swarm has a volume of its own by that name: what one service writes, the other does not see.
 * source: Compose specification, `volumes`
 */
assert SwarmVolumesAreShared {
  all disj s, t: Service, m: s.mounts, v: m.use.target & Volume, n: t.mounts & use.(target.v) |
    (written_before[m, n] and swarm and v.external = False and no v.driver - "local" and no v.driver_options)
      implies (m.read_only = True or n.read_only = True or some s.placement & t.placement)
}

/** COMPOSE053 info: a service mounts a volume once
 * message: `{s}` mounts the volume `{v}` at `{m}` and at `{n}`
 * at: n "mounted here too"
 * also: m "mounted here"
 * help: use a volume for each path, or one path
 * why: Both paths show the same files, also where `subpath` was meant.
 * source: RR-9317, section 6.2, volume_roles_are_attached_to_disjoint_volumes; `VolumesAreMountedOnce` of the model `compose`
 */
assert VolumesAreDisjoint {
  all s: Service, disj m, n: s.mounts, v: m.use.target |
    (s.active = True and v in n.use.target) implies some m.path & n.path
}

/** COMPOSE054 warning: a file that is mounted is there
 * message: `{s}` mounts `{m.host_path}` at `{m}`, and there is no such file
 * at: m "becomes a directory"
 * help: check the path: it starts at the directory of the file
 * why: Docker creates what is missing as an empty directory, and the program finds a directory where it expects a file.
 * source: Compose specification, `volumes`
 */
assert MountedFilesAreThere {
  all s: Service, m: s.mounts & shape.("missing") | s.active = True implies not file_name[m.path]
}

/** COMPOSE054 warning: a file is not mounted as a directory
 * message: `{s}` mounts the directory `{m.host_path}` at `{m}`, which looks like a file
 * at: m "a directory"
 * help: mount the file itself
 * why: The program finds a directory where it expects a file.
 * source: Compose specification, `volumes`
 */
assert DirectoriesAreNotFiles {
  all s: Service, m: s.mounts & BindMount & shape.("directory") | s.active = True implies not file_name[m.path]
}
