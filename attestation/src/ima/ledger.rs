//! What each pod, the runtime and the host were measured to run since the worker's boot.
//!
//! The cursor is shared by all pods of a worker: entries of one pod are read while another is
//! attested, and must still count when its own turn comes.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;

use super::attribute::Subject;
use super::cgroup::{ContainerId, PodUid};
use super::entry::Entry;
use super::files::{Files, LedgerError, Measured, get, put, put_length, take_measured};
use crate::digest::{Digest, DigestRef};

/// What was measured; repetitions do not show.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    subjects: HashMap<Subject, usize, RandomState>,
    files: Vec<Files>,
    /// The subjects of each pod, so that a pod is found without looking at all others.
    pods: HashMap<PodUid, Vec<Subject>, RandomState>,
    recent: Option<(Subject, usize)>,
    /// Contents that a key vouched for: the digest of the content and the name of the key.
    signed: BTreeSet<(Digest, Digest)>,
}

impl PartialEq for Ledger {
    fn eq(&self, other: &Self) -> bool {
        self.sorted() == other.sorted() && self.signed == other.signed
    }
}

impl Ledger {
    /// With nothing in it.
    pub fn new() -> Self {
        Ledger::default()
    }

    /// Records an entry for a subject.
    pub fn record(&mut self, subject: Subject, entry: &Entry<'_>) {
        let Some(files) = self.files_for(subject) else {
            return;
        };
        let path = entry.path();
        match entry.sha256() {
            // From the log as it stands.
            Some(digest) => files.push_sha256(digest, path),
            None => {
                let digest = entry.file_digest().and_then(|digest| digest.known());
                let digest = digest.as_ref().map(DigestRef::from);
                files.push(Measured { path, digest });
            }
        }
    }

    /// Adds one file of a subject.
    pub fn insert(&mut self, subject: Subject, measured: Measured<'_>) {
        if let Some(files) = self.files_for(subject) {
            files.push(measured);
        }
    }

    /// Records that a key vouched for a content, wherever it is found.
    pub fn record_signature(&mut self, content: Digest, key: Digest) {
        self.signed.insert((content, key));
    }

    /// The names of the keys that vouched for a content.
    pub fn signers(&self, content: Digest) -> impl Iterator<Item = &Digest> {
        let least = Digest::zero(crate::digest::HashAlg::Sha1);
        let from = self.signed.range((content, least)..);
        from.take_while(move |(of, _)| *of == content)
            .map(|(_, key)| key)
    }

    fn files_for(&mut self, subject: Subject) -> Option<&mut Files> {
        let index = match self.recent {
            Some((recent, index)) if recent == subject => index,
            _ => {
                let index = self.index(subject);
                self.recent = Some((subject, index));
                index
            }
        };
        self.files.get_mut(index)
    }

    /// Where the files of a subject are; a place is made for a new one.
    fn index(&mut self, subject: Subject) -> usize {
        let next = self.files.len();
        let index = *self.subjects.entry(subject).or_insert(next);
        if index == next {
            self.files.push(Files::default());
            if let Subject::Pod { uid, .. } = subject {
                self.pods.entry(uid).or_default().push(subject);
            }
        }
        index
    }

    /// Takes over everything in another ledger; costs no more than what is taken over.
    pub fn absorb(&mut self, other: &Ledger) {
        self.signed.extend(&other.signed);
        for (subject, index) in &other.subjects {
            let Some(added) = other.files.get(*index) else {
                continue;
            };
            let index = self.index(*subject);
            if let Some(files) = self.files.get_mut(index) {
                files.absorb(added);
            }
        }
    }

    /// Everything, ordered and without repetitions.
    pub fn iter(&self) -> impl Iterator<Item = (Subject, Measured<'_>)> {
        self.sorted().into_iter()
    }

    fn sorted(&self) -> Vec<(Subject, Measured<'_>)> {
        let mut all: Vec<_> = self
            .subjects
            .iter()
            .flat_map(|(subject, index)| {
                let files = self.files.get(*index).into_iter().flat_map(Files::iter);
                files.map(|measured| (*subject, measured))
            })
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn files_of(&self, subject: Subject) -> Option<&Files> {
        let index = self.subjects.get(&subject)?;
        self.files.get(*index)
    }

    /// What one subject ran, in the order of the log.
    pub fn of(&self, subject: Subject) -> impl Iterator<Item = Measured<'_>> {
        self.of_after(subject, 0)
    }

