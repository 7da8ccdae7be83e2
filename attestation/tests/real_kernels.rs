//! Logs, registers and quotes that real kernels and TPMs wrote, against an independent replay of them.
//!
//! The recordings are in `tests/data/ima`; each has the result of another program in `facts.json`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests fail as tests do: by panicking"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::ima::{
    Attributor, BankValue, Boot, Cursor, Extend, Reader, ReplayError, ReplayPolicy, RuntimeProfile,
    Subject, TpmClock, advance,
};
use locus_attestation::replay::{Recording, facts};
use locus_attestation::tpm::{PcrSelection, PcrValues, Quote, QuoteError, verify_quote};
use serde_json::Value;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/ima")
}

/// Every recorded boot: its name and folder.
fn recordings() -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut open = vec![data()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.ends_with("facts.json") {
                let name = folder.strip_prefix(data()).unwrap().display().to_string();
                found.push((name, folder.clone()));
            }
        }
    }
    found.sort();
    assert!(found.len() >= 27, "{} recordings", found.len());
    found
}

fn known(folder: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("facts.json")).unwrap()).unwrap()
}

#[test]
fn every_recording_comes_to_what_another_program_found() {
    for (name, folder) in recordings() {
        let recording = Recording::of_folder(&folder).unwrap();
        let found = facts(&recording).unwrap();
        assert_eq!(found.wrong_template_hashes, 0, "{name}");
        let found = serde_json::to_value(&found).unwrap();
        for (key, expected) in known(&folder).as_object().unwrap() {
            // Noted while recording; nothing in the files says it.
            if key != "entries_before_first_program" {
                assert_eq!(found.get(key), Some(expected), "{name}: {key}");
            }
        }
    }
}

#[test]
fn the_ascii_form_is_the_binary_form() {
    let mut compared = 0;
    for (name, folder) in recordings() {
        let binary = Recording::of_folder(&folder).unwrap();
        for alg in [None, Some(HashAlg::Sha256)] {
            let suffix = alg.map_or(String::new(), |alg| format!("_{alg}"));
            let path = folder.join(format!("ascii_runtime_measurements{suffix}"));
            if !path.exists() {
                continue;
            }
            let ascii = Recording::of_log(&path, alg.unwrap_or(HashAlg::Sha1)).unwrap();
            let same = match alg {
                None => binary.log.clone(),
                Some(alg) => {
                    let log = binary.bank_logs.iter().find(|(bank, _)| *bank == alg);
                    log.unwrap().1.clone()
                }
            };
            assert!(ascii.log == same, "{name}{suffix}");
            compared += 1;
        }
    }
    assert!(compared >= 26, "{compared} logs");
}

fn clock() -> TpmClock {
    TpmClock {
        clock: 1,
        boot: Boot {
            reset_count: 1,
            restart_count: 0,
        },
    }
}

/// Replays as a verifier does, in some registers of a bank; how many entries were verified.
fn replay(
    recording: &Recording,
    bank: HashAlg,
    extend: Extend,
    kexec: bool,
) -> Result<u64, ReplayError> {
    let reader = || Reader::new(&recording.log, recording.column, &recording.templates);
    let mut pcrs: Vec<u32> = reader().map(|entry| entry.unwrap().pcr()).collect();
    pcrs.sort_unstable();
    pcrs.dedup();
    let mut start = Cursor::fresh_in(&[bank], &pcrs, clock());
    for register in &mut start.banks {
        *register = BankValue {
            extend,
            ..*register
        };
    }
    let value = |pcr: u32| {
        recording
            .pcrs
            .get(bank, u8::try_from(pcr).unwrap())
            .unwrap()
    };
    let quoted: Vec<Digest> = pcrs.iter().map(|pcr| value(*pcr)).collect();
    let aggregates: Vec<Digest> = reader()
        .filter_map(|entry| locus_attestation::ima::boot_aggregate(&entry.unwrap()))
        .collect();
    let policy = ReplayPolicy {
        boot_aggregates: &aggregates,
        deny_violations: false,
        max_behind: 0,
        allow_kexec: kexec,
        waypoint: None,
    };
    advance(
        reader(),
        recording.column,
        &start,
        &quoted,
        &policy,
        |_, _| {},
    )
    .map(|done| done.verified)
}

