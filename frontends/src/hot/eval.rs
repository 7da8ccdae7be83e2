//! Functions evaluated as far as their arguments are known, symbolic beyond.

use std::sync::Arc;

use locus_core::graph::RoleKind;
use locus_core::value::{
    Constraint, Domain, Field, Item, Symbol, SymbolKind, Value, ValueType, field,
};
use locus_core::{LocationId, Span};

use super::data::{PropertyType, language};
use super::engine::{Engine, Resolved, Stack, Truth};
use super::functions;
use super::literal::{literal, scalar};
use super::template::SCHEMA;
use super::yaql;
use crate::yaml::{Kind, Node};

/// Calls within calls beyond which a template is refused; files nest less deeply than this.
const MAX_DEPTH: usize = 200;

/// A mention of another location while something was evaluated.
#[derive(Clone, Debug)]
pub(super) struct Use {
    pub(super) target: LocationId,
    pub(super) kind: RoleKind,
    pub(super) label: Arc<str>,
    pub(super) span: Span,
}

/// Mentions, and the path of the property that is being evaluated.
#[derive(Debug, Default)]
pub(super) struct Uses {
    pub(super) list: Vec<Use>,
    pub(super) path: String,
}

impl Uses {
    fn note(&mut self, target: LocationId, kind: RoleKind, span: Span) {
        self.list.push(Use {
            target,
            kind,
            label: self.path.as_str().into(),
            span,
        });
    }
}

