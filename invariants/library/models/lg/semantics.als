/**
 * Location graphs: how they evolve.
 *
 * A transition takes a set of locations to another one. Its context holds the names and roles known
 * beforehand, so that "fresh" can be said; its label holds the interactions offered to locations
 * outside the set. Two ways of composing transitions are defined: synchronizing several of them, whose
 * interactions on bound roles must match pairwise and then disappear from the label, and uncoupling one
 * of them from locations that take no part.
 *
 * Source: INRIA research report 9317, section 2.2. Priorities and authorization, which the general
 * framework has, are left out there and here.
 */
module lg/semantics

open lg/location_graphs

/** One step of a set of locations. */
sig Transition {
  env: one Context,
  init: set Location,
  label: one Label,
  term: set Location
}

/** The names and roles known when a transition starts. */
sig Context {
  eatoms: set Name + Role
}

/** What a transition shows to its environment. */
sig Label {
  signals: set Interaction
}

/** A value offered or accepted over a role, from its providing or its requiring side. */
sig Interaction {
  irole: one Role,
  polarity: one Polarity,
  payload: one Value
}

/** The side of a role on which an interaction takes place. */
abstract sig Polarity {}

/** `Plus` is the providing side, `Minus` the requiring side. */
one sig Plus, Minus extends Polarity {}

// ---------------------------------------------------------------------------------------------
// Roles and atoms of location sets
// ---------------------------------------------------------------------------------------------

/** Some location of the set provides the role and some location of the set requires it. */
pred Bound_in_LS[r: Role, c: set Location] {
  some l, h: c | r in l.provided & h.required
}

pred Bound_in_LG[r: Role, c: LocationGraph] {
  Bound_in_LS[r, c.locations]
}

fun Bound_roles_in_LS[c: set Location]: set Role {
  { r: Role | Bound_in_LS[r, c] }
}

fun Bound_roles_in_LG[c: LocationGraph]: set Role {
  Bound_roles_in_LS[c.locations]
}

fun Unbound_roles_in_LS[c: set Location]: set Role {
  c.provided + c.required - Bound_roles_in_LS[c]
}

fun Unbound_roles_in_LG[c: LocationGraph]: set Role {
  Unbound_roles_in_LS[c.locations]
}

/** Every name and role that occurs in the set, also inside processes and sorts. */
fun AtomsInGraph[c: set Location]: set Name + Role {
  c.process.patoms + c.sort.satoms + c.provided + c.required + c.name
}

/** The two sets can be put side by side: they share no name and compete for no role. */
pred MixableLS[c, d: set Location] {
  no c.name & d.name
  no c.provided & d.provided
  no c.required & d.required
}

pred MixableLG[c, d: LocationGraph] {
  MixableLS[c.locations, d.locations]
}

/** `c` is `c1` and `c2` side by side. */
pred Compose[c, c1, c2: LocationGraph] {
  c.locations = c1.locations + c2.locations
}

/** The graphs that consist of this one location. */
fun LocationGraphFromLocation[l: Location]: set LocationGraph {
  { c: LocationGraph | c.locations = l }
}

// ---------------------------------------------------------------------------------------------
// What every transition obeys
// ---------------------------------------------------------------------------------------------

fact TransitionsContextsGatherAllAtoms {
  all t: Transition | AtomsInGraph[t.init] in t.env.eatoms
}

fact ATransitionInitialGraphsNotEmpty {
  all t: Transition | some t.init
}

// An interaction between two locations of the same set is internal: it is not seen from outside.
fact SignalsInTransitionsEmittedOnUnboundRoles {
  all t: Transition | t.label.signals.irole in Unbound_roles_in_LS[t.init]
}

fact SignalsInTransitionsEmittedOnAGivenRoleAreUnique {
  all t: Transition, r: Role | lone m: t.label.signals | m.irole = r
}

// ---------------------------------------------------------------------------------------------
// Composition of transitions. The report's inference rules become predicates over transitions.
// ---------------------------------------------------------------------------------------------

pred Matched_Polarities[p, q: Polarity] {
  (p in Plus and q in Minus) or (p in Minus and q in Plus)
}

/** The two ends of one successful exchange: same role, same value, opposite sides. */
pred Matched_Signal_Pair[m, n: Interaction] {
  m.irole = n.irole
  m.payload = n.payload
  Matched_Polarities[m.polarity, n.polarity]
}

