//! `locus check`: configurations against the rules of their language.

use std::path::PathBuf;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use crate::catalogue;
use crate::report::baseline::Baseline;
use crate::report::{Format, Style};
use crate::session::{Batch, Cancel, Given, Project, Session, Snapshot, why};
use locus_core::Severity;
use locus_core::diagnostic::Verdict;

use super::flags::{CheckArgs, FailOn};
use super::outputs::Output;
use super::progress::Progress;
use super::{Exit, certificate, cluster, diff, fix, inputs, outputs, watch, witness};

/// How long reasons are looked for that nobody asked for.
const UNASKED: Duration = Duration::from_secs(3);

/// Checks all files, once or whenever one of them changes.
pub(crate) fn check(args: &CheckArgs) -> Exit {
    let outputs = match outputs::asked(&args.format) {
        Ok(outputs) => outputs,
        Err(exit) => return exit,
    };
    let session = match inputs::session(args.files.iter(), &args.inputs) {
        Ok(session) => session,
        Err(exit) => return exit,
    };
    if args.watch {
        // What was checked once is not checked again.
        return watch::watch(&args.files, &Session::new(), |session| {
            once(args, session, &outputs)
        });
    }
    let checked = once(args, &session, &outputs);
    // The program ends, and what it holds is not taken apart piece by piece before.
    std::mem::forget(session);
    match checked {
        Ok((batch, exit)) => {
            std::mem::forget(batch);
            exit
        }
        Err(exit) => exit,
    }
}

/// Checks all files and makes the reports.
fn once(args: &CheckArgs, session: &Session, outputs: &[Output]) -> Result<(Batch, Exit), Exit> {
    let start = Instant::now();
    let snapshot = session.snapshot();
    let asked = Asked::new(args, &snapshot)?;
    let files = args.paths();
    // Whoever cannot sign does not check in vain.
    let key = args.key.as_deref().map(certificate::signing_key);
    let key = key.transpose()?;
    if args.fix {
        fix::fix(&snapshot, &files, &asked.projects, &asked.given)?;
    }
    let mut batch = asked.check(&snapshot, args);
    if let Some(path) = &args.certificate {
        certificate::write(path, &snapshot, &batch, &asked.given, key.as_ref())?;
    }
    // Nobody calls it off: Ctrl-C ends the program.
    let work = Cancel::default();
    if args.explain {
        let _ = snapshot.explain_all(&mut batch, &asked.given, &work);
    } else if outputs.iter().any(|output| output.format == Format::Html) {
        explain_for_a_while(&snapshot, &mut batch, &asked.given);
    }
    if args.suggest {
        let _ = snapshot.suggest_all(&mut batch, &asked.given, false, &work);
    }
    if let Some(base) = &args.diff {
        diff::since(base, &mut batch, args, &asked)?;
    }
    snapshot.tell_origins(&mut batch);
    if let Some(path) = &args.baseline {
        if args.write_baseline {
            let text = Baseline::of(&batch).render();
            if let Err(error) = std::fs::write(path, text) {
                eprintln!("error: cannot write `{}`: {}", path.display(), why(&error));
                return Err(Exit::Unanswered);
            }
        }
        let known = std::fs::read_to_string(path)
            .map_err(|error| why(&error))
            .and_then(|text| Baseline::parse(&text));
        match known {
            Ok(known) => {
                let gone = known.subtract(&mut batch);
                if gone > 0 {
                    let entries = if gone == 1 { "entry" } else { "entries" };
                    eprintln!(
                        "note: {gone} {entries} of `{}` no longer found; `--write-baseline` removes them",
                        path.display()
                    );
                }
            }
            Err(error) => {
                eprintln!(
                    "error: cannot read the baseline `{}`: {error}",
                    path.display()
                );
                return Err(Exit::Unanswered);
            }
        }
    }
    let style = Style {
        verbose: args.verbose,
        undecided: args.show_undecided,
        time: start.elapsed(),
        ..Style::default()
    };
    outputs::write(outputs, &batch, &style)?;
    if let Some(folder) = &args.witness
        && let Err(error) = witness::write(&batch, &snapshot, &asked.given, args, folder)
    {
        let folder = folder.display();
        eprintln!("error: cannot write to `{folder}`: {}", why(&error));
        return Err(Exit::Unanswered);
    }
    let exit = exit(&batch, args.fail_on);
    Ok((batch, exit))
}

