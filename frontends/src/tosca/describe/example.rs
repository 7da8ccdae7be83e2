//! An example of a rule about a type, ready to be saved.

use locus_core::vocabulary::identifier;

use super::page::nameable;
use crate::tosca::grammar::TypeKind;
use crate::tosca::model::{DataType, Model, Schema};
use crate::tosca::names::TypeId;

/// A rule: what is wrong, what the message says, where it points, and the assertion.
struct Example {
    title: String,
    message: String,
    at: String,
    assertion: String,
}

/// A file with a rule about a type, or why there is none.
pub(super) fn example(model: &Model<'_>, id: TypeId) -> Result<String, String> {
    let ty = model.names.get(id);
    let name = quoted(ty.name);
    let rule = match ty.kind {
        TypeKind::Node => about_nodes(model, id, None),
        TypeKind::Capability => Example {
            title: "nothing uses a capability".to_owned(),
            message: "nothing uses `{c}` of `{c.owner}`".to_owned(),
            at: "c \"is not used\"".to_owned(),
            assertion: format!(
                "all c: Capability | {name} in c.type.is.name implies some a: Assignment | a.capability = c"
            ),
        },
        TypeKind::Relationship => Example {
            title: "a relationship leads to no node of this topology".to_owned(),
            message: "`{a}` of `{a.owner}` leads to no node".to_owned(),
            at: "a \"has no target\"".to_owned(),
            assertion: format!(
                "all a: Assignment | {name} in a.relationship.is.name implies some a.target"
            ),
        },
        TypeKind::Group | TypeKind::Policy => {
            let sig = if ty.kind == TypeKind::Group {
                "Group"
            } else {
                "Policy"
            };
            Example {
                title: format!("a {} is about nothing", sig.to_lowercase()),
                message: "`{g}` is about nothing".to_owned(),
                at: "g \"names nothing\"".to_owned(),
                assertion: format!(
                    "all g: {sig} | {name} in g.type.is.name implies some m: Membership | m.whole = g"
                ),
            }
        }
        TypeKind::Data | TypeKind::Interface | TypeKind::Artifact => {
            let Some((node, property)) = user(model, id) else {
                return Err(format!("rules do not see {}s", ty.kind.word()));
            };
            about_nodes(model, node, property)
        }
    };
    Ok(format!(
        "module tosca/mine
open tosca/vocabulary

/** MINE001 example warning: {}
 * message: {}
 * at: {}
 * help: what to do
 * why: Why it matters.
 * source: where it is written
 */
assert Example {{ {} }}
",
        rule.title, rule.message, rule.at, rule.assertion
    ))
}

/// A rule about the nodes of a type: about a property, or else a requirement, or else that they have capabilities.
fn about_nodes(model: &Model<'_>, id: TypeId, property: Option<String>) -> Example {
    let flat = model.flat(id);
    let (all, condition) = match nameable(model, id) {
        Some(sig) => (format!("all x: {sig}"), String::new()),
        None => {
            let name = quoted(model.name(id));
            (
                "all x: Node".to_owned(),
                format!("{name} in x.type.is.name implies "),
            )
        }
    };
    let property = property.or_else(|| flat.properties.last().map(|one| one.name.to_string()));
    // What a type adds comes after what it inherits, and says more about it.
    let (what, fact) = match (property, flat.requirements.last()) {
        (Some(property), _) if condition.is_empty() => {
            let fact = format!("some x.prop_{}", identifier(&property));
            (format!("no `{property}`"), fact)
        }
        (_, Some(requirement)) => {
            let fact = format!(
                "some a: x.assignments | a.name = {}",
                quoted(&requirement.name)
            );
            (format!("no requirement `{}`", requirement.name), fact)
        }
        _ => ("no capability".to_owned(), "some x.capabilities".to_owned()),
    };
    Example {
        title: "a node lacks something that we want".to_owned(),
        message: format!("`{{x}}` has {}", what.replace(['{', '}'], "")),
        at: "x \"lacks it\"".to_owned(),
        assertion: format!("{all} | {condition}{fact}"),
    }
}

/// The first node type that has a property of a data type, or an interface of a type; which property.
fn user<'a>(model: &Model<'a>, wanted: TypeId) -> Option<(TypeId, Option<String>)> {
    let mut nodes = model
        .names
        .ids()
        .filter(|&id| nameable(model, id).is_some());
    nodes.find_map(|id| {
        let flat = model.flat(id);
        let holds = |schema: &Schema<'a>| {
            let entry = model.entry(schema);
            schema.ty == DataType::Type(wanted)
                || entry.is_some_and(|entry| entry.ty == DataType::Type(wanted))
        };
        let property = flat.properties.iter().find(|one| holds(&one.schema));
        if let Some(property) = property {
            return Some((id, Some(property.name.to_string())));
        }
        flat.interfaces
            .iter()
            .any(|one| one.ty == Some(wanted))
            .then_some((id, None))
    })
}

/// A text in the language of models.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
