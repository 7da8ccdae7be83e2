//! The policy itself.

use std::collections::BTreeMap;
use std::time::Duration;

use super::keys::{EndorsementPolicy, KeyLists};
use super::paths::Patterns;
use crate::boot::BootPolicy;
use crate::digest::{Digest, HashAlg};
use crate::ima::{Keyring, RuntimeProfile, Templates};

/// The policies of all workers.
#[derive(Clone, Debug, Default)]
pub struct PolicySet {
    /// For whoever is in no group.
    pub defaults: WorkerPolicy,
    /// The groups, in the order of the file.
    pub groups: Vec<Group>,
    /// Whose keys are known, and which are refused.
    pub keys: KeyLists,
}

/// Some workers and what holds for them.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Patterns of the names of its workers.
    pub workers: Patterns,
    /// What holds for them.
    pub policy: WorkerPolicy,
}

impl PolicySet {
    /// What holds for a worker: the first group that names it, or the defaults.
    pub fn of(&self, worker: &str) -> &WorkerPolicy {
        let group = self
            .groups
            .iter()
            .find(|group| group.workers.matches(worker.as_bytes()));
        group.map_or(&self.defaults, |group| &group.policy)
    }

    /// Changes every policy in it.
    pub fn each(&mut self, change: impl Fn(&mut WorkerPolicy)) {
        change(&mut self.defaults);
        for group in &mut self.groups {
            change(&mut group.policy);
        }
    }
}

/// Whether something counts or is only told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It decides about trust.
    Enforced,
    /// It does not, and results say so.
    Reported,
}

/// What is insisted on for a worker, whatever the worker says.
#[derive(Clone, Debug)]
pub struct WorkerPolicy {
    /// The banks whose registers are quoted; the log must explain all of them.
    pub banks: Vec<HashAlg>,
    /// The registers that measurements may be in; the log must explain all of them.
    pub pcrs: Vec<u8>,
    /// The names of the templates that the log may use; none for those that it used when it was registered.
    pub templates: Option<Vec<String>>,
    /// The fields of each template: the table, and what the operator adds to it.
    pub formats: Templates,
    /// How the container runtime is told from the host.
    pub profile: RuntimeProfile,
    /// Whether a violation (a file changed while it was measured) fails the worker.
    pub violations: Mode,
    /// Whether what the host itself runs must be in the reference values, too.
    pub host: Mode,
    /// Whether a kernel may be started by another (kexec) without a reset of the TPM.
    pub kexec: bool,
    /// The digests of the IMA policies that may be loaded; not looked for if empty.
    pub ima_policy: Vec<Digest>,
    /// Which events of the firmware's log are accepted; none for a boot aggregate of the reference values.
    pub boot: Option<BootPolicy>,
    /// Files of the host that need no reference value.
    pub exclude: Patterns,
    /// Which files are accepted for their signatures; the first that names a file counts.
    pub signed: Vec<SignedFiles>,
    /// The buffers that may be measured.
    pub buffers: Buffers,
    /// How long to wait before something unexplained counts.
    pub grace: GraceTimes,
    /// How much a worker may send.
    pub limits: Limits,
    /// Which endorsement keys it has to show.
    pub endorsement: EndorsementPolicy,
}

impl Default for WorkerPolicy {
    fn default() -> Self {
        WorkerPolicy {
            banks: vec![HashAlg::Sha256],
            pcrs: vec![crate::tpm::pcr::IMA_PCR],
            templates: None,
            formats: Templates::default(),
            profile: RuntimeProfile::default(),
            violations: Mode::Enforced,
            host: Mode::Enforced,
            kexec: false,
            ima_policy: Vec::new(),
            boot: None,
            exclude: Patterns::default(),
            signed: Vec::new(),
            buffers: Buffers::default(),
            grace: GraceTimes::default(),
            limits: Limits::default(),
            endorsement: EndorsementPolicy::default(),
        }
    }
}

impl WorkerPolicy {
    /// The bank that reference values of the boot are for: the first.
    pub fn bank(&self) -> HashAlg {
        self.banks.first().copied().unwrap_or(HashAlg::Sha256)
    }

