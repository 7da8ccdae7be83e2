//! The Helm chart, rendered by Helm: it is the installation that is printed, but for the keys.

use std::collections::BTreeMap;
use std::path::Path;

use control_plane::Helm;
use serde_json::Value;
use tempfile::TempDir;

use crate::world::{image, printed};

/// Helm, if it is there. Where it could be built, it has to be.
fn helm() -> Option<Helm> {
    let why = match Helm::find() {
        Ok(helm) => return Some(helm),
        Err(why) => why,
    };
    let go = std::process::Command::new("go").arg("version").output();
    assert!(go.is_err(), "{why}");
    eprintln!("skipped: {why}, for which Go is needed");
    None
}

/// What Helm prints, or says.
fn run(helm: &Helm, folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = helm
        .command()
        .args(arguments)
        .current_dir(folder)
        // Of the user's own settings, plugins and repositories nothing is wanted.
        .envs(["HELM_CONFIG_HOME", "HELM_CACHE_HOME", "HELM_DATA_HOME"].map(|name| (name, folder)))
        .env_remove("KUBECONFIG")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).unwrap()),
        false => Err(said),
    }
}

/// The objects of a stream, by kind, namespace and name; each is there once.
fn objects(text: &str) -> BTreeMap<[String; 3], Value> {
    let mut found = BTreeMap::new();
    for document in text
        .split("\n---\n")
        .map(|one| one.trim_start_matches("---\n"))
    {
        let object: Value = serde_saphyr::from_str(document).unwrap();
        if object.is_null() {
            continue;
        }
        let part = |key: &str| {
            object["metadata"][key]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let kind = object["kind"].as_str().unwrap().to_owned();
        let key = [kind, part("namespace"), part("name")];
        assert!(
            found.insert(key.clone(), object).is_none(),
            "twice: {key:?}"
        );
    }
    found
}

#[test]
fn helm_renders_what_is_printed() {
    let Some(helm) = helm() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let images = |gate: char, agent: char| (image("gate", gate), image("agent", agent));
    let (gate, agent) = images('a', 'b');
    let arguments = [
        "install",
        "--image",
        &gate,
        "--agent-image",
        &agent,
        "--helm",
        "chart",
    ];
    printed(folder, &arguments);
    let told = run(&helm, folder, &["lint", "--strict", "chart"]).unwrap();
    assert!(told.contains("0 chart(s) failed"), "{told}");
    // As it is written, with other values, and with one image for both.
    for (gate, agent) in [
        images('a', 'b'),
        images('c', 'd'),
        (image("one", 'e'), image("one", 'e')),
    ] {
        let all = ["install", "made", "--image", &gate, "--agent-image", &agent];
        let mut wanted = objects(&printed(folder, &all));
        for key in objects(&printed(
            folder,
            &[&all[..], &["--only", "secrets"]].concat(),
        ))
        .keys()
        {
            wanted.remove(key);
        }
        let (gate, agent) = (
            format!("images.gate={gate}"),
            format!("images.agent={agent}"),
        );
        let template = [
            "template",
            "locus",
            "chart",
            "--include-crds",
            "--set",
            &gate,
            "--set",
            &agent,
        ];
        let rendered = objects(&run(&helm, folder, &template).unwrap());
        let names =
            |objects: &BTreeMap<[String; 3], Value>| objects.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&rendered), names(&wanted));
        assert!(rendered.len() > 20, "{}", rendered.len());
        for (key, object) in &wanted {
            assert_eq!(&rendered[key], object, "{key:?}");
        }
    }
    // An image that is named by a tag is refused, and said.
    let template = [
        "template",
        "locus",
        "chart",
        "--set",
        "images.gate=registry.example/gate:1",
    ];
    let said = run(&helm, folder, &template).unwrap_err();
    assert!(
        said.contains("images.gate is not named by its digest"),
        "{said}"
    );
}
