//! Replay against quoted values: what must pass, and every way to cheat that must not.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking, in its helpers too"
)]

use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::ima::{
    Advance, Attributor, BankValue, Boot, Cursor, DEFAULT_PCR, Extend, Ledger, LogWriter, Reader,
    ReplayError, ReplayPolicy, Resume, RuntimeProfile, Subject, Templates, TpmClock, advance,
};
use proptest::prelude::*;

const POD: &str = "/kubepods/burstable/poda00d22c4-3bfb-41d5-abad-493937e6ce50/\
    45b9356be09e2a4283a414ab7aefe3aa212dda8632043a764361a32717763643";
const DEP: &str = "/usr/bin/redis-server:/usr/bin/containerd-shim-runc-v2:/usr/lib/systemd/systemd";

fn boot() -> Digest {
    HashAlg::Sha256.hash(&[b"boot"])
}

fn tpm(clock: u64) -> TpmClock {
    TpmClock {
        clock,
        boot: Boot {
            reset_count: 1,
            restart_count: 0,
        },
    }
}

fn file(path: &str) -> Digest {
    HashAlg::Sha256.hash(&[path.as_bytes()])
}

fn log_of(entries: usize) -> LogWriter {
    let mut writer = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1, HashAlg::Sha256]);
    writer
        .cgpath("swapper/0:swapper/0", "/", boot(), "boot_aggregate")
        .unwrap();
    for number in 1..entries {
        let path = format!("/usr/bin/tool-{number}");
        writer.cgpath(DEP, POD, file(&path), &path).unwrap();
    }
    writer
}

fn fresh() -> Cursor {
    Cursor::fresh(&[HashAlg::Sha1, HashAlg::Sha256], tpm(1))
}

fn run(log: &[u8], start: &Cursor, quoted: &[Digest]) -> Result<Advance, ReplayError> {
    run_with(log, start, quoted, 1, true)
}

fn run_with(
    log: &[u8],
    start: &Cursor,
    quoted: &[Digest],
    max_behind: u32,
    deny_violations: bool,
) -> Result<Advance, ReplayError> {
    let templates = Templates::default();
    let policy = ReplayPolicy {
        boot_aggregates: &[boot()],
        deny_violations,
        max_behind,
        allow_kexec: false,
        waypoint: None,
    };
    advance(
        Reader::new(log, HashAlg::Sha1, &templates),
        HashAlg::Sha1,
        start,
        quoted,
        &policy,
        |_, _| {},
    )
}

#[test]
fn an_honest_log_leads_to_the_quoted_values_of_every_bank() {
    let writer = log_of(50);
    let advance = run(writer.log(), &fresh(), &writer.quoted()).unwrap();
    assert_eq!((advance.verified, advance.newer), (50, 0));
    assert_eq!(advance.cursor.next_entry, 50);
    let values: Vec<Digest> = advance.cursor.banks.iter().map(|bank| bank.value).collect();
    assert_eq!(values, writer.quoted());
}

#[test]
fn nothing_new_since_the_last_quote_is_success() {
    let writer = log_of(5);
    let first = run(writer.log(), &fresh(), &writer.quoted()).unwrap();
    let again = run(&[], &first.cursor, &writer.quoted()).unwrap();
    assert_eq!(again.verified, 0);
    assert_eq!(again.cursor, first.cursor);
    // Also when the log already has an entry that is newer than the quote.
    let mut longer = writer.clone();
    longer.cgpath(DEP, POD, file("/x"), "/x").unwrap();
    let again = run(longer.log_from(5), &first.cursor, &writer.quoted()).unwrap();
    assert_eq!((again.verified, again.newer), (0, 1));
}

