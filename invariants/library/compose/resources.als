/** Rules about resources, replicas and restarts. */
module compose/resources

open compose/vocabulary
open compose/project
open values

/** COMPOSE070 reservation-above-limit error: a service reserves more memory than its limit
 * message: service `{s}` reserves more memory than its limit: {s.memory_reservation} of {s.memory_limit} bytes
 * at: s.memory_reservation "reserved"
 * also: s.memory_limit "limit"
 * help: raise the limit, or lower the reservation
 * why: Docker refuses the container.
 * source: Compose specification, `deploy.resources`
 */
assert MemoryReservationsAreBelowLimits {
  all s: Service |
    (s.active = True and less[0, s.memory_limit]) implies not less[s.memory_limit, s.memory_reservation]
}

/** COMPOSE070 reservation-above-limit error: a service reserves more CPU than its limit
 * message: service `{s}` reserves more CPU than its limit
 * at: s.cpu_reservation "reserved"
 * also: s.cpu_limit "limit"
 * help: raise the limit, or lower the reservation
 * why: The service never gets what it reserves.
 * source: Compose specification, `deploy.resources`
 */
assert ProcessorReservationsAreBelowLimits {
  all s: Service |
    (s.active = True and less[0, s.cpu_limit]) implies not less[s.cpu_limit, s.cpu_reservation]
}

/** COMPOSE071 too-many-replicas error: a service has more replicas than its nodes can run
 * message: service `{s}` has {s.replicas} replicas, but its nodes can run only {s.room}
 * at: s.replicas "{s.replicas} replicas"
 * also: s.room "at most on each node"
 * help: raise `max_replicas_per_node`, or lower the number of replicas
 * why: The remaining replicas stay pending forever.
 * source: Compose specification, `deploy.placement`
 */
assert ReplicasFindANode { all s: Service | swarm implies not less[s.room, s.replicas] }

/** COMPOSE072 restart-policy-conflict warning: the two restart policies of a service differ
 * message: service `{s}` has `restart: {s.restart}`, but its restart policy is `{s.restart_condition}`
 * at: s.restart "one policy"
 * also: s.restart_condition "another policy"
 * help: keep one of them: `restart` for Compose, `deploy.restart_policy` for a swarm
 * fix: unsafe remove s.restart
 * why: Compose and a swarm treat the service differently; Compose itself uses `deploy.restart_policy`.
 * source: Compose specification, `restart`
 */
assert RestartPoliciesAgree {
  all s: Service | (some s.restart and some s.restart_condition) implies
    ((finds[s.restart, "^(always|unless-stopped)$"] and s.restart_condition = "any")
      or (finds[s.restart, "^(on-failure(:[0-9]+)?)$"] and s.restart_condition = "on-failure")
      or (s.restart = "no" and s.restart_condition = "none"))
}

/** COMPOSE073 replicas-on-global-service error: a global service sets a number of replicas
 * message: service `{s}` is global, so it cannot set a number of replicas
 * at: s.keys "number of replicas"
 * also: s.deploy_mode "runs once on every node"
 * help: remove `replicas`, or set `mode: replicated`
 * why: `docker stack deploy` refuses the file: a global service runs once on every node.
 * source: RR-9317, section 6.2; Compose specification, `deploy`
 */
assert GlobalServicesHaveNoReplicas {
  all s: Service, k: s.keys | (swarm and k = "deploy.replicas") implies no s.deploy_mode & ("global" + "global-job")
}

/** COMPOSE074 job-always-restarts error: a job is restarted after success
 * message: service `{s}` is a job, but always restarts
 * at: s.restart_condition "also restarts after success"
 * also: s.deploy_mode "a job"
 * help: set `condition: on-failure` or `condition: none`
 * fix: unsafe replace s.restart_condition with `on-failure`
 * why: A swarm refuses a job with this restart policy.
 * source: Docker, services in `replicated-job` mode
 */
assert JobsEnd {
  all s: Service |
    (swarm and some s.deploy_mode & ("replicated-job" + "global-job")) implies s.restart_condition != "any"
}

