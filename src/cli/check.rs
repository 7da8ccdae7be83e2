//! `locus check`: configurations against the rules of their language.

use std::time::Instant;

use locus::catalogue;
use locus::report::{self, Style};
use locus::session::{Batch, Cancel, Project, Snapshot};
use locus_core::Severity;

use super::Exit;
use super::flags::{CheckArgs, CheckFormat};
use super::inputs;

/// Checks all files.
pub(crate) fn check(args: &CheckArgs) -> Exit {
    let start = Instant::now();
    let session = match inputs::session(args.files.iter()) {
        Ok(session) => session,
        Err(exit) => return exit,
    };
    let snapshot = session.snapshot();
    let projects = args.inputs.projects(snapshot.registry());
    let mut given = args.inputs.given();
    given.as_instance = args.as_instance;
    given.ignore = match ignored(&snapshot, args, &projects) {
        Ok(ignore) => ignore,
        Err(exit) => return exit,
    };
    let checked = snapshot.check_all(&args.files, &projects, &given, &Cancel::default());
    // Nobody calls it off: Ctrl-C ends the program.
    let batch = checked.unwrap_or_default();
    let style = Style {
        colour: report::frame::stdout_has_colour(),
        verbose: args.verbose,
        time: start.elapsed(),
    };
    let text = match args.format {
        CheckFormat::Text => report::text::render(&batch, &style),
        CheckFormat::Json => report::json::render(&batch, &style),
    };
    super::print(&text);
    exit(&batch, args.fail_on.severity())
}

fn exit(batch: &Batch, fail_on: Severity) -> Exit {
    let mut findings = batch.findings.iter();
    if findings.any(|finding| finding.severity >= fail_on) {
        Exit::Findings
    } else if batch.unchecked.is_empty() {
        Exit::Clean
    } else {
        Exit::Unanswered
    }
}

/// The rules to ignore, by their identifiers.
fn ignored(
    snapshot: &Snapshot,
    args: &CheckArgs,
    projects: &[Project],
) -> Result<Vec<String>, Exit> {
    let mut ids = Vec::new();
    let mut own: Option<Vec<String>> = None;
    for word in &args.ignore {
        if let Ok(id) = catalogue::find(word, std::iter::empty()) {
            ids.push(id);
            continue;
        }
        // Only now does it matter which rules the projects have of their own.
        let own = own.get_or_insert_with(|| {
            let config = args.inputs.settings();
            let found = snapshot.discover(&args.files).projects;
            let all = projects.iter().chain(&found);
            all.flat_map(|project| snapshot.own_rules(project, config.as_deref()))
                .collect()
        });
        match catalogue::find(word, own.iter().map(String::as_str)) {
            Ok(id) => ids.push(id),
            Err(refused) => {
                let help = refused.help.map(|help| format!("{help} "));
                let help = help.unwrap_or_default();
                eprintln!(
                    "error: `--ignore`: {}; {help}`locus rules` lists all",
                    refused.message
                );
                return Err(Exit::Usage);
            }
        }
    }
    Ok(ids)
}
