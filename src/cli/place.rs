//! `locus place`: where everything is put.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::report::frame;
use crate::session::{Origins, Places};
use locus_core::placement::{Placement, Question};
use locus_core::{Diagnostic, Severity};
use locus_invariants::placement::{Answer, answer, limits, pending};
use serde::Serialize;

use super::flags::{Format, PlaceArgs};
use super::{Exit, inputs};

/// Prints a placement, or what conflicts.
pub(crate) fn place(args: &PlaceArgs) -> Exit {
    let session = match inputs::session(args.files.iter(), &args.inputs) {
        Ok(session) => session,
        Err(exit) => return exit,
    };
    let snapshot = session.snapshot();
    let given = args.inputs.given();
    let discovery = snapshot.discover(&args.files);
    let mut exit = Exit::Clean;
    for diagnostic in discovery.broken.iter().chain(&discovery.unchecked) {
        frame::print(diagnostic, &discovery.sources);
        exit = exit.max(Exit::Unanswered);
    }
    let mut asked = false;
    for project in &discovery.projects {
        let mut places = snapshot.places(project, &given);
        let mut origins = Origins::new(snapshot.files(), &mut places.sources);
        let told = places.diagnostics.iter_mut().chain(&mut places.unchecked);
        told.chain(&mut places.lines)
            .for_each(|told| origins.tell(told));
        for diagnostic in places.diagnostics.iter().chain(&places.unchecked) {
            frame::print(diagnostic, &places.sources);
        }
        let error = |found: &Diagnostic| found.severity == Severity::Error;
        if places.diagnostics.iter().any(error) {
            exit = exit.max(Exit::Findings);
        }
        if let Some(question) = places.questions.first() {
            asked = true;
            exit = exit.max(one(&places, question, args.format));
        }
    }
    if !asked {
        eprintln!("error: no nodes are known; list them in `locus.toml`, or add them to the files");
        return Exit::Unanswered;
    }
    exit
}

fn one(places: &Places, question: &Question, format: Format) -> Exit {
    match answer(question) {
        Answer::Placed(placement) => {
            let put = put(question, &placement);
            super::print(&match format {
                Format::Text => text(&put),
                Format::Json => {
                    let mut text = serde_json::to_string_pretty(&put).unwrap_or_default();
                    text.push('\n');
                    text
                }
            });
            Exit::Clean
        }
        Answer::Conflict(lines) => {
            let mut lines = lines.iter().filter_map(|&line| places.lines.get(line));
            let mut told = Diagnostic::error("placement", "there is no placement of everything");
            let first = lines.next();
            if let Some((first, span)) = first.and_then(|first| Some((first, first.primary()?))) {
                told = told.label(span, first.message.clone());
                for line in lines {
                    if let Some(place) = line.primary() {
                        told = match place.file == span.file {
                            true => told.label(place, line.message.clone()),
                            false => told.related(place, line.message.clone()),
                        };
                    }
                }
            }
            told = told.maybe_help(waiting(question));
            frame::print(&told, &places.sources);
            Exit::Findings
        }
        Answer::Unknown(why) => {
            eprintln!("error: it is not known whether there is a placement: {why}");
            Exit::Unanswered
        }
    }
}

/// What stays pending, by priority; none when all have the same, or it is not known.
fn waiting(question: &Question) -> Option<String> {
    let problem = question.asked();
    let pending = pending(&problem, &limits())?;
    let name = |at: usize| problem.groups.get(at).map_or("", |group| &*group.name);
    let told = pending
        .iter()
        .map(|one| format!("`{}`: {}", name(one.group), one.text));
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// A place and what is put there.
#[derive(Debug, Serialize)]
struct Put {
    place: String,
    things: BTreeMap<String, usize>,
}

fn put(question: &Question, placement: &Placement) -> Vec<Put> {
    let problem = question.asked();
    let mut all = Vec::new();
    let mut counts = placement.counts.iter();
    for shape in &problem.shapes {
        for (number, counts) in (1..=shape.count).zip(counts.by_ref()) {
            let things = problem.groups.iter().zip(counts);
            let things = things.filter(|(_, count)| **count > 0);
            all.push(Put {
                place: match shape.count {
                    1 => shape.name.to_string(),
                    _ => format!("{} #{number}", shape.name),
                },
                things: things
                    .map(|(group, count)| (group.name.to_string(), *count))
                    .collect(),
            });
        }
    }
    all
}

fn text(all: &[Put]) -> String {
    let width = all.iter().map(|put| put.place.len()).max().unwrap_or(0);
    let mut out = String::new();
    for Put { place, things } in all {
        let things: Vec<String> = things
            .iter()
            .map(|(name, count)| match count {
                1 => name.clone(),
                count => format!("{name} x{count}"),
            })
            .collect();
        let things = match things.is_empty() {
            true => "(nothing)".to_owned(),
            false => things.join(", "),
        };
        let _ = writeln!(out, "{place:<width$}  {things}");
    }
    out
}
