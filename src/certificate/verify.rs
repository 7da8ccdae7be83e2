//! Verification of certificates, without a solver.

use std::collections::BTreeSet;
use std::path::Path;

use locus_core::Severity;
use locus_frontends::loader::{Loader, PathKind};
use locus_invariants::library;
use sha2::{Digest as _, Sha256};

use super::envelope::{CHECKSUM, Envelope};
use super::key::PublicKey;
use super::statement::{
    Finding, Listing, PREDICATE, ProjectChecked, RuleChecked, STATEMENT, Statement, Subject,
    Verdict,
};
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
    if let Some(why) = contradiction(&statement) {
        return broken(&why);
    }
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
        statement,
    })
}

/// What a statement says that no check says: other rules than those of this program, a good end of a bad check.
fn contradiction(statement: &Statement) -> Option<String> {
    let predicate = &statement.predicate;
    let (own, tool) = (state::tool(), &predicate.tool);
    if tool.name != own.name || tool.version != own.version || tool.library != own.library {
        return Some(format!(
            "it was made by {} {} with other rules than those of this program; check again, or verify it with that one",
            tool.name, tool.version
        ));
    }
    for rule in state::digests(library::builtin().rules()) {
        let same = |other: &&RuleChecked| other.id == rule.id && other.language == rule.language;
        if let Some(stated) = predicate.rules.iter().find(same)
            && stated.sha256 != rule.sha256
        {
            return Some(format!("the text of {} is another one", rule.id));
        }
    }
    let mut subjects = statement.subject.windows(2);
    let mut rules = predicate.rules.windows(2);
    let in_order = subjects.all(|pair| match pair {
        [a, b] => a.name < b.name,
        _ => true,
    }) && rules.all(|pair| match pair {
        [a, b] => a < b,
        _ => true,
    });
    if !in_order {
        return Some("its files or rules are not in order".to_owned());
    }
    let digested = |subject: &Subject| subject.digest.keys().eq(["sha256"]);
    if !statement.subject.iter().all(digested) {
        return Some("a file has not one digest".to_owned());
    }
    // What a project was read from has a digest, or is said not to have been read.
    let read: BTreeSet<&str> = statement.subject.iter().map(|one| &*one.name).collect();
    let unread = || predicate.absent.iter().chain(&predicate.present);
    let mut files = predicate.projects.iter().flat_map(|project| &project.files);
    if !files.all(|file| read.contains(&**file) || unread().any(|path| path == file)) {
        return Some("it is about a file whose digest it does not have".to_owned());
    }
    let known: BTreeSet<&str> = predicate.rules.iter().map(|rule| &*rule.id).collect();
    let codes = |project: &ProjectChecked| {
        let mut asked = project
            .verdicts
            .iter()
            .filter(|(_, verdict)| matches!(verdict, Verdict::Holds | Verdict::Off));
        asked.all(|(id, _)| known.contains(id.as_str()))
    };
    if !predicate.projects.iter().all(codes) {
        return Some("it has a verdict about a rule whose text it does not name".to_owned());
    }
    let error = |finding: &Finding| finding.severity == Severity::Error.to_string();
    let bad = predicate.findings.iter().any(error) || !predicate.unchecked.is_empty();
    let projects = &predicate.projects;
    let good = !projects.is_empty() && projects.iter().all(|project| project.deployable);
    if predicate.deployable != (good && !bad) {
        return Some("it says otherwise than what it found".to_owned());
    }
    // What was found is in the verdict about its rule.
    let found = |finding: &Finding| {
        let mut verdicts = projects
            .iter()
            .filter_map(|project| project.verdicts.get(&finding.rule));
        verdicts.any(|verdict| !matches!(verdict, Verdict::Holds | Verdict::Off))
            || !known.contains(finding.rule.as_str())
    };
    let all = predicate.findings.iter().chain(&predicate.ignored);
    let all = all.chain(&predicate.unchecked);
    if !all.clone().all(found) {
        return Some("it says that a rule holds and what breaks it".to_owned());
    }
    // And a rule that is broken is so somewhere.
    let stated: BTreeSet<&str> = all.map(|finding| finding.rule.as_str()).collect();
    let shown = |project: &ProjectChecked| {
        let mut broken = project
            .verdicts
            .iter()
            .filter(|(_, verdict)| matches!(verdict, Verdict::Violable | Verdict::Violated));
        broken.all(|(id, _)| stated.contains(id.as_str()) || !known.contains(id.as_str()))
    };
    match projects.iter().all(shown) {
        true => None,
        false => Some("it says that a rule is broken and not where".to_owned()),
    }
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
