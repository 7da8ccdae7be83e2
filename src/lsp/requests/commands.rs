//! What the server does when an editor asks for it by name.

use std::io::Write as _;
use std::process::{Command, Stdio};

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

/// All commands.
pub(in crate::lsp) const ALL: &[&str] = &[GRAPH, ALL_INPUTS, EXPLAIN, RUN];

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
            run(world, &path()?, at).map(Some)
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

/// Runs a command of a model as `locus run` does, on the text as it is in the editor.
fn run(world: &World, path: &str, at: u64) -> Result<Value, Failure> {
    let refuse = |error: std::io::Error| Failure::Refused(format!("cannot run it: {error}"));
    let Some(text) = world.text(path) else {
        return Err(Failure::Refused(format!("cannot read `{path}`")));
    };
    let mut child = Command::new(std::env::current_exe().map_err(refuse)?)
        .args([
            "run",
            "--timeout",
            PATIENCE,
            "--command",
            &at.to_string(),
            "-",
        ])
        .current_dir(directory(path))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(refuse)?;
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(text.as_bytes());
    }
    let output = child.wait_with_output().map_err(refuse)?;
    let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
    said.push_str(&String::from_utf8_lossy(&output.stderr));
    Ok(Value::String(said))
}
