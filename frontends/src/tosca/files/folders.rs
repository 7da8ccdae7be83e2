//! Types that no file imports, in the folders that the user names.
//!
//! Repositories of types, such as those of Winery, have a folder for each type, whose path is its kind, its namespace and
//! its name: `nodetypes/radon.nodes.abstract/Function/NodeType.tosca` is `radon.nodes.abstract.Function`. Their files import
//! nothing, as the repository itself tells where a type is.

use std::collections::BTreeMap;

use locus_core::Span;
use rustc_hash::FxHashSet;

use super::{Followed, Import, Reader};
use crate::loader::join;
use crate::yaml::{Kind, Node};

/// Folders of such a repository, the files in them, and the sections that these have.
const KINDS: [(&str, &str, &str); 8] = [
    ("nodetypes", "NodeType.tosca", "node_types"),
    (
        "relationshiptypes",
        "RelationshipType.tosca",
        "relationship_types",
    ),
    (
        "capabilitytypes",
        "CapabilityType.tosca",
        "capability_types",
    ),
    ("datatypes", "DataType.tosca", "data_types"),
    ("artifacttypes", "ArtifactType.tosca", "artifact_types"),
    ("policytypes", "PolicyType.tosca", "policy_types"),
    ("interfacetypes", "InterfaceType.tosca", "interface_types"),
    ("grouptypes", "GroupType.tosca", "group_types"),
];

/// Longest text that is taken for the name of a type.
const LONGEST: usize = 256;

impl Reader<'_> {
    /// Reads the types that files mention and none defines, and what these mention in turn.
    pub(super) fn find_types(&mut self) {
        if self.folders.is_empty() || self.root.is_some() {
            return;
        }
        let mut scanned = 0;
        while scanned < self.files.len() {
            let mut mentioned: BTreeMap<(usize, String), Span> = BTreeMap::new();
            for (index, file) in self.files.iter().enumerate().skip(scanned) {
                if file.builtin {
                    continue;
                }
                let mut own: FxHashSet<&str> = FxHashSet::default();
                for (_, _, section) in KINDS {
                    let types = file.root.get(section).and_then(Node::as_mapping);
                    let types = types.into_iter().flat_map(|types| types.named());
                    own.extend(types.map(|(name, _)| &**name));
                }
                for entry in &file.map().entries {
                    mentions(&entry.value, &mut |name, span| {
                        if !own.contains(name) {
                            mentioned.entry((index, name.to_owned())).or_insert(span);
                        }
                    });
                }
            }
            scanned = self.files.len();
            for ((index, name), span) in mentioned {
                let files = self.types_named(&name, span);
                if let Some(file) = self.files.get_mut(index) {
                    let imports = files.into_iter().map(|at| Import {
                        file: Some(at),
                        prefix: None,
                    });
                    file.imports.extend(imports);
                }
            }
            self.follow_due();
        }
    }

    /// The files that are where the type of a name is in a repository.
    fn types_named(&mut self, name: &str, span: Span) -> Vec<usize> {
        let mut found = Vec::new();
        for folder in self.folders.clone() {
            for (kind, file, _) in KINDS {
                for (at, _) in name.match_indices('.') {
                    let (namespace, local) = name.split_at(at);
                    let local = local.trim_start_matches('.');
                    let path = join(&folder, &format!("{kind}/{namespace}/{local}/{file}"));
                    let known = self.by_path.contains_key(&path) || self.loader.load(&path).is_ok();
                    if known && let Followed::File(index) = self.file(&path, &path, span) {
                        found.push(index);
                    }
                }
            }
        }
        found
    }
}

/// The texts in a node that may be names of types.
fn mentions(node: &Node, add: &mut impl FnMut(&str, Span)) {
    match &node.kind {
        Kind::Scalar(_) => {
            let is_name = |text: &&str| {
                let part = |part: &str| {
                    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
                    !part.is_empty() && part.chars().all(word)
                };
                text.len() <= LONGEST
                    && text.contains('.')
                    && !text.starts_with("tosca.")
                    && text.chars().any(char::is_alphabetic)
                    && text.split('.').all(part)
            };
            if let Some(text) = node.as_str().filter(is_name) {
                add(text, node.used_at());
            }
        }
        Kind::Sequence(items) => {
            for item in items {
                mentions(item, add);
            }
        }
        Kind::Mapping(map) => {
            for entry in &map.entries {
                mentions(&entry.value, add);
            }
        }
    }
}
