//! The messages of worker registration, and what binds them to each other.

use hmac::{Hmac, KeyInit, Mac};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use uuid::Uuid;

use crate::digest::HashAlg;
use crate::evidence::{EvidenceClaims, LogClaim, Nonce, PodClaim};
use crate::tpm::{Credential, Endorsement, PcrSelection, Properties, Quote};

/// How long the secret of a challenge is.
pub const SECRET_SIZE: usize = 32;
/// How long a nonce is.
pub const NONCE_SIZE: usize = 32;

/// Who a worker says it is (step 2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The worker's identifier, made at its first start.
    pub worker: Uuid,
    /// The worker's host name.
    pub name: String,
    /// The operating system, as `PRETTY_NAME` in `os-release` has it.
    pub os: String,
    /// What its TPM says about itself.
    pub tpm: Properties,
    /// The endorsement key and its certificates.
    pub endorsement: Endorsement,
    /// The other endorsement keys of its TPM: each is challenged as well, so that no two workers share one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Endorsement>,
    /// The attestation key's public area (`TPMT_PUBLIC`).
    #[serde(with = "crate::tpm::base64_bytes")]
    #[schemars(with = "crate::tpm::Base64")]
    pub ak_public: Vec<u8>,
    /// The attestation key's name.
    #[serde(with = "crate::tpm::base64_bytes")]
    #[schemars(with = "crate::tpm::Base64")]
    pub ak_name: Vec<u8>,
    /// A request (PKCS #10, DER) for the certificate that will be bound to the attestation key.
    #[serde(with = "crate::tpm::base64_bytes")]
    #[schemars(with = "crate::tpm::Base64")]
    pub certificate_request: Vec<u8>,
    /// The names of the templates that its measurement log uses: no hash covers them, so that they are fixed now.
    pub templates: Vec<String>,
}

/// The challenge that only the TPM of the endorsement key can answer (step 5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Challenge {
    /// Which registration this belongs to.
    pub session: Uuid,
    /// The secret, for the eyes of the TPM.
    pub credential: Credential,
    /// Further parts of the secret, one for each other endorsement key, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Credential>,
    /// What the quote has to answer; apart from the secret, which no quote may show.
    #[serde(with = "crate::tpm::base64_bytes")]
    #[schemars(with = "crate::tpm::Base64")]
    pub nonce: Vec<u8>,
    /// The registers to quote.
    pub selection: PcrSelection,
}

/// The answer to a challenge (step 6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// Which registration this belongs to.
    pub session: Uuid,
    /// Knowledge of the secret, over everything the worker claimed.
    #[serde(with = "crate::tpm::base64_bytes")]
    #[schemars(with = "crate::tpm::Base64")]
    pub mac: Vec<u8>,
    /// The quote of the boot registers.
    pub quote: Quote,
}

/// The end of a registration (step 9).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Acknowledgement {
    /// Which registration this belongs to.
    pub session: Uuid,
    /// The digest of the verifier's public key, the only one the agent will answer.
    pub verifier_key: String,
    /// The agent's certificate, bound to its attestation key, in PEM.
    pub certificate: String,
    /// Knowledge of the secret: whoever acknowledges is who challenged.
    #[serde(with = "crate::tpm::base64_bytes")]
    #[schemars(with = "crate::tpm::Base64")]
    pub mac: Vec<u8>,
}

/// What the verifier asks of an agent (pod attestation, step 2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvidenceRequest {
    /// What the answer must contain.
    pub nonce: Nonce,
    /// Who is asked.
    pub worker: Uuid,
    /// The pod; none if only the worker is attested.
    pub pod: Option<PodClaim>,
    /// The owner of the pod.
    pub tenant: Option<Uuid>,
    /// The first entry of the log that the verifier has not seen.
    pub first_entry: u64,
    /// The registers, chosen by the verifier.
    pub selection: PcrSelection,
    /// Whether the firmware's event log is wanted, too.
    #[serde(default, skip_serializing_if = "is_false")]
    pub boot_log: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "it is called with a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

impl EvidenceRequest {
    /// The claims that answer this request.
    pub fn answer(&self, first: u64, column: HashAlg, iat: i64) -> EvidenceClaims {
        let mut claims = EvidenceClaims::new(self.nonce, self.worker, iat);
        claims.pod.clone_from(&self.pod);
        claims.tenant = self.tenant;
        claims.log = Some(LogClaim { first, column });
        claims
    }

