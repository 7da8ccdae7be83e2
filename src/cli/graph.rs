//! `locus graph`: the location graph of a configuration, in formats that others read.

use crate::report::{frame, picture};
use crate::session::{Discovery, Origins};
use locus_core::graph::{to_als, to_dot, to_json};
use locus_core::{Diagnostic, Severity, Sources};
use locus_invariants::models;

use super::flags::{GraphArgs, GraphFormat};
use super::{Exit, inputs};

/// Prints the graph of a configuration; what is wrong with its files goes to standard error.
pub(crate) fn graph(args: &GraphArgs) -> Exit {
    let session = match inputs::session(args.path.iter(), &args.inputs) {
        Ok(session) => session,
        Err(exit) => return exit,
    };
    let snapshot = session.snapshot();
    let given = args.inputs.given();
    let Discovery {
        projects,
        broken,
        unchecked,
        sources,
        ..
    } = snapshot.discover(args.path.as_slice());
    let named = args.inputs.projects(snapshot.registry());
    let Some(project) = named.iter().chain(&projects).next() else {
        let exit = if broken.is_empty() {
            Exit::Unanswered
        } else {
            Exit::Findings
        };
        tell(&broken, &sources, exit);
        return tell(&unchecked, &sources, exit);
    };
    let mut report = snapshot.read(project, &given);
    let mut origins = Origins::new(snapshot.files(), &mut report.sources);
    let told = report.findings.iter_mut().chain(&mut report.unchecked);
    told.for_each(|told| origins.tell(told));
    report.graph.relocate(&mut |span| origins.written(span));
    if let Some(model) = args.to {
        let name = model.name();
        let converted = project.language.convert(name, &report.graph, &report.facts);
        let mut all = report.findings.clone();
        match converted {
            Some(Ok(json)) => super::print(&format!("{json:#}\n")),
            Some(Err(why)) => all.extend(why),
            None => {
                let message = format!(
                    "{} cannot be converted to `{name}`",
                    project.language.title()
                );
                all.push(Diagnostic::error("kind", message));
            }
        }
        let exit = exit_of(&all, &report.unchecked);
        tell(&all, &report.sources, exit);
        return tell(&report.unchecked, &report.sources, exit);
    }
    let text = match args.format {
        GraphFormat::Dot => to_dot(&report.graph),
        GraphFormat::Svg => picture::to_svg(&report.graph),
        GraphFormat::Als => to_als(&report.graph, models::STATIC_SEMANTICS.text),
        GraphFormat::Json => {
            let mut text = format!("{:#}", to_json(&report.graph, &report.sources));
            text.push('\n');
            text
        }
    };
    super::print(&text);
    let exit = exit_of(&report.findings, &report.unchecked);
    tell(&report.findings, &report.sources, exit);
    tell(&report.unchecked, &report.sources, exit)
}

fn exit_of(findings: &[Diagnostic], unchecked: &[Diagnostic]) -> Exit {
    let mut findings = findings.iter();
    if findings.any(|found| found.severity == Severity::Error) {
        Exit::Findings
    } else if unchecked.is_empty() {
        Exit::Clean
    } else {
        Exit::Unanswered
    }
}

fn tell(diagnostics: &[Diagnostic], sources: &Sources, exit: Exit) -> Exit {
    for diagnostic in diagnostics {
        frame::print(diagnostic, sources);
    }
    exit
}
