//! `locus gate install` and `locus gate uninstall`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::{Choice, StoreChoice, apply, chart, definitions, policies, secrets, yaml};
use crate::cluster::connect::{Reached, block_on};

/// Which objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Definitions of custom resources
    Definitions,
    /// Keys and certificates, made in the folder if they are not there
    Secrets,
    /// Everything else
    Objects,
    /// The policies that hold without the webhook
    Policies,
}

/// What to install.
#[derive(Args, Clone, Debug)]
pub struct InstallArgs {
    /// The installation's folder; its keys and certificates are made if it has none
    #[arg(value_name = "FOLDER", required_unless_present_any = ["helm", "only"])]
    folder: Option<PathBuf>,
    /// The image with `locus-gate`, by digest (`NAME@sha256:...`)
    #[arg(long, value_name = "IMAGE")]
    image: String,
    /// The image with `locus-agent`, by digest [default: that of the gate]
    #[arg(long, value_name = "IMAGE")]
    agent_image: Option<String>,
    /// How much the gate may keep
    #[arg(long, value_name = "QUANTITY", default_value = "8Gi")]
    storage: String,
    /// Keep the databases in PostgreSQL: the Secret in `locus-system` whose key `url` says where it is
    #[arg(long, value_name = "NAME")]
    store_secret: Option<String>,
    /// The port of PostgreSQL, which the gates may connect to
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 5432,
        requires = "store_secret"
    )]
    store_port: u16,
    /// How many gates there are; more than one need a PostgreSQL
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "store_secret",
        value_parser = clap::value_parser!(u32).range(1..=16))]
    replicas: u32,
    /// An image that policies let in unchecked, by digest, as a ReferenceImage says; may be given more than once
    #[arg(long, value_name = "DIGEST")]
    exempt: Vec<String>,
    /// Leave out the webhook configurations: the policies alone hold
    #[arg(long)]
    no_webhook: bool,
    /// Print or apply only some objects; may be given more than once
    #[arg(long, value_enum, value_name = "PART")]
    only: Vec<Part>,
    /// Apply to the cluster, in place of printing
    #[arg(long)]
    apply: bool,
    /// Write a Helm chart to a folder, in place of printing
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["apply", "only", "no_webhook"])]
    helm: Option<PathBuf>,
    #[command(flatten)]
    reached: Reached,
}

/// Where to uninstall.
#[derive(Args, Clone, Debug)]
pub struct UninstallArgs {
    #[command(flatten)]
    reached: Reached,
}

fn is_digest(text: &str) -> bool {
    let hex = text.strip_prefix("sha256:").unwrap_or_default();
    hex.len() == 64 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

impl InstallArgs {
    fn choice(&self) -> Result<Choice, String> {
        let agent = self.agent_image.as_deref().unwrap_or(&self.image);
        let mut choice = Choice::new(&self.image, agent)?;
        choice.storage.clone_from(&self.storage);
        if let Some(wrong) = self.exempt.iter().find(|text| !is_digest(text)) {
            let wrong = crate::logs::shown(wrong);
            return Err(format!("`{wrong}` is not a digest: write `sha256:...`"));
        }
        choice.exempt.clone_from(&self.exempt);
        choice.webhook = !self.no_webhook;
        choice.store = self.store_secret.as_ref().map(|secret| StoreChoice {
            secret: secret.clone(),
            port: u32::from(self.store_port),
            replicas: self.replicas,
        });
        Ok(choice)
    }

    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    fn secrets(&self) -> Result<Vec<Value>, String> {
        match (&self.folder, self.wants(Part::Secrets)) {
            (_, false) => Ok(Vec::new()),
            (Some(folder), true) => secrets::of_folder(folder).map_err(|error| error.to_string()),
            (None, true) => Err("name the installation's folder".to_owned()),
        }
    }

    /// Does what the command line says.
    ///
    /// # Errors
    /// What is wrong with it, or with the cluster.
    pub fn run(self) -> Result<(), String> {
        let choice = self.choice()?;
        if let Some(folder) = &self.helm {
            chart::write(folder, &choice)?;
            eprintln!("wrote a chart to `{}`", folder.display());
            return Ok(());
        }
        let secrets = self.secrets()?;
        if self.apply && self.only.is_empty() {
            let work = async {
                let (client, _) = self.reached.open().await?;
                apply::install(&client, &choice, &secrets, |what| println!("{what}")).await
            };
            return block_on(work);
        }
        let mut all = Vec::new();
        if self.wants(Part::Definitions) {
            all.extend(definitions());
        }
        if self.wants(Part::Objects) {
            all.extend(apply::whole(&choice, &secrets));
        } else {
            all.extend(secrets);
            if self.wants(Part::Policies) {
                all.extend(policies::objects(&choice));
            }
        }
        if self.apply {
            let work = async {
                let (client, _) = self.reached.open().await?;
                apply::put_all(&client, &all, |what| println!("{what}")).await
            };
            return block_on(work);
        }
        print!("{}", yaml(&all)?);
        Ok(())
    }
}

impl UninstallArgs {
    /// Takes everything out.
    ///
    /// # Errors
    /// What the cluster refused.
    pub fn run(self) -> Result<(), String> {
        let work = async {
            let (client, _) = self.reached.open().await?;
            apply::uninstall(&client, |what| println!("removed {what}")).await
        };
        block_on(work)
    }
}
