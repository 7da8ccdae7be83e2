//! `AdmissionReview`, version 1, to and from what is decided here.

use json_patch::Patch;
use kube::core::DynamicObject;
use kube::core::admission::{AdmissionRequest, AdmissionResponse, AdmissionReview, Operation};
use serde_json::Value;

use super::{Ask, Decision, Verb};

/// The most warnings that are sent; the server cuts what is longer.
const WARNINGS: usize = 10;
/// The longest warning that the server passes on whole.
const WARNING: usize = 250;

/// Reads a review.
///
/// # Errors
/// What is wrong with it: it is answered with a refusal.
pub fn asked(body: &[u8]) -> Result<(AdmissionRequest<DynamicObject>, Ask), String> {
    let review: AdmissionReview<DynamicObject> = serde_json::from_slice(body)
        .map_err(|error| format!("the review cannot be read: {error}"))?;
    if review.types.api_version != "admission.k8s.io/v1" {
        return Err(format!(
            "the review is of version `{}`",
            review.types.api_version
        ));
    }
    let request: AdmissionRequest<DynamicObject> = review
        .try_into()
        .map_err(|_| "the review has no request".to_owned())?;
    let value = |object: &Option<DynamicObject>| match object {
        Some(object) => serde_json::to_value(object).map_err(|error| error.to_string()),
        None => Ok(Value::Null),
    };
    let mut object = value(&request.object)?;
    // A new object of a namespace may not say so itself.
    if let (Some(namespace), Some(metadata)) = (
        &request.namespace,
        object.get_mut("metadata").and_then(Value::as_object_mut),
    ) {
        metadata.insert("namespace".to_owned(), Value::String(namespace.clone()));
    }
    let ask = Ask {
        uid: request.uid.clone(),
        verb: match request.operation {
            Operation::Create => Verb::Create,
            Operation::Update => Verb::Update,
            Operation::Delete | Operation::Connect => Verb::Other,
        },
        group: request.resource.group.clone(),
        resource: request.resource.resource.clone(),
        subresource: request.sub_resource.clone().unwrap_or_default(),
        namespace: request.namespace.clone().unwrap_or_default(),
        name: request.name.clone(),
        user: request.user_info.username.clone().unwrap_or_default(),
        dry_run: request.dry_run,
        object,
        old: value(&request.old_object)?,
    };
    Ok((request, ask))
}

/// Answers a review.
pub fn answer(
    request: &AdmissionRequest<DynamicObject>,
    ask: &Ask,
    decision: Decision,
) -> AdmissionReview<DynamicObject> {
    let mut response = AdmissionResponse::from(request);
    let warnings = decision.warnings.iter().take(WARNINGS);
    let warnings: Vec<String> = warnings
        .map(|text| text.chars().take(WARNING).collect())
        .collect();
    response.warnings = (!warnings.is_empty()).then_some(warnings);
    if !decision.allowed() {
        let mut response = response.deny(decision.message(ask));
        response.result.code = 403;
        response.result.reason = "Forbidden".to_owned();
        return response.into_review();
    }
    if decision.patch.is_empty() {
        return response.into_review();
    }
    match response.clone().with_patch(Patch(decision.patch)) {
        Ok(response) => response.into_review(),
        Err(error) => response.deny(error).into_review(),
    }
}
