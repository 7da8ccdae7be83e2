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
    /// A process in a control group that cannot be understood: neither the host's nor a pod's.
    Unknown,
    /// A process of which nothing is known: the template names no control group.
    Unattributed,
    /// The kernel itself: keys, critical data, the command line of kexec.
    Buffer,
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

    /// Everything in it, always in the same order.
    pub fn listed(&self) -> Vec<(&'static str, &[u8])> {
        let executables = self.executables.iter().map(|name| ("executable", &**name));
        let units = self.units.iter().map(|name| ("unit", &**name));
        let mut all: Vec<_> = executables.chain(units).collect();
        all.sort_unstable();
        all
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
    recent: Option<(&'a [u8], Group)>,
    groups: HashMap<&'a [u8], Group, RandomState>,
    chains: HashMap<&'a [u8], bool, RandomState>,
}

/// What a control group says by itself.
#[derive(Clone, Copy)]
enum Group {
    /// Whatever the process, this is whom it runs for.
    Certain(Subject),
    /// The host's, unless the process or the file is the runtime's.
    Host,
}

impl<'p, 'a> Attributor<'p, 'a> {
    /// With a way to tell the runtime.
    pub fn new(profile: &'p RuntimeProfile) -> Self {
        Attributor {
            profile,
            recent: None,
            groups: HashMap::default(),
            chains: HashMap::default(),
        }
    }

    /// Whom an entry is measured for.
    ///
    /// Only for verified entries that are no violation: the fields of a violation are bound to nothing.
    pub fn subject(&mut self, entry: &Entry<'a>) -> Subject {
        let Some(cgroup) = entry.cgroup() else {
            return if entry.is_buffer() {
                Subject::Buffer
            } else {
                Subject::Unattributed
            };
        };
        let group = match self.recent {
            Some((recent, group)) if recent == cgroup => group,
            _ => {
                let profile = self.profile;
                let group = *self
                    .groups
                    .entry(cgroup)
                    .or_insert_with(|| group_of(profile, cgroup));
                self.recent = Some((cgroup, group));
                group
            }
        };
        let Group::Certain(subject) = group else {
            return self.on_host(entry);
        };
        subject
    }

    fn on_host(&mut self, entry: &Entry<'a>) -> Subject {
        let profile = self.profile;
        let dependencies = entry.dependencies().unwrap_or(&[]);
        let started_by_runtime = *self
            .chains
            .entry(dependencies)
            .or_insert_with(|| profile.runs(dependencies));
        if started_by_runtime || profile.executables.contains(entry.path()) {
            Subject::Runtime
        } else {
            Subject::Host
        }
    }
}

fn group_of(profile: &RuntimeProfile, cgroup: &[u8]) -> Group {
    Group::Certain(match owner_of(cgroup) {
        CgroupOwner::Pod { uid, container } => Subject::Pod { uid, container },
        CgroupOwner::Container(id) => Subject::Container(id),
        CgroupOwner::Monitor => Subject::Runtime,
        CgroupOwner::Unrecognised => Subject::Unknown,
        CgroupOwner::Host { unit } if profile.units.contains(unit) => Subject::Runtime,
        CgroupOwner::Host { .. } => return Group::Host,
    })
}
