//! What is said about each kind of mistake.

use locus_core::{Diagnostic, Severity, Span, suggest};

use super::node::{Node, NodeId, Types};
use super::walk::{Step, Walker};
use crate::compose::tree::{Kind, Pair, Tree};

/// Keys of file formats 1 and 2 that are gone, and what to write instead.
const LEGACY: [(&str, &str); 9] = [
    ("net", "write `network_mode`"),
    ("log_driver", "write `logging.driver`"),
    ("log_opt", "write `logging.options`"),
    ("dockerfile", "write `build.dockerfile`"),
    ("cpu_set", "write `cpuset`"),
    ("cpuset_cpus", "write `cpuset`"),
    ("mem_swappines", "write `mem_swappiness`"),
    (
        "volume_driver",
        "it was dropped after format 2: give each volume its `driver` under the top-level `volumes`",
    ),
    ("lxc_conf", "it was dropped: no driver reads it any more"),
];

fn path(walker: &Walker<'_, '_>) -> String {
    let mut out = String::new();
    for step in &walker.path {
        match step {
            Step::Key(key) => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(key);
            }
            Step::Item(index) => out.push_str(&format!("[{index}]")),
        }
    }
    out
}

/// Where the walker is, as in ``in `services.web` ``.
fn place(walker: &Walker<'_, '_>) -> String {
    let path = path(walker);
    if path.is_empty() {
        "at the top of the file".into()
    } else {
        format!("in `{path}`")
    }
}

/// The value that the walker is at, as in `` `services.web.ports` ``.
fn subject(walker: &Walker<'_, '_>) -> String {
    let path = path(walker);
    if path.is_empty() {
        "the file".into()
    } else {
        format!("`{path}`")
    }
}

fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [init @ .., last] if !init.is_empty() => format!("{} or {last}", init.join(", ")),
        _ => quoted.concat(),
    }
}

pub(super) fn unknown_key(walker: &mut Walker<'_, '_>, id: NodeId, pair: &Pair) {
    let node = walker.schema.node(id);
    let named = node.properties.is_empty();
    let (code, message) = if named {
        (
            "compose-name",
            format!("`{}` is not a valid name {}", pair.key, place(walker)),
        )
    } else {
        (
            "compose-unknown-key",
            format!("unknown key `{}` {}", pair.key, place(walker)),
        )
    };
    let help = if named {
        "a name is made of letters, digits, `.`, `_` and `-`".to_owned()
    } else {
        unknown_key_help(walker, node, pair)
    };
    walker.diagnostics.push(
        Diagnostic::error(code, message)
            .at(pair.key_span)
            .help(help),
    );
}

fn unknown_key_help(walker: &Walker<'_, '_>, node: &Node, pair: &Pair) -> String {
    let key = &*pair.key;
    let schema = walker.schema;
    let in_service = matches!(
        walker.path.as_slice(),
        [Step::Key("services"), Step::Key(_)]
    );
    if in_service && let Some((_, help)) = LEGACY.iter().find(|(legacy, _)| *legacy == key) {
        return (*help).to_owned();
    }
    // A service at the top of the file: format 1, or indentation lost.
    if walker.path.is_empty()
        && (pair.value.get("image").is_some() || pair.value.get("build").is_some())
    {
        return "services are written under `services:`; indent it below that".into();
    }
    // The right key in the wrong place: one level too far out ...
    let under: Vec<&str> = node
        .properties
        .iter()
        .filter(|&(_, child)| knows(walker, child, key))
        .map(|(name, _)| name)
        .collect();
    if let [only] = under.as_slice() {
        return format!("`{key}` belongs under `{only}`");
    }
    // ... or too far in.
    for (depth, &parent) in walker.parents.iter().enumerate().rev() {
        if !schema.node(parent).properties.contains_key(key) {
            continue;
        }
        let owner: Vec<String> = walker
            .path
            .iter()
            .take(depth)
            .filter_map(|step| match step {
                Step::Key(key) => Some((*key).to_owned()),
                Step::Item(_) => None,
            })
            .collect();
        return if owner.is_empty() {
            format!("`{key}` belongs at the top of the file: indent it less")
        } else {
            format!("`{key}` belongs to `{}`: indent it less", owner.join("."))
        };
    }
    let known = || node.properties.keys().collect::<Vec<&str>>();
    if let Some(help) = suggest::did_you_mean(key, known()) {
        return help;
    }
    if under.len() > 1 {
        return format!("`{key}` belongs under {}", list(&under));
    }
    if node.properties.len() <= 12 {
        format!("known here: {}", list(&known()).replace(" or ", " and "))
    } else {
        "for a key of your own, start its name with `x-`".into()
    }
}

/// Whether a node, or an alternative of it, is a map with a key.
fn knows(walker: &Walker<'_, '_>, id: NodeId, key: &str) -> bool {
    let node = walker.schema.node(id);
    node.properties.contains_key(key) || node.one_of.iter().any(|&one| knows(walker, one, key))
}

