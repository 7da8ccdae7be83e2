//! The layers of an image, one put on the other as a container runtime does.

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Bound;

use super::model::{DigestSet, FileSet, PathText};
use super::rootfs::digests_of;
use crate::digest::HashAlg;

/// More hops than this through symbolic links is a loop.
const MAX_LINKS: usize = 40;
/// More files than this in an image is an attack or a mistake.
const MAX_FILES: usize = 4_000_000;
const MAX_PATH: usize = 4096;

/// Why a layer cannot be applied.
#[derive(Debug, thiserror::Error)]
pub enum LayerError {
    /// The archive cannot be read.
    #[error("the layer cannot be read: {0}")]
    Archive(#[from] std::io::Error),
    /// A path leads out of the image.
    #[error("`{0}` leads out of the image")]
    Escape(String),
    /// A hard link to nothing.
    #[error("`{link}` is a hard link to `{target}`, which is not a file of the image")]
    Link {
        /// The link.
        link: String,
        /// Where it should lead.
        target: String,
    },
    /// Symbolic links in a circle.
    #[error("the symbolic links at `{0}` go in circles")]
    Loop(String),
    /// Too many files, or a path that is too long.
    #[error("the image has too many files or too long a path")]
    TooLarge,
}

#[derive(Clone, Debug)]
enum Node {
    File(DigestSet),
    Folder,
    Link(Vec<u8>),
    /// A device, a pipe: never measured.
    Other,
}

/// The files of an image, as far as its layers have been applied.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: BTreeMap<Vec<u8>, (Node, usize)>,
    layer: usize,
}

type Parts = Vec<Vec<u8>>;

impl Tree {
    /// The empty image.
    pub fn new() -> Self {
        Tree::default()
    }

    /// Applies the next layer, an uncompressed tar archive.
    pub fn apply(&mut self, layer: impl Read, algorithms: &[HashAlg]) -> Result<(), LayerError> {
        self.layer += 1;
        let mut archive = tar::Archive::new(layer);
        for entry in archive.entries()? {
            let mut entry = entry?;
            let name = entry.path_bytes().into_owned();
            let parts = parts_of(&name)?;
            let Some((file, parents)) = parts.split_last() else {
                continue;
            };
            let parents = self.resolve(parents)?;
            if let Some(hidden) = file.strip_prefix(b".wh.") {
                self.whiteout(&parents, hidden);
                continue;
            }
            let path = join(&parents, file);
            if path.len() > MAX_PATH || self.nodes.len() >= MAX_FILES {
                return Err(LayerError::TooLarge);
            }
            let kind = entry.header().entry_type();
            let node = if kind.is_dir() {
                Node::Folder
            } else if kind.is_symlink() {
                Node::Link(entry.link_name_bytes().unwrap_or_default().into_owned())
            } else if kind.is_hard_link() {
                let target = entry.link_name_bytes().unwrap_or_default().into_owned();
                self.linked(&name, &target)?
            } else if kind.is_file() || kind.is_contiguous() || kind.is_gnu_sparse() {
                Node::File(digests_of(&mut entry, algorithms)?)
            } else {
                Node::Other
            };
            self.make_folders(&parents);
            self.set(path, node);
        }
        Ok(())
    }

    /// The files of the image with their digests.
    pub fn into_files(self) -> FileSet {
        self.nodes
            .into_iter()
            .filter_map(|(path, (node, _))| match node {
                Node::File(digests) => {
                    let mut name = vec![b'/'];
                    name.extend(path);
                    Some((PathText::new(name), digests))
                }
                _ => None,
            })
            .collect()
    }

    fn linked(&self, link: &[u8], target: &[u8]) -> Result<Node, LayerError> {
        let parts = parts_of(target)?;
        let found = parts.split_last().and_then(|(file, parents)| {
            let parents = self.resolve(parents).ok()?;
            self.nodes.get(&join(&parents, file))
        });
        match found {
            Some((node @ (Node::File(_) | Node::Link(_) | Node::Other), _)) => Ok(node.clone()),
            _ => Err(LayerError::Link {
                link: String::from_utf8_lossy(link).into_owned(),
                target: String::from_utf8_lossy(target).into_owned(),
            }),
        }
    }

