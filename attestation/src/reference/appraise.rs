//! Measurements against reference values: every difference is reported, and none is forgiven.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::fast::RandomState;

use super::model::{DigestSet, FileSet, ReferenceValues, measured_path};
use crate::digest::{Digest, HashAlg};
use crate::ima::{ContainerId, Measured};

/// A measurement that no reference value explains.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// The operating system is not in the list.
    #[error("there are no reference values for the operating system `{0}`")]
    UnknownOs(String),
    /// The boot is not an accepted one.
    #[error("the boot aggregate `{found}` is none of those accepted for `{os}`")]
    Boot {
        /// The operating system.
        os: String,
        /// What was booted.
        found: Digest,
    },
    /// The image is not in the list.
    #[error("the image `{0}` is not in the reference values")]
    UnknownImage(String),
    /// The file is not in the list.
    #[error("`{path}` is not among the files of {owner}")]
    UnknownFile {
        /// The file.
        path: String,
        /// Whose files were looked at.
        owner: String,
    },
    /// The file is in the list, with another content.
    #[error("`{path}` of {owner} has the digest `{found}`, which is not accepted")]
    ChangedFile {
        /// The file.
        path: String,
        /// Whose file it is.
        owner: String,
        /// Its digest.
        found: Digest,
    },
    /// The file is in the list, but not with a digest of the algorithm that was measured.
    #[error("there is no {alg} digest for `{path}` of {owner}")]
    NoAlgorithm {
        /// The file.
        path: String,
        /// Whose file it is.
        owner: String,
        /// The algorithm.
        alg: HashAlg,
    },
    /// The measurement has no digest that could be compared.
    #[error("`{path}` was measured with an algorithm that cannot be compared")]
    NoDigest {
        /// The file.
        path: String,
    },
    /// A container that the cluster does not know of, and that is no sandbox.
    #[error("`{path}` was run in the container {container}, which the pod does not have")]
    UnknownContainer {
        /// The file.
        path: String,
        /// The container.
        container: ContainerId,
    },
    /// No container runtime was measured at all.
    #[error("no container runtime of the reference values was measured")]
    NoRuntime,
}

/// A container of a pod and its image; init, sidecar and ephemeral containers are containers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerImage {
    /// The identifier of the container, when it runs or ran.
    pub container: Option<ContainerId>,
    /// The name of the image, for messages.
    pub name: String,
    /// The digest that the cluster gives for the image.
    pub digest: Digest,
}

type Files = HashMap<Box<[u8]>, Few<Digest>, RandomState>;

/// One value, kept where it is looked up, and seldom more: going elsewhere for it takes longer than
/// hashing what is looked up.
#[derive(Debug)]
struct Few<T> {
    first: T,
    more: Vec<T>,
}

impl<T: PartialEq> Few<T> {
    fn new(first: T) -> Self {
        Few {
            first,
            more: Vec::new(),
        }
    }

    fn add(&mut self, value: T) {
        if !self.iter().any(|known| *known == value) {
            self.more.push(value);
        }
    }

    fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.first).chain(&self.more)
    }
}

/// Adds a value under a key.
fn add<K: Eq + Hash, T: PartialEq>(map: &mut HashMap<K, Few<T>, RandomState>, key: K, value: T) {
    match map.entry(key) {
        Entry::Occupied(mut known) => known.get_mut().add(value),
        Entry::Vacant(new) => {
            new.insert(Few::new(value));
        }
    }
}

#[derive(Debug)]
struct Owner {
    name: String,
    files: Files,
}

impl Owner {
    fn new(name: String, files: &FileSet) -> Self {
        let mut map = Files::default();
        for (path, digests) in files {
            for digest in digests {
                add(&mut map, measured_path(path.as_bytes()).into(), *digest);
            }
        }
        Owner { name, files: map }
    }
}

/// The reference values, made ready to be asked.
#[derive(Debug)]
pub struct Whitelist {
    id: u64,
    os: BTreeMap<String, DigestSet>,
    images: Vec<Owner>,
    image_by_digest: BTreeMap<Digest, Vec<usize>>,
    sandboxes: Vec<usize>,
    runtimes: Vec<Owner>,
    hosts: Vec<Owner>,
    contents: HashMap<Digest, Few<Content>, RandomState>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Trusted,
    Image(usize),
}

