//! Software TPMs (`swtpm`) with real endorsement certificates, for the demonstration and for tests.
//!
//! A [`Manufacturer`] is swtpm's local certificate authority in a folder of its own; each
//! [`SoftwareTpm`] is one process that ends with its owner.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use locus_attestation::digest::Digest;

/// How long a software TPM may take to listen.
const START: Duration = Duration::from_secs(10);
/// How long a command may take.
const COMMAND: Duration = Duration::from_secs(10);

/// `TPM2_ReadClock`.
const READ_CLOCK: u32 = 0x0000_0181;
/// `TPM2_PCR_Extend`.
const PCR_EXTEND: u32 = 0x0000_0182;

/// Why there is no software TPM.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SwtpmError {
    /// A program is missing.
    #[error("`{program}` cannot be started: {reason}; install the packages swtpm and swtpm-tools")]
    Missing {
        /// Which.
        program: &'static str,
        /// Why.
        reason: std::io::Error,
    },
    /// A program failed.
    #[error("`{program}` failed: {output}")]
    Failed {
        /// Which.
        program: &'static str,
        /// What it said.
        output: String,
    },
    /// Files or sockets.
    #[error("software TPM: {0}")]
    Io(#[from] std::io::Error),
    /// The TPM refused a command.
    #[error("the software TPM answered {0:#x}")]
    Response(u32),
}

/// swtpm's local authority, playing the manufacturer.
pub(crate) struct Manufacturer {
    folder: PathBuf,
}

impl Manufacturer {
    /// Sets up an authority in an absolute folder.
    pub(crate) fn new(folder: &Path) -> Result<Self, SwtpmError> {
        let authority = folder.join("authority");
        fs::create_dir_all(&authority)?;
        let file = |name: &str| authority.join(name).display().to_string();
        fs::write(
            folder.join("localca.conf"),
            format!(
                "statedir = {}\nsigningkey = {}\nissuercert = {}\ncertserial = {}\n",
                authority.display(),
                file("signkey.pem"),
                file("issuercert.pem"),
                file("certserial"),
            ),
        )?;
        fs::write(
            folder.join("localca.options"),
            "--platform-manufacturer Locus\n--platform-version 1\n--platform-model demo\n",
        )?;
        fs::write(
            folder.join("setup.conf"),
            format!(
                "create_certs_tool = swtpm_localca\ncreate_certs_tool_config = {}\n\
                 create_certs_tool_options = {}\nactive_pcr_banks = sha1,sha256\n",
                folder.join("localca.conf").display(),
                folder.join("localca.options").display(),
            ),
        )?;
        Ok(Manufacturer {
            folder: folder.to_owned(),
        })
    }

    /// Makes a TPM with endorsement certificates and starts it.
    pub(crate) fn make(&self, name: &str) -> Result<SoftwareTpm, SwtpmError> {
        SoftwareTpm::start(&self.prepare(name)?)
    }

    /// Makes a TPM with endorsement certificates; returns the folder of its state.
    pub(crate) fn prepare(&self, name: &str) -> Result<PathBuf, SwtpmError> {
        let state = self.folder.join(name);
        fs::create_dir_all(&state)?;
        let output = Command::new("swtpm_setup")
            .args(["--tpm2", "--create-ek-cert", "--lock-nvram", "--overwrite"])
            .arg("--tpmstate")
            .arg(&state)
            .arg("--config")
            .arg(self.folder.join("setup.conf"))
            .stdin(Stdio::null())
            .output()
            .map_err(|reason| SwtpmError::Missing {
                program: "swtpm_setup",
                reason,
            })?;
        if !output.status.success() {
            return Err(SwtpmError::Failed {
                program: "swtpm_setup",
                output: String::from_utf8_lossy(&output.stdout).trim().to_owned()
                    + String::from_utf8_lossy(&output.stderr).trim(),
            });
        }
        Ok(state)
    }

    /// The certificates of the authority, root first, in PEM; they exist once a TPM was made.
    pub(crate) fn certificates(&self) -> Result<Vec<String>, SwtpmError> {
        let authority = self.folder.join("authority");
        let mut found = Vec::new();
        for name in ["swtpm-localca-rootca-cert.pem", "issuercert.pem"] {
            let text = fs::read_to_string(authority.join(name))?;
            // certtool writes a readable form before the certificate.
            let start = text.find("-----BEGIN CERTIFICATE-----").unwrap_or(0);
            found.push(text.get(start..).unwrap_or_default().to_owned());
        }
        Ok(found)
    }
}

/// One running software TPM.
pub(crate) struct SoftwareTpm {
    process: Child,
    port: u16,
}

