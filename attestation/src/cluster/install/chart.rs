//! The Helm chart, made of the same objects as everything else: what is chosen stands for itself in them.
//!
//! Keys are not part of a chart: they are made from an installation's folder (`locus gate install FOLDER --only secrets`).

use std::path::Path;

use serde_json::Value;

use super::{Choice, StoreChoice, definitions, objects, unfolded, yaml};
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
        store: None,
    }
}

/// Numbers that stand for those that are chosen: a template is no number.
const PORT: u32 = 4_000_000_001;
const REPLICAS: u32 = 4_000_000_002;

/// The same with a PostgreSQL.
fn with_store() -> Choice {
    Choice {
        store: Some(StoreChoice {
            secret: "{{ .Values.store.secret }}".to_owned(),
            port: PORT,
            replicas: REPLICAS,
        }),
        ..choice()
    }
}

/// An object as a template.
fn template(object: &Value) -> Result<String, String> {
    let text = unfolded(object)?;
    Ok(text
        .replace(&PORT.to_string(), "{{ int .Values.store.port }}")
        .replace(&REPLICAS.to_string(), "{{ int .Values.replicas }}"))
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
                "# Both images by digest: NAME@sha256:...\nimages:\n  gate: \"{}\"\n  agent: \"{}\"\n# What the gate may keep.\nstorage: \"{}\"\n# Several gates share a PostgreSQL: the Secret in locus-system whose key `url` says where it is.\nstore:\n  secret: \"{}\"\n  port: {}\nreplicas: {}\n",
                chosen.gate,
                chosen.agent,
                chosen.storage,
                chosen.store.as_ref().map_or("", |store| &store.secret),
                chosen.store.as_ref().map_or(5432, |store| store.port),
                chosen.store.as_ref().map_or(1, |store| store.replicas),
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
        (
            "templates/store.yaml".to_owned(),
            "{{- if and (gt (int .Values.replicas) 1) (not .Values.store.secret) }}\n{{- fail \"several replicas share a PostgreSQL: set store.secret\" }}\n{{- end }}\n"
                .to_owned(),
        ),
        ("crds/locus.yaml".to_owned(), yaml(&definitions())?),
    ];
    let (alone, shared) = (objects(&choice()), objects(&with_store()));
    for object in &alone {
        let same = |other: &&Value| path_of(other) == path_of(object);
        let text = template(object)?;
        let text = match shared.iter().find(same) {
            Some(other) if other == object => text,
            Some(other) => format!(
                "{{{{- if .Values.store.secret }}}}\n{}{{{{- else }}}}\n{text}{{{{- end }}}}\n",
                template(other)?
            ),
            None => format!("{{{{- if not .Values.store.secret }}}}\n{text}{{{{- end }}}}\n"),
        };
        // The second of two images may be the first.
        let twice = text_of(object, "kind") == "ReferenceImage" && name(object) == "locus-agent";
        let text = match twice {
            true => format!(
                "{{{{- if ne .Values.images.gate .Values.images.agent }}}}\n{text}{{{{- end }}}}\n"
            ),
            false => text,
        };
        files.push((path_of(object), text));
    }
    let more = shared.iter().filter(|object| {
        let same = |other: &Value| path_of(other) == path_of(object);
        !alone.iter().any(same)
    });
    for object in more {
        let text = template(object)?;
        let text = format!("{{{{- if .Values.store.secret }}}}\n{text}{{{{- end }}}}\n");
        files.push((path_of(object), text));
    }
    Ok(files)
}

fn text_of<'o>(object: &'o Value, key: &str) -> &'o str {
    text(object, &[key])
}

/// Where the template of an object is.
fn path_of(object: &Value) -> String {
    let kind = text(object, &["kind"]).to_lowercase();
    let of = match namespace(object) {
        "" => name(object).to_owned(),
        space => format!("{space}.{}", name(object)),
    };
    format!("templates/{kind}.{of}.yaml")
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

/// An object of the chart with its values filled in, as Helm fills them, if there is one then: for tests.
#[cfg(test)]
fn filled(text: &str, chosen: &Choice) -> Option<Value> {
    let mut kept: Vec<&str> = Vec::new();
    // Conditions that hold, from the outermost on.
    let mut holds: Vec<bool> = Vec::new();
    for line in text.lines() {
        match line {
            "{{- if .Values.store.secret }}" => holds.push(chosen.store.is_some()),
            "{{- if not .Values.store.secret }}" => holds.push(chosen.store.is_none()),
            "{{- if ne .Values.images.gate .Values.images.agent }}" => {
                holds.push(chosen.gate != chosen.agent);
            }
            "{{- else }}" => {
                if let Some(last) = holds.last_mut() {
                    *last = !*last;
                }
            }
            "{{- end }}" => drop(holds.pop()),
            line if holds.iter().all(|holds| *holds) => kept.push(line),
            _ => {}
        }
    }
    assert!(holds.is_empty(), "{text}");
    let (marks, store) = (choice(), chosen.store.clone());
    let store = store.unwrap_or(StoreChoice {
        secret: String::new(),
        port: 0,
        replicas: 0,
    });
    let text = kept
        .join("\n")
        .replace(&marks.gate_digest, &chosen.gate_digest)
        .replace(&marks.agent_digest, &chosen.agent_digest)
        .replace(&marks.gate, &chosen.gate)
        .replace(&marks.agent, &chosen.agent)
        .replace(&marks.storage, &chosen.storage)
        .replace("{{ .Values.store.secret }}", &store.secret)
        .replace("{{ int .Values.store.port }}", &store.port.to_string())
        .replace("{{ int .Values.replicas }}", &store.replicas.to_string());
    assert!(!text.contains("{{"), "{text}");
    (!text.is_empty()).then(|| serde_saphyr::from_str(&text).unwrap())
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
        let shared = Choice {
            store: Some(StoreChoice {
                secret: "db".to_owned(),
                port: 5433,
                replicas: 3,
            }),
            ..chosen.clone()
        };
        for chosen in [&chosen, &shared] {
            let checks = ["templates/images.yaml", "templates/store.yaml"];
            let templates = files.iter().filter(|(path, _)| {
                path.starts_with("templates/") && !checks.contains(&path.as_str())
            });
            let mut made: Vec<Value> = templates
                .filter_map(|(_, text)| filled(text, chosen))
                .collect();
            let mut wanted = objects(chosen);
            for all in [&mut made, &mut wanted] {
                all.sort_by_key(path_of);
            }
            assert_eq!(made, wanted);
        }
        let gates = objects(&shared);
        let gates = gates.iter().find(|one| path_of(one).contains("deployment"));
        let gates = gates.unwrap().to_string();
        assert!(gates.contains("--store-file") && !gates.contains("postgres://"));
        assert!(files.iter().all(|(_, text)| !text.contains("PRIVATE KEY")));
        let mut paths: Vec<&String> = files.iter().map(|(path, _)| path).collect();
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), files.len(), "no file is written twice");
    }
}
