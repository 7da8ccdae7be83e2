//! A million entries replayed, against hashing them.

use std::hint::black_box;

use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::ima::{
    Attributor, Boot, Cursor, Ledger, LogWriter, Reader, ReplayPolicy, RuntimeProfile, Templates,
    TpmClock, advance,
};

use super::machine::{boot, content};
use super::{Limit, Report, best, ratio};

const ENTRIES: usize = 1_000_000;

pub(crate) fn run(report: &mut Report) {
    let mut kernel = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha256]);
    kernel
        .cgpath("swapper/0", "/", boot(), "boot_aggregate")
        .unwrap();
    let digest = content("file");
    for number in 1..ENTRIES {
        let group = format!(
            "/kubepods.slice/kubepods-poda00d22c4_3bfb_41d5_abad_{:012x}.slice/cri-containerd-{:064x}.scope",
            number / 100,
            number / 50,
        );
        let path = format!("/usr/lib/x86_64-linux-gnu/{number}.so");
        kernel
            .cgpath(
                "/usr/bin/containerd-shim-runc-v2:/usr/lib/systemd/systemd:swapper/0",
                &group,
                digest,
                &path,
            )
            .unwrap();
    }
    let log = kernel.log();
    let quoted: Vec<Digest> = kernel.quoted().to_vec();
    let templates = Templates::default();
    let entries: Vec<&[u8]> = Reader::new(log, HashAlg::Sha1, &templates)
        .map(|entry| entry.unwrap().data())
        .collect();
    let hashed = best(3, || {
        let mut value = Digest::zero(HashAlg::Sha256);
        for data in &entries {
            black_box(HashAlg::Sha1.hash(&[data]));
            let template = HashAlg::Sha256.hash(&[data]);
            value = value.extend(template.as_bytes());
        }
        assert_eq!([value], quoted[..]);
    });
    let tpm = TpmClock {
        clock: 1,
        boot: Boot {
            reset_count: 1,
            restart_count: 0,
        },
    };
    let start = Cursor::fresh(&[HashAlg::Sha256], tpm);
    let accepted = [boot()];
    let policy = ReplayPolicy {
        boot_aggregates: &accepted,
        deny_violations: true,
        max_behind: 1,
        allow_kexec: false,
        waypoint: None,
    };
    let replayed = best(3, || {
        let reader = Reader::new(log, HashAlg::Sha1, &templates);
        let done = advance(reader, HashAlg::Sha1, &start, &quoted, &policy, |_, _| {}).unwrap();
        assert_eq!(done.verified, ENTRIES as u64);
    });
    let profile = RuntimeProfile::default();
    let attributed = best(3, || {
        let reader = Reader::new(log, HashAlg::Sha1, &templates);
        let mut attributor = Attributor::new(&profile);
        let mut ledger = Ledger::new();
        let visit = |_, entry: &_| ledger.record(attributor.subject(entry), entry);
        advance(reader, HashAlg::Sha1, &start, &quoted, &policy, visit).unwrap();
        black_box(ledger);
    });
    report.time(&format!("{ENTRIES} entries hashed"), hashed);
    report.time(&format!("{ENTRIES} entries replayed"), replayed);
    report.figure(
        "  part of the speed of hashing",
        ratio(hashed, replayed),
        Limit::AtLeast(0.5),
    );
    report.time(
        &format!("{ENTRIES} entries replayed, attributed and recorded"),
        attributed,
    );
    report.figure(
        "  part of the speed of hashing",
        ratio(hashed, attributed),
        Limit::AtLeast(0.5),
    );
}
