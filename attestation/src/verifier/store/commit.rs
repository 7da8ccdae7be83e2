//! Conclusions, and the ledgers that they are drawn from.

use uuid::Uuid;

use super::super::appraise::Appraisal;
use super::super::status::Outcome;
use super::leases::{Lease, counts};
use super::{StoreError, VerifierStore, history, signed, unsigned};
use crate::clock::Timestamp;
use crate::database::{ToValue as _, Transaction, params};
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
    /// The lease under which it was drawn, where verifiers share the workers.
    pub lease: Option<&'a Lease>,
}

/// The pods whose outcome was not recorded, as they were removed or described anew meanwhile.
pub type Stale = Vec<PodUid>;

/// What was committed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// The pods whose outcome was not recorded.
    pub stale: Stale,
    /// The revision of what is known of the worker from now on.
    pub revision: u64,
}

impl VerifierStore {
    /// Commits a successful appraisal: the cursor, what was learned, and the trust, all or nothing.
    ///
    /// If the worker was registered anew, condemned or attested by somebody else since the evidence was asked
    /// for, nothing is committed. A pod that was described anew since keeps what is known of it: what it
    /// is now has not been looked at.
    pub fn commit(&mut self, conclusion: &Conclusion<'_>) -> Result<Committed, StoreError> {
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
        self.0.change(|on| {
            counts(on, conclusion.lease)?;
            let changed = on.first(
                "UPDATE worker SET cursor = ?2, reason = ?3, revision = revision + 1,
                     trust = CASE WHEN NOT ?7 THEN 'trusted' WHEN ?8 THEN 'unknown' ELSE trust END,
                     checked = CASE WHEN ?7 AND trust = 'trusted' THEN checked ELSE ?4 END
                 WHERE id = ?1 AND trust <> 'untrusted' AND cursor IS NOT DISTINCT FROM ?5
                     AND generation = ?6
                 RETURNING revision",
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
            let Some(changed) = changed else {
                return Err(StoreError::Conflict(
                    "the worker was removed, registered anew, distrusted or attested meanwhile"
                        .to_owned(),
                ));
            };
            if !appraisal.keeps_ledger {
                on.execute("DELETE FROM ledger WHERE worker = ?1", params![id])?;
            }
            if appraisal.rebooted {
                on.execute("DELETE FROM removed_pod WHERE worker = ?1", params![id])?;
                on.execute(
                    "UPDATE pod SET trust = 'unknown', reason = 'its worker was booted', token = ''
                     WHERE worker = (SELECT name FROM worker WHERE id = ?1)",
                    params![id],
                )?;
            }
            append(on, &id, &appraisal.delta)?;
            history::commit(on, &id, appraisal, conclusion.at)?;
            Ok(Committed {
                stale: conclude(on, conclusion.outcomes, conclusion.at)?,
                revision: unsigned(changed.get(0)?),
            })
        })
    }
}

/// Records outcomes, each for the generation of the pod that it is about; gives those of which there is another by now.
/// What waits to be explained changes nothing where something was concluded before.
fn conclude(
    on: &Transaction<'_>,
    outcomes: &[Outcome],
    now: Timestamp,
) -> Result<Stale, StoreError> {
    struct Kept {
        uid: String,
        trust: &'static str,
        at: i64,
        generation: i64,
    }
    let kept = outcomes.iter().map(|outcome| Kept {
        uid: outcome.uid.to_string(),
        trust: outcome.trust.name(),
        at: now.millis(),
        generation: signed(outcome.generation),
    });
    let kept: Vec<Kept> = kept.collect();
    let values = outcomes.iter().zip(&kept).map(|(outcome, kept)| {
        vec![
            kept.uid.value(),
            kept.trust.value(),
            outcome.reason.value(),
            kept.at.value(),
            outcome.token.value(),
            kept.generation.value(),
            outcome.pending.value(),
        ]
    });
    let values: Vec<_> = values.collect();
    let changed = on.execute_all(
        "UPDATE pod SET trust = CASE WHEN ?7 AND trust <> 'unknown' THEN trust ELSE ?2 END,
             reason = CASE WHEN ?7 AND trust <> 'unknown' THEN reason ELSE ?3 END,
             checked = CASE WHEN ?7 AND trust <> 'unknown' THEN checked ELSE ?4 END,
             token = CASE WHEN ?7 AND trust <> 'unknown' THEN token ELSE ?5 END
         WHERE uid = ?1 AND generation = ?6",
        &values,
    )?;
    let stale = outcomes.iter().zip(changed);
    let stale = stale.filter(|(_, changed)| *changed != 1);
    Ok(stale.map(|(outcome, _)| outcome.uid).collect())
}

/// Everything that was recorded for a worker.
pub(super) fn ledger_of(on: &Transaction<'_>, id: &str) -> Result<Ledger, StoreError> {
    let mut ledger = Ledger::new();
    let parts = "SELECT bytes FROM ledger WHERE worker = ?1 ORDER BY part";
    for row in on.query(parts, params![id])? {
        let part = Ledger::from_bytes(row.bytes(0)?).map_err(|_| StoreError::Content("ledger"))?;
        ledger.absorb(&part);
    }
    Ok(ledger)
}

/// Writes a whole ledger in one part.
pub(super) fn replace_ledger(
    on: &Transaction<'_>,
    id: &str,
    ledger: &Ledger,
) -> Result<(), StoreError> {
    on.execute("DELETE FROM ledger WHERE worker = ?1", params![id])?;
    on.execute(
        "INSERT INTO ledger VALUES (?1, 0, ?2)",
        params![id, ledger.to_bytes()],
    )?;
    Ok(())
}

/// Appends what is new; from time to time the parts become one again.
fn append(on: &Transaction<'_>, id: &str, delta: &Ledger) -> Result<(), StoreError> {
    if delta.is_empty() {
        return Ok(());
    }
    let parts = "SELECT COUNT(*) FROM ledger WHERE worker = ?1";
    let parts: i64 = on.one(parts, params![id])?.get(0)?;
    if parts >= PARTS {
        let mut whole = ledger_of(on, id)?;
        whole.absorb(delta);
        return replace_ledger(on, id, &whole);
    }
    on.execute(
        "INSERT INTO ledger VALUES (?1, ?2, ?3)",
        params![id, parts, delta.to_bytes()],
    )?;
    Ok(())
}
