//! `locus check --certificate` and `locus verify-certificate`.

use std::path::Path;

use crate::certificate::{Certificate, PublicKey, SigningKey, Trust, Unverified, verify_at};
use crate::session::{Batch, FileSystem, Given, Snapshot, why};

use super::flags::VerifyArgs;
use super::{Exit, print};

/// Reads the key to sign with.
pub(super) fn signing_key(path: &Path) -> Result<SigningKey, Exit> {
    let shown = path.display();
    let text = std::fs::read(path).map_err(|error| {
        eprintln!("error: cannot read the key `{shown}`: {}", why(&error));
        Exit::Usage
    })?;
    SigningKey::from_pem(&text).map_err(|reason| {
        eprintln!("error: cannot sign with `{shown}`: {reason}");
        Exit::Usage
    })
}

/// Writes what a check came to.
pub(super) fn write(
    path: &Path,
    snapshot: &Snapshot,
    batch: &Batch,
    given: &Given,
    key: Option<&SigningKey>,
) -> Result<(), Exit> {
    let shown = path.display();
    let mut certificate = Certificate::of(snapshot, batch, given, &[], Path::new("."));
    certificate.leave_out(Path::new("."), path);
    let sealed = certificate.seal(key).map_err(|reason| {
        eprintln!("error: cannot sign `{shown}`: {reason}");
        Exit::Unanswered
    })?;
    std::fs::write(path, sealed).map_err(|error| {
        eprintln!("error: cannot write `{shown}`: {}", why(&error));
        Exit::Unanswered
    })
}

/// Verifies a certificate.
pub(crate) fn verify(args: &VerifyArgs) -> Exit {
    let shown = args.certificate.display();
    let bytes = match std::fs::read(&args.certificate) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("error: cannot read `{shown}`: {}", why(&error));
            return Exit::Unanswered;
        }
    };
    let key = match &args.key {
        None => None,
        Some(path) => {
            let text = std::fs::read(path).map_err(|error| why(&error));
            match text.and_then(|text| PublicKey::from_pem(&text)) {
                Ok(key) => Some(key),
                Err(reason) => {
                    let key = path.display();
                    eprintln!("error: cannot use the key `{key}`: {reason}");
                    return Exit::Usage;
                }
            }
        }
    };
    let own = Some(args.certificate.as_path());
    match verify_at(own, &bytes, key.as_ref(), &args.folder, &FileSystem) {
        Ok(found) => {
            let predicate = &found.statement.predicate;
            let verdict = if predicate.deployable {
                "deployable".to_owned()
            } else {
                let (findings, open) = (predicate.findings.len(), predicate.unchecked.len());
                format!("not deployable: {findings} found, {open} not checked")
            };
            let trust = match &found.trust {
                Trust::Signed(key) => format!("signed by {key}"),
                Trust::Unsigned => "not signed".to_owned(),
            };
            print(&format!(
                "{shown}: {verdict}; {trust}; files as they were: {}, proofs checked: {}\n",
                found.files, found.proofs
            ));
            Exit::Clean
        }
        Err(Unverified::Broken(reason)) => {
            print(&format!("{shown}: not a valid certificate: {reason}\n"));
            Exit::Findings
        }
        Err(Unverified::NoKey(id)) => {
            eprintln!(
                "error: `{shown}` is signed by the key {id}; give that public key with `--key`"
            );
            Exit::Unanswered
        }
        Err(Unverified::Differs(all)) => {
            for one in all {
                print(&format!("{shown}: {one}\n"));
            }
            Exit::Findings
        }
    }
}
