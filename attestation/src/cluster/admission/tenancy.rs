//! Whose a pod is: what a controller makes belongs to whom the controller's object belongs.

use serde_json::Value;

use super::signature::{self, SignatureError};
use super::{Ask, Problem, Verb};
use crate::cluster::known::{Known, Set, Tenant, labels};
use crate::cluster::names::SIGNATURE;
use crate::cluster::object::{
    Workload, annotation, controller, field, group, namespace, owner, text,
};

/// The most owners that are followed: a Job of a CronJob has two.
const DEPTH: usize = 4;

/// The accounts of the server's own controllers that make pods and what has pods, in `kube-system`.
pub const CONTROLLERS: [&str; 7] = [
    "cronjob-controller",
    "daemon-set-controller",
    "deployment-controller",
    "job-controller",
    "replicaset-controller",
    "replication-controller",
    "statefulset-controller",
];

/// Whether a user is one of the server's own controllers that make pods and what has pods.
///
/// Who a user is, the server has proven. What an object says of its owner, anybody can write.
pub(super) fn is_controller(user: &str) -> bool {
    let account = user.strip_prefix("system:serviceaccount:kube-system:");
    user == "system:kube-controller-manager"
        || account.is_some_and(|name| CONTROLLERS.contains(&name))
}

/// Whether an object says that it has a controller.
pub(super) fn has_controller(object: &Value) -> bool {
    controller(object).is_some()
}

/// The tenant that signed an object's owner, or the owner of that.
///
/// The nearest one that is signed itself counts: a controller adopts whatever its selector finds, and owners can be written down.
/// Those between are marked with what their controller copied: none may be marked by another tenant.
pub(super) fn root<'k>(
    object: &Value,
    allowed: &[String],
    known: &'k Known,
) -> Result<&'k Tenant, SignatureError> {
    let space = namespace(object);
    let mut at: &Value = object;
    let mut marks = Vec::new();
    let mut why = SignatureError::Missing;
    for _ in 0..DEPTH {
        let Some(reference) = controller(at) else {
            break;
        };
        let owner = known
            .owner(space, reference)
            .ok_or(SignatureError::Missing)?;
        at = owner;
        let workload = Workload::of_kind(group(text(at, &["apiVersion"])), text(at, &["kind"]));
        let workload = workload.ok_or(SignatureError::Missing)?;
        match signature::signer(workload, at, allowed, known) {
            Ok((tenant, _)) => {
                for mark in marks {
                    if signature::author(mark, known)?.id != tenant.id {
                        return Err(SignatureError::Handed);
                    }
                }
                return Ok(tenant);
            }
            Err(error) => why = error,
        }
        marks.extend(annotation(at, SIGNATURE));
    }
    // Of the last one that there is, it is said what is wrong with its signature.
    Err(match controller(at) {
        Some(_) => SignatureError::Missing,
        None => why,
    })
}

/// Whether somebody who is no controller gives an object another owner.
pub(super) fn is_given(ask: &Ask) -> bool {
    let new = owner(&ask.object);
    !is_controller(&ask.user) && !new.is_empty() && new != owner(&ask.old)
}

/// Whether a namespace is for signed workloads only.
fn is_signed(namespace: &str, known: &Known) -> bool {
    let sets = known.sets(namespace);
    let mut sets = sets.iter().filter(|set| set.enforces());
    sets.any(|set| !set.spec.tenants.is_empty() || set.problem.is_some())
}

/// What a workload was, of which its controller makes pods again: where workloads are signed, nobody else writes it.
pub(super) fn revision(ask: &Ask, known: &Known) -> Option<Problem> {
    let same = ask.verb == Verb::Update
        && !is_given(ask)
        && labels(&ask.object) == labels(&ask.old)
        && field(&ask.object, "data") == field(&ask.old, "data");
    (!same && !is_controller(&ask.user) && is_signed(&ask.namespace, known)).then(|| {
        let message = "only the controllers of the cluster write what signed workloads were";
        Problem::new("revision", message).fix("change the workload, and have its tenant sign it")
    })
}

/// Whose a workload is and what selects it, changed by way of its status.
pub(super) fn status(ask: &Ask, known: &Known) -> Option<Problem> {
    let same = owner(&ask.object) == owner(&ask.old)
        && labels(&ask.object) == labels(&ask.old)
        && annotation(&ask.object, SIGNATURE) == annotation(&ask.old, SIGNATURE);
    let enforced = known.sets(&ask.namespace).iter().any(Set::enforces);
    (!same && enforced).then(|| {
        let message = "owners, labels and signature are not changed by way of the status";
        Problem::new("status", message)
            .at("metadata")
            .fix("change the object itself")
    })
}
