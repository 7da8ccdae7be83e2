//! Who an entry belongs to: the host, the container runtime, or a pod.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

use super::cgroup::{CgroupOwner, ContainerId, PodUid, owner_of};
use super::entry::Entry;

/// Whom an entry is measured for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// The host outside of the container runtime.
    Host,
    /// The container runtime and what it starts on the host.
    Runtime,
    /// A pod; without a container when the process was in the pod's own group.
    Pod {
        /// The pod.
        uid: PodUid,
        /// The container of the pod.
        container: Option<ContainerId>,
    },
    /// A container whose pod the template does not tell.
    Container(ContainerId),
    /// The template names no control group, or one that cannot be understood.
    Unknown,
}

/// How the container runtime is told from the rest of the host.
#[derive(Clone, Debug)]
pub struct RuntimeProfile {
    executables: HashSet<Box<[u8]>, RandomState>,
    units: HashSet<Box<[u8]>, RandomState>,
}

impl RuntimeProfile {
    /// Nothing is a runtime.
    pub fn empty() -> Self {
        RuntimeProfile {
            executables: HashSet::default(),
            units: HashSet::default(),
        }
    }

    /// Adds an executable: a path, or a bare name as a process without a file shows it.
    #[must_use]
    pub fn executable(mut self, path: impl AsRef<[u8]>) -> Self {
        self.executables.insert(path.as_ref().into());
        self
    }

    /// Adds a systemd unit, such as `containerd.service`.
    #[must_use]
    pub fn unit(mut self, unit: impl AsRef<[u8]>) -> Self {
        self.units.insert(unit.as_ref().into());
        self
    }

    fn runs(&self, dependencies: &[u8]) -> bool {
        dependencies
            .split(|byte| *byte == b':')
            .any(|executable| self.executables.contains(executable))
    }
}

impl Default for RuntimeProfile {
    /// containerd, CRI-O, docker and the low-level runtimes, where distributions put them.
    fn default() -> Self {
        let mut profile = RuntimeProfile::empty();
        let names = [
            "containerd",
            "containerd-shim",
            "containerd-shim-runc-v1",
            "containerd-shim-runc-v2",
            "runc",
            "crun",
            "crio",
            "conmon",
            "conmonrs",
            "dockerd",
            "cri-dockerd",
        ];
        for name in names {
            profile = profile.executable(name);
            for folder in [
                "/usr/bin",
                "/usr/sbin",
                "/usr/local/bin",
                "/usr/libexec/crio",
            ] {
                profile = profile.executable(format!("{folder}/{name}"));
            }
        }
        for unit in [
            "containerd.service",
            "crio.service",
            "docker.service",
            "cri-docker.service",
        ] {
            profile = profile.unit(unit);
        }
        profile
    }
}

/// Attributes entries; remembers what it has seen, as few control groups make many entries.
pub struct Attributor<'p, 'a> {
    profile: &'p RuntimeProfile,
    recent: Option<(Key<'a>, Subject)>,
    known: HashMap<Key<'a>, Subject, RandomState>,
}

/// Dependencies and control group.
type Key<'a> = (&'a [u8], &'a [u8]);

impl<'p, 'a> Attributor<'p, 'a> {
    /// With a way to tell the runtime.
    pub fn new(profile: &'p RuntimeProfile) -> Self {
        Attributor {
            profile,
            recent: None,
            known: HashMap::default(),
        }
    }

    /// Whom an entry is measured for.
    ///
    /// Only for verified entries that are no violation: the fields of a violation are bound to nothing.
    pub fn subject(&mut self, entry: &Entry<'a>) -> Subject {
        let Some(cgroup) = entry.cgroup() else {
            return Subject::Unknown;
        };
        let key = (entry.dependencies().unwrap_or(&[]), cgroup);
        let subject = match self.recent {
            Some((recent, subject)) if recent == key => subject,
            _ => {
                let subject = *self
                    .known
                    .entry(key)
                    .or_insert_with(|| by_group(self.profile, key));
                self.recent = Some((key, subject));
                subject
            }
        };
        if subject == Subject::Host && self.profile.executables.contains(entry.path()) {
            return Subject::Runtime;
        }
        subject
    }
}

fn by_group(profile: &RuntimeProfile, (dependencies, cgroup): Key<'_>) -> Subject {
    match owner_of(cgroup) {
        CgroupOwner::Pod { uid, container } => Subject::Pod { uid, container },
        CgroupOwner::Container(id) => Subject::Container(id),
        CgroupOwner::Monitor => Subject::Runtime,
        CgroupOwner::Unrecognised => Subject::Unknown,
        CgroupOwner::Host { unit } => {
            if profile.units.contains(unit) || profile.runs(dependencies) {
                Subject::Runtime
            } else {
                Subject::Host
            }
        }
    }
}
