/**
 * Location graphs: what locations are and what they have.
 *
 * Rules read the same signatures from a configuration (`locus vocabulary lg`); the static semantics in `lg/static` is stated
 * once over both.
 *
 * Source: INRIA research report 9317, section 2.1.
 */
module lg/vocabulary

/** A unit of computation with its points of attachment. */
sig Location {
  name: one Name,
  process: one Process,
  sort: one Sort,
  provided: set Role,
  required: set Role
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
