//! Registrations and removals on their way: what was proposed, what has to be completed.
//!
//! Registrar and verifier may be two processes, and either may die between two steps. The notes here say how to
//! go on: a proposal that nobody accepted counts for nothing, one that was accepted is confirmed, and a removal
//! that was begun is finished.

use uuid::Uuid;

use super::endorsement::{self, Owned};
use super::record::{NewWorker, RegistrarError};
use super::store::{Registrar, found, put_worker};
use crate::clock::Timestamp;
use crate::database::{DatabaseError, Transaction, params};
use crate::protocol::{Admission, Outstanding, WorkerRecord};

/// The tables.
pub(super) const MIGRATION: &str = "
    CREATE TABLE proposal (
        name TEXT PRIMARY KEY,
        registration TEXT NOT NULL UNIQUE,
        worker TEXT NOT NULL,
        ek_public BLOB NOT NULL,
        record TEXT NOT NULL,
        accepted INTEGER NOT NULL DEFAULT 0,
        since INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE removal (
        name TEXT PRIMARY KEY,
        since INTEGER NOT NULL
    ) STRICT;
    ALTER TABLE worker ADD COLUMN registration TEXT;
";

/// For how long a proposal that nobody accepted keeps others from its keys.
const PROPOSAL_MILLIS: i64 = 300_000;

impl Registrar {
    /// Notes a worker that proved itself. What is registered under its name stays until the proposal is
    /// confirmed; an earlier proposal for the name is void.
    pub fn propose(
        &self,
        registration: Uuid,
        worker: &WorkerRecord,
        now: Timestamp,
    ) -> Result<(), RegistrarError> {
        let record =
            serde_json::to_string(worker).map_err(|_| RegistrarError::Unreadable("worker"))?;
        self.change("worker", |transaction| {
            unsettled(transaction, registration, &worker.name)?;
            let rivals = rivals(transaction, &worker.name, now)?;
            if rivals.iter().any(|rival| rival.id == worker.id) {
                return Err(RegistrarError::Exists { kind: "worker" });
            }
            let mut taken = Vec::new();
            for rival in &rivals {
                taken.extend(Owned::all_of(&rival.name, &new_worker(rival)));
            }
            endorsement::check(transaction, worker.id, &new_worker(worker), taken)?;
            // Whether it could be registered: tried, and taken back.
            transaction.batch("SAVEPOINT tried")?;
            put_worker(transaction, worker.id, &new_worker(worker), now)?;
            transaction.batch("ROLLBACK TO tried; RELEASE tried")?;
            transaction.execute(
                "DELETE FROM proposal WHERE name = ?1 OR registration = ?2",
                params![worker.name, registration.to_string()],
            )?;
            transaction.execute(
                "INSERT INTO proposal (name, registration, worker, ek_public, record, since)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    worker.name,
                    registration.to_string(),
                    worker.id.to_string(),
                    worker.ek_public,
                    record,
                    now.millis()
                ],
            )?;
            Ok(())
        })
    }

    /// Takes a proposal back, if there is one.
    pub fn withdraw(&self, registration: Uuid) -> Result<(), RegistrarError> {
        self.change("worker", |transaction| {
            transaction.execute(
                "DELETE FROM proposal WHERE registration = ?1",
                params![registration.to_string()],
            )?;
            Ok(())
        })
    }

    /// Notes that a proposal is to be completed.
    pub fn accept(&self, registration: Uuid) -> Result<(), RegistrarError> {
        let registration = registration.to_string();
        self.change("worker", |transaction| {
            let accepted = transaction.execute(
                "UPDATE proposal SET accepted = 1 WHERE registration = ?1",
                params![registration],
            )?;
            found("registration", &registration, accepted)
        })
    }

    /// Makes an accepted proposal the registered worker; nothing happens if that was done already.
    pub fn confirm(&self, registration: Uuid, now: Timestamp) -> Result<(), RegistrarError> {
        let registration = registration.to_string();
        self.change("worker", |transaction| {
            let noted = transaction.first(
                "DELETE FROM proposal WHERE registration = ?1 AND accepted = 1 RETURNING record",
                params![registration],
            )?;
            let Some(noted) = noted else {
                return confirmed(transaction, &registration);
            };
            let record: String = noted.get(0)?;
            let worker: WorkerRecord =
                serde_json::from_str(&record).map_err(|_| RegistrarError::Unreadable("worker"))?;
            put_worker(transaction, worker.id, &new_worker(&worker), now)?;
            transaction.execute(
                "UPDATE worker SET registration = ?2 WHERE id = ?1",
                params![worker.id.to_string(), registration],
            )?;
            Ok(())
        })
    }

    /// Notes that a worker is removed: from now on it is not registered.
    pub fn begin_removal(&self, name: &str, now: Timestamp) -> Result<(), RegistrarError> {
        self.change("worker", |transaction| {
            let mut known = 0;
            for table in ["worker", "proposal", "removal"] {
                let delete = format!("DELETE FROM {table} WHERE name = ?1");
                known += transaction.execute(&delete, params![name])?;
            }
            found("worker", name, known)?;
            transaction.execute(
                "INSERT INTO removal (name, since) VALUES (?1, ?2)",
                params![name, now.millis()],
            )?;
            Ok(())
        })
    }

    /// Takes the note away that a worker is removed.
    pub fn finish_removal(&self, name: &str) -> Result<(), RegistrarError> {
        self.change("worker", |transaction| {
            transaction.execute("DELETE FROM removal WHERE name = ?1", params![name])?;
            Ok(())
        })
    }

    /// What has to be completed.
    pub fn outstanding(&self) -> Result<Outstanding, RegistrarError> {
        let (removals, accepted) = self.lock().read(|on| {
            let removals = on.query("SELECT name FROM removal ORDER BY since", &[])?;
            let removals: Vec<String> = removals
                .iter()
                .map(|row| row.get(0))
                .collect::<Result<_, _>>()?;
            let accepted = on.query(
                "SELECT registration, record FROM proposal WHERE accepted = 1 ORDER BY since",
                &[],
            )?;
            let accepted: Vec<(String, String)> = accepted
                .iter()
                .map(|row| Ok((row.get(0)?, row.get(1)?)))
                .collect::<Result<_, DatabaseError>>()?;
            Ok::<_, DatabaseError>((removals, accepted))
        })?;
        let unreadable = RegistrarError::Unreadable;
        let registrations = accepted.into_iter().map(|(registration, record)| {
            let worker: WorkerRecord =
                serde_json::from_str(&record).map_err(|_| unreadable("worker"))?;
            Ok(Admission {
                id: worker.id,
                name: worker.name,
                address: worker.address,
                registration: registration
                    .parse()
                    .map_err(|_| unreadable("registration"))?,
            })
        });
        Ok(Outstanding {
            registrations: registrations.collect::<Result<_, RegistrarError>>()?,
            removals,
        })
    }
}

