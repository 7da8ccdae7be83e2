//! What no hash covers of an entry: the name of its template and its PCR.
//!
//! Whoever controls the agent writes both as they like.

use locus_attestation::evidence::Evidence;
use locus_attestation::ima::{Ledger, TEMPLATES};

use super::worker::{Attested, appraised, attested, attested_without_groups};

fn log_of(case: &Attested) -> Vec<u8> {
    Evidence::decode(&case.evidence).unwrap().log.to_vec()
}

/// What the verifier records of a log, if it takes it.
fn recorded(case: &Attested, log: &[u8]) -> Option<Ledger> {
    let evidence = Evidence::decode(&case.evidence).unwrap();
    let changed = Evidence::encode(evidence.claims_bytes, &evidence.quote, Some(log));
    appraised(case, &case.request, &changed).map(|done| done.delta)
}

/// Names of the table, their formats, the same fields in other orders, and names that only look alike.
fn names() -> Vec<String> {
    let made_up = [
        "cg-path|dep|d-ng|n-ng",
        "dep|n-ng|d-ng|cg-path",
        "n-ng|buf|d-ng|cg-path",
        "buf|buf|d-ng|n-ng",
        "n-ng|d-ng",
        "d-ng|buf|n-ng",
        "",
        "ima-cgpath ",
        "ima-cgpath\0",
        "ima-CGPATH",
        "ima-cgpat",
        "ima-cgpathh",
        "ima-sig ",
    ];
    let table = TEMPLATES.iter().flat_map(|(name, format)| [*name, *format]);
    table.chain(made_up).map(str::to_owned).collect()
}

/// The policy is the default one, and nothing was recorded of the worker.
#[test]
fn names_and_registers_of_entries() {
    let case = attested();
    let log = log_of(&case);
    assert!(recorded(&case, &relabelled(&log, &[], None, None)).is_some());
    for name in names() {
        for entries in [&[0][..], &[1], &[2], &[0, 1], &[1, 2], &[0, 2]] {
            let changed = relabelled(&log, entries, Some(&name), None);
            assert!(
                changed == log || recorded(&case, &changed).is_none(),
                "entries {entries:?} as `{name}`"
            );
        }
    }
    for pcr in (0..32).filter(|pcr| *pcr != 10).chain([266, u32::MAX]) {
        for entry in 0..3 {
            let changed = relabelled(&log, &[entry], None, Some(pcr));
            assert!(
                recorded(&case, &changed).is_none(),
                "entry {entry} in PCR {pcr}"
            );
        }
    }
}

/// Kernels do mix `ima-sig` with `ima-buf`: there the bytes alone say what an entry is.
#[test]
fn names_of_buffers_and_signatures() {
    let case = attested_without_groups();
    let log = log_of(&case);
    let honest = recorded(&case, &log).unwrap();
    let mut taken = 0;
    for name in names() {
        for entries in [&[0][..], &[1], &[2], &[3], &[1, 2], &[0, 1, 2, 3]] {
            let changed = relabelled(&log, entries, Some(&name), None);
            if let Some(found) = recorded(&case, &changed) {
                assert_eq!(found, honest, "entries {entries:?} as `{name}`");
                taken += u32::from(changed != log);
            }
        }
    }
    assert!(taken > 0, "an entry without a signature is read as either");
    // What is no signature is not read as one, also where it would be judged less.
    assert_eq!(
        recorded(&case, &relabelled(&log, &[1], Some("ima-sig"), None)),
        None
    );
}

/// A whole log under another name, consistently: it is refused, or means what it meant.
#[test]
fn the_name_of_a_whole_log() {
    for case in [attested(), attested_without_groups()] {
        let log = log_of(&case);
        let honest = recorded(&case, &log).unwrap();
        for name in names() {
            let changed = relabelled(&log, &[0, 1, 2, 3], Some(&name), None);
            if let Some(found) = recorded(&case, &changed) {
                assert_eq!(found, honest, "as `{name}`");
            }
        }
    }
}

/// What was recorded at the registration counts, and not what the log says of itself.
#[test]
fn names_that_were_not_recorded() {
    let mut case = attested();
    let log = log_of(&case);
    let record = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    for names in [
        &["ima-dep-cgn"][..],
        &["ima-ng", "ima-sig"],
        &["ima-buf"],
        &[],
    ] {
        case.worker.templates = record(names);
        assert_eq!(recorded(&case, &log), None, "{names:?}");
    }
    for names in [&["ima-cgpath"][..], &["ima-cgpath", "ima-sig"]] {
        case.worker.templates = record(names);
        assert!(recorded(&case, &log).is_some(), "{names:?}");
    }
}

/// A log in which some entries have another name of their template, or another PCR.
fn relabelled(log: &[u8], which: &[usize], name: Option<&str>, pcr: Option<u32>) -> Vec<u8> {
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let mut out = Vec::new();
    let mut rest = log;
    let mut entry = 0;
    while !rest.is_empty() {
        let name_end = 28 + number(&rest[24..]);
        let end = name_end + 4 + number(&rest[name_end..]);
        let chosen = which.contains(&entry);
        let old = u32::try_from(number(rest)).unwrap();
        let pcr = pcr.filter(|_| chosen).unwrap_or(old);
        out.extend_from_slice(&pcr.to_le_bytes());
        out.extend_from_slice(&rest[4..24]);
        let name = name
            .filter(|_| chosen)
            .map_or(&rest[28..name_end], str::as_bytes);
        out.extend_from_slice(&u32::try_from(name.len()).unwrap().to_le_bytes());
        out.extend_from_slice(name);
        out.extend_from_slice(&rest[name_end..end]);
        rest = &rest[end..];
        entry += 1;
    }
    out
}
