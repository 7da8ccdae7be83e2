//! A real TPM, or `swtpm`, through the TCG's software stack (libtss2).

mod endorsement;

use std::str::FromStr;

use tss_esapi::abstraction::{AsymmetricAlgorithmSelection, DefaultKey, ak, ek, nv};
use tss_esapi::constants::response_code::Tss2ResponseCodeKind;
use tss_esapi::constants::{CapabilityType, PropertyTag};
use tss_esapi::handles::{KeyHandle, NvIndexTpmHandle, PcrHandle, SessionHandle, TpmHandle};
use tss_esapi::interface_types::algorithm::{HashingAlgorithm, SignatureSchemeAlgorithm};
use tss_esapi::interface_types::ecc::EccCurve;
use tss_esapi::interface_types::key_bits::RsaKeyBits;
use tss_esapi::interface_types::resource_handles::NvAuth;
use tss_esapi::interface_types::session_handles::AuthSession;
use tss_esapi::structures::{
    CapabilityData, Data, Digest as TssDigest, DigestValues, EncryptedSecret, IdObject,
    PcrSelectionList, Private, Public as TssPublic, SignatureScheme,
};
use tss_esapi::tcti_ldr::TctiNameConf;
use tss_esapi::traits::{Marshall, UnMarshall};
use tss_esapi::tss2_esys::{TPML_PCR_SELECTION, TPMS_PCR_SELECTION};
use tss_esapi::{Context, Error};
use zeroize::Zeroizing;

use self::endorsement::{certificates, endorsement_session, selection_of};
use super::device::{
    AkBlob, AkKind, Credential, EkKind, Endorsement, Properties, SignedQuote, Tpm, TpmError,
};
use super::pcr::{PcrSelection, PcrValues};
use crate::digest::{Digest, HashAlg};

/// Where a manufacturer stores the certificates between its root and the endorsement key.
const CHAIN_FIRST: u32 = 0x01c0_0100;
const CHAIN_LAST: u32 = 0x01c0_01ff;
/// How many handles to ask for at once.
const HANDLES: u32 = 254;

/// A TPM behind libtss2. What it has loaded is flushed when its context is dropped.
pub struct EsapiTpm {
    context: Context,
    simulated: bool,
    /// The endorsement key that is loaded: making an RSA key anew takes a TPM up to seconds.
    endorsement: Option<(EkKind, KeyHandle)>,
    /// The attestation key that is loaded, by its blob: loading takes longer than quoting.
    loaded: Option<(AkBlob, KeyHandle)>,
}

impl EsapiTpm {
    /// Opens a TPM by the name of its transport: `device:/dev/tpmrm0`, `swtpm:host=127.0.0.1,port=2321`.
    pub fn open(transport: &str) -> Result<Self, TpmError> {
        let unavailable = |error: Error| TpmError::Unavailable(format!("{transport}: {error}"));
        if transport.starts_with("swtpm:path=") {
            // libtss2's loader would silently connect to the default port instead.
            return Err(TpmError::Unsupported(format!(
                "the transport `{transport}`; use `swtpm:host=ADDRESS,port=PORT`"
            )));
        }
        let name = TctiNameConf::from_str(transport).map_err(unavailable)?;
        let simulated = matches!(name, TctiNameConf::Swtpm(_) | TctiNameConf::Mssim(_));
        let mut tpm = EsapiTpm {
            context: Context::new(name).map_err(unavailable)?,
            simulated,
            endorsement: None,
            loaded: None,
        };
        if simulated {
            // No resource manager stands before a simulator: what a killed agent left would fill it.
            tpm.flush_transient()?;
        }
        Ok(tpm)
    }

    fn flush_transient(&mut self) -> Result<(), TpmError> {
        for handle in self.handles(0x8000_0000)? {
            let object = self.context.tr_from_tpm_public(handle).map_err(failed)?;
            self.context.flush_context(object).map_err(failed)?;
        }
        Ok(())
    }

