module util/natural
// The natural numbers from 0, as many as the scope of `Natural` says. A result that is not among them
// is the empty set.

private open util/ordering[Natural] as ord
private open util/integer as integer

sig Natural {}

/** Zero. */
one sig Zero in Natural {}

/** One, when the scope has room for it. */
lone sig One in Natural {}

fact {
  first in Zero
  next[first] in One
}

/** The number after. */
fun inc[n: Natural]: lone Natural { ord/next[n] }

/** The number before. */
fun dec[n: Natural]: lone Natural { ord/prev[n] }

/** The sum. */
fun add[n1, n2: Natural]: lone Natural {
  { n: Natural | #ord/prevs[n] = plus[#ord/prevs[n1], #ord/prevs[n2]] }
}

/** The difference. */
fun sub[n1, n2: Natural]: lone Natural {
  { n: Natural | #ord/prevs[n1] = plus[#ord/prevs[n2], #ord/prevs[n]] }
}

/** The product: as many as there are pairs. */
fun mul[n1, n2: Natural]: lone Natural {
  { n: Natural | #ord/prevs[n] = #(ord/prevs[n1] -> ord/prevs[n2]) }
}

/** The quotient, when there is no remainder. */
fun div[n1, n2: Natural]: lone Natural {
  { n: Natural | #ord/prevs[n1] = #(ord/prevs[n2] -> ord/prevs[n]) }
}

/** `n1` is greater than `n2`. */
pred gt[n1, n2: Natural] { ord/gt[n1, n2] }

/** `n1` is less than `n2`. */
pred lt[n1, n2: Natural] { ord/lt[n1, n2] }

/** `n1` is greater than or equal to `n2`. */
pred gte[n1, n2: Natural] { ord/gte[n1, n2] }

/** `n1` is less than or equal to `n2`. */
pred lte[n1, n2: Natural] { ord/lte[n1, n2] }

/** The largest of a set. */
fun max[ns: set Natural]: lone Natural { ord/max[ns] }

/** The smallest of a set. */
fun min[ns: set Natural]: lone Natural { ord/min[ns] }
