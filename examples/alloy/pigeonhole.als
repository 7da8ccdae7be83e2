/** Pigeons do not fit into fewer holes: small to state, hard to prove by search. */
module pigeonhole

sig Hole {}

sig Pigeon { sits: one Hole }

/** No two pigeons share a hole. */
pred Comfortable { all h: Hole | lone sits.h }

run Fits { Comfortable } for exactly 8 Pigeon, exactly 8 Hole expect 1

check Crowded { not Comfortable } for exactly 9 Pigeon, exactly 8 Hole expect 0