/// Replays a log from its start that may have been shown before; whether it comes by where it was then.
fn passes(log: &LogWriter, start: &Cursor, before: &Cursor) -> Result<bool, ReplayError> {
    let templates = Templates::default();
    let policy = ReplayPolicy {
        boot_aggregates: &[boot()],
        deny_violations: true,
        max_behind: 1,
        allow_kexec: false,
        waypoint: Some(before),
    };
    let reader = Reader::new(log.log(), HashAlg::Sha1, &templates);
    let done = advance(
        reader,
        HashAlg::Sha1,
        start,
        &log.quoted(),
        &policy,
        |_, _| {},
    )?;
    Ok(done.passed)
}

#[test]
fn a_suspended_machine_goes_on_where_it_was() {
    let mut writer = log_of(5);
    let first = run(writer.log(), &fresh(), &writer.quoted()).unwrap();
    let mut later = tpm(2);
    later.boot.restart_count += 1;
    writer.cgpath(DEP, POD, file("/new"), "/new").unwrap();
    let Resume::Resumed(start) = first.cursor.resume(5, later).unwrap() else {
        panic!("the registers may have stayed");
    };
    let done = run(writer.log_from(5), &start, &writer.quoted()).unwrap();
    assert_eq!((done.verified, done.cursor.tpm), (1, later));
    // Shown from its start, it comes by where it was; the log of another boot does not.
    let Resume::Restarted(start) = first.cursor.resume(0, later).unwrap() else {
        panic!("the machine may have been booted");
    };
    assert_eq!(passes(&writer, &start, &first.cursor), Ok(true));
    let mut other = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1, HashAlg::Sha256]);
    other.cgpath(DEP, "/", boot(), "boot_aggregate").unwrap();
    for number in 0..9 {
        let path = format!("/other/{number}");
        other.cgpath(DEP, POD, file(&path), &path).unwrap();
    }
    assert_eq!(passes(&other, &start, &first.cursor), Ok(false));
}

#[test]
fn a_log_that_starts_anew_within_one_boot_needs_a_reboot() {
    let writer = log_of(5);
    let first = run(writer.log(), &fresh(), &writer.quoted()).unwrap();
    let Resume::Restart(start) = first.cursor.resume(0, tpm(2)).unwrap() else {
        panic!("the same boot");
    };
    // After kexec the registers go on, and the log does not.
    let mut after = writer.clone();
    let mut second = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1, HashAlg::Sha256]);
    for (path, digest) in [("boot_aggregate", boot()), ("/a", file("/a"))] {
        after.cgpath(DEP, "/", digest, path).unwrap();
        second.cgpath(DEP, "/", digest, path).unwrap();
    }
    let templates = Templates::default();
    let policy = ReplayPolicy {
        boot_aggregates: &[boot()],
        deny_violations: true,
        max_behind: 1,
        allow_kexec: false,
        waypoint: Some(&first.cursor),
    };
    let reader = Reader::new(second.log(), HashAlg::Sha1, &templates);
    let refused = advance(
        reader,
        HashAlg::Sha1,
        &start,
        &after.quoted(),
        &policy,
        |_, _| {},
    );
    assert_eq!(refused, Err(ReplayError::Restarted));
    // A log that was carried over has two boot aggregates.
    let refused = run(after.log(), &fresh(), &after.quoted());
    assert_eq!(refused, Err(ReplayError::Kexec { entry: 5 }));
}

#[test]
fn only_new_entries_are_needed_the_second_time() {
    let mut writer = log_of(100);
    let first = run(writer.log(), &fresh(), &writer.quoted()).unwrap();
    writer.cgpath(DEP, POD, file("/new"), "/new").unwrap();
    let Resume::Continue(start) = first.cursor.resume(100, tpm(2)).unwrap() else {
        panic!("the answer starts where it was asked to");
    };
    let second = run(writer.log_from(100), &start, &writer.quoted()).unwrap();
    assert_eq!((second.verified, second.cursor.next_entry), (1, 101));
    assert_eq!(second.cursor.tpm, tpm(2));
}