    /// What one subject ran after it had come to a [`size`](Self::size).
    pub fn of_after(&self, subject: Subject, size: usize) -> impl Iterator<Item = Measured<'_>> {
        let files = self.files_of(subject);
        files.into_iter().flat_map(move |files| files.after(size))
    }

    /// How much was recorded for a subject; only grows.
    pub fn size(&self, subject: Subject) -> usize {
        self.files_of(subject).map_or(0, Files::size)
    }

    /// The subjects whose files are a pod's.
    ///
    /// `containers` are the identifiers that the cluster gives for the pod: where the template names
    /// the container but not the pod (`ima-dep-cgn`), they connect the two.
    pub fn subjects_of_pod(&self, uid: PodUid, containers: &[ContainerId]) -> Vec<Subject> {
        let own = self.pods.get(&uid).into_iter().flatten().copied();
        let named = containers.iter().map(|id| Subject::Container(*id));
        own.chain(named.filter(|subject| self.subjects.contains_key(subject)))
            .collect()
    }

    /// Everybody of whom something was recorded.
    pub fn subjects(&self) -> impl Iterator<Item = Subject> {
        self.subjects.keys().copied()
    }

    /// Whether anything was recorded for somebody in particular.
    pub fn attributes(&self) -> bool {
        let nobody = |subject: &Subject| matches!(subject, Subject::Unattributed | Subject::Buffer);
        self.subjects.keys().any(|subject| !nobody(subject))
    }

    /// Forgets a pod that is gone, and its containers where they are named without it, so that the ledger of a long-lived
    /// worker stays small. What stays keeps its
    /// order and [`size`](Self::size).
    pub fn forget_pod(&mut self, uid: PodUid, containers: &[ContainerId]) {
        self.forget(|subject| match subject {
            Subject::Pod { uid: of, .. } => of == uid,
            Subject::Container(id) => containers.contains(&id),
            _ => false,
        });
    }

    /// Forgets some subjects.
    pub fn forget(&mut self, is_gone: impl Fn(Subject) -> bool) {
        let mut kept = Ledger::new();
        kept.signed = std::mem::take(&mut self.signed);
        for (subject, index) in &self.subjects {
            let gone = is_gone(*subject);
            if let Some(files) = self.files.get(*index).filter(|_| !gone) {
                let index = kept.index(*subject);
                if let Some(place) = kept.files.get_mut(index) {
                    place.absorb(files);
                }
            }
        }
        *self = kept;
    }

    /// How many bytes it takes when it is kept, about.
    pub fn weight(&self) -> u64 {
        let files: u64 = self.files.iter().map(|files| files.size() as u64).sum();
        files + self.weight_of_subjects() + self.signed.len() as u64 * SIGNATURE
    }

    /// How many bytes its subjects take beside their files, about.
    pub fn weight_of_subjects(&self) -> u64 {
        self.files.len() as u64 * SUBJECT
    }

    /// How many bytes of memory it takes, about.
    pub fn footprint(&self) -> usize {
        let files: usize = self.files.iter().map(Files::footprint).sum();
        let keyed = size_of::<(Subject, usize)>() + size_of::<(PodUid, Vec<Subject>)>();
        // Tables are filled to seven eighths at most, and the list of a pod's subjects begins with room for four.
        let subject = 2 * keyed + 4 * size_of::<Subject>();
        let signed = 2 * size_of::<(Digest, Digest)>();
        files + self.files.len() * subject + self.signed.len() * signed
    }

    /// How many different files there are, of all subjects together.
    pub fn len(&self) -> usize {
        self.sorted().len()
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.files.iter().all(|files| files.size() == 0)
    }

    /// As bytes, to be kept with the cursor.
    pub fn to_bytes(&self) -> Vec<u8> {
        let size: usize = self.files.iter().map(|files| files.size() + 128).sum();
        let mut bytes = Vec::with_capacity(size + 1);
        bytes.push(VERSION);
        for (subject, index) in &self.subjects {
            let (tag, uid, container) = match subject {
                Subject::Host => (0, None, None),
                Subject::Runtime => (1, None, None),
                Subject::Unknown => (2, None, None),
                Subject::Unattributed => (6, None, None),
                Subject::Buffer => (7, None, None),
                Subject::Container(id) => (3, None, Some(id)),
                Subject::Pod {
                    uid,
                    container: None,
                } => (4, Some(uid), None),
                Subject::Pod {
                    uid,
                    container: Some(id),
                } => (5, Some(uid), Some(id)),
            };
            bytes.push(tag);
            if let Some(uid) = uid {
                put(&mut bytes, uid.to_string().as_bytes());
            }
            if let Some(id) = container {
                put(&mut bytes, id.to_string().as_bytes());
            }
            let files = self.files.get(*index);
            put_length(&mut bytes, files.map_or(0, Files::size));
            for chunk in files.into_iter().flat_map(Files::chunks) {
                bytes.extend_from_slice(chunk);
            }
        }
        for (content, key) in &self.signed {
            bytes.push(SIGNED);
            put(&mut bytes, content.to_string().as_bytes());
            put(&mut bytes, key.to_string().as_bytes());
        }
        bytes
    }

    /// From the bytes that [`to_bytes`](Self::to_bytes) gave.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LedgerError> {
        let (version, mut rest) = bytes.split_first().ok_or(LedgerError)?;
        if *version != VERSION {
            return Err(LedgerError);
        }
        let mut ledger = Ledger::new();
        while let Some((tag, after)) = rest.split_first() {
            rest = after;
            if *tag == SIGNED {
                let content = get_digest(&mut rest)?;
                ledger.record_signature(content, get_digest(&mut rest)?);
                continue;
            }
            let subject = match tag {
                0 => Subject::Host,
                1 => Subject::Runtime,
                2 => Subject::Unknown,
                6 => Subject::Unattributed,
                7 => Subject::Buffer,
                3 => Subject::Container(ContainerId::parse(get(&mut rest)?).ok_or(LedgerError)?),
                4 | 5 => {
                    let uid = PodUid::parse(get(&mut rest)?).ok_or(LedgerError)?;
                    let container = match tag {
                        4 => None,
                        _ => Some(ContainerId::parse(get(&mut rest)?).ok_or(LedgerError)?),
                    };
                    Subject::Pod { uid, container }
                }
                _ => return Err(LedgerError),
            };
            let mut files = get(&mut rest)?;
            while !files.is_empty() {
                let measured = take_measured(&mut files)?;
                ledger.insert(subject, measured);
            }
        }
        Ok(ledger)
    }
}

