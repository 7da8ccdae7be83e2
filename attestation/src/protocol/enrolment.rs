//! Worker registration, seen from the agent.
//!
//! The published prototype took any challenge from anyone and let it overwrite the verifier's key. Here
//! an acknowledgement must prove that it comes from whoever made the challenge, and the verifier's key,
//! once learned, stays.

use serde::{Deserialize, Serialize};
use uuid::Uuid;
use zeroize::Zeroizing;

use super::message::{
    Acknowledgement, Challenge, Identity, NONCE_SIZE, Proof, Transcript, same_mac, whole_secret,
};
use super::succession::{Succession, follow};
use crate::clock::Timestamp;
use crate::digest::HashAlg;
use crate::tpm::device::quote;
use crate::tpm::pcr::BOOT_PCRS;
use crate::tpm::{AkBlob, PcrSelection, Tpm, TpmError};

/// How long a challenge may wait for its acknowledgement.
pub const PENDING_MILLIS: i64 = 120_000;

/// Why the agent did not take part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnrolmentError {
    /// The challenge asks for other registers than those of the boot.
    #[error("the challenge asks for registers that are not those of the boot in one strong bank")]
    Selection,
    /// The nonce is too short to be fresh.
    #[error("the nonce of the challenge has {0} bytes, expected {NONCE_SIZE}")]
    Nonce(usize),
    /// The TPM refused.
    #[error(transparent)]
    Tpm(#[from] TpmError),
    /// The challenge is not about the keys that were shown.
    #[error("the challenge has parts for {found} endorsement keys, but {shown} were shown")]
    Parts {
        /// In the challenge.
        found: usize,
        /// In the identity.
        shown: usize,
    },
    /// There is no challenge to acknowledge.
    #[error("no challenge waits for this acknowledgement")]
    NotPending,
    /// The acknowledgement does not come from who made the challenge.
    #[error("the acknowledgement does not come from whoever made the challenge")]
    NotFromChallenger,
    /// Another verifier is known already.
    #[error("another verifier is known already, and does not say that this one follows it")]
    OtherVerifier,
}

/// What the agent remembers of its registration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    /// The digest of the verifier's public key.
    pub verifier_key: String,
    /// The certificate bound to the attestation key, in PEM.
    pub certificate: String,
    /// Which registration this was.
    #[serde(default)]
    pub session: Option<Uuid>,
}

struct Pending {
    identity: Identity,
    session: Uuid,
    nonce: Vec<u8>,
    secret: Zeroizing<Vec<u8>>,
    since: Timestamp,
}

/// One agent's side of its registration.
pub struct Enrolment {
    registered: Option<Registered>,
    pending: Option<Pending>,
}

impl Enrolment {
    /// Takes up what was remembered.
    pub fn new(registered: Option<Registered>) -> Self {
        Enrolment {
            registered,
            pending: None,
        }
    }

    /// What is known of the verifier, once registered.
    pub fn registered(&self) -> Option<&Registered> {
        self.registered.as_ref()
    }

    /// Answers a challenge (step 6).
    pub fn challenge(
        &mut self,
        tpm: &mut dyn Tpm,
        ak: &AkBlob,
        identity: &Identity,
        challenge: &Challenge,
        now: Timestamp,
    ) -> Result<Proof, EnrolmentError> {
        if challenge.nonce.len() != NONCE_SIZE {
            return Err(EnrolmentError::Nonce(challenge.nonce.len()));
        }
        let strong = [HashAlg::Sha256, HashAlg::Sha384, HashAlg::Sha512];
        let boot = |bank| challenge.selection == PcrSelection::of(bank, BOOT_PCRS);
        if !strong.into_iter().any(boot) {
            return Err(EnrolmentError::Selection);
        }
        let secret = recover(tpm, ak, identity, challenge)?;
        let transcript = Transcript::of(identity, challenge.session, &challenge.nonce);
        let mac = transcript.proof_mac(&secret);
        let quote = quote(tpm, ak, &transcript.quote_nonce(), &challenge.selection)?;
        self.pending = Some(Pending {
            identity: identity.clone(),
            session: challenge.session,
            nonce: challenge.nonce.clone(),
            secret,
            since: now,
        });
        Ok(Proof {
            session: challenge.session,
            mac,
            quote,
        })
    }

    /// Takes the acknowledgement (step 9) and returns what is to be remembered.
    pub fn acknowledge(
        &mut self,
        acknowledgement: &Acknowledgement,
        now: Timestamp,
    ) -> Result<Registered, EnrolmentError> {
        // Whoever did not hear that it was taken sends it again; it changes nothing.
        if let Some(known) = &self.registered
            && known.session == Some(acknowledgement.session)
            && known.verifier_key == acknowledgement.verifier_key
            && known.certificate == acknowledgement.certificate
        {
            return Ok(known.clone());
        }
        let pending = self
            .pending
            .as_ref()
            .filter(|pending| pending.session == acknowledgement.session)
            .filter(|pending| (0..=PENDING_MILLIS).contains(&now.millis_since(pending.since)))
            .ok_or(EnrolmentError::NotPending)?;
        let transcript = Transcript::of(&pending.identity, pending.session, &pending.nonce);
        let expected = transcript.acknowledge_mac(
            &pending.secret,
            &acknowledgement.verifier_key,
            &acknowledgement.certificate,
        );
        if !same_mac(&expected, &acknowledgement.mac) {
            return Err(EnrolmentError::NotFromChallenger);
        }
        if let Some(known) = &self.registered
            && known.verifier_key != acknowledgement.verifier_key
        {
            return Err(EnrolmentError::OtherVerifier);
        }
        let registered = Registered {
            verifier_key: acknowledgement.verifier_key.clone(),
            certificate: acknowledgement.certificate.clone(),
            session: Some(acknowledgement.session),
        };
        self.registered = Some(registered.clone());
        self.pending = None;
        Ok(registered)
    }

    /// Follows the known verifier to the key that it has now; none if no verifier is known.
    pub fn succeed(&mut self, successions: &[Succession]) -> Option<Registered> {
        let registered = self.registered.as_mut()?;
        registered.verifier_key = follow(&registered.verifier_key, successions);
        Some(registered.clone())
    }

    /// Replaces the certificate after a rotation.
    pub fn rotate(&mut self, certificate: String) -> Option<Registered> {
        let registered = self.registered.as_mut()?;
        registered.certificate = certificate;
        Some(registered.clone())
    }
}

/// The secret of a challenge: every endorsement key that was shown has a part in it.
fn recover(
    tpm: &mut dyn Tpm,
    ak: &AkBlob,
    identity: &Identity,
    challenge: &Challenge,
) -> Result<Zeroizing<Vec<u8>>, EnrolmentError> {
    if challenge.others.len() != identity.others.len() {
        return Err(EnrolmentError::Parts {
            found: challenge.others.len() + 1,
            shown: identity.others.len() + 1,
        });
    }
    let mut parts = vec![tpm.activate_credential(ak, ak.parent, &challenge.credential)?];
    for (endorsement, credential) in identity.others.iter().zip(&challenge.others) {
        parts.push(tpm.activate_credential(ak, endorsement.kind, credential)?);
    }
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_slice()).collect();
    Ok(Zeroizing::new(whole_secret(&parts)))
}
