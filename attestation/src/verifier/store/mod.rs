//! The verifier's durable state: cursors, ledgers, and the trust in workers and pods.
//!
//! One SQLite database in write-ahead mode with full synchronisation; every change is one transaction,
//! so that a loss of power leaves the state before it or after it.

mod changes;
mod commit;
mod history;
mod pods;
mod schema;
mod workers;

pub(crate) use changes::RAN_OUT;
pub use changes::{Change, ChangeKind, Changes, KEPT_CHANGES, Watched};
pub use commit::{Conclusion, Stale};

use std::path::Path;

use rusqlite::Connection;

use crate::registrar::database::{self, DatabaseError};
use schema::{APPLICATION, MIGRATIONS};

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

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        StoreError::Database(error.into())
    }
}

/// The database.
pub struct VerifierStore(Connection);

impl VerifierStore {
    /// Opens or makes the database in a file.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = database::open(path, APPLICATION, MIGRATIONS)?;
        Ok(VerifierStore(connection))
    }

    /// A database that is gone with the process.
    pub fn in_memory() -> Result<Self, StoreError> {
        let connection = database::open_in_memory(APPLICATION, MIGRATIONS)?;
        Ok(VerifierStore(connection))
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
