//! Evaluation of rules over the facts of one configuration.
//!
//! Everything is evaluated in three values, because a configuration may hold values that are not known
//! before it is deployed: a formula holds for every input, for none, or that is not known.

mod closure;
mod database;
mod evaluate;
mod formulas;
mod integers;
mod membership;
mod query;
mod set;
mod shared;
mod table;
mod trail;

pub use database::{AtomInfo, Database, DatabaseBuilder, Kind};
pub use evaluate::{Evaluator, Stopped};
pub use locus_rules::Builtin;
pub(crate) use query::Search;
pub use set::{Atom, Set, Tri};
pub(crate) use shared::{Shared, Slots};
pub use table::{Reasons, Table};
pub use trail::Touched;
