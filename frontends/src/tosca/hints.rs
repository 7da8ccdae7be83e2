//! What types say twice: a restriction is redundant when no topology would be ruled out by it alone.

use locus_core::{Diagnostic, Severity};

use super::grammar::TypeKind;
use super::model::{Model, Parent, ordered};
use super::names::TypeId;

/// The restrictions of types that rule out nothing; with those of the types that come with the program when asked for.
pub(super) fn redundant(model: &Model<'_>, builtin: bool) -> Vec<Diagnostic> {
    let capabilities: Vec<TypeId> = model
        .names
        .ids()
        .filter(|&id| model.names.get(id).kind == TypeKind::Capability)
        .collect();
    if !capabilities.iter().all(|&id| model.is_closed(id)) {
        return Vec::new();
    }
    let among = |types: &[TypeId], id: TypeId| {
        let mut types = types.iter();
        types.any(|&from| model.derives(id, from) == Some(true))
    };
    let mut told = Vec::new();
    for id in model.names.ids() {
        let ty = model.names.get(id);
        if model.file(ty.file).builtin && !builtin || !model.is_closed(id) {
            continue;
        }
        let flat = model.flat(id);
        if ty.kind == TypeKind::Relationship
            && let (Some(own), Parent::Type(parent)) =
                (&flat.valid_capabilities.types, model.parent(id))
            && let Some(above) = &model.flat(parent).valid_capabilities.types
            && let Some(key) = ["valid_target_types", "valid_capability_types"]
                .iter()
                .find(|key| ty.node.get(key).is_some())
            && !capabilities
                .iter()
                .any(|&one| among(above, one) && !among(own, one))
        {
            let message = format!(
                "`{key}` of `{}` says what `{}` says already",
                ty.name,
                model.name(parent)
            );
            let span = ty.node.get(key).map_or(ty.span, crate::yaml::Node::used_at);
            told.push(Diagnostic::new(Severity::Info, "tosca-redundant", message).at(span));
        }
        if ty.kind != TypeKind::Node {
            continue;
        }
        for (name, entry) in ordered(ty.node.get("requirements")) {
            let Some(written) = entry.value.get("capability") else {
                continue;
            };
            let mut requirements = flat.requirements.iter();
            let Some(requirement) = requirements.find(|known| known.name == *name) else {
                continue;
            };
            let (Some(wanted), Some(relationship)) =
                (requirement.capability, requirement.relationship)
            else {
                continue;
            };
            let admitted = model.flat(relationship).valid_capabilities.clone();
            let Some(admitted) = admitted.types.filter(|_| !admitted.open) else {
                continue;
            };
            let ruled_out = |&one: &TypeId| among(&admitted, one) && !among(&[wanted], one);
            if !capabilities.iter().any(ruled_out) {
                let message = format!(
                    "`capability` of `{}.{name}` rules out nothing: `{}` leads to nothing else",
                    ty.name,
                    model.name(relationship)
                );
                let diagnostic = Diagnostic::new(Severity::Info, "tosca-redundant", message);
                told.push(diagnostic.at(written.used_at()));
            }
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loader::MemoryLoader;
    use crate::tosca::files::Reader;
    use locus_core::Sources;

    #[test]
    fn the_redundancies_of_the_simple_profile_are_those_of_the_report() {
        let text = "tosca_definitions_version: tosca_simple_yaml_1_0\nnode_types: {}\n";
        let loader = MemoryLoader::new().with("a.yaml", text);
        let mut sources = Sources::new();
        let mut reader = Reader::new(&mut sources, &loader);
        reader.entry("a.yaml").unwrap();
        let files = std::mem::take(&mut reader.files);
        let model = Model::new(&files);
        let told = redundant(&model, true);
        let mut places: Vec<String> = told
            .iter()
            .map(|one| one.message.split('`').nth(3).unwrap().to_owned())
            .collect();
        places.sort();
        assert_eq!(
            places,
            [
                "tosca.nodes.Compute.local_storage",
                "tosca.nodes.Container.Application.host",
                "tosca.nodes.Database.host",
                "tosca.nodes.LoadBalancer.application",
                "tosca.nodes.Root.dependency",
                "tosca.nodes.SoftwareComponent.host",
                "tosca.nodes.WebApplication.host",
                "tosca.nodes.network.Port.binding",
                "tosca.nodes.network.Port.link",
                "tosca.relationships.RoutesTo",
            ]
        );
        // The types of a user are asked alone.
        assert_eq!(redundant(&model, false), []);
    }
}
