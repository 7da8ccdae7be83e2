//! Values as atoms: texts, numbers and truth values.

use std::sync::Arc;

use locus_core::facts::AtomId;
use locus_core::vocabulary::FieldId;
use locus_core::{Int, Span, Value};

use super::{Builder, PortWord};
use crate::kubernetes::access::Access as _;
use crate::kubernetes::object::{Label, Text};
use crate::kubernetes::vocabulary::{field, sig};
use crate::yaml::Node;

impl Builder<'_, '_> {
    /// The atom of a text.
    pub(super) fn text(&mut self, text: &str, span: Span) -> AtomId {
        if let Some(&atom) = self.texts.get(text) {
            return atom;
        }
        let text: Arc<str> = text.into();
        let value = Value::Str(text.clone());
        let atom = self.facts.valued(sig!("Text"), text.clone(), span, value);
        self.texts.insert(text, atom);
        atom
    }

    /// The atom of a number.
    pub(super) fn number(&mut self, number: i64, span: Span) -> AtomId {
        let number = Int::from(number);
        if let Some(&atom) = self.numbers.get(&number) {
            return atom;
        }
        let value = Value::Int(number.clone());
        let atom = self
            .facts
            .valued(sig!("Number"), number.to_string(), span, value);
        self.numbers.insert(number, atom);
        atom
    }

    /// The atom of a truth value.
    pub(super) fn truth(&mut self, truth: bool, span: Span) -> AtomId {
        if let Some(atom) = self.truths.get(usize::from(truth)).copied().flatten() {
            return atom;
        }
        let (sig, name) = match truth {
            true => (sig!("True"), "true"),
            false => (sig!("False"), "false"),
        };
        let atom = self.facts.valued(sig, name, span, Value::Bool(truth));
        if let Some(slot) = self.truths.get_mut(usize::from(truth)) {
            *slot = Some(atom);
        }
        atom
    }

    /// States a text.
    pub(super) fn text_fact(&mut self, field: FieldId<2>, owner: AtomId, text: &str, span: Span) {
        let atom = self.text(text, span);
        self.fact(field, owner, atom, span);
    }

    /// States a text that is given.
    pub(super) fn maybe_text(&mut self, field: FieldId<2>, owner: AtomId, text: Option<&Text>) {
        if let Some(text) = text {
            self.text_fact(field, owner, &text.text, text.span);
        }
    }

    /// States the text of a key of a map, when it is there and not empty.
    pub(super) fn key_text(
        &mut self,
        field: FieldId<2>,
        owner: AtomId,
        map: Option<&Node>,
        key: &str,
    ) {
        let text = map.and_then(|map| map.text_of(key));
        let text = text.filter(|text| !text.text.is_empty());
        self.maybe_text(field, owner, text.as_ref());
    }

    /// States a number.
    pub(super) fn number_fact(
        &mut self,
        field: FieldId<2>,
        owner: AtomId,
        number: i64,
        span: Span,
    ) {
        let atom = self.number(number, span);
        self.fact(field, owner, atom, span);
    }

    /// States the number of a key of a map, when it is there.
    pub(super) fn key_number(
        &mut self,
        field: FieldId<2>,
        owner: AtomId,
        map: Option<&Node>,
        key: &str,
    ) {
        if let Some((map, number)) = map.and_then(|map| Some((map, map.int_of(key)?))) {
            self.number_fact(field, owner, number, map.span_of(key));
        }
    }

    /// States a truth value.
    pub(super) fn truth_fact(&mut self, field: FieldId<2>, owner: AtomId, truth: bool, span: Span) {
        let atom = self.truth(truth, span);
        self.fact(field, owner, atom, span);
    }

    /// States the truth value of a key of a map, when it is there.
    pub(super) fn key_truth(
        &mut self,
        field: FieldId<2>,
        owner: AtomId,
        map: Option<&Node>,
        key: &str,
    ) {
        if let Some((map, truth)) = map.and_then(|map| Some((map, map.bool_of(key)?))) {
            self.truth_fact(field, owner, truth, map.span_of(key));
        }
    }

    /// States labels, annotations or options.
    pub(super) fn label_facts(&mut self, field: FieldId<2>, owner: AtomId, labels: &[Label]) {
        for label in labels {
            self.label_fact(field, owner, &label.key, &label.value);
        }
    }

    /// States a label, annotation or option.
    pub(super) fn label_fact(
        &mut self,
        field: FieldId<2>,
        owner: AtomId,
        key: &Text,
        value: &Text,
    ) {
        let atom = self.facts.atom(sig!("Label"), key.text.clone(), value.span);
        self.text_fact(field!("Label", "key"), atom, &key.text, key.span);
        self.text_fact(field!("Label", "value"), atom, &value.text, value.span);
        self.fact(field, owner, atom, value.span);
    }

    /// The name or number of a port, with its atom.
    pub(super) fn port(&mut self, node: &Node) -> Option<(PortWord, AtomId)> {
        let span = node.used_at();
        if let Some(number) = node.int() {
            return Some((PortWord::Number(number), self.number(number, span)));
        }
        let text = node.text_at().filter(|text| !text.text.is_empty())?;
        let atom = self.text(&text.text, span);
        // The server reads a number in quotes as a name; no port can have it.
        Some((PortWord::Name(text.text), atom))
    }
}
