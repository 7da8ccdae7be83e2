//! What a cluster's objects say of trust: `locus gate status` and `locus gate why NAMESPACE/POD`.

mod status;
mod why;

use clap::ValueEnum;
use kube::api::{ApiResource, DynamicObject, ListParams};
use kube::{Api, Client};
use serde::Serialize;
use serde_json::Value;

use super::connect::{ClusterFault, code};
use super::known::{Known, WATCHED, kept};
use super::names::{READINESS_GATE, SCHEDULING_GATE};
use super::object::{at, items, text, uid};

pub use status::{PodLine, Status, StatusArgs, WorkerLine, status};
pub use why::{Link, Why, why, why_pod};

/// How it is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Shown {
    /// For people
    #[default]
    Text,
    /// As JSON
    Json,
}

/// Reads everything that is watched and may be read; the kinds that may not.
///
/// # Errors
/// When the API server does not answer.
pub async fn known(client: &Client) -> Result<(Known, Vec<&'static str>), ClusterFault> {
    let mut known = Known::default();
    let mut unread = Vec::new();
    for kind in WATCHED {
        let slash = if kind.group.is_empty() { "" } else { "/" };
        let resource = ApiResource {
            group: kind.group.to_owned(),
            version: kind.version.to_owned(),
            api_version: format!("{}{slash}{}", kind.group, kind.version),
            kind: kind.kind.to_owned(),
            plural: kind.resource.to_owned(),
        };
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        match api.list(&ListParams::default()).await {
            Ok(list) => {
                let mut all = Vec::new();
                for item in list.items {
                    let mut value = serde_json::to_value(&item)
                        .map_err(|error| ClusterFault::Object(error.to_string()))?;
                    if let Some(fields) = value.as_object_mut() {
                        fields.insert("kind".to_owned(), kind.kind.into());
                        fields.insert("apiVersion".to_owned(), resource.api_version.clone().into());
                    }
                    all.push(kept(kind.kind, value));
                }
                known.replace(kind.kind, all);
            }
            Err(error) if matches!(code(&error), 401 | 403 | 404) => unread.push(kind.kind),
            Err(error) => return Err(error.into()),
        }
    }
    Ok((known, unread))
}

fn word(object: &Value, path: &[&str], otherwise: &str) -> String {
    match text(object, path) {
        "" => otherwise.to_owned(),
        word => word.to_owned(),
    }
}

/// What the gate says of a pod: its part of an Agent's status.
fn said<'k>(pod: &Value, known: &'k Known) -> Option<&'k Value> {
    let agents = known.all("Agent");
    let mut all = agents.flat_map(|agent| items(at(agent, &["status", "pods"])));
    all.find(|one| text(one, &["uid"]) == uid(pod))
}

fn is_held(pod: &Value) -> bool {
    let gates = items(at(pod, &["spec", "schedulingGates"]));
    gates
        .iter()
        .any(|gate| text(gate, &["name"]) == SCHEDULING_GATE)
}

fn has_readiness_gate(pod: &Value) -> bool {
    let gates = items(at(pod, &["spec", "readinessGates"]));
    gates
        .iter()
        .any(|gate| text(gate, &["conditionType"]) == READINESS_GATE)
}

fn json<T: Serialize>(value: &T) -> Result<String, String> {
    serde_json::to_string_pretty(value).map_err(|error| error.to_string())
}
