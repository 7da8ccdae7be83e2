//! One TPM is one worker: which endorsement keys belong to whom.
//!
//! A TPM has an endorsement key for each template that its manufacturer certified, and any of them makes a
//! worker. Agents show all of them, and each is challenged together with the attestation key. No key is taken
//! twice. What an agent hides is found only where the certificates themselves say that two keys are of one TPM:
//! by a subject that no two keys of one kind share.

use uuid::Uuid;
use x509_cert::ext::pkix::SubjectAltName;

use super::certificate::{Certificate, unpad};
use super::record::{NewWorker, RegistrarError};
use crate::database::{Database, Row, Transaction, params};
use crate::digest::HashAlg;
use crate::tpm::{EkKind, Public};

/// The tables.
pub(super) const MIGRATION: &str = "
    ALTER TABLE worker ADD COLUMN ek_others TEXT NOT NULL DEFAULT '[]';
    CREATE TABLE endorsement_key (
        key TEXT PRIMARY KEY,
        worker TEXT NOT NULL REFERENCES worker (id) ON DELETE CASCADE,
        kind TEXT,
        subject TEXT
    ) STRICT;
    CREATE INDEX endorsement_key_subject ON endorsement_key (subject);
    CREATE INDEX endorsement_key_worker ON endorsement_key (worker);
";

/// An endorsement key, as far as it is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    /// The digest of the public key.
    digest: String,
    /// Its template, if it is one of the known.
    kind: Option<String>,
    /// What its certificate says it is of, if that says anything.
    subject: Option<String>,
}

/// A key and whose it is.
#[derive(Clone, Debug)]
pub(super) struct Owned {
    worker: String,
    key: Key,
}

impl Owned {
    /// The keys of a worker.
    pub(super) fn all_of(name: &str, worker: &NewWorker) -> Vec<Self> {
        let owned = |key| Owned {
            worker: name.to_owned(),
            key,
        };
        keys_of(worker).into_iter().map(owned).collect()
    }
}

fn keys_of(worker: &NewWorker) -> Vec<Key> {
    let main = key_of(&worker.ek_public, &worker.ek_certificate);
    let others = worker.ek_others.iter();
    let others = others.map(|other| key_of(&other.public, &other.certificate));
    std::iter::once(main).chain(others).collect()
}

fn key_of(public: &[u8], certificate: &[u8]) -> Key {
    let area = Public::parse(public).ok();
    let kind = area
        .as_ref()
        .and_then(|area| EkKind::ALL.into_iter().find(|kind| kind.describes(area)));
    let digest = area.map_or_else(|| HashAlg::Sha256.hash(&[public]), |area| area.key.digest());
    Key {
        digest: digest.to_string(),
        kind: kind.map(|kind| kind.name().to_owned()),
        subject: subject_of(certificate),
    }
}

/// What a certificate calls its TPM: the manufacturer and the subject; nothing if the subject is empty.
fn subject_of(certificate: &[u8]) -> Option<String> {
    let certificate = Certificate::from_der(unpad(certificate).ok()?).ok()?;
    let body = certificate.parsed.tbs_certificate();
    let subject = body.subject();
    if subject.is_empty() {
        return None;
    }
    let (_, names) = body.get_extension::<SubjectAltName>().ok()??;
    let manufacturer = super::tcg::identity_of(&names)?.manufacturer;
    Some(format!("{subject}, by {manufacturer}"))
}

/// Whether the keys of a worker are its own: nobody else has them, and no certificates of others are for the same
/// TPM. `taken` are keys that others are about to have.
pub(super) fn check(
    transaction: &Transaction<'_>,
    id: Uuid,
    worker: &NewWorker,
    mut taken: Vec<Owned>,
) -> Result<(), RegistrarError> {
    let mine = keys_of(worker);
    let statement = "SELECT worker.name, key, kind, subject FROM endorsement_key JOIN worker ON worker.id = worker
         WHERE worker <> ?1 AND (key = ?2 OR subject = ?3)";
    for key in &mine {
        let found =
            transaction.query(statement, params![id.to_string(), key.digest, key.subject])?;
        for row in &found {
            taken.push(owned_from(row)?);
        }
    }
    compare(&mine, worker.ek_listed, &taken)
}

fn owned_from(row: &Row) -> Result<Owned, RegistrarError> {
    Ok(Owned {
        worker: row.get(0)?,
        key: Key {
            digest: row.get(1)?,
            kind: row.get(2)?,
            subject: row.get(3)?,
        },
    })
}

