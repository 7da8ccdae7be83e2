//! The verifier's durable state: cursors, ledgers, and the trust in workers and pods.
//!
//! In SQLite (write-ahead mode with full synchronisation), or in PostgreSQL where several verifiers share it; every change
//! is one transaction, so that a loss of power leaves the state before it or after it.

mod changes;
mod commit;
mod history;
mod leases;
mod orphans;
mod pods;
mod schema;
mod workers;

pub(crate) use changes::RAN_OUT;
pub use changes::{Change, ChangeKind, Changes, KEPT_CHANGES, Watched};
pub use commit::{Committed, Conclusion, Stale};
pub use leases::{Beat, Lease, Turn};
pub use workers::Revision;

use std::path::Path;

use crate::database::{Database, DatabaseError, Location};
use schema::SCHEMA;

/// Why the state could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// What is in it.
    #[error("the verifier's database holds a {0} that cannot be read")]
    Content(&'static str),
    /// Nothing of that name.
    #[error("there is no {kind} `{name}`")]
    NotFound {
        /// What.
        kind: &'static str,
        /// Which.
        name: String,
    },
    /// Another worker or pod has the name.
    #[error("{0}")]
    Conflict(String),
    /// Changes since a version that is not remembered any more.
    #[error(
        "changes since version {since} are not known any more; list workers and pods again, and go on \
         from the version of the list"
    )]
    Gone {
        /// The version.
        since: u64,
    },
}

/// The database.
pub struct VerifierStore(Database);

/// How far the clocks of verifiers that share a database may be apart, in milliseconds.
pub const SKEW_MILLIS: i64 = 5_000;

impl VerifierStore {
    /// Opens or makes the database in a file.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Ok(VerifierStore(Database::open(path, &SCHEMA)?))
    }

    /// Opens or makes the database where it is: `verifier.db` in a folder, or a store that verifiers share.
    pub fn open_at(location: &Location, folder: &Path) -> Result<Self, StoreError> {
        let database = location.open(folder, "verifier.db", &SCHEMA)?;
        Ok(VerifierStore(database))
    }

    /// A database that is gone with the process.
    pub fn in_memory() -> Result<Self, StoreError> {
        Ok(VerifierStore(Database::in_memory(&SCHEMA)?))
    }

    /// Whether other verifiers have the same database.
    pub fn is_shared(&self) -> bool {
        self.0.is_shared()
    }

    /// How far in the future something may have been decided: by a verifier whose clock is ahead, or not at all.
    pub fn skew_millis(&self) -> i64 {
        if self.is_shared() { SKEW_MILLIS } else { 0 }
    }
}

fn not_found(kind: &'static str, name: impl ToString) -> StoreError {
    StoreError::NotFound {
        kind,
        name: name.to_string(),
    }
}

/// A number that SQLite keeps with a sign and that never has one.
fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
