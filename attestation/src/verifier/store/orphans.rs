//! Since when pods are known to nobody: a restart gives them no new time.

use std::collections::{BTreeMap, BTreeSet};

use super::{StoreError, VerifierStore};
use crate::clock::Timestamp;
use crate::database::{ToValue as _, params};

impl VerifierStore {
    /// Since when pods are known to nobody, by UID.
    pub fn orphans(&self) -> Result<BTreeMap<String, Timestamp>, StoreError> {
        let rows = self.0.query("SELECT uid, since FROM orphan", &[])?;
        let since = rows
            .iter()
            .map(|row| Ok((row.get(0)?, Timestamp::from_millis(row.get(1)?))));
        since.collect()
    }

    /// Notes which pods nobody knows now: those that were noted keep their time, and those that are not among them any
    /// more are forgotten.
    pub fn note_orphans(&mut self, now: &BTreeMap<String, Timestamp>) -> Result<(), StoreError> {
        self.0.change(|on| {
            let rows = on.query("SELECT uid FROM orphan", &[])?;
            let noted: BTreeSet<String> = rows
                .iter()
                .map(|row| row.get(0))
                .collect::<Result<_, _>>()?;
            for uid in noted.iter().filter(|uid| !now.contains_key(*uid)) {
                on.execute("DELETE FROM orphan WHERE uid = ?1", params![uid])?;
            }
            let new = now.iter().filter(|(uid, _)| !noted.contains(*uid));
            let new: Vec<(&String, i64)> = new.map(|(uid, since)| (uid, since.millis())).collect();
            let values: Vec<_> = new
                .iter()
                .map(|(uid, since)| vec![uid.value(), since.value()])
                .collect();
            on.execute_all("INSERT INTO orphan VALUES (?1, ?2)", &values)?;
            Ok(())
        })
    }
}