const VERSION: u8 = 3;
/// In the place of a subject: a content and the key that vouched for it.
const SIGNED: u8 = 8;

fn get_digest(rest: &mut &[u8]) -> Result<Digest, LedgerError> {
    let text = std::str::from_utf8(get(rest)?).map_err(|_| LedgerError)?;
    text.parse().map_err(|_| LedgerError)
}

/// What a subject takes beside its files, in memory.
const SUBJECT: u64 = 512;
/// What it takes to know that a key vouched for a content.
const SIGNATURE: u64 = 160;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::HashAlg;

    const UID: &str = "a00d22c4-3bfb-41d5-abad-493937e6ce50";
    const STATIC: &str = "0123456789abcdef0123456789abcdef";

    fn sample() -> Ledger {
        let uid = UID.parse().unwrap();
        let id: ContainerId = "ab".repeat(32).parse().unwrap();
        let digest = HashAlg::Sha256.hash(&[b"content"]);
        let digest = Some(DigestRef::from(&digest));
        let mut ledger = Ledger::new();
        let subjects = [
            Subject::Host,
            Subject::Runtime,
            Subject::Unknown,
            Subject::Container(id),
            Subject::Pod {
                uid,
                container: None,
            },
            Subject::Pod {
                uid,
                container: Some(id),
            },
            Subject::Pod {
                uid: STATIC.parse().unwrap(),
                container: Some(id),
            },
        ];
        let key = HashAlg::Sha256.hash(&[b"key"]);
        ledger.record_signature(HashAlg::Sha256.hash(&[b"content"]), key);
        for subject in subjects {
            for digest in [digest, None] {
                for path in [&b"/bin/a"[..], b"/bin/\xff not text", b""] {
                    ledger.insert(subject, Measured { path, digest });
                    ledger.insert(subject, Measured { path, digest });
                }
            }
        }
        ledger
    }

    #[test]
    fn repetitions_do_not_show() {
        assert_eq!(sample().len(), 42);
        let mut twice = sample();
        twice.absorb(&sample());
        assert_eq!(twice, sample());
    }

    #[test]
    fn survives_being_stored() {
        let ledger = sample();
        let bytes = ledger.to_bytes();
        assert_eq!(Ledger::from_bytes(&bytes).unwrap(), ledger);
        for cut in 0..bytes.len() {
            // Either refused, or a whole number of subjects and signatures; never a panic.
            if let Ok(shorter) = Ledger::from_bytes(&bytes[..cut]) {
                let records = |ledger: &Ledger| ledger.len() + ledger.signed.len();
                assert!(records(&shorter) < records(&ledger));
            }
        }
        assert!(Ledger::from_bytes(&[9]).is_err());
        assert!(Ledger::from_bytes(&[VERSION, 77]).is_err());
    }

    #[test]
    fn collects_a_pod_from_all_its_containers() {
        let ledger = sample();
        let uid = UID.parse().unwrap();
        let id: ContainerId = "ab".repeat(32).parse().unwrap();
        assert_eq!(ledger.subjects_of_pod(uid, &[]).len(), 2);
        let with_container = ledger.subjects_of_pod(uid, &[id]);
        let files = with_container
            .iter()
            .map(|subject| ledger.of(*subject).count());
        assert_eq!(files.sum::<usize>(), 36, "each was recorded twice");
    }

    #[test]
    fn forgets_only_the_pod_that_is_gone() {
        let mut ledger = sample();
        let before = ledger.len();
        ledger.forget_pod(UID.parse().unwrap(), &[]);
        assert_eq!(ledger.len(), before - 12);
        let gone = UID.parse().unwrap();
        assert!(ledger.subjects_of_pod(gone, &[]).is_empty());
        let stays = STATIC.parse().unwrap();
        assert_eq!(ledger.subjects_of_pod(stays, &[]).len(), 1);
        // A container that is named without its pod goes with it.
        let id: ContainerId = "ab".repeat(32).parse().unwrap();
        ledger.forget_pod(gone, &[id]);
        assert_eq!(ledger.len(), before - 18);
    }

    #[test]
    fn what_is_new_is_read_alone() {
        let mut ledger = sample();
        let before = ledger.size(Subject::Host);
        assert_eq!(ledger.of_after(Subject::Host, before).count(), 0);
        let mut more = Ledger::new();
        let measured = Measured {
            path: b"/new",
            digest: None,
        };
        more.insert(Subject::Host, measured);
        ledger.absorb(&more);
        let new: Vec<_> = ledger.of_after(Subject::Host, before).collect();
        assert_eq!(new, [measured]);
    }

    #[test]
    fn who_vouched_for_a_content_is_kept_and_said_of_no_other() {
        let hash = |text: &str| HashAlg::Sha256.hash(&[text.as_bytes()]);
        let mut ledger = sample();
        ledger.record_signature(hash("content"), hash("second key"));
        ledger.record_signature(hash("other"), hash("third key"));
        ledger.forget_pod(UID.parse().unwrap(), &[]);
        let mut whole = Ledger::new();
        whole.absorb(&Ledger::from_bytes(&ledger.to_bytes()).unwrap());
        let mut keys = vec![hash("key"), hash("second key")];
        keys.sort();
        let found: Vec<Digest> = whole.signers(hash("content")).copied().collect();
        assert_eq!(found, keys);
        assert_eq!(whole.signers(hash("other")).count(), 1);
        assert_eq!(whole.signers(hash("nothing")).count(), 0);
        let sha512 = HashAlg::Sha512.hash(&[b"content"]);
        assert_eq!(whole.signers(sha512).count(), 0);
    }
}
