//! Conclusions, and the ledgers that they are drawn from.

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use uuid::Uuid;

use super::super::appraise::Appraisal;
use super::super::status::Outcome;
use super::{StoreError, VerifierStore, history, signed};
use crate::clock::Timestamp;
use crate::ima::{Cursor, Ledger, PodUid};
use crate::protocol::AttestationError;

/// Beyond this many parts a ledger is written anew as one.
const PARTS: i64 = 64;

/// What an attestation came to, and what it was about.
#[derive(Clone, Copy, Debug)]
pub struct Conclusion<'a> {
    /// The worker.
    pub worker: Uuid,
    /// The generation of the worker when its evidence was asked for.
    pub generation: u64,
    /// The cursor that the appraisal started from.
    pub from: Option<&'a Cursor>,
    /// What the evidence came to.
    pub appraisal: &'a Appraisal,
    /// The outcome for each pod, with the generation it is about.
    pub outcomes: &'a [Outcome],
    /// When the evidence was asked for: trust lasts from then on.
    pub at: Timestamp,
}

/// The pods whose outcome was not recorded, as they were removed or described anew meanwhile.
pub type Stale = Vec<PodUid>;

impl VerifierStore {
    /// Commits a successful appraisal: the cursor, what was learned, and the trust, all or nothing.
    ///
    /// If the worker was registered anew, condemned or attested by somebody else since the evidence was asked
    /// for, nothing is committed. A pod that was described anew since keeps what is known of it: what it
    /// is now has not been looked at.
    pub fn commit(&mut self, conclusion: &Conclusion<'_>) -> Result<Stale, StoreError> {
        let appraisal = conclusion.appraisal;
        let id = conclusion.worker.to_string();
        let cursor =
            serde_json::to_string(&appraisal.cursor).map_err(|_| StoreError::Content("cursor"))?;
        let from = conclusion
            .from
            .map(serde_json::to_string)
            .transpose()
            .map_err(|_| StoreError::Content("cursor"))?;
        // What waits to be explained takes no trust away, and gives none.
        let reason = match appraisal.strangers.as_slice() {
            [] => "attested".to_owned(),
            found => AttestationError::Pending(found.to_vec()).reason(),
        };
        let transaction = self.0.transaction()?;
        let changed = transaction.execute(
            "UPDATE worker SET cursor = ?2, reason = ?3,
                 trust = CASE WHEN NOT ?7 THEN 'trusted' WHEN ?8 THEN 'unknown' ELSE trust END,
                 checked = CASE WHEN ?7 AND trust = 'trusted' THEN checked ELSE ?4 END
             WHERE id = ?1 AND trust <> 'untrusted' AND cursor IS ?5 AND generation = ?6",
            params![
                id,
                cursor,
                reason,
                conclusion.at.millis(),
                from,
                signed(conclusion.generation),
                !appraisal.strangers.is_empty(),
                appraisal.rebooted
            ],
        )?;
        if changed != 1 {
            return Err(StoreError::Conflict(
                "the worker was removed, registered anew, distrusted or attested meanwhile"
                    .to_owned(),
            ));
        }
        if !appraisal.keeps_ledger {
            transaction.execute("DELETE FROM ledger WHERE worker = ?1", [&id])?;
        }
        if appraisal.rebooted {
            transaction.execute("DELETE FROM removed_pod WHERE worker = ?1", [&id])?;
            transaction.execute(
                "UPDATE pod SET trust = 'unknown', reason = 'its worker was booted', token = ''
                 WHERE worker = (SELECT name FROM worker WHERE id = ?1)",
                [&id],
            )?;
        }
        append(&transaction, &id, &appraisal.delta)?;
        history::commit(&transaction, &id, appraisal, conclusion.at)?;
        let mut stale = Stale::new();
        for outcome in conclusion.outcomes {
            if !conclude(&transaction, outcome, conclusion.at)? {
                stale.push(outcome.uid);
            }
        }
        transaction.commit()?;
        Ok(stale)
    }
}

/// Records an outcome for the generation of a pod that it is about; false if there is another by now.
fn conclude(
    transaction: &Transaction<'_>,
    outcome: &Outcome,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let mut statement = transaction.prepare_cached(
        "UPDATE pod SET trust = ?2, reason = ?3, checked = ?4, token = ?5
         WHERE uid = ?1 AND generation = ?6",
    )?;
    if outcome.pending && is_concluded(transaction, outcome)? {
        return Ok(true);
    }
    let changed = statement.execute(params![
        outcome.uid.to_string(),
        outcome.trust.name(),
        outcome.reason,
        now.millis(),
        outcome.token,
        signed(outcome.generation)
    ])?;
    Ok(changed == 1)
}

/// Whether something was concluded about this generation of a pod before.
fn is_concluded(transaction: &Transaction<'_>, outcome: &Outcome) -> Result<bool, StoreError> {
    let found: Option<bool> = transaction
        .query_row(
            "SELECT trust <> 'unknown' FROM pod WHERE uid = ?1 AND generation = ?2",
            params![outcome.uid.to_string(), signed(outcome.generation)],
            |row| row.get(0),
        )
        .optional()?;
    Ok(found == Some(true))
}

/// Everything that was recorded for a worker.
pub(super) fn ledger_of(connection: &Connection, id: &str) -> Result<Ledger, StoreError> {
    let mut ledger = Ledger::new();
    let mut statement =
        connection.prepare_cached("SELECT bytes FROM ledger WHERE worker = ?1 ORDER BY part")?;
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        let bytes: Vec<u8> = row.get(0)?;
        let part = Ledger::from_bytes(&bytes).map_err(|_| StoreError::Content("ledger"))?;
        ledger.absorb(&part);
    }
    Ok(ledger)
}

/// Writes a whole ledger in one part.
pub(super) fn replace_ledger(
    transaction: &Transaction<'_>,
    id: &str,
    ledger: &Ledger,
) -> Result<(), StoreError> {
    transaction.execute("DELETE FROM ledger WHERE worker = ?1", [id])?;
    transaction.execute(
        "INSERT INTO ledger VALUES (?1, 0, ?2)",
        params![id, ledger.to_bytes()],
    )?;
    Ok(())
}

/// Appends what is new; from time to time the parts become one again.
fn append(transaction: &Transaction<'_>, id: &str, delta: &Ledger) -> Result<(), StoreError> {
    if delta.is_empty() {
        return Ok(());
    }
    let parts: i64 = transaction.query_row(
        "SELECT COUNT(*) FROM ledger WHERE worker = ?1",
        [id],
        |row| row.get(0),
    )?;
    if parts >= PARTS {
        let mut whole = ledger_of(transaction, id)?;
        whole.absorb(delta);
        return replace_ledger(transaction, id, &whole);
    }
    transaction.execute(
        "INSERT INTO ledger VALUES (?1, ?2, ?3)",
        params![id, parts, delta.to_bytes()],
    )?;
    Ok(())
}
