//! Whose a pod is: what a controller makes belongs to whom the controller's object belongs.

use serde_json::Value;

use super::signature::{self, SignatureError};
use crate::cluster::known::{Known, Tenant};
use crate::cluster::object::{Workload, controller, group, namespace, text};

/// The most owners that are followed: a Job of a CronJob has two.
const DEPTH: usize = 4;

/// Whether a user is one of the server's own controllers that make pods and what has pods.
///
/// Who a user is, the server has proven. What an object says of its owner, anybody can write.
pub(super) fn is_controller(user: &str) -> bool {
    const ACCOUNTS: &[&str] = &[
        "cronjob-controller",
        "daemon-set-controller",
        "deployment-controller",
        "job-controller",
        "replicaset-controller",
        "replication-controller",
        "statefulset-controller",
    ];
    let account = user.strip_prefix("system:serviceaccount:kube-system:");
    user == "system:kube-controller-manager" || account.is_some_and(|name| ACCOUNTS.contains(&name))
}

/// Whether an object says that it has a controller.
pub(super) fn has_controller(object: &Value) -> bool {
    controller(object).is_some()
}

/// The tenant that signed the object at the root of an object's owners.
pub(super) fn root<'k>(
    object: &Value,
    allowed: &[String],
    known: &'k Known,
) -> Result<&'k Tenant, SignatureError> {
    let space = namespace(object);
    let mut at: &Value = object;
    for _ in 0..DEPTH {
        let Some(reference) = controller(at) else {
            break;
        };
        let owner = known
            .owner(space, reference)
            .ok_or(SignatureError::Missing)?;
        at = owner;
    }
    if std::ptr::eq(at, object) || controller(at).is_some() {
        return Err(SignatureError::Missing);
    }
    let workload = Workload::of_kind(group(text(at, &["apiVersion"])), text(at, &["kind"]));
    let workload = workload.ok_or(SignatureError::Missing)?;
    signature::signer(workload, at, allowed, known).map(|(tenant, _)| tenant)
}