impl Engine<'_> {
    /// The value of a node; `None` when a condition leaves it out.
    pub(super) fn eval(&mut self, stack: &mut Stack, node: &Node, uses: &mut Uses) -> Option<Item> {
        let value = match &node.kind {
            Kind::Scalar(text) => scalar(SCHEMA.resolve(text, node.tag())),
            Kind::Sequence(items) => {
                let mut list = Vec::with_capacity(items.len());
                let length = uses.path.len();
                for (index, item) in items.iter().enumerate() {
                    push_step(&mut uses.path, &index.to_string());
                    list.extend(self.eval(stack, item, uses));
                    uses.path.truncate(length);
                }
                Value::List(list)
            }
            Kind::Mapping(mapping) => {
                if let [entry] = mapping.entries.as_slice() {
                    let info = stack.prepared.template.info;
                    if let Some(name) = entry.name()
                        && let Some(variant) = info.functions.get(&**name)
                    {
                        return self.call(stack, name, variant, &entry.value, node.used_at(), uses);
                    }
                }
                let mut fields: Vec<Field> = Vec::with_capacity(mapping.entries.len());
                let length = uses.path.len();
                for (name, entry) in mapping.named() {
                    push_step(&mut uses.path, name);
                    if let Some(item) = self.eval(stack, &entry.value, uses) {
                        fields.push(Field {
                            name: name.clone(),
                            key: entry.key.span,
                            item,
                        });
                    }
                    uses.path.truncate(length);
                }
                Value::Map(fields)
            }
        };
        Some(Item::new(value, node.used_at()))
    }

    fn call(
        &mut self,
        stack: &mut Stack,
        name: &Arc<str>,
        variant: &str,
        arg: &Node,
        span: Span,
        uses: &mut Uses,
    ) -> Option<Item> {
        if self.depth >= MAX_DEPTH {
            return Some(self.computed(name, ValueType::Any, span, &[]));
        }
        self.depth += 1;
        let result = self.call_within(stack, name, variant, arg, span, uses);
        self.depth -= 1;
        result.map(|mut item| {
            if item.span != span {
                item.from = item.from.or(Some(item.span));
                item.span = span;
            }
            item
        })
    }

    fn call_within(
        &mut self,
        stack: &mut Stack,
        name: &Arc<str>,
        variant: &str,
        arg: &Node,
        span: Span,
        uses: &mut Uses,
    ) -> Option<Item> {
        match variant {
            "GetParam" => Some(self.get_param(stack, name, arg, span, uses)),
            "GetResource" => Some(self.get_resource(stack, name, arg, span, uses)),
            "Ref" => match arg.text() {
                Some(text) if stack.prepared.by_resource.contains_key(text) => {
                    Some(self.get_resource(stack, name, arg, span, uses))
                }
                _ => Some(self.get_param(stack, name, arg, span, uses)),
            },
            "GetAttThenSelect" | "GetAtt" | "GetAttAllAttributes" => {
                Some(self.get_attr(stack, name, arg, span, uses))
            }
            "If" | "IfNullable" => self.choose(stack, name, arg, span, uses),
            "Equals" | "Not" | "And" | "Or" | "Contains" => {
                let value = match self.condition_call(stack, variant, arg, span, uses) {
                    Truth::Known(flag) => Value::Bool(flag),
                    Truth::Symbol(symbol) => Value::Symbolic(symbol),
                };
                Some(Item::new(value, span))
            }
            "GetFile" => Some(self.get_file(stack, name, arg, span)),
            "ResourceFacade" => Some(self.computed(name, ValueType::Any, span, &[])),
            "FindInMap" => Some(self.find_in_map(stack, name, arg, span, uses)),
            "Repeat" | "RepeatWithMap" | "RepeatWithNestedLoop" => {
                Some(self.repeat(stack, name, arg, span, uses))
            }
            _ => {
                let item = self.eval(stack, arg, uses)?;
                self.refuse(variant, name, arg, &item);
                let value = match variant {
                    "Yaql" => yaql::evaluate(&item),
                    _ => functions::apply(variant, &item),
                };
                Some(match value {
                    Some(value) => Item::new(value, span),
                    None => {
                        let ty = functions::result_type(variant);
                        self.computed(name, ty, span, &[&item])
                    }
                })
            }
        }
    }

    /// Says why Heat refuses a call whose argument is known.
    pub(super) fn refuse(&mut self, variant: &str, name: &Arc<str>, arg: &Node, item: &Item) {
        let refusal = match variant {
            "Yaql" => yaql::refusal(item, self.sources),
            _ => functions::refusal(variant, item).map(|problem| (arg.used_at(), problem)),
        };
        if let Some((span, problem)) = refusal
            && self.said.insert((arg.used_at(), "refused"))
        {
            self.malformed(name, span, &problem);
        }
    }

    pub(super) fn get_param(
        &mut self,
        stack: &mut Stack,
        function: &Arc<str>,
        arg: &Node,
        span: Span,
        uses: &mut Uses,
    ) -> Item {
        let (first, path) = match &arg.kind {
            Kind::Sequence(items) => match items.split_first() {
                Some((first, path)) => (first, path),
                None => return self.computed(function, ValueType::Any, span, &[]),
            },
            _ => (arg, &[] as &[Node]),
        };
        let name = match self.eval(stack, first, uses).map(|item| item.value) {
            Some(Value::Str(name)) => name,
            _ => return self.computed(function, ValueType::Any, span, &[]),
        };
        let pseudo = language().pseudo_parameters(stack.prepared.is_cfn());
        if pseudo.iter().any(|known| **known == *name) {
            let symbol = self.pseudo_parameter(&name, span);
            return Item::new(Value::Symbolic(symbol), span);
        }
        let index = stack.prepared.by_parameter.get(&name).copied();
        let Some(item) = index.and_then(|index| stack.values.get(index)).cloned() else {
            return self.computed(&name, ValueType::Any, span, &[]);
        };
        self.select(stack, item, path, &name, span, uses)
    }

    /// Follows a path into a value.
    fn select(
        &mut self,
        stack: &mut Stack,
        mut item: Item,
        path: &[Node],
        name: &str,
        span: Span,
        uses: &mut Uses,
    ) -> Item {
        for step in path {
            let Some(step) = self.eval(stack, step, uses) else {
                continue;
            };
            let next = functions::step(&item.value, &step.value);
            item = match (next, &item.value) {
                (Some(next), _) => next,
                (None, Value::Symbolic(_) | Value::Location(_)) => {
                    self.computed(name, ValueType::Any, span, &[&item])
                }
                (None, _) if !step.value.is_known() => {
                    self.computed(name, ValueType::Any, span, &[&item, &step])
                }
                // A path that leads nowhere gives nothing.
                (None, _) => Item::new(Value::str(""), span),
            };
        }
        item
    }

    /// The name of a resource; where an input gives it, what is referred to is another with each name.
    fn name_of(&mut self, stack: &mut Stack, node: &Node, uses: &mut Uses) -> Option<Item> {
        if let Some(name) = node.text() {
            return Some(Item::new(Value::Str(name.clone()), node.span));
        }
        let name = self.eval(stack, node, uses)?;
        if let Value::Symbolic(symbol) = name.value
            && self.graph.symbol(symbol).kind == SymbolKind::Parameter
        {
            let mut all: Vec<&Arc<str>> = stack.prepared.by_resource.keys().collect();
            all.sort_unstable();
            for resource in all {
                self.graph.may_name(symbol, Value::Str(resource.clone()));
            }
        }
        Some(name)
    }

    fn get_resource(
        &mut self,
        stack: &mut Stack,
        function: &Arc<str>,
        arg: &Node,
        span: Span,
        uses: &mut Uses,
    ) -> Item {
        let name = self.name_of(stack, arg, uses);
        let index = match name.as_ref().map(|name| &name.value) {
            Some(Value::Str(name)) => stack.prepared.by_resource.get(name),
            _ => None,
        };
        let Some(&index) = index else {
            let from: Vec<&Item> = name.iter().collect();
            return self.computed(function, ValueType::String, span, &from);
        };
        let Some(&target) = stack.locations.get(index) else {
            return self.computed(function, ValueType::String, span, &[]);
        };
        if stack.present.get(index) == Some(&Truth::Known(false)) {
            // That is a fault of its own; what the value is remains open, so that no rule reports its echo.
            self.absent_target(arg.used_at());
            return self.computed(function, ValueType::String, span, &[]);
        }
        uses.note(target, RoleKind::Reference, arg.used_at());
        Item::new(Value::Location(target), span)
    }

    fn get_attr(
        &mut self,
        stack: &mut Stack,
        function: &Arc<str>,
        arg: &Node,
        span: Span,
        uses: &mut Uses,
    ) -> Item {
        let Some([resource, path @ ..]) = arg.as_sequence() else {
            return self.computed(function, ValueType::Any, span, &[]);
        };
        let name = self.name_of(stack, resource, uses);
        let index = match name.as_ref().map(|name| &name.value) {
            Some(Value::Str(name)) => stack.prepared.by_resource.get(name),
            _ => None,
        };
        let Some((index, &target)) =
            index.and_then(|&index| Some((index, stack.locations.get(index)?)))
        else {
            let from: Vec<&Item> = name.iter().collect();
            return self.computed(function, ValueType::Any, span, &from);
        };
        if stack.present.get(index) == Some(&Truth::Known(false)) {
            self.absent_target(resource.used_at());
            return self.computed(function, ValueType::Any, span, &[]);
        }
        uses.note(target, RoleKind::Attribute, resource.used_at());
        if let Some(value) = self.held_value(stack, index, path, uses) {
            return value;
        }
        let mut steps: Vec<Arc<str>> = Vec::with_capacity(path.len());
        for step in path {
            match self.eval(stack, step, uses).map(|item| item.value) {
                Some(Value::Str(text)) => steps.push(text),
                Some(Value::Int(n)) => steps.push(n.to_string().into()),
                _ => return self.computed(function, ValueType::Any, span, &[]),
            }
        }
        if let Some(output) = self.nested_output(target, &steps) {
            let from = Some(output.from.unwrap_or(output.span));
            let value = output.value;
            return Item { value, span, from };
        }
        let key = (target, steps.join("."));
        if let Some(&symbol) = self.attributes.get(&key) {
            return Item::new(Value::Symbolic(symbol), span);
        }
        let ty = match (stack.types.get(index), steps.as_slice()) {
            (Some(Resolved::Type(ty)), [attribute]) => {
                ty.attributes.get(attribute).and_then(|a| a.ty)
            }
            _ => None,
        };
        let symbol = self.graph.add_symbol(Symbol {
            name: format!("{}.{}", self.graph.location(target).name, key.1).into(),
            kind: SymbolKind::Attribute {
                location: target,
                path: steps,
            },
            domain: Domain::of(value_type(ty)),
            span,
            default: None,
            depends: Vec::new(),
        });
        self.attributes.insert(key, symbol);
        Item::new(Value::Symbolic(symbol), span)
    }

    /// `OS::Heat::Value` holds a value and gives it back: no need to wait for its creation.
    fn held_value(
        &mut self,
        stack: &mut Stack,
        index: usize,
        path: &[Node],
        uses: &mut Uses,
    ) -> Option<Item> {
        let Some(Resolved::Type(ty)) = stack.types.get(index) else {
            return None;
        };
        let (first, rest) = path.split_first()?;
        if &*ty.name != "OS::Heat::Value" || first.as_str() != Some("value") {
            return None;
        }
        let prepared = stack.prepared.clone();
        let properties = prepared
            .template
            .resources
            .get(index)?
            .properties
            .as_ref()?;
        let node = properties.get("value")?;
        if self.depth + 2 >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let item = self.eval(stack, node, uses);
        self.depth -= 1;
        let item = item?;
        Some(self.select(stack, item, rest, "value", node.span, uses))
    }

    fn choose(
        &mut self,
        stack: &mut Stack,
        name: &Arc<str>,
        arg: &Node,
        span: Span,
        uses: &mut Uses,
    ) -> Option<Item> {
        let (condition, then, otherwise) = match arg.as_sequence() {
            Some([condition, then]) => (condition, then, None),
            Some([condition, then, otherwise]) => (condition, then, Some(otherwise)),
            _ => return Some(self.computed(name, ValueType::Any, span, &[])),
        };
        match self.truth(stack, condition, uses) {
            Truth::Known(true) => self.eval(stack, then, uses),
            Truth::Known(false) => self.eval(stack, otherwise?, uses),
            Truth::Symbol(condition) => {
                let then = self.eval(stack, then, uses)?;
                let otherwise = match otherwise {
                    Some(node) => self.eval(stack, node, uses),
                    None => None,
                };
                if let Some(other) = &otherwise
                    && other.value.same(&then.value)
                {
                    return Some(then);
                }
                let values = [Some(&then), otherwise.as_ref()].into_iter().flatten();
                let choices: Vec<Value> = values.map(|item| item.value.clone()).collect();
                let symbol = self.graph.add_symbol(Symbol {
                    name: name.clone(),
                    kind: SymbolKind::Choice {
                        condition,
                        then: Box::new(then),
                        otherwise: otherwise.map(Box::new),
                    },
                    domain: Domain {
                        ty: ValueType::Any,
                        constraints: vec![Constraint::OneOf(choices)],
                    },
                    span,
                    default: None,
                    depends: vec![condition],
                });
                Some(Item::new(Value::Symbolic(symbol), span))
            }
        }
    }

    fn get_file(&mut self, stack: &Stack, function: &Arc<str>, arg: &Node, span: Span) -> Item {
        let Some(name) = arg.text() else {
            return self.computed(function, ValueType::String, span, &[]);
        };
        let name = name.clone();
        match self.file(&name, stack.prepared.template.file) {
            Ok(file) => {
                let text = self.sources.shared_text(file);
                let whole = Span::new(file, 0, text.len());
                Item {
                    value: Value::Str(text),
                    span,
                    from: Some(whole),
                }
            }
            Err(why) => {
                self.missing_file(&name, arg.used_at(), &why);
                self.computed(function, ValueType::String, span, &[])
            }
        }
    }

    pub(super) fn find_in_map(
        &mut self,
        stack: &mut Stack,
        function: &Arc<str>,
        arg: &Node,
        span: Span,
        uses: &mut Uses,
    ) -> Item {
        let Some(path) = arg.as_sequence() else {
            return self.computed(function, ValueType::Any, span, &[]);
        };
        let prepared = stack.prepared.clone();
        let Some(mappings) = &prepared.template.mappings else {
            return self.computed(function, ValueType::Any, span, &[]);
        };
        let mut item = literal(mappings);
        for step in path {
            let Some(step) = self.eval(stack, step, uses) else {
                continue;
            };
            item = match functions::step(&item.value, &step.value) {
                Some(next) => next,
                None => return self.computed(function, ValueType::Any, span, &[&step]),
            };
        }
        item
    }

    /// `repeat`: the template once for each combination of the lists.
    fn repeat(
        &mut self,
        stack: &mut Stack,
        function: &Arc<str>,
        arg: &Node,
        span: Span,
        uses: &mut Uses,
    ) -> Item {
        let Some(item) = self.eval(stack, arg, uses) else {
            return self.computed(function, ValueType::List, span, &[]);
        };
        let Value::Map(parts) = &item.value else {
            return self.computed(function, ValueType::List, span, &[&item]);
        };
        let loops = field(parts, "for_each").map(|item| &item.value);
        let (Some(Value::Map(loops)), Some(template)) = (loops, field(parts, "template")) else {
            return self.computed(function, ValueType::List, span, &[&item]);
        };
        let permutations = match field(parts, "permutations").map(|item| &item.value) {
            Some(Value::Bool(flag)) => *flag,
            _ => true,
        };
        match functions::repeat(loops, template, permutations) {
            Some(items) => Item::new(Value::List(items), span),
            None => self.computed(function, ValueType::List, span, &[&item]),
        }
    }
}

pub(super) fn push_step(path: &mut String, step: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(step);
}

fn value_type(ty: Option<PropertyType>) -> ValueType {
    match ty {
        Some(PropertyType::String) => ValueType::String,
        Some(PropertyType::Integer) => ValueType::Int,
        Some(PropertyType::Number) => ValueType::Number,
        Some(PropertyType::Boolean) => ValueType::Bool,
        Some(PropertyType::List) => ValueType::List,
        Some(PropertyType::Map) => ValueType::Map,
        Some(PropertyType::Any) | None => ValueType::Any,
    }
}