#[test]
fn a_quote_may_be_older_than_the_log_but_must_catch_up() {
    let early = log_of(10);
    let late = log_of(12);
    let first = run(late.log(), &fresh(), &early.quoted()).unwrap();
    assert_eq!((first.verified, first.newer), (10, 2));
    assert_eq!(first.cursor.seen, 12);
    // The next quote still covers only ten entries: tolerated once, not twice.
    let second = run(late.log_from(10), &first.cursor, &early.quoted()).unwrap();
    assert_eq!(second.cursor.behind, 1);
    assert_eq!(
        run(late.log_from(10), &second.cursor, &early.quoted()),
        Err(ReplayError::Behind {
            covered: 10,
            seen: 12
        })
    );
    let caught_up = run(late.log_from(10), &second.cursor, &late.quoted()).unwrap();
    assert_eq!((caught_up.cursor.behind, caught_up.cursor.seen), (0, 12));
}

/// Attack 1: paths, digests and control groups rewritten under the old template hash.
#[test]
fn rewritten_fields_are_noticed() {
    let writer = log_of(20);
    for (old, new) in [
        ("tool-7", "tool-8"),
        ("poda00d22c4", "podb00d22c4"),
        ("redis-server", "redis-SERVER"),
    ] {
        let at = find_last(writer.log(), old.as_bytes());
        let mut log = writer.log().to_vec();
        log[at..at + new.len()].copy_from_slice(new.as_bytes());
        let error = run(&log, &fresh(), &writer.quoted()).unwrap_err();
        assert!(
            matches!(error, ReplayError::TemplateHash { .. }),
            "{old}: {error}"
        );
    }
    let at = find_last(writer.log(), file("/usr/bin/tool-3").as_bytes());
    let mut log = writer.log().to_vec();
    log[at] ^= 1;
    assert_eq!(
        run(&log, &fresh(), &writer.quoted()),
        Err(ReplayError::TemplateHash {
            entry: 3,
            path: "/usr/bin/tool-3".to_owned()
        })
    );
}

/// The hash is made to fit the new fields: then the PCR value does not.
#[test]
fn rewritten_fields_with_a_new_hash_do_not_lead_to_the_quote() {
    let honest = log_of(20);
    let mut forged = log_of(10);
    forged
        .cgpath(DEP, "/", file("/evil"), "/usr/bin/tool-10")
        .unwrap();
    for number in 11..20 {
        let path = format!("/usr/bin/tool-{number}");
        forged.cgpath(DEP, POD, file(&path), &path).unwrap();
    }
    assert_eq!(
        run(forged.log(), &fresh(), &honest.quoted()),
        Err(ReplayError::Mismatch { end: 20 })
    );
}

#[test]
fn left_out_swapped_and_repeated_entries_are_noticed() {
    let writer = log_of(6);
    let pieces: Vec<&[u8]> = (0..6)
        .map(|entry| {
            let from = writer.log_from(entry);
            &from[..from.len() - writer.log_from(entry + 1).len()]
        })
        .collect();
    for order in [
        &[0, 1, 2, 4, 5][..],
        &[0, 1, 3, 2, 4, 5],
        &[0, 1, 2, 2, 3, 4, 5],
        &[0, 1, 2, 3, 4],
    ] {
        let log: Vec<u8> = order
            .iter()
            .flat_map(|index| pieces[*index])
            .copied()
            .collect();
        assert!(
            matches!(
                run(&log, &fresh(), &writer.quoted()),
                Err(ReplayError::Mismatch { .. })
            ),
            "{order:?}"
        );
    }
}

#[test]
fn a_log_without_its_boot_or_of_another_boot_is_refused() {
    let writer = log_of(3);
    assert_eq!(
        run(writer.log_from(1), &fresh(), &writer.quoted()),
        Err(ReplayError::NoBootAggregate)
    );
    assert_eq!(
        run(
            &[],
            &fresh(),
            &fresh()
                .banks
                .iter()
                .map(|bank| bank.value)
                .collect::<Vec<_>>()
        ),
        Err(ReplayError::NoBootAggregate),
        "an empty log explains an untouched PCR, and proves nothing"
    );
    let mut other = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1, HashAlg::Sha256]);
    other
        .cgpath("swapper/0", "/", file("other"), "boot_aggregate")
        .unwrap();
    assert_eq!(
        run(other.log(), &fresh(), &other.quoted()),
        Err(ReplayError::BootAggregate {
            found: file("other")
        })
    );
}

