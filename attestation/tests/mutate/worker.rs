//! A worker, what it is asked, and what it answers.

use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::evidence::{Evidence, Nonce, PcrValue, QuotePart, binding};
use locus_attestation::ima::{BootAggregate, LogWriter};
use locus_attestation::policy::WorkerPolicy;
use locus_attestation::protocol::EvidenceRequest;
use locus_attestation::reference::{
    HostReference, OsReference, ReferenceValues, RuntimeReference, Whitelist,
};
use locus_attestation::tpm::device::quote;
use locus_attestation::tpm::emulated::EmulatedTpm;
use locus_attestation::tpm::{AkKind, EkKind, Tpm as _};
use locus_attestation::verifier::{Appraisal, Node, Worker, appraise_worker};
use uuid::Uuid;

pub(crate) const OS: &str = "Debian GNU/Linux 12 (bookworm)";
const SHIM: &str = "/usr/bin/containerd-shim-runc-v2";

/// A worker with a short log, its request and its evidence.
pub(crate) struct Attested {
    pub(crate) worker: Worker,
    pub(crate) request: EvidenceRequest,
    pub(crate) evidence: Vec<u8>,
    pub(crate) list: Whitelist,
}

pub(crate) fn attested() -> Attested {
    let zeros = vec![Digest::zero(HashAlg::Sha256); 10];
    let boot = BootAggregate::over(HashAlg::Sha256, &zeros)
        .unwrap()
        .current;
    let shim = HashAlg::Sha256.hash(&[b"shim"]);
    let mut kernel = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha256]);
    let mut extended = Vec::new();
    for (group, digest, path) in [
        ("/", boot, "boot_aggregate"),
        ("/system.slice/containerd.service", shim, SHIM),
        ("/system.slice/ssh.service", shim, "/usr/sbin/sshd"),
    ] {
        extended.push(kernel.cgpath("swapper/0", group, digest, path).unwrap());
    }
    attested_with(&kernel, &extended, boot)
}

/// The log of a kernel that has the default template of a distribution: files with and without a signature, and
/// what the kernel measures of itself.
pub(crate) fn attested_without_groups() -> Attested {
    let zeros = vec![Digest::zero(HashAlg::Sha256); 10];
    let boot = BootAggregate::over(HashAlg::Sha256, &zeros)
        .unwrap()
        .current;
    let shim = HashAlg::Sha256.hash(&[b"shim"]).to_string();
    let version = HashAlg::Sha256.hash(&[b"6.12"]).to_string();
    let mut kernel = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha256]);
    let boot_text = boot.to_string();
    let entries: [(&str, [&[u8]; 3]); 4] = [
        ("ima-sig", [boot_text.as_bytes(), b"boot_aggregate", b""]),
        ("ima-buf", [version.as_bytes(), b"kernel_version", b"6.12"]),
        (
            "ima-sig",
            [shim.as_bytes(), SHIM.as_bytes(), b"\x03\x02sig"],
        ),
        ("ima-sig", [shim.as_bytes(), b"/usr/sbin/sshd", b""]),
    ];
    let extended: Vec<_> = entries
        .iter()
        .map(|(name, fields)| kernel.append(name, fields).unwrap())
        .collect();
    attested_with(&kernel, &extended, boot)
}

fn attested_with(kernel: &LogWriter, extended: &[Vec<Digest>], boot: Digest) -> Attested {
    let shim = HashAlg::Sha256.hash(&[b"shim"]);
    let mut tpm = EmulatedTpm::from_seed([5; 32]);
    let ak = tpm.create_ak(EkKind::EccP256, AkKind::EccP256).unwrap();
    let worker = Worker {
        id: Uuid::from_u128(9),
        name: "worker".to_owned(),
        os: OS.to_owned(),
        ak: ak.public_area().unwrap(),
        software_tpm: true,
        templates: None,
    };
    for digests in extended {
        tpm.extend(10, digests).unwrap();
    }
    let nonce = Nonce::from_bytes([1; 32]);
    let request = Node::default().request(worker.id, nonce, None, &WorkerPolicy::default());
    let claims = request.answer(0, HashAlg::Sha1, 0).to_bytes();
    let bound = binding(&request.nonce, &claims);
    let quoted = quote(&mut tpm, &ak, bound.as_bytes(), &request.selection).unwrap();
    let pcrs = request.selection.registers().map(|(bank, pcr)| PcrValue {
        index: u32::from(pcr),
        value: quoted.pcrs.get(bank, pcr).unwrap(),
    });
    let part = QuotePart {
        attest: quoted.attest.clone(),
        signature: quoted.signature.clone(),
        pcrs: pcrs.collect(),
    };
    let evidence = Evidence::encode(&claims, &part, Some(kernel.log()));
    let mut values = ReferenceValues::default();
    values.os.insert(
        OS.to_owned(),
        OsReference {
            boot_aggregates: [boot].into(),
        },
    );
    let runtime = RuntimeReference {
        files: [(SHIM.into(), [shim].into())].into(),
    };
    values.runtimes.insert("containerd".to_owned(), runtime);
    let host = HostReference {
        files: [("/usr/sbin/sshd".into(), [shim].into())].into(),
    };
    values.hosts.insert("debian".to_owned(), host);
    Attested {
        worker,
        request,
        evidence,
        list: Whitelist::new(&values),
    }
}

pub(crate) fn appraised(
    case: &Attested,
    request: &EvidenceRequest,
    evidence: &[u8],
) -> Option<Appraisal> {
    let (node, policy) = (Node::default(), WorkerPolicy::default());
    appraise_worker(&case.worker, &node, request, evidence, &case.list, &policy).ok()
}
