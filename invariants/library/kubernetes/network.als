/** Rules about policies of the network. */
module kubernetes/network

open kubernetes/vocabulary
open kubernetes/cluster

/** K8S200 policy-allows-nothing warning: a NetworkPolicy has rules, and none of them allows anything
 * message: no rule of NetworkPolicy `{n}` lets anything through
 * at: n "denies everything"
 * help: compare the labels and port names of its rules with those of the pods; leave the rules out if it is meant to deny everything
 * why: Each rule names pods or ports that are not there. The pods are isolated, and those who are meant to connect cannot.
 * source: Kubernetes documentation, network policies
 */
assert PoliciesWithRulesAllowSomething {
  all n: NetworkPolicy | complete implies n.allows != False
}

/** K8S201 rule-never-asked warning: earlier rules decide all that a rule of a policy is about
 * message: this {r.side} rule of `{r.policy}` decides nothing: earlier rules decide all of it
 * at: r "never asked"
 * also: r.covered_by "decides all of it"
 * help: move it before the rules that hide it, give its policy a lower `priority`, or remove it
 * why: Rules of the admin and baseline tiers are asked in the order of priorities, and then as they are written; the first that matches decides.
 * source: network-policy-api, AdminNetworkPolicy
 */
assert RulesAreAsked {
  all r: TrafficRule | (complete and r.tier != "network") implies r.counts = True
}

/** K8S202 rule-allowed-anyway info: another rule allows all that a rule of a NetworkPolicy allows
 * message: another rule allows all that this {r.side} rule of `{r.policy}` allows
 * at: r "changes nothing"
 * also: r.covered_by "allows all of it"
 * help: remove it, or narrow the other rule
 * why: NetworkPolicies add up, so a rule beside a wider one has no effect. Often the wider one was left behind.
 * source: Kubernetes documentation, network policies
 */
assert RulesAllowSomethingMore {
  all r: TrafficRule | r.tier = "network" implies r.counts = True
}

/** K8S203 peer-not-found info: a rule of a policy names pods of other namespaces that are not there
 * message: no pods among the files match this peer of `{p.peer_of}`
 * at: p "matches nothing"
 * help: compare the labels with those of the namespaces and pods that are meant
 * default: off
 * why: Those who are meant to connect cannot, unless they are deployed from elsewhere.
 * source: ours
 */
assert PeersAreThere {
  all p: TrafficPeer | (complete and p.elsewhere = True) implies p.matches = True
}

/** K8S204 policy-port-not-listed warning: a policy names a port that no container lists
 * message: no container that this rule of `{p.port_of}` is about lists a port called `{p}`
 * at: p "no such port"
 * help: name the port under `ports` of the container, or use its number
 * why: A port that nothing is called lets nothing through.
 * source: Kubernetes documentation, network policies
 */
assert PortsOfPoliciesAreListed {
  all p: TrafficPort | complete implies p.listed = True
}

/** K8S205 same-priority error: two policies of a tier have the same priority
 * message: `{t.tied}` has the priority of `{t.tied_with}`
 * at: t.tied "same priority"
 * also: t.tied_with "same priority"
 * help: give each its own `priority`
 * why: Which of them is asked first is not defined, and may change.
 * source: network-policy-api, AdminNetworkPolicy, priority
 */
assert PrioritiesDiffer {
  all t: PolicyTie | no t.tied
}

/** K8S206 blocked-backend warning: policies block what an Ingress or route leads to
 * message: NetworkPolicies let nothing of `{f.forwarded_by}` through to its pods
 * at: f "blocked"
 * also: f.blockers "a policy of these pods"
 * help: allow the ingress controller to connect to them
 * why: Requests from outside end in a timeout.
 * source: ours
 */
assert BackendsAreReached {
  all f: Forward | complete implies f.blocked = False
}

/** K8S207 service-cut-off warning: policies let nobody connect to the pods of a Service
 * message: NetworkPolicies let nobody connect to the pods of Service `{s}`
 * at: s "nobody can use it"
 * help: allow those who are to use it, or remove the Service
 * why: The pods are isolated, and no rule allows a connection on the ports of the Service.
 * source: ours
 */
assert ServicesAreReached {
  all s: Service | complete implies s.cut_off = False
}

/** K8S208 admin-policy-without-pods warning: an admin policy of the network is about no pods
 * message: `{i.idle}` is about no pods
 * at: i "matches nothing"
 * help: compare the labels with those of the namespaces and pods that are meant
 * why: What it is meant to allow or deny is left to other policies.
 * source: network-policy-api, AdminNetworkPolicy
 */
assert AdminPoliciesHaveSubjects {
  all i: IdlePolicy | complete implies no i.idle
}

/** K8S209 left-out-of-isolation info: some pods of a namespace are isolated, and these are not
 * message: no NetworkPolicy selects the pods of `{w}`, though others of its namespace are isolated
 * at: w "everything may connect to them"
 * help: add a NetworkPolicy that selects them, or one with an empty `podSelector` for the whole namespace
 * why: Whoever isolates some of the pods seldom means the others to be open to everything. If a policy there selects no pods, K8S011 says that instead.
 * source: ours
 */
assert NobodyIsLeftOut {
  all w: Workload |
    (complete and w.host_network = False
      and (some v: Workload & namespace.(w.namespace) | v.isolated = True)
      and (no n: NetworkPolicy & namespace.(w.namespace), x: owner.n & PolicySelector | no x.selected))
      implies w.isolated = True
}
