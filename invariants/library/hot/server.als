/** Rules about servers. */
module hot/server

open hot/vocabulary
open hot/neutron
open values

/** The subnets that an entry of a server's networks names. */
fun entry_subnets[e: set OS_Nova_Server_networks]: set univ { e.prop_subnet & OS_Neutron_Subnet }

/** The networks that an entry names, by itself or through its subnet or port. */
fun entry_networks[e: set OS_Nova_Server_networks]: set univ {
  e.prop_network + e.prop_uuid + network_of[e.prop_subnet] + port_network[e.prop_port]
}

/** The entries of a boot device list that Nova would boot from. */
fun boot_devices[s: OS_Nova_Server]: set univ {
  { e: s.prop_block_device_mapping_v2 |
      some e.prop_volume_id + e.prop_snapshot_id + e.prop_image + e.prop_image_id
      and (no e.prop_boot_index or e.prop_boot_index = 0) }
}

/** What the data of an entry comes from. */
fun sources[e: OS_Nova_Server_block_device_mapping_v2]: set univ {
  (some e.prop_volume_id => "volume_id" else none)
  + (some e.prop_snapshot_id => "snapshot_id" else none)
  + (some e.prop_image + e.prop_image_id => "image" else none)
  + (some e.prop_swap_size => "swap_size" else none)
  + (some e.prop_ephemeral_size + e.prop_ephemeral_format => "ephemeral_size" else none)
}

/** HOT209 address-outside-subnet error: a fixed IP of a server is outside its subnet
 * message: the address `{a}` of server `{s}` is outside subnet `{n}` (`{n.prop_cidr}`)
 * at: e.prop_fixed_ip "not in `{n.prop_cidr}`"
 * also: n.prop_cidr
 * help: choose an address in `{n.prop_cidr}`
 * why: Neutron refuses the port that Nova requests, and the server fails.
 * source: RR-9317, section 7.2.3, figure 10
 */
assert ServerAddressIsInTheSubnet {
  all s: OS_Nova_Server, e: s.prop_networks, a: e.prop_fixed_ip, n: e.prop_subnet & OS_Neutron_Subnet |
    (address[a] and cidr[n.prop_cidr]) implies contains[n.prop_cidr, a]
}

/** HOT209 address-outside-subnet error: a fixed IP of a server is outside every subnet of its network
 * message: the address `{a}` of server `{s}` is outside every subnet of network `{n}`
 * at: e.prop_fixed_ip "outside every subnet"
 * also: n
 * help: choose an address in one of its subnets
 * why: Neutron refuses the port that Nova requests, and the server fails.
 * source: RR-9317, section 7.2.3, figure 10
 */
assert ServerAddressIsInTheNetwork {
  all s: OS_Nova_Server, e: s.prop_networks, a: e.prop_fixed_ip, n: e.prop_network & created_networks |
    (no e.prop_subnet and address[a] and some subnets_on[n]
      and all t: subnets_on[n] | cidr[(t & OS_Neutron_Subnet).prop_cidr])
    implies some t: subnets_on[n] | contains[(t & OS_Neutron_Subnet).prop_cidr, a]
}

/** HOT221 port-shared error: a server is attached to the same port twice
 * message: server `{s}` is attached to port `{a.prop_port}` twice
 * at: b.prop_port "attached again here"
 * also: a.prop_port "first attached here"
 * help: remove one of the two
 * why: Nova refuses the server: the port is in use.
 * source: RR-9317, section 7.1.4
 */
assert AttachedToAPortOnce {
  all s: OS_Nova_Server, disj a, b: s.prop_networks | no a.prop_port & b.prop_port
}

/** HOT221 port-shared error: two servers share a port
 * message: the servers `{s}` and `{t}` share a port
 * at: t.prop_networks.prop_port "attached again here"
 * also: s.prop_networks.prop_port "first attached here"
 * help: give each server its own port
 * why: Nova refuses the second server: the port is in use.
 * source: RR-9317, sections 7.1.4 and 7.2.3, figure 8
 */
assert ServersHaveTheirOwnPort {
  all disj s, t: OS_Nova_Server | no s.prop_networks.prop_port & t.prop_networks.prop_port
}

