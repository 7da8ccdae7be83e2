//! Verification of certificates, without a solver.

use std::path::Path;

use locus_frontends::loader::{Loader, PathKind};
use sha2::{Digest as _, Sha256};

use super::envelope::{CHECKSUM, Envelope};
use super::key::PublicKey;
use super::statement::{Listing, PREDICATE, STATEMENT, Statement};
use super::{drat, sha256, state};
use crate::session::searched;

/// Who vouches for a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The key that was given signed it.
    Signed(String),
    /// Nobody signed it: it was not changed by accident, and that is all.
    Unsigned,
}

/// A certificate that is what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// What is stated.
    pub statement: Statement,
    /// Who vouches for it.
    pub trust: Trust,
    /// How many files are as they were.
    pub files: usize,
    /// How many proofs were checked.
    pub proofs: usize,
    /// Whether the rules that come with this program are those it was made with.
    pub same_rules: bool,
}

/// Why a certificate does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unverified {
    /// It is not a certificate, or was changed; why, in words for the user.
    Broken(String),
    /// It is signed, and no key was given.
    NoKey(String),
    /// It is sound, but not about the files as they are; each difference, in words for the user.
    Differs(Vec<String>),
}

/// Verifies a certificate: that it is as it was made and signed by the key, that the files are as they were, looked for in
/// a folder, and that its proofs are right.
///
/// # Errors
/// Why it does not count.
pub fn verify(
    bytes: &[u8],
    key: Option<&PublicKey>,
    folder: &Path,
    files: &dyn Loader,
) -> Result<Verified, Unverified> {
    verify_at(None, bytes, key, folder, files)
}

/// The same for a certificate that is a file, which may lie in a folder that was listed.
///
/// # Errors
/// Why it does not count.
pub fn verify_at(
    path: Option<&Path>,
    bytes: &[u8],
    key: Option<&PublicKey>,
    folder: &Path,
    files: &dyn Loader,
) -> Result<Verified, Unverified> {
    let opened = Envelope::open(bytes).map_err(Unverified::Broken)?;
    let broken = |why: &str| Err(Unverified::Broken(why.to_owned()));
    let statement = opened.statement;
    if statement.kind != STATEMENT || statement.predicate_type != PREDICATE {
        return broken("it is a statement about something else");
    }
    let mut signed = None;
    let mut sums = 0;
    for (id, signature) in &opened.signatures {
        if id == CHECKSUM {
            sums += 1;
            if *signature != Sha256::digest(&opened.message).to_vec() {
                return broken("its content was changed");
            }
        } else if signed.replace((id, signature)).is_some() {
            return broken("it has more than one signature");
        }
    }
    if sums != 1 {
        return broken("its checksum is missing");
    }
    let signer = statement.predicate.signer.as_ref();
    if signer != signed.map(|(id, _)| id) {
        return broken("it is not signed by the key that it names");
    }
    let trust = match (signed, key) {
        (None, None) => Trust::Unsigned,
        (None, Some(_)) => return broken("it is not signed"),
        (Some((id, _)), None) => return Err(Unverified::NoKey(id.clone())),
        (Some((id, signature)), Some(key)) => {
            if *id != key.id() {
                return broken("it is signed with another key");
            }
            if !key.verifies(&opened.message, signature) {
                return broken("its signature is wrong");
            }
            Trust::Signed(id.clone())
        }
    };
    let different = differences(&statement, path, folder, files);
    if !different.is_empty() {
        return Err(Unverified::Differs(different));
    }
    for evidence in &statement.predicate.evidence {
        if let Err(why) = drat::check(&evidence.cnf, &evidence.drat) {
            let rule = &evidence.rule;
            return Err(Unverified::Broken(format!(
                "the proof for {rule} is wrong: {why}"
            )));
        }
    }
    Ok(Verified {
        trust,
        files: statement.subject.len(),
        proofs: statement.predicate.evidence.len(),
        same_rules: statement.predicate.tool.library == state::tool().library,
        statement,
    })
}

/// What is not as it was.
fn differences(
    statement: &Statement,
    own: Option<&Path>,
    folder: &Path,
    files: &dyn Loader,
) -> Vec<String> {
    let place = |name: &str| match name {
        "-" => "-".to_owned(),
        name => folder.join(name).display().to_string(),
    };
    let mut different = Vec::new();
    for subject in &statement.subject {
        let name = &subject.name;
        match files.load(&place(name)) {
            Err(error) => different.push(format!("cannot read `{name}`: {}", error.reason)),
            Ok(bytes) => {
                if subject.digest.get("sha256") != Some(&sha256(&bytes)) {
                    different.push(format!("`{name}` was changed"));
                }
            }
        }
    }
    for name in &statement.predicate.absent {
        if files.kind(&place(name)) != Some(PathKind::Missing) {
            different.push(format!("`{name}` was not there when the check was made"));
        }
    }
    for name in &statement.predicate.present {
        if files.kind(&place(name)) == Some(PathKind::Missing) {
            different.push(format!("`{name}` is not there any more"));
        }
    }
    for listing in &statement.predicate.listings {
        let name = &listing.folder;
        let Some(mut now) = files.list(&place(name)) else {
            different.push(format!("cannot list `{name}`"));
            continue;
        };
        let inside = folder.join(name);
        now.retain(|file| own.is_none_or(|own| !state::is_same(&inside.join(file), own)));
        compare(listing, &now, &mut different);
    }
    for listing in &statement.predicate.searched {
        let now = searched(&folder.join(&listing.folder));
        let now = now
            .iter()
            .filter(|file| own.is_none_or(|own| !state::is_same(Path::new(file), own)));
        let now: Vec<String> = now.map(|file| state::relative(folder, file)).collect();
        compare(listing, &now, &mut different);
    }
    different
}

/// How the files of a folder differ.
fn compare(listing: &Listing, now: &[String], different: &mut Vec<String>) {
    let name = match listing.folder.as_str() {
        "" => ".",
        name => name,
    };
    let added = now.iter().filter(|file| !listing.files.contains(file));
    let removed = listing.files.iter().filter(|file| !now.contains(file));
    different.extend(added.map(|file| format!("`{file}` was added to `{name}`")));
    different.extend(removed.map(|file| format!("`{file}` was removed from `{name}`")));
}
