//! A TPM in plain Rust, for tests, benchmarks and load where no TPM library is installed.
//!
//! It keeps its keys in the process's memory and proves nothing about the machine; its certificate is
//! issued by a throw-away authority that no registrar trusts unless told to. The agent cannot be
//! started with it.

use std::collections::BTreeMap;

use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use p256::ecdsa::signature::Signer;
use p256::elliptic_curve::Generate;
use p256::elliptic_curve::sec1::ToSec1Point;
use zeroize::Zeroizing;

use super::attest::{ClockInfo, QuoteAttest};
use super::credential::{IDENTITY, STORAGE, integrity, seal};
use super::device::{
    AkBlob, AkKind, Credential, EkKind, Endorsement, Properties, SignedQuote, Tpm, TpmError,
};
use super::kdf::{Direction, aes_cfb, kdfa, kdfe};
use super::pcr::{PCR_COUNT, PcrSelection, PcrValues};
use super::public::{Attributes, Curve, Public, PublicKey};
use super::signature::{Signature, SignatureScheme, SignatureValue};
use super::wire::Reader;
use crate::digest::{Digest, HashAlg};

const BANKS: [HashAlg; 2] = [HashAlg::Sha1, HashAlg::Sha256];
const AES_BITS: u16 = 128;

/// A TPM emulated in memory.
pub struct EmulatedTpm {
    endorsement: p256::SecretKey,
    storage_seed: Zeroizing<Vec<u8>>,
    certificate: Option<Vec<u8>>,
    chain: Vec<Vec<u8>>,
    pcrs: BTreeMap<(HashAlg, u8), Digest>,
    clock: ClockInfo,
    busy: u32,
}

impl EmulatedTpm {
    /// The TPM of a seed: the same seed is the same TPM, freshly booted.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        let derive =
            |label: &str| Zeroizing::new(kdfa(HashAlg::Sha256, &seed, label, b"locus", &[], 256));
        // A digest is a valid scalar but for one chance in 2^32; then the next is tried.
        let endorsement = (0..8u8)
            .find_map(|attempt| {
                p256::SecretKey::from_slice(&derive(&format!("endorsement {attempt}"))).ok()
            })
            .unwrap_or_else(|| p256::SecretKey::generate_from_rng(&mut UnwrapErr(SysRng)));
        let mut tpm = EmulatedTpm {
            endorsement,
            storage_seed: derive("storage"),
            certificate: None,
            chain: Vec::new(),
            pcrs: BTreeMap::new(),
            clock: ClockInfo {
                clock: 1000,
                reset_count: 0,
                restart_count: 0,
                safe: true,
            },
            busy: 0,
        };
        tpm.reboot();
        tpm
    }

    /// Stores the certificate of the endorsement key and its chain, as a manufacturer would.
    #[must_use]
    pub fn with_certificate(mut self, certificate: Vec<u8>, chain: Vec<Vec<u8>>) -> Self {
        self.certificate = Some(certificate);
        self.chain = chain;
        self
    }

    /// Starts the machine again: registers are cleared, the boot is counted.
    pub fn reboot(&mut self) {
        self.clock.reset_count = self.clock.reset_count.wrapping_add(1);
        self.clock.restart_count = 0;
        self.pcrs.clear();
        for bank in BANKS {
            for pcr in 0..PCR_COUNT {
                let dynamic = (17..=22).contains(&pcr);
                let value = if dynamic {
                    Digest::ones(bank)
                } else {
                    Digest::zero(bank)
                };
                self.pcrs.insert((bank, pcr), value);
            }
        }
    }

    /// Clears a register that software may reset, as an attacker on the machine can.
    pub fn reset_pcr(&mut self, pcr: u8) {
        if matches!(pcr, 16 | 23) {
            for bank in BANKS {
                self.pcrs.insert((bank, pcr), Digest::zero(bank));
            }
        }
    }

    /// Moves the clock, in milliseconds; backwards only an attacker's clock goes.
    pub fn set_clock(&mut self, millis: u64) {
        self.clock.clock = millis;
    }

    /// Makes the next operations answer that the TPM is busy.
    pub fn be_busy(&mut self, operations: u32) {
        self.busy = operations;
    }

    /// The public key of the endorsement key, uncompressed, for its certificate.
    pub fn endorsement_point(&self) -> Vec<u8> {
        self.endorsement
            .public_key()
            .to_sec1_point(false)
            .as_bytes()
            .to_vec()
    }

    fn ready(&mut self) -> Result<(), TpmError> {
        self.clock.clock = self.clock.clock.saturating_add(1);
        match self.busy.checked_sub(1) {
            Some(left) => {
                self.busy = left;
                Err(TpmError::Busy)
            }
            None => Ok(()),
        }
    }

    fn public_endorsement(&self) -> Result<Public, TpmError> {
        Ok(Public {
            name_alg: HashAlg::Sha256,
            attributes: Attributes(
                Attributes::FIXED_TPM
                    | Attributes::FIXED_PARENT
                    | Attributes::SENSITIVE_DATA_ORIGIN
                    | Attributes::ADMIN_WITH_POLICY
                    | Attributes::RESTRICTED
                    | Attributes::DECRYPT,
            ),
            auth_policy: EkKind::EccP256.policy(),
            symmetric: Some(AES_BITS),
            scheme: None,
            key: point(&self.endorsement.public_key())?,
        })
    }

    fn open_ak(&self, ak: &AkBlob) -> Result<(Public, p256::ecdsa::SigningKey), TpmError> {
        let foreign = |_| TpmError::ForeignKey;
        let public = ak.public_area().map_err(foreign)?;
        let scalar =
            unseal(&self.storage_seed, &public.name(), &ak.private).ok_or(TpmError::ForeignKey)?;
        let key = p256::ecdsa::SigningKey::from_slice(&scalar).map_err(|_| TpmError::ForeignKey)?;
        Ok((public, key))
    }
}