/// Attack 2, seen from the log: entries of a resettable PCR are no evidence.
#[test]
fn entries_of_another_register_are_refused() {
    let mut writer = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1, HashAlg::Sha256]).in_pcr(16);
    writer
        .cgpath("swapper/0", "/", boot(), "boot_aggregate")
        .unwrap();
    assert_eq!(
        run(writer.log(), &fresh(), &writer.quoted()),
        Err(ReplayError::Pcr { entry: 0, pcr: 16 })
    );
}

#[test]
fn the_banks_are_the_verifiers_choice() {
    let writer = log_of(3);
    let quoted = writer.quoted();
    for wrong in [&quoted[..1], &quoted[1..], &[quoted[1], quoted[0]], &[]] {
        assert_eq!(
            run(writer.log(), &fresh(), wrong),
            Err(ReplayError::Banks),
            "{wrong:?}"
        );
    }
    // A value that is right in one bank and wrong in the other.
    let half = [quoted[0], file("x")];
    assert_eq!(
        run(writer.log(), &fresh(), &half),
        Err(ReplayError::Mismatch { end: 3 })
    );
}

#[test]
fn violations_are_extended_as_ones_and_denied_or_reported() {
    let mut writer = log_of(2);
    writer.violation("/var/log/syslog");
    assert_eq!(
        run(writer.log(), &fresh(), &writer.quoted()),
        Err(ReplayError::Violation { entry: 2 })
    );
    let reported = run_with(writer.log(), &fresh(), &writer.quoted(), 1, false).unwrap();
    assert_eq!(reported.violations, [2]);
    // An entry cannot be hidden as a violation: the PCR was extended with something else.
    let honest = log_of(3);
    let mut hidden = log_of(2);
    hidden.violation("/usr/bin/tool-2");
    assert!(run_with(hidden.log(), &fresh(), &honest.quoted(), 1, false).is_err());
}

#[test]
fn older_kernels_extend_the_padded_sha1() {
    let mut writer = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha256]).padded_sha1();
    writer.ng(boot(), "boot_aggregate").unwrap();
    writer.violation("/tmp/x");
    writer.ng(file("/a"), "/a").unwrap();
    let padded = Cursor {
        banks: vec![BankValue {
            value: Digest::zero(HashAlg::Sha256),
            extend: Extend::PaddedSha1,
            pcr: DEFAULT_PCR,
        }],
        ..fresh()
    };
    assert!(run_with(writer.log(), &padded, &writer.quoted(), 1, false).is_ok());
    // What a kernel does is known beforehand, and not guessed from what happens to fit.
    let native = Cursor::fresh(&[HashAlg::Sha256], tpm(1));
    assert!(run_with(writer.log(), &native, &writer.quoted(), 1, false).is_err());
}

/// Attack 10: the running value must not move when a later check fails.
#[test]
fn a_failed_replay_changes_nothing() {
    let mut writer = log_of(10);
    let first = run(writer.log(), &fresh(), &writer.quoted()).unwrap();
    let before = first.cursor.clone();
    writer.cgpath(DEP, POD, file("/n"), "/n").unwrap();
    assert!(run(writer.log_from(10), &before, &log_of(12).quoted()).is_err());
    assert_eq!(first.cursor, before);
    assert!(run(writer.log_from(10), &before, &writer.quoted()).is_ok());
}