/** HOT222 two-block-device-lists error: a server has two lists of block devices
 * message: server `{s}` has both `block_device_mapping` and `block_device_mapping_v2`
 * at: s.prop_block_device_mapping "deprecated list"
 * also: s.prop_block_device_mapping_v2 "current list"
 * help: move everything into `block_device_mapping_v2`
 * why: Heat refuses the server.
 * source: RR-9317, section 7.1.4
 */
assert OneListOfDevices {
  all s: OS_Nova_Server | no s.prop_block_device_mapping or no s.prop_block_device_mapping_v2
}

/** HOT224 duplicate-server-address error: a server has the same fixed IP twice
 * message: server `{s}` has the address `{a.prop_fixed_ip}` twice on one network
 * at: b.prop_fixed_ip "used again here"
 * also: a.prop_fixed_ip "first used here"
 * help: choose another address, or leave it out and let Neutron choose one
 * why: Neutron refuses the second port that Nova requests.
 * source: RR-9317, section 7.1.4
 */
assert ServerAddressesAreDifferent {
  all s: OS_Nova_Server, disj a, b: s.prop_networks |
    some address_of[a.prop_fixed_ip] & address_of[b.prop_fixed_ip] implies
      no entry_networks[a] & entry_networks[b]
}

/** HOT224 duplicate-server-address error: two servers on a network have the same fixed IP
 * message: the servers `{s}` and `{t}` have the same address on one network: `{b.prop_fixed_ip}`
 * at: b.prop_fixed_ip "used again here"
 * also: a.prop_fixed_ip "first used here"
 * help: choose another address, or leave it out and let Neutron choose one
 * why: Neutron refuses the second port that Nova requests.
 * source: RR-9317, section 7.1.4
 */
assert ServersHaveDifferentAddresses {
  all disj s, t: OS_Nova_Server |
    not (some a: s.prop_networks, b: t.prop_networks |
      some address_of[a.prop_fixed_ip] & address_of[b.prop_fixed_ip]
      and some entry_networks[a] & entry_networks[b])
}

/** HOT225 invalid-network-entry error: a network entry of a server names its network twice
 * message: a network entry of server `{s}` has both `uuid` and `network`
 * at: e.prop_uuid "deprecated name"
 * also: e.prop_network
 * help: remove `uuid`
 * fix: unsafe remove e.prop_uuid
 * why: Heat refuses the server.
 * source: RR-9317, section 7.1.4
 */
assert NetworkIsNamedOnce {
  all s: OS_Nova_Server, e: s.prop_networks | no e.prop_uuid or no e.prop_network
}

/** HOT225 invalid-network-entry error: a network entry of a server has both a port and an address
 * message: a network entry of server `{s}` has both `port` and `fixed_ip`
 * at: e.prop_fixed_ip
 * also: e.prop_port
 * help: set the address on the port instead
 * fix: unsafe remove e.prop_fixed_ip
 * why: Heat refuses the server.
 * source: RR-9317, section 7.1.4
 */
assert AddressIsThatOfThePort {
  all s: OS_Nova_Server, e: s.prop_networks | no e.prop_fixed_ip or no e.prop_port
}

/** HOT225 invalid-network-entry error: a network entry of a server names no network
 * message: a network entry of server `{s}` has no `network`, `subnet` or `port`
 * at: e "attaches to nothing"
 * help: add `network`, `subnet` or `port`
 * why: Heat refuses the server.
 * source: RR-9317, section 7.1.4
 */
assert NetworkEntriesName {
  all s: OS_Nova_Server, e: s.prop_networks |
    some e.prop_network + e.prop_uuid + e.prop_port + e.prop_allocate_network + e.prop_subnet
}

/** HOT226 server-subnet-mismatch error: the subnet of a network entry belongs to another network
 * message: subnet `{n}` of server `{s}` belongs to network `{n.prop_network}`, not to `{e.prop_network}`
 * at: e.prop_subnet "belongs to another network"
 * also: e.prop_network
 * help: use a subnet of that network
 * why: Heat refuses the server.
 * source: RR-9317, section 7.1.4
 */
assert EntrySubnetIsOnTheNetwork {
  all s: OS_Nova_Server, e: s.prop_networks, n: e.prop_subnet & OS_Neutron_Subnet |
    (some e.prop_network and some n.prop_network) implies some e.prop_network & n.prop_network
}

