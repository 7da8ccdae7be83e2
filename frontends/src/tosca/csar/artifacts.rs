//! Artifacts that are named by a path must be in the archive, as they say they are.

use locus_core::{Diagnostic, Severity};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::Archive;
use crate::loader::{directory, join};
use crate::tosca::files::File;
use crate::yaml::{Mapping, Node};

/// Checks the artifacts of files of an archive; `path` is where the file is in it.
pub(crate) fn check(archive: &Archive, path: &str, file: &File, diagnostics: &mut Vec<Diagnostic>) {
    let mut artifacts = Artifacts {
        archive,
        folder: directory(path),
        severity: if file.version.is_simple() {
            Severity::Warning
        } else {
            Severity::Error
        },
        names: Vec::new(),
        diagnostics,
    };
    artifacts.mapping(file.map());
}

struct Artifacts<'c> {
    archive: &'c Archive,
    folder: &'c str,
    severity: Severity,
    /// The artifacts of the types and templates around, which an implementation may name.
    names: Vec<String>,
    diagnostics: &'c mut Vec<Diagnostic>,
}

impl Artifacts<'_> {
    fn mapping(&mut self, map: &Mapping) {
        let before = self.names.len();
        if let Some(artifacts) = map.get("artifacts").and_then(Node::as_mapping) {
            let names = artifacts.named().map(|(name, _)| name.to_string());
            self.names.extend(names);
            for (_, entry) in artifacts.named() {
                self.artifact(&entry.value);
            }
        }
        for entry in &map.entries {
            match entry.key.as_str() {
                Some("implementation") => self.implementation(&entry.value),
                Some("interfaces") => self.interfaces(&entry.value),
                // What is written there is free.
                Some("metadata" | "dsl_definitions" | "properties" | "inputs") => {}
                _ => self.node(&entry.value),
            }
        }
        self.names.truncate(before);
    }

    fn node(&mut self, node: &Node) {
        if let Some(map) = node.as_mapping() {
            self.mapping(map);
        } else if let Some(items) = node.as_sequence() {
            items.iter().for_each(|item| self.node(item));
        }
    }

    /// Operations whose implementation alone is written: `create: scripts/create.sh`.
    fn interfaces(&mut self, node: &Node) {
        for (_, interface) in node.as_mapping().into_iter().flat_map(Mapping::named) {
            for (name, entry) in interface
                .value
                .as_mapping()
                .into_iter()
                .flat_map(Mapping::named)
            {
                match &**name {
                    "operations" | "notifications" => {
                        let held = entry.value.as_mapping().into_iter();
                        for (_, operation) in held.flat_map(Mapping::named) {
                            if operation.value.as_str().is_some() {
                                self.script(&operation.value);
                            }
                        }
                    }
                    "type" | "description" => {}
                    _ if entry.value.as_str().is_some() => self.script(&entry.value),
                    _ => {}
                }
            }
        }
        self.node(node);
    }

    fn implementation(&mut self, node: &Node) {
        if node.as_str().is_some() {
            self.script(node);
            return;
        }
        match node.get("primary") {
            Some(primary) if primary.as_str().is_some() => self.script(primary),
            Some(primary) => self.artifact(primary),
            None => {}
        }
        let dependencies = node.get("dependencies").and_then(Node::as_sequence);
        for dependency in dependencies.unwrap_or_default() {
            if dependency.as_str().is_some() {
                self.script(dependency);
            } else {
                self.artifact(dependency);
            }
        }
    }

    /// A path where the name of an artifact may stand too: what has no extension may be the name of one that is inherited.
    fn script(&mut self, node: &Node) {
        let text = node.as_str().unwrap_or_default();
        let last = text.rsplit('/').next().unwrap_or(text);
        let extension = last.rsplit_once('.').map(|(_, extension)| extension);
        let is_path = extension.is_some_and(|extension| {
            matches!(
                extension,
                "sh" | "py" | "yaml" | "yml" | "rb" | "pl" | "ps1" | "bat"
            )
        });
        if is_path && !self.names.iter().any(|name| name == text) {
            self.exists(node, text);
        }
    }

    fn artifact(&mut self, node: &Node) {
        let file = if node.as_str().is_some() {
            Some(node)
        } else {
            node.get("file")
        };
        let Some(file) = file else { return };
        let Some(text) = file.as_str() else { return };
        let ty = node.get("type").and_then(Node::as_str).unwrap_or_default();
        // An image of a container is named as registries name it.
        let is_image = ty.contains("Docker") || ty.contains("Container");
        if node.get("repository").is_some() || is_image {
            return;
        }
        if let Some(entry) = self.exists(file, text) {
            self.checksum(node, &entry);
        }
    }

    /// The entry that a path names, from the folder of the file or from the root.
    fn exists(&mut self, node: &Node, text: &str) -> Option<String> {
        let has_scheme = text
            .split_once(':')
            .is_some_and(|(scheme, _)| scheme.len() > 1);
        if text.is_empty() || has_scheme || text.starts_with('$') || text.contains("{{") {
            return None;
        }
        let inside = text.trim_start_matches('/');
        let from_file = join(self.folder, inside);
        let from_root = join(".", inside);
        let found = [from_file, from_root]
            .into_iter()
            .find(|path| self.archive.has(path) || self.archive.has_folder(path));
        if found.is_none() {
            let message = format!("the artifact `{text}` is not in the archive");
            let diagnostic = Diagnostic::new(self.severity, "tosca-artifact", message);
            self.diagnostics.push(diagnostic.at(node.used_at()));
        }
        found
    }

    fn checksum(&mut self, node: &Node, entry: &str) {
        let (Some(written), Some(algorithm)) = (
            node.get("checksum"),
            node.get("checksum_algorithm").and_then(Node::as_str),
        ) else {
            return;
        };
        let (Some(expected), Ok(Some(content))) = (written.text(), self.archive.load(entry)) else {
            return;
        };
        let algorithm = algorithm.to_ascii_lowercase().replace(['-', '_'], "");
        let actual = match algorithm.as_str() {
            "md5" => hex(&Md5::digest(&content)),
            "sha1" => hex(&Sha1::digest(&content)),
            "sha256" => hex(&Sha256::digest(&content)),
            "sha384" => hex(&Sha384::digest(&content)),
            "sha512" => hex(&Sha512::digest(&content)),
            _ => return,
        };
        if !actual.eq_ignore_ascii_case(expected.trim()) {
            let message = format!("`{entry}` does not have this checksum: it is {actual}");
            let diagnostic = Diagnostic::error("tosca-artifact", message);
            self.diagnostics.push(diagnostic.at(written.used_at()));
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
