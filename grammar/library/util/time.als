// Programs over a line of moments: a step is something that takes two of them.

open util/ordering[Time]

sig Time {}

// One value at every moment.
let dynamic[x] = x one -> Time

// Any number of values at every moment.
let dynamicSet[x] = x -> Time

// One step and then another.
let then[a, b, t, t"] {
  some x: Time | a[t, x] && b[x, t"]
}

// A step again and again as long as a condition holds: three times at most, or as many as the name says.
let while = while3

let while9[cond, body, t, t"] {
  some x: Time | (cond[t] implies body[t, x] else t = x) && while8[cond, body, x, t"]
}

let while8[cond, body, t, t"] {
  some x: Time | (cond[t] implies body[t, x] else t = x) && while7[cond, body, x, t"]
}

let while7[cond, body, t, t"] {
  some x: Time | (cond[t] implies body[t, x] else t = x) && while6[cond, body, x, t"]
}

let while6[cond, body, t, t"] {
  some x: Time | (cond[t] implies body[t, x] else t = x) && while5[cond, body, x, t"]
}

let while5[cond, body, t, t"] {
  some x: Time | (cond[t] implies body[t, x] else t = x) && while4[cond, body, x, t"]
}

let while4[cond, body, t, t"] {
  some x: Time | (cond[t] implies body[t, x] else t = x) && while3[cond, body, x, t"]
}

let while3[cond, body, t, t"] {
  some x: Time | (cond[t] implies body[t, x] else t = x) && while2[cond, body, x, t"]
}

let while2[cond, body, t, t"] {
  some x: Time | (cond[t] implies body[t, x] else t = x) && while1[cond, body, x, t"]
}

let while1[cond, body, t, t"] {
  some x: Time | (cond[t] implies body[t, x] else t = x) && while0[cond, body, x, t"]
}

let while0[cond, body, t, t"] {
  !cond[t] && t = t"
}
