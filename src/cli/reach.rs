//! `locus reach`: who can talk to whom, and which lines decide it.

use std::collections::BTreeSet;
use std::path::Path;

use crate::report::frame;
use crate::report::reach::{self, Asked};
use crate::session::{Discovery, Origins, Snapshot};
use locus_core::{Diagnostic, Severity, Sources};
use locus_frontends::language::reach::Relation;

use super::flags::{ReachArgs, ReachFormat};
use super::{Exit, inputs};

/// Prints who can talk to whom; what is wrong with the files goes to standard error.
pub(crate) fn reach(args: &ReachArgs) -> Exit {
    let paths = args.diff.iter().chain([&args.path]);
    let session = match inputs::session(paths, &args.inputs) {
        Ok(session) => session,
        Err(exit) => return exit,
    };
    let snapshot = session.snapshot();
    let found = match relation(&snapshot, &args.path, args) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let asked = match asked(&*found.relation, args, args.diff.is_some()) {
        Ok(asked) => asked,
        Err(exit) => return exit,
    };
    let Some(base) = &args.diff else {
        let mut found = found;
        super::print(&shown(&snapshot, &mut found, &asked, args));
        return found.exit;
    };
    let before = match relation(&snapshot, base, args) {
        Ok(before) => before,
        Err(exit) => return exit,
    };
    let asked_before = match self::asked(&*before.relation, args, true) {
        Ok(asked) => asked,
        Err(exit) => return exit,
    };
    let unknown = |asked: &Option<BTreeSet<usize>>| asked.as_ref().is_some_and(BTreeSet::is_empty);
    for (given, now, then) in [
        (&args.from, &asked.from, &asked_before.from),
        (&args.to, &asked.to, &asked_before.to),
    ] {
        if unknown(now) && unknown(then) {
            let message = found.relation.find(given.first().map_or("", |text| text));
            eprintln!("error: {}", message.err().unwrap_or_default());
            return Exit::Usage;
        }
    }
    let changes = reach::changes(
        (&*before.relation, &asked_before),
        (&*found.relation, &asked),
    );
    let text = match args.format {
        ReachFormat::Text => reach::changes_to_text(&changes),
        ReachFormat::Json => reach::changes_to_json(&changes),
        ReachFormat::Dot => reach::changes_to_dot(&changes),
        ReachFormat::Svg => {
            eprintln!("error: `--diff` cannot be drawn: use `--format dot`, `text` or `json`");
            return Exit::Usage;
        }
    };
    super::print(&text);
    before.exit.max(found.exit)
}

/// Who can talk to whom, and how the command ends when that is printed.
struct Known {
    relation: Box<dyn Relation>,
    sources: Sources,
    exit: Exit,
}

fn relation(snapshot: &Snapshot, path: &Path, args: &ReachArgs) -> Result<Known, Exit> {
    let given = args.inputs.given();
    let Discovery {
        projects,
        broken,
        unchecked,
        sources,
        ..
    } = snapshot.discover(&[path.to_owned()]);
    tell(&broken, &sources);
    let mut answers = projects
        .iter()
        .filter_map(|project| snapshot.reach(project, &given));
    let Some((mut reach, mut own)) = answers.next() else {
        tell(&unchecked, &sources);
        if unchecked.is_empty() && broken.is_empty() {
            let languages = snapshot.registry().languages();
            let languages = languages.filter(|language| language.says_who_reaches_whom());
            let titles: Vec<&str> = languages.map(|language| language.title()).collect();
            eprintln!(
                "error: nothing in `{}` says who can talk to whom: that is known for {}",
                path.display(),
                titles.join(", ")
            );
        }
        return Err(Exit::Unanswered);
    };
    let mut origins = Origins::new(snapshot.files(), &mut own);
    let found = reach.diagnostics.iter_mut().chain(&mut reach.unchecked);
    found.for_each(|found| origins.tell(found));
    tell(&reach.diagnostics, &own);
    tell(&reach.unchecked, &own);
    let wrong = reach.diagnostics.iter().chain(&broken);
    let wrong = wrong.filter(|one| one.severity == Severity::Error).count() > 0;
    let exit = match (wrong, reach.unchecked.is_empty()) {
        (true, _) => Exit::Findings,
        (false, true) => Exit::Clean,
        (false, false) => Exit::Unanswered,
    };
    match reach.relation {
        Some(relation) => Ok(Known {
            relation,
            sources: own,
            exit,
        }),
        None => Err(if wrong {
            Exit::Findings
        } else {
            Exit::Unanswered
        }),
    }
}

/// The pairs that are asked about; an end that only one of two folders has is none in the other.
fn asked(relation: &dyn Relation, args: &ReachArgs, lenient: bool) -> Result<Asked, Exit> {
    let find = |texts: &[String]| -> Result<Option<BTreeSet<usize>>, Exit> {
        if texts.is_empty() {
            return Ok(None);
        }
        let mut all = BTreeSet::new();
        for text in texts {
            match relation.find(text) {
                Ok(found) => all.extend(found),
                Err(_) if lenient => {}
                Err(message) => {
                    eprintln!("error: {message}");
                    return Err(Exit::Usage);
                }
            }
        }
        Ok(Some(all))
    };
    Ok(Asked {
        from: find(&args.from)?,
        to: find(&args.to)?,
    })
}

fn shown(snapshot: &Snapshot, found: &mut Known, asked: &Asked, args: &ReachArgs) -> String {
    let relation = &*found.relation;
    let mut origins = Origins::new(snapshot.files(), &mut found.sources);
    let mut place = |span| origins.line(span);
    match (args.format, args.explain) {
        (ReachFormat::Text, false) => reach::to_text(relation, asked),
        (ReachFormat::Text, true) => reach::to_explained_text(relation, asked, &mut place),
        (ReachFormat::Json, false) => reach::to_json(relation, asked),
        (ReachFormat::Json, true) => reach::to_explained_json(relation, asked, &mut place),
        (ReachFormat::Dot, _) => reach::to_dot(relation, asked),
        (ReachFormat::Svg, _) => reach::to_svg(relation, asked),
    }
}

fn tell(diagnostics: &[Diagnostic], sources: &Sources) {
    for diagnostic in diagnostics {
        frame::print(diagnostic, sources);
    }
}