#[test]
fn a_verifier_replays_every_bank() {
    let mut replayed = 0;
    for (name, folder) in recordings() {
        let recording = Recording::of_folder(&folder).unwrap();
        let known = known(&folder);
        let aggregates = known["boot_aggregate"].as_array().unwrap().len();
        let mut covered: BTreeMap<HashAlg, Vec<Option<u64>>> = BTreeMap::new();
        let mut padded = BTreeMap::new();
        for (register, covers) in known["pcr_read_covers"].as_object().unwrap() {
            let bank = HashAlg::from_name(register.split(':').next().unwrap().as_bytes()).unwrap();
            covered
                .entry(bank)
                .or_default()
                .push(covers["entries"].as_u64());
            padded.insert(
                bank,
                covers["digest"]
                    .as_str()
                    .is_some_and(|text| text.contains("padded")),
            );
        }
        for (bank, covers) in covered {
            // The values of PCR 14 were recorded in two banks.
            if name == "6.12-pcr14" && covers.len() < 2 {
                continue;
            }
            let extend = if padded[&bank] {
                Extend::PaddedSha1
            } else {
                Extend::Native
            };
            let found = replay(&recording, bank, extend, true);
            // All registers have their values after the last of them has.
            match covers.iter().copied().collect::<Option<Vec<u64>>>() {
                Some(covers) => {
                    assert_eq!(found, Ok(*covers.iter().max().unwrap()), "{name} {bank}")
                }
                None => assert!(
                    matches!(found, Err(ReplayError::Mismatch { .. })),
                    "{name} {bank}: {found:?}"
                ),
            }
            if aggregates > 1 {
                let found = replay(&recording, bank, extend, false);
                assert!(
                    matches!(found, Err(ReplayError::Kexec { .. })),
                    "{name}: {found:?}"
                );
            }
            replayed += 1;
        }
    }
    assert!(replayed >= 90, "{replayed} banks");
}

/// The values behind a quote, as an agent would send them: those recorded, and the log's up to what is covered.
fn values(recording: &Recording, selection: &PcrSelection, covers: u64) -> PcrValues {
    let mut values = PcrValues::default();
    for (bank, pcr) in selection.registers() {
        let reader = || {
            Reader::new(&recording.log, recording.column, &recording.templates).map(Result::unwrap)
        };
        let is_here = |entry: &locus_attestation::ima::Entry<'_>| entry.pcr() == u32::from(pcr);
        let value = if reader().any(|entry| is_here(&entry)) {
            let covered = reader().take(usize::try_from(covers).unwrap());
            covered
                .filter(is_here)
                .fold(Digest::zero(bank), |value, entry| {
                    value.extend(Extend::Native.measured(bank, &entry).as_bytes())
                })
        } else {
            recording.pcrs.get(bank, pcr).unwrap()
        };
        values.set(pcr, value);
    }
    values
}

#[test]
fn every_quote_is_verified_for_the_part_of_the_log_that_it_covers() {
    let mut verified = 0;
    for (name, folder) in recordings() {
        let recording = Recording::of_folder(&folder).unwrap();
        let all = facts(&recording).unwrap();
        for (which, quote) in &recording.quotes {
            let asked = match which.as_str() {
                "quote" => PcrSelection::of(HashAlg::Sha256, 0..=10),
                _ => PcrSelection::of(HashAlg::Sha1, [10]).and(HashAlg::Sha256, [10]),
            };
            let found = &all.quotes[which];
            assert!(found.genuine, "{name} {which}");
            let verify = |pcrs| {
                let sent = Quote {
                    attest: quote.attest.clone(),
                    signature: quote.signature.clone(),
                    pcrs,
                };
                verify_quote(&quote.key, &sent, &quote.nonce, &asked)
            };
            let Some(covers) = found.covers else {
                assert!(found.refused.is_some(), "{name} {which}");
                continue;
            };
            if found.selection != "sha256:0-10" && found.selection != "sha1:10+sha256:10" {
                let missing = verify(PcrValues::default());
                assert!(
                    matches!(missing, Err(QuoteError::Selection { .. })),
                    "{name} {which}"
                );
                continue;
            }
            let clock = verify(values(&recording, &asked, covers))
                .unwrap()
                .clock_info;
            assert_eq!(
                Some(clock.reset_count),
                found.clock.map(|clock| clock.reset_count)
            );
            let other = verify(values(&recording, &asked, covers - 1));
            assert_eq!(
                other,
                Err(QuoteError::Digest),
                "{name} {which}: one entry less"
            );
            verified += 1;
        }
    }
    assert!(verified >= 40, "{verified} quotes");
}

