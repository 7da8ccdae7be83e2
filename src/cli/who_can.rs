//! `locus who-can`: who may do something, and who can come to it.

use std::fmt::Write as _;

use crate::report::frame;
use crate::session::Origins;
use locus_core::{Severity, Sources, Span};
use locus_frontends::language::{Able, RightsQuestion};
use serde::Serialize;

use super::flags::{Format, WhoCanArgs};
use super::{Exit, inputs};

/// Prints who can do something.
pub(crate) fn who_can(args: &WhoCanArgs) -> Exit {
    let session = match inputs::session(args.files.iter(), &args.inputs) {
        Ok(session) => session,
        Err(exit) => return exit,
    };
    let snapshot = session.snapshot();
    let given = args.inputs.given();
    let discovery = snapshot.discover(&args.files);
    let question = RightsQuestion {
        verb: args.verb.clone(),
        resource: args.resource.clone(),
        place: args.place.clone(),
        name: args.name.clone(),
    };
    let mut exit = Exit::Clean;
    for diagnostic in discovery.broken.iter().chain(&discovery.unchecked) {
        frame::print(diagnostic, &discovery.sources);
        exit = exit.max(Exit::Unanswered);
    }
    let mut answered = false;
    let mut all: Vec<(Able, Sources)> = Vec::new();
    for project in &discovery.projects {
        let Some((mut answer, mut sources)) = snapshot.who_can(project, &given, &question) else {
            continue;
        };
        answered = true;
        let mut origins = Origins::new(snapshot.files(), &mut sources);
        let told = answer.diagnostics.iter_mut().chain(&mut answer.unchecked);
        told.for_each(|told| origins.tell(told));
        for able in &mut answer.able {
            let steps = able.steps.iter_mut().map(|step| &mut step.span);
            for span in steps.chain([&mut able.span]).flatten() {
                *span = origins.written(*span);
            }
        }
        for diagnostic in answer.diagnostics.iter().chain(&answer.unchecked) {
            frame::print(diagnostic, &sources);
        }
        let error = |found: &locus_core::Diagnostic| found.severity == Severity::Error;
        if answer.diagnostics.iter().any(error) {
            exit = exit.max(Exit::Findings);
        }
        if !answer.unchecked.is_empty() {
            exit = exit.max(Exit::Unanswered);
        }
        all.extend(answer.able.into_iter().map(|able| (able, sources.clone())));
    }
    if !answered {
        eprintln!("error: none of the files grants rights");
        return Exit::Unanswered;
    }
    match args.format {
        Format::Text => super::print(&text(&all, args)),
        Format::Json => {
            let entries: Vec<Entry<'_>> = all.iter().map(Entry::of).collect();
            let mut text = serde_json::to_string_pretty(&entries).unwrap_or_default();
            text.push('\n');
            super::print(&text);
        }
    }
    exit
}

fn place(span: Option<Span>, sources: &Sources) -> Option<String> {
    let span = span?;
    let start = sources.start(span);
    let (line, column) = (start.line, start.column);
    Some(format!("{}:{line}:{column}", sources.name(span.file)))
}

fn text(all: &[(Able, Sources)], args: &WhoCanArgs) -> String {
    let mut out = String::new();
    let (granted, come): (Vec<_>, Vec<_>) = all.iter().partition(|(able, _)| able.steps.is_empty());
    if granted.is_empty() {
        let (verb, resource) = (&args.verb, &args.resource);
        let _ = writeln!(out, "nobody is granted `{verb}` on `{resource}`");
    }
    for (able, sources) in granted {
        let Able { kind, name, .. } = able;
        let _ = write!(out, "{kind} {name}{}: {}", within(able), able.through);
        let at = place(able.span, sources);
        let _ = writeln!(
            out,
            "{}",
            at.map_or_else(String::new, |at| format!(" ({at})"))
        );
    }
    for (able, sources) in come {
        let Able { kind, name, .. } = able;
        let _ = writeln!(out, "{kind} {name} can come to it{}:", within(able));
        for step in &able.steps {
            let at = place(step.span, sources);
            let at = at.map_or_else(String::new, |at| format!(" ({at})"));
            let _ = writeln!(out, "  {}{at}", step.text);
        }
    }
    out
}

/// Where somebody can do something, and with what only.
fn within(able: &Able) -> String {
    let place = match &able.place {
        Some(place) => format!(" in {place}"),
        None => " everywhere".to_owned(),
    };
    match able.names.as_slice() {
        [] => place,
        names => format!("{place}, only {}", names.join(", ")),
    }
}

/// Somebody who can do what was asked, as JSON.
#[derive(Serialize)]
struct Entry<'a> {
    kind: &'a str,
    name: &'a str,
    /// The namespace; null for everywhere.
    namespace: Option<&'a str>,
    /// The only objects it is about; all when there are none.
    names: &'a [String],
    through: &'a str,
    at: Option<String>,
    /// The steps that lead to it; none for somebody who is granted it.
    steps: Vec<Step<'a>>,
}

#[derive(Serialize)]
struct Step<'a> {
    text: &'a str,
    at: Option<String>,
}

impl<'a> Entry<'a> {
    fn of((able, sources): &'a (Able, Sources)) -> Self {
        let step = |step: &'a locus_frontends::language::RightsStep| Step {
            text: &step.text,
            at: place(step.span, sources),
        };
        Entry {
            kind: able.kind,
            name: &able.name,
            namespace: able.place.as_deref(),
            names: &able.names,
            through: &able.through,
            at: place(able.span, sources),
            steps: able.steps.iter().map(step).collect(),
        }
    }
}
