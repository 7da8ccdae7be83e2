/**
 * From TOSCA to OCCI: a topology becomes a configuration, nodes become resources, relationships become
 * links. That both are location graphs makes it possible to say, and to check, that the mapping keeps
 * the structure: same number of locations, same names.
 *
 * Source: INRIA research report 9317, section 5.3.
 */
module tosca_occi

open tosca/core as tosca
open occi/core as occi

/** Which node became which resource, and which relationship which link. */
sig Mapping {
  topology: one Topology,
  configuration: one Configuration,
  node2resource: Node -> Resource,
  relationship2link: Relationship -> Link
}

/** The resource with this id. The report uses it without defining it (T1). */
fun getResource[conf: one Configuration, n: one Name]: lone Resource {
  { r: conf.resources | r.id = n }
}

/** The mapping takes this topology to this configuration. */
pred topology2configuration[mapping: one Mapping, top: one Topology, conf: one Configuration] {
  mapping.topology = top
  mapping.configuration = conf
  #top.nodes = #conf.resources
  all n: top.nodes | one r: conf.resources | mapping.node2resource[n, r]
  all rel: top.relationships | one l: conf.resources.links | mapping.relationship2link[rel, l]
}

/** The mapping takes this node to this resource, and its requirements to the resource's links. */
pred node2resource[mapping: one Mapping, node: one Node, resource: one Resource] {
  node -> resource in mapping.node2resource
  resource.id = node.name
  #node.requirements = #resource.links
  all req: node.requirements | one l: resource.links |
    mapping.relationship2link[req.relationship, l]
}

/** The mapping takes this relationship to this link, with its two ends. */
pred relationship2link[mapping: one Mapping, relationship: one Relationship, link: one Link] {
  relationship -> link in mapping.relationship2link
  link.id = relationship.name
  link.source = mapping.configuration.getResource[relationship.source.node.name]
  link.target = mapping.configuration.getResource[relationship.target.node.name]
}

// ---------------------------------------------------------------------------------------------
// Consistency
// ---------------------------------------------------------------------------------------------

run Consistency {
  Topology.nodes = Node
  one mapping: Mapping, topology: Topology, configuration: Configuration |
    mapping.topology2configuration[topology, configuration]
} for 10 but exactly 1 Mapping, exactly 1 Topology, exactly 1 Configuration expect 1

run MappingFiveNodesRelationships {
  Topology.nodes = Node
  one mapping: Mapping, topology: Topology, configuration: Configuration |
    mapping.topology2configuration[topology, configuration]
} for 20 but exactly 1 Mapping, exactly 1 Topology, exactly 5 Node, exactly 5 Relationship,
  exactly 1 Configuration expect 1

// ---------------------------------------------------------------------------------------------
// The mapping is a homomorphism
// ---------------------------------------------------------------------------------------------

assert EachTopologyMapsToConfiguration {
  all t: Topology, m: Mapping, c: Configuration |
    m.topology2configuration[t, c] implies m.topology = t and m.configuration = c
}

check EachTopologyMapsToConfiguration for 15 expect 0

assert MappingPreserveNumberOfLocations {
  all m: Mapping, t: Topology, c: Configuration |
    m.topology2configuration[t, c] implies #t.locations = #c.locations
}

check MappingPreserveNumberOfLocations for 10 expect 0

assert MappingPreserveLocationNames {
  all m: Mapping, t: Topology, c: Configuration |
    m.topology2configuration[t, c] implies t.locations.name = c.locations.name
}

check MappingPreserveLocationNames for 8 expect 0