#[test]
fn a_quote_of_a_bank_that_the_tpm_does_not_have_is_refused() {
    let recording = Recording::of_folder(&data().join("6.12-bank-sha1-only")).unwrap();
    let quote = &recording.quotes["quote"];
    let sent = Quote {
        attest: quote.attest.clone(),
        signature: quote.signature.clone(),
        pcrs: PcrValues::default(),
    };
    for asked in [
        PcrSelection::of(HashAlg::Sha256, 0..=10),
        PcrSelection::default(),
    ] {
        let refused = verify_quote(&quote.key, &sent, &quote.nonce, &asked);
        assert!(
            matches!(refused, Err(QuoteError::Selection { .. })),
            "{refused:?}"
        );
    }
    let found = &facts(&recording).unwrap().quotes["quote"];
    assert!(found.genuine && found.selection.is_empty(), "{found:?}");
    assert!(
        found.refused.as_ref().unwrap().contains("no register"),
        "{found:?}"
    );
}

#[test]
fn after_kexec_both_logs_together_lead_to_the_registers() {
    let folder = data().join("6.12-kexec");
    let mut first = Recording::of_folder(&folder.join("first")).unwrap();
    let second = Recording::of_folder(&folder.join("second")).unwrap();
    first.log.extend_from_slice(&second.log);
    first.pcrs = second.pcrs.clone();
    assert_eq!(
        replay(&first, HashAlg::Sha256, Extend::Native, true),
        Ok(137)
    );
    let refused = replay(&first, HashAlg::Sha256, Extend::Native, false);
    assert_eq!(refused, Err(ReplayError::Kexec { entry: 73 }));
}

fn subjects(name: &str) -> BTreeMap<String, usize> {
    let recording = Recording::of_folder(&data().join(name)).unwrap();
    let profile = RuntimeProfile::default();
    let mut attributor = Attributor::new(&profile);
    let mut counts = BTreeMap::new();
    for entry in Reader::new(&recording.log, recording.column, &recording.templates) {
        let entry = entry.unwrap();
        let subject = if entry.is_violation() {
            continue;
        } else {
            attributor.subject(&entry)
        };
        let kind = match subject {
            Subject::Host => "host".to_owned(),
            Subject::Runtime => "runtime".to_owned(),
            Subject::Pod { uid, .. } => format!("pod {uid}"),
            Subject::Container(_) => "container".to_owned(),
            Subject::Unknown => "unknown".to_owned(),
            Subject::Unattributed => "nobody".to_owned(),
            Subject::Buffer => "buffer".to_owned(),
        };
        *counts.entry(kind).or_insert(0) += 1;
    }
    counts
}

#[test]
fn entries_are_attributed_as_the_groups_say() {
    let counts = subjects("patched-cgpath");
    let pods = counts.keys().filter(|kind| kind.starts_with("pod")).count();
    assert_eq!(pods, 2, "{counts:?}");
    assert!(
        counts["host"] > 10 && !counts.contains_key("nobody"),
        "{counts:?}"
    );
    let counts = subjects("patched-dep-cgn");
    assert!(counts["container"] > 4 && counts["host"] > 10, "{counts:?}");
    let counts = subjects("6.12-mixed");
    assert_eq!(counts["buffer"], 4, "{counts:?}");
    // `ima-buf` as the template of files makes no buffers of them.
    let counts = subjects("6.12-template-buf");
    assert_eq!(counts.keys().collect::<Vec<_>>(), ["nobody"]);
    for (name, _) in recordings() {
        let folder = data().join(&name);
        if folder.join("binary_runtime_measurements").exists() && name.contains("exec") {
            assert_eq!(
                subjects(&name).keys().collect::<Vec<_>>(),
                ["nobody"],
                "{name}"
            );
        }
    }
}

