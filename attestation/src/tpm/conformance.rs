//! What every TPM must do, whichever it is: one suite for hardware, software and recordings.
//!
//! The suite extends register 16, which exists for tests, and leaves nothing else behind.

use std::convert::Infallible;

use getrandom::rand_core::{TryCryptoRng, TryRng};

use super::credential::make_credential;
use super::device::{AkBlob, AkKind, EkKind, Tpm, TpmError, quote};
use super::pcr::{BOOT_PCRS, PcrSelection};
use super::public::Public;
use super::quote::{QuoteError, verify_quote};
use crate::digest::HashAlg;

/// The requirement that a TPM did not meet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{requirement}: {found}")]
pub struct Nonconformance {
    /// What is required.
    pub requirement: String,
    /// What happened.
    pub found: String,
}

fn require(holds: bool, requirement: &str, found: impl ToString) -> Result<(), Nonconformance> {
    if holds {
        return Ok(());
    }
    Err(Nonconformance {
        requirement: requirement.to_owned(),
        found: found.to_string(),
    })
}

fn expect<T, E: ToString>(result: Result<T, E>, requirement: &str) -> Result<T, Nonconformance> {
    result.map_err(|error| Nonconformance {
        requirement: requirement.to_owned(),
        found: error.to_string(),
    })
}

/// Random numbers that are the same in every run, so that a recording can be replayed.
///
/// They protect nothing: the suite's secrets are its own.
struct Reproducible(u64);

impl TryRng for Reproducible {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_be_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_be_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        for chunk in out.chunks_mut(HashAlg::Sha256.size()) {
            self.0 = self.0.wrapping_add(1);
            let block = HashAlg::Sha256.hash(&[b"locus conformance", &self.0.to_be_bytes()]);
            for (to, from) in chunk.iter_mut().zip(block.as_bytes()) {
                *to = *from;
            }
        }
        Ok(())
    }
}

impl TryCryptoRng for Reproducible {}

/// Checks one endorsement key and an attestation key below it; `restart` gives the same TPM again, as a
/// restarted agent would open it.
pub fn check<T: Tpm>(
    tpm: T,
    kind: EkKind,
    ak_kind: AkKind,
    restart: impl FnOnce(T) -> Result<T, TpmError>,
) -> Result<T, Nonconformance> {
    let mut tpm = tpm;
    let properties = expect(tpm.properties(), "a TPM tells its properties")?;
    require(
        properties.endorsement_kinds.contains(&kind),
        "the endorsement key is one of those the TPM names",
        format_args!("{:?}", properties.endorsement_kinds),
    )?;
    let ek = check_endorsement(&mut tpm, kind)?;
    let ak = expect(tpm.create_ak(kind, ak_kind), "an attestation key is made")?;
    let public = expect(ak.public_area(), "its public area is well formed")?;
    expect(
        public.check_attestation_key(),
        "it is a restricted signing key of the TPM",
    )?;
    check_credential(&mut tpm, &ek, &ak, &public)?;
    check_quotes(&mut tpm, &ek, &ak, &public)?;
    check_clock(&mut tpm, &ak, &public)?;
    let mut tpm = expect(restart(tpm), "a TPM is opened again")?;
    let nonce = [9; 32];
    let boot = PcrSelection::of(HashAlg::Sha256, BOOT_PCRS);
    let again = expect(
        quote(&mut tpm, &ak, &nonce, &boot),
        "a stored attestation key quotes after a restart",
    )?;
    expect(
        verify_quote(&public, &again, &nonce, &boot),
        "and is still the same key",
    )?;
    check_foreign(&mut tpm, &ak)?;
    Ok(tpm)
}

fn check_endorsement(tpm: &mut dyn Tpm, kind: EkKind) -> Result<Public, Nonconformance> {
    let endorsement = expect(
        tpm.endorsement(kind),
        "the endorsement key has a certificate",
    )?;
    let ek = expect(
        Public::parse(&endorsement.public),
        "the endorsement key's public area is well formed",
    )?;
    require(
        ek.to_bytes() == endorsement.public,
        "it is written in one way",
        "other bytes",
    )?;
    let again = expect(tpm.endorsement(kind), "the endorsement key is made again")?;
    require(
        again == endorsement,
        "the endorsement key is always the same",
        "another key or certificate",
    )?;
    Ok(ek)
}

