//! A TPM that is busy when it is told to be.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use locus_attestation::digest::Digest;
use locus_attestation::tpm::{
    AkBlob, AkKind, Credential, EkKind, Endorsement, PcrSelection, PcrValues, Properties,
    SignedQuote, Tpm, TpmError,
};

/// A TPM that is busy for as many commands as it is told to be.
pub(super) struct Moody {
    pub(super) inner: Box<dyn Tpm>,
    pub(super) busy: Arc<AtomicUsize>,
}

impl Moody {
    fn ask(&mut self) -> Result<&mut dyn Tpm, TpmError> {
        let mut less = |left: usize| left.checked_sub(1);
        match self
            .busy
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, &mut less)
        {
            Ok(_) => Err(TpmError::Busy),
            Err(_) => Ok(&mut *self.inner),
        }
    }
}

impl Tpm for Moody {
    fn properties(&mut self) -> Result<Properties, TpmError> {
        self.ask()?.properties()
    }
    fn endorsement(&mut self, kind: EkKind) -> Result<Endorsement, TpmError> {
        self.ask()?.endorsement(kind)
    }
    fn endorsement_public(&mut self, kind: EkKind) -> Result<Vec<u8>, TpmError> {
        self.ask()?.endorsement_public(kind)
    }
    fn create_ak(&mut self, parent: EkKind, kind: AkKind) -> Result<AkBlob, TpmError> {
        self.ask()?.create_ak(parent, kind)
    }
    fn activate_credential(
        &mut self,
        ak: &AkBlob,
        endorsement: EkKind,
        credential: &Credential,
    ) -> Result<zeroize::Zeroizing<Vec<u8>>, TpmError> {
        self.ask()?.activate_credential(ak, endorsement, credential)
    }
    fn sign_quote(
        &mut self,
        ak: &AkBlob,
        qualifying: &[u8],
        selection: &PcrSelection,
    ) -> Result<SignedQuote, TpmError> {
        self.ask()?.sign_quote(ak, qualifying, selection)
    }
    fn read_pcrs(&mut self, selection: &PcrSelection) -> Result<PcrValues, TpmError> {
        self.ask()?.read_pcrs(selection)
    }
    fn extend(&mut self, pcr: u8, digests: &[Digest]) -> Result<(), TpmError> {
        self.ask()?.extend(pcr, digests)
    }
}
