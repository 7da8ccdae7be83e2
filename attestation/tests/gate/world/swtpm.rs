//! Software TPMs (`swtpm`) behind libtss2, and swtpm's local authority.

use std::path::Path;
use std::sync::{Arc, Mutex};

use locus_attestation::demo::swtpm::{Manufacturer, SoftwareTpm};
use locus_attestation::digest::Digest;
use locus_attestation::tpm::esapi::EsapiTpm;
use locus_attestation::tpm::{AkKind, EkKind, Tpm};

/// swtpm's local authority.
pub(crate) struct Factory(Manufacturer);

impl Factory {
    pub(crate) fn new(folder: &Path) -> Self {
        Factory(Manufacturer::new(folder).expect("a folder for the manufacturer"))
    }

    pub(crate) fn manufacturer(&self) -> &'static str {
        "id:00001014"
    }

    pub(crate) fn roots(&self) -> Vec<(&'static str, String)> {
        let found = self.0.certificates().unwrap();
        ["root", "intermediate"].into_iter().zip(found).collect()
    }

    pub(crate) fn make(&self, name: &str) -> Machine {
        Machine(Arc::new(Mutex::new(
            self.0.make(name).expect("a software TPM (swtpm)"),
        )))
    }
}

/// One machine's TPM.
#[derive(Clone)]
pub(crate) struct Machine(Arc<Mutex<SoftwareTpm>>);

impl Machine {
    pub(crate) fn open(&self) -> Box<dyn Tpm> {
        Box::new(
            EsapiTpm::open(&self.0.lock().unwrap().transport()).expect("the software TPM answers"),
        )
    }

    pub(crate) fn transport(&self) -> String {
        self.0.lock().unwrap().transport()
    }

    pub(crate) fn extend(&self, pcr: u8, digests: &[Digest]) {
        self.0.lock().unwrap().extend(pcr, digests).unwrap();
    }

    pub(crate) fn reset(&self, pcr: u8) {
        self.0.lock().unwrap().reset_pcr(pcr).unwrap();
    }

    pub(crate) fn reboot(&mut self) {
        self.0.lock().unwrap().reboot().unwrap();
    }

    pub(crate) fn ek(&self) -> EkKind {
        EkKind::Rsa2048
    }

    pub(crate) fn ak(&self) -> AkKind {
        AkKind::EccP256
    }
}
