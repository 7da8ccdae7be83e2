//! Endorsement certificates from a folder, for TPMs that store none.
//!
//! Some manufacturers give certificates out over the network, and some clouds beside the machine. They are matched
//! by key: a file that belongs to no endorsement key of the TPM is the certificate of another machine.

use std::path::{Path, PathBuf};

use x509_cert::Certificate;
use x509_cert::der::{Decode as _, Encode as _};
use x509_cert::ext::pkix::BasicConstraints;
use zeroize::Zeroizing;

use super::AgentError;
use crate::digest::Digest;
use crate::tpm::{
    AkBlob, AkKind, Credential, EkKind, Endorsement, PcrSelection, PcrValues, Properties, Public,
    PublicKey, SignedQuote, Tpm, TpmError,
};

/// Certificates in PEM or DER, as they were found in a folder.
#[derive(Clone, Debug, Default)]
pub struct EkCertificates {
    /// Of endorsement keys: the key's bits, and the certificate in DER.
    leaves: Vec<(Vec<u8>, Vec<u8>)>,
    /// Of authorities, in DER.
    chain: Vec<Vec<u8>>,
}

impl EkCertificates {
    /// Reads every file of a folder; one that is not a certificate is an error.
    pub fn read(folder: &Path) -> Result<Self, AgentError> {
        let failed = |path: &Path, reason: String| AgentError::State {
            path: path.to_owned(),
            reason,
        };
        let files = std::fs::read_dir(folder).map_err(|e| failed(folder, e.to_string()))?;
        let mut paths: Vec<PathBuf> = files
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .map_err(|e| failed(folder, e.to_string()))?;
        paths.retain(|path| path.is_file());
        paths.sort();
        let mut found = EkCertificates::default();
        for path in paths {
            let bytes = std::fs::read(&path).map_err(|e| failed(&path, e.to_string()))?;
            let added = found.add(&bytes);
            added.map_err(|reason| failed(&path, format!("not a certificate: {reason}")))?;
        }
        Ok(found)
    }

    /// Takes the certificates in PEM, or the one in DER.
    fn add(&mut self, bytes: &[u8]) -> Result<(), String> {
        let certificates = if bytes.trim_ascii_start().starts_with(b"-----BEGIN") {
            Certificate::load_pem_chain(bytes).map_err(|error| error.to_string())?
        } else {
            vec![Certificate::from_der(bytes).map_err(|error| error.to_string())?]
        };
        for certificate in certificates {
            let der = certificate.to_der().map_err(|error| error.to_string())?;
            let body = certificate.tbs_certificate();
            let basic = body.get_extension::<BasicConstraints>();
            let basic = basic.map_err(|error| error.to_string())?;
            if basic.is_some_and(|(_, basic)| basic.ca) {
                self.chain.push(der);
                continue;
            }
            let key = body.subject_public_key_info();
            let bits = key.subject_public_key.raw_bytes().to_vec();
            self.leaves.push((bits, der));
        }
        Ok(())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// The certificate of a key.
    fn of(&self, public: &[u8]) -> Option<&[u8]> {
        let key = Public::parse(public).ok()?.key;
        let same = |bits: &[u8]| match &key {
            // The registrar looks closer: here it is only found.
            PublicKey::Rsa { modulus } => bits.windows(modulus.len()).any(|part| part == modulus),
            PublicKey::Ecc { x, y, .. } => *bits == [&[4], x.as_slice(), y.as_slice()].concat(),
        };
        let found = self.leaves.iter().find(|(bits, _)| same(bits));
        found.map(|(_, certificate)| certificate.as_slice())
    }
}

/// A TPM whose endorsement keys may have their certificates in files.
pub struct WithCertificates {
    inner: Box<dyn Tpm>,
    files: EkCertificates,
}

impl WithCertificates {
    /// Adds what the TPM itself does not store.
    pub fn new(inner: Box<dyn Tpm>, files: EkCertificates) -> Self {
        WithCertificates { inner, files }
    }
}

impl Tpm for WithCertificates {
    fn properties(&mut self) -> Result<Properties, TpmError> {
        let mut properties = self.inner.properties()?;
        for kind in EkKind::ALL {
            if properties.endorsement_kinds.contains(&kind) {
                continue;
            }
            // A kind that the TPM cannot make has no certificate either.
            let public = self.inner.endorsement_public(kind);
            if public.is_ok_and(|public| self.files.of(&public).is_some()) {
                properties.endorsement_kinds.push(kind);
            }
        }
        Ok(properties)
    }

    fn endorsement(&mut self, kind: EkKind) -> Result<Endorsement, TpmError> {
        match self.inner.endorsement(kind) {
            Ok(mut endorsement) => {
                endorsement.chain.extend(self.files.chain.iter().cloned());
                Ok(endorsement)
            }
            Err(TpmError::NoCertificate(_)) => {
                let public = self.inner.endorsement_public(kind)?;
                let certificate = self.files.of(&public);
                let certificate = certificate.ok_or(TpmError::NoCertificate(kind))?.to_vec();
                Ok(Endorsement {
                    kind,
                    public,
                    certificate,
                    chain: self.files.chain.clone(),
                })
            }
            Err(error) => Err(error),
        }
    }

    fn endorsement_public(&mut self, kind: EkKind) -> Result<Vec<u8>, TpmError> {
        self.inner.endorsement_public(kind)
    }

    fn create_ak(&mut self, parent: EkKind, kind: AkKind) -> Result<AkBlob, TpmError> {
        self.inner.create_ak(parent, kind)
    }

    fn activate_credential(
        &mut self,
        ak: &AkBlob,
        endorsement: EkKind,
        credential: &Credential,
    ) -> Result<Zeroizing<Vec<u8>>, TpmError> {
        self.inner.activate_credential(ak, endorsement, credential)
    }

    fn sign_quote(
        &mut self,
        ak: &AkBlob,
        qualifying: &[u8],
        selection: &PcrSelection,
    ) -> Result<SignedQuote, TpmError> {
        self.inner.sign_quote(ak, qualifying, selection)
    }

    fn read_pcrs(&mut self, selection: &PcrSelection) -> Result<PcrValues, TpmError> {
        self.inner.read_pcrs(selection)
    }

    fn extend(&mut self, pcr: u8, digests: &[Digest]) -> Result<(), TpmError> {
        self.inner.extend(pcr, digests)
    }
}
