//! The conformance suite on real software TPMs, through libtss2.
#![cfg(feature = "tpm")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests fail as tests do: by panicking"
)]

#[allow(dead_code, reason = "the demonstration uses more of it")]
#[path = "../src/bin/locus_gate/demo/swtpm.rs"]
mod swtpm;

use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use locus_attestation::digest::HashAlg;
use locus_attestation::tpm::conformance::check;
use locus_attestation::tpm::device::quote;
use locus_attestation::tpm::esapi::EsapiTpm;
use locus_attestation::tpm::recorded::{RecordedTpm, Recorder};
use locus_attestation::tpm::{
    AkKind, EkKind, PcrSelection, Public, Tpm, TpmError, make_credential, verify_quote,
};
use swtpm::{Manufacturer, SoftwareTpm};

/// Without swtpm these tests fail, and say what to install.
fn software_tpm(folder: &tempfile::TempDir) -> SoftwareTpm {
    let manufacturer = Manufacturer::new(folder.path()).expect("a folder for the manufacturer");
    manufacturer.make("tpm").expect("a software TPM")
}

fn open(tpm: &SoftwareTpm) -> EsapiTpm {
    EsapiTpm::open(&tpm.transport()).expect("the software TPM answers")
}

#[test]
fn rsa_and_ecc_endorsement_keys_conform() {
    let folder = tempfile::tempdir().unwrap();
    let software = software_tpm(&folder);
    let mut tpm = open(&software);
    let properties = tpm.properties().unwrap();
    assert!(
        properties.software,
        "a simulator is recognised: {properties:?}"
    );
    assert_eq!(
        properties.endorsement_kinds,
        [EkKind::Rsa2048, EkKind::EccP384]
    );
    for (ek, ak) in [
        (EkKind::Rsa2048, AkKind::Rsa2048),
        (EkKind::Rsa2048, AkKind::EccP256),
        (EkKind::EccP384, AkKind::EccP256),
    ] {
        tpm = check(tpm, ek, ak, |old| {
            drop(old);
            Ok(open(&software))
        })
        .unwrap_or_else(|error| panic!("{ek:?} {ak:?}: {error}"));
    }
    assert_eq!(
        tpm.endorsement(EkKind::EccP256),
        Err(TpmError::NoCertificate(EkKind::EccP256))
    );
}

#[test]
fn a_recording_of_a_real_tpm_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let software = software_tpm(&folder);
    let recorder = Recorder::new(open(&software));
    let recorder = check(recorder, EkKind::Rsa2048, AkKind::Rsa2048, Ok).unwrap();
    let recording = recorder.finish();
    let replayed = RecordedTpm::new(recording);
    let left = check(replayed, EkKind::Rsa2048, AkKind::Rsa2048, Ok).unwrap();
    assert_eq!(left.left(), 0);
}

#[test]
fn a_reboot_is_counted_and_the_attestation_key_survives_it() {
    let folder = tempfile::tempdir().unwrap();
    let manufacturer = Manufacturer::new(folder.path()).unwrap();
    let state = manufacturer.prepare("tpm").unwrap();
    let software = SoftwareTpm::start(&state).unwrap();
    let selection = PcrSelection::of(HashAlg::Sha256, [10]);
    let mut tpm = open(&software);
    let ak = tpm.create_ak(EkKind::Rsa2048, AkKind::Rsa2048).unwrap();
    let public = ak.public_area().unwrap();
    let measured = HashAlg::Sha256.hash(&[b"a file"]);
    software.extend(10, &[measured]).unwrap();
    let before = quote(&mut tpm, &ak, &[1; 32], &selection).unwrap();
    let before = verify_quote(&public, &before, &[1; 32], &selection).unwrap();
    let zero = locus_attestation::digest::Digest::zero(HashAlg::Sha256);
    assert_eq!(
        before.pcrs.get(HashAlg::Sha256, 10),
        Some(zero.extend(measured.as_bytes()))
    );
    drop(tpm);
    drop(software);
    let software = SoftwareTpm::start(&state).unwrap();
    let mut tpm = open(&software);
    let after = quote(&mut tpm, &ak, &[2; 32], &selection).unwrap();
    let after = verify_quote(&public, &after, &[2; 32], &selection).unwrap();
    assert_eq!(after.pcrs.get(HashAlg::Sha256, 10), Some(zero));
    assert!(after.clock_info.reset_count > before.clock_info.reset_count);
    assert!(!after.clock_info.same_boot(&before.clock_info));
}

#[test]
fn a_key_of_one_tpm_is_foreign_to_another() {
    let folder = tempfile::tempdir().unwrap();
    let manufacturer = Manufacturer::new(folder.path()).unwrap();
    let (one, two) = (
        manufacturer.make("one").unwrap(),
        manufacturer.make("two").unwrap(),
    );
    let ak = open(&one)
        .create_ak(EkKind::Rsa2048, AkKind::Rsa2048)
        .unwrap();
    let selection = PcrSelection::of(HashAlg::Sha256, [0]);
    assert_eq!(
        open(&two).sign_quote(&ak, &[1; 32], &selection),
        Err(TpmError::ForeignKey)
    );
}

#[test]
fn killed_agents_do_not_fill_the_tpm() {
    let folder = tempfile::tempdir().unwrap();
    let software = software_tpm(&folder);
    let ak = open(&software)
        .create_ak(EkKind::Rsa2048, AkKind::Rsa2048)
        .unwrap();
    let selection = PcrSelection::of(HashAlg::Sha256, [0]);
    for _ in 0..6 {
        let mut tpm = open(&software);
        quote(&mut tpm, &ak, &[1; 32], &selection).unwrap();
        // Killed: its destructor never runs, and the key stays loaded.
        std::mem::forget(tpm);
    }
}

/// Every kind of endorsement key, certified or not: it is what its template says, and opens what was made for it, also
/// with an attestation key below another one.
#[test]
fn endorsement_keys_of_every_kind_open_credentials() {
    let folder = tempfile::tempdir().unwrap();
    let software = software_tpm(&folder);
    let mut tpm = open(&software);
    let stranger = tpm.create_ak(EkKind::Rsa2048, AkKind::EccP256).unwrap();
    for kind in EkKind::ALL {
        let public = tpm.endorsement_public(kind).unwrap();
        let public = Public::parse(&public).unwrap();
        for other in EkKind::ALL {
            assert_eq!(
                other.describes(&public),
                other == kind,
                "{other:?} {kind:?}"
            );
        }
        let own = tpm.create_ak(kind, AkKind::EccP256).unwrap();
        for ak in [&own, &stranger] {
            let name = ak.public_area().unwrap().name();
            let secret = [0x5e; 32];
            let random = &mut UnwrapErr(SysRng);
            let credential = make_credential(&public, &name, &secret, random).unwrap();
            let opened = tpm.activate_credential(ak, kind, &credential).unwrap();
            assert_eq!(*opened, secret, "{kind:?}");
            let wrong = make_credential(&public, b"other", &secret, random).unwrap();
            assert!(
                tpm.activate_credential(ak, kind, &wrong).is_err(),
                "{kind:?}"
            );
        }
    }
}