    /// Finds the claim that does not answer this request, by name.
    pub fn foreign_claim(&self, claims: &EvidenceClaims) -> Option<&'static str> {
        [
            (claims.eat_nonce == self.nonce, "nonce"),
            (claims.worker == self.worker, "worker"),
            (claims.pod == self.pod, "pod"),
            (claims.tenant == self.tenant, "tenant"),
            (claims.log.is_some(), "kind of attestation, without a log"),
        ]
        .into_iter()
        .find_map(|(same, name)| (!same).then_some(name))
    }
}

/// What both sides know of a registration before its proof: a change in any of it changes the proof.
#[derive(Clone, Debug)]
pub struct Transcript {
    session: Uuid,
    identity: Vec<u8>,
    nonce: Vec<u8>,
}

impl Transcript {
    /// Of an identity, whole, and the challenge to it.
    pub fn of(identity: &Identity, session: Uuid, nonce: &[u8]) -> Self {
        Transcript {
            session,
            // A structure of texts and numbers always has a JSON form, and always the same.
            identity: serde_json::to_vec(identity).unwrap_or_default(),
            nonce: nonce.to_vec(),
        }
    }

    fn digest(&self) -> Vec<u8> {
        let parts: [&[u8]; 3] = [self.session.as_bytes(), &self.identity, &self.nonce];
        digest_of("locus registration v1", &parts)
    }

    /// The worker's proof of knowing the secret.
    pub fn proof_mac(&self, secret: &[u8]) -> Vec<u8> {
        mac(secret, b"proof", &self.digest())
    }

    /// What the quote of the boot registers must contain.
    pub fn quote_nonce(&self) -> Vec<u8> {
        digest_of("locus registration quote v1", &[&self.digest()])
    }

    /// The handler's proof that the acknowledgement comes from who made the challenge.
    pub fn acknowledge_mac(&self, secret: &[u8], verifier_key: &str, certificate: &str) -> Vec<u8> {
        let parts: [&[u8]; 3] = [
            &self.digest(),
            verifier_key.as_bytes(),
            certificate.as_bytes(),
        ];
        let all = digest_of("locus acknowledgement v1", &parts);
        mac(secret, b"acknowledge", &all)
    }
}

/// The secret that a TPM proves to know: its parts, one for each endorsement key, in their order.
pub fn whole_secret(parts: &[&[u8]]) -> Vec<u8> {
    match parts {
        [only] => only.to_vec(),
        parts => digest_of("locus registration secrets v1", parts),
    }
}

/// Compares two codes in the same time whatever they hold.
pub fn same_mac(expected: &[u8], found: &[u8]) -> bool {
    bool::from(expected.ct_eq(found))
}

/// The digest of a label and some parts, each with its length before it, so that nothing can move from
/// one part to the next.
pub fn digest_of(label: &str, parts: &[&[u8]]) -> Vec<u8> {
    let lengths: Vec<[u8; 8]> = parts
        .iter()
        .map(|part| (part.len() as u64).to_be_bytes())
        .collect();
    let mut all: Vec<&[u8]> = vec![label.as_bytes(), &[0]];
    for (length, part) in lengths.iter().zip(parts) {
        all.push(length);
        all.push(part);
    }
    HashAlg::Sha256.hash(&all).as_bytes().to_vec()
}

fn mac(key: &[u8], label: &[u8], message: &[u8]) -> Vec<u8> {
    // An HMAC key may have any length, so that the empty answer is never given; it would match nothing.
    let Ok(mut mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(key) else {
        return Vec::new();
    };
    mac.update(label);
    mac.update(&[0]);
    mac.update(message);
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cannot_flow_into_each_other() {
        assert_ne!(
            digest_of("l", &[b"ab", b"c"]),
            digest_of("l", &[b"a", b"bc"])
        );
        assert_ne!(digest_of("l", &[b"a"]), digest_of("m", &[b"a"]));
    }

    #[test]
    fn every_part_of_the_transcript_changes_the_proof() {
        let base = Transcript {
            session: Uuid::from_u128(1),
            identity: b"identity".to_vec(),
            nonce: b"nonce".to_vec(),
        };
        let secret = [1; 32];
        let changed = [
            Transcript {
                session: Uuid::from_u128(9),
                ..base.clone()
            },
            Transcript {
                identity: b"other".to_vec(),
                ..base.clone()
            },
            Transcript {
                nonce: b"other".to_vec(),
                ..base.clone()
            },
        ];
        for other in changed {
            assert_ne!(base.proof_mac(&secret), other.proof_mac(&secret));
            assert_ne!(base.quote_nonce(), other.quote_nonce());
        }
        assert_ne!(base.proof_mac(&secret), base.proof_mac(&[2; 32]));
        assert_ne!(
            base.proof_mac(&secret),
            base.acknowledge_mac(&secret, "", ""),
            "one side's code is not the other's"
        );
    }
}
