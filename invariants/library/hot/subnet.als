/** Rules about subnets, their addresses and the pools they come from. */
module hot/subnet

open hot/vocabulary
open hot/neutron
open values

/** The gateway that a subnet gets: the one given, or the first address of its block. */
fun gateway[s: OS_Neutron_Subnet]: set univ {
  some s.prop_gateway_ip => s.prop_gateway_ip else first_host_of[s.prop_cidr]
}

/** HOT202 error: an allocation pool does not end before it starts
 * message: the allocation pool of `{s}` ends at `{p.prop_end}`, before its start `{p.prop_start}`
 * at: p.prop_end "before the start"
 * also: p.prop_start "starts here"
 * help: swap `start` and `end`
 * why: Neutron refuses the subnet.
 * source: RR-9317, section 7.1.4
 */
assert PoolsAreOrdered {
  all s: OS_Neutron_Subnet, p: s.prop_allocation_pools | not precedes[p.prop_end, p.prop_start]
}

/** HOT202 error: an allocation pool lies in the block of its subnet
 * message: `{a}` is outside the block `{s.prop_cidr}` of `{s}`
 * at: p "has `{a}`"
 * also: s.prop_cidr "not in this block"
 * help: choose addresses of `{s.prop_cidr}`
 * why: Neutron refuses the subnet.
 * source: RR-9317, sections 7.1.4 and 7.2.3
 */
assert PoolsAreInTheBlock {
  all s: OS_Neutron_Subnet, p: s.prop_allocation_pools, a: p.prop_start + p.prop_end |
    (address[a] and cidr[s.prop_cidr]) implies contains[s.prop_cidr, a]
}

/** HOT202 error: an allocation pool leaves out the addresses of network and broadcast
 * message: `{a}` is the network or broadcast address of `{s.prop_cidr}`
 * at: p "has `{a}`"
 * also: s.prop_cidr
 * help: start one later, end one earlier
 * why: Neutron refuses a pool with an address that no host can have.
 * source: RR-9317, section 7.1.4
 */
assert PoolsHaveHostsOnly {
  all s: OS_Neutron_Subnet, p: s.prop_allocation_pools, a: p.prop_start + p.prop_end |
    not network_address[s.prop_cidr, a] and not broadcast_address[s.prop_cidr, a]
}

/** HOT203 error: allocation pools of one network do not overlap
 * message: the allocation pools `{p.prop_start}` to `{p.prop_end}` and `{q.prop_start}` to `{q.prop_end}` overlap
 * at: q "overlaps"
 * also: p "with this pool"
 * help: make them disjoint
 * why: Neutron refuses pools that overlap in a subnet, and one network cannot give an address twice.
 * source: RR-9317, section 7.1.4
 */
assert PoolsAreDisjoint {
  all disj p, q: OS_Neutron_Subnet_allocation_pools |
    (some network_of[prop_allocation_pools.p] & network_of[prop_allocation_pools.q]
      and some p.prop_start and some p.prop_end and some q.prop_start and some q.prop_end
      and ip_version_of[p.prop_start] = ip_version_of[q.prop_start])
    implies (precedes[p.prop_end, q.prop_start] or precedes[q.prop_end, p.prop_start])
}

/** HOT204 error: the gateway of a subnet is in none of its allocation pools
 * message: the gateway `{g}` of `{s}` is in the allocation pool `{p.prop_start}` to `{p.prop_end}`
 * at: p "has the gateway `{g}`"
 * also: s.prop_gateway_ip
 * also: s
 * help: leave `{g}` out of the pool, or set another `gateway_ip`
 * why: Neutron refuses the subnet. Without `gateway_ip` the gateway is the first address of the block.
 * source: RR-9317, section 7.1.4
 */
assert GatewayIsInNoPool {
  all s: OS_Neutron_Subnet, p: s.prop_allocation_pools, g: gateway[s] |
    (address[g] and address[p.prop_start] and address[p.prop_end]) implies
      (precedes[g, p.prop_start] or precedes[p.prop_end, g])
}

/** HOT204 error: the gateway of a subnet is an address that a host can have
 * message: the gateway `{g}` is the network or broadcast address of `{s.prop_cidr}`
 * at: s.prop_gateway_ip "not for hosts"
 * also: s.prop_cidr
 * help: use another address of `{s.prop_cidr}`
 * why: Neutron refuses the subnet.
 * source: ours
 */
