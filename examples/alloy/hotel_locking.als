/**
 * Recodable hotel locks: a card carries the key it was coded with and the next one; a door that
 * sees a card with its next key recodes itself. Does a new guest keep the old one out?
 */
module hotel_locking

open util/ordering[Time] as time
open util/ordering[Key] as keys

sig Key, Time {}

sig Room {
	keys: set Key,
	current: keys one -> Time
}

fact KeysOfOneRoom { Room <: keys in Room lone -> Key }

one sig Desk {
	last: (Room -> lone Key) -> Time,
	occupant: (Room -> Guest) -> Time
}

sig Guest { cards: Key -> Time }

fun following[k: Key, ks: set Key]: set Key { keys/min[keys/nexts[k] & ks] }

pred init[t: Time] {
	no Guest.cards.t
	no Desk.occupant.t
	all r: Room | r.(Desk.last.t) = r.current.t
}

pred enter[t, u: Time, g: Guest, r: Room, k: Key] {
	k in g.cards.t
	let now = r.current {
		(k = now.t and now.u = now.t) or
		(k = following[now.t, r.keys] and now.u = k)
	}
	sameRooms[t, u, r]
	sameGuests[t, u, none]
	sameDesk[t, u]
}

pred checkIn[t, u: Time, g: Guest, r: Room, k: Key] {
	g.cards.u = g.cards.t + k
	no r.(Desk.occupant.t)
	Desk.occupant.u = Desk.occupant.t + r -> g
	Desk.last.u = Desk.last.t ++ r -> k
	k = following[r.(Desk.last.t), r.keys]
	sameRooms[t, u, none]
	sameGuests[t, u, g]
}

pred checkOut[t, u: Time, g: Guest] {
	some Desk.occupant.t.g
	Desk.occupant.u = Desk.occupant.t - Room -> g
	Desk.last.u = Desk.last.t
	sameRooms[t, u, none]
	sameGuests[t, u, none]
}

pred sameRooms[t, u: Time, others: set Room] { all r: Room - others | r.current.u = r.current.t }
pred sameGuests[t, u: Time, others: set Guest] { all g: Guest - others | g.cards.u = g.cards.t }
pred sameDesk[t, u: Time] {
	Desk.last.u = Desk.last.t
	Desk.occupant.u = Desk.occupant.t
}

fact Trace {
	init[time/first]
	all t: Time - time/last | let u = time/next[t] |
		some g: Guest, r: Room, k: Key |
			enter[t, u, g, r, k] or checkIn[t, u, g, r, k] or checkOut[t, u, g]
}

/** Nothing happens between a guest's arrival and their first visit to the room. */
pred Prompt {
	all t: Time - time/last | let u = time/next[t] | all v: time/next[u], g: Guest, r: Room, k: Key |
		checkIn[t, u, g, r, k] implies enter[u, v, g, r, k]
}

/** Whoever enters an occupied room is an occupant of it. */
pred OnlyOccupants {
	all t: Time - time/last, r: Room, g: Guest, k: Key | let o = r.(Desk.occupant.t) |
		enter[t, time/next[t], g, r, k] and some o implies g in o
}

assert NoIntruder { OnlyOccupants }
check NoIntruder for 3 but 7 Time, 2 Room, 2 Guest expect 1

assert NoIntruderWhenPrompt { Prompt implies OnlyOccupants }
check NoIntruderWhenPrompt for 3 but 7 Time, 2 Room, 2 Guest expect 0
