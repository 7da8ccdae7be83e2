//! `locus gate enter manufacturer`, `values`, `tenant`, `pod`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hyper::Method;
use serde::Serialize;
use serde_json::{Value, json};

use super::connection::{ClientFault, Connection, block_on, read, read_json, segment, tell};
use crate::logs::shown;
use crate::net::{Client, ClientError};
use crate::reference::ReferenceValues;
use crate::verifier::{Pod, PodStatus};

/// What to enter.
#[derive(Subcommand, Clone, Debug)]
pub enum EnterCommand {
    /// Trust a manufacturer of TPMs by its certificates
    Manufacturer(ManufacturerArgs),
    /// Enter reference values; what the gate has under the same name is replaced
    Values(ValuesArgs),
    /// Enter a tenant with its public key
    Tenant(NewTenantArgs),
    /// Declare a pod, or describe one anew
    Pod(PodArgs),
}

/// A manufacturer.
#[derive(Args, Clone, Debug)]
pub struct ManufacturerArgs {
    /// Its identifier in endorsement certificates, such as `id:49465800`
    id: String,
    /// Its name
    name: String,
    /// A root certificate, PEM; may be given several times
    #[arg(long, value_name = "FILE", required = true)]
    root: Vec<PathBuf>,
    /// An intermediate certificate, PEM; may be given several times
    #[arg(long, value_name = "FILE")]
    intermediate: Vec<PathBuf>,
    #[command(flatten)]
    connection: Connection,
}

/// Reference values.
#[derive(Args, Clone, Debug)]
pub struct ValuesArgs {
    /// The values, as `locus reference` writes them
    #[arg(required = true, value_name = "VALUES")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    connection: Connection,
}

/// A tenant.
#[derive(Args, Clone, Debug)]
pub struct NewTenantArgs {
    /// Its name
    name: String,
    /// Its public key: P-256, PEM
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    #[command(flatten)]
    connection: Connection,
}

/// A pod.
#[derive(Args, Clone, Debug)]
pub struct PodArgs {
    /// The pod with all its containers, JSON
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    connection: Connection,
}

impl EnterCommand {
    /// Does what the command line says.
    pub fn run(self) -> Result<(), ClientFault> {
        block_on(async {
            match self {
                EnterCommand::Manufacturer(args) => args.run().await,
                EnterCommand::Values(args) => args.run().await,
                EnterCommand::Tenant(args) => args.run().await,
                EnterCommand::Pod(args) => args.run().await,
            }
        })
    }
}

impl ManufacturerArgs {
    async fn run(self) -> Result<(), ClientFault> {
        // Everything is read before anything is entered.
        let mut certificates = Vec::new();
        for (kind, files) in [("root", &self.root), ("intermediate", &self.intermediate)] {
            for file in files {
                certificates.push((kind, read(file)?));
            }
        }
        let client = self.connection.open()?;
        let new = json!({ "id": self.id, "name": self.name });
        match tell(&client, Method::POST, "/v1/manufacturers", &new).await {
            // Known already: its certificates are added.
            Ok(_) | Err(ClientFault::Client(ClientError::Refused { status: 409, .. })) => {}
            Err(error) => return Err(error),
        }
        let path = format!("/v1/manufacturers/{}/certificates", segment(&self.id));
        for (kind, certificate) in &certificates {
            let body = json!({ "kind": kind, "certificate": certificate });
            tell(&client, Method::POST, &path, &body).await?;
        }
        println!(
            "manufacturer `{}` has {} more certificates",
            shown(&self.id),
            certificates.len()
        );
        Ok(())
    }
}

impl ValuesArgs {
    async fn run(self) -> Result<(), ClientFault> {
        let mut all = Vec::new();
        for file in &self.files {
            all.push(read_json::<ReferenceValues>(file)?);
        }
        let client = self.connection.open()?;
        for values in all {
            put(&client, "os", &values.os).await?;
            put(&client, "images", &values.images).await?;
            put(&client, "runtimes", &values.runtimes).await?;
            put(&client, "hosts", &values.hosts).await?;
        }
        Ok(())
    }
}

async fn put<T: Serialize>(
    client: &Client,
    kind: &str,
    values: &std::collections::BTreeMap<String, T>,
) -> Result<(), ClientFault> {
    for (name, value) in values {
        let path = format!("/v1/reference/{kind}/{}", segment(name));
        tell(client, Method::PUT, &path, value).await?;
        println!("{kind}: {}", shown(name));
    }
    Ok(())
}

impl NewTenantArgs {
    async fn run(self) -> Result<(), ClientFault> {
        let new = json!({ "name": self.name, "public_key": read(&self.key)? });
        let client = self.connection.open()?;
        let tenant: Value = client.ask(Method::POST, "/v1/tenants", &new).await?;
        let id = tenant.get("id").and_then(Value::as_str);
        println!("{}", id.unwrap_or_default());
        Ok(())
    }
}

impl PodArgs {
    async fn run(self) -> Result<(), ClientFault> {
        let pod: Pod = read_json(&self.file)?;
        let client = self.connection.open()?;
        let status: PodStatus = client.ask(Method::POST, "/v1/verifier/pods", &pod).await?;
        let label = shown(&status.pod.label());
        println!("pod `{label}` is {}", status.trust.name());
        Ok(())
    }
}