fn check_credential(
    tpm: &mut dyn Tpm,
    ek: &Public,
    ak: &AkBlob,
    public: &Public,
) -> Result<(), Nonconformance> {
    let mut rng = Reproducible(0);
    let secret = [0x5e; 32];
    let mut make = |name: &[u8]| {
        let made = make_credential(ek, name, &secret, &mut rng);
        expect(made, "a credential can be made for the endorsement key")
    };
    let credential = make(&public.name())?;
    let opened = expect(
        tpm.activate_credential(ak, ak.parent, &credential),
        "the TPM recovers the secret of a credential",
    )?;
    require(
        opened.as_slice() == secret,
        "the recovered secret is the one protected",
        "another secret",
    )?;
    let mut other = public.name();
    if let Some(last) = other.last_mut() {
        *last ^= 1;
    }
    let foreign = make(&other)?;
    let refused = tpm.activate_credential(ak, ak.parent, &foreign);
    require(
        refused == Err(TpmError::Credential),
        "a credential for another attestation key is refused as such",
        format_args!("{refused:?}"),
    )?;
    let mut damaged = make(&public.name())?;
    if let Some(last) = damaged.id_object.last_mut() {
        *last ^= 1;
    }
    let refused = tpm.activate_credential(ak, ak.parent, &damaged);
    require(
        refused == Err(TpmError::Credential),
        "a damaged credential is refused as such",
        format_args!("{refused:?}"),
    )
}

fn check_quotes(
    tpm: &mut dyn Tpm,
    ek: &Public,
    ak: &AkBlob,
    public: &Public,
) -> Result<(), Nonconformance> {
    let nonce = [7; 32];
    let one = PcrSelection::of(HashAlg::Sha256, [16]);
    let both = PcrSelection::of(HashAlg::Sha256, [0, 10, 16]).and(HashAlg::Sha1, [10]);
    for selection in [&one, &both] {
        let taken = expect(quote(tpm, ak, &nonce, selection), "a quote is made")?;
        let verified = expect(
            verify_quote(public, &taken, &nonce, selection),
            "a quote of the asked registers and nonce is verified",
        )?;
        require(
            verified.qualified_signer == public.qualified_name(&ek.endorsement_qualified_name()),
            "the signer is below the endorsement key",
            "another parent",
        )?;
        let read = expect(tpm.read_pcrs(selection), "registers are read")?;
        require(
            read == verified.pcrs,
            "reading agrees with the quote",
            "other values",
        )?;
        let replayed = verify_quote(public, &taken, &[8; 32], selection);
        require(
            replayed == Err(QuoteError::Nonce),
            "a quote does not answer another nonce",
            format_args!("{replayed:?}"),
        )?;
    }
    let before = expect(tpm.read_pcrs(&one), "registers are read")?;
    let measured = HashAlg::Sha256.hash(&[b"locus"]);
    expect(tpm.extend(16, &[measured]), "register 16 is extended")?;
    let after = expect(tpm.read_pcrs(&one), "registers are read")?;
    let expected = before
        .get(HashAlg::Sha256, 16)
        .map(|value| value.extend(measured.as_bytes()));
    require(
        after.get(HashAlg::Sha256, 16) == expected,
        "extending hashes the old value and the digest",
        format_args!("{after:?}"),
    )?;
    let moved = expect(quote(tpm, ak, &nonce, &one), "a quote is made")?;
    let verified = expect(verify_quote(public, &moved, &nonce, &one), "it is verified")?;
    require(
        verified.pcrs == after,
        "a quote has the values of its time",
        "older values",
    )
}

fn check_clock(tpm: &mut dyn Tpm, ak: &AkBlob, public: &Public) -> Result<(), Nonconformance> {
    let selection = PcrSelection::of(HashAlg::Sha256, [0]);
    let mut read = |nonce: [u8; 20]| {
        let taken = expect(quote(tpm, ak, &nonce, &selection), "a quote is made")?;
        let verified = verify_quote(public, &taken, &nonce, &selection);
        expect(verified, "it is verified").map(|quote| quote.clock_info)
    };
    let (before, after) = (read([3; 20])?, read([4; 20])?);
    require(
        before.clock <= after.clock && before.same_boot(&after),
        "the clock goes forward and the boot counters stay",
        format_args!("{before:?}, {after:?}"),
    )
}

