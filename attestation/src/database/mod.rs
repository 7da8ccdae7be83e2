//! The gate's databases: SQLite in a file, or PostgreSQL for several gates, with the same statements for both.
//!
//! A change is one transaction, and transactions that change something follow each other, also those of other gates: a
//! lock in PostgreSQL is to them what the lock of a file is to SQLite. Hence versions of changes become visible in their
//! order, and whoever has read up to one has missed none. What is long about a change is done before it.
//!
//! What PostgreSQL took back (a deadlock, a connection that broke before the commit) is done again. Whether a commit counts
//! during which the connection broke is not known: that is said, and whoever asked looks again.

mod location;
#[cfg(feature = "postgres")]
mod postgres;
mod schema;
#[cfg(all(feature = "postgres", any(test, feature = "testing")))]
pub mod server;
mod sqlite;
mod value;

use std::path::{Path, PathBuf};

pub use location::Location;
#[cfg(feature = "postgres")]
pub use postgres::Server;
pub use schema::{Migration, Schema};
pub(crate) use value::params;
pub use value::{FromValue, Row, ToValue, Value};

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// SQLite reports an error.
    #[error("the database reports: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// PostgreSQL reports an error.
    #[cfg(feature = "postgres")]
    #[error("the store reports: {}", postgres::told(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// PostgreSQL does not answer.
    #[error("the store cannot be reached: {0}")]
    Unreachable(String),
    /// PostgreSQL went away during a commit.
    #[error(
        "the connection to the store broke during a commit; whether the change counts shows when the store answers again"
    )]
    Unfinished,
    /// Where PostgreSQL is cannot be read.
    #[error("the URL of the store: {0}")]
    Url(String),
    /// The file cannot be made or made private.
    #[error("`{}`: {}", .0.display(), .1)]
    File(PathBuf, std::io::Error),
    /// The file is damaged.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// The file belongs to another program, or to another part of this one.
    #[error("the file is a database of something else")]
    Foreign,
    /// The tables belong to another program.
    #[error("the store has a schema `{0}` that is not of this program")]
    ForeignSchema(&'static str),
    /// The file was written by a newer version.
    #[error("the database has version {found}, and this program knows versions up to {known}")]
    Newer {
        /// Of the file.
        found: usize,
        /// Of the program.
        known: usize,
    },
    /// A column is not what it should be.
    #[error("column {column} of an answer of the database is not {wanted}")]
    Column {
        /// Which, from 0.
        column: usize,
        /// What it should be.
        wanted: &'static str,
    },
    /// A row that must be there is not.
    #[error("the database answers nothing where there is always something")]
    Nothing,
}

impl DatabaseError {
    /// Whether there is a row with the same key already.
    pub fn is_duplicate(&self) -> bool {
        match self {
            DatabaseError::Sqlite(error) => matches!(
                error.sqlite_extended_error_code(),
                Some(
                    rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE
                        | rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY
                )
            ),
            #[cfg(feature = "postgres")]
            DatabaseError::Postgres(error) => {
                error.code() == Some(&tokio_postgres::error::SqlState::UNIQUE_VIOLATION)
            }
            _ => false,
        }
    }

    /// Whether it may be over in a moment: nobody did anything wrong.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            DatabaseError::Unreachable(_) | DatabaseError::Unfinished
        )
    }
}

/// A database.
pub struct Database {
    backend: Backend,
}

enum Backend {
    Sqlite(Box<rusqlite::Connection>),
    #[cfg(feature = "postgres")]
    Postgres(Box<postgres::Store>),
}

/// Statements that belong together.
pub struct Transaction<'d> {
    on: On<'d>,
}

