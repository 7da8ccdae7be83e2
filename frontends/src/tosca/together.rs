//! Files of types that are checked together, because they import the same files, and files that another may import and that say
//! more than types.

use std::collections::BTreeMap;

use crate::loader::{Loader, directory};

/// Most files of a group: enough to read little twice, and few enough for all cores to have something to do.
const GROUP: usize = 250;

/// The sections that are checked in the file that was named alone.
const TOPOLOGIES: [&str; 2] = ["topology_template", "service_template"];

/// Groups of the files that have nothing but types. Those of a group have one version, whose types they use, and one folder, whose
/// settings count.
pub(super) fn groups(alone: &[&str], loader: &dyn Loader) -> Vec<Vec<String>> {
    let mut like: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
    for &path in alone {
        let text = text(path, loader);
        if let Some(version) = text.filter(|text| !mentions(text)).and_then(version) {
            let group = like.entry((directory(path), version)).or_default();
            group.push(path.to_owned());
        }
    }
    let groups = like.values().flat_map(|files| files.chunks(GROUP));
    groups
        .filter(|group| group.len() > 1)
        .map(<[String]>::to_vec)
        .collect()
}

/// Whether a file has a topology, of which nobody who imports the file sees more than its types.
pub(super) fn has_topology(path: &str, loader: &dyn Loader) -> bool {
    text(path, loader).is_some_and(|text| mentions(&text))
}

fn text(path: &str, loader: &dyn Loader) -> Option<String> {
    let bytes = loader.load(path).ok()?;
    locus_core::decode(&bytes).ok().map(|text| text.to_string())
}

/// Whether a text may have a topology; a few that have none are taken to have one, which costs some time.
fn mentions(text: &str) -> bool {
    TOPOLOGIES.iter().any(|section| text.contains(section))
}

/// The version on the first line that says something, as it is written there.
fn version(text: String) -> Option<String> {
    let said = |line: &&str| !matches!(line.trim(), "" | "---") && !line.starts_with('#');
    let first = text.lines().find(said)?;
    let version = first.strip_prefix("tosca_definitions_version:")?;
    let version = version.split('#').next().unwrap_or(version).trim();
    (!version.is_empty()).then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loader::MemoryLoader;

    #[test]
    fn files_of_types_are_grouped_by_folder_and_version() {
        let loader = MemoryLoader::new()
            .with("a/1.yaml", "tosca_definitions_version: tosca_2_0\n")
            .with(
                "a/2.yaml",
                "# types\n---\ntosca_definitions_version: tosca_2_0 # new\n",
            )
            .with(
                "a/3.yaml",
                "tosca_definitions_version: tosca_simple_yaml_1_3\n",
            )
            .with(
                "a/4.yaml",
                "tosca_definitions_version: tosca_2_0\nservice_template: {}\n",
            )
            .with("a/5.yaml", "node_types: {}\n")
            .with("b/1.yaml", "tosca_definitions_version: tosca_2_0\n");
        let all = [
            "a/1.yaml", "a/2.yaml", "a/3.yaml", "a/4.yaml", "a/5.yaml", "b/1.yaml",
        ];
        assert_eq!(groups(&all, &loader), [["a/1.yaml", "a/2.yaml"]]);
        assert!(has_topology("a/4.yaml", &loader));
        assert!(!has_topology("a/1.yaml", &loader));
    }
}
