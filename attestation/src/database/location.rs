//! Where the databases are: files of one process, or a PostgreSQL that several share.

use std::fmt;
use std::path::Path;

#[cfg(feature = "postgres")]
use super::postgres::Server;
use super::{Database, DatabaseError, Schema};

/// Where a gate keeps its databases.
#[derive(Clone, Default)]
pub enum Location {
    /// In files of its own; a second process is refused.
    #[default]
    Files,
    /// In PostgreSQL, with any number of other gates.
    #[cfg(feature = "postgres")]
    Postgres(Box<Server>),
}

impl Location {
    /// Reads `postgres://USER:PASSWORD@HOST/DATABASE`.
    #[cfg(feature = "postgres")]
    pub fn parse(url: &str) -> Result<Self, DatabaseError> {
        Ok(Location::Postgres(Box::new(Server::parse(url)?)))
    }

    /// Without PostgreSQL there is nothing to be read.
    #[cfg(not(feature = "postgres"))]
    pub fn parse(_: &str) -> Result<Self, DatabaseError> {
        Err(DatabaseError::Url(
            "this program was built without PostgreSQL (feature `postgres`)".to_owned(),
        ))
    }

    /// Opens a database: the file in a folder, or the tables of that name.
    pub fn open(
        &self,
        folder: &Path,
        file: &str,
        schema: &'static Schema,
    ) -> Result<Database, DatabaseError> {
        match self {
            Location::Files => Database::open(&folder.join(file), schema),
            #[cfg(feature = "postgres")]
            Location::Postgres(server) => Database::connect(server, schema),
        }
    }

    /// Whether who reads how it was said can use it, too.
    pub fn has_password(&self) -> bool {
        match self {
            Location::Files => false,
            #[cfg(feature = "postgres")]
            Location::Postgres(server) => server.has_password(),
        }
    }

    /// Whether other gates have the same databases.
    pub fn is_shared(&self) -> bool {
        !matches!(self, Location::Files)
    }
}

impl fmt::Debug for Location {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Files => f.write_str("Files"),
            #[cfg(feature = "postgres")]
            Location::Postgres(server) => server.fmt(f),
        }
    }
}
