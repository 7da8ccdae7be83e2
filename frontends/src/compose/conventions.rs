//! What Compose insists on beyond the schema: texts that must be numbers or truth values, keys that exclude each other or
//! need each other.
//!
//! The schema lets a text stand wherever a variable may. Once variables are replaced, Compose turns such a text into what
//! the key means, and refuses the project when it cannot.

use std::sync::Arc;

use locus_core::{Diagnostic, Span};

use super::environment::Usages;
use super::tree::{Kind, Pair, Tree};
use super::units;

/// What a text must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cast {
    Truth,
    Whole,
    Real,
    /// A number as in C: octal after a `0`.
    Mode,
    /// A number of bytes, with or without a unit; any whole number, as `-1` is no limit.
    Size,
    /// A whole number, or `all`.
    Count,
    /// A text that is not empty.
    Filled,
}

impl Cast {
    /// What is wrong with a text, and what to write.
    fn fault(self, text: &str) -> Option<(&'static str, &'static str)> {
        match self {
            Cast::Truth => {
                let words = ["true", "false", "y", "yes", "on", "n", "no", "off"];
                let known = words.iter().any(|word| word.eq_ignore_ascii_case(text));
                (!known).then_some((
                    "it is neither `true` nor `false`",
                    "write `true` or `false`",
                ))
            }
            Cast::Whole => {
                let known = text.parse::<i64>().is_ok();
                (!known).then_some(("it is not a whole number", "write a whole number"))
            }
            Cast::Real => {
                let known = text.parse::<f64>().is_ok();
                (!known).then_some(("it is not a number", "write a number such as `0.5`"))
            }
            Cast::Mode => {
                let octal = text.strip_prefix("0o").or_else(|| text.strip_prefix('0'));
                let number = match octal {
                    Some("") => Ok(0),
                    Some(digits) => u32::from_str_radix(digits, 8),
                    None => text.parse(),
                };
                number
                    .is_err()
                    .then_some(("it is not a mode", "write an octal number such as `0027`"))
            }
            Cast::Size => match units::bytes(text) {
                Err(reason) if text.parse::<i64>().is_err() => {
                    Some((reason.0, "write a size such as `512m`"))
                }
                _ => None,
            },
            Cast::Count => (text != "all" && text.parse::<i64>().is_err()).then_some((
                "it is neither `all` nor a whole number",
                "write `all` or a number",
            )),
            Cast::Filled => text.is_empty().then_some(("it is empty", "write a path")),
        }
    }
}

/// What is insisted on at a place.
enum Node {
    /// Nothing but what the value is.
    Value(Cast),
    /// What stands below some keys.
    Keys(&'static [(&'static str, Node)]),
    /// The same for each item of a list or each value of a map.
    Each(&'static Node),
    /// A value, or a map with keys.
    Either(Cast, &'static [(&'static str, Node)]),
    /// A map that has no two of some keys, and what stands below others.
    Apart(&'static [&'static str], &'static [(&'static str, Node)]),
    /// A rule of `develop.watch`.
    Watch,
}

use Cast::{Count, Filled, Mode, Real, Size, Truth, Whole};
use Node::{Apart, Each, Either, Keys, Value, Watch};

/// A request for devices.
const DEVICES: Node = Each(&Apart(&["count", "device_ids"], &[("count", Value(Count))]));

const RATES: Node = Each(&Keys(&[("rate", Value(Size))]));

const ROLLOUT: Node = Keys(&[
    ("parallelism", Value(Whole)),
    ("max_failure_ratio", Value(Real)),
]);

/// What services, jobs and the containers before them have.
const CONTAINER: &[(&str, Node)] = &[
    ("cpu_count", Value(Whole)),
    ("cpu_percent", Value(Real)),
    ("cpu_period", Value(Whole)),
    ("cpu_quota", Value(Whole)),
    ("cpu_rt_period", Value(Whole)),
    ("cpu_rt_runtime", Value(Whole)),
    ("cpu_shares", Value(Whole)),
    ("cpus", Value(Real)),
    ("attach", Value(Truth)),
    ("init", Value(Truth)),
    ("mem_limit", Value(Size)),
    ("mem_reservation", Value(Size)),
    ("mem_swappiness", Value(Size)),
    ("memswap_limit", Value(Size)),
    ("shm_size", Value(Size)),
    (
        "networks",
        Each(&Keys(&[("use_service_name_alias", Value(Truth))])),
    ),
    ("oom_kill_disable", Value(Truth)),
    ("oom_score_adj", Value(Whole)),
    ("pids_limit", Value(Whole)),
    ("privileged", Value(Truth)),
    ("read_only", Value(Truth)),
    ("umask", Value(Mode)),
    (
        "ulimits",
        Each(&Either(
            Whole,
            &[("hard", Value(Whole)), ("soft", Value(Whole))],
        )),
    ),
    (
        "volumes",
        Each(&Keys(&[
            ("read_only", Value(Truth)),
            ("volume", Keys(&[("nocopy", Value(Truth))])),
            (
                "tmpfs",
                Keys(&[("size", Value(Size)), ("mode", Value(Mode))]),
            ),
        ])),
    ),
    (
        "blkio_config",
        Keys(&[
            ("device_read_bps", RATES),
            ("device_read_iops", RATES),
            ("device_write_bps", RATES),
            ("device_write_iops", RATES),
        ]),
    ),
    ("gpus", DEVICES),
];

