//! A worker for benchmarks: its kernel, its TPM, its evidence, and the reference values that fit.

use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::evidence::{Evidence, PcrValue, QuotePart, binding};
use locus_attestation::ima::{BootAggregate, LogWriter};
use locus_attestation::protocol::EvidenceRequest;
use locus_attestation::reference::{
    ImageReference, OsReference, PathText, ReferenceValues, RuntimeReference, Whitelist,
};
use locus_attestation::tpm::device::quote;
use locus_attestation::tpm::emulated::EmulatedTpm;
use locus_attestation::tpm::{AkBlob, AkKind, EkKind, Tpm};
use locus_attestation::verifier::{Pod, PodContainer, Worker};
use uuid::Uuid;

const OS: &str = "Debian GNU/Linux 12 (bookworm)";
const SHIM: &str = "/usr/bin/containerd-shim-runc-v2";

pub(crate) fn content(text: &str) -> Digest {
    HashAlg::Sha256.hash(&[text.as_bytes()])
}

pub(crate) fn boot() -> Digest {
    let zeros = vec![Digest::zero(HashAlg::Sha256); 10];
    BootAggregate::over(HashAlg::Sha256, &zeros)
        .unwrap()
        .current
}

fn path(text: &str) -> PathText {
    PathText::new(text.as_bytes())
}

/// An image with many files, a runtime and an operating system.
pub(crate) fn whitelist(files: usize) -> Whitelist {
    let mut values = ReferenceValues::default();
    values.os.insert(
        OS.to_owned(),
        OsReference {
            boot_aggregates: [boot()].into(),
        },
    );
    let runtime = RuntimeReference {
        files: [(path(SHIM), [content(SHIM)].into())].into(),
    };
    values.runtimes.insert(SHIM.to_owned(), runtime);
    let files = (0..files).map(|number| {
        let name = format!("/usr/lib/{number}.so");
        (path(&name), [content(&name)].into())
    });
    let image = ImageReference {
        digests: [content("image")].into(),
        sandbox: false,
        files: files.collect(),
    };
    values.images.insert("image".to_owned(), image);
    Whitelist::new(&values)
}

/// A worker with its kernel and TPM.
pub(crate) struct Machine {
    tpm: EmulatedTpm,
    ak: AkBlob,
    pub(crate) kernel: LogWriter,
    pub(crate) worker: Worker,
    column: HashAlg,
}

impl Machine {
    pub(crate) fn new(number: u64, column: HashAlg) -> Self {
        let mut machine = Machine::off(number, column);
        machine.measure("/", boot(), "boot_aggregate");
        machine.measure("/system.slice/containerd.service", content(SHIM), SHIM);
        machine
    }

    /// One whose kernel has the template `ima-ng`, which names no control group.
    pub(crate) fn plain(number: u64) -> Self {
        let mut machine = Machine::off(number, HashAlg::Sha1);
        machine.measure_plain(boot(), "boot_aggregate");
        machine
    }

    /// One that has measured nothing yet.
    fn off(number: u64, column: HashAlg) -> Self {
        let mut seed = [7; 32];
        seed[..8].copy_from_slice(&number.to_be_bytes());
        let mut tpm = EmulatedTpm::from_seed(seed);
        let ak = tpm.create_ak(EkKind::EccP256, AkKind::EccP256).unwrap();
        let worker = Worker {
            id: Uuid::from_u128(u128::from(number)),
            name: format!("worker-{number}"),
            os: OS.to_owned(),
            ak: ak.public_area().unwrap(),
            software_tpm: true,
            templates: None,
        };
        Machine {
            tpm,
            ak,
            kernel: LogWriter::new(column, &[HashAlg::Sha256]),
            worker,
            column,
        }
    }

    fn measure_plain(&mut self, digest: Digest, path: &str) {
        let extended = self.kernel.ng(digest, path).unwrap();
        self.tpm.extend(10, &extended).unwrap();
    }

    /// A pod, of whose files the log does not say that they are its.
    pub(crate) fn plain_pod(&mut self, files: usize) -> Pod {
        for number in 0..files {
            let name = format!("/usr/lib/{number}.so");
            self.measure_plain(content(&name), &name);
        }
        self.pod(0, 0)
    }

    pub(crate) fn measure(&mut self, cgroup: &str, digest: Digest, path: &str) {
        let extended = self
            .kernel
            .cgpath("swapper/0", cgroup, digest, path)
            .unwrap();
        self.tpm.extend(10, &extended).unwrap();
    }

    pub(crate) fn pod(&mut self, number: u64, files: usize) -> Pod {
        let id = content(&format!("{} {number}", self.worker.name)).to_hex();
        let uid = Uuid::new_v4().to_string();
        let group = format!(
            "/kubepods.slice/kubepods-pod{}.slice/cri-containerd-{id}.scope",
            uid.replace('-', "_")
        );
        for number in 0..files {
            let name = format!("/usr/lib/{number}.so");
            self.measure(&group, content(&name), &name);
        }
        Pod {
            uid: uid.parse().unwrap(),
            namespace: "default".to_owned(),
            name: format!("pod-{number}"),
            tenant: Uuid::nil(),
            worker: self.worker.name.clone(),
            containers: vec![PodContainer {
                name: "main".to_owned(),
                image: "image".to_owned(),
                digest: content("image"),
                id: Some(id.parse().unwrap()),
            }],
        }
    }

    pub(crate) fn evidence(&mut self, request: &EvidenceRequest) -> Vec<u8> {
        let claims = request
            .answer(request.first_entry, self.column, 0)
            .to_bytes();
        let bound = binding(&request.nonce, &claims);
        let quoted = quote(
            &mut self.tpm,
            &self.ak,
            bound.as_bytes(),
            &request.selection,
        )
        .unwrap();
        let pcrs = request
            .selection
            .registers()
            .map(|(bank, pcr)| PcrValue {
                index: u32::from(pcr),
                value: quoted.pcrs.get(bank, pcr).unwrap(),
            })
            .collect();
        let part = QuotePart {
            attest: quoted.attest,
            signature: quoted.signature,
            pcrs,
        };
        Evidence::encode(
            &claims,
            &part,
            Some(self.kernel.log_from(request.first_entry)),
        )
    }
}
