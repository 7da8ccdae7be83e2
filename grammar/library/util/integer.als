module util/integer
// Arithmetic on integers of the bit width of the command, and the order of all integers.

/** The sum. */
fun add[n1, n2: Int]: Int { n1 fun/add n2 }

/** The sum. */
fun plus[n1, n2: Int]: Int { n1 fun/add n2 }

/** The difference. */
fun sub[n1, n2: Int]: Int { n1 fun/sub n2 }

/** The difference. */
fun minus[n1, n2: Int]: Int { n1 fun/sub n2 }

/** The product. */
fun mul[n1, n2: Int]: Int { n1 fun/mul n2 }

/** The quotient, rounded towards zero. */
fun div[n1, n2: Int]: Int { n1 fun/div n2 }

/** What division leaves: the sign is that of `n1`. */
fun rem[n1, n2: Int]: Int { n1 fun/rem n2 }

/** The same distance on the other side of zero. */
fun negate[n: Int]: Int { 0 fun/sub n }

/** Equal as numbers. */
pred eq[n1, n2: Int] { int[n1] = int[n2] }

/** Greater than. */
pred gt[n1, n2: Int] { n1 > n2 }

/** Less than. */
pred lt[n1, n2: Int] { n1 < n2 }

/** Greater than or equal to. */
pred gte[n1, n2: Int] { n1 >= n2 }

/** Less than or equal to. */
pred lte[n1, n2: Int] { n1 <= n2 }

/** Zero. */
pred zero[n: Int] { n = 0 }

/** Above zero. */
pred pos[n: Int] { n > 0 }

/** Below zero. */
pred neg[n: Int] { n < 0 }

/** Not above zero. */
pred nonpos[n: Int] { n <= 0 }

/** Not below zero. */
pred nonneg[n: Int] { n >= 0 }

/** -1, 0 or 1, as the number is below, at or above zero. */
fun signum[n: Int]: Int { n < 0 implies (0 fun/sub 1) else (n > 0 implies 1 else 0) }

/** The element of `s` at position `i`, from 0, in the order `next`. */
fun int2elem[i: Int, next: univ -> univ, s: set univ]: lone s {
  { e: s | #^next.e = int i }
}

/** The position of an element, from 0, in the order `next`. */
fun elem2int[e: univ, next: univ -> univ]: lone Int { Int[#^next.e] }

/** The largest integer there is. */
fun max: one Int { fun/max }

/** The smallest integer there is. */
fun min: one Int { fun/min }

/** From each integer to the one after it. */
fun next: Int -> Int { fun/next }

/** From each integer to the one before it. */
fun prev: Int -> Int { ~next }

/** The largest of a set. */
fun max[es: set Int]: lone Int { es - es.^prev }

/** The smallest of a set. */
fun min[es: set Int]: lone Int { es - es.^next }

/** All integers before one. */
fun prevs[e: Int]: set Int { e.^prev }

/** All integers after one. */
fun nexts[e: Int]: set Int { e.^next }

/** The larger of two. */
fun larger[e1, e2: Int]: Int { let a = int[e1], b = int[e2] | (a < b implies b else a) }

/** The smaller of two. */
fun smaller[e1, e2: Int]: Int { let a = int[e1], b = int[e2] | (a < b implies a else b) }
