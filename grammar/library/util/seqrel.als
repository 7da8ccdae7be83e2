module util/seqrel[elem]
// Sequences as relations from ordered indices to elements.

open util/integer
open util/ordering[SeqIdx] as ord

sig SeqIdx {}

/** Has at most one element at each index, and no gaps from the first index. */
pred isSeq[s: SeqIdx -> elem] {
  s in SeqIdx -> lone elem
  s.inds - ord/next[s.inds] in ord/first
}

/** The elements. */
fun elems[s: SeqIdx -> elem]: set elem { SeqIdx.s }

/** The first element. */
fun first[s: SeqIdx -> elem]: lone elem { s[ord/first] }

/** The last element. */
fun last[s: SeqIdx -> elem]: lone elem { s[lastIdx[s]] }

/** All but the first element. */
fun rest[s: SeqIdx -> elem]: SeqIdx -> elem { (ord/next).s }

/** All but the last element. */
fun butlast[s: SeqIdx -> elem]: SeqIdx -> elem { (SeqIdx - lastIdx[s]) <: s }

/** Has no elements. */
pred isEmpty[s: SeqIdx -> elem] { no s }

/** Some element is there twice. */
pred hasDups[s: SeqIdx -> elem] { #elems[s] < #inds[s] }

/** The indices in use. */
fun inds[s: SeqIdx -> elem]: set SeqIdx { s.elem }

/** The last index in use. */
fun lastIdx[s: SeqIdx -> elem]: lone SeqIdx { ord/max[inds[s]] }

/** The first index not in use; nothing when all are. */
fun afterLastIdx[s: SeqIdx -> elem]: lone SeqIdx { ord/min[SeqIdx - inds[s]] }

/** The first index of an element. */
fun idxOf[s: SeqIdx -> elem, e: elem]: lone SeqIdx { ord/min[indsOf[s, e]] }

/** The last index of an element. */
fun lastIdxOf[s: SeqIdx -> elem, e: elem]: lone SeqIdx { ord/max[indsOf[s, e]] }

/** All indices of an element. */
fun indsOf[s: SeqIdx -> elem, e: elem]: set SeqIdx { s.e }

/** With an element at the end; the same when there is no room. */
fun add[s: SeqIdx -> elem, e: elem]: SeqIdx -> elem { setAt[s, afterLastIdx[s], e] }

/** With another element at an index. */
fun setAt[s: SeqIdx -> elem, i: SeqIdx, e: elem]: SeqIdx -> elem { s ++ i -> e }

/** With an element put in at an index. */
fun insert[s: SeqIdx -> elem, i: SeqIdx, e: elem]: SeqIdx -> elem {
  (ord/prevs[i] <: s) + (i -> e) + (~(ord/next)).((ord/nexts[i] + i) <: s)
}

/** Without the element at an index. */
fun delete[s: SeqIdx -> elem, i: SeqIdx]: SeqIdx -> elem {
  (ord/prevs[i] <: s) + (ord/next).(ord/nexts[i] <: s)
}

/** One after the other. */
fun append[s1, s2: SeqIdx -> elem]: SeqIdx -> elem {
  let shift = { to, from: SeqIdx | #ord/prevs[to] = add[#ord/prevs[from], add[#ord/prevs[lastIdx[s1]], 1]] } |
    s1 + shift.s2
}

/** The part from one index to another, both included. */
fun subseq[s: SeqIdx -> elem, from, to: SeqIdx]: SeqIdx -> elem {
  let shift = { new, old: SeqIdx | #ord/prevs[new] = sub[#ord/prevs[old], #ord/prevs[from]] } |
    shift.((SeqIdx - ord/nexts[to]) <: s)
}

/** The first index there is. */
fun firstIdx: SeqIdx { ord/first }

/** The last index there is. */
fun finalIdx: SeqIdx { ord/last }
