/**
 * OCCI core: resources and the links between them, interpreted as location graphs.
 *
 * Resources and links are both locations. A link requires one role of its source and one of its target,
 * and its source requires one role of the link. The typing part of OCCI (category, kind, mixin,
 * attribute) and its actions are left out.
 *
 * Source: INRIA research report 9317, section 4.1, after the OCCI core specification, OGF GFD.221.
 */
module occi/core

open lg/location_graphs

/** The only kind of role in OCCI: a REST interface. */
sig Rest extends Role {}

let URI = Name

/** What has an identity: a resource or a link. */
abstract sig Entity extends Location {
  id: one URI
} {
  name = id
  provided in Rest
  required in Rest
}

/** A machine, a network, a container: anything that can be managed. */
sig Resource extends Entity {
  links: set Link
} {
  // The resource is attached to each of its links by one role that the link provides.
  all l: links | one r: l.@provided | r in required
}

/** A binary relation from the resource that owns it to another one. */
sig Link extends Entity {
  source: one Resource,
  target: one Resource
} {
  source = (Resource <: links).this
  one r: source.@provided | r in required
  one r: target.@provided | r in required
}

/** A set of resources with their links. Not in OCCI, which has no name for a whole system. */
sig Configuration extends LocationGraph {
  resources: set Resource
} {
  locations = resources + resources.links
}

run Model {} expect 1

run OneConfiguration {
  one c: Configuration | Resource in c.resources
  Link in Configuration.resources.links
} for 5 but exactly 1 Configuration expect 1

run OneLink {} for 5 but exactly 1 Link expect 1

/** A resource that is the target of two links offers one role to each. */
run OneResourceTargetedByTwoLinks {
  some r: Resource, disj l1, l2: Link | l1.target = r and l2.target = r
} for 5 expect 1
