//! Keys that are not in the order of the alphabet.

use locus_core::facts::AtomId;

use super::Builder;
use crate::kubernetes::object::Object;
use crate::kubernetes::vocabulary::{field, sig};
use crate::yaml::{Kind, Node};

/// Maps deeper than this are not looked into; the reader takes none that are much deeper.
const DEPTH: usize = 64;

impl Builder<'_, '_> {
    /// States the first key of each map of an object that stands after a greater one.
    pub(super) fn order(&mut self, object: &Object, atom: AtomId) {
        let mut open: Vec<(&Node, usize)> = vec![(&object.node, 0)];
        while let Some((node, depth)) = open.pop() {
            match &node.kind {
                Kind::Mapping(mapping) => {
                    let mut before: Option<&str> = None;
                    let mut told = false;
                    for entry in &mapping.entries {
                        let name = entry.name().map_or("", |name| name);
                        if let Some(greater) = before.filter(|before| *before > name && !told) {
                            told = true;
                            let span = entry.key.span;
                            let fact = self.facts.atom(sig!("LateKey"), name, span);
                            self.fact(field!("LateKey", "late_in"), fact, atom, span);
                            let field = field!("LateKey", "late_after");
                            self.text_fact(field, fact, greater, span);
                        }
                        before = before.max(Some(name));
                        open.push((&entry.value, depth + 1));
                    }
                }
                Kind::Sequence(items) => {
                    open.extend(items.iter().map(|item| (item, depth + 1)));
                }
                _ => {}
            }
            open.retain(|(_, depth)| *depth < DEPTH);
        }
    }
}
