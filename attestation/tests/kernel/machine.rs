//! A virtual machine with a software TPM: QEMU without hardware virtualisation, and a serial port to steer it by.

use std::fs;
use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::guest::{Guest, documented};

/// How long the guest may take over anything. It has no processor of its own, and others may be busy.
const PATIENCE: Duration = Duration::from_secs(300);

/// A process that ends with its owner.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // Only this process, by its handle; if it ended by itself there is nothing to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running machine. QEMU is dropped before its TPM.
pub(crate) struct VirtualMachine {
    qemu: Program,
    _tpm: Program,
    control: BufReader<UnixStream>,
    console: PathBuf,
    /// Where its agent is reached: a port of this machine's loopback that QEMU forwards.
    pub(crate) agent: String,
}

impl VirtualMachine {
    /// Starts a guest with the TPM whose state is in a folder, and waits until it takes orders.
    pub(crate) fn start(folder: &Path, guest: &Guest, tpm_state: &Path) -> Self {
        let (tpm_socket, control_socket) = (folder.join("tpm.sock"), folder.join("control.sock"));
        let console = folder.join("console");
        // The firmware starts the TPM up. Were it done here, too, every boot would count twice.
        let tpm = Command::new("swtpm")
            .args(["socket", "--tpm2", "--tpmstate"])
            .arg(format!("dir={}", tpm_state.display()))
            .arg("--ctrl")
            .arg(format!("type=unixio,path={}", tpm_socket.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut tpm = Program(tpm.expect("swtpm is installed"));
        wait_until("the TPM's socket", || {
            assert!(tpm.0.try_wait().unwrap().is_none(), "swtpm ended");
            tpm_socket.exists().then_some(())
        });
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let output = fs::File::create(folder.join("qemu.log")).unwrap();
        let qemu = Command::new("qemu-system-x86_64")
            .args([
                "-machine",
                "q35,accel=tcg",
                "-cpu",
                "max",
                "-m",
                "768",
                "-smp",
                "1",
            ])
            .args(["-nodefaults", "-display", "none"])
            .arg("-kernel")
            .arg(&guest.kernel)
            .arg("-initrd")
            .arg(&guest.initramfs)
            .arg("-append")
            .arg(format!(
                "console=ttyS0 panic=-1 loglevel=4 {}",
                documented("kernel-parameters").trim()
            ))
            .arg("-serial")
            .arg(format!("file:{}", console.display()))
            .arg("-serial")
            .arg(format!(
                "unix:{},server=on,wait=off",
                control_socket.display()
            ))
            .arg("-chardev")
            .arg(format!("socket,id=tpm,path={}", tpm_socket.display()))
            .args([
                "-tpmdev",
                "emulator,id=tpm0,chardev=tpm",
                "-device",
                "tpm-tis,tpmdev=tpm0",
            ])
            .arg("-drive")
            .arg(format!(
                "file={},format=raw,if=none,id=disk",
                guest.disk.display()
            ))
            .args(["-device", "virtio-blk-pci,drive=disk"])
            // Nothing leaves this machine: the guest reaches nobody, and only the agent's port is let in.
            .arg("-netdev")
            .arg(format!(
                "user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-10.0.2.15:31000"
            ))
            .args(["-device", "virtio-net-pci,netdev=net,romfile="])
            .stdin(Stdio::null())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .spawn();
        let mut qemu = Program(qemu.expect("qemu-system-x86 is installed"));
        let control = wait_until("the control port", || {
            if qemu.0.try_wait().unwrap().is_some() {
                panic!(
                    "QEMU ended: {}",
                    fs::read_to_string(folder.join("qemu.log")).unwrap()
                );
            }
            UnixStream::connect(&control_socket).ok()
        });
        control
            .set_read_timeout(Some(Duration::from_secs(1)))
            .unwrap();
        let mut machine = VirtualMachine {
            qemu,
            _tpm: tpm,
            control: BufReader::new(control),
            console,
            agent: format!("127.0.0.1:{port}"),
        };
        machine.ready();
        machine
    }

    /// Has the guest do something, which must succeed; returns what it wrote.
    pub(crate) fn run(&mut self, command: &str) -> String {
        self.control
            .get_mut()
            .write_all(format!("{command}\n").as_bytes())
            .unwrap();
        let mut said = String::new();
        loop {
            let line = self.line();
            match line.strip_prefix("exit ") {
                Some("0") => return said,
                Some(code) => panic!("`{command}` ended with {code}: {said}\n{}", self.console()),
                None => said += &(line + "\n"),
            }
        }
    }

    /// Boots the guest anew, with the same TPM, and waits until it takes orders again.
    pub(crate) fn reboot(&mut self) {
        self.control
            .get_mut()
            .write_all(b"sync; reboot -f\n")
            .unwrap();
        self.ready();
    }

    /// What the guest's kernel and agent wrote.
    pub(crate) fn console(&self) -> String {
        let bytes = fs::read(&self.console).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn ready(&mut self) {
        while self.line() != "ready" {}
    }

    fn line(&mut self) -> String {
        let begun = Instant::now();
        let mut bytes = Vec::new();
        loop {
            match self.control.read_until(b'\n', &mut bytes) {
                Ok(0) => panic!("QEMU is gone\n{}", self.console()),
                Ok(_) if bytes.ends_with(b"\n") => {
                    return String::from_utf8_lossy(&bytes).trim().to_owned();
                }
                Ok(_) => {}
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) => panic!("the control port: {error}"),
            }
            let ended = self.qemu.0.try_wait().unwrap();
            assert!(
                ended.is_none() && begun.elapsed() < PATIENCE,
                "the guest does not answer ({ended:?})\n{}",
                self.console()
            );
        }
    }
}

/// Tries until there is an answer.
fn wait_until<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(done) = attempt() {
            return done;
        }
        assert!(begun.elapsed() < PATIENCE, "{what} does not come");
        std::thread::sleep(Duration::from_millis(20));
    }
}
