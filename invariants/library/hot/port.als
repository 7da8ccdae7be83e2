/** Rules about ports. */
module hot/port

open hot/vocabulary
open hot/neutron
open values

/** HOT201 network-without-port-security error: a port has security groups but its network has port security turned off
 * message: port `{p}` has security groups, but its network `{n}` has port security turned off
 * at: p.prop_security_groups
 * also: n "port security is off"
 * help: set `port_security_enabled: true` on the port, or remove `security_groups`
 * fix: unsafe remove p.prop_security_groups
 * why: Neutron refuses the port.
 * source: RR-9317, section 7.1.4
 */
assert NoGroupsWithoutPortSecurityOnNetwork {
  all p: OS_Neutron_Port, n: p.prop_network |
    (port_security[n] = False and p.prop_port_security_enabled != True) implies
      no p.prop_security_groups
}

/** HOT201 network-without-port-security error: a port has allowed address pairs but its network has port security turned off
 * message: port `{p}` has allowed address pairs, but its network `{n}` has port security turned off
 * at: p.prop_allowed_address_pairs
 * also: n "port security is off"
 * help: set `port_security_enabled: true` on the port, or remove `allowed_address_pairs`
 * fix: unsafe remove p.prop_allowed_address_pairs
 * why: Neutron refuses the port.
 * source: RR-9317, section 7.1.4
 */
assert NoPairsWithoutPortSecurityOnNetwork {
  all p: OS_Neutron_Port, n: p.prop_network |
    (port_security[n] = False and p.prop_port_security_enabled != True) implies
      no p.prop_allowed_address_pairs
}

/** HOT209 address-outside-subnet error: a fixed IP of a port is outside its subnet
 * message: the address `{a}` of port `{p}` is outside subnet `{s}` (`{s.prop_cidr}`)
 * at: f.prop_ip_address "not in `{s.prop_cidr}`"
 * also: s.prop_cidr "the subnet"
 * help: choose an address in `{s.prop_cidr}`
 * why: Neutron refuses the port.
 * source: RR-9317, section 7.2.3, figure 10
 */
assert AddressIsInTheSubnet {
  all p: OS_Neutron_Port, f: p.prop_fixed_ips, a: f.prop_ip_address, s: f.prop_subnet & OS_Neutron_Subnet |
    (address[a] and cidr[s.prop_cidr]) implies contains[s.prop_cidr, a]
}

/** HOT209 address-outside-subnet error: a fixed IP of a port is outside every subnet of its network
 * message: the address `{a}` of port `{p}` is outside every subnet of network `{n}`
 * at: f.prop_ip_address "outside every subnet"
 * also: n "this network"
 * help: choose an address in one of its subnets
 * why: Neutron refuses the port.
 * source: RR-9317, section 7.2.3, figure 10
 */
assert AddressIsInTheNetwork {
  all p: OS_Neutron_Port, f: p.prop_fixed_ips, a: f.prop_ip_address, n: p.prop_network & created_networks |
    (no f.prop_subnet and address[a] and some subnets_on[n]
      and all s: subnets_on[n] | cidr[(s & OS_Neutron_Subnet).prop_cidr])
    implies some s: subnets_on[n] | contains[(s & OS_Neutron_Subnet).prop_cidr, a]
}

/** HOT215 ambiguous-subnet error: a fixed IP names its subnet twice
 * message: a fixed IP of port `{p}` has both `subnet` and `subnet_id`
 * at: f.prop_subnet_id "deprecated name"
 * also: f.prop_subnet
 * help: remove `subnet_id`
 * fix: unsafe remove f.prop_subnet_id
 * why: Heat refuses the port.
 * source: RR-9317, section 7.1.4
 */
assert SubnetIsNamedOnce {
  all p: OS_Neutron_Port, f: p.prop_fixed_ips | no f.prop_subnet or no f.prop_subnet_id
}

/** HOT215 ambiguous-subnet error: a port of a router is on several IPv4 subnets
 * message: port `{p}` of a router interface is on several IPv4 subnets: `{p.prop_fixed_ips.prop_subnet}`
 * at: p.prop_fixed_ips.prop_subnet
 * also: i "used here"
 * help: use one port per subnet
 * why: Neutron refuses to attach such a port to a router.
 * source: RR-9317, section 7.1.4
 */
