/** Rules about routers and their interfaces. */
module hot/router

open hot/vocabulary
open hot/neutron
open values

/** HOT101 distributed-router-agents error: a distributed router names its agents
 * message: router `{r}` is distributed, so it cannot name agents
 * at: r.prop_l3_agent_ids
 * also: r.prop_distributed
 * help: remove `l3_agent_ids`
 * fix: unsafe remove r.prop_l3_agent_ids
 * why: Heat refuses the router: a distributed router runs on every node.
 * source: HOT specification, OS::Neutron::Router
 */
assert DistributedNamesNoAgents {
  all r: OS_Neutron_Router | r.prop_distributed = True implies no r.prop_l3_agent_ids + r.prop_l3_agent_id
}

/** HOT102 ha-and-distributed error: a router is both highly available and distributed
 * message: router `{r}` is both `ha` and `distributed`
 * at: r.prop_ha
 * also: r.prop_distributed
 * help: choose one of the two
 * why: Heat refuses the router.
 * source: HOT specification, OS::Neutron::Router
 */
assert HaOrDistributed {
  all r: OS_Neutron_Router | not (r.prop_ha = True and r.prop_distributed = True)
}

/** HOT103 gateway-subnet-mismatch error: the subnet of a router's external address belongs to another network
 * message: subnet `{s}` of router `{r}` belongs to network `{s.prop_network}`, not to its gateway network `{g.prop_network}`
 * at: e.prop_subnet "belongs to another network"
 * also: g.prop_network "the gateway network"
 * help: use a subnet of that network
 * why: Neutron refuses the router.
 * source: HOT specification, OS::Neutron::Router
 */
assert GatewaySubnetIsOnTheNetwork {
  all r: OS_Neutron_Router, g: r.prop_external_gateway_info, e: g.prop_external_fixed_ips,
      s: e.prop_subnet & OS_Neutron_Subnet |
    (some g.prop_network and some s.prop_network) implies some g.prop_network & s.prop_network
}

/** HOT104 invalid-router-interface error: a router interface has neither a port nor a subnet
 * message: `{i}` has neither `port` nor `subnet`
 * at: i "attaches nothing"
 * help: add `subnet`
 * why: Heat refuses the interface.
 * source: HOT specification, OS::Neutron::RouterInterface
 */
assert InterfaceJoinsSomething { all i: OS_Neutron_RouterInterface | some i.prop_port + i.prop_subnet }

/** HOT104 invalid-router-interface error: a router interface has both a port and a subnet
 * message: `{i}` has both `port` and `subnet`
 * at: i.prop_port
 * also: i.prop_subnet
 * help: remove one of the two
 * why: Heat refuses the interface.
 * source: HOT specification, OS::Neutron::RouterInterface
 */
assert PortOrSubnet { all i: OS_Neutron_RouterInterface | no i.prop_port or no i.prop_subnet }

/** HOT209 address-outside-subnet error: an external address of a router is outside its subnet
 * message: the address `{a}` of router `{r}` is outside subnet `{s}` (`{s.prop_cidr}`)
 * at: e.prop_ip_address "not in `{s.prop_cidr}`"
 * also: s.prop_cidr
 * help: choose an address in `{s.prop_cidr}`
 * why: Neutron refuses the router.
 * source: RR-9317, section 7.2.3
 */
assert GatewayAddressIsInTheSubnet {
  all r: OS_Neutron_Router, e: r.prop_external_gateway_info.prop_external_fixed_ips, a: e.prop_ip_address,
      s: e.prop_subnet & OS_Neutron_Subnet |
    (address[a] and cidr[s.prop_cidr]) implies contains[s.prop_cidr, a]
}

/** HOT210 duplicate-router-address error: two routers on a network have the same external address
 * message: router `{s}` uses an external address of router `{r}`
 * at: s.prop_external_gateway_info.prop_external_fixed_ips.prop_ip_address "used again here"
 * also: r.prop_external_gateway_info.prop_external_fixed_ips.prop_ip_address "first used here"
 * help: choose another address, or leave it out and let Neutron choose one
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

/** HOT211 agents-without-ha error: a router has several agents but is not highly available
 * message: router `{r}` names several agents but is not `ha`
 * at: r.prop_l3_agent_ids
 * help: set `ha: true`, or name one agent
 * why: Heat refuses the router.
 * source: RR-9317, section 7.1.4
 */
assert SeveralAgentsNeedHa {
  all r: OS_Neutron_Router | not lone r.prop_l3_agent_ids implies r.prop_ha = True
}

/** HOT212 router-port-shared error: two router interfaces share a port
 * message: `{i}` and `{j}` use the same port: `{i.prop_port}`
 * at: j.prop_port "used again here"
 * also: i.prop_port "first used here"
 * help: give each its own port
 * why: Neutron refuses the second interface: the port is in use.
 * source: RR-9317, section 7.1.4
 */
assert InterfacesHaveTheirOwnPort {
  all disj i, j: OS_Neutron_RouterInterface | no i.prop_port & j.prop_port
}

/** HOT305 overlapping-router-subnets error: a router connects overlapping subnets
 * message: router `{i.prop_router}` connects the subnets `{s}` and `{t}`, which overlap: `{s.prop_cidr}` and `{t.prop_cidr}`
 * at: j.prop_subnet "connects `{t}`"
 * also: j
 * also: i "connects `{s}`"
 * help: give the subnets separate address ranges
 * why: Neutron refuses the second interface: the router could not tell where to send a packet.
 * source: ours
 */
assert RoutedSubnetsAreDisjoint {
  all disj i, j: OS_Neutron_RouterInterface |
    not (some i.prop_router & j.prop_router and
      some s: interface_subnets[i] & OS_Neutron_Subnet, t: interface_subnets[j] & OS_Neutron_Subnet |
        s != t and overlaps[s.prop_cidr, t.prop_cidr])
}

/** HOT306 gateway-unavailable error: two router interfaces claim the gateway address of a subnet
 * message: `{i}` and `{j}` both claim the gateway address of subnet `{i.prop_subnet}`
 * at: j.prop_subnet "claimed again here"
 * also: i.prop_subnet "first claimed here"
 * help: attach one of them through a `port` of its own
 * why: An interface with `subnet` takes the gateway address of that subnet, so Neutron refuses the second.
 * source: ours
 */
assert OneGatewayForASubnet {
  all disj i, j: OS_Neutron_RouterInterface | no i.prop_subnet & j.prop_subnet
}

/** HOT306 gateway-unavailable error: a router interface needs the gateway address of a subnet that has none
 * message: `{i}` attaches subnet `{s}`, which has no gateway address
 * at: i.prop_subnet
 * also: s.prop_gateway_ip "no gateway"
 * help: give the subnet a `gateway_ip`, or attach it through a `port`
 * why: An interface with `subnet` takes the gateway address of that subnet; Neutron refuses it without one.
 * source: ours
 */
assert JoinedSubnetsHaveAGateway {
  all i: OS_Neutron_RouterInterface, s: i.prop_subnet & OS_Neutron_Subnet | not empty_text[s.prop_gateway_ip]
}
