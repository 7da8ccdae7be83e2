/**
 * The rest of the normative types of TOSCA Simple Profile in YAML 1.0: artifacts, interfaces, groups and
 * policies, which are attached to nodes and relationships and are no locations themselves, and the types
 * of structured values.
 *
 * INRIA research report 9317, after which the other TOSCA modules are written, leaves them out.
 *
 * Source: TOSCA Simple Profile in YAML 1.0 (OASIS), chapter 5.
 */
module tosca/profile

open tosca/core
open tosca/types

// ---------------------------------------------------------------------------------------------
// Artifact types
// ---------------------------------------------------------------------------------------------

/** tosca.artifacts.Root: what all others derive from. */
sig Artifact_Root {}

/** tosca.artifacts.File: a file that has to be there, of no particular kind. */
sig Artifact_File extends Artifact_Root {}

/** tosca.artifacts.Deployment: what is deployed. */
sig Artifact_Deployment extends Artifact_Root {}

/** tosca.artifacts.Deployment.Image: an image with all that the software needs. */
sig Artifact_Deployment_Image extends Artifact_Deployment {}

/** tosca.artifacts.Deployment.Image.VM: the image of a virtual machine. */
sig Artifact_Deployment_Image_VM extends Artifact_Deployment_Image {}

/** tosca.artifacts.Implementation: what carries out an operation. */
sig Artifact_Implementation extends Artifact_Root {}

/** tosca.artifacts.Implementation.Bash: a shell script. */
sig Artifact_Implementation_Bash extends Artifact_Implementation {}

/** tosca.artifacts.Implementation.Python: a Python script. */
sig Artifact_Implementation_Python extends Artifact_Implementation {}

// ---------------------------------------------------------------------------------------------
// Interface types: an operation is declared by the type; what implements it, if anything does, is an
// artifact.
// ---------------------------------------------------------------------------------------------

/** tosca.interfaces.Root: what all others derive from. */
abstract sig Interface_Root {}

/** tosca.interfaces.node.lifecycle.Standard: the life cycle of a node. */
sig Standard extends Interface_Root {
  of_node: one Node_Root,
  create, configure, start, stop, delete: lone Artifact_Implementation
}

/** tosca.interfaces.relationship.Configure: what happens around a relationship. */
sig Configure extends Interface_Root {
  of_relationship: one Relationship_Root,
  pre_configure_source, pre_configure_target: lone Artifact_Implementation,
  post_configure_source, post_configure_target: lone Artifact_Implementation,
  add_target, add_source, target_changed, remove_target: lone Artifact_Implementation
}

/** tosca.nodes.Root declares `Standard` and tosca.relationships.Root `Configure`, each once. */
fact InterfacesOfRootTypes {
  all n: Node_Root | one of_node.n
  all r: Relationship_Root | one of_relationship.r
}

// ---------------------------------------------------------------------------------------------
// Group and policy types
// ---------------------------------------------------------------------------------------------

/** tosca.groups.Root: nodes that are managed together. */
sig Group_Root {
  members: some Node
}

/** tosca.policies.Root: a statement about nodes or groups of them. */
sig Policy_Root {
  targets: set Node + Group_Root
}

/** tosca.policies.Placement: where they are to run. */
sig Placement extends Policy_Root {}

/** tosca.policies.Scaling: how many there are to be. */
sig Scaling extends Policy_Root {}

/** tosca.policies.Update: how they are replaced. */
sig Update extends Policy_Root {}

/** tosca.policies.Performance: how well they are to do. */
sig Performance extends Policy_Root {}

/** The nodes that a policy is about, directly or through a group. */
fun governed[p: Policy_Root]: set Node {
  p.targets & Node + (p.targets & Group_Root).members
}

/** Groups and policies of a topology speak of its nodes. */
pred StaysInside[t: Topology] {
  Group_Root.members in t.nodes
  governed[Policy_Root] in t.nodes
}

// ---------------------------------------------------------------------------------------------
// Data types
// ---------------------------------------------------------------------------------------------

/** tosca.datatypes.Root: what all others derive from. */
abstract sig Datatype_Root {}

/** tosca.datatypes.Credential: what a client proves its identity with. */
sig Credential extends Datatype_Root {
  protocol: lone String,
  token_type: one String,
  token: one String,
  keys: String -> lone String,
  user: lone String
}

/** tosca.datatypes.network.NetworkInfo: a network that a node is on. */
sig NetworkInfo extends Datatype_Root {
  network_name: one String,
  network_id: one String,
  addresses: set String
}

/** tosca.datatypes.network.PortInfo: a port that a node has. */
sig PortInfo extends Datatype_Root {
  port_name: one String,
  port_id: one String,
  network_id: one String,
  mac_address: one String,
  addresses: set String
}

/** tosca.datatypes.network.PortDef: a port number. The upper limit of 65535 is beyond usual scopes. */
sig PortDef {
  number: one Int
} {
  number >= 1
}

/** tosca.datatypes.network.PortSpec: ports and how they are mapped; a range is its two ends. */
sig PortSpec extends Datatype_Root {
  protocol: one String,
  target, source: lone PortDef,
  target_low, target_high, source_low, source_high: lone PortDef
} {
  protocol in "udp" + "tcp" + "igmp"
  some target_low iff some target_high
  some source_low iff some source_high
  target_low.number <= target_high.number
  source_low.number <= source_high.number
}

/** A port is mapped by number or by range, one end at least, and not twice. */
pred WellFormedPortSpec[p: PortSpec] {
  some p.target + p.source + p.target_low + p.source_low
  no p.target or no p.target_low
  no p.source or no p.source_low
}

/** A range of ports of the target is mapped to one port of the source. */
run MappedRange {
  some p: PortSpec {
    WellFormedPortSpec[p]
    p.protocol = "tcp"
    p.target_low.number < p.target_high.number
    some p.source
  }
} for 4 expect 1

/** A machine that is placed by a policy on the group it belongs to and created by a script. */
run ManagedMachine {
  some t: Topology, c: t.nodes & Compute, g: Group_Root, p: Placement {
    StaysInside[t]
    c in g.members
    p.targets = g
    (of_node.c).create in Artifact_Implementation_Bash
    some (of_node.c).create
  }
} for 8 expect 1

/** What a policy governs through a group of a topology is in the topology. */
assert PoliciesStayInside {
  all t: Topology, p: Policy_Root, g: p.targets & Group_Root |
    StaysInside[t] implies g.members in t.nodes
}

check PoliciesStayInside for 4 expect 0
