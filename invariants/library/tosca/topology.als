/** Rules about the parts of a topology as a whole. */
module tosca/topology

open tosca/vocabulary
open values

/** TOSCA020 hosting-cycle error: nodes are hosted on each other in a cycle
 * message: `{n}` is hosted on itself: {chain n by hosts}
 * at: n.hosts "leads back to `{n}`"
 * help: let one of them be hosted on another node
 * why: A node is created after its host, so none of them can be created first.
 * source: TOSCA 1.3, 5.7.4 (`HostedOn`) and 7.2, the order of deployment
 */
assert HostingIsAcyclic {
  // Of a circle, the node that is written first.
  all n: Node | n in n.^hosts implies some m: n.^hosts & ^hosts.n | written_before[m, n]
}

/** TOSCA021 unused-input warning: an input is not used
 * message: nothing uses the input `{i}`
 * at: i "is not used"
 * help: use it with `get_input`, or remove it
 * why: Whoever deploys the service is asked for a value that has no effect; often a name is misspelt where it should be used.
 * source: TOSCA 1.3, 3.9.2; TOSCA 2.0, 6.9
 */
assert InputsAreUsed {
  all i: Input | i.used = True
}

/** TOSCA022 member-of-wrong-type error: a member of a group is not of a type that the group takes
 * message: `{m}` cannot be a member of the group `{g}`
 * at: m "is not of a type that it takes"
 * also: g "takes `{g.type.members}`"
 * help: remove it, or use a group type that takes it
 * why: The group type lists the node types of its members.
 * source: TOSCA 1.3, 3.7.11 (`members`); TOSCA 2.0, 16.1
 */
assert MembersAreOfTheirGroupsTypes {
  all m: Membership, g: m.whole & Group |
    (some g.type.members and some m.type) implies some g.type.members & m.type.is
}

/** TOSCA023 policy-target-of-wrong-type error: a target of a policy is not of a type that the policy is for
 * message: the policy `{p}` cannot be applied to `{m}`
 * at: m "is not of a type that it is for"
 * also: p "is for `{p.type.members}`"
 * help: remove it, or use a policy type that is for it
 * why: The policy type lists the types of its targets.
 * source: TOSCA 1.3, 3.7.12 (`targets`); TOSCA 2.0, 16.3
 */
assert TargetsAreOfTheirPoliciesTypes {
  all m: Membership, p: m.whole & Policy |
    (some p.type.members and some m.type) implies some p.type.members & m.type.is
}

/** TOSCA024 workflow-never-ends error: steps of a workflow follow each other in a cycle
 * message: the step `{s}` of the workflow `{s.workflow}` follows itself: {chain s by next}
 * at: s "leads back to itself"
 * help: remove one of these from `on_success` or `on_failure`
 * why: The workflow never ends.
 * source: TOSCA 1.3, 7.3; TOSCA 2.0, 13.2
 */
assert WorkflowsEnd {
  // Of a circle, the step that is written first.
  all s: Step | s in s.^next implies some t: s.^next & ^next.s | written_before[t, s]
}

/** TOSCA025 substitution-incomplete warning: a part of the substituted node type is not mapped
 * message: the {p.kind} `{p}` of the node type is not mapped to a node template
 * at: p "is not mapped"
 * help: add it to the `substitution_mappings`
 * why: Where this topology is substituted, nothing stands behind it.
 * source: TOSCA 1.3, 3.8.9 and 3.8.11; TOSCA 2.0, 15.4 and 15.5
 */
assert SubstitutionsAreComplete {
  all p: Part | p.mapped = True
}

/** TOSCA026 workflow-misses-node warning: a workflow that stands for a standard one leaves a node out
 * message: the workflow `{w}` has no step for `{n}`
 * at: w "replaces the standard workflow"
 * also: n "is never reached"
 * help: add a step whose `target` is `{n}`, or remove the workflow so that one is made from the topology
 * why: A workflow called `deploy` or `undeploy` is run instead of the one that an orchestrator makes from the topology, so the node is left as it is.
 * source: TOSCA 1.3, 7.3 and 7.4; TOSCA 2.0, 13.1
 */
assert WorkflowsReachEveryNode {
  all w: Workflow, n: Node | n in w.reaches
}
