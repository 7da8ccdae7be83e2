/** Rules about networks and addresses. */
module compose/networks

open compose/vocabulary
open compose/project
open values

/** COMPOSE040 error: a fixed address is in a subnet of its network
 * message: the address `{x}` of `{a.by}` is in no subnet of the network `{n}`: `{n.subnets.cidr}`
 * at: a.ipv4_address "in no subnet"
 * also: n.subnets "these are its addresses"
 * help: choose an address of `{n.subnets.cidr}`
 * why: Docker refuses the container: the address is not of the network.
 * source: Compose specification, `ipv4_address, ipv6_address`
 */
assert AddressesAreInASubnet {
  all a: Attachment, n: a.target & Network, x: a.ipv4_address |
    (plain and a.by.active = True and n.external = False and address[x]
      and some n.subnets.cidr and all c: n.subnets.cidr | cidr[c])
    implies some c: n.subnets.cidr | contains[c, x]
}

/** COMPOSE040 error: a fixed IPv6 address is in a subnet of its network
 * message: the address `{x}` of `{a.by}` is in no subnet of the network `{n}`: `{n.subnets.cidr}`
 * at: a.ipv6_address "in no subnet"
 * also: n.subnets "these are its addresses"
 * help: choose an address of `{n.subnets.cidr}`, or add a subnet that has it
 * why: Docker refuses the container: the address is not of the network.
 * source: Compose specification, `ipv4_address, ipv6_address`
 */
assert SixAddressesAreInASubnet {
  all a: Attachment, n: a.target & Network, x: a.ipv6_address |
    (plain and a.by.active = True and n.external = False and address[x]
      and some n.subnets.cidr and all c: n.subnets.cidr | cidr[c])
    implies some c: n.subnets.cidr | contains[c, x]
}

/** COMPOSE041 error: a network with fixed addresses has subnets
 * message: `{a.by}` has a fixed address on `{n}`, and the network has no subnet of its own
 * at: a.ipv4_address "a fixed address"
 * also: a.ipv6_address "a fixed address"
 * also: n "has no `ipam`"
 * help: give the network an `ipam` with `config` and a `subnet` that has the address
 * why: Docker refuses the container: fixed addresses need a network with configured subnets.
 * source: Compose specification, `ipv4_address, ipv6_address`
 */
assert FixedAddressesHaveASubnet {
  all a: Attachment, n: a.target & Network |
    (plain and a.by.active = True and n.external = False and some a.ipv4_address + a.ipv6_address)
    implies some n.subnets.cidr
}

/** COMPOSE042 error: an address is used once on a network
 * message: `{a.by}` and `{b.by}` have the address `{b.ipv4_address}` on the network `{n}`
 * at: b.ipv4_address "used again here"
 * also: a.ipv4_address "used here"
 * help: give them different addresses
 * why: Docker refuses the second container: the address is already in use.
 * source: Compose specification, `ipv4_address, ipv6_address`
 */
assert AddressesAreUsedOnce {
  all disj a, b: Attachment, n: a.target & Network |
    not (some address_of[a.ipv4_address] & address_of[b.ipv4_address] and plain and n in b.target and runs[a.by] and runs[b.by])
}

/** COMPOSE042 error: an IPv6 address is used once on a network
 * message: `{a.by}` and `{b.by}` have the address `{b.ipv6_address}` on the network `{n}`
 * at: b.ipv6_address "used again here"
 * also: a.ipv6_address "used here"
 * help: give them different addresses
 * why: Docker refuses the second container: the address is already in use.
 * source: Compose specification, `ipv4_address, ipv6_address`
 */
assert SixAddressesAreUsedOnce {
  all disj a, b: Attachment, n: a.target & Network |
    not (some address_of[a.ipv6_address] & address_of[b.ipv6_address] and plain and n in b.target and runs[a.by] and runs[b.by])
}

/** COMPOSE042 error: an address of a service is not that of the network
 * message: the address `{x}` of `{a.by}` is taken on `{n}` by the network itself
 * at: a.ipv4_address "used again here"
 * also: u.gateway "the gateway"
 * also: u.reserved "reserved"
 * also: u.cidr "the subnet"
 * help: choose another address of `{u.cidr}`
 * why: Docker refuses the container: the address of the gateway, reserved ones, and the first and last of a subnet are in use.
 * source: Compose specification, `ipam`
 */