fn check_foreign(tpm: &mut dyn Tpm, ak: &AkBlob) -> Result<(), Nonconformance> {
    let mut foreign = ak.clone();
    if let Some(last) = foreign.private.last_mut() {
        *last ^= 1;
    }
    let selection = PcrSelection::of(HashAlg::Sha256, [0]);
    let refused = tpm.sign_quote(&foreign, &[1; 32], &selection);
    require(
        refused == Err(TpmError::ForeignKey),
        "a stored key that this TPM did not make is refused as such",
        format_args!("{refused:?}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpm::emulated::EmulatedTpm;
    use crate::tpm::recorded::{RecordedTpm, Recorder, Recording};

    fn emulated() -> EmulatedTpm {
        EmulatedTpm::from_seed([7; 32]).with_certificate(vec![0x30, 0], Vec::new())
    }

    fn recording() -> Recording {
        let recorder = Recorder::new(emulated());
        let recorder = check(recorder, EkKind::EccP256, AkKind::EccP256, Ok).unwrap();
        recorder.finish()
    }

    #[test]
    fn the_emulated_tpm_conforms() {
        check(emulated(), EkKind::EccP256, AkKind::EccP256, |_| {
            Ok(emulated())
        })
        .unwrap();
    }

    #[test]
    fn a_recording_conforms_and_survives_its_text() {
        let text = serde_json::to_string(&recording()).unwrap();
        let replayed = RecordedTpm::new(serde_json::from_str(&text).unwrap());
        let left = check(replayed, EkKind::EccP256, AkKind::EccP256, Ok).unwrap();
        assert_eq!(left.left(), 0);
    }

    #[test]
    fn a_recording_answers_no_new_nonce() {
        let mut replayed = RecordedTpm::new(recording());
        let ak = emulated()
            .create_ak(EkKind::EccP256, AkKind::EccP256)
            .unwrap();
        let selection = PcrSelection::of(HashAlg::Sha256, [0]);
        assert!(matches!(
            replayed.sign_quote(&ak, &[0x42; 32], &selection),
            Err(TpmError::Unavailable(_))
        ));
    }

    /// A TPM that lies in one way must be found out by the suite.
    struct Liar(EmulatedTpm);

    impl Tpm for Liar {
        fn properties(&mut self) -> Result<crate::tpm::Properties, TpmError> {
            self.0.properties()
        }
        fn endorsement(&mut self, kind: EkKind) -> Result<crate::tpm::Endorsement, TpmError> {
            self.0.endorsement(kind)
        }
        fn create_ak(&mut self, parent: EkKind, kind: AkKind) -> Result<AkBlob, TpmError> {
            self.0.create_ak(parent, kind)
        }
        fn activate_credential(
            &mut self,
            ak: &AkBlob,
            endorsement: EkKind,
            credential: &crate::tpm::Credential,
        ) -> Result<zeroize::Zeroizing<Vec<u8>>, TpmError> {
            self.0.activate_credential(ak, endorsement, credential)
        }
        fn sign_quote(
            &mut self,
            ak: &AkBlob,
            _: &[u8],
            selection: &PcrSelection,
        ) -> Result<crate::tpm::SignedQuote, TpmError> {
            self.0.sign_quote(ak, &[7; 32], selection)
        }
        fn read_pcrs(
            &mut self,
            selection: &PcrSelection,
        ) -> Result<crate::tpm::PcrValues, TpmError> {
            self.0.read_pcrs(selection)
        }
        fn extend(&mut self, pcr: u8, digests: &[crate::digest::Digest]) -> Result<(), TpmError> {
            self.0.extend(pcr, digests)
        }
    }

    #[test]
    fn a_tpm_that_ignores_the_nonce_does_not_conform() {
        let found = check(Liar(emulated()), EkKind::EccP256, AkKind::EccP256, Ok);
        let error = found.err().unwrap();
        assert!(error.found.contains("another nonce"), "{error}");
    }
}
