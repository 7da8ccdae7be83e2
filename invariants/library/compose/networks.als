/** Rules about networks and addresses. */
module compose/networks

open compose/vocabulary
open compose/project
open values

/** COMPOSE040 address-outside-network error: a fixed IP address is outside its network
 * message: the address `{x}` of service `{a.by}` is outside network `{n}` (`{n.subnets.cidr}`)
 * at: a.ipv4_address "outside every subnet"
 * also: n.subnets "the subnets of the network"
 * help: choose an address in `{n.subnets.cidr}`
 * why: Docker refuses the container.
 * source: Compose specification, `ipv4_address, ipv6_address`
 */
assert AddressesAreInASubnet {
  all a: Attachment, n: a.target & Network, x: a.ipv4_address |
    (plain and a.by.active = True and n.external = False and address[x]
      and some n.subnets.cidr and all c: n.subnets.cidr | cidr[c])
    implies some c: n.subnets.cidr | contains[c, x]
}

/** COMPOSE040 address-outside-network error: a fixed IPv6 address is outside its network
 * message: the address `{x}` of service `{a.by}` is outside network `{n}` (`{n.subnets.cidr}`)
 * at: a.ipv6_address "outside every subnet"
 * also: n.subnets "the subnets of the network"
 * help: choose an address in `{n.subnets.cidr}`, or add a subnet that contains it
 * why: Docker refuses the container.
 * source: Compose specification, `ipv4_address, ipv6_address`
 */
assert SixAddressesAreInASubnet {
  all a: Attachment, n: a.target & Network, x: a.ipv6_address |
    (plain and a.by.active = True and n.external = False and address[x]
      and some n.subnets.cidr and all c: n.subnets.cidr | cidr[c])
    implies some c: n.subnets.cidr | contains[c, x]
}

/** COMPOSE041 address-without-subnet error: a fixed IP address is on a network without subnets
 * message: service `{a.by}` has a fixed address on network `{n}`, which has no subnet of its own
 * at: a.ipv4_address "a fixed address"
 * also: a.ipv6_address "a fixed address"
 * also: n "has no `ipam`"
 * help: give the network an `ipam` with a `config` whose `subnet` contains the address
 * why: Docker refuses the container: fixed addresses need a network with configured subnets.
 * source: Compose specification, `ipv4_address, ipv6_address`
 */
assert FixedAddressesHaveASubnet {
  all a: Attachment, n: a.target & Network |
    (plain and a.by.active = True and n.external = False and some a.ipv4_address + a.ipv6_address)
    implies some n.subnets.cidr
}

/** COMPOSE042 duplicate-address error: two services have the same IP address
 * message: the services `{a.by}` and `{b.by}` have the same address on network `{n}`: `{b.ipv4_address}`
 * at: b.ipv4_address "used again here"
 * also: a.ipv4_address "first used here"
 * help: give them different addresses
 * why: Docker refuses the second container: the address is already in use.
 * source: Compose specification, `ipv4_address, ipv6_address`
 */
assert AddressesAreUsedOnce {
  all disj a, b: Attachment, n: a.target & Network |
    not (some address_of[a.ipv4_address] & address_of[b.ipv4_address] and plain and n in b.target and runs[a.by] and runs[b.by])
}

/** COMPOSE042 duplicate-address error: two services have the same IPv6 address
 * message: the services `{a.by}` and `{b.by}` have the same address on network `{n}`: `{b.ipv6_address}`
 * at: b.ipv6_address "used again here"
 * also: a.ipv6_address "first used here"
 * help: give them different addresses
 * why: Docker refuses the second container: the address is already in use.
 * source: Compose specification, `ipv4_address, ipv6_address`
 */
assert SixAddressesAreUsedOnce {
  all disj a, b: Attachment, n: a.target & Network |
    not (some address_of[a.ipv6_address] & address_of[b.ipv6_address] and plain and n in b.target and runs[a.by] and runs[b.by])
}

/** COMPOSE042 duplicate-address error: a service has an address that the network uses itself
 * message: the address `{x}` of service `{a.by}` is used by network `{n}` itself
 * at: a.ipv4_address "used again here"
 * also: u.gateway "the gateway"
 * also: u.reserved "reserved"
 * also: u.cidr "the subnet"
 * help: choose another address in `{u.cidr}`
 * why: Docker refuses the container: the gateway, reserved addresses and the first and last address of a subnet are in use.
 * source: Compose specification, `ipam`
 */