assert AddressesAreNotTheNetworks {
  all a: Attachment, n: a.target & Network, u: n.subnets, x: a.ipv4_address |
    (plain and a.by.active = True and n.external = False) implies
      (no address_of[x] & address_of[u.gateway + u.reserved]
        and not network_address[u.cidr, x] and not broadcast_address[u.cidr, x])
}

/** COMPOSE043 error: a fixed address is for one container
 * message: `{s}` has {s.replicas} replicas and one fixed address on `{a}`
 * at: a.ipv4_address "one address for {s.replicas} containers"
 * also: a.ipv6_address "one address for {s.replicas} containers"
 * also: s.replicas "so many replicas"
 * help: remove the address: containers reach each other by name
 * why: Docker refuses the second container: the address is already in use.
 * source: Compose specification, `ipv4_address, ipv6_address`
 */
assert ReplicasHaveNoFixedAddress {
  all s: Service, a: s.references & Attachment |
    (plain and s.active = True and less[1, s.replicas]) implies no a.ipv4_address + a.ipv6_address
}

/** COMPOSE044 error: the subnets of networks do not overlap
 * message: the networks `{u.network}` and `{v.network}` have addresses in common: `{u.cidr}` and `{v.cidr}`
 * at: v.cidr "overlaps"
 * also: u.cidr "with this one"
 * help: choose subnets without common addresses
 * why: Docker refuses to create the second network: the pool overlaps with another one.
 * source: Compose specification, `ipam`
 */
assert SubnetsAreDisjoint {
  all disj u, v: Subnet | (overlaps[u.cidr, v.cidr] and u.network != v.network) implies
    not ((u + v).network.external = False
      and some target.(u.network) and some target.(v.network))
}

/** COMPOSE045 error: a subnet is a block of addresses
 * message: `{x}` is no block of addresses
 * at: u.cidr "no block"
 * help: write an address and the length of its prefix, as in `10.5.0.0/16`
 * why: Docker refuses to create the network.
 * source: Compose specification, `ipam`
 */
assert SubnetsAreBlocks { all u: Subnet, x: u.cidr | cidr[x] }

/** COMPOSE045 error: the gateway of a subnet is in it
 * message: the gateway `{x}` is not in the subnet `{u.cidr}`
 * at: u.gateway "not in the subnet"
 * also: u.cidr "the subnet"
 * help: choose an address of `{u.cidr}`
 * why: Docker refuses to create the network.
 * source: Compose specification, `ipam`
 */
assert GatewaysAreInTheirSubnet {
  all u: Subnet, x: u.gateway | (cidr[u.cidr] and address[x]) implies contains[u.cidr, x]
}

/** COMPOSE045 error: the range of a subnet is in it
 * message: the range `{x}` is not in the subnet `{u.cidr}`
 * at: u.ip_range "not in the subnet"
 * also: u.cidr "the subnet"
 * help: choose a part of `{u.cidr}`
 * why: Docker refuses to create the network.
 * source: Compose specification, `ipam`
 */
assert RangesAreInTheirSubnet {
  all u: Subnet, x: u.ip_range | (cidr[u.cidr] and cidr[x]) implies contains[u.cidr, x]
}

/** COMPOSE046 error: a service is on a network once
 * message: `{s}` is put on one network twice: `{a}` and `{b}` are both `{a.target.actual_name}`
 * at: b "the same network"
 * also: a "here already"
 * help: remove one of them
 * why: Docker refuses the container: it is connected to the network already.
 * source: RR-9317, section 6.2, network_roles_are_attached_to_disjoint_networks; `NetworkRolesAreAttached` of the model `compose`
 */
assert NetworksAreDisjoint {
  all s: Service, disj a, b: s.references & Attachment |
    s.active = True implies no a.target.actual_name & b.target.actual_name
}

/** COMPOSE047 error: hardware addresses on a network are unique
 * message: `{a.by}` and `{b.by}` have the same hardware address on `{n}`
 * at: b.mac_address "used again here"
 * also: a.mac_address "used here"
 * help: give them different addresses, or leave `mac_address` out
 * why: Frames for one container reach the other.
 * source: Compose specification, `mac_address`
 */
assert HardwareAddressesAreUnique {
  all disj a, b: Attachment, n: a.target & Network |
    (some mac_of[a.mac_address] & mac_of[b.mac_address] and n in b.target)
      implies not (a.by.active = True and b.by.active = True)
}
