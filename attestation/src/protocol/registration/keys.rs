//! What the operator insists on about the keys of a worker: one TPM is one worker.

use serde::{Deserialize, Serialize};

use super::error::RegistrationError;
use crate::digest::{Digest, HashAlg};
use crate::net::pki::request_key;
use crate::protocol::message::Identity;
use crate::tpm::{EkKind, Endorsement, Public};

/// More endorsement keys than this is an attempt to keep us busy.
const MOST_KEYS: usize = 8;

/// What the operator insists on about the keys of one worker.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct KeyTerms {
    /// The kinds of endorsement keys that it has to show, all of them.
    pub required: Vec<EkKind>,
    /// The endorsement keys of this worker, or their certificates, by digest; none if the operator lists none.
    pub listed: Option<Vec<Digest>>,
    /// Those of other workers.
    pub of_others: Vec<(String, Digest)>,
    /// Whether a worker whose keys are not listed is refused.
    pub only_listed: bool,
    /// Keys and certificates that are refused, whoever has them.
    pub denied: Vec<Digest>,
}

/// Every endorsement key that an identity shows, the attestation key's parent first.
pub fn endorsements(identity: &Identity) -> impl Iterator<Item = &Endorsement> {
    std::iter::once(&identity.endorsement).chain(&identity.others)
}

/// The digests by which an endorsement key is known: of the key, and of its certificate.
pub fn digests_of(public: &Public, certificate: &[u8]) -> [Digest; 2] {
    [public.key.digest(), HashAlg::Sha256.hash(&[certificate])]
}

impl KeyTerms {
    /// Whether the operator lists one of these keys for this worker, as far as the terms allow them at all.
    pub(super) fn check(&self, identity: &Identity) -> Result<bool, RegistrationError> {
        let mut shown = Vec::new();
        let mut kinds = Vec::new();
        for endorsement in endorsements(identity) {
            let public = parse(&endorsement.public)?;
            if !endorsement.kind.describes(&public) {
                return Err(RegistrationError::WrongTemplate(endorsement.kind.name()));
            }
            if kinds.contains(&endorsement.kind) {
                return Err(RegistrationError::SameKind(endorsement.kind.name()));
            }
            if kinds.len() == MOST_KEYS {
                return Err(RegistrationError::TooManyKeys);
            }
            kinds.push(endorsement.kind);
            shown.extend(digests_of(&public, &endorsement.certificate));
        }
        self.check_denied(identity, &shown)?;
        let missing = self.required.iter().find(|kind| !kinds.contains(kind));
        if let Some(kind) = missing {
            return Err(RegistrationError::KeyNotShown(kind.name()));
        }
        let elsewhere = self
            .of_others
            .iter()
            .find(|(_, digest)| shown.contains(digest));
        if let Some((other, _)) = elsewhere {
            return Err(RegistrationError::ListedForOther(other.clone()));
        }
        match &self.listed {
            Some(listed) if listed.iter().any(|digest| shown.contains(digest)) => Ok(true),
            Some(_) => Err(RegistrationError::NotListed {
                name: identity.name.clone(),
                found: words(&shown),
            }),
            None if self.only_listed => Err(RegistrationError::NotListed {
                name: identity.name.clone(),
                found: words(&shown),
            }),
            None => Ok(false),
        }
    }

    /// Nothing that the worker shows may be on the deny-list: keys, certificates, those that vouch for them.
    fn check_denied(
        &self,
        identity: &Identity,
        endorsements_shown: &[Digest],
    ) -> Result<(), RegistrationError> {
        if self.denied.is_empty() {
            return Ok(());
        }
        let mut shown = endorsements_shown.to_vec();
        for endorsement in endorsements(identity) {
            let chain = endorsement.chain.iter();
            shown.extend(chain.map(|der| HashAlg::Sha256.hash(&[der])));
        }
        shown.extend(attestation_key_digests(&identity.ak_public));
        let tls = request_key(&identity.certificate_request).ok();
        shown.extend(tls.and_then(|digest| digest.parse::<Digest>().ok()));
        match self.denied.iter().find(|digest| shown.contains(digest)) {
            Some(denied) => Err(RegistrationError::Denied(*denied)),
            None => Ok(()),
        }
    }
}

/// The digests by which an attestation key is known: of the key, and of its public area, which is the digest in
/// its name.
pub fn attestation_key_digests(public: &[u8]) -> Vec<Digest> {
    let key = Public::parse(public).map(|public| public.key.digest());
    let area = HashAlg::Sha256.hash(&[public]);
    key.into_iter().chain([area]).collect()
}

fn parse(public: &[u8]) -> Result<Public, RegistrationError> {
    Public::parse(public).map_err(|error| RegistrationError::MalformedKey {
        key: "endorsement key",
        error,
    })
}

/// The keys among digests of keys and certificates, in turn.
fn words(shown: &[Digest]) -> String {
    let keys: Vec<String> = shown
        .iter()
        .step_by(2)
        .map(|key| format!("`{key}`"))
        .collect();
    keys.join(", ")
}
