//! Revocation lists: if there is one for an issuer, it is believed, and must be current.

use der::{Decode as _, Encode as _};
use x509_cert::certificate::Raw;
use x509_cert::crl::CertificateList;
use x509_cert::ext::pkix::KeyUsage;

use super::certificate::Certificate;
use super::signature::{self, SignatureError};
use crate::clock::Timestamp;

/// Why a revocation list says no, or cannot say yes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RevocationError {
    /// The list cannot be read.
    #[error("the revocation list cannot be read")]
    Malformed,
    /// The list is not by who it says.
    #[error("the revocation list is not signed by its issuer: {0}")]
    Signature(#[from] SignatureError),
    /// The issuer may not sign lists.
    #[error("the issuer of the revocation list may not sign revocation lists")]
    KeyUsage,
    /// The list is out of date, or not yet valid.
    #[error("the revocation list is not current; give a new one")]
    Stale,
    /// The list has an extension that must be understood and is not.
    #[error("the revocation list is of a kind that is not known here")]
    Extension,
    /// The certificate was revoked.
    #[error("the certificate was revoked")]
    Revoked,
}

/// A revocation list with the bytes that were signed.
#[derive(Clone, Debug)]
pub(super) struct RevocationList {
    parsed: CertificateList<Raw>,
    tbs: Vec<u8>,
}

impl RevocationList {
    pub(super) fn from_der(der: &[u8]) -> Result<Self, RevocationError> {
        let parsed =
            CertificateList::<Raw>::from_der(der).map_err(|_| RevocationError::Malformed)?;
        let tbs = parsed
            .tbs_cert_list
            .to_der()
            .map_err(|_| RevocationError::Malformed)?;
        // A list that encodes differently would be checked over other bytes than were signed.
        if !der.windows(tbs.len()).any(|window| window == tbs) {
            return Err(RevocationError::Malformed);
        }
        Ok(RevocationList { parsed, tbs })
    }

    pub(super) fn is_by(&self, issuer: &Certificate) -> bool {
        self.parsed.tbs_cert_list.issuer == *issuer.parsed.tbs_certificate().subject()
    }

    /// Whether a certificate of this issuer is still good.
    pub(super) fn check(
        &self,
        certificate: &Certificate,
        issuer: &Certificate,
        now: Timestamp,
    ) -> Result<(), RevocationError> {
        let list = &self.parsed.tbs_cert_list;
        let authority = issuer.parsed.tbs_certificate();
        if let Ok(Some((_, usage))) = authority.get_extension::<KeyUsage>()
            && !usage.crl_sign()
        {
            return Err(RevocationError::KeyUsage);
        }
        signature::verify(
            authority.subject_public_key_info(),
            &self.parsed.signature_algorithm,
            &self.tbs,
            self.parsed.signature.as_bytes().unwrap_or(&[]),
        )?;
        let critical = list
            .crl_extensions
            .iter()
            .flatten()
            .any(|extension| extension.critical);
        if critical {
            return Err(RevocationError::Extension);
        }
        let seconds = |time: x509_cert::time::Time| {
            i64::try_from(time.to_unix_duration().as_secs()).unwrap_or(i64::MAX)
        };
        let current = seconds(list.this_update) <= now.secs()
            && list
                .next_update
                .is_some_and(|next| now.secs() <= seconds(next));
        if !current {
            return Err(RevocationError::Stale);
        }
        let serial = certificate.parsed.tbs_certificate().serial_number();
        let revoked = list
            .revoked_certificates
            .iter()
            .flatten()
            .any(|revoked| revoked.serial_number == *serial);
        if revoked {
            return Err(RevocationError::Revoked);
        }
        Ok(())
    }
}