/** HOT227 port-has-two-floating-ips error: a port of a server has two floating IPs from one network
 * message: the floating IPs `{f}` and `{g}` are on the same port of server `{s}` and from the same network
 * at: e.prop_floating_ip "first floating IP"
 * also: g "second floating IP"
 * help: remove one of the two
 * why: Neutron refuses the second one: a fixed address can have one floating IP per external network.
 * source: RR-9317, section 7.1.4
 */
assert FloatingIpsAreOnDifferentNetworks {
  all s: OS_Nova_Server, e: s.prop_networks, f: e.prop_floating_ip & OS_Neutron_FloatingIP,
      g: OS_Neutron_FloatingIP |
    (f != g and some floating_ports[g] & e.prop_port) implies
      no f.prop_floating_network & g.prop_floating_network
}

/** HOT228 invalid-block-device error: a block device has no source
 * message: a block device of server `{s}` has no source
 * at: e "no source"
 * help: add `volume_id`, `snapshot_id`, `image`, `swap_size` or `ephemeral_size`
 * why: Heat refuses the server.
 * source: RR-9317, section 7.1.4
 */
assert DevicesHaveASource {
  all s: OS_Nova_Server, e: s.prop_block_device_mapping_v2 | some sources[e]
}

/** HOT228 invalid-block-device error: a block device has several sources
 * message: a block device of server `{s}` has several sources
 * at: e "several sources"
 * help: keep one of `volume_id`, `snapshot_id`, `image`, `swap_size` and `ephemeral_size`
 * why: Heat refuses the server.
 * source: RR-9317, section 7.1.4
 */
assert DevicesHaveOneSource {
  all s: OS_Nova_Server, e: s.prop_block_device_mapping_v2 | lone sources[e]
}

/** HOT229 user-data-format-mismatch error: a server with software deployments has the wrong user data format
 * message: server `{s}` has the software deployment `{d}`, but its `user_data_format` is `{s.prop_user_data_format}`
 * at: s.prop_user_data_format
 * also: s
 * also: d "deploys to it"
 * help: set `user_data_format: SOFTWARE_CONFIG`
 * fix: unsafe replace s.prop_user_data_format with `SOFTWARE_CONFIG`
 * fix: unsafe add `properties.user_data_format: SOFTWARE_CONFIG` to s
 * why: The server never polls for the deployment, which fails after its timeout.
 * source: RR-9317, section 7.1.4
 */
assert DeploymentsNeedSoftwareConfig {
  all d: OS_Heat_SoftwareDeployment, s: d.prop_server & OS_Nova_Server |
    s.prop_user_data_format = "SOFTWARE_CONFIG"
}

/** HOT229 user-data-format-mismatch error: a server with structured deployments has the wrong user data format
 * message: server `{s}` has the structured deployment `{d}`, but its `user_data_format` is `{s.prop_user_data_format}`
 * at: s.prop_user_data_format
 * also: s
 * also: d "deploys to it"
 * help: set `user_data_format: SOFTWARE_CONFIG`
 * fix: unsafe replace s.prop_user_data_format with `SOFTWARE_CONFIG`
 * fix: unsafe add `properties.user_data_format: SOFTWARE_CONFIG` to s
 * why: The server never polls for the deployment, which fails after its timeout.
 * source: RR-9317, section 7.1.4
 */
assert StructuredDeploymentsNeedSoftwareConfig {
  all d: OS_Heat_StructuredDeployment, s: d.prop_server & OS_Nova_Server |
    s.prop_user_data_format = "SOFTWARE_CONFIG"
}

/** HOT229 user-data-format-mismatch error: a server in a deployment group has the wrong user data format
 * message: server `{s}` is in a deployment group, but its `user_data_format` is `{s.prop_user_data_format}`
 * at: s.prop_user_data_format
 * also: s
 * help: set `user_data_format: SOFTWARE_CONFIG`
 * fix: unsafe replace s.prop_user_data_format with `SOFTWARE_CONFIG`
 * fix: unsafe add `properties.user_data_format: SOFTWARE_CONFIG` to s
 * why: The server never polls for the deployments, which fail after their timeout.
 * source: RR-9317, section 7.1.4
 */