/** At most one interaction for each side of a role. */
pred WF_Signals[s: set Interaction] {
  all m, n: s | (m.irole = n.irole and m.polarity = n.polarity) implies m = n
}

/** Every interaction of the set has its counterpart in the set. */
pred Matched_Signals[s: set Interaction] {
  WF_Signals[s]
  all m: s | one n: s | Matched_Signal_Pair[m, n]
}

/** The interactions of these transitions that are internal to the union of their initial sets. */
fun Internal_Signals[ts: set Transition]: set Interaction {
  { m: ts.label.signals | m.irole in Bound_roles_in_LS[ts.init] }
}

/** The transitions can happen together as one step. */
pred Synchronized_Transitions[ts: set Transition] {
  one ts.env
  all disj t, u: ts | MixableLS[t.init, u.init]
  WellFormedLocationSet[ts.init]
  Matched_Signals[Internal_Signals[ts]]
  WellFormedLocationSet[ts.term]
}

/** `t` is the one step that the transitions `ts` make together. */
pred Synchronizing_Transition[t: Transition, ts: set Transition] {
  Synchronized_Transitions[ts]
  t.env = ts.env
  t.init = ts.init
  t.label.signals = ts.label.signals - Internal_Signals[ts]
  t.term = ts.term
}

/** `t` can happen next to `c` without `c` taking part. */
pred Uncoupled_Transition[t: Transition, c: set Location] {
  MixableLS[t.init, c]
  MixableLS[t.term, c]
  no t.label.signals.irole & (c.provided + c.required)
}

/** `tt` is `t` seen in a larger set in which `c` stays as it is. */
pred Uncoupling_Transition[tt, t: Transition, c: set Location] {
  tt.env = t.env
  Uncoupled_Transition[t, c]
  tt.init = t.init + c
  tt.label = t.label
  tt.term = t.term + c
}

// ---------------------------------------------------------------------------------------------
// Consistency
// ---------------------------------------------------------------------------------------------

run Model {
  some t: Transition | some t.label.signals
} for 10 but exactly 5 Transition, exactly 3 Interaction, exactly 3 Label expect 1

run ModelMatchedSignals {
  some s1, s2: Interaction | Matched_Signals[s1 + s2]
} for 10 expect 1

run ModelMixableLS {
  some c1, c2: set Location {
    #c1 > 1 and #c2 > 1
    #c1.provided > 1 and #c2.required > 2 and #c2.provided > 1
    MixableLS[c1, c2]
    WellFormedLocationSet[c1] and WellFormedLocationSet[c2]
  }
} for 10 expect 1

run ModelSynchronized {
  some t1, t2: Transition |
    Synchronized_Transitions[t1 + t2] and #(t1 + t2).label.signals > 3
} for 10 expect 1

run ModelSynchronizing {
  some t: Transition, ts: set Transition |
    Synchronizing_Transition[t, ts] and #ts > 2 and #ts.label.signals > 3
} for 10 expect 1

run ModelUncoupling {
  some t, tt: Transition, c: set Location |
    Uncoupling_Transition[tt, t, c] and #t.label.signals > 1
} for 10 expect 1

// ---------------------------------------------------------------------------------------------
// Consequences
// ---------------------------------------------------------------------------------------------

assert UnboundRolesNotBound {
  all c: LocationGraph | no Unbound_roles_in_LG[c] & Bound_roles_in_LG[c]
}

check UnboundRolesNotBound for 20 expect 0

/** Graphs that can be put side by side form a graph together. */
assert MixableLGsAreComposable {
  all c1, c2: LocationGraph |
    MixableLG[c1, c2] implies WellFormedLocationSet[c1.locations + c2.locations]
}

check MixableLGsAreComposable for 20 expect 0

assert MixableLS_Symmetric {
  all c, d: set Location | MixableLS[c, d] iff MixableLS[d, c]
}

check MixableLS_Symmetric for 20 expect 0

/** A synchronized step shows nothing of what its parts said to each other. */
assert Roles_In_Synchronizing_Transition_Labels_Are_Unbound {
  all t, t1, t2: Transition |
    Synchronizing_Transition[t, t1 + t2] implies
      no t.label.signals.irole & Bound_roles_in_LS[t.init]
}

check Roles_In_Synchronizing_Transition_Labels_Are_Unbound for 20 expect 0
