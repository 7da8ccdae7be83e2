//! How tight operators bind, loosest first, as in Alloy's own grammar.

pub(crate) const LOOSEST: u8 = THEN;
/// `a ; b`.
pub(crate) const THEN: u8 = 1;
pub(crate) const OR: u8 = 2;
pub(crate) const IFF: u8 = 3;
/// `implies`, with or without `else`.
pub(crate) const IMPLIES: u8 = 4;
pub(crate) const AND: u8 = 5;
/// `until`, `since`, `triggered`, `releases`.
pub(crate) const TEMPORAL: u8 = 6;
/// `not`, `always` and the like.
pub(crate) const NOT: u8 = 7;
/// Comparisons, and `some e` and the like.
pub(crate) const COMPARE: u8 = 8;
pub(crate) const SHIFT: u8 = 9;
pub(crate) const ADD: u8 = 10;
pub(crate) const MUL: u8 = 11;
/// `#`, `sum`, `int`.
pub(crate) const COUNT: u8 = 12;
pub(crate) const OVERRIDE: u8 = 13;
pub(crate) const INTERSECT: u8 = 14;
pub(crate) const ARROW: u8 = 15;
pub(crate) const DOMAIN: u8 = 16;
pub(crate) const RANGE: u8 = 17;
/// `.` and `[ ]`.
pub(crate) const JOIN: u8 = 18;
pub(crate) const PRIME: u8 = 20;
/// `~`, `^`, `*`.
pub(crate) const UNARY: u8 = 21;
/// Names, literals and what stands in brackets.
pub(crate) const ATOM: u8 = 22;
