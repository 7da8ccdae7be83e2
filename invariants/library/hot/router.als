/** Rules about routers and their interfaces. */
module hot/router

open hot/vocabulary
open hot/neutron
open values

/** HOT101 error: a distributed router names no agents
 * message: `{r}` is distributed and names agents
 * at: r.prop_l3_agent_ids
 * also: r.prop_distributed
 * help: remove `l3_agent_ids`
 * why: Heat refuses the router: a distributed router runs on every node.
 * source: HOT specification, OS::Neutron::Router
 */
assert DistributedNamesNoAgents {
  all r: OS_Neutron_Router | r.prop_distributed = True implies no r.prop_l3_agent_ids + r.prop_l3_agent_id
}

/** HOT102 error: a router is not both highly available and distributed
 * message: `{r}` is both `ha` and `distributed`
 * at: r.prop_ha
 * also: r.prop_distributed
 * help: choose one of the two
 * why: Heat refuses the router.
 * source: HOT specification, OS::Neutron::Router
 */
assert HaOrDistributed {
  all r: OS_Neutron_Router | not (r.prop_ha = True and r.prop_distributed = True)
}

/** HOT103 error: the subnet of a router's external address is on its gateway's network
 * message: the gateway of `{r}` is on `{g.prop_network}`, and the subnet `{s}` of its address on `{s.prop_network}`
 * at: e.prop_subnet "of another network"
 * also: g.prop_network "the gateway's network"
 * help: use a subnet of that network
 * why: Neutron refuses the router.
 * source: HOT specification, OS::Neutron::Router
 */
assert GatewaySubnetIsOnTheNetwork {
  all r: OS_Neutron_Router, g: r.prop_external_gateway_info, e: g.prop_external_fixed_ips,
      s: e.prop_subnet & OS_Neutron_Subnet |
    (some g.prop_network and some s.prop_network) implies some g.prop_network & s.prop_network
}

/** HOT104 error: a router interface has a port or a subnet
 * message: `{i}` has neither `port` nor `subnet`
 * at: i "joins nothing"
 * help: add `subnet`
 * why: Heat refuses the interface.
 * source: HOT specification, OS::Neutron::RouterInterface
 */
assert InterfaceJoinsSomething { all i: OS_Neutron_RouterInterface | some i.prop_port + i.prop_subnet }

/** HOT104 error: a router interface has not both a port and a subnet
 * message: `{i}` has both `port` and `subnet`
 * at: i.prop_port
 * also: i.prop_subnet
 * help: remove one of the two
 * why: Heat refuses the interface.
 * source: HOT specification, OS::Neutron::RouterInterface
 */
assert PortOrSubnet { all i: OS_Neutron_RouterInterface | no i.prop_port or no i.prop_subnet }

/** HOT209 error: an external address of a router is in the block of its subnet
 * message: the address `{a}` of `{r}` is outside the block `{s.prop_cidr}` of `{s}`
 * at: e.prop_ip_address "not in `{s.prop_cidr}`"
 * also: s.prop_cidr
 * help: choose an address of `{s.prop_cidr}`
 * why: Neutron refuses the router.
 * source: RR-9317, section 7.2.3
 */
assert GatewayAddressIsInTheSubnet {
  all r: OS_Neutron_Router, e: r.prop_external_gateway_info.prop_external_fixed_ips, a: e.prop_ip_address,
      s: e.prop_subnet & OS_Neutron_Subnet |
    (address[a] and cidr[s.prop_cidr]) implies contains[s.prop_cidr, a]
}

/** HOT210 error: routers on one network have different addresses
 * message: `{s}` has an external address of `{r}`
 * at: s.prop_external_gateway_info.prop_external_fixed_ips.prop_ip_address "used again here"
 * also: r.prop_external_gateway_info.prop_external_fixed_ips.prop_ip_address "used here"
 * help: choose another address, or leave it out and Neutron chooses one
 * why: Neutron refuses the second router.
 * source: RR-9317, section 7.1.4
 */
assert RoutersHaveDifferentAddresses {
  all disj r, s: OS_Neutron_Router |
    let x = r.prop_external_gateway_info, y = s.prop_external_gateway_info |
    (some address_of[x.prop_external_fixed_ips.prop_ip_address] & address_of[y.prop_external_fixed_ips.prop_ip_address])
    implies (no x.prop_network & y.prop_network
      and no x.prop_external_fixed_ips.prop_subnet & y.prop_external_fixed_ips.prop_subnet)
}

/** HOT211 error: only a highly available router has several agents
 * message: `{r}` names several agents and is not `ha`
 * at: r.prop_l3_agent_ids
 * help: set `ha: true`, or name one agent
 * why: Heat refuses the router.
 * source: RR-9317, section 7.1.4
 */
assert SeveralAgentsNeedHa {
  all r: OS_Neutron_Router | not lone r.prop_l3_agent_ids implies r.prop_ha = True
}

/** HOT212 error: router interfaces do not share a port
 * message: `{i}` and `{j}` use one port, `{i.prop_port}`
 * at: j.prop_port "used again here"
 * also: i.prop_port "used here"
 * help: give each its own port
 * why: Neutron refuses the second interface: the port is in use.
 * source: RR-9317, section 7.1.4
 */
assert InterfacesHaveTheirOwnPort {
  all disj i, j: OS_Neutron_RouterInterface | no i.prop_port & j.prop_port
}

/** HOT305 error: the subnets of a router do not overlap
 * message: the router `{i.prop_router}` joins `{s}` and `{t}`, whose blocks `{s.prop_cidr}` and `{t.prop_cidr}` overlap
 * at: j "joins `{t}`"
 * also: i "joins `{s}`"
 * help: give the subnets disjoint blocks
 * why: Neutron refuses the second interface: the router could not tell where to send a packet.
 * source: ours
 */
assert RoutedSubnetsAreDisjoint {
  all disj i, j: OS_Neutron_RouterInterface |
    not (some i.prop_router & j.prop_router and
      some s: interface_subnets[i] & OS_Neutron_Subnet, t: interface_subnets[j] & OS_Neutron_Subnet |
        s != t and overlaps[s.prop_cidr, t.prop_cidr])
}

/** HOT306 error: a subnet is joined by its gateway to one router
 * message: `{i}` and `{j}` both join `{i.prop_subnet}` to a router by its gateway address
 * at: j.prop_subnet "joined again here"
 * also: i.prop_subnet "joined here"
 * help: join one of them by a `port` of its own
 * why: An interface by `subnet` takes the gateway address of the subnet, so Neutron refuses the second.
 * source: ours
 */
assert OneGatewayForASubnet {
  all disj i, j: OS_Neutron_RouterInterface | no i.prop_subnet & j.prop_subnet
}

/** HOT306 error: a subnet without a gateway is not joined by it
 * message: `{i}` joins `{s}` to a router, and `{s}` has no gateway
 * at: i.prop_subnet
 * also: s.prop_gateway_ip "no gateway"
 * help: give the subnet a `gateway_ip`, or join it by a `port`
 * why: An interface by `subnet` takes the gateway address of the subnet; Neutron refuses it without one.
 * source: ours
 */
assert JoinedSubnetsHaveAGateway {
  all i: OS_Neutron_RouterInterface, s: i.prop_subnet & OS_Neutron_Subnet | not empty_text[s.prop_gateway_ip]
}