#[test]
fn entries_belong_to_the_host_the_runtime_or_a_pod() {
    let mut writer = log_of(3);
    let shim = "runc:/usr/bin/containerd-shim-runc-v2:/usr/lib/systemd/systemd:swapper/0";
    writer
        .cgpath(
            "/usr/bin/bash:systemd",
            "/system.slice/ssh.service",
            file("/usr/bin/ls"),
            "/usr/bin/ls",
        )
        .unwrap();
    writer
        .cgpath(
            "systemd",
            "/system.slice/containerd.service",
            file("/opt/cni/bin/bridge"),
            "/opt/cni/bin/bridge",
        )
        .unwrap();
    writer
        .cgpath("systemd", "/init.scope", file("c"), "/usr/bin/containerd")
        .unwrap();
    writer
        .cgpath(shim, "/system.slice/x.service", file("d"), "/usr/bin/d")
        .unwrap();
    writer
        .cgpath(shim, POD, file("e"), "/usr/local/bin/docker-entrypoint.sh")
        .unwrap();
    writer
        .cgpath(shim, "/kubepods/mystery", file("f"), "/f")
        .unwrap();
    writer.ng(file("g"), "/g").unwrap();
    let templates = Templates::default();
    let profile = RuntimeProfile::default();
    let mut attributor = Attributor::new(&profile);
    let mut ledger = Ledger::new();
    let subjects: Vec<Subject> = Reader::new(writer.log(), HashAlg::Sha1, &templates)
        .map(|entry| {
            let entry = entry.unwrap();
            let subject = attributor.subject(&entry);
            ledger.record(subject, &entry);
            subject
        })
        .collect();
    let uid = "a00d22c4-3bfb-41d5-abad-493937e6ce50".parse().unwrap();
    let container = Some(POD.rsplit('/').next().unwrap().parse().unwrap());
    let pod = Subject::Pod { uid, container };
    assert_eq!(
        subjects,
        [
            Subject::Host,
            pod,
            pod,
            Subject::Host,
            Subject::Runtime,
            Subject::Runtime,
            Subject::Runtime,
            pod,
            Subject::Unknown,
            Subject::Unattributed,
        ]
    );
    assert_eq!(ledger.subjects_of_pod(uid, &[]), [pod]);
    assert_eq!(ledger.of(pod).count(), 3);
    assert_eq!(ledger.of(Subject::Runtime).count(), 3);
}

fn find_last(log: &[u8], needle: &[u8]) -> usize {
    log.windows(needle.len())
        .rposition(|window| window == needle)
        .expect("the log has it")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever prefix the quote covers, and however the log is cut into answers, the end is the same.
    #[test]
    fn any_way_of_cutting_gives_the_same_state(
        entries in 2_usize..40,
        cuts in proptest::collection::vec(1_usize..40, 0..6),
    ) {
        let whole = log_of(entries);
        let expected = run(whole.log(), &fresh(), &whole.quoted()).unwrap().cursor;
        let mut stops: Vec<usize> = cuts.into_iter().filter(|cut| *cut < entries).collect();
        stops.push(entries);
        stops.sort_unstable();
        let mut cursor = fresh();
        for stop in stops {
            let shown = log_of(stop);
            cursor = run(shown.log_from(cursor.next_entry), &cursor, &shown.quoted()).unwrap().cursor;
        }
        prop_assert_eq!(cursor.banks, expected.banks);
        prop_assert_eq!(cursor.next_entry, expected.next_entry);
    }

    /// No single flipped bit of a log is accepted, but for entries the quote does not cover.
    #[test]
    fn no_flipped_bit_is_accepted(entries in 1_usize..12, at in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let writer = log_of(entries);
        let mut log = writer.log().to_vec();
        let at = at.index(log.len());
        log[at] ^= 1 << bit;
        prop_assert!(run(&log, &fresh(), &writer.quoted()).is_err());
    }

    /// Nor any other log, of any bytes.
    #[test]
    fn arbitrary_bytes_never_pass_nor_panic(log in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(run(&log, &fresh(), &log_of(3).quoted()).is_err());
    }
}
