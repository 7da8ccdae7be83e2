//! A database in a file, which survives a power loss.

use std::borrow::Cow;
use std::fs::{OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, Value as Owned, ValueRef};
use rusqlite::{Connection, ToSql, Transaction, TransactionBehavior, params_from_iter};

use super::schema::Schema;
use super::{DatabaseError, Row, Value};

/// The rights of a database: which workers are trusted, and why, is nobody else's business.
const OWNER_ONLY: u32 = 0o600;

/// Opens a database, checks it and brings it to the newest version.
///
/// Each migration runs once, in order, all in one transaction: a crash leaves the old version, never half of the new one.
pub(super) fn open(path: &Path, schema: &Schema) -> Result<Connection, DatabaseError> {
    keep_private(path).map_err(|error| DatabaseError::File(path.to_owned(), error))?;
    prepare(Connection::open(path)?, schema)
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
pub(super) fn open_in_memory(schema: &Schema) -> Result<Connection, DatabaseError> {
    prepare(Connection::open_in_memory()?, schema)
}

fn prepare(mut connection: Connection, schema: &Schema) -> Result<Connection, DatabaseError> {
    let migrations = schema.migrations;
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
    if owner != schema.application && (owner != 0 || tables > 0) {
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
        transaction.execute_batch(&migration.for_sqlite())?;
    }
    transaction.pragma_update(None, "application_id", schema.application)?;
    transaction.pragma_update(
        None,
        "user_version",
        i64::try_from(migrations.len()).unwrap_or(0),
    )?;
    transaction.commit()?;
    Ok(connection)
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Value::Null => ToSqlOutput::Owned(Owned::Null),
            Value::Bool(yes) => ToSqlOutput::Owned(Owned::Integer(i64::from(*yes))),
            Value::Integer(number) => ToSqlOutput::Owned(Owned::Integer(*number)),
            Value::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Value::Blob(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

fn from_sql(value: ValueRef<'_>) -> Result<Value<'static>, DatabaseError> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => Value::Text(Cow::Owned(text.to_owned())),
            Err(_) => return Err(DatabaseError::Damaged("text that is no UTF-8".to_owned())),
        },
        ValueRef::Blob(bytes) => Value::Blob(Cow::Owned(bytes.to_vec())),
        ValueRef::Real(_) => return Err(DatabaseError::Damaged("a fraction".to_owned())),
    })
}

/// All that is done in there, or nothing. Whoever has the connection has it alone, so that transactions are not nested.
pub(super) fn change<T, E: From<DatabaseError>>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, E>,
) -> Result<T, E> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)
        .map_err(DatabaseError::from)?;
    let done = work(&transaction)?;
    transaction.commit().map_err(DatabaseError::from)?;
    Ok(done)
}

pub(super) fn query(
    connection: &Connection,
    statement: &str,
    values: &[Value<'_>],
) -> Result<Vec<Row>, DatabaseError> {
    let mut statement = connection.prepare_cached(statement)?;
    let columns = statement.column_count();
    let mut rows = statement.query(params_from_iter(values))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let columns = (0..columns).map(|column| from_sql(row.get_ref(column)?));
        found.push(Row(columns.collect::<Result<_, _>>()?));
    }
    Ok(found)
}

pub(super) fn execute(
    connection: &Connection,
    statement: &str,
    values: &[Value<'_>],
) -> Result<usize, DatabaseError> {
    let mut statement = connection.prepare_cached(statement)?;
    Ok(statement.execute(params_from_iter(values))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Migration;

    const ONE: Migration = Migration::same("CREATE TABLE a (x INTEGER NOT NULL) STRICT;");
    const TWO: Migration = Migration::same("ALTER TABLE a ADD COLUMN y TEXT;");
    const BAD: Migration = Migration::same("CREATE TABLE b (x); CREATE TABLE a (x);");

    fn schema(application: i32, migrations: &'static [Migration]) -> Schema {
        Schema {
            name: "test",
            application,
            migrations,
        }
    }

    #[test]
    fn migrations_run_once_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let first = open(&path, &schema(7, &[ONE])).unwrap();
        first.execute("INSERT INTO a VALUES (1)", []).unwrap();
        drop(first);
        let second = open(&path, &schema(7, &[ONE, TWO])).unwrap();
        let rows = query(&second, "SELECT x, y FROM a", &[]).unwrap();
        assert_eq!(rows, [Row(vec![Value::Integer(1), Value::Null])]);
        drop(second);
        assert!(matches!(
            open(&path, &schema(7, &[ONE])),
            Err(DatabaseError::Newer { found: 2, known: 1 })
        ));
        assert!(matches!(
            open(&path, &schema(8, &[ONE, TWO])),
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
            let database = open(path, &schema(7, &[ONE])).unwrap();
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
        drop(open(&path, &schema(7, &[ONE])).unwrap());
        assert!(open(&path, &schema(7, &[ONE, BAD])).is_err());
        let back = open(&path, &schema(7, &[ONE])).unwrap();
        let tables = query(&back, "SELECT count(*) FROM sqlite_schema", &[]).unwrap();
        assert_eq!(tables, [Row(vec![Value::Integer(1)])]);
    }

    #[test]
    fn a_damaged_file_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let connection = open(&path, &schema(7, &[ONE])).unwrap();
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
        assert!(open(&path, &schema(7, &[ONE])).is_err());
    }
}
