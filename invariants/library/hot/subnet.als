/** Rules about subnets, their addresses and the pools they come from. */
module hot/subnet

open hot/vocabulary
open hot/neutron
open values

/** The gateway that a subnet gets: the one given, or the first address of its block. */
fun gateway[s: OS_Neutron_Subnet]: set univ {
  some s.prop_gateway_ip => s.prop_gateway_ip else first_host_of[s.prop_cidr]
}

/** HOT202 invalid-allocation-pool error: an allocation pool ends before it starts
 * message: the allocation pool of subnet `{s}` ends at `{p.prop_end}`, before its start `{p.prop_start}`
 * at: p.prop_end "before the start"
 * also: p.prop_start "starts here"
 * help: swap `start` and `end`
 * fix: unsafe replace p.prop_end with `{p.prop_start}`; replace p.prop_start with `{p.prop_end}`
 * why: Neutron refuses the subnet.
 * source: RR-9317, section 7.1.4
 */
assert PoolsAreOrdered {
  all s: OS_Neutron_Subnet, p: s.prop_allocation_pools | not precedes[p.prop_end, p.prop_start]
}

/** HOT202 invalid-allocation-pool error: an allocation pool starts outside its subnet
 * message: `{a}` is outside subnet `{s}` (`{s.prop_cidr}`)
 * at: p.prop_start
 * also: s.prop_cidr "not in this range"
 * help: choose addresses in `{s.prop_cidr}`
 * why: Neutron refuses the subnet.
 * source: RR-9317, sections 7.1.4 and 7.2.3
 */
assert PoolsStartInTheBlock {
  all s: OS_Neutron_Subnet, p: s.prop_allocation_pools, a: p.prop_start |
    (address[a] and cidr[s.prop_cidr]) implies contains[s.prop_cidr, a]
}

/** HOT202 invalid-allocation-pool error: an allocation pool ends outside its subnet
 * message: `{a}` is outside subnet `{s}` (`{s.prop_cidr}`)
 * at: p.prop_end
 * also: s.prop_cidr "not in this range"
 * help: choose addresses in `{s.prop_cidr}`
 * why: Neutron refuses the subnet.
 * source: RR-9317, sections 7.1.4 and 7.2.3
 */
assert PoolsEndInTheBlock {
  all s: OS_Neutron_Subnet, p: s.prop_allocation_pools, a: p.prop_end |
    (address[a] and cidr[s.prop_cidr]) implies contains[s.prop_cidr, a]
}

/** HOT202 invalid-allocation-pool error: an allocation pool starts at the network or broadcast address
 * message: `{a}` is the network or broadcast address of `{s.prop_cidr}`
 * at: p.prop_start
 * also: s.prop_cidr
 * help: start one address later
 * why: Neutron refuses a pool with an address that no host can use.
 * source: RR-9317, section 7.1.4
 */
assert PoolsStartAtAHost {
  all s: OS_Neutron_Subnet, p: s.prop_allocation_pools, a: p.prop_start |
    not network_address[s.prop_cidr, a] and not broadcast_address[s.prop_cidr, a]
}

/** HOT202 invalid-allocation-pool error: an allocation pool ends at the network or broadcast address
 * message: `{a}` is the network or broadcast address of `{s.prop_cidr}`
 * at: p.prop_end
 * also: s.prop_cidr
 * help: end one address earlier
 * why: Neutron refuses a pool with an address that no host can use.
 * source: RR-9317, section 7.1.4
 */
assert PoolsEndAtAHost {
  all s: OS_Neutron_Subnet, p: s.prop_allocation_pools, a: p.prop_end |
    not network_address[s.prop_cidr, a] and not broadcast_address[s.prop_cidr, a]
}