/// What was begun is completed before something else is.
fn unsettled(
    transaction: &Transaction<'_>,
    registration: Uuid,
    name: &str,
) -> Result<(), RegistrarError> {
    let found = transaction.one(
        "SELECT EXISTS (SELECT 1 FROM removal WHERE name = ?1),
             EXISTS (SELECT 1 FROM proposal WHERE name = ?1 AND accepted = 1 AND registration <> ?2)",
        params![name, registration.to_string()],
    )?;
    let (removing, registering): (bool, bool) = (found.get(0)?, found.get(1)?);
    let what = match (removing, registering) {
        (true, _) => "removed",
        (_, true) => "registered",
        _ => return Ok(()),
    };
    Err(RegistrarError::Unsettled {
        name: name.to_owned(),
        what,
    })
}

/// The workers that others propose at this moment.
fn rivals(
    transaction: &Transaction<'_>,
    name: &str,
    now: Timestamp,
) -> Result<Vec<WorkerRecord>, RegistrarError> {
    let since = now.plus_millis(-PROPOSAL_MILLIS).millis();
    let rows = transaction.query(
        "SELECT record FROM proposal WHERE name <> ?1 AND (accepted <> 0 OR since > ?2)",
        params![name, since],
    )?;
    let records = rows.iter().map(|row| {
        let record: String = row.get(0)?;
        serde_json::from_str(&record).map_err(|_| RegistrarError::Unreadable("worker"))
    });
    records.collect()
}

fn confirmed(transaction: &Transaction<'_>, registration: &str) -> Result<(), RegistrarError> {
    let known = transaction.one(
        "SELECT count(*) FROM worker WHERE registration = ?1",
        params![registration],
    )?;
    let known: i64 = known.get(0)?;
    found(
        "registration",
        registration,
        usize::try_from(known).unwrap_or(0),
    )
}

fn new_worker(record: &WorkerRecord) -> NewWorker {
    NewWorker {
        name: record.name.clone(),
        ak_public: record.ak_public.clone(),
        ek_public: record.ek_public.clone(),
        ek_certificate: record.ek_certificate.clone(),
        ek_others: record.ek_others.clone(),
        ek_listed: record.ek_listed,
        tls_key: Some(record.tls_key.clone()),
        os: record.os.clone(),
        address: record.address.clone(),
        templates: record.templates.clone(),
    }
}
