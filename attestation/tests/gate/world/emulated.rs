//! Emulated TPMs, and the authority that vouches for them.

use std::path::Path;
use std::str::FromStr as _;
use std::sync::{Arc, Mutex};

use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::tpm::emulated::EmulatedTpm;
use locus_attestation::tpm::{
    AkBlob, AkKind, Credential, EkKind, Endorsement, PcrSelection, PcrValues, Properties,
    SignedQuote, Tpm, TpmError,
};
use p256::pkcs8::EncodePublicKey as _;
use uuid::Uuid;
use x509_cert::der::Encode as _;

/// The authority of the emulated TPMs.
pub(crate) struct Factory {
    key: rcgen::KeyPair,
    params: rcgen::CertificateParams,
    pem: String,
}

impl Factory {
    pub(crate) fn new(_: &Path) -> Self {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, "emulated TPMs");
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign];
        let pem = params.self_signed(&key).unwrap().pem();
        Factory { key, params, pem }
    }

    pub(crate) fn manufacturer(&self) -> &'static str {
        "id:4c435553"
    }

    pub(crate) fn roots(&self) -> Vec<(&'static str, String)> {
        vec![("root", self.pem.clone())]
    }

    pub(crate) fn make(&self, name: &str) -> Machine {
        let seed = HashAlg::Sha256.hash(&[name.as_bytes(), &Uuid::new_v4().into_bytes()]);
        let seed: [u8; 32] = seed.as_bytes().try_into().unwrap();
        let tpm = EmulatedTpm::from_seed(seed);
        let point = p256::PublicKey::from_sec1_bytes(&tpm.endorsement_point()).unwrap();
        let spki = point.to_public_key_der().unwrap();
        let spki = rcgen::SubjectPublicKeyInfo::from_der(spki.as_bytes()).unwrap();
        let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = rcgen::IsCa::ExplicitNoCa;
        params.key_usages = vec![rcgen::KeyUsagePurpose::KeyAgreement];
        let utf8 = |text: &str| {
            let digits = locus_attestation::digest::encode_hex(text.as_bytes());
            format!("#0c{:02x}{digits}", text.len())
        };
        let words = format!(
            "2.23.133.2.3={},2.23.133.2.2={},2.23.133.2.1={}",
            utf8("id:1"),
            utf8("swtpm"),
            utf8("id:4C435553")
        );
        let names = x509_cert::ext::pkix::SubjectAltName(vec![
            x509_cert::ext::pkix::name::GeneralName::DirectoryName(
                x509_cert::name::Name::from_str(&words).unwrap(),
            ),
        ]);
        let mut extension =
            rcgen::CustomExtension::from_oid_content(&[2, 5, 29, 17], names.to_der().unwrap());
        extension.set_criticality(true);
        params.custom_extensions.push(extension);
        let issuer = rcgen::Issuer::from_params(&self.params, &self.key);
        let certificate = params.signed_by(&spki, &issuer).unwrap();
        let tpm = tpm.with_certificate(certificate.der().to_vec(), Vec::new());
        Machine(Arc::new(Mutex::new(tpm)))
    }
}

/// One machine's TPM.
#[derive(Clone)]
pub(crate) struct Machine(pub(crate) Arc<Mutex<EmulatedTpm>>);

impl Machine {
    pub(crate) fn open(&self) -> Box<dyn Tpm> {
        Box::new(self.clone())
    }

    pub(crate) fn extend(&self, pcr: u8, digests: &[Digest]) {
        self.0.lock().unwrap().extend(pcr, digests).unwrap();
    }

    pub(crate) fn reset(&self, pcr: u8) {
        self.0.lock().unwrap().reset_pcr(pcr);
    }

    pub(crate) fn reboot(&mut self) {
        self.0.lock().unwrap().reboot();
    }

    pub(crate) fn ek(&self) -> EkKind {
        EkKind::EccP256
    }

    pub(crate) fn ak(&self) -> AkKind {
        AkKind::EccP256
    }
}

impl Tpm for Machine {
    fn properties(&mut self) -> Result<Properties, TpmError> {
        self.0.lock().unwrap().properties()
    }
    fn endorsement(&mut self, kind: EkKind) -> Result<Endorsement, TpmError> {
        self.0.lock().unwrap().endorsement(kind)
    }
    fn create_ak(&mut self, parent: EkKind, kind: AkKind) -> Result<AkBlob, TpmError> {
        self.0.lock().unwrap().create_ak(parent, kind)
    }
    fn activate_credential(
        &mut self,
        ak: &AkBlob,
        endorsement: EkKind,
        credential: &Credential,
    ) -> Result<zeroize::Zeroizing<Vec<u8>>, TpmError> {
        self.0
            .lock()
            .unwrap()
            .activate_credential(ak, endorsement, credential)
    }
    fn sign_quote(
        &mut self,
        ak: &AkBlob,
        qualifying: &[u8],
        selection: &PcrSelection,
    ) -> Result<SignedQuote, TpmError> {
        self.0.lock().unwrap().sign_quote(ak, qualifying, selection)
    }
    fn read_pcrs(&mut self, selection: &PcrSelection) -> Result<PcrValues, TpmError> {
        self.0.lock().unwrap().read_pcrs(selection)
    }
    fn extend(&mut self, pcr: u8, digests: &[Digest]) -> Result<(), TpmError> {
        self.0.lock().unwrap().extend(pcr, digests)
    }
}
