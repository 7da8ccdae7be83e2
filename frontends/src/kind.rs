//! Which language a file is in, told by its content.

use crate::yaml::{Document, Mapping, Node};

/// A configuration language, or a file that belongs to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A Heat template (`heat_template_version`).
    Hot,
    /// A CFN-style Heat template (`AWSTemplateFormatVersion`, `HeatTemplateFormatVersion`).
    Cfn,
    /// An environment for Heat templates.
    HeatEnvironment,
    /// A Compose file.
    Compose,
    /// Kubernetes objects.
    Kubernetes,
    /// A TOSCA service template.
    Tosca,
}

impl FileKind {
    /// Its name in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            FileKind::Hot => "Heat template",
            FileKind::Cfn => "CFN-style Heat template",
            FileKind::HeatEnvironment => "Heat environment",
            FileKind::Compose => "Compose file",
            FileKind::Kubernetes => "Kubernetes manifest",
            FileKind::Tosca => "TOSCA service template",
        }
    }
}

/// What the name of a file tells of it: Compose reads these files and no others by itself.
pub fn by_name(path: &str) -> Option<FileKind> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = name
        .strip_suffix(".yaml")
        .or_else(|| name.strip_suffix(".yml"))?;
    let stem = stem.strip_suffix(".override").unwrap_or(stem);
    matches!(stem, "compose" | "docker-compose").then_some(FileKind::Compose)
}

/// The file that Compose reads before this one, by either extension; `None` when this is no override.
pub fn overridden(path: &str) -> Option<[String; 2]> {
    by_name(path)?;
    let stem = path
        .strip_suffix(".override.yaml")
        .or_else(|| path.strip_suffix(".override.yml"))?;
    Some([format!("{stem}.yaml"), format!("{stem}.yml")])
}

/// What the first line of a file tells of it, without parsing it: a block mapping whose first key is the version of
/// a Heat template is one, whatever follows.
pub fn by_first_line(text: &str) -> Option<FileKind> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().map(str::trim_end);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#') && *line != "---")?;
    let value = first.strip_prefix("heat_template_version:")?;
    (value.is_empty() || value.starts_with([' ', '\t'])).then_some(FileKind::Hot)
}

/// The language of a file, or `None` when nothing tells it.
pub fn recognise(documents: &[Document]) -> Option<FileKind> {
    documents
        .iter()
        .find_map(|document| of_mapping(document.root.as_mapping()?))
}

fn of_mapping(root: &Mapping) -> Option<FileKind> {
    let has = |key: &str| root.get(key).is_some();
    let is_map = |key: &str| {
        root.get(key)
            .is_some_and(|node| node.as_mapping().is_some())
    };
    if has("heat_template_version") {
        return Some(FileKind::Hot);
    }
    if has("AWSTemplateFormatVersion") || has("HeatTemplateFormatVersion") {
        return Some(FileKind::Cfn);
    }
    if has("tosca_definitions_version") {
        return Some(FileKind::Tosca);
    }
    if has("apiVersion") && has("kind") {
        return Some(FileKind::Kubernetes);
    }
    let environment = [
        "resource_registry",
        "parameter_defaults",
        "encrypted_param_names",
        "event_sinks",
        "parameter_merge_strategies",
    ];
    let only_environment = root
        .named()
        .all(|(key, _)| &**key == "parameters" || environment.contains(&&**key));
    if environment.iter().any(|key| has(key)) || (has("parameters") && only_environment) {
        return Some(FileKind::HeatEnvironment);
    }
    // A template whose version was forgotten is still a template, and is told so.
    if is_map("resources") && typed(root.get("resources"), "type") {
        return Some(FileKind::Hot);
    }
    if is_map("Resources") && typed(root.get("Resources"), "Type") {
        return Some(FileKind::Cfn);
    }
    let compose = [
        "services", "networks", "volumes", "secrets", "configs", "include", "x-",
    ];
    let like_compose = root.named().all(|(key, _)| {
        matches!(&**key, "version" | "name" | "models" | "jobs")
            || compose.contains(&&**key)
            || key.starts_with("x-")
    });
    if has("services") || (like_compose && compose.iter().any(|key| has(key))) {
        return Some(FileKind::Compose);
    }
    if is_map("topology_template") || is_map("service_template") || is_map("node_types") {
        return Some(FileKind::Tosca);
    }
    let api = root.get("apiVersion").and_then(Node::as_str);
    if has("kind") || api.is_some_and(is_api_version) {
        return Some(FileKind::Kubernetes);
    }
    None
}

