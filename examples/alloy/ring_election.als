/**
 * Leader election in a ring: every node passes the largest identifier it has seen to its
 * neighbour, and the node that gets its own identifier back is the leader.
 */
module ring_election

open util/ordering[Time] as time
open util/ordering[Node] as ids

sig Time {}

sig Node {
	succ: one Node,
	/** Identifiers that wait to be passed on. */
	waiting: Node -> Time,
	elected: set Time
}

fact Ring { all n: Node | Node in n.^succ }

/** At first every node is about to send its own identifier. */
pred init[t: Time] { all n: Node | n.waiting.t = n }

/** A node hands one identifier to its successor, which keeps it only if it is not smaller. */
pred pass[t, u: Time, n: Node] {
	some id: n.waiting.t {
		n.waiting.u = n.waiting.t - id
		n.succ.waiting.u = n.succ.waiting.t + (id - ids/prevs[n.succ])
	}
}

pred stay[t, u: Time, n: Node] { n.waiting.u = n.waiting.t }

fact Trace {
	init[time/first]
	all t: Time - time/last | let u = time/next[t] |
		all n: Node | pass[t, u, n] or pass[t, u, succ.n] or stay[t, u, n]
}

/** A node is elected at the moment its own identifier reaches it. */
fact Elected {
	no elected.time/first
	all t: Time - time/first |
		elected.t = { n: Node | n in n.waiting.t - n.waiting.(time/prev[t]) }
}

/** At most one node is ever elected. */
assert OneLeader { lone elected.Time }
check OneLeader for 4 but 9 Time expect 0

/** Somebody can be elected. */
run Success { some elected.Time } for exactly 3 Node, 6 Time expect 1

/** With too few steps nobody can. */
run TooFew { some elected.Time } for exactly 4 Node, 4 Time expect 0
