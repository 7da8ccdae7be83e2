module util/relation
// Properties of binary relations.

/** What it relates from. */
fun dom[r: univ -> univ]: set (r.univ) { r.univ }

/** What it relates to. */
fun ran[r: univ -> univ]: set (univ.r) { univ.r }

/** Everything in `s` is related to something. */
pred total[r: univ -> univ, s: set univ] { all x: s | some x.r }

/** Nothing in `s` is related to two things. */
pred functional[r: univ -> univ, s: set univ] { all x: s | lone x.r }

/** Everything in `s` is related to one thing. */
pred function[r: univ -> univ, s: set univ] { all x: s | one x.r }

/** Something is related to everything in `s`. */
pred surjective[r: univ -> univ, s: set univ] { all x: s | some r.x }

/** No two things are related to one thing in `s`. */
pred injective[r: univ -> univ, s: set univ] { all x: s | lone r.x }

/** One thing is related to each thing in `s`. */
pred bijective[r: univ -> univ, s: set univ] { all x: s | one r.x }

/** Pairs each thing in `d` with one in `c`, and the other way round. */
pred bijection[r: univ -> univ, d, c: set univ] {
  function[r, d]
  bijective[r, c]
}

/** Everything in `s` is related to itself. */
pred reflexive[r: univ -> univ, s: set univ] { s <: iden in r }

/** Nothing is related to itself. */
pred irreflexive[r: univ -> univ] { no iden & r }

/** Related one way means related the other way. */
pred symmetric[r: univ -> univ] { ~r in r }

/** Related both ways means the same. */
pred antisymmetric[r: univ -> univ] { ~r & r in iden }

/** Related in two steps means related in one. */
pred transitive[r: univ -> univ] { r.r in r }

/** Nothing in `s` comes back to itself. */
pred acyclic[r: univ -> univ, s: set univ] { all x: s | x not in x.^r }

/** Any two of `s` are related one way or the other. */
pred complete[r: univ -> univ, s: univ] {
  all x, y: s | x != y implies x -> y in (r + ~r)
}

/** Reflexive and transitive. */
pred preorder[r: univ -> univ, s: set univ] {
  reflexive[r, s]
  transitive[r]
}

/** A preorder that is symmetric. */
pred equivalence[r: univ -> univ, s: set univ] {
  preorder[r, s]
  symmetric[r]
}

/** A preorder that is antisymmetric. */
pred partialOrder[r: univ -> univ, s: set univ] {
  preorder[r, s]
  antisymmetric[r]
}

/** A partial order that is complete. */
pred totalOrder[r: univ -> univ, s: set univ] {
  partialOrder[r, s]
  complete[r, s]
}
