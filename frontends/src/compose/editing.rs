//! What can be written in a Compose file, for editors.

use super::schema::{Keys, at_path};
use crate::language::editing::CAPABILITIES;
use crate::language::{Follows, NamePart, NameSort, NameUse, Names, Place, Suggestion};
use crate::yaml::Node;

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
            ["security_opt", ""] => &[
                "apparmor:unconfined",
                "label:disable",
                "no-new-privileges:true",
                "seccomp:unconfined",
            ],
            ["platform"] | ["build", "platforms", ""] => &[
                "linux/amd64",
                "linux/arm64",
                "linux/arm/v7",
                "windows/amd64",
            ],
            ["healthcheck", "test", ""] => &["CMD", "CMD-SHELL", "NONE"],
            ["build", "network"] => &["default", "host", "none"],
            ["build", "context"] | ["build"] => &["."],
            ["stop_signal"] => &[
                "SIGHUP", "SIGINT", "SIGKILL", "SIGQUIT", "SIGTERM", "SIGUSR1",
            ],
            ["cgroup"] => &["host", "private"],
            ["isolation"] => &["default", "hyperv", "process"],
            ["env_file", "", "format"] => &["raw"],
            ["ports", "", "protocol"] => &["tcp", "udp"],
            ["ports", "", "mode"] => &["host", "ingress"],
            ["volumes", "", "bind", "propagation"] => &[
                "private", "rprivate", "rshared", "rslave", "shared", "slave",
            ],
            ["volumes", "", "bind", "selinux"] => &["Z", "z"],
            ["volumes", "", "consistency"] => &["cached", "consistent", "delegated"],
            ["develop", "watch", "", "action"] => {
                &["rebuild", "restart", "sync", "sync+exec", "sync+restart"]
            }
            ["depends_on", _, "condition"] => &[
                "service_completed_successfully",
                "service_healthy",
                "service_started",
            ],
            ["deploy", "update_config" | "rollback_config", "order"] => {
                &["start-first", "stop-first"]
            }
            ["deploy", "update_config", "failure_action"] => &["continue", "pause", "rollback"],
            ["deploy", "rollback_config", "failure_action"] => &["continue", "pause"],
            ["deploy", "placement", "constraints", ""] => {
                &["node.role == manager", "node.role == worker"]
            }
            _ => &[],
        },
        ["networks", _, "driver"] => &["bridge", "host", "ipvlan", "macvlan", "none", "overlay"],
        ["volumes", _, "driver"] => &["local"],
        _ => &[],
    }
}

/// The other services of the project.
fn services<'a>(place: &Place<'a>, own: &'a str) -> impl Iterator<Item = &'a str> {
    let roots = std::iter::once(place.root).chain(place.others.iter().copied());
    let sections = roots.filter_map(|root| root.get("services")?.as_mapping());
    let names = sections.flat_map(|section| section.named());
    names
        .map(|(name, _)| &**name)
        .filter(move |name| *name != own)
}

/// The profiles of the other services.
fn profiles(place: &Place<'_>, own: &str) -> Vec<String> {
    let roots = std::iter::once(place.root).chain(place.others.iter().copied());
    let sections = roots.filter_map(|root| root.get("services")?.as_mapping());
    let services = sections.flat_map(|section| section.named());
    let others = services.filter(|(name, _)| &***name != own);
    let listed = others.filter_map(|(_, entry)| entry.value.get("profiles")?.as_sequence());
    let names = listed.flatten().filter_map(Node::as_str);
    names.map(str::to_owned).collect()
}

/// What there is to know about a key or value that is written.
pub(super) fn about(place: &Place<'_>, written: &str) -> Option<Suggestion> {
    let mut all = suggest(place).into_iter();
    if let Some(found) = all.find(|one| one.text == written) {
        return Some(found);
    }
    // Of a map that takes any key, what its values are.
    let map = place.path.iter().rfind(|key| !key.is_empty());
    let map = map.filter(|_| place.is_key)?;
    let mut path = place.path.to_vec();
    path.push(written);
    let known = at_path(&path)?;
    Some(Suggestion {
        text: written.to_owned(),
        detail: format!("a key of `{map}`: {}", known.types),
        ..Suggestion::default()
    })
}

/// What can be written at a place of a Compose file.
pub(super) fn suggest(place: &Place<'_>) -> Vec<Suggestion> {
    let Some(Keys { keys, choices, .. }) = at_path(place.path) else {
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
        if let ["services", own, "network_mode" | "ipc" | "pid"]
        | ["services", own, "build", "additional_contexts", _] = place.path
        {
            words.extend(services(place, own).map(|name| format!("service:{name}")));
        }
        if let ["services" | "jobs", own, "profiles", ""] = place.path {
            words.extend(profiles(place, own));
        }
        words.sort_unstable();
        words.dedup();
        let words = words.into_iter().map(|text| Suggestion {
            is_text: !matches!(text.as_str(), "true" | "false"),
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