pub(super) fn wrong_type(walker: &mut Walker<'_, '_>, id: NodeId, tree: &Tree, at: Span) {
    let expected = walker.schema.accepts(id);
    let subject = subject(walker);
    let found = tree.describe();
    let (message, help) = match &tree.kind {
        Kind::Null => (
            format!("{subject} has no value"),
            format!("give it {}, or remove the key", expected.describe()),
        ),
        Kind::Str(text) if expected.has(Types::LIST) => (
            format!("{subject} must be {}, not {found}", expected.describe()),
            format!("write a list, also for one item: `- {text}`"),
        ),
        Kind::Int(_) | Kind::Float(_) | Kind::Bool(_) if expected.has(Types::STR) => {
            let text = tree.text().unwrap_or_default();
            (
                format!("{subject} must be {}, not {found}", expected.describe()),
                format!("put it in quotes: `\"{text}\"`"),
            )
        }
        Kind::Str(text) if expected.has(Types::INT) && text.parse::<f64>().is_ok() => (
            format!("{subject} must be {}, not {found}", expected.describe()),
            "remove the quotes".to_owned(),
        ),
        _ => (
            format!("{subject} must be {}, not {found}", expected.describe()),
            format!("write {} here", expected.describe()),
        ),
    };
    let span = if tree.is_null() || matches!(tree.kind, Kind::Map(_) | Kind::List(_)) {
        at
    } else {
        tree.span
    };
    walker.diagnostics.push(
        Diagnostic::error("compose-type", message)
            .at(span)
            .help(help),
    );
}

pub(super) fn not_a_choice(walker: &mut Walker<'_, '_>, node: &Node, text: &str, span: Span) {
    let help = suggest::did_you_mean(text, node.choices.iter().copied())
        .unwrap_or_else(|| format!("write {}", list(&node.choices)));
    let message = format!(
        "{} must be {}, not `{text}`",
        subject(walker),
        list(&node.choices)
    );
    walker.diagnostics.push(
        Diagnostic::error("compose-value", message)
            .at(span)
            .help(help),
    );
}

pub(super) fn not_of_pattern(walker: &mut Walker<'_, '_>, text: &str, span: Span) {
    let key = walker.path.iter().rev().find_map(|step| match step {
        Step::Key(key) => Some(*key),
        Step::Item(_) => None,
    });
    let policies = [
        "always", "never", "build", "missing", "refresh", "daily", "weekly",
    ];
    let help = match key {
        Some("pull_policy") => suggest::did_you_mean(text, policies).unwrap_or_else(|| {
            format!("write {}, or `every_` and a duration such as `every_12h`", list(&policies))
        }),
        Some("container_name") => {
            "a container's name has at least two characters: letters, digits, `_`, `.` and `-`, the first a letter or digit"
                .into()
        }
        _ => "see the Compose specification for what may be written here".into(),
    };
    let message = format!("{} cannot be `{text}`", subject(walker));
    walker.diagnostics.push(
        Diagnostic::error("compose-value", message)
            .at(span)
            .help(help),
    );
}

pub(super) fn missing_key(walker: &mut Walker<'_, '_>, keys: &[&str], at: Span) {
    let message = format!("{} has no {}", subject(walker), list(keys));
    let help = match keys {
        [key] => format!("add `{key}:` below it"),
        _ => format!("add one of {}", list(keys)),
    };
    walker.diagnostics.push(
        Diagnostic::error("compose-missing-key", message)
            .at(at)
            .help(help),
    );
}

/// Lists of which Compose keeps one of two equal items; in all others that is an error.
const DEDUPLICATED: [&str; 23] = [
    "aliases",
    "annotations",
    "args",
    "cap_add",
    "cap_drop",
    "configs",
    "devices",
    "dns",
    "dns_opt",
    "dns_search",
    "env_file",
    "environment",
    "expose",
    "labels",
    "link_local_ips",
    "links",
    "ports",
    "profiles",
    "secrets",
    "sysctls",
    "tags",
    "tmpfs",
    "volumes",
];

pub(super) fn repeated_item(walker: &mut Walker<'_, '_>, item: &Tree, first: Span) {
    let what = item
        .text()
        .map_or_else(|| "an item".to_owned(), |text| format!("`{text}`"));
    let mut diagnostic = Diagnostic::error(
        "compose-repeated",
        format!("{what} is written twice {}", place(walker)),
    )
    .label(item.span, "written again here")
    .related(first, "first written here")
    .help("it has no effect: remove it");
    if matches!(walker.path.last(), Some(Step::Key(key)) if DEDUPLICATED.contains(key)) {
        diagnostic.severity = Severity::Warning;
    }
    walker.diagnostics.push(diagnostic);
}

pub(super) fn out_of_range(walker: &mut Walker<'_, '_>, bound: &str, limit: f64, span: Span) {
    let message = format!("{} must be {bound} {limit}", subject(walker));
    walker.diagnostics.push(
        Diagnostic::error("compose-value", message)
            .at(span)
            .help(format!("write a number that is {bound} {limit}")),
    );
}
