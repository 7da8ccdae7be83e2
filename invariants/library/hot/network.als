/** Rules about networks. */
module hot/network

open hot/vocabulary
open hot/neutron
open values

/** HOT108 warning: provider networks have different names
 * message: the provider networks `{n}` and `{m}` have the name `{n.prop_name}`
 * at: m.prop_name "same name"
 * also: n.prop_name "as here"
 * help: give them different names
 * why: Neutron accepts it, and whoever refers to a network by name finds two.
 * source: RR-9317, section 7.1.4
 */
assert ProviderNetworksHaveDifferentNames {
  all disj n, m: OS_Neutron_ProviderNet | no n.prop_name & m.prop_name
}

/** HOT236 error: a flat or vlan network names its physical network
 * message: `{n}` is a `{n.prop_network_type}` network without `physical_network`
 * at: n.prop_network_type "needs a physical network"
 * help: add `physical_network`
 * why: Neutron refuses the network.
 * source: RR-9317, section 7.1.4
 */
assert PhysicalNetworkIsGiven {
  all n: OS_Neutron_ProviderNet | n.prop_network_type in "flat" + "vlan" implies
    some n.prop_physical_network
}

/** HOT236 error: a tunnel has no physical network
 * message: `{n}` is a `{n.prop_network_type}` network and names a physical network
 * at: n.prop_physical_network
 * also: n.prop_network_type
 * help: remove `physical_network`
 * why: Neutron refuses the network: a tunnel, and a network local to one host, has none.
 * source: RR-9317, section 7.1.4
 */
assert TunnelsHaveNoPhysicalNetwork {
  all n: OS_Neutron_ProviderNet | n.prop_network_type in "vxlan" + "gre" + "geneve" + "local" implies
    no n.prop_physical_network
}

/** HOT236 error: a flat or local network has no segmentation id
 * message: `{n}` is a `{n.prop_network_type}` network and has a segmentation id
 * at: n.prop_segmentation_id
 * also: n.prop_network_type
 * help: remove `segmentation_id`
 * why: Neutron refuses the network.
 * source: RR-9317, section 7.1.4
 */
assert FlatNetworksHaveNoSegment {
  all n: OS_Neutron_ProviderNet | n.prop_network_type in "flat" + "local" implies
    no n.prop_segmentation_id
}
