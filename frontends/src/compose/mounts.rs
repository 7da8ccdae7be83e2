//! Mounts: short and long syntax of `volumes`.

use std::sync::Arc;

use super::environment::HOLE;
use super::tree::{Kind, Tree};

/// What is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MountKind {
    /// A path of the host.
    Bind,
    /// A named volume, or without a source a new one.
    Volume,
    /// Memory.
    Tmpfs,
    /// A named pipe, a cluster volume, an image.
    Other,
    /// Depends on a variable without a value.
    Open,
}

/// A mount of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// What is mounted.
    pub kind: MountKind,
    /// The path of the host, or the name of the volume.
    pub source: Option<Arc<str>>,
    /// The path in the container.
    pub target: Arc<str>,
    /// Whether it cannot be written; `None` when that depends on a variable.
    pub read_only: Option<bool>,
    /// A word after the target that means nothing; Compose drops it silently.
    pub unknown_mode: Option<Arc<str>>,
}

/// Words that the short syntax accepts after the target.
pub const MODES: [&str; 20] = [
    "rw",
    "ro",
    "z",
    "Z",
    "nocopy",
    "copy",
    "cached",
    "delegated",
    "consistent",
    "shared",
    "rshared",
    "slave",
    "rslave",
    "private",
    "rprivate",
    "unbindable",
    "runbindable",
    "U",
    "volume-nocopy",
    "exec",
];

/// Reads an item of `volumes`.
///
/// # Errors
/// A reason for a message.
pub fn parse(item: &Tree) -> Result<Mount, String> {
    match &item.kind {
        Kind::Map(_) => long(item),
        _ => short(&item.pattern().unwrap_or_default()),
    }
}

fn long(item: &Tree) -> Result<Mount, String> {
    let text = |key: &str| item.some(key).and_then(Tree::pattern);
    let kind = match text("type").as_deref() {
        Some("bind") => MountKind::Bind,
        Some("volume") => MountKind::Volume,
        Some("tmpfs") => MountKind::Tmpfs,
        Some(text) if text.contains(HOLE) => MountKind::Open,
        _ => MountKind::Other,
    };
    let target = text("target").ok_or("this mount has no `target`")?;
    let source = text("source").filter(|source| !source.is_empty());
    if kind == MountKind::Bind && source.is_none() {
        return Err("a `bind` mount needs a `source`: the path of the host".into());
    }
    let read_only = match item.some("read_only").map(|tree| &tree.kind) {
        None => Some(false),
        Some(Kind::Bool(b)) => Some(*b),
        Some(Kind::Str(text)) => super::units::boolean(text).ok(),
        Some(_) => None,
    };
    Ok(Mount {
        kind,
        source,
        target: clean(&target),
        read_only,
        unknown_mode: None,
    })
}

/// The end of a drive letter and its colon, which is no separator: `C:\data`.
fn drive(text: &str) -> usize {
    match text.as_bytes() {
        [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic() => 2,
        _ => 0,
    }
}

fn split(text: &str) -> (&str, Option<&str>) {
    let from = drive(text);
    match text.get(from..).and_then(|rest| rest.find(':')) {
        Some(at) => (
            text.get(..from + at).unwrap_or(""),
            text.get(from + at + 1..),
        ),
        None => (text, None),
    }
}

fn short(text: &str) -> Result<Mount, String> {
    let shown = || text.replace(HOLE, "…");
    let (first, rest) = split(text);
    if text.is_empty() {
        return Err("this mount is empty".into());
    }
    let Some(rest) = rest else {
        return Ok(Mount {
            kind: MountKind::Volume,
            source: None,
            target: clean(first),
            read_only: Some(false),
            unknown_mode: None,
        });
    };
    let (target, modes) = split(rest);
    if target.is_empty() {
        return Err(format!("`{}` has no path in the container", shown()));
    }
    let mut read_only = Some(false);
    let mut unknown_mode = None;
    for mode in modes.unwrap_or("").split(',').filter(|m| !m.is_empty()) {
        if mode.contains(HOLE) {
            read_only = None;
        } else if mode == "ro" {
            read_only = Some(true);
        } else if !MODES.contains(&mode) {
            unknown_mode.get_or_insert_with(|| mode.into());
        }
    }
    let kind = if first.is_empty() {
        return Err(format!("`{}` has no source", shown()));
    } else if first.starts_with(HOLE) {
        MountKind::Open
    } else if first.starts_with(['.', '/', '~', '\\']) || drive(first) > 0 {
        MountKind::Bind
    } else {
        MountKind::Volume
    };
    Ok(Mount {
        kind,
        source: Some(first.into()),
        target: clean(target),
        read_only,
        unknown_mode,
    })
}

/// A path in the container without a slash at its end.
fn clean(path: &str) -> Arc<str> {
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() && path.starts_with('/') {
        "/".into()
    } else {
        trimmed.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use locus_core::{Sources, Span};

    fn mount(text: &str) -> Result<Mount, String> {
        let file = Sources::new().add("f", text);
        parse(&Tree::str(text, Span::start_of(file)))
    }

    fn show(text: &str) -> String {
        match mount(text) {
            Ok(mount) => format!(
                "{:?} {} {} {:?}",
                mount.kind,
                mount.source.as_deref().unwrap_or("-"),
                mount.target,
                mount.read_only
            ),
            Err(reason) => format!("error: {reason}"),
        }
    }

    #[test]
    fn every_short_form_is_read() {
        let cases = [
            ("/data/", "Volume - /data Some(false)"),
            ("db:/var/lib/db", "Volume db /var/lib/db Some(false)"),
            ("./src:/app:ro", "Bind ./src /app Some(true)"),
            ("~/x:/y:z,ro", "Bind ~/x /y Some(true)"),
            ("C:\\data:/data:rw", "Bind C:\\data /data Some(false)"),
            ("\u{1}:/data", "Open \u{1} /data Some(false)"),
            ("./a:/:\u{1}", "Bind ./a / None"),
        ];
        for (text, expected) in cases {
            assert_eq!(show(text), expected, "{text}");
        }
        let odd = mount("aa:/b:rx,ro").unwrap();
        assert_eq!(odd.unknown_mode.as_deref(), Some("rx"));
        assert_eq!(odd.read_only, Some(true));
        assert_eq!(show("a:"), "error: `a:` has no path in the container");
        assert_eq!(show(":/b"), "error: `:/b` has no source");
    }
}
