//! How the API server is told to ask the gate, before the gate itself says which certificate it shows.

use serde_json::{Value, json};

use super::policies::is_own;
use super::{AGENTS, Choice, Component, NAMESPACE, PART_OF};
use crate::cluster::object::items;
use crate::cluster::webhooks::{Place, mutating, validating};

/// The configurations. They believe nobody, so that nothing gets in until the gate runs.
pub(super) fn objects(choice: &Choice) -> Vec<Value> {
    let place = Place::Service {
        namespace: NAMESPACE.to_owned(),
        name: Component::Gate.name().to_owned(),
        port: 443,
    };
    [mutating(&place, ""), validating(&place, "")]
        .map(|configuration| let_off(configuration, choice))
        .into()
}

/// Leaves the gate itself alone: it must be able to start when it does not run. The gate, which writes the same configurations
/// later, leaves this condition as it is: it belongs to whoever installed it.
fn let_off(mut configuration: Value, choice: &Choice) -> Value {
    configuration["metadata"]["labels"] = json!({PART_OF: "locus"});
    let condition = json!({"name": "no-part-of-locus-itself", "expression": others(choice)});
    let webhooks = configuration
        .get_mut("webhooks")
        .and_then(Value::as_array_mut);
    for webhook in webhooks.into_iter().flatten() {
        let mut conditions = items(&webhook["matchConditions"]).to_vec();
        conditions.push(condition.clone());
        webhook["matchConditions"] = Value::Array(conditions);
    }
    configuration
}

/// Whatever is not the gate itself, which is known by the digests of its images, in its own namespaces.
fn others(choice: &Choice) -> String {
    let own = |spec: &str| is_own(choice, spec);
    let resource = "request.resource.resource";
    let sub = "(has(request.subResource) ? request.subResource : '')";
    let kinds = "['daemonsets', 'deployments', 'replicasets', 'statefulsets']";
    format!(
        "!(has(request.namespace) && request.namespace in ['{NAMESPACE}', '{AGENTS}'] && (\
         {resource} == 'pods' && {sub} == '' && {pod} || \
         {resource} in {kinds} && {sub} == '' && {template} || \
         {resource} == 'controllerrevisions' || \
         {resource} == 'pods' && {sub} == 'binding' && request.userInfo.username == 'system:kube-scheduler'))",
        pod = own("object.spec"),
        template = own("object.spec.template.spec"),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cluster::covered::rules;

    /// Each resource with each operation.
    fn asked<'r>(rules: impl Iterator<Item = &'r Value>) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        for rule in rules {
            for resource in items(&rule["resources"]) {
                for operation in items(&rule["operations"]) {
                    all.insert(format!("{} {resource} {operation}", rule["apiGroups"][0]));
                }
            }
        }
        all
    }

    #[test]
    fn the_server_asks_about_all_that_is_covered_and_nothing_else() {
        let digest = "a".repeat(64);
        let image = format!("locus@sha256:{digest}");
        let choice = Choice::new(&image, &image).unwrap();
        let [first, second] = objects(&choice).try_into().unwrap();
        for (configuration, mutating) in [(&first, true), (&second, false)] {
            let webhooks = items(&configuration["webhooks"]);
            let told = webhooks.iter().flat_map(|one| items(&one["rules"]));
            assert_eq!(asked(told), asked(rules(mutating).iter()));
            for webhook in webhooks {
                let conditions = items(&webhook["matchConditions"]);
                let own = conditions
                    .iter()
                    .filter(|one| one["name"] == "no-part-of-locus-itself");
                assert_eq!(own.count(), 1);
                assert_eq!(webhook["failurePolicy"], "Fail");
            }
        }
    }
}
