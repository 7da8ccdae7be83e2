module util/boolean
// Truth values as atoms, for fields that hold one. A formula needs none of this.

abstract sig Bool {}
one sig True, False extends Bool {}

/** The value is true. */
pred isTrue[b: Bool] { b = True }

/** The value is false. */
pred isFalse[b: Bool] { b = False }

/** The other value. */
fun Not[b: Bool]: Bool { Bool - b }

/** True when both are. */
fun And[b1, b2: Bool]: Bool { truth_[b1 + b2, True] }

/** True when one is. */
fun Or[b1, b2: Bool]: Bool { truth_[True, b1 + b2] }

/** True when they differ. */
fun Xor[b1, b2: Bool]: Bool { truth_[Bool, b1 + b2] }

/** True unless both are. */
fun Nand[b1, b2: Bool]: Bool { truth_[False, b1 + b2] }

/** True when neither is. */
fun Nor[b1, b2: Bool]: Bool { truth_[b1 + b2, False] }

// Whether one set is part of another, as a value.
private fun truth_[part, whole: set Bool]: Bool { part in whole implies True else False }
