//! Objects on their way into the cluster: with the gate's gates, signed, and applied.

use kube::Client;
use kube::api::{ListParams, Patch, PatchParams};
use serde_json::{Map, Value, json};

use super::manifests::workload;
use crate::clock::{Clock as _, SystemClock};
use crate::cluster::admission::signature;
use crate::cluster::connect::{ClusterFault, api, code};
use crate::cluster::known::Known;
use crate::cluster::names::{READINESS_GATE, SCHEDULING_GATE, SIGNATURE};
use crate::cluster::object::{Workload, field, items, label, name, namespace, put, text};
use crate::cluster::resources::InvariantSet;
use crate::evidence::Nonce;
use crate::evidence::jws::TokenKey;

/// Who writes what is deployed.
const MANAGER: &str = "locus-deploy";

/// What sends objects.
pub(super) struct Sender<'a> {
    pub(super) client: Client,
    pub(super) namespace: String,
    pub(super) signing: Option<(&'a TokenKey, &'a str)>,
    pub(super) force: bool,
    /// The InvariantSets; none if they may not be read, and then the webhook does its part.
    pub(super) sets: Option<Known>,
}

/// Why an object was not taken.
pub(super) enum Refused {
    /// The gate refused it.
    Rule(String),
    /// Something else.
    Other(String),
}

impl From<ClusterFault> for Refused {
    fn from(error: ClusterFault) -> Self {
        Refused::Other(error.to_string())
    }
}

/// The InvariantSets, if they may be read.
pub(super) async fn sets(client: &Client) -> Option<Known> {
    let sets: kube::Api<InvariantSet> = kube::Api::all(client.clone());
    let list = sets.list(&ListParams::default()).await.ok()?;
    let values = list.items.iter().map(serde_json::to_value);
    let values = values.collect::<Result<Vec<Value>, _>>().ok()?;
    let mut known = Known::default();
    known.replace("InvariantSet", values);
    Some(known)
}

impl Sender<'_> {
    /// Applies an object; what the server made of it.
    pub(super) async fn apply(&self, object: &Value) -> Result<Value, Refused> {
        let mut object = object.clone();
        if let Some(fields) = object.as_object_mut() {
            fields.remove("status");
        }
        let mut space = namespace(&object).to_owned();
        if space.is_empty() {
            space.clone_from(&self.namespace);
        }
        if let Some(workload) = workload(&object) {
            put(&mut object, &["metadata", "namespace"], json!(space));
            if self.is_held(&space) {
                gate(workload, &mut object);
            }
            if let Some((key, tenant)) = self.signing {
                let completed = self.patch(&object, true).await?;
                let signed = sign(key, tenant, workload, &completed).map_err(Refused::Other)?;
                put(
                    &mut object,
                    &["metadata", "annotations", SIGNATURE],
                    json!(signed),
                );
            }
        }
        let made = self.patch(&object, false).await?;
        eprintln!("applied {}", crate::logs::shown(&label(&made)));
        Ok(made)
    }

    /// Whether the pods of a namespace are held back until the gate lets them go.
    fn is_held(&self, space: &str) -> bool {
        let sets = self.sets.as_ref().map(|known| known.sets(space));
        sets.is_some_and(|sets| sets.iter().any(crate::cluster::known::Set::enforces))
    }

    async fn patch(&self, object: &Value, dry_run: bool) -> Result<Value, Refused> {
        let api = api(&self.client, object, &self.namespace).await?;
        let mut params = PatchParams::apply(MANAGER);
        params.force = self.force;
        params.dry_run = dry_run;
        params.field_validation = Some(kube::api::ValidationDirective::Strict);
        let made = api
            .patch(name(object), &params, &Patch::Apply(object))
            .await;
        let made = made.map_err(|error| refused(&error, object))?;
        let mut made =
            serde_json::to_value(&made).map_err(|error| Refused::Other(error.to_string()))?;
        // The server answers with them; to be sure, they are said.
        for key in ["apiVersion", "kind"] {
            put(&mut made, &[key], field(object, key).clone());
        }
        Ok(made)
    }
}

/// Whether the gate refused an object, or somebody else.
fn refused(error: &kube::Error, object: &Value) -> Refused {
    let message = match error {
        kube::Error::Api(status) => status.message.clone(),
        error => error.to_string(),
    };
    let by_gate = message.contains(".locus.dev\" denied the request")
        || message.contains("ValidatingAdmissionPolicy 'locus-");
    if by_gate {
        return Refused::Rule(message);
    }
    let hint = match code(error) {
        409 => "\nsomebody else wrote these fields; `--force-conflicts` takes them over",
        _ => "",
    };
    Refused::Other(format!("{}: {message}{hint}", label(object)))
}

/// Adds what the webhook adds to pods, to what makes them.
fn gate(workload: &Workload, object: &mut Value) {
    let mut at = object;
    for key in workload.template.iter().chain(&["spec"]) {
        let Some(next) = at.get_mut(*key) else {
            return;
        };
        at = next;
    }
    let Some(spec) = at.as_object_mut() else {
        return;
    };
    added(spec, "schedulingGates", "name", SCHEDULING_GATE);
    added(spec, "readinessGates", "conditionType", READINESS_GATE);
}

fn added(spec: &mut Map<String, Value>, list: &str, key: &str, gate: &str) {
    let list = spec.entry(list).or_insert_with(|| json!([]));
    let there = items(list).iter().any(|one| text(one, &[key]) == gate);
    if let (false, Some(list)) = (there, list.as_array_mut()) {
        list.push(json!({key: gate}));
    }
}

fn sign(
    key: &TokenKey,
    tenant: &str,
    workload: &Workload,
    completed: &Value,
) -> Result<String, String> {
    let nonce = Nonce::random().map_err(|error| error.to_string())?;
    let signed = signature::sign(key, tenant, (workload, completed), nonce, SystemClock.now());
    signed.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_added_once_to_whatever_makes_pods() {
        let cron = Workload::of_kind("batch", "CronJob").unwrap();
        let spec = json!({"readinessGates": [{"conditionType": "x"}], "containers": []});
        let mut object = json!({"spec": {"jobTemplate": {"spec": {"template": {"spec": spec}}}}});
        gate(cron, &mut object);
        let once = object.clone();
        gate(cron, &mut object);
        assert_eq!(once, object);
        let spec = &object["spec"]["jobTemplate"]["spec"]["template"]["spec"];
        assert_eq!(spec["schedulingGates"], json!([{"name": SCHEDULING_GATE}]));
        assert_eq!(spec["readinessGates"].as_array().unwrap().len(), 2);
        let mut nothing = json!({"spec": {}});
        gate(cron, &mut nothing);
        assert_eq!(nothing, json!({"spec": {}}));
    }
}