assert RouterPortsHaveOneSubnet {
  all i: OS_Neutron_RouterInterface, p: i.prop_port & OS_Neutron_Port |
    lone s: p.prop_fixed_ips.prop_subnet & OS_Neutron_Subnet | s.prop_ip_version = 4
}

/** HOT216 duplicate-port-address error: two ports on a network have the same address
 * message: port `{q}` uses an address of port `{p}`: `{q.prop_fixed_ips.prop_ip_address}`
 * at: q.prop_fixed_ips.prop_ip_address "used again here"
 * also: p.prop_fixed_ips.prop_ip_address "first used here"
 * help: choose another address, or leave it out and let Neutron choose one
 * why: Neutron refuses the second port.
 * source: RR-9317, section 7.1.4
 */
assert PortsHaveDifferentAddresses {
  all disj p, q: OS_Neutron_Port |
    (some address_of[p.prop_fixed_ips.prop_ip_address] & address_of[q.prop_fixed_ips.prop_ip_address])
    implies no p.prop_network & q.prop_network
}

/** HOT217 repeated-subnet warning: a port has several addresses in one subnet
 * message: port `{p}` has several addresses in subnet `{f.prop_subnet}`
 * at: g.prop_subnet "second address"
 * also: f.prop_subnet "first address"
 * help: remove one of them, unless you need both
 * why: Neutron accepts this, but it is rarely intended.
 * source: RR-9317, section 7.1.4
 */
assert OneAddressOfASubnet {
  all p: OS_Neutron_Port, disj f, g: p.prop_fixed_ips | no f.prop_subnet & g.prop_subnet
}

/** HOT218 port-subnet-mismatch error: the subnet of a fixed IP belongs to another network than the port
 * message: subnet `{s}` of port `{p}` belongs to network `{s.prop_network}`, not to `{p.prop_network}`
 * at: f.prop_subnet "belongs to another network"
 * also: p.prop_network "the network of the port"
 * help: use a subnet of that network
 * why: Neutron refuses the port.
 * source: RR-9317, section 7.1.4
 */
assert SubnetIsOnTheNetwork {
  all p: OS_Neutron_Port, f: p.prop_fixed_ips, s: f.prop_subnet & OS_Neutron_Subnet |
    (some p.prop_network and some s.prop_network) implies some p.prop_network & s.prop_network
}

/** HOT219 duplicate-port-mac error: two ports on a network have the same MAC address
 * message: the ports `{p}` and `{q}` have the same MAC address on one network: `{q.prop_mac_address}`
 * at: q.prop_mac_address "used again here"
 * also: p.prop_mac_address "first used here"
 * help: leave `mac_address` out and let Neutron choose one
 * fix: unsafe remove q.prop_mac_address
 * why: Neutron refuses the second port.
 * source: RR-9317, section 7.1.4
 */
assert PortsHaveDifferentMacs {
  all disj p, q: OS_Neutron_Port |
    some mac_of[p.prop_mac_address] & mac_of[q.prop_mac_address] implies
      no p.prop_network & q.prop_network
}

/** HOT220 port-without-port-security error: a port has security groups but port security is turned off
 * message: port `{p}` has security groups, but its port security is turned off
 * at: p.prop_security_groups
 * also: p.prop_port_security_enabled
 * help: remove `security_groups`, or turn port security on
 * fix: unsafe remove p.prop_security_groups
 * why: Neutron refuses the port.
 * source: RR-9317, section 7.1.4
 */
assert NoGroupsWithoutPortSecurity {
  all p: OS_Neutron_Port | p.prop_port_security_enabled = False implies no p.prop_security_groups
}

/** HOT220 port-without-port-security error: a port has allowed address pairs but port security is turned off
 * message: port `{p}` has allowed address pairs, but its port security is turned off
 * at: p.prop_allowed_address_pairs
 * also: p.prop_port_security_enabled
 * help: remove `allowed_address_pairs`, or turn port security on
 * fix: unsafe remove p.prop_allowed_address_pairs
 * why: Neutron refuses the port.
 * source: RR-9317, section 7.1.4
 */
assert NoPairsWithoutPortSecurity {
  all p: OS_Neutron_Port | p.prop_port_security_enabled = False implies no p.prop_allowed_address_pairs
}