    fn handles(&mut self, first: u32) -> Result<Vec<TpmHandle>, TpmError> {
        let (data, _) = self
            .context
            .execute_without_session(|context| {
                context.get_capability(CapabilityType::Handles, first, HANDLES)
            })
            .map_err(failed)?;
        match data {
            CapabilityData::Handles(handles) => Ok(handles.as_ref().to_vec()),
            _ => Err(TpmError::Failed("handles were not listed".to_owned())),
        }
    }

    fn nv_indices(&mut self) -> Result<Vec<u32>, TpmError> {
        Ok(self
            .handles(0x0100_0000)?
            .into_iter()
            .map(u32::from)
            .collect())
    }

    fn read_nv(&mut self, index: u32) -> Result<Vec<u8>, TpmError> {
        let handle = NvIndexTpmHandle::new(index).map_err(failed)?;
        self.context
            .execute_with_nullauth_session(|context| nv::read_full(context, NvAuth::Owner, handle))
            .map_err(failed)
    }

    /// Uses the endorsement key of a kind, which is made first if another one or none is loaded.
    fn with_endorsement<T>(
        &mut self,
        kind: EkKind,
        use_it: impl FnOnce(&mut Context, KeyHandle) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let handle = match self.endorsement {
            Some((loaded, handle)) if loaded == kind => handle,
            other => {
                if let Some((_, handle)) = other {
                    self.endorsement = None;
                    self.context.flush_context(handle.into())?;
                }
                let template = selection_of(kind);
                let handle = ek::create_ek_object_2(&mut self.context, template, DefaultKey)?;
                self.endorsement = Some((kind, handle));
                handle
            }
        };
        use_it(&mut self.context, handle)
    }

    fn load(&mut self, blob: &AkBlob) -> Result<KeyHandle, TpmError> {
        if let Some((loaded, handle)) = &self.loaded
            && loaded == blob
        {
            return Ok(*handle);
        }
        if let Some((_, handle)) = self.loaded.take() {
            self.context.flush_context(handle.into()).map_err(failed)?;
        }
        let foreign = |_| TpmError::ForeignKey;
        let public = TssPublic::unmarshall(&blob.public).map_err(foreign)?;
        let private = Private::try_from(blob.private.as_slice()).map_err(foreign)?;
        let handle = self
            .with_endorsement(blob.parent, |context, parent| {
                ak::load_ak(context, parent, None, private, public)
            })
            .map_err(|error| match kind_of(&error) {
                Some(
                    Tss2ResponseCodeKind::Integrity
                    | Tss2ResponseCodeKind::Size
                    | Tss2ResponseCodeKind::Binding
                    | Tss2ResponseCodeKind::Insufficient
                    | Tss2ResponseCodeKind::Sensitive
                    | Tss2ResponseCodeKind::Value,
                ) => TpmError::ForeignKey,
                _ => failed(error),
            })?;
        self.loaded = Some((blob.clone(), handle));
        Ok(handle)
    }

    fn property(&mut self, tag: PropertyTag) -> Result<u32, TpmError> {
        Ok(self
            .context
            .get_tpm_property(tag)
            .map_err(failed)?
            .unwrap_or(0))
    }
}

fn kind_of(error: &Error) -> Option<Tss2ResponseCodeKind> {
    match error {
        Error::Tss2Error(code) => code.kind(),
        Error::WrapperError(_) => None,
    }
}

fn failed(error: Error) -> TpmError {
    match kind_of(&error) {
        Some(
            Tss2ResponseCodeKind::Retry
            | Tss2ResponseCodeKind::Yielded
            | Tss2ResponseCodeKind::Testing
            | Tss2ResponseCodeKind::NvRate
            | Tss2ResponseCodeKind::NvUnavailable,
        ) => TpmError::Busy,
        _ => TpmError::Failed(error.to_string()),
    }
}

fn bank_of(alg: HashAlg) -> HashingAlgorithm {
    match alg {
        HashAlg::Sha1 => HashingAlgorithm::Sha1,
        HashAlg::Sha256 => HashingAlgorithm::Sha256,
        HashAlg::Sha384 => HashingAlgorithm::Sha384,
        HashAlg::Sha512 => HashingAlgorithm::Sha512,
    }
}