/** HOT203 overlapping-allocation-pools error: allocation pools overlap
 * message: the allocation pools `{p.prop_start}` to `{p.prop_end}` and `{q.prop_start}` to `{q.prop_end}` overlap
 * at: q "overlaps"
 * also: p "with this pool"
 * help: use separate ranges
 * why: Neutron refuses overlapping pools in a subnet, and a network cannot hand out an address twice.
 * source: RR-9317, section 7.1.4
 */
assert PoolsAreDisjoint {
  all disj p, q: OS_Neutron_Subnet_allocation_pools |
    (some network_of[prop_allocation_pools.p] & network_of[prop_allocation_pools.q]
      and some p.prop_start and some p.prop_end and some q.prop_start and some q.prop_end
      and ip_version_of[p.prop_start] = ip_version_of[q.prop_start])
    implies (precedes[p.prop_end, q.prop_start] or precedes[q.prop_end, p.prop_start])
}

/** HOT204 invalid-gateway error: the gateway of a subnet is in an allocation pool
 * message: the gateway `{g}` of subnet `{s}` is in the allocation pool `{p.prop_start}` to `{p.prop_end}`
 * at: p "contains the gateway `{g}`"
 * also: s.prop_gateway_ip
 * also: s
 * help: leave `{g}` out of the pool, or set another `gateway_ip`
 * why: Neutron refuses the subnet. Without `gateway_ip`, the gateway is the first address of the subnet.
 * source: RR-9317, section 7.1.4
 */
assert GatewayIsInNoPool {
  all s: OS_Neutron_Subnet, p: s.prop_allocation_pools, g: gateway[s] |
    (address[g] and address[p.prop_start] and address[p.prop_end]) implies
      (precedes[g, p.prop_start] or precedes[p.prop_end, g])
}

/** HOT204 invalid-gateway error: the gateway of a subnet is its network or broadcast address
 * message: the gateway `{g}` is the network or broadcast address of `{s.prop_cidr}`
 * at: s.prop_gateway_ip "not usable by hosts"
 * also: s.prop_cidr
 * help: use another address of `{s.prop_cidr}`
 * why: Neutron refuses the subnet.
 * source: ours
 */
assert GatewayIsAHost {
  all s: OS_Neutron_Subnet, g: s.prop_gateway_ip |
    not network_address[s.prop_cidr, g] and not broadcast_address[s.prop_cidr, g]
}

/** HOT204 invalid-gateway warning: the gateway of a subnet is outside the subnet
 * message: the gateway `{g}` is outside subnet `{s}` (`{s.prop_cidr}`)
 * at: s.prop_gateway_ip "outside the subnet"
 * also: s.prop_cidr
 * help: use an address in `{s.prop_cidr}`
 * why: Neutron accepts this, but hosts cannot reach the gateway without a route of their own.
 * source: ours
 */
assert GatewayIsInTheBlock {
  all s: OS_Neutron_Subnet, g: s.prop_gateway_ip |
    (address[g] and cidr[s.prop_cidr]) implies contains[s.prop_cidr, g]
}

/** HOT205 prefix-outside-pool error: a subnet asks for a prefix length that its pool does not offer
 * message: the prefix length `{l}` of subnet `{s}` is not between `{p.prop_min_prefixlen}` and `{p.prop_max_prefixlen}`, as its pool `{p}` requires
 * at: s.prop_prefixlen "not offered by the pool"
 * also: p "this pool"
 * help: choose a prefix length that the pool offers; the default `min_prefixlen` is 8, or 64 for IPv6
 * why: Neutron refuses the subnet.
 * source: RR-9317, section 7.1.4
 */
assert PrefixFitsThePool {
  all s: OS_Neutron_Subnet, p: s.prop_subnetpool & OS_Neutron_SubnetPool, l: s.prop_prefixlen |
    not less[l, p.prop_min_prefixlen] and not less[p.prop_max_prefixlen, l]
    and ((no p.prop_min_prefixlen and v4[p.prop_prefixes]) implies not less[l, 8])
    and ((no p.prop_min_prefixlen and v6[p.prop_prefixes]) implies not less[l, 64])
}

