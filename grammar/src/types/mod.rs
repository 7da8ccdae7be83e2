//! Bounding types: which signatures the tuples of an expression may come from.
//!
//! Checking goes in two passes, as in Alloy. Bottom up, every node gets the type it could have, and an
//! overloaded name stays a choice ([`expr`], [`make`], [`operators`], [`calls`]). Top down, what the
//! context can use narrows the choices until one is left ([`narrow`], [`relevance`], [`choose`]).

pub(crate) mod calls;
pub(crate) mod choose;
pub(crate) mod deduce;
pub(crate) mod expr;
pub(crate) mod hierarchy;
pub(crate) mod make;
pub(crate) mod narrow;
pub(crate) mod operators;
pub(crate) mod product;
pub(crate) mod relevance;
