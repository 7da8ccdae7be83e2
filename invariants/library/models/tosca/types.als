/**
 * The normative capability, relationship and node types of TOSCA Simple Profile in YAML 1.0.
 *
 * One signature for each type of the three structural families, under the type's own name with the
 * namespace dropped: `tosca.capabilities.Root`, `tosca.relationships.Root` and `tosca.nodes.Root` become
 * `Capability_Root`, `Relationship_Root` and `Node_Root`, `tosca.capabilities.Node` becomes
 * `Capability_Node`, and a dot inside a name becomes an underscore. A node type that inherits a
 * requirement `host` and declares a capability `host` gives the latter the name `chost`, because an
 * inherited field cannot be declared again. Properties, artifacts, interfaces and data types have no
 * bearing on the structure and are left out.
 *
 * Three errors of the OASIS text are corrected where they occur, marked "OASIS"; what it says twice is
 * said twice here and marked "redundant", and the checks at the end prove that it is.
 *
 * Source: INRIA research report 9317, section 5.2; the types themselves are those of the OASIS standard.
 */
module tosca/types

open tosca/core

// ---------------------------------------------------------------------------------------------
// Capability types
// ---------------------------------------------------------------------------------------------

/** tosca.capabilities.Root: what all others derive from. */
sig Capability_Root extends Capability {}

/** tosca.capabilities.Node: what every node offers, the target of a plain dependency. */
sig Capability_Node extends Capability_Root {}

/** tosca.capabilities.Container: the node can host others. */
sig Container extends Capability_Root {}

/** tosca.capabilities.Endpoint: a network endpoint. */
sig Endpoint extends Capability_Root {}

/** tosca.capabilities.Endpoint.Public: an endpoint reachable from the internet. */
sig Endpoint_Public extends Endpoint {}

/** tosca.capabilities.Endpoint.Admin: an endpoint for administrators. */
sig Endpoint_Admin extends Endpoint {}

/** tosca.capabilities.Endpoint.Database: an endpoint of a database. */
sig Endpoint_Database extends Endpoint {}

/** tosca.capabilities.Attachment: an infrastructure device can be attached. */
sig Attachment extends Capability_Root {}

/** tosca.capabilities.OperatingSystem: the node runs an operating system. */
sig OperatingSystem extends Capability_Root {}

/** tosca.capabilities.Scalable: the node can have several instances. */
sig Scalable extends Capability_Root {}

/** tosca.capabilities.network.Bindable: a network port can be bound to the node. */
sig Bindable extends Capability_Node {}

/** tosca.capabilities.network.Linkable: a network port can be linked to the node. */
sig Linkable extends Capability_Node {}

// ---------------------------------------------------------------------------------------------
// Relationship types, each with its valid target types
// ---------------------------------------------------------------------------------------------

/** tosca.relationships.Root: what all others derive from. */
sig Relationship_Root extends Relationship {}

/** tosca.relationships.DependsOn: a general dependency. */
sig DependsOn extends Relationship_Root {} {
  target in Capability_Node
}

/** tosca.relationships.HostedOn: the source runs on the target. */
sig HostedOn extends Relationship_Root {} {
  target in Container
}

/** tosca.relationships.ConnectsTo: a network connection. */
sig ConnectsTo extends Relationship_Root {} {
  target in Endpoint
}

/**
 * tosca.relationships.AttachesTo: a device is attached to the source.
 * OASIS: the definition is headed `AttachTo`, every use of it says `AttachesTo`.
 */
sig AttachesTo extends Relationship_Root {} {
  target in Attachment
}

/** tosca.relationships.RoutesTo: a route between endpoints of different networks. */
sig RoutesTo extends ConnectsTo {} {
  target in Endpoint // redundant: inherited from ConnectsTo
}

/** tosca.relationships.network.LinksTo: a port is linked to a network. */
sig LinksTo extends DependsOn {} {
  target in Linkable
}

/** tosca.relationships.network.BindsTo: a port is bound to a machine. */
sig BindsTo extends DependsOn {} {
  target in Bindable
}

// ---------------------------------------------------------------------------------------------
// Node types. A requirement states, in this order, the capability type, the node type and the
// relationship type that it demands. A field without multiplicity constraint in TOSCA occurs once;
// occurrences [0, UNBOUNDED] are `set`.
// ---------------------------------------------------------------------------------------------

/** tosca.nodes.Root: what all others derive from. */
sig Node_Root extends Node {
  feature: one Capability_Node,
  dependency: set Requirement
} {
  feature in capabilities
  dependency in requirements
  dependency.capability[Capability_Node] // redundant: demanded by DependsOn
  dependency.node[Node_Root]
  dependency.relationship in DependsOn
}