fn only_p256(kind: EkKind) -> Result<(), TpmError> {
    if kind == EkKind::EccP256 {
        Ok(())
    } else {
        Err(TpmError::Unsupported(format!("{kind:?} endorsement keys")))
    }
}

fn point(key: &p256::PublicKey) -> Result<PublicKey, TpmError> {
    let bytes = key.to_sec1_point(false).as_bytes().to_vec();
    let coordinates = bytes.get(1..).unwrap_or_default();
    let (x, y) = coordinates
        .split_at_checked(Curve::P256.size())
        .ok_or_else(|| TpmError::Failed("a point without coordinates".to_owned()))?;
    Ok(PublicKey::Ecc {
        curve: Curve::P256,
        x: x.to_vec(),
        y: y.to_vec(),
    })
}

/// Opens what [`seal`] closed; none if it was closed under another seed or name.
fn unseal(seed: &[u8], name: &[u8], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let mut reader = Reader::new("the sealed secret", sealed);
    let tag = reader.sized("integrity", 64, "a digest").ok()?;
    let hidden = sealed.get(reader.position()..)?;
    if integrity(HashAlg::Sha256, seed, hidden, name) != tag {
        return None;
    }
    let key = kdfa(
        HashAlg::Sha256,
        seed,
        STORAGE,
        name,
        &[],
        u32::from(AES_BITS),
    );
    let plain = Zeroizing::new(aes_cfb(&key, hidden, Direction::Decrypt)?);
    let mut reader = Reader::new("the secret", &plain);
    let secret = reader.sized("secret", 64, "a digest").ok()?.to_vec();
    reader.end().ok()?;
    Some(Zeroizing::new(secret))
}

impl Tpm for EmulatedTpm {
    fn properties(&mut self) -> Result<Properties, TpmError> {
        Ok(Properties {
            manufacturer: "LCUS".to_owned(),
            vendor: "emulated".to_owned(),
            firmware: 1,
            software: true,
            endorsement_kinds: vec![EkKind::EccP256],
        })
    }

    fn endorsement(&mut self, kind: EkKind) -> Result<Endorsement, TpmError> {
        self.ready()?;
        only_p256(kind)?;
        Ok(Endorsement {
            kind,
            public: self.public_endorsement()?.to_bytes(),
            certificate: self
                .certificate
                .clone()
                .ok_or(TpmError::NoCertificate(kind))?,
            chain: self.chain.clone(),
        })
    }