/// Adds to findings why they are made, until it takes too long: a reviewer wants to see it, and did not ask to wait for it.
fn explain_for_a_while(snapshot: &Snapshot, batch: &mut Batch, given: &Given) {
    let work = Cancel::default();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let work = &work;
        scope.spawn(move || {
            if ended.recv_timeout(UNASKED) == Err(RecvTimeoutError::Timeout) {
                work.cancel();
            }
        });
        let _ = snapshot.explain_all(batch, given, work);
        drop(end);
    });
}

impl CheckArgs {
    /// What is checked: the files, and what is in the cluster.
    fn paths(&self) -> Vec<PathBuf> {
        let live = self.live.then(|| PathBuf::from(cluster::CLUSTER));
        self.files.iter().cloned().chain(live).collect()
    }
}

/// What is checked, and with what.
pub(super) struct Asked {
    pub(super) projects: Vec<Project>,
    pub(super) given: Given,
}

impl Asked {
    fn new(args: &CheckArgs, snapshot: &Snapshot) -> Result<Self, Exit> {
        let projects = args.inputs.projects(snapshot.registry());
        let mut given = args.inputs.given();
        given.as_instance = args.as_instance;
        given.proofs = args.certificate.is_some();
        given.all_rules = args.all_rules;
        given.apart = args.explain || args.suggest || args.fix;
        given.ignore = rules(snapshot, args, &projects, &args.skip)?;
        if !args.only.is_empty() {
            let only = rules(snapshot, args, &projects, &args.only)?;
            let entries = catalogue::entries().into_iter();
            let others = entries.filter(|entry| entry.optional && !only.contains(&entry.id));
            given.ignore.extend(others.map(|entry| entry.id));
            given.only = Some(only);
        }
        Ok(Asked { projects, given })
    }

    fn check(&self, snapshot: &Snapshot, args: &CheckArgs) -> Batch {
        let work = Cancel::default();
        let _progress = Progress::of(&work);
        let checked = snapshot.check_all(&args.paths(), &self.projects, &self.given, &work);
        // Nobody calls it off: Ctrl-C ends the program.
        checked.unwrap_or_default()
    }
}

fn exit(batch: &Batch, fail_on: FailOn) -> Exit {
    let worst = batch.findings.iter().map(|finding| finding.severity).max();
    let undecided = || {
        let mut unchecked = batch.unchecked.iter();
        !batch.undecided.is_empty()
            || unchecked.any(|one| matches!(one.verdict, Verdict::Undecided { .. }))
    };
    let fails = match fail_on {
        FailOn::Error => worst >= Some(Severity::Error),
        FailOn::Warning => worst >= Some(Severity::Warning),
        FailOn::Note => worst.is_some(),
        FailOn::Undecided => worst >= Some(Severity::Error) || undecided(),
        FailOn::Never => false,
    };
    if fails {
        Exit::Findings
    } else if batch.unchecked.is_empty() {
        Exit::Clean
    } else {
        Exit::Unanswered
    }
}

/// The rules that a flag names, by their identifiers.
fn rules(
    snapshot: &Snapshot,
    args: &CheckArgs,
    projects: &[Project],
    words: &[String],
) -> Result<Vec<String>, Exit> {
    let mut ids = Vec::new();
    let mut own: Option<Vec<String>> = None;
    for word in words {
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
                let message = refused.message;
                eprintln!("error: {message}; {help}`locus rules` lists all");
                return Err(Exit::Usage);
            }
        }
    }
    Ok(ids)
}
