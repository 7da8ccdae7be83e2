//! The bodies of the fuzz targets, over their seeds and over random changes of these: what fuzzing looks
//! for is looked for a little in every test run, and the targets keep compiling.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking, in its helpers too"
)]

#[path = "../fuzz/bodies/boot.rs"]
mod boot;
#[path = "../fuzz/bodies/certificate.rs"]
mod certificate;
#[path = "../fuzz/bodies/evidence.rs"]
mod evidence;
#[path = "../fuzz/bodies/ima.rs"]
mod ima;
mod mutate;
#[path = "../fuzz/bodies/tpm.rs"]
mod tpm;

use std::fs;
use std::path::Path;

use mutate::mutate;

/// How many changes there are of each seed: as many as the time of a test allows.
const CHANGES: u64 = 10_000;

/// Runs a body over everything in its folder of seeds, and over changes of changes of it.
fn over_seeds(target: &str, run: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/seeds")
        .join(target);
    let mut seeds = 0;
    for file in fs::read_dir(folder).unwrap() {
        let seed = fs::read(file.unwrap().path()).unwrap();
        seeds += 1;
        run(&seed);
        let mut changed = seed.clone();
        for number in 0..CHANGES {
            // Now and then from the start again: most changes lead away from what can be read.
            if number % 4 == 0 {
                changed.clone_from(&seed);
            }
            changed = mutate(&changed, number);
            run(&changed);
        }
    }
    assert!(seeds > 0, "{target} has no seeds");
}

#[test]
fn structures_of_a_tpm() {
    over_seeds("tpm", tpm::run);
}

#[test]
fn event_logs_of_firmware() {
    over_seeds("boot", boot::run);
}

#[test]
fn measurement_logs() {
    over_seeds("ima", ima::run);
}

#[test]
fn evidence_and_messages() {
    over_seeds("evidence", evidence::run);
}

#[test]
fn certificates_and_revocation_lists() {
    over_seeds("certificate", certificate::run);
}