/// The selection with its banks in the verifier's order: the stack's own builder forgets the order.
fn list_of(selection: &PcrSelection) -> Result<PcrSelectionList, TpmError> {
    let mut list = TPML_PCR_SELECTION::default();
    let mut count = 0;
    for (slot, bank) in list.pcrSelections.iter_mut().zip(selection.banks()) {
        let mut octets = [0; 4];
        for pcr in &bank.pcrs {
            if let Some(octet) = octets.get_mut(usize::from(pcr / 8)) {
                *octet |= 1 << (pcr % 8);
            }
        }
        *slot = TPMS_PCR_SELECTION {
            hash: bank.bank.tpm_id(),
            sizeofSelect: 3,
            pcrSelect: octets,
        };
        count += 1;
    }
    list.count = count;
    PcrSelectionList::try_from(list).map_err(failed)
}

fn letters(number: u32) -> String {
    number
        .to_be_bytes()
        .into_iter()
        .filter(|byte| *byte != 0)
        .map(char::from)
        .collect()
}

impl Tpm for EsapiTpm {
    fn properties(&mut self) -> Result<Properties, TpmError> {
        let manufacturer = letters(self.property(PropertyTag::Manufacturer)?);
        let mut vendor = String::new();
        for tag in [
            PropertyTag::VendorString1,
            PropertyTag::VendorString2,
            PropertyTag::VendorString3,
            PropertyTag::VendorString4,
        ] {
            vendor += &letters(self.property(tag)?);
        }
        let firmware = u64::from(self.property(PropertyTag::FirmwareVersion1)?) << 32
            | u64::from(self.property(PropertyTag::FirmwareVersion2)?);
        let indices = self.nv_indices()?;
        let endorsement_kinds = EkKind::ALL
            .into_iter()
            .filter(|kind| indices.contains(&kind.certificate_index()))
            .collect();
        let named = vendor.starts_with("SW") || vendor.starts_with("xCG");
        Ok(Properties {
            manufacturer,
            vendor: vendor.split_whitespace().collect::<Vec<_>>().join(" "),
            firmware,
            software: self.simulated || named,
            endorsement_kinds,
        })
    }

    fn endorsement(&mut self, kind: EkKind) -> Result<Endorsement, TpmError> {
        let indices = self.nv_indices()?;
        if !indices.contains(&kind.certificate_index()) {
            return Err(TpmError::NoCertificate(kind));
        }
        let stored = self.read_nv(kind.certificate_index())?;
        let certificate = certificates(&stored)
            .into_iter()
            .next()
            .ok_or(TpmError::NoCertificate(kind))?;
        let mut chain = Vec::new();
        for index in indices {
            if (CHAIN_FIRST..=CHAIN_LAST).contains(&index) {
                chain.extend(self.read_nv(index)?);
            }
        }
        Ok(Endorsement {
            kind,
            public: self.endorsement_public(kind)?,
            certificate,
            chain: certificates(&chain),
        })
    }

    fn endorsement_public(&mut self, kind: EkKind) -> Result<Vec<u8>, TpmError> {
        self.with_endorsement(kind, |context, handle| {
            let (public, _, _) = context.read_public(handle)?;
            public.marshall()
        })
        .map_err(failed)
    }

    fn create_ak(&mut self, parent: EkKind, kind: AkKind) -> Result<AkBlob, TpmError> {
        let (key, scheme) = match kind {
            AkKind::Rsa2048 => (
                AsymmetricAlgorithmSelection::Rsa(RsaKeyBits::Rsa2048),
                SignatureSchemeAlgorithm::RsaSsa,
            ),
            AkKind::EccP256 => (
                AsymmetricAlgorithmSelection::Ecc(EccCurve::NistP256),
                SignatureSchemeAlgorithm::EcDsa,
            ),
        };
        let made = self
            .with_endorsement(parent, |context, handle| {
                let hash = HashingAlgorithm::Sha256;
                ak::create_ak_2(context, handle, hash, key, scheme, None, DefaultKey)
            })
            .map_err(failed)?;
        Ok(AkBlob {
            parent,
            public: made.out_public.marshall().map_err(failed)?,
            private: made.out_private.value().to_vec(),
        })
    }