/// What services and jobs have beside that.
const SERVICE: &[(&str, Node)] = &[
    (
        "depends_on",
        Each(&Keys(&[
            ("required", Value(Truth)),
            ("restart", Value(Truth)),
        ])),
    ),
    (
        "healthcheck",
        Keys(&[("retries", Value(Whole)), ("disable", Value(Truth))]),
    ),
    ("ports", Each(&Keys(&[("target", Value(Whole))]))),
    ("stdin_open", Value(Truth)),
    ("tty", Value(Truth)),
    ("scale", Value(Whole)),
    (
        "deploy",
        Keys(&[
            ("replicas", Value(Whole)),
            ("update_config", ROLLOUT),
            ("rollback_config", ROLLOUT),
            ("restart_policy", Keys(&[("max_attempts", Value(Whole))])),
            (
                "placement",
                Keys(&[("max_replicas_per_node", Value(Whole))]),
            ),
            (
                "resources",
                Keys(&[
                    ("limits", Keys(&[("memory", Value(Size))])),
                    (
                        "reservations",
                        Keys(&[("memory", Value(Size)), ("devices", DEVICES)]),
                    ),
                ]),
            ),
        ]),
    ),
    ("build", Apart(&["dockerfile", "dockerfile_inline"], &[])),
    ("develop", Keys(&[("watch", Each(&Watch))])),
    ("pre_start", Each(&Keys(CONTAINER))),
];

const EXTERNAL: (&str, Node) = ("external", Value(Truth));

/// What the sections of a file have, but for services and jobs.
const SECTIONS: &[(&str, Node)] = &[
    (
        "networks",
        Each(&Keys(&[
            EXTERNAL,
            ("internal", Value(Truth)),
            ("attachable", Value(Truth)),
            ("enable_ipv4", Value(Truth)),
            ("enable_ipv6", Value(Truth)),
        ])),
    ),
    ("volumes", Each(&Keys(&[EXTERNAL]))),
    (
        "secrets",
        Each(&Apart(&["file", "environment"], &[EXTERNAL])),
    ),
    (
        "configs",
        Each(&Apart(&["file", "environment", "content"], &[EXTERNAL])),
    ),
];

/// Everything that Compose refuses in a file that the schema accepts.
pub(crate) fn check(tree: &Tree, usages: &Usages, diagnostics: &mut Vec<Diagnostic>) {
    let mut checker = Checker {
        usages,
        diagnostics,
    };
    checker.below(tree, SECTIONS);
    for section in tree.pairs() {
        if matches!(&*section.key, "services" | "jobs") {
            for service in section.value.pairs() {
                checker.below(&service.value, CONTAINER);
                checker.below(&service.value, SERVICE);
            }
        }
    }
}

struct Checker<'c> {
    usages: &'c Usages,
    diagnostics: &'c mut Vec<Diagnostic>,
}

