module util/ternary
// Columns of relations with three.

/** The first column. */
fun dom[r: univ -> univ -> univ]: set ((r.univ).univ) { (r.univ).univ }

/** The last column. */
fun ran[r: univ -> univ -> univ]: set (univ.(univ.r)) { univ.(univ.r) }

/** The middle column. */
fun mid[r: univ -> univ -> univ]: set (univ.(r.univ)) { univ.(r.univ) }

/** The first two columns. */
fun select12[r: univ -> univ -> univ]: r.univ { r.univ }

/** The first and the last column. */
fun select13[r: univ -> univ -> univ]: ((r.univ).univ) -> (univ.(univ.r)) {
  { x: (r.univ).univ, z: univ.(univ.r) | some (x.r).z }
}

/** The last two columns. */
fun select23[r: univ -> univ -> univ]: univ.r { univ.r }

/** The first two columns exchanged. */
fun flip12[r: univ -> univ -> univ]: (univ.(r.univ)) -> ((r.univ).univ) -> (univ.(univ.r)) {
  { x: univ.(r.univ), y: (r.univ).univ, z: univ.(univ.r) | y -> x -> z in r }
}

/** The first and the last column exchanged. */
fun flip13[r: univ -> univ -> univ]: (univ.(univ.r)) -> (univ.(r.univ)) -> ((r.univ).univ) {
  { x: univ.(univ.r), y: univ.(r.univ), z: (r.univ).univ | z -> y -> x in r }
}

/** The last two columns exchanged. */
fun flip23[r: univ -> univ -> univ]: ((r.univ).univ) -> (univ.(univ.r)) -> (univ.(r.univ)) {
  { x: (r.univ).univ, y: univ.(univ.r), z: univ.(r.univ) | x -> z -> y in r }
}
