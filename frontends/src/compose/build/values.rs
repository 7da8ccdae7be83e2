//! Values as atoms: texts, numbers and truth values, known or symbolic.

use std::sync::Arc;

use locus_core::facts::AtomId;
use locus_core::value::{Constraint, Domain, Field, Symbol, SymbolId, SymbolKind, ValueType};
use locus_core::values::Malformed;
use locus_core::vocabulary::{FieldId, SigId};
use locus_core::{Diagnostic, Int, Item, Span, Value};

use super::Builder;
use crate::compose::tree::{Kind, Open, Tree};
use crate::compose::units;
use crate::compose::vocabulary::sig;

/// How a text becomes a number.
pub(super) type Unit = fn(&str) -> Result<i128, Malformed>;

impl Builder<'_> {
    /// The atom of a text.
    pub(super) fn text(&mut self, text: &str, span: Span) -> AtomId {
        if let Some(&atom) = self.texts.get(text) {
            return atom;
        }
        self.new_text(text.into(), span)
    }

    /// As [`text`](Self::text), for a text that can be shared.
    pub(super) fn shared_text(&mut self, text: &Arc<str>, span: Span) -> AtomId {
        if let Some(&atom) = self.texts.get(text) {
            return atom;
        }
        self.new_text(text.clone(), span)
    }

    fn new_text(&mut self, text: Arc<str>, span: Span) -> AtomId {
        let value = Value::Str(text.clone());
        let atom = self.facts.valued(sig!("Text"), text.clone(), span, value);
        self.texts.insert(text, atom);
        atom
    }

    /// The atom of a number.
    pub(super) fn number(&mut self, number: i128, span: Span) -> AtomId {
        let number = match i64::try_from(number) {
            Ok(small) => Int::from(small),
            Err(_) => Int::parse(&number.to_string(), 10).unwrap_or(Int::Small(i64::MAX)),
        };
        if let Some(&atom) = self.numbers.get(&number) {
            return atom;
        }
        let atom = self.facts.valued(
            sig!("Number"),
            number.to_string(),
            span,
            Value::Int(number.clone()),
        );
        self.numbers.insert(number, atom);
        atom
    }

    /// The atom of a truth value.
    pub(super) fn truth(&mut self, truth: bool, span: Span) -> AtomId {
        if let Some(atom) = self.truths.get(usize::from(truth)).copied().flatten() {
            return atom;
        }
        let (sig, name) = if truth {
            (sig!("True"), "true")
        } else {
            (sig!("False"), "false")
        };
        let atom = self.facts.valued(sig, name, span, Value::Bool(truth));
        if let Some(slot) = self.truths.get_mut(usize::from(truth)) {
            *slot = Some(atom);
        }
        atom
    }

    /// The symbol of a variable without a value.
    pub(super) fn variable(&mut self, name: &Arc<str>, span: Span) -> SymbolId {
        if let Some(&symbol) = self.symbols.get(name) {
            return symbol;
        }
        let usage = self.project.usages.get(name);
        let mut domain = Domain::of(ValueType::String);
        if usage.is_some_and(|usage| usage.required.is_some()) {
            domain.constraints.push(Constraint::Length {
                min: Some(Int::from(1_i64)),
                max: None,
            });
        }
        let span = usage
            .and_then(|usage| usage.uses.first().copied())
            .unwrap_or(span);
        // Without a value, Compose goes on with an empty one.
        let default = usage
            .and_then(|usage| usage.default.clone())
            .unwrap_or_default();
        let symbol = self.graph.add_symbol(Symbol {
            name: name.clone(),
            kind: SymbolKind::Parameter,
            domain,
            span,
            default: Some(Item::new(Value::Str(default), span)),
            depends: Vec::new(),
        });
        self.symbols.insert(name.clone(), symbol);
        symbol
    }

    /// The symbol of a text that depends on variables.
    pub(super) fn symbol(&mut self, open: &Open, domain: Domain, span: Span) -> SymbolId {
        let depends: Vec<SymbolId> = open
            .variables
            .iter()
            .map(|name| self.variable(name, span))
            .collect();
        if let ([only], true, ValueType::String) = (depends.as_slice(), open.whole, domain.ty) {
            return *only;
        }
        self.graph.add_symbol(Symbol {
            name: open.written.clone(),
            kind: SymbolKind::Computed,
            domain,
            span,
            default: None,
            depends,
        })
    }

    /// The atom of a text that depends on variables; the same text is the same atom.
    pub(super) fn open_atom(&mut self, sig: SigId, open: &Open, span: Span) -> AtomId {
        let key = (sig, open.written.clone());
        if let Some(&atom) = self.open.get(&key) {
            return atom;
        }
        let ty = if sig == sig!("Number") {
            ValueType::Int
        } else if sig == sig!("Bool") {
            ValueType::Bool
        } else {
            ValueType::String
        };
        let symbol = self.symbol(open, Domain::of(ty), span);
        let atom = self
            .facts
            .valued(sig, open.written.clone(), span, Value::Symbolic(symbol));
        self.open.insert(key, atom);
        atom
    }

    /// The atom of what a text that depends on variables comes to, which is not the text itself.
    pub(super) fn part_of(&mut self, sig: SigId, open: &Open, what: &str, span: Span) -> AtomId {
        let mut domain = Domain::of(ValueType::Bool);
        if sig != sig!("Bool") {
            // It is a number of things, of which there is one at least.
            domain = Domain::of(ValueType::Int);
            domain.constraints.push(Constraint::Range {
                min: Some(Value::Int(Int::Small(1))),
                max: None,
            });
        }
        let symbol = self.symbol(open, domain, span);
        let name = format!("{} {what}", open.written);
        self.facts.valued(sig, name, span, Value::Symbolic(symbol))
    }

    /// States a text; nothing for what is no scalar.
    pub(super) fn text_fact(&mut self, field: FieldId<2>, owner: AtomId, tree: &Tree) {
        let atom = match (&tree.kind, tree.text()) {
            (Kind::Open(open), _) => self.open_atom(sig!("Text"), open, tree.span),
            (_, Some(text)) => self.shared_text(&text, tree.span),
            _ => return,
        };
        self.fact(field, owner, atom, tree.span);
    }

    /// States each of several texts, written as a list or alone.
    pub(super) fn texts_fact(&mut self, field: FieldId<2>, owner: AtomId, tree: &Tree) {
        for item in tree.one_or_many() {
            self.text_fact(field, owner, item);
        }
    }

    /// A truth value as an atom; a diagnostic when it is none.
    pub(super) fn truth_of(&mut self, tree: &Tree) -> Option<AtomId> {
        match &tree.kind {
            Kind::Bool(b) => Some(self.truth(*b, tree.span)),
            Kind::Open(open) => Some(self.open_atom(sig!("Bool"), open, tree.span)),
            Kind::Str(text) => match units::boolean(text) {
                Ok(b) => Some(self.truth(b, tree.span)),
                Err(reason) => {
                    self.unreadable(text, tree.span, reason.0, "write `true` or `false`");
                    None
                }
            },
            // The schema has reported it.
            _ => None,
        }
    }

    /// States a truth value.
    pub(super) fn truth_fact(&mut self, field: FieldId<2>, owner: AtomId, tree: &Tree) {
        if let Some(atom) = self.truth_of(tree) {
            self.fact(field, owner, atom, tree.span);
        }
    }

    /// States a truth value, or what it is when nothing is written.
    pub(super) fn truth_or(
        &mut self,
        field: FieldId<2>,
        owner: AtomId,
        tree: Option<&Tree>,
        otherwise: bool,
        span: Span,
    ) {
        let (atom, span) = match tree {
            Some(tree) => (self.truth_of(tree), tree.span),
            None => (None, span),
        };
        let atom = match atom {
            Some(atom) => atom,
            None => self.truth(otherwise, span),
        };
        self.fact(field, owner, atom, span);
    }

    /// A number as an atom; a diagnostic when it is none.
    pub(super) fn number_of(&mut self, tree: &Tree, unit: Unit, help: &str) -> Option<AtomId> {
        if let Kind::Open(open) = &tree.kind {
            return Some(self.open_atom(sig!("Number"), open, tree.span));
        }
        if !matches!(tree.kind, Kind::Int(_) | Kind::Float(_) | Kind::Str(_)) {
            return None;
        }
        let text = tree.text()?;
        match unit(&text) {
            Ok(number) => Some(self.number(number, tree.span)),
            Err(reason) => {
                self.unreadable(&text, tree.span, reason.0, help);
                None
            }
        }
    }

    /// States a number.
    pub(super) fn number_fact(
        &mut self,
        field: FieldId<2>,
        owner: AtomId,
        tree: &Tree,
        unit: Unit,
        help: &str,
    ) {
        if let Some(atom) = self.number_of(tree, unit, help) {
            self.fact(field, owner, atom, tree.span);
        }
    }

    /// Reports a text that does not say what it should.
    pub(super) fn unreadable(&mut self, text: &str, span: Span, reason: &str, help: &str) {
        // What was refused already needs no second word.
        if !self.reported.insert(span) {
            return;
        }
        self.diagnostics.push(
            Diagnostic::error(
                "compose-value",
                format!("`{text}` cannot be used here: {reason}"),
            )
            .at(span)
            .help(help),
        );
    }

    /// A tree as a value of the graph.
    pub(super) fn value(&mut self, tree: &Tree) -> Value {
        match &tree.kind {
            Kind::Null => Value::Null,
            Kind::Bool(b) => Value::Bool(*b),
            Kind::Int(n) => Value::Int(n.clone()),
            Kind::Float(n) => Value::Float(*n),
            Kind::Str(text) => Value::Str(text.clone()),
            Kind::Open(open) => {
                Value::Symbolic(self.symbol(open, Domain::of(ValueType::String), tree.span))
            }
            Kind::List(items) => Value::List(
                items
                    .iter()
                    .map(|item| Item::new(self.value(item), item.span))
                    .collect(),
            ),
            Kind::Map(_) => Value::Map(self.fields(tree)),
        }
    }

    /// The entries of a map as fields of the graph.
    pub(super) fn fields(&mut self, tree: &Tree) -> Vec<Field> {
        tree.pairs()
            .iter()
            .map(|pair| Field {
                name: pair.key.clone(),
                key: pair.key_span,
                item: Item::new(self.value(&pair.value), pair.value.span),
            })
            .collect()
    }
}
