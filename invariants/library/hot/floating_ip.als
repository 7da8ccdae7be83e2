/** Rules about floating ips. */
module hot/floating_ip

open hot/vocabulary
open hot/neutron
open values

/** HOT209 address-outside-subnet error: a floating IP address is outside its subnet
 * message: the address `{a}` of floating IP `{f}` is outside subnet `{s}` (`{s.prop_cidr}`)
 * at: f.prop_floating_ip_address "not in `{s.prop_cidr}`"
 * also: s.prop_cidr
 * help: choose an address in `{s.prop_cidr}`
 * why: Neutron refuses the floating IP.
 * source: RR-9317, section 7.2.3
 */
assert FloatingAddressIsInTheSubnet {
  all f: OS_Neutron_FloatingIP, a: f.prop_floating_ip_address, s: f.prop_floating_subnet & OS_Neutron_Subnet |
    (address[a] and cidr[s.prop_cidr]) implies contains[s.prop_cidr, a]
}

/** HOT231 floating-subnet-mismatch error: the subnet of a floating IP belongs to another network
 * message: subnet `{s}` of floating IP `{f}` belongs to network `{s.prop_network}`, not to `{f.prop_floating_network}`
 * at: f.prop_floating_subnet "belongs to another network"
 * also: f.prop_floating_network
 * help: use a subnet of that network
 * why: Neutron refuses the floating IP.
 * source: RR-9317, section 7.1.4
 */
assert FloatingSubnetIsOnTheNetwork {
  all f: OS_Neutron_FloatingIP, s: f.prop_floating_subnet & OS_Neutron_Subnet |
    (some f.prop_floating_network and some s.prop_network) implies
      some f.prop_floating_network & s.prop_network
}

/** HOT232 duplicate-floating-ip error: two floating IPs have the same address
 * message: floating IPs `{f}` and `{g}` have the same address: `{g.prop_floating_ip_address}`
 * at: g.prop_floating_ip_address "used again here"
 * also: f.prop_floating_ip_address "first used here"
 * help: choose another address, or leave it out and let Neutron choose one
 * fix: unsafe remove g.prop_floating_ip_address
 * why: Neutron refuses the second floating IP.
 * source: RR-9317, section 7.1.4
 */
assert FloatingAddressesAreDifferent {
  all disj f, g: OS_Neutron_FloatingIP |
    no address_of[f.prop_floating_ip_address] & address_of[g.prop_floating_ip_address]
}

/** HOT233 address-has-two-floating-ips error: two floating IPs from one network point to the same address
 * message: floating IPs `{f}` and `{g}` point to the same address of a port, from the same network
 * at: g.prop_port_id "second floating IP"
 * also: g
 * also: f "first floating IP"
 * help: give each its own `fixed_ip_address`, or its own port
 * why: Neutron refuses the second one: a fixed address can have one floating IP per external network.
 * source: RR-9317, section 7.1.4
 */
assert OneFloatingIpForAnAddress {
  all disj f, g: OS_Neutron_FloatingIP |
    (some floating_ports[f] & floating_ports[g] and some f.prop_floating_network & g.prop_floating_network)
    implies (some f.prop_fixed_ip_address + g.prop_fixed_ip_address and
      address_of[f.prop_fixed_ip_address] != address_of[g.prop_fixed_ip_address])
}

/** HOT301 network-not-external error: the network of a floating IP is not external
 * message: network `{n}` of floating IP `{f}` is not external
 * at: f.prop_floating_network "not an external network"
 * also: n "created here"
 * help: use an OS::Neutron::ProviderNet with `router_external: true`, or an existing external network
 * why: Floating IPs are addresses of external networks; Neutron refuses any other network.
 * source: RR-9317, section 7.2.2
 */
assert FloatingNetworkIsExternal {
  all f: OS_Neutron_FloatingIP, n: f.prop_floating_network & OS_Neutron_Net |
    entry[n.prop_value_specs, "router:external", True]
}

/** HOT301 network-not-external error: the provider network of a floating IP is not external
 * message: provider network `{n}` of floating IP `{f}` is not external
 * at: f.prop_floating_network "not an external network"
 * also: n "created here"
 * help: set `router_external: true` on `{n}`
 * fix: unsafe replace n.prop_router_external with `true`
 * fix: unsafe add `properties.router_external: true` to n
 * why: Floating IPs are addresses of external networks; Neutron refuses any other network.
 * source: RR-9317, section 7.2.2
 */
assert FloatingProviderNetworkIsExternal {
  all f: OS_Neutron_FloatingIP, n: f.prop_floating_network & OS_Neutron_ProviderNet |
    n.prop_router_external = True
}

/** HOT303 floating-ip-unreachable error: no router connects a floating IP to its port
 * message: no router connects the network of port `{p}` to network `{n}` of floating IP `{f}`
 * at: f.prop_port_id "cannot be reached by `{f}`"
 * also: f
 * also: p "this port"
 * help: add a router with a gateway on `{n}` and an interface on a subnet of the port
 * why: Neutron refuses to associate a floating IP with a port that no router connects to its network.
 * source: ours, as RR-9317, section 7.2.2
 */
assert FloatingIpIsReachable {
  all f: OS_Neutron_FloatingIP, p: floating_ports[f] & OS_Neutron_Port, n: f.prop_floating_network |
    p.prop_network in created_networks implies
      some i: OS_Neutron_RouterInterface |
        some interface_networks[i] & p.prop_network
        and some i.prop_router and n in gateway_network[i.prop_router]
}

/** HOT304 missing-router-dependency warning: a floating IP may be created before the router interface it needs
 * message: floating IP `{f}` does not wait for `{i}`, which connects the network of its port to a router
 * at: f "needs `{i}`"
 * also: i "this router interface"
 * help: add `depends_on: {i}`
 * fix: unsafe add `depends_on: {i}` to f
 * why: Heat adds this dependency only when the port names its subnet. Without it, the association can come first and fail.
 * source: RR-9317, section 7.3
 */
assert FloatingIpWaitsForItsRouter {
  all f: OS_Neutron_FloatingIP, p: f.prop_port_id & OS_Neutron_Port, i: OS_Neutron_RouterInterface |
    (no p.prop_fixed_ips.prop_subnet and some p.prop_network & interface_networks[i]) implies
      i in f.^requires
}

/** HOT304 missing-router-dependency warning: a floating IP may be associated before the router interface it needs is created
 * message: `{a}` does not wait for `{i}`, which connects the network of its port to a router
 * at: a "needs `{i}`"
 * also: i "this router interface"
 * help: add `depends_on: {i}`
 * fix: unsafe add `depends_on: {i}` to a
 * why: Heat adds this dependency only when the port names its subnet. Without it, the association can come first and fail.
 * source: RR-9317, section 7.3
 */
assert AssociationWaitsForItsRouter {
  all a: OS_Neutron_FloatingIPAssociation, p: a.prop_port_id & OS_Neutron_Port, i: OS_Neutron_RouterInterface |
    (no p.prop_fixed_ips.prop_subnet and some p.prop_network & interface_networks[i]) implies
      i in a.^requires
}
