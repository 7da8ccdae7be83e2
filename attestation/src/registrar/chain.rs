//! From an EK certificate to a manufacturer that is trusted: the whole path, or a reason.

use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{
    BasicConstraints, ExtendedKeyUsage, KeyUsage, NameConstraints, SubjectAltName,
};

use super::certificate::{Certificate, CertificateError, EkKey, unpad};
use super::constraints;
use super::revocation::{RevocationError, RevocationList};
use super::signature::{self, SignatureError};
use super::tcg::{self, TpmIdentity};
use crate::clock::Timestamp;
use crate::digest::{Digest, encode_hex};

/// More authorities than this above a certificate is a mistake.
const MAX_DEPTH: usize = 6;
/// More tries than this is an attempt to keep us busy.
const MAX_TRIES: usize = 64;
const MAX_UNTRUSTED: usize = 16;

/// What a valid EK certificate proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EkIdentity {
    /// The TPM it is for.
    pub tpm: TpmIdentity,
    /// The endorsement key.
    pub key: EkKey,
    /// The subject public key info, DER.
    pub spki: Vec<u8>,
    /// The serial number, hexadecimal.
    pub serial: String,
    /// The digest of the certificate without padding.
    pub certificate: Digest,
    /// The subject of the root that it leads to.
    pub root: String,
}

/// Why an EK certificate is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EkError {
    /// A certificate cannot be read.
    #[error("{0}")]
    Certificate(#[from] CertificateError),
    /// Nobody known issued it.
    #[error("`{subject}` was issued by `{issuer}`, which is not known here")]
    UnknownIssuer {
        /// The certificate where the path ends.
        subject: String,
        /// Its issuer.
        issuer: String,
    },
    /// A signature on the path is wrong.
    #[error("`{subject}`: {error}")]
    Signature {
        /// The certificate.
        subject: String,
        /// What is wrong.
        error: SignatureError,
    },
    /// A certificate on the path is not valid yet or any more.
    #[error("`{0}` is not valid at this time")]
    Validity(String),
    /// An issuer on the path is no certification authority, or has too many below it.
    #[error("`{0}` may not issue this certificate")]
    NotAnAuthority(String),
    /// A name is outside of what an authority above allows.
    #[error("the name constraints of `{0}` do not allow this certificate")]
    NameConstraints(String),
    /// A critical extension that is not understood.
    #[error("`{subject}` has the critical extension {oid}, which is not understood")]
    CriticalExtension {
        /// The certificate.
        subject: String,
        /// The extension.
        oid: String,
    },
    /// The certificate is for another purpose.
    #[error("the certificate is not one for an endorsement key: {0}")]
    Purpose(&'static str),
    /// The identifiers of the TPM are missing.
    #[error("the certificate does not name manufacturer, model and version of the TPM")]
    NoTpmIdentity,
    /// The TPM says it is by one manufacturer, the path leads to another.
    #[error("the TPM is by `{tpm}`, but its certificate leads to `{root}`")]
    Manufacturer {
        /// The manufacturer in the certificate.
        tpm: String,
        /// The manufacturer that the root belongs to.
        root: String,
    },
    /// A revocation list says no.
    #[error("`{subject}`: {error}")]
    Revocation {
        /// The certificate.
        subject: String,
        /// What the list says.
        error: RevocationError,
    },
    /// More certificates than a TPM has.
    #[error("too many certificates came with it")]
    TooMany,
}

#[derive(Clone, Debug)]
struct Anchor {
    certificate: Certificate,
    manufacturer: String,
}

/// Roots, intermediate authorities and revocation lists.
#[derive(Clone, Debug, Default)]
pub struct TrustStore {
    roots: Vec<Anchor>,
    intermediates: Vec<Certificate>,
    lists: Vec<RevocationList>,
}

impl TrustStore {
    /// Trusts nobody.
    pub fn new() -> Self {
        TrustStore::default()
    }

    /// Trusts a root of a manufacturer, given by the TCG's identifier (`id:49465800`).
    pub fn add_root(&mut self, manufacturer: &str, der: &[u8]) -> Result<(), CertificateError> {
        self.roots.push(Anchor {
            certificate: Certificate::from_der(der)?,
            manufacturer: manufacturer.to_ascii_lowercase(),
        });
        Ok(())
    }

    /// Knows an intermediate authority; it is believed only as far as a root vouches for it.
    pub fn add_intermediate(&mut self, der: &[u8]) -> Result<(), CertificateError> {
        self.intermediates.push(Certificate::from_der(der)?);
        Ok(())
    }

    /// Knows a revocation list.
    pub fn add_revocation_list(&mut self, der: &[u8]) -> Result<(), RevocationError> {
        self.lists.push(RevocationList::from_der(der)?);
        Ok(())
    }

    /// Validates an EK certificate, as read from NV, with the chain that came with it.
    pub fn validate_ek(
        &self,
        certificate: &[u8],
        chain: &[Vec<u8>],
        now: Timestamp,
    ) -> Result<EkIdentity, EkError> {
        if chain.len() > MAX_UNTRUSTED {
            return Err(EkError::TooMany);
        }
        let leaf = Certificate::from_der(unpad(certificate)?)?;
        let sent = chain
            .iter()
            .map(|der| Ok(Certificate::from_der(unpad(der)?)?))
            .collect::<Result<Vec<_>, EkError>>()?;
        let (tpm, names) = check_leaf(&leaf, now)?;
        let mut search = Search {
            store: self,
            sent: &sent,
            names: &names,
            now,
            tries: 0,
            worst: None,
        };
        let Some(root) = search.find(&mut vec![&leaf]) else {
            return Err(search.worst.map_or(EkError::TooMany, |(_, error)| error));
        };
        if root.manufacturer != tpm.manufacturer {
            return Err(EkError::Manufacturer {
                tpm: tpm.manufacturer,
                root: root.manufacturer.clone(),
            });
        }
        Ok(EkIdentity {
            key: leaf.key()?,
            spki: leaf.spki().unwrap_or_default(),
            serial: encode_hex(leaf.parsed.tbs_certificate().serial_number().as_bytes()),
            certificate: leaf.digest(),
            root: root.certificate.subject(),
            tpm,
        })
    }
}

struct Search<'a> {
    store: &'a TrustStore,
    sent: &'a [Certificate],
    names: &'a [GeneralName],
    now: Timestamp,
    tries: usize,
    /// The failure on the longest path: the one worth telling.
    worst: Option<(usize, EkError)>,
}

