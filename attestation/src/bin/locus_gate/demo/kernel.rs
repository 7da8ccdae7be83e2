//! A kernel that measures: its log in a file, its register in a software TPM.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::ima::{LogWriter, PodUid, TemplateError};
use locus_attestation::tpm::pcr::IMA_PCR;

use super::swtpm::{SoftwareTpm, SwtpmError};

/// The simulated kernel of one worker.
pub(crate) struct Kernel {
    writer: LogWriter,
    path: PathBuf,
    file: File,
}

/// The control group of a container, as systemd and containerd name it.
pub(crate) fn cgroup_of(uid: PodUid, container: &str) -> String {
    let uid = uid.to_string().replace('-', "_");
    format!(
        "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{uid}.slice/\
         cri-containerd-{container}.scope"
    )
}

impl Kernel {
    /// Begins a log in a file.
    pub(crate) fn new(path: &Path) -> Result<Self, SwtpmError> {
        Ok(Kernel {
            writer: LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1, HashAlg::Sha256]),
            file: OpenOptions::new().create(true).append(true).open(path)?,
            path: path.to_owned(),
        })
    }

    /// Where the log is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Measures a file: extends the register and appends to the log.
    pub(crate) fn measure(
        &mut self,
        tpm: &SoftwareTpm,
        dependencies: &str,
        cgroup: &str,
        digest: Digest,
        path: &str,
    ) -> Result<(), SwtpmError> {
        let before = self.writer.entries();
        let failed = |error: TemplateError| SwtpmError::Failed {
            program: "the simulated kernel",
            output: error.to_string(),
        };
        let extended = self
            .writer
            .cgpath(dependencies, cgroup, digest, path)
            .map_err(failed)?;
        tpm.extend(IMA_PCR, &extended)?;
        self.file.write_all(self.writer.log_from(before))?;
        Ok(())
    }

    /// Changes a word in the log behind the kernel's back, as an attacker with root can; the words must
    /// be of the same length.
    pub(crate) fn tamper(&self, from: &str, to: &str) -> Result<(), SwtpmError> {
        let mut log = std::fs::read(&self.path)?;
        let (from, to) = (from.as_bytes(), to.as_bytes());
        let places: Vec<usize> = log
            .windows(from.len().max(1))
            .enumerate()
            .filter_map(|(at, bytes)| (bytes == from).then_some(at))
            .collect();
        for at in places {
            for (place, byte) in log.iter_mut().skip(at).zip(to) {
                *place = *byte;
            }
        }
        // In place: the agent holds the file open.
        let mut file = OpenOptions::new().write(true).open(&self.path)?;
        file.write_all(&log)?;
        Ok(())
    }
}