/** tosca.nodes.Compute: a real or virtual machine. */
sig Compute extends Node_Root {
  local_storage: set Requirement,
  host: one Container,
  os: one OperatingSystem,
  endpoint: one Endpoint_Admin,
  scalable: one Scalable,
  binding: one Bindable
} {
  local_storage in requirements
  local_storage.capability[Attachment] // redundant: demanded by AttachesTo
  local_storage.node[BlockStorage]
  local_storage.relationship in AttachesTo
  host in capabilities
  host.valid_source_types[SoftwareComponent]
  os in capabilities
  endpoint in capabilities
  scalable in capabilities
  binding in capabilities
}

/** tosca.nodes.SoftwareComponent: software that runs on a machine. */
sig SoftwareComponent extends Node_Root {
  host: one Requirement
} {
  host in requirements
  host.capability[Container] // redundant: demanded by HostedOn
  host.node[Compute]
  host.relationship in HostedOn
}

/** tosca.nodes.WebServer: software that hosts web applications. */
sig WebServer extends SoftwareComponent {
  data_endpoint: one Endpoint,
  admin_endpoint: one Endpoint_Admin,
  chost: one Container
} {
  data_endpoint in capabilities
  admin_endpoint in capabilities
  chost in capabilities
  chost.valid_source_types[WebApplication]
}

/** tosca.nodes.WebApplication: an application that runs on a web server. */
sig WebApplication extends Node_Root {
  app_endpoint: one Endpoint,
  host: one Requirement
} {
  app_endpoint in capabilities
  host in requirements
  host.capability[Container] // redundant: demanded by HostedOn
  host.node[WebServer]
  host.relationship in HostedOn
}

/** tosca.nodes.DBMS: software that hosts databases. */
sig DBMS extends SoftwareComponent {
  chost: one Container
} {
  chost in capabilities
  chost.valid_source_types[Database]
}

/**
 * tosca.nodes.Database: a logical database.
 * OASIS: the node type that its `host` demands is commented out in the text. It is DBMS: the only type
 * whose container accepts a database, and what edition 1.3 says.
 */
sig Database extends Node_Root {
  host: one Requirement,
  database_endpoint: one Endpoint_Database
} {
  host in requirements
  host.capability[Container] // redundant: demanded by HostedOn
  host.node[DBMS]
  host.relationship in HostedOn
  database_endpoint in capabilities
}

/** tosca.nodes.ObjectStorage: storage of whole objects. */
sig ObjectStorage extends Node_Root {
  storage_endpoint: one Endpoint
} {
  storage_endpoint in capabilities
}

/** tosca.nodes.BlockStorage: a block device local to a machine. */
sig BlockStorage extends Node_Root {
  attachment: one Attachment
} {
  attachment in capabilities
}

/** tosca.nodes.Container.Runtime: software that runs containers. */
sig Container_Runtime extends SoftwareComponent {
  chost: one Container,
  scalable: one Scalable
} {
  chost in capabilities
  scalable in capabilities
}

/**
 * tosca.nodes.Container.Application: an application in a container.
 * OASIS: its `host` demands the node type `tosca.nodes.Container`, which does not exist;
 * `tosca.nodes.Container.Runtime` is meant.
 */
sig Container_Application extends Node_Root {
  host: one Requirement
} {
  host in requirements
  host.capability[Container] // redundant: demanded by HostedOn
  host.node[Container_Runtime]
  host.relationship in HostedOn
}

/** tosca.nodes.LoadBalancer: spreads requests over applications. */
sig LoadBalancer extends Node_Root {
  client: set Endpoint_Public,
  application: set Requirement
} {
  client in capabilities
  application in requirements
  application.capability[Endpoint] // redundant: demanded by RoutesTo
  application.relationship in RoutesTo
}

/** tosca.nodes.network.Network: a logical network. */
sig Network extends Node_Root {
  link: one Linkable
} {
  link in capabilities
}

/** tosca.nodes.network.Port: joins a machine to a network. */
sig Port extends Node_Root {
  link: one Requirement,
  binding: one Requirement
} {
  link in requirements
  link.capability[Linkable] // redundant: demanded by LinksTo
  link.relationship in LinksTo
  binding in requirements
  binding.capability[Bindable] // redundant: demanded by BindsTo
  binding.relationship in BindsTo
}

// ---------------------------------------------------------------------------------------------
// Consistency, and the examples of the OASIS text. Their scopes count capabilities as the report does:
// nothing keeps the `feature` of a machine and its `binding` apart, since Bindable is a
// Capability_Node, and `exactly 5 Capability` can only be met by making them one role. The examples
// that count every capability of the TOSCA types once follow after these.
// ---------------------------------------------------------------------------------------------

run Model {} for 10 expect 1

run OneTopologyWithTwoNodeOneRelationship {
  Node in Topology.nodes
  Relationship in Topology.relationships
} for 10 but exactly 1 Topology, exactly 2 Node, exactly 1 Relationship expect 1

/** A single machine (OASIS, 2.1). */
run TOSCA_Example_2_1 {
  Topology.nodes = Compute
} for 10 but exactly 1 Topology, exactly 1 Compute, exactly 5 Capability expect 1

