//! Conditions: named ones and calls, evaluated as far as their arguments are known.

use std::sync::Arc;

use locus_core::Span;
use locus_core::value::{Domain, Item, Logic, Symbol, SymbolKind, Value, ValueType};

use super::engine::{Engine, Stack, Truth};
use super::eval::Uses;
use super::functions;
use super::parameter::truth;
use super::template::SCHEMA;
use super::yaql;
use crate::yaml::{Kind, Node, Typed};

impl Engine<'_> {
    /// Whether a condition, or the name of one, holds.
    pub(super) fn truth(&mut self, stack: &mut Stack, node: &Node, uses: &mut Uses) -> Truth {
        match &node.kind {
            Kind::Scalar(text) => match SCHEMA.resolve(text, node.tag()) {
                Typed::Bool(flag) => Truth::Known(flag),
                Typed::Str(name) => self.named_condition(stack, &name, node.used_at()),
                _ => self.unknown_condition(node.used_at()),
            },
            Kind::Mapping(mapping) => {
                if let [entry] = mapping.entries.as_slice() {
                    let info = stack.prepared.template.info;
                    let variant = entry
                        .name()
                        .and_then(|name| info.condition_functions.get(&**name));
                    if let Some(variant) = variant {
                        return self.condition_call(
                            stack,
                            variant,
                            &entry.value,
                            node.used_at(),
                            uses,
                        );
                    }
                }
                self.unknown_condition(node.used_at())
            }
            Kind::Sequence(_) => self.unknown_condition(node.used_at()),
        }
    }

    fn unknown_condition(&mut self, span: Span) -> Truth {
        self.condition_symbol("condition", span, &[])
    }

    fn condition_symbol(&mut self, name: &str, span: Span, parts: &[&Item]) -> Truth {
        let item = self.computed(name, ValueType::Bool, span, parts);
        match item.value {
            Value::Symbolic(symbol) => Truth::Symbol(symbol),
            _ => Truth::Known(false),
        }
    }

    /// A condition that others decide.
    fn logic(&mut self, name: &str, span: Span, logic: Logic) -> Truth {
        Truth::Symbol(self.graph.add_symbol(Symbol {
            name: name.into(),
            depends: logic.depends(),
            kind: SymbolKind::Logic(logic),
            domain: Domain::of(ValueType::Bool),
            span,
            default: None,
        }))
    }

    fn named_condition(&mut self, stack: &mut Stack, name: &Arc<str>, span: Span) -> Truth {
        let Some(&index) = stack.prepared.by_condition.get(name) else {
            return self.unknown_condition(span);
        };
        if let Some(Some(known)) = stack.conditions.get(index) {
            return *known;
        }
        // While it is evaluated it counts as unknown: a condition that needs itself never ends.
        let placeholder = self.condition_symbol(name, span, &[]);
        if let Some(slot) = stack.conditions.get_mut(index) {
            *slot = Some(placeholder);
        }
        let prepared = stack.prepared.clone();
        let Some(condition) = prepared.template.conditions.get(index) else {
            return placeholder;
        };
        let mut uses = Uses::default();
        let found = self.truth(stack, &condition.node, &mut uses);
        if let Some(slot) = stack.conditions.get_mut(index) {
            *slot = Some(found);
        }
        found
    }

    pub(super) fn condition_call(
        &mut self,
        stack: &mut Stack,
        variant: &str,
        arg: &Node,
        span: Span,
        uses: &mut Uses,
    ) -> Truth {
        match variant {
            "Not" => {
                let inner = match arg.as_sequence() {
                    Some([only]) => only,
                    _ => arg,
                };
                match self.truth(stack, inner, uses) {
                    Truth::Known(flag) => Truth::Known(!flag),
                    Truth::Symbol(symbol) => self.logic("not", span, Logic::Not(symbol)),
                }
            }
            "And" | "Or" => {
                // What decides the whole: false for `and`, true for `or`.
                let decisive = variant == "Or";
                let mut open = Vec::new();
                for item in arg.as_sequence().unwrap_or(&[]) {
                    match self.truth(stack, item, uses) {
                        Truth::Known(flag) if flag == decisive => return Truth::Known(decisive),
                        Truth::Known(_) => {}
                        Truth::Symbol(symbol) => open.push(symbol),
                    }
                }
                match (open.as_slice(), decisive) {
                    ([], _) => Truth::Known(!decisive),
                    ([only], _) => Truth::Symbol(*only),
                    (_, true) => self.logic("or", span, Logic::Any(open)),
                    (_, false) => self.logic("and", span, Logic::All(open)),
                }
            }
            _ => {
                let item = match variant {
                    "GetParam" | "ParamRef" => {
                        Some(self.get_param(stack, &"condition".into(), arg, span, uses))
                    }
                    "FindInMap" => {
                        Some(self.find_in_map(stack, &"condition".into(), arg, span, uses))
                    }
                    _ => self.eval(stack, arg, uses),
                };
                let Some(item) = item else {
                    return self.unknown_condition(span);
                };
                self.refuse(variant, &variant.to_lowercase().into(), arg, &item);
                let value = match variant {
                    "Equals" => functions::equals(&item),
                    "Contains" => functions::contains(&item),
                    "Yaql" => yaql::evaluate(&item),
                    _ => Some(item.value.clone()),
                };
                match value {
                    Some(Value::Bool(flag)) => Truth::Known(flag),
                    Some(Value::Str(text)) if truth(&text).is_some() => {
                        Truth::Known(truth(&text) == Some(true))
                    }
                    Some(Value::Symbolic(symbol)) => Truth::Symbol(symbol),
                    None if variant == "Equals" => match item.value {
                        Value::List(ref items) if items.len() == 2 => {
                            let sides: Vec<Value> =
                                items.iter().map(|item| item.value.clone()).collect();
                            let [a, b] = sides.try_into().unwrap_or([Value::Null, Value::Null]);
                            let equal = Logic::Equal(Box::new(a), Box::new(b));
                            self.logic("equals", span, equal)
                        }
                        _ => self.condition_symbol("equals", span, &[&item]),
                    },
                    _ => self.condition_symbol(&variant.to_lowercase(), span, &[&item]),
                }
            }
        }
    }
}
