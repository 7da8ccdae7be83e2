/** What the rules about networks have in common. */
module hot/neutron

open hot/vocabulary
open values

/** The network of subnets. */
fun network_of[s: set univ]: set univ { (s & OS_Neutron_Subnet).prop_network }

/** The network of ports. */
fun port_network[p: set univ]: set univ { (p & OS_Neutron_Port).prop_network }

/** The subnets that ports name. */
fun port_subnets[p: set univ]: set univ { (p & OS_Neutron_Port).prop_fixed_ips.prop_subnet }

/** Whether networks have port security. */
fun port_security[n: set univ]: set univ {
  (n & OS_Neutron_Net).prop_port_security_enabled + (n & OS_Neutron_ProviderNet).prop_port_security_enabled
}

/** The networks that the stack creates. */
fun created_networks: set univ { OS_Neutron_Net + OS_Neutron_ProviderNet }

/** The subnets that the stack creates on networks. */
fun subnets_on[n: set univ]: set univ { (OS_Neutron_Subnet <: prop_network).n }

/** The subnets that a router interface joins to its router, by itself or through its port. */
fun interface_subnets[i: set OS_Neutron_RouterInterface]: set univ {
  i.prop_subnet + port_subnets[i.prop_port]
}

/** The networks that a router interface joins to its router. */
fun interface_networks[i: set OS_Neutron_RouterInterface]: set univ {
  network_of[interface_subnets[i]] + port_network[i.prop_port]
}

/** The network that a router's gateway is on. */
fun gateway_network[r: set univ]: set univ {
  (r & OS_Neutron_Router).prop_external_gateway_info.prop_network +
  (OS_Neutron_RouterGateway <: prop_router_id).r.prop_network
}

/** The networks that are external, or the stack cannot be deployed: gateways and floating ips are on them. */
fun used_as_external: set univ {
  gateway_network[OS_Neutron_Router] + OS_Neutron_FloatingIP.prop_floating_network
}

/** The ports that a floating ip is on, by itself or by association. */
fun floating_ports[f: set OS_Neutron_FloatingIP]: set univ {
  f.prop_port_id + ((OS_Neutron_FloatingIPAssociation <: prop_floatingip_id).f).prop_port_id
}