assert GatewayIsAHost {
  all s: OS_Neutron_Subnet, g: s.prop_gateway_ip |
    not network_address[s.prop_cidr, g] and not broadcast_address[s.prop_cidr, g]
}

/** HOT204 warning: the gateway of a subnet is in its block
 * message: the gateway `{g}` is outside the block `{s.prop_cidr}` of `{s}`
 * at: s.prop_gateway_ip "outside the block"
 * also: s.prop_cidr
 * help: use an address of `{s.prop_cidr}`
 * why: Neutron accepts it, and hosts cannot reach the gateway without a route of their own.
 * source: ours
 */
assert GatewayIsInTheBlock {
  all s: OS_Neutron_Subnet, g: s.prop_gateway_ip |
    (address[g] and cidr[s.prop_cidr]) implies contains[s.prop_cidr, g]
}

/** HOT205 error: a subnet from a pool asks for a prefix that the pool gives
 * message: the prefix length `{l}` of `{s}` is not between the `{p.prop_min_prefixlen}` and `{p.prop_max_prefixlen}` of the pool `{p}`
 * at: s.prop_prefixlen "not given by the pool"
 * also: p "this pool"
 * help: choose a prefix length between those of the pool; without `min_prefixlen` it is 8, or 64 for IPv6
 * why: Neutron refuses the subnet.
 * source: RR-9317, section 7.1.4
 */
assert PrefixFitsThePool {
  all s: OS_Neutron_Subnet, p: s.prop_subnetpool & OS_Neutron_SubnetPool, l: s.prop_prefixlen |
    not less[l, p.prop_min_prefixlen] and not less[p.prop_max_prefixlen, l]
    and ((no p.prop_min_prefixlen and v4[p.prop_prefixes]) implies not less[l, 8])
    and ((no p.prop_min_prefixlen and v6[p.prop_prefixes]) implies not less[l, 64])
}

/** HOT206 error: the two modes of an IPv6 subnet are equal
 * message: `ipv6_ra_mode` `{s.prop_ipv6_ra_mode}` and `ipv6_address_mode` `{s.prop_ipv6_address_mode}` of `{s}` differ
 * at: s.prop_ipv6_address_mode
 * also: s.prop_ipv6_ra_mode
 * help: give both the same value, or only one of them
 * why: Neutron refuses the subnet.
 * source: RR-9317, section 7.1.4
 */
assert ModesAreEqual {
  all s: OS_Neutron_Subnet | (some s.prop_ipv6_ra_mode and some s.prop_ipv6_address_mode) implies
    s.prop_ipv6_ra_mode = s.prop_ipv6_address_mode
}

/** HOT206 error: a subnet of IPv4 has no IPv6 mode
 * message: `{s}` is a subnet of IPv4 and has an IPv6 mode
 * at: s.prop_ipv6_ra_mode
 * also: s.prop_ipv6_address_mode
 * also: s
 * help: set `ip_version: 6`, or remove the mode
 * why: Neutron refuses the subnet. Without `ip_version` a subnet is of IPv4.
 * source: RR-9317, section 7.1.4
 */
assert ModesAreForIpv6 {
  all s: OS_Neutron_Subnet | s.prop_ip_version = 4 implies
    no s.prop_ipv6_ra_mode + s.prop_ipv6_address_mode
}

/** HOT207 error: a subnet has a block or a pool to get one from
 * message: `{s}` has neither `cidr` nor `subnetpool`
 * at: s "no addresses"
 * help: add `cidr`, such as `cidr: 10.0.0.0/24`
 * why: Neutron refuses a subnet without addresses.
 * source: RR-9317, section 7.1.4
 */
assert SubnetHasAddresses { all s: OS_Neutron_Subnet | some s.prop_cidr + s.prop_subnetpool }

/** HOT207 error: a subnet has not both a block and a pool
 * message: `{s}` has both `cidr` and `subnetpool`
 * at: s.prop_subnetpool
 * also: s.prop_cidr
 * help: remove one of the two
 * why: Heat refuses the subnet.
 * source: RR-9317, section 7.1.4
 */
assert BlockOrPool { all s: OS_Neutron_Subnet | no s.prop_cidr or no s.prop_subnetpool }

/** HOT207 error: a subnet with a block has no prefix length
 * message: `{s}` has both `cidr` and `prefixlen`
 * at: s.prop_prefixlen "part of the block already"
 * also: s.prop_cidr
 * help: remove `prefixlen`
 * why: Heat refuses the subnet.
 * source: RR-9317, section 7.1.4
 */
