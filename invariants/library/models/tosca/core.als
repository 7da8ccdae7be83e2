/**
 * TOSCA core: nodes with capabilities and requirements, and the relationships between them, interpreted
 * as location graphs.
 *
 * Nodes and relationships are both locations. A capability is a role that its node provides, a
 * requirement one that its node requires; the relationship closes the gap by providing the requirement
 * and requiring the capability. Types, properties, interfaces and templates are left out here; the
 * normative types are in `tosca/types.als`.
 *
 * Source: INRIA research report 9317, section 5.1, after TOSCA Simple Profile in YAML 1.0 (OASIS).
 */
module tosca/core

open lg/location_graphs

/** A configuration: nodes, relationships, and the relationships that the nodes' requirements name. */
sig Topology extends LocationGraph {
  nodes: set Node,
  relationships: set Relationship
} {
  locations = nodes + relationships + nodes.requirements.relationship
}

/** A component that offers capabilities and has requirements. */
abstract sig Node extends Location {
  requirements: set Requirement,
  capabilities: set Capability
} {
  required = requirements
  provided = capabilities
}

/** A need of one node, met through one relationship. */
abstract sig Requirement extends Role {
  relationship: one Relationship
} {
  relationship.source = this
  // owned by exactly one node
  one (Node <: requirements).this
}

/** A service that one node offers. */
abstract sig Capability extends Role {} {
  // owned by exactly one node
  one (Node <: capabilities).this
}

/** A directed binary relation from a requirement to a capability. */
abstract sig Relationship extends Location {
  source: one Requirement,
  target: one Capability
} {
  provided = source
  required = target
}

// ---------------------------------------------------------------------------------------------
// Vocabulary in which node types are written
// ---------------------------------------------------------------------------------------------

/** The node that owns a requirement. */
fun node[req: one Requirement]: Node {
  (Node <: requirements).req
}

/** The node that owns a capability. */
fun node[cap: one Capability]: Node {
  (Node <: capabilities).cap
}

/** What the requirement is connected to is one of these capabilities. */
pred capability[requirement: Requirement, capabilities: set Capability] {
  requirement.relationship.target in capabilities
}

/** What the requirement is connected to belongs to one of these nodes. */
pred node[requirement: Requirement, nodes: set Node] {
  requirement.relationship.target.node in nodes
}

/** Only these nodes are connected to the capability. */
pred valid_source_types[cap: Capability, nodes: set Node] {
  (Relationship <: target).cap.source.node in nodes
}

// ---------------------------------------------------------------------------------------------
// Consistency
// ---------------------------------------------------------------------------------------------

run Model {} expect 1

run OneTopologyWithTwoNodeOneRelationship {
  Node in Topology.nodes
  Relationship in Topology.relationships
} for 10 but exactly 1 Topology, exactly 2 Node, exactly 1 Relationship expect 1
