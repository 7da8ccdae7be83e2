//! Which of several verifiers attests a worker.
//!
//! Whoever attests a worker holds its lease for that long: a row with a time by which it runs out, and a token that grows
//! each time that the lease is taken. A conclusion is kept only while the lease still has the token that it was drawn
//! under, in the same transaction: a verifier that stood still for a while changes nothing, whatever clocks say. All times of
//! leases are those of the database.

use super::{StoreError, VerifierStore, signed, unsigned};
use crate::clock::Timestamp;
use crate::database::{Transaction, params};

/// For how long what counts once is remembered after it ran out, in milliseconds: no clock of a gate may be as far from
/// another's.
const REMEMBERED_MILLIS: i64 = 3_600_000;

/// The right to attest a worker, for a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The worker's name.
    pub worker: String,
    /// Who has it.
    pub holder: String,
    /// Grows each time that it is taken.
    pub token: u64,
}

/// A worker whose turn it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The worker's name.
    pub worker: String,
    /// Where its agent listens.
    pub address: String,
    /// For how long it has been its turn, in milliseconds; of who has had none yet, for ever.
    pub overdue: i64,
}

/// What a verifier learns when it says that it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beat {
    /// The time of the database.
    pub time: Timestamp,
    /// All verifiers that are there, in order.
    pub there: Vec<String>,
    /// The authorities by which those are known that answer an API server.
    pub authorities: Vec<String>,
}

/// After how long nobody remembers a verifier that is gone, in milliseconds.
const REMEMBERED: i64 = 3_600_000;

impl VerifierStore {
    /// Says that a verifier is there, and asks who else is: who said so within a time.
    pub fn beat(&self, id: &str, within_millis: i64) -> Result<Beat, StoreError> {
        self.beat_with(id, "", within_millis)
    }

    /// The same, with the authority by which it is known that answers an API server.
    pub fn beat_with(
        &self,
        id: &str,
        authority: &str,
        within_millis: i64,
    ) -> Result<Beat, StoreError> {
        self.0.change(|on| {
            let now = on.now();
            on.execute(
                &format!(
                    "INSERT INTO gate (id, seen, authority) VALUES (?1, {now}, ?2)
                     ON CONFLICT (id) DO UPDATE SET seen = excluded.seen, authority = excluded.authority"
                ),
                params![id, authority],
            )?;
            on.execute(
                &format!("DELETE FROM gate WHERE seen < {now} - ?1"),
                params![REMEMBERED],
            )?;
            let time: i64 = on.one(&format!("SELECT {now}"), &[])?.get(0)?;
            let rows = on.query(
                "SELECT id, authority FROM gate WHERE seen > ?1 ORDER BY id",
                params![time - within_millis],
            )?;
            let mut beat = Beat {
                time: Timestamp::from_millis(time),
                there: Vec::new(),
                authorities: Vec::new(),
            };
            for row in &rows {
                beat.there.push(row.get(0)?);
                let authority: String = row.get(1)?;
                beat.authorities
                    .extend(Some(authority).filter(|authority| !authority.is_empty()));
            }
            Ok(beat)
        })
    }

    /// Notes that a request uses something that counts once, until a time after which it does not count anyway; false if
    /// another request used it, wherever. It is remembered for longer than that: where a clock is behind, it still counts.
    pub fn use_once(
        &self,
        (key, request): (&str, &str),
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        self.0.change(|on| {
            let forgotten = now.millis().saturating_sub(REMEMBERED_MILLIS);
            on.execute("DELETE FROM used WHERE until < ?1", params![forgotten])?;
            on.execute(
                "INSERT INTO used VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                params![key, request, until.millis()],
            )?;
            let by = on.one("SELECT request FROM used WHERE key = ?1", params![key])?;
            Ok(by.get::<String>(0)? == request)
        })
    }

    /// Says that a verifier goes.
    pub fn leave(&self, id: &str) -> Result<(), StoreError> {
        self.0
            .execute("DELETE FROM gate WHERE id = ?1", params![id])?;
        Ok(())
    }

