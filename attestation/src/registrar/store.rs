//! The registrar's database, and the tenants and workers in it.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::endorsement;
use super::record::{NewWorker, RegistrarError, Tenant, Worker};
use crate::clock::Timestamp;
use crate::database::{Database, Location, Migration, Row, Schema, Transaction, params};
use crate::evidence::jws::{key_id, public_key_from_pem, public_key_to_pem};

/// The database; "LoRe" says whose it is.
const SCHEMA: Schema = Schema {
    name: "locus_registrar",
    application: 0x4c6f_5265,
    migrations: MIGRATIONS,
};
const MIGRATIONS: &[Migration] = &[
    Migration::same(
        "
    CREATE TABLE tenant (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL UNIQUE CHECK (length(name) > 0),
        key_id TEXT NOT NULL UNIQUE,
        public_key TEXT NOT NULL,
        created INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE worker (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL UNIQUE CHECK (length(name) > 0),
        ak_public BLOB NOT NULL UNIQUE,
        ek_public BLOB NOT NULL UNIQUE,
        ek_certificate BLOB NOT NULL,
        tls_key TEXT,
        os TEXT NOT NULL,
        address TEXT NOT NULL,
        registered INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE manufacturer (
        id TEXT PRIMARY KEY CHECK (id = lower(id) AND length(id) > 0),
        name TEXT NOT NULL UNIQUE
    ) STRICT;
    CREATE TABLE ca_certificate (
        digest TEXT PRIMARY KEY,
        manufacturer TEXT NOT NULL REFERENCES manufacturer (id) ON DELETE CASCADE,
        kind TEXT NOT NULL CHECK (kind IN ('root', 'intermediate')),
        der BLOB NOT NULL
    ) STRICT;
    CREATE TABLE revocation_list (
        digest TEXT PRIMARY KEY,
        manufacturer TEXT NOT NULL REFERENCES manufacturer (id) ON DELETE CASCADE,
        der BLOB NOT NULL
    ) STRICT;
",
    ),
    Migration::same(super::transitions::MIGRATION),
    Migration::same(super::endorsement::MIGRATION),
    Migration::same("ALTER TABLE worker ADD COLUMN templates TEXT;"),
];

/// The registrar.
pub struct Registrar {
    database: Mutex<Database>,
}

impl Registrar {
    /// Opens or creates the registrar's database.
    pub fn open(path: &Path) -> Result<Self, RegistrarError> {
        Self::with(Database::open(path, &SCHEMA)?)
    }

    /// Opens or makes the database where it is: `registrar.db` in a folder, or a store that registrars share.
    pub fn open_at(location: &Location, folder: &Path) -> Result<Self, RegistrarError> {
        Self::with(location.open(folder, "registrar.db", &SCHEMA)?)
    }

    /// A registrar that ends with the process.
    pub fn in_memory() -> Result<Self, RegistrarError> {
        Self::with(Database::in_memory(&SCHEMA)?)
    }

    fn with(database: Database) -> Result<Self, RegistrarError> {
        endorsement::complete(&database)?;
        Ok(Registrar {
            database: Mutex::new(database),
        })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Database> {
        // A panic elsewhere leaves no transaction behind: it was rolled back when dropped.
        self.database.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn change<T>(
        &self,
        kind: &'static str,
        change: impl FnMut(&Transaction<'_>) -> Result<T, RegistrarError>,
    ) -> Result<T, RegistrarError> {
        let done = self.lock().change(change);
        done.map_err(|error| exists(kind, error))
    }

    /// Enrols a tenant with its public key.
    pub fn create_tenant(
        &self,
        name: &str,
        public_key: &str,
        now: Timestamp,
    ) -> Result<Tenant, RegistrarError> {
        let key = public_key_from_pem(public_key).map_err(|_| RegistrarError::Key)?;
        let tenant = Tenant {
            id: Uuid::new_v4(),
            name: name.to_owned(),
            key_id: key_id(&key),
            public_key: public_key_to_pem(&key).map_err(|_| RegistrarError::Key)?,
            created: now,
        };
        self.change("tenant", |transaction| {
            transaction.execute(
                "INSERT INTO tenant (id, name, key_id, public_key, created)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                params![
                    tenant.id.to_string(),
                    tenant.name,
                    tenant.key_id,
                    tenant.public_key,
                    tenant.created.millis()
                ],
            )?;
            Ok(())
        })?;
        Ok(tenant)
    }

    fn tenant_where(&self, column: &str, value: &str) -> Result<Option<Tenant>, RegistrarError> {
        let query =
            format!("SELECT id, name, key_id, public_key, created FROM tenant WHERE {column} = ?1");
        let found = self.lock().first(&query, params![value])?;
        found.as_ref().map(tenant_from).transpose()
    }

    /// A tenant by name.
    pub fn tenant_by_name(&self, name: &str) -> Result<Option<Tenant>, RegistrarError> {
        self.tenant_where("name", name)
    }

    /// A tenant by identifier.
    pub fn tenant(&self, id: Uuid) -> Result<Option<Tenant>, RegistrarError> {
        self.tenant_where("id", &id.to_string())
    }

    /// All tenants, by name.
    pub fn tenants(&self) -> Result<Vec<Tenant>, RegistrarError> {
        let all = "SELECT id, name, key_id, public_key, created FROM tenant ORDER BY name";
        let rows = self.lock().query(all, &[])?;
        rows.iter().map(tenant_from).collect()
    }

    /// Removes a tenant.
    pub fn delete_tenant(&self, id: Uuid) -> Result<(), RegistrarError> {
        self.delete(
            "tenant",
            "DELETE FROM tenant WHERE id = ?1",
            &id.to_string(),
        )
    }

    /// Registers a worker under an identifier that the protocol chose, or registers it again.
    ///
    /// The endorsement key is what a worker is: it may come back with a new attestation key or address,
    /// but no other machine may take its name or identifier, and no two workers share a TPM.
    pub fn put_worker(
        &self,
        id: Uuid,
        with: NewWorker,
        now: Timestamp,
    ) -> Result<Worker, RegistrarError> {
        self.change("worker", |transaction| {
            put_worker(transaction, id, &with, now)
        })?;
        Ok(Worker {
            id,
            registered: now,
            with,
        })
    }

    fn worker_where(&self, column: &str, value: &str) -> Result<Option<Worker>, RegistrarError> {
        let query = format!("SELECT {WORKER} FROM worker WHERE {column} = ?1");
        let found = self.lock().first(&query, params![value])?;
        found.as_ref().map(worker_from).transpose()
    }

    /// A worker by identifier.
    pub fn worker(&self, id: Uuid) -> Result<Option<Worker>, RegistrarError> {
        self.worker_where("id", &id.to_string())
    }

    /// A worker by host name.
    pub fn worker_by_name(&self, name: &str) -> Result<Option<Worker>, RegistrarError> {
        self.worker_where("name", name)
    }

    /// All workers, by name.
    pub fn workers(&self) -> Result<Vec<Worker>, RegistrarError> {
        let all = format!("SELECT {WORKER} FROM worker ORDER BY name");
        let rows = self.lock().query(&all, &[])?;
        rows.iter().map(worker_from).collect()
    }

    /// Removes a worker.
    pub fn delete_worker(&self, id: Uuid) -> Result<(), RegistrarError> {
        self.delete(
            "worker",
            "DELETE FROM worker WHERE id = ?1",
            &id.to_string(),
        )
    }

    pub(super) fn delete(
        &self,
        kind: &'static str,
        statement: &str,
        name: &str,
    ) -> Result<(), RegistrarError> {
        self.change(kind, |transaction| {
            let removed = transaction.execute(statement, params![name])?;
            found(kind, name, removed)
        })
    }
}

impl std::fmt::Debug for Registrar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Registrar")
    }
}

const WORKER: &str = "id, name, ak_public, ek_public, ek_certificate, tls_key, os, address, registered, ek_others, templates";

/// Puts a worker in the place of the one it was, if nobody else has its name, its identifier or its TPM.
pub(super) fn put_worker(
    transaction: &Transaction<'_>,
    id: Uuid,
    with: &NewWorker,
    now: Timestamp,
) -> Result<(), RegistrarError> {
    let found = transaction.one(
        "SELECT count(*) FILTER (WHERE NOT same), count(*) FILTER (WHERE same) FROM
           (SELECT id = ?1 AND name = ?2 AND ek_public = ?3 AS same FROM worker
            WHERE id = ?1 OR name = ?2 OR ek_public = ?3) AS found",
        params![id.to_string(), with.name, with.ek_public],
    )?;
    let (others, same): (i64, i64) = (found.get(0)?, found.get(1)?);
    if others > 0 {
        return Err(RegistrarError::Exists { kind: "worker" });
    }
    endorsement::check(transaction, id, with, Vec::new())?;
    if same > 0 {
        transaction.execute("DELETE FROM worker WHERE id = ?1", params![id.to_string()])?;
    }
    let templates = with.templates.as_ref().map(serde_json::to_string);
    let templates = templates
        .transpose()
        .map_err(|_| RegistrarError::Unreadable("list of templates"))?;
    transaction.execute(
        "INSERT INTO worker
         (id, name, ak_public, ek_public, ek_certificate, tls_key, os, address, registered, ek_others,
          templates)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        params![
            id.to_string(),
            with.name,
            with.ak_public,
            with.ek_public,
            with.ek_certificate,
            with.tls_key,
            with.os,
            with.address,
            now.millis(),
            serde_json::to_string(&with.ek_others)
                .map_err(|_| RegistrarError::Unreadable("endorsement key"))?,
            templates
        ],
    )?;
    endorsement::store(transaction, id, with)
}

pub(super) fn found(kind: &'static str, name: &str, rows: usize) -> Result<(), RegistrarError> {
    if rows == 0 {
        return Err(RegistrarError::NotFound {
            kind,
            name: name.to_owned(),
        });
    }
    Ok(())
}

fn exists(kind: &'static str, error: RegistrarError) -> RegistrarError {
    match error {
        RegistrarError::Database(error) if error.is_duplicate() => RegistrarError::Exists { kind },
        other => other,
    }
}

fn tenant_from(row: &Row) -> Result<Tenant, RegistrarError> {
    let id: String = row.get(0)?;
    Ok(Tenant {
        id: id
            .parse()
            .map_err(|_| RegistrarError::Unreadable("tenant"))?,
        name: row.get(1)?,
        key_id: row.get(2)?,
        public_key: row.get(3)?,
        created: Timestamp::from_millis(row.get(4)?),
    })
}

fn worker_from(row: &Row) -> Result<Worker, RegistrarError> {
    let unreadable = || RegistrarError::Unreadable("worker");
    let (id, others): (String, String) = (row.get(0)?, row.get(9)?);
    let templates: Option<String> = row.get(10)?;
    let templates = templates.map(|text| serde_json::from_str(&text));
    Ok(Worker {
        id: id.parse().map_err(|_| unreadable())?,
        registered: Timestamp::from_millis(row.get(8)?),
        with: NewWorker {
            name: row.get(1)?,
            ak_public: row.get(2)?,
            ek_public: row.get(3)?,
            ek_certificate: row.get(4)?,
            ek_others: serde_json::from_str(&others).map_err(|_| unreadable())?,
            ek_listed: false,
            tls_key: row.get(5)?,
            os: row.get(6)?,
            address: row.get(7)?,
            templates: templates.transpose().map_err(|_| unreadable())?,
        },
    })
}