/** HOT206 ipv6-mode-mismatch error: the two IPv6 modes of a subnet differ
 * message: the IPv6 modes of subnet `{s}` differ: `ipv6_ra_mode` is `{s.prop_ipv6_ra_mode}`, `ipv6_address_mode` is `{s.prop_ipv6_address_mode}`
 * at: s.prop_ipv6_address_mode
 * also: s.prop_ipv6_ra_mode
 * help: set both to the same value, or only one of them
 * fix: unsafe replace s.prop_ipv6_address_mode with `{s.prop_ipv6_ra_mode}`
 * why: Neutron refuses the subnet.
 * source: RR-9317, section 7.1.4
 */
assert ModesAreEqual {
  all s: OS_Neutron_Subnet | (some s.prop_ipv6_ra_mode and some s.prop_ipv6_address_mode) implies
    s.prop_ipv6_ra_mode = s.prop_ipv6_address_mode
}

/** HOT206 ipv6-mode-mismatch error: an IPv4 subnet has an IPv6 mode
 * message: subnet `{s}` is an IPv4 subnet but has an IPv6 mode
 * at: s.prop_ipv6_ra_mode
 * also: s.prop_ipv6_address_mode
 * also: s
 * help: set `ip_version: 6`, or remove the mode
 * why: Neutron refuses the subnet. Without `ip_version`, a subnet is IPv4.
 * source: RR-9317, section 7.1.4
 */
assert ModesAreForIpv6 {
  all s: OS_Neutron_Subnet | s.prop_ip_version = 4 implies
    no s.prop_ipv6_ra_mode + s.prop_ipv6_address_mode
}

/** HOT207 invalid-subnet-source error: a subnet has neither a CIDR nor a pool
 * message: subnet `{s}` has neither `cidr` nor `subnetpool`
 * at: s "no addresses"
 * help: add `cidr`, such as `cidr: 10.0.0.0/24`
 * why: Neutron refuses a subnet without addresses.
 * source: RR-9317, section 7.1.4
 */
assert SubnetHasAddresses { all s: OS_Neutron_Subnet | some s.prop_cidr + s.prop_subnetpool }

/** HOT207 invalid-subnet-source error: a subnet has both a CIDR and a pool
 * message: subnet `{s}` has both `cidr` and `subnetpool`
 * at: s.prop_subnetpool
 * also: s.prop_cidr
 * help: remove one of the two
 * why: Heat refuses the subnet.
 * source: RR-9317, section 7.1.4
 */
assert BlockOrPool { all s: OS_Neutron_Subnet | no s.prop_cidr or no s.prop_subnetpool }

/** HOT207 invalid-subnet-source error: a subnet has both a CIDR and a prefix length
 * message: subnet `{s}` has both `cidr` and `prefixlen`
 * at: s.prop_prefixlen "already part of `cidr`"
 * also: s.prop_cidr
 * help: remove `prefixlen`
 * fix: unsafe remove s.prop_prefixlen
 * why: Heat refuses the subnet.
 * source: RR-9317, section 7.1.4
 */
assert BlockHasItsPrefix { all s: OS_Neutron_Subnet | no s.prop_cidr or no s.prop_prefixlen }

/** HOT207 invalid-subnet-source error: a subnet from a pool has allocation pools
 * message: subnet `{s}` gets its range from a subnet pool, so it cannot have `allocation_pools`
 * at: s.prop_allocation_pools
 * also: s.prop_subnetpool
 * help: remove `allocation_pools`, or set `cidr`
 * fix: unsafe remove s.prop_allocation_pools
 * why: Neutron refuses the subnet: its range is not known until Neutron has chosen it.
 * source: RR-9317, section 7.1.4
 */
assert NoPoolsInAPool {
  all s: OS_Neutron_Subnet | no s.prop_subnetpool or no s.prop_allocation_pools
}