/** A database system on a machine (OASIS, 2.2). */
run TOSCA_Example_2_2 {
  Topology.nodes = Compute + DBMS
  Topology.relationships = HostedOn
} for 20 but exactly 1 Topology, exactly 1 Compute, exactly 1 DBMS,
  exactly 1 HostedOn, exactly 7 Capability expect 1

/** A database in a database system on a machine (OASIS, 2.4). */
run TOSCA_Example_2_4 {
  Topology.nodes = Compute + DBMS + Database
  Topology.relationships = HostedOn
} for 20 but exactly 1 Topology, exactly 1 Compute, exactly 1 DBMS, exactly 1 Database,
  exactly 2 HostedOn, exactly 9 Capability expect 1

/** A web application and its database on two machines (OASIS, 2.5). */
run TOSCA_Example_2_5 {
  Topology.nodes = Compute + DBMS + Database + WebServer + WebApplication
  Topology.relationships = HostedOn
} for 40 but exactly 1 Topology, exactly 2 Compute, exactly 1 DBMS, exactly 1 Database,
  exactly 1 WebServer, exactly 1 WebApplication, exactly 4 HostedOn,
  exactly 20 Capability, exactly 24 Role expect 1

/** A machine on a network (OASIS, 7.2). */
run TOSCA_Example_7_2 {
  Topology.nodes = Compute + Network + Port
  Topology.relationships = LinksTo + BindsTo
} for 20 but exactly 1 Topology, exactly 1 Compute, exactly 1 Port, exactly 1 Network,
  exactly 1 BindsTo, exactly 1 LinksTo, exactly 7 Capability expect 1

// ---------------------------------------------------------------------------------------------
// One capability for each declaration
// ---------------------------------------------------------------------------------------------

/** No two capability declarations of a node are met by the same capability. */
pred DistinctCapabilities {
  all n: Compute | disj[n.feature, n.host, n.os, n.endpoint, n.scalable, n.binding]
  all n: WebServer | disj[n.feature, n.data_endpoint, n.admin_endpoint, n.chost]
  all n: Container_Runtime | disj[n.feature, n.chost, n.scalable]
  all n: Network | disj[n.feature, n.link]
}

/** The capability types of the other nodes' declarations exclude each other, so these four suffice. */
assert OtherCapabilitiesAreDistinct {
  all n: WebApplication | disj[n.feature, n.app_endpoint]
  all n: DBMS | disj[n.feature, n.chost]
  all n: Database | disj[n.feature, n.database_endpoint]
  all n: ObjectStorage | disj[n.feature, n.storage_endpoint]
  all n: BlockStorage | disj[n.feature, n.attachment]
  all n: LoadBalancer | disj[n.feature, n.client]
}

check OtherCapabilitiesAreDistinct for 5 expect 0

run TOSCA_Example_2_1_with_six_capabilities {
  Topology.nodes = Compute
  DistinctCapabilities
} for 10 but exactly 1 Topology, exactly 1 Compute, exactly 6 Capability expect 1

run TOSCA_Example_2_1_with_five_capabilities {
  Topology.nodes = Compute
  DistinctCapabilities
} for 10 but exactly 1 Topology, exactly 1 Compute, exactly 5 Capability expect 0

run TOSCA_Example_7_2_with_nine_capabilities {
  Topology.nodes = Compute + Network + Port
  Topology.relationships = LinksTo + BindsTo
  DistinctCapabilities
} for 20 but exactly 1 Topology, exactly 1 Compute, exactly 1 Port, exactly 1 Network,
  exactly 1 BindsTo, exactly 1 LinksTo, exactly 9 Capability expect 1

// ---------------------------------------------------------------------------------------------
// What the OASIS text says twice follows from saying it once
// ---------------------------------------------------------------------------------------------

/** The relationship type that a requirement demands already implies the capability type. */
assert CapabilityTypesFollowFromRelationshipTypes {
  all r: Requirement {
    r.relationship in DependsOn implies r.capability[Capability_Node]
    r.relationship in AttachesTo implies r.capability[Attachment]
    r.relationship in HostedOn implies r.capability[Container]
    r.relationship in RoutesTo implies r.capability[Endpoint]
    r.relationship in LinksTo implies r.capability[Linkable]
    r.relationship in BindsTo implies r.capability[Bindable]
  }
}

check CapabilityTypesFollowFromRelationshipTypes for 8 expect 0

/** Nothing but web applications runs on a web server, nothing but databases in a database system. */
assert HostsAcceptOnlyTheirKind {
  all r: Requirement {
    r.relationship.target in WebServer.chost implies r.node in WebApplication
    r.relationship.target in DBMS.chost implies r.node in Database
    r.relationship.target in Compute.host implies r.node in SoftwareComponent
  }
}

check HostsAcceptOnlyTheirKind for 8 expect 0
