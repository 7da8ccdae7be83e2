//! Brings an installation into a cluster, and takes it out again.

use std::time::{Duration, Instant};

use kube::api::{
    ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PropagationPolicy,
};
use kube::{Api, Client};
use serde_json::{Value, json};

use super::{Choice, definitions, objects};
use crate::cluster::connect::{ClusterFault, api, code};
use crate::cluster::names::{SCHEDULING_GATE, TAINT};
use crate::cluster::object::{at, items, label, name, namespace, text};

/// How long the server may take to make or remove what it was asked to.
const PATIENCE: Duration = Duration::from_secs(120);
const PERIOD: Duration = Duration::from_millis(250);
/// After how many looks at what is not gone yet its deletion is asked for again.
const ASKED_AGAIN: u32 = 20;
/// Who writes an installation: not who writes certificates into it while it runs.
const INSTALLER: &str = "locus-install";

/// Applies an installation: what is there is changed to what it should be, but for Secrets, which stay.
///
/// # Errors
/// What the server refused, or did not do in time.
pub async fn install(
    client: &Client,
    choice: &Choice,
    secrets: &[Value],
    mut tell: impl FnMut(&str),
) -> Result<(), ClusterFault> {
    let mut all = definitions();
    all.extend(whole(choice, secrets));
    put_all(client, &all, &mut tell).await
}

/// Applies objects in their order.
///
/// # Errors
/// What the server refused, or did not do in time.
pub async fn put_all(
    client: &Client,
    objects: &[Value],
    mut tell: impl FnMut(&str),
) -> Result<(), ClusterFault> {
    let is_definition = |object: &&Value| text(object, &["kind"]) == "CustomResourceDefinition";
    for definition in objects.iter().filter(is_definition) {
        put(client, definition, &mut tell).await?;
    }
    for definition in objects.iter().filter(is_definition) {
        established(client, definition).await?;
    }
    for object in objects.iter().filter(|object| !is_definition(object)) {
        put(client, object, &mut tell).await?;
    }
    Ok(())
}

/// All objects but the definitions, with the Secrets where their namespaces are there already.
pub fn whole(choice: &Choice, secrets: &[Value]) -> Vec<Value> {
    let mut all = objects(choice);
    let is_namespace = |object: &Value| text(object, &["kind"]) == "Namespace";
    let first = all.iter().take_while(|object| is_namespace(object)).count();
    all.splice(first..first, secrets.iter().cloned());
    all
}

async fn put(
    client: &Client,
    object: &Value,
    tell: &mut impl FnMut(&str),
) -> Result<(), ClusterFault> {
    let api = api(client, object, "default").await?;
    let params = PatchParams::apply(INSTALLER).force();
    let start = Instant::now();
    loop {
        match api
            .patch(name(object), &params, &Patch::Apply(object))
            .await
        {
            Ok(_) => break,
            // A kind that was just defined is not served yet.
            Err(error) if code(&error) == 404 && start.elapsed() < PATIENCE => {
                tokio::time::sleep(PERIOD).await;
            }
            Err(error) => {
                return Err(ClusterFault::Object(format!("{}: {error}", label(object))));
            }
        }
    }
    tell(&label(object));
    Ok(())
}

async fn established(client: &Client, definition: &Value) -> Result<(), ClusterFault> {
    let api = api(client, definition, "").await?;
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        let found = api.get(name(definition)).await?;
        let conditions = items(at(&found.data, &["status", "conditions"]));
        let mut conditions = conditions.iter();
        if conditions
            .any(|one| text(one, &["type"]) == "Established" && text(one, &["status"]) == "True")
        {
            return Ok(());
        }
        tokio::time::sleep(PERIOD).await;
    }
    Err(ClusterFault::Object(format!(
        "{} is not served",
        label(definition)
    )))
}

/// Takes out everything: first what keeps others from getting in, last the custom resources. Pods that wait for the gate are let
/// go, and workers lose its taint.
///
/// # Errors
/// What the server refused, or did not do in time.
pub async fn uninstall(client: &Client, mut tell: impl FnMut(&str)) -> Result<(), ClusterFault> {
    let digest = "0".repeat(64);
    let any = format!("any@sha256:{digest}");
    let choice = Choice::new(&any, &any).map_err(ClusterFault::Object)?;
    let all = objects(&choice);
    let mut gone = Vec::new();
    let closing = |object: &&Value| {
        text(object, &["kind"]).contains("Admission") || text(object, &["kind"]).contains("Webhook")
    };
    for object in all.iter().filter(closing).rev() {
        gone.extend(remove(client, object, &mut tell).await?);
    }
    wait(client, &gone).await?;
    // Nobody adds a gate or a taint from here on but what still runs.
    let mut gone = Vec::new();
    for object in all.iter().filter(|object| is_running(object)) {
        gone.extend(remove(client, object, &mut tell).await?);
    }
    wait(client, &gone).await?;
    release(client, &mut tell).await?;
    let mut gone = Vec::new();
    for object in all
        .iter()
        .rev()
        .filter(|object| !closing(object) && !is_running(object))
    {
        gone.extend(remove(client, object, &mut tell).await?);
    }
    for definition in definitions() {
        gone.extend(remove(client, &definition, &mut tell).await?);
    }
    wait(client, &gone).await
}

