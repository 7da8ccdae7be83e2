/**
 * The Fractal component model, interpreted as location graphs.
 *
 * A kell is a graph with one distinguished location, its top, that composes its subkells. What Fractal
 * keeps apart, being part of a composite and being connected to a peer, are both bindings here: a top
 * has roles for its gates and roles to which its subkells are attached. The checks below show that the
 * subcomponent relation is exactly what those bindings say, and that two properties one might expect
 * are not there: containment need not be well-founded, and subcomponents may be shared.
 *
 * Source: INRIA research report 9317, section 3.
 */
module fractal

open lg/location_graphs

/** A location that composes kells: its roles are gates or attachments of sub- and superkells. */
abstract sig KellComp extends Location {
  grequired: set Role,
  gprovided: set Role,
  subrequired: set Role,
  subprovided: set Role
}

fact Gates_are_not_subs {
  all k: KellComp | no (k.grequired + k.gprovided) & (k.subrequired + k.subprovided)
}

fact Gates_and_subs_are_location_roles {
  all k: KellComp |
    k.grequired + k.subrequired = k.required and k.gprovided + k.subprovided = k.provided
}

/** A component: the graph of its top and of everything below it. */
abstract sig Kell extends LocationGraph {
  top: one KellComp,
  sc: set Kell,
  gates: set Role,
  kid: one Name
}

fact Top_is_functional {
  all h, k: Kell | h.top = k.top implies h = k
}

fact All_locations_in_a_kell_are_kellcomps {
  all k: Kell | k.locations in KellComp
}

fact All_locations_in_a_subkell_are_also_in_top_graph {
  all k: Kell | k.^sc.locations + k.top = k.locations
}

fact All_top_subkells_locations_are_bound_to_top {
  all k: Kell | all h: k.sc.top | some r: h.subprovided | r in k.top.subrequired
}

fact All_bound_sub_roles_are_to_subkells_top_location {
  all k: Kell | k.top.subrequired in k.sc.top.subprovided
}

fact All_gates_are_gprovided_or_grequired_roles_of_its_top_location {
  all k: Kell | k.gates = k.top.gprovided + k.top.grequired
}

fact A_kell_id_is_the_name_of_its_top_location {
  all k: Kell | k.kid = k.top.name
}

/** Several kells, not necessarily parts of one another, in one graph. */
abstract sig KellSystem extends LocationGraph {
  kells: set Kell
}

fact All_locations_in_kells_of_kell_system_are_in_kell_system_graph {
  all ks: KellSystem | ks.locations = ks.kells.locations
}

fact All_subkells_in_kell_system_are_in_kell_system_kells {
  all ks: KellSystem | ks.kells.^sc in ks.kells
}

// ---------------------------------------------------------------------------------------------
// Properties
// ---------------------------------------------------------------------------------------------

/** The top of `k` is attached below the top of `h`. */
pred linked[h, k: Kell] {
  some r: h.top.subrequired | r in k.top.subprovided
}

/** `k` is attached below `h` or below a descendant of `h`. */
pred tlinked[h, k: Kell] {
  some p: h.*sc | linked[p, k]
}

assert Top_for_every_kell {
  all k: Kell | some kc: KellComp | k.top = kc
}

assert All_immediate_subkells_linked {
  all k: Kell | all h: k.sc | linked[k, h]
}

/**
 * F1: without a common kell system this is false, though the report expects it to hold: a role is provided
 * once within a graph, but two kells of different graphs may provide the same role. If h requires r,
 * h's subkell p provides r, and a kell k unrelated to h provides r as well, then h is linked to k and k
 * is no subkell of h. The next assertion, which the report has too, is the one that holds.
 */
assert All_linked_kells_are_subkells {
  all h, k: Kell | linked[h, k] implies k in h.sc
}

assert All_linked_kells_in_kell_system_are_subkells {
  all ks: KellSystem | all h, k: ks.kells | linked[h, k] implies k in h.sc
}

assert All_subkells_in_kell_system_are_linked {
  all ks: KellSystem | all h, k: ks.kells | k in h.sc implies linked[h, k]
}

assert All_tlinked_kells_in_kell_system_are_descendant_subkells {
  all ks: KellSystem | all h, k: ks.kells | tlinked[h, k] implies k in h.^sc
}

assert All_descendant_subkells_in_a_kell_system_are_tlinked {
  all ks: KellSystem | all h, k: ks.kells | k in h.^sc implies tlinked[h, k]
}

// ---------------------------------------------------------------------------------------------
// Properties that are meant to fail
// ---------------------------------------------------------------------------------------------

/** Fails: a kell may contain itself through others, as modules may depend on each other. */
assert Well_foundedness {
  no p: Kell | p in p.^sc
}

/** Fails: two composites may have a subkell in common. */
assert Sharing_not_possible {
  all k: Kell | no p, q, h: k.^sc |
    h in p.sc and h in q.sc and p != q and p not in q.sc and q not in p.sc
}

/** Fails, as the one before, when said with bindings instead of the subcomponent relation. */
assert Sharing_not_possible_bis {
  all ks: KellSystem | all k: ks.kells | no p, q, h: ks.kells |
    tlinked[k, p] and tlinked[k, q] and tlinked[k, h]
      and p != q and not tlinked[q, p] and not tlinked[p, q]
}

run Model {} expect 1

check Top_for_every_kell for 20 expect 0
check All_immediate_subkells_linked for 20 expect 0
// The report says `expect 0`; see the assertion.
check All_linked_kells_are_subkells for 15 expect 1
check All_linked_kells_in_kell_system_are_subkells for 15 expect 0
check All_subkells_in_kell_system_are_linked for 15 expect 0
check All_tlinked_kells_in_kell_system_are_descendant_subkells for 11 expect 0
check All_descendant_subkells_in_a_kell_system_are_tlinked for 10 expect 0
check Well_foundedness for 10 expect 1
check Sharing_not_possible for 10 expect 1
check Sharing_not_possible_bis for 10 expect 1