/// A copy of a recording, to be spoilt.
fn copy(name: &str) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(data().join(name)).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
    }
    copy
}

/// What is missing of a recording, or is something else, is said; nothing is passed over in silence or waited for.
#[test]
fn folders_that_somebody_spoilt() {
    let whole = || copy("6.12-exec-ng");
    let of = |folder: &tempfile::TempDir| Recording::of_folder(folder.path());
    let found = |folder: &tempfile::TempDir| facts(&of(folder).unwrap()).unwrap();
    assert!(found(&whole()).explained());
    for (missing, says) in [
        ("ak.pub", "`ak.pub` is missing"),
        ("quote.sig", "`quote.sig` is missing"),
        ("quote.attest", "`quote.attest` is missing"),
        ("pcrs.json", "registers whose values were not recorded"),
    ] {
        let folder = whole();
        std::fs::remove_file(folder.path().join(missing)).unwrap();
        let facts = found(&folder);
        let refused = facts.quotes["quote"].refused.clone().unwrap();
        assert!(refused.contains(says), "{missing}: {refused}");
        assert!(!facts.explained(), "{missing}");
    }
    // Registers that were extended, and a log without entries.
    let folder = whole();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.display().to_string().contains("runtime_measurements") {
            std::fs::write(path, b"").unwrap();
        }
    }
    let facts = found(&folder);
    assert_eq!(facts.pcr_read_covers["sha256:10"].entries, None);
    assert!(!facts.explained());
    // The file of a bank that says something else where no hash covers it: the register, and what is a violation.
    for (at, bytes) in [(0, &[11][..]), (4, &[0; 32])] {
        let folder = whole();
        let path = folder.path().join("binary_runtime_measurements_sha256");
        let mut log = std::fs::read(&path).unwrap();
        log[at..at + bytes.len()].copy_from_slice(bytes);
        std::fs::write(path, log).unwrap();
        assert!(!found(&folder).explained(), "{at}");
    }
    // The file of a bank alone is a log, too.
    let folder = whole();
    for form in ["binary", "ascii"] {
        let path = folder.path().join(format!("{form}_runtime_measurements"));
        std::fs::remove_file(path).unwrap();
    }
    assert!(found(&folder).explained());
    // What would never end, and what compares nothing.
    for (file, place) in [
        ("binary_runtime_measurements", "/dev/zero"),
        ("pcrs.json", "/dev/zero"),
        ("nonce", "/dev/null"),
        ("quote.sig", "/proc/self"),
    ] {
        let folder = whole();
        let path = folder.path().join(file);
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(place, &path).unwrap();
        let error = of(&folder).unwrap_err().to_string();
        assert!(error.contains("is not a file"), "{error}");
    }
    let folder = whole();
    let pipe = folder.path().join("ascii_runtime_measurements");
    std::fs::remove_file(folder.path().join("binary_runtime_measurements")).unwrap();
    std::fs::remove_file(&pipe).unwrap();
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(
        of(&folder)
            .unwrap_err()
            .to_string()
            .contains("is not a file")
    );
    let folder = whole();
    std::fs::write(folder.path().join("nonce"), "\n").unwrap();
    assert!(of(&folder).unwrap_err().to_string().contains("a nonce"));
    // A name that a terminal would obey.
    let folder = whole();
    let log = folder.path().join("binary_runtime_measurements");
    let mut bytes = std::fs::read(&log).unwrap();
    let at = bytes.windows(6).position(|name| name == b"ima-ng").unwrap();
    bytes[at..at + 4].copy_from_slice(b"\x1b[2J");
    std::fs::write(&log, bytes).unwrap();
    let error = facts_error(&of(&folder).unwrap());
    assert!(
        error.contains("`\\u{1b}[2J") && !error.contains('\x1b'),
        "{error}"
    );
}

fn facts_error(recording: &Recording) -> String {
    locus_attestation::replay::facts(recording)
        .unwrap_err()
        .to_string()
}
