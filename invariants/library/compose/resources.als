/** Rules about resources, replicas and restarts. */
module compose/resources

open compose/vocabulary
open compose/project
open values

/** COMPOSE070 error: no more memory is reserved than allowed
 * message: `{s}` reserves more memory than it may use: {s.memory_reservation} of {s.memory_limit} bytes
 * at: s.memory_reservation "reserved"
 * also: s.memory_limit "allowed"
 * help: raise the limit, or lower the reservation
 * why: Docker refuses the container: the limit is below the reservation.
 * source: Compose specification, `deploy.resources`
 */
assert MemoryReservationsAreBelowLimits {
  all s: Service |
    (s.active = True and less[0, s.memory_limit]) implies not less[s.memory_limit, s.memory_reservation]
}

/** COMPOSE070 error: no more processors are reserved than allowed
 * message: `{s}` reserves more of the processors than it may use
 * at: s.cpu_reservation "reserved"
 * also: s.cpu_limit "allowed"
 * help: raise the limit, or lower the reservation
 * why: The limit is below the reservation: the service never gets what it reserves.
 * source: Compose specification, `deploy.resources`
 */
assert ProcessorReservationsAreBelowLimits {
  all s: Service |
    (s.active = True and less[0, s.cpu_limit]) implies not less[s.cpu_limit, s.cpu_reservation]
}

/** COMPOSE071 error: all replicas find a node
 * message: `{s}` has {s.replicas} replicas, and its nodes take {s.room}
 * at: s.replicas "so many replicas"
 * also: s.room "at most on each node"
 * help: raise `max_replicas_per_node`, or have fewer replicas
 * why: The swarm leaves the other replicas waiting for a node for ever.
 * source: Compose specification, `deploy.placement`
 */
assert ReplicasFindANode { all s: Service | swarm implies not less[s.room, s.replicas] }

/** COMPOSE072 warning: the two restart policies agree
 * message: `{s}` has `restart: {s.restart}` and the restart policy `{s.restart_condition}`
 * at: s.restart "says one thing"
 * also: s.restart_condition "says another"
 * help: keep one of them: `restart` for Compose, `deploy.restart_policy` for a swarm
 * why: Compose and a swarm do different things with the service; Compose itself takes `deploy.restart_policy`.
 * source: Compose specification, `restart`
 */
assert RestartPoliciesAgree {
  all s: Service | (some s.restart and some s.restart_condition) implies
    ((finds[s.restart, "^(always|unless-stopped)$"] and s.restart_condition = "any")
      or (finds[s.restart, "^(on-failure(:[0-9]+)?)$"] and s.restart_condition = "on-failure")
      or (s.restart = "no" and s.restart_condition = "none"))
}

/** COMPOSE073 error: a service on every node has no number of replicas
 * message: `{s}` runs once on every node, and has a number of replicas
 * at: s.keys "a number of replicas"
 * also: s.deploy_mode "once on every node"
 * help: remove `replicas`, or write `mode: replicated`
 * why: `docker stack deploy` refuses the file: the nodes are the replicas.
 * source: RR-9317, section 6.2; Compose specification, `deploy`
 */
assert GlobalServicesHaveNoReplicas {
  all s: Service, k: s.keys | (swarm and k = "deploy.replicas") implies no s.deploy_mode & ("global" + "global-job")
}

/** COMPOSE074 error: a job is not restarted after success
 * message: `{s}` is a job, and is restarted whenever it ends
 * at: s.restart_condition "after success too"
 * also: s.deploy_mode "a job"
 * help: write `condition: on-failure` or `condition: none`
 * why: A swarm refuses a job with this restart policy.
 * source: Docker, services in `replicated-job` mode
 */
assert JobsEnd {
  all s: Service |
    (swarm and some s.deploy_mode & ("replicated-job" + "global-job")) implies s.restart_condition != "any"
}

/** COMPOSE075 error: what is written in two places is the same
 * message: `{s}` has `scale` and another `deploy.replicas`
 * at: s.scale "says one thing"
 * also: s.replicas "says another"
 * help: remove `scale`, or write the same value
 * why: Compose refuses the project: it cannot tell which of the two is meant.
 * source: Compose specification, `scale`
 */
assert ScaleIsTheNumberOfReplicas {
  all s: Service | (plain and s.active = True and some s.scale) implies s.scale = s.replicas
}

/** COMPOSE075 error: what is written in two places is the same
 * message: `{s}` has `cpus` and another `deploy.resources.limits.cpus`
 * at: s.own_cpus "says one thing"
 * also: s.cpu_limit "says another"
 * help: remove `cpus`, or write the same value
 * why: Compose refuses the project: it cannot tell which of the two is meant.
 * source: Compose specification, `cpus`
 */
assert ProcessorLimitsAgree {
  all s: Service | (plain and s.active = True and some s.own_cpus) implies s.own_cpus = s.cpu_limit
}

/** COMPOSE075 error: what is written in two places is the same
 * message: `{s}` has `mem_limit` and another `deploy.resources.limits.memory`
 * at: s.own_memory "says one thing"
 * also: s.memory_limit "says another"
 * help: remove `mem_limit`, or write the same value
 * why: Compose refuses the project: it cannot tell which of the two is meant.
 * source: Compose specification, `mem_limit`
 */
assert MemoryLimitsAgree {
  all s: Service | (plain and s.active = True and some s.own_memory) implies s.own_memory = s.memory_limit
}

/** COMPOSE075 error: what is written in two places is the same
 * message: `{s}` has `mem_reservation` and another `deploy.resources.reservations.memory`
 * at: s.own_reservation "says one thing"
 * also: s.memory_reservation "says another"
 * help: remove `mem_reservation`, or write the same value
 * why: Compose refuses the project: it cannot tell which of the two is meant.
 * source: Compose specification, `mem_reservation`
 */
assert MemoryReservationsAgree {
  all s: Service | (plain and s.active = True and some s.own_reservation) implies s.own_reservation = s.memory_reservation
}

/** COMPOSE075 error: what is written in two places is the same
 * message: `{s}` has `pids_limit` and another `deploy.resources.limits.pids`
 * at: s.own_pids "says one thing"
 * also: s.pids_limit "says another"
 * help: remove `pids_limit`, or write the same value
 * why: Compose refuses the project: it cannot tell which of the two is meant.
 * source: Compose specification, `pids_limit`
 */
assert ProcessLimitsAgree {
  all s: Service | (plain and s.active = True and some s.own_pids) implies s.own_pids = s.pids_limit
}