enum On<'d> {
    Sqlite(&'d rusqlite::Connection),
    #[cfg(feature = "postgres")]
    Postgres(postgres::Running<'d>),
}

impl Database {
    /// Opens or makes a database in a file.
    pub fn open(path: &Path, schema: &Schema) -> Result<Self, DatabaseError> {
        sqlite::open(path, schema).map(Self::of_sqlite)
    }

    /// A database that is gone with the process.
    pub fn in_memory(schema: &Schema) -> Result<Self, DatabaseError> {
        sqlite::open_in_memory(schema).map(Self::of_sqlite)
    }

    fn of_sqlite(connection: rusqlite::Connection) -> Self {
        Database {
            backend: Backend::Sqlite(Box::new(connection)),
        }
    }

    /// Opens or makes tables in PostgreSQL.
    #[cfg(feature = "postgres")]
    pub fn connect(server: &Server, schema: &'static Schema) -> Result<Self, DatabaseError> {
        let store = postgres::Store::open(server, schema)?;
        Ok(Database {
            backend: Backend::Postgres(Box::new(store)),
        })
    }

    /// Whether other gates have the same database.
    pub fn is_shared(&self) -> bool {
        !matches!(self.backend, Backend::Sqlite(_))
    }

    /// Changes something: all of it, or nothing. It may be tried more than once.
    pub fn change<T, E: From<DatabaseError>>(
        &self,
        mut work: impl FnMut(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        match &self.backend {
            Backend::Sqlite(connection) => {
                sqlite::change(connection, |on| work(&Transaction { on: On::Sqlite(on) }))
            }
            #[cfg(feature = "postgres")]
            Backend::Postgres(store) => store.transact(postgres::Kind::Change, |on| {
                work(&Transaction {
                    on: On::Postgres(on),
                })
            }),
        }
    }

    /// Reads several things as they were at one moment. It may be tried more than once.
    pub fn read<T, E: From<DatabaseError>>(
        &self,
        mut work: impl FnMut(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        match &self.backend {
            // Nobody else writes meanwhile: whoever uses a connection has it to itself, and a file has one.
            Backend::Sqlite(connection) => work(&Transaction {
                on: On::Sqlite(connection),
            }),
            #[cfg(feature = "postgres")]
            Backend::Postgres(store) => store.transact(postgres::Kind::Read, |on| {
                work(&Transaction {
                    on: On::Postgres(on),
                })
            }),
        }
    }

    /// One statement that changes nothing.
    fn single<T>(
        &self,
        mut work: impl FnMut(&Transaction<'_>) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        match &self.backend {
            Backend::Sqlite(connection) => work(&Transaction {
                on: On::Sqlite(connection),
            }),
            #[cfg(feature = "postgres")]
            Backend::Postgres(store) => store.transact(postgres::Kind::Single, |on| {
                work(&Transaction {
                    on: On::Postgres(on),
                })
            }),
        }
    }

    /// What a statement answers.
    pub fn query(&self, statement: &str, values: &[Value<'_>]) -> Result<Vec<Row>, DatabaseError> {
        self.single(|on| on.query(statement, values))
    }

    /// What a statement answers that each database is told in its own way.
    pub fn query_with(
        &self,
        statement: impl Fn(&Transaction<'_>) -> String,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, DatabaseError> {
        self.single(|on| on.query(&statement(on), values))
    }

    /// The first row of what a statement answers.
    pub fn first(
        &self,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Option<Row>, DatabaseError> {
        self.single(|on| on.first(statement, values))
    }

    /// The row that a statement answers.
    pub fn one(&self, statement: &str, values: &[Value<'_>]) -> Result<Row, DatabaseError> {
        self.single(|on| on.one(statement, values))
    }

    /// Changes something with one statement; how many rows.
    pub fn execute(&self, statement: &str, values: &[Value<'_>]) -> Result<usize, DatabaseError> {
        self.change(|on| on.execute(statement, values))
    }
}

impl Transaction<'_> {
    /// What a statement answers.
    pub fn query(&self, statement: &str, values: &[Value<'_>]) -> Result<Vec<Row>, DatabaseError> {
        match &self.on {
            On::Sqlite(connection) => sqlite::query(connection, statement, values),
            #[cfg(feature = "postgres")]
            On::Postgres(running) => running.query(statement, values),
        }
    }

    /// The first row of what a statement answers.
    pub fn first(
        &self,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Option<Row>, DatabaseError> {
        Ok(self.query(statement, values)?.into_iter().next())
    }

    /// The row that a statement answers.
    pub fn one(&self, statement: &str, values: &[Value<'_>]) -> Result<Row, DatabaseError> {
        self.first(statement, values)?.ok_or(DatabaseError::Nothing)
    }

    /// How many rows a statement changed.
    pub fn execute(&self, statement: &str, values: &[Value<'_>]) -> Result<usize, DatabaseError> {
        match &self.on {
            On::Sqlite(connection) => sqlite::execute(connection, statement, values),
            #[cfg(feature = "postgres")]
            On::Postgres(running) => running.execute(statement, values),
        }
    }

    /// Does one statement with each list of values; how many rows each changed. PostgreSQL is not waited for in between.
    pub fn execute_all(
        &self,
        statement: &str,
        values: &[Vec<Value<'_>>],
    ) -> Result<Vec<usize>, DatabaseError> {
        match &self.on {
            On::Sqlite(connection) => values
                .iter()
                .map(|values| sqlite::execute(connection, statement, values))
                .collect(),
            #[cfg(feature = "postgres")]
            On::Postgres(running) => running.execute_all(statement, values),
        }
    }

    /// Statements without values and answers.
    pub fn batch(&self, statements: &str) -> Result<(), DatabaseError> {
        match &self.on {
            On::Sqlite(connection) => Ok(connection.execute_batch(statements)?),
            #[cfg(feature = "postgres")]
            On::Postgres(running) => running.batch(statements),
        }
    }

    /// The time of the database in milliseconds, as an expression: that of the machine, or the one that all gates share.
    pub fn now(&self) -> &'static str {
        match &self.on {
            On::Sqlite(_) => "CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)",
            #[cfg(feature = "postgres")]
            On::Postgres(_) => "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
        }
    }

    /// The last number that a table gave to a row, as an expression. SQLite knows it of rows that are gone, too; PostgreSQL
    /// would also tell numbers of others that are not committed, so that the last row is asked.
    pub fn last_of(&self, table: &str, column: &str) -> String {
        match &self.on {
            On::Sqlite(_) => {
                format!("coalesce((SELECT seq FROM sqlite_sequence WHERE name = '{table}'), 0)")
            }
            #[cfg(feature = "postgres")]
            On::Postgres(_) => format!("coalesce((SELECT max({column}) FROM {table}), 0)"),
        }
    }

    /// The JSON texts of a column as one list, as an expression.
    pub fn list_of(&self, column: &str) -> String {
        match &self.on {
            On::Sqlite(_) => format!("json_group_array(json({column}))"),
            #[cfg(feature = "postgres")]
            On::Postgres(_) => {
                format!("coalesce(CAST(json_agg(CAST({column} AS JSON)) AS TEXT), '[]')")
            }
        }
    }
}
