//! The types that come with the program, as trees that were read before: reading their text took half of the time of a check.

use std::sync::Arc;

use locus_core::{FileId, Sources, Span};
use serde::{Deserialize, Serialize};

use super::{Text, all};
use crate::yaml::{self, Entry, Kind, Limits, Mapping, Node, Scalar, Style};

/// A tree as it is stored: the texts in it, each once, and its nodes, those within a node after it.
#[derive(Debug, Serialize, Deserialize)]
struct Tree<'t> {
    #[serde(borrow)]
    texts: Vec<&'t str>,
    nodes: Vec<Stored>,
}

/// A node: what it is, its text or how many it holds, and where it starts and how long it is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Stored(Is, u32, u32, u32);

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Is {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
    Folded,
    Sequence,
    Mapping,
}

/// The tree of a text that is the file.
pub(in crate::tosca) fn tree(text: &Text, file: FileId, sources: &Sources) -> Node {
    read(text.stored, file)
        .or_else(|| parsed(file, sources))
        .unwrap_or_else(|| Node::new(Kind::Mapping(Mapping::default()), Span::start_of(file)))
}

fn parsed(file: FileId, sources: &Sources) -> Option<Node> {
    let parsed = yaml::parse(sources, file, &Limits::default());
    let document = parsed.documents.into_iter().next()?;
    document
        .root
        .as_mapping()
        .is_some()
        .then_some(document.root)
}

fn read(stored: &[u8], file: FileId) -> Option<Node> {
    let tree: Tree<'_> = postcard::from_bytes(stored).ok()?;
    let texts: Vec<Arc<str>> = tree.texts.into_iter().map(Arc::from).collect();
    node(&mut tree.nodes.into_iter(), &texts, file)
}

fn node(
    nodes: &mut impl Iterator<Item = Stored>,
    texts: &[Arc<str>],
    file: FileId,
) -> Option<Node> {
    let Stored(is, what, start, length) = nodes.next()?;
    let scalar = |style| {
        let text = texts.get(what as usize)?.clone();
        Some(Kind::Scalar(Scalar { text, style }))
    };
    let kind = match is {
        Is::Plain => scalar(Style::Plain)?,
        Is::SingleQuoted => scalar(Style::SingleQuoted)?,
        Is::DoubleQuoted => scalar(Style::DoubleQuoted)?,
        Is::Literal => scalar(Style::Literal)?,
        Is::Folded => scalar(Style::Folded)?,
        Is::Sequence => {
            let items = (0..what).map(|_| node(nodes, texts, file));
            Kind::Sequence(items.collect::<Option<_>>()?)
        }
        Is::Mapping => {
            let entry = |_| {
                let key = node(nodes, texts, file)?;
                let value = node(nodes, texts, file)?;
                Some(Entry { key, value })
            };
            let entries = (0..what).map(entry).collect::<Option<_>>()?;
            Kind::Mapping(Mapping { entries })
        }
    };
    let start = start as usize;
    Some(Node::new(
        kind,
        Span::new(file, start, start + length as usize),
    ))
}

/// The trees of all types that come with the program as they should be stored, with the names of their files.
pub fn to_store() -> Option<Vec<(String, Vec<u8>)>> {
    let trees = all().into_iter().map(|text| {
        let mut sources = Sources::new();
        let file = sources.add(text.name, text.text);
        let root = parsed(file, &sources)?;
        let mut tree = Tree {
            texts: Vec::new(),
            nodes: Vec::new(),
        };
        let mut all = Vec::new();
        store(&root, &mut all, &mut tree.nodes)?;
        tree.texts = all.iter().map(|text| &**text).collect();
        let bytes = postcard::to_stdvec(&tree).ok()?;
        Some((format!("{}.postcard", text.file), bytes))
    });
    trees.collect()
}

/// Adds a node and what it holds; none for what cannot be stored.
fn store(node: &Node, texts: &mut Vec<Arc<str>>, nodes: &mut Vec<Stored>) -> Option<()> {
    if node.extra.is_some() {
        return None;
    }
    let Span { start, end, .. } = node.span;
    let mut add = |is, what: usize| {
        nodes.push(Stored(is, u32::try_from(what).ok()?, start, end - start));
        Some(())
    };
    match &node.kind {
        Kind::Scalar(scalar) => {
            let known = texts.iter().position(|text| *text == scalar.text);
            let at = known.unwrap_or(texts.len());
            if known.is_none() {
                texts.push(scalar.text.clone());
            }
            let is = match scalar.style {
                Style::Plain => Is::Plain,
                Style::SingleQuoted => Is::SingleQuoted,
                Style::DoubleQuoted => Is::DoubleQuoted,
                Style::Literal => Is::Literal,
                Style::Folded => Is::Folded,
            };
            add(is, at)
        }
        Kind::Sequence(items) => {
            add(Is::Sequence, items.len())?;
            items.iter().try_for_each(|item| store(item, texts, nodes))
        }
        Kind::Mapping(map) => {
            add(Is::Mapping, map.len())?;
            map.entries.iter().try_for_each(|entry| {
                store(&entry.key, texts, nodes)?;
                store(&entry.value, texts, nodes)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_what_the_texts_say() {
        for (text, (_, bytes)) in all().iter().zip(to_store().unwrap()) {
            assert!(bytes == text.stored, "run `cargo xtask tosca-types`");
            let mut sources = Sources::new();
            let file = sources.add(text.name, text.text);
            assert_eq!(read(text.stored, file), parsed(file, &sources));
        }
    }
}
