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

/** A configuration: nothing but a set of locations. */
sig LocationGraph {
  locations: set Location
}

/** A unit of computation with its points of attachment. */
sig Location {
  name: one Name,
  process: one Process,
  sort: one Sort,
  provided: set Role,
  required: set Role
} {
  // A location never serves itself directly: a loop needs another location in between.
  no provided & required
}

/** Whatever an interaction can carry. Names, processes, sorts and roles are values too. */
sig Value {}

/** What identifies a location within a graph. */
sig Name extends Value {}

/** The behaviour of a location, with the names and roles it mentions. */
sig Process extends Value {
  patoms: set Name + Role
}

/** The type of a location, with the names and roles it mentions. */
sig Sort extends Value {
  satoms: set Name + Role
}

/** A point of attachment: a port, an interface, the end of a relation. */
sig Role extends Value {}

/** The graph without locations, neutral for composition. */
one sig Null extends LocationGraph {}

fact NullHasNoLocations {
  no Null.locations
}

// ---------------------------------------------------------------------------------------------
// Static semantics. The predicates speak of sets of locations rather than of graphs, because the
// operational semantics composes sets that need not be graphs of the model.
// ---------------------------------------------------------------------------------------------

/** No two locations of the set share a name. */
pred UniquelyNamedLocations[c: set Location] {
  no disj l, h: c | l.name = h.name
}

/** A role is provided by at most one location of the set. */
pred UniquelyProvidedRoles[c: set Location] {
  no disj l, h: c | some l.provided & h.provided
}

/** A role is required by at most one location of the set. */
pred UniquelyRequiredRoles[c: set Location] {
  no disj l, h: c | some l.required & h.required
}

/** The set could be the locations of a graph. */
pred WellFormedLocationSet[c: set Location] {
  UniquelyNamedLocations[c]
  UniquelyProvidedRoles[c]
  UniquelyRequiredRoles[c]
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
