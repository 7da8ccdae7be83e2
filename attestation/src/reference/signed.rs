//! Reference values on their way from one place to another, signed.

use serde::{Deserialize, Serialize};

use super::model::ReferenceValues;
use crate::clock::Timestamp;
use crate::evidence::jws::{JwsError, TokenKey, TrustedKeys};

const TYPE: &str = "locus-reference-values+jws";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload {
    iat: i64,
    sequence: u64,
    values: ReferenceValues,
}

/// Imported values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The values.
    pub values: ReferenceValues,
    /// Their place in the order of exports; to be kept, so that no older one is imported later.
    pub sequence: u64,
    /// When they were exported.
    pub exported: Timestamp,
}

/// Why values are not imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The token is not accepted.
    #[error(transparent)]
    Token(#[from] JwsError),
    /// Older than what is there: an attempt to bring back what was withdrawn.
    #[error(
        "the reference values have the sequence number {found}, and {present} is present already"
    )]
    Rollback {
        /// Of the values to import.
        found: u64,
        /// Of the values present.
        present: u64,
    },
}

/// Exports values as a signed token. `sequence` must go up with every export.
pub fn export(
    values: &ReferenceValues,
    sequence: u64,
    key: &TokenKey,
    now: Timestamp,
) -> Result<String, JwsError> {
    let payload = Payload {
        iat: now.secs(),
        sequence,
        values: values.clone(),
    };
    key.sign(TYPE, &payload)
}

/// Imports values from a token signed with a trusted key, newer than those present.
pub fn import(
    token: &str,
    keys: &TrustedKeys,
    present: Option<u64>,
) -> Result<Imported, ImportError> {
    let payload: Payload = keys.verify(TYPE, token.trim_ascii())?;
    if let Some(present) = present
        && payload.sequence <= present
    {
        return Err(ImportError::Rollback {
            found: payload.sequence,
            present,
        });
    }
    Ok(Imported {
        values: payload.values,
        sequence: payload.sequence,
        exported: Timestamp::from_secs(payload.iat),
    })
}

#[cfg(test)]
mod tests {
    use super::super::model::OsReference;
    use super::*;
    use crate::digest::HashAlg;

    fn values() -> ReferenceValues {
        ReferenceValues {
            os: [(
                "debian-12".to_owned(),
                OsReference {
                    boot_aggregates: [HashAlg::Sha256.hash(&[b"boot"])].into(),
                },
            )]
            .into(),
            ..ReferenceValues::default()
        }
    }

    #[test]
    fn values_travel_signed_and_never_backwards() {
        let key = TokenKey::generate().unwrap();
        let keys = TrustedKeys::new().with(key.public());
        let now = Timestamp::from_secs(1_800_000_000);
        let token = export(&values(), 7, &key, now).unwrap();
        let imported = import(&format!("{token}\n"), &keys, Some(6)).unwrap();
        assert_eq!(imported.values, values());
        assert_eq!((imported.sequence, imported.exported), (7, now));
        assert_eq!(
            import(&token, &keys, Some(7)),
            Err(ImportError::Rollback {
                found: 7,
                present: 7
            })
        );
        let stranger = TrustedKeys::new().with(TokenKey::generate().unwrap().public());
        assert!(matches!(
            import(&token, &stranger, None),
            Err(ImportError::Token(JwsError::UnknownKey(_)))
        ));
    }
}