assert DeploymentGroupsNeedSoftwareConfig {
  all s: OS_Nova_Server |
    s in OS_Heat_SoftwareDeploymentGroup.prop_servers + OS_Heat_StructuredDeploymentGroup.prop_servers
    implies s.prop_user_data_format = "SOFTWARE_CONFIG"
}

/** HOT230 invalid-boot-source error: a server has nothing to boot from
 * message: server `{s}` has neither an image nor a bootable device
 * at: s "cannot boot"
 * help: add `image`, or a block device with a volume, snapshot or image
 * why: Heat refuses the server. Of block devices with a `boot_index`, only the one with index 0 is bootable.
 * source: RR-9317, section 7.1.4
 */
assert ServersBoot {
  all s: OS_Nova_Server |
    some s.prop_image or some boot_devices[s] or some s.prop_block_device_mapping
}

/** HOT230 invalid-boot-source error: a server has several boot sources
 * message: server `{s}` has several boot sources
 * at: s.prop_block_device_mapping_v2
 * also: s.prop_image
 * help: keep `image` or one device; give the others a `boot_index` other than 0
 * why: Heat refuses the server. A block device without `boot_index` counts as bootable.
 * source: RR-9317, section 7.1.4
 */
assert ServersBootFromOne {
  all s: OS_Nova_Server | lone boot_devices[s] and (no s.prop_image or no boot_devices[s])
}

/** HOT302 metadata-unreachable warning: a server cannot reach the metadata service
 * message: server `{s}` has no config drive, and none of its networks is connected to a router
 * at: s.prop_networks.prop_network
 * also: s.prop_networks
 * also: s "cannot reach the metadata service"
 * help: set `config_drive: true`, or connect a subnet of `{s.prop_networks.prop_network}` to a router
 * help: set `config_drive: true`, or connect one of its networks to a router
 * fix: unsafe add `properties.config_drive: true` to s
 * why: cloud-init finds no metadata, so keys and passwords are never set and nobody can log in.
 * source: RR-9317, section 7.2.2
 */
assert MetadataIsReachable {
  all s: OS_Nova_Server | let n = entry_networks[s.prop_networks] |
    (some n and n in created_networks and s.prop_config_drive != True) implies
      (some i: OS_Neutron_RouterInterface | some interface_networks[i] & n)
      or (some r: OS_Neutron_Router | some gateway_network[r] & n)
}

/** HOT302 metadata-unreachable warning: a server on an external network has no config drive
 * message: server `{s}` has no config drive, but its network `{n}` is external
 * at: e.prop_network "no metadata service on an external network"
 * also: s "cannot reach the metadata service"
 * help: set `config_drive: true`, or use a private network that is connected to a router
 * fix: unsafe add `properties.config_drive: true` to s
 * why: cloud-init finds no metadata, so keys and passwords are never set and nobody can log in.
 * source: RR-9317, section 7.2.2
 */
assert MetadataIsReachableFromOutside {
  all s: OS_Nova_Server, e: s.prop_networks, n: e.prop_network & Existing |
    (one s.prop_networks and (n in used_as_external or finds[name_of[n], "(?i)public|external"])) implies
      s.prop_config_drive = True
}

/** HOT308 setting-ignored warning: the security groups of a server do not apply to its ports
 * message: the security groups of server `{s}` do not apply to its port `{e.prop_port}`
 * at: s.prop_security_groups "ignored for the port"
 * also: e.prop_port "this port"
 * help: set `security_groups` on the port
 * why: Nova ignores the security groups of a server for existing ports.
 * source: ours
 */
assert SecurityGroupsApply {
  all s: OS_Nova_Server, e: s.prop_networks | some s.prop_security_groups implies no e.prop_port
}

/** HOT308 setting-ignored warning: the floating IP of a network entry may land on another port
 * message: the network entry for floating IP `{e.prop_floating_ip}` of server `{s}` names only a network
 * at: e.prop_floating_ip
 * also: e.prop_network
 * help: name the `port` or `subnet` of the entry
 * why: Heat chooses the port once the server exists, so the floating IP may end up on another address than intended.
 * source: ours
 */
assert FloatingIpsHaveAPort {
  all s: OS_Nova_Server, e: s.prop_networks |
    some e.prop_floating_ip implies some e.prop_port + e.prop_subnet + e.prop_fixed_ip
}