    /// The workers whose turn it is and whom nobody attests just now; who is untrusted has no turn.
    pub fn turns(&self) -> Result<Vec<Turn>, StoreError> {
        self.0.read(|on| {
            let now = on.now();
            let rows = on.query(
                &format!(
                    "SELECT worker.name, worker.address, {now} - coalesce(lease.due, 0)
                     FROM worker LEFT JOIN lease ON lease.worker = worker.name
                     WHERE worker.trust <> 'untrusted'
                         AND coalesce(lease.due, 0) <= {now} AND coalesce(lease.expires, 0) <= {now}
                     ORDER BY 3 DESC, 1"
                ),
                &[],
            )?;
            let turns = rows.iter().map(|row| {
                Ok(Turn {
                    worker: row.get(0)?,
                    address: row.get(1)?,
                    overdue: row.get(2)?,
                })
            });
            turns.collect()
        })
    }

    /// Takes the lease of a worker for a time; none if another has it.
    pub fn take_lease(
        &self,
        worker: &str,
        holder: &str,
        lasts_millis: i64,
    ) -> Result<Option<Lease>, StoreError> {
        self.lease_if((worker, holder), lasts_millis, false)
    }

    /// The same if it is the worker's turn.
    pub fn take_turn(
        &self,
        worker: &str,
        holder: &str,
        lasts_millis: i64,
    ) -> Result<Option<Lease>, StoreError> {
        self.lease_if((worker, holder), lasts_millis, true)
    }

    fn lease_if(
        &self,
        (worker, holder): (&str, &str),
        lasts_millis: i64,
        due: bool,
    ) -> Result<Option<Lease>, StoreError> {
        self.0.change(|on| {
            let now = on.now();
            let due = match due {
                true => format!("AND lease.due <= {now}"),
                false => String::new(),
            };
            let taken = on.first(
                &format!(
                    "INSERT INTO lease (worker, holder, token, expires, due) VALUES (?1, ?2, 1, {now} + ?3, 0)
                     ON CONFLICT (worker) DO UPDATE SET holder = excluded.holder,
                         token = lease.token + 1, expires = excluded.expires
                     WHERE lease.expires <= {now} {due}
                     RETURNING token"
                ),
                params![worker, holder, lasts_millis],
            )?;
            let Some(taken) = taken else { return Ok(None) };
            Ok(Some(Lease {
                worker: worker.to_owned(),
                holder: holder.to_owned(),
                token: unsigned(taken.get(0)?),
            }))
        })
    }

    /// Has a lease last for a time from now on; false if another has it by now.
    pub fn renew_lease(&self, lease: &Lease, lasts_millis: i64) -> Result<bool, StoreError> {
        self.0.change(|on| {
            let renewed = on.execute(
                &format!(
                    "UPDATE lease SET expires = {} + ?4 WHERE worker = ?1 AND holder = ?2 AND token = ?3",
                    on.now()
                ),
                params![lease.worker, lease.holder, signed(lease.token), lasts_millis],
            )?;
            Ok(renewed == 1)
        })
    }

    /// Gives a lease back, and says when it is the worker's turn again, if that is to change; false if another has it by now.
    pub fn give_back(&self, lease: &Lease, again_millis: Option<i64>) -> Result<bool, StoreError> {
        self.0.change(|on| {
            let given = on.execute(
                &format!(
                    "UPDATE lease SET expires = 0, due = coalesce({} + CAST(?4 AS BIGINT), due)
                     WHERE worker = ?1 AND holder = ?2 AND token = ?3",
                    on.now()
                ),
                params![
                    lease.worker,
                    lease.holder,
                    signed(lease.token),
                    again_millis
                ],
            )?;
            Ok(given == 1)
        })
    }
}

/// Whether a conclusion may still be kept: the lease that it was drawn under has not been taken by another.
pub(super) fn counts(on: &Transaction<'_>, lease: Option<&Lease>) -> Result<(), StoreError> {
    let Some(lease) = lease else { return Ok(()) };
    let held = on.first(
        "SELECT 1 FROM lease WHERE worker = ?1 AND holder = ?2 AND token = ?3",
        params![lease.worker, lease.holder, signed(lease.token)],
    )?;
    match held {
        Some(_) => Ok(()),
        None => Err(StoreError::Conflict(
            "another verifier attests the worker by now".to_owned(),
        )),
    }
}
