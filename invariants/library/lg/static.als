/**
 * The static semantics of location graphs: what makes a set of locations a graph.
 *
 * Rules about every language, and the text that the reference model and `locus graph --format als` use. The predicates
 * speak of sets of locations rather than of graphs, because the operational semantics composes sets that need not be graphs.
 *
 * Source: P. Merle et al., "Towards a formal reference computational model for cloud configuration management", INRIA
 * research report 9317 (2020), section 2.1.
 */
module lg/static

open lg/vocabulary

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

/** A location never serves itself directly: a loop needs another location in between. */
pred DisjointRoles[c: set Location] {
  no l: c | some l.provided & l.required
}

/** The set could be the locations of a graph. */
pred WellFormedLocationSet[c: set Location] {
  UniquelyNamedLocations[c]
  UniquelyProvidedRoles[c]
  UniquelyRequiredRoles[c]
}

// The same as rules, role by role, so that a finding can name the role.

/** LG001 location-name-taken error: two locations have the same name
 * message: two locations are named `{l.name}`
 * at: h "this one"
 * also: l "and this one"
 * help: rename one of them
 * why: A location is known by its name.
 * source: RR-9317, section 2.1
 */
assert LocationsHaveDifferentNames { UniquelyNamedLocations[Location] }

/** LG002 role-provided-twice error: two locations provide the same role
 * message: both `{l}` and `{h}` provide the role `{r}`
 * at: h "provides `{r}`"
 * also: l "provides it too"
 * help: give each location a role of its own
 * why: A role joins the one location that provides it with the one that requires it.
 * source: RR-9317, section 2.1
 */
assert RolesHaveOneProvider {
  no r: Role, disj l, h: provided.r | r in l.provided & h.provided
}

/** LG003 role-required-twice error: two locations require the same role
 * message: both `{l}` and `{h}` require the role `{r}`
 * at: h "requires `{r}`"
 * also: l "requires it too"
 * help: give each location a role of its own
 * why: A role joins the one location that provides it with the one that requires it.
 * source: RR-9317, section 2.1
 */
assert RolesHaveOneRequirer {
  no r: Role, disj l, h: required.r | r in l.required & h.required
}

/** LG004 location-bound-to-itself error: a location both provides and requires a role
 * message: `{l}` both provides and requires the role `{r}`
 * at: l "bound to itself"
 * also: r "by this role"
 * help: remove the role from one of the two lists, or let another location provide it
 * why: A location cannot be bound to itself.
 * source: RR-9317, section 2.1
 */
assert LocationsServeOthers {
  no l: Location, r: l.provided | r in l.required
}
