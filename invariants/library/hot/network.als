/** Rules about networks. */
module hot/network

open hot/vocabulary
open hot/neutron
open values

/** HOT108 duplicate-provider-network-name warning: two provider networks have the same name
 * message: the provider networks `{n}` and `{m}` have the same name: `{n.prop_name}`
 * at: m.prop_name "same name"
 * also: n.prop_name "first used here"
 * help: give them different names
 * why: Neutron accepts this, but the name no longer identifies one network.
 * source: RR-9317, section 7.1.4
 */
assert ProviderNetworksHaveDifferentNames {
  all disj n, m: OS_Neutron_ProviderNet | no n.prop_name & m.prop_name
}

/** HOT236 invalid-provider-network error: a flat or VLAN network does not name its physical network
 * message: `{n}` is a `{n.prop_network_type}` network but has no `physical_network`
 * at: n.prop_network_type "needs a physical network"
 * help: add `physical_network`
 * why: Neutron refuses the network.
 * source: RR-9317, section 7.1.4
 */
assert PhysicalNetworkIsGiven {
  all n: OS_Neutron_ProviderNet | n.prop_network_type in "flat" + "vlan" implies
    some n.prop_physical_network
}

/** HOT236 invalid-provider-network error: a tunnel or local network names a physical network
 * message: `{n}` is a `{n.prop_network_type}` network, so it cannot have a `physical_network`
 * at: n.prop_physical_network
 * also: n.prop_network_type
 * help: remove `physical_network`
 * fix: unsafe remove n.prop_physical_network
 * why: Neutron refuses the network: tunnels, and networks local to one host, have no physical network.
 * source: RR-9317, section 7.1.4
 */
assert TunnelsHaveNoPhysicalNetwork {
  all n: OS_Neutron_ProviderNet | n.prop_network_type in "vxlan" + "gre" + "geneve" + "local" implies
    no n.prop_physical_network
}

/** HOT236 invalid-provider-network error: a flat or local network has a segmentation ID
 * message: `{n}` is a `{n.prop_network_type}` network, so it cannot have a `segmentation_id`
 * at: n.prop_segmentation_id
 * also: n.prop_network_type
 * help: remove `segmentation_id`
 * fix: unsafe remove n.prop_segmentation_id
 * why: Neutron refuses the network.
 * source: RR-9317, section 7.1.4
 */
assert FlatNetworksHaveNoSegment {
  all n: OS_Neutron_ProviderNet | n.prop_network_type in "flat" + "local" implies
    no n.prop_segmentation_id
}
