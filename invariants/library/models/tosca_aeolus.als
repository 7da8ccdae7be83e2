/**
 * TOSCA with Aeolus life cycles: a topology says what to deploy, component types say how.
 *
 * The configuration is an Aeolus one. Its administrator also holds a TOSCA topology whose nodes name the
 * component type to deploy them with, and a port of a deployed component names the capability or the
 * requirement of the node that it stands for. The target is reached when components and bindings match
 * nodes and relationships; there may be several components for a node, and component types that occur
 * in no node, as long as no component of theirs is left at the end.
 *
 * Source: INRIA research report 9317, section 8.4. Corrections are marked with their key in
 * docs/models.md.
 */
module tosca_aeolus

open lg/location_graphs
open tosca/core
open aeolus/model

/** An Aeolus configuration that deploys a TOSCA topology. */
sig Tosca_Aeolus_Configuration extends Configuration {} {
  admin in Tosca_Administrator
}

/** A port that stands for a capability or a requirement of a node. */
sig Tosca_Port extends Port {
  pid: one Role
}

/** A node with the component type to deploy it with. */
sig Node_DL extends Node {
  template: one DL_Machine
}

/** An administrator with a topology to deploy. X1: the report calls it `TopologyTemplate` here. */
sig Tosca_Administrator extends Administrator {
  toscatopology: one Topology
} {
  toscatopology.nodes in Node_DL
}

/** Always true in this module, where `Tosca_Port` is the only kind of port. */
pred PortsAreToscaPorts[c: Configuration] {
  c.components.process.(pprov + preq) in Tosca_Port
}

/** The component is of the node's type and its ports are the node's capabilities and requirements. */
pred NodeToComponent[n: Node_DL, z: Aeolus_component] {
  n.provided = z.process.pprov.pid
  n.required = z.process.preq.pid
  n.template = z.process.template
}

/**
 * Every node is deployed, and nothing but nodes is. X2: the report says "one or more" components for a
 * node and writes `one`, which would rule out the replicas that cardinalities are there for.
 */
pred NodeToComponentTypeMapped[c: Tosca_Aeolus_Configuration] {
  all n: c.admin.toscatopology.nodes | some z: c.components | NodeToComponent[n, z]
  all z: c.components | some n: c.admin.toscatopology.nodes | NodeToComponent[n, z]
}

/** Every relationship is deployed, and nothing but relationships is. */
pred RelationshipToBindingMapped[c: Tosca_Aeolus_Configuration] {
  all r: c.admin.toscatopology.relationships | some b: c.bindings | b.bsort = r.name
  all b: c.bindings | some r: c.admin.toscatopology.relationships | b.bsort = r.name
}

/** The topology is deployed: all of it, nothing else, and everything in a final state. */
pred TopologyToTargetConfigurationMapped[c: Tosca_Aeolus_Configuration] {
  TargetConfiguration[c]
  RelationshipToBindingMapped[c]
  NodeToComponentTypeMapped[c]
}

// ---------------------------------------------------------------------------------------------
// Consistency
// ---------------------------------------------------------------------------------------------

/**
 * Nothing is there that the configuration does not need. These are facts in the report, for the sake of
 * its one command; as a predicate they do not weigh on other models that open this module.
 */
pred NothingSuperfluous {
  Node in Node_DL
  LocationGraph in Configuration + ZConfiguration + Topology + Null
  Configuration = Tosca_Aeolus_Configuration
  all z: Aeolus_component | some c: Tosca_Aeolus_Configuration |
    z in c.admin.process.zconfig.zcomponents
  DL_Machine in Aeolus_component.process.template + Node_DL.template
  no (Capability + Requirement) & Aeolus_component.process.cnotif
  Topology in Tosca_Administrator.toscatopology
}

/** A topology with two relationships is deployed. */
run Model {
  NothingSuperfluous
  some c: Configuration {
    some c.bindings
    #c.components > 1
    some Admin_process.zconfig.zcomponents.process.pprov.roles
    some Admin_process.zconfig.zcomponents.process.preq.roles
    TopologyToTargetConfigurationMapped[c]
  }
} for 20 but exactly 1 Tosca_Aeolus_Configuration, exactly 3 Aeolus_component,
  exactly 2 Aeolus_binding expect 1

/** Two components are deployed for one node: impossible with the `one` of the report (X2). */
run ModelReplicas {
  NothingSuperfluous
  some c: Configuration {
    #c.admin.toscatopology.nodes < #c.components
    TopologyToTargetConfigurationMapped[c]
  }
} for 6 but exactly 1 Tosca_Aeolus_Configuration, exactly 3 Aeolus_component, 8 Location,
  20 Value expect 1