    fn create_ak(&mut self, parent: EkKind, kind: AkKind) -> Result<AkBlob, TpmError> {
        self.ready()?;
        only_p256(parent)?;
        if kind != AkKind::EccP256 {
            return Err(TpmError::Unsupported(format!("{kind:?} attestation keys")));
        }
        let key = p256::SecretKey::generate_from_rng(&mut UnwrapErr(SysRng));
        let public = Public {
            name_alg: HashAlg::Sha256,
            attributes: Attributes(
                Attributes::FIXED_TPM
                    | Attributes::FIXED_PARENT
                    | Attributes::SENSITIVE_DATA_ORIGIN
                    | Attributes::USER_WITH_AUTH
                    | Attributes::RESTRICTED
                    | Attributes::SIGN,
            ),
            auth_policy: Vec::new(),
            symmetric: None,
            scheme: Some((SignatureScheme::EcDsa, HashAlg::Sha256)),
            key: point(&key.public_key())?,
        };
        let scalar = Zeroizing::new(key.to_bytes().to_vec());
        let private = seal(
            HashAlg::Sha256,
            &self.storage_seed,
            AES_BITS,
            &public.name(),
            &scalar,
        )
        .ok_or_else(|| TpmError::Failed("the key cannot be sealed".to_owned()))?;
        Ok(AkBlob {
            parent,
            public: public.to_bytes(),
            private,
        })
    }

    fn activate_credential(
        &mut self,
        ak: &AkBlob,
        endorsement: EkKind,
        credential: &Credential,
    ) -> Result<Zeroizing<Vec<u8>>, TpmError> {
        self.ready()?;
        only_p256(endorsement)?;
        let (public, _) = self.open_ak(ak)?;
        let wrong = |_| TpmError::Credential;
        let mut reader = Reader::new("the ephemeral point", &credential.encrypted_seed);
        let ex = reader.sized("x", 32, "a coordinate").map_err(wrong)?;
        let ey = reader.sized("y", 32, "a coordinate").map_err(wrong)?;
        reader.end().map_err(wrong)?;
        let peer = p256::PublicKey::from_sec1_bytes(&[&[4], ex, ey].concat())
            .map_err(|_| TpmError::Credential)?;
        let z = p256::ecdh::diffie_hellman(self.endorsement.to_nonzero_scalar(), peer.as_affine());
        let PublicKey::Ecc { x, .. } = self.public_endorsement()?.key else {
            return Err(TpmError::Credential);
        };
        let seed = Zeroizing::new(kdfe(
            HashAlg::Sha256,
            z.raw_secret_bytes(),
            IDENTITY,
            ex,
            &x,
            256,
        ));
        unseal(&seed, &public.name(), &credential.id_object).ok_or(TpmError::Credential)
    }

    fn sign_quote(
        &mut self,
        ak: &AkBlob,
        qualifying: &[u8],
        selection: &PcrSelection,
    ) -> Result<SignedQuote, TpmError> {
        self.ready()?;
        let (public, key) = self.open_ak(ak)?;
        let values = self.read_pcrs(selection)?;
        let digest = values
            .digest(selection, HashAlg::Sha256)
            .ok_or_else(|| TpmError::Unsupported("the selected bank".to_owned()))?;
        let parent = self.public_endorsement()?.endorsement_qualified_name();
        let attest = QuoteAttest {
            qualified_signer: public.qualified_name(&parent),
            extra_data: qualifying.to_vec(),
            clock_info: self.clock,
            firmware_version: 1,
            selection: selection.clone(),
            pcr_digest: digest.as_bytes().to_vec(),
        }
        .to_bytes();
        let signed: p256::ecdsa::Signature = key.sign(&attest);
        let signature = Signature {
            scheme: SignatureScheme::EcDsa,
            hash: HashAlg::Sha256,
            value: SignatureValue::Ecc {
                r: signed.r().to_bytes().to_vec(),
                s: signed.s().to_bytes().to_vec(),
            },
        };
        Ok(SignedQuote {
            attest,
            signature: signature.to_bytes(),
        })
    }

    fn read_pcrs(&mut self, selection: &PcrSelection) -> Result<PcrValues, TpmError> {
        let mut values = PcrValues::default();
        for register in selection.registers() {
            let value = self.pcrs.get(&register);
            values.set(
                register.1,
                *value.ok_or_else(|| TpmError::Unsupported(format!("bank {}", register.0)))?,
            );
        }
        Ok(values)
    }

    fn extend(&mut self, pcr: u8, digests: &[Digest]) -> Result<(), TpmError> {
        for digest in digests {
            let value = self
                .pcrs
                .get_mut(&(digest.alg(), pcr))
                .ok_or_else(|| TpmError::Unsupported(format!("bank {}", digest.alg())))?;
            *value = value.extend(digest.as_bytes());
        }
        Ok(())
    }
}
