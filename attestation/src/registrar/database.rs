//! An embedded database that survives a power loss, and its migrations.

use std::fs::{OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

/// The rights of a database: which workers are trusted, and why, is nobody else's business.
const OWNER_ONLY: u32 = 0o600;

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// SQLite reports an error.
    #[error("the database reports: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The file cannot be made or made private.
    #[error("`{}`: {}", .0.display(), .1)]
    File(PathBuf, std::io::Error),
    /// The file is damaged.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// The file belongs to another program, or to another part of this one.
    #[error("the file is a database of something else")]
    Foreign,
    /// The file was written by a newer version.
    #[error("the database has version {found}, and this program knows versions up to {known}")]
    Newer {
        /// Of the file.
        found: usize,
        /// Of the program.
        known: usize,
    },
}

/// Opens a database, checks it and brings it to the newest version.
///
/// `application` marks whose file it is. Each migration runs once, in order, all in one transaction:
/// a crash leaves the old version, never half of the new one.
pub fn open(
    path: &Path,
    application: i32,
    migrations: &[&str],
) -> Result<Connection, DatabaseError> {
    keep_private(path).map_err(|error| DatabaseError::File(path.to_owned(), error))?;
    prepare(Connection::open(path)?, application, migrations)
}

/// Makes the file, or takes away what others may do with it. What SQLite puts beside it gets the same rights.
fn keep_private(path: &Path) -> std::io::Result<()> {
    let beside = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(OWNER_ONLY)
        .open(path)?;
    for file in [path.to_owned(), beside("-wal"), beside("-shm")] {
        let rights = match std::fs::metadata(&file) {
            Ok(data) => data.permissions(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        if rights.mode() & 0o077 != 0 {
            std::fs::set_permissions(&file, Permissions::from_mode(OWNER_ONLY))?;
        }
    }
    Ok(())
}

/// As [`open`], in memory: for tests and demonstrations.
pub fn open_in_memory(application: i32, migrations: &[&str]) -> Result<Connection, DatabaseError> {
    prepare(Connection::open_in_memory()?, application, migrations)
}

fn prepare(
    mut connection: Connection,
    application: i32,
    migrations: &[&str],
) -> Result<Connection, DatabaseError> {
    connection.busy_timeout(Duration::from_secs(5))?;
    // A write-ahead log, flushed at every commit: what was acknowledged survives a power loss.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.execute_batch(
        "PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA trusted_schema = OFF;",
    )?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let owner: i32 = transaction.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    let version: usize = transaction
        .query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))?
        .try_into()
        .unwrap_or(usize::MAX);
    let tables: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if owner != application && (owner != 0 || tables > 0) {
        return Err(DatabaseError::Foreign);
    }
    if version > migrations.len() {
        return Err(DatabaseError::Newer {
            found: version,
            known: migrations.len(),
        });
    }
    let check: String = transaction.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if check != "ok" {
        return Err(DatabaseError::Damaged(check));
    }
    for migration in migrations.iter().skip(version) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", application)?;
    transaction.pragma_update(
        None,
        "user_version",
        i64::try_from(migrations.len()).unwrap_or(0),
    )?;
    transaction.commit()?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "CREATE TABLE a (x INTEGER NOT NULL) STRICT;";
    const TWO: &str = "ALTER TABLE a ADD COLUMN y TEXT;";

    #[test]
    fn migrations_run_once_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let first = open(&path, 7, &[ONE]).unwrap();
        first.execute("INSERT INTO a VALUES (1)", []).unwrap();
        drop(first);
        let second = open(&path, 7, &[ONE, TWO]).unwrap();
        let row: (i64, Option<String>) = second
            .query_row("SELECT x, y FROM a", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert_eq!(row, (1, None));
        drop(second);
        assert!(matches!(
            open(&path, 7, &[ONE]),
            Err(DatabaseError::Newer { found: 2, known: 1 })
        ));
        assert!(matches!(
            open(&path, 8, &[ONE, TWO]),
            Err(DatabaseError::Foreign)
        ));
    }

    #[test]
    fn nobody_else_can_read_a_database_even_one_that_was_open_to_all() {
        let folder = tempfile::tempdir().unwrap();
        let (new, old) = (folder.path().join("new"), folder.path().join("old"));
        let beside = folder.path().join("old-wal");
        for file in [&old, &beside] {
            std::fs::write(file, "").unwrap();
            std::fs::set_permissions(file, Permissions::from_mode(0o666)).unwrap();
        }
        for path in [&new, &old] {
            let database = open(path, 7, &[ONE]).unwrap();
            database.execute("INSERT INTO a VALUES (1)", []).unwrap();
            for suffix in ["", "-wal", "-shm"] {
                let file = format!("{}{suffix}", path.display());
                let rights = std::fs::metadata(&file).unwrap().permissions();
                assert_eq!(rights.mode() & 0o777, OWNER_ONLY, "{file}");
            }
        }
    }

    #[test]
    fn a_failed_migration_leaves_the_old_version() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        drop(open(&path, 7, &[ONE]).unwrap());
        assert!(open(&path, 7, &[ONE, "CREATE TABLE b (x); CREATE TABLE a (x);"]).is_err());
        let back = open(&path, 7, &[ONE]).unwrap();
        let tables: i64 = back
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .unwrap();
        assert_eq!(tables, 1);
    }

    #[test]
    fn a_damaged_file_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let connection = open(&path, 7, &[ONE]).unwrap();
        connection
            .execute_batch(
                "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 9000)
                 INSERT INTO a SELECT x FROM n",
            )
            .unwrap();
        drop(connection);
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..middle + 2000].fill(0xa5);
        std::fs::write(&path, bytes).unwrap();
        assert!(open(&path, 7, &[ONE]).is_err());
    }
}