    fn activate_credential(
        &mut self,
        blob: &AkBlob,
        kind: EkKind,
        credential: &Credential,
    ) -> Result<Zeroizing<Vec<u8>>, TpmError> {
        let wrong = |_| TpmError::Credential;
        let object = IdObject::try_from(credential.id_object.as_slice()).map_err(wrong)?;
        let seed =
            EncryptedSecret::try_from(credential.encrypted_seed.as_slice()).map_err(wrong)?;
        let handle = self.load(blob)?;
        let activated = self
            .with_endorsement(kind, |context, parent| {
                let session = endorsement_session(context, kind)?;
                let sessions = (Some(AuthSession::Password), Some(session), None);
                let secret = context.execute_with_sessions(sessions, |context| {
                    context.activate_credential(handle, parent, object, seed)
                });
                // A session that a failed command did not consume would fill the TPM.
                let flushed = context.flush_context(SessionHandle::from(session).into());
                // What matters is the secret; a session that is gone already is no failure.
                let _ = flushed;
                Ok(secret)
            })
            .map_err(failed)?;
        let secret = activated.map_err(|error| match failed(error) {
            TpmError::Busy => TpmError::Busy,
            _ => TpmError::Credential,
        })?;
        Ok(Zeroizing::new(secret.value().to_vec()))
    }

    fn sign_quote(
        &mut self,
        blob: &AkBlob,
        qualifying: &[u8],
        selection: &PcrSelection,
    ) -> Result<SignedQuote, TpmError> {
        let handle = self.load(blob)?;
        let data = Data::try_from(qualifying).map_err(failed)?;
        let list = list_of(selection)?;
        let (attest, signature) = self
            .context
            .execute_with_session(Some(AuthSession::Password), |context| {
                context.quote(handle, data, SignatureScheme::Null, list)
            })
            .map_err(failed)?;
        Ok(SignedQuote {
            attest: attest.marshall().map_err(failed)?,
            signature: signature.marshall().map_err(failed)?,
        })
    }

    fn read_pcrs(&mut self, selection: &PcrSelection) -> Result<PcrValues, TpmError> {
        let mut values = PcrValues::default();
        for bank in selection.banks() {
            let pcrs: Vec<u8> = bank.pcrs.iter().copied().collect();
            // A TPM answers at most eight values at once.
            for some in pcrs.chunks(8) {
                let list = list_of(&PcrSelection::of(bank.bank, some.iter().copied()))?;
                let (_, _, digests) = self
                    .context
                    .execute_without_session(|context| context.pcr_read(list))
                    .map_err(failed)?;
                let unsupported = || TpmError::Unsupported(format!("bank {}", bank.bank));
                if digests.len() != some.len() {
                    return Err(unsupported());
                }
                for (pcr, digest) in some.iter().zip(digests.value()) {
                    let value = Digest::new(bank.bank, digest.value());
                    values.set(*pcr, value.ok_or_else(unsupported)?);
                }
            }
        }
        Ok(values)
    }

    fn extend(&mut self, pcr: u8, digests: &[Digest]) -> Result<(), TpmError> {
        let mut values = DigestValues::new();
        for digest in digests {
            let value = TssDigest::try_from(digest.as_bytes()).map_err(failed)?;
            values.set(bank_of(digest.alg()), value);
        }
        let handle = PcrHandle::try_from(u32::from(pcr)).map_err(failed)?;
        self.context
            .execute_with_session(Some(AuthSession::Password), |context| {
                context.pcr_extend(handle, values)
            })
            .map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_path_is_refused_rather_than_ignored() {
        let error = EsapiTpm::open("swtpm:path=/run/swtpm").err().unwrap();
        assert!(matches!(error, TpmError::Unsupported(_)), "{error}");
    }
}