assert AddressesAreNotTheNetworks {
  all a: Attachment, n: a.target & Network, u: n.subnets, x: a.ipv4_address |
    (plain and a.by.active = True and n.external = False) implies
      (no address_of[x] & address_of[u.gateway + u.reserved]
        and not network_address[u.cidr, x] and not broadcast_address[u.cidr, x])
}

/** COMPOSE043 address-shared-by-replicas error: a service with replicas has a fixed IP address
 * message: service `{s}` has {s.replicas} replicas but one fixed address on network `{a}`
 * at: a.ipv4_address "one address for {s.replicas} containers"
 * also: a.ipv6_address "one address for {s.replicas} containers"
 * also: s.replicas "{s.replicas} replicas"
 * help: remove the address: containers reach each other by name
 * why: Docker refuses the second container: the address is already in use.
 * source: Compose specification, `ipv4_address, ipv6_address`
 */
assert ReplicasHaveNoFixedAddress {
  all s: Service, a: s.references & Attachment |
    (plain and s.active = True and less[1, s.replicas]) implies no a.ipv4_address + a.ipv6_address
}

/** COMPOSE044 overlapping-networks error: networks overlap
 * message: the networks `{u.network}` and `{v.network}` overlap: `{u.cidr}` and `{v.cidr}`
 * at: v.cidr "overlaps"
 * also: u.cidr "with this one"
 * help: use separate address ranges
 * why: Docker refuses to create the second network.
 * source: Compose specification, `ipam`
 */
assert SubnetsAreDisjoint {
  all disj u, v: Subnet | (overlaps[u.cidr, v.cidr] and u.network != v.network) implies
    not ((u + v).network.external = False
      and some target.(u.network) and some target.(v.network))
}

/** COMPOSE045 invalid-ipam error: a subnet is not a valid CIDR
 * message: `{x}` is not a valid CIDR
 * at: u.cidr "not a CIDR"
 * help: write an address and a prefix length, as in `10.5.0.0/16`
 * why: Docker refuses to create the network.
 * source: Compose specification, `ipam`
 */
assert SubnetsAreBlocks { all u: Subnet, x: u.cidr | cidr[x] }

/** COMPOSE045 invalid-ipam error: the gateway of a subnet is outside the subnet
 * message: the gateway `{x}` is outside the subnet `{u.cidr}`
 * at: u.gateway "outside the subnet"
 * also: u.cidr "the subnet"
 * help: choose an address in `{u.cidr}`
 * why: Docker refuses to create the network.
 * source: Compose specification, `ipam`
 */
assert GatewaysAreInTheirSubnet {
  all u: Subnet, x: u.gateway | (cidr[u.cidr] and address[x]) implies contains[u.cidr, x]
}

/** COMPOSE045 invalid-ipam error: the IP range of a subnet is outside the subnet
 * message: the IP range `{x}` is outside the subnet `{u.cidr}`
 * at: u.ip_range "outside the subnet"
 * also: u.cidr "the subnet"
 * help: choose a part of `{u.cidr}`
 * why: Docker refuses to create the network.
 * source: Compose specification, `ipam`
 */
assert RangesAreInTheirSubnet {
  all u: Subnet, x: u.ip_range | (cidr[u.cidr] and cidr[x]) implies contains[u.cidr, x]
}

/** COMPOSE046 repeated-network error: a service joins the same network twice
 * message: service `{s}` joins the same network twice: `{a}` and `{b}` are both `{a.target.actual_name}`
 * at: b "the same network"
 * also: a "first joined here"
 * help: remove one of them
 * fix: unsafe remove b
 * why: Docker refuses the container: it is already connected to the network.
 * source: RR-9317, section 6.2, network_roles_are_attached_to_disjoint_networks; `NetworkRolesAreAttached` of the model `compose`
 */
assert NetworksAreDisjoint {
  all s: Service, disj a, b: s.references & Attachment |
    s.active = True implies no a.target.actual_name & b.target.actual_name
}

/** COMPOSE047 duplicate-mac-address error: two services on a network have the same MAC address
 * message: the services `{a.by}` and `{b.by}` have the same MAC address on network `{n}`
 * at: b.mac_address "used again here"
 * also: a.mac_address "first used here"
 * help: give them different addresses, or leave `mac_address` out
 * fix: unsafe remove b.mac_address
 * why: Traffic for one container reaches the other.
 * source: Compose specification, `mac_address`
 */
assert HardwareAddressesAreUnique {
  all disj a, b: Attachment, n: a.target & Network |
    (some mac_of[a.mac_address] & mac_of[b.mac_address] and n in b.target)
      implies not (a.by.active = True and b.by.active = True)
}
