/**
 * Location graphs: the reference model to which every configuration language is reduced.
 *
 * A configuration is a set of locations. A location stands for a component, a connector or a relation;
 * it offers roles, some provided to its environment, some required from it. A role offered by two
 * locations, provided by one and required by the other, binds them; there is no other way to connect
 * two locations, so a relation among three components is itself a location with three roles.
 *
 * Source: P. Merle et al., "Towards a formal reference computational model for cloud configuration
 * management", INRIA research report 9317 (2020), section 2.1.
 */
module lg/location_graphs

open lg/static

/** A configuration: nothing but a set of locations. */
sig LocationGraph {
  locations: set Location
}

/** The graph without locations, neutral for composition. */
one sig Null extends LocationGraph {}

fact NullHasNoLocations {
  no Null.locations
}

/** A location never serves itself directly. */
fact NoLocationServesItself {
  DisjointRoles[Location]
}

/** The graph obeys the static semantics. */
pred WellFormedLocationGraph[g: LocationGraph] {
  WellFormedLocationSet[g.locations]
}

fact All_LocationGraph_Are_Well_Formed {
  all g: LocationGraph | WellFormedLocationGraph[g]
}

// ---------------------------------------------------------------------------------------------
// Consistency, and two consequences of the static semantics
// ---------------------------------------------------------------------------------------------

/** There is a graph that is not trivial. */
pred Model {
  some g: LocationGraph |
    #g.locations > 2 and #g.locations.required > 2 and #g.locations.provided > 3
}

run Model for 10 expect 1

/** A role that is provided and required has two different locations at its ends. */
assert RoleIsProvidedAndRequiredByTwoDistinctLocations {
  all lg: set Location, r: Role, l, h: Location |
    WellFormedLocationSet[lg] implies
      (l in lg and h in lg and r in l.provided and r in h.required implies l != h)
}

check RoleIsProvidedAndRequiredByTwoDistinctLocations for 40 expect 0

/** A role binds at most two locations, so an interaction over it is always point to point. */
assert ARoleBindsAtMostTwoLocations {
  all lg: set Location, r: Role |
    WellFormedLocationSet[lg] implies
      all ls: set lg | (all h: ls | r in h.required + h.provided) implies #ls < 3
}

check ARoleBindsAtMostTwoLocations for 40 expect 0
