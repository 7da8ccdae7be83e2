module util/sequence[elem]
// Sequences as atoms, each a relation from ordered indices to elements.

open util/ordering[SeqIdx] as ord

sig SeqIdx {}

sig Seq {
  seqElems: SeqIdx -> lone elem
} {
  // No gaps: an index in use means that the one before it is in use.
  all i: SeqIdx - ord/first | some i.seqElems implies some ord/prev[i].seqElems
}

/** No two sequences are the same. */
fact canonicalizeSeqs {
  no s1, s2: Seq | s1 != s2 and s1.seqElems = s2.seqElems
}

/** No sequence has an element twice. */
pred noDuplicates { all s: Seq | not s.hasDups }

/** Every sequence that the scope has room for is there. */
pred allExist {
  some s: Seq | s.isEmpty
  all s: Seq | SeqIdx not in s.inds implies (all e: elem | some longer: Seq | s.add[e, longer])
}

/** Every sequence without duplicates that the scope has room for is there, and no other. */
pred allExistNoDuplicates {
  some s: Seq | s.isEmpty
  all s: Seq {
    not s.hasDups
    SeqIdx not in s.inds implies (all e: elem - s.elems | some longer: Seq | s.add[e, longer])
  }
}

/** The element at an index. */
fun at[s: Seq, i: SeqIdx]: lone elem { i.(s.seqElems) }

/** The elements. */
fun elems[s: Seq]: set elem { SeqIdx.(s.seqElems) }

/** The first element. */
fun first[s: Seq]: lone elem { s.at[ord/first] }

/** The last element. */
fun last[s: Seq]: lone elem { s.at[s.lastIdx] }

/** `r` is all of `s` but the first element, of which there must be one. */
pred rest[s, r: Seq] {
  not s.isEmpty
  all i: SeqIdx | r.at[i] = s.at[ord/next[i]]
}

/** Has no elements. */
pred isEmpty[s: Seq] { no s.elems }

/** Some element is there twice. */
pred hasDups[s: Seq] { #elems[s] < #inds[s] }

/** The indices in use. */
fun inds[s: Seq]: set SeqIdx { elem.~(s.seqElems) }

/** The last index in use. */
fun lastIdx[s: Seq]: lone SeqIdx { ord/max[s.inds] }

/** The first index not in use; nothing when all are. */
fun afterLastIdx[s: Seq]: lone SeqIdx { ord/min[SeqIdx - s.inds] }

/** The first index of an element. */
fun idxOf[s: Seq, e: elem]: lone SeqIdx { ord/min[s.indsOf[e]] }

/** The last index of an element. */
fun lastIdxOf[s: Seq, e: elem]: lone SeqIdx { ord/max[s.indsOf[e]] }

/** All indices of an element. */
fun indsOf[s: Seq, e: elem]: set SeqIdx { (s.seqElems).e }

/** Begins as `prefix` does. */
pred startsWith[s, prefix: Seq] { all i: prefix.inds | s.at[i] = prefix.at[i] }

/** `added` is `s` with an element at the end. */
pred add[s: Seq, e: elem, added: Seq] {
  added.startsWith[s]
  added.seqElems[s.afterLastIdx] = e
  #added.inds = (#s.inds).add[1]
}

/** `setted` is `s` with another element at an index. */
pred setAt[s: Seq, idx: SeqIdx, e: elem, setted: Seq] {
  setted.seqElems = s.seqElems ++ idx -> e
}

/** `inserted` is `s` with an element put in at an index. */
pred insert[s: Seq, idx: SeqIdx, e: elem, inserted: Seq] {
  inserted.at[idx] = e
  all i: ord/prevs[idx] | inserted.at[i] = s.at[i]
  all i: ord/nexts[idx] | inserted.at[i] = s.at[ord/prev[i]]
  #inserted.inds = (#s.inds).add[1]
}

/** `source` is found in `dest` from an index on. */
pred copy[source, dest: Seq, destStart: SeqIdx] {
  all sourceIdx: source.inds | some destIdx: SeqIdx {
    ord/gte[destIdx, destStart]
    dest.at[destIdx] = source.at[sourceIdx]
    #ord/prevs[sourceIdx] = #(ord/prevs[destIdx] - ord/prevs[destStart])
  }
}

/** `appended` is one after the other. */
pred append[s1, s2, appended: Seq] {
  appended.startsWith[s1]
  copy[s2, appended, s1.afterLastIdx]
  #appended.inds = (#s1.inds).add[#s2.inds]
}

/** `sub` is the part of `s` from one index to another, both included. */
pred subseq[s, sub: Seq, from, to: SeqIdx] {
  ord/lte[from, to]
  copy[sub, s, from]
  #sub.inds = #(to + ord/prevs[to] - ord/prevs[from])
}

/** The first index there is. */
fun firstIdx: SeqIdx { ord/first }

/** The last index there is. */
fun finalIdx: SeqIdx { ord/last }
