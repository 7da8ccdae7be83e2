/** Rules about the rules of security groups, in a group or as resources of their own. */
module hot/security_group

open hot/vocabulary
open values

fun rules: set univ { OS_Neutron_SecurityGroup_rules + OS_Neutron_SecurityGroupRule }

fun protocol[r: univ]: set univ {
  (r & OS_Neutron_SecurityGroup_rules).prop_protocol + (r & OS_Neutron_SecurityGroupRule).prop_protocol
}

fun least[r: univ]: set univ {
  (r & OS_Neutron_SecurityGroup_rules).prop_port_range_min + (r & OS_Neutron_SecurityGroupRule).prop_port_range_min
}

fun greatest[r: univ]: set univ {
  (r & OS_Neutron_SecurityGroup_rules).prop_port_range_max + (r & OS_Neutron_SecurityGroupRule).prop_port_range_max
}

fun ethertype[r: univ]: set univ {
  (r & OS_Neutron_SecurityGroup_rules).prop_ethertype + (r & OS_Neutron_SecurityGroupRule).prop_ethertype
}

fun prefix[r: univ]: set univ {
  (r & OS_Neutron_SecurityGroup_rules).prop_remote_ip_prefix + (r & OS_Neutron_SecurityGroupRule).prop_remote_ip_prefix
}

/** Protocols with ports, by name and number. */
fun with_ports: set univ {
  "tcp" + "udp" + "udplite" + "sctp" + "dccp" + "6" + "17" + "136" + "132" + "33" + 6 + 17 + 136 + 132 + 33
}

/** TCP and UDP. */
fun tcp_udp: set univ { "tcp" + "udp" + "6" + "17" + 6 + 17 }

/** ICMP of both versions, where a range is a type and a code. */
fun icmp: set univ {
  "icmp" + "icmpv6" + "icmp-v6" + "ipv6-icmp" + "1" + "58" + 1 + 58
}

/** Protocols of IPv6 only. */
fun of_ipv6: set univ {
  "icmpv6" + "icmp-v6" + "ipv6-icmp" + "ipv6-encap" + "ipv6-frag" + "ipv6-nonxt" + "ipv6-opts" + "ipv6-route"
}

/** HOT105 invalid-port-range error: a port range ends before it starts
 * message: the port range ends at `{r.prop_port_range_max}`, before its start `{r.prop_port_range_min}`
 * at: r.prop_port_range_max "below the start"
 * also: r.prop_port_range_min "starts here"
 * help: swap `port_range_min` and `port_range_max`
 * fix: unsafe replace r.prop_port_range_max with `{r.prop_port_range_min}`; replace r.prop_port_range_min with `{r.prop_port_range_max}`
 * why: Neutron refuses the rule.
 * source: HOT specification, OS::Neutron::SecurityGroup
 */
assert RangesAreOrdered {
  all r: rules | protocol[r] in with_ports and some protocol[r] implies not less[greatest[r], least[r]]
}

/** HOT105 invalid-port-range error: an ICMP type or code is not between 0 and 255
 * message: `{v}` is not a valid ICMP type or code
 * at: r.prop_port_range_max
 * also: r.prop_port_range_min
 * help: use a number between 0 and 255
 * why: Neutron refuses the rule.
 * source: HOT specification, OS::Neutron::SecurityGroup
 */
assert IcmpTypesAreBytes {
  all r: rules, v: least[r] + greatest[r] | some protocol[r] & icmp implies not less[255, v] and not less[v, 0]
}

/** HOT213 port-range-protocol error: a protocol without ports has a port range
 * message: protocol `{r.prop_protocol}` has no ports, so the rule cannot have a port range
 * at: r.prop_port_range_min
 * also: r.prop_port_range_max
 * also: r.prop_protocol
 * help: remove the range, or use `tcp` or `udp`
 * why: Neutron refuses the rule.
 * source: RR-9317, section 7.1.4
 */
assert RangesNeedPorts {
  all r: rules | (some protocol[r] and some least[r] + greatest[r]) implies protocol[r] in with_ports + icmp
}

/** HOT213 port-range-protocol error: a port range has no protocol
 * message: the rule has a port range but no protocol
 * at: r.prop_port_range_min
 * also: r.prop_port_range_max
 * help: add `protocol`
 * why: Neutron refuses the rule.
 * source: RR-9317, section 7.1.4
 */
assert RangesNeedAProtocol { all r: rules | some least[r] + greatest[r] implies some protocol[r] }

/** HOT213 port-range-protocol error: a TCP or UDP port range has only one end
 * message: the port range has only one end
 * at: r.prop_port_range_min
 * also: r.prop_port_range_max
 * help: set both `port_range_min` and `port_range_max`
 * why: Neutron refuses the rule.
 * source: ours
 */
assert RangesHaveBothEnds {
  all r: rules | some protocol[r] & tcp_udp implies (some least[r] iff some greatest[r])
}

/** HOT213 port-range-protocol error: a TCP or UDP port is below 1
 * message: `{v}` is not a valid port
 * at: r.prop_port_range_min
 * also: r.prop_port_range_max
 * help: start at 1
 * why: Neutron refuses the rule.
 * source: ours
 */
assert PortsArePositive {
  all r: rules, v: least[r] + greatest[r] | some protocol[r] & tcp_udp implies not less[v, 1]
}

/** HOT213 port-range-protocol error: an ICMP code has no type
 * message: the rule has an ICMP code (`port_range_max`) but no type (`port_range_min`)
 * at: r.prop_port_range_max "code without a type"
 * help: add the type as `port_range_min`
 * why: Neutron refuses the rule.
 * source: RR-9317, section 7.1.4
 */
assert IcmpCodesHaveAType {
  all r: rules | (some protocol[r] & icmp and some greatest[r]) implies some least[r]
}

/** HOT214 ethertype-mismatch error: an IPv4 rule uses an IPv6 protocol
 * message: protocol `{r.prop_protocol}` is for IPv6, but the rule is for IPv4
 * at: r.prop_protocol "for IPv6"
 * also: r.prop_ethertype "for IPv4"
 * help: set `ethertype: IPv6`, or use `icmp`; without `ethertype` a rule is for IPv4
 * why: Neutron refuses the rule.
 * source: RR-9317, sections 7.1.4 and 7.2.3, figure 11
 */
assert ProtocolFitsTheEthertype { all r: rules | ethertype[r] = "IPv4" implies no protocol[r] & of_ipv6 }

/** HOT214 ethertype-mismatch error: the remote prefix of a rule has the wrong IP version
 * message: the prefix `{r.prop_remote_ip_prefix}` is not an `{r.prop_ethertype}` prefix
 * at: r.prop_remote_ip_prefix
 * also: r.prop_ethertype
 * help: set `ethertype` to the version of the prefix; without it, the rule is for IPv4
 * why: Neutron refuses the rule.
 * source: RR-9317, section 7.2.3, figure 11
 */
assert PrefixFitsTheEthertype {
  all r: rules | (ethertype[r] = "IPv4" implies not v6[prefix[r]])
    and (ethertype[r] = "IPv6" implies not v4[prefix[r]])
}
