module util/sequniv
open util/integer as ui
// Sequences as relations from integers to elements. A field declared with `seq` opens this as `seq`.
// What is passed in has no gaps from index 0, and then neither has what comes out.

/** Has at most one element at each index, and no gaps from index 0. */
pred isSeq[s: Int -> univ] {
  s in seq/Int -> lone univ
  s.inds - ui/next[s.inds] in 0
}

/** The elements. */
fun elems[s: Int -> univ]: set (Int.s) { seq/Int.s }

/** The first element. */
fun first[s: Int -> univ]: lone (Int.s) { s[0] }

/** The last element. */
fun last[s: Int -> univ]: lone (Int.s) { s[lastIdx[s]] }

/** All but the first element. */
fun rest[s: Int -> univ]: s { seq/Int <: ((ui/next).s) }

/** All but the last element. */
fun butlast[s: Int -> univ]: s { (seq/Int - lastIdx[s]) <: s }

/** Has no elements. */
pred isEmpty[s: Int -> univ] { no s }

/** Some element is there twice. */
pred hasDups[s: Int -> univ] { #elems[s] < #inds[s] }

/** The indices in use. */
fun inds[s: Int -> univ]: set Int { s.univ }

/** The last index in use. */
fun lastIdx[s: Int -> univ]: lone Int { ui/max[inds[s]] }

/** The first index not in use; nothing when all are. */
fun afterLastIdx[s: Int -> univ]: lone Int { ui/min[seq/Int - inds[s]] }

/** The first index of an element. */
fun idxOf[s: Int -> univ, e: univ]: lone Int { ui/min[indsOf[s, e]] }

/** The last index of an element. */
fun lastIdxOf[s: Int -> univ, e: univ]: lone Int { ui/max[indsOf[s, e]] }

/** All indices of an element. */
fun indsOf[s: Int -> univ, e: univ]: set Int { s.e }

/** With an element at the end; the same when there is no room. */
fun add[s: Int -> univ, e: univ]: s + (seq/Int -> e) { setAt[s, afterLastIdx[s], e] }

/** With another element at an index. */
fun setAt[s: Int -> univ, i: Int, e: univ]: s + (seq/Int -> e) { s ++ i -> e }

/** With an element put in at an index; what does not fit any more is lost. */
fun insert[s: Int -> univ, i: Int, e: univ]: s + (seq/Int -> e) {
  seq/Int <: ((ui/prevs[i] <: s) + (i -> e) + ui/prev.((ui/nexts[i] + i) <: s))
}

/** Without the element at an index. */
fun delete[s: Int -> univ, i: Int]: s {
  (ui/prevs[i] <: s) + (ui/next).(ui/nexts[i] <: s)
}

/** One after the other; what does not fit is lost. */
fun append[s1, s2: Int -> univ]: s1 + s2 {
  let shift = { to, from: seq/Int | int[to] = ui/add[int[from], ui/add[int[lastIdx[s1]], 1]] } |
    no s1 implies s2 else (s1 + shift.s2)
}

/** The part from one index to another, both included. */
fun subseq[s: Int -> univ, from, to: Int]: s {
  let shift = { new, old: seq/Int | int[new] = ui/sub[int[old], int[from]] } |
    shift.((seq/Int - ui/nexts[to]) <: s)
}