/** COMPOSE075 conflicting-values error: `scale` and `deploy.replicas` differ
 * message: `scale` and `deploy.replicas` of service `{s}` differ
 * at: s.scale "one value"
 * also: s.replicas "another value"
 * help: remove `scale`, or use the same value
 * fix: unsafe remove s.scale
 * why: Compose refuses the project.
 * source: Compose specification, `scale`
 */
assert ScaleIsTheNumberOfReplicas {
  all s: Service | (plain and s.active = True and some s.scale) implies s.scale = s.replicas
}

/** COMPOSE075 conflicting-values error: `cpus` and `deploy.resources.limits.cpus` differ
 * message: `cpus` and `deploy.resources.limits.cpus` of service `{s}` differ
 * at: s.own_cpus "one value"
 * also: s.cpu_limit "another value"
 * help: remove `cpus`, or use the same value
 * fix: unsafe remove s.own_cpus
 * why: Compose refuses the project.
 * source: Compose specification, `cpus`
 */
assert ProcessorLimitsAgree {
  all s: Service | (plain and s.active = True and some s.own_cpus) implies s.own_cpus = s.cpu_limit
}

/** COMPOSE075 conflicting-values error: `mem_limit` and `deploy.resources.limits.memory` differ
 * message: `mem_limit` and `deploy.resources.limits.memory` of service `{s}` differ
 * at: s.own_memory "one value"
 * also: s.memory_limit "another value"
 * help: remove `mem_limit`, or use the same value
 * fix: unsafe remove s.own_memory
 * why: Compose refuses the project.
 * source: Compose specification, `mem_limit`
 */
assert MemoryLimitsAgree {
  all s: Service | (plain and s.active = True and some s.own_memory) implies s.own_memory = s.memory_limit
}

/** COMPOSE075 conflicting-values error: `mem_reservation` and `deploy.resources.reservations.memory` differ
 * message: `mem_reservation` and `deploy.resources.reservations.memory` of service `{s}` differ
 * at: s.own_reservation "one value"
 * also: s.memory_reservation "another value"
 * help: remove `mem_reservation`, or use the same value
 * fix: unsafe remove s.own_reservation
 * why: Compose refuses the project.
 * source: Compose specification, `mem_reservation`
 */
assert MemoryReservationsAgree {
  all s: Service | (plain and s.active = True and some s.own_reservation) implies s.own_reservation = s.memory_reservation
}

/** COMPOSE075 conflicting-values error: `pids_limit` and `deploy.resources.limits.pids` differ
 * message: `pids_limit` and `deploy.resources.limits.pids` of service `{s}` differ
 * at: s.own_pids "one value"
 * also: s.pids_limit "another value"
 * help: remove `pids_limit`, or use the same value
 * fix: unsafe remove s.own_pids
 * why: Compose refuses the project.
 * source: Compose specification, `pids_limit`
 */
assert ProcessLimitsAgree {
  all s: Service | (plain and s.active = True and some s.own_pids) implies s.own_pids = s.pids_limit
}

/** COMPOSE076 unknown-restart-policy error: a restart policy is unknown
 * message: unknown restart policy `{s.restart}`
 * at: s.restart "unknown policy"
 * help: use `no`, `always`, `on-failure`, `on-failure:5` or `unless-stopped`
 * why: Docker refuses to create the container.
 * source: Compose specification, `restart`; Docker, restart policies
 */
assert RestartPoliciesAreKnown {
  all s: Service | (plain and s.active = True and some s.restart) implies
    matches[s.restart, "none|no|always|any|unless-stopped|on-failure(:.*)?|"]
}

/** COMPOSE077 repeated-variable warning: a variable of a service is set twice
 * message: variable `{b}` of service `{s}` is set twice
 * at: b "set again here"
 * also: a "first set here"
 * help: remove one of the two
 * fix: unsafe remove a
 * why: The container gets the last value; the others have no effect.
 * source: Compose specification, `environment`
 */
assert VariablesAreSetOnce {
  all s: Service, disj a, b: s.environment | (some a.key & b.key and written_before[a, b]) implies some a.file + b.file
}