/// Whether something has pods.
fn is_running(object: &Value) -> bool {
    let kind = text(object, &["kind"]);
    matches!(kind, "Deployment" | "StatefulSet" | "DaemonSet")
}

/// Deletes an object if it is there.
async fn remove(
    client: &Client,
    object: &Value,
    tell: &mut impl FnMut(&str),
) -> Result<Option<Value>, ClusterFault> {
    let api = api(client, object, "default").await?;
    // Of what runs, the pods go first; for anything else the cluster's garbage collector is not waited for.
    let propagation = match is_running(object) {
        true => PropagationPolicy::Foreground,
        false => PropagationPolicy::Background,
    };
    let params = DeleteParams {
        propagation_policy: Some(propagation),
        ..DeleteParams::default()
    };
    match api.delete(name(object), &params).await {
        Ok(_) => {
            tell(&label(object));
            Ok(Some(object.clone()))
        }
        Err(error) if code(&error) == 404 => Ok(None),
        Err(error) => Err(ClusterFault::Object(format!("{}: {error}", label(object)))),
    }
}

/// Waits until objects are gone.
async fn wait(client: &Client, gone: &[Value]) -> Result<(), ClusterFault> {
    let start = Instant::now();
    for object in gone {
        let api = api(client, object, "default").await?;
        let mut rounds = 0_u32;
        loop {
            rounds += 1;
            if rounds.is_multiple_of(ASKED_AGAIN) {
                // Who finishes a deletion and fails pauses longer each time: a change has it look again. It may be gone by now.
                let touched = json!({"metadata": {"annotations": {"locus.dev/uninstall": rounds.to_string()}}});
                let patch = Patch::Merge(&touched);
                let params = PatchParams::default();
                let _ = api.patch(name(object), &params, &patch).await;
            }
            match api.get_opt(name(object)).await {
                Ok(None) => break,
                Err(error) if code(&error) == 404 => break,
                Ok(Some(_)) if start.elapsed() < PATIENCE => tokio::time::sleep(PERIOD).await,
                Ok(Some(_)) => {
                    return Err(ClusterFault::Object(format!(
                        "{} is not gone yet: something holds it; see its finalizers",
                        label(object)
                    )));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

fn all_of(client: &Client, kind: &str, plural: &str) -> Api<DynamicObject> {
    let resource = ApiResource {
        group: String::new(),
        version: "v1".to_owned(),
        api_version: "v1".to_owned(),
        kind: kind.to_owned(),
        plural: plural.to_owned(),
    };
    Api::all_with(client.clone(), &resource)
}

/// Lets pods go that wait for the gate, and takes its taint from nodes.
async fn release(client: &Client, tell: &mut impl FnMut(&str)) -> Result<(), ClusterFault> {
    for pod in whole_list(&all_of(client, "Pod", "pods"), "Pod").await? {
        let gates = ["schedulingGates", "name", SCHEDULING_GATE];
        if without(client, &pod, gates).await? {
            tell(&format!("{}: let go", label(&pod)));
        }
    }
    for node in whole_list(&all_of(client, "Node", "nodes"), "Node").await? {
        if without(client, &node, ["taints", "key", TAINT]).await? {
            tell(&format!("{}: taint taken away", label(&node)));
        }
    }
    Ok(())
}

/// Takes what is the gate's out of a list of an object's specification; whether it was there. Somebody else may change the object at
/// the same time, and policies that were deleted are in force for a moment more.
async fn without(
    client: &Client,
    object: &Value,
    [list, key, ours]: [&str; 3],
) -> Result<bool, ClusterFault> {
    let api = api(client, object, namespace(object)).await?;
    let is_ours = |one: &Value| text(one, &[key]) == ours;
    let start = Instant::now();
    let mut now = object.clone();
    loop {
        let all = items(at(&now, &["spec", list]));
        if !all.iter().any(is_ours) {
            return Ok(false);
        }
        let others: Vec<&Value> = all.iter().filter(|one| !is_ours(one)).collect();
        let change = json!({
            "metadata": {"resourceVersion": at(&now, &["metadata", "resourceVersion"])},
            "spec": {list: others},
        });
        let patch = Patch::Merge(&change);
        match api
            .patch(name(object), &PatchParams::default(), &patch)
            .await
        {
            Ok(_) => return Ok(true),
            Err(error) if code(&error) == 404 => return Ok(false),
            Err(error) if matches!(code(&error), 403 | 409) && start.elapsed() < PATIENCE => {
                tokio::time::sleep(PERIOD).await;
            }
            Err(error) => {
                return Err(ClusterFault::Object(format!("{}: {error}", label(object))));
            }
        }
        let Some(found) = api.get_opt(name(object)).await? else {
            return Ok(false);
        };
        now = serde_json::to_value(&found)
            .map_err(|error| ClusterFault::Object(error.to_string()))?;
    }
}

/// All objects of a list, each with its kind.
async fn whole_list(api: &Api<DynamicObject>, kind: &str) -> Result<Vec<Value>, ClusterFault> {
    let list = api.list(&ListParams::default()).await?;
    let mut all = Vec::new();
    for item in list.items {
        let mut value =
            serde_json::to_value(&item).map_err(|error| ClusterFault::Object(error.to_string()))?;
        value["kind"] = json!(kind);
        value["apiVersion"] = json!("v1");
        all.push(value);
    }
    Ok(all)
}
