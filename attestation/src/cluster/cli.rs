//! The commands that are about a cluster: `locus gate crds`.

use clap::Subcommand;

use super::resources;

/// What can be done about a cluster.
#[derive(Subcommand, Clone, Debug)]
pub enum ClusterCommand {
    /// Print the definitions of the gate's custom resources
    Crds,
}

impl ClusterCommand {
    /// Does what the command line says.
    pub fn run(self) -> Result<(), String> {
        match self {
            ClusterCommand::Crds => {
                print!("{}", definitions()?);
                Ok(())
            }
        }
    }
}

/// The definitions of the custom resources, as YAML.
pub fn definitions() -> Result<String, String> {
    let mut out = String::new();
    for definition in resources::definitions() {
        let text = serde_saphyr::to_string(&definition).map_err(|error| error.to_string())?;
        out.push_str("---\n");
        out.push_str(&text);
        if !out.ends_with('\n') {
            out.push('\n');
        }
    }
    Ok(out)
}
