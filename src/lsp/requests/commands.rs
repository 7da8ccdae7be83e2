//! What the server does when an editor asks for it by name.

use std::io::{Read, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use locus_frontends::loader::directory;
use lsp_types::{ExecuteCommandParams, Uri};
use serde_json::{Value, json};

use super::Failure;
use crate::catalogue;
use crate::lsp::world::{World, absolute};
use crate::lsp::{diagnostics, uri};
use crate::report::picture::to_svg;
use crate::session::Given;

/// The location graph of a file, as an image.
pub(super) const GRAPH: &str = "locus.graph";
/// What is wrong with a file for some of the allowed inputs.
pub(super) const ALL_INPUTS: &str = "locus.checkAllInputs";
/// The page of a rule.
pub(super) const EXPLAIN: &str = "locus.explain";
/// The answer to a command of a model.
pub(super) const RUN: &str = "locus.run";

/// The instances that a command of a model finds, as a page.
pub(super) const INSTANCE: &str = "locus.instance";

/// All commands.
pub(in crate::lsp) const ALL: &[&str] = &[GRAPH, ALL_INPUTS, EXPLAIN, RUN, INSTANCE];

/// How long a command of a model may take, in seconds.
const PATIENCE: &str = "60";

/// Does what a command says.
pub(super) fn execute(
    world: &World,
    params: ExecuteCommandParams,
) -> Result<Option<Value>, Failure> {
    let argument = |at: usize| params.arguments.get(at);
    let text = |at: usize| argument(at).and_then(Value::as_str);
    let wrong = || Failure::Refused(format!("`{}` takes the URI of a file", params.command));
    let path = || {
        let uri: Option<Uri> = text(0).and_then(|text| text.parse().ok());
        uri.map(|uri| uri::to_path(&uri)).ok_or_else(wrong)
    };
    match params.command.as_str() {
        GRAPH => {
            let report = world.report(&path()?)?;
            Ok(report.map(|report| json!({ "svg": to_svg(&report.graph) })))
        }
        ALL_INPUTS => all_inputs(world, &path()?).map(Some),
        EXPLAIN => Ok(text(0).and_then(catalogue::explain).map(Value::String)),
        RUN => {
            let at = argument(1).and_then(Value::as_u64).unwrap_or(0);
            let path = path()?;
            let (text, said) = run(world, &path, at, &[])?;
            let verdict = said.lines().find_map(verdict);
            let verdict = verdict.unwrap_or("not decided").to_owned();
            world.verdicts.put(&path, at, &text, verdict);
            Ok(Some(Value::String(said)))
        }
        INSTANCE => {
            let at = argument(1).and_then(Value::as_u64).unwrap_or(0);
            let (_, page) = run(world, &path()?, at, &["--html", "-", "--next", "3"])?;
            if !page.starts_with("<!DOCTYPE") {
                return Err(Failure::Refused(page));
            }
            Ok(Some(json!({ "html": page })))
        }
        other => Err(Failure::Refused(format!("there is no command `{other}`"))),
    }
}

/// Checks a file for every allowed input.
fn all_inputs(world: &World, path: &str) -> Result<Value, Failure> {
    let projects = world.projects_of(path);
    let Some(project) = projects.first() else {
        return Err(Failure::Refused("this is not a configuration".to_owned()));
    };
    let given = Given {
        all_inputs: true,
        ..world.given()
    };
    let report = world.snapshot.check(project, &given, &world.cancel)?;
    let mut all = diagnostics::ByPath::new();
    let findings = report.findings.iter().chain(&report.unchecked);
    diagnostics::add(world, findings, &report.sources, project.first(), &mut all);
    let findings: Vec<Value> = all
        .iter()
        .filter_map(|(path, said)| {
            let uri = world.uri(&absolute(path))?;
            Some(json!({ "uri": uri, "diagnostics": said }))
        })
        .collect();
    Ok(json!({ "deployable": report.is_deployable(), "findings": findings }))
}

/// The verdict that a line of `locus run` gives: what stands after the command and before the figures.
fn verdict(line: &str) -> Option<&str> {
    let is_indented = line.starts_with(' ');
    let (head, said) = line.split_once(": ").filter(|_| !is_indented)?;
    let is_command = head.contains(" run ") || head.contains(" check ");
    let verdict = said.split("  [").next().unwrap_or(said);
    is_command.then_some(verdict)
}

/// Runs a command of a model as `locus run` does, on the text as it is in the editor: the text, and what is said.
fn run(world: &World, path: &str, at: u64, flags: &[&str]) -> Result<(Arc<str>, String), Failure> {
    let refuse = |error: std::io::Error| Failure::Refused(format!("cannot run it: {error}"));
    let Some(text) = world.text(path) else {
        return Err(Failure::Refused(format!("cannot read `{path}`")));
    };
    let mut child = Command::new(std::env::current_exe().map_err(refuse)?)
        .args(["run", "--timeout", PATIENCE, "--command", &at.to_string()])
        .args(flags)
        .arg("-")
        .current_dir(directory(path))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(refuse)?;
    let (mut input, given) = (child.stdin.take(), text.clone());
    let writer = std::thread::spawn(move || {
        if let Some(input) = &mut input {
            let _ = input.write_all(given.as_bytes());
        }
    });
    let readers = [
        child.stdout.take().map(read_all),
        child.stderr.take().map(read_all),
    ];
    // Whoever no longer wants an answer waits for no solver.
    let ended = loop {
        match child.try_wait() {
            Ok(Some(_)) => break Ok(()),
            Ok(None) if world.cancel.is_cancelled() => {
                let _ = child.kill();
                let _ = child.wait();
                break Err(Failure::Cancelled);
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(error) => break Err(refuse(error)),
        }
    };
    let _ = writer.join();
    let said = readers.into_iter().flatten();
    let said: String = said.filter_map(|reader| reader.join().ok()).collect();
    ended.map(|()| (text, said))
}

/// Reads everything, on a thread of its own.
fn read_all(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut said = Vec::new();
        let _ = from.read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    })
}
