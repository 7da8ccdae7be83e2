//! What is mounted in a service: volumes, paths of the host, memory.

use locus_core::facts::AtomId;
use locus_core::graph::RoleKind;
use locus_core::{Diagnostic, Severity, Value, suggest};
use rustc_hash::FxHashMap;

use super::uses::{Use, field};
use super::{Builder, Current};
use crate::compose::environment::HOLE;
use crate::compose::mounts::{self, Mount, MountKind};
use crate::compose::tree::{Kind, Tree};
use crate::compose::vocabulary::{field, sig};
use crate::loader::PathKind;

impl Builder<'_> {
    pub(super) fn mounts(&mut self, current: &Current, tree: &Tree) {
        for item in tree.some("volumes").map_or(&[][..], Tree::items) {
            match mounts::parse(item) {
                Ok(mount) => self.mount(current, item, &mount),
                Err(_) if matches!(item.kind, Kind::Null | Kind::Bool(_) | Kind::List(_)) => {}
                Err(reason) => self.diagnostics.push(
                    Diagnostic::error("compose-mount", reason)
                        .at(item.span)
                        .help("write `[source:]path in the container[:mode]`"),
                ),
            }
        }
        if let Some(tmpfs) = tree.some("tmpfs") {
            for item in tmpfs.one_or_many() {
                let Some(text) = item.pattern() else { continue };
                let path = text.split(':').next().unwrap_or("");
                let mount = Mount {
                    kind: MountKind::Tmpfs,
                    source: None,
                    target: path.into(),
                    read_only: Some(false),
                    unknown_mode: None,
                };
                self.mount(current, item, &mount);
            }
        }
    }

    fn mount(&mut self, current: &Current, item: &Tree, mount: &Mount) {
        let span = item.span;
        let sig = match mount.kind {
            MountKind::Bind => sig!("BindMount"),
            MountKind::Volume => sig!("VolumeMount"),
            MountKind::Tmpfs => sig!("TmpfsMount"),
            MountKind::Other | MountKind::Open => sig!("Mount"),
        };
        self.drive_letter(item);
        if let Some(mode) = &mount.unknown_mode {
            let mut diagnostic = Diagnostic::error(
                "compose-mount",
                format!("`{mode}` is not a mount mode and has no effect"),
            )
            .at(span)
            .help(
                suggest::did_you_mean(mode, mounts::MODES)
                    .unwrap_or_else(|| "the modes are `ro`, `rw`, `z` and `Z`".into()),
            );
            diagnostic.severity = Severity::Warning;
            self.diagnostics.push(diagnostic);
        }
        let at = |key: &str| item.some(key).unwrap_or(item);
        let path = match mount.target.trim_end_matches('/') {
            "" => &mount.target,
            path => path,
        };
        let shown = path.replace(HOLE, "…");
        let atom = self.facts.atom(sig, shown.as_str(), span);
        self.fact(
            field!("Service", "mounts"),
            current.component.atom,
            atom,
            span,
        );
        self.part_fact(field!("Mount", "path"), atom, at("target"), path);
        self.mounted.push((atom, path.into(), span));
        let read_only = match (mount.read_only, at("read_only").open()) {
            (Some(read_only), _) => self.truth(read_only, span),
            (None, Some(open)) => {
                let open = open.clone();
                self.open_atom(sig!("Bool"), &open, span)
            }
            (None, None) => self.truth(false, span),
        };
        self.fact(field!("Mount", "read_only"), atom, read_only, span);
        let mut properties = vec![field("target", Value::str(mount.target.clone()), span)];
        if let Some(source) = &mount.source {
            self.part_fact(field!("Mount", "source"), atom, at("source"), source);
            properties.push(field("source", Value::str(source.clone()), span));
        }
        if let Some(read_only) = mount.read_only {
            properties.push(field("read_only", Value::Bool(read_only), span));
        }
        let label = format!("volumes.{shown}");
        let shape = match (mount.kind, &mount.source) {
            (MountKind::Volume, Some(volume)) if !volume.contains(HOLE) => {
                let used = Use {
                    sig: sig!("VolumeUse"),
                    kind: RoleKind::Reference,
                    label,
                    section: "volumes",
                    word: volume,
                    written: None,
                    span: at("source").span,
                    properties,
                };
                let (reference, _) = self.refer(current, used);
                self.fact(field!("Mount", "use"), atom, reference, span);
                Some("directory")
            }
            (kind, source) => {
                // What no other location provides stays a role of the service alone.
                let role = self.graph.add_role(RoleKind::Reference, label, span);
                self.graph.role_mut(role).properties = properties;
                self.graph.require(current.component.location, role);
                match (kind, source) {
                    (MountKind::Bind, Some(source)) => self.host_path(atom, at("source"), source),
                    (MountKind::Volume | MountKind::Tmpfs, _) => Some("directory"),
                    _ => None,
                }
            }
        };
        if let Some(shape) = shape {
            let shape = self.text(shape, span);
            self.fact(field!("Mount", "shape"), atom, shape, span);
        }
    }

    /// States which mounts of the service that was built are below which.
    pub(super) fn nesting(&mut self) {
        let mounted = std::mem::take(&mut self.mounted);
        let known: FxHashMap<&str, AtomId> = mounted
            .iter()
            .filter(|(_, path, _)| !path.contains(HOLE))
            .map(|(atom, path, _)| (&**path, *atom))
            .collect();
        for (atom, path, span) in &mounted {
            let parents = path.match_indices('/').filter(|&(at, _)| at > 0);
            for (at, _) in parents {
                if let Some(&outer) = path.get(..at).and_then(|parent| known.get(parent)) {
                    self.fact(field!("Mount", "within"), *atom, outer, *span);
                }
            }
        }
    }

    /// States the path of the host, and what is there when the loader knows.
    fn host_path(&mut self, mount: AtomId, tree: &Tree, source: &str) -> Option<&'static str> {
        if source.contains(HOLE) || source.starts_with('~') {
            self.part_fact(field!("Mount", "host_path"), mount, tree, source);
            return None;
        }
        let path = self.path(source, tree.span);
        self.part_fact(field!("Mount", "host_path"), mount, tree, &path);
        match self.loader.kind(&path) {
            Some(PathKind::File) => Some("file"),
            Some(PathKind::Directory) => Some("directory"),
            Some(PathKind::Missing) => Some("missing"),
            None => None,
        }
    }

    /// Compose takes one letter before a colon for a drive, also where a volume has that name.
    fn drive_letter(&mut self, item: &Tree) {
        let Some(text) = item.as_str() else { return };
        let Some((name, _)) = text.split_once(":/") else {
            return;
        };
        if name.len() != 1 || self.find("volumes", name).is_none() {
            return;
        }
        let mut diagnostic = Diagnostic::error(
            "compose-mount",
            format!("`{text}` is read as a path on drive `{name}`, not as volume `{name}`"),
        )
        .at(item.span)
        .help("write it as a map with `type`, `source` and `target`, or rename the volume");
        diagnostic.severity = Severity::Warning;
        self.diagnostics.push(diagnostic);
    }
}