/** HOT208 conflicting-cidr error: subnets of a network overlap
 * message: the subnets `{s}` and `{t}` of one network overlap: `{s.prop_cidr}` and `{t.prop_cidr}`
 * at: t.prop_cidr "overlaps"
 * also: s.prop_cidr "with this range"
 * help: give them separate address ranges
 * why: Neutron refuses the second subnet.
 * source: RR-9317, section 7.2.3, figure 9
 */
assert SubnetsAreDisjoint {
  all disj s, t: OS_Neutron_Subnet | some s.prop_network & t.prop_network implies
    not overlaps[s.prop_cidr, t.prop_cidr]
}

/** HOT208 conflicting-cidr error: the IP version of a subnet does not match its CIDR
 * message: subnet `{s}` has `ip_version: {s.prop_ip_version}`, but its CIDR is `{s.prop_cidr}`
 * at: s.prop_cidr
 * also: s.prop_ip_version
 * help: set `ip_version` to that of the CIDR; the default is 4
 * why: Neutron refuses the subnet.
 * source: ours
 */
assert VersionIsThatOfTheBlock {
  all s: OS_Neutron_Subnet | cidr[s.prop_cidr] implies s.prop_ip_version = ip_version_of[s.prop_cidr]
}

/** HOT235 invalid-subnet-pool error: the minimum prefix length of an IPv4 subnet pool is zero
 * message: the `min_prefixlen` of subnet pool `{p}` is 0
 * at: p.prop_min_prefixlen
 * help: use 1 or more
 * why: Neutron refuses the pool.
 * source: RR-9317, section 7.1.4
 */
assert PoolPrefixIsPositive {
  all p: OS_Neutron_SubnetPool | v4[p.prop_prefixes] implies not less[p.prop_min_prefixlen, 1]
}

/** HOT235 invalid-subnet-pool error: the minimum prefix length of a subnet pool is above the maximum
 * message: `min_prefixlen` (`{p.prop_min_prefixlen}`) of subnet pool `{p}` is above `max_prefixlen` (`{p.prop_max_prefixlen}`)
 * at: p.prop_min_prefixlen
 * also: p.prop_max_prefixlen
 * help: swap the two
 * fix: unsafe replace p.prop_min_prefixlen with `{p.prop_max_prefixlen}`; replace p.prop_max_prefixlen with `{p.prop_min_prefixlen}`
 * why: Neutron refuses the pool.
 * source: RR-9317, section 7.1.4
 */
assert PoolPrefixesAreOrdered {
  all p: OS_Neutron_SubnetPool | not less[p.prop_max_prefixlen, p.prop_min_prefixlen]
}

/** HOT235 invalid-subnet-pool error: the default prefix length of a subnet pool is out of range
 * message: `default_prefixlen` (`{p.prop_default_prefixlen}`) of subnet pool `{p}` is not between its minimum and maximum
 * at: p.prop_default_prefixlen
 * also: p.prop_min_prefixlen
 * also: p.prop_max_prefixlen
 * help: choose a value between the two
 * why: Neutron refuses the pool.
 * source: RR-9317, section 7.1.4
 */
assert PoolDefaultIsGiven {
  all p: OS_Neutron_SubnetPool |
    not less[p.prop_default_prefixlen, p.prop_min_prefixlen]
    and not less[p.prop_max_prefixlen, p.prop_default_prefixlen]
}

/** HOT235 invalid-subnet-pool error: subnet pools of an address scope overlap
 * message: the subnet pools `{p}` and `{q}` of address scope `{p.prop_address_scope}` overlap
 * at: q.prop_prefixes
 * also: p.prop_prefixes
 * help: give them separate prefixes
 * why: Neutron refuses the second pool.
 * source: RR-9317, section 7.1.4
 */
assert PoolsOfAScopeAreDisjoint {
  all disj p, q: OS_Neutron_SubnetPool | some p.prop_address_scope & q.prop_address_scope implies
    not overlaps[p.prop_prefixes, q.prop_prefixes]
}
