//! `--cluster`: what is there already, asked of the user's own program for it.

use std::process::{Command, Stdio};

use crate::session::{Session, why};
use locus_frontends::language::{InputValue, Inputs, Language, Registry};

use super::{Exit, program};

/// The name under which findings show what is in the cluster.
pub(super) const CLUSTER: &str = "<cluster>";

/// The name of what comes with every cluster, in which nothing is found.
const PROVIDED: &str = "<cluster's own>";

/// The input that names a file with what is there already.
const INPUT: &str = "existing";

/// Asks for what is there, and makes it files of the session.
pub(super) fn read(session: &mut Session) -> Result<(), Exit> {
    let snapshot = session.snapshot();
    for language in snapshot.registry().languages() {
        let Some(answers) = ask(language)? else {
            continue;
        };
        let Some(found) = language.existing(&answers) else {
            eprintln!("error: what the cluster answered cannot be understood");
            return Err(Exit::Unanswered);
        };
        session.open(CLUSTER, found.deployed.into_bytes());
        session.open(PROVIDED, found.provided.into_bytes());
        return Ok(());
    }
    Ok(())
}

/// Names the files to the languages that can read it.
pub(super) fn give(inputs: &mut Inputs) {
    for language in Registry::builtin().languages() {
        let mut own = language.inputs().iter();
        if let Some(input) = own.find(|input| input.name == INPUT) {
            for name in [CLUSTER, PROVIDED] {
                inputs.add(input, InputValue::Text(name.to_owned()), None);
            }
        }
    }
}

/// Asks until a language knows enough; nothing for one that asks nothing.
fn ask(language: &'static dyn Language) -> Result<Option<Vec<String>>, Exit> {
    let mut answers = Vec::new();
    while let Some(question) = language.next_question(&answers) {
        let name = format!("{}{}", question.program, std::env::consts::EXE_SUFFIX);
        let Some(path) = program::searched(&name) else {
            eprintln!(
                "error: `{}` is not on the path, and `--cluster` asks with it",
                question.program
            );
            return Err(Exit::Unanswered);
        };
        let output = Command::new(&path)
            .args(&question.arguments)
            .stdin(Stdio::null())
            .output();
        let output = output.map_err(|error| {
            let path = path.display();
            eprintln!("error: cannot start `{path}`: {}", why(&error));
            Exit::Unanswered
        })?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
            eprintln!("error: `{}` says:\n{}", question.program, complaint.trim());
            // What it could list is of use, when the rest is not known either.
            if text.trim().is_empty() || answers.is_empty() {
                return Err(Exit::Unanswered);
            }
            eprintln!("note: what could not be listed is taken not to be in the cluster");
        }
        answers.push(text);
    }
    Ok((!answers.is_empty()).then_some(answers))
}
