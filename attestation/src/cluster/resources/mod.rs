//! The gate's custom resources: what operators say, and what the gate found out.
//!
//! What somebody wants is in `spec`, what the gate concluded in `status`, which is a subresource: who may write one may not
//! write the other.
#![expect(
    clippy::duplicated_attributes,
    reason = "each column of `kubectl get` has a type, and the lint takes the columns for one attribute"
)]

// What derives a schema with rules makes a copy of the type, which is as public as that.
#[allow(unreachable_pub, reason = "of the copy, which nobody names")]
mod agent;
#[allow(unreachable_pub, reason = "of the copy, which nobody names")]
mod image;
#[allow(unreachable_pub, reason = "of the copy, which nobody names")]
mod invariants;
#[allow(unreachable_pub, reason = "of the copy, which nobody names")]
mod request;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt as _;

pub use agent::{Agent, AgentSpec, AgentStatus, Cursor, PodTrust, TrustWord};
pub use image::{Exemption, ReferenceImage, ReferenceImageSpec};
pub use invariants::{
    Condition, ConfigMapKey, InvariantSet, InvariantSetSpec, InvariantSetStatus, Level, Mode,
    OwnRule, PodSecurity,
};
pub use request::{AttestationRequest, AttestationRequestSpec, AttestationRequestStatus};

/// The definitions of all of them.
pub fn definitions() -> Vec<CustomResourceDefinition> {
    vec![
        Agent::crd(),
        AttestationRequest::crd(),
        InvariantSet::crd(),
        ReferenceImage::crd(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_say_what_must_hold() {
        let text = crate::cluster::cli::definitions().unwrap();
        assert_eq!(
            text.matches("kind: CustomResourceDefinition").count(),
            4,
            "{text}"
        );
        for rule in [
            "self.metadata.name == self.spec.node",
            "self.manifest == oldSelf.manifest",
            "has(self.text) != has(self.configMap)",
            "a request does not change",
            "^sha256:[0-9a-f]{64}$",
        ] {
            assert!(text.contains(rule), "{rule}: {text}");
        }
    }

    #[test]
    fn what_is_concluded_is_a_subresource() {
        let with_status = ["agents", "attestationrequests", "invariantsets"];
        for definition in definitions() {
            let plural = definition.spec.names.plural.as_str();
            let version = &definition.spec.versions[0];
            let has = version
                .subresources
                .as_ref()
                .is_some_and(|s| s.status.is_some());
            assert_eq!(has, with_status.contains(&plural), "{plural}");
            let columns = version.additional_printer_columns.as_ref();
            assert!(
                columns.is_some_and(|columns| columns.len() >= 2),
                "{plural}"
            );
        }
    }
}
