//! `locus check --witness`: a file for each finding that depends on inputs, and the command that shows it again.

use std::collections::BTreeSet;
use std::path::Path;

use crate::session::{Batch, Given, Project, Snapshot};
use locus_frontends::language::{InputKind, InputValue, Inputs};

use super::flags::CheckArgs;

/// Writes the files.
pub(super) fn write(
    batch: &Batch,
    snapshot: &Snapshot,
    given: &Given,
    args: &CheckArgs,
    folder: &Path,
) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut used = BTreeSet::new();
    for (project, violable) in batch.violable() {
        let Some(witness) = snapshot.witness(project, given, violable) else {
            continue;
        };
        let stem = violable.name();
        let named = |number: usize| match number {
            1 => format!("{stem}.{}", witness.extension),
            number => format!("{stem}-{number}.{}", witness.extension),
        };
        let name = (1..).map(named).find(|name| !used.contains(name));
        let name = name.unwrap_or_default();
        let path = folder.join(&name);
        used.insert(name);
        let mut command = vec!["locus".to_owned(), "check".to_owned()];
        command.extend(same_inputs(project, args));
        command.extend(witness.beside.iter().cloned());
        command.push(witness.flag.to_owned());
        command.push(path.display().to_string());
        command.extend(same_files(project, args));
        let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
        std::fs::write(&path, violable.text(&witness, &words.join(" ")))?;
    }
    Ok(())
}

/// The flags that decide what a check finds in a project, but for its files.
fn same_inputs(project: &Project, args: &CheckArgs) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(config) = &args.inputs.config {
        found.extend(["--config".to_owned(), config.display().to_string()]);
    }
    let switches = [
        ("--render", args.inputs.render),
        ("--cluster", args.inputs.cluster),
        ("--all-rules", args.all_rules),
    ];
    found.extend(
        switches
            .iter()
            .filter(|(_, on)| *on)
            .map(|(flag, _)| (*flag).to_owned()),
    );
    found.extend(given(project, args.inputs.declared()));
    found
}

/// The values that were given to the inputs of a project, as flags.
fn given(project: &Project, inputs: &Inputs) -> Vec<String> {
    let mut found = Vec::new();
    let declared = project.language.inputs().iter();
    for input in declared.filter(|input| input.kind != InputKind::Project) {
        for given in inputs.given(input.name) {
            found.push(format!("--{}", input.name));
            match &given.value {
                InputValue::Text(text) => found.push(text.clone()),
                InputValue::Pair(name, value) => found.push(format!("{name}={value}")),
                InputValue::Number(number) => found.push(number.to_string()),
                InputValue::On => {}
            }
        }
    }
    found
}

/// The files of a project as they are named again.
fn same_files(project: &Project, args: &CheckArgs) -> Vec<String> {
    // What is not in files of its own is found as it was.
    if args.inputs.render || args.live {
        let live = args.live.then(|| "--live".to_owned());
        let files = args.files.iter().map(|path| path.display().to_string());
        return live.into_iter().chain(files).collect();
    }
    let mut inputs = project.language.inputs().iter();
    match inputs.find(|input| input.kind == InputKind::Project) {
        Some(input) if project.files.len() > 1 => {
            let one = |file: &String| [format!("--{}", input.name), file.clone()];
            project.files.iter().flat_map(one).collect()
        }
        _ => project.files.clone(),
    }
}

/// A word as shells read it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
