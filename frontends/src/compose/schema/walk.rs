//! Walks a file along the schema.

use locus_core::{Diagnostic, Span};

use super::node::{Node, NodeId, Schema, Types};
use super::report;
use super::stored::SCHEMA;
use crate::compose::tree::{Kind, Tree};

/// Everything in which a file differs from the schema.
pub(crate) fn check(tree: &Tree, diagnostics: &mut Vec<Diagnostic>) {
    let schema = &*SCHEMA;
    let mut walker = Walker {
        schema,
        path: Vec::with_capacity(8),
        parents: Vec::with_capacity(8),
        diagnostics,
    };
    walker.value(schema.root(), tree, tree.span);
}

/// A step from the root: a key, or a position in a list.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'t> {
    Key(&'t str),
    Item(usize),
}

pub(super) struct Walker<'t, 'd> {
    pub(super) schema: &'static Schema,
    pub(super) path: Vec<Step<'t>>,
    /// The maps that lead here, outermost first.
    pub(super) parents: Vec<NodeId>,
    pub(super) diagnostics: &'d mut Vec<Diagnostic>,
}

pub(super) fn type_of(tree: &Tree) -> Types {
    match &tree.kind {
        Kind::Null => Types::NULL,
        Kind::Bool(_) => Types::BOOL,
        Kind::Int(_) => Types::INT,
        // JSON Schema: a number without a fraction is an integer.
        Kind::Float(n) if n.fract() == 0.0 => Types::INT,
        Kind::Float(_) => Types::FRACTION,
        Kind::Str(_) | Kind::Open(_) => Types::STR,
        Kind::List(_) => Types::LIST,
        Kind::Map(_) => Types::MAP,
    }
}

impl<'t> Walker<'t, '_> {
    /// Checks a value; `at` is where a mistake of the whole value is shown: its key, or itself.
    fn value(&mut self, id: NodeId, tree: &'t Tree, at: Span) {
        let schema = self.schema;
        let node = schema.node(id);
        let ty = type_of(tree);
        if !schema.accepts(id).has(ty) {
            report::wrong_type(self, id, tree, at);
            return;
        }
        if !node.one_of.is_empty() {
            let chosen = node
                .one_of
                .iter()
                .copied()
                .find(|&alternative| schema.accepts(alternative).has(ty));
            if let Some(chosen) = chosen {
                self.value(chosen, tree, at);
            }
            return;
        }
        match &tree.kind {
            Kind::Map(_) => self.map(id, node, tree, at),
            Kind::List(items) => self.list(node, items),
            Kind::Str(text) => {
                if !node.choices.is_empty() && !node.choices.contains(&&**text) {
                    report::not_a_choice(self, node, text, tree.span);
                }
                if node.pattern.as_ref().is_some_and(|p| !p.matches(text)) {
                    report::not_of_pattern(self, text, tree.span);
                }
            }
            Kind::Int(n) => self.range(node, n.to_f64(), tree.span),
            Kind::Float(n) => self.range(node, *n, tree.span),
            // What depends on a variable may be anything.
            Kind::Open(_) | Kind::Null | Kind::Bool(_) => {}
        }
    }

    fn map(&mut self, id: NodeId, node: &Node, tree: &'t Tree, at: Span) {
        for pair in tree.pairs() {
            let Some(child) = self.schema.child(node, &pair.key) else {
                if node.closed {
                    report::unknown_key(self, id, pair);
                }
                continue;
            };
            // Nothing is said about what an extension holds.
            if pair.key.starts_with("x-") && !node.properties.contains_key(&pair.key) {
                let free = self.schema.node(child);
                if free.types == Types::ALL && free.one_of.is_empty() {
                    continue;
                }
            }
            self.path.push(Step::Key(&pair.key));
            self.parents.push(id);
            self.value(child, &pair.value, pair.key_span);
            self.parents.pop();
            self.path.pop();
        }
        for &key in &node.required {
            if tree.get(key).is_none() {
                report::missing_key(self, &[key], at);
            }
        }
        if !node.required_any.is_empty()
            && node.required_any.iter().all(|key| tree.get(key).is_none())
        {
            report::missing_key(self, &node.required_any, at);
        }
    }

    fn list(&mut self, node: &Node, items: &'t [Tree]) {
        if let Some(child) = node.items {
            for (index, item) in items.iter().enumerate() {
                self.path.push(Step::Item(index));
                self.value(child, item, item.span);
                self.path.pop();
            }
        }
        if node.unique {
            self.unique(items);
        }
    }

    /// Reports items that say the same. Texts, which are most, are compared by hash.
    fn unique(&mut self, items: &'t [Tree]) {
        let mut texts = rustc_hash::FxHashMap::default();
        let mut others: Vec<&Tree> = Vec::new();
        for item in items {
            let first = match &item.kind {
                Kind::Str(text) => {
                    if items.len() == 1 {
                        return;
                    }
                    texts.insert(&**text, item)
                }
                Kind::Open(open) => texts.insert(&*open.written, item),
                _ => {
                    // Maps are few; beyond that a list is not worth a quadratic search.
                    let first = others
                        .iter()
                        .take(200)
                        .find(|other| other.same(item))
                        .copied();
                    others.push(item);
                    first
                }
            };
            if let Some(first) = first {
                report::repeated_item(self, item, first.span);
            }
        }
    }

    fn range(&mut self, node: &Node, n: f64, span: Span) {
        if let Some(minimum) = node.minimum.filter(|&minimum| n < minimum) {
            report::out_of_range(self, "at least", minimum, span);
        }
        if let Some(maximum) = node.maximum.filter(|&maximum| n > maximum) {
            report::out_of_range(self, "at most", maximum, span);
        }
    }
}
