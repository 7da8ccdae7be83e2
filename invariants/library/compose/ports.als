/** Rules about ports of the host, and names of containers. */
module compose/ports

open compose/vocabulary
open compose/project
open values

/** COMPOSE030 port-conflict error: two services publish the same host port
 * message: the services `{p.by}` and `{q.by}` publish the same host port: `{p}` and `{q}`
 * at: q "already taken"
 * also: p "published here"
 * help: publish one of them on another port, or on another host address
 * why: The second container fails to start: the port is already allocated.
 * source: Compose specification, `ports`
 */
assert PortsArePublishedOnce {
  all disj p, q: Publication |
    (some p.ports & q.ports and some p.addresses & q.addresses and p.by != q.by
      and runs[p.by] and runs[q.by] and "host" not in (p + q).by.network_mode)
    implies (p.chooses = True or q.chooses = True)
}

/** COMPOSE030 port-conflict error: a service publishes the same host port twice
 * message: service `{p.by}` publishes the same host port twice: `{p}` and `{q}`
 * at: q "already taken"
 * also: p "published here"
 * help: publish one of them on another port, or on another host address
 * why: The container does not start: the port is already allocated.
 * source: Compose specification, `ports`
 */
assert PortsOfAServiceArePublishedOnce {
  all disj p, q: Publication |
    (some p.ports & q.ports and some p.addresses & q.addresses and p.by = q.by
      and p.container_port != q.container_port and runs[p.by] and "host" not in p.by.network_mode)
    implies (p.chooses = True or q.chooses = True)
}

/** COMPOSE030 port-conflict error: every port of a range is taken
 * message: service `{s}` needs one of the host ports `{p}`, but other services publish all of them
 * at: p "none is free"
 * help: publish other ports
 * why: The container does not start: no port of the range can be allocated.
 * source: Compose specification, `ports`
 */
assert RangesHaveAFreePort {
  all s: Service, p: s.publications | (runs[s] and p.chooses = True) implies
    some p.ports - { o: p.ports | some q: ports.o & chooses.False |
      q != p and runs[q.by] and some q.addresses & p.addresses }
}

/** COMPOSE031 container-name-with-replicas error: a service with replicas has a container name
 * message: service `{s}` has {s.replicas} replicas but a fixed `container_name`
 * at: s.container_name "one name for {s.replicas} containers"
 * also: s.replicas "{s.replicas} replicas"
 * help: remove `container_name`
 * fix: unsafe remove s.container_name
 * why: Compose refuses to scale a service with a fixed container name: container names are unique.
 * source: RR-9317, section 6.2; Compose specification, `container_name`; `ContainerNamesAllowOneContainer` of the model `compose`
 */
assert NamedContainersAreSingle {
  all s: Service | (plain and s.active = True and less[1, s.replicas]) implies no s.container_name
}

/** COMPOSE032 too-few-ports error: a service publishes fewer host ports than it has replicas
 * message: service `{s}` has {s.replicas} replicas, but publishes enough host ports for {p.capacity}: `{p}`
 * at: p "enough for {p.capacity}"
 * also: s.replicas "{s.replicas} replicas"
 * help: publish a range of ports, leave the host port out, or deploy to a swarm with `--target swarm`
 * why: Every container needs its own host port; the second one fails because the port is already allocated.
 * source: Compose specification, `ports`
 */
assert ReplicasHavePorts {
  all s: Service, p: s.publications |
    (plain and s.active = True) implies not less[p.capacity, s.replicas]
}

/** COMPOSE033 duplicate-container-name error: two services have the same container name
 * message: the services `{s}` and `{t}` have the same `container_name`
 * at: t.container_name "already taken"
 * also: s.container_name "first used here"
 * help: give them different names, or leave `container_name` out
 * fix: unsafe remove t.container_name
 * why: The second container fails to start: the name is already in use.
 * source: RR-9317, section 6.2; Compose specification, `container_name`; `ContainerNamesAreUnique` of the model `compose`
 */
assert ContainerNamesAreUnique {
  all disj s, t: Service |
    (some s.container_name & t.container_name) implies not (plain and runs[s] and runs[t])
}

/** COMPOSE034 network-mode-and-networks error: a service has both `network_mode` and `networks`
 * message: service `{s}` has `network_mode: {s.network_mode}`, so it cannot join network `{r}`
 * at: r "conflicts with `network_mode`"
 * also: s.network_mode "set here"
 * help: remove `network_mode` or `networks`
 * fix: unsafe remove s.network_mode
 * why: Compose refuses the project: the two keys exclude each other.
 * source: RR-9317, section 6.2; Compose specification, `network_mode`; `NetworkModeExcludesNetworks` of the model `compose`
 */
assert NetworkModeExcludesNetworks {
  all s: Service, r: s.references & Attachment |
    (plain and s.active = True and r.implicit = False) implies no s.network_mode
}

/** COMPOSE035 ports-ignored warning: a service on the host network publishes ports
 * message: service `{s}` uses the host network, so publishing port `{p}` has no effect
 * at: p "has no effect"
 * also: s.network_mode "host network"
 * help: remove `ports`: every port of the service is already a port of the host
 * fix: safe remove p
 * why: Docker discards the published ports of a container on the host network, with a warning.
 * source: Compose specification, `network_mode`
 */
assert HostNetworkPublishesNothing {
  all s: Service, p: Publication |
    (s.network_mode = "host" and plain and s.active = True) implies p not in s.publications
}

/** COMPOSE036 ports-on-shared-network error: a service on the network of another publishes ports
 * message: service `{s}` uses the network of another container, so it cannot publish `{p}`
 * at: p "refused"
 * also: s.network_mode "network of another container"
 * help: publish the port on the other service
 * fix: unsafe remove p
 * why: Docker refuses the container: published ports belong to the container that owns the network.
 * source: Compose specification, `network_mode`
 */
assert SharedNetworkPublishesNothing {
  all s: Service, p: Publication |
    (finds[s.network_mode, "^((service|container):.*)$"] and plain and s.active = True)
      implies p not in s.publications
}

/** COMPOSE037 duplicate-alias warning: two services have the same name on a network
 * message: the services `{a.by}` and `{b.by}` have the same name on network `{a}`: `{n}`
 * at: a.aliases "named here"
 * also: b.names "same name"
 * help: use different names, unless you want requests to reach either of them
 * why: The name resolves to either container at random.
 * source: Compose specification, `aliases`
 */
assert AliasesAreUnique {
  all disj a, b: Attachment, n: a.aliases |
    (n in b.names and a.target = b.target and some a.target and a.by != b.by) implies
      not (a.by.active = True and b.by.active = True)
}
