//! Software TPMs (`swtpm`) behind libtss2, and swtpm's local authority.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

use locus_attestation::digest::Digest;
use locus_attestation::tpm::esapi::EsapiTpm;
use locus_attestation::tpm::{AkKind, EkKind, Tpm};

#[allow(dead_code, reason = "the demonstration uses more of it")]
#[path = "../../../src/bin/locus_gate/demo/swtpm.rs"]
mod process;

use process::{Manufacturer, SoftwareTpm};

/// `TPM2_PCR_Reset`.
const PCR_RESET: u32 = 0x0000_013d;

/// TPMs that were set up once and are copied for each world: to set one up takes longer than most tests.
///
/// Worlds know nothing of each other, so that the first TPM of each may be the same one.
struct Stock {
    manufacturer: Manufacturer,
    states: Vec<PathBuf>,
}

impl Stock {
    fn new() -> Self {
        // Removed with the build: a static is never dropped.
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tpms-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        Stock {
            manufacturer: Manufacturer::new(&folder).expect("a folder for the manufacturer"),
            states: Vec::new(),
        }
    }

    /// The state of a TPM of this number.
    fn state(&mut self, number: usize) -> &Path {
        while self.states.len() <= number {
            let name = format!("tpm-{}", self.states.len());
            let state = self.manufacturer.prepare(&name);
            self.states.push(state.expect("a software TPM (swtpm)"));
        }
        &self.states[number]
    }
}

static STOCK: LazyLock<Mutex<Stock>> = LazyLock::new(|| Mutex::new(Stock::new()));

fn stock() -> MutexGuard<'static, Stock> {
    STOCK.lock().unwrap()
}

/// swtpm's local authority, which made every TPM of a world.
pub(crate) struct Factory {
    folder: PathBuf,
    made: AtomicUsize,
}

impl Factory {
    pub(crate) fn new(folder: &Path) -> Self {
        Factory {
            folder: folder.to_owned(),
            made: AtomicUsize::new(0),
        }
    }

    pub(crate) fn manufacturer(&self) -> &'static str {
        "id:00001014"
    }

    pub(crate) fn roots(&self) -> Vec<(&'static str, String)> {
        let found = stock().manufacturer.certificates().unwrap();
        ["root", "intermediate"].into_iter().zip(found).collect()
    }

    pub(crate) fn make(&self, name: &str) -> Machine {
        let number = self.made.fetch_add(1, Ordering::SeqCst);
        let state = self.folder.join(name);
        std::fs::create_dir_all(&state).unwrap();
        let mut stock = stock();
        for file in std::fs::read_dir(stock.state(number)).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), state.join(file.file_name())).unwrap();
        }
        drop(stock);
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
