//! Requests to have a pod attested, each answered once.

use super::{Action, Facts, Target, created};
use crate::cluster::object::{field, name, namespace, uid};
use crate::cluster::resources::{AttestationRequestSpec, AttestationRequestStatus, TrustWord};
use crate::evidence::Nonce;
use crate::ima::PodUid;

/// How long a pod may take to be heard of, in milliseconds.
const HEARD: i64 = 10_000;

pub(super) fn due(facts: &Facts<'_>, due: &mut Vec<Action>) {
    for request in facts.known.all("AttestationRequest") {
        if field(field(request, "status"), "trust").is_string() {
            continue;
        }
        let target = Target::of(request);
        let refuse = |reason: String| {
            let status = AttestationRequestStatus {
                trust: Some(TrustWord::Unknown),
                reason,
                token: None,
            };
            Action::Refuse(target.clone(), status)
        };
        let spec = field(request, "spec").clone();
        let Ok(spec) = serde_json::from_value::<AttestationRequestSpec>(spec) else {
            due.push(refuse("the request cannot be read".to_owned()));
            continue;
        };
        let nonce = spec.nonce.as_deref().map(Nonce::parse);
        if nonce == Some(None) {
            due.push(refuse("the nonce is not 32 bytes in base64url".to_owned()));
            continue;
        }
        // A pod of the request's own namespace: who may ask here may not ask about others.
        let pod = facts.known.get("Pod", namespace(request), &spec.pod);
        let pod = pod.filter(|pod| uid(pod) == spec.uid);
        let age = created(request).map_or(i64::MAX, |at| facts.now.millis_since(at));
        match (pod, facts.pods.get(&spec.uid)) {
            (Some(pod), Some(known))
                if known.pod.namespace == namespace(request) && known.pod.name == name(pod) =>
            {
                due.push(Action::Answer {
                    request: target,
                    pod: known.pod.uid,
                    nonce: nonce.flatten(),
                });
            }
            (None, _) if age >= HEARD => {
                let reason = format!("there is no pod `{}` with the UID {}", spec.pod, spec.uid);
                due.push(refuse(reason));
            }
            (Some(_), _) if PodUid::parse(spec.uid.as_bytes()).is_none() => {
                due.push(refuse("the UID is none".to_owned()));
            }
            // It does not run yet, or was not heard of yet.
            _ => {}
        }
    }
}
