//! `locus init`: files to start with.

use std::io::Write;
use std::path::Path;

use crate::session::why;
use locus_frontends::language::Registry;

use super::flags::{Ci, InitArgs};
use super::{Exit, print};

const SETTINGS: &str = "locus.toml";

/// Writes the settings, and a pipeline if one is asked for.
pub(crate) fn init(args: &InitArgs) -> Exit {
    let mut files = vec![(SETTINGS, settings(&Registry::builtin()))];
    files.extend(args.ci.map(|ci| match ci {
        Ci::Github => (
            ".github/workflows/locus.yml",
            include_str!("github.yml").to_owned(),
        ),
        Ci::Gitlab => (".gitlab-ci.yml", include_str!("gitlab.yml").to_owned()),
        Ci::Jenkins => ("Jenkinsfile", include_str!("Jenkinsfile").to_owned()),
    }));
    let mut exit = Exit::Clean;
    for (path, text) in files {
        match write(Path::new(path), &text, args.force) {
            Ok(()) => print(&format!("wrote {path}\n")),
            // Whoever adds a pipeline may have settings.
            Err(error)
                if error.kind() == std::io::ErrorKind::AlreadyExists
                    && args.ci.is_some()
                    && path == SETTINGS =>
            {
                eprintln!("`{path}` exists and stays as it is");
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                eprintln!("error: `{path}` exists; `--force` replaces it");
                exit = Exit::Usage;
            }
            Err(error) => {
                eprintln!("error: cannot write `{path}`: {}", why(&error));
                exit = Exit::Unanswered;
            }
        }
    }
    exit
}

fn write(path: &Path, text: &str, force: bool) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    if force {
        return std::fs::write(path, text);
    }
    let mut file = std::fs::File::create_new(path)?;
    file.write_all(text.as_bytes())
}

/// Settings in which everything is explained and nothing is set.
fn settings(registry: &Registry) -> String {
    let mut text = include_str!("locus.toml").to_owned();
    for language in registry.languages() {
        let section = language.section();
        text.push_str(&format!("\n# [{section}]\n"));
        text.push_str("# rules = [\"rules/own.als\"]  # rules of your own\n");
        let inputs = language.inputs().iter();
        for input in inputs {
            if let Some(setting) = input.setting {
                text.push_str(&format!("# {setting}: {}\n", input.help));
            }
        }
        for key in language.setting_keys() {
            text.push_str(&format!("# {}: {}\n", key.name, key.help));
        }
    }
    text
}
