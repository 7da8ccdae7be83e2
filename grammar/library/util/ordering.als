module util/ordering[exactly elem]
// One linear order over all atoms of a signature, which must fill its scope.

private one sig Ord {
  First: set elem,
  Next: elem -> elem
} {
  pred/totalOrder[elem, First, Next]
}

/** The first element. */
fun first: one elem { Ord.First }

/** The last element. */
fun last: one elem { elem - (next.elem) }

/** From each element to the one before it. */
fun prev: elem -> elem { ~(Ord.Next) }

/** From each element to the one after it. */
fun next: elem -> elem { Ord.Next }

/** All elements before one. */
fun prevs[e: elem]: set elem { e.^(~(Ord.Next)) }

/** All elements after one. */
fun nexts[e: elem]: set elem { e.^(Ord.Next) }

/** `e1` is before `e2`. */
pred lt[e1, e2: elem] { e1 in prevs[e2] }

/** `e1` is after `e2`. */
pred gt[e1, e2: elem] { e1 in nexts[e2] }

/** `e1` is `e2` or before it. */
pred lte[e1, e2: elem] { e1 = e2 or lt[e1, e2] }

/** `e1` is `e2` or after it. */
pred gte[e1, e2: elem] { e1 = e2 or gt[e1, e2] }

/** The later of two. */
fun larger[e1, e2: elem]: elem { lt[e1, e2] implies e2 else e1 }

/** The earlier of two. */
fun smaller[e1, e2: elem]: elem { lt[e1, e2] implies e1 else e2 }

/** The last of a set, nothing when it is empty. */
fun max[es: set elem]: lone elem { es - es.^(~(Ord.Next)) }

/** The first of a set, nothing when it is empty. */
fun min[es: set elem]: lone elem { es - es.^(Ord.Next) }

/** What makes the order a line. */
assert correct {
  let after_ = Ord.Next, before_ = ~after_ {
    all e: elem | lone e.next and lone e.prev and e not in e.^after_
    no first.prev
    no last.next
    all e: elem - (first + last) | one e.prev and one e.next
    not one elem implies (one first and one last and first != last and one first.next and one last.prev)
    one elem implies (first = elem and last = elem and no after_ and no before_)
    elem = first.*after_
    all disj a, b: elem | a in b.^after_ iff b in a.^before_
    all disj a, b: elem | a in b.^after_ or a in b.^before_
    no disj a, b: elem | a in b.^after_ and a in b.^before_
    all disj a, b, c: elem | b in a.^after_ and c in b.^after_ implies c in a.^after_
  }
}

run {} for exactly 0 elem expect 0
run {} for exactly 1 elem expect 1
run {} for exactly 2 elem expect 1
run {} for exactly 3 elem expect 1
run {} for exactly 4 elem expect 1
check correct for exactly 0 elem
check correct for exactly 1 elem
check correct for exactly 2 elem
check correct for exactly 3 elem
check correct for exactly 4 elem
check correct for exactly 5 elem
