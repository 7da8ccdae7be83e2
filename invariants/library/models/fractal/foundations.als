/**
 * The kell: the notion of component on which the Fractal component model is founded, in its own terms.
 *
 * Kept next to `fractal.als`, which gives the same notion as a location graph, so that the two can be
 * compared: there `Name` plays the part of `Id` and `Role` that of `Gate`.
 *
 * Source: INRIA research report 9317, section 3, after P. Merle and J.-B. Stefani, "A formal
 * specification of the Fractal component model in Alloy", INRIA research report 6721 (2008).
 */
module fractal/foundations

sig Id {}

/** A point of interaction of a kell. */
sig Gate {
  gid: Id
}

/** A component: its gates, its subcomponents and its identity. */
sig Kell {
  gates: set Gate,
  sc: set Kell,
  kid: Id
}

fact GatesInKellHaveUniqueIds {
  all c: Kell | all i, j: c.gates | i.gid = j.gid implies i = j
}

run Default {} expect 1
