/** Rules about floating ips. */
module hot/floating_ip

open hot/vocabulary
open hot/neutron
open values

/** HOT209 error: a floating address is in the block of its subnet
 * message: the address `{a}` of `{f}` is outside the block `{s.prop_cidr}` of `{s}`
 * at: f.prop_floating_ip_address "not in `{s.prop_cidr}`"
 * also: s.prop_cidr
 * help: choose an address of `{s.prop_cidr}`
 * why: Neutron refuses the floating ip.
 * source: RR-9317, section 7.2.3
 */
assert FloatingAddressIsInTheSubnet {
  all f: OS_Neutron_FloatingIP, a: f.prop_floating_ip_address, s: f.prop_floating_subnet & OS_Neutron_Subnet |
    (address[a] and cidr[s.prop_cidr]) implies contains[s.prop_cidr, a]
}

/** HOT231 error: the subnet of a floating ip is on its network
 * message: `{f}` is on the network `{f.prop_floating_network}`, and its subnet `{s}` on `{s.prop_network}`
 * at: f.prop_floating_subnet "of another network"
 * also: f.prop_floating_network
 * help: use a subnet of that network
 * why: Neutron refuses the floating ip.
 * source: RR-9317, section 7.1.4
 */
assert FloatingSubnetIsOnTheNetwork {
  all f: OS_Neutron_FloatingIP, s: f.prop_floating_subnet & OS_Neutron_Subnet |
    (some f.prop_floating_network and some s.prop_network) implies
      some f.prop_floating_network & s.prop_network
}

/** HOT232 error: a floating address is used once
 * message: `{g}` has the floating address `{g.prop_floating_ip_address}` of `{f}`
 * at: g.prop_floating_ip_address "used again here"
 * also: f.prop_floating_ip_address "used here"
 * help: choose another address, or leave it out and Neutron chooses one
 * why: Neutron refuses the second floating ip.
 * source: RR-9317, section 7.1.4
 */
assert FloatingAddressesAreDifferent {
  all disj f, g: OS_Neutron_FloatingIP |
    no address_of[f.prop_floating_ip_address] & address_of[g.prop_floating_ip_address]
}

/** HOT233 error: an address of a port has one floating ip of a network
 * message: `{f}` and `{g}` are on one port and one network
 * at: g "also on this port"
 * also: f "on this port"
 * help: give each its own `fixed_ip_address`, or its own port
 * why: Neutron refuses the second: a fixed address has one floating ip of an external network.
 * source: RR-9317, section 7.1.4
 */
assert OneFloatingIpForAnAddress {
  all disj f, g: OS_Neutron_FloatingIP |
    (some floating_ports[f] & floating_ports[g] and some f.prop_floating_network & g.prop_floating_network)
    implies (some f.prop_fixed_ip_address + g.prop_fixed_ip_address and
      address_of[f.prop_fixed_ip_address] != address_of[g.prop_fixed_ip_address])
}

/** HOT301 error: a floating ip is on an external network
 * message: the network `{n}` of `{f}` is not external
 * at: f.prop_floating_network "not an external network"
 * also: n "created here"
 * help: use an OS::Neutron::ProviderNet with `router_external: true`, or an existing external network
 * why: A floating ip is an address of an external network; Neutron refuses it on any other.
 * source: RR-9317, section 7.2.2
 */
assert FloatingNetworkIsExternal {
  all f: OS_Neutron_FloatingIP, n: f.prop_floating_network & OS_Neutron_Net |
    entry[n.prop_value_specs, "router:external", True]
}

/** HOT301 error: a floating ip on a provider network is on an external one
 * message: the provider network `{n}` of `{f}` is not external
 * at: f.prop_floating_network "not an external network"
 * also: n "created here"
 * help: set `router_external: true` on `{n}`
 * why: A floating ip is an address of an external network; Neutron refuses it on any other.
 * source: RR-9317, section 7.2.2
 */
assert FloatingProviderNetworkIsExternal {
  all f: OS_Neutron_FloatingIP, n: f.prop_floating_network & OS_Neutron_ProviderNet |
    n.prop_router_external = True
}

/** HOT303 error: a floating ip reaches its port through a router
 * message: no router joins the network of `{p}` to the network `{n}` of `{f}`
 * at: f "cannot reach `{p}`"
 * also: p "this port"
 * help: add a router with a gateway on `{n}` and an interface on a subnet of the port
 * why: Neutron refuses to associate a floating ip with a port that no router connects to its network.
 * source: ours, as RR-9317, section 7.2.2
 */
assert FloatingIpIsReachable {
  all f: OS_Neutron_FloatingIP, p: floating_ports[f] & OS_Neutron_Port, n: f.prop_floating_network |
    p.prop_network in created_networks implies
      some i: OS_Neutron_RouterInterface |
        some interface_networks[i] & p.prop_network
        and some i.prop_router and n in gateway_network[i.prop_router]
}

/** HOT304 warning: a floating ip waits for the router interface that makes it reachable
 * message: `{f}` does not wait for `{i}`, which joins the network of its port to a router
 * at: f "needs `{i}`"
 * also: i "this router interface"
 * help: add `depends_on: {i}`
 * why: Heat adds the dependency only when the port names its subnet; without it the association may come first and fail.
 * source: RR-9317, section 7.3
 */
assert FloatingIpWaitsForItsRouter {
  all f: OS_Neutron_FloatingIP, p: f.prop_port_id & OS_Neutron_Port, i: OS_Neutron_RouterInterface |
    (no p.prop_fixed_ips.prop_subnet and some p.prop_network & interface_networks[i]) implies
      i in f.^requires
}

/** HOT304 warning: the association of a floating ip waits for the router interface that makes it reachable
 * message: `{a}` does not wait for `{i}`, which joins the network of its port to a router
 * at: a "needs `{i}`"
 * also: i "this router interface"
 * help: add `depends_on: {i}`
 * why: Heat adds the dependency only when the port names its subnet; without it the association may come first and fail.
 * source: RR-9317, section 7.3
 */
assert AssociationWaitsForItsRouter {
  all a: OS_Neutron_FloatingIPAssociation, p: a.prop_port_id & OS_Neutron_Port, i: OS_Neutron_RouterInterface |
    (no p.prop_fixed_ips.prop_subnet and some p.prop_network & interface_networks[i]) implies
      i in a.^requires
}