impl SoftwareTpm {
    /// Starts the TPM whose state is in a folder: registers are cleared and the boot is counted, keys and state stay.
    pub(crate) fn start(state: &Path) -> Result<Self, SwtpmError> {
        let mut last = None;
        // Another process may take the ports between the search and the start.
        for _ in 0..5 {
            let port = free_ports()?;
            let mut process = Command::new("swtpm")
                .args(["socket", "--tpm2", "--flags", "not-need-init,startup-clear"])
                .arg("--tpmstate")
                .arg(format!("dir={}", state.display()))
                .arg("--server")
                .arg(format!("type=tcp,port={port},bindaddr=127.0.0.1"))
                .arg("--ctrl")
                .arg(format!("type=tcp,port={},bindaddr=127.0.0.1", port + 1))
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .map_err(|reason| SwtpmError::Missing {
                    program: "swtpm",
                    reason,
                })?;
            let begun = Instant::now();
            while begun.elapsed() < START {
                if process.try_wait()?.is_some() {
                    break;
                }
                // Whoever answers must be a TPM: somebody else may have taken the port meanwhile.
                if command_at(port, 0x8001, READ_CLOCK, &[]).is_ok() {
                    return Ok(SoftwareTpm { process, port });
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            // It may have ended by itself already; either way it is gone after the wait.
            let _ = process.kill();
            last = Some(process.wait()?);
        }
        Err(SwtpmError::Failed {
            program: "swtpm",
            output: last.map_or_else(String::new, |status| format!("it ended with {status}")),
        })
    }

    /// The transport by which an agent opens it.
    pub(crate) fn transport(&self) -> String {
        format!("swtpm:host=127.0.0.1,port={}", self.port)
    }

    /// Extends a register, as the kernel would for its log.
    pub(crate) fn extend(&self, pcr: u8, digests: &[Digest]) -> Result<(), SwtpmError> {
        // TPM2_PCR_Extend with an empty password: too little to need a TPM library.
        let mut body = Vec::new();
        body.extend_from_slice(&u32::from(pcr).to_be_bytes());
        body.extend_from_slice(&9u32.to_be_bytes());
        body.extend_from_slice(&0x4000_0009u32.to_be_bytes());
        body.extend_from_slice(&[0; 5]);
        let count = u32::try_from(digests.len()).unwrap_or(u32::MAX);
        body.extend_from_slice(&count.to_be_bytes());
        for digest in digests {
            body.extend_from_slice(&digest.alg().tpm_id().to_be_bytes());
            body.extend_from_slice(digest.as_bytes());
        }
        self.command(PCR_EXTEND, &body)
    }

    /// Sends one command with sessions (`TPM_ST_SESSIONS`).
    pub(crate) fn command(&self, code: u32, body: &[u8]) -> Result<(), SwtpmError> {
        command_at(self.port, 0x8002, code, body)
    }
}

/// Sends one command to the TPM at a port and reads the head of its answer.
fn command_at(port: u16, tag: u16, code: u32, body: &[u8]) -> Result<(), SwtpmError> {
    let size = u32::try_from(body.len().saturating_add(10)).unwrap_or(u32::MAX);
    let mut bytes = tag.to_be_bytes().to_vec();
    bytes.extend_from_slice(&size.to_be_bytes());
    bytes.extend_from_slice(&code.to_be_bytes());
    bytes.extend_from_slice(body);
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(COMMAND))?;
    stream.write_all(&bytes)?;
    let mut head = [0; 10];
    stream.read_exact(&mut head)?;
    let [first, second, .., a, b, c, d] = head;
    if first != 0x80 || !matches!(second, 1 | 2) {
        return Err(SwtpmError::Failed {
            program: "swtpm",
            output: "something else than a TPM answers at its port".to_owned(),
        });
    }
    match u32::from_be_bytes([a, b, c, d]) {
        0 => Ok(()),
        code => Err(SwtpmError::Response(code)),
    }
}

impl Drop for SoftwareTpm {
    fn drop(&mut self) {
        // Only this process, by its handle; if it ended by itself there is nothing to do.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Two neighbouring free ports: libtss2 expects the control channel behind the command channel.
fn free_ports() -> Result<u16, SwtpmError> {
    for _ in 0..100 {
        let first = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = first.local_addr()?.port();
        let Some(next) = port.checked_add(1) else {
            continue;
        };
        if TcpListener::bind((Ipv4Addr::LOCALHOST, next)).is_ok() {
            return Ok(port);
        }
    }
    Err(SwtpmError::Failed {
        program: "swtpm",
        output: "no two neighbouring ports are free".to_owned(),
    })
}
