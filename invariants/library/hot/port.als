/** Rules about ports. */
module hot/port

open hot/vocabulary
open hot/neutron
open values

/** HOT201 error: a port on a network without port security has no security groups
 * message: `{p}` has security groups, and its network `{n}` has no port security
 * at: p.prop_security_groups
 * also: n "without port security"
 * help: set `port_security_enabled: true` on the port, or remove `security_groups`
 * why: Neutron refuses the port.
 * source: RR-9317, section 7.1.4
 */
assert NoGroupsWithoutPortSecurityOnNetwork {
  all p: OS_Neutron_Port, n: p.prop_network |
    (port_security[n] = False and p.prop_port_security_enabled != True) implies
      no p.prop_security_groups
}

/** HOT201 error: a port on a network without port security has no allowed address pairs
 * message: `{p}` has allowed address pairs, and its network `{n}` has no port security
 * at: p.prop_allowed_address_pairs
 * also: n "without port security"
 * help: set `port_security_enabled: true` on the port, or remove `allowed_address_pairs`
 * why: Neutron refuses the port.
 * source: RR-9317, section 7.1.4
 */
assert NoPairsWithoutPortSecurityOnNetwork {
  all p: OS_Neutron_Port, n: p.prop_network |
    (port_security[n] = False and p.prop_port_security_enabled != True) implies
      no p.prop_allowed_address_pairs
}

/** HOT209 error: a fixed address of a port is in the block of its subnet
 * message: the address `{a}` of `{p}` is outside the block `{s.prop_cidr}` of `{s}`
 * at: f.prop_ip_address "not in `{s.prop_cidr}`"
 * also: s.prop_cidr "this block"
 * help: choose an address of `{s.prop_cidr}`
 * why: Neutron refuses the port.
 * source: RR-9317, section 7.2.3, figure 10
 */
assert AddressIsInTheSubnet {
  all p: OS_Neutron_Port, f: p.prop_fixed_ips, a: f.prop_ip_address, s: f.prop_subnet & OS_Neutron_Subnet |
    (address[a] and cidr[s.prop_cidr]) implies contains[s.prop_cidr, a]
}

/** HOT209 error: a fixed address of a port is in a block of its network
 * message: the address `{a}` of `{p}` is in no subnet of `{n}`
 * at: f.prop_ip_address "in no subnet"
 * also: n "this network"
 * help: choose an address of one of its subnets
 * why: Neutron refuses the port.
 * source: RR-9317, section 7.2.3, figure 10
 */
assert AddressIsInTheNetwork {
  all p: OS_Neutron_Port, f: p.prop_fixed_ips, a: f.prop_ip_address, n: p.prop_network & created_networks |
    (no f.prop_subnet and address[a] and some subnets_on[n]
      and all s: subnets_on[n] | cidr[(s & OS_Neutron_Subnet).prop_cidr])
    implies some s: subnets_on[n] | contains[(s & OS_Neutron_Subnet).prop_cidr, a]
}

/** HOT215 error: a fixed ip names its subnet once
 * message: a fixed ip of `{p}` has both `subnet` and `subnet_id`
 * at: f.prop_subnet_id "old name"
 * also: f.prop_subnet
 * help: remove `subnet_id`
 * why: Heat refuses the port.
 * source: RR-9317, section 7.1.4
 */
assert SubnetIsNamedOnce {
  all p: OS_Neutron_Port, f: p.prop_fixed_ips | no f.prop_subnet or no f.prop_subnet_id
}

/** HOT215 error: a port of a router is on one IPv4 subnet
 * message: the port `{p}` of a router interface is on several IPv4 subnets: `{p.prop_fixed_ips.prop_subnet}`
 * at: p.prop_fixed_ips
 * also: i "used here"
 * help: use one port for each subnet
 * why: Neutron refuses to join such a port to a router.
 * source: RR-9317, section 7.1.4
 */
assert RouterPortsHaveOneSubnet {
  all i: OS_Neutron_RouterInterface, p: i.prop_port & OS_Neutron_Port |
    lone s: p.prop_fixed_ips.prop_subnet & OS_Neutron_Subnet | s.prop_ip_version = 4
}

/** HOT216 error: ports of one network have different addresses
 * message: `{q}` has an address of `{p}`: `{q.prop_fixed_ips.prop_ip_address}`
 * at: q.prop_fixed_ips.prop_ip_address "used again here"
 * also: p.prop_fixed_ips.prop_ip_address "used here"
 * help: choose another address, or leave it out and Neutron chooses one
 * why: Neutron refuses the second port.
 * source: RR-9317, section 7.1.4
 */
assert PortsHaveDifferentAddresses {
  all disj p, q: OS_Neutron_Port |
    (some address_of[p.prop_fixed_ips.prop_ip_address] & address_of[q.prop_fixed_ips.prop_ip_address])
    implies no p.prop_network & q.prop_network
}

/** HOT217 warning: a port has one address of a subnet
 * message: `{p}` has several addresses of the subnet `{f.prop_subnet}`
 * at: g "second address"
 * also: f "first address"
 * help: keep one of them, unless both are meant
 * why: Neutron accepts it, and it is rarely meant.
 * source: RR-9317, section 7.1.4
 */
assert OneAddressOfASubnet {
  all p: OS_Neutron_Port, disj f, g: p.prop_fixed_ips | no f.prop_subnet & g.prop_subnet
}

/** HOT218 error: the subnet of a fixed ip is on the network of the port
 * message: `{p}` is on the network `{p.prop_network}`, and the subnet `{s}` of its address on `{s.prop_network}`
 * at: f.prop_subnet "of another network"
 * also: p.prop_network "the port's network"
 * help: use a subnet of that network
 * why: Neutron refuses the port.
 * source: RR-9317, section 7.1.4
 */
assert SubnetIsOnTheNetwork {
  all p: OS_Neutron_Port, f: p.prop_fixed_ips, s: f.prop_subnet & OS_Neutron_Subnet |
    (some p.prop_network and some s.prop_network) implies some p.prop_network & s.prop_network
}

/** HOT219 error: ports of one network have different hardware addresses
 * message: `{q}` has the hardware address `{q.prop_mac_address}` of `{p}`, on one network
 * at: q.prop_mac_address "used again here"
 * also: p.prop_mac_address "used here"
 * help: leave `mac_address` out and Neutron chooses one
 * why: Neutron refuses the second port.
 * source: RR-9317, section 7.1.4
 */
assert PortsHaveDifferentMacs {
  all disj p, q: OS_Neutron_Port |
    some mac_of[p.prop_mac_address] & mac_of[q.prop_mac_address] implies
      no p.prop_network & q.prop_network
}

/** HOT220 error: a port without port security has no security groups
 * message: `{p}` has no port security and has security groups
 * at: p.prop_security_groups
 * also: p.prop_port_security_enabled
 * help: remove one of the two
 * why: Neutron refuses the port.
 * source: RR-9317, section 7.1.4
 */
assert NoGroupsWithoutPortSecurity {
  all p: OS_Neutron_Port | p.prop_port_security_enabled = False implies no p.prop_security_groups
}

/** HOT220 error: a port without port security has no allowed address pairs
 * message: `{p}` has no port security and has allowed address pairs
 * at: p.prop_allowed_address_pairs
 * also: p.prop_port_security_enabled
 * help: remove one of the two
 * why: Neutron refuses the port.
 * source: RR-9317, section 7.1.4
 */
assert NoPairsWithoutPortSecurity {
  all p: OS_Neutron_Port | p.prop_port_security_enabled = False implies no p.prop_allowed_address_pairs
}