impl<'a> Search<'a> {
    fn find(&mut self, path: &mut Vec<&'a Certificate>) -> Option<&'a Anchor> {
        let last = *path.last()?;
        let issuer = last.parsed.tbs_certificate().issuer();
        let mut any = false;
        for root in &self.store.roots {
            if root.certificate.parsed.tbs_certificate().subject() == issuer {
                any = true;
                if self.accept(path, &root.certificate) {
                    return Some(root);
                }
            }
        }
        let authorities: Vec<&'a Certificate> = self
            .store
            .intermediates
            .iter()
            .chain(self.sent)
            .filter(|authority| authority.parsed.tbs_certificate().subject() == issuer)
            .filter(|authority| !path.iter().any(|seen| seen.der == authority.der))
            .collect();
        for authority in authorities {
            any = true;
            if path.len() > MAX_DEPTH || !self.accept(path, authority) {
                continue;
            }
            path.push(authority);
            let found = self.find(path);
            path.pop();
            if found.is_some() {
                return found;
            }
        }
        if !any {
            let error = EkError::UnknownIssuer {
                subject: last.subject(),
                issuer: issuer.to_string(),
            };
            self.failed(path.len(), error);
        }
        None
    }

    fn failed(&mut self, depth: usize, error: EkError) {
        if self.worst.as_ref().is_none_or(|(known, _)| *known <= depth) {
            self.worst = Some((depth, error));
        }
    }

    /// Whether an authority may stand above a path, and did sign its last certificate.
    fn accept(&mut self, path: &[&Certificate], authority: &Certificate) -> bool {
        self.tries += 1;
        if self.tries > MAX_TRIES {
            return false;
        }
        match self.check(path, authority) {
            Ok(()) => true,
            Err(error) => {
                self.failed(path.len(), error);
                false
            }
        }
    }

    fn check(&self, path: &[&Certificate], authority: &Certificate) -> Result<(), EkError> {
        let Some(below) = path.last() else {
            return Ok(());
        };
        let fields = authority.parsed.tbs_certificate();
        signature::verify(
            fields.subject_public_key_info(),
            below.parsed.signature_algorithm(),
            below.tbs(),
            below.parsed.signature().as_bytes().unwrap_or(&[]),
        )
        .map_err(|error| EkError::Signature {
            subject: below.subject(),
            error,
        })?;
        check_validity(authority, self.now)?;
        check_extensions(authority)?;
        let not_an_authority = || EkError::NotAnAuthority(authority.subject());
        let basic = extension::<BasicConstraints>(authority)?.ok_or_else(not_an_authority)?;
        // The certificates between this authority and the leaf.
        let between = path.len() - 1;
        let fits = basic
            .path_len_constraint
            .is_none_or(|most| between <= usize::from(most));
        if !basic.ca || !fits {
            return Err(not_an_authority());
        }
        if extension::<KeyUsage>(authority)?.is_some_and(|usage| !usage.key_cert_sign()) {
            return Err(not_an_authority());
        }
        if let Some(limits) = extension::<NameConstraints>(authority)? {
            for (place, certificate) in path.iter().enumerate() {
                let others = if place == 0 { self.names } else { &[] };
                let subject = certificate.parsed.tbs_certificate().subject();
                if !constraints::allows(&limits, subject, others) {
                    return Err(EkError::NameConstraints(authority.subject()));
                }
            }
        }
        for list in self.store.lists.iter().filter(|list| list.is_by(authority)) {
            list.check(below, authority, self.now)
                .map_err(|error| EkError::Revocation {
                    subject: below.subject(),
                    error,
                })?;
        }
        Ok(())
    }
}

/// What must be true of the certificate itself; gives the TPM and all alternative names.
fn check_leaf(
    leaf: &Certificate,
    now: Timestamp,
) -> Result<(TpmIdentity, Vec<GeneralName>), EkError> {
    check_validity(leaf, now)?;
    check_extensions(leaf)?;
    let key = leaf.key()?;
    if extension::<BasicConstraints>(leaf)?.is_some_and(|basic| basic.ca) {
        return Err(EkError::Purpose("it is a certification authority's"));
    }
    if let Some(usage) = extension::<KeyUsage>(leaf)? {
        let fits = match key {
            EkKey::Rsa { .. } => usage.key_encipherment(),
            EkKey::Ec { .. } => usage.key_agreement() || usage.key_encipherment(),
        };
        if !fits {
            return Err(EkError::Purpose("its key may not be used to exchange keys"));
        }
    }
    if let Some(usage) = extension::<ExtendedKeyUsage>(leaf)? {
        // tcg-kp-EKCertificate
        if !usage.0.iter().any(|oid| oid.to_string() == "2.23.133.8.1") {
            return Err(EkError::Purpose("its extended key usage is another"));
        }
    }
    let names = extension::<SubjectAltName>(leaf)?.ok_or(EkError::NoTpmIdentity)?;
    let tpm = tcg::identity_of(&names).ok_or(EkError::NoTpmIdentity)?;
    Ok((tpm, names.0))
}

/// What an EK certificate says about its TPM, without a look at who signed it.
pub fn certified_identity(certificate: &[u8]) -> Option<TpmIdentity> {
    let leaf = Certificate::from_der(unpad(certificate).ok()?).ok()?;
    let names = extension::<SubjectAltName>(&leaf).ok()??;
    tcg::identity_of(&names)
}

fn check_validity(certificate: &Certificate, now: Timestamp) -> Result<(), EkError> {
    let validity = certificate.parsed.tbs_certificate().validity();
    let seconds = |time: x509_cert::time::Time| {
        i64::try_from(time.to_unix_duration().as_secs()).unwrap_or(i64::MAX)
    };
    if now.secs() < seconds(validity.not_before) || now.secs() > seconds(validity.not_after) {
        return Err(EkError::Validity(certificate.subject()));
    }
    Ok(())
}

/// The extensions that are understood when they are critical.
const UNDERSTOOD: [&str; 5] = [
    "2.5.29.15", // key usage
    "2.5.29.17", // subject alternative name
    "2.5.29.19", // basic constraints
    "2.5.29.30", // name constraints
    "2.5.29.37", // extended key usage
];

fn check_extensions(certificate: &Certificate) -> Result<(), EkError> {
    let extensions = certificate.parsed.tbs_certificate().extensions();
    for extension in extensions.into_iter().flatten() {
        let oid = extension.extn_id.to_string();
        if extension.critical && !UNDERSTOOD.contains(&oid.as_str()) {
            return Err(EkError::CriticalExtension {
                subject: certificate.subject(),
                oid,
            });
        }
    }
    Ok(())
}

/// An extension, if it is there; one that is there twice or malformed is an error.
fn extension<'a, T>(certificate: &'a Certificate) -> Result<Option<T>, EkError>
where
    T: der::Decode<'a> + der::oid::AssociatedOid,
    <T as der::Decode<'a>>::Error: std::fmt::Display,
    Option<(bool, T)>: Sized,
{
    let mut found = None;
    let extensions = certificate.parsed.tbs_certificate().extensions();
    for extension in extensions.into_iter().flatten() {
        if extension.extn_id != T::OID {
            continue;
        }
        let value = T::from_der(extension.extn_value.as_bytes())
            .map_err(|error| CertificateError::Malformed(error.to_string()))?;
        if found.replace(value).is_some() {
            return Err(
                CertificateError::Malformed(format!("it has two extensions {}", T::OID)).into(),
            );
        }
    }
    Ok(found)
}