    /// The templates that a worker may be registered with: those the operator names, or else all that are known.
    pub fn known_templates(&self) -> Templates {
        match &self.templates {
            Some(names) => self.formats.restricted_to(names),
            None => self.formats.clone(),
        }
    }

    /// The templates that a log may use: those the operator names, or else those that the worker's log
    /// used when it was registered and the one of the kernel's own buffers.
    ///
    /// Of a worker that an earlier version registered they are not recorded, and all that are known are read.
    pub fn accepted_templates(&self, recorded: Option<&[String]>) -> Templates {
        match (&self.templates, recorded) {
            (None, Some(recorded)) => {
                let mut names = recorded.to_vec();
                names.push("ima-buf".to_owned());
                self.formats.restricted_to(&names)
            }
            _ => self.known_templates(),
        }
    }

    /// A digest of everything that decides how an entry is read, whose it is, and whether the host needs to explain it.
    pub fn terms(&self) -> Digest {
        /// Changes when entries are read in another way than before.
        const READER: u32 = 1;
        let signed = self.signed.iter().map(|rule| {
            let keys: Vec<_> = rule.keys.names().collect();
            (rule.files.texts(), keys, rule.required)
        });
        let judged = (self.host, self.exclude.texts(), &self.ima_policy);
        let text = format!(
            "{READER} {:?} {:?} {:?} {judged:?}",
            self.formats,
            self.profile.listed(),
            signed.collect::<Vec<_>>(),
        );
        HashAlg::Sha256.hash(&[text.as_bytes()])
    }

    /// What holds for the signature of a file.
    pub fn signed(&self, path: &[u8]) -> Option<&SignedFiles> {
        self.signed.iter().find(|rule| rule.files.matches(path))
    }

    /// Whether a file of the host needs nothing: it is left out, and no signature is required of it.
    pub fn leaves_out(&self, path: &[u8]) -> bool {
        self.exclude.matches(path) && !self.signed(path).is_some_and(|rule| rule.required)
    }

    /// The registers of measurements, as logs number them.
    pub fn registers(&self) -> Vec<u32> {
        self.pcrs.iter().copied().map(u32::from).collect()
    }
}

/// Files of the host and of the runtime, and whose signatures vouch for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedFiles {
    /// Patterns of their paths.
    pub files: Patterns,
    /// The keys.
    pub keys: Keyring,
    /// Whether a reference value is not enough.
    pub required: bool,
}

/// The buffers that a kernel may measure (keys, critical data, the command line of kexec), by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffers {
    /// The accepted digests of each; none for any content.
    pub accepted: BTreeMap<String, Option<Vec<Digest>>>,
}

impl Default for Buffers {
    /// What a kernel measures of itself while it starts. Keys that are added later and the command line of
    /// kexec have to be named.
    fn default() -> Self {
        let names = [
            "kernel_version",
            ".builtin_trusted_keys",
            ".secondary_trusted_keys",
            ".machine",
            ".platform",
            ".blacklist",
        ];
        Buffers {
            accepted: names.map(|name| (name.to_owned(), None)).into(),
        }
    }
}

impl Buffers {
    /// Whether a buffer of that name may have a content.
    pub fn accepts(&self, name: &[u8], digest: Option<Digest>) -> bool {
        let known = std::str::from_utf8(name)
            .ok()
            .and_then(|name| self.accepted.get(name));
        match known {
            None => false,
            Some(None) => true,
            Some(Some(digests)) => digest.is_some_and(|digest| digests.contains(&digest)),
        }
    }
}

/// How long to wait before something unexplained counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraceTimes {
    /// For a pod, or for a file of an unknown pod, to be declared; and for a deleted pod to end.
    pub pod: Duration,
    /// For a container that started to be described.
    pub container: Duration,
}

impl Default for GraceTimes {
    fn default() -> Self {
        GraceTimes {
            pod: Duration::from_secs(300),
            container: Duration::from_secs(300),
        }
    }
}

/// How much a worker may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of evidence in one answer.
    pub evidence: u64,
    /// Bytes of what is kept about the worker.
    pub ledger: u64,
    /// Bytes of a path.
    pub path: u64,
    /// How many quotes in a row may leave out entries that were shown before.
    pub behind: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            evidence: 64 << 20,
            ledger: 64 << 20,
            path: 4096,
            behind: 1,
        }
    }
}
