//! Software TPMs (`swtpm`) behind libtss2, and swtpm's local authority.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use locus_attestation::digest::Digest;
use locus_attestation::tpm::esapi::EsapiTpm;
use locus_attestation::tpm::{AkKind, EkKind, Tpm};

#[allow(dead_code, reason = "the demonstration uses more of it")]
#[path = "../../../src/bin/locus_gate/demo/swtpm.rs"]
mod process;

use process::{Manufacturer, SoftwareTpm};

/// `TPM2_PCR_Reset`.
const PCR_RESET: u32 = 0x0000_013d;

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
        let state = self.0.prepare(name).expect("a software TPM (swtpm)");
        let tpm = SoftwareTpm::start(&state).expect("a software TPM (swtpm)");
        Machine {
            tpm: Arc::new(Mutex::new(Some(tpm))),
            state,
        }
    }
}

/// One machine's TPM.
#[derive(Clone)]
pub(crate) struct Machine {
    tpm: Arc<Mutex<Option<SoftwareTpm>>>,
    state: PathBuf,
}

impl Machine {
    fn with<T>(&self, work: impl FnOnce(&SoftwareTpm) -> T) -> T {
        work(self.tpm.lock().unwrap().as_ref().unwrap())
    }

    pub(crate) fn open(&self) -> Box<dyn Tpm> {
        Box::new(EsapiTpm::open(&self.transport()).expect("the software TPM answers"))
    }

    pub(crate) fn transport(&self) -> String {
        self.with(SoftwareTpm::transport)
    }

    pub(crate) fn extend(&self, pcr: u8, digests: &[Digest]) {
        self.with(|tpm| tpm.extend(pcr, digests)).unwrap();
    }

    /// Clears a register that software may clear, with an empty password.
    pub(crate) fn reset(&self, pcr: u8) {
        let mut body = u32::from(pcr).to_be_bytes().to_vec();
        body.extend_from_slice(&9u32.to_be_bytes());
        body.extend_from_slice(&0x4000_0009u32.to_be_bytes());
        body.extend_from_slice(&[0; 5]);
        self.with(|tpm| tpm.command(PCR_RESET, &body)).unwrap();
    }

    pub(crate) fn reboot(&mut self) {
        let mut tpm = self.tpm.lock().unwrap();
        // The old one ends before the new one opens the same state.
        drop(tpm.take());
        *tpm = Some(SoftwareTpm::start(&self.state).unwrap());
    }

    pub(crate) fn ek(&self) -> EkKind {
        EkKind::Rsa2048
    }

    pub(crate) fn ak(&self) -> AkKind {
        AkKind::EccP256
    }
}