/// Whether a text is a version of Kubernetes' interface, as in `apps/v1beta2`: other programs number theirs.
fn is_api_version(text: &str) -> bool {
    let version = text.rsplit('/').next().unwrap_or(text);
    version
        .strip_prefix('v')
        .is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

fn typed(section: Option<&Node>, key: &str) -> bool {
    section.and_then(Node::as_mapping).is_some_and(|section| {
        section
            .entries
            .iter()
            .any(|entry| entry.value.get(key).is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Limits, parse};
    use locus_core::Sources;

    #[test]
    fn the_files_of_compose_are_known_by_name() {
        for name in [
            "compose.yaml",
            "a/docker-compose.yml",
            "compose.override.yml",
        ] {
            assert_eq!(by_name(name), Some(FileKind::Compose), "{name}");
        }
        for name in ["a.yaml", "compose", "compose.json", "my-compose.yaml"] {
            assert_eq!(by_name(name), None, "{name}");
        }
        let base = overridden("a/compose.override.yml").unwrap();
        assert_eq!(base, ["a/compose.yaml", "a/compose.yml"]);
        assert_eq!(overridden("a/compose.yml"), None);
    }

    #[test]
    fn a_template_is_told_by_its_first_line() {
        for text in [
            "heat_template_version: rocky\n",
            "\u{feff}# why\r\n\r\n---\r\nheat_template_version:\r\n",
        ] {
            assert_eq!(by_first_line(text), Some(FileKind::Hot), "{text:?}");
        }
        for text in [
            "",
            "a: 1\nheat_template_version: rocky\n",
            "heat_template_version:rocky\n",
            " heat_template_version: rocky\n",
            "\"heat_template_version: \": 1\n",
            "... \nheat_template_version: rocky\n",
        ] {
            assert_eq!(by_first_line(text), None, "{text:?}");
        }
    }

    #[test]
    fn each_language_is_told_by_its_content() {
        let cases = [
            ("heat_template_version: rocky\n", Some(FileKind::Hot)),
            (
                "resources:\n  a:\n    type: OS::Heat::None\n",
                Some(FileKind::Hot),
            ),
            (
                "AWSTemplateFormatVersion: '2010-09-09'\n",
                Some(FileKind::Cfn),
            ),
            ("parameters:\n  a: 1\n", Some(FileKind::HeatEnvironment)),
            ("resource_registry: {}\n", Some(FileKind::HeatEnvironment)),
            ("services:\n  web:\n    image: a\n", Some(FileKind::Compose)),
            ("version: '3'\nvolumes: {a: }\n", Some(FileKind::Compose)),
            ("apiVersion: v1\nkind: Pod\n", Some(FileKind::Kubernetes)),
            (
                "---\n---\napiVersion: v1\nkind: Pod\n",
                Some(FileKind::Kubernetes),
            ),
            (
                "tosca_definitions_version: tosca_2_0\n",
                Some(FileKind::Tosca),
            ),
            (
                "apiVersion: apps/v1\nkid: Pod\n",
                Some(FileKind::Kubernetes),
            ),
            ("apiVersion: 1\ndatasources: []\n", None),
            ("hello: world\n", None),
            ("- a\n", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let mut sources = Sources::new();
            let file = sources.add("x", text);
            let parsed = parse(&sources, file, &Limits::default());
            assert_eq!(recognise(&parsed.documents), expected, "{text}");
        }
    }
}
