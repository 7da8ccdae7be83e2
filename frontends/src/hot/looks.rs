//! Which values a property takes as they are, so that nothing depends on what an input that is written there is.

use std::sync::Arc;

use locus_core::LocationGraph;
use locus_core::value::{SymbolId, SymbolKind, ValueType};
use rustc_hash::FxHashMap;

use super::data::{
    CustomKind, PropertyConstraint, PropertySchema, PropertyType, ResourceType, catalogue, language,
};
use super::nested::is_stack;

/// Functions that make a text of any texts.
const JOINING: [&str; 5] = [
    "str_replace",
    "list_join",
    "Fn::Join",
    "Fn::Replace",
    "Fn::Base64",
];

/// Calls that are followed into calls, at most.
const DEPTH: usize = 16;

/// Whether a property of a type, or what lies in it, is compared with anything when it is a symbol: with the type of the property, its
/// constraints, or what a function takes.
pub(super) fn looks(
    graph: &LocationGraph,
    symbol: SymbolId,
    sort: &str,
    path: &[Arc<str>],
) -> bool {
    match place(sort, path) {
        Place::Free => !is_value(graph, symbol, DEPTH, |_| true),
        Place::Text => !is_value(graph, symbol, DEPTH, |ty| ty == ValueType::String),
        Place::Other => true,
    }
}

/// What is known of a place in the properties of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A property that takes any text.
    Text,
    /// In a map that takes anything.
    Free,
    /// Something is compared there, or the type or property is not known.
    Other,
}

/// Whether a constraint only says what a name must stand for.
fn is_reference(constraint: &PropertyConstraint) -> bool {
    let PropertyConstraint::CustomConstraint(name) = constraint else {
        return false;
    };
    let custom = language().custom_constraints.get(&**name);
    custom.is_some_and(|custom| custom.kind == CustomKind::Reference)
}

/// Whether a symbol is an input or an attribute, or a text made of such texts, so that no function refuses a value of it.
fn is_value(
    graph: &LocationGraph,
    symbol: SymbolId,
    depth: usize,
    takes: fn(ValueType) -> bool,
) -> bool {
    let symbol = graph.symbol(symbol);
    match symbol.kind {
        SymbolKind::Parameter => takes(symbol.domain.ty),
        SymbolKind::Attribute { .. } => true,
        SymbolKind::Computed => {
            let mut parts = symbol.depends.iter();
            depth > 0
                && JOINING.contains(&&*symbol.name)
                && parts.all(|&next| is_value(graph, next, depth - 1, |ty| ty == ValueType::String))
        }
        _ => false,
    }
}

/// What a property of a type takes, or what lies in it.
fn place(sort: &str, path: &[Arc<str>]) -> Place {
    // What a group or a stack is given is compared in its members, which may not be known yet.
    let plain = |ty: &Arc<ResourceType>| !ty.open && !ty.nested_stack && !is_stack(&ty.name);
    let Some(ty) = catalogue().get(sort).filter(plain) else {
        return Place::Other;
    };
    let mut entries: &FxHashMap<Arc<str>, PropertySchema> = &ty.properties;
    let mut steps = path.iter().peekable();
    while let Some(step) = steps.next() {
        let Some(mut next) = entries.get(step) else {
            return Place::Other;
        };
        while let (PropertyType::List, Some(items)) = (next.ty, next.items.as_deref()) {
            next = items;
        }
        if steps.peek().is_none() {
            let any = next.ty == PropertyType::String && next.constraints.iter().all(is_reference);
            return if any { Place::Text } else { Place::Other };
        }
        match (&next.entries, next.ty) {
            (Some(inner), _) => entries = inner,
            (None, PropertyType::Map) => return Place::Free,
            (None, _) => return Place::Other,
        }
    }
    Place::Other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_property_takes_is_known_to_its_depth() {
        for (sort, path, expected) in [
            ("OS::Nova::Server", &["user_data"][..], Place::Text),
            ("OS::Nova::Server", &["image"], Place::Text),
            ("OS::Nova::Server", &["metadata", "role"], Place::Free),
            ("OS::Nova::Server", &["networks", "uuid"], Place::Text),
            ("OS::Nova::Server", &["networks", "fixed_ip"], Place::Other),
            ("OS::Cinder::Volume", &["size"], Place::Other),
            ("OS::Neutron::Subnet", &["cidr"], Place::Other),
            ("OS::Nova::Server", &["no_such"], Place::Other),
            ("My::Type", &["name"], Place::Other),
            (
                "OS::Heat::ResourceGroup",
                &["resource_def", "properties", "cidr"],
                Place::Other,
            ),
        ] {
            let path: Vec<Arc<str>> = path.iter().map(|&step| step.into()).collect();
            assert_eq!(place(sort, &path), expected, "{sort} {path:?}");
        }
    }
}