impl Whitelist {
    /// From the document.
    pub fn new(values: &ReferenceValues) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut list = Whitelist {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            os: BTreeMap::new(),
            images: Vec::new(),
            image_by_digest: BTreeMap::new(),
            sandboxes: Vec::new(),
            runtimes: Vec::new(),
            hosts: Vec::new(),
            contents: HashMap::default(),
        };
        for (name, os) in &values.os {
            list.os.insert(name.clone(), os.boot_aggregates.clone());
        }
        for (name, image) in &values.images {
            let index = list.images.len();
            list.images
                .push(Owner::new(format!("the image `{name}`"), &image.files));
            for digest in &image.digests {
                list.image_by_digest.entry(*digest).or_default().push(index);
            }
            if image.sandbox {
                list.sandboxes.push(index);
            }
            list.index_contents(&image.files, Content::Image(index));
        }
        for (name, runtime) in &values.runtimes {
            list.runtimes.push(Owner::new(
                format!("the container runtime `{name}`"),
                &runtime.files,
            ));
            list.index_contents(&runtime.files, Content::Trusted);
        }
        for (name, host) in &values.hosts {
            list.hosts
                .push(Owner::new(format!("the host `{name}`"), &host.files));
            list.index_contents(&host.files, Content::Trusted);
        }
        list
    }

    /// Tells this list from every other that the process ever made.
    pub fn id(&self) -> u64 {
        self.id
    }

    fn index_contents(&mut self, files: &FileSet, content: Content) {
        for digest in files.values().flatten() {
            add(&mut self.contents, *digest, content);
        }
    }

    /// Whether a boot of an operating system is accepted.
    pub fn check_boot(&self, os: &str, found: Digest) -> Result<(), Mismatch> {
        let accepted = self
            .os
            .get(os)
            .ok_or_else(|| Mismatch::UnknownOs(os.to_owned()))?;
        if accepted.contains(&found) {
            Ok(())
        } else {
            Err(Mismatch::Boot {
                os: os.to_owned(),
                found,
            })
        }
    }

    /// Whether an image is known by this digest.
    pub fn knows_image(&self, digest: &Digest) -> bool {
        self.image_by_digest.contains_key(digest)
    }

    /// Checks what a pod ran, container by container, each against its own image.
    ///
    /// Measurements outside of any container are the pod's as a whole. A container that the cluster
    /// does not list may only be the sandbox; but where the cluster could not give all identifiers,
    /// any image of the pod will do.
    pub fn check_pod(
        &self,
        images: &[ContainerImage],
        measured: &BTreeMap<Option<ContainerId>, Vec<Measured<'_>>>,
    ) -> Vec<Mismatch> {
        let mut mismatches = Vec::new();
        let mut all = Vec::new();
        for image in images {
            match self.image_by_digest.get(&image.digest) {
                Some(owners) => all.extend(owners),
                None => mismatches.push(Mismatch::UnknownImage(format!(
                    "{}@{}",
                    image.name, image.digest
                ))),
            }
        }
        let unidentified = images.iter().any(|image| image.container.is_none());
        for (container, files) in measured {
            let listed: Vec<&ContainerImage> = images
                .iter()
                .filter(|image| container.is_some() && image.container == *container)
                .collect();
            let unlisted = listed.is_empty() && container.is_some() && !unidentified;
            let mut owners: Vec<usize> = if unlisted {
                self.sandboxes.clone()
            } else if listed.is_empty() {
                all.iter().chain(&self.sandboxes).copied().collect()
            } else {
                listed
                    .iter()
                    .filter_map(|image| self.image_by_digest.get(&image.digest))
                    .flatten()
                    .copied()
                    .collect()
            };
            owners.sort_unstable();
            owners.dedup();
            let owners: Vec<&Owner> = owners
                .into_iter()
                .filter_map(|index| self.images.get(index))
                .chain(&self.runtimes)
                .collect();
            for file in files {
                let Err(mismatch) = check_file(&owners, file, "the images of the pod") else {
                    continue;
                };
                mismatches.push(match (mismatch, container) {
                    (Mismatch::UnknownFile { path, .. }, Some(container)) if unlisted => {
                        Mismatch::UnknownContainer {
                            path,
                            container: *container,
                        }
                    }
                    (mismatch, _) => mismatch,
                });
            }
        }
        mismatches
    }

    /// Checks what the container runtime of a worker ran, its dependencies included.
    pub fn check_runtime(&self, measured: &[Measured<'_>]) -> Vec<Mismatch> {
        let owners: Vec<&Owner> = self.runtimes.iter().collect();
        let mut mismatches: Vec<Mismatch> = measured
            .iter()
            .filter_map(|file| check_file(&owners, file, "the container runtime").err())
            .collect();
        // Nothing measured is nothing proven.
        let known = measured.iter().any(|file| {
            owners
                .iter()
                .any(|owner| owner.files.contains_key(file.path))
        });
        if !known {
            mismatches.push(Mismatch::NoRuntime);
        }
        mismatches
    }

    /// Checks what the host ran, where its files are in the reference values.
    pub fn check_host(&self, measured: &[Measured<'_>]) -> Vec<Mismatch> {
        let owners: Vec<&Owner> = self.hosts.iter().chain(&self.runtimes).collect();
        measured
            .iter()
            .filter(|file| file.path != crate::ima::BOOT_AGGREGATE)
            .filter_map(|file| check_file(&owners, file, "the host").err())
            .collect()
    }

    /// Checks the entries of a log that does not tell pods from the host (`ima-ng`): each content must
    /// be that of a file of the host, of the runtime, or of one of these images.
    pub fn check_by_content(
        &self,
        images: &[ContainerImage],
        measured: &[Measured<'_>],
    ) -> Vec<Mismatch> {
        let mut mismatches = Vec::new();
        let mut allowed = self.sandboxes.clone();
        for image in images {
            match self.image_by_digest.get(&image.digest) {
                Some(owners) => allowed.extend(owners),
                None => mismatches.push(Mismatch::UnknownImage(format!(
                    "{}@{}",
                    image.name, image.digest
                ))),
            }
        }
        for file in measured {
            if file.path == crate::ima::BOOT_AGGREGATE {
                continue;
            }
            let path = || String::from_utf8_lossy(file.path).into_owned();
            let Some(digest) = file.digest else {
                mismatches.push(Mismatch::NoDigest { path: path() });
                continue;
            };
            let explained = self.contents.get(&digest).is_some_and(|contents| {
                contents.iter().any(|content| match content {
                    Content::Trusted => true,
                    Content::Image(index) => allowed.contains(index),
                })
            });
            if !explained {
                mismatches.push(Mismatch::UnknownFile {
                    path: path(),
                    owner: "the host, the container runtime or an allowed image".to_owned(),
                });
            }
        }
        mismatches
    }
}

/// A file must be one of an owner, with one of its digests.
fn check_file(owners: &[&Owner], file: &Measured<'_>, whose: &str) -> Result<(), Mismatch> {
    let path = || String::from_utf8_lossy(file.path).into_owned();
    let Some(found) = file.digest else {
        return Err(Mismatch::NoDigest { path: path() });
    };
    let mut closest: Option<Mismatch> = None;
    for owner in owners {
        let Some(accepted) = owner.files.get(file.path) else {
            continue;
        };
        if accepted.iter().any(|digest| *digest == found) {
            return Ok(());
        }
        // A digest of another algorithm says nothing about this one.
        let comparable = accepted.iter().any(|digest| digest.alg() == found.alg());
        let owner = owner.name.clone();
        closest.get_or_insert_with(|| {
            if comparable {
                Mismatch::ChangedFile {
                    path: path(),
                    owner,
                    found,
                }
            } else {
                Mismatch::NoAlgorithm {
                    path: path(),
                    owner,
                    alg: found.alg(),
                }
            }
        });
    }
    Err(closest.unwrap_or_else(|| Mismatch::UnknownFile {
        path: path(),
        owner: whose.to_owned(),
    }))
}

#[cfg(test)]
#[path = "appraise_tests.rs"]
mod tests;