/// Whether keys are of another TPM than those that are taken.
fn compare(mine: &[Key], listed: bool, taken: &[Owned]) -> Result<(), RegistrarError> {
    let same = taken
        .iter()
        .find(|owned| mine.iter().any(|key| key.digest == owned.key.digest));
    if let Some(owned) = same {
        return Err(RegistrarError::SameTpm {
            worker: owned.worker.clone(),
        });
    }
    // The operator vouches for it.
    if listed {
        return Ok(());
    }
    for subject in mine.iter().filter_map(|key| key.subject.as_ref()) {
        let of_subject = |key: &Key| key.subject.as_ref() == Some(subject);
        let Some(owned) = taken.iter().find(|owned| of_subject(&owned.key)) else {
            continue;
        };
        let mut keys: Vec<&Key> = mine.iter().filter(|key| of_subject(key)).collect();
        for other in taken.iter().map(|owned| &owned.key) {
            if of_subject(other) && keys.iter().all(|key| key.digest != other.digest) {
                keys.push(other);
            }
        }
        // A TPM has one key of each kind: a subject with two of a kind is that of a whole series.
        let mut kinds: Vec<Option<&str>> = keys.iter().map(|key| key.kind.as_deref()).collect();
        kinds.sort_unstable();
        let series =
            kinds.contains(&None) || kinds.windows(2).any(|pair| pair.first() == pair.last());
        if !series {
            return Err(RegistrarError::SameSubject {
                worker: owned.worker.clone(),
                subject: subject.clone(),
            });
        }
    }
    Ok(())
}

/// Keeps the keys of a worker that was just stored.
pub(super) fn store(
    transaction: &Transaction<'_>,
    id: Uuid,
    worker: &NewWorker,
) -> Result<(), RegistrarError> {
    for key in keys_of(worker) {
        transaction.execute(
            "INSERT INTO endorsement_key (key, worker, kind, subject) VALUES (?1, ?2, ?3, ?4)",
            params![key.digest, id.to_string(), key.kind, key.subject],
        )?;
    }
    Ok(())
}

/// Keeps the keys of workers that were registered before keys were kept.
pub(super) fn complete(database: &Database) -> Result<(), RegistrarError> {
    database.change(|on| {
        let missing = on.query(
            "SELECT id, ek_public, ek_certificate FROM worker
             WHERE id NOT IN (SELECT worker FROM endorsement_key)",
            &[],
        )?;
        for row in &missing {
            let key = key_of(row.bytes(1)?, row.bytes(2)?);
            on.execute(
                "INSERT INTO endorsement_key (key, worker, kind, subject)
                 VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
                params![key.digest, row.get::<String>(0)?, key.kind, key.subject],
            )?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(digest: &str, kind: EkKind, subject: Option<&str>) -> Key {
        Key {
            digest: digest.to_owned(),
            kind: Some(kind.name().to_owned()),
            subject: subject.map(str::to_owned),
        }
    }

    fn owned(worker: &str, key: Key) -> Owned {
        Owned {
            worker: worker.to_owned(),
            key,
        }
    }

    #[test]
    fn a_subject_tells_a_tpm_only_while_no_two_keys_of_a_kind_share_it() {
        let rsa = |digest, subject| key(digest, EkKind::Rsa2048, subject);
        let ecc = |digest, subject| key(digest, EkKind::EccP384, subject);
        let one = owned("one", rsa("1", Some("CN=vm")));
        // The other key of the TPM of which `one` showed the first.
        let hidden = [ecc("2", Some("CN=vm"))];
        let found = compare(&hidden, false, std::slice::from_ref(&one));
        assert!(
            matches!(found, Err(RegistrarError::SameSubject { worker, .. }) if worker == "one")
        );
        assert!(
            compare(&hidden, true, std::slice::from_ref(&one)).is_ok(),
            "the operator knows better"
        );
        // Another TPM of a manufacturer that gives all of them one subject.
        let whole = [rsa("3", Some("CN=vm")), ecc("4", Some("CN=vm"))];
        assert!(compare(&whole, false, std::slice::from_ref(&one)).is_ok());
        let series = [one.clone(), owned("three", rsa("3", Some("CN=vm")))];
        assert!(compare(&hidden, false, &series).is_ok());
        // The same worker twice, registered and about to be, is no series.
        let twice = [one.clone(), one.clone()];
        assert!(compare(&hidden, false, &twice).is_err());
        // No subject, no conclusion; another subject, another TPM.
        assert!(compare(&[ecc("2", None)], false, &[owned("one", rsa("1", None))]).is_ok());
        assert!(compare(&[ecc("2", Some("CN=other"))], false, &[one]).is_ok());
    }

    #[test]
    fn a_key_is_taken_once_whatever_else_is_shown() {
        let mine = [
            key("1", EkKind::Rsa2048, None),
            key("2", EkKind::EccP384, None),
        ];
        let taken = [owned("one", key("2", EkKind::EccP384, None))];
        for listed in [false, true] {
            assert!(matches!(
                compare(&mine, listed, &taken),
                Err(RegistrarError::SameTpm { .. })
            ));
        }
    }
}
