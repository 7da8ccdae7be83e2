//! Numbers of pods that are open, as autoscalers decide them: symbols, and what depends on them.

use locus_core::facts::AtomId;
use locus_core::value::{Constraint, Domain, Symbol, SymbolId, SymbolKind, Value, ValueType};
use locus_core::{Int, Span};

use super::Builder;
use crate::kubernetes::scale;
use crate::kubernetes::vocabulary::sig;

/// Values that are listed of what depends on numbers of pods.
const LISTED: usize = 512;

impl Builder<'_, '_> {
    /// Adds a symbol for each number of pods that stays open.
    pub(super) fn open_counts(&mut self) {
        if !self.options.all_inputs {
            return;
        }
        for (at, scaled) in self.scales.open() {
            let Some(object) = self.model.object(at) else {
                continue;
            };
            let number = |count: usize| {
                let count = i64::try_from(count).unwrap_or(i64::MAX);
                Some(Value::Int(Int::from(count)))
            };
            let mut domain = Domain::of(ValueType::Int);
            domain.constraints.push(Constraint::Range {
                min: number(scaled.least),
                max: number(scaled.most),
            });
            let symbol = self.graph.add_symbol(Symbol {
                name: format!("{}{}", scale::INPUT, scale::full_name(object)).into(),
                kind: SymbolKind::Parameter,
                domain,
                span: scaled.most_at,
                default: None,
                depends: Vec::new(),
            });
            self.open.insert(at, symbol);
        }
    }

    /// The symbol of the number of pods of an object, when it is open.
    pub(super) fn open_replicas(&self, at: usize) -> Option<SymbolId> {
        self.open.get(&at).copied()
    }

    /// The atom of a number of pods that is open.
    pub(super) fn open_number(&mut self, symbol: SymbolId, span: Span) -> AtomId {
        let name = self.graph.symbol(symbol).name.clone();
        let value = Value::Symbolic(symbol);
        self.facts.valued(sig!("Number"), name, span, value)
    }

    fn computed(&mut self, name: &str, domain: Domain, depends: &[SymbolId], span: Span) -> Value {
        Value::Symbolic(self.graph.add_symbol(Symbol {
            name: name.into(),
            kind: SymbolKind::Computed,
            domain,
            span,
            default: None,
            depends: depends.to_vec(),
        }))
    }

    /// The atom of a truth value that depends on numbers of pods.
    pub(super) fn open_truth(&mut self, name: &str, depends: &[SymbolId], span: Span) -> AtomId {
        let value = self.computed(name, Domain::of(ValueType::Bool), depends, span);
        self.facts.valued(sig!("Bool"), name, span, value)
    }

    /// The atom of a text that depends on numbers of pods; its values, when they are few enough.
    pub(super) fn open_text(
        &mut self,
        name: &str,
        values: Option<Vec<String>>,
        depends: &[SymbolId],
        span: Span,
    ) -> AtomId {
        let mut domain = Domain::of(ValueType::String);
        if let Some(values) = values.filter(|values| values.len() <= LISTED) {
            let values = values.into_iter().map(Value::str).collect();
            domain.constraints.push(Constraint::OneOf(values));
        }
        let value = self.computed(name, domain, depends, span);
        self.facts.valued(sig!("Text"), name, span, value)
    }
}