assert BlockHasItsPrefix { all s: OS_Neutron_Subnet | no s.prop_cidr or no s.prop_prefixlen }

/** HOT207 error: a subnet from a pool has no allocation pools
 * message: `{s}` gets its block from a pool and has `allocation_pools`
 * at: s.prop_allocation_pools
 * also: s.prop_subnetpool
 * help: remove `allocation_pools`, or give a `cidr`
 * why: The block is not known before Neutron has chosen it; Neutron refuses the subnet.
 * source: RR-9317, section 7.1.4
 */
assert NoPoolsInAPool {
  all s: OS_Neutron_Subnet | no s.prop_subnetpool or no s.prop_allocation_pools
}

/** HOT208 error: subnets of one network do not overlap
 * message: `{s}` and `{t}` are on one network and their blocks `{s.prop_cidr}` and `{t.prop_cidr}` overlap
 * at: t.prop_cidr "overlaps"
 * also: s.prop_cidr "with this block"
 * help: give them disjoint blocks
 * why: Neutron refuses the second subnet.
 * source: RR-9317, section 7.2.3, figure 9
 */
assert SubnetsAreDisjoint {
  all disj s, t: OS_Neutron_Subnet | some s.prop_network & t.prop_network implies
    not overlaps[s.prop_cidr, t.prop_cidr]
}

/** HOT208 error: the version of a subnet is that of its block
 * message: `{s}` is of IP version `{s.prop_ip_version}` and its block `{s.prop_cidr}` is not
 * at: s.prop_cidr
 * also: s.prop_ip_version
 * help: set `ip_version` to that of the block; without it, it is 4
 * why: Neutron refuses the subnet.
 * source: ours
 */
assert VersionIsThatOfTheBlock {
  all s: OS_Neutron_Subnet | cidr[s.prop_cidr] implies s.prop_ip_version = ip_version_of[s.prop_cidr]
}

/** HOT235 error: the prefixes of a pool of IPv4 are not of length 0
 * message: the `min_prefixlen` of `{p}` is 0
 * at: p.prop_min_prefixlen
 * help: use 1 or more
 * why: Neutron refuses the pool.
 * source: RR-9317, section 7.1.4
 */
assert PoolPrefixIsPositive {
  all p: OS_Neutron_SubnetPool | v4[p.prop_prefixes] implies not less[p.prop_min_prefixlen, 1]
}

/** HOT235 error: the least prefix length of a pool is not above the greatest
 * message: `min_prefixlen` `{p.prop_min_prefixlen}` of `{p}` is above `max_prefixlen` `{p.prop_max_prefixlen}`
 * at: p.prop_min_prefixlen
 * also: p.prop_max_prefixlen
 * help: swap the two
 * why: Neutron refuses the pool.
 * source: RR-9317, section 7.1.4
 */
assert PoolPrefixesAreOrdered {
  all p: OS_Neutron_SubnetPool | not less[p.prop_max_prefixlen, p.prop_min_prefixlen]
}

/** HOT235 error: the default prefix length of a pool is one that it gives
 * message: `default_prefixlen` `{p.prop_default_prefixlen}` of `{p}` is not between its least and greatest
 * at: p.prop_default_prefixlen
 * also: p.prop_min_prefixlen
 * also: p.prop_max_prefixlen
 * help: choose one between the two
 * why: Neutron refuses the pool.
 * source: RR-9317, section 7.1.4
 */
assert PoolDefaultIsGiven {
  all p: OS_Neutron_SubnetPool |
    not less[p.prop_default_prefixlen, p.prop_min_prefixlen]
    and not less[p.prop_max_prefixlen, p.prop_default_prefixlen]
}

/** HOT235 error: pools of one address scope do not overlap
 * message: the pools `{p}` and `{q}` of the address scope `{p.prop_address_scope}` overlap
 * at: q.prop_prefixes
 * also: p.prop_prefixes
 * help: give them disjoint prefixes
 * why: Neutron refuses the second pool.
 * source: RR-9317, section 7.1.4
 */
assert PoolsOfAScopeAreDisjoint {
  all disj p, q: OS_Neutron_SubnetPool | some p.prop_address_scope & q.prop_address_scope implies
    not overlaps[p.prop_prefixes, q.prop_prefixes]
}