    /// Follows symbolic links in the folders of a path, inside the image, as runtimes do.
    fn resolve(&self, parents: &[Vec<u8>]) -> Result<Vec<u8>, LayerError> {
        let mut pending: Parts = parents.iter().rev().cloned().collect();
        let mut done: Vec<u8> = Vec::new();
        let mut hops = 0;
        while let Some(part) = pending.pop() {
            if part == b".." {
                let up = done.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
                done.truncate(up);
                continue;
            }
            let next = join(&done, &part);
            if next.len() > MAX_PATH {
                return Err(LayerError::TooLarge);
            }
            let Some((Node::Link(target), _)) = self.nodes.get(&next) else {
                done = next;
                continue;
            };
            hops += 1;
            if hops > MAX_LINKS {
                return Err(LayerError::Loop(
                    String::from_utf8_lossy(&next).into_owned(),
                ));
            }
            if target.first() == Some(&b'/') {
                done.clear();
            }
            let target_parts = target
                .split(|byte| *byte == b'/')
                .filter(|part| !part.is_empty() && *part != b".")
                .map(<[u8]>::to_vec);
            pending.extend(target_parts.collect::<Parts>().into_iter().rev());
        }
        Ok(done)
    }

    /// Hides what lower layers have: one name, or with the opaque marker everything in the folder.
    fn whiteout(&mut self, folder: &[u8], hidden: &[u8]) {
        if hidden == b".wh..opq" {
            self.remove_below(folder, true);
            return;
        }
        let path = join(folder, hidden);
        self.remove_below(&path, true);
        if self
            .nodes
            .get(&path)
            .is_some_and(|(_, layer)| *layer < self.layer)
        {
            self.nodes.remove(&path);
        }
    }

    fn remove_below(&mut self, folder: &[u8], only_lower: bool) {
        let mut from = folder.to_vec();
        if !from.is_empty() {
            from.push(b'/');
        }
        let below: Vec<Vec<u8>> = self
            .nodes
            .range::<[u8], _>((Bound::Included(from.as_slice()), Bound::Unbounded))
            .take_while(|(path, _)| path.starts_with(&from))
            .filter(|(_, (_, layer))| !only_lower || *layer < self.layer)
            .map(|(path, _)| path.clone())
            .collect();
        for path in below {
            self.nodes.remove(&path);
        }
    }

    fn make_folders(&mut self, parents: &[u8]) {
        let ends = parents
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'/')
            .map(|(place, _)| place)
            .chain([parents.len()]);
        for end in ends {
            let folder = parents.get(..end).unwrap_or(parents);
            if folder.is_empty() || matches!(self.nodes.get(folder), Some((Node::Folder, _))) {
                continue;
            }
            self.nodes
                .insert(folder.to_vec(), (Node::Folder, self.layer));
        }
    }

    fn set(&mut self, path: Vec<u8>, node: Node) {
        if !matches!(node, Node::Folder) {
            // What is no folder has nothing below it.
            self.remove_below(&path, false);
        }
        self.nodes.insert(path, (node, self.layer));
    }
}

fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(folder.len() + name.len() + 1);
    path.extend_from_slice(folder);
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// The parts of a path in an archive, which may start with `/` or `./` and never goes up.
fn parts_of(path: &[u8]) -> Result<Parts, LayerError> {
    let mut parts = Parts::new();
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                return Err(LayerError::Escape(
                    String::from_utf8_lossy(path).into_owned(),
                ));
            }
            _ => parts.push(part.to_vec()),
        }
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    enum Item<'a> {
        File(&'a str, &'a str),
        Folder(&'a str),
        Soft(&'a str, &'a str),
        Hard(&'a str, &'a str),
    }
    use Item::{File, Folder, Hard, Soft};

    fn layer(items: &[Item<'_>]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for item in items {
            let mut header = tar::Header::new_gnu();
            header.set_mode(0o755);
            header.set_size(0);
            match item {
                File(path, content) => {
                    header.set_size(content.len() as u64);
                    // Written by hand, so that a path may also be one that leads outside.
                    let name = path.as_bytes();
                    header.as_old_mut().name[..name.len()].copy_from_slice(name);
                    header.set_cksum();
                    builder.append(&header, content.as_bytes()).unwrap();
                }
                Folder(path) => {
                    header.set_entry_type(tar::EntryType::Directory);
                    builder.append_data(&mut header, path, &[][..]).unwrap();
                }
                Soft(path, target) => {
                    header.set_entry_type(tar::EntryType::Symlink);
                    builder.append_link(&mut header, path, target).unwrap();
                }
                Hard(path, target) => {
                    header.set_entry_type(tar::EntryType::Link);
                    builder.append_link(&mut header, path, target).unwrap();
                }
            }
        }
        builder.into_inner().unwrap()
    }

    fn apply(layers: &[&[Item<'_>]]) -> Result<Vec<(String, DigestSet)>, LayerError> {
        let mut tree = Tree::new();
        for items in layers {
            tree.apply(layer(items).as_slice(), &[HashAlg::Sha256])?;
        }
        Ok(tree
            .into_files()
            .into_iter()
            .map(|(path, digests)| (path.to_string(), digests))
            .collect())
    }

    fn files(expected: &[(&str, &str)]) -> Vec<(String, DigestSet)> {
        expected
            .iter()
            .map(|(path, content)| {
                let digest = HashAlg::Sha256.hash(&[content.as_bytes()]);
                ((*path).to_owned(), [digest].into())
            })
            .collect()
    }

    #[test]
    fn an_upper_layer_replaces_and_hides() {
        let found = apply(&[
            &[
                File("a", "1"),
                File("./d/b", "1"),
                File("/d/c", "1"),
                File("e/f", "1"),
            ],
            &[File("a", "2"), File("d/.wh.b", ""), File(".wh.e", "")],
        ]);
        assert_eq!(found.unwrap(), files(&[("/a", "2"), ("/d/c", "1")]));
    }

    #[test]
    fn an_opaque_folder_hides_only_what_is_below_it() {
        let lower: &[Item<'_>] = &[File("d/a", "1"), File("d/s/b", "1"), File("da", "1")];
        // Whether the marker comes before or after the new files makes no difference.
        for upper in [
            [File("d/.wh..wh..opq", ""), File("d/n", "2")],
            [File("d/n", "2"), File("d/.wh..wh..opq", "")],
        ] {
            let found = apply(&[lower, &upper]).unwrap();
            assert_eq!(found, files(&[("/d/n", "2"), ("/da", "1")]));
        }
    }

    #[test]
    fn a_whiteout_does_not_hide_its_own_layer() {
        let found = apply(&[&[File("a", "1")], &[File("a", "2"), File(".wh.a", "")]]);
        assert_eq!(found.unwrap(), files(&[("/a", "2")]));
    }

    #[test]
    fn files_are_written_through_linked_folders() {
        let found = apply(&[
            &[
                Folder("usr/bin"),
                Soft("bin", "usr/bin"),
                Soft("sbin", "/bin"),
            ],
            &[File("bin/tool", "1"), File("sbin/other", "2")],
            &[File("bin/.wh.tool", "")],
        ]);
        assert_eq!(found.unwrap(), files(&[("/usr/bin/other", "2")]));
    }

    #[test]
    fn links_stay_inside_the_image() {
        let found = apply(&[&[Soft("up", "../../../etc")], &[File("up/passwd", "x")]]);
        assert_eq!(found.unwrap(), files(&[("/etc/passwd", "x")]));
        assert!(matches!(
            apply(&[&[Soft("a", "b"), Soft("b", "a"), File("a/x", "")]]),
            Err(LayerError::Loop(_))
        ));
        assert!(matches!(
            apply(&[&[File("a/../../x", "")]]),
            Err(LayerError::Escape(_))
        ));
    }

    #[test]
    fn a_hard_link_has_the_content_of_its_target() {
        let found = apply(&[&[File("a", "1")], &[Hard("b", "a")], &[File(".wh.a", "")]]);
        assert_eq!(found.unwrap(), files(&[("/b", "1")]));
        assert!(matches!(
            apply(&[&[Hard("b", "a")]]),
            Err(LayerError::Link { .. })
        ));
    }

    #[test]
    fn a_file_in_place_of_a_folder_removes_it() {
        let found = apply(&[&[File("d/a", "1")], &[File("d", "2")]]);
        assert_eq!(found.unwrap(), files(&[("/d", "2")]));
        let found = apply(&[&[File("d", "2")], &[File("d/a", "1")]]);
        assert_eq!(found.unwrap(), files(&[("/d/a", "1")]));
    }
}
