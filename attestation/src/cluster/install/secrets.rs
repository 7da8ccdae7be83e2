//! Keys and certificates of an installation, from its folder, where they are made if they are not there.
//!
//! The key of the authority stays in the folder: nothing in the cluster can make a certificate of a component.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::{AGENTS, NAMESPACE, PART_OF, workloads};
use crate::clock::SystemClock;
use crate::gate::GateError;
use crate::gate::args::{enrol, init_named};
use crate::net::Role;

/// What the gate's components are known by, and the authority for agents.
pub const GATE: &str = "locus-gate";
/// The certificate of the authority, by which agents know the gate.
pub const AUTHORITY: &str = "locus-authority";

/// The Secrets of the installation in a folder. An installation is made if there is none, and so are credentials for an
/// operator.
///
/// # Errors
/// What cannot be read, made or written.
pub fn of_folder(folder: &Path) -> Result<Vec<Value>, GateError> {
    if !folder.join("ca.pem").exists() {
        let host = workloads::host();
        let names = [
            host.clone(),
            format!("{host}.cluster.local"),
            super::Component::Gate.name().to_owned(),
            "127.0.0.1".to_owned(),
        ];
        init_named(folder, &names, &SystemClock)?;
    }
    let operator = folder.join("operator");
    if !operator.join("operator.key").exists() {
        enrol(folder, Role::Operator, "operator", &operator, &SystemClock)?;
    }
    let gate = files(
        folder,
        &[
            "ca.pem",
            "gate.pem",
            "gate.key",
            "agents-ca.pem",
            "agents-ca.key",
        ],
        &["verifier-succession.json"],
    )?;
    let authority = files(folder, &["ca.pem"], &[])?;
    Ok(vec![
        secret(GATE, &gate),
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": AUTHORITY, "namespace": AGENTS, "labels": {PART_OF: "locus"}},
            "data": authority,
        }),
    ])
}

fn files(folder: &Path, names: &[&str], others: &[&str]) -> Result<Map<String, Value>, GateError> {
    let read = |name: &str| crate::net::pki::read_file(&folder.join(name));
    let mut data = Map::new();
    for name in names {
        data.insert((*name).to_owned(), Value::String(read(name)?));
    }
    for name in others.iter().filter(|name| folder.join(name).exists()) {
        data.insert((*name).to_owned(), Value::String(read(name)?));
    }
    Ok(data)
}

fn secret(name: &str, files: &Map<String, Value>) -> Value {
    use base64::Engine as _;
    let engine = base64::engine::general_purpose::STANDARD;
    let encoded: Map<String, Value> = files
        .iter()
        .map(|(name, text)| {
            let text = engine.encode(text.as_str().unwrap_or_default());
            (name.clone(), Value::String(text))
        })
        .collect();
    let mut secret = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": {PART_OF: "locus"}},
        "type": "Opaque",
    });
    if !encoded.is_empty() {
        secret["data"] = Value::Object(encoded);
    }
    secret
}
