//! The guest's file systems: an initramfs with busybox, the agent and its libraries, and a disk for the agent's state.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the guest is: files for QEMU, and the folder its root was made from.
pub(crate) struct Guest {
    pub(crate) kernel: PathBuf,
    pub(crate) initramfs: PathBuf,
    pub(crate) disk: PathBuf,
    /// The root file system as the guest sees it after its start.
    pub(crate) root: PathBuf,
}

/// The name that the guest gives itself, as `os-release` has it.
pub(crate) const OS: &str = "Debian GNU/Linux 12 (bookworm)";

/// Modules that the stock kernel needs, in the order in which they depend on each other.
const MODULES: [&str; 10] = [
    "virtio_ring",
    "virtio",
    "virtio_pci_modern_dev",
    "virtio_pci_legacy_dev",
    "virtio_pci",
    "virtio_blk",
    "failover",
    "net_failover",
    "virtio_net",
    "overlay",
];

/// What libtss2 opens by name.
const TCTI: &str = "/usr/lib/x86_64-linux-gnu/libtss2-tcti-device.so.0";

impl Guest {
    /// Puts a guest together in a folder; `credentials` are the agent's.
    pub(crate) fn build(folder: &Path, credentials: &Path) -> Self {
        let unpacked = unpacked_kernel();
        let kernel = fs::read_dir(unpacked.join("boot"))
            .unwrap_or_else(|error| panic!("{}: {error}", unpacked.display()))
            .map(|entry| entry.unwrap().path())
            .find(|path| name_of(path).starts_with("vmlinuz-"))
            .expect("the kernel package has a kernel");
        let root = folder.join("root");
        for name in [
            "bin",
            "etc/ima",
            "images",
            "lib/modules",
            "lib64",
            "sbin",
            "usr/bin",
            "usr/lib/x86_64-linux-gnu",
        ] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        busybox(&root.join("bin"));
        programs(&root);
        modules(&unpacked, &root.join("lib/modules"));
        fs::write(
            root.join("etc/os-release"),
            format!("PRETTY_NAME=\"{OS}\"\n"),
        )
        .unwrap();
        fs::write(
            root.join("etc/passwd"),
            "root:x:0:0::/:/bin/sh\nlocus:x:900:900::/:/bin/false\n",
        )
        .unwrap();
        fs::write(root.join("etc/group"), "root:x:0:\nlocus:x:900:\n").unwrap();
        write(
            &root.join("etc/ima/ima-policy"),
            &documented("ima-policy"),
            0o644,
        );
        let installed = root.join("etc/locus-agent");
        fs::create_dir_all(&installed).unwrap();
        for name in ["ca.pem", "agent.pem", "agent.key"] {
            fs::copy(credentials.join(name), installed.join(name)).unwrap();
        }
        for name in ["redis", "nginx"] {
            image(&root, name);
        }
        let initramfs = folder.join("initramfs");
        pack(&root, &initramfs);
        let disk = folder.join("disk");
        fs::File::create(&disk).unwrap().set_len(16 << 20).unwrap();
        run(Command::new("/sbin/mke2fs")
            .args(["-q", "-t", "ext4"])
            .arg(&disk));
        Guest {
            kernel,
            initramfs,
            disk,
            root,
        }
    }

    /// The root of an image that containers are made from.
    pub(crate) fn image(&self, name: &str) -> PathBuf {
        self.root.join("images").join(name)
    }
}

/// Where a Debian kernel package is unpacked.
fn unpacked_kernel() -> PathBuf {
    let folder = std::env::var_os("LOCUS_KERNEL").expect(
        "LOCUS_KERNEL names the folder that a Debian kernel package was unpacked to \
         (`apt-get download linux-image-…-cloud-amd64`, `dpkg -x`); .ci/run does both",
    );
    PathBuf::from(folder)
}

/// A block of the document: the guest is set up as its reader would set up a worker.
pub(crate) fn documented(kind: &str) -> String {
    let document = include_str!("../../../docs/attestation.md");
    let start = format!("```{kind}\n");
    let (_, after) = document
        .split_once(&start)
        .expect("the document has the block");
    let (block, _) = after.split_once("```").expect("the block ends");
    block.to_owned()
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn write(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The one program of many names.
fn busybox(bin: &Path) {
    let program = ["/bin/busybox", "/usr/bin/busybox"]
        .map(Path::new)
        .into_iter()
        .find(|path| path.exists())
        .expect("busybox-static is installed");
    fs::copy(program, bin.join("busybox")).unwrap();
    for name in run(Command::new(program).arg("--list")).lines() {
        if name != "busybox" {
            symlink("busybox", bin.join(name)).unwrap();
        }
    }
}

/// The agent with all it is linked with, and the scripts.
fn programs(root: &Path) {
    let agent = root.join("usr/bin/locus-agent");
    // Symbols are of no use there, and take most of the room.
    run(Command::new("strip")
        .arg("-o")
        .arg(&agent)
        .arg(env!("CARGO_BIN_EXE_locus-agent")));
    let mut libraries: BTreeSet<PathBuf> = [PathBuf::from(TCTI)].into();
    for linked in [agent.as_path(), Path::new(TCTI)] {
        for line in run(Command::new("ldd").arg(linked)).lines() {
            libraries.extend(
                line.split_whitespace()
                    .filter(|word| word.starts_with('/'))
                    .map(PathBuf::from),
            );
        }
    }
    for library in libraries {
        let folder = if name_of(&library).starts_with("ld-linux") {
            "lib64"
        } else {
            "usr/lib/x86_64-linux-gnu"
        };
        fs::copy(&library, root.join(folder).join(name_of(&library))).unwrap();
    }
    write(&root.join("init"), include_str!("guest/init"), 0o755);
    write(&root.join("sbin/boot"), include_str!("guest/boot"), 0o755);
    write(
        &root.join("usr/bin/runc"),
        include_str!("guest/runc"),
        0o755,
    );
}

/// The modules that there are: what a kernel has built in is missing.
fn modules(unpacked: &Path, into: &Path) {
    let mut found = Vec::new();
    let mut folders = vec![unpacked.join("lib/modules")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    let mut order = String::new();
    for module in MODULES {
        let is = |path: &&PathBuf| name_of(path).split('.').next() == Some(module);
        let Some(path) = found.iter().find(is) else {
            continue;
        };
        let name = format!("{module}.ko");
        if name_of(path).ends_with(".xz") {
            let plain = Command::new("xz").arg("-dc").arg(path).output().unwrap();
            assert!(plain.status.success(), "{}", path.display());
            fs::write(into.join(&name), plain.stdout).unwrap();
        } else {
            fs::copy(path, into.join(&name)).unwrap();
        }
        order += &format!("{name}\n");
    }
    fs::write(into.join("order"), order).unwrap();
}

/// The root of an image: a shell, and an entry point of its own.
fn image(root: &Path, name: &str) {
    let image = root.join("images").join(name);
    fs::create_dir_all(image.join("bin")).unwrap();
    fs::copy(root.join("bin/busybox"), image.join("bin/busybox")).unwrap();
    symlink("busybox", image.join("bin/sh")).unwrap();
    write(
        &image.join("entrypoint"),
        &format!("#!/bin/sh\necho {name} runs\n"),
        0o755,
    );
}

fn pack(root: &Path, archive: &Path) {
    let archive = fs::File::create(archive).unwrap();
    let packed = Command::new("busybox")
        .args(["sh", "-c", "find . | busybox cpio -o -H newc"])
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(archive)
        .stderr(Stdio::null())
        .status();
    assert!(packed.unwrap().success());
}
