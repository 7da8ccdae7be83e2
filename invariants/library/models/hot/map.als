/**
 * Maps from text to values of one kind: what a Heat property of type `map` holds.
 *
 * Source: INRIA research report 9317, section 7.1.2, which opens such a module and does not print it (H1).
 */
module hot/map[V]

/** Each key has at most one value. */
sig Map {
  entries: String -> lone V
}
