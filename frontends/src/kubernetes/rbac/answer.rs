//! Who can do something, in the words of all languages.

use locus_core::Diagnostic;

use super::question::{self, Question};
use super::{Grants, Subject};
use crate::kubernetes::Manifests;
use crate::kubernetes::model::Model;
use crate::language::{Able, RightsAnswer, RightsQuestion, RightsStep};

/// Answers who can do something.
pub(crate) fn answer(manifests: Manifests, asked: &RightsQuestion) -> RightsAnswer {
    let model = Model::of(&manifests.objects);
    let grants = Grants::of(&model);
    let (place, name) = (asked.place.as_deref(), asked.name.as_deref());
    let question = Question::new(&asked.verb, &asked.resource, place, name);
    let mut unchecked = manifests.unchecked;
    for unknown in &grants.unknown {
        let binding = model.object(unknown.object);
        let called = binding.map_or("", |binding| binding.called());
        let message = format!(
            "`{called}` binds {}, which is not among the files: what it allows is not known",
            unknown.role
        );
        unchecked.push(Diagnostic::warning("kind", message).at(unknown.span));
    }
    let able = question::who_can(&grants, &question)
        .into_iter()
        .map(|able| {
            let (kind, name) = match &able.subject {
                Subject::Account(namespace, name) => {
                    ("ServiceAccount", format!("{namespace}/{name}"))
                }
                Subject::User(name) => ("User", name.to_string()),
                Subject::Group(name) => ("Group", name.to_string()),
            };
            let binding = grants.bindings.get(able.binding);
            let through = binding.map(|binding| {
                let object = model.object(binding.object);
                let kind = object.map_or("", |object| &object.kind.text);
                let called = object.map_or("", |object| object.called());
                let role = grants.roles.get(binding.role);
                let role =
                    role.map_or_else(String::new, |role| format!("{} {}", role.kind, role.name));
                format!("{kind} {called} -> {role}")
            });
            let step = |step: super::closure::Step| RightsStep {
                text: step.text,
                span: step.span,
            };
            Able {
                kind,
                name,
                place: able.namespace.map(|namespace| namespace.to_string()),
                names: able.names.iter().map(ToString::to_string).collect(),
                through: through.unwrap_or_default(),
                span: able.span,
                steps: able.steps.into_iter().map(step).collect(),
            }
        });
    RightsAnswer {
        able: able.collect(),
        diagnostics: manifests.diagnostics,
        unchecked,
    }
}
