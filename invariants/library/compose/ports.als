/** Rules about ports of the host, and names of containers. */
module compose/ports

open compose/vocabulary
open compose/project
open values

/** COMPOSE030 error: a port of the host is published once
 * message: `{p.by}` and `{q.by}` publish the same port of the host: `{p}` and `{q}`
 * at: q "taken already"
 * also: p "published here"
 * help: publish one of them on another port, or on another address of the host
 * why: The container that is started second fails: the port is already allocated.
 * source: Compose specification, `ports`
 */
assert PortsArePublishedOnce {
  all disj p, q: Publication |
    (some p.ports & q.ports and some p.addresses & q.addresses and p.by != q.by
      and runs[p.by] and runs[q.by] and "host" not in (p + q).by.network_mode)
    implies (p.chooses = True or q.chooses = True)
}

/** COMPOSE030 error: a service publishes a port of the host once
 * message: `{p.by}` publishes the same port of the host twice: `{p}` and `{q}`
 * at: q "taken already"
 * also: p "published here"
 * help: publish one of them on another port, or on another address of the host
 * why: The container is not started: the port is already allocated.
 * source: Compose specification, `ports`
 */
assert PortsOfAServiceArePublishedOnce {
  all disj p, q: Publication |
    (some p.ports & q.ports and some p.addresses & q.addresses and p.by = q.by
      and p.container_port != q.container_port and runs[p.by] and "host" not in p.by.network_mode)
    implies (p.chooses = True or q.chooses = True)
}

/** COMPOSE030 error: a range of ports has one that is free
 * message: `{s}` takes one of the ports `{p}`, and all of them are published by others
 * at: p "none is free"
 * help: publish other ports
 * why: The container is not started: no port of the range can be allocated.
 * source: Compose specification, `ports`
 */
assert RangesHaveAFreePort {
  all s: Service, p: s.publications | (runs[s] and p.chooses = True) implies
    some p.ports - { o: p.ports | some q: ports.o & chooses.False |
      q != p and runs[q.by] and some q.addresses & p.addresses }
}

/** COMPOSE031 error: a container with a name has no replicas
 * message: `{s}` has {s.replicas} replicas and one `container_name`
 * at: s.container_name "one name for {s.replicas} containers"
 * also: s.replicas "so many replicas"
 * help: remove `container_name`
 * why: Compose refuses to scale a service with a fixed container name: names of containers are unique.
 * source: RR-9317, section 6.2; Compose specification, `container_name`; `ContainerNamesAllowOneContainer` of the model `compose`
 */
assert NamedContainersAreSingle {
  all s: Service | (plain and s.active = True and less[1, s.replicas]) implies no s.container_name
}

/** COMPOSE032 error: there is a port of the host for every replica
 * message: `{s}` has {s.replicas} replicas and publishes `{p}`, which is enough for {p.capacity}
 * at: p "enough for {p.capacity}"
 * also: s.replicas "so many replicas"
 * help: publish a range of ports, leave the port of the host out, or deploy to a swarm with `--target swarm`
 * why: Every container needs a port of the host of its own; the second one fails, as the port is already allocated.
 * source: Compose specification, `ports`
 */
assert ReplicasHavePorts {
  all s: Service, p: s.publications |
    (plain and s.active = True) implies not less[p.capacity, s.replicas]
}

/** COMPOSE033 error: names of containers are unique
 * message: `{s}` and `{t}` have the same `container_name`
 * at: t.container_name "taken already"
 * also: s.container_name "used here"
 * help: give them different names, or leave `container_name` out
 * why: The container that is started second fails: the name is already in use.
 * source: RR-9317, section 6.2; Compose specification, `container_name`; `ContainerNamesAreUnique` of the model `compose`
 */
assert ContainerNamesAreUnique {
  all disj s, t: Service |
    (some s.container_name & t.container_name) implies not (plain and runs[s] and runs[t])
}

/** COMPOSE034 error: a service has networks of its own or those of `network_mode`
 * message: `{s}` has `network_mode: {s.network_mode}` and is put on the network `{r}`
 * at: r "cannot be beside `network_mode`"
 * also: s.network_mode "here"
 * help: remove `network_mode` or `networks`
 * why: Compose refuses the project: the two keys exclude each other.
 * source: RR-9317, section 6.2; Compose specification, `network_mode`; `NetworkModeExcludesNetworks` of the model `compose`
 */
assert NetworkModeExcludesNetworks {
  all s: Service, r: s.references & Attachment |
    (plain and s.active = True and r.implicit = False) implies no s.network_mode
}

/** COMPOSE035 warning: a service on the network of the host publishes no ports
 * message: `{s}` uses the network of the host, and its port `{p}` is not published
 * at: p "has no effect"
 * also: s.network_mode "the network of the host"
 * help: remove `ports`: every port of the service is one of the host already
 * why: Docker discards published ports of a container on the network of the host, and warns.
 * source: Compose specification, `network_mode`
 */
assert HostNetworkPublishesNothing {
  all s: Service, p: Publication |
    (s.network_mode = "host" and plain and s.active = True) implies p not in s.publications
}

/** COMPOSE036 error: a service on the network of another publishes no ports
 * message: `{s}` uses the network of another container, and publishes `{p}`
 * at: p "refused"
 * also: s.network_mode "the network of another"
 * help: publish the port at the other service
 * why: Docker refuses the container: published ports belong to the container that owns the network.
 * source: Compose specification, `network_mode`
 */
assert SharedNetworkPublishesNothing {
  all s: Service, p: Publication |
    (finds[s.network_mode, "^((service|container):.*)$"] and plain and s.active = True)
      implies p not in s.publications
}

/** COMPOSE037 warning: names on a network are unique
 * message: `{a.by}` and `{b.by}` are both called `{n}` on the network `{a}`
 * at: a.aliases "called so here"
 * also: b.names "called so too"
 * help: give them different names, unless requests shall go to either
 * why: The name leads to either container, by chance.
 * source: Compose specification, `aliases`
 */
assert AliasesAreUnique {
  all disj a, b: Attachment, n: a.aliases |
    (n in b.names and a.target = b.target and some a.target and a.by != b.by) implies
      not (a.by.active = True and b.by.active = True)
}
