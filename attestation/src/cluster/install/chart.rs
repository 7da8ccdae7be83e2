//! The Helm chart, made of the same objects as everything else: what is chosen stands for itself in them.
//!
//! Keys are not part of a chart: they are made from an installation's folder (`locus gate install FOLDER --only secrets`).

use std::path::Path;

#[cfg(test)]
use serde_json::Value;

use super::{Choice, definitions, objects, unfolded, yaml};
use crate::cluster::object::{name, namespace, text};

/// What is chosen, as the templates say it.
fn choice() -> Choice {
    let digest = |image: &str| {
        format!("{{{{ regexFind `sha256:[0-9a-f]{{64}}$` .Values.images.{image} }}}}")
    };
    Choice {
        gate: "{{ .Values.images.gate }}".to_owned(),
        agent: "{{ .Values.images.agent }}".to_owned(),
        gate_digest: digest("gate"),
        agent_digest: digest("agent"),
        storage: "{{ .Values.storage }}".to_owned(),
        exempt: Vec::new(),
        webhook: true,
    }
}

/// The files of the chart, by path.
///
/// # Errors
/// When an object cannot be written as YAML.
pub(super) fn files(chosen: &Choice) -> Result<Vec<(String, String)>, String> {
    let mut files = vec![
        (
            "Chart.yaml".to_owned(),
            format!(
                "apiVersion: v2\nname: locus\ndescription: Lets only checked and attested pods run\ntype: application\nversion: {0}\nappVersion: \"{0}\"\nkubeVersion: \">=1.30.0-0\"\n",
                env!("CARGO_PKG_VERSION")
            ),
        ),
        (
            "values.yaml".to_owned(),
            format!(
                "# Both images by digest: NAME@sha256:...\nimages:\n  gate: \"{}\"\n  agent: \"{}\"\n# What the gate may keep.\nstorage: \"{}\"\n",
                chosen.gate, chosen.agent, chosen.storage
            ),
        ),
        (
            "templates/images.yaml".to_owned(),
            ["gate", "agent"]
                .map(|image| {
                    format!(
                        "{{{{- if not (regexMatch `^[^@]+@sha256:[0-9a-f]{{64}}$` .Values.images.{image}) }}}}\n{{{{- fail \"images.{image} is not named by its digest: write NAME@sha256:...\" }}}}\n{{{{- end }}}}\n"
                    )
                })
                .concat(),
        ),
        ("crds/locus.yaml".to_owned(), yaml(&definitions())?),
    ];
    for object in objects(&choice()) {
        let kind = text(&object, &["kind"]).to_lowercase();
        let of = match namespace(&object) {
            "" => name(&object).to_owned(),
            space => format!("{space}.{}", name(&object)),
        };
        let path = format!("templates/{kind}.{of}.yaml");
        // The second of two images may be the first.
        let twice = kind == "referenceimage" && name(&object) == "locus-agent";
        let text = unfolded(&object)?;
        let text = match twice {
            true => format!(
                "{{{{- if ne .Values.images.gate .Values.images.agent }}}}\n{text}{{{{- end }}}}\n"
            ),
            false => text,
        };
        files.push((path, text));
    }
    Ok(files)
}

/// Writes the chart to a folder.
///
/// # Errors
/// What cannot be made or written.
pub(super) fn write(folder: &Path, chosen: &Choice) -> Result<(), String> {
    for (path, text) in files(chosen)? {
        let path = folder.join(path);
        let told = |error: std::io::Error| format!("`{}`: {error}", path.display());
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(told)?;
        }
        std::fs::write(&path, text).map_err(told)?;
    }
    Ok(())
}

/// An object of the chart with its values filled in, as Helm fills them: for tests.
#[cfg(test)]
fn filled(text: &str, chosen: &Choice) -> Value {
    let marks = choice();
    let lines = text.lines().filter(|line| !line.starts_with("{{-"));
    let text = lines.collect::<Vec<_>>().join("\n");
    let text = text
        .replace(&marks.gate_digest, &chosen.gate_digest)
        .replace(&marks.agent_digest, &chosen.agent_digest)
        .replace(&marks.gate, &chosen.gate)
        .replace(&marks.agent, &chosen.agent)
        .replace(&marks.storage, &chosen.storage);
    assert!(!text.contains("{{"), "{text}");
    serde_saphyr::from_str(&text).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chart_is_the_installation() {
        let (one, other) = ("a".repeat(64), "b".repeat(64));
        let chosen = Choice::new(
            &format!("r.example/gate@sha256:{one}"),
            &format!("r.example/agent@sha256:{other}"),
        )
        .unwrap();
        let files = files(&chosen).unwrap();
        let templates = files
            .iter()
            .filter(|(path, _)| path.starts_with("templates/") && path != "templates/images.yaml");
        let from_chart: Vec<Value> = templates.map(|(_, text)| filled(text, &chosen)).collect();
        assert_eq!(from_chart, objects(&chosen));
        assert!(files.iter().all(|(_, text)| !text.contains("PRIVATE KEY")));
        let mut paths: Vec<&String> = files.iter().map(|(path, _)| path).collect();
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), files.len(), "no file is written twice");
    }
}
