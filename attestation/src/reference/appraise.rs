//! Measurements against reference values: every difference is reported, and none is forgiven.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};

use super::model::{DigestSet, FileSet, ReferenceValues, measured_path};
use super::packed::Packed;
use crate::digest::{Digest, DigestRef, HashAlg};
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
    /// A buffer that the policy does not accept.
    #[error("the kernel measured `{name}`, which the policy does not accept")]
    Buffer {
        /// Its name.
        name: String,
    },
    /// None of the expected IMA policies was loaded.
    #[error("none of the IMA policies that are expected was loaded")]
    NoImaPolicy,
    /// A file that needs a signature has none of a key that counts.
    #[error("`{path}` is not signed with a key that the policy accepts for it")]
    Unsigned {
        /// The file.
        path: String,
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

/// Digests one after the other: algorithm, bytes.
fn pack_digest(digest: DigestRef<'_>, to: &mut Vec<u8>) {
    to.extend_from_slice(&digest.alg().tpm_id().to_le_bytes());
    to.extend_from_slice(digest.as_bytes());
}

fn unpack_digests(mut bytes: &[u8]) -> impl Iterator<Item = (HashAlg, &[u8])> {
    std::iter::from_fn(move || {
        let (id, rest) = bytes.split_first_chunk::<2>()?;
        let alg = HashAlg::from_tpm_id(u16::from_le_bytes(*id))?;
        let (digest, rest) = rest.split_at_checked(alg.size())?;
        bytes = rest;
        Some((alg, digest))
    })
}

#[derive(Debug)]
struct Owner {
    name: String,
    /// The digests of each path.
    files: Packed,
}

impl Owner {
    fn new(name: String, files: &FileSet) -> Self {
        let mut paths: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        for (path, digests) in files {
            let path = measured_path(path.as_bytes());
            let known = paths.entry(path).or_default();
            for digest in digests {
                pack_digest(digest.into(), known);
            }
        }
        Owner {
            name,
            files: Packed::new(&Vec::from_iter(paths)),
        }
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
    /// Whose files have a content: numbers of images, or [`TRUSTED`].
    contents: Packed,
}

/// In the place of an image's number: a file of the host or of the runtime.
const TRUSTED: u64 = u64::MAX;

/// The owners of each content, in the order in which the contents are listed.
#[derive(Default)]
struct Contents {
    places: HashMap<Vec<u8>, usize>,
    entries: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Contents {
    fn add(&mut self, files: &FileSet, owner: u64) {
        for digest in files.values().flatten() {
            let mut key = Vec::new();
            pack_digest(digest.into(), &mut key);
            let next = self.entries.len();
            let place = *self.places.entry(key.clone()).or_insert(next);
            if place == next {
                self.entries.push((key, Vec::new()));
            }
            let Some((_, owners)) = self.entries.get_mut(place) else {
                continue;
            };
            if !owners.ends_with(&owner.to_le_bytes()) {
                owners.extend_from_slice(&owner.to_le_bytes());
            }
        }
    }
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
            contents: Packed::default(),
        };
        let mut contents = Contents::default();
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
            let number = u64::try_from(index).unwrap_or(TRUSTED - 1);
            contents.add(&image.files, number);
        }
        for (name, runtime) in &values.runtimes {
            list.runtimes.push(Owner::new(
                format!("the container runtime `{name}`"),
                &runtime.files,
            ));
            contents.add(&runtime.files, TRUSTED);
        }
        for (name, host) in &values.hosts {
            list.hosts
                .push(Owner::new(format!("the host `{name}`"), &host.files));
            contents.add(&host.files, TRUSTED);
        }
        list.contents = Packed::new(&contents.entries);
        list
    }

    /// Tells this list from every other that the process ever made.
    pub fn id(&self) -> u64 {
        self.id
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
    pub fn check_pod<'a, F: IntoIterator<Item = Measured<'a>>>(
        &self,
        images: &[ContainerImage],
        measured: impl IntoIterator<Item = (Option<ContainerId>, F)>,
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
                .filter(|image| container.is_some() && image.container == container)
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
                let Err(mismatch) = check_file(&owners, &file, "the images of the pod") else {
                    continue;
                };
                mismatches.push(match (mismatch, container) {
                    (Mismatch::UnknownFile { path, .. }, Some(container)) if unlisted => {
                        Mismatch::UnknownContainer { path, container }
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
                .any(|owner| owner.files.get(file.path).is_some())
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

    /// The files of a log that does not tell pods from the host (`ima-ng`) whose content is none of the host, of the
    /// runtime, of a sandbox or of these images.
    pub fn unexplained<'a>(
        &self,
        images: &BTreeSet<Digest>,
        measured: impl Iterator<Item = Measured<'a>>,
    ) -> impl Iterator<Item = Measured<'a>> {
        let mut allowed = self.sandboxes.clone();
        for image in images {
            allowed.extend(self.image_by_digest.get(image).into_iter().flatten());
        }
        allowed.sort_unstable();
        allowed.dedup();
        let mut key = Vec::new();
        measured.filter(move |file| {
            let Some(digest) = file.digest else {
                return true;
            };
            key.clear();
            pack_digest(digest, &mut key);
            let owners = self.contents.get(&key).unwrap_or_default();
            let (owners, _) = owners.as_chunks::<8>();
            !owners.iter().any(|owner| match u64::from_le_bytes(*owner) {
                TRUSTED => true,
                image => {
                    usize::try_from(image).is_ok_and(|image| allowed.binary_search(&image).is_ok())
                }
            })
        })
    }

    /// Whether any reference value has the content of a file.
    pub fn knows_content(&self, file: &Measured<'_>) -> bool {
        file.digest.is_some_and(|digest| {
            let mut key = Vec::new();
            pack_digest(digest, &mut key);
            self.contents.get(&key).is_some()
        })
    }

    /// Whether a file is one of these images, where it should be.
    pub fn is_of_image(&self, images: &[ContainerImage], file: &Measured<'_>) -> bool {
        let mut numbers = images
            .iter()
            .filter_map(|image| self.image_by_digest.get(&image.digest))
            .flatten();
        numbers.any(|number| {
            let owner = self.images.get(*number);
            owner.is_some_and(|owner| check_file(&[owner], file, "").is_ok())
        })
    }

    /// Whether all files are those of a sandbox (`pause`) or of the runtime that starts it.
    pub fn is_sandbox<'a>(&self, files: impl IntoIterator<Item = Measured<'a>>) -> bool {
        let sandboxes = self
            .sandboxes
            .iter()
            .filter_map(|number| self.images.get(*number));
        let owners: Vec<&Owner> = sandboxes.chain(&self.runtimes).collect();
        files
            .into_iter()
            .all(|file| check_file(&owners, &file, "").is_ok())
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
        let mut comparable = false;
        for (alg, digest) in unpack_digests(accepted) {
            if alg == found.alg() {
                if digest == found.as_bytes() {
                    return Ok(());
                }
                comparable = true;
            }
        }
        // A digest of another algorithm says nothing about this one.
        let owner = owner.name.clone();
        closest.get_or_insert_with(|| {
            if comparable {
                Mismatch::ChangedFile {
                    path: path(),
                    owner,
                    found: found.to_digest(),
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
