//! What can be written in a Compose file, for editors.

use super::schema::{Keys, at_path};
use crate::language::{Follows, NamePart, NameSort, NameUse, Names, Place, Suggestion};

/// A place where names are used.
const fn used(path: &'static [&'static str], part: NamePart) -> NameUse {
    NameUse { path, part }
}

/// The names of a project. What uses them is a service or a job.
pub(super) static NAMES: &[Names] = &[
    Names {
        what: "service",
        sort: NameSort::Location,
        body: "\n    image: scratch",
        defined: &["services", "*"],
        used: &[
            used(&["*", "*", "depends_on"], NamePart::Each),
            used(&["*", "*", "links"], NamePart::BeforeColon),
            used(&["*", "*", "network_mode"], NamePart::After("service:")),
            used(&["*", "*", "ipc"], NamePart::After("service:")),
            used(&["*", "*", "pid"], NamePart::After("service:")),
            used(&["*", "*", "volumes_from"], NamePart::BeforeColon),
            // A map names the service by a key of its own.
            used(&["*", "*", "extends"], NamePart::First),
            used(&["*", "*", "extends", "service"], NamePart::Each),
            used(
                &["*", "*", "build", "additional_contexts", "*"],
                NamePart::After("service:"),
            ),
        ],
    },
    Names {
        what: "network",
        sort: NameSort::Location,
        body: " {}",
        defined: &["networks", "*"],
        used: &[used(&["*", "*", "networks"], NamePart::Each)],
    },
    Names {
        what: "volume",
        sort: NameSort::Location,
        body: " {}",
        defined: &["volumes", "*"],
        used: &[
            used(&["*", "*", "volumes"], NamePart::BeforeColon),
            used(&["*", "*", "volumes", "*", "source"], NamePart::BeforeColon),
        ],
    },
    Names {
        what: "secret",
        sort: NameSort::Location,
        body: "\n    file: ./secret",
        defined: &["secrets", "*"],
        used: &[
            used(&["*", "*", "secrets"], NamePart::Each),
            used(&["*", "*", "secrets", "*", "source"], NamePart::Each),
            used(&["*", "*", "build", "secrets"], NamePart::Each),
        ],
    },
    Names {
        what: "config",
        sort: NameSort::Location,
        body: "\n    file: ./config",
        defined: &["configs", "*"],
        used: &[
            used(&["*", "*", "configs"], NamePart::Each),
            used(&["*", "*", "configs", "*", "source"], NamePart::Each),
        ],
    },
    Names {
        what: "model",
        sort: NameSort::Location,
        body: "\n    model: ai/smollm2",
        defined: &["models", "*"],
        used: &[used(&["*", "*", "models"], NamePart::Each)],
    },
    Names {
        what: "job",
        sort: NameSort::Location,
        body: "\n    image: scratch",
        defined: &["jobs", "*"],
        used: &[],
    },
];

/// The words that can stand at a place for which the schema takes any text.
fn words(path: &[&str]) -> &'static [&'static str] {
    match path {
        ["services" | "jobs", _, rest @ ..] => match rest {
            ["restart"] => &["no", "always", "on-failure", "unless-stopped"],
            ["network_mode"] => &["bridge", "host", "none"],
            ["ipc"] => &["host", "none", "private", "shareable"],
            ["pid" | "uts" | "userns_mode"] => &["host"],
            ["pull_policy"] => &["always", "build", "daily", "missing", "never", "weekly"],
            ["deploy", "mode"] => &["global", "global-job", "replicated", "replicated-job"],
            ["deploy", "endpoint_mode"] => &["dnsrr", "vip"],
            ["deploy", "restart_policy", "condition"] => &["any", "none", "on-failure"],
            ["logging", "driver"] => &[
                "awslogs",
                "fluentd",
                "gcplogs",
                "gelf",
                "journald",
                "json-file",
                "local",
                "none",
                "splunk",
                "syslog",
            ],
            ["cap_add" | "cap_drop", ""] => CAPABILITIES,
            _ => &[],
        },
        ["networks", _, "driver"] => &["bridge", "host", "ipvlan", "macvlan", "none", "overlay"],
        ["volumes", _, "driver"] => &["local"],
        _ => &[],
    }
}

/// The capabilities of Linux, as Docker calls them.
const CAPABILITIES: &[&str] = &[
    "ALL",
    "AUDIT_CONTROL",
    "AUDIT_READ",
    "AUDIT_WRITE",
    "BLOCK_SUSPEND",
    "BPF",
    "CHECKPOINT_RESTORE",
    "CHOWN",
    "DAC_OVERRIDE",
    "DAC_READ_SEARCH",
    "FOWNER",
    "FSETID",
    "IPC_LOCK",
    "IPC_OWNER",
    "KILL",
    "LEASE",
    "LINUX_IMMUTABLE",
    "MAC_ADMIN",
    "MAC_OVERRIDE",
    "MKNOD",
    "NET_ADMIN",
    "NET_BIND_SERVICE",
    "NET_BROADCAST",
    "NET_RAW",
    "PERFMON",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYSLOG",
    "SYS_ADMIN",
    "SYS_BOOT",
    "SYS_CHROOT",
    "SYS_MODULE",
    "SYS_NICE",
    "SYS_PACCT",
    "SYS_PTRACE",
    "SYS_RAWIO",
    "SYS_RESOURCE",
    "SYS_TIME",
    "SYS_TTY_CONFIG",
    "WAKE_ALARM",
];

/// The other services of the project.
fn services<'a>(place: &Place<'a>, own: &'a str) -> impl Iterator<Item = &'a str> {
    let roots = std::iter::once(place.root).chain(place.others.iter().copied());
    let sections = roots.filter_map(|root| root.get("services")?.as_mapping());
    let names = sections.flat_map(|section| section.named());
    names
        .map(|(name, _)| &**name)
        .filter(move |name| *name != own)
}

/// What can be written at a place of a Compose file.
pub(super) fn suggest(place: &Place<'_>) -> Vec<Suggestion> {
    let Some(Keys { keys, choices }) = at_path(place.path) else {
        return Vec::new();
    };
    let mut all: Vec<Suggestion> = if place.is_key {
        let keys = keys.into_iter().map(|key| Suggestion {
            text: key.name.to_owned(),
            detail: key.types,
            required: key.required,
            follows: match (key.is_map, key.is_list) {
                (_, true) => Follows::List,
                (true, _) => Follows::Map,
                _ => Follows::Value,
            },
            ..Suggestion::default()
        });
        keys.collect()
    } else {
        let words = words(place.path).iter().chain(&choices);
        let mut words: Vec<String> = words.map(|&word| word.to_owned()).collect();
        if let ["services", own, "network_mode" | "ipc" | "pid"] = place.path {
            words.extend(services(place, own).map(|name| format!("service:{name}")));
        }
        words.sort_unstable();
        words.dedup();
        let words = words.into_iter().map(|text| Suggestion {
            text,
            detail: "allowed value".to_owned(),
            ..Suggestion::default()
        });
        words.collect()
    };
    all.sort_by(|a, b| {
        b.required
            .cmp(&a.required)
            .then_with(|| a.text.cmp(&b.text))
    });
    all
}
