//! Node types as signatures that the user's own rules can name.
//!
//! A type `my.nodes.App` is the signature `my_nodes_App`; its atoms are the node templates of that type and of those that derive
//! from it, and its fields are its properties. Only types that rules mention are described.

use locus_core::vocabulary::{Content, Field, Members, Multiplicity, Sig, identifier};

use super::Builder;
use crate::language::Words;
use crate::tosca::grammar::TypeKind;
use crate::tosca::model::{Model, Primitive};
use crate::tosca::names::TypeId;

impl Builder<'_, '_, '_> {
    /// Describes the node types that rules mention, and says which nodes are of them.
    pub(super) fn signatures(&mut self, mentioned: &Words, declared: &mut Vec<Sig>) {
        if mentioned.is_empty() {
            return;
        }
        let model = self.topology.model;
        let name = |id: TypeId| identifier(model.name(id));
        let known = |id: &TypeId| {
            let is_node = model.names.get(*id).kind == TypeKind::Node;
            is_node && mentioned.contains(&name(*id))
        };
        let types: Vec<TypeId> = model.names.ids().filter(known).collect();
        for &id in &types {
            if declared.iter().any(|sig| sig.name == name(id)) {
                continue;
            }
            let parent = model.ancestors(id).skip(1).find(|at| types.contains(at));
            let parent = parent.map_or_else(|| "Node".to_owned(), name);
            let subset = self.facts.declare(model.name(id));
            for (index, template) in self.topology.nodes.iter().enumerate() {
                let is = template
                    .ty
                    .is_some_and(|ty| model.derives(ty, id) == Some(true));
                if let (true, Some(&atom)) = (is, self.nodes.get(index)) {
                    self.facts.mark(atom, subset);
                }
            }
            let above: Vec<TypeId> = model
                .ancestors(id)
                .skip(1)
                .filter(|at| types.contains(at))
                .collect();
            declared.push(signature(
                model,
                id,
                parent,
                &above,
                Members::Marked(subset),
            ));
        }
    }
}

/// A node type as a signature, without the properties of types above it that are signatures too.
pub(in crate::tosca) fn signature(
    model: &Model<'_>,
    id: TypeId,
    parent: String,
    above: &[TypeId],
    members: Members,
) -> Sig {
    let flat = model.flat(id);
    let inherited = |property: &str| {
        above.iter().any(|&at| {
            let flat = model.flat(at);
            flat.properties.iter().any(|known| &*known.name == property)
        })
    };
    let fields = flat
        .properties
        .iter()
        .filter(|property| !inherited(&property.name));
    let mut fields: Vec<Field> = fields
        .map(|property| {
            let list = matches!(model.primitive(property.schema.ty), Some(Primitive::List));
            Field {
                name: format!("prop_{}", identifier(&property.name)).into(),
                columns: vec![Vec::new()],
                multiplicity: if list {
                    Multiplicity::Set
                } else {
                    Multiplicity::Lone
                },
                doc: format!("`{}`: {}", property.name, model.describe(&property.schema)).into(),
                content: Content::Property {
                    names: vec![property.name.clone()],
                    default: None,
                    maps: None,
                },
            }
        })
        .collect();
    fields.sort_by(|a, b| a.name.cmp(&b.name));
    fields.dedup_by(|a, b| a.name == b.name);
    Sig {
        name: identifier(model.name(id)).into(),
        parent: Some(parent.into()),
        subset: false,
        doc: format!("a node of type `{}`", model.name(id)).into(),
        fields,
        members,
    }
}