impl Checker<'_> {
    fn below(&mut self, tree: &Tree, keys: &'static [(&str, Node)]) {
        for pair in tree.pairs() {
            if let Some((_, node)) = keys.iter().find(|(key, _)| *key == &*pair.key) {
                self.at(&pair.value, node, pair.key_span);
            }
        }
    }

    fn at(&mut self, tree: &Tree, node: &'static Node, key: Span) {
        match node {
            Value(cast) => self.value(tree, *cast),
            Keys(keys) => self.below(tree, keys),
            Each(node) => {
                for item in tree.items() {
                    self.at(item, node, item.span);
                }
                for pair in tree.pairs() {
                    self.at(&pair.value, node, pair.key_span);
                }
            }
            Either(cast, keys) => {
                self.value(tree, *cast);
                self.below(tree, keys);
            }
            Apart(keys, others) => {
                self.apart(tree, keys);
                self.below(tree, others);
            }
            Watch => self.watch(tree, key),
        }
    }

    /// A text that must be something else, or will be nothing while a variable is not set.
    fn value(&mut self, tree: &Tree, cast: Cast) {
        let (message, help) = match &tree.kind {
            Kind::Str(text) => match cast.fault(text) {
                Some((reason, help)) => {
                    let message = format!("`{text}` cannot be used here: {reason}");
                    (message, help.to_owned())
                }
                None => return,
            },
            Kind::Open(open) => {
                let Some((reason, _)) = cast.fault(&open.given) else {
                    return;
                };
                // That a variable demands a value is for a rule to say.
                let demanded = |name: &Arc<str>| {
                    let usage = self.usages.get(name);
                    usage.is_some_and(|usage| usage.required.is_some())
                };
                if open.variables.iter().any(demanded) {
                    return;
                }
                let names: Vec<String> = open.variables.iter().map(|v| format!("`{v}`")).collect();
                let names = names.join(", ");
                let given = match &*open.given {
                    "" => "nothing".to_owned(),
                    given => format!("`{given}`"),
                };
                let message = format!(
                    "without a value for {names}, `{}` is {given}, which cannot be used here: {reason}",
                    open.written
                );
                (message, format!("set {names}, or write a default"))
            }
            _ => return,
        };
        let diagnostic = Diagnostic::error("compose-value", message).at(tree.span);
        self.diagnostics.push(diagnostic.help(help));
    }

    fn apart(&mut self, tree: &Tree, keys: &[&str]) {
        let given = |pair: &&Pair| keys.contains(&&*pair.key);
        let mut found = tree.pairs().iter().filter(given);
        let Some(first) = found.next() else { return };
        for other in found.filter(|other| other.key != first.key) {
            self.diagnostics.push(
                Diagnostic::error(
                    "compose-keys",
                    format!("`{}` and `{}` exclude each other", first.key, other.key),
                )
                .at(other.key_span)
                .related(first.key_span, format!("`{}` is here", first.key))
                .help("keep one of them"),
            );
        }
    }

    fn watch(&mut self, tree: &Tree, key: Span) {
        if let Some(path) = tree.get("path") {
            self.value(path, Filled);
        }
        let action = tree.some("action").and_then(Tree::as_str);
        let action = action.map_or("", |text| &**text);
        // What is unknown is for the schema to say.
        let needs_target = matches!(action, "sync" | "sync+restart" | "sync+exec");
        let target = tree.some("target").and_then(Tree::text);
        if needs_target && target.is_none_or(|target| target.is_empty()) {
            self.diagnostics.push(
                Diagnostic::error(
                    "compose-missing-key",
                    format!("`{action}` needs a `target`: the path in the container"),
                )
                .at(key)
                .help("add `target`, or use the action `rebuild`"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::compose::{Options, load};
    use crate::loader::MemoryLoader;
    use locus_core::Sources;

    /// What is said about one service with these lines.
    fn told(lines: &str) -> Vec<String> {
        let text = format!("services:\n  web:\n    image: example/web:1.4\n{lines}");
        let loader = MemoryLoader::new().with("compose.yaml", &text);
        let options = Options {
            files: vec!["compose.yaml".to_owned()],
            ..Options::default()
        };
        let mut sources = Sources::new();
        let project = load(&options, &loader, &mut sources);
        let diagnostics = project.diagnostics.iter();
        diagnostics
            .map(|diagnostic| {
                let line = diagnostic.primary().map(|at| sources.start(at).line);
                format!("{}: {}", line.unwrap_or(0), diagnostic.message)
            })
            .collect()
    }

    #[test]
    fn a_text_must_be_what_its_key_means() {
        for (line, reason) in [
            ("tty: maybe", "it is neither `true` nor `false`"),
            ("umask: \"99\"", ""),
            ("umask: \"088\"", "it is not a mode"),
            ("cpu_percent: most", "it is not a number"),
            ("scale: \"1.5\"", "it is not a whole number"),
            (
                "gpus: [{ count: some }]",
                "it is neither `all` nor a whole number",
            ),
            ("gpus: [{ count: all }]", ""),
            ("privileged: \"yes\"", ""),
            ("attach: maybe", "it is neither `true` nor `false`"),
            ("memswap_limit: \"-1\"", ""),
            ("memswap_limit: 64m", ""),
            ("shm_size: much", "such as `b`, `k`, `m`, `g` or `t`"),
            ("cpus: \"0.5\"", ""),
        ] {
            let told = told(&format!("    {line}\n"));
            match reason {
                "" => assert_eq!(told, Vec::<String>::new(), "{line}"),
                reason => {
                    assert_eq!(told.len(), 1, "{line}: {told:?}");
                    assert!(told[0].starts_with("4: "), "{told:?}");
                    assert!(told[0].ends_with(reason), "{line}: {told:?}");
                }
            }
        }
    }

    #[test]
    fn a_variable_without_a_value_is_no_number() {
        assert_eq!(
            told("    scale: ${REPLICAS}\n"),
            [
                "4: without a value for `REPLICAS`, `${REPLICAS}` is nothing, which cannot be used here: it is not a whole number"
            ]
        );
        for fine in ["${REPLICAS:-2}", "${REPLICAS:?how many}"] {
            assert_eq!(told(&format!("    scale: {fine}\n")), Vec::<String>::new());
        }
    }

    #[test]
    fn keys_that_exclude_each_other_are_told() {
        assert_eq!(
            told("    build:\n      context: .\n      dockerfile: A\n      dockerfile_inline: B\n"),
            ["7: `dockerfile` and `dockerfile_inline` exclude each other"]
        );
        assert_eq!(
            told("secrets:\n  token:\n    file: a\n    environment: B\n"),
            ["7: `file` and `environment` exclude each other"]
        );
    }

    #[test]
    fn what_is_synchronised_has_a_target() {
        assert_eq!(
            told(
                "    develop:\n      watch:\n        - { path: ./src, action: sync }\n        - { path: ./src, action: rebuild }\n"
            ),
            ["6: `sync` needs a `target`: the path in the container"]
        );
    }
}
